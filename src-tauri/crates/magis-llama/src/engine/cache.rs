//! Which tokens lie in llama.cpp's cache, and under which sequence: so that a prompt that begins like an earlier one is
//! computed from where they part.
//!
//! The kept sequences together are a tree of prefixes: what two of them begin with alike is one run of cells that belongs
//! to both, and is counted once. Only the books are kept here; [`super::core::Core`] moves the cells accordingly.

use super::native::{CacheKind, Sequence, Token};
use magis_llm::NotReused;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::rc::Rc;

/// Tokens that another call must be about to compute before it is worth waiting for them.
const WORTH_WAITING: usize = 16;
/// Tokens of a common begin from which on its end is worth a snapshot of a recurrent state.
const WORTH_A_SNAPSHOT: usize = 16;
/// Tokens of a prompt after which a recurrent state is saved in any case.
const SNAPSHOT_EVERY: usize = 512;
/// Tokens that a sequence must have for itself to be worth saving when it is given up.
const WORTH_SAVING: usize = 64;
/// Prompts that were given up of which is known that they were there.
const MOST_GONE: usize = 64;

/// The books of the cache.
#[derive(Debug)]
pub struct Cache {
    memory: CacheKind,
    kept: Vec<Kept>,
    capacity: usize,
    free: usize,
    // Cells of answers that branch off a kept sequence, for each branch.
    branched: BTreeMap<i32, usize>,
    // What the last sequence that was given up was worth: what is used from now on is worth that much more.
    given_up: u64,
    // Prompts that were given up last, to tell why they are not reused.
    gone: VecDeque<Rc<[Token]>>,
    next_cell: u64,
}

/// How a prompt gets its sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct CellPlacement {
    /// The sequence to compute in.
    pub sequence: Sequence,
    /// Tokens of the prompt that are there already.
    pub reused: usize,
    /// Where they come from, when not from that sequence itself. The sequence is then to be emptied first.
    pub shared_from: Option<Sequence>,
    /// The logits behind the whole prompt, where it is there already.
    pub logits: Option<Rc<[f32]>>,
    /// What the sequence held so far, where that is worth saving.
    pub given_up: Option<KeptPrompt>,
    /// Why no more is reused; none where nothing more could be.
    pub not_reused: Option<NotReused>,
}

/// A prompt that a kept sequence begins with.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptPrompt {
    pub read: Rc<[Token]>,
    /// The logits behind it, where they are known.
    pub logits: Option<Rc<[f32]>>,
}

/// A sequence that is given up to make room.
#[derive(Debug, Clone, PartialEq)]
pub struct Evicted {
    pub sequence: Sequence,
    /// What it held, where that is worth saving.
    pub prompt: Option<KeptPrompt>,
}

/// Whether a prompt can be computed now.
#[derive(Debug, Clone, PartialEq)]
pub enum Placing {
    Ready(CellPlacement),
    /// Another call is computing what it begins with, or every sequence is in use.
    Later,
}

#[derive(Debug)]
struct Kept {
    sequence: Sequence,
    cells: Vec<Cell>,
    // The prompt that is or was computed here; what follows was generated and is not worth keeping for its own sake.
    prompt: Rc<[Token]>,
    // The logits behind the prompt.
    logits: Option<Rc<[f32]>>,
    // Where the state is to be saved on the way through the prompt.
    stops: BTreeSet<usize>,
    // Whether something is computed here or branches off here: it must stay as it is, or grow.
    pinned: bool,
    // The higher, the dearer is it to lose.
    worth: u64,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    token: Token,
    id: u64,
}

impl Cache {
    /// For `sequences` kept sequences over `capacity` cells.
    pub fn new(sequences: u32, capacity: u32, memory: CacheKind) -> Self {
        let kept = (0..sequences as i32)
            .map(|number| Kept {
                sequence: Sequence(number),
                cells: Vec::new(),
                prompt: Rc::default(),
                logits: None,
                stops: BTreeSet::new(),
                pinned: false,
                worth: 0,
            })
            .collect();
        Self {
            memory,
            kept,
            capacity: capacity as usize,
            free: capacity as usize,
            branched: BTreeMap::new(),
            given_up: 0,
            gone: VecDeque::new(),
            next_cell: 0,
        }
    }

    /// Returns cells that hold something.
    pub fn used(&self) -> usize {
        self.capacity - self.free
    }

