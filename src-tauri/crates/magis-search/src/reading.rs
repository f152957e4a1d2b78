//! Texts read and taken apart by all cores, while the next ones are fetched.
//!
//! Where texts come from is the caller's, and so is what becomes of their contents; both stay on the caller's thread.

use crate::SearchError;
use crate::facts::{self, Content, Depth};
use crate::vocabulary::Vocabulary;
use magis_core::{BlobId, RepoPath};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

/// So many bytes of text wait for a core, or one text alone.
const WAITING: usize = 8 << 20;
/// So many texts.
const WAITING_TEXTS: usize = 256;

/// Reads each job's text by `read` and hands its content to `done` with the job's number, in the order in which they are
/// ready, until `done` breaks; nothing for a text that there is not. What waits between is bounded in number and bytes.
pub(crate) fn read_all<'j>(
    jobs: impl ExactSizeIterator<Item = (&'j RepoPath, &'j BlobId)>,
    depth: Depth,
    read: &mut impl FnMut(&RepoPath, &BlobId) -> Option<String>,
    mut done: impl FnMut(usize, Option<Content>) -> Result<ControlFlow<()>, SearchError>,
) -> Result<(), SearchError> {
    let mut jobs = jobs.enumerate();
    let cores = thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    let (texts, waiting) = mpsc::channel::<(usize, &RepoPath, &BlobId, String)>();
    let (contents, ready) = mpsc::channel();
    let waiting = Mutex::new(waiting);
    thread::scope(|scope| {
        for _ in 0..cores {
            let (contents, waiting) = (contents.clone(), &waiting);
            scope.spawn(move || {
                let mut words = Vocabulary::default();
                // A thread that panicked over a text holds no lock that matters to the others.
                let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
                while let Ok((number, path, blob, text)) = next() {
                    let content = facts::read(path, blob, &text, depth, &mut words);
                    if contents.send((number, text.len(), content)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(contents);
        // Dropped on the way out, which ends the threads.
        let texts = texts;
        let (mut bytes, mut number_waiting) = (0, 0);
        loop {
            while number_waiting < WAITING_TEXTS && bytes < WAITING {
                let Some((number, (path, blob))) = jobs.next() else {
                    break;
                };
                if let Some(text) = read(path, blob) {
                    bytes += text.len();
                    number_waiting += 1;
                    // Nobody listens where all threads have ended, and then nothing is ready either.
                    drop(texts.send((number, path, blob, text)));
                } else if done(number, None)?.is_break() {
                    return Ok(());
                }
                while let Ok((number, length, content)) = ready.try_recv() {
                    bytes -= length;
                    number_waiting -= 1;
                    if done(number, Some(content))?.is_break() {
                        return Ok(());
                    }
                }
            }
            if number_waiting == 0 && jobs.len() == 0 {
                return Ok(());
            }
            let Ok((number, length, content)) = ready.recv() else {
                return Err(SearchError::Write("reading a text was broken off".to_owned()));
            };
            bytes -= length;
            number_waiting -= 1;
            if done(number, Some(content))?.is_break() {
                return Ok(());
            }
        }
    })
}
