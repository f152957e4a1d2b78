//! Measures how much longer several answers to one prompt take than one does:
//! `cargo run --release -p magis-llama --example together -- MODEL.gguf [ANSWERS [PROMPT_TOKENS [ANSWER_TOKENS [THREADS]]]]`.
//!
//! Both are measured in turn, three times, each time with a prompt that the cache does not have. A ratio holds also for a
//! machine that does something else meanwhile; the times do not.

use magis_llama::engine::Engine;
use magis_llm::protocol::Load;
use magis_llm::{ChatRequest, Constraint, GenerateRequest, Message, MessageRole, Sampling};
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

const ROUNDS: u32 = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().ok_or("name a GGUF file")?);
    let mut number = |otherwise: u32| arguments.next().map_or(Ok(otherwise), |number| number.parse());
    let (answers, prompt, length) = (number(8)?, number(1200)?, number(150)?);
    let threads = arguments.next().map(|threads| threads.parse()).transpose()?;
    let load = Load {
        path,
        context: Some(8192),
        threads,
        batch: None,
    };
    let mut engine = Engine::load(&load, Arc::default())?;
    let (name, threads) = (&engine.loaded().name, engine.loaded().threads);
    println!("{name}, {threads} threads: {answers} answers of {length} tokens");
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS {
        for (times, answers) in times.iter_mut().zip([1, answers]) {
            let text = sized(&engine, 10 * round + answers, prompt);
            let requests: Vec<GenerateRequest> = (0..answers)
                .map(|seed| GenerateRequest::Chat(request(&text, length, seed.into())))
                .collect();
            let begun = Instant::now();
            let replies = engine.generate_all(&requests, &mut |_| ())?;
            times.push(begun.elapsed().as_millis());
            let sum = |of: fn(&magis_llm::Usage) -> u64| -> u64 { replies.iter().map(|reply| of(&reply.usage)).sum() };
            println!(
                "{answers}: {} ms; {} prompt tokens in {} ms, {} tokens in {} ms",
                begun.elapsed().as_millis(),
                sum(|usage| usage.prompt_tokens.into()),
                sum(|usage| usage.prompt_ms),
                sum(|usage| usage.generated_tokens.into()),
                sum(|usage| usage.generate_ms)
            );
        }
    }
    let [one, many] = times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    });
    println!(
        "medians: {one} and {many} ms, ratio {:.2}",
        many as f64 / one.max(1) as f64
    );
    Ok(())
}

fn request(text: &str, max_tokens: u32, seed: u64) -> ChatRequest {
    ChatRequest {
        messages: vec![Message {
            role: MessageRole::User,
            content: format!("Explain at length what each of these does, one after the other:\n{text}"),
        }],
        answer_prefix: String::new(),
        constraint: Constraint::None,
        sampling: Sampling::Temperature { temperature: 0.8, seed },
        max_tokens,
        stop: Vec::new(),
    }
}

/// Returns text of about so many tokens, another for each seed.
fn sized(engine: &Engine, seed: u32, tokens: u32) -> String {
    let line = |number: u32| format!("def handler_{seed}_{number}(value): return value + {}\n", number * seed);
    let each = engine.count_tokens(&[line(10)])[0];
    let lines: String = (0..tokens / each.max(1)).map(line).collect();
    format!("{seed}\n{lines}")
}