    /// Finds the best place for a prompt, pins it, and enters what is reused there. `saved` are the lengths at which a
    /// recurrent state is on record for the begin of this prompt. Without logits behind the prompt at least its last
    /// token is left to compute.
    pub fn place(&mut self, prompt: &Rc<[Token]>, saved: &[usize]) -> Placing {
        let (best, reused) = self.best(prompt, saved);
        self.place_at(prompt, best, reused)
    }

    /// As [`Cache::place`], in a sequence that is emptied whatever the cache has of the prompt.
    pub fn place_anew(&mut self, prompt: &Rc<[Token]>) -> Placing {
        self.place_at(prompt, 0, 0)
    }

    /// Returns how many tokens of a prompt [`Cache::place`] would reuse.
    pub fn reusable(&self, prompt: &[Token], saved: &[usize]) -> usize {
        self.best(prompt, saved).1
    }

    fn place_at(&mut self, prompt: &Rc<[Token]>, best: usize, reused: usize) -> Placing {
        if let Some(common) = self.computed_meanwhile(prompt, reused) {
            self.save_at(prompt, common);
            return Placing::Later;
        }
        let source = &self.kept[best];
        // A sequence whose earlier prompt goes on here, or is asked once more, is taken over; another one is left.
        let taken_over = reused > 0 && !source.pinned && source.prompt.len() <= common(&source.cells, prompt);
        let cheapest = (0..self.kept.len())
            .filter(|at| !self.kept[*at].pinned && (reused == 0 || *at != best))
            .min_by_key(|at| self.kept[*at].worth);
        let is_free = !source.pinned;
        let (target, shared_from) = match cheapest.filter(|_| !taken_over) {
            Some(cheapest) => (cheapest, Some(source.sequence)),
            None if is_free => (best, None),
            None => return Placing::Later,
        };
        let logits = source
            .logits
            .clone()
            .filter(|_| reused == prompt.len() && source.prompt == *prompt);
        let stops = self.stops(prompt, reused);
        let not_reused = self.not_reused(prompt, reused);
        let is_lost = target != best || reused == 0;
        let given_up = is_lost.then(|| self.worth_saving(target)).flatten();
        if is_lost {
            self.is_gone(target);
        }
        let begin = self.kept[best].cells[..reused].to_vec();
        let kept = &mut self.kept[target];
        if is_lost && !kept.cells.is_empty() {
            self.given_up = self.given_up.max(kept.worth);
        }
        kept.cells = begin;
        kept.prompt = Rc::clone(prompt);
        kept.logits.clone_from(&logits);
        kept.stops = stops;
        kept.pinned = true;
        let sequence = kept.sequence;
        self.recount();
        Placing::Ready(CellPlacement {
            sequence,
            reused,
            shared_from: shared_from.filter(|from| *from != sequence && reused > 0),
            logits,
            given_up,
            not_reused,
        })
    }

    /// Returns the prompts that are worth keeping for later, the dearest first.
    pub fn worth_keeping(&self) -> Vec<(Sequence, KeptPrompt)> {
        let mut order: Vec<usize> = (0..self.kept.len()).collect();
        order.sort_by_key(|at| Reverse(self.kept[*at].worth));
        let keep = |at: usize| Some((self.kept[at].sequence, self.prompt_of(at)?));
        order.into_iter().filter_map(keep).collect()
    }

    /// Returns up to where the next tokens of a sequence may be computed in one step: to its end, or to the next place
    /// where its state is to be saved.
    pub fn next_stop(&self, sequence: Sequence) -> Option<usize> {
        let kept = self.kept.iter().find(|kept| kept.sequence == sequence)?;
        kept.stops.range(kept.cells.len() + 1..).next().copied()
    }

    /// Returns what a sequence has read, where its state is to be saved there.
    pub fn at_stop(&mut self, sequence: Sequence) -> Option<Vec<Token>> {
        let kept = self.of(sequence)?;
        kept.stops
            .remove(&kept.cells.len())
            .then(|| kept.cells.iter().map(|cell| cell.token).collect())
    }

    /// Enters the logits behind the whole prompt of a sequence.
    pub fn end_prompt(&mut self, sequence: Sequence, logits: &Rc<[f32]>) {
        if let Some(kept) = self.of(sequence) {
            kept.logits = Some(Rc::clone(logits));
        }
    }

