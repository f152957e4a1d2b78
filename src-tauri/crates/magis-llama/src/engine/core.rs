//! What all calls on a model share between two steps: the context with its cache and the books of it, and the rows that
//! calls wait for. Here a step is put together and computed.
//!
//! What a call asks for in which order is its own business ([`super::call`]); which rows come next is decided by
//! [`super::schedule`].

mod saving;

use super::LlamaError;
use super::cache::{Cache, CellPlacement, Placing};
use super::constraint::Constraints;
use super::machine::Waits;
use super::native::{CacheKind, Context, DecodeBatch, Output, Sequence, StepError, Token};
use super::prompt::Tokenizer;
use super::schedule::{Demand, Form, Schedule};
use super::snapshots::Snapshots;
use super::step_costs::StepCosts;
use super::thread_tuner::ThreadTuner;
use llama_cpp_2::model::LlamaModel;
use magis_llm::memory::Sequences;
use magis_llm::protocol::{Loaded, RequestId, Stats, Without};
use magis_llm::{LlmError, NotReused, Urgency};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What all calls share.
pub struct Core {
    pub context: Context,
    pub cache: Cache,
    pub snapshots: Snapshots,
    pub tokenizer: Rc<Tokenizer>,
    pub loaded: Loaded,
    pub stats: Stats,
    /// Text that calls have written and nobody was told yet.
    pub texts: Vec<(RequestId, String)>,
    /// Cells that calls may still fill, together with those they hold.
    pub reserved: usize,
    /// Calls that wait for cells, by when they came.
    pub room_queue: BTreeSet<u64>,
    /// Answers that are being written.
    pub writing: usize,
    pub without: Without,
    pub schedule: Schedule,
    pub step_costs: StepCosts,
    pub model: Arc<LlamaModel>,
    pub constraints: Option<Constraints>,
    pub thread_tuner: ThreadTuner,
    pub waits: Waits,
    pub begun: Instant,
    /// Until when time is accounted for.
    pub clock: Instant,
    pub queue: Vec<Pending>,
    pub finished: BTreeMap<u64, Done>,
    pub last_ticket: u64,
    pub branches_in_use: BTreeSet<i32>,
}

/// Rows that a call waits for.
pub struct Pending {
    ticket: u64,
    call: RequestId,
    urgency: Urgency,
    work: PendingWork,
    time: Duration,
}

/// What is to be computed.
pub enum PendingWork {
    /// Rows of one step.
    Rows(Vec<TokenRow>),
    /// The tokens of a prompt from `from` on, at the end of a kept sequence.
    Prompt {
        sequence: Sequence,
        prompt: Rc<[Token]>,
        from: usize,
    },
}

/// One token of a step.
#[derive(Debug, Clone)]
pub struct TokenRow {
    pub token: Token,
    pub position: usize,
    /// All sequences that it belongs to. Its cell is accounted for under the first.
    pub sequences: Vec<Sequence>,
    pub output: Output,
}

/// Work that is done.
#[derive(Debug, Clone, Copy)]
pub struct Done {
    /// The index of its first row in the last step, for [`Core::logits`].
    pub first: usize,
    /// The index of its last row there.
    pub last: usize,
    /// The time it took, without that of others in the same steps.
    pub time: Duration,
}

/// How a step ended.
pub enum Step {
    Computed,
    /// No call waits for rows.
    Idle,
    /// It was interrupted; these calls had rows in it.
    Interrupted(Vec<RequestId>),
}

/// A prompt's place in the cache.
pub struct PromptPlace {
    pub sequence: Sequence,
    pub reused: usize,
    pub logits: Option<Rc<[f32]>>,
    pub not_reused: Option<NotReused>,
}

impl Core {
    /// Enters work; its ticket is what [`Core::finished`] has it under when it is done.
    pub fn submit(&mut self, call: RequestId, urgency: Urgency, work: PendingWork) -> u64 {
        self.last_ticket += 1;
        self.queue.push(Pending {
            ticket: self.last_ticket,
            call,
            urgency,
            work,
            time: Duration::ZERO,
        });
        self.last_ticket
    }

    /// Enters that a call waits for cells; gives its place in the queue.
    pub fn queue_for_room(&mut self) -> u64 {
        self.last_ticket += 1;
        self.room_queue.insert(self.last_ticket);
        self.last_ticket
    }

    /// Returns whether nobody has waited for cells longer.
    pub fn is_first_for_room(&self, place: u64) -> bool {
        self.room_queue.first() == Some(&place)
    }

    /// Takes back work whose call is gone.
    pub fn withdraw(&mut self, ticket: u64) {
        self.queue.retain(|pending| pending.ticket != ticket);
        self.finished.remove(&ticket);
    }

