//! How repositories are read: by processes that can be lost, or in this one.
//!
//! A [`Git`] opens repositories. Whatever reads one belongs to it and ends with it: a process is started when something is asked for the first time, and again
//! when it was lost. It may read the folders of this repository alone, has a limit of memory, and has to answer in time.

use crate::located::looked_at;
use crate::reading::{Frame, Parts, Reading, Request, SOURCE};
use crate::stop::Stop;
use crate::worker::link::{Link, Lost};
use crate::worker::{GitWorker, MEMORY};
use crate::{RepoError, ordinary};
use serde::de::DeserializeOwned;
use std::fmt;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How repositories are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Git {
    worker: Option<GitWorker>,
}

impl Git {
    /// Reads repositories in processes of their own.
    pub fn in_workers(worker: GitWorker) -> Self {
        Self { worker: Some(worker) }
    }

    /// Reads repositories in this process, which what strangers wrote can then end: for tests, and for measuring what the border costs.
    pub fn in_this_process() -> Self {
        Self { worker: None }
    }

    /// Returns who reads the repository around `path`.
    pub(crate) fn repository_reader(&self, path: &Path) -> Reader {
        Reader::new(self.clone(), Subject::Repository(path.to_owned()))
    }

    /// Returns who reads the store in `folder` and the objects of the repository behind it.
    pub(crate) fn store_reader(&self, folder: &Path) -> Reader {
        Reader::new(self.clone(), Subject::Store(folder.to_owned()))
    }
}

/// What a reader reads.
#[derive(Debug, Clone)]
enum Subject {
    /// The repository around a folder.
    Repository(PathBuf),
    /// A store of ours, in this folder.
    Store(PathBuf),
}

impl Subject {
    fn folder(&self) -> &Path {
        match self {
            Self::Repository(folder) | Self::Store(folder) => folder,
        }
    }

    /// Returns the request that comes before all others.
    fn opening(&self) -> Request {
        match self.clone() {
            Self::Repository(path) => Request::Open { path },
            Self::Store(folder) => Request::OpenStore { folder },
        }
    }

    /// Returns the folders that have to be read for it.
    fn folders(&self) -> Result<Vec<PathBuf>, RepoError> {
        match self {
            Self::Repository(path) => match looked_at(path)? {
                Some(located) => located.folders(),
                None => Ok(vec![path.clone()]),
            },
            Self::Store(folder) => {
                let source = folder.join(SOURCE);
                let objects = fs::read_to_string(&source).map_err(RepoError::io("reading", &source))?;
                let mut folders = ordinary::objects(Path::new(&objects))?;
                folders.push(folder.clone());
                Ok(folders)
            }
        }
    }
}

/// Who reads one repository, or one store. Cheap to clone, safe to share; one request is answered after the other.
#[derive(Clone)]
pub(crate) struct Reader {
    shared: Arc<Shared>,
}

struct Shared {
    git: Git,
    subject: Subject,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    stop: Stop,
    here: Option<Reading>,
    link: Option<Link>,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("subject", &self.shared.subject)
            .finish_non_exhaustive()
    }
}

impl Reader {
    fn new(git: Git, subject: Subject) -> Self {
        Self {
            shared: Arc::new(Shared {
                git,
                subject,
                state: Mutex::default(),
            }),
        }
    }

    pub fn git(&self) -> &Git {
        &self.shared.git
    }

    /// Has what is asked from now on end when `stop` says so.
    pub fn stopped_by(&self, stop: &Stop) -> &Self {
        let mut state = self.state();
        state.stop = stop.clone();
        if let Some(reading) = &mut state.here {
            reading.stop_by(stop.clone());
        }
        if let Some(link) = &state.link {
            link.stop_by(stop);
        }
        drop(state);
        self
    }

    /// Returns the answer to a request.
    pub fn ask<T: DeserializeOwned>(&self, request: Request) -> Result<T, RepoError> {
        self.ask_for_bytes(request).map(|(value, _)| value)
    }

    /// Returns the answer to a request, and the bytes beside it.
    pub fn ask_for_bytes<T: DeserializeOwned>(&self, request: Request) -> Result<(T, Vec<u8>), RepoError> {
        let frame = self.whole(request)?;
        Ok((frame.value()?, frame.bytes))
    }

    /// Returns the bytes that answer a request.
    pub fn bytes(&self, request: Request) -> Result<Vec<u8>, RepoError> {
        self.whole(request).map(|frame| frame.bytes)
    }

    fn whole(&self, request: Request) -> Result<Frame, RepoError> {
        let answer = self.ask_for_parts(request, &mut |_| ControlFlow::Continue(()))?;
        answer.ok_or_else(|| RepoError::wire("an answer was broken off"))
    }

    /// Returns what ends the answer to a request, after its parts; none where `parts` broke it off.
    pub fn ask_for_parts(&self, request: Request, parts: Parts<'_>) -> Result<Option<Frame>, RepoError> {
        let mut state = self.state();
        let mut is_over = false;
        let mut parts = |part| {
            let next = parts(part);
            is_over |= next.is_break();
            next
        };
        let answer = match &self.shared.git.worker {
            None => self.read_here(&mut state, request, &mut parts),
            Some(worker) => self.read_there(worker, &mut state, &request, &mut parts),
        };
        if is_over {
            // What it goes on with is of no use any more.
            state.link = None;
            return Ok(None);
        }
        answer.map(Some)
    }

    fn read_here(&self, state: &mut State, request: Request, parts: Parts<'_>) -> Result<Frame, RepoError> {
        let reading = match &mut state.here {
            Some(reading) => reading,
            none => {
                let mut reading = Reading::default();
                reading.stop_by(state.stop.clone());
                if !request.opens() {
                    reading.answer(self.shared.subject.opening(), &mut |_| ControlFlow::Continue(()))?;
                }
                none.insert(reading)
            }
        };
        reading.answer(request, parts)
    }

    fn read_there(
        &self,
        worker: &GitWorker,
        state: &mut State,
        request: &Request,
        parts: Parts<'_>,
    ) -> Result<Frame, RepoError> {
        let lost = |state: &mut State, Lost(how): Lost| {
            state.link = None;
            RepoError::ReadingLost {
                repository: self.shared.subject.folder().to_owned(),
                how,
            }
        };
        let mut told = false;
        for again in [true, false] {
            if state.link.is_none() {
                let folders = self.shared.subject.folders()?;
                let mut link = Link::start(worker, folders, MEMORY).map_err(|error| lost(state, error))?;
                link.stop_by(&state.stop);
                if !request.opens() {
                    let opening = self.shared.subject.opening();
                    let opened = link.ask(&opening, &mut |_| ControlFlow::Continue(()));
                    opened.map_err(|error| lost(state, error))??;
                }
                state.link = Some(link);
            }
            let Some(link) = &mut state.link else { continue };
            let answer = link.ask(request, &mut |part| {
                told = true;
                parts(part)
            });
            let was_replaced = link.is_of_other_folders();
            let answer = answer.map_err(|error| lost(state, error))?;
            // Another folder lies in the place of one that it may read: a new one is started, which may read that.
            if answer.is_err() && was_replaced && again && !told {
                state.link = None;
                continue;
            }
            return answer;
        }
        Err(RepoError::wire("no process to read"))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