    /// Gives up a sequence so that `cells` more fit; none when they fit. The caller removes it and asks again. Pinned ones
    /// are never given up: where nothing else is left, the answer is none, too.
    pub fn evict_for(&mut self, cells: usize) -> Option<Evicted> {
        if self.free >= cells {
            return None;
        }
        let is_free = |at: &usize| !self.kept[*at].pinned && !self.kept[*at].cells.is_empty();
        let cheapest = (0..self.kept.len())
            .filter(is_free)
            .min_by_key(|at| self.kept[*at].worth)?;
        let prompt = self.worth_saving(cheapest);
        self.given_up = self.given_up.max(self.kept[cheapest].worth);
        let sequence = self.kept[cheapest].sequence;
        self.give_up(sequence);
        Some(Evicted { sequence, prompt })
    }

    /// Gives up a sequence, which then holds nothing any more.
    fn give_up(&mut self, sequence: Sequence) {
        if let Some(at) = self.kept.iter().position(|kept| kept.sequence == sequence) {
            self.is_gone(at);
            self.kept[at].empty();
        }
        self.recount();
    }

    /// Ends the use of a sequence that [`Cache::place`] gave. From now on it may be given up: the sooner, the fewer tokens
    /// would have to be computed again, and the longer ago that is.
    pub fn unpin(&mut self, sequence: Sequence) {
        let Some(at) = (0..self.kept.len()).find(|at| self.kept[*at].sequence == sequence) else {
            return;
        };
        let worth = self.given_up + 1 + self.own(at) as u64;
        let kept = &mut self.kept[at];
        kept.pinned = false;
        kept.worth = worth;
    }

