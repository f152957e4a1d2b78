//! Whatever becomes of the worker, whoever asks gets the answer that would have come without: it is started again and asked
//! once more. How many deaths are tried is said by `MAGIS_DEATHS`.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails where something is missing")]

use magis_llama::{LoadRequest, Priority, WorkerCommand, WorkerModel};
use magis_llm::{ChatRequest, LanguageModel as _, Message, MessageRole, ScoreRequest};
use magis_testkit::TinyModel;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const WORKER: &str = env!("CARGO_BIN_EXE_magis-llama-worker");
const PATIENCE: Duration = Duration::from_millis(800);

/// What happens to a worker.
#[derive(Debug, Clone, Copy)]
enum Fate {
    /// As after a failed assertion.
    Aborts,
    /// As for want of memory.
    IsKilled,
    Hangs,
    /// Once it says something that is no answer.
    SaysGarbage,
    /// Once its output ends before it does.
    ClosesItsOutput,
}

const FATES: [Fate; 5] = [
    Fate::Aborts,
    Fate::IsKilled,
    Fate::Hangs,
    Fate::SaysGarbage,
    Fate::ClosesItsOutput,
];

fn deaths() -> usize {
    std::env::var("MAGIS_DEATHS").map_or(20, |count| count.parse().unwrap())
}

/// Returns a worker whose first life ends in that way, if it is one that happens at its output.
fn command(fate: Fate, folder: &Path) -> WorkerCommand {
    // The first time only: a file says that it has happened.
    let mark = folder.join("happened");
    let then = match fate {
        Fate::SaysGarbage => "echo '{ garbage'",
        Fate::ClosesItsOutput => "exec >&-",
        Fate::Aborts | Fate::IsKilled | Fate::Hangs => "true",
    };
    let filter = format!(
        "{{ n=0; while read -r line; do printf '%s\\n' \"$line\"; n=$((n+1)); [ $n = 3 ] && {then}; done; }} 2> /dev/null"
    );
    let script = format!(
        "if [ -e '{mark}' ]; then exec '{WORKER}'; fi; touch '{mark}'; '{WORKER}' | {filter}",
        mark = mark.display()
    );
    let is_at_output = matches!(fate, Fate::SaysGarbage | Fate::ClosesItsOutput);
    WorkerCommand {
        program: if is_at_output { "/bin/sh" } else { WORKER }.into(),
        args: if is_at_output {
            vec!["-c".into(), script.into()]
        } else {
            Vec::new()
        },
        priority: Priority::Normal,
    }
}

async fn started(fate: Fate, folder: &TempDir) -> WorkerModel {
    let file = folder.path().join("tiny.gguf");
    fs::write(&file, TinyModel::Qwen2.gguf().bytes()).unwrap();
    let load = LoadRequest {
        file,
        context: Some(1024),
        threads: Some(1),
        ..LoadRequest::default()
    };
    WorkerModel::start_with_patience(command(fate, folder.path()), load, PATIENCE)
        .await
        .unwrap()
}

fn user(text: &str) -> Vec<Message> {
    vec![Message::new(MessageRole::User, text)]
}

fn story(seed: u64) -> ChatRequest {
    ChatRequest::new(user(&format!("Tell me story {seed}.")), 300)
}

fn likelihood() -> ScoreRequest {
    ScoreRequest {
        messages: user("Which one?"),
        answer_prefix: String::new(),
        continuations: ["this", "that"].map(str::to_owned).to_vec(),
        by_line: false,
    }
}

/// Returns the processes that this one has started and not waited for, with their states.
fn children() -> Vec<(u32, char)> {
    let own = std::process::id().to_string();
    let processes = fs::read_dir("/proc").unwrap();
    let stat = |process: u32| fs::read_to_string(format!("/proc/{process}/stat")).ok();
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|process: u32| {
            let text = stat(process)?;
            let mut fields = text.rsplit_once(')')?.1.split_whitespace();
            let state = fields.next()?.chars().next()?;
            (fields.next()? == own).then_some((process, state))
        })
        .collect()
}

fn signal(name: &str) {
    for (process, _) in children() {
        Command::new("kill")
            .args([name, &process.to_string()])
            .status()
            .unwrap();
    }
}

async fn befall(fate: Fate, model: &WorkerModel) {
    match fate {
        Fate::Aborts => model.abort_for_test().await,
        Fate::IsKilled => signal("-KILL"),
        Fate::Hangs => signal("-STOP"),
        Fate::SaysGarbage | Fate::ClosesItsOutput => {}
    }
}

#[tokio::test]
async fn every_call_is_answered_as_if_no_worker_had_died() {
    for round in 0..deaths() {
        let begun = Instant::now();
        let fate = FATES[round % FATES.len()];
        let folder = tempfile::tempdir().unwrap();
        let model = started(fate, &folder).await;
        let undisturbed = started(Fate::Aborts, &folder).await;
        let expected = (
            undisturbed.chat(&story(1), &mut |_| ()).await.unwrap().text,
            undisturbed.chat(&story(2), &mut |_| ()).await.unwrap().text,
            undisturbed.score(&likelihood()).await.unwrap().scores,
        );
        undisturbed.shutdown().await;
        let mut shown = String::new();
        let (first, second) = (story(1), story(2));
        let mut sink = |text: &str| shown.push_str(text);
        let mut unheard = |_: &str| ();
        let likelihood = likelihood();
        let (one, other, scores, ()) = tokio::join!(
            model.chat(&first, &mut sink),
            model.chat(&second, &mut unheard),
            model.score(&likelihood),
            async {
                tokio::time::sleep(Duration::from_millis(5 + 7 * (round as u64 % 9))).await;
                befall(fate, &model).await;
            }
        );
        let answered = (one.unwrap().text, other.unwrap().text, scores.unwrap().scores);
        assert_eq!((&answered.0, &answered.1), (&expected.0, &expected.1), "{fate:?}");
        assert_eq!(shown, expected.0, "{fate:?}");
        for (score, expected) in answered.2.iter().zip(&expected.2) {
            assert!((score.logprob - expected.logprob).abs() < 0.05, "{fate:?}");
        }
        let restarts = model.take_restarts();
        assert!(restarts.len() <= 1, "{fate:?}: {restarts:?}");
        // A call may have been answered before anything happened; then the next one finds the worker dead.
        assert_eq!(model.chat(&first, &mut |_| ()).await.unwrap().text, expected.0);
        assert_eq!(
            restarts.len() + model.take_restarts().len(),
            1,
            "{fate:?} in round {round}"
        );
        model.shutdown().await;
        println!("{round}: {fate:?} {} ms", begun.elapsed().as_millis());
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(children(), [], "a process is left");
}
