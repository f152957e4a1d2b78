//! Answers that are generated side by side are those that each request gets alone, whatever a family of models keeps of
//! the tokens it has read, and whether or not all of them fit at once.
#![expect(clippy::unwrap_used, reason = "a test fails where something is missing")]

#[allow(dead_code, reason = "it also serves other tests")]
mod families;

use families::{CONTEXT, Family, chat, prompts};
use magis_llama::engine::{Engine, LlamaError};
use magis_llm::{
    ChatReply, ChatRequest, Constraint, Departure, FillInRequest, GenerateRequest, LlmError, OtherThan, Sampling,
    TokenEdit, TokenEditRequest, Usage,
};
use magis_testkit::TinyModel;
use magis_testkit::gguf::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

fn generate(engine: &mut Engine, requests: &[GenerateRequest]) -> Vec<ChatReply> {
    engine.generate_all(requests, &mut |_| ()).unwrap()
}

fn drawn(prompt: &str, seed: u64) -> ChatRequest {
    ChatRequest {
        sampling: Sampling::Temperature { temperature: 0.8, seed },
        ..chat(prompt, 24, Constraint::None)
    }
}

/// How many answers are those that each request gets alone, and of how many.
///
/// Rounding hangs on which cells and rows are summed up together. The weights are random, so that two tokens are often as
/// good as equally likely, a drawn one above all, and not every answer comes out the same; with a wrong cache next to none
/// does.
#[derive(Default)]
struct Same {
    likeliest: Count,
    drawn: Count,
}

#[derive(Default)]
struct Count {
    same: u32,
    all: u32,
}

impl Same {
    fn check(&self) {
        for (count, least) in [(&self.likeliest, 0.9), (&self.drawn, 0.33)] {
            let share = f64::from(count.same) / f64::from(count.all.max(1));
            assert!(
                count.all == 0 || share >= least,
                "{} of {} are the same",
                count.same,
                count.all
            );
        }
    }
}

/// Compares the answers that requests get together with those that each gets of a fresh engine.
fn check(family: &Family, engine: &mut Engine, requests: &[ChatRequest], counts: &mut Same) {
    let together: Vec<GenerateRequest> = requests.iter().cloned().map(GenerateRequest::Chat).collect();
    let mut shown = String::new();
    let replies = engine
        .generate_all(&together, &mut |text| shown.push_str(text))
        .unwrap();
    assert_eq!(replies.len(), requests.len());
    assert_eq!(shown, replies[0].text);
    for (reply, request) in replies.iter().zip(requests) {
        let alone = family.engine().chat(request, &mut |_| ()).unwrap();
        let same = (&reply.text, reply.finish) == (&alone.text, alone.finish);
        let count = match request.sampling {
            Sampling::Greedy => &mut counts.likeliest,
            Sampling::Temperature { .. } => &mut counts.drawn,
        };
        count.same += u32::from(same);
        count.all += 1;
        let prompt = reply.usage.prompt_tokens + reply.usage.reused_tokens;
        assert_eq!(prompt, alone.usage.prompt_tokens);
    }
}

fn answers_are_those_of_each_alone(model: TinyModel) {
    let family = Family::new(model);
    let mut engine = family.engine();
    let mut same = Same::default();
    let choices = ["the first of the choices", "the second of them", "none of them at all"];
    for (round, prompts) in prompts(16).chunks(4).enumerate() {
        let choice = Constraint::OneOf(choices.map(str::to_owned).to_vec());
        let seed = round as u64 * 10;
        let requests = [
            chat(&prompts[0], 24, Constraint::None),
            drawn(&prompts[1], seed),
            chat(&prompts[2], 24, choice),
            drawn(&prompts[1], seed + 1),
            drawn(&prompts[0], seed + 2),
            chat(&prompts[3], 0, Constraint::None),
            drawn(&prompts[1], seed + 3),
            drawn(&prompts[3], seed + 4),
        ];
        check(&family, &mut engine, &requests, &mut same);
        // What they leave in the cache is right, too.
        check(&family, &mut engine, &requests[..1], &mut same);
    }
    same.check();
}

fn one_prompt_with_many_answers_is_computed_once(model: TinyModel) {
    let family = Family::new(model);
    let mut engine = family.engine();
    let prompt = &prompts(1)[0];
    // More than there are sequences, and more than fit into the context at once.
    let requests: Vec<ChatRequest> = (0..40).map(|seed| drawn(prompt, seed)).collect();
    let mut same = Same::default();
    check(&family, &mut engine, &requests, &mut same);
    same.check();
    let stats = engine.stats();
    assert_eq!(stats.reused_tokens, 39 * stats.computed_tokens);
}

