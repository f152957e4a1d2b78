//! Answers, one or many side by side: each is a sequence of its own, and a step computes the next tokens of all.
//!
//! Requests with the same prompt form a group. Its prompt is computed once, in a kept sequence of the cache, and each
//! answer is a branch of that; a prompt that is asked once is continued where it lies. What prompts have in common the
//! cache shares. A group always has room for one answer at a time; further ones begin as soon as there is room for them.
//!
//! An answer that is to be another one than a known text branches off as well: that text is computed beside it first.

use super::LlamaError;
use super::answer::PartialAnswer;
use super::call::{Branch, EngineCall, Prefilled, Room, all};
use super::constraint::call_grammar;
use super::core::TokenRow;
use super::departure::{Way, begin_of, read};
use super::drafts::{DraftTerms, Drafts};
use super::native::{CacheKind, Output, Sequence, StepError, Token};
use super::reading::AnswerReading;
use super::schedule::FEW_ROWS;
use magis_llm::{
    ChatReply, ChatRequest, Constraint, Departure, FillInRequest, GenerateRequest, LlmError, NotReused, Usage,
};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

/// Answers a conversation: the case of a single request.
pub(super) async fn chat(call: EngineCall, request: ChatRequest) -> Result<ChatReply, LlamaError> {
    let job = Job::chat(&call, 0, &request)?;
    let replies = answer_all(&call, vec![job]).await?;
    let missing = LlamaError::Broken(StepError::Malformed("it answers nothing"));
    replies.into_iter().next().ok_or(missing)
}

/// Answers all requests; the text of the first is told.
pub(super) async fn generate_all(
    call: EngineCall,
    requests: Vec<GenerateRequest>,
) -> Result<Vec<ChatReply>, LlamaError> {
    let jobs = requests.iter().enumerate().map(|(number, request)| match request {
        GenerateRequest::Chat(chat) => Job::chat(&call, number, chat),
        GenerateRequest::FillIn(fill_in) => Job::fill_in(&call, number, fill_in),
    });
    let jobs = jobs.collect::<Result<_, _>>()?;
    answer_all(&call, jobs).await
}

async fn answer_all(call: &EngineCall, jobs: Vec<Job>) -> Result<Vec<ChatReply>, LlamaError> {
    let mut groups: Vec<Vec<Job>> = Vec::new();
    for job in jobs {
        match groups.iter_mut().find(|group| group[0].prompt == job.prompt) {
            Some(group) => group.push(job),
            None => groups.push(vec![job]),
        }
    }
    let groups = groups.into_iter().map(|jobs| answer_group(call, jobs)).collect();
    let mut answered: Vec<Answered> = all(groups).await?.into_iter().flatten().collect();
    answered.sort_by_key(|answered| answered.number);
    Ok(replies(answered))
}

/// What is asked for, and its answer.
struct Job {
    number: usize,
    prompt: Rc<[Token]>,
    // The most tokens behind the prompt.
    most: usize,
    answer: PartialAnswer,
    other_than: Option<Known>,
}

/// A text that the answer is not to be, and which of the ways to leave it is taken.
struct Known {
    text: Vec<Token>,
    by: Departure,
    rank: usize,
}

/// An answer that has come to its end.
struct Answered {
    number: usize,
    reply: ChatReply,
    prompt_time: Duration,
    generate_time: Duration,
}

impl Job {
    fn chat(call: &EngineCall, number: usize, request: &ChatRequest) -> Result<Self, LlamaError> {
        let (prompt, form) = call.tokenizer.request(request)?;
        if prompt.is_empty() {
            return Err(LlmError::BadRequest {
                reason: "the prompt is empty".to_owned(),
            }
            .into());
        }
        let reading = AnswerReading::new(request, &form, &call.tokenizer);
        let before = reading.as_ref().map_or(0, AnswerReading::most_before);
        let most = request.max_tokens.saturating_add(before) as usize;
        call.core().check_room(prompt.len(), most)?;
        let rail = match (call_grammar(request, &form, &call.tokenizer)?, &request.constraint) {
            (Some(grammar), _) => Some(call.core_mut().constraints()?.call_rail(grammar)?),
            (None, Constraint::None) => None,
            (None, constraint) => call.core_mut().constraints()?.rail(constraint)?,
        };
        Ok(Self {
            number,
            prompt: prompt.into(),
            most,
            answer: PartialAnswer::new(request.sampling, request.max_tokens, &request.stop, rail, reading),
            other_than: None,
        })
    }

