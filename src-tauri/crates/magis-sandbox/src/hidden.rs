//! Whether what a command looked for is there on the machine, hidden from it. The command chose the paths, so they are looked up where that tells
//! nobody anything: in a few folders of this machine, and never beyond the file system they lie on, which rules out whatever is mounted on
//! demand or over a network.

use crate::job::SandboxJob;
use crate::outcome::Refused;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Folders of the system with what no test has a reason to look for.
const SYSTEM: [&str; 2] = ["/etc", "/root"];

/// The folders that are looked into.
pub struct HiddenNear(Vec<PathBuf>);

impl HiddenNear {
    /// Of a job: those beside its folders, the person's home, and the folder for temporary files.
    pub fn new(job: &SandboxJob) -> Self {
        let beside = job.scratch.iter().filter_map(|scratch| scratch.original.parent());
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let folders = beside
            .map(Path::to_owned)
            .chain(home)
            .chain([std::env::temp_dir()])
            .chain(SYSTEM.map(PathBuf::from));
        // The root has everything below it.
        Self(
            folders
                .filter(|folder| folder.is_absolute() && folder.parent().is_some())
                .collect(),
        )
    }

    /// Returns whether what was kept from the command is there. Of other things than files and sockets it is not asked.
    pub fn has(&self, refused: &Refused) -> bool {
        match refused {
            Refused::Read(path) | Refused::Socket(path) => {
                let path = Path::new(path);
                self.0.iter().any(|folder| is_below(folder, path))
            }
            _ => true,
        }
    }
}

/// Returns whether a path leads to something below a folder, over folders of the same file system alone and no links.
fn is_below(folder: &Path, path: &Path) -> bool {
    let Ok(inside) = path.strip_prefix(folder) else {
        return false;
    };
    let Ok(own) = fs::metadata(folder) else {
        return false;
    };
    let mut at = folder.to_owned();
    let mut parts = inside.components().peekable();
    while let Some(part) = parts.next() {
        at.push(part);
        let Ok(found) = fs::symlink_metadata(&at) else {
            return false;
        };
        if parts.peek().is_some() && (!found.is_dir() || found.dev() != own.dev()) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_beside_the_project_is_found_and_nothing_through_links_or_elsewhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let secret = folder.path().join("keys/secret");
        fs::create_dir(folder.path().join("keys")).expect("a folder");
        fs::write(&secret, "x").expect("a file");
        std::os::unix::fs::symlink("keys", folder.path().join("link")).expect("a link");
        let near = HiddenNear(vec![folder.path().to_owned()]);
        let has = |path: &Path| near.has(&Refused::Read(path.display().to_string()));
        assert!(has(&secret));
        assert!(!has(&folder.path().join("keys/other")));
        assert!(!has(&folder.path().join("link/secret")));
        assert!(
            !has(Path::new("/proc/self/status")),
            "another file system, and not asked for"
        );
        assert!(near.has(&Refused::Network));
    }
}
