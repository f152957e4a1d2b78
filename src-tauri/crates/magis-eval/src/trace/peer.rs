//! A llama-server that runs already: its `/completion` is asked what [`super::counterpart`] words, group by group, the calls of a group at once.
//!
//! Times are this side's clock, tokens what the server says of itself.

use super::counterpart::{Completion, Task};
use super::{Cost, GroupCost};
use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::Value;
use std::thread;
use std::time::{Duration, Instant};

/// How long an answer may take: a long prompt on a slow machine.
const PATIENCE: Duration = Duration::from_mins(30);

/// A running llama-server, asked over HTTP.
pub struct Peer {
    agent: ureq::Agent,
    url: String,
    /// Requests that it works on at once.
    pub slots: usize,
    /// Its model's file, as it names it.
    pub model: String,
}

#[derive(Deserialize)]
struct Properties {
    total_slots: usize,
    #[serde(default)]
    model_path: String,
}

#[derive(Deserialize)]
struct Answer {
    timings: Timings,
}

/// Tokens of a request.
#[derive(Deserialize)]
struct Timings {
    /// Of the prompt, those that were there already.
    #[serde(rename = "cache_n")]
    reused: u64,
    /// Of the prompt, those that were read.
    #[serde(rename = "prompt_n")]
    computed: u64,
    #[serde(rename = "predicted_n")]
    generated: u64,
}

impl Peer {
    /// Finds the server at an address, `http://127.0.0.1:8080` say.
    pub fn find(url: &str) -> Result<Self> {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .proxy(None)
            .timeout_global(Some(PATIENCE))
            .http_status_as_error(false)
            .build()
            .into();
        let url = url.trim_end_matches('/').to_owned();
        let asked = agent.get(format!("{url}/props")).call();
        let answer = asked.and_then(|mut answer| answer.body_mut().read_to_string());
        let answer = answer.with_context(|| format!("no llama-server answers at {url}"))?;
        let properties: Properties =
            serde_json::from_str(&answer).with_context(|| format!("what answers at {url} is no llama-server"))?;
        Ok(Self {
            agent,
            url,
            slots: properties.total_slots.max(1),
            model: properties.model_path,
        })
    }

    /// Makes all calls; `tell` hears of each group. A server that has read the first prompt before is refused.
    pub fn replay(
        &self,
        groups: &[Vec<Vec<Completion>>],
        mut tell: impl FnMut(usize, &GroupCost),
    ) -> Result<Vec<GroupCost>> {
        let mut costs = Vec::with_capacity(groups.len());
        let mut is_first = true;
        for (at, group) in groups.iter().enumerate() {
            let begun = Instant::now();
            let calls = self.answer_group(group)?;
            let cost = GroupCost {
                seconds: begun.elapsed().as_secs_f64(),
                calls,
            };
            let computed: Vec<&Cost> = cost.calls.iter().filter(|cost| cost.computed > 0).collect();
            if is_first && !computed.is_empty() {
                is_first = false;
                // Of calls at the same time one may find what another has just computed, but never all of them.
                if computed.iter().all(|cost| cost.reused > 0) {
                    bail!(
                        "the server at {} holds the first prompt already: start it anew",
                        self.url
                    );
                }
            }
            tell(at, &cost);
            costs.push(cost);
        }
        Ok(costs)
    }

    /// Makes the calls of a group at once.
    fn answer_group(&self, group: &[Vec<Completion>]) -> Result<Vec<Cost>> {
        let jobs = jobs(group, self.slots);
        let mut costs = vec![Cost::default(); group.len()];
        thread::scope(|scope| {
            let running: Vec<_> = jobs.iter().map(|job| scope.spawn(|| self.work(job))).collect();
            for (job, done) in jobs.iter().zip(running) {
                let done = done.join().ok().context("a request to the peer ended in a panic")?;
                costs[job.call] = done?;
            }
            Ok(costs)
        })
    }

    /// Makes the requests of a job, one after the other. What was there already is that of the first: the others find its prompt.
    fn work(&self, job: &Job) -> Result<Cost> {
        let mut cost = Cost::default();
        for (at, completion) in job.completions.iter().enumerate() {
            let one = self.complete(completion, job.answers)?;
            let reused = if at == 0 { one.reused } else { 0 };
            cost += Cost { reused, ..one };
        }
        Ok(cost)
    }

    fn complete(&self, completion: &Completion, answers: u32) -> Result<Cost> {
        let asked = self
            .agent
            .post(format!("{}/completion", self.url))
            .content_type("application/json")
            .send(completion.body(answers).to_string());
        let mut answer = asked.with_context(|| format!("asking the server at {}", self.url))?;
        let text = answer.body_mut().read_to_string();
        let text = text.with_context(|| format!("reading an answer of the server at {}", self.url))?;
        if !answer.status().is_success() {
            let tokens = completion.prompt.len();
            bail!(
                "the server at {} refuses a prompt of {tokens} tokens: {}",
                self.url,
                reason(&text)
            );
        }
        let odd = || format!("the server at {} tells no tokens of its answer", self.url);
        let timings: Vec<Timings> = if answers == 1 {
            let one: Answer = serde_json::from_str(&text).with_context(odd)?;
            vec![one.timings]
        } else {
            let all: Vec<Answer> = serde_json::from_str(&text).with_context(odd)?;
            all.into_iter().map(|one| one.timings).collect()
        };
        Ok(cost(completion, &timings))
    }
}

/// Requests that are made one after the other, while other jobs go on.
struct Job {
    /// The place of its call in the group; of several, that of the first.
    call: usize,
    completions: Vec<Completion>,
    answers: u32,
}

/// Returns the jobs of a group: one for each call, but answers from one prompt are one request, as far as there are slots for them. The server has one length for
/// all answers of a request, so each gets the mean.
fn jobs(group: &[Vec<Completion>], slots: usize) -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    for (call, completions) in group.iter().enumerate() {
        if let [one] = completions.as_slice()
            && let Some(job) = jobs.iter_mut().find(|job| {
                let [other] = job.completions.as_slice() else {
                    return false;
                };
                (job.answers as usize) < slots && one.goes_with(other)
            })
        {
            job.completions[0].generate += one.generate;
            job.answers += 1;
        } else {
            jobs.push(Job {
                call,
                completions: completions.clone(),
                answers: 1,
            });
        }
    }
    for job in jobs.iter_mut().filter(|job| job.answers > 1) {
        job.completions[0].generate = job.completions[0].generate.div_ceil(job.answers);
    }
    jobs
}

/// Returns what a request cost. Each of several answers tells of the prompt that they share.
fn cost(completion: &Completion, timings: &[Timings]) -> Cost {
    let mut cost = Cost::default();
    if let Some(first) = timings.first() {
        cost.computed = first.computed;
        cost.reused = first.reused;
    }
    let generated: u64 = timings.iter().map(|one| one.generated).sum();
    match completion.task {
        // The token that it chooses behind every prompt goes nowhere.
        _ if completion.generate == 0 => {}
        Task::Answer { .. } => cost.generated = generated,
        Task::Text => cost.computed += generated,
        Task::Probabilities => {}
    }
    cost
}

/// Returns the server's own words on what is wrong with a request.
fn reason(answer: &str) -> String {
    let value: Value = serde_json::from_str(answer).unwrap_or_default();
    let message = value["error"]["message"].as_str();
    message.unwrap_or("it does not say why").to_owned()
}