    fn fill_in(call: &EngineCall, number: usize, request: &FillInRequest) -> Result<Self, LlamaError> {
        let prompt = call.tokenizer.fill_in(&request.before, &request.after);
        let prompt = prompt.ok_or_else(LlmError::no_fill_in)?;
        let mut most = request.max_tokens as usize;
        call.core().check_room(prompt.len(), most)?;
        let mut known = None;
        if let Some(other) = &request.other_than {
            let text = call.tokenizer.data(&other.text);
            most += text.len();
            call.core().check_room(prompt.len(), most)?;
            known = Some(Known {
                text,
                by: other.by,
                rank: other.rank as usize,
            });
        }
        Ok(Self {
            number,
            prompt: prompt.into(),
            most,
            answer: PartialAnswer::new(request.sampling, request.max_tokens, &request.stop, None, None),
            other_than: known,
        })
    }
}

/// Answers requests with the same prompt.
async fn answer_group(call: &EngineCall, jobs: Vec<Job>) -> Result<Vec<Answered>, LlamaError> {
    let Some(first) = jobs.first() else {
        return Ok(Vec::new());
    };
    let prompt = Rc::clone(&first.prompt);
    let most = jobs.iter().map(|job| job.most).max().unwrap_or(0);
    let _room = call.room(prompt.len() + most).await;
    let prefilled = call.prefill(&prompt).await?;
    // Of what is shared the first answer has the cost.
    let mut cost = Cost {
        prompt_tokens: prefilled.usage.prompt_tokens,
        reused_tokens: prefilled.usage.reused_tokens,
        not_reused: prefilled.usage.not_reused,
        time: prefilled.time,
    };
    let left = leave_known_texts(call, &prefilled, &jobs, &mut cost).await?;
    let is_alone = jobs.len() == 1 && left.is_empty();
    let mut prepared = Vec::with_capacity(jobs.len());
    for job in jobs {
        let reused = Cost {
            reused_tokens: prompt.len() as u32,
            ..Cost::default()
        };
        prepared.push((begun(job, &left), std::mem::replace(&mut cost, reused)));
    }
    if is_alone && let Some((job, cost)) = prepared.pop() {
        let answered = write(call, job, prefilled.sequence, &prefilled, cost).await?;
        return Ok(vec![answered]);
    }
    Lanes {
        call,
        prompt: &prefilled,
        waiting: prepared.into(),
        running: Vec::new(),
        answered: Vec::new(),
    }
    .run()
    .await
}

/// What was computed for an answer before it began.
#[derive(Default)]
struct Cost {
    prompt_tokens: u32,
    reused_tokens: u32,
    not_reused: Option<NotReused>,
    time: Duration,
}

/// Reads each known text that an answer is not to be, once, and finds the ways to leave it.
async fn leave_known_texts(
    call: &EngineCall,
    prompt: &Prefilled,
    jobs: &[Job],
    cost: &mut Cost,
) -> Result<Vec<(Vec<Token>, Vec<Way>)>, LlamaError> {
    let mut left: Vec<(Vec<Token>, Vec<Way>)> = Vec::new();
    for job in jobs {
        let Some(known) = &job.other_than else { continue };
        if left.iter().any(|(text, _)| *text == known.text) {
            continue;
        }
        let branches = call.branches(1).await;
        let length = job.prompt.len();
        let found = read(call, prompt, length, &branches[0], &known.text).await?;
        cost.prompt_tokens += known.text.len() as u32;
        left.push((known.text.clone(), found));
    }
    Ok(left)
}

/// Lets an answer that is to leave a known text begin so.
fn begun(mut job: Job, left: &[(Vec<Token>, Vec<Way>)]) -> Job {
    if let Some(known) = &job.other_than
        && let Some((text, ways)) = left.iter().find(|(text, _)| *text == known.text)
        && let Some(begin) = begin_of(ways, text, known.by, known.rank)
    {
        job.answer.begin_with(begin);
    }
    job
}

/// The answers to one prompt as branches of it, as many at a time as there is room for, one at least.
struct Lanes<'a> {
    call: &'a EngineCall,
    prompt: &'a Prefilled,
    waiting: VecDeque<(Job, Cost)>,
    running: Vec<Lane<'a>>,
    answered: Vec<Answered>,
}

