//! What a worker gets of the processor beside other programs.

#[cfg(unix)]
use rustix::process::{Pid, getpriority_process, setpriority_process};
#[cfg(unix)]
use tokio::process::Child;
#[cfg(windows)]
use tokio::process::Command;

/// The priority of a worker's process. Where the system does not allow it, nothing changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Priority {
    /// That of its parent.
    #[default]
    Normal,
    /// Behind the window that started it: a person who types notices milliseconds, a computation does not.
    ///
    /// Linux shares the processor among sessions first, so programs in a terminal take nothing more from it than from a
    /// worker of normal priority.
    BelowNormal,
    Lowest,
}

/// How a worker behaves beside other programs, as a person chooses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manners {
    /// As any other program.
    Full,
    /// Behind what a person does meanwhile.
    Polite,
    /// Behind everything, with half of the cores.
    Background,
}

impl Manners {
    /// Returns the priority of its process.
    pub fn priority(self) -> Priority {
        match self {
            Self::Full => Priority::Normal,
            Self::Polite => Priority::BelowNormal,
            Self::Background => Priority::Lowest,
        }
    }

    /// Returns the threads it computes with on so many cores.
    pub fn threads(self, cores: u32) -> u32 {
        match self {
            Self::Full | Self::Polite => cores,
            Self::Background => (cores / 2).max(1),
        }
    }
}

impl Priority {
    /// Sets it for a process that is going to be started.
    #[cfg(windows)]
    pub(super) fn prepare(self, command: &mut Command) {
        match self {
            Self::Normal => {}
            Self::BelowNormal => _ = command.creation_flags(BELOW_NORMAL_PRIORITY_CLASS),
            Self::Lowest => _ = command.creation_flags(IDLE_PRIORITY_CLASS),
        }
    }

    /// Sets it on a process that was just started: threads inherit it from the first one.
    #[cfg(unix)]
    pub(super) fn set(self, child: &Child) {
        let nicer = match self {
            Self::Normal => return,
            Self::BelowNormal => 5,
            Self::Lowest => 19,
        };
        let process = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        if let (Some(process), Ok(own)) = (process, getpriority_process(None)) {
            let _ = setpriority_process(Some(process), (own + nicer).min(19));
        }
    }
}

#[cfg(windows)]
const BELOW_NORMAL_PRIORITY_CLASS: u32 = 0x4000;
#[cfg(windows)]
const IDLE_PRIORITY_CLASS: u32 = 0x40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_the_background_half_of_the_cores_are_left() {
        let all = [Manners::Full, Manners::Polite, Manners::Background];
        assert_eq!(all.map(|manners| manners.threads(8)), [8, 8, 4]);
        assert_eq!(Manners::Background.threads(1), 1);
        assert_eq!(
            all.map(Manners::priority),
            [Priority::Normal, Priority::BelowNormal, Priority::Lowest]
        );
    }
}
