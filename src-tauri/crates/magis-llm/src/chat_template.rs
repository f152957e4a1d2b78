//! Writes a conversation in the form a model was trained on: its own chat template, or `ChatML` where it has none.
//!
//! A template never sees the texts. It is rendered with marks in their place, and the result is cut at the marks, so
//! that what belongs to the form and what is data stay apart ([`Part`]): a text in a message, a result, an argument or a description
//! never becomes a special token. Nothing is tokenised here.

mod limits;
mod marks;
mod plain;
mod python;
mod turns;

use crate::protocol::TemplateOrigin;
use crate::tool_format::{AnswerBegin, AnswerForm, ThinkingForm, ToolFormat, WithTools, thinking_form};
use crate::{Message, MessageRole, Thinking, ToolCall, ToolDeclaration};
use limits::limited;
use marks::Marks;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, UndefinedBehavior, Value, context};
use serde_json::{Map, json};
use std::borrow::Cow;
use thiserror::Error;
use turns::{Arguments, Systems, Thoughts};

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

/// What is to be written.
#[derive(Debug, Clone, Copy, Default)]
pub struct Conversation<'a> {
    pub messages: &'a [Message],
    pub tools: &'a [ToolDeclaration],
    pub thinking: Thinking,
}

/// A written conversation, up to where the answer begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenConversation {
    /// What the model's template makes of it.
    pub parts: Vec<Part>,
    /// The begin of the answer that says whether the model thinks; of the form, and mostly empty: templates say it themselves.
    pub opening: String,
    /// How the answer is read.
    pub answer: AnswerForm,
}

/// A chat template of a model, compiled.
#[derive(Debug)]
pub struct CompiledTemplate {
    environment: Environment<'static>,
    source: String,
    origin: TemplateOrigin,
    // The syntax of the calls that the template itself writes.
    format: Option<ToolFormat>,
    declarations: Declarations,
    thinks: bool,
    bos: String,
    eos: String,
}

impl CompiledTemplate {
    /// Returns the template of a model's header, or `ChatML` where there is none or it cannot be read.
    pub fn new(source: Option<&str>, bos: &str, eos: &str) -> Self {
        let model = source
            .filter(|source| source.len() <= limits::LONGEST)
            .and_then(|source| Some((environment(source).ok()?, source)))
            .map(|(environment, source)| Self {
                environment,
                source: source.to_owned(),
                origin: TemplateOrigin::Model,
                format: ToolFormat::of_template(source),
                declarations: Declarations::Written,
                thinks: false,
                bos: bos.to_owned(),
                eos: eos.to_owned(),
            });
        let Some(mut template) = model.filter(|template| template.parts(&probe(), "").is_ok()) else {
            return Self::chat_ml();
        };
        if template.format.is_some() && !template.writes_tools(Declarations::Written) {
            template.declarations = Declarations::Text;
            template.format = template.format.filter(|_| template.writes_tools(Declarations::Text));
        }
        template.thinks = template.says_whether_to_think();
        template
    }

    /// Returns where the form comes from.
    pub fn origin(&self) -> TemplateOrigin {
        self.origin
    }

    /// Returns the syntax of the model's calls; none where it is told one, as text.
    pub fn tool_format(&self) -> Option<ToolFormat> {
        self.format
    }

    /// Returns the conversation and the begin of the answer, without tools and without thinking. A system text goes into the first
    /// user's message where the form has no place for it.
    ///
    /// # Errors
    /// When the template refuses the conversation, leaves a message out, changes it, or needs too many steps.
    pub fn parts(&self, messages: &[Message], answer_prefix: &str) -> Result<Vec<Part>, ChatTemplateError> {
        let prompt = self.prompt(&Conversation {
            messages,
            ..Conversation::default()
        })?;
        let mut parts = prompt.parts;
        parts.push(Part::Form(prompt.opening));
        parts.push(Part::Data(answer_prefix.to_owned()));
        parts.retain(|part| !matches!(part, Part::Form(text) | Part::Data(text) if text.is_empty()));
        Ok(parts)
    }