struct Lane<'a> {
    answer: Pin<Box<dyn Future<Output = Result<Answered, LlamaError>> + 'a>>,
    // None where it uses the room that the group has in any case.
    room: Option<Room>,
}

impl Lanes<'_> {
    async fn run(mut self) -> Result<Vec<Answered>, LlamaError> {
        poll_fn(|context| {
            loop {
                self.start();
                let mut ended = None;
                for (at, lane) in self.running.iter_mut().enumerate() {
                    if let Poll::Ready(answered) = lane.answer.as_mut().poll(context) {
                        ended = Some((at, answered));
                        break;
                    }
                }
                match ended {
                    Some((at, answered)) => {
                        self.running.swap_remove(at);
                        match answered {
                            Ok(answered) => self.answered.push(answered),
                            Err(error) => return Poll::Ready(Err(error)),
                        }
                    }
                    None if self.running.is_empty() && self.waiting.is_empty() => {
                        return Poll::Ready(Ok(std::mem::take(&mut self.answered)));
                    }
                    None => return Poll::Pending,
                }
            }
        })
        .await
    }

    /// Begins the answers that there is room for.
    fn start(&mut self) {
        while let Some((next, _)) = self.waiting.front() {
            let own = self.running.iter().all(|lane| lane.room.is_some());
            let room = if own { None } else { self.call.try_room(next.most) };
            if !own && room.is_none() {
                return;
            }
            let Some(branch) = self.call.try_branch() else { return };
            if let Some((job, cost)) = self.waiting.pop_front() {
                let answer = Box::pin(branch_off(self.call, job, branch, self.prompt, cost));
                self.running.push(Lane { answer, room });
            }
        }
    }
}

async fn branch_off(
    call: &EngineCall,
    job: Job,
    branch: Branch,
    prompt: &Prefilled,
    cost: Cost,
) -> Result<Answered, LlamaError> {
    branch.begin_with(prompt.sequence, job.prompt.len())?;
    write(call, job, branch.sequence, prompt, cost).await
}

/// Writes an answer in a sequence that holds its prompt.
async fn write(
    call: &EngineCall,
    job: Job,
    sequence: Sequence,
    prompt: &Prefilled,
    cost: Cost,
) -> Result<Answered, LlamaError> {
    let mut drafts = (!call.core().without.drafts).then(|| Drafts::new(&job.prompt));
    let mut writer = Writer {
        call,
        is_told: job.number == 0,
        sequence,
        length: job.prompt.len(),
        most: job.prompt.len() + job.most,
        answer: job.answer,
        again: Vec::new(),
    };
    let _writing = call.writing();
    let mut time = Duration::ZERO;
    writer.advance(&prompt.logits)?;
    let reply = loop {
        let usage = Usage {
            prompt_tokens: cost.prompt_tokens,
            reused_tokens: cost.reused_tokens,
            generated_tokens: writer.answer.tokens(),
            not_reused: cost.not_reused,
            ..Usage::default()
        };
        if let Some(reply) = writer.answer.reply(usage) {
            break reply;
        }
        time += writer.step(drafts.as_mut()).await?;
    };
    Ok(Answered {
        number: job.number,
        reply,
        prompt_time: cost.time,
        generate_time: time,
    })
}

/// An answer while it is written into its sequence.
struct Writer<'a> {
    call: &'a EngineCall,
    is_told: bool,
    sequence: Sequence,
    // Tokens of the sequence, and the most that it may have.
    length: usize,
    most: usize,
    answer: PartialAnswer,
    // Tokens of the answer that have to be computed again: a recurrent state had read wrong ones behind them.
    again: Vec<Token>,
}

