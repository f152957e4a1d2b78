//! What one engine has read another one need not read again: prompts are kept in a folder, for every kind of memory, right to
//! the logit.
#![expect(clippy::unwrap_used, reason = "a test fails where something is missing")]

#[allow(dead_code, reason = "it also serves other tests")]
mod families;

use families::{Family, chat, prompts, user};
use magis_llama::engine::Engine;
use magis_llm::{Constraint, NotReused, ScoreReply, ScoreRequest};
use magis_testkit::TinyModel;
use std::fs;

fn score(engine: &mut Engine, prompt: &str) -> ScoreReply {
    let request = ScoreRequest {
        messages: user(prompt),
        answer_prefix: String::new(),
        continuations: ["ab", "abc", "xyz"].map(str::to_owned).to_vec(),
        by_line: false,
    };
    engine.score(&request).unwrap()
}

fn keep_all(engine: &mut Engine) -> usize {
    std::iter::repeat_with(|| engine.keep_one_prompt())
        .take_while(|kept| *kept)
        .count()
}

/// What all prompts begin with.
const BEGINNING: &str = "the same words stand at the beginning of every prompt, and there are enough of them that a state is worth \
                         saving where the prompts part from one another";

/// Prompts of some hundred tokens.
fn pairs() -> Vec<[String; 2]> {
    let texts = prompts(6);
    texts
        .chunks(2)
        .map(|pair| [0, 1].map(|at| format!("{BEGINNING}{}", pair[at])))
        .collect()
}

fn a_later_engine_goes_on_from_what_was_kept(model: TinyModel) {
    let family = Family::new(model);
    let folder = tempfile::tempdir().unwrap();
    let mut earlier = family.engine_keeping(folder.path());
    let mut scores = Vec::new();
    for [one, _] in &pairs() {
        scores.push(score(&mut earlier, one).scores);
        // What is written behind a prompt is not kept with it.
        earlier.chat(&chat(one, 12, Constraint::None), &mut |_| ()).unwrap();
    }
    assert!(keep_all(&mut earlier) > 0);
    assert_eq!(keep_all(&mut earlier), 0, "all is kept");
    drop(earlier);

    let mut later = family.engine_keeping(folder.path());
    for ([one, other], kept) in pairs().iter().zip(&scores) {
        let again = score(&mut later, one);
        // With attention alone what is nearly the same is not kept twice.
        assert!(again.usage.prompt_tokens <= 32, "{model:?}: {:?}", again.usage);
        let fresh = score(&mut family.large_engine(), other);
        let parted = score(&mut later, other);
        // Of windows that have gone on a beginning cannot be had back.
        let has_windows = matches!(model, TinyModel::Gemma3 | TinyModel::Gemma4 | TinyModel::GptOss);
        let reused = parted.usage.reused_tokens as usize;
        assert!(
            has_windows || reused >= BEGINNING.len(),
            "{model:?}: {:?}",
            parted.usage
        );
        let pairs = again
            .scores
            .iter()
            .zip(kept)
            .chain(parted.scores.iter().zip(&fresh.scores));
        for (now, before) in pairs {
            let difference = (now.logprob - before.logprob).abs();
            assert!(difference < 0.05, "{model:?}: {now:?}, before {before:?}");
        }
    }
}

macro_rules! families {
    ($($name:ident: $model:ident),*) => {$(
        #[test]
        fn $name() {
            a_later_engine_goes_on_from_what_was_kept(TinyModel::$model);
        }
    )*};
}

families!(
    qwen2: Qwen2,
    gemma3: Gemma3,
    gemma4: Gemma4,
    gpt_oss: GptOss,
    qwen35: Qwen35,
    qwen35moe: Qwen35Moe,
    qwen35_heads: Qwen35Heads,
    granite_hybrid: GraniteHybrid,
    lfm2: Lfm2
);

#[test]
fn a_folder_that_is_gone_or_damaged_costs_time_alone() {
    let family = Family::new(TinyModel::Qwen2);
    let folder = tempfile::tempdir().unwrap();
    let prompt = "some text ".repeat(20);
    let mut earlier = family.engine_keeping(folder.path());
    let right = score(&mut earlier, &prompt).scores;
    keep_all(&mut earlier);
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = fs::read(&path).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        fs::write(&path, bytes).unwrap();
    }
    let mut later = family.engine_keeping(folder.path());
    let again = score(&mut later, &prompt);
    assert_eq!(
        (again.usage.reused_tokens, again.usage.not_reused),
        (0, Some(NotReused::New))
    );
    assert_eq!(again.scores, right);
    let mut without = family.engine_keeping(&folder.path().join("missing"));
    assert_eq!(score(&mut without, &prompt).scores, right);
    assert_eq!(keep_all(&mut without), 0);
}
