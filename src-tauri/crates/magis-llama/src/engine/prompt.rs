//! Texts into tokens and back, so that text which is data can never become a special token.

use super::native::Token;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::vocab::VocabType;
use magis_llm::chat_template::{ChatTemplateError, CompiledTemplate, Conversation, Part};
use magis_llm::protocol::TemplateOrigin;
use magis_llm::tool_format::AnswerForm;
use magis_llm::{ChatRequest, Message};
use std::sync::Arc;

/// A model's tokenizer together with its chat template.
pub struct Tokenizer {
    model: Arc<LlamaModel>,
    template: CompiledTemplate,
    bos: Option<Token>,
    // Text in front of a piece that keeps a SentencePiece vocabulary from putting a space before it, with its tokens.
    anchor: Option<Vec<Token>>,
    gap: Option<GapMarks>,
    specials: Vec<String>,
}

/// The tokens that ask for a text between two others.
#[derive(Debug, Clone, Copy)]
enum GapMarks {
    /// Before the text up to the gap, before the text from the gap on, and behind both.
    BeforeFirst { before: Token, after: Token, fill: Token },
    /// Before the text from the gap on, which comes first, and before the text up to the gap, which the answer continues.
    AfterFirst { before: Token, after: Token },
}

impl Tokenizer {
    /// Returns the tokenizer of a model.
    pub fn new(model: &Arc<LlamaModel>) -> Self {
        let vocab = model.vocab();
        let text = |token: LlamaToken| {
            vocab
                .text(token)
                .map(|text| text.to_string_lossy().into_owned())
                .filter(|_| token.0 >= 0)
        };
        let source = model
            .chat_template(None)
            .ok()
            .and_then(|template| template.to_string().ok());
        let known = |token: LlamaToken| {
            if token.0 < 0 {
                String::new()
            } else {
                text(token).unwrap_or_default()
            }
        };
        let template = CompiledTemplate::new(source.as_deref(), &known(vocab.bos()), &known(vocab.eos()));
        let spaced = vocab.vocab_type() == VocabType::SPM
            && model.meta_val_str("tokenizer.ggml.add_space_prefix").as_deref() != Ok("false");
        let anchor = spaced.then(|| raw(&vocab.tokenize(ANCHOR.as_bytes(), false, false)));
        let special = |token: &LlamaToken| vocab.is_control(*token) || vocab.is_eog(*token);
        let specials = vocab
            .tokens()
            .filter(special)
            .filter_map(text)
            .filter(|text| !text.is_empty())
            .collect();
        let bos = vocab.should_add_bos().then(|| vocab.bos().0).filter(|bos| *bos >= 0);
        Self {
            model: Arc::clone(model),
            template,
            bos,
            anchor,
            gap: gap_marks(model),
            specials,
        }
    }

    /// Returns where the form of a conversation comes from.
    pub fn template_origin(&self) -> TemplateOrigin {
        self.template.origin()
    }

    /// Returns the prompt of a conversation, with one token for the begin of text where the model wants it.
    pub fn prompt(&self, messages: &[Message], answer_prefix: &str) -> Result<Vec<Token>, ChatTemplateError> {
        Ok(self.tokens(self.template.parts(messages, answer_prefix)?))
    }

    /// Returns the prompt of a request, with its tools and whether the model thinks, and how the answer is read.
    pub fn request(&self, request: &ChatRequest) -> Result<(Vec<Token>, AnswerForm), ChatTemplateError> {
        let prompt = self.template.prompt(&Conversation {
            messages: &request.messages,
            tools: &request.tools.declared,
            thinking: request.thinking,
        })?;
        let answer = prompt.answer;
        let mut parts = prompt.whole();
        parts.push(Part::Data(request.answer_prefix.clone()));
        Ok((self.tokens(parts), answer))
    }

    fn tokens(&self, parts: Vec<Part>) -> Vec<Token> {
        let mut tokens: Vec<Token> = Vec::new();
        for part in parts {
            match part {
                Part::Form(text) => tokens.extend(self.form(&text)),
                Part::Data(text) => tokens.extend(self.data(&text)),
            }
        }
        if let Some(bos) = self.bos {
            let there = tokens.iter().take_while(|token| **token == bos).count();
            tokens.drain(..there);
            tokens.insert(0, bos);
        }
        tokens
    }

