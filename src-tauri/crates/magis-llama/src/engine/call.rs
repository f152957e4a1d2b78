//! What a call sees of the engine: it is written as one function from its prompt to its answer, and waits wherever rows of
//! it are computed. Meanwhile other calls go on, and their rows are computed in the same steps.
//!
//! Whatever a call holds of the cache it gives back when it ends, also when it is dropped in its midst.

use super::LlamaError;
use super::core::{Core, Done, PendingWork, TokenRow};
use super::native::{Sequence, StepError, Token};
use super::prompt::Tokenizer;
use super::schedule::FEW_ROWS;
use magis_llm::protocol::RequestId;
use magis_llm::{Urgency, Usage};
use std::cell::{Ref, RefCell, RefMut};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

/// The engine, as one call sees it.
#[derive(Clone)]
pub struct EngineCall {
    core: Rc<RefCell<Core>>,
    id: RequestId,
    urgency: Urgency,
    pub tokenizer: Rc<Tokenizer>,
}

/// A prompt that lies in the cache, and stays there as long as this lives.
pub struct Prefilled {
    pub sequence: Sequence,
    /// The logits behind it.
    pub logits: Rc<[f32]>,
    pub usage: Usage,
    pub time: Duration,
    _pin: Pinned,
}

/// A sequence that branches off a prompt, or off a part of it. Its cells are free again when it is dropped.
pub struct Branch {
    pub sequence: Sequence,
    core: Rc<RefCell<Core>>,
}

/// An answer that is being written, as long as this lives.
pub struct Writing {
    core: Rc<RefCell<Core>>,
}

/// Cells of the context that are reserved for a call.
pub struct Room {
    cells: usize,
    core: Rc<RefCell<Core>>,
}

struct RoomQueuePlace {
    number: u64,
    core: Rc<RefCell<Core>>,
}

struct Pinned {
    sequence: Sequence,
    core: Rc<RefCell<Core>>,
}

struct Ticket {
    number: u64,
    core: Rc<RefCell<Core>>,
}

impl EngineCall {
    /// Creates the view of a call.
    pub fn new(core: &Rc<RefCell<Core>>, id: RequestId, urgency: Urgency) -> Self {
        Self {
            tokenizer: Rc::clone(&core.borrow().tokenizer),
            core: Rc::clone(core),
            id,
            urgency,
        }
    }

