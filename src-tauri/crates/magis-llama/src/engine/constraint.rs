//! What an answer has to look like, as a mask over the vocabulary for every step (llguidance).
//!
//! The matcher stays on this side of the border to llama.cpp, whose own grammars abort the process when they are stuck.

use super::native::Token;
use super::prompt::Tokenizer;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;
use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use magis_llm::tool_format::{AnswerForm, GrammarError};
use magis_llm::{ChatRequest, Constraint, number_between};
use serde_json::{Value, json};
use std::sync::Arc;
use thiserror::Error;
use toktrie::{InferenceCapabilities, SimpleVob, TokEnv, TokRxInfo, TokTrie, TokenizerEnv};

/// Why a constraint cannot be used.
#[derive(Debug, Error)]
pub enum ConstraintError {
    /// There is nothing to choose from.
    #[error("a choice among no texts, or with an empty text, is no choice")]
    NoChoice,
    /// The interval of line numbers is empty.
    #[error("there are no line intervals: lines {first} to {last}, at most {most}")]
    NoLines { first: u32, last: u32, most: u32 },
    #[error("the constraint cannot be followed: {0}")]
    Grammar(String),
    #[error(transparent)]
    Tools(#[from] GrammarError),
    /// Tools have a grammar of their own.
    #[error("a request with tools has neither a constraint nor the begin of an answer")]
    ToolsAndMore,
}

/// Makes constraints for one vocabulary.
pub struct Constraints {
    factory: ParserFactory,
}

/// A constraint while an answer is generated.
pub struct Rail {
    matcher: Matcher,
}

impl Constraints {
    /// For a model's vocabulary; walks through it once.
    pub fn of_model(model: &Arc<LlamaModel>) -> Result<Self, ConstraintError> {
        Self::of_vocabulary(&(Arc::new(ModelVocabulary::new(model)) as TokEnv))
    }

    fn of_vocabulary(vocabulary: &TokEnv) -> Result<Self, ConstraintError> {
        let capabilities = InferenceCapabilities {
            ff_tokens: true,
            ..InferenceCapabilities::default()
        };
        let slices = llguidance::earley::SlicedBiasComputer::general_slices();
        let mut factory = ParserFactory::new(vocabulary, capabilities, &slices).map_err(refused)?;
        factory.quiet();
        Ok(Self { factory })
    }

    /// Returns the rail of a constraint; none where anything goes.
    pub fn rail(&self, constraint: &Constraint) -> Result<Option<Rail>, ConstraintError> {
        grammar(constraint)?.map(|grammar| self.follow(grammar)).transpose()
    }

    /// Returns the rail of an answer that may call tools, by its grammar ([`call_grammar`]).
    pub fn call_rail(&self, grammar: String) -> Result<Rail, ConstraintError> {
        self.follow(TopLevelGrammar::from_lark(grammar))
    }

    fn follow(&self, grammar: TopLevelGrammar) -> Result<Rail, ConstraintError> {
        let matcher = Matcher::new(self.factory.create_parser(grammar));
        match matcher.get_error() {
            Some(error) => Err(ConstraintError::Grammar(error)),
            None => Ok(Rail { matcher }),
        }
    }
}

/// Returns the grammar of an answer that may call tools; none where there are none.
pub fn call_grammar(
    request: &ChatRequest,
    form: &AnswerForm,
    tokenizer: &Tokenizer,
) -> Result<Option<String>, ConstraintError> {
    if request.tools.is_empty() {
        return Ok(None);
    }
    if request.constraint != Constraint::None || !request.answer_prefix.is_empty() {
        return Err(ConstraintError::ToolsAndMore);
    }
    let special = |text: &str| tokenizer.special(text).map(Token::cast_unsigned);
    Ok(Some(form.format.grammar(&request.tools, &special)?))
}

impl Rail {
    /// Sets the logits of all tokens that must not come now to minus infinity.
    pub fn mask(&mut self, logits: &mut [f32]) -> Result<(), ConstraintError> {
        let mask: SimpleVob = self.matcher.compute_mask_or_eos().map_err(refused)?;
        let known = mask.len().min(logits.len());
        let (inside, outside) = logits.split_at_mut(known);
        mask.iter_unset_entries(|token| {
            if let Some(logit) = inside.get_mut(token) {
                *logit = f32::NEG_INFINITY;
            }
        });
        outside.fill(f32::NEG_INFINITY);
        Ok(())
    }