    /// Returns tokens of a text of the form, in which special ones are meant.
    pub fn form(&self, text: &str) -> Vec<Token> {
        raw(&self.model.vocab().tokenize(text.as_bytes(), false, true))
    }

    /// Returns the special token that is this text; none where the text is plain to the vocabulary.
    pub fn special(&self, text: &str) -> Option<Token> {
        match self.form(text).as_slice() {
            [token] if self.is_special(*token) => Some(*token),
            _ => None,
        }
    }

    /// Returns the prompt that asks for the text between two others; none where the vocabulary has no tokens for it.
    pub fn fill_in(&self, before: &str, after: &str) -> Option<Vec<Token>> {
        let (before, after) = (self.data(before), self.data(after));
        let parts = match self.gap? {
            GapMarks::BeforeFirst {
                before: prefix,
                after: suffix,
                fill,
            } => [vec![prefix], before, vec![suffix], after, vec![fill]],
            GapMarks::AfterFirst {
                before: prefix,
                after: suffix,
            } => [vec![suffix], after, vec![prefix], before, Vec::new()],
        };
        Some(self.bos.into_iter().chain(parts.concat()).collect())
    }

    /// Returns whether it has tokens that ask for a text between two others.
    pub fn fills_in(&self) -> bool {
        self.gap.is_some()
    }

    /// Returns tokens of a text that follows something else. None of them is a special one.
    pub fn data(&self, text: &str) -> Vec<Token> {
        let tokens = self.plain(text);
        if !tokens.iter().any(|token| self.is_special(*token)) {
            return tokens;
        }
        // Vocabularies may match special texts in spite of being told not to: cut through each of them.
        let mut tokens = Vec::new();
        let mut piece = String::new();
        for (at, character) in text.char_indices() {
            piece.push(character);
            if self.specials.iter().any(|special| text[at..].starts_with(special)) {
                tokens.extend(self.plain(&piece));
                piece.clear();
            }
        }
        tokens.extend(self.plain(&piece));
        tokens.retain(|token| !self.is_special(*token));
        tokens
    }

    /// Returns whether a token ends the answer.
    pub fn ends(&self, token: Token) -> bool {
        self.model.vocab().is_eog(LlamaToken(token))
    }

    /// Returns the bytes of a token; none for a special one.
    pub fn bytes(&self, token: Token) -> Vec<u8> {
        self.model.vocab().token_to_piece(LlamaToken(token), false, None)
    }

    /// Returns the bytes of a token, of a special one its name.
    pub fn shown(&self, token: Token) -> Vec<u8> {
        self.model.vocab().token_to_piece(LlamaToken(token), true, None)
    }

    fn is_special(&self, token: Token) -> bool {
        let vocab = self.model.vocab();
        vocab.is_control(LlamaToken(token)) || vocab.is_eog(LlamaToken(token))
    }

    fn plain(&self, text: &str) -> Vec<Token> {
        let vocab = self.model.vocab();
        if let Some(anchor) = &self.anchor {
            let anchored = raw(&vocab.tokenize(format!("{ANCHOR}{text}").as_bytes(), false, false));
            if anchored.starts_with(anchor) {
                return anchored[anchor.len()..].to_vec();
            }
        }
        raw(&vocab.tokenize(text.as_bytes(), false, false))
    }
}

/// Finds the tokens by what llama.cpp knows of them, and those of Codestral, which it does not know, by their texts.
fn gap_marks(model: &LlamaModel) -> Option<GapMarks> {
    let vocab = model.vocab();
    let known = [vocab.fim_pre(), vocab.fim_suf(), vocab.fim_mid()].map(|token| token.0);
    if let [before, after, fill] = known
        && known.iter().all(|token| *token >= 0)
    {
        return Some(GapMarks::BeforeFirst { before, after, fill });
    }
    let control = |text: &str| match vocab.tokenize(text.as_bytes(), false, true).as_slice() {
        [token] if vocab.is_control(*token) => Some(token.0),
        _ => None,
    };
    Some(GapMarks::AfterFirst {
        before: control("[PREFIX]")?,
        after: control("[SUFFIX]")?,
    })
}

const ANCHOR: &str = "\n";

fn raw(tokens: &[LlamaToken]) -> Vec<Token> {
    tokens.iter().map(|token| token.0).collect()
}
