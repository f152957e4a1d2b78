//! How long a chat template takes: once for a model, and for each prompt, of a short conversation and of a meeting.
//!
//! `cargo bench --package magis-llm`.

use criterion::{Criterion, criterion_group, criterion_main};
use magis_llm::chat_template::CompiledTemplate;
use magis_llm::{Message, MessageRole};
use std::hint::black_box;

const QWEN: &str = include_str!("../tests/templates/qwen2.5.jinja");

/// A system text and so many turns, each of the length of a file's description.
fn conversation(turns: usize) -> Vec<Message> {
    let message = |role, length: usize| Message::new(role, "It reads the entries. ".repeat(length));
    let roles = [MessageRole::User, MessageRole::Assistant].into_iter().cycle();
    let turns = roles.take(turns).map(|role| message(role, 20));
    [message(MessageRole::System, 5)].into_iter().chain(turns).collect()
}

fn chat_template(criterion: &mut Criterion) {
    let compile = || CompiledTemplate::new(Some(black_box(QWEN)), "", "<|im_end|>");
    criterion.bench_function("chat template, compiled", |bench| bench.iter(compile));
    let template = compile();
    for turns in [1, 31] {
        let messages = conversation(turns);
        let name = format!("chat template, {turns} turns rendered");
        criterion.bench_function(&name, |bench| {
            bench.iter(|| template.parts(black_box(&messages), "```\n"));
        });
    }
}

criterion_group!(benches, chat_template);
criterion_main!(benches);
