//! Answers, one or many side by side: each is a sequence of its own, and every step computes the next tokens of all.
//!
//! Requests with the same prompt form a group. Its prompt is computed once, in a kept sequence of the cache, and each
//! answer is a branch of that; a prompt that is asked once is continued where it lies. What prompts have in common the
//! cache shares. Where not all answers fit into the cache or its sequences, the rest waits until others have ended.
//!
//! An answer that is to be another one than a known text branches off as well: that text is computed beside it first.

use super::answer::PartialAnswer;
use super::departure::{Way, begin_of, departures};
use super::native::{DecodeBatch, Output, Sequence, StepError, Token};
use super::{Engine, LlamaError};
use magis_llm::{ChatReply, ChatRequest, Constraint, Departure, FillInRequest, GenerateRequest, LlmError, Usage};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Answers a conversation: the case of a single request.
pub(super) fn chat(
    engine: &mut Engine,
    request: &ChatRequest,
    sink: &mut dyn FnMut(&str),
) -> Result<ChatReply, LlamaError> {
    let begun = Instant::now();
    let job = Job::chat(engine, request)?;
    let replies = answer_all(engine, vec![job], begun, sink)?;
    let missing = LlamaError::Broken(StepError::Malformed("it answers nothing"));
    replies.into_iter().next().ok_or(missing)
}

/// Answers all requests; the text of the first goes to `sink`.
pub(super) fn generate_all(
    engine: &mut Engine,
    requests: &[GenerateRequest],
    sink: &mut dyn FnMut(&str),
) -> Result<Vec<ChatReply>, LlamaError> {
    let begun = Instant::now();
    let jobs = requests.iter().map(|request| match request {
        GenerateRequest::Chat(chat) => Job::chat(engine, chat),
        GenerateRequest::FillIn(fill_in) => Job::fill_in(engine, fill_in),
    });
    let jobs = jobs.collect::<Result<_, _>>()?;
    answer_all(engine, jobs, begun, sink)
}

fn answer_all(
    engine: &mut Engine,
    jobs: Vec<Job>,
    begun: Instant,
    sink: &mut dyn FnMut(&str),
) -> Result<Vec<ChatReply>, LlamaError> {
    engine.check_cancelled()?;
    let mut schedule = Schedule::new(jobs, begun);
    let result = schedule.run(engine, sink);
    schedule.leave(engine, result.is_err());
    result?;
    schedule.replies()
}

/// What is asked for, and its answer.
struct Job {
    prompt: Vec<Token>,
    // The most tokens that the prompt and the answer have together.
    most: usize,
    answer: PartialAnswer,
    other_than: Option<Known>,
    group: usize,
    usage: Usage,
    prompt_time: Duration,
    generate_time: Duration,
}

/// A text that the answer is not to be, and which of the ways to leave it is taken.
#[derive(PartialEq, Eq)]
struct Known {
    text: Vec<Token>,
    by: Departure,
    rank: usize,
}

impl Job {
    fn chat(engine: &mut Engine, request: &ChatRequest) -> Result<Self, LlamaError> {
        let prompt = engine.tokenizer.prompt(&request.messages, &request.answer_prefix)?;
        if prompt.is_empty() {
            return Err(LlmError::BadRequest {
                reason: "the prompt is empty".to_owned(),
            }
            .into());
        }
        engine.check_room(prompt.len(), request.max_tokens as usize)?;
        let rail = match &request.constraint {
            Constraint::None => None,
            constraint => engine.constraints()?.rail(constraint)?,
        };
        let answer = PartialAnswer::new(request.sampling, request.max_tokens, &request.stop, rail);
        Ok(Self::new(prompt, request.max_tokens, answer))
    }

