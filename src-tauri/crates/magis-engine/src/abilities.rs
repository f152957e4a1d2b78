//! What a model can do, tried once on this machine at its first use: whether it follows a form, names the function that is
//! at fault, calls a tool, and how fast it is. A dozen short questions with one right answer each, asked without any
//! constraint, so that what comes is the model's own.
//!
//! What came of it is kept with the model, by its hash. Nothing hangs on it: it is for the person who chooses a model.

use crate::{EngineError, LoadedModel, Magis};
use magis_llm::{
    ChatReply, ChatRequest, LanguageModel, LlmError, Message, MessageRole, ToolChoice, ToolDeclaration, Tools, Usage,
};
use magis_platform::now_ms;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// What was asked and how it is judged; counted up when that changes, so that models are tried again.
const VERSION: u32 = 1;
/// How long all questions may take together; what is not asked by then is not asked.
const TIME: Duration = Duration::from_mins(1);

/// What a model could do when it was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelAbilities {
    version: u32,
    /// Answers in the form that was asked for: JSON with certain fields.
    pub form: RightAnswers,
    /// Questions which function is at fault.
    pub naming: RightAnswers,
    /// Requests for which a tool has to be called; none where the model's template has no form for tools.
    pub tools: Option<RightAnswers>,
    /// Tokens of prompts that are read in a second.
    pub reading: f64,
    /// Tokens of answers that are written in a second.
    pub writing: f64,
    /// When it was tried, in milliseconds since 1970.
    pub at_ms: i64,
}

/// How many of the questions were answered rightly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RightAnswers {
    pub right: u32,
    /// Fewer than there are where the time was over.
    pub asked: u32,
}

impl Magis {
    /// Returns what a model could do when it was tried here; none where it was not, or by other questions.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn abilities(&self, sha256: &str) -> Result<Option<ModelAbilities>, EngineError> {
        let kept: Option<ModelAbilities> = self.store.setting(&setting(sha256))?;
        Ok(kept.filter(|kept| kept.version == VERSION))
    }

    /// Returns whether a loaded model of our own was never tried here.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_new(&self, model: &LoadedModel) -> Result<bool, EngineError> {
        let sha256 = &model.model.card().sha256;
        Ok(model.worker.is_some() && !sha256.is_empty() && self.abilities(sha256)?.is_none())
    }

    /// Tries what a model can do and keeps it with the model. Takes a minute at the most, and one answer more. `tell` hears
    /// how many questions of how many are done.
    ///
    /// # Errors
    /// When the model fails, or the database cannot be written.
    pub async fn try_abilities(
        &self,
        model: &dyn LanguageModel,
        tell: &mut (dyn FnMut(usize, usize) + Send),
    ) -> Result<ModelAbilities, EngineError> {
        let abilities = tried(model, TIME, tell).await?;
        self.store.put_setting(&setting(&model.card().sha256), &abilities)?;
        Ok(abilities)
    }
}

fn setting(sha256: &str) -> String {
    format!("abilities:{sha256}")
}

async fn tried(
    model: &dyn LanguageModel,
    time: Duration,
    tell: &mut (dyn FnMut(usize, usize) + Send),
) -> Result<ModelAbilities, LlmError> {
    let begun = Instant::now();
    let mut form = RightAnswers::default();
    let mut naming = RightAnswers::default();
    let mut tools = Some(RightAnswers::default());
    let mut spent = Usage::default();
    let questions = questions();
    let all = questions.len();
    for (number, question) in questions.into_iter().enumerate() {
        tell(number, all);
        if begun.elapsed() > time {
            break;
        }
        let right = match question.kind {
            QuestionKind::Form(_) => &mut form,
            QuestionKind::Naming(_) => &mut naming,
            QuestionKind::Tool { .. } => match &mut tools {
                Some(right) => right,
                None => continue,
            },
        };
        let reply = match model.chat(&question.request, &mut |_| ()).await {
            Ok(reply) => reply,
            Err(LlmError::BadRequest { .. }) if matches!(question.kind, QuestionKind::Tool { .. }) => {
                tools = None;
                continue;
            }
            Err(error) => return Err(error),
        };
        right.asked += 1;
        right.right += u32::from(question.kind.is_right(&reply));
        spent.prompt_tokens += reply.usage.prompt_tokens;
        spent.prompt_ms += reply.usage.prompt_ms;
        spent.generated_tokens += reply.usage.generated_tokens;
        spent.generate_ms += reply.usage.generate_ms;
    }
    tell(all, all);
    let rate = |tokens: u32, milliseconds: u64| 1000.0 * f64::from(tokens) / milliseconds.max(1) as f64;
    Ok(ModelAbilities {
        version: VERSION,
        form,
        naming,
        tools,
        reading: rate(spent.prompt_tokens, spent.prompt_ms),
        writing: rate(spent.generated_tokens, spent.generate_ms),
        at_ms: now_ms(),
    })
}