    /// Computes the next step. `about_to` is told whose rows are in it, before it begins.
    pub fn step(&mut self, about_to: &mut dyn FnMut(&[RequestId])) -> Result<Step, StepError> {
        let demands: Vec<Demand> = self.queue.iter().map(|pending| self.demand(pending)).collect();
        let shares = self.schedule.next(&demands);
        if shares.is_empty() {
            return Ok(Step::Idle);
        }
        let mut batch = DecodeBatch::default();
        let mut firsts = Vec::with_capacity(shares.len());
        for share in &shares {
            firsts.push(batch.len());
            self.queue[share.demand].work.put(share.rows, &mut batch);
        }
        let mut calls: Vec<RequestId> = shares.iter().map(|share| self.queue[share.demand].call).collect();
        calls.dedup();
        about_to(&calls);
        if self.context.is_interrupted() {
            return Ok(Step::Interrupted(calls));
        }
        self.make_room(batch.len());
        let rows = batch.len();
        match self.compute(&mut batch) {
            Ok(()) => {}
            Err(StepError::Cancelled) => {
                self.undo(shares.iter().map(|share| share.demand));
                return Ok(Step::Interrupted(calls));
            }
            Err(error) => return Err(error),
        }
        let now = Instant::now();
        let lap = now.saturating_duration_since(self.clock);
        self.clock = now;
        let mut done = BTreeSet::new();
        for (share, first) in shares.iter().zip(firsts) {
            let pending = &mut self.queue[share.demand];
            pending.time += lap.mul_f64(share.rows as f64 / rows as f64);
            let ended = pending.work.advance(share.rows, &mut self.cache);
            let sequence = pending.work.sequence();
            if ended {
                let (last, time) = (first + share.rows - 1, pending.time);
                self.finished.insert(pending.ticket, Done { first, last, time });
                done.insert(pending.ticket);
            }
            if let Some(sequence) = sequence {
                self.save_state(sequence);
            }
        }
        self.queue.retain(|pending| !done.contains(&pending.ticket));
        Ok(Step::Computed)
    }

    /// Finds a place for a prompt and moves there what the cache has of it, or what is saved; none where it has to wait.
    pub fn place(&mut self, prompt: &Rc<[Token]>) -> Option<PromptPlace> {
        if self.without.reuse {
            return self.place_anew(prompt);
        }
        let states = self.snapshots.state_lengths(prompt);
        let reusable = self.cache.reusable(prompt, &states);
        if let Some(saved) = self.saved_sequence(prompt, reusable) {
            return self.read_back(prompt, &saved);
        }
        let Placing::Ready(placement) = self.cache.place(prompt, &states) else {
            return None;
        };
        let (sequence, reused) = (placement.sequence, placement.reused);
        if let Some(prompt) = placement.given_up {
            self.save_sequence(sequence, prompt);
        }
        let moved = if let Some(from) = placement.shared_from {
            self.context.clear(sequence);
            self.context.share(from, sequence, reused);
            self.context.holds(sequence, reused) || self.restore(sequence, &prompt[..reused])
        } else if reused == 0 {
            self.context.clear(sequence);
            true
        } else {
            self.context.cut(sequence, reused) && self.context.holds(sequence, reused)
                || self.restore(sequence, &prompt[..reused])
        };
        if !moved {
            self.context.clear(sequence);
            self.cache.restart(sequence);
        }
        Some(PromptPlace {
            sequence,
            reused: if moved { reused } else { 0 },
            logits: placement.logits.filter(|_| moved),
            not_reused: if moved {
                placement.not_reused
            } else {
                Some(NotReused::NoState)
            },
        })
    }

    /// Places a prompt as if nothing were there of it.
    fn place_anew(&mut self, prompt: &Rc<[Token]>) -> Option<PromptPlace> {
        let Placing::Ready(CellPlacement { sequence, .. }) = self.cache.place_anew(prompt) else {
            return None;
        };
        self.context.clear(sequence);
        Some(PromptPlace {
            sequence,
            reused: 0,
            logits: None,
            not_reused: Some(NotReused::New),
        })
    }

    /// Takes a sequence back to a length, from which it has read so many tokens on, with the recurrent state that it had
    /// there. False where what is left would not be whole.
    #[must_use]
    pub fn go_back(&mut self, sequence: Sequence, length: usize, tokens: usize, state: &[u8]) -> bool {
        self.cache.drop_last(sequence, tokens);
        self.put_state(sequence, length, state)
    }

    /// Removes the last tokens of a sequence without a recurrent state. False where what is left would not be whole.
    #[must_use]
    pub fn drop_last(&mut self, sequence: Sequence, length: usize, tokens: usize) -> bool {
        self.cache.drop_last(sequence, tokens);
        let left = length - tokens;
        self.context.cut(sequence, left) && self.context.holds(sequence, left)
    }

    /// Returns the logits of a row of the last step.
    pub fn logits(&self, index: usize) -> Result<&[f32], LlamaError> {
        let missing = LlamaError::Broken(StepError::Malformed("it asked for no logits there"));
        self.context.logits(index).ok_or(missing)
    }

    /// Returns how many sequences there are of either kind.
    pub fn sequences(&self) -> Sequences {
        self.context.shape().sequences
    }

