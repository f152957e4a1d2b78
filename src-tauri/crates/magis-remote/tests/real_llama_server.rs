//! A real llama-server, the program that `MAGIS_LLAMA_SERVER` names, with the model that `MAGIS_TEST_MODEL` names.
//!
//! What a model of this size says is worth nothing; these tests are about how it is asked.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails where something is missing"
)]

use magis_llm::{
    ChatRequest, Constraint, FinishReason, GenerateRequest, LanguageModel as _, Message, MessageRole, ScoreRequest,
};
use magis_remote::{Counting, EngineOptions, RemoteModel, Scoring, ServerKind};
use serde_json::json;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// The server, until it is dropped.
struct LlamaServer {
    child: Child,
    url: String,
}

impl Drop for LlamaServer {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

async fn start() -> (LlamaServer, RemoteModel) {
    let program = std::env::var_os("MAGIS_LLAMA_SERVER").expect("MAGIS_LLAMA_SERVER names no llama-server");
    let model = std::env::var_os("MAGIS_TEST_MODEL").expect("MAGIS_TEST_MODEL names no model file");
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let child = Command::new(program)
        .arg("--model")
        .arg(model)
        .args([
            "--host",
            "127.0.0.1",
            "--port",
            &port.to_string(),
            "--ctx-size",
            "4096",
            "--parallel",
            "2",
        ])
        .args(["--threads", "1", "--batch-size", "64", "--jinja"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let server = LlamaServer {
        child,
        url: format!("http://127.0.0.1:{port}"),
    };
    let begun = Instant::now();
    loop {
        match RemoteModel::connect(EngineOptions::at(server.url.parse().unwrap())).await {
            Ok(model) => return (server, model),
            Err(error) if begun.elapsed() > Duration::from_mins(2) => panic!("it does not start: {error}"),
            Err(_) => sleep(Duration::from_millis(500)).await,
        }
    }
}

fn request(text: &str, constraint: Constraint) -> ChatRequest {
    ChatRequest {
        constraint,
        ..ChatRequest::new(vec![Message::new(MessageRole::User, text)], 48)
    }
}

#[tokio::test]
#[ignore = "needs a llama-server, named by MAGIS_LLAMA_SERVER"]
async fn a_real_llama_server_does_all_that_is_asked_of_it() {
    let (_server, model) = start().await;
    let abilities = model.abilities();
    assert_eq!(abilities.kind, ServerKind::LlamaServer);
    assert_eq!(
        (abilities.scoring, abilities.counting),
        (Scoring::Exact, Counting::Exact)
    );
    assert!(model.card().context >= 2048, "{:?}", model.card());

    let mut shown = String::new();
    let free = request("Write one sentence about rivers.", Constraint::None);
    let reply = model.chat(&free, &mut |text| shown.push_str(text)).await.unwrap();
    assert!(!reply.text.is_empty() && shown == reply.text, "{reply:?}");
    assert!(
        reply.usage.generated_tokens > 0 && reply.usage.prompt_tokens > 0,
        "{reply:?}"
    );
    let again = model.chat(&free, &mut |_| ()).await.unwrap();
    assert_eq!(again.text, reply.text, "greedy twice");

    let begun = ChatRequest {
        answer_prefix: "Count: one, two, three,".to_owned(),
        max_tokens: 4,
        ..request("Count to ten in words. Begin with 'Count:'.", Constraint::None)
    };
    let reply = model.chat(&begun, &mut |_| ()).await.unwrap();
    assert!(
        !reply.text.contains("Count:") && reply.finish == FinishReason::Length,
        "it goes on: {reply:?}"
    );
    assert!(reply.text.contains("four"), "it goes on: {reply:?}");

    let stopped = ChatRequest {
        stop: vec!["five".to_owned()],
        max_tokens: 32,
        ..begun.clone()
    };
    let reply = model.chat(&stopped, &mut |_| ()).await.unwrap();
    assert!(
        !reply.text.contains("five") && reply.finish == FinishReason::Complete,
        "it stops: {reply:?}"
    );

    let choice = Constraint::OneOf(vec!["src/zebra \"x\".rs".to_owned(), "docs\\ü.md".to_owned()]);
    let ranges = Constraint::LineRanges {
        first: 95,
        last: 1204,
        most: 3,
    };
    let schema = Constraint::JsonSchema(json!({
        "type": "object",
        "properties": {"why": {"type": "string", "maxLength": 20}, "action": {"enum": ["modify", "nothing"]}},
        "required": ["why", "action"],
        "additionalProperties": false,
    }));
    for constraint in [choice, ranges, schema] {
        let reply = model.chat(&request("Decide.", constraint.clone()), &mut |_| ()).await;
        assert!(reply.is_ok(), "{constraint:?}: {reply:?}");
    }
    let prefixed = ChatRequest {
        answer_prefix: "The lines are ".to_owned(),
        ..request(
            "Which lines?",
            Constraint::LineRanges {
                first: 1,
                last: 9,
                most: 1,
            },
        )
    };
    let reply = model.chat(&prefixed, &mut |_| ()).await.unwrap();
    assert_eq!(reply.text.len(), 3, "{reply:?}");
}

#[tokio::test]
#[ignore = "needs a llama-server, named by MAGIS_LLAMA_SERVER"]
async fn a_real_llama_server_scores_texts_and_answers_side_by_side() {
    let (_server, model) = start().await;
    let capital = |continuations: &[&str]| ScoreRequest {
        messages: request("What is the capital of France?", Constraint::None).messages,
        answer_prefix: "The capital of France is".to_owned(),
        continuations: continuations.iter().map(|one| (*one).to_owned()).collect(),
        by_line: true,
    };
    let reply = model
        .score(&capital(&[" Paris", " zebra", " Paris\nand more"]))
        .await
        .unwrap();
    let [paris, zebra, more] = reply.scores[..] else {
        panic!("three were asked for: {reply:?}")
    };
    assert!(paris.logprob > zebra.logprob + 5.0, "{reply:?}");
    assert!(
        (reply.lines[2][0] - paris.logprob) < 1e-6 && reply.lines[2].len() == 2,
        "{reply:?}"
    );
    assert!(
        (reply.lines[2].iter().sum::<f64>() - more.logprob).abs() < 1e-6,
        "{reply:?}"
    );
    let again = model.score(&capital(&[" zebra", " Paris"])).await.unwrap();
    assert!(
        (again.scores[1].logprob - paris.logprob).abs() < 0.05,
        "{reply:?} and {again:?}"
    );

    // The chance of a text is the product of its parts' chances: the second half behind the first.
    let mut rest = capital(&["\nand more"]);
    rest.answer_prefix.push_str(" Paris");
    let rest = model.score(&rest).await.unwrap().scores[0];
    assert!(
        (paris.logprob + rest.logprob - more.logprob).abs() < 0.05,
        "{paris:?} + {rest:?} = {more:?}"
    );

    let counts = model
        .count_tokens(&["Paris".to_owned(), "<|im_end|>".to_owned()])
        .await
        .unwrap();
    assert!(
        counts[0] <= 2 && counts[1] > 1,
        "special tokens in a text are data: {counts:?}"
    );
    let prompt = model.count_prompt(&capital(&[]).messages, "The").await.unwrap();
    assert!((8..80).contains(&prompt), "{prompt}");

    let both: Vec<GenerateRequest> = ["Say a.", "Say b."]
        .map(|text| GenerateRequest::Chat(request(text, Constraint::None)))
        .into();
    let replies = model.generate_all(&both, &mut |_| ()).await.unwrap();
    assert_eq!(replies.len(), 2);

    // A long prompt is given up: the server is free again at once.
    let long = request(&"word ".repeat(1500), Constraint::None);
    drop(timeout(Duration::from_millis(200), model.chat(&long, &mut |_| ())).await);
    let begun = Instant::now();
    let short = ChatRequest {
        max_tokens: 1,
        ..request("Hi", Constraint::None)
    };
    model.chat(&short, &mut |_| ()).await.unwrap();
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "it goes on with what nobody waits for: {:?}",
        begun.elapsed()
    );

    let over = request(&"word ".repeat(5000), Constraint::None);
    let error = model.chat(&over, &mut |_| ()).await.unwrap_err().to_string();
    assert!(error.contains("does not fit into its context"), "{error}");
}
