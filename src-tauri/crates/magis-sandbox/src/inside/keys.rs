//! The places where people keep keys and passwords. Inside they are empty; who opens them is written down.

use super::paths::{HOME, in_new_root, make_folder, write};
use super::{Failed, Step as _};
use crate::job::SandboxJob;
use crate::outcome::Refused;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, WatchDescriptor};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files in a home that hold keys or passwords, and that no test has a reason to read.
const FILES: [&str; 9] = [
    ".ssh/id_rsa",
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".git-credentials",
    ".kube/config",
    ".gnupg/pubring.kbx",
    ".docker/config.json",
    ".mozilla/firefox/profiles.ini",
    ".config/google-chrome/Local State",
];

/// Makes the empty places, in the home inside and where the person's own home would be.
pub fn place() -> Result<(), Failed> {
    for home in homes() {
        let home = in_new_root(&home);
        make_folder(&home)?;
        for file in FILES {
            write(&home.join(file), "")?;
        }
    }
    Ok(())
}

/// Returns the home inside, and the person's.
fn homes() -> Vec<PathBuf> {
    let own = std::env::var_os("HOME").map(PathBuf::from);
    let own = own.filter(|home| home.is_absolute() && home.parent().is_some());
    own.into_iter().chain([PathBuf::from(HOME)]).collect()
}

/// Watches who opens them.
pub struct KeyWatch {
    events: Inotify,
    places: BTreeMap<WatchDescriptor, PathBuf>,
}

/// Begins to watch, in the new root.
pub fn watch(job: &SandboxJob) -> Result<KeyWatch, Failed> {
    let step = || "watching the places of keys".to_owned();
    let events = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC).step(step)?;
    let mut places = BTreeMap::new();
    for home in homes() {
        for file in FILES {
            let Some(folder) = Path::new(file).parent() else {
                continue;
            };
            let folder = home.join(folder);
            // What the job shows in place of an empty folder is the job's to show.
            if job.readable.iter().any(|shown| folder.starts_with(shown)) || !folder.is_dir() {
                continue;
            }
            let descriptor = events.add_watch(&folder, AddWatchFlags::IN_OPEN).step(step)?;
            places.insert(descriptor, folder);
        }
    }
    Ok(KeyWatch { events, places })
}

impl KeyWatch {
    /// Returns what was opened, each place once.
    pub fn opened(self) -> Vec<Refused> {
        let mut opened = Vec::new();
        // No more events: the call would block.
        while let Ok(events) = self.events.read_events() {
            for event in events {
                // Folders are also opened by whoever looks around, the helper itself among them.
                let is_folder = event.mask.contains(AddWatchFlags::IN_ISDIR);
                let file = event.name.filter(|_| !is_folder);
                let place = self.places.get(&event.wd).zip(file);
                opened.extend(place.map(|(folder, name)| Refused::Keys(folder.join(name).display().to_string())));
            }
        }
        opened
    }
}
