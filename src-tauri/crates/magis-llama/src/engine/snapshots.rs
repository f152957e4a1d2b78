//! What of the cache is saved in main memory: the states of recurrent layers behind the beginnings of prompts, as attention
//! can forget a tail and such a state cannot; and whole sequences that had to make room, which are sooner read back than
//! computed again.
//!
//! What the bytes mean is llama.cpp's; what is worth saving is decided by [`super::cache`].

use super::native::Token;
use std::rc::Rc;

/// What is saved of one model, the least recently used given up first.
#[derive(Debug)]
pub struct Snapshots {
    saved: Vec<Snapshot>,
    most_bytes: usize,
    clock: u64,
}

/// What a snapshot has of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The state of its recurrent layers.
    State,
    /// All that the cache holds of it.
    Sequence,
}

#[derive(Debug)]
struct Snapshot {
    extent: Extent,
    read: Vec<Token>,
    bytes: Rc<[u8]>,
    used_at: u64,
}

impl Snapshots {
    /// Creates an empty store for so many bytes.
    pub fn new(most_bytes: usize) -> Self {
        Self {
            saved: Vec::new(),
            most_bytes,
            clock: 0,
        }
    }

    /// Returns the lengths of the beginnings of a prompt behind which a state is saved.
    pub fn state_lengths(&self, prompt: &[Token]) -> Vec<usize> {
        let begins = |snapshot: &&Snapshot| snapshot.extent == Extent::State && prompt.starts_with(&snapshot.read);
        self.saved
            .iter()
            .filter(begins)
            .map(|snapshot| snapshot.read.len())
            .collect()
    }

    /// Returns the sequence that has most of a prompt, and how many tokens of it.
    pub fn best_sequence(&self, prompt: &[Token]) -> Option<(Vec<Token>, usize)> {
        let sequences = self.saved.iter().filter(|snapshot| snapshot.extent == Extent::Sequence);
        let common = |snapshot: &Snapshot| {
            let pairs = snapshot.read.iter().zip(prompt);
            pairs.take_while(|(one, other)| one == other).count()
        };
        let best = sequences.max_by_key(|snapshot| common(snapshot))?;
        Some((best.read.clone(), common(best)))
    }

    /// Returns what is saved behind exactly these tokens.
    pub fn get(&mut self, extent: Extent, read: &[Token]) -> Option<Rc<[u8]>> {
        self.clock += 1;
        let clock = self.clock;
        let is_it = |snapshot: &&mut Snapshot| snapshot.extent == extent && snapshot.read == read;
        let snapshot = self.saved.iter_mut().find(is_it)?;
        snapshot.used_at = clock;
        Some(Rc::clone(&snapshot.bytes))
    }

    /// Returns whether something is saved behind exactly these tokens.
    pub fn contains(&self, extent: Extent, read: &[Token]) -> bool {
        let mut saved = self.saved.iter();
        saved.any(|snapshot| snapshot.extent == extent && snapshot.read == read)
    }

    /// Saves what is behind these tokens; what is larger than all there may be is not.
    pub fn save(&mut self, extent: Extent, read: Vec<Token>, bytes: Vec<u8>) {
        if bytes.len() > self.most_bytes {
            return;
        }
        self.clock += 1;
        self.saved
            .retain(|snapshot| snapshot.extent != extent || snapshot.read != read);
        while self.bytes() + bytes.len() > self.most_bytes {
            let oldest = (0..self.saved.len()).min_by_key(|at| self.saved[*at].used_at);
            let Some(oldest) = oldest else { break };
            self.saved.swap_remove(oldest);
        }
        self.saved.push(Snapshot {
            extent,
            read,
            bytes: bytes.into(),
            used_at: self.clock,
        });
    }

    fn bytes(&self) -> usize {
        self.saved.iter().map(|snapshot| snapshot.bytes.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::Extent::{Sequence, State};
    use super::*;

    #[test]
    fn a_state_is_found_behind_exactly_what_was_read() {
        let mut snapshots = Snapshots::new(100);
        snapshots.save(State, vec![1, 2], vec![7; 10]);
        snapshots.save(State, vec![1, 2, 3, 4], vec![8; 10]);
        snapshots.save(State, vec![1, 9], vec![9; 10]);
        snapshots.save(Sequence, vec![1, 2, 3], vec![9; 10]);
        assert_eq!(snapshots.state_lengths(&[1, 2, 3, 4, 5]), [2, 4]);
        assert_eq!(snapshots.get(State, &[1, 2]).as_deref(), Some(&[7; 10][..]));
        assert_eq!(snapshots.get(State, &[1, 2, 3]), None);
    }

    #[test]
    fn the_sequence_that_has_most_of_a_prompt_is_found() {
        let mut snapshots = Snapshots::new(100);
        assert_eq!(snapshots.best_sequence(&[1]), None);
        snapshots.save(Sequence, vec![1, 2, 9], vec![0; 10]);
        snapshots.save(Sequence, vec![1, 2, 3, 8], vec![0; 10]);
        assert_eq!(snapshots.best_sequence(&[1, 2, 3, 4]), Some((vec![1, 2, 3, 8], 3)));
    }

    #[test]
    fn the_least_recently_used_makes_room() {
        let mut snapshots = Snapshots::new(30);
        for token in 1..=3 {
            snapshots.save(State, vec![token], vec![0; 10]);
        }
        assert!(snapshots.get(State, &[1]).is_some());
        snapshots.save(State, vec![4], vec![0; 10]);
        let there = |snapshots: &Snapshots, token| snapshots.contains(State, &[token]);
        assert!(there(&snapshots, 1) && !there(&snapshots, 2) && there(&snapshots, 3));
        snapshots.save(State, vec![5], vec![0; 31]);
        assert!(!there(&snapshots, 5), "it is larger than all there may be");
        assert!(there(&snapshots, 4));
    }
}
