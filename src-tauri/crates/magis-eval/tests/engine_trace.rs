//! A trace on a scripted model and on a small peer on loopback: who is asked what, and what each side says that it cost.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use magis_core::{Agent, RepoPath};
use magis_eval::trace::counterpart::{fewest, of_trace};
use magis_eval::trace::ours;
use magis_eval::trace::peer::Peer;
use magis_eval::trace::report::TraceReport;
use magis_eval::trace::{Cost, Trace};
use magis_llm::{
    ChatRequest, Constraint, Departure, FillInRequest, GenerateRequest, LanguageModel, Message, MessageRole, OtherThan,
    PromptText, Sampling, ScoreRequest, ScriptedModel, TokenEdit, TokenEditRequest,
};
use magis_store::{CallKind, CallRecord};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A call that ended at `at_ms` and took `ms`.
fn record(step: &str, at_ms: i64, ms: u32, request: &impl Serialize) -> CallRecord {
    CallRecord {
        key: format!("{step} {at_ms}"),
        after_seq: 1,
        agent: Agent::Custodian,
        step: step.to_owned(),
        template_hash: String::new(),
        task: None,
        round: None,
        attempt: None,
        path: None::<RepoPath>,
        model: "scripted".to_owned(),
        model_sha: String::new(),
        seed: 1,
        kind: CallKind::Chat,
        request: serde_json::to_value(request).unwrap(),
        reply: Value::Null,
        finish: "complete".to_owned(),
        prompt_tokens: 0,
        reused_tokens: 0,
        generated_tokens: 0,
        prompt_ms: ms / 2,
        generate_ms: ms - ms / 2,
        left_out: json!([]),
        retries: 0,
        at_ms,
    }
}

fn messages(text: &str) -> Vec<Message> {
    vec![Message::new(MessageRole::User, text)]
}

fn chat(text: &str, constraint: Constraint, seed: u64) -> ChatRequest {
    let varied = Sampling::Temperature { temperature: 0.8, seed };
    ChatRequest {
        constraint,
        sampling: if seed == 0 { Sampling::Greedy } else { varied },
        ..ChatRequest::new(messages(text), 100)
    }
}

fn score(text: &str, continuations: &[&str]) -> ScoreRequest {
    ScoreRequest {
        messages: messages(text),
        answer_prefix: String::new(),
        continuations: continuations.iter().map(|text| (*text).to_owned()).collect(),
        by_line: false,
    }
}

fn fill_in(before: &str) -> FillInRequest {
    FillInRequest {
        before: before.to_owned(),
        after: "end".to_owned(),
        sampling: Sampling::Greedy,
        max_tokens: 100,
        stop: Vec::new(),
        other_than: None,
    }
}

#[tokio::test]
async fn what_prompts_begin_with_alike_counts_once_among_the_fewest_tokens() {
    let model = ScriptedModel::new("test");
    let ask = |text| record("P1", 1000, 900, &chat(text, Constraint::None, 0));
    let trace = Trace::of(&[
        ask("one issue"),
        ask("another"),
        ask("one issue, again"),
        ask("another"),
    ])
    .unwrap();
    assert_eq!(trace.clone().one_by_one().groups.len(), 4);
    let model: Arc<dyn LanguageModel> = Arc::new(model);
    let ours = ours::replay(&model, &trace, |_, _| ()).await.unwrap();
    let works = of_trace(model.as_ref(), &trace, &ours.replies).await.unwrap();
    let of = |index: usize| works.iter().flatten().nth(index).unwrap()[0].prompt.clone();
    let mut beginnings: Vec<Vec<u32>> = (0..4)
        .flat_map(|call| {
            let prompt = of(call);
            (1..=prompt.len()).map(move |end| prompt[..end].to_vec())
        })
        .collect();
    beginnings.sort();
    beginnings.dedup();
    assert_eq!(fewest(&works), beginnings.len() as u64);
}