    fn fill_in(engine: &Engine, request: &FillInRequest) -> Result<Self, LlamaError> {
        let prompt = engine.tokenizer.fill_in(&request.before, &request.after);
        let prompt = prompt.ok_or_else(LlmError::no_fill_in)?;
        engine.check_room(prompt.len(), request.max_tokens as usize)?;
        let answer = PartialAnswer::new(request.sampling, request.max_tokens, &request.stop, None);
        let mut job = Self::new(prompt, request.max_tokens, answer);
        if let Some(other) = &request.other_than {
            let text = engine.tokenizer.data(&other.text);
            engine.check_room(job.prompt.len() + text.len(), request.max_tokens as usize)?;
            job.most += text.len();
            job.other_than = Some(Known {
                text,
                by: other.by,
                rank: other.rank as usize,
            });
        }
        Ok(job)
    }

    fn new(prompt: Vec<Token>, max_tokens: u32, answer: PartialAnswer) -> Self {
        Self {
            most: prompt.len() + max_tokens as usize,
            prompt,
            answer,
            other_than: None,
            group: 0,
            usage: Usage::default(),
            prompt_time: Duration::ZERO,
            generate_time: Duration::ZERO,
        }
    }
}

/// Requests with the same prompt.
struct Group {
    jobs: usize,
    // Those whose answers have not ended.
    open: usize,
    // Whether its answers are branches of the prompt: several, or one that is not to be a known text.
    branches: bool,
    computed: Option<ComputedPrompt>,
}

/// A prompt that lies in the cache and must stay there.
struct ComputedPrompt {
    sequence: Sequence,
    // The logits behind it, where answers branch off there.
    logits: Vec<f32>,
    // A text that is not to be written behind it, with the ways to leave that.
    left: Option<(Vec<Token>, Vec<Way>)>,
}

/// An answer that is computed at the moment.
struct Running {
    job: usize,
    sequence: Sequence,
    // The number of its branch, where it is one.
    branch: Option<usize>,
    // Tokens of its sequence, those of the prompt included.
    length: usize,
}

/// The answers of one call: those that wait, in the order asked, and those that are computed.
struct Schedule {
    jobs: Vec<Job>,
    groups: Vec<Group>,
    waiting: VecDeque<usize>,
    running: Vec<Running>,
    // Until when time is accounted for.
    clock: Instant,
}

