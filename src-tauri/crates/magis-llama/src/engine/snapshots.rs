//! What of the cache is saved outside of it: the states of recurrent layers behind the beginnings of prompts, as attention
//! can forget a tail and such a state cannot; and whole prompts that had to make room, which are sooner read back than
//! computed again. All is in main memory first, and in files as well where there is a folder for them.
//!
//! What the bytes mean is llama.cpp's; what is worth saving is decided by [`super::cache`].

use super::native::Token;
use super::prefix_files::PrefixFiles;
use super::saved::{Extent, Saved};

/// What is saved of one model, the least recently used given up first.
#[derive(Debug)]
pub struct Snapshots {
    in_memory: Vec<Snapshot>,
    most_bytes: usize,
    clock: u64,
    files: Option<PrefixFiles>,
}

#[derive(Debug)]
struct Snapshot {
    extent: Extent,
    read: Vec<Token>,
    saved: Saved,
    used_at: u64,
}

impl Snapshots {
    /// Creates an empty store for so many bytes of main memory, before these files.
    pub fn new(most_bytes: usize, files: Option<PrefixFiles>) -> Self {
        Self {
            in_memory: Vec::new(),
            most_bytes,
            clock: 0,
            files,
        }
    }

    /// Returns the lengths of the beginnings of a prompt behind which a state is saved.
    pub fn state_lengths(&self, prompt: &[Token]) -> Vec<usize> {
        self.all()
            .filter(|(extent, read)| *extent == Extent::State && prompt.starts_with(read))
            .map(|(_, read)| read.len())
            .collect()
    }

    /// Returns what was read of the sequence that has most of a prompt, and how many tokens of it.
    pub fn best_sequence(&self, prompt: &[Token]) -> Option<(Vec<Token>, usize)> {
        let common = |read: &[Token]| {
            let pairs = read.iter().zip(prompt);
            pairs.take_while(|(one, other)| one == other).count()
        };
        let sequences = self.all().filter(|(extent, _)| *extent == Extent::Sequence);
        // Of equals the shortest is read fastest.
        let best = sequences.max_by_key(|(_, read)| (common(read), usize::MAX - read.len()));
        best.map(|(_, read)| (read.to_vec(), common(read)))
    }

    /// Returns what is saved behind exactly these tokens.
    pub fn get(&mut self, extent: Extent, read: &[Token]) -> Option<Saved> {
        self.clock += 1;
        let clock = self.clock;
        let is_it = |snapshot: &&mut Snapshot| snapshot.extent == extent && snapshot.read == read;
        if let Some(snapshot) = self.in_memory.iter_mut().find(is_it) {
            snapshot.used_at = clock;
            return Some(snapshot.saved.clone());
        }
        let saved = self.files.as_mut()?.get(extent, read)?;
        self.save(extent, read.to_vec(), saved.clone());
        Some(saved)
    }

    /// Returns whether something is saved behind exactly these tokens.
    pub fn contains(&self, extent: Extent, read: &[Token]) -> bool {
        self.all().any(|(other, its)| other == extent && its == read)
    }

    /// Saves what is behind these tokens in main memory; what is larger than all there may be is not.
    pub fn save(&mut self, extent: Extent, read: Vec<Token>, saved: Saved) {
        let size = saved.size();
        if size > self.most_bytes {
            return;
        }
        self.clock += 1;
        self.in_memory
            .retain(|snapshot| snapshot.extent != extent || snapshot.read != read);
        while self.bytes() + size > self.most_bytes {
            let oldest = (0..self.in_memory.len()).min_by_key(|at| self.in_memory[*at].used_at);
            let Some(oldest) = oldest else { break };
            self.in_memory.swap_remove(oldest);
        }
        self.in_memory.push(Snapshot {
            extent,
            read,
            saved,
            used_at: self.clock,
        });
    }

    /// Returns whether a sequence is worth keeping in a file: there is a folder, and no file has it.
    pub fn is_wanted_in_files(&self, read: &[Token]) -> bool {
        let files = self.files.as_ref().filter(|files| files.has_room_for(1));
        files.is_some_and(|files| !files.contains(Extent::Sequence, read))
    }

    /// Keeps a sequence in a file. False where that cannot be done.
    pub fn keep_in_files(&mut self, read: &[Token], saved: &Saved) -> bool {
        let files = self.files.as_mut();
        files.is_some_and(|files| files.keep(Extent::Sequence, read, saved))
    }

