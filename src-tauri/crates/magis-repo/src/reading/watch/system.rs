//! The system's word of changes: which folders are watched, kept right while folders come and go.

use super::burst::Touched;
use super::folders::{Rules, WalkEntry};
use super::places::{Part, Places};
use super::repo_path;
use crate::reading::Opened;
use crate::{ChangedPaths, WhyPolling};
use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;

/// What the watching thread hears.
#[derive(Debug)]
pub(crate) enum WatcherMessage {
    /// This path was touched.
    Touched(PathBuf),
    Lost,
    /// No more will be heard.
    Deaf(WhyPolling),
    /// Nobody wants to know any more.
    Stop,
}

/// The folders that the system watches for us.
pub(crate) struct SystemWatcher {
    watcher: RecommendedWatcher,
    watched: BTreeSet<PathBuf>,
    most: usize,
}

/// On Linux each watched folder is counted, and a folder does not stand for those in it. Elsewhere the system watches a
/// whole tree at once, and what is ignored is left out of what it tells.
const REACH: RecursiveMode = if cfg!(any(target_os = "linux", target_os = "android")) {
    RecursiveMode::NonRecursive
} else {
    RecursiveMode::Recursive
};

impl SystemWatcher {
    /// Watches the repository; fails where the system does not let it.
    pub fn begin(
        repository: &Opened,
        places: &Places,
        most: Option<usize>,
        messages: &Sender<WatcherMessage>,
    ) -> Result<Self, WhyPolling> {
        let messages = messages.clone();
        let hear = move |heard: notify::Result<Event>| {
            for message in messages_of(heard) {
                drop(messages.send(message));
            }
        };
        let config = notify::Config::default().with_follow_symlinks(false);
        let watcher = RecommendedWatcher::new(hear, config).map_err(|error| WhyPolling::of(&error))?;
        let mut this = Self {
            watcher,
            watched: BTreeSet::new(),
            most: most.unwrap_or(usize::MAX),
        };
        this.watch_git(places)?;
        let rules = Rules::read(repository, places).map_err(|error| WhyPolling::unreadable(&places.root, &error))?;
        this.walk(&rules, &places.root, &mut Touched::default())?;
        Ok(this)
    }

    /// Returns how many folders are watched.
    pub fn folders(&self) -> usize {
        self.watched.len()
    }

    /// Brings the watched folders up to date with what was touched, and says what of it counts. Folders are watched before
    /// they are looked into, so that nothing in a new one is missed.
    pub fn settle(
        &mut self,
        repository: &Opened,
        places: &Places,
        mut touched: Touched,
    ) -> Result<(ChangedPaths, Vec<Part>), WhyPolling> {
        let rules = Rules::read(repository, places).map_err(|error| WhyPolling::unreadable(&places.root, &error))?;
        if touched.parts.contains(&Part::Refs) {
            self.watch_git(places)?;
        }
        if touched.parts.contains(&Part::Rules) || touched.parts.contains(&Part::Many) {
            self.watch_anew(&rules, places)?;
            touched.many();
        }
        for path in touched.paths.clone() {
            let place = places.root.join(&path);
            let is_folder = fs::symlink_metadata(&place).is_ok_and(|metadata| metadata.is_dir());
            if self.watched.contains(&place) {
                // It is gone, or another may lie in its place. Which files went with it nobody tells.
                if !is_folder {
                    self.forget(&place);
                }
                touched.many();
            }
            if is_folder {
                touched.paths.remove(&path);
                if rules.folder_counts(&path) {
                    self.walk(&rules, &place, &mut touched)?;
                }
            }
        }
        let parts: Vec<Part> = touched.parts.iter().copied().collect();
        if touched.parts.contains(&Part::Many) {
            return Ok((ChangedPaths::Many, parts));
        }
        let paths = touched.paths.into_iter().filter(|path| rules.counts(path));
        let paths: Vec<_> = paths.filter_map(repo_path).collect();
        let changed = if paths.is_empty() {
            ChangedPaths::None
        } else {
            ChangedPaths::Some(paths)
        };
        Ok((changed, parts))
    }

    /// Watches `start` and the folders below it that count; the files in them were touched.
    fn walk(&mut self, rules: &Rules, start: &Path, touched: &mut Touched) -> Result<(), WhyPolling> {
        let root = rules.root().to_owned();
        rules.walk(start, &mut |step| match step {
            WalkEntry::Folder(folder) => self.watch(folder, &root),
            WalkEntry::File(file, _) => {
                if let Ok(inside) = file.strip_prefix(&root) {
                    touched.add(inside.to_owned());
                }
                Ok(())
            }
        })
    }