impl Schedule {
    fn new(mut jobs: Vec<Job>, begun: Instant) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for at in 0..jobs.len() {
            let (before, rest) = jobs.split_at_mut(at);
            let same = before.iter().find(|job| job.prompt == rest[0].prompt);
            rest[0].group = same.map_or(groups.len(), |job| job.group);
            if same.is_none() {
                groups.push(Group {
                    jobs: 0,
                    open: 0,
                    branches: false,
                    computed: None,
                });
            }
            let group = &mut groups[rest[0].group];
            group.jobs += 1;
            group.open += 1;
            group.branches |= group.jobs > 1 || rest[0].other_than.is_some();
        }
        Self {
            waiting: (0..jobs.len()).collect(),
            jobs,
            groups,
            running: Vec::new(),
            clock: begun,
        }
    }

    fn run(&mut self, engine: &mut Engine, sink: &mut dyn FnMut(&str)) -> Result<(), LlamaError> {
        loop {
            while let Some(next) = self.waiting.front().copied() {
                if !self.fits(engine, next) {
                    break;
                }
                self.waiting.pop_front();
                self.start(engine, next, sink)?;
            }
            if self.running.is_empty() && self.waiting.is_empty() {
                return Ok(());
            }
            let before = self.running.len();
            while self.running.len() == before && before > 0 {
                self.step(engine, sink)?;
            }
        }
    }

    /// Returns whether an answer can be computed beside those that run; where none runs, it always can.
    fn fits(&mut self, engine: &mut Engine, next: usize) -> bool {
        if self.fits_beside(engine, next) {
            return true;
        }
        if !self.running.is_empty() {
            return false;
        }
        // The prompts of other groups have to go; what the cache cannot keep is computed once more when it is their turn.
        let own = self.jobs[next].group;
        for (_, group) in self.groups.iter_mut().enumerate().filter(|(at, _)| *at != own) {
            if let Some(computed) = group.computed.take() {
                engine.cache.unpin(computed.sequence);
            }
        }
        true
    }

    fn fits_beside(&self, engine: &Engine, next: usize) -> bool {
        let job = &self.jobs[next];
        let group = &self.groups[job.group];
        if group.branches && self.free_branch(engine).is_none() {
            return false;
        }
        let needed = match &group.computed {
            Some(_) => job.most - job.prompt.len(),
            None if !engine.cache.has_place() => return false,
            None => job.most - engine.cache.pinned_begin(&job.prompt, engine.context.memory()),
        };
        let promised: usize = self
            .running
            .iter()
            .map(|running| self.jobs[running.job].most - running.length)
            .sum();
        engine.cache.room_beside_pinned() >= needed + promised
    }

    fn free_branch(&self, engine: &Engine) -> Option<usize> {
        let taken = |branch: &usize| self.running.iter().any(|running| running.branch == Some(*branch));
        (0..engine.sequences().branches as usize).find(|branch| !taken(branch))
    }

    /// Computes what is missing of a prompt and begins the answer.
    fn start(&mut self, engine: &mut Engine, next: usize, sink: &mut dyn FnMut(&str)) -> Result<(), LlamaError> {
        let job = &mut self.jobs[next];
        let group = &mut self.groups[job.group];
        let sink: &mut dyn FnMut(&str) = if next == 0 { &mut *sink } else { &mut |_| () };
        let length = job.prompt.len();
        let sequence = if let Some(computed) = &group.computed {
            job.usage.reused_tokens = length as u32;
            computed.sequence
        } else {
            let prefilled = engine.prefill(&job.prompt)?;
            engine.cache.pin(prefilled.sequence);
            let logits = engine.logits(prefilled.last)?;
            if !group.branches {
                job.answer.advance(logits, &engine.tokenizer, sink)?;
            }
            group.computed = Some(ComputedPrompt {
                sequence: prefilled.sequence,
                logits: if group.branches { logits.to_vec() } else { Vec::new() },
                left: None,
            });
            job.usage = prefilled.usage;
            prefilled.sequence
        };
        let branch = if self.groups[self.jobs[next].group].branches {
            self.free_branch(engine)
        } else {
            None
        };
        if let Some(branch) = branch {
            self.branch_off(engine, next, engine.branch_sequence(branch), sink)?;
        }
        let running = Running {
            job: next,
            sequence: branch.map_or(sequence, |branch| engine.branch_sequence(branch)),
            branch,
            length,
        };
        if branch.is_some() && self.jobs[next].answer.ended().is_none() {
            engine.context.share(sequence, running.sequence, length);
            if !engine.context.holds(running.sequence, length) {
                let lost = "it branches off a prompt that the cache has lost";
                return Err(LlamaError::Broken(StepError::Malformed(lost)));
            }
        }
        self.running.push(running);
        let lap = self.lap();
        self.jobs[next].prompt_time += lap;
        self.end_finished(engine);
        Ok(())
    }

    /// Begins an answer behind its computed prompt, on a way that leaves the known text where it is not to be that.
    fn branch_off(
        &mut self,
        engine: &mut Engine,
        next: usize,
        branch: Sequence,
        sink: &mut dyn FnMut(&str),
    ) -> Result<(), LlamaError> {
        let job = &mut self.jobs[next];
        let Some(computed) = &mut self.groups[job.group].computed else {
            return Ok(());
        };
        if let Some(known) = &job.other_than {
            if computed.left.as_ref().is_none_or(|(text, _)| *text != known.text) {
                let ways = departures(engine, computed.sequence, branch, &computed.logits, &known.text)?;
                job.usage.prompt_tokens += known.text.len() as u32;
                computed.left = Some((known.text.clone(), ways));
            }
            let ways = computed.left.as_ref().map_or(&[][..], |(_, ways)| ways);
            if let Some(begin) = begin_of(ways, &known.text, known.by, known.rank) {
                job.answer.begin_with(begin);
            }
        }
        job.answer.advance(&computed.logits, &engine.tokenizer, sink)
    }

    /// Computes the next tokens of all answers.
    fn step(&mut self, engine: &mut Engine, sink: &mut dyn FnMut(&str)) -> Result<(), LlamaError> {
        engine.check_cancelled()?;
        let most = engine.loaded.batch as usize;
        let mut step = DecodeBatch::default();
        let mut parts: Vec<(Vec<Token>, usize)> = Vec::with_capacity(self.running.len());
        for running in &self.running {
            let answer = &mut self.jobs[running.job].answer;
            let tokens = answer.take(most - step.len());
            let mut last = 0;
            for (number, token) in tokens.iter().enumerate() {
                let output = if answer.is_taken() && number + 1 == tokens.len() {
                    Output::Logits
                } else {
                    Output::Nothing
                };
                last = step.push(*token, running.length + number, &[running.sequence], output);
            }
            parts.push((tokens, last));
        }
        engine.make_room(step.len(), self.running[0].sequence);
        engine.compute(&mut step)?;
        for (running, (tokens, last)) in self.running.iter_mut().zip(parts) {
            engine.cache.append(running.sequence, &tokens);
            running.length += tokens.len();
            let answer = &mut self.jobs[running.job].answer;
            if answer.is_taken() && !tokens.is_empty() {
                let sink: &mut dyn FnMut(&str) = if running.job == 0 { &mut *sink } else { &mut |_| () };
                answer.advance(engine.logits(last)?, &engine.tokenizer, sink)?;
            }
        }
        let share = self.lap() / self.running.len() as u32;
        for running in &self.running {
            self.jobs[running.job].generate_time += share;
        }
        self.end_finished(engine);
        Ok(())
    }

    /// Frees what the answers held that have ended.
    fn end_finished(&mut self, engine: &mut Engine) {
        let (ended, running) = std::mem::take(&mut self.running)
            .into_iter()
            .partition(|running: &Running| self.jobs[running.job].answer.ended().is_some());
        self.running = running;
        for running in ended {
            let job = &self.jobs[running.job];
            if running.branch.is_some() {
                engine.context.clear(running.sequence);
                engine.cache.end_branch(running.length - job.prompt.len());
            }
            let group = &mut self.groups[job.group];
            group.open -= 1;
            if group.open == 0
                && let Some(computed) = group.computed.take()
            {
                engine.cache.unpin(computed.sequence);
            }
        }
    }

    /// Leaves the cache with prompts and whole answers alone, also where a step failed in their midst.
    fn leave(&mut self, engine: &mut Engine, failed: bool) {
        engine.cache.end_all_branches();
        for running in self.running.drain(..) {
            if running.branch.is_some() {
                engine.context.clear(running.sequence);
            } else if failed {
                let held = engine.cache.len(running.sequence);
                engine.cut(running.sequence, held);
            }
        }
    }

    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        let since = now.saturating_duration_since(self.clock);
        self.clock = now;
        since
    }

    /// Returns the replies in the order asked.
    fn replies(self) -> Result<Vec<ChatReply>, LlamaError> {
        let mut exact = Duration::ZERO;
        let mut told = 0;
        // Rounded so that nothing is lost in the sum.
        let mut milliseconds = |time: Duration| {
            exact += time;
            let more = exact.as_millis() as u64 - told;
            told += more;
            more
        };
        let reply = |job: Job| {
            let missing = LlamaError::Broken(StepError::Malformed("it leaves an answer without an end"));
            let (text, finish) = job.answer.ended().ok_or(missing)?;
            Ok(ChatReply {
                text: text.to_owned(),
                finish,
                usage: Usage {
                    generated_tokens: job.answer.tokens(),
                    prompt_ms: milliseconds(job.prompt_time),
                    generate_ms: milliseconds(job.generate_time),
                    ..job.usage
                },
            })
        };
        self.jobs.into_iter().map(reply).collect()
    }
}
