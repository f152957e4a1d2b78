//! What lies in the cache must not be heard in an answer: an engine that has answered a lot gives the likelihoods and the
//! answers of one that has just been loaded, whatever a family of models keeps of the tokens it has read.
#![expect(clippy::unwrap_used, reason = "a test fails where something is missing")]

#[allow(dead_code, reason = "it also serves other tests")]
mod families;

use families::{Family, chat, prompts, user};
use magis_llama::engine::{Engine, LlamaError};
use magis_llm::{ChatRequest, Constraint, LlmError, Message, MessageRole, ScoreRequest};
use magis_testkit::TinyModel;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rounding, with steps of other sizes, stays well below; a wrong cache is far above.
const ROUNDING: f64 = 0.05;
const CONTINUATIONS: [&str; 6] = ["ab", "abc", "abd", "xyz", "q", "hello there"];

/// Compares the likelihoods that an engine gives with those of a fresh one.
fn check_scores(family: &Family, engine: &mut Engine, prompt: &str) {
    let kept = engine.score(&question(prompt)).unwrap().scores;
    let fresh = family.engine().score(&question(prompt)).unwrap().scores;
    for ((kept, fresh), text) in kept.iter().zip(&fresh).zip(CONTINUATIONS) {
        let difference = (kept.logprob - fresh.logprob).abs();
        assert!(
            difference < ROUNDING,
            "{text} after {prompt}: {kept:?}, fresh {fresh:?}"
        );
    }
}

fn question(prompt: &str) -> ScoreRequest {
    ScoreRequest {
        messages: user(prompt),
        answer_prefix: String::new(),
        continuations: CONTINUATIONS.map(str::to_owned).to_vec(),
        by_line: false,
    }
}

fn scores_are_those_of_a_fresh_engine(model: TinyModel) {
    let family = Family::new(model);
    let mut engine = family.engine();
    for prompt in prompts(40) {
        check_scores(&family, &mut engine, &prompt);
    }
    let stats = engine.stats();
    println!(
        "{model:?}: {} tokens reused, {} computed",
        stats.reused_tokens, stats.computed_tokens
    );
    let recurrent = matches!(
        model,
        TinyModel::Qwen35 | TinyModel::Qwen35Moe | TinyModel::Qwen35Heads | TinyModel::GraniteHybrid | TinyModel::Lfm2
    );
    assert!(
        recurrent || 2 * stats.reused_tokens > stats.computed_tokens,
        "{stats:?}"
    );
}

fn answers_are_those_of_a_fresh_engine(model: TinyModel) {
    let family = Family::new(model);
    let mut engine = family.engine();
    let choices = ["the first of the choices", "the second of them", "none of them at all"];
    for (round, prompt) in prompts(12).into_iter().enumerate() {
        // Freely, and where the choice leaves nothing open several tokens at once.
        let constraint = if round % 2 == 0 {
            Constraint::None
        } else {
            Constraint::OneOf(choices.map(str::to_owned).to_vec())
        };
        let first = chat(&prompt, 24, constraint);
        let kept = engine.chat(&first, &mut |_| ()).unwrap();
        let fresh = family.engine().chat(&first, &mut |_| ()).unwrap();
        assert_eq!(kept.text, fresh.text, "{prompt}");
        // The conversation goes on: with this answer, and with another one.
        for answer in [kept.text.as_str(), "something else"] {
            let mut messages = first.messages.clone();
            messages.push(Message::new(MessageRole::Assistant, answer));
            messages.extend(user("and now?"));
            let next = ChatRequest {
                messages,
                ..chat("", 8, Constraint::None)
            };
            let kept = engine.chat(&next, &mut |_| ()).unwrap();
            assert_eq!(
                kept.text,
                family.engine().chat(&next, &mut |_| ()).unwrap().text,
                "{prompt}"
            );
        }
    }
}

fn a_cancelled_call_leaves_nothing_wrong(model: TinyModel) {
    let family = Family::new(model);
    let abort = Arc::<AtomicBool>::default();
    let mut engine = family.engine_with(Arc::clone(&abort));
    let mut cancelled = 0;
    for (round, prompt) in prompts(24).into_iter().enumerate() {
        // While it answers, and somewhere in the midst of computing the prompt or the branches.
        let told = Arc::clone(&abort);
        let result = if round % 2 == 0 {
            let mut tokens = 0;
            let sink = &mut |_: &str| {
                tokens += 1;
                told.store(tokens > round / 4, Ordering::SeqCst);
            };
            engine.chat(&chat(&prompt, 24, Constraint::None), sink).map(|_| ())
        } else {
            let canceller = std::thread::spawn(move || {
                (0..round * 20_000).for_each(|turn| _ = std::hint::black_box(turn));
                told.store(true, Ordering::SeqCst);
            });
            let result = engine.score(&question(&prompt)).map(|_| ());
            canceller.join().unwrap();
            result
        };
        abort.store(false, Ordering::SeqCst);
        match result {
            Ok(()) => {}
            Err(LlamaError::Call(LlmError::Cancelled)) => cancelled += 1,
            Err(error) => unreachable!("{error}"),
        }
        check_scores(&family, &mut engine, &prompt);
        check_scores(&family, &mut engine, &prompts(24)[(round + 7) % 24]);
    }
    assert!(cancelled > 6, "{cancelled} calls were cancelled");
}

macro_rules! families {
    ($($name:ident: $model:ident),*) => {
        $(mod $name {
            use magis_testkit::TinyModel;

            #[test]
            fn scores_are_those_of_a_fresh_engine() {
                super::scores_are_those_of_a_fresh_engine(TinyModel::$model);
            }

            #[test]
            fn answers_are_those_of_a_fresh_engine() {
                super::answers_are_those_of_a_fresh_engine(TinyModel::$model);
            }

            #[test]
            fn a_cancelled_call_leaves_nothing_wrong() {
                super::a_cancelled_call_leaves_nothing_wrong(TinyModel::$model);
            }
        })*
    };
}

families!(
    qwen2: Qwen2,
    qwen35: Qwen35,
    qwen35moe: Qwen35Moe,
    qwen35_heads: Qwen35Heads,
    gemma3: Gemma3,
    gemma4: Gemma4,
    gpt_oss: GptOss,
    granitehybrid: GraniteHybrid,
    lfm2: Lfm2
);