    /// Returns the conversation as it is written, and how the answer is read. Tools become text where the template has no place for them
    /// or writes calls in a syntax that is not known.
    ///
    /// # Errors
    /// When the template refuses the conversation, leaves a message out, changes it, or needs too many steps.
    pub fn prompt(&self, conversation: &Conversation) -> Result<WrittenConversation, ChatTemplateError> {
        let Conversation { tools, thinking, .. } = *conversation;
        let (messages, native) = match (self.format, self.declarations) {
            (Some(_), Declarations::Written) => (Cow::Borrowed(conversation.messages), tools),
            (Some(_), Declarations::Text) if tools.is_empty() => (Cow::Borrowed(conversation.messages), tools),
            (Some(_), Declarations::Text) => (
                Cow::Owned(plain::with_declarations(conversation.messages, tools)),
                &[][..],
            ),
            (None, _) => (Cow::Owned(plain::without_tools(conversation.messages, tools)), &[][..]),
        };
        let parts = self
            .render_somehow(&messages, native, thinking)
            .map_err(|error| ChatTemplateError(error.to_string()))?;
        let with_tools = if tools.is_empty() {
            WithTools::No
        } else {
            WithTools::Yes
        };
        let format = self
            .format
            .or_else(|| ToolFormat::of_template(&self.source).filter(|_| tools.is_empty()));
        let format = format.unwrap_or(ToolFormat::Hermes);
        let form = thinking_form(&self.source, format, with_tools);
        let (opening, begins) = match form.filter(|_| self.thinks) {
            Some(form) => opening(&parts, format, form, with_tools, thinking),
            None => (String::new(), AnswerBegin::Text),
        };
        Ok(WrittenConversation {
            parts,
            opening,
            answer: AnswerForm {
                format,
                thinking: form,
                begins,
                earlier_calls: conversation
                    .messages
                    .iter()
                    .map(|message| message.tool_calls.len())
                    .sum(),
            },
        })
    }

    fn chat_ml() -> Self {
        let mut environment = Environment::new();
        let added = environment.add_template_owned(NAME, CHAT_ML);
        debug_assert!(added.is_ok(), "the template is a constant that the tests render");
        Self {
            environment,
            source: CHAT_ML.to_owned(),
            origin: TemplateOrigin::ChatMl,
            format: None,
            declarations: Declarations::Text,
            thinks: false,
            bos: String::new(),
            eos: String::new(),
        }
    }

    /// Returns whether the template has a place for calls and results, and for declarations where it is to write them.
    fn writes_tools(&self, declarations: Declarations) -> bool {
        let tool = ToolDeclaration {
            name: "look".to_owned(),
            description: "text".to_owned(),
            parameters: json!({ "type": "object", "properties": { "at": { "type": "string" } } }),
        };
        let call = ToolCall {
            id: ToolCall::id(0),
            name: tool.name.clone(),
            arguments: Map::from_iter([("at".to_owned(), json!("text"))]),
        };
        let mut messages = probe();
        let result = Message::result(&call, "text");
        messages.push(Message {
            tool_calls: vec![call],
            ..Message::new(MessageRole::Assistant, "")
        });
        messages.push(result);
        let declared = match declarations {
            Declarations::Written => &[tool][..],
            Declarations::Text => &[],
        };
        self.render_somehow(&messages, declared, Thinking::Off).is_ok()
    }

    /// Returns whether the template tells the model to think, or not to.
    fn says_whether_to_think(&self) -> bool {
        let format = self.format.unwrap_or(ToolFormat::Hermes);
        let Some(form) = thinking_form(&self.source, format, WithTools::No) else {
            return false;
        };
        let [off, on] = [Thinking::Off, Thinking::On { budget: 1 }].map(|thinking| {
            let parts = self.render_somehow(&probe(), &[], thinking).unwrap_or_default();
            parts.iter().map(Part::text).collect::<String>()
        });
        format == ToolFormat::Harmony || off != on || on.trim_end().ends_with(form.open.trim_end())
    }

