//! What a person is told of files that are no models, before llama.cpp could end its process over them.

use magis_llama::{LoadRequest, Priority, WorkerCommand, WorkerModel};
use magis_testkit::TinyModel;
use magis_testkit::gguf::{Value, text};
use std::fs;

#[tokio::test]
async fn files_that_are_no_models_are_refused_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = || TinyModel::Qwen2.gguf();
    let whole = tiny().bytes();
    let number = |key: &str, value| tiny().with(&format!("qwen2.{key}"), Value::Number(value)).bytes();
    let cases = [
        (b"".to_vec(), "0 bytes"),
        (b"not a model at all".to_vec(), "not a GGUF file"),
        (whole[..whole.len() / 2].to_vec(), "download it again"),
        (whole[..40].to_vec(), "download it again"),
        (number("block_count", 100_000), "100000 layers"),
        (number("block_count", 0), "0 layers"),
        (number("expert_count", 4_000_000_000), "4000000000 experts"),
        (number("expert_used_count", 8), "8 of them used"),
        (number("embedding_length", 4_000_000_000), "TB of memory"),
        (
            tiny().with("general.architecture", text("llama9000")).bytes(),
            "llama9000",
        ),
        (tiny().without("general.architecture").bytes(), "no architecture"),
    ];
    for (bytes, words) in cases {
        let file = folder.path().join("m.gguf");
        fs::write(&file, bytes).unwrap();
        let load = LoadRequest {
            file,
            threads: Some(1),
            ..LoadRequest::default()
        };
        let command = WorkerCommand {
            program: env!("CARGO_BIN_EXE_magis-llama-worker").into(),
            args: Vec::new(),
            priority: Priority::Normal,
        };
        let Err(refused) = WorkerModel::start(command, load).await else {
            panic!("a file that should be refused for {words:?} was loaded");
        };
        let refused = refused.to_string();
        assert!(refused.contains(words), "{refused}");
        assert!(
            !refused.contains("the worker ended"),
            "llama.cpp ended its process: {refused}"
        );
    }
}
