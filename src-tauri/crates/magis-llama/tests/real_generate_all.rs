//! Several answers at once from a real model, SmolLM2-135M-Instruct, whose file `MAGIS_TEST_MODEL` names.
//!
//! Rounding differs with the number of rows of a step, and where two tokens are as good as equally likely, an answer may
//! part there from the one that is generated alone: of several answers most have to be the same, not all.
#![expect(clippy::unwrap_used, reason = "a test fails where something is missing")]

use magis_llama::{LoadRequest, Priority, WorkerCommand, WorkerModel};
use magis_llm::{
    ChatReply, ChatRequest, Constraint, FillInRequest, GenerateRequest, LanguageModel, LlmError, Message, MessageRole,
    Sampling,
};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::time::timeout;

async fn load_with(context: u32) -> WorkerModel {
    let file = std::env::var_os("MAGIS_TEST_MODEL")
        .map(PathBuf::from)
        .expect("MAGIS_TEST_MODEL names no model file; run these tests with `cargo xtask test`, which fetches it");
    let load = LoadRequest {
        file,
        sha256: "not verified here".to_owned(),
        context: Some(context),
        threads: Some(1),
        ..LoadRequest::default()
    };
    let worker = WorkerCommand {
        program: env!("CARGO_BIN_EXE_magis-llama-worker").into(),
        args: Vec::new(),
        priority: Priority::Normal,
    };
    WorkerModel::start(worker, load).await.unwrap()
}

fn chat(content: &str, max_tokens: u32) -> ChatRequest {
    ChatRequest::new(vec![Message::new(MessageRole::User, content)], max_tokens)
}

fn together(requests: &[ChatRequest]) -> Vec<GenerateRequest> {
    requests.iter().cloned().map(GenerateRequest::Chat).collect()
}

/// Returns the replies, and how many are those that the requests get one at a time.
async fn compare(model: &WorkerModel, requests: &[ChatRequest]) -> (Vec<ChatReply>, usize) {
    let replies = model.generate_all(&together(requests), &mut |_| ()).await.unwrap();
    let mut same = 0;
    for (reply, request) in replies.iter().zip(requests) {
        let alone = model.chat(request, &mut |_| ()).await.unwrap();
        same += usize::from((&alone.text, alone.finish) == (&reply.text, reply.finish));
    }
    (replies, same)
}

#[tokio::test]
async fn smollm2_answers_several_questions_at_once_as_it_answers_each() {
    let model = load_with(4096).await;
    let code = "def mean(values):\n    return sum(values) / len(values)\n";
    let questions = [
        "What does it do?",
        "When does it fail?",
        "Write a test for it.",
        "Name it better.",
        "Say yes.",
    ];
    let requests = questions.map(|question| chat(&format!("This is a function:\n{code}\n{question}"), 32));
    let (replies, same) = compare(&model, &requests).await;
    assert!(same >= 4, "{same} of 5 are the same: {replies:?}");
    let shared = replies[1..].iter().all(|reply| reply.usage.reused_tokens > 20);
    assert!(shared, "their begin is computed once: {replies:?}");
}

#[tokio::test]
async fn smollm2_draws_eight_answers_at_once_as_one_at_a_time() {
    let model = load_with(4096).await;
    let drawn = |seed| ChatRequest {
        sampling: Sampling::Temperature { temperature: 0.8, seed },
        ..chat("Tell me about a fault in a parser.", 40)
    };
    let requests: Vec<ChatRequest> = (1..=8).map(drawn).collect();
    let (replies, same) = compare(&model, &requests).await;
    assert!(same >= 6, "{same} of 8 are the same: {replies:?}");
    assert_ne!(replies[0].text, replies[1].text);
    let computed: u32 = replies[1..].iter().map(|reply| reply.usage.prompt_tokens).sum();
    assert_eq!(computed, 0, "the prompt is computed once");
}

#[tokio::test]
async fn smollm2_keeps_the_constraint_and_the_stop_text_of_each_answer() {
    let model = load_with(4096).await;
    let choices = ["src/parser.py", "src/lexer.py"].map(str::to_owned).to_vec();
    let requests = [
        ChatRequest {
            constraint: Constraint::OneOf(choices.clone()),
            ..chat("Which file has the parser?", 30)
        },
        ChatRequest {
            answer_prefix: "1, 2, 3,".to_owned(),
            stop: vec!["6".to_owned()],
            ..chat("Write the numbers from 1 to 9, separated by commas.", 30)
        },
        chat("Tell me a story.", 2),
    ];
    let replies = model.generate_all(&together(&requests), &mut |_| ()).await.unwrap();
    assert!(choices.contains(&replies[0].text), "{replies:?}");
    assert_eq!(replies[1].text, " 4, 5, ");
    assert_eq!(replies[2].usage.generated_tokens, 2);
}

#[tokio::test]
async fn smollm2_has_no_tokens_to_fill_in_a_text() {
    let model = load_with(512).await;
    assert!(!model.card().fills_in);
    let request = GenerateRequest::FillIn(FillInRequest {
        before: "def add(a, b):\n".to_owned(),
        after: "\nprint(add(1, 2))\n".to_owned(),
        sampling: Sampling::Greedy,
        max_tokens: 10,
        stop: Vec::new(),
        other_than: None,
    });
    let refused = model.generate_all(&[request], &mut |_| ()).await;
    assert_eq!(refused, Err(LlmError::no_fill_in()));
    assert_eq!(model.count_fill_in("a", "b").await, Err(LlmError::no_fill_in()));
}

#[tokio::test]
async fn smollm2_refuses_all_where_one_exceeds_the_context() {
    let model = load_with(512).await;
    let requests = [chat("Hello.", 10), chat(&"word ".repeat(600), 10)];
    let error = model.generate_all(&together(&requests), &mut |_| ()).await.unwrap_err();
    assert!(matches!(error, LlmError::OverContext { context: 512, .. }), "{error}");
    assert_eq!(model.stats().await.unwrap().computed_tokens, 0);
}

#[tokio::test]
async fn smollm2_stops_at_once_when_several_answers_are_dropped() {
    let model = load_with(4096).await;
    let requests: Vec<ChatRequest> = (0..4)
        .map(|number| chat(&format!("Tell me story {number}, a long one."), 900))
        .collect();
    let requests = together(&requests);
    let dropped = timeout(Duration::from_secs(2), model.generate_all(&requests, &mut |_| ())).await;
    assert!(dropped.is_err(), "they were still to be generated: {dropped:?}");
    let begun = Instant::now();
    let next = model.chat(&chat("Hello.", 1), &mut |_| ()).await.unwrap();
    // Half a second is promised; a machine that is busy with other things gets more.
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    assert_eq!(next.usage.generated_tokens, 1);
    assert!(model.take_restarts().is_empty());
}

#[tokio::test]
async fn smollm2_worker_that_dies_generates_all_again_and_shows_the_first_once() {
    let model = load_with(4096).await;
    let requests = together(&[
        chat("Tell me a long story about a parser.", 40),
        chat("Count from one to five in words.", 40),
    ]);
    let before = model.generate_all(&requests, &mut |_| ()).await.unwrap();
    let mut shown = String::new();
    let mut sink = |text: &str| shown.push_str(text);
    let (replies, ()) = tokio::join!(model.generate_all(&requests, &mut sink), async {
        tokio::task::yield_now().await;
        model.abort_for_test().await;
    });
    let replies = replies.unwrap();
    assert_eq!(replies.len(), before.len());
    assert_eq!(shown, replies[0].text);
    assert_eq!(model.take_restarts().len(), 1);
}
