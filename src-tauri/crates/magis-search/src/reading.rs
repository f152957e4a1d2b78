//! Texts read and taken apart by all cores, while the next ones are fetched.
//!
//! Where texts come from is the caller's, and so is what becomes of their contents; both stay on the caller's thread.

use crate::SearchError;
use crate::metadata::{self, Depth, IndexedText};
use crate::vocabulary::Vocabulary;
use magis_core::{BlobId, RepoPath, SkipReason};
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

/// The most bytes of text that wait for a core; one text may have more alone.
const WAITING: usize = 8 << 20;
/// The most texts that wait between reading and indexing.
const WAITING_TEXTS: usize = 256;

/// Reads each job's text by `read` and hands its content to `done` with the job's number, in the order in which they are
/// ready, until `done` breaks; the reason where there is no content to be had. What waits between is bounded in number and
/// bytes.
pub(crate) fn read_all<'j>(
    jobs: impl ExactSizeIterator<Item = (&'j RepoPath, &'j BlobId)>,
    depth: Depth,
    read: &mut impl FnMut(&RepoPath, &BlobId) -> Result<String, SkipReason>,
    mut done: impl FnMut(usize, Result<IndexedText, SkipReason>) -> Result<ControlFlow<()>, SearchError>,
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
                let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
                while let Ok((number, path, blob, text)) = next() {
                    let content = guarded(&mut words, |words| metadata::read(path, blob, &text, depth, words));
                    if contents.send((number, text.len(), content)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(contents);
        // Both are dropped on the way out, which ends the threads, each with the text it is at.
        let (texts, ready) = (texts, ready);
        let (mut bytes, mut number_waiting) = (0, 0);
        loop {
            while number_waiting < WAITING_TEXTS && bytes < WAITING {
                let Some((number, (path, blob))) = jobs.next() else {
                    break;
                };
                let none = match read(path, blob) {
                    Ok(text) => {
                        bytes += text.len();
                        number_waiting += 1;
                        // Nobody listens where all threads have ended, and then nothing is ready either.
                        drop(texts.send((number, path, blob, text)));
                        None
                    }
                    Err(why) if why.is_of_content() => Some(Ok(IndexedText::without_text(path, blob, why))),
                    Err(why) => Some(Err(why)),
                };
                if let Some(none) = none
                    && done(number, none)?.is_break()
                {
                    return Ok(());
                }
                while let Ok((number, length, content)) = ready.try_recv() {
                    bytes -= length;
                    number_waiting -= 1;
                    if done(number, content)?.is_break() {
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
            if done(number, content)?.is_break() {
                return Ok(());
            }
        }
    })
}

/// Returns what `read` makes of a text. A panic over one text, in a grammar say, costs that text alone.
fn guarded(
    words: &mut Vocabulary,
    read: impl FnOnce(&mut Vocabulary) -> IndexedText,
) -> Result<IndexedText, SkipReason> {
    panic::catch_unwind(AssertUnwindSafe(|| read(words))).map_err(|_| {
        // It may have been left half changed.
        *words = Vocabulary::default();
        SkipReason::Unreadable
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_over_one_text_leaves_the_next_one_readable() {
        let (path, blob) = (RepoPath::new("a.py").unwrap(), BlobId("1".to_owned()));
        let mut words = Vocabulary::default();
        let broken = guarded(&mut words, |_| panic!("a grammar's mistake"));
        assert_eq!(broken.err(), Some(SkipReason::Unreadable));
        let whole = guarded(&mut words, |words| {
            metadata::read(&path, &blob, "walrus = 1\n", Depth::Whole, words)
        });
        assert_eq!(whole.unwrap().chunks.len(), 1);
    }
}
