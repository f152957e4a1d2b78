//! The work of a call in the peer's words: requests of llama-server's `/completion`, one after the other, on the same tokens.
//!
//! Answers are forced to the length that ours had, so that both sides do the same work whatever either of them says. The peer is not asked for all that ours gives:
//! of a text that is scored it tells the probabilities of the last token alone, and none while it reads a text that is edited.

use super::ours::Reply;
use super::{Trace, TracedRequest};
use anyhow::{Context as _, Result};
use magis_llm::{
    Constraint, FillInRequest, GenerateRequest, LanguageModel, LlmError, PromptText, Sampling, ScoreRequest, TokenEdit,
    TokenEditRequest,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A request of the peer's `/completion`.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// Tokens that are read.
    pub prompt: Vec<u32>,
    /// Tokens that are generated; with a constraint, at the most.
    pub generate: u32,
    pub task: Task,
}

/// What a completion is for.
#[derive(Debug, Clone, PartialEq)]
pub enum Task {
    /// Tokens are drawn, under a constraint or freely.
    Answer { constraint: Constraint, sampling: Sampling },
    /// The probabilities of what may follow.
    Probabilities,
    /// Nothing but that the text is read, or goes on.
    Text,
}

/// How many tokens the probabilities are told of.
const LIKELIEST: u32 = 64;

/// Returns what the peer is asked in place of each call of a trace, by the replies that our side gave.
pub async fn of_trace(
    model: &dyn LanguageModel,
    trace: &Trace,
    replies: &[Vec<Reply>],
) -> Result<Vec<Vec<Vec<Completion>>>> {
    let mut groups = Vec::with_capacity(trace.groups.len());
    for (calls, replies) in trace.groups.iter().zip(replies) {
        let mut group = Vec::with_capacity(calls.len());
        for (call, reply) in calls.iter().zip(replies) {
            let of_call = completions(model, &call.request, reply).await;
            group.push(of_call.with_context(|| format!("wording a call of {} for the peer", call.step))?);
        }
        groups.push(group);
    }
    Ok(groups)
}

/// Returns the fewest tokens that can be computed for this work where whatever prompts begin with alike is computed once.
/// Answers are left out; so a prompt that repeats one counts as if it had not been there.
pub fn fewest(works: &[Vec<Vec<Completion>>]) -> u64 {
    let mut prompts: Vec<&[u32]> = works.iter().flatten().flatten().map(|work| &*work.prompt).collect();
    prompts.sort_unstable();
    let mut before: &[u32] = &[];
    let mut tokens = 0;
    for prompt in prompts {
        let pairs = before.iter().zip(prompt);
        let common = pairs.take_while(|(one, other)| one == other).count();
        tokens += (prompt.len() - common) as u64;
        before = prompt;
    }
    tokens
}

async fn completions(
    model: &dyn LanguageModel,
    request: &TracedRequest,
    reply: &Reply,
) -> Result<Vec<Completion>, LlmError> {
    match (request, reply) {
        (TracedRequest::Generate(request), Reply::Generated(tokens)) => answer(model, request, *tokens).await,
        (TracedRequest::Score(request), Reply::Scored) => scores(model, request).await,
        (TracedRequest::TokenEdits(request), Reply::Edits(edits)) => token_edits(model, request, edits).await,
        // What our side left out the peer is not asked for.
        _ => Ok(Vec::new()),
    }
}

impl Completion {
    /// Returns whether one request can do the work of both: several answers from one prompt.
    pub fn goes_with(&self, other: &Self) -> bool {
        match (&self.task, &other.task) {
            (Task::Answer { constraint, .. }, Task::Answer { constraint: others, .. }) => {
                self.prompt == other.prompt && constraint == others
            }
            _ => false,
        }
    }

    /// Returns the request for so many answers of this length.
    pub fn body(&self, answers: u32) -> Value {
        let mut body = json!({
            "prompt": self.prompt,
            "n_predict": self.generate,
            "n_cmpl": answers,
            "cache_prompt": true,
            "id_slot": -1,
            "stream": false,
            "response_fields": ["timings"],
        });
        let more = match &self.task {
            Task::Answer { constraint, sampling } => [sampled(*sampling), constrained(constraint)],
            Task::Probabilities => [sampled(Sampling::Greedy), json!({ "n_probs": LIKELIEST })],
            Task::Text => [sampled(Sampling::Greedy), constrained(&Constraint::None)],
        };
        for (field, value) in more.iter().filter_map(Value::as_object).flatten() {
            body[field] = value.clone();
        }
        body
    }
}

/// The cheapest samplers that choose alike.
fn sampled(sampling: Sampling) -> Value {
    match sampling {
        Sampling::Greedy => json!({ "samplers": ["top_k"], "top_k": 1 }),
        Sampling::Temperature { temperature, seed } => json!({
            "samplers": ["top_k", "top_p", "temperature"],
            "top_k": 40,
            "top_p": 0.95,
            "temperature": temperature,
            "seed": seed & u64::from(u32::MAX),
        }),
    }
}

/// A free answer goes on until it is as long as ours was. One with a form ends where its form does.
fn constrained(constraint: &Constraint) -> Value {
    match constraint {
        Constraint::None => json!({ "ignore_eos": true }),
        Constraint::JsonSchema(schema) => json!({ "json_schema": schema }),
        Constraint::OneOf(choices) => {
            let choices: Vec<String> = choices.iter().map(|choice| literal(choice)).collect();
            json!({ "grammar": format!("root ::= {}", choices.join(" | ")) })
        }
        Constraint::LineRanges { last, most, .. } => {
            let digits = last.checked_ilog10().unwrap_or(0);
            let more = most.saturating_sub(1);
            json!({ "grammar": format!(
                "root ::= range (\", \" range){{0,{more}}}\nrange ::= number \"-\" number\nnumber ::= [1-9] [0-9]{{0,{digits}}}"
            ) })
        }
    }
}

