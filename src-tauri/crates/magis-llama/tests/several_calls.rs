//! Calls that go on at the same time get the answers that each gets alone, share what their prompts have in common, and
//! end one by one, whatever a family of models keeps of the tokens it has read.
#![expect(clippy::unwrap_used, reason = "a test fails where something is missing")]

#[allow(dead_code, reason = "it also serves other tests")]
mod families;

use families::{Family, chat, prompts, user};
use magis_llama::engine::{Ask, CallAnswer, CallEvent, Engine};
use magis_llm::protocol::{RequestId, Without};
use magis_llm::{ChatRequest, Constraint, GenerateRequest, LlmError, Sampling, ScoreRequest, Urgency, Usage};
use magis_testkit::TinyModel;
use std::collections::BTreeMap;

/// Rounding, with steps of other sizes, stays well below; a wrong cache is far above.
const ROUNDING: f64 = 0.05;

type Answers = BTreeMap<u64, Result<CallAnswer, LlmError>>;

/// Begins calls, numbered from 1 on, and computes until all have ended. `between` may interfere after each step.
fn run(engine: &mut Engine, asks: &[(Urgency, Ask)], mut between: impl FnMut(&mut Engine, u32, &Answers)) -> Answers {
    for (number, (urgency, ask)) in asks.iter().enumerate() {
        engine.begin(RequestId(number as u64 + 1), *urgency, ask.clone());
    }
    let mut answers = Answers::new();
    for turn in 0.. {
        if engine.is_idle() {
            break;
        }
        for event in engine.turn(&mut |_| ()).unwrap() {
            if let CallEvent::Ended(RequestId(id), result) = event {
                assert!(answers.insert(id, result).is_none(), "{id} ended twice");
            }
        }
        between(engine, turn, &answers);
    }
    answers
}

fn together(engine: &mut Engine, asks: &[Ask]) -> Vec<CallAnswer> {
    let asks: Vec<_> = asks.iter().map(|ask| (Urgency::Interactive, ask.clone())).collect();
    let answers = run(engine, &asks, |_, _, _| ());
    answers.into_values().map(Result::unwrap).collect()
}

fn score(prompt: &str) -> Ask {
    Ask::Score(ScoreRequest {
        messages: user(prompt),
        answer_prefix: String::new(),
        continuations: ["ab", "abc", "xyz", "q"].map(str::to_owned).to_vec(),
        by_line: false,
    })
}

fn drawn(prompt: &str, seed: u64) -> ChatRequest {
    ChatRequest {
        sampling: Sampling::Temperature { temperature: 0.8, seed },
        ..chat(prompt, 12, Constraint::None)
    }
}

fn usages(answer: &CallAnswer) -> Vec<Usage> {
    match answer {
        CallAnswer::Chat(reply) => vec![reply.usage],
        CallAnswer::GeneratedAll(replies) => replies.iter().map(|reply| reply.usage).collect(),
        CallAnswer::Score(reply) => vec![reply.usage],
        CallAnswer::TokenEdits(reply) => vec![reply.usage],
    }
}

fn computed(answers: &[CallAnswer]) -> u32 {
    answers.iter().flat_map(usages).map(|usage| usage.prompt_tokens).sum()
}

fn text_of(answer: &CallAnswer) -> &str {
    match answer {
        CallAnswer::Chat(reply) => &reply.text,
        _ => unreachable!("{answer:?}"),
    }
}

/// Of a model with random weights two tokens are often as good as equally likely: somewhere in a long answer rounding decides.
fn begin(answer: &CallAnswer) -> String {
    text_of(answer).chars().take(16).collect()
}

fn check_same(one: &CallAnswer, other: &CallAnswer) {
    match (one, other) {
        (CallAnswer::Chat(one), CallAnswer::Chat(other)) => assert_eq!(one.text, other.text),
        (CallAnswer::Score(one), CallAnswer::Score(other)) => {
            for (one, other) in one.scores.iter().zip(&other.scores) {
                assert!(
                    (one.logprob - other.logprob).abs() < ROUNDING,
                    "{one:?}, alone {other:?}"
                );
            }
        }
        (CallAnswer::GeneratedAll(one), CallAnswer::GeneratedAll(other)) => assert_eq!(one[0].text, other[0].text),
        _ => unreachable!("{one:?}, alone {other:?}"),
    }
}

fn answers_are_those_of_each_alone(model: TinyModel) {
    let family = Family::new(model);
    let mut engine = family.engine();
    for texts in prompts(24).chunks(6) {
        let choices = ["the first of the choices", "none of them at all"];
        let asks = [
            Ask::Chat(chat(&texts[0], 16, Constraint::None)),
            score(&texts[1]),
            Ask::GenerateAll(vec![
                GenerateRequest::Chat(chat(&texts[2], 16, Constraint::None)),
                GenerateRequest::Chat(drawn(&texts[2], 1)),
            ]),
            score(&texts[3]),
            Ask::Chat(chat(
                &texts[4],
                16,
                Constraint::OneOf(choices.map(str::to_owned).to_vec()),
            )),
            score(&texts[5]),
        ];
        for (answer, ask) in together(&mut engine, &asks).iter().zip(&asks) {
            let alone = together(&mut family.engine(), std::slice::from_ref(ask));
            check_same(answer, &alone[0]);
        }
    }
}

