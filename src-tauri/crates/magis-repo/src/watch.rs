//! Watches one repository and says what changed, in bursts: files of the working tree, `HEAD`, references, the index.
//!
//! Start with [`Watcher::begin`]. Only folders that count are watched: one that git ignores costs nothing. Where the system
//! tells of no changes, or of no more, they are looked for instead, and the reason is given with a remedy. What has to be
//! done about a change is not decided here, and nothing is written. Not noticed: a change of git's rules outside the
//! repository (`core.excludesFile`, the user's own configuration).

mod burst;
pub(crate) mod folders;
mod places;
mod polling;
mod system;

pub use polling::WhyPolling;

use crate::{RepoError, Repository};
use burst::{Coalescer, Debounce, Lock};
use magis_core::{CommitId, RepoPath};
use places::{Part, Places};
use serde::Serialize;
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use system::{SystemWatcher, WatcherMessage};

/// How often is looked whether git is still at work, while something waits for that.
const LOOK: Duration = Duration::from_millis(20);

/// How a repository is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchOptions {
    /// A burst is over after so long without an event.
    pub quiet: Duration,
    /// Where events do not stop, so long after the first it is said what there is.
    pub longest: Duration,
    /// While git holds its lock on the index it is waited for as long as this.
    pub locked: Duration,
    /// How often is looked where the system tells of no changes. On a large tree less often: a look may take a fifth of
    /// the time at the most.
    pub poll: Duration,
    /// The most folders that may be watched; none: as many as the system allows.
    pub most_folders: Option<usize>,
}

impl Default for WatchOptions {
    fn default() -> Self {
        Self {
            quiet: Duration::from_millis(120),
            longest: Duration::from_secs(2),
            locked: Duration::from_mins(1),
            poll: Duration::from_secs(2),
            most_folders: None,
        }
    }
}

/// What a watcher says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatcherEvent {
    /// From now on no change is missed.
    Watching {
        /// How many folders are watched, git's own included.
        folders: usize,
    },
    /// From now on changes are looked for.
    Polling {
        why: WhyPolling,
    },
    Changed(RepoChange),
}

/// What changed in one burst.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RepoChange {
    /// In the working tree. Ignored files do not count.
    pub paths: ChangedPaths,
    /// Where `HEAD` went: another branch, another commit.
    pub head: Option<HeadMove>,
    /// What else of git's own was touched.
    pub git: Vec<GitPart>,
}

/// Which files of the working tree were touched; not all of them need differ from before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "paths", rename_all = "snake_case")]
pub enum ChangedPaths {
    None,
    /// These, in the order of their paths.
    Some(Vec<RepoPath>),
    /// Too many to be named, or it is not known which.
    Many,
}

/// A part of git's own files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GitPart {
    /// What is staged, or what git remembers of the files' times.
    Index,
    /// Branches, tags, the stash, other work trees' heads.
    Refs,
    /// Which files count: ignore rules, attributes, configuration, nested repositories.
    Rules,
}

/// A move of `HEAD`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeadMove {
    pub from: HeadPlace,
    pub to: HeadPlace,
}

/// The commit that `HEAD` stands on, and the branch, where it is on one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HeadPlace {
    /// The branch, by its short name; none where `HEAD` is detached.
    pub branch: Option<String>,
    /// The commit; none on a branch without one.
    pub commit: Option<CommitId>,
}

/// A repository that is watched, until this is dropped.
#[derive(Debug)]
pub struct Watcher {
    messages: Sender<WatcherMessage>,
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // Where nobody listens any more, it has ended already.
        drop(self.messages.send(WatcherMessage::Stop));
    }
}

impl Watcher {
    /// Begins to watch; `sink` is called on a thread of its own, first with [`WatcherEvent::Watching`] or
    /// [`WatcherEvent::Polling`]. What changed before that is for the caller to find out.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn begin(
        repository: &Repository,
        options: WatchOptions,
        sink: impl FnMut(WatcherEvent) + Send + 'static,
    ) -> Result<Self, RepoError> {
        let (messages, heard) = channel();
        let mut watch = Watch {
            repository: repository.clone(),
            places: Places::of(repository),
            options,
            head: repository.head_place()?,
            sink,
        };
        let sender = messages.clone();
        thread::Builder::new()
            .name("magis-watch".to_owned())
            .spawn(move || watch.follow(&sender, &heard))
            .map_err(RepoError::io("starting to watch", repository.root()))?;
        Ok(Self { messages })
    }
}

impl Repository {
    /// Returns where `HEAD` stands now.
    ///
    /// # Errors
    /// When HEAD cannot be read.
    pub fn head_place(&self) -> Result<HeadPlace, RepoError> {
        let handle = self.handle()?;
        let head = handle.find_reference("HEAD").map_err(RepoError::git("reading HEAD"))?;
        let branch = head
            .symbolic_target_bytes()
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .map(|name| name.strip_prefix("refs/heads/").unwrap_or(&name).to_owned());
        let commit = handle.head().ok().and_then(|head| head.target());
        Ok(HeadPlace {
            branch,
            commit: commit.map(|id| CommitId(id.to_string())),
        })
    }
}

/// What the watching thread keeps for itself.
struct Watch<S> {
    repository: Repository,
    places: Places,
    options: WatchOptions,
    head: HeadPlace,
    sink: S,
}

/// Why the thread no longer follows what the system reports.
enum End {
    Stopped,
    /// The system tells no more.
    Deaf(WhyPolling),
}

/// Why the thread no longer looks for changes itself.
enum Poll {
    Stopped,
    /// What kept the system from telling is over.
    Passed,
}

