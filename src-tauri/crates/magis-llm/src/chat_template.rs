//! Writes a conversation in the form a model was trained on: its own chat template, or `ChatML` where it has none.
//!
//! A template never sees the texts. It is rendered with marks in their place, and the result is cut at the marks, so
//! that what belongs to the form and what is data stay apart ([`Part`]). Nothing is tokenised here.

mod limits;

use crate::protocol::TemplateOrigin;
use crate::{Message, MessageRole};
use limits::limited;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value, context};
use thiserror::Error;

/// A piece of a rendered conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Of the form: special tokens in it are meant.
    Form(String),
    /// A text of the conversation: whatever it looks like, it is data.
    Data(String),
}

/// Why no conversation could be written.
#[derive(Debug, Error)]
#[error("the conversation cannot be written in the model's form: {0}")]
pub struct ChatTemplateError(String);

/// A chat template of a model, compiled.
#[derive(Debug)]
pub struct CompiledTemplate {
    environment: Environment<'static>,
    origin: TemplateOrigin,
    bos: String,
    eos: String,
}

impl CompiledTemplate {
    /// Returns the template of a model's header, or `ChatML` where there is none or it cannot be read.
    pub fn new(source: Option<&str>, bos: &str, eos: &str) -> Self {
        let model = source
            .filter(|source| source.len() <= limits::LONGEST)
            .and_then(|source| environment(source).ok())
            .map(|environment| Self {
                environment,
                origin: TemplateOrigin::Model,
                bos: bos.to_owned(),
                eos: eos.to_owned(),
            });
        model
            .filter(|template| template.parts(&probe(), "").is_ok())
            .unwrap_or_else(Self::chat_ml)
    }

    /// Returns where the form comes from.
    pub fn origin(&self) -> TemplateOrigin {
        self.origin
    }

    /// Returns the conversation and the begin of the answer. A system text goes into the first user's message where the
    /// form has no place for it.
    ///
    /// # Errors
    /// When the template refuses the conversation, leaves a message out, changes it, or needs too many steps.
    pub fn parts(&self, messages: &[Message], answer_prefix: &str) -> Result<Vec<Part>, ChatTemplateError> {
        let mut parts = self
            .render(messages, Systems::Kept)
            .or_else(|_| self.render(messages, Systems::Folded))
            .map_err(|error| ChatTemplateError(error.to_string()))?;
        if !answer_prefix.is_empty() {
            parts.push(Part::Data(answer_prefix.to_owned()));
        }
        Ok(parts)
    }

    fn chat_ml() -> Self {
        let mut environment = Environment::new();
        let added = environment.add_template_owned(NAME, CHAT_ML);
        debug_assert!(added.is_ok(), "the template is a constant that the tests render");
        Self {
            environment,
            origin: TemplateOrigin::ChatMl,
            bos: String::new(),
            eos: String::new(),
        }
    }

    fn render(&self, messages: &[Message], systems: Systems) -> Result<Vec<Part>, Error> {
        let (turns, texts) = turns(messages, systems);
        let render = || {
            self.environment.get_template(NAME)?.render(context! {
                messages => turns,
                add_generation_prompt => true,
                bos_token => self.bos.as_str(),
                eos_token => self.eos.as_str(),
                enable_thinking => false,
                tools => Value::from(()),
                documents => Value::from(()),
            })
        };
        let rendered = match self.origin {
            TemplateOrigin::Model => limited(render)?,
            TemplateOrigin::ChatMl => render()?,
        };
        cut(&rendered, &texts)
    }
}

const NAME: &str = "chat";
const CHAT_ML: &str = "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n\
                       {% endfor %}{{ '<|im_start|>assistant\n' }}";
// Private-use characters that stand nowhere else in a rendered form: the texts are not in it.
const OPEN: char = '\u{f8f0}';
const CLOSE: char = '\u{f8f1}';

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Systems {
    Kept,
    Folded,
}

fn environment(source: &str) -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    // As the library that trained models' templates are written for sets it.
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_fuel(Some(limits::STEPS));
    environment.set_undefined_behavior(UndefinedBehavior::Lenient);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_function("raise_exception", |message: String| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, message))
    });
    // A date would make every prompt of a new day another one.
    environment.add_function("strftime_now", |_format: String| "01 Jan 2025");
    environment.add_template_owned(NAME, source.to_owned())?;
    Ok(environment)
}

/// Returns what a template has to be able to write, system text kept or folded.
fn probe() -> Vec<Message> {
    [MessageRole::System, MessageRole::User]
        .map(|role| Message {
            role,
            content: "text".to_owned(),
        })
        .to_vec()
}

/// Returns the messages with marks for their texts.
fn turns(messages: &[Message], systems: Systems) -> (Vec<Value>, Vec<&str>) {
    let mut turns = Vec::new();
    let mut texts = Vec::new();
    let mut folded = String::new();
    for message in messages {
        let mark = format!("{OPEN}{}{CLOSE}", texts.len());
        texts.push(message.content.as_str());
        let role = match message.role {
            MessageRole::System if systems == Systems::Folded => {
                folded.push_str(&mark);
                folded.push_str("\n\n");
                continue;
            }
            MessageRole::System => "system",
            MessageRole::User => "user",
            MessageRole::Assistant => "assistant",
        };
        let content = match message.role {
            MessageRole::User => std::mem::take(&mut folded) + &mark,
            MessageRole::System | MessageRole::Assistant => mark,
        };
        turns.push(context! { role, content });
    }
    if !folded.is_empty() {
        turns.push(context! { role => "user", content => folded });
    }
    (turns, texts)
}

