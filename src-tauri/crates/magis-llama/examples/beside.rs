//! Measures a worker on an idle machine and beside loops that take all they get:
//! `cargo run --release -p magis-llama --example beside -- WORKER MODEL.gguf [LOOPS]`, where WORKER is
//! `magis-llama-worker` beside the examples' folder and LOOPS is as many as there are processors unless given.
//!
//! Prints tokens a second of prompts and of answers, each of several calls. The rest of the machine should be idle.

use magis_llama::{LoadRequest, Priority, WorkerCommand, WorkerModel};
use magis_llm::{ChatRequest, LanguageModel as _, Message, MessageRole};
use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const CALLS: u32 = 4;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let command = WorkerCommand {
        program: arguments.next().ok_or("name the worker")?.into(),
        args: Vec::new(),
        priority: Priority::Normal,
    };
    let load = LoadRequest {
        file: arguments.next().ok_or("name a GGUF file")?.into(),
        sha256: String::new(),
        context: Some(4096),
        threads: None,
        ..LoadRequest::default()
    };
    let processors = thread::available_parallelism()?.get();
    let loops = arguments.next().map_or(Ok(processors), |loops| loops.parse())?;
    let model = WorkerModel::start(command, load).await?;
    println!("{}, {} threads", model.card().name, model.card().threads);
    measure(&model, "idle", 0).await?;
    let over = Arc::<AtomicBool>::default();
    for _ in 0..loops {
        let over = Arc::clone(&over);
        thread::spawn(move || {
            let mut turns = 0_u64;
            while !over.load(Ordering::Relaxed) {
                turns = black_box(turns.wrapping_add(1));
            }
        });
    }
    measure(&model, &format!("beside {loops} loops"), 1).await?;
    over.store(true, Ordering::Relaxed);
    measure(&model, "idle again", 2).await?;
    Ok(())
}

async fn measure(model: &WorkerModel, when: &str, seed: u32) -> Result<(), Box<dyn Error>> {
    for call in 0..CALLS {
        let seed = seed * CALLS + call;
        let lines = (0..16).map(|line| format!("def handler_{seed}_{line}(value): return value + {}\n", line * seed));
        let request = ChatRequest::new(
            vec![Message::new(
                MessageRole::User,
                format!(
                    "{seed}. Explain at length what this does:\n{}",
                    lines.collect::<String>()
                ),
            )],
            40,
        );
        let usage = model.chat(&request, &mut |_| ()).await?.usage;
        let rate = |tokens: u32, milliseconds: u64| 1000.0 * f64::from(tokens) / milliseconds.max(1) as f64;
        println!(
            "{when}: prompt of {} tokens {:.1} tokens/s, answer of {} tokens {:.2} tokens/s",
            usage.prompt_tokens,
            rate(usage.prompt_tokens, usage.prompt_ms),
            usage.generated_tokens,
            rate(usage.generated_tokens, usage.generate_ms)
        );
    }
    Ok(())
}