    /// Watches what counts by the rules as they are now, and nothing else of the working tree.
    fn watch_anew(&mut self, rules: &Rules, places: &Places) -> Result<(), WhyPolling> {
        // First what went away, so that it does not count against what may be watched.
        let gone: Vec<PathBuf> = self
            .watched
            .iter()
            .filter(|folder| !is_folder(folder))
            .cloned()
            .collect();
        for folder in gone {
            self.unwatch(&folder);
        }
        let before = self.watched.clone();
        let mut counting = BTreeSet::new();
        let root = rules.root().to_owned();
        rules.walk(&places.root, &mut |step| match step {
            WalkEntry::Folder(folder) => {
                counting.insert(folder.to_owned());
                self.watch(folder, &root)
            }
            WalkEntry::File(..) => Ok(()),
        })?;
        let in_git = |folder: &Path| folder.starts_with(&places.git_dir) || folder.starts_with(&places.common_dir);
        for folder in before {
            if !in_git(&folder) && !counting.contains(&folder) {
                self.unwatch(&folder);
            }
        }
        Ok(())
    }

    fn watch_git(&mut self, places: &Places) -> Result<(), WhyPolling> {
        let mut folders = places.git_folders();
        let mut waiting = places.ref_folders();
        while let Some(folder) = waiting.pop() {
            self.watch(&folder, &folder)?;
            let below = fs::read_dir(&folder).into_iter().flatten().flatten();
            waiting.extend(below.map(|entry| entry.path()).filter(|path| is_folder(path)));
        }
        let work_trees = fs::read_dir(places.common_dir.join("worktrees"));
        folders.extend(work_trees.into_iter().flatten().flatten().map(|entry| entry.path()));
        for folder in folders.into_iter().filter(|folder| is_folder(folder)) {
            self.watch(&folder, &folder)?;
        }
        Ok(())
    }

    /// Watches one folder; one that is watched already is looked up anew, because another may lie there by now.
    fn watch(&mut self, folder: &Path, root: &Path) -> Result<(), WhyPolling> {
        if REACH == RecursiveMode::Recursive && folder != root {
            return Ok(());
        }
        if self.watched.len() >= self.most && !self.watched.contains(folder) {
            return Err(WhyPolling::TooManyFolders {
                limit: Some(self.most as u64),
            });
        }
        match self.watcher.watch(folder, REACH) {
            Ok(()) => {
                self.watched.insert(folder.to_owned());
                Ok(())
            }
            Err(error) if is_gone(&error) => Ok(()),
            Err(error) => Err(WhyPolling::of(&error)),
        }
    }

    /// A folder and all below it are no longer there.
    fn forget(&mut self, folder: &Path) {
        let below: Vec<PathBuf> = self
            .watched
            .range(folder.to_owned()..)
            .take_while(|path| path.starts_with(folder))
            .cloned()
            .collect();
        for path in below {
            self.unwatch(&path);
        }
    }

    fn unwatch(&mut self, folder: &Path) {
        self.watched.remove(folder);
        // Where it went away, the library has noticed by itself.
        drop(self.watcher.unwatch(folder));
    }
}

/// Returns what one message of the library means.
fn messages_of(heard: notify::Result<Event>) -> Vec<WatcherMessage> {
    let event = match heard {
        Ok(event) => event,
        Err(error) if is_gone(&error) => return Vec::new(),
        Err(error) => return vec![WatcherMessage::Deaf(WhyPolling::of(&error))],
    };
    if event.need_rescan() {
        return vec![WatcherMessage::Lost];
    }
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write))
        | EventKind::Any
        | EventKind::Create(_)
        | EventKind::Modify(_)
        | EventKind::Remove(_) => event.paths.into_iter().map(WatcherMessage::Touched).collect(),
        // Reading is no change, and who looks at a change reads.
        EventKind::Access(_) | EventKind::Other => Vec::new(),
    }
}

fn is_gone(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::PathNotFound | notify::ErrorKind::WatchNotFound => true,
        notify::ErrorKind::Io(io) => matches!(
            io.kind(),
            std::io::ErrorKind::NotFound | std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::NotADirectory
        ),
        _ => false,
    }
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}