impl Writer<'_> {
    /// Computes the next tokens of the answer, and behind them a draft where that pays; gives how long it took.
    async fn step(&mut self, mut drafts: Option<&mut Drafts>) -> Result<Duration, LlamaError> {
        let mut tokens = std::mem::take(&mut self.again);
        let (before, again) = (self.length, tokens.len());
        tokens.extend(self.answer.take(FEW_ROWS - tokens.len()));
        let certain = tokens.len();
        let is_taken = self.answer.is_taken();
        if let Some(drafts) = &mut drafts {
            for token in &tokens[again..] {
                drafts.push(*token);
            }
        }
        let mut is_of_heads = false;
        if let Some(drafts) = &mut drafts
            && is_taken
        {
            let core = self.call.core();
            let terms = DraftTerms {
                costs: &core.step_costs,
                writing: core.writing,
                most: (self.most - self.length).min(FEW_ROWS).saturating_sub(certain),
                is_computed_again: core.context.memory() == CacheKind::Recurrent,
            };
            tokens.extend_from_slice(drafts.next(terms));
            // The heads have read what was computed, so they can go on behind one more token only.
            is_of_heads = tokens.len() == 1 && core.context.has_heads();
            let most = if is_of_heads { drafts.of_heads(terms) } else { 0 };
            drop(core);
            if most > 0 {
                let of_heads = self.call.core_mut().draft(self.sequence, tokens[0], self.length, most);
                tokens.extend(of_heads);
            }
        }
        let mut state = None;
        if tokens.len() > certain && self.call.core().context.memory() == CacheKind::Recurrent {
            state = self.call.core_mut().copy_state(self.sequence);
            if state.is_none() {
                tokens.truncate(certain);
            }
        }
        let rows = tokens.iter().enumerate().map(|(number, token)| TokenRow {
            token: *token,
            position: self.length + number,
            sequences: vec![self.sequence],
            output: if is_taken && number + 1 >= certain {
                Output::Logits
            } else {
                Output::Nothing
            },
        });
        let done = self.call.rows(rows.collect()).await?;
        self.length += certain;
        if !is_taken {
            return Ok(done.time);
        }
        self.advance_at(done.first + certain - 1)?;
        let draft = &tokens[certain..];
        let mut right = 0;
        while right < draft.len() && self.answer.ended().is_none() && self.answer.next() == Some(draft[right]) {
            self.answer.take(1);
            right += 1;
            if self.answer.is_taken() {
                self.advance_at(done.first + certain - 1 + right)?;
            }
        }
        self.length += right;
        if let Some(drafts) = drafts.filter(|_| !draft.is_empty()) {
            for token in &draft[..right] {
                drafts.push(*token);
            }
            if is_of_heads {
                drafts.heads_were(right, draft.len());
            }
            let wrong = draft.len() - right;
            let mut core = self.call.core_mut();
            let is_back = match state.filter(|_| wrong > 0) {
                None => core.drop_last(self.sequence, self.length + wrong, wrong),
                Some(state) => {
                    let is_back = core.go_back(self.sequence, before, tokens.len(), &state);
                    self.length = before;
                    self.again.extend(&tokens[..certain + right]);
                    is_back
                }
            };
            if !is_back {
                let lost = "it takes back a draft that the cache has lost";
                return Err(LlamaError::Broken(StepError::Malformed(lost)));
            }
        }
        Ok(done.time)
    }

    /// Lets the answer go on behind a row of the last step.
    fn advance_at(&mut self, row: usize) -> Result<(), LlamaError> {
        let core = self.call.core();
        let mut text = String::new();
        let logits = core.logits(row)?;
        self.answer
            .advance(logits, &self.call.tokenizer, &mut |more| text.push_str(more))?;
        drop(core);
        self.tell(text);
        Ok(())
    }

    fn advance(&mut self, logits: &[f32]) -> Result<(), LlamaError> {
        let mut text = String::new();
        self.answer
            .advance(logits, &self.call.tokenizer, &mut |more| text.push_str(more))?;
        self.tell(text);
        Ok(())
    }

    fn tell(&self, text: String) {
        if self.is_told {
            self.call.tell(text);
        }
    }
}

/// Returns the replies with times in milliseconds, rounded so that nothing is lost in their sum.
fn replies(answered: Vec<Answered>) -> Vec<ChatReply> {
    let mut exact = Duration::ZERO;
    let mut told = 0;
    let mut milliseconds = |time: Duration| {
        exact += time;
        let more = exact.as_millis() as u64 - told;
        told += more;
        more
    };
    let reply = |mut answered: Answered| {
        let usage = &mut answered.reply.usage;
        usage.prompt_ms = milliseconds(answered.prompt_time);
        usage.generate_ms = milliseconds(answered.generate_time);
        answered.reply
    };
    answered.into_iter().map(reply).collect()
}
