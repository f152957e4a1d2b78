//! Several calls made together, as sequences that share what their prompts have in common. Each is recorded as a call of its own; whoever asks for
//! it afterwards finds it on record.

use super::{AskError, ModelCalls, Recording, constraint, messages};
use crate::Progress;
use crate::calls::prompt::{CallContext, PromptVariant, SamplingMode};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use magis_llm::{ChatReply, ChatRequest, FillInRequest, FinishReason, GenerateRequest, OtherThan};
use magis_prompts::{Prompt, Rendered, Template, render};
use magis_store::CallKind;
use std::sync::Arc;
use tokio::sync::mpsc;
use tracing::{Instrument as _, info_span};

/// How the text of a gap is chosen.
#[derive(Debug, Clone)]
pub(crate) enum FillInMode {
    Free(SamplingMode),
    /// One of the likeliest texts beside the one that is there.
    OtherThan(OtherThan),
}

/// A call that is still to be made.
pub(crate) struct PlannedCall {
    about: CallContext,
    template: Template,
    request: GenerateRequest,
    left_out: Vec<String>,
}

impl PlannedCall {
    fn record(&self) -> Recording<'_> {
        Recording {
            about: &self.about,
            template: self.template,
            kind: CallKind::Chat,
            left_out: &self.left_out,
            retries: 0,
        }
    }
}

impl ModelCalls {
    /// Words the call that [`ModelCalls::ask`] makes first.
    pub async fn plan<P: Prompt>(
        &mut self,
        about: &CallContext,
        mode: SamplingMode,
        variants: impl IntoIterator<Item = PromptVariant<P>>,
    ) -> Result<PlannedCall, AskError> {
        let said = self.notices.len();
        let (prompt, rendered, left_out) = self.fit(about, variants).await?;
        // What was shortened is said when the call is asked for.
        self.notices.truncate(said);
        Ok(PlannedCall {
            about: about.clone(),
            template: prompt.template(),
            request: GenerateRequest::Chat(self.chat_request(&prompt, &rendered, mode, 0)),
            left_out,
        })
    }

    /// Words the call that [`ModelCalls::fill_in`] makes.
    pub async fn plan_fill_in<P: Prompt>(
        &mut self,
        about: &CallContext,
        mode: &FillInMode,
        prompt: &P,
    ) -> Result<PlannedCall, AskError> {
        let request = self.fill_in_request(prompt, mode)?;
        let tokens = self.model.count_fill_in(&request.before, &request.after).await?;
        let context = self.context();
        if tokens + request.max_tokens > context {
            let why = format!("the code around the lines has {tokens} tokens, and the context holds {context}");
            return Err(AskError::Unusable(why));
        }
        Ok(PlannedCall {
            about: about.clone(),
            template: prompt.template(),
            request: GenerateRequest::FillIn(request),
            left_out: Vec::new(),
        })
    }

    /// Makes those of the calls that are not on record, together.
    pub async fn ask_all(&mut self, calls: Vec<PlannedCall>) -> Result<(), AskError> {
        let mut missing = Vec::new();
        for call in calls {
            if self.log.find(&self.planned_key(&call))?.is_none() {
                missing.push(call);
            }
        }
        let Some(first) = missing.first() else {
            return Ok(());
        };
        self.started(&first.about, first.template);
        let log = &self.log;
        let mut sink = move |text: &str| {
            log.follow(Progress::Text { delta: text.to_owned() });
        };
        let requests: Vec<GenerateRequest> = missing.iter().map(|call| call.request.clone()).collect();
        let span = info_span!("calls", step = first.template.name(), count = requests.len());
        let replies = self.model.generate_all(&requests, &mut sink).instrument(span).await?;
        for (at, (call, reply)) in missing.iter().zip(replies).enumerate() {
            if at > 0 {
                self.started(&call.about, call.template);
            }
            self.record_planned(call, &reply)?;
        }
        Ok(())
    }

