//! What a program costs together with all that it starts: time of the processors and memory. Linux tells both of processes
//! that have ended to whoever waited for them, so a process of its own waits for each measured program.

use nix::errno::Errno;
use nix::sys::prctl::set_child_subreaper;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Names the folder of the process that measures.
const FOLDER: &str = "MAGIS_MEASURED_FOLDER";
/// Holds the program and its arguments, one a line.
const WORDS: &str = "MAGIS_MEASURED_WORDS";
/// Holds the seconds that the program may take.
const DEADLINE: &str = "MAGIS_MEASURED_DEADLINE";
/// How often the memory of all processes together is looked at.
const LOOK: Duration = Duration::from_millis(10);
/// How long what the program leaves behind may take to end by itself.
const LEFT: Duration = Duration::from_secs(5);

/// What a program gave back, and what it cost.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// Its exit code; none where it was ended by a signal.
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
    /// Seconds from its start to its end.
    pub wall: f64,
    /// Seconds that processors worked for it and for all that it started.
    pub cpu: f64,
    /// The most bytes that one of its processes held in memory.
    pub peak: u64,
    /// The most bytes that all of its processes held at one time, looked at a hundred times a second.
    pub together: u64,
    /// It was ended because it took too long.
    pub overdue: bool,
    /// Processes that it left behind and that did not end by themselves.
    pub left: usize,
}

/// Runs a program and measures it. `test` is the whole name of a test that does nothing but call [`serve`].
pub fn run(test: &str, command: &Command, deadline: Duration) -> Measured {
    let folder = tempfile::TempDir::new().expect("a temporary folder can be made");
    let words: Vec<String> = [command.get_program()]
        .into_iter()
        .chain(command.get_args())
        .map(|word| word.to_str().expect("words of a test are text").to_owned())
        .collect();
    assert!(words.iter().all(|word| !word.contains('\n')), "{words:?}");
    let mut measuring = Command::new(std::env::current_exe().expect("a test knows its own program"));
    measuring
        .args([test, "--exact", "--nocapture"])
        .env_clear()
        .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env(FOLDER, folder.path())
        .env(WORDS, words.join("\n"))
        .env(DEADLINE, deadline.as_secs().to_string())
        .stdin(Stdio::null());
    let output = measuring.output().expect("a test can start its own program");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "no test is named {test}: {said}"
    );
    read(folder.path())
}

/// Measures what another process of this program asks for; returns whether one did.
pub fn serve() -> bool {
    let (Some(folder), Ok(words), Ok(deadline)) = (
        std::env::var_os(FOLDER).map(PathBuf::from),
        std::env::var(WORDS),
        std::env::var(DEADLINE),
    ) else {
        return false;
    };
    // What its processes leave behind comes to this one.
    set_child_subreaper(true).expect("a process can take what its children leave behind");
    let mut words = words.split('\n');
    let file = |name| File::create(folder.join(name)).expect("a file can be made");
    let mut command = Command::new(words.next().unwrap_or_default());
    command
        .args(words)
        .env_remove(FOLDER)
        .env_remove(WORDS)
        .env_remove(DEADLINE);
    command.stdin(Stdio::null()).stdout(file("out")).stderr(file("err"));
    let deadline = Duration::from_secs(deadline.parse().expect("a number of seconds"));
    let found = wait(&mut command, deadline);
    let text = format!(
        "{}\n{}\n{}\n{}\n{}\n{}\n{}\n",
        found.code.map_or_else(|| "none".to_owned(), |code| code.to_string()),
        found.wall,
        found.cpu,
        found.peak,
        found.together,
        found.overdue,
        found.left
    );
    fs::write(folder.join("found"), text).expect("a file can be written");
    true
}

fn wait(command: &mut Command, deadline: Duration) -> Measured {
    let mut found = Measured::default();
    let begun = Instant::now();
    let mut child = command.spawn().expect("the program can be started");
    let status: Option<ExitStatus> = loop {
        if let Some(status) = child.try_wait().expect("it is a child of this process") {
            break Some(status);
        }
        let all = descendants();
        found.together = found.together.max(all.iter().map(|pid| resident(*pid)).sum());
        if begun.elapsed() > deadline {
            found.overdue = true;
            all.into_iter().for_each(end);
            break child.wait().ok();
        }
        sleep(LOOK);
    };
    found.wall = begun.elapsed().as_secs_f64();
    found.code = status.and_then(|status| status.code());
    let until = Instant::now() + LEFT;
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Err(Errno::ECHILD) => break,
            Ok(WaitStatus::StillAlive) if Instant::now() > until => {
                let left = descendants();
                found.left = left.len();
                left.into_iter().for_each(end);
            }
            Ok(WaitStatus::StillAlive) => sleep(LOOK),
            Ok(_) => {}
            Err(error) => unreachable!("children cannot be waited for: {error}"),
        }
    }
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the system tells what its processes use");
    let (user, system) = (usage.user_time(), usage.system_time());
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    found.cpu = seconds(user) + seconds(system);
    found.peak = usage.max_rss().unsigned_abs() << 10;
    found
}

fn read(folder: &Path) -> Measured {
    let text = |name| String::from_utf8(fs::read(folder.join(name)).expect("it was written")).expect("it is text");
    let found = text("found");
    let mut lines = found.lines();
    let mut next = || lines.next().unwrap_or_default();
    Measured {
        code: next().parse().ok(),
        wall: next().parse().unwrap_or_default(),
        cpu: next().parse().unwrap_or_default(),
        peak: next().parse().unwrap_or_default(),
        together: next().parse().unwrap_or_default(),
        overdue: next() == "true",
        left: next().parse().unwrap_or_default(),
        out: text("out"),
        err: text("err"),
    }
}

/// Returns all processes that this one started, and those that they started.
fn descendants() -> Vec<Pid> {
    let mut found: Vec<Pid> = Vec::new();
    let mut left = vec![Pid::this()];
    while let Some(pid) = left.pop() {
        let threads = fs::read_dir(format!("/proc/{pid}/task"))
            .into_iter()
            .flatten()
            .flatten();
        for thread in threads {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            let children: Vec<Pid> = children
                .split_whitespace()
                .filter_map(|id| id.parse().ok())
                .map(Pid::from_raw)
                .collect();
            found.extend(&children);
            left.extend(children);
        }
    }
    found
}

/// Returns how many bytes of memory a process holds; none where it has ended.
fn resident(pid: Pid) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kibibytes.unwrap_or_default() << 10
}

fn end(pid: Pid) {
    // One that has ended meanwhile needs no signal.
    let _ = kill(pid, Signal::SIGKILL);
}
