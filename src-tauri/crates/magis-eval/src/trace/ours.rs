//! A trace on a model of ours: each group is issued as the run issued it, and waited for.

use super::{Cost, GroupCost, Trace, TracedCall, TracedRequest};
use anyhow::{Context as _, Result, bail};
use magis_llm::{
    ChatReply, GenerateRequest, LanguageModel, LlmError, ScoreRequest, TokenEdit, TokenEditRequest, Usage,
};
use std::sync::Arc;
use std::time::Instant;
use tokio::task::JoinSet;

/// A trace that was replayed on our side.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Replayed {
    pub costs: Vec<GroupCost>,
    /// What was replied to each call of each group.
    pub replies: Vec<Vec<Reply>>,
}

/// As much of a reply as the peer has to know to do the same work.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// So many tokens.
    Generated(u32),
    Scored,
    Edits(Vec<TokenEdit>),
    /// No model like this one can answer it: it does not fit into the context, say.
    LeftOut(String),
}

impl Replayed {
    /// Returns the calls that the model could not answer: the step of each, and why.
    pub fn left_out(&self, trace: &Trace) -> Vec<(String, String)> {
        let why = |reply: &Reply| match reply {
            Reply::LeftOut(why) => Some(why.clone()),
            Reply::Generated(_) | Reply::Scored | Reply::Edits(_) => None,
        };
        let calls = trace.calls().zip(self.replies.iter().flatten());
        calls
            .filter_map(|(call, reply)| Some((call.step.clone(), why(reply)?)))
            .collect()
    }
}

/// Makes the calls of a trace; `tell` hears of each group.
pub async fn replay(
    model: &Arc<dyn LanguageModel>,
    trace: &Trace,
    mut tell: impl FnMut(usize, &GroupCost),
) -> Result<Replayed> {
    let mut done = Replayed::default();
    for (at, group) in trace.groups.iter().enumerate() {
        let begun = Instant::now();
        let answered = answer_group(model, group).await?;
        let seconds = begun.elapsed().as_secs_f64();
        let (calls, replies) = answered.into_iter().unzip();
        let cost = GroupCost { seconds, calls };
        tell(at, &cost);
        done.costs.push(cost);
        done.replies.push(replies);
    }
    Ok(done)
}

type Answered = (Cost, Reply);

/// The places of calls in their group, and what came of them.
type Ended = (Vec<usize>, Result<Vec<Answered>, LlmError>);

/// Answers are asked for in one request, everything else beside them.
async fn answer_group(model: &Arc<dyn LanguageModel>, group: &[TracedCall]) -> Result<Vec<Answered>> {
    let mut generated = Vec::new();
    let mut requests = Vec::new();
    let mut running: JoinSet<Ended> = JoinSet::new();
    for (at, call) in group.iter().enumerate() {
        match call.request.clone() {
            TracedRequest::Generate(request) => {
                generated.push(at);
                requests.push(request);
            }
            TracedRequest::Score(request) => {
                let model = Arc::clone(model);
                running.spawn(async move { (vec![at], score(model.as_ref(), &request).await) });
            }
            TracedRequest::TokenEdits(request) => {
                let model = Arc::clone(model);
                running.spawn(async move { (vec![at], edit_tokens(model.as_ref(), &request).await) });
            }
        }
    }
    if !requests.is_empty() {
        let model = Arc::clone(model);
        running.spawn(async move { (generated, generate(model.as_ref(), &requests).await) });
    }
    let mut answers: Vec<Option<Answered>> = vec![None; group.len()];
    while let Some(ended) = running.join_next().await {
        let (places, result) = ended.context("a call of the replay ended without an answer")?;
        let found = match result {
            Ok(found) => found,
            Err(error @ (LlmError::OverContext { .. } | LlmError::BadRequest { .. })) => {
                vec![(Cost::default(), Reply::LeftOut(error.to_string())); places.len()]
            }
            Err(error) => bail!("{}: {error}", group[places[0]].step),
        };
        for (place, found) in places.into_iter().zip(found) {
            answers[place] = Some(found);
        }
    }
    let all: Option<Vec<Answered>> = answers.into_iter().collect();
    all.context("the model answered fewer calls than it was asked")
}

async fn generate(model: &dyn LanguageModel, requests: &[GenerateRequest]) -> Result<Vec<Answered>, LlmError> {
    let replies = match requests {
        [GenerateRequest::Chat(chat)] => vec![model.chat(chat, &mut |_| ()).await?],
        _ => model.generate_all(requests, &mut |_| ()).await?,
    };
    let answered = |reply: ChatReply| {
        let generated = reply.usage.generated_tokens;
        let cost = Cost {
            generated: u64::from(generated),
            ..read(reply.usage, 0)
        };
        (cost, Reply::Generated(generated))
    };
    Ok(replies.into_iter().map(answered).collect())
}

async fn score(model: &dyn LanguageModel, request: &ScoreRequest) -> Result<Vec<Answered>, LlmError> {
    let usage = model.score(request).await?.usage;
    Ok(vec![(read(usage, usage.generated_tokens), Reply::Scored)])
}

async fn edit_tokens(model: &dyn LanguageModel, request: &TokenEditRequest) -> Result<Vec<Answered>, LlmError> {
    let reply = model.token_edits(request).await?;
    let cost = read(reply.usage, reply.usage.generated_tokens);
    Ok(vec![(cost, Reply::Edits(reply.edits))])
}

/// Returns the cost of a prompt and of so many tokens of texts behind it.
fn read(usage: Usage, behind: u32) -> Cost {
    Cost {
        computed: u64::from(usage.prompt_tokens) + u64::from(behind),
        reused: u64::from(usage.reused_tokens),
        generated: 0,
    }
}