    /// Enters that a branch is gone.
    pub fn end_branch(&mut self, branch: Sequence) {
        self.branched.remove(&branch.0);
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
            *self.branched.entry(sequence.0).or_default() += tokens.len();
        }
    }

    /// Enters that a sequence, a kept one or a branch, lost its last tokens.
    pub fn drop_last(&mut self, sequence: Sequence, tokens: usize) {
        if let Some(kept) = self.of(sequence) {
            let left = kept.cells.len().saturating_sub(tokens);
            kept.cells.truncate(left);
        } else if let Some(branched) = self.branched.get_mut(&sequence.0) {
            *branched = branched.saturating_sub(tokens);
        }
        self.recount();
    }

    /// Enters that a sequence holds nothing any more.
    pub fn forget(&mut self, sequence: Sequence) {
        if let Some(kept) = self.of(sequence) {
            kept.empty();
        }
        self.recount();
    }

    /// Enters that what was to be reused in a placed sequence is not there.
    pub fn restart(&mut self, sequence: Sequence) {
        if let Some(kept) = self.of(sequence) {
            kept.cells.clear();
            kept.logits = None;
        }
        self.recount();
    }

    /// Returns how many tokens a kept sequence holds.
    pub fn len(&self, sequence: Sequence) -> usize {
        self.kept
            .iter()
            .find(|kept| kept.sequence == sequence)
            .map_or(0, |kept| kept.cells.len())
    }

    /// Counts the tokens of a sequence that no other has.
    fn own(&self, at: usize) -> usize {
        let sequence = self.kept[at].sequence;
        let others = self.cells_where(|kept| kept.sequence != sequence);
        let cells = &self.kept[at].cells;
        cells.iter().filter(|cell| !others.contains(&cell.id)).count()
    }

    /// Returns the prompt of a sequence, where it is worth saving when the sequence is given up.
    fn worth_saving(&self, at: usize) -> Option<KeptPrompt> {
        let prompt = self.prompt_of(at)?;
        (self.own(at) >= WORTH_SAVING).then_some(prompt)
    }

    /// Returns the prompt of a sequence as far as it is computed, where it is long.
    fn prompt_of(&self, at: usize) -> Option<KeptPrompt> {
        let kept = &self.kept[at];
        let length = common(&kept.cells, &kept.prompt);
        let is_whole = length == kept.prompt.len();
        (length >= WORTH_SAVING).then(|| KeptPrompt {
            read: if is_whole {
                Rc::clone(&kept.prompt)
            } else {
                kept.prompt[..length].into()
            },
            logits: kept.logits.clone().filter(|_| is_whole),
        })
    }

    /// Enters that the prompt of a sequence is given up.
    fn is_gone(&mut self, at: usize) {
        if let Some(KeptPrompt { read, .. }) = self.prompt_of(at) {
            self.gone.truncate(MOST_GONE - 1);
            self.gone.push_front(read);
        }
    }

    /// Returns why no more of a prompt is reused; none where nothing more could be.
    fn not_reused(&self, prompt: &[Token], reused: usize) -> Option<NotReused> {
        if reused + 1 >= prompt.len() {
            return None;
        }
        let held = self.kept.iter().map(|kept| common(&kept.cells, prompt)).max();
        let gone = self.gone.iter().map(|gone| common_tokens(gone, prompt)).max();
        Some(if held > Some(reused) {
            NotReused::NoState
        } else if gone > Some(reused) {
            NotReused::GivenUp
        } else if reused > 0 {
            NotReused::Parted
        } else {
            NotReused::New
        })
    }

    fn of(&mut self, sequence: Sequence) -> Option<&mut Kept> {
        self.kept.iter_mut().find(|kept| kept.sequence == sequence)
    }

    /// Returns the sequence that has most of a prompt, and how much of it is of use.
    fn best(&self, prompt: &[Token], saved: &[usize]) -> (usize, usize) {
        let reusable = |kept: &Kept| {
            let common = common(&kept.cells, prompt);
            let whole = kept.logits.is_some() && *kept.prompt == *prompt;
            let longest = if whole {
                prompt.len()
            } else {
                prompt.len().saturating_sub(1)
            };
            let common = common.min(longest);
            match self.memory {
                CacheKind::Attention | CacheKind::SlidingWindow(_) => common,
                CacheKind::Recurrent if common == kept.cells.len() => common,
                CacheKind::Recurrent => saved.iter().copied().filter(|at| *at <= common).max().unwrap_or(0),
            }
        };
        let best = (0..self.kept.len())
            .max_by_key(|at| (reusable(&self.kept[*at]), !self.kept[*at].pinned, self.kept[*at].worth))
            .unwrap_or(0);
        (best, reusable(&self.kept[best]))
    }

    /// Returns how much of a prompt another call is computing, where that is worth waiting for.
    fn computed_meanwhile(&self, prompt: &[Token], reused: usize) -> Option<usize> {
        let longest = self
            .kept
            .iter()
            .filter(|kept| kept.pinned && kept.cells.len() < kept.prompt.len())
            .filter(|kept| common(&kept.cells, prompt) == kept.cells.len())
            .map(|kept| common_tokens(&kept.prompt, prompt))
            .max()?;
        (longest >= reused + WORTH_WAITING).then_some(longest)
    }

    /// Enters that the state behind the first tokens of a prompt is to be saved by whoever computes them.
    fn save_at(&mut self, prompt: &[Token], length: usize) {
        if self.memory != CacheKind::Recurrent {
            return;
        }
        for kept in &mut self.kept {
            if kept.pinned && kept.cells.len() < length && common_tokens(&kept.prompt, prompt) >= length {
                kept.stops.insert(length);
            }
        }
    }

    /// Returns where a recurrent state is to be saved on the way through a prompt: where an earlier prompt parted from it,
    /// as others may do so there again, at its end, and now and then in between.
    fn stops(&self, prompt: &[Token], reused: usize) -> BTreeSet<usize> {
        if self.memory != CacheKind::Recurrent {
            return BTreeSet::new();
        }
        let parted = self.kept.iter().map(|kept| common_tokens(&kept.prompt, prompt)).max();
        let parted = parted.filter(|parted| *parted >= WORTH_A_SNAPSHOT);
        let now_and_then = (1..)
            .map(|number| number * SNAPSHOT_EVERY)
            .take_while(|at| *at < prompt.len());
        let stops = parted.into_iter().chain(now_and_then).chain([prompt.len()]);
        stops.filter(|stop| *stop > reused).collect()
    }

    fn recount(&mut self) {
        let used = self.cells_where(|_| true).len() + self.branched.values().sum::<usize>();
        self.free = self.capacity.saturating_sub(used);
    }

    fn cells_where(&self, is_wanted: impl Fn(&Kept) -> bool) -> HashSet<u64> {
        let kept = self.kept.iter().filter(|kept| is_wanted(kept));
        kept.flat_map(|kept| &kept.cells).map(|cell| cell.id).collect()
    }
}

impl Kept {
    fn empty(&mut self) {
        self.cells.clear();
        self.prompt = Rc::default();
        self.logits = None;
        self.stops.clear();
    }
}

fn common(cells: &[Cell], prompt: &[Token]) -> usize {
    cells
        .iter()
        .zip(prompt)
        .take_while(|(cell, token)| cell.token == **token)
        .count()
}

