//! What of the cache is saved and read back: which sequences, and when. Where it is saved is the business of
//! [`super::super::snapshots`].

use super::super::cache::{Evicted, KeptPrompt, Placing};
use super::super::native::{CacheKind, Sequence, Token};
use super::super::saved::{Extent, Saved};
use super::{Core, PromptPlace};
use magis_llm::NotReused;
use std::rc::Rc;

/// A saved sequence, and how many of its tokens are of use to a prompt.
pub(super) struct SavedSequence {
    read: Vec<Token>,
    common: usize,
}

/// Tokens that have to be saved from being computed for a sequence to be read back.
const WORTH_READING_BACK: usize = 16;

impl Core {
    /// Keeps one prompt more for later workers; false where nothing is left to keep. To be called while nothing is computed.
    pub fn keep_one_prompt(&mut self) -> bool {
        for (sequence, prompt) in self.cache.worth_keeping() {
            if self.snapshots.is_wanted_in_files(&prompt.read) && !self.is_nearly_kept(&prompt.read) {
                let read = Rc::clone(&prompt.read);
                return self
                    .saved(sequence, prompt)
                    .is_some_and(|saved| self.snapshots.keep_in_files(&read, &saved));
            }
        }
        self.snapshots.keep_one_in_files()
    }

    /// Saves the state of a sequence where that was asked for.
    pub(super) fn save_state(&mut self, sequence: Sequence) {
        if let Some(read) = self.cache.at_stop(sequence)
            && !self.snapshots.contains(Extent::State, &read)
            && let Some(state) = self.context.recurrent_state(sequence)
        {
            let saved = Saved {
                bytes: state.into(),
                logits: None,
            };
            self.snapshots.save(Extent::State, read, saved);
        }
    }

    /// Gives a sequence, whose attention holds these tokens at least, the state that was saved behind them.
    pub(super) fn restore(&mut self, sequence: Sequence, read: &[Token]) -> bool {
        let Some(state) = self.snapshots.get(Extent::State, read) else {
            return false;
        };
        self.put_state(sequence, read.len(), &state.bytes)
    }

    /// Gives a sequence the recurrent state that belongs behind its first tokens, and forgets what it has behind them.
    pub(super) fn put_state(&mut self, sequence: Sequence, length: usize, state: &[u8]) -> bool {
        self.context.set_recurrent_state(sequence, state)
            && self.context.cut(sequence, length)
            && self.context.holds(sequence, length)
    }

    /// Returns the saved sequence from which more of a prompt can be read back than the cache has, where that pays.
    pub(super) fn saved_sequence(&self, prompt: &[Token], reusable: usize) -> Option<SavedSequence> {
        let (read, common) = self.snapshots.best_sequence(prompt)?;
        let is_whole = common == read.len();
        let common = match self.context.memory() {
            CacheKind::Attention => common,
            // Of windows that have gone on a beginning cannot be had back.
            CacheKind::SlidingWindow(_) | CacheKind::Recurrent if is_whole => common,
            CacheKind::SlidingWindow(_) => 0,
            CacheKind::Recurrent => {
                let states = self.snapshots.state_lengths(prompt);
                states.into_iter().filter(|length| *length <= common).max().unwrap_or(0)
            }
        };
        (common >= reusable + WORTH_READING_BACK).then_some(SavedSequence { read, common })
    }

    /// Places a prompt in a sequence that is read back.
    pub(super) fn read_back(&mut self, prompt: &Rc<[Token]>, saved: &SavedSequence) -> Option<PromptPlace> {
        let Placing::Ready(placement) = self.cache.place_anew(prompt) else {
            return None;
        };
        let sequence = placement.sequence;
        if let Some(prompt) = placement.given_up {
            self.save_sequence(sequence, prompt);
        }
        self.context.clear(sequence);
        self.make_room(saved.read.len());
        let snapshot = self.snapshots.get(Extent::Sequence, &saved.read);
        let is_set = snapshot
            .as_ref()
            .is_some_and(|snapshot| self.context.set_sequence(sequence, &snapshot.bytes));
        let mut back = 0;
        let mut logits = None;
        if let Some(snapshot) = snapshot.filter(|_| is_set) {
            logits = snapshot.logits.filter(|_| saved.read[..] == prompt[..]);
            let longest = prompt.len() - usize::from(logits.is_none());
            let common = saved.common.min(longest);
            let is_back = if common == saved.read.len() || self.context.memory() == CacheKind::Attention {
                self.context.cut(sequence, common) && self.context.holds(sequence, common)
            } else {
                self.restore(sequence, &prompt[..common])
            };
            if is_back {
                back = common;
            }
        }
        if back == 0 {
            self.context.clear(sequence);
            logits = None;
        }
        self.cache.append(sequence, &prompt[..back]);
        if let Some(logits) = &logits {
            self.cache.end_prompt(sequence, logits);
        }
        let is_all = back + 1 >= prompt.len();
        Some(PromptPlace {
            sequence,
            reused: back,
            logits,
            not_reused: if back == 0 {
                placement.not_reused
            } else {
                (!is_all).then_some(NotReused::Parted)
            },
        })
    }

    /// Returns whether a saved sequence spares nearly all of the work on a prompt: with attention alone its beginning does.
    fn is_nearly_kept(&self, prompt: &[Token]) -> bool {
        let common = self.snapshots.best_sequence(prompt).map_or(0, |(_, common)| common);
        self.context.memory() == CacheKind::Attention && common + WORTH_READING_BACK > prompt.len()
    }

    /// Saves the prompt that a sequence begins with, unless it is saved; false where that cannot be done.
    pub(super) fn save_sequence(&mut self, sequence: Sequence, prompt: KeptPrompt) -> bool {
        let read = prompt.read.to_vec();
        if self.snapshots.contains(Extent::Sequence, &read) {
            return true;
        }
        let Some(saved) = self.saved(sequence, prompt) else {
            return false;
        };
        self.snapshots.save(Extent::Sequence, read, saved);
        true
    }

    /// Returns what is to be saved of the prompt that a sequence begins with, without what follows it.
    fn saved(&mut self, sequence: Sequence, prompt: KeptPrompt) -> Option<Saved> {
        let read = &prompt.read;
        let branch = self.free_branches().next()?;
        self.context.share(sequence, branch, read.len());
        let is_whole = self.context.holds(branch, read.len()) || self.restore(branch, read);
        let bytes = is_whole.then(|| self.context.sequence(branch)).flatten();
        self.context.clear(branch);
        Some(Saved {
            bytes: bytes?.into(),
            logits: prompt.logits,
        })
    }

    pub(super) fn make_room(&mut self, cells: usize) {
        while let Some(Evicted { sequence, prompt }) = self.cache.evict_for(cells) {
            if let Some(prompt) = prompt {
                self.save_sequence(sequence, prompt);
            }
            self.context.clear(sequence);
        }
    }
}