    /// Returns what all calls share; not to be held while rows are computed.
    pub fn core(&self) -> Ref<'_, Core> {
        self.core.borrow()
    }

    /// As [`EngineCall::core`], to change it.
    pub fn core_mut(&self) -> RefMut<'_, Core> {
        self.core.borrow_mut()
    }

    /// Tells text of the answer.
    pub fn tell(&self, text: String) {
        if !text.is_empty() {
            self.core_mut().texts.push((self.id, text));
        }
    }

    /// Waits until so many cells of the context can be had beside those of other calls, and reserves them. Who waits longest
    /// comes first, so that one that needs much is not passed by others for ever.
    pub async fn room(&self, cells: usize) -> Room {
        let number = self.core_mut().queue_for_room();
        let place = RoomQueuePlace {
            number,
            core: Rc::clone(&self.core),
        };
        poll_fn(|_| {
            let is_first = place.core.borrow().is_first_for_room(number);
            let room = is_first.then(|| self.try_room(cells)).flatten();
            room.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    /// Reserves cells, if they can be had now. Where nothing else is reserved, they always can.
    pub fn try_room(&self, cells: usize) -> Option<Room> {
        let mut core = self.core_mut();
        if core.reserved > 0 && core.reserved + cells > core.loaded.context as usize {
            return None;
        }
        core.reserved += cells;
        Some(Room {
            cells,
            core: Rc::clone(&self.core),
        })
    }

    /// Computes what is missing of a prompt. Room for it has to be reserved.
    pub async fn prefill(&self, prompt: &Rc<[Token]>) -> Result<Prefilled, LlamaError> {
        let placed = poll_fn(|_| self.core_mut().place(prompt).map_or(Poll::Pending, Poll::Ready)).await;
        let sequence = placed.sequence;
        let pin = Pinned {
            sequence,
            core: Rc::clone(&self.core),
        };
        let mut usage = Usage {
            reused_tokens: placed.reused as u32,
            prompt_tokens: (prompt.len() - placed.reused) as u32,
            not_reused: placed.not_reused,
            ..Usage::default()
        };
        let (logits, time) = match placed.logits {
            Some(logits) => (logits, Duration::ZERO),
            None => {
                let work = PendingWork::Prompt {
                    sequence,
                    prompt: Rc::clone(prompt),
                    from: placed.reused,
                };
                let done = self.compute(work).await;
                let mut core = self.core_mut();
                let logits: Rc<[f32]> = core.logits(done.last)?.into();
                core.cache.end_prompt(sequence, &logits);
                (logits, done.time)
            }
        };
        usage.prompt_ms = time.as_millis() as u64;
        Ok(Prefilled {
            sequence,
            logits,
            usage,
            time,
            _pin: pin,
        })
    }

    /// Computes rows, [`FEW_ROWS`] at the most, all in one step.
    pub async fn rows(&self, rows: Vec<TokenRow>) -> Result<Done, LlamaError> {
        if rows.is_empty() || rows.len() > FEW_ROWS {
            return Err(LlamaError::Broken(StepError::Malformed(
                "a call has no rows, or too many",
            )));
        }
        Ok(self.compute(PendingWork::Rows(rows)).await)
    }

    /// Reserves so many branches at once, as soon as they are free.
    pub async fn branches(&self, count: usize) -> Vec<Branch> {
        poll_fn(|_| {
            if self.core().free_branches().count() < count {
                return Poll::Pending;
            }
            Poll::Ready((0..count).filter_map(|_| self.try_branch()).collect())
        })
        .await
    }

    /// Reserves a branch, if one is free.
    pub fn try_branch(&self) -> Option<Branch> {
        let mut core = self.core_mut();
        let sequence = core.free_branches().next()?;
        core.branches_in_use.insert(sequence.0);
        Some(Branch {
            sequence,
            core: Rc::clone(&self.core),
        })
    }

    /// Enters that an answer is being written.
    pub fn writing(&self) -> Writing {
        self.core_mut().writing += 1;
        Writing {
            core: Rc::clone(&self.core),
        }
    }

    async fn compute(&self, work: PendingWork) -> Done {
        let number = self.core_mut().submit(self.id, self.urgency, work);
        let ticket = Ticket {
            number,
            core: Rc::clone(&self.core),
        };
        poll_fn(|_| {
            let done = ticket.core.borrow_mut().finished.remove(&number);
            done.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

impl Branch {
    /// Lets the branch, which is empty, begin with the first `length` tokens of another sequence.
    ///
    /// # Errors
    /// When the cache has lost some of them.
    pub fn begin_with(&self, from: Sequence, length: usize) -> Result<(), LlamaError> {
        if self.try_begin_with(from, length) {
            return Ok(());
        }
        let lost = "it branches off a prompt that the cache has lost";
        Err(LlamaError::Broken(StepError::Malformed(lost)))
    }

    /// As [`Branch::begin_with`]; false where a recurrent state would have to begin in the midst of what it has read.
    #[must_use]
    pub fn try_begin_with(&self, from: Sequence, length: usize) -> bool {
        let mut core = self.core.borrow_mut();
        core.context.share(from, self.sequence, length);
        core.context.holds(self.sequence, length)
    }
}

impl Drop for Branch {
    fn drop(&mut self) {
        let mut core = self.core.borrow_mut();
        core.context.clear(self.sequence);
        core.cache.end_branch(self.sequence);
        core.branches_in_use.remove(&self.sequence.0);
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.core.borrow_mut().writing -= 1;
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.core.borrow_mut().reserved -= self.cells;
    }
}

impl Drop for RoomQueuePlace {
    fn drop(&mut self) {
        self.core.borrow_mut().room_queue.remove(&self.number);
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.core.borrow_mut().cache.unpin(self.sequence);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.core.borrow_mut().withdraw(self.number);
    }
}

/// Lets futures go on side by side, and returns what comes of them in their order. The first error ends all.
pub async fn all<T, E>(futures: Vec<impl Future<Output = Result<T, E>>>) -> Result<Vec<T>, E> {
    let mut open: Vec<_> = futures.into_iter().map(|future| Some(Box::pin(future))).collect();
    let mut ended: Vec<Option<T>> = open.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (future, ended) in open.iter_mut().zip(&mut ended) {
            let Some(running) = future else { continue };
            if let Poll::Ready(result) = Pin::as_mut(running).poll(context) {
                *future = None;
                match result {
                    Ok(value) => *ended = Some(value),
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
        }
        if open.iter().all(Option::is_none) {
            Poll::Ready(Ok(ended.drain(..).flatten().collect()))
        } else {
            Poll::Pending
        }
    })
    .await
}