fn common_tokens(one: &[Token], other: &[Token]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(tokens: &[Token]) -> Rc<[Token]> {
        tokens.into()
    }

    fn ready(cache: &mut Cache, tokens: &[Token], saved: &[usize]) -> CellPlacement {
        match cache.place(&prompt(tokens), saved) {
            Placing::Ready(placement) => placement,
            Placing::Later => unreachable!("{tokens:?} has to wait"),
        }
    }

    /// Places a prompt and computes the rest of it.
    fn compute(cache: &mut Cache, tokens: &[Token]) -> CellPlacement {
        let placement = ready(cache, tokens, &[]);
        cache.append(placement.sequence, &tokens[placement.reused..]);
        cache.unpin(placement.sequence);
        placement
    }

    /// Computes prompts one after the other, and compares what was reused.
    fn check(sequences: u32, prompts: &[&[Token]], reused: &[usize], used: usize) {
        let mut cache = Cache::new(sequences, 100, CacheKind::Attention);
        for (prompt, expected) in prompts.iter().zip(reused) {
            let placement = compute(&mut cache, prompt);
            assert_eq!(placement.reused, *expected, "{prompt:?}");
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
    fn the_same_prompt_again_computes_its_last_token_or_nothing_where_its_logits_are_there() {
        check(4, &[&[1, 2, 3], &[1, 2, 3]], &[0, 2], 3);
        let mut cache = Cache::new(2, 10, CacheKind::Attention);
        let placement = compute(&mut cache, &[1, 2, 3]);
        let logits: Rc<[f32]> = [0.5].into();
        cache.end_prompt(placement.sequence, &logits);
        // What was generated behind it stands in nobody's way.
        cache.append(placement.sequence, &[4, 5]);
        let again = ready(&mut cache, &[1, 2, 3], &[]);
        assert_eq!((again.reused, again.logits), (3, Some(logits)));
        cache.unpin(again.sequence);
        let longer = ready(&mut cache, &[1, 2, 3, 6], &[]);
        assert_eq!((longer.reused, longer.logits), (3, None));
    }

    #[test]
    fn what_costs_least_to_compute_again_makes_room() {
        let mut cache = Cache::new(2, 100, CacheKind::Attention);
        compute(&mut cache, &[1; 50]);
        for token in 2..6 {
            compute(&mut cache, &[token; 5]);
        }
        assert_eq!(
            compute(&mut cache, &[1; 51]).reused,
            50,
            "the long one outlives short ones"
        );
        for token in 2..60 {
            compute(&mut cache, &[token; 5]);
        }
        assert_eq!(compute(&mut cache, &[1; 52]).reused, 0, "but not for ever");
    }

    #[test]
    fn what_is_long_is_handed_out_when_it_is_given_up() {
        let mut cache = Cache::new(1, 100, CacheKind::Attention);
        compute(&mut cache, &[1; 70]);
        let logits: Rc<[f32]> = [0.5].into();
        cache.end_prompt(Sequence(0), &logits);
        cache.append(Sequence(0), &[4, 5]);
        let kept = |token, count| KeptPrompt {
            read: vec![token; count].into(),
            logits: None,
        };
        let with_logits = KeptPrompt {
            logits: Some(logits),
            ..kept(1, 70)
        };
        assert_eq!(cache.worth_keeping(), [(Sequence(0), with_logits.clone())]);
        assert_eq!(compute(&mut cache, &[2; 5]).given_up, Some(with_logits));
        assert_eq!(compute(&mut cache, &[3; 80]).given_up, None);
        let evicted = cache.evict_for(50).unwrap();
        assert_eq!(evicted.prompt, Some(kept(3, 80)));
    }

    #[test]
    fn why_no_more_is_reused_is_told() {
        let mut cache = Cache::new(2, 200, CacheKind::Attention);
        let mut why = |tokens: &[Token]| compute(&mut cache, tokens).not_reused;
        assert_eq!(why(&[1; 70]), Some(NotReused::New));
        assert_eq!(why(&[1; 71]), None, "but for the last token all of it");
        assert_eq!(why(&[1, 1, 2, 2]), Some(NotReused::Parted));
        for token in 3..80 {
            assert_eq!(why(&[token; 3]), Some(NotReused::New));
        }
        assert_eq!(why(&[1; 73]), Some(NotReused::GivenUp));
        let mut cache = Cache::new(2, 200, CacheKind::Recurrent);
        compute(&mut cache, &[1; 20]);
        assert_eq!(compute(&mut cache, &[1, 1, 2, 2]).not_reused, Some(NotReused::NoState));
    }

    #[test]
    fn a_pinned_sequence_is_shared_and_neither_taken_over_nor_given_up() {
        let mut cache = Cache::new(3, 20, CacheKind::Attention);
        let pinned = ready(&mut cache, &[1, 2, 3], &[]).sequence;
        cache.append(pinned, &[1, 2, 3]);
        let longer = compute(&mut cache, &[1, 2, 3, 4]);
        assert_eq!((longer.reused, longer.shared_from), (3, Some(pinned)));
        assert_eq!(cache.used(), 4);
        let evicted: Vec<Evicted> = std::iter::from_fn(|| cache.evict_for(18)).collect();
        assert_eq!(
            evicted,
            [Evicted {
                sequence: longer.sequence,
                prompt: None
            }]
        );
        for tokens in [[9, 8, 7], [6, 5, 4]] {
            let placement = ready(&mut cache, &tokens, &[]);
            cache.append(placement.sequence, &tokens);
        }
        assert_eq!(cache.place(&prompt(&[3, 3, 3]), &[]), Placing::Later);
        cache.unpin(pinned);
        assert_eq!(ready(&mut cache, &[1, 2, 4], &[]).sequence, pinned);
    }

    #[test]
    fn a_prompt_waits_for_another_that_computes_the_same_begin() {
        let mut cache = Cache::new(4, 200, CacheKind::Attention);
        let (mut one, mut other) = (vec![1; 40], vec![1; 30]);
        one.push(2);
        other.push(3);
        let first = ready(&mut cache, &one, &[]);
        assert_eq!(cache.place(&prompt(&other), &[]), Placing::Later);
        cache.append(first.sequence, &one[..20]);
        let shorter: Vec<Token> = vec![1, 1, 5];
        assert_eq!(
            ready(&mut cache, &shorter, &[]).reused,
            2,
            "what is there is not waited for"
        );
        cache.append(first.sequence, &one[20..]);
        assert_eq!(ready(&mut cache, &other, &[]).reused, 30);
    }

    #[test]
    fn tokens_of_branches_take_room_until_they_end() {
        let mut cache = Cache::new(2, 20, CacheKind::Attention);
        compute(&mut cache, &[1, 2, 3]);
        cache.append(Sequence(2), &[4, 5, 6, 7]);
        cache.append(Sequence(3), &[4, 5]);
        assert_eq!(cache.free, 11);
        cache.drop_last(Sequence(3), 1);
        assert_eq!(cache.free, 12);
        cache.end_branch(Sequence(2));
        assert_eq!(cache.free, 16);
        cache.end_branch(Sequence(3));
        assert_eq!(cache.free, 17);
    }

    #[test]
    fn a_recurrent_memory_goes_on_from_its_end_or_from_a_saved_state() {
        let mut cache = Cache::new(3, 200, CacheKind::Recurrent);
        let begin: Vec<Token> = (0..20).collect();
        let first = compute(&mut cache, &begin);
        let longer = [&begin[..], &[90]].concat();
        assert_eq!(compute(&mut cache, &longer).reused, 20);
        assert_eq!(first.reused, 0);
        let parted = [&begin[..18], &[91]].concat();
        let placement = ready(&mut cache, &parted, &[]);
        assert_eq!(placement.reused, 0, "no state is saved");
        assert_eq!(
            cache.next_stop(placement.sequence),
            Some(18),
            "where the prompts parted"
        );
        cache.append(placement.sequence, &parted[..18]);
        assert_eq!(cache.at_stop(placement.sequence).as_deref(), Some(&parted[..18]));
        assert_eq!(cache.next_stop(placement.sequence), Some(19), "and at the end");
        cache.append(placement.sequence, &parted[18..]);
        cache.unpin(placement.sequence);
        let again = [&begin[..18], &[92]].concat();
        assert_eq!(ready(&mut cache, &again, &[18]).reused, 18);
    }

    #[test]
    fn who_computes_a_begin_that_another_waits_for_saves_its_state() {
        let mut cache = Cache::new(3, 200, CacheKind::Recurrent);
        let begin: Vec<Token> = (0..20).collect();
        let one = [&begin[..], &[90, 91]].concat();
        let other = [&begin[..], &[80]].concat();
        let first = ready(&mut cache, &one, &[]);
        assert_eq!(cache.place(&prompt(&other), &[]), Placing::Later);
        assert_eq!(cache.next_stop(first.sequence), Some(20));
    }
}
