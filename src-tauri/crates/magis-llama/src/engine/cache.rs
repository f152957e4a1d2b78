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
    // Cells of answers that branch off a kept sequence.
    branched: usize,
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
    // Whether something is computed that branches off here: it must stay as it is, or grow.
    pinned: bool,
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
                pinned: false,
                used_at: 0,
            })
            .collect();
        Self {
            kept,
            capacity: capacity as usize,
            free: capacity as usize,
            branched: 0,
            clock: 0,
            next_cell: 0,
        }
    }

    /// Returns cells that hold something.
    pub fn used(&self) -> usize {
        self.capacity - self.free
    }

    /// Finds the best place for a prompt and enters what is reused there. At least the last token is left to compute,
    /// for its logits. One sequence at least must not be pinned ([`Cache::has_place`]).
    pub fn place(&mut self, prompt: &[Token], memory: CacheKind) -> Placement {
        self.clock += 1;
        let (best, reused) = self.best(prompt, memory);
        let source = &self.kept[best];
        // A sequence whose earlier prompt goes on here, or is asked once more, is taken over; another one is left.
        let taken_over = reused > 0 && !source.pinned && source.prompt <= common(&source.cells, prompt);
        let oldest = (0..self.kept.len())
            .filter(|at| !self.kept[*at].pinned && (reused == 0 || *at != best))
            .min_by_key(|at| self.kept[*at].used_at);
        let (target, shared_from) = match oldest.filter(|_| !taken_over) {
            Some(oldest) => {
                self.kept[oldest].cells = self.kept[best].cells[..reused].to_vec();
                (oldest, Some(self.kept[best].sequence))
            }
            None => {
                self.kept[best].cells.truncate(reused);
                (best, None)
            }
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
    /// again. `held` and pinned ones are never given up: where nothing else is left, the answer is none, too.
    pub fn evict_for(&mut self, cells: usize, held: Sequence) -> Option<Sequence> {
        if self.free >= cells {
            return None;
        }
        let others = self
            .kept
            .iter_mut()
            .filter(|kept| kept.sequence != held && !kept.pinned && !kept.cells.is_empty());
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

    /// Keeps a sequence as it is while answers branch off it or are computed in it.
    pub fn pin(&mut self, sequence: Sequence) {
        if let Some(kept) = self.of(sequence) {
            kept.pinned = true;
        }
    }

    /// Ends [`Cache::pin`].
    pub fn unpin(&mut self, sequence: Sequence) {
        if let Some(kept) = self.of(sequence) {
            kept.pinned = false;
        }
    }

    /// Returns whether a prompt can be placed without a pinned sequence.
    pub fn has_place(&self) -> bool {
        self.kept.iter().any(|kept| !kept.pinned)
    }

    /// Returns cells that are free once everything is given up that is not pinned.
    pub fn room_beside_pinned(&self) -> usize {
        let pinned = distinct(self.kept.iter().filter(|kept| kept.pinned));
        self.capacity.saturating_sub(pinned + self.branched)
    }

    /// Returns how many tokens of a prompt lie in pinned cells, where it would be placed now.
    pub fn pinned_begin(&self, prompt: &[Token], memory: CacheKind) -> usize {
        let (best, reused) = self.best(prompt, memory);
        if self.kept[best].pinned { reused } else { 0 }
    }

    /// Enters that a branch is gone for which so many tokens were computed.
    pub fn end_branch(&mut self, tokens: usize) {
        self.branched = self.branched.saturating_sub(tokens);
        self.recount();
    }

    /// Enters that there are no branches any more, and nothing is pinned.
    pub fn end_all_branches(&mut self) {
        self.branched = 0;
        for kept in &mut self.kept {
            kept.pinned = false;
        }
        self.recount();
    }

    /// Enters tokens that were computed at the end of a sequence, a kept one or a branch.
    pub fn append(&mut self, sequence: Sequence, tokens: &[Token]) {
        let first = self.next_cell;
        self.next_cell += tokens.len() as u64;
        self.free = self.free.saturating_sub(tokens.len());
        if let Some(kept) = self.of(sequence) {
            kept.cells
                .extend((first..).zip(tokens).map(|(id, token)| Cell { token: *token, id }));
        } else {
            self.branched += tokens.len();
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

    /// Returns the sequence that has most of a prompt, and how much of it is of use.
    fn best(&self, prompt: &[Token], memory: CacheKind) -> (usize, usize) {
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
        (best, reusable(&self.kept[best]))
    }

    fn recount(&mut self) {
        let used = distinct(self.kept.iter()) + self.branched;
        self.free = self.capacity.saturating_sub(used);
    }
}

/// Counts the cells of sequences, each once.
fn distinct<'a>(kept: impl Iterator<Item = &'a Kept>) -> usize {
    let cells: HashSet<u64> = kept.flat_map(|kept| &kept.cells).map(|cell| cell.id).collect();
    cells.len()
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
    fn a_pinned_sequence_is_shared_and_neither_taken_over_nor_given_up() {
        let mut cache = Cache::new(3, 20);
        let pinned = cache.place(&[1, 2, 3], CacheKind::Attention).sequence;
        cache.append(pinned, &[1, 2, 3]);
        cache.pin(pinned);
        assert_eq!(cache.pinned_begin(&[1, 2, 3, 4], CacheKind::Attention), 3);
        let longer = cache.place(&[1, 2, 3, 4], CacheKind::Attention);
        assert_eq!((longer.reused, longer.shared_from), (3, Some(pinned)));
        cache.append(longer.sequence, &[4]);
        assert_eq!((cache.used(), cache.room_beside_pinned()), (4, 17));
        let evicted: Vec<Sequence> = std::iter::from_fn(|| cache.evict_for(18, Sequence(-1))).collect();
        assert_eq!(evicted, [longer.sequence]);

        // Where nothing else is left, a prompt gives up the sequence that it shares its begin with.
        cache.pin(longer.sequence);
        let only = cache.place(&[9, 8, 7], CacheKind::Attention);
        cache.append(only.sequence, &[9, 8, 7]);
        let other = cache.place(&[9, 8, 5], CacheKind::Attention);
        assert_eq!(
            (other.sequence, other.reused, other.shared_from),
            (only.sequence, 2, None)
        );
        cache.pin(other.sequence);
        assert!(!cache.has_place());
        cache.end_all_branches();
        assert!(cache.has_place());
        assert_eq!(cache.place(&[1, 2, 3, 4], CacheKind::Attention).shared_from, None);
    }

    #[test]
    fn tokens_of_branches_take_room_until_they_end() {
        let mut cache = Cache::new(2, 20);
        let kept = cache.place(&[1, 2, 3], CacheKind::Attention).sequence;
        cache.append(kept, &[1, 2, 3]);
        cache.pin(kept);
        cache.append(Sequence(2), &[4, 5, 6, 7]);
        cache.append(Sequence(3), &[4, 5]);
        assert_eq!((cache.free(), cache.room_beside_pinned()), (11, 11));
        cache.end_branch(4);
        assert_eq!((cache.free(), cache.room_beside_pinned()), (15, 15));
        cache.end_all_branches();
        assert_eq!((cache.free(), cache.room_beside_pinned()), (17, 20));
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