fn a_cancelled_call_leaves_nothing_wrong(model: TinyModel) {
    let family = Family::new(model);
    let abort = Arc::<AtomicBool>::default();
    let mut engine = family.engine_with(Arc::clone(&abort));
    let mut same = Same::default();
    let mut cancelled = 0;
    for (round, prompts) in prompts(24).chunks(3).enumerate() {
        let requests = [
            chat(&prompts[0], 24, Constraint::None),
            drawn(&prompts[1], 1),
            drawn(&prompts[1], 2),
        ];
        let together = requests.clone().map(GenerateRequest::Chat);
        let mut tokens = 0;
        let sink = &mut |_: &str| {
            tokens += 1;
            abort.store(tokens > round, Ordering::SeqCst);
        };
        let result = engine.generate_all(&together, sink);
        match result {
            Ok(_) => {}
            Err(LlamaError::Call(LlmError::Cancelled)) => cancelled += 1,
            Err(error) => unreachable!("{error}"),
        }
        abort.store(false, Ordering::SeqCst);
        check(&family, &mut engine, &requests, &mut same);
    }
    same.check();
    assert!(cancelled > 3, "{cancelled} calls were cancelled");
}

macro_rules! families {
    ($($name:ident: $model:ident),*) => {
        $(mod $name {
            use magis_testkit::TinyModel;

            #[test]
            fn answers_are_those_of_each_alone() {
                super::answers_are_those_of_each_alone(TinyModel::$model);
            }

            #[test]
            fn one_prompt_with_many_answers_is_computed_once() {
                super::one_prompt_with_many_answers_is_computed_once(TinyModel::$model);
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

#[test]
fn times_and_tokens_of_all_answers_add_up_to_those_of_the_call() {
    let family = Family::new(TinyModel::Qwen2);
    let mut engine = family.engine();
    let prompts = prompts(2);
    let requests = [&prompts[0], &prompts[0], &prompts[1], &prompts[0]].map(|prompt| drawn(prompt, 5));
    let begun = Instant::now();
    let replies = generate(&mut engine, &requests.map(GenerateRequest::Chat));
    let wall = begun.elapsed().as_millis() as u64;
    let usages: Vec<Usage> = replies.iter().map(|reply| reply.usage).collect();
    let told: u64 = usages.iter().map(|usage| usage.prompt_ms + usage.generate_ms).sum();
    assert!(told <= wall && told + 5 >= wall, "{told} of {wall} ms: {usages:?}");
    assert_eq!(usages[0].reused_tokens, 0);
    assert_eq!(
        (usages[1].prompt_tokens, usages[1].reused_tokens),
        (0, usages[0].prompt_tokens)
    );
    assert_eq!(
        (usages[3].prompt_tokens, usages[3].reused_tokens),
        (0, usages[0].prompt_tokens)
    );
    let stats = engine.stats();
    let computed: u32 = usages.iter().map(|usage| usage.prompt_tokens).sum();
    assert_eq!(stats.computed_tokens, u64::from(computed));
    let kept = computed..=computed + usages[2].generated_tokens;
    assert!(kept.contains(&stats.cached_tokens), "{stats:?}, {kept:?}");
}

fn gap(before: &str, after: &str) -> FillInRequest {
    FillInRequest {
        before: before.to_owned(),
        after: after.to_owned(),
        sampling: Sampling::Greedy,
        max_tokens: 12,
        stop: Vec::new(),
        other_than: None,
    }
}

/// Returns a family whose vocabulary has tokens to fill in a text.
fn filling_in() -> Family {
    filling_in_until(None)
}

/// Returns the same, with a token that also ends an answer.
fn filling_in_until(end: Option<u32>) -> Family {
    let marks = [("fim_pre", 257), ("fim_suf", 256), ("fim_mid", 257)];
    let end = end.map(|token| ("eot", token));
    let model = marks
        .into_iter()
        .chain(end)
        .fold(TinyModel::Qwen2.gguf(), |model, (mark, token)| {
            model.with(&format!("tokenizer.ggml.{mark}_token_id"), Value::Number(token))
        });
    Family::of(&model)
}

#[test]
fn what_is_not_to_be_a_known_text_leaves_it_in_the_likeliest_ways() {
    let family = filling_in();
    let known = "return a\n";
    let other = |by: Departure, rank: u32| {
        GenerateRequest::FillIn(FillInRequest {
            other_than: Some(OtherThan {
                text: known.to_owned(),
                by,
                rank,
            }),
            ..gap("def f(a):\n", "\nprint(f(1))\n")
        })
    };
    let mut requests: Vec<GenerateRequest> = (0..4).map(|rank| other(Departure::Likeliest, rank)).collect();
    requests.push(GenerateRequest::FillIn(gap("def f(a):\n", "\nprint(f(1))\n")));
    let mut engine = family.engine();
    let replies = generate(&mut engine, &requests);
    for (reply, request) in replies.iter().zip(&requests) {
        let alone = generate(&mut family.engine(), std::slice::from_ref(request));
        assert_eq!(reply.text, alone[0].text);
        assert!(!reply.text.starts_with(known), "{reply:?}");
    }
    let texts: BTreeSet<&str> = replies[..4].iter().map(|reply| reply.text.as_str()).collect();
    assert!(texts.len() > 2, "they leave it by different tokens: {texts:?}");
    // With nothing in common with what is written anyway, the likeliest way beside it is to write that.
    assert_eq!(replies[0].text, replies[4].text);
    let beyond = generate(&mut engine, &[other(Departure::Likeliest, 100_000)]);
    assert_eq!(beyond[0].text, replies[4].text, "beyond the last way it is free");
    let replaced = generate(
        &mut engine,
        &[other(Departure::Replaced, 0), other(Departure::Preferred, 0)],
    );
    let same = |one: &str, other: &str| one.chars().zip(other.chars()).filter(|(a, b)| a == b).count();
    assert_eq!(
        same(&replaced[0].text, known),
        known.len() - 1,
        "one token is another one: {replaced:?}"
    );
    assert_ne!(replaced[0].text, known);
    assert!(
        same(&replaced[0].text, &replaced[1].text) > 0,
        "both leave it at one token: {replaced:?}"
    );
}

fn edits_asked(most: u32) -> TokenEditRequest {
    TokenEditRequest {
        before: "def f(a):\n".to_owned(),
        after: "\nprint(f(1))\n".to_owned(),
        text: "return aa\n".to_owned(),
        most,
        written: 0,
    }
}

#[test]
fn one_reading_of_a_text_gives_its_edits_of_one_token_by_what_they_gain() {
    let asked = edits_asked(200);
    let mut engine = filling_in().engine();
    let reply = engine.token_edits(&asked).unwrap();
    assert!(reply.edits.is_sorted_by(|one, next| one.gain >= next.gain));
    let edited = |edit: &TokenEdit| {
        let (start, end) = (edit.start as usize, edit.end as usize);
        [&asked.text[..start], &edit.text, &asked.text[end..]].concat()
    };
    // A token of this vocabulary is one byte; a plus or a minus is put in with a one.
    let is_by_one = |edit: &&TokenEdit| [" + 1", " - 1"].contains(&edit.text.as_str());
    assert!(
        reply
            .edits
            .iter()
            .filter(|edit| !is_by_one(edit))
            .all(|edit| edit.end - edit.start + edit.text.len() as u32 <= 2)
    );
    assert!(reply.edits.iter().any(|edit| is_by_one(&edit)));
    assert!(reply.edits.iter().all(|edit| edited(edit) != asked.text));
    assert!(reply.edits.iter().any(|edit| edit.start == edit.end), "one is put in");
    let replaced = reply
        .edits
        .iter()
        .find(|edit| edit.end - edit.start == 1 && edit.text.len() == 1);
    let most_gained = GenerateRequest::FillIn(FillInRequest {
        other_than: Some(OtherThan {
            text: asked.text.clone(),
            by: Departure::Replaced,
            rank: 0,
        }),
        ..gap(&asked.before, &asked.after)
    });
    let alone = generate(&mut filling_in().engine(), &[most_gained]);
    assert!(
        alone[0].text.starts_with(&edited(replaced.unwrap())),
        "{alone:?}, {replaced:?}"
    );

    let few = engine.token_edits(&edits_asked(3)).unwrap();
    assert_eq!(few.edits, reply.edits[..3]);
    assert!(few.usage.reused_tokens > 0, "the prompt was there: {:?}", few.usage);
    let long = TokenEditRequest {
        text: "a".repeat(600),
        ..asked
    };
    assert!(engine.token_edits(&long).unwrap_err().to_string().contains("context"));
}

/// Returns the edits of a text for which the model goes on writing; the one token of each stands directly behind it, and the others are as without.
fn written(engine: &mut Engine, asked: &TokenEditRequest) -> Vec<TokenEdit> {
    let all = engine.token_edits(asked).unwrap().edits;
    let plain = engine.token_edits(&TokenEditRequest {
        written: 0,
        ..asked.clone()
    });
    // What lies in the cache already rounds the gains otherwise.
    let key = |edit: &TokenEdit| (edit.start, edit.end, edit.text.clone());
    let plain: BTreeSet<_> = plain.unwrap().edits.iter().map(key).collect();
    let is_plain = |edit: &TokenEdit| plain.contains(&key(edit));
    assert_eq!(all.iter().filter(|edit| is_plain(edit)).count(), plain.len());
    for pair in all.windows(2) {
        let behind_written = !is_plain(&pair[0]) && is_plain(&pair[1]);
        assert!(
            !behind_written || (pair[1].gain - pair[0].gain).abs() < 1e-9,
            "{pair:?}"
        );
    }
    all.into_iter().filter(|edit| !is_plain(edit)).collect()
}

#[test]
fn behind_the_best_other_tokens_the_model_goes_on_to_the_end_of_the_line() {
    let asked = TokenEditRequest {
        text: "return aa\nb = 2\n".to_owned(),
        written: 9,
        ..edits_asked(10_000)
    };
    let mut lines = 0;
    // These weights write no end of a line by themselves, so each token in turn is one that ends the answer.
    for token in (0..250).step_by(5) {
        let family = filling_in_until(Some(token));
        for edit in written(&mut family.engine(), &asked) {
            let behind = &asked.text[edit.end as usize..];
            let is_in_front = edit.start == edit.end;
            assert!(
                is_in_front || behind.starts_with('\n'),
                "up to the end of a line: {edit:?}"
            );
            lines += 1;
            // The model writes the same when it is asked for a text that leaves the known one so.
            let line = edit.text.lines().next().unwrap_or_default();
            let begin = [&asked.text[..edit.start as usize], line].concat();
            let departs = |rank| {
                GenerateRequest::FillIn(FillInRequest {
                    max_tokens: 80,
                    other_than: Some(OtherThan {
                        text: asked.text.clone(),
                        by: Departure::Preferred,
                        rank,
                    }),
                    ..gap(&asked.before, &asked.after)
                })
            };
            let alone: Vec<GenerateRequest> = (0..40).map(departs).collect();
            let alone = generate(&mut family.engine(), &alone);
            assert!(
                alone.iter().any(|reply| reply.text.starts_with(&begin)),
                "{begin:?} is none of {alone:?}"
            );
        }
    }
    assert!(lines > 0, "some line comes to an end");
}

#[test]
fn texts_are_filled_in_where_the_vocabulary_has_tokens_for_it() {
    let family = filling_in();
    let mut engine = family.engine();
    assert!(engine.loaded().fills_in);
    assert_eq!(engine.count_fill_in("four", "<|im_end|>").unwrap(), 4 + 10 + 3);
    let requests = [
        GenerateRequest::FillIn(gap("def f(a):\n", "\nprint(f(1))\n")),
        GenerateRequest::Chat(chat("a question", 12, Constraint::None)),
        GenerateRequest::FillIn(gap("def f(a):\n", "\nprint(f(2))\n")),
    ];
    let replies = generate(&mut engine, &requests);
    for (reply, request) in replies.iter().zip(&requests) {
        let alone = generate(&mut family.engine(), std::slice::from_ref(request));
        assert_eq!(reply.text, alone[0].text);
    }
    assert!(replies[2].usage.reused_tokens > 20, "{:?}", replies[2].usage);
    let long = [GenerateRequest::FillIn(gap(&"a".repeat(300), &"b".repeat(300)))];
    let refused = engine.generate_all(&long, &mut |_| ()).unwrap_err();
    let over = LlmError::OverContext {
        prompt: 603,
        answer: 12,
        context: CONTEXT,
    };
    assert!(
        matches!(&refused, LlamaError::Call(error) if *error == over),
        "{refused}"
    );
}

#[test]
fn a_model_without_such_tokens_refuses_to_fill_in() {
    let family = Family::new(TinyModel::Qwen2);
    let mut engine = family.engine();
    assert!(!engine.loaded().fills_in);
    let requests = [
        GenerateRequest::Chat(chat("a question", 12, Constraint::None)),
        GenerateRequest::FillIn(gap("a", "b")),
    ];
    let refused = engine.generate_all(&requests, &mut |_| ()).unwrap_err().to_string();
    assert!(refused.contains("no tokens that ask for a text between"), "{refused}");
    assert_eq!(engine.count_fill_in("a", "b").unwrap_err().to_string(), refused);
    assert_eq!(engine.token_edits(&edits_asked(3)).unwrap_err().to_string(), refused);
    assert_eq!(engine.stats().computed_tokens, 0);
}