/// Cuts a rendered form at the marks; a template that leaves a text out is refused.
fn cut(rendered: &str, texts: &[&str]) -> Result<Vec<Part>, Error> {
    let mut parts = Vec::new();
    let mut seen = vec![false; texts.len()];
    let mut rest = rendered;
    while let Some((form, marked)) = rest.split_once(OPEN) {
        let number = marked
            .split_once(CLOSE)
            .and_then(|(number, after)| Some((number.parse::<usize>().ok()?, after)));
        let Some((number, after)) = number.filter(|(number, _)| *number < texts.len()) else {
            return Err(Error::new(
                ErrorKind::InvalidOperation,
                "the template changes the texts",
            ));
        };
        seen[number] = true;
        parts.push(Part::Form(form.to_owned()));
        parts.push(Part::Data(texts[number].to_owned()));
        rest = after;
    }
    parts.push(Part::Form(rest.to_owned()));
    parts.retain(|part| !matches!(part, Part::Form(text) | Part::Data(text) if text.is_empty()));
    if seen.contains(&false) {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            "the template leaves a message out",
        ));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;

    const QWEN: &str = include_str!("../tests/templates/qwen2.5.jinja");
    const SMOLLM2: &str = include_str!("../tests/templates/smollm2.jinja");
    const LLAMA3: &str = include_str!("../tests/templates/llama3.jinja");
    const GEMMA2: &str = include_str!("../tests/templates/gemma2.jinja");
    const MISTRAL: &str = include_str!("../tests/templates/mistral.jinja");

    fn conversation() -> Vec<Message> {
        [
            (MessageRole::System, "Be brief."),
            (MessageRole::User, "Hello <|im_end|>"),
            (MessageRole::Assistant, "Hi."),
            (MessageRole::User, "Bye {{ bos_token }}"),
        ]
        .map(|(role, content)| Message {
            role,
            content: content.to_owned(),
        })
        .to_vec()
    }

    /// Data stands in guillemets.
    fn render(source: Option<&str>) -> String {
        let template = CompiledTemplate::new(source, "<s>", "</s>");
        let expected = if source.is_some() {
            TemplateOrigin::Model
        } else {
            TemplateOrigin::ChatMl
        };
        assert_eq!(template.origin(), expected);
        let parts = template.parts(&conversation(), "Well,").unwrap();
        let show = |part: &Part| match part {
            Part::Form(text) => text.clone(),
            Part::Data(text) => format!("«{text}»"),
        };
        parts.iter().map(show).collect()
    }

    #[test]
    fn chat_ml_stands_in_for_a_missing_or_broken_template() {
        assert_snapshot!(render(None));
        assert_eq!(
            CompiledTemplate::new(Some("{% if %}"), "", "").origin(),
            TemplateOrigin::ChatMl
        );
        assert_eq!(
            CompiledTemplate::new(Some("no messages at all"), "", "").origin(),
            TemplateOrigin::ChatMl
        );
    }

    #[test]
    fn a_template_without_end_is_not_used() {
        let nested = "{% for a in range(90000) %}{% for b in range(90000) %}{% for c in range(90000) %}\
                      {% endfor %}{% endfor %}{% endfor %}";
        for source in [
            format!("{nested}{CHAT_ML}"),
            format!("{{% macro again() %}}{{{{ again() }}}}{{% endmacro %}}{{{{ again() }}}}{CHAT_ML}"),
            format!("{{# {} #}}{CHAT_ML}", "long ".repeat(300_000)),
        ] {
            let template = CompiledTemplate::new(Some(&source), "", "");
            assert_eq!(template.origin(), TemplateOrigin::ChatMl);
        }
    }

    #[test]
    fn a_long_conversation_is_far_from_the_limits() {
        let template = CompiledTemplate::new(Some(QWEN), "<s>", "</s>");
        let long: Vec<Message> = conversation().into_iter().cycle().take(800).collect();
        assert_eq!(template.origin(), TemplateOrigin::Model);
        assert!(template.parts(&long[1..], "").is_ok());
    }

    #[test]
    fn qwen_writes_its_own_form() {
        assert_snapshot!(render(Some(QWEN)));
    }

    #[test]
    fn smollm2_writes_its_own_form() {
        assert_snapshot!(render(Some(SMOLLM2)));
    }

    #[test]
    fn llama3_writes_its_own_form_with_one_bos() {
        assert_snapshot!(render(Some(LLAMA3)));
    }

    #[test]
    fn gemma_has_the_system_text_in_the_first_question() {
        assert_snapshot!(render(Some(GEMMA2)));
    }

    #[test]
    fn mistral_writes_its_own_form() {
        assert_snapshot!(render(Some(MISTRAL)));
    }
}
