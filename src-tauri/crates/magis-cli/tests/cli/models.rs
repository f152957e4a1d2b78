//! `magis models`: the list by classes of memory, and models of a hub, which is on loopback.

use crate::support::{Answer, Program};
use magis_models::Sha256Hex;
use magis_testkit::gguf::Gguf;
use magis_testkit::hub::{HubEntry, HubRepository, LoopbackHub};

const NAME: &str = "hf:some-one/Tiny-GGUF";

fn hub() -> LoopbackHub {
    let entry = |path: &str, rows: u64| {
        let bytes = Gguf::small(rows).bytes();
        HubEntry {
            path: path.to_owned(),
            oid: Some(Sha256Hex::of(&bytes).to_string()),
            bytes,
        }
    };
    let files = vec![entry("Tiny-Q8_0.gguf", 5000), entry("Tiny-Q4_K_M.gguf", 100)];
    LoopbackHub::start(HubRepository::new("some-one/Tiny-GGUF", files))
}

fn run(program: &Program, hub: &LoopbackHub, arguments: &[&str]) -> Answer {
    let mut command = program.command(arguments);
    command.env("HF_ENDPOINT", &hub.address);
    Answer::of(&command.output().unwrap())
}

#[test]
fn without_a_file_the_files_are_listed_and_one_is_asked_for() {
    let (program, hub) = (Program::new(), hub());
    let answer = run(&program, &hub, &["models", "fetch", NAME]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    let hash = Sha256Hex::of(&Gguf::small(100).bytes());
    assert!(answer.out.contains("licence apache-2.0"), "{}", answer.out);
    let flat = answer.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(&format!("SHA-256 {hash}")), "{flat}");
    assert!(flat.contains("fits by its size"), "{flat}");
    assert!(answer.err.contains("no file was named"), "{}", answer.err);
    assert!(
        answer.err.contains(&format!("{NAME}:Tiny-Q4_K_M.gguf")),
        "{}",
        answer.err
    );
}

#[test]
fn a_program_gets_the_files_as_json() {
    let (program, hub) = (Program::new(), hub());
    let answer = run(&program, &hub, &["models", "fetch", NAME, "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let listing: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(listing["licence"], "apache-2.0");
    assert_eq!(listing["models"][0]["name"], format!("{NAME}:Tiny-Q4_K_M.gguf"));
    assert_eq!(
        listing["models"][1]["files"][0]["bytes"],
        Gguf::small(5000).bytes().len()
    );
}

#[test]
fn a_file_is_fetched_and_the_list_says_where_it_came_from() {
    let (program, hub) = (Program::new(), hub());
    let name = format!("{NAME}:Tiny-Q4_K_M.gguf");
    let answer = run(&program, &hub, &["models", "fetch", &name]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.out.contains("tiny-q4_k_m is here and whole"), "{}", answer.out);
    let listed = program.run(["models", "list"]);
    let flat = listed.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(&format!("from {name} at 0123456789abcdef")), "{flat}");
    let json: serde_json::Value = serde_json::from_str(&program.run(["models", "list", "--json"]).out).unwrap();
    assert_eq!(json[0]["hub"]["name"], name);

    hub.change(|repository| {
        repository.revision = "f".repeat(40);
        let bytes = Gguf::small(7).bytes();
        repository.files[1].oid = Some(Sha256Hex::of(&bytes).to_string());
        repository.files[1].bytes = bytes;
    });
    let again = run(&program, &hub, &["models", "fetch", &name]);
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(again.err.contains("the hub has another file as"), "{}", again.err);
}

#[test]
fn what_cannot_be_named_or_is_not_shown_is_told_with_what_to_do() {
    let (program, hub) = (Program::new(), hub());
    let answer = run(&program, &hub, &["models", "fetch", "hf:Tiny"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.err.contains("write OWNER/REPO"), "{}", answer.err);
    let answer = run(&program, &hub, &["models", "fetch", "hf:some-one/other"]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert!(answer.err.contains("HF_TOKEN"), "{}", answer.err);
    let answer = run(&program, &hub, &["models", "fetch", &format!("{NAME}:Tiny-Q2.gguf")]);
    assert!(
        answer.err.contains("it has: Tiny-Q4_K_M.gguf, Tiny-Q8_0.gguf"),
        "{}",
        answer.err
    );
}

#[test]
fn what_can_be_downloaded_is_listed_by_the_memory_that_it_wants() {
    let program = Program::new();
    let listed = program.run(["models", "list"]).out;
    let at = |text: &str| {
        listed
            .find(text)
            .unwrap_or_else(|| panic!("{text:?} is missing in: {listed}"))
    };
    let headings = ["8 GB", "16 GB", "24 GB", "32 GB", "64 GB"].map(|size| at(&format!("for a machine with {size}")));
    assert!(headings.is_sorted(), "{listed}");
    assert!((headings[0]..headings[1]).contains(&at("qwen3.5-4b:")), "{listed}");
    assert!(at("hf:unsloth/Qwen3-Coder-Next-GGUF") > headings[4], "{listed}");
    assert!(
        listed.contains("without a hash here") && listed.contains("by its maker"),
        "{listed}"
    );
    let json: serde_json::Value = serde_json::from_str(&program.run(["models", "list", "--json"]).out).unwrap();
    let suggested = json
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["memory_gb"] == 64)
        .unwrap();
    assert!(suggested["sha256"].is_null() && suggested["measured"].as_str().unwrap().contains("70.6"));
}
