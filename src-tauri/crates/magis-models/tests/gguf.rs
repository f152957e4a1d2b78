//! Reading model files: what a good one says, and what every kind of bad one is told.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failing fixture should stop the test"
)]

use magis_models::{ChatTemplate, GgufHeader, ModelFileError};
use magis_testkit::gguf::{Gguf, Tensor, Value, text};
use proptest::prelude::*;
use std::fs;

fn read(bytes: &[u8]) -> Result<GgufHeader, ModelFileError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.gguf");
    fs::write(&path, bytes).unwrap();
    GgufHeader::read(&path)
}

/// The file is refused, and the message says each of `words`.
fn check_refused(bytes: &[u8], words: &[&str]) {
    let message = read(bytes).expect_err("it should be refused").to_string();
    for word in words {
        assert!(message.contains(word), "{word:?} is missing in: {message}");
    }
}

#[test]
fn a_good_file_says_what_it_is() {
    for version in [2, 3] {
        let file = Gguf {
            version,
            ..Gguf::small(100)
        };
        let header = read(&file.bytes()).unwrap();
        assert_eq!(
            (header.architecture.as_str(), header.name.as_deref()),
            ("qwen2", Some("A small model"))
        );
        assert_eq!(
            (header.context_length, header.layers, header.heads, header.vocabulary),
            (4096, 4, 8, 3)
        );
        assert_eq!(
            (header.kv_heads.as_slice(), header.key_length, header.value_length),
            ([2; 4].as_slice(), 8, 8)
        );
        assert_eq!((header.embedding_length, header.feed_forward_length), (64, 256));
        assert_eq!(
            (header.quantisation.to_string().as_str(), header.parameters),
            ("Q4_K_M", 6400)
        );
        assert_eq!(header.chat_template, ChatTemplate::Present);
        assert_eq!(
            (header.memory.per_token, header.memory.per_sequence),
            (4 * 2 * (8 + 8) * 2, 0)
        );
    }
}

#[test]
fn layers_may_differ_in_their_heads_and_experts_count_as_they_work() {
    let header = Gguf::small(1)
        .with("qwen2.attention.head_count_kv", Value::Numbers(vec![2, 0, 4, 1]))
        .with("qwen2.attention.key_length", Value::Number(16))
        .with("qwen2.expert_feed_forward_length", Value::Number(100))
        .with("qwen2.expert_used_count", Value::Number(8))
        .without("general.file_type")
        .without("tokenizer.chat_template");
    let header = read(&header.bytes()).unwrap();
    assert_eq!(
        (header.kv_heads.as_slice(), header.key_length),
        ([2, 0, 4, 1].as_slice(), 16)
    );
    assert_eq!(header.feed_forward_length, 800);
    assert_eq!(
        (header.quantisation.to_string().as_str(), header.chat_template),
        ("F32", ChatTemplate::Absent)
    );
}

#[test]
fn what_a_file_says_cannot_act_on_a_terminal() {
    let hostile = "qwen2\u{1b}]0;owned\u{7}\u{202e}";
    let harmless = |text: &str| !text.contains(|c: char| c.is_control() || c == '\u{202e}');
    let file = Gguf::small(1);
    let renamed = file.metadata.iter().map(|(key, value)| {
        let key = key.replacen("qwen2.", &format!("{hostile}."), 1);
        (key, value.clone())
    });
    let file = Gguf {
        metadata: renamed.collect(),
        ..file
    }
    .with("general.architecture", text(hostile))
    .with("general.name", text("nice\u{1b}[2J\nmodel"));
    let header = read(&file.bytes()).unwrap();
    assert!(harmless(&header.architecture), "{:?}", header.architecture);
    assert_eq!(header.name.as_deref(), Some("nice\u{fffd}[2J\u{fffd}model"));

    // The same in what is said of files that cannot be used.
    let refused = [
        Gguf::small(1).with("general.architecture", text(hostile)),
        Gguf {
            tensors: vec![Tensor::stated(hostile, &[u64::MAX, u64::MAX])],
            ..Gguf::small(1)
        },
        file.with(&format!("{hostile}.pooling_type"), Value::Number(1)),
    ];
    for file in refused {
        let message = read(&file.bytes()).expect_err("it should be refused").to_string();
        assert!(harmless(&message), "{message:?}");
    }
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    let file = Gguf::small(4);
    let (whole, header) = (file.bytes(), file.header().len());
    assert!(read(&whole).is_ok());
    for length in (0..header).chain([whole.len() - 1]) {
        assert!(read(&whole[..length]).is_err(), "cut to {length} bytes");
    }
    let (needed, found) = (whole.len().to_string(), (whole.len() - 5).to_string());
    check_refused(
        &whole[..whole.len() - 5],
        &["incomplete", &needed, &found, "download it again"],
    );
}

