//! Which tokens lie in llama.cpp's cache, and under which sequence: so that a prompt that begins like an earlier one is
//! computed from where they part.
//!
//! Only the books are kept here; [`super::Engine`] moves the cells accordingly. A cell may belong to several sequences
//! and is counted once.

use super::native::{CacheKind, Sequence, Token};
use std::collections::HashSet;

/// The books of the cache.
#[derive(Debug)]
pub struct Cache {
    kept: Vec<Kept>,
    capacity: usize,
    free: usize,
    clock: u64,
    next_cell: u64,
}

/// How a prompt gets its sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// The sequence to compute in.
    pub sequence: Sequence,
    /// Tokens of the prompt that are there already.
    pub reused: usize,
    /// Where they come from, when not from that sequence itself. The sequence is then to be emptied first.
    pub shared_from: Option<Sequence>,
}

#[derive(Debug)]
struct Kept {
    sequence: Sequence,
    cells: Vec<Cell>,
    // How many of the cells were a prompt; what follows was generated and is not worth keeping for its own sake.
    prompt: usize,
    used_at: u64,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    token: Token,
    id: u64,
}

impl Cache {
    /// For `sequences` kept sequences over `capacity` cells.
    pub fn new(sequences: u32, capacity: u32) -> Self {
        let kept = (0..sequences as i32)
            .map(|number| Kept {
                sequence: Sequence(number),
                cells: Vec::new(),
                prompt: 0,
                used_at: 0,
            })
            .collect();
        Self {
            kept,
            capacity: capacity as usize,
            free: capacity as usize,
            clock: 0,
            next_cell: 0,
        }
    }

    /// Returns cells that hold something.
    pub fn used(&self) -> usize {
        self.capacity - self.free
    }

    /// Finds the best place for a prompt and enters what is reused there. At least the last token is left to compute,
    /// for its logits.
    pub fn place(&mut self, prompt: &[Token], memory: CacheKind) -> Placement {
        self.clock += 1;
        let longest = prompt.len().saturating_sub(1);
        let reusable = |kept: &Kept| {
            let common = common(&kept.cells, prompt).min(longest);
            if memory == CacheKind::Recurrent && common < kept.cells.len() {
                0
            } else {
                common
            }
        };
        let best = (0..self.kept.len())
            .max_by_key(|at| (reusable(&self.kept[*at]), self.kept[*at].used_at))
            .unwrap_or(0);
        let reused = reusable(&self.kept[best]);
        // A sequence whose earlier prompt goes on here, or is asked once more, is taken over; another one is left.
        let taken_over = reused > 0 && self.kept[best].prompt <= common(&self.kept[best].cells, prompt);
        let (target, shared_from) = if taken_over {
            self.kept[best].cells.truncate(reused);
            (best, None)
        } else {
            let oldest = (0..self.kept.len())
                .filter(|at| reused == 0 || *at != best || self.kept.len() == 1)
                .min_by_key(|at| self.kept[*at].used_at)
                .unwrap_or(0);
            self.kept[oldest].cells = self.kept[best].cells[..reused].to_vec();
            (oldest, Some(self.kept[best].sequence))
        };
        let kept = &mut self.kept[target];
        kept.prompt = prompt.len();
        kept.used_at = self.clock;
        let sequence = kept.sequence;
        self.recount();
        Placement {
            sequence,
            reused,
            shared_from: shared_from.filter(|from| *from != sequence),
        }
    }

    /// Returns the sequence to give up so that `cells` more fit; none when they fit. The caller removes it and asks
    /// again. `held` is never given up: where nothing else is left, the answer is none, too.
    pub fn evict_for(&mut self, cells: usize, held: Sequence) -> Option<Sequence> {
        if self.free >= cells {
            return None;
        }
        let others = self
            .kept
            .iter_mut()
            .filter(|kept| kept.sequence != held && !kept.cells.is_empty());
        let oldest = others.min_by_key(|kept| kept.used_at)?;
        oldest.cells.clear();
        oldest.prompt = 0;
        let sequence = oldest.sequence;
        self.recount();
        Some(sequence)
    }

    /// Returns cells that are free.
    pub fn free(&self) -> usize {
        self.free
    }

