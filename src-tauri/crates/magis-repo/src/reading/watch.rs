//! Watching a repository: what the system tells, or what is found by looking, becomes what changed, in bursts.

mod burst;
pub(crate) mod folders;
mod places;
mod polling;
mod system;

use super::{Frame, Opened, Parts};
use crate::stop::Stop;
use crate::{ChangedPaths, GitPart, HeadMove, HeadPlace, RepoChange, WatchOptions, WatcherEvent, WhyPolling};
use burst::{Coalescer, Debounce, Lock};
use magis_core::RepoPath;
use places::{Part, Places};
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use system::{SystemWatcher, WatcherMessage};

/// How often is looked whether git is still at work, while something waits for that.
const LOOK: Duration = Duration::from_millis(20);

/// Tells what changes, a part for each event, until it is stopped or broken off. What was at `HEAD` is told by the caller.
pub(super) fn follow(repository: &Opened, options: WatchOptions, head: HeadPlace, stop: &Stop, parts: Parts<'_>) {
    let (messages, heard) = channel();
    let stopping = messages.clone();
    // Where nobody listens any more, it has ended already.
    stop.call(move || drop(stopping.send(WatcherMessage::Stop)));
    let broken_off = messages.clone();
    let sink = |event: WatcherEvent| {
        let is_over = Frame::of(&event).map_or(true, |frame| parts(frame).is_break());
        if is_over {
            drop(broken_off.send(WatcherMessage::Stop));
        }
    };
    let mut watch = Watch {
        repository: repository.clone(),
        places: Places::of(repository),
        options,
        head,
        sink,
    };
    watch.follow(&messages, &heard);
}

/// What watching keeps for itself.
struct Watch<S> {
    repository: Opened,
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
                    let now = WhyPolling::unreadable(&self.places.root, &error);
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