fn what_prompts_begin_with_alike_is_computed_once(model: TinyModel) {
    let family = Family::new(model);
    let begin = "the same begin of all of them, which is long enough to be worth waiting for ".repeat(2);
    let asks: Vec<Ask> = ["one", "two", "three"]
        .map(|end| score(&format!("{begin}{end}")))
        .to_vec();
    let mut engine = family.engine();
    let answers = together(&mut engine, &asks);
    let each: u32 = usages(&answers[0])
        .iter()
        .map(|usage| usage.prompt_tokens + usage.reused_tokens)
        .sum();
    let all = computed(&answers);
    assert!(all < each + 3 * 40, "{all} tokens for three prompts of {each}");
    // Asked once more, nothing is left to compute.
    assert_eq!(computed(&together(&mut engine, &asks)), 0);
}

fn a_call_that_is_cancelled_leaves_the_others_as_they_are(model: TinyModel) {
    let family = Family::new(model);
    let mut engine = family.engine();
    for (round, texts) in prompts(30).chunks(3).enumerate() {
        let asks = [
            Ask::Chat(chat(&texts[0], 16, Constraint::None)),
            score(&texts[1]),
            Ask::Chat(chat(&texts[2], 16, Constraint::None)),
        ];
        let urgent: Vec<_> = asks.iter().map(|ask| (Urgency::Interactive, ask.clone())).collect();
        let answers = run(&mut engine, &urgent, |engine, turn, _| {
            if turn as usize == round {
                engine.cancel(RequestId(1));
            }
        });
        for number in [2, 3] {
            let alone = together(&mut family.engine(), &asks[number - 1..number]);
            check_same(answers[&(number as u64)].as_ref().unwrap(), &alone[0]);
        }
        let again = together(&mut engine, &asks[..1]);
        check_same(&again[0], &together(&mut family.engine(), &asks[..1])[0]);
    }
}

fn a_draft_changes_no_answer(model: TinyModel) {
    let family = Family::new(model);
    let mut engine = family.engine();
    let (mut steps, mut tokens, mut same) = (0, 0, 0);
    let texts = [
        "abcabcabcabcabc",
        "one two one two one two one two",
        "x = y\nx = y\nx = y\nx = y\n",
    ];
    for text in texts {
        let ask = Ask::Chat(chat(text, 60, Constraint::None));
        let answers = run(&mut engine, &[(Urgency::Interactive, ask)], |_, _, _| steps += 1);
        let Some(Ok(CallAnswer::Chat(reply))) = answers.get(&1) else {
            unreachable!("{answers:?}")
        };
        tokens += reply.usage.generated_tokens;
        // Beside two other answers nothing is drafted.
        let beside = [text, "q", "r"].map(|text| Ask::Chat(chat(text, 60, Constraint::None)));
        let answer = CallAnswer::Chat(reply.clone());
        let alone = &together(&mut family.engine(), &beside)[0];
        assert_eq!(begin(&answer), begin(alone));
        same += usize::from(text_of(&answer) == text_of(alone));
    }
    assert!(same + 1 >= texts.len(), "{same} answers are the same to their end");
    println!("{model:?}: {tokens} tokens in {steps} steps");
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
            fn what_prompts_begin_with_alike_is_computed_once() {
                super::what_prompts_begin_with_alike_is_computed_once(TinyModel::$model);
            }

            #[test]
            fn a_call_that_is_cancelled_leaves_the_others_as_they_are() {
                super::a_call_that_is_cancelled_leaves_the_others_as_they_are(TinyModel::$model);
            }

            #[test]
            fn a_draft_changes_no_answer() {
                super::a_draft_changes_no_answer(TinyModel::$model);
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
fn what_a_person_waits_for_comes_before_the_background() {
    let family = Family::new(TinyModel::Qwen2);
    let long = |text: &str| score(&text.repeat(60));
    let asks = [
        (Urgency::Background, long("b")),
        (Urgency::Background, long("c")),
        (Urgency::Interactive, long("a")),
    ];
    let mut first = None;
    run(&mut family.engine(), &asks, |_, _, answers| {
        first = first.or(answers.keys().next().copied());
    });
    assert_eq!(first, Some(3));
}

#[test]
fn calls_that_do_not_fit_beside_others_wait_until_they_do() {
    let family = Family::new(TinyModel::Qwen2);
    let texts = prompts(12);
    // Each reserves most of the context.
    let asks: Vec<Ask> = texts
        .iter()
        .map(|text| Ask::Chat(chat(text, 280, Constraint::None)))
        .collect();
    let answers = together(&mut family.engine(), &asks);
    assert_eq!(answers.len(), 12);
    let alone = |ask: &Ask| together(&mut family.engine(), std::slice::from_ref(ask)).remove(0);
    let same = asks
        .iter()
        .zip(&answers)
        .filter(|(ask, answer)| begin(&alone(ask)) == begin(answer));
    assert!(same.count() >= 11, "{answers:?}");
}

#[test]
fn without_reuse_each_prompt_is_computed_anew() {
    let family = Family::new(TinyModel::Qwen2);
    let ask = |engine: &mut Engine, text: &str| engine.chat(&chat(&text.repeat(60), 8, Constraint::None), &mut |_| ());
    let mut engine = family.large_engine();
    let first = ask(&mut engine, "a").unwrap().usage.prompt_tokens;
    engine.measure_without(Without {
        reuse: true,
        ..Without::default()
    });
    let again = ask(&mut engine, "a").unwrap();
    assert_eq!((again.usage.prompt_tokens, again.usage.reused_tokens), (first, 0));
}
