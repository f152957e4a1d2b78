//! The lines that the model's worker and its parent say to each other: each is a message or an error, and a message comes back as it was sent.

use super::{CaseOutcome, FuzzTarget};
use magis_llm::protocol::{FromWorker, ToWorker, from_line, to_line};
use std::fmt::Debug;

pub(super) struct ModelProtocolTarget;

/// One message of each kind.
const SEEDS: [&str; 12] = [
    r#"{"kind":"chat","id":7,"request":{"messages":[{"role":"user","content":"line\nline"}],"answer_prefix":"```\n","constraint":{"line_ranges":{"first":1,"last":9,"most":2}},"sampling":{"temperature":{"temperature":0.8,"seed":18446744073709551615}},"max_tokens":3,"stop":["\n```"]}}"#,
    r#"{"kind":"load","id":1,"load":{"path":"a b.gguf","context":null,"threads":2,"batch":null}}"#,
    r#"{"kind":"count_tokens","id":2,"texts":["a",""]}"#,
    r#"{"kind":"count_fill_in","id":3,"before":"a","after":"b"}"#,
    r#"{"kind":"cancel","id":3}"#,
    r#"{"kind":"shutdown"}"#,
    r#"{"kind":"token","id":7,"text":"a\u0301"}"#,
    r#"{"kind":"counts","id":2,"counts":[1,0]}"#,
    r#"{"kind":"chat","id":7,"reply":{"text":"a\r\nb","finish":"looping","usage":{}}}"#,
    r#"{"kind":"score","id":8,"reply":{"scores":[{"logprob":-0.123456789012345,"tokens":3}],"lines":[[-0.5]],"usage":{}}}"#,
    r#"{"kind":"failed","id":9,"error":{"over_context":{"prompt":9,"answer":1,"context":8}}}"#,
    r#"{"kind":"stats","id":9,"stats":{"computed_tokens":1,"reused_tokens":2,"generated_tokens":3,"scored_tokens":4,"prompt_ms":5,"generate_ms":6,"cached_tokens":7,"resident_bytes":8}}"#,
];

impl FuzzTarget for ModelProtocolTarget {
    fn seeds(&mut self) -> Vec<Vec<u8>> {
        SEEDS.map(|seed| seed.as_bytes().to_vec()).to_vec()
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "kind",
            "id",
            "chat",
            "score",
            "token_edits",
            "generate_all",
            "one_of",
            "greedy",
            "cancelled",
            "usage",
            "\\ud800",
            "1e999",
            "-0",
            "null",
            "[[[[[[[[",
            "{\"a\":",
            "loaded",
            "abort",
        ]
    }

    fn is_json(&self) -> bool {
        true
    }

    fn run(&mut self, input: &[u8]) -> CaseOutcome {
        let mut outcome = CaseOutcome::default();
        let text = String::from_utf8_lossy(input);
        for line in text.lines() {
            if let Some(message) = outcome.say_result("to the worker", from_line::<ToWorker>(line)) {
                comes_back(&message, from_line);
            }
            if let Some(message) = outcome.say_result("from the worker", from_line::<FromWorker>(line)) {
                outcome.say_count("id", message.id().map_or(0, |id| id.0 as usize));
                comes_back(&message, from_line);
            }
        }
        outcome
    }
}

fn comes_back<M: serde::Serialize + PartialEq + Debug>(
    message: &M,
    read: impl Fn(&str) -> Result<M, serde_json::Error>,
) {
    let line = to_line(message).expect("what was read can be written");
    assert_eq!(line.matches('\n').count(), 1, "one line: {line:?}");
    let again = read(&line).expect("what was written can be read");
    assert_eq!(&again, message);
}
