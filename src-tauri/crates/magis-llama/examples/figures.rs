//! Measures what the engine makes of calls that belong together, each against the same work done without it:
//! `cargo run --release -p magis-llama --example figures -- MODEL.gguf [FIGURE [TIMES [WEIGHTS [plain]]]]`, where FIGURE is one of the
//! names below; all unless given; WEIGHTS is `mapped` or `read`, as a model is loaded; and with `plain` llama.cpp's kernels are
//! used alone.
//!
//! Both sides of a ratio are measured in turn, TIMES times, with prompts that the cache does not have. The rest of the machine
//! should be idle.

use magis_llama::engine::Engine;
use magis_llm::placement::Loading;
use magis_llm::protocol::{Load, Without};
use magis_llm::{
    ChatReply, ChatRequest, Constraint, FinishReason, GenerateRequest, LlmError, Message, MessageRole, Sampling,
    ScoreRequest, ToolChoice, ToolDeclaration, Tools,
};
use magis_platform::memory;
use serde_json::json;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;
type Figure = fn(&mut Engine, &Arc<AtomicBool>, u32) -> Result<()>;

/// Each with how often it is measured unless that is said; the last with the tokens of the context.
const FIGURES: [(&str, Figure, u32); 8] = [
    ("steps", steps, 3),
    ("summaries", summaries, 3),
    ("attempts", attempts, 3),
    ("rewrite", rewrite, 10),
    ("constrained", constrained, 3),
    ("cancel", cancel, 50),
    ("memory", small_calls, 10_000),
    ("peak", peak, 16_384),
];

const FILES: [&str; 8] = [
    include_str!("../src/engine/cache.rs"),
    include_str!("../src/engine/core.rs"),
    include_str!("../src/engine/native.rs"),
    include_str!("../src/engine/generate.rs"),
    include_str!("../src/engine/prefix_files.rs"),
    include_str!("../src/engine/thread_tuner.rs"),
    include_str!("../src/engine/token_edits.rs"),
    include_str!("../src/engine/constraint.rs"),
];

const WITHOUT_DRAFTS: Without = Without {
    drafts: true,
    reuse: false,
    kernels: false,
};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().ok_or("name a GGUF file")?);
    let wanted = arguments.next();
    let times = arguments.next().map(|times| times.parse()).transpose()?;
    let loading = arguments.next().map(|weights| weights.parse::<Loading>()).transpose()?;
    let kernels = arguments.next().is_some_and(|word| word == "plain");
    for (name, figure, usual) in FIGURES {
        if wanted.as_deref().is_some_and(|wanted| wanted != name) {
            continue;
        }
        let abort = Arc::<AtomicBool>::default();
        let load = Load {
            path: path.clone(),
            most_context: Some(times.filter(|_| name == "peak").unwrap_or(16_384)),
            loading,
            without: Without {
                kernels,
                ..Without::default()
            },
            ..Load::default()
        };
        let mut engine = Engine::load(&load, Arc::clone(&abort))?;
        println!("{name}");
        figure(&mut engine, &abort, times.unwrap_or(usual))?;
    }
    Ok(())
}

/// Steps of so many rows, each of another answer.
fn steps(engine: &mut Engine, _: &Arc<AtomicBool>, rounds: u32) -> Result<()> {
    const TOKENS: u32 = 24;
    for rows in [1_u64, 2, 3, 4, 6, 8, 12, 16] {
        let mut times = Vec::new();
        for _ in 0..rounds {
            let answer = |seed| {
                GenerateRequest::Chat(ChatRequest {
                    sampling: Sampling::Temperature { temperature: 0.8, seed },
                    ..request("Tell a long story.", TOKENS)
                })
            };
            let requests: Vec<GenerateRequest> = (0..rows).map(answer).collect();
            let replies = engine.generate_all(&requests, &mut |_| ())?;
            let spent: u64 = replies.iter().map(|reply| reply.usage.generate_ms).sum();
            times.push(spent as f64 / f64::from(TOKENS));
        }
        times.sort_by(f64::total_cmp);
        println!(
            "  a step of {rows} rows: {:.0} ms (median; {times:.0?})",
            times[times.len() / 2]
        );
    }
    for rows in [16, 32, 48, 60] {
        let mut times = Vec::new();
        for round in 0..rounds {
            let words: Vec<String> = (0..rows).map(|at| format!("{}", (round + at * 7) % 10)).collect();
            let ask = ScoreRequest {
                messages: vec![Message::new(MessageRole::User, format!("{rows} {round}"))],
                answer_prefix: String::new(),
                continuations: vec![words.concat()],
                by_line: false,
            };
            let usage = engine.score(&ask)?.usage;
            times.push(usage.generate_ms as f64);
        }
        times.sort_by(f64::total_cmp);
        println!(
            "  a text of {rows} rows: {:.0} ms ({times:.0?})",
            times[times.len() / 2]
        );
    }
    Ok(())
}