    /// Keeps one snapshot more of main memory in a file, the last used first. False where all are, or it cannot be done.
    pub fn keep_one_in_files(&mut self) -> bool {
        let Some(files) = &mut self.files else { return false };
        // What a header has beside the bytes is little.
        let is_missing = |snapshot: &&Snapshot| {
            files.has_room_for(2 * snapshot.saved.size() as u64) && !files.contains(snapshot.extent, &snapshot.read)
        };
        let missing = self.in_memory.iter().filter(is_missing);
        let Some(next) = missing.max_by_key(|snapshot| snapshot.used_at) else {
            return false;
        };
        files.keep(next.extent, &next.read, &next.saved)
    }

    fn all(&self) -> impl Iterator<Item = (Extent, &[Token])> {
        let in_memory = self.in_memory.iter().map(|snapshot| (snapshot.extent, &*snapshot.read));
        in_memory.chain(self.files.iter().flat_map(PrefixFiles::all))
    }

    fn bytes(&self) -> usize {
        self.in_memory.iter().map(|snapshot| snapshot.saved.size()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::Extent::{Sequence, State};
    use super::*;

    fn saved(byte: u8, count: usize) -> Saved {
        Saved {
            bytes: vec![byte; count].into(),
            logits: None,
        }
    }

    #[test]
    fn a_state_is_found_behind_exactly_what_was_read() {
        let mut snapshots = Snapshots::new(100, None);
        snapshots.save(State, vec![1, 2], saved(7, 10));
        snapshots.save(State, vec![1, 2, 3, 4], saved(8, 10));
        snapshots.save(State, vec![1, 9], saved(9, 10));
        snapshots.save(Sequence, vec![1, 2, 3], saved(9, 10));
        assert_eq!(snapshots.state_lengths(&[1, 2, 3, 4, 5]), [2, 4]);
        assert_eq!(snapshots.get(State, &[1, 2]), Some(saved(7, 10)));
        assert_eq!(snapshots.get(State, &[1, 2, 3]), None);
    }

    #[test]
    fn the_sequence_that_has_most_of_a_prompt_is_found() {
        let mut snapshots = Snapshots::new(100, None);
        assert_eq!(snapshots.best_sequence(&[1]), None);
        snapshots.save(Sequence, vec![1, 2, 9], saved(0, 10));
        snapshots.save(Sequence, vec![1, 2, 3, 8], saved(0, 10));
        assert_eq!(snapshots.best_sequence(&[1, 2, 3, 4]), Some((vec![1, 2, 3, 8], 3)));
    }

    #[test]
    fn the_least_recently_used_makes_room() {
        let mut snapshots = Snapshots::new(30, None);
        for token in 1..=3 {
            snapshots.save(State, vec![token], saved(0, 10));
        }
        assert!(snapshots.get(State, &[1]).is_some());
        snapshots.save(State, vec![4], saved(0, 10));
        let there = |snapshots: &Snapshots, token| snapshots.contains(State, &[token]);
        assert!(there(&snapshots, 1) && !there(&snapshots, 2) && there(&snapshots, 3));
        snapshots.save(State, vec![5], saved(0, 31));
        assert!(!there(&snapshots, 5), "it is larger than all there may be");
        assert!(there(&snapshots, 4));
    }

    #[test]
    fn what_is_used_last_goes_into_files_first_and_is_found_there() {
        let folder = tempfile::tempdir().unwrap();
        let files = || PrefixFiles::open(folder.path(), String::new(), 1000).ok();
        let mut earlier = Snapshots::new(100, files());
        earlier.save(State, vec![1], saved(1, 10));
        earlier.save(Sequence, vec![1, 2], saved(2, 10));
        assert!(earlier.get(State, &[1]).is_some());
        assert!(earlier.keep_one_in_files());
        let there = |extent, read: &[Token]| Snapshots::new(100, files()).get(extent, read);
        assert_eq!(
            (there(State, &[1]), there(Sequence, &[1, 2])),
            (Some(saved(1, 10)), None)
        );
        assert!(earlier.is_wanted_in_files(&[1, 2]));
        assert!(earlier.keep_one_in_files());
        assert!(!earlier.keep_one_in_files(), "all are kept");
        assert_eq!(there(Sequence, &[1, 2]), Some(saved(2, 10)));
        assert!(!earlier.is_wanted_in_files(&[1, 2]));
        let later = Snapshots::new(100, files());
        assert_eq!(later.best_sequence(&[1, 2, 3]), Some((vec![1, 2], 2)));
        assert_eq!(later.state_lengths(&[1, 2, 3]), [1]);
    }
}