impl<S: FnMut(WatcherEvent)> Watch<S> {
    fn follow(&mut self, messages: &Sender<WatcherMessage>, heard: &Receiver<WatcherMessage>) {
        loop {
            let end = match SystemWatcher::begin(&self.repository, &self.places, self.options.most_folders, messages) {
                Ok(mut watcher) => {
                    (self.sink)(WatcherEvent::Watching {
                        folders: watcher.folders(),
                    });
                    self.say(ChangedPaths::None, &[Part::Head]);
                    self.listen(&mut watcher, heard)
                }
                Err(why) => End::Deaf(why),
            };
            match end {
                End::Stopped => return,
                End::Deaf(why) => match self.poll(why, heard) {
                    Poll::Stopped => return,
                    Poll::Passed => {}
                },
            }
        }
    }

    fn listen(&mut self, watcher: &mut SystemWatcher, heard: &Receiver<WatcherMessage>) -> End {
        let began = Instant::now();
        let mut coalescer = Coalescer::new(Debounce {
            quiet: self.options.quiet,
            longest: self.options.longest,
            locked: self.options.locked,
        });
        loop {
            let word = if coalescer.is_empty() {
                heard.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                heard.recv_timeout(LOOK)
            };
            let mut next = match word {
                Ok(word) => Some(word),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return End::Stopped,
            };
            while let Some(word) = next {
                match word {
                    WatcherMessage::Stop => return End::Stopped,
                    WatcherMessage::Deaf(why) => return End::Deaf(why),
                    WatcherMessage::Touched(path) => coalescer.take(self.places.touch(&path), began.elapsed()),
                    WatcherMessage::Lost => {
                        for part in [Part::Many, Part::Head, Part::Index, Part::Refs, Part::Rules] {
                            coalescer.take(places::Touch::Part(part), began.elapsed());
                        }
                    }
                }
                next = heard.try_recv().ok();
            }
            if coalescer.is_empty() {
                continue;
            }
            let lock = self.lock();
            let now = began.elapsed();
            if coalescer.due(lock).is_none_or(|due| due > now) {
                if lock == Lock::Held {
                    coalescer.held(now);
                }
                continue;
            }
            if !self.places.root.is_dir() {
                return End::Deaf(WhyPolling::RootGone);
            }
            match watcher.settle(&self.repository, &self.places, coalescer.settle()) {
                Ok((paths, parts)) => self.say(paths, &parts),
                // What was touched is not lost: the first look says it, or the watching anew.
                Err(why) => return End::Deaf(why),
            }
        }
    }

    /// Returns whether git is at work. A lock that is older than is waited for was left by a git that died.
    fn lock(&self) -> Lock {
        let taken = fs::symlink_metadata(self.places.lock()).and_then(|lock| lock.modified());
        match taken.map(|taken| taken.elapsed()) {
            // One from the future is of a clock that was set back.
            Ok(Ok(age)) if age >= self.options.locked => Lock::Free,
            Ok(_) => Lock::Held,
            Err(_) => Lock::Free,
        }
    }

    /// Looks again and again, until what kept it from being told has passed. The first look always says that many files
    /// may have changed.
    fn poll(&mut self, mut why: WhyPolling, heard: &Receiver<WatcherMessage>) -> Poll {
        (self.sink)(WatcherEvent::Polling { why: why.clone() });
        let mut known = None;
        let mut failed = None;
        loop {
            let look = Instant::now();
            match polling::fingerprint(&self.repository, &self.places) {
                Ok(_) if why.passes() => return Poll::Passed,
                Ok(found) => {
                    failed = None;
                    if known != Some(found) {
                        known = Some(found);
                        self.say(ChangedPaths::Many, &[Part::Head, Part::Index, Part::Refs, Part::Rules]);
                    }
                }
                Err(error) => {
                    // Git may be in the midst of a change: only what stays is said.
                    let now = WhyPolling::unreadable(&self.places, &error);
                    if failed.replace(now.clone()) == Some(now.clone()) && why != now {
                        (self.sink)(WatcherEvent::Polling { why: now.clone() });
                        why = now;
                    }
                }
            }
            let end = Instant::now() + self.options.poll.max(4 * look.elapsed());
            loop {
                match heard.recv_timeout(end.saturating_duration_since(Instant::now())) {
                    Ok(WatcherMessage::Stop) | Err(RecvTimeoutError::Disconnected) => return Poll::Stopped,
                    Ok(WatcherMessage::Touched(_) | WatcherMessage::Lost | WatcherMessage::Deaf(_)) => {}
                    Err(RecvTimeoutError::Timeout) => break,
                }
            }
        }
    }

    fn say(&mut self, paths: ChangedPaths, parts: &[Part]) {
        let moved = parts.iter().any(|part| matches!(part, Part::Head | Part::Refs));
        let head = if moved { self.moved_head() } else { None };
        let git: Vec<GitPart> = parts
            .iter()
            .filter_map(|part| match part {
                Part::Index => Some(GitPart::Index),
                Part::Refs => Some(GitPart::Refs),
                Part::Rules => Some(GitPart::Rules),
                Part::Head | Part::Many => None,
            })
            .collect();
        if paths != ChangedPaths::None || head.is_some() || !git.is_empty() {
            (self.sink)(WatcherEvent::Changed(RepoChange { paths, head, git }));
        }
    }

    fn moved_head(&mut self) -> Option<HeadMove> {
        let to = self.repository.head_place().ok().filter(|to| *to != self.head)?;
        let from = std::mem::replace(&mut self.head, to.clone());
        Some(HeadMove { from, to })
    }
}

/// As a path of the repository; none where its name is no text.
fn repo_path(path: PathBuf) -> Option<RepoPath> {
    let text = path.into_os_string().into_string().ok()?;
    RepoPath::new(text).ok()
}