    /// Enters tokens that were computed at the end of a sequence.
    pub fn append(&mut self, sequence: Sequence, tokens: &[Token]) {
        let first = self.next_cell;
        self.next_cell += tokens.len() as u64;
        self.free = self.free.saturating_sub(tokens.len());
        if let Some(kept) = self.of(sequence) {
            kept.cells
                .extend((first..).zip(tokens).map(|(id, token)| Cell { token: *token, id }));
        }
    }

    /// Enters that a sequence holds nothing any more.
    pub fn forget(&mut self, sequence: Sequence) {
        if let Some(kept) = self.of(sequence) {
            kept.cells.clear();
            kept.prompt = 0;
        }
        self.recount();
    }

    /// Enters that nothing is held any more.
    pub fn forget_all(&mut self) {
        for kept in &mut self.kept {
            kept.cells.clear();
            kept.prompt = 0;
        }
        self.recount();
    }

    /// Returns how many tokens a sequence holds.
    pub fn len(&self, sequence: Sequence) -> usize {
        self.kept
            .iter()
            .find(|kept| kept.sequence == sequence)
            .map_or(0, |kept| kept.cells.len())
    }

    fn of(&mut self, sequence: Sequence) -> Option<&mut Kept> {
        self.kept.iter_mut().find(|kept| kept.sequence == sequence)
    }

    fn recount(&mut self) {
        let cells: HashSet<u64> = self
            .kept
            .iter()
            .flat_map(|kept| &kept.cells)
            .map(|cell| cell.id)
            .collect();
        self.free = self.capacity.saturating_sub(cells.len());
    }
}

fn common(cells: &[Cell], prompt: &[Token]) -> usize {
    cells
        .iter()
        .zip(prompt)
        .take_while(|(cell, token)| cell.token == **token)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places prompts one after the other, computes the rest of each, and gives what was reused.
    fn check(sequences: u32, prompts: &[&[Token]], reused: &[usize], used: usize) {
        let mut cache = Cache::new(sequences, 100);
        for (prompt, expected) in prompts.iter().zip(reused) {
            let placement = cache.place(prompt, CacheKind::Attention);
            assert_eq!(placement.reused, *expected, "{prompt:?}");
            cache.append(placement.sequence, &prompt[placement.reused..]);
            assert_eq!(cache.len(placement.sequence), prompt.len());
        }
        assert_eq!(cache.used(), used);
    }

    #[test]
    fn prompts_that_alternate_each_keep_their_own() {
        check(
            4,
            &[&[1, 2, 3], &[9, 8, 7], &[1, 2, 3, 4], &[9, 8, 7, 6]],
            &[0, 0, 3, 3],
            8,
        );
    }

    #[test]
    fn a_common_begin_is_shared_and_counted_once() {
        check(4, &[&[1, 2, 3], &[1, 2, 4], &[1, 2, 3, 5]], &[0, 2, 3], 5);
    }

    #[test]
    fn the_same_prompt_again_computes_its_last_token() {
        check(4, &[&[1, 2, 3], &[1, 2, 3]], &[0, 2], 3);
    }

    #[test]
    fn the_least_recently_used_makes_room() {
        check(
            2,
            &[&[1, 2], &[3, 4], &[5, 6], &[3, 4, 5], &[1, 2, 3]],
            &[0, 0, 0, 2, 0],
            6,
        );
        let mut cache = Cache::new(3, 10);
        for prompt in [[1, 1, 1, 1], [2, 2, 2, 2]] {
            let placement = cache.place(&prompt, CacheKind::Attention);
            cache.append(placement.sequence, &prompt[placement.reused..]);
        }
        let placement = cache.place(&[3; 6], CacheKind::Attention);
        let evicted: Vec<Sequence> = std::iter::from_fn(|| cache.evict_for(6, placement.sequence)).collect();
        assert_eq!(evicted.len(), 1, "the older one is enough");
        assert_eq!(cache.place(&[2, 2, 2, 2, 2], CacheKind::Attention).reused, 4);
    }

    #[test]
    fn a_recurrent_memory_only_goes_on() {
        let mut cache = Cache::new(2, 100);
        let placement = cache.place(&[1, 2, 3], CacheKind::Recurrent);
        cache.append(placement.sequence, &[1, 2, 3]);
        assert_eq!(cache.place(&[1, 2, 3, 4], CacheKind::Recurrent).reused, 3);
        cache.append(placement.sequence, &[4]);
        assert_eq!(cache.place(&[1, 2, 9], CacheKind::Recurrent).reused, 0);
    }
}