    /// Makes those of the calls that are not on record at the same time. Each is recorded as soon as it is answered, whatever
    /// becomes of the others.
    pub async fn ask_at_once(&mut self, calls: Vec<PlannedCall>) -> Result<(), AskError> {
        let (texts, mut heard) = mpsc::unbounded_channel();
        let mut open = FuturesUnordered::new();
        for call in calls {
            if self.log.find(&self.planned_key(&call))?.is_none() {
                let (model, is_first, texts) = (Arc::clone(&self.model), open.is_empty(), texts.clone());
                if is_first {
                    self.started(&call.about, call.template);
                }
                let span = info_span!("call", step = call.template.name());
                let ask = async move {
                    let mut sink = |text: &str| {
                        if is_first {
                            let _ = texts.send(text.to_owned());
                        }
                    };
                    let reply = model.generate_all(std::slice::from_ref(&call.request), &mut sink).await;
                    (call, is_first, reply)
                };
                open.push(ask.instrument(span));
            }
        }
        loop {
            tokio::select! {
                biased;
                Some(delta) = heard.recv() => self.log.follow(Progress::Text { delta }),
                answered = open.next() => {
                    let Some((call, is_first, replies)) = answered else { return Ok(()) };
                    if !is_first {
                        self.started(&call.about, call.template);
                    }
                    for reply in replies? {
                        self.record_planned(&call, &reply)?;
                    }
                }
            }
        }
    }

    /// Asks for the text of a gap and reads it.
    pub async fn fill_in<P: Prompt>(
        &mut self,
        about: &CallContext,
        mode: &FillInMode,
        prompt: P,
    ) -> Result<P::Reply, AskError> {
        let call = self.plan_fill_in(about, mode, &prompt).await?;
        let key = self.planned_key(&call);
        let known = self
            .log
            .find(&key)?
            .and_then(|reply| serde_json::from_value::<ChatReply>(reply).ok());
        let reply = match known {
            Some(reply) => {
                self.started(about, call.template);
                self.ended(reply.usage, true);
                reply
            }
            None => {
                self.ask_all(vec![call]).await?;
                let reply = self
                    .log
                    .find(&key)?
                    .and_then(|reply| serde_json::from_value(reply).ok());
                reply.ok_or_else(|| AskError::Unusable("the answer is not on record".to_owned()))?
            }
        };
        match reply.finish {
            FinishReason::Looping => Err(AskError::Unusable("the answer repeats itself".to_owned())),
            FinishReason::Complete | FinishReason::Length => prompt
                .read(&reply.text)
                .map_err(|error| AskError::Unusable(error.to_string())),
        }
    }

    fn planned_key(&self, call: &PlannedCall) -> String {
        match &call.request {
            GenerateRequest::Chat(request) => self.key(request, &call.record()),
            GenerateRequest::FillIn(_) => self.key(&call.request, &call.record()),
        }
    }

    fn record_planned(&mut self, call: &PlannedCall, reply: &ChatReply) -> Result<(), AskError> {
        let finish = super::finish_word(reply.finish);
        match &call.request {
            GenerateRequest::Chat(request) => self.record(request, reply, finish, reply.usage, &call.record()),
            GenerateRequest::FillIn(_) => self.record(&call.request, reply, finish, reply.usage, &call.record()),
        }
    }

    fn fill_in_request<P: Prompt>(&self, prompt: &P, mode: &FillInMode) -> Result<FillInRequest, AskError> {
        let rendered = render(prompt)?;
        let (sampling, other_than) = match mode {
            FillInMode::Free(sampling) => (*sampling, None),
            FillInMode::OtherThan(other) => (SamplingMode::Greedy, Some(other.clone())),
        };
        Ok(FillInRequest {
            sampling: self.sampling(&rendered, sampling, 0),
            other_than,
            before: format!("{}\n", rendered.user),
            after: rendered.answer,
            max_tokens: prompt.max_tokens(),
            stop: prompt.stop(),
        })
    }

    /// Returns the request of the `attempt`-th asking of a prompt.
    pub(super) fn chat_request<P: Prompt>(
        &self,
        prompt: &P,
        rendered: &Rendered,
        mode: SamplingMode,
        attempt: u32,
    ) -> ChatRequest {
        ChatRequest {
            answer_prefix: rendered.answer.clone(),
            constraint: constraint(prompt.shape()),
            sampling: self.sampling(rendered, mode, attempt),
            stop: prompt.stop(),
            ..ChatRequest::new(messages(rendered), prompt.max_tokens())
        }
    }
}
