//! How a scripted model answers: what its rules say, as far as stop texts, limits and constraints allow it.

use super::valid::first_valid;
use super::{ScriptedModel, ScriptedReply, default_logprob, hash};
use crate::{
    ChatReply, ChatRequest, Constraint, FillInRequest, FinishReason, GenerateRequest, LanguageModel, LlmError, Message,
    ModelCard, PromptText, Score, ScoreReply, ScoreRequest, TokenEditReply, TokenEditRequest, TokenSink, Usage,
};
use async_trait::async_trait;
use std::future::pending;

#[async_trait]
impl LanguageModel for ScriptedModel {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    async fn chat(&self, request: &ChatRequest, sink: TokenSink<'_>) -> Result<ChatReply, LlmError> {
        self.begin(|record| record.chats.push(request.clone()))?;
        let question = Question {
            prompt: prompt_tokens(&request.messages, &request.answer_prefix),
            max_tokens: request.max_tokens,
            stop: &request.stop,
            constraint: &request.constraint,
        };
        let scripted = || self.rules.iter().find_map(|rule| rule(request));
        self.answer_as(scripted, &question, sink).await
    }

    async fn generate_all(
        &self,
        requests: &[GenerateRequest],
        sink: TokenSink<'_>,
    ) -> Result<Vec<ChatReply>, LlmError> {
        let fill_in = |request: &GenerateRequest| matches!(request, GenerateRequest::FillIn(_));
        if !self.card.fills_in && requests.iter().any(fill_in) {
            return Err(LlmError::no_fill_in());
        }
        let mut replies = Vec::with_capacity(requests.len());
        for request in requests {
            let first = replies.is_empty();
            let mut shown = |text: &str| {
                if first {
                    sink(text);
                }
            };
            replies.push(match request {
                GenerateRequest::Chat(chat) => self.chat(chat, &mut shown).await?,
                GenerateRequest::FillIn(fill_in) => self.fill_in(fill_in, &mut shown).await?,
            });
        }
        Ok(replies)
    }

    async fn score(&self, request: &ScoreRequest) -> Result<ScoreReply, LlmError> {
        self.begin(|record| record.scores.push(request.clone()))?;
        if request.continuations.is_empty() {
            return Err(LlmError::BadRequest {
                reason: "there is no continuation to score".to_owned(),
            });
        }
        let prompt = prompt_tokens(&request.messages, &request.answer_prefix);
        let longest = request
            .continuations
            .iter()
            .map(|one| Self::tokens(one))
            .max()
            .unwrap_or(0);
        self.check_room(prompt, longest)?;
        let scripted = self.scorers.iter().find_map(|rule| rule(request));
        let logprobs = scripted.unwrap_or_else(|| {
            request
                .continuations
                .iter()
                .map(|one| default_logprob(request, one))
                .collect()
        });
        if logprobs.len() != request.continuations.len() {
            let (given, asked) = (logprobs.len(), request.continuations.len());
            let reason = format!("the script scores {given} of {asked} continuations");
            return Err(LlmError::BadRequest { reason });
        }
        let scores: Vec<Score> = logprobs
            .into_iter()
            .zip(&request.continuations)
            .map(|(logprob, text)| Score {
                logprob,
                tokens: Self::tokens(text),
            })
            .collect();
        let generated_tokens = scores.iter().map(|score| score.tokens).sum();
        let lines = if request.by_line {
            request.continuations.iter().map(|text| line_logprobs(text)).collect()
        } else {
            Vec::new()
        };
        Ok(ScoreReply {
            scores,
            lines,
            usage: Usage {
                prompt_tokens: prompt,
                generated_tokens,
                generate_ms: self.generate_ms,
                ..Usage::default()
            },
        })
    }

    async fn token_edits(&self, request: &TokenEditRequest) -> Result<TokenEditReply, LlmError> {
        if !self.card.fills_in {
            return Err(LlmError::no_fill_in());
        }
        let edits = self.editors.iter().find_map(|rule| rule(request)).unwrap_or_default();
        let (prompt, read) = (
            fill_in_tokens(&request.before, &request.after),
            Self::tokens(&request.text),
        );
        self.check_room(prompt, read)?;
        let usage = Usage {
            prompt_tokens: prompt,
            generated_tokens: read,
            generate_ms: self.generate_ms,
            ..Usage::default()
        };
        Ok(TokenEditReply { edits, usage })
    }

    async fn count_fill_in(&self, before: &str, after: &str) -> Result<u32, LlmError> {
        if self.card.fills_in {
            Ok(fill_in_tokens(before, after))
        } else {
            Err(LlmError::no_fill_in())
        }
    }

    async fn count_tokens(&self, texts: &[String]) -> Result<Vec<u32>, LlmError> {
        Ok(texts.iter().map(|text| Self::tokens(text)).collect())
    }