    /// Takes the token that came, and gives those that can only follow it.
    pub fn accept(&mut self, token: Token) -> Result<Vec<Token>, ConstraintError> {
        self.matcher.consume_token(token.cast_unsigned()).map_err(refused)?;
        if self.matcher.is_stopped() {
            return Ok(Vec::new());
        }
        Ok(self
            .matcher
            .consume_ff_tokens()
            .into_iter()
            .map(u32::cast_signed)
            .collect())
    }

    /// Returns tokens that the answer can only begin with.
    pub fn begin(&mut self) -> Vec<Token> {
        self.matcher
            .consume_ff_tokens()
            .into_iter()
            .map(u32::cast_signed)
            .collect()
    }

    /// Returns whether nothing can follow any more.
    pub fn is_done(&self) -> bool {
        self.matcher.is_stopped()
    }
}

fn refused(error: impl std::fmt::Display) -> ConstraintError {
    ConstraintError::Grammar(error.to_string())
}

fn grammar(constraint: &Constraint) -> Result<Option<TopLevelGrammar>, ConstraintError> {
    match constraint {
        Constraint::None => Ok(None),
        Constraint::OneOf(choices) if choices.is_empty() || choices.iter().any(String::is_empty) => {
            Err(ConstraintError::NoChoice)
        }
        Constraint::OneOf(choices) => {
            let regex: Vec<String> = choices.iter().map(|choice| literal(choice)).collect();
            Ok(Some(TopLevelGrammar::from_regex(&regex.join("|"))))
        }
        Constraint::LineRanges { first, last, most } if first > last || *most == 0 => Err(ConstraintError::NoLines {
            first: *first,
            last: *last,
            most: *most,
        }),
        Constraint::LineRanges { first, last, most } => {
            let number = format!("({})", number_between(*first, *last));
            let range = format!("{number}-{number}");
            Ok(Some(TopLevelGrammar::from_regex(&format!(
                "{range}(, {range}){{0,{}}}",
                most - 1
            ))))
        }
        Constraint::JsonSchema(schema) => {
            let mut schema = schema.clone();
            if let Value::Object(fields) = &mut schema {
                // Free white space is where small models lose themselves.
                let layout = json!({ "whitespace_flexible": false, "item_separator": ", ", "key_separator": ": " });
                fields.insert("x-guidance".to_owned(), layout);
            }
            Ok(Some(TopLevelGrammar::from_json_schema(schema)))
        }
    }
}

/// Returns a regular expression for exactly this text.
fn literal(text: &str) -> String {
    let mut regex = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\n' => regex.push_str("\\n"),
            '\r' => regex.push_str("\\r"),
            '\t' => regex.push_str("\\t"),
            _ if "\\.+*?()|[]{}^$#&-~/\"'".contains(character) => regex.extend(['\\', character]),
            _ => regex.push(character),
        }
    }
    regex
}

/// A model's vocabulary, tokenised by the model's own tokenizer, so that forced text has the tokens the model expects.
struct ModelVocabulary {
    model: Arc<LlamaModel>,
    trie: TokTrie,
}

impl ModelVocabulary {
    fn new(model: &Arc<LlamaModel>) -> Self {
        let vocab = model.vocab();
        let end = if vocab.eot().0 < 0 { vocab.eos() } else { vocab.eot() };
        let mut ends = vec![end.0.max(0).cast_unsigned()];
        let mut words = Vec::with_capacity(vocab.n_tokens().max(0) as usize);
        for token in vocab.tokens() {
            if vocab.is_eog(token) && token != end {
                ends.push(token.0.cast_unsigned());
            }
            let bytes = vocab.token_to_piece(token, false, None);
            let special = bytes.is_empty() || vocab.is_control(token) || vocab.is_eog(token);
            words.push(if special {
                marked(&vocab.token_to_piece(token, true, None))
            } else {
                bytes
            });
        }
        let info = TokRxInfo::new(words.len() as u32, ends[0]);
        Self {
            model: Arc::clone(model),
            trie: TokTrie::from(&info, &words).with_eos_tokens(&ends),
        }
    }
}

