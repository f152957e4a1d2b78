//! The worker as the system sees it: what it gets from its parent, and what it leaves to others.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails where something is missing")]

use magis_llama::{LoadRequest, Priority, WorkerCommand, WorkerModel};
use magis_llm::protocol::TemplateOrigin;
use magis_llm::{ChatRequest, LanguageModel as _, LlmError, Message, MessageRole};
use magis_testkit::TinyModel;
use magis_testkit::gguf::{Gguf, text};
use std::fs;
use std::path::{Path, PathBuf};

/// Starts a worker with this model.
async fn started(model: &Gguf, priority: Priority) -> Result<WorkerModel, LlmError> {
    let folder = tempfile::tempdir().unwrap();
    started_in(folder.path(), model, priority, None).await
}

/// Starts a worker with this model, whose file is put into a folder.
async fn started_in(
    folder: &Path,
    model: &Gguf,
    priority: Priority,
    prefixes: Option<PathBuf>,
) -> Result<WorkerModel, LlmError> {
    let file = folder.join("tiny.gguf");
    fs::write(&file, model.bytes()).unwrap();
    let command = WorkerCommand {
        program: env!("CARGO_BIN_EXE_magis-llama-worker").into(),
        args: Vec::new(),
        priority,
    };
    let load = LoadRequest {
        file,
        sha256: String::new(),
        context: Some(512),
        threads: Some(1),
        prefixes,
        ..LoadRequest::default()
    };
    WorkerModel::start(command, load).await
}

#[tokio::test]
async fn a_later_worker_begins_with_what_an_earlier_one_has_read() {
    let folder = tempfile::tempdir().unwrap();
    let prefixes = tempfile::tempdir().unwrap();
    let question = "What does this do? ".repeat(10);
    let request = ChatRequest::new(vec![Message::new(MessageRole::User, question)], 8);
    let mut replies = Vec::new();
    for _ in 0..2 {
        let kept = Some(prefixes.path().to_owned());
        let worker = started_in(folder.path(), &TinyModel::Qwen2.gguf(), Priority::Normal, kept)
            .await
            .unwrap();
        replies.push(worker.chat(&request, &mut |_| ()).await.unwrap());
        worker.shutdown().await;
    }
    let [first, second] = &replies[..] else { unreachable!() };
    assert_eq!(second.text, first.text);
    assert_eq!((first.usage.reused_tokens, second.usage.prompt_tokens), (0, 0));
    assert_eq!(second.usage.reused_tokens, first.usage.prompt_tokens);
}

/// Starts a worker of that priority; gives its process.
async fn worker(priority: Priority) -> (WorkerModel, u32) {
    let model = started(&TinyModel::Qwen2.gguf(), priority).await.unwrap();
    assert_eq!(model.count_tokens(&["abc".to_owned()]).await.unwrap(), [3]);
    let own = std::process::id();
    let processes = fs::read_dir("/proc").unwrap();
    let numbers = processes.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse::<u32>().ok());
    let is_worker = |process: &u32| {
        let name = fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
        stat(*process).is_some_and(|stat| stat[1] == i64::from(own)) && name.starts_with("magis-llama")
    };
    let process = numbers.filter(is_worker).max().unwrap();
    (model, process)
}

/// Returns the numbers behind a process's name in `/proc/PID/stat`, from its state on (as 0).
fn stat(process: u32) -> Option<Vec<i64>> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let behind_name = text.rsplit_once(')')?.1;
    Some(
        behind_name
            .split_whitespace()
            .map(|field| field.parse().unwrap_or(0))
            .collect(),
    )
}

fn niceness(process: u32) -> i64 {
    stat(process).unwrap()[16]
}

#[tokio::test]
async fn a_worker_lets_others_go_first_where_it_is_told_to() {
    let own = niceness(std::process::id());
    let of = async |priority| {
        let (_model, process) = worker(priority).await;
        niceness(process)
    };
    assert_eq!(of(Priority::Normal).await, own);
    assert_eq!(of(Priority::BelowNormal).await, (own + 5).min(19));
    assert_eq!(of(Priority::Lowest).await, 19);
}

#[tokio::test]
async fn the_worker_is_told_to_wait_without_taking_a_core_unless_a_person_says_how() {
    let said: Vec<_> = ["GOMP_SPINCOUNT", "OMP_WAIT_POLICY"]
        .into_iter()
        .filter_map(std::env::var_os)
        .collect();
    let (_model, worker) = worker(Priority::Normal).await;
    let environment = fs::read(format!("/proc/{worker}/environ")).unwrap();
    let spins = environment
        .split(|byte| *byte == 0)
        .find(|variable| variable.starts_with(b"GOMP_SPINCOUNT="));
    let expected = if said.is_empty() {
        Some(b"GOMP_SPINCOUNT=20000".as_slice())
    } else {
        spins
    };
    assert_eq!(spins, expected);
}

/// Returns the tiny model with another chat template.
fn with_template(template: &str) -> Gguf {
    TinyModel::Qwen2.gguf().with("tokenizer.chat_template", text(template))
}

#[tokio::test]
async fn a_chat_template_that_never_ends_is_not_used() {
    let loops = "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}";
    let model = started(&with_template(loops), Priority::Normal).await.unwrap();
    assert_eq!(model.loaded().template, TemplateOrigin::ChatMl);
}

#[tokio::test]
async fn a_chat_template_that_would_fill_the_memory_ends_the_worker_alone() {
    let doubling = "{% set n = namespace(s='long') %}{% for a in range(40) %}{% set n.s = n.s ~ n.s %}{% endfor %}";
    let Err(error) = started(&with_template(doubling), Priority::Normal).await else {
        panic!("it was loaded")
    };
    assert!(error.to_string().contains("memory allocation"), "{error}");
}

#[tokio::test]
async fn a_worker_that_says_one_thing_without_end_is_ended() {
    let command = WorkerCommand {
        program: "/bin/sh".into(),
        args: ["-c", "tr '\\0' x < /dev/zero | tee /dev/stderr"]
            .map(Into::into)
            .to_vec(),
        priority: Priority::Normal,
    };
    let load = LoadRequest {
        file: "/nowhere".into(),
        sha256: String::new(),
        context: None,
        threads: None,
        ..LoadRequest::default()
    };
    let Err(error) = WorkerModel::start(command, load).await else {
        panic!("it was loaded")
    };
    assert!(matches!(error, LlmError::Load { .. }));
    let said = error.to_string();
    assert!(
        said.contains("it said: xxx") && said.len() < 20_000,
        "{} bytes",
        said.len()
    );
}