/// Eight files, parts of this crate's own, are summarised one after the other, and all at once.
fn summaries(engine: &mut Engine, _: &Arc<AtomicBool>, rounds: u32) -> Result<()> {
    for (prompt, answer) in [(150, 80), (600, 80)] {
        let mut times = [Vec::new(), Vec::new()];
        for round in 0..rounds as usize {
            let requests = |engine: &Engine, set: usize| -> Vec<ChatRequest> {
                let summary = |file| {
                    let code = excerpt(engine, file, 2 * round + set, prompt);
                    request(&format!("{code}\nDescribe at length what this file does."), answer)
                };
                FILES.into_iter().map(summary).collect()
            };
            let apart = requests(engine, 0);
            let begun = Instant::now();
            for request in &apart {
                engine.chat(request, &mut |_| ())?;
            }
            times[0].push(begun.elapsed());
            let together: Vec<GenerateRequest> = requests(engine, 1).into_iter().map(GenerateRequest::Chat).collect();
            let begun = Instant::now();
            engine.generate_all(&together, &mut |_| ())?;
            times[1].push(begun.elapsed());
        }
        ratio(
            &format!("8 summaries of {answer} tokens behind {prompt}, apart / at once"),
            times,
        );
    }
    Ok(())
}

/// Eight attempts of 150 tokens go on from one prompt of 2,000, and one does.
fn attempts(engine: &mut Engine, _: &Arc<AtomicBool>, rounds: u32) -> Result<()> {
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        for (times, count) in times.iter_mut().rev().zip([1, 8_u64]) {
            let code = sized(engine, 10 * round + count as u32, 2000);
            let attempt = |seed| {
                GenerateRequest::Chat(ChatRequest {
                    sampling: Sampling::Temperature { temperature: 0.8, seed },
                    ..request(&format!("{code}\nExplain each at length."), 150)
                })
            };
            let requests: Vec<GenerateRequest> = (0..count).map(attempt).collect();
            let begun = Instant::now();
            engine.generate_all(&requests, &mut |_| ())?;
            times.push(begun.elapsed());
        }
    }
    ratio("8 attempts / 1 attempt", times);
    Ok(())
}

/// Functions of 60 lines are written anew with one line changed, with drafts and without.
fn rewrite(engine: &mut Engine, _: &Arc<AtomicBool>, times: u32) -> Result<()> {
    let mut ratios = Vec::new();
    for case in 0..times {
        let asked = request(&edit(case), 1600);
        engine.measure_without(Without::default());
        let (with, drafted) = timed(engine, &asked)?;
        engine.measure_without(WITHOUT_DRAFTS);
        let (without, plain) = timed(engine, &asked)?;
        let ratio = without.as_secs_f64() / with.as_secs_f64();
        let same = if plain.text == drafted.text {
            "the same"
        } else {
            "another"
        };
        println!(
            "  case {case}: {} tokens, {} ms, with drafts {} ms, {ratio:.2}, {same} answer",
            plain.usage.generated_tokens,
            without.as_millis(),
            with.as_millis()
        );
        if plain.text != drafted.text {
            part(engine, &asked, [&plain.text, &drafted.text])?;
        }
        ratios.push(ratio);
    }
    ratios.sort_by(f64::total_cmp);
    println!("  without / with drafts: {:.2} (median)", ratios[ratios.len() / 2]);
    Ok(())
}

