//! Watches a repository and says what changed, in bursts: files of the working tree, `HEAD`, references, the index.
//!
//! Start with [`Watcher::begin`]. Only folders that count are watched: one that git ignores costs nothing. Where the system
//! tells of no changes, or of no more, they are looked for instead, and the reason is given with a remedy. What has to be
//! done about a change is not decided here, and nothing is written. Not noticed: a change of git's rules outside the
//! repository (`core.excludesFile`, the user's own configuration).

use crate::reading::Request;
use crate::stop::Stop;
use crate::{Git, HeadPlace, RepoChange, RepoError, Repository, WatchOptions, WatcherEvent, WhyPolling};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;

/// A repository that is watched, until this is dropped.
#[derive(Debug)]
pub struct Watcher {
    stop: Stop,
    /// Its end is what the thread waits for between two looks.
    _here: Sender<()>,
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.stop.stop();
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
        let head = repository.head_place()?;
        let (here, gone) = channel();
        let stop = Stop::default();
        let watch = Watch {
            git: repository.git().clone(),
            root: repository.root().to_owned(),
            options,
            head,
            stop: stop.clone(),
            gone,
            sink,
        };
        thread::Builder::new()
            .name("magis-watch".to_owned())
            .spawn(move || watch.follow())
            .map_err(RepoError::io("starting to watch", repository.root()))?;
        Ok(Self { stop, _here: here })
    }
}

/// What the watching thread keeps for itself. Who looks at the repository may be lost, or have to be begun anew because another folder lies in the place of
/// the one it may read; then it is, from time to time.
struct Watch<S> {
    git: Git,
    root: PathBuf,
    options: WatchOptions,
    head: HeadPlace,
    stop: Stop,
    gone: Receiver<()>,
    sink: S,
}

impl<S: FnMut(WatcherEvent)> Watch<S> {
    fn follow(mut self) {
        let mut said = None;
        loop {
            let why = self.listen(&mut said);
            if self.stop.is_stopped() {
                return;
            }
            if said.as_ref() != Some(&why) {
                (self.sink)(WatcherEvent::Polling { why: why.clone() });
                said = Some(why);
                // It may be over already: git was in the midst of a change.
                continue;
            }
            match self.gone.recv_timeout(self.options.poll) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Passes on what is told until the repository cannot be read any more, and returns why. What was `said` last is not said again.
    fn listen(&mut self, said: &mut Option<WhyPolling>) -> WhyPolling {
        let repository = match self.git.open(&self.root) {
            Ok(repository) => repository,
            Err(error) => return WhyPolling::unreadable(&self.root, &error),
        };
        let mut why = None;
        let request = Request::Watch {
            options: self.options,
            head: self.head.clone(),
        };
        let ended = repository
            .reader()
            .stopped_by(&self.stop)
            .ask_for_parts(request, &mut |part| {
                match part.value() {
                    Ok(WatcherEvent::Polling { why: now }) if now.passes() => {
                        why = Some(now);
                        return ControlFlow::Break(());
                    }
                    Ok(event) => {
                        if let WatcherEvent::Changed(RepoChange { head: Some(moved), .. }) = &event {
                            self.head = moved.to.clone();
                        }
                        *said = match &event {
                            WatcherEvent::Polling { why } => Some(why.clone()),
                            WatcherEvent::Watching { .. } | WatcherEvent::Changed(_) => None,
                        };
                        (self.sink)(event);
                    }
                    Err(_) => return ControlFlow::Break(()),
                }
                ControlFlow::Continue(())
            });
        match (why, ended) {
            (Some(why), _) => why,
            (None, Err(error)) => WhyPolling::unreadable(&self.root, &error),
            (None, Ok(_)) => WhyPolling::System {
                reason: "watching ended".to_owned(),
            },
        }
    }
}