    async fn count_prompt(&self, messages: &[Message], answer_prefix: &str) -> Result<u32, LlmError> {
        Ok(prompt_tokens(messages, answer_prefix))
    }

    async fn tokenize(&self, texts: &[PromptText]) -> Result<Vec<Vec<u32>>, LlmError> {
        let marks = |count| vec![0; count];
        texts
            .iter()
            .map(|text| match text {
                PromptText::Chat {
                    messages,
                    answer_prefix,
                } => {
                    let messages = messages.iter().flat_map(|one| [marks(4), tokens_of(&one.content)]);
                    Ok(messages.chain([tokens_of(answer_prefix)]).flatten().collect())
                }
                PromptText::FillIn { .. } if !self.card.fills_in => Err(LlmError::no_fill_in()),
                PromptText::FillIn { before, after } => Ok([marks(3), tokens_of(before), tokens_of(after)].concat()),
                PromptText::Continuation { text } => Ok(tokens_of(text)),
            })
            .collect()
    }
}

/// Returns the tokens of a text, four characters each, by their hash.
fn tokens_of(text: &str) -> Vec<u32> {
    let characters: Vec<char> = text.chars().collect();
    let token = |piece: &[char]| hash(&[&piece.iter().collect::<String>()]) as u32;
    characters.chunks(4).map(token).collect()
}

impl ScriptedModel {
    fn check_room(&self, prompt: u32, answer: u32) -> Result<(), LlmError> {
        let context = self.card.context;
        if prompt.saturating_add(answer) > context {
            return Err(LlmError::OverContext {
                prompt,
                answer,
                context,
            });
        }
        Ok(())
    }

    async fn fill_in(&self, request: &FillInRequest, sink: TokenSink<'_>) -> Result<ChatReply, LlmError> {
        self.begin(|record| record.fill_ins.push(request.clone()))?;
        let question = Question {
            prompt: fill_in_tokens(&request.before, &request.after),
            max_tokens: request.max_tokens,
            stop: &request.stop,
            constraint: &Constraint::None,
        };
        let scripted = || self.fillers.iter().find_map(|rule| rule(request));
        self.answer_as(scripted, &question, sink).await
    }

    /// Answers what the script says, as far as the question allows it.
    async fn answer_as(
        &self,
        scripted: impl Fn() -> Option<ScriptedReply> + Send,
        question: &Question<'_>,
        sink: TokenSink<'_>,
    ) -> Result<ChatReply, LlmError> {
        self.check_room(question.prompt, question.max_tokens)?;
        let (text, looping) = match scripted() {
            None => (first_valid(question.constraint), false),
            Some(ScriptedReply::Text(text)) => (text, false),
            Some(ScriptedReply::Looping(text)) => (text, true),
            Some(ScriptedReply::Fail(error)) => return Err(error),
            Some(ScriptedReply::Hang) => pending().await,
            Some(ScriptedReply::HangAfter(text)) => {
                sink(&text);
                pending().await
            }
        };
        if let Constraint::OneOf(choices) = question.constraint
            && !choices.contains(&text)
        {
            return Err(LlmError::BadRequest {
                reason: format!("the script says {text:?}, which is not a choice"),
            });
        }
        let stops = question.stop.iter().filter(|stop| !stop.is_empty());
        let stop = stops.filter_map(|stop| text.find(stop)).min();
        let whole = &text[..stop.unwrap_or(text.len())];
        let cut: String = whole.chars().take(4 * question.max_tokens as usize).collect();
        for piece in cut.split_inclusive(' ') {
            sink(piece);
        }
        let finish = match (cut.len() < whole.len(), looping) {
            (true, _) => FinishReason::Length,
            (false, true) => FinishReason::Looping,
            (false, false) => FinishReason::Complete,
        };
        let usage = Usage {
            prompt_tokens: question.prompt,
            generated_tokens: Self::tokens(&cut),
            generate_ms: self.generate_ms,
            ..Usage::default()
        };
        Ok(ChatReply::new(cut, finish, usage))
    }
}

/// What a script's answer has to keep to.
struct Question<'a> {
    prompt: u32,
    max_tokens: u32,
    stop: &'a [String],
    constraint: &'a Constraint,
}

/// Returns the log-probability of each line of a text: of equally long ones the same.
fn line_logprobs(text: &str) -> Vec<f64> {
    text.split('\n')
        .map(|line| -f64::from(ScriptedModel::tokens(line)))
        .collect()
}

/// Four tokens of template a message.
fn prompt_tokens(messages: &[Message], answer_prefix: &str) -> u32 {
    let texts: u32 = messages
        .iter()
        .map(|message| ScriptedModel::tokens(&message.content) + 4)
        .sum();
    texts + ScriptedModel::tokens(answer_prefix)
}

/// Three tokens that say what is what.
fn fill_in_tokens(before: &str, after: &str) -> u32 {
    ScriptedModel::tokens(before) + ScriptedModel::tokens(after) + 3
}