    /// Returns branches that nothing is computed in, all of them free of cells.
    pub fn free_branches(&self) -> impl Iterator<Item = Sequence> + '_ {
        let sequences = self.sequences();
        (sequences.kept..sequences.count())
            .map(|number| number as i32)
            .filter(|number| !self.branches_in_use.contains(number))
            .map(Sequence)
    }

    /// Returns whether a prompt and an answer fit into the context.
    pub fn check_room(&self, prompt: usize, answer: usize) -> Result<(), LlamaError> {
        let context = self.loaded.context;
        if prompt.saturating_add(answer) > context as usize {
            let (prompt, answer) = (prompt as u32, answer as u32);
            return Err(LlmError::OverContext {
                prompt,
                answer,
                context,
            }
            .into());
        }
        Ok(())
    }

    /// Returns what makes constraints for the vocabulary.
    pub fn constraints(&mut self) -> Result<&Constraints, LlamaError> {
        if self.constraints.is_none() {
            self.constraints = Some(Constraints::of_model(&self.model)?);
        }
        let missing = || LlmError::BadRequest {
            reason: "the vocabulary allows no constraints".to_owned(),
        };
        Ok(self.constraints.as_ref().ok_or_else(missing)?)
    }

    fn demand(&self, pending: &Pending) -> Demand {
        let (rows, form) = match &pending.work {
            PendingWork::Rows(rows) => (rows.len(), Form::Whole),
            PendingWork::Prompt { sequence, prompt, from } => {
                let end = self.cache.next_stop(*sequence).unwrap_or(prompt.len());
                (end.min(prompt.len()) - from, Form::Pieces)
            }
        };
        Demand {
            urgency: pending.urgency,
            rows,
            form,
        }
    }

    /// Computes a step, with as many threads as go well at the moment.
    fn compute(&mut self, batch: &mut DecodeBatch) -> Result<(), StepError> {
        let rows = batch.len();
        let begun = self.begun.elapsed();
        self.context.compute(batch)?;
        let ended = self.begun.elapsed();
        let time = ended.saturating_sub(begun);
        self.schedule.took(rows, time);
        self.step_costs.took(rows, time);
        let waited = self.waits.since_last();
        if let Some(threads) = self.thread_tuner.after(rows, begun, ended, waited) {
            self.context.use_threads(threads);
        }
        Ok(())
    }

    /// Removes what an interrupted step has left of these demands. Which recurrent states it had changed nobody can say.
    fn undo(&mut self, demands: impl Iterator<Item = usize>) {
        let mut touched = BTreeSet::new();
        for demand in demands {
            match &self.queue[demand].work {
                PendingWork::Prompt { sequence, .. } => _ = touched.insert(sequence.0),
                PendingWork::Rows(rows) => {
                    touched.extend(rows.iter().flat_map(|row| &row.sequences).map(|sequence| sequence.0));
                }
            }
        }
        for sequence in touched.into_iter().map(Sequence) {
            let held = self.cache.len(sequence);
            let is_kept = (sequence.0 as u32) < self.sequences().kept;
            let is_whole = self.context.memory() != CacheKind::Recurrent
                && self.context.cut(sequence, held)
                && self.context.holds(sequence, held);
            if is_kept && !is_whole {
                self.context.clear(sequence);
                self.cache.forget(sequence);
            }
        }
    }

    /// Copies the state that a sequence has in recurrent layers.
    pub fn copy_state(&mut self, sequence: Sequence) -> Option<Vec<u8>> {
        let begun = Instant::now();
        let state = self.context.recurrent_state(sequence);
        self.step_costs.copied(begun.elapsed());
        state
    }

    /// Lets the model's own heads draft tokens behind one that is computed next.
    pub fn draft(&mut self, sequence: Sequence, token: Token, position: usize, most: usize) -> Vec<Token> {
        let begun = Instant::now();
        let drafted = self.context.draft(sequence, token, position, most);
        self.step_costs.drafted(drafted.len(), begun.elapsed());
        drafted
    }
}

impl PendingWork {
    fn put(&self, rows: usize, batch: &mut DecodeBatch) {
        match self {
            Self::Rows(all) => {
                for row in all {
                    batch.push(row.token, row.position, &row.sequences, row.output);
                }
            }
            Self::Prompt { sequence, prompt, from } => {
                for at in *from..*from + rows {
                    let is_last = at + 1 == prompt.len();
                    let output = if is_last { Output::Logits } else { Output::Nothing };
                    batch.push(prompt[at], at, &[*sequence], output);
                }
            }
        }
    }

    /// Enters into the books that rows were computed; true when none is left.
    fn advance(&mut self, computed: usize, cache: &mut Cache) -> bool {
        match self {
            Self::Rows(rows) => {
                for row in rows {
                    cache.append(row.sequences[0], &[row.token]);
                }
                true
            }
            Self::Prompt { sequence, prompt, from } => {
                cache.append(*sequence, &prompt[*from..*from + computed]);
                *from += computed;
                *from == prompt.len()
            }
        }
    }

    /// Returns the kept sequence of a prompt.
    fn sequence(&self) -> Option<Sequence> {
        match self {
            Self::Rows(_) => None,
            Self::Prompt { sequence, .. } => Some(*sequence),
        }
    }
}