struct Question {
    kind: QuestionKind,
    request: ChatRequest,
}

/// A kind of question, with its right answer.
enum QuestionKind {
    /// An object with exactly these fields, text each, but for the last, a number.
    Form([&'static str; 3]),
    /// This name, and no other of the file.
    Naming(&'static str),
    /// One call of this tool, with this argument.
    Tool {
        name: &'static str,
        argument: (&'static str, &'static str),
    },
}

impl QuestionKind {
    fn is_right(&self, reply: &ChatReply) -> bool {
        match self {
            Self::Form(fields) => object(&reply.text).is_some_and(|object| {
                object.len() == fields.len()
                    && object.get(fields[0]).is_some_and(Value::is_string)
                    && object.get(fields[1]).is_some_and(Value::is_string)
                    && object.get(fields[2]).is_some_and(Value::is_number)
            }),
            Self::Naming(name) => {
                let words = reply
                    .text
                    .split(|letter: char| !letter.is_alphanumeric() && letter != '_');
                words.filter(|word| NAMES.contains(word)).collect::<Vec<_>>() == [*name]
            }
            Self::Tool {
                name,
                argument: (argument, value),
            } => match &reply.tool_calls[..] {
                [call] => call.name == *name && call.arguments.get(*argument).and_then(Value::as_str) == Some(value),
                _ => false,
            },
        }
    }
}

/// Returns the object that a text is, alone or in a fence of code.
fn object(text: &str) -> Option<Map<String, Value>> {
    let text = text.trim();
    let inner = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    let inner = inner.and_then(|inner| inner.strip_suffix("```")).unwrap_or(text);
    serde_json::from_str(inner).ok()
}

/// The code that questions are about.
const CODE: &str = include_str!("abilities/cart.py");
/// The functions in it.
const NAMES: [&str; 6] = [
    "parse_amount",
    "format_amount",
    "add_item",
    "remove_item",
    "total",
    "apply_discount",
];

/// What is wrong, and where.
const FAULTS: [(&str, &str); 4] = [
    (
        "Prices with a thousands separator such as 1,250.00 are read as 1.",
        "parse_amount",
    ),
    (
        "Taking one of two equal books out of the cart takes both out.",
        "remove_item",
    ),
    ("The sum to pay leaves out the last line of the cart.", "total"),
    (
        "A discount of 20 percent raises the price by 20 percent.",
        "apply_discount",
    ),
];

/// Forms that are asked for: what about, and the fields.
const FORMS: [(&str, [&str; 3]); 4] = [
    ("the function total", ["name", "purpose", "lines"]),
    ("the function add_item", ["function", "returns", "parameters"]),
    ("the whole file", ["language", "summary", "functions"]),
    ("the function parse_amount", ["title", "risk", "severity"]),
];

/// Requests for which there is one right call.
const CALLS: [(&str, &str, (&str, &str)); 4] = [
    ("Show me the file src/cart.py.", "read_file", ("path", "src/cart.py")),
    (
        "Where in the repository does apply_discount appear?",
        "search",
        ("text", "apply_discount"),
    ),
    ("Open docs/prices.md, please.", "read_file", ("path", "docs/prices.md")),
    ("Find every place that says TODO.", "search", ("text", "TODO")),
];

/// Of each kind one after the other, so that of each some are asked where the time is short.
fn questions() -> Vec<Question> {
    let user = |text: String| vec![Message::new(MessageRole::User, text)];
    let about_code = |text: &str| user(format!("```python\n{CODE}```\n{text}"));
    let forms = FORMS.map(|(about, fields)| {
        let [one, other, number] = fields;
        let text = format!(
            "Describe {about}. Answer with a JSON object and nothing else. It has exactly these fields: \"{one}\" and \"{other}\", \
             each a short text, and \"{number}\", a number."
        );
        Question {
            kind: QuestionKind::Form(fields),
            request: ChatRequest::new(about_code(&text), 96),
        }
    });
    let namings = FAULTS.map(|(fault, name)| Question {
        kind: QuestionKind::Naming(name),
        request: ChatRequest::new(
            about_code(&format!(
                "A user reports: {fault} Which one function has to be changed? Answer with its name and nothing else."
            )),
            16,
        ),
    });
    let tool = |name: &str, description: &str, argument: &str| ToolDeclaration {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: json!({
            "type": "object",
            "properties": { argument: { "type": "string" } },
            "required": [argument],
        }),
    };
    let declared = vec![
        tool("read_file", "Returns the contents of a file of the repository.", "path"),
        tool(
            "search",
            "Returns the lines of the repository in which a text appears.",
            "text",
        ),
    ];
    let calls = CALLS.map(|(text, name, argument)| Question {
        kind: QuestionKind::Tool { name, argument },
        request: ChatRequest {
            tools: Tools {
                declared: declared.clone(),
                choice: ToolChoice::Free,
            },
            ..ChatRequest::new(user(text.to_owned()), 64)
        },
    });
    let kinds = forms.into_iter().zip(namings).zip(calls);
    kinds.flat_map(|((form, naming), call)| [form, naming, call]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use magis_llm::{FinishReason, ToolCall};

    fn said(text: &str) -> ChatReply {
        ChatReply::new(text.to_owned(), FinishReason::Complete, Usage::default())
    }

    #[test]
    fn a_form_is_followed_with_these_fields_alone() {
        let kind = QuestionKind::Form(["name", "purpose", "lines"]);
        let right = r#"{"name": "total", "purpose": "Adds up.", "lines": 6}"#;
        assert!(kind.is_right(&said(right)));
        assert!(kind.is_right(&said(&format!("```json\n{right}\n```\n"))));
        for wrong in [
            r#"{"name": "total", "purpose": "Adds up."}"#,
            r#"{"name": "total", "purpose": "Adds up.", "lines": "6"}"#,
            r#"{"name": "total", "purpose": "Adds up.", "lines": 6, "more": 1}"#,
            "Here it is: {}",
        ] {
            assert!(!kind.is_right(&said(wrong)), "{wrong}");
        }
        assert!(!kind.is_right(&said(&format!("Sure! {right}"))));
    }

    #[test]
    fn a_function_is_named_alone() {
        let kind = QuestionKind::Naming("total");
        assert!(kind.is_right(&said("`total`")) && kind.is_right(&said("The function total().")));
        assert!(!kind.is_right(&said("total or add_item")) && !kind.is_right(&said("subtotal")));
        for (_, name) in FAULTS {
            assert!(NAMES.contains(&name) && CODE.contains(&format!("def {name}(")));
        }
    }

    #[test]
    fn a_tool_is_called_once_with_its_argument() {
        let kind = QuestionKind::Tool {
            name: "search",
            argument: ("text", "TODO"),
        };
        let call = |name: &str, text: &str| ToolCall {
            id: ToolCall::id(1),
            name: name.to_owned(),
            arguments: Map::from_iter([("text".to_owned(), json!(text))]),
        };
        let with = |tool_calls| ChatReply { tool_calls, ..said("") };
        assert!(kind.is_right(&with(vec![call("search", "TODO")])));
        assert!(!kind.is_right(&with(vec![call("search", "FIXME")])));
        assert!(!kind.is_right(&with(vec![call("search", "TODO"), call("search", "TODO")])));
        assert!(!kind.is_right(&said("search TODO")));
    }

    #[test]
    fn every_kind_is_asked_before_any_twice() {
        let questions = questions();
        assert_eq!(questions.len(), 12);
        let names = |question: &Question| std::mem::discriminant(&question.kind);
        let first: Vec<_> = questions[..3].iter().map(names).collect();
        assert!(first[0] != first[1] && first[1] != first[2] && first[0] != first[2]);
    }
}
