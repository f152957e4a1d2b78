//! Facts about processes.

use std::fs;
use std::path::Path;

/// A process, so that it can be told from another one that later has its number. It can be kept in a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessMark {
    pub pid: u32,
    /// The start of the system, the name space of the number, and when the process began; none where the system does not
    /// say.
    pub started: Option<String>,
}

/// Whether a process is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    Lives,
    Gone,
    /// The system does not say, or the process is, or was, one of another machine or name space, or of this machine
    /// before it was started again.
    Unknown,
}

impl ProcessMark {
    /// Returns the mark of this process.
    pub fn own() -> Self {
        Self::of(std::process::id())
    }

    /// Returns the mark of a process that is there.
    pub fn of(pid: u32) -> Self {
        let started = system().zip(start_of(pid));
        Self {
            pid,
            started: started.map(|(system, start)| format!("{system} {start}")),
        }
    }

    /// Returns whether the process is still there.
    pub fn liveness(&self) -> Liveness {
        let Some((of, start)) = self.started.as_deref().and_then(|started| started.rsplit_once(' ')) else {
            return Liveness::Unknown;
        };
        match system() {
            Some(here) if here == of && start_of(self.pid).as_deref() == Some(start) => Liveness::Lives,
            Some(here) if here == of => Liveness::Gone,
            _ => Liveness::Unknown,
        }
    }
}

/// Returns whether a process of this id lives; `true` where the system has no `/proc` to look it up in.
pub fn is_alive(pid: u32) -> bool {
    let processes = Path::new("/proc");
    !processes.join("self").exists() || processes.join(pid.to_string()).exists()
}

/// Returns what tells this start of this system, and the processes that are visible here, from any other.
fn system() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let name_space = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), name_space.display()))
}

/// Returns when a process began, in ticks since the start of the system.
fn start_of(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name stands in brackets and may hold anything.
    let (_, behind_name) = stat.rsplit_once(')')?;
    behind_name.split_whitespace().nth(19).map(ToOwned::to_owned)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_no_process_has_the_greatest_id() {
        assert!(is_alive(std::process::id()));
        assert!(!is_alive(u32::MAX));
    }

    #[test]
    fn a_process_is_told_from_another_one_of_its_number_and_of_another_start() {
        let own = ProcessMark::own();
        assert_eq!(own.liveness(), Liveness::Lives);
        let changed = |from: &str, to: &str| ProcessMark {
            started: own.started.as_ref().map(|started| started.replace(from, to)),
            ..own.clone()
        };
        let (system, start) = own.started.as_deref().unwrap().rsplit_once(' ').unwrap();
        let earlier = changed(&format!(" {start}"), " 1");
        assert_eq!(earlier.liveness(), Liveness::Gone);
        let boot = system.split(' ').next().unwrap();
        assert_eq!(changed(boot, "another-start").liveness(), Liveness::Unknown);
        assert_eq!(changed("pid:", "pid:9").liveness(), Liveness::Unknown);
        let unmarked = ProcessMark { started: None, ..own };
        assert_eq!(unmarked.liveness(), Liveness::Unknown);
    }

    #[test]
    fn a_process_that_ended_is_gone() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let mark = ProcessMark::of(child.id());
        assert_eq!(mark.liveness(), Liveness::Lives);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(mark.liveness(), Liveness::Gone);
    }
}