#[test]
fn calls_recorded_before_they_could_have_begun_were_issued_together() {
    let call = |step: &str, at_ms, ms| record(step, at_ms, ms, &chat(step, Constraint::None, 0));
    let calls = [
        call("P1", 1000, 1000),
        call("P2", 2010, 1000),
        call("P10", 3000, 500),
        call("P10", 3001, 500),
        call("P10", 3003, 400),
        call("P11", 4003, 1000),
    ];
    let trace = Trace::of(&calls).unwrap();
    let groups: Vec<usize> = trace.groups.iter().map(Vec::len).collect();
    assert_eq!(groups, [1, 1, 3, 1]);
    assert_eq!(Trace::of(&[]).unwrap_err().to_string(), "the run has no call on record");
}

#[test]
fn every_kind_of_recorded_request_is_read_as_it_was_asked() {
    let edits = TokenEditRequest {
        before: "a".to_owned(),
        after: "c".to_owned(),
        text: "b".to_owned(),
        most: 9,
        written: 1,
    };
    let calls = [
        record("P1", 1, 0, &chat("one", Constraint::None, 7)),
        record("naming", 2, 0, &score("two", &["a"])),
        record("P10", 3, 0, &GenerateRequest::FillIn(fill_in("three"))),
        record("P10", 4, 0, &edits),
    ];
    let trace = Trace::of(&calls).unwrap();
    let kinds: Vec<&str> = trace.calls().map(|call| call.request.kind()).collect();
    assert_eq!(kinds, ["chat", "score", "fill-in", "token edits"]);
    let odd = [record("P9", 1, 0, &json!({ "messages": 3 }))];
    let error = Trace::of(&odd).unwrap_err().to_string();
    assert_eq!(error, "reading a recorded call of P9");
}

/// A server on loopback that answers as llama-server does, holds all prompts that it has read, and keeps what it was asked.
struct FakePeer {
    url: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl FakePeer {
    /// Serves until the test ends. Its requests are few, and each has a connection of its own.
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().take(100) {
                answer(stream.unwrap(), &kept);
            }
        });
        Self { url, asked }
    }

    fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }
}

fn answer(stream: TcpStream, asked: &Mutex<Vec<Value>>) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while reader.read_line(&mut head).unwrap() > 2 {}
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.parse::<usize>().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    let (status, answer) = if head.starts_with("GET /props ") {
        ("200 OK", json!({ "total_slots": 2, "model_path": "model.gguf" }))
    } else {
        completed(serde_json::from_slice(&body).unwrap(), &mut asked.lock().unwrap())
    };
    let answer = answer.to_string();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        answer.len()
    );
    reader.get_mut().write_all((head + &answer).as_bytes()).unwrap();
}

/// At least the last token of a prompt is read.
fn completed(body: Value, asked: &mut Vec<Value>) -> (&'static str, Value) {
    let prompt = body["prompt"].as_array().unwrap().clone();
    if prompt.len() > 1000 {
        return (
            "400 Bad Request",
            json!({ "error": { "message": "the request exceeds the available context size" } }),
        );
    }
    let common = |other: &Value| {
        let other = other["prompt"].as_array().unwrap();
        prompt.iter().zip(other).take_while(|(one, other)| one == other).count()
    };
    let cached = asked.iter().map(common).max().unwrap_or(0).min(prompt.len() - 1);
    let one = json!({ "timings": {
        "cache_n": cached, "prompt_n": prompt.len() - cached, "predicted_n": body["n_predict"]
    } });
    let answers = body["n_cmpl"].as_u64().unwrap();
    asked.push(body);
    (
        "200 OK",
        if answers == 1 {
            one
        } else {
            json!(vec![one; answers as usize])
        },
    )
}

