//! A small project with a secret beside it, and a sandbox to run commands on it.
#![allow(dead_code, reason = "each test program uses a part of it")]

use magis_sandbox::{HelperCommand, Limits, Outcome, Refused, Sandbox, SandboxJob, Scratch, ScratchLayer};
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The time of commands that are to use it up.
pub const TIME: Duration = Duration::from_secs(2);
/// The time of all others: a busy machine is slow.
const PATIENCE: Duration = Duration::from_mins(2);
pub const MEMORY: u64 = 256 << 20;
pub const FILE: u64 = 20 << 20;
pub const DISK: u64 = 50 << 20;
pub const OUTPUT: u64 = 4 << 20;

/// Limits small enough to be reached at once.
pub fn small() -> Limits {
    Limits {
        time: PATIENCE,
        memory: MEMORY,
        processes: 32,
        file: FILE,
        disk: DISK,
        output: OUTPUT,
    }
}

/// Returns whether the kernel helps against fork bombs: it limits the processes of an ordinary user, and those of root since Linux 6.14. Elsewhere
/// the watcher alone ends them, after the machine was slow for a minute, which no test should do to it.
pub fn kernel_limits_processes() -> bool {
    let version = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = version.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    !is_root || version >= (6, 14)
}

pub struct Place {
    _folder: tempfile::TempDir,
    pub project: PathBuf,
    pub outside: PathBuf,
    layer: RefCell<Option<ScratchLayer>>,
}

#[derive(Debug)]
pub struct Seen {
    pub outcome: Outcome,
    pub wall: Duration,
}

impl Seen {
    /// Checks that the outcome names something that the command was kept from.
    pub fn names(&self, refused: &Refused) {
        assert!(
            self.outcome.refused.contains(refused),
            "{refused:?} is not named: {self:#?}"
        );
    }

    pub fn printed(&self) -> String {
        self.outcome.stdout.text()
    }

    pub fn errors(&self) -> String {
        self.outcome.stderr.text()
    }
}

pub fn helper() -> HelperCommand {
    HelperCommand {
        program: env!("CARGO_BIN_EXE_magis-sandbox-helper").into(),
        args: vec![],
    }
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let project = folder.path().join("project");
        fs::create_dir_all(project.join("tests")).expect("the project");
        fs::write(project.join("code.py"), "value = 1").expect("a file");
        fs::write(project.join("tests/test_code.py"), "assert True").expect("a file");
        let layer = ScratchLayer::create(folder.path().join("layer")).expect("a layer");
        Self {
            project,
            outside: folder.path().to_owned(),
            _folder: folder,
            layer: RefCell::new(Some(layer)),
        }
    }

    /// Returns a job in the project, which it may change.
    pub fn job(&self, command: &[&str]) -> SandboxJob {
        let mut job = SandboxJob::new(command.iter().copied(), &self.project);
        job.scratch.push(Scratch {
            at: self.project.clone(),
            original: self.project.clone(),
            layer: self.with_layer(|layer| layer.folder().to_owned()),
        });
        job.limits = small();
        job
    }

    /// Takes from the layer the folder without which no overlay is mounted, so that the project is copied.
    pub fn without_overlay(&self) {
        let work = self.with_layer(|layer| layer.folder().join("work"));
        fs::remove_dir(work).expect("the overlay's own folder");
    }

    pub fn with_layer<T>(&self, with: impl FnOnce(&ScratchLayer) -> T) -> T {
        with(self.layer.borrow().as_ref().expect("the layer is there"))
    }

    pub async fn run(&self, command: &[&str]) -> Seen {
        self.run_job(&self.job(command)).await
    }

    pub async fn run_job(&self, job: &SandboxJob) -> Seen {
        let sandbox = Sandbox::confined(helper()).await.expect("isolation on this machine");
        let begun = Instant::now();
        let outcome = sandbox.run(job).await.expect("a run");
        Seen {
            outcome,
            wall: begun.elapsed(),
        }
    }

    /// Writes a file beside the project and returns its path.
    pub fn secret(&self, text: &str) -> String {
        let path = self.outside.join("secret");
        fs::write(&path, text).expect("the secret");
        path.display().to_string()
    }

    /// Returns the files of the original project, with their contents.
    pub fn original(&self) -> Vec<String> {
        let mut found = Vec::new();
        list(&self.project, Path::new(""), &mut found);
        found.sort();
        found
    }

    pub fn layer_can_be_removed(&self) -> bool {
        let folder = self.with_layer(|layer| layer.folder().to_owned());
        drop(self.layer.borrow_mut().take());
        !folder.exists()
    }
}

fn list(root: &Path, inside: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(root.join(inside)).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = inside.join(entry.file_name());
        if entry.file_type().expect("its kind").is_dir() {
            found.push(name.display().to_string());
            list(root, &name, found);
        } else {
            let text = fs::read_to_string(entry.path()).expect("a text");
            found.push(format!("{}: {text}", name.display()));
        }
    }
}
