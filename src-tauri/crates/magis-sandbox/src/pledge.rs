//! Giving up what this process does not need, for good: before it reads what strangers wrote with libraries that may have faults. Unlike a command of
//! strangers, its own code is trusted, so it needs no name spaces and no helper, and starts at once.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a process keeps. No network, no other program, nothing written anywhere but to these folders and devices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pledge {
    /// Files and folders that it may read. Those that are not there are left out.
    pub readable: Vec<PathBuf>,
    /// Folders in which it may read, make, change and remove files, but no folders. Those that are not there are left out.
    pub writable: Vec<PathBuf>,
    /// Devices that it may use, or folders of such. Those that are not there are left out.
    pub devices: Vec<PathBuf>,
    /// The most bytes of memory that it may take beside the files that it maps; none: no limit of ours.
    pub memory: Option<u64>,
}

/// What the system could take away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pledged {
    /// Files are closed but the readable ones (Landlock, Linux 5.13).
    pub files: bool,
    /// The network, other programs and other processes cannot be reached (seccomp).
    pub calls: bool,
    /// Memory has a limit.
    pub memory: bool,
}

impl Pledge {
    /// Gives up everything else. What is open stays open. To be called before the process starts a thread, since others would keep what they have.
    ///
    /// # Errors
    /// When the system has the means and refuses to use them.
    pub fn take(&self) -> Result<Pledged, NotPledged> {
        #[cfg(target_os = "linux")]
        return match crate::inside::pledge(&self.readable, &self.writable, &self.devices, self.memory) {
            Ok(files) => Ok(Pledged {
                files,
                calls: true,
                memory: self.memory.is_some(),
            }),
            Err(failed) => Err(NotPledged {
                step: failed.step,
                reason: failed.reason,
            }),
        };
        #[cfg(not(target_os = "linux"))]
        Ok(Pledged::default())
    }
}

/// Why a process keeps what it was to give up.
#[derive(Debug, thiserror::Error)]
#[error("{step} failed: {reason}")]
pub struct NotPledged {
    pub step: String,
    pub reason: String,
}