/// Replays on both sides, and returns the report.
async fn replayed(model: ScriptedModel, calls: &[CallRecord], peer: &FakePeer) -> anyhow::Result<TraceReport> {
    let model: Arc<dyn LanguageModel> = Arc::new(model);
    let trace = Trace::of(calls)?;
    let ours = ours::replay(&model, &trace, |_, _| ()).await?;
    let works = of_trace(model.as_ref(), &trace, &ours.replies).await?;
    let costs = Peer::find(&peer.url)?.replay(&works, |_, _| ())?;
    let left_out = ours.left_out(&trace);
    Ok(TraceReport::new(
        &trace,
        &ours.costs,
        Some(&costs),
        fewest(&works),
        left_out,
    ))
}

async fn tokens(model: &ScriptedModel, text: &str) -> Vec<u32> {
    let prompt = PromptText::Chat {
        messages: messages(text),
        answer_prefix: String::new(),
    };
    model.tokenize(&[prompt]).await.unwrap().concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn both_sides_get_the_same_tokens_and_answers_of_one_length() {
    let model = || ScriptedModel::new("test").when("issue", "x".repeat(40));
    let peer = FakePeer::start();
    let calls = [
        record("P1", 1000, 900, &chat("the issue", Constraint::None, 0)),
        record(
            "P9",
            2000,
            900,
            &chat("the issue, lines", Constraint::OneOf(vec!["x".repeat(40)]), 0),
        ),
    ];
    let report = replayed(model(), &calls, &peer).await.unwrap();
    let asked = peer.asked();
    assert_eq!(asked[0]["prompt"], json!(tokens(&model(), "the issue").await));
    assert_eq!(
        [
            &asked[0]["n_predict"],
            &asked[0]["ignore_eos"],
            &asked[0]["cache_prompt"],
            &asked[0]["id_slot"]
        ],
        [&json!(10), &json!(true), &json!(true), &json!(-1)]
    );
    assert_eq!(asked[1]["grammar"], json!(format!("root ::= \"{}\"", "x".repeat(40))));
    assert_eq!(asked[1]["ignore_eos"], Value::Null, "a form ends where it ends");
    // Of 7 and 8 tokens the second prompt shares 6 with the first: the third piece of its text is another one.
    let cost = |computed, reused| Cost {
        computed,
        reused,
        generated: 20,
    };
    assert_eq!(report.all.ours.tokens, cost(15, 0));
    assert_eq!(report.all.peer.unwrap().tokens, cost(9, 6));
    assert_eq!(report.peer_to_ours.unwrap().generated, Some(1.0));
    assert!(
        report.text().contains("2 calls in 2 groups: 2 chat"),
        "{}",
        report.text()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_from_one_prompt_are_one_request_as_far_as_there_are_slots() {
    let model = ScriptedModel::new("test").answer(|request| match request.sampling {
        Sampling::Greedy => Some("x".repeat(8).into()),
        Sampling::Temperature { .. } => Some("x".repeat(40).into()),
    });
    let peer = FakePeer::start();
    let attempt = |seed, at_ms| record("P10", at_ms, 900, &chat("write", Constraint::None, seed));
    let calls = [attempt(0, 1000), attempt(1, 1001), attempt(2, 1002)];
    let report = replayed(model, &calls, &peer).await.unwrap();
    let mut asked: Vec<(u64, u64)> = peer
        .asked()
        .iter()
        .map(|body| (body["n_cmpl"].as_u64().unwrap(), body["n_predict"].as_u64().unwrap()))
        .collect();
    asked.sort_unstable();
    assert_eq!(asked, [(1, 10), (2, 6)], "2 and 10 tokens come to 6 each");
    assert_eq!((report.groups, report.all.peer.unwrap().tokens.generated), (1, 22));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scored_text_is_read_up_to_its_last_token_and_texts_that_differ_there_alone_once() {
    let peer = FakePeer::start();
    let calls = [record(
        "naming",
        1000,
        900,
        &score("which", &["yes", "no", "src/main.rs", "src/mail.rs", "src/"]),
    )];
    let report = replayed(ScriptedModel::new("test"), &calls, &peer).await.unwrap();
    let asked: Vec<(usize, u64)> = peer
        .asked()
        .iter()
        .map(|body| {
            (
                body["prompt"].as_array().unwrap().len(),
                body["n_predict"].as_u64().unwrap(),
            )
        })
        .collect();
    // What differs in one piece alone stands behind the prompt itself.
    assert_eq!(asked, [(6, 1), (8, 1), (8, 1)]);
    assert_eq!(report.all.peer.unwrap().tokens.generated, 0);
    assert_eq!(report.all.ours.tokens.computed, 6 + 1 + 1 + 3 + 3 + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_known_text_is_read_before_it_is_left_and_edits_are_written_where_ours_were() {
    let model = ScriptedModel::new("test")
        .fill_in_with(|_| Some("filled in".into()))
        .edit_with(|_| {
            let edit = |text: &str| TokenEdit {
                start: 4,
                end: 8,
                text: text.to_owned(),
                gain: 1.0,
            };
            Some(vec![edit("a whole line"), edit("+")])
        });
    let peer = FakePeer::start();
    let other = FillInRequest {
        other_than: Some(OtherThan {
            text: "the text".to_owned(),
            by: Departure::Likeliest,
            rank: 0,
        }),
        ..fill_in("begin")
    };
    let edits = TokenEditRequest {
        before: "begin".to_owned(),
        after: "end".to_owned(),
        text: "four five six".to_owned(),
        most: 9,
        written: 1,
    };
    let calls = [
        record("P10", 1000, 900, &GenerateRequest::FillIn(other)),
        record("P10", 2000, 900, &edits),
    ];
    let report = replayed(model, &calls, &peer).await.unwrap();
    let asked: Vec<(usize, u64)> = peer
        .asked()
        .iter()
        .map(|body| {
            (
                body["prompt"].as_array().unwrap().len(),
                body["n_predict"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(asked, [(8, 0), (6, 3), (10, 0), (7, 3)]);
    assert_eq!(report.all.ours.tokens.generated, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_does_not_fit_is_left_out_on_both_sides_and_said() {
    let peer = FakePeer::start();
    let calls = [
        record("P1", 1000, 900, &chat(&"long ".repeat(800), Constraint::None, 0)),
        record("P2", 2000, 900, &chat("short", Constraint::None, 0)),
    ];
    let report = replayed(ScriptedModel::new("test").with_context(500), &calls, &peer)
        .await
        .unwrap();
    assert_eq!(peer.asked().len(), 1);
    assert!(
        report
            .text()
            .contains("left out: a call of P1: the prompt has 1004 tokens"),
        "{}",
        report.text()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_measures_nothing_fair_is_refused() {
    let calls = [record("P1", 1000, 900, &chat("once", Constraint::None, 0))];
    let error = async |calls: &[CallRecord], peer: &FakePeer| {
        replayed(ScriptedModel::new("test"), calls, peer)
            .await
            .unwrap_err()
            .to_string()
    };
    let peer = FakePeer::start();
    replayed(ScriptedModel::new("test"), &calls, &peer).await.unwrap();
    let warm = error(&calls, &peer).await;
    assert!(
        warm.ends_with("holds the first prompt already: start it anew"),
        "{warm}"
    );

    let long = [record(
        "P1",
        1000,
        900,
        &chat(&"long ".repeat(1000), Constraint::None, 0),
    )];
    let small = error(&long, &FakePeer::start()).await;
    assert!(
        small.ends_with("refuses a prompt of 1254 tokens: the request exceeds the available context size"),
        "{small}"
    );
}

#[test]
fn what_is_missing_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let check = |line: &str, part: &str| {
        let output = support::program(folder.path()).args(line.split(' ')).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(part), "{said}");
    };
    check("engine --trace none.json", "reading the trace none.json");
    check("engine --trace 7 --data-dir here", "reading run 7");
    check(
        "engine --trace none.json --export out.json",
        "\"none.json\" is no number of a run",
    );
}