#[test]
fn what_is_no_model_file_is_named() {
    check_refused(b"", &["empty file"]);
    check_refused(b"version https://git-lfs.github.com/spec/v1\n", &["Git LFS pointer"]);
    check_refused(b"<!DOCTYPE html><html>", &["web page"]);
    check_refused(&[0; 64], &["zeros"]);
    check_refused(
        &[b"GGUF".as_slice(), &3_u32.to_be_bytes(), &[0; 32]].concat(),
        &["big-endian"],
    );
    check_refused(
        &Gguf {
            version: 1,
            ..Gguf::small(1)
        }
        .bytes(),
        &["version 1", "convert it"],
    );
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(
        GgufHeader::read(folder.path()),
        Err(ModelFileError::NotGguf { .. })
    ));
    assert!(matches!(
        GgufHeader::read(&folder.path().join("none")),
        Err(ModelFileError::Unreadable { .. })
    ));
}

#[test]
fn a_model_that_cannot_answer_is_refused_with_a_remedy() {
    let small = || Gguf::small(1);
    check_refused(
        &small()
            .with("split.count", Value::Number(3))
            .with("split.no", Value::Number(1))
            .bytes(),
        &["3 parts", "choose the first part"],
    );
    check_refused(
        &small().with("general.type", text("mmproj")).bytes(),
        &["picture projector", "chat model"],
    );
    check_refused(&small().with("general.type", text("adapter")).bytes(), &["adapter"]);
    check_refused(
        &small().with("general.architecture", text("bert")).bytes(),
        &["embedding model (bert)"],
    );
    check_refused(
        &small().with("qwen2.pooling_type", Value::Number(3)).bytes(),
        &["embedding model"],
    );
    check_refused(&small().without("tokenizer.ggml.tokens").bytes(), &["no tokenizer"]);
    check_refused(
        &small().without("qwen2.block_count").bytes(),
        &["damaged", "qwen2.block_count"],
    );
    check_refused(
        &small().with("qwen2.block_count", Value::Number(1 << 30)).bytes(),
        &["1073741824 layers"],
    );
    let uneven = small().with("qwen2.attention.head_count_kv", Value::Numbers(vec![1; 3]));
    check_refused(&uneven.bytes(), &["3 numbers for 4 layers"]);
}

#[test]
fn huge_counts_are_not_believed() {
    let file = Gguf::small(1).bytes();
    let put = |at: usize, number: u64| {
        let mut changed = file.clone();
        changed[at..at + 8].copy_from_slice(&number.to_le_bytes());
        changed
    };
    check_refused(&put(8, u64::MAX), &["tensors"]);
    check_refused(&put(16, u64::MAX), &["metadata entries"]);
    check_refused(&put(24, u64::MAX), &["a name of"]);
    let tokens = file
        .windows(21)
        .position(|part| part == b"tokenizer.ggml.tokens")
        .unwrap();
    check_refused(&put(tokens + 21 + 8, u64::from(u32::MAX)), &["incomplete"]);
    let wide = Gguf {
        tensors: vec![Tensor::stated("t", &[u64::MAX, u64::MAX])],
        ..Gguf::small(1)
    };
    check_refused(&wide.header(), &["impossible size"]);
    let far = Gguf {
        tensors: vec![Tensor::stated("t", &[1 << 40])],
        ..Gguf::small(1)
    };
    check_refused(&far.header(), &["incomplete"]);
}

proptest! {
    #[test]
    fn random_bytes_are_refused_and_never_panic(tail in prop::collection::vec(any::<u8>(), 0..400), version in 2_u32..4) {
        let bytes = [b"GGUF".as_slice(), &version.to_le_bytes(), &tail].concat();
        prop_assert!(read(&bytes).is_err());
    }

    #[test]
    fn a_changed_byte_never_panics(at in 0_usize..500, byte in any::<u8>()) {
        let mut bytes = Gguf::small(1).bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = read(&bytes);
    }
}
