//! Measures the engine on a model: `cargo run --release --example speed -- MODEL.gguf [THREADS [mapped|read]]`.
//!
//! Prints tokens a second for prompts and generation, the time for scoring forty continuations at once and one by one,
//! and how long a cancelled call goes on. The numbers hold for a machine that does nothing else.

use magis_core::text::bytes;
use magis_llama::engine::{Engine, LlamaError};
use magis_llm::placement::Loading;
use magis_llm::protocol::Load;
use magis_llm::{ChatRequest, Constraint, LlmError, Message, MessageRole, ScoreRequest};
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().ok_or("name a GGUF file")?);
    let threads = arguments.next().map(|threads| threads.parse()).transpose()?;
    let loading = arguments.next().map(|weights| weights.parse::<Loading>()).transpose()?;
    let begun = Instant::now();
    let load = Load {
        loading,
        path,
        context: Some(8192),
        threads,
        batch: None,
        ..Load::default()
    };
    let abort: Arc<AtomicBool> = Arc::default();
    let mut engine = Engine::load(&load, Arc::clone(&abort))?;
    println!(
        "{}: loaded in {:.1} s, {} threads",
        engine.loaded().name,
        begun.elapsed().as_secs_f64(),
        engine.loaded().threads
    );
    println!(
        "cache of {} tokens: {}",
        engine.loaded().context,
        bytes(engine.loaded().cache_bytes)
    );

    let frame = engine
        .chat(&request("x", 1, Constraint::None), &mut |_| ())?
        .usage
        .prompt_tokens
        - 1;
    for (seed, target) in [(1, 512), (2, 2048)] {
        let text = exactly(&engine, seed, target - frame);
        let reply = engine.chat(&request(&text, 1, Constraint::None), &mut |_| ())?;
        let usage = reply.usage;
        let rate = 1000.0 * f64::from(usage.prompt_tokens) / usage.prompt_ms.max(1) as f64;
        println!(
            "prompt of {} tokens: {} ms, {rate:.1} tokens/s",
            usage.prompt_tokens, usage.prompt_ms
        );
    }
    for (name, text) in [
        ("short", "Tell me a long story about a compiler.".to_owned()),
        ("2048", sized(&engine, 2, 2048)),
    ] {
        let reply = engine.chat(&request(&text, 64, Constraint::None), &mut |_| ())?;
        let usage = reply.usage;
        let rate = 1000.0 * f64::from(usage.generated_tokens) / usage.generate_ms.max(1) as f64;
        println!(
            "generation behind a {name} prompt ({} reused): {} tokens, {} ms, {rate:.1} tokens/s",
            usage.reused_tokens, usage.generated_tokens, usage.generate_ms
        );
    }
    let constraint = Constraint::OneOf(
        (0..200)
            .map(|file| format!("src/part{}/file{file}.py", file % 7))
            .collect(),
    );
    let begun = Instant::now();
    let reply = engine.chat(&request("Which file?", 40, constraint), &mut |_| ())?;
    let (wall, usage) = (begun.elapsed().as_millis(), reply.usage);
    println!(
        "choice among 200: {wall} ms, {} tokens, of it {} ms generating",
        usage.generated_tokens, usage.generate_ms
    );

    let continuations: Vec<String> = (0..40)
        .map(|file| format!("src/package{}/module_{}.py", file % 6, file * 37 % 101))
        .collect();
    let scored = |continuations: Vec<String>| ScoreRequest {
        messages: vec![Message::new(MessageRole::User, "Which file has the fault?")],
        answer_prefix: String::new(),
        continuations,
        by_line: false,
    };
    let together = engine.score(&scored(continuations.clone()))?.usage;
    println!(
        "40 continuations at once: {} tokens, {} ms",
        together.generated_tokens, together.generate_ms
    );
    let begun = Instant::now();
    for continuation in continuations {
        engine.score(&scored(vec![continuation]))?;
    }
    println!("one by one, the prefix reused: {} ms", begun.elapsed().as_millis());
    println!("{:?}", engine.stats());
    cancel(&mut engine, &abort)
}

/// Returns text of exactly so many tokens.
fn exactly(engine: &Engine, seed: u32, tokens: u32) -> String {
    let mut text = sized(engine, seed, tokens);
    while !text.is_empty() && engine.count_tokens(&[text.clone()])[0] > tokens {
        text.pop();
    }
    while engine.count_tokens(&[text.clone()])[0] < tokens {
        text.push_str(" a");
    }
    text
}

/// Cancels twenty long calls, each at another moment of its prompt or its answer, and prints how long each went on.
fn cancel(engine: &mut Engine, abort: &Arc<AtomicBool>) -> Result<(), Box<dyn Error>> {
    let mut went_on = Vec::new();
    for at in 1..=20 {
        let text = sized(engine, 100 + at, 1024);
        let told = Arc::clone(abort);
        let canceller = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(u64::from(at) * 173));
            told.store(true, Ordering::SeqCst);
            Instant::now()
        });
        let reply = engine.chat(&request(&text, 400, Constraint::None), &mut |_| ());
        let ended = Instant::now();
        let cancelled = canceller.join().map_err(|_| "the thread that cancels panicked")?;
        abort.store(false, Ordering::SeqCst);
        match reply {
            Err(LlamaError::Call(LlmError::Cancelled)) => went_on.push(ended.saturating_duration_since(cancelled)),
            other => println!("not cancelled: {other:?}"),
        }
    }
    went_on.sort();
    if let (Some(median), Some(longest)) = (went_on.get(went_on.len() / 2), went_on.last()) {
        println!(
            "{} cancelled calls went on for {} ms (median), {} ms at the most",
            went_on.len(),
            median.as_millis(),
            longest.as_millis()
        );
    }
    Ok(())
}

fn request(text: &str, max_tokens: u32, constraint: Constraint) -> ChatRequest {
    ChatRequest {
        constraint,
        ..ChatRequest::new(vec![Message::new(MessageRole::User, text)], max_tokens)
    }
}

/// Text of about so many tokens, another for each seed.
fn sized(engine: &Engine, seed: u32, tokens: u32) -> String {
    let line = |number: u32| format!("def handler_{seed}_{number}(value): return value + {}\n", number * seed);
    let each = engine.count_tokens(&[line(10)])[0];
    (0..tokens / each.max(1)).map(line).collect()
}