/// Prints where two answers part, and how likely each went on so.
fn part(engine: &mut Engine, asked: &ChatRequest, answers: [&str; 2]) -> Result<()> {
    const SHOWN: usize = 8;
    let [one, other] = answers.map(|answer| answer.chars().collect::<Vec<_>>());
    let common = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let rest = |answer: &[char]| answer.iter().skip(common).take(SHOWN).collect::<String>();
    let reply = engine.score(&ScoreRequest {
        messages: asked.messages.clone(),
        answer_prefix: one[..common].iter().collect(),
        continuations: vec![rest(&one), rest(&other)],
        by_line: false,
    })?;
    for (text, score) in [rest(&one), rest(&other)].iter().zip(&reply.scores) {
        println!(
            "    from character {common} on {text:?}: log-probability {:.3}",
            score.logprob
        );
    }
    Ok(())
}

/// Answers of a form and calls of a tool take as long a token as free answers.
fn constrained(engine: &mut Engine, _: &Arc<AtomicBool>, rounds: u32) -> Result<()> {
    engine.measure_without(WITHOUT_DRAFTS);
    let schema = json!({
        "type": "object",
        "properties": {
            "thoughts": { "type": "string", "minLength": 400, "maxLength": 400 },
        },
        "required": ["thoughts"],
        "additionalProperties": false,
    });
    let tools = Tools {
        declared: vec![ToolDeclaration {
            name: "write_down".to_owned(),
            description: "Writes thoughts down.".to_owned(),
            parameters: schema.clone(),
        }],
        choice: ToolChoice::Required,
    };
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for round in 0..rounds {
        let text = format!("{round}. Tell me at length how a parser works, as JSON with one field, thoughts.");
        let free = request(&text, 90);
        let bound = ChatRequest {
            constraint: Constraint::JsonSchema(schema.clone()),
            ..free.clone()
        };
        let call = ChatRequest {
            tools: tools.clone(),
            ..free.clone()
        };
        for (times, request) in times.iter_mut().zip([bound, call, free]) {
            let usage = engine.chat(&request, &mut |_| ())?.usage;
            let each = usage.generate_ms as f64 / f64::from(usage.generated_tokens.max(1));
            times.push(Duration::from_secs_f64(each / 1000.0));
        }
    }
    let [bound, call, free] = times;
    ratio("time a token, constrained / free", [bound, free.clone()]);
    ratio("time a token, tool call / free", [call, free]);
    Ok(())
}

/// Calls are cancelled in the midst of a prompt of 10,000 tokens or of its answer.
fn cancel(engine: &mut Engine, abort: &Arc<AtomicBool>, times: u32) -> Result<()> {
    let text = sized(engine, 7, 10_000);
    let mut quiet = Vec::new();
    for at in 1..=u64::from(times) {
        let told = Arc::clone(abort);
        let canceller = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(at * 97 % 4000));
            told.store(true, Ordering::SeqCst);
            Instant::now()
        });
        let reply = engine.chat(&request(&format!("{at}{text}"), 400), &mut |_| ());
        let ended = Instant::now();
        let cancelled = canceller.join().map_err(|_| "the thread that cancels panicked")?;
        abort.store(false, Ordering::SeqCst);
        match reply.map_err(|error| error.to_string()) {
            Err(error) if error == LlmError::Cancelled.to_string() => quiet.push(ended - cancelled),
            other => println!("  not cancelled: {other:?}"),
        }
    }
    quiet.sort();
    if let (Some(median), Some(worst)) = (quiet.get(quiet.len() / 2), quiet.last()) {
        println!(
            "  {} calls quiet after {} ms (median), {} ms (worst)",
            quiet.len(),
            median.as_millis(),
            worst.as_millis()
        );
    }
    Ok(())
}

