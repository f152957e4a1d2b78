//! The words between window and Rust: the committed TypeScript is what Rust says, and every command has its permission.
//!
//! `MAGIS_WRITE_BINDINGS=1 cargo test -p magis-app --test bindings` writes the file anew.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use specta_typescript::Typescript;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn in_package(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn generated() -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bindings.ts");
    magis_app::commands().export(Typescript::default(), &file).unwrap();
    fs::read_to_string(file).unwrap()
}

#[test]
fn the_committed_bindings_are_what_rust_says() {
    let committed = in_package("../ui/src/ipc/bindings.ts");
    let generated = generated();
    if std::env::var_os("MAGIS_WRITE_BINDINGS").is_some() {
        fs::write(&committed, &generated).unwrap();
    }
    assert!(
        fs::read_to_string(&committed).unwrap() == generated,
        "ui/src/ipc/bindings.ts is stale; write it anew with MAGIS_WRITE_BINDINGS=1"
    );
}

#[test]
fn every_command_is_named_in_one_permission_and_every_permission_names_a_command() {
    let text = generated();
    let commands: BTreeSet<String> = text
        .split("__TAURI_INVOKE(\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect();
    let mut permitted = BTreeSet::new();
    for file in fs::read_dir(in_package("permissions")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let (_, list) = text.split_once("commands.allow = [").unwrap();
        for name in list.split('"').skip(1).step_by(2) {
            assert!(permitted.insert(name.to_owned()), "{name} is permitted twice");
        }
    }
    assert!(commands.len() > 50);
    assert_eq!(commands, permitted);
}

#[test]
fn the_window_may_load_nothing_from_elsewhere() {
    let config = fs::read_to_string(in_package("tauri.conf.json")).unwrap();
    let config: serde_json::Value = serde_json::from_str(&config).unwrap();
    let policy = config["app"]["security"]["csp"].as_object().unwrap();
    for (directive, sources) in policy {
        for source in sources.as_str().unwrap().split(' ') {
            let ours = [
                "'self'",
                "'none'",
                "'unsafe-inline'",
                "data:",
                "ipc:",
                "http://ipc.localhost",
            ];
            assert!(ours.contains(&source), "{directive} allows {source}");
        }
    }
    assert_eq!(policy["script-src"], "'self'", "no script but the program's own runs");
    assert!(config["build"].get("devUrl").is_none());
    let capability = fs::read_to_string(in_package("capabilities/main.json")).unwrap();
    let capability: serde_json::Value = serde_json::from_str(&capability).unwrap();
    assert_eq!(capability["windows"], serde_json::json!(["main"]));
    assert!(capability.get("remote").is_none());
    for permission in capability["permissions"].as_array().unwrap() {
        assert!(
            !permission.as_str().unwrap().contains("default"),
            "{permission} names no command"
        );
    }
}