/// toktrie's way to write a special token.
fn marked(bytes: &[u8]) -> Vec<u8> {
    if bytes.is_empty() {
        Vec::new()
    } else {
        [&[TokTrie::SPECIAL_TOKEN_MARKER], bytes].concat()
    }
}

impl TokenizerEnv for ModelVocabulary {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<u32> {
        let tokenize = |text: &str| -> Vec<u32> {
            let tokens = self.model.vocab().tokenize(text.as_bytes(), false, false);
            tokens
                .into_iter()
                .map(|LlamaToken(token)| token.cast_unsigned())
                .collect()
        };
        self.trie.tokenize_with_greedy_fallback(bytes, tokenize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toktrie::ApproximateTokEnv;

    const END: Token = 261;

    /// Returns whether the constraint lets this text pass as a whole answer, over a vocabulary of single bytes.
    fn passes(constraint: &Constraint, text: &str) -> bool {
        let constraints = Constraints::of_vocabulary(&ApproximateTokEnv::single_byte_env()).unwrap();
        let mut rail = constraints.rail(constraint).unwrap().unwrap();
        let mut waiting: Vec<Token> = rail.begin();
        for token in text.bytes().map(Token::from) {
            if !waiting.is_empty() {
                if waiting.remove(0) != token {
                    return false;
                }
                continue;
            }
            let mut logits = vec![0.0; 262];
            if rail.is_done() || rail.mask(&mut logits).is_err() || logits[token as usize] < 0.0 {
                return false;
            }
            waiting = rail.accept(token).unwrap();
        }
        let mut logits = vec![0.0; 262];
        waiting.is_empty() && (rail.is_done() || (rail.mask(&mut logits).is_ok() && logits[END as usize] == 0.0))
    }

    fn check(constraint: &Constraint, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(passes(constraint, text), "{constraint:?} must allow {text:?}");
        }
        for text in bad {
            assert!(!passes(constraint, text), "{constraint:?} must not allow {text:?}");
        }
    }

    #[test]
    fn one_of_allows_exactly_the_given_texts() {
        let choices = ["src/a.py", "src/a.pyi", "x [0-9]\n(é)"].map(str::to_owned).to_vec();
        check(
            &Constraint::OneOf(choices),
            &["src/a.py", "src/a.pyi", "x [0-9]\n(é)"],
            &["src/a.p", "src/axpy", "x 1", "src/a.pyx", ""],
        );
    }

    #[test]
    fn line_ranges_stay_within_the_lines_and_the_count() {
        check(
            &Constraint::LineRanges {
                first: 8,
                last: 112,
                most: 2,
            },
            &["8-8", "9-112", "10-99, 100-101", "112-8"],
            &[
                "7-9",
                "8-113",
                "8",
                "8-9,10-11",
                "8-9, 10-11, 12-13",
                "08-9",
                "1000-1001",
                "",
            ],
        );
        check(
            &Constraint::LineRanges {
                first: 5,
                last: 5,
                most: 1,
            },
            &["5-5"],
            &["5-6", "5-5, 5-5"],
        );
    }

    #[test]
    fn a_json_schema_allows_its_values_without_free_space() {
        let schema = json!({
            "type": "object",
            "properties": { "decision": { "enum": ["yes", "no"] }, "why": { "type": "string" } },
            "required": ["decision", "why"],
            "additionalProperties": false,
        });
        check(
            &Constraint::JsonSchema(schema),
            &[r#"{"decision": "yes", "why": "a \"b\""}"#],
            &[
                r#"{"decision": "maybe", "why": ""}"#,
                r#"{"decision": "yes"}"#,
                r#"{ "decision": "yes", "why": ""}"#,
            ],
        );
    }

    #[test]
    fn impossible_constraints_are_refused() {
        let constraints = Constraints::of_vocabulary(&ApproximateTokEnv::single_byte_env()).unwrap();
        for constraint in [
            Constraint::OneOf(Vec::new()),
            Constraint::LineRanges {
                first: 3,
                last: 2,
                most: 1,
            },
            Constraint::JsonSchema(json!({ "type": "nonsense" })),
        ] {
            assert!(constraints.rail(&constraint).is_err(), "{constraint:?}");
        }
        assert!(constraints.rail(&Constraint::None).unwrap().is_none());
    }
}