fn literal(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    let escaped = escaped.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t");
    format!("\"{escaped}\"")
}

async fn answer(
    model: &dyn LanguageModel,
    request: &GenerateRequest,
    tokens: u32,
) -> Result<Vec<Completion>, LlmError> {
    match request {
        GenerateRequest::Chat(chat) => {
            let prompt = PromptText::Chat {
                messages: chat.messages.clone(),
                answer_prefix: chat.answer_prefix.clone(),
            };
            let task = Task::Answer {
                constraint: chat.constraint.clone(),
                sampling: chat.sampling,
            };
            let prompt = model.tokenize(&[prompt]).await?.concat();
            Ok(vec![Completion {
                prompt,
                generate: tokens,
                task,
            }])
        }
        GenerateRequest::FillIn(fill_in) => fill_in_answer(model, fill_in, tokens).await,
    }
}

/// A text that the answer is not to be is read first, as ours does.
async fn fill_in_answer(
    model: &dyn LanguageModel,
    request: &FillInRequest,
    tokens: u32,
) -> Result<Vec<Completion>, LlmError> {
    let mut texts = vec![gap(&request.before, &request.after)];
    texts.extend(request.other_than.as_ref().map(|other| continuation(&other.text)));
    let tokenized = model.tokenize(&texts).await?;
    let mut completions = Vec::new();
    if tokenized.len() > 1 {
        completions.push(Completion {
            prompt: tokenized.concat(),
            generate: 0,
            task: Task::Text,
        });
    }
    completions.push(Completion {
        prompt: tokenized.into_iter().next().unwrap_or_default(),
        generate: tokens,
        task: Task::Answer {
            constraint: Constraint::None,
            sampling: request.sampling,
        },
    });
    Ok(completions)
}

/// The probabilities of a text's last token stand behind the tokens before it, and so do those of all texts that differ in that token alone.
async fn scores(model: &dyn LanguageModel, request: &ScoreRequest) -> Result<Vec<Completion>, LlmError> {
    let prompt = PromptText::Chat {
        messages: request.messages.clone(),
        answer_prefix: request.answer_prefix.clone(),
    };
    let mut texts = vec![prompt];
    texts.extend(request.continuations.iter().map(|text| continuation(text)));
    let tokenized = model.tokenize(&texts).await?;
    let Some((prompt, continuations)) = tokenized.split_first() else {
        return Ok(Vec::new());
    };
    let begins = continuations.iter().filter_map(|tokens| tokens.split_last());
    let begins: BTreeSet<&[u32]> = begins.map(|(_, begin)| begin).collect();
    let completion = |begin: &[u32]| Completion {
        prompt: [prompt, begin].concat(),
        generate: 1,
        task: Task::Probabilities,
    };
    Ok(begins.into_iter().map(completion).collect())
}

/// The text is read, and at each place where ours went on writing so many tokens are written.
async fn token_edits(
    model: &dyn LanguageModel,
    request: &TokenEditRequest,
    edits: &[TokenEdit],
) -> Result<Vec<Completion>, LlmError> {
    let begin = |edit: &TokenEdit| request.text.get(..edit.start as usize).unwrap_or_default();
    let mut texts = vec![gap(&request.before, &request.after), continuation(&request.text)];
    texts.extend(
        edits
            .iter()
            .flat_map(|edit| [continuation(begin(edit)), continuation(&edit.text)]),
    );
    let tokenized = model.tokenize(&texts).await?;
    let [prompt, text, edits @ ..] = tokenized.as_slice() else {
        return Ok(Vec::new());
    };
    let read = Completion {
        prompt: [prompt.as_slice(), text].concat(),
        generate: 0,
        task: Task::Text,
    };
    let written = edits.chunks_exact(2).filter(|edit| edit[1].len() > 1);
    let written = written.take(request.written as usize).map(|edit| Completion {
        prompt: [prompt.as_slice(), &edit[0]].concat(),
        generate: edit[1].len() as u32,
        task: Task::Text,
    });
    Ok([read].into_iter().chain(written).collect())
}

fn gap(before: &str, after: &str) -> PromptText {
    PromptText::FillIn {
        before: before.to_owned(),
        after: after.to_owned(),
    }
}

fn continuation(text: &str) -> PromptText {
    PromptText::Continuation { text: text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(constraint: &Constraint, expected: &Value) {
        assert_eq!(&constrained(constraint), expected);
    }

    #[test]
    fn a_form_is_said_in_the_peers_grammar() {
        check(&Constraint::None, &json!({ "ignore_eos": true }));
        check(
            &Constraint::OneOf(vec!["a \"b\"\n".to_owned(), "c\\d".to_owned()]),
            &json!({ "grammar": r#"root ::= "a \"b\"\n" | "c\\d""# }),
        );
        check(
            &Constraint::LineRanges {
                first: 1,
                last: 120,
                most: 2,
            },
            &json!({ "grammar": "root ::= range (\", \" range){0,1}\nrange ::= number \"-\" number\nnumber ::= [1-9] [0-9]{0,2}" }),
        );
    }
}