    /// Renders as the model was trained, where its template takes that, and else in the next best way.
    fn render_somehow(
        &self,
        messages: &[Message],
        tools: &[ToolDeclaration],
        thinking: Thinking,
    ) -> Result<Vec<Part>, Error> {
        let mut refused = None;
        for thoughts in [Thoughts::Kept, Thoughts::LeftOut] {
            for arguments in [Arguments::Values, Arguments::Json] {
                for systems in [Systems::Kept, Systems::Folded] {
                    let turns::Written { turns, tools, marks } =
                        turns::write(messages, tools, systems, arguments, thoughts);
                    match self.render(turns, tools, &marks, thinking) {
                        Ok(parts) => return Ok(parts),
                        Err(error) => _ = refused.get_or_insert(error),
                    }
                    if messages.iter().all(|message| message.role != MessageRole::System) {
                        break;
                    }
                }
                if messages.iter().all(|message| message.tool_calls.is_empty()) {
                    break;
                }
            }
            if messages.iter().all(|message| message.thinking.is_empty()) {
                break;
            }
        }
        Err(refused.unwrap_or_else(|| Error::from(minijinja::ErrorKind::InvalidOperation)))
    }

    fn render(&self, turns: Value, tools: Value, marks: &Marks, thinking: Thinking) -> Result<Vec<Part>, Error> {
        let thinks = !thinking.is_off();
        // It knows no answer without thinking, but one with little.
        let effort = (self.format == Some(ToolFormat::Harmony) && !thinks).then_some("low");
        let render = || {
            let variables = context! {
                messages => turns,
                tools => tools,
                documents => Value::from(()),
                add_generation_prompt => true,
                bos_token => self.bos.as_str(),
                eos_token => self.eos.as_str(),
                enable_thinking => thinks,
                thinking => thinks,
            };
            let variables = match effort {
                Some(reasoning_effort) => context! { reasoning_effort, ..variables },
                None => variables,
            };
            self.environment.get_template(NAME)?.render(variables)
        };
        let rendered = match self.origin {
            TemplateOrigin::Model => limited(render)?,
            TemplateOrigin::ChatMl => render()?,
        };
        marks.cut(&rendered)
    }
}

/// Who writes the declarations of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Declarations {
    Written,
    /// Nobody: they are text of the system's message.
    Text,
}

impl WrittenConversation {
    /// Returns all that the model reads, its answer's begin included.
    pub fn whole(self) -> Vec<Part> {
        let opening = (!self.opening.is_empty()).then_some(Part::Form(self.opening));
        self.parts.into_iter().chain(opening).collect()
    }
}

impl Part {
    /// Returns the text, whatever it is.
    pub fn text(&self) -> &str {
        match self {
            Self::Form(text) | Self::Data(text) => text,
        }
    }
}

const NAME: &str = "chat";
const CHAT_ML: &str = "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n\
                       {% endfor %}{{ '<|im_start|>assistant\n' }}";

fn environment(source: &str) -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    // As the library that trained models' templates are written for sets it.
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_fuel(Some(limits::STEPS));
    environment.set_undefined_behavior(UndefinedBehavior::Lenient);
    python::set_up(&mut environment);
    environment.add_template_owned(NAME, python::without_tracking(source))?;
    Ok(environment)
}

/// Returns what a template has to be able to write, system text kept or folded.
fn probe() -> Vec<Message> {
    [MessageRole::System, MessageRole::User]
        .map(|role| Message::new(role, "text"))
        .to_vec()
}

/// Returns what has to stand behind a rendered conversation so that the model thinks or does not, and where its answer begins.
fn opening(
    parts: &[Part],
    format: ToolFormat,
    form: ThinkingForm,
    tools: WithTools,
    thinking: Thinking,
) -> (String, AnswerBegin) {
    let end = match parts.last() {
        Some(Part::Form(text)) => text.as_str(),
        Some(Part::Data(_)) | None => "",
    };
    let opened = end.trim_end().ends_with(form.open.trim_end());
    match thinking {
        Thinking::On { .. } if opened => (String::new(), AnswerBegin::Thinking),
        Thinking::On { .. } => (form.open.to_owned(), AnswerBegin::Thinking),
        Thinking::Off if opened => (form.none_thought(end), AnswerBegin::Text),
        Thinking::Off if format == ToolFormat::Harmony && tools == WithTools::No => {
            ("<|channel|>final<|message|>".to_owned(), AnswerBegin::Text)
        }
        Thinking::Off => (String::new(), AnswerBegin::Text),
    }
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
        .map(|(role, content)| Message::new(role, content))
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