/// Many small calls take no more memory than a tenth of them.
fn small_calls(engine: &mut Engine, _: &Arc<AtomicBool>, times: u32) -> Result<()> {
    let mut after = Vec::new();
    for call in 0..times {
        engine.chat(&request(&format!("{} of {}?", call % 97, call % 31), 1), &mut |_| ())?;
        if call + 1 == times / 10 || call + 1 == times {
            after.push(memory::resident().unwrap_or(0));
        }
    }
    println!(
        "  resident after a tenth and after all of {times} calls: {} and {} bytes, ratio {:.3}",
        after[0],
        after[1],
        after[1] as f64 / after[0].max(1) as f64
    );
    Ok(())
}

/// The most memory that a model with its context takes, against what was predicted.
fn peak(engine: &mut Engine, _: &Arc<AtomicBool>, _: u32) -> Result<()> {
    engine.chat(&request(&sized(engine, 3, 700), 8), &mut |_| ())?;
    let status = std::fs::read_to_string("/proc/self/status")?;
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let most = most.and_then(|most| most.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    let most = 1024 * most.ok_or("the system does not tell the most memory that was taken")?;
    let loaded = engine.loaded();
    let predicted = loaded.placed.main_bytes;
    let usual = loaded.model_bytes + loaded.cache_bytes + 200_000_000;
    println!(
        "  context {}: predicted {predicted}, taken {most}: {:.3}; over model, cache and 200 MB: {:.3}",
        loaded.context,
        predicted as f64 / most as f64,
        most as f64 / usual as f64
    );
    Ok(())
}

fn timed(engine: &mut Engine, request: &ChatRequest) -> Result<(Duration, ChatReply)> {
    // The prompt is the same for both sides: computed before.
    let first = ChatRequest {
        max_tokens: 1,
        ..request.clone()
    };
    engine.chat(&first, &mut |_| ())?;
    let begun = Instant::now();
    let reply = engine.chat(request, &mut |_| ())?;
    if reply.finish == FinishReason::Length {
        println!("  an answer was cut off");
    }
    Ok((begun.elapsed(), reply))
}

fn ratio(what: &str, times: [Vec<Duration>; 2]) {
    let shown: Vec<String> = times
        .iter()
        .map(|times| {
            times
                .iter()
                .map(|time| format!("{:.3}", time.as_secs_f64()))
                .collect::<Vec<_>>()
                .join(", ")
        })
        .collect();
    let [one, other] = times.map(|mut times| {
        times.sort();
        times[times.len() / 2]
    });
    let ratio = one.as_secs_f64() / other.as_secs_f64();
    println!("  {what}: {ratio:.2} (s: {}; {})", shown[0], shown[1]);
}

fn request(text: &str, max_tokens: u32) -> ChatRequest {
    ChatRequest::new(vec![Message::new(MessageRole::User, text)], max_tokens)
}

/// Returns the request to change one line of a function of 60.
fn edit(case: u32) -> String {
    let line = |number: u32| {
        let name = ["total", "count", "offset", "width", "height", "depth"][(number % 6) as usize];
        format!(
            "    {name}_{number} = read_{name}(source, {}) + {}\n",
            number * 3 + case,
            number % 7
        )
    };
    let body: String = (0..58).map(line).collect();
    format!(
        "```python\ndef load_{case}(source):\n{body}    return locals()\n```\nWrite the whole function again, every line of it, \
         with one change: the value that is added in line {} must be 99. Answer with the code alone.",
        10 + 4 * case
    )
}

/// Returns part of a file, of about so many tokens, another for each number.
fn excerpt(engine: &Engine, file: &str, number: usize, tokens: u32) -> String {
    let lines = file.lines().count();
    let each = engine.count_tokens(&[file.to_owned()])[0] / lines.max(1) as u32;
    let wanted = (tokens / each.max(1)) as usize;
    let begin = number * wanted % lines.saturating_sub(wanted).max(1);
    let part: Vec<&str> = file.lines().skip(begin).take(wanted).collect();
    part.join("\n")
}

/// Returns text of about so many tokens, another for each seed.
fn sized(engine: &Engine, seed: u32, tokens: u32) -> String {
    let line = |number: u32| format!("def handler_{seed}_{number}(value): return value + {}\n", number * seed);
    let each = engine.count_tokens(&[line(10)])[0];
    let lines: String = (0..tokens / each.max(1)).map(line).collect();
    format!("{seed}\n{lines}")
}
