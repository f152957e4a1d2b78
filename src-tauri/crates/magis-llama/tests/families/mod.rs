//! Engines of tiny models of each family, for the tests of what a cache holds.

use magis_llama::engine::Engine;
use magis_llm::protocol::Load;
use magis_llm::{ChatRequest, Constraint, Message, MessageRole};
use magis_testkit::TinyModel;
use magis_testkit::gguf::Gguf;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

/// Prompts are up to 200 tokens: after three of them something has to go.
pub const CONTEXT: u32 = 512;

/// A model file that engines are made of.
pub struct Family {
    file: PathBuf,
    _folder: TempDir,
}

impl Family {
    pub fn new(model: TinyModel) -> Self {
        Self::of(&model.gguf())
    }

    pub fn of(model: &Gguf) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tiny.gguf");
        std::fs::write(&file, model.bytes()).unwrap();
        Self { file, _folder: folder }
    }

    pub fn engine(&self) -> Engine {
        self.engine_with(Arc::default())
    }

    pub fn engine_with(&self, abort: Arc<AtomicBool>) -> Engine {
        self.load(CONTEXT, None, abort)
    }

    /// Returns an engine that begins with the prefixes in a folder, and keeps its own there.
    pub fn engine_keeping(&self, prefixes: &Path) -> Engine {
        self.load(2048, Some(prefixes.to_owned()), Arc::default())
    }

    /// Returns an engine with room for whole conversations.
    pub fn large_engine(&self) -> Engine {
        self.load(2048, None, Arc::default())
    }

    fn load(&self, context: u32, prefixes: Option<PathBuf>, abort: Arc<AtomicBool>) -> Engine {
        let load = Load {
            path: self.file.clone(),
            context: Some(context),
            threads: Some(1),
            prefixes,
            ..Load::default()
        };
        Engine::load(&load, abort).unwrap()
    }
}

pub fn user(text: &str) -> Vec<Message> {
    vec![Message::new(MessageRole::User, text)]
}

pub fn chat(prompt: &str, max_tokens: u32, constraint: Constraint) -> ChatRequest {
    ChatRequest {
        constraint,
        ..ChatRequest::new(user(prompt), max_tokens)
    }
}

/// Returns texts of which many begin alike, for so far or so far.
pub fn prompts(count: usize) -> Vec<String> {
    let mut state = 5_u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below
    };
    let mut text = |length: usize| -> String {
        let letters = b"abcdefghij klmnop qrstuvwxyz";
        (0..length).map(|_| char::from(letters[draw(letters.len())])).collect()
    };
    let begins = [text(120), text(120), text(120)];
    let mut state = 11_usize;
    let mut pick = |below: usize| {
        state = (state * 75 + 74) % 65_537;
        state % below
    };
    (0..count)
        .map(|_| {
            let begin = &begins[pick(3)][..[40, 80, 120][pick(3)]];
            format!("{begin}{}", text(10 + pick(50)))
        })
        .collect()
}
