//! The catalogue's promises, and what fits into how much memory.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failing fixture should stop the test"
)]

mod support;

use magis_llm::memory::Sequences;
use magis_llm::placement::RESERVE;
use magis_models::{
    Catalog, CatalogEntry, Fit, GgufHeader, MINIMUM_CONTEXT, MemoryClass, MemoryNeed, ModelId, ModelPurpose, SizeFit,
    Suggestion, fits,
};
use magis_testkit::TinyModel;
use magis_testkit::gguf::{Gguf, Value};
use std::collections::BTreeSet;
use support::catalog_text;

#[test]
fn the_builtin_catalogue_is_valid_and_has_its_default_and_its_test_model() {
    let catalog = Catalog::builtin();
    assert_eq!(catalog.default_entry().id.as_str(), "qwen2.5-coder-1.5b");
    assert!(
        catalog
            .get(&ModelId::new("smollm2-135m").unwrap())
            .unwrap()
            .is_for(ModelPurpose::Test)
    );
    let hashes: BTreeSet<_> = catalog.entries().iter().map(|entry| entry.file.sha256).collect();
    assert_eq!(hashes.len(), catalog.entries().len(), "two entries are the same file");
}

#[test]
fn a_wrong_entry_is_named() {
    let good = catalog_text(b"bytes", "https://hub.example/m", &[("a==1", "x")]);
    assert!(Catalog::parse(&good).is_ok());
    let check = |from: &str, to: &str, says: &[&str]| {
        assert!(good.contains(from), "{from:?} is not in the fixture");
        let message = Catalog::parse(&good.replace(from, to)).expect_err(to).to_string();
        for word in says {
            assert!(message.contains(word), "{word:?} is missing in: {message}");
        }
    };
    check("name = \"Small\"", "name = \" \"", &["\"small\"", "name is empty"]);
    check("bytes = 5", "bytes = 0", &["\"small\"", "bytes"]);
    check("layers = 4", "layers = 0", &["\"small\"", "dimension"]);
    check("https://", "http://", &["\"small\"", "https"]);
    check("\"small.gguf\"", "\"../small.gguf\"", &["\"small\"", "plain name"]);
    check("a==1", "a>=1", &["\"small\"", "NAME==VERSION"]);
    check("a==1", "--pre==1", &["\"small\"", "NAME==VERSION"]);
    check("\"default\"", "\"code\"", &["0 entries", "default"]);
    check("id = \"small\"", "id = \"Small Model\"", &["Small Model"]);
    check("context = 4096", "contexts = 4096", &["contexts"]);
    check("sha256 = \"", "sha256 = \"zz", &["SHA-256"]);
    let twice = format!("{good}\n{good}");
    assert!(Catalog::parse(&twice).unwrap_err().to_string().contains("stands twice"));
}

/// Returns a model whose context costs most of its memory: 64 KiB a token.
fn header() -> GgufHeader {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.gguf");
    let heads = Value::Numbers(vec![512; 4]);
    std::fs::write(
        &path,
        Gguf::small(1).with("qwen2.attention.head_count_kv", heads).bytes(),
    )
    .unwrap();
    GgufHeader::read(&path).unwrap()
}

#[test]
fn the_largest_context_that_fits_is_chosen() {
    let header = header();
    let need = |context| MemoryNeed::of(&header, context).bytes() + RESERVE;
    let cases = [
        (4096, u64::MAX, Fit::Fits { context: 4096 }),
        (3000, need(3000), Fit::Fits { context: 3000 }),
        (1000, need(1000), Fit::Fits { context: 1000 }),
        // Trained with 4096.
        (9000, u64::MAX, Fit::Smaller { context: 4096 }),
        // What is missing is made up for by keys and values of 8 bits.
        (4096, need(4096) - 1, Fit::Fits { context: 4096 }),
    ];
    for (wanted, available, expected) in cases {
        assert_eq!(
            fits(&header, wanted, available),
            expected,
            "{wanted} tokens in {available} bytes"
        );
    }
}

#[test]
fn with_less_memory_the_context_becomes_smaller_until_none_fits() {
    let header = header();
    let most = MemoryNeed::of(&header, 4096).bytes() + RESERVE;
    let mut last = 4096;
    for available in (0..=64).rev().map(|part| most / 64 * part) {
        let context = match fits(&header, 4096, available) {
            Fit::Fits { context } | Fit::Smaller { context } => context,
            Fit::No { need, available } => {
                assert!(need > available, "{need} bytes, and {available} are there");
                0
            }
        };
        assert!(context <= last, "{context} tokens in {available} bytes, {last} in more");
        assert!(context == 0 || context >= MINIMUM_CONTEXT);
        last = context;
    }
    assert_eq!(last, 0);
}

#[test]
fn cache_grows_with_the_context_and_weights_do_not() {
    let (short, long) = (MemoryNeed::of(&header(), 2048), MemoryNeed::of(&header(), 4096));
    assert_eq!((short.weights, short.cache), (header().size.weights(), 2048 * 65_536));
    assert_eq!((long.weights, long.cache), (short.weights, 2 * short.cache));
}

#[test]
fn every_kind_of_memory_is_predicted_as_the_engine_allocates_it() {
    let folder = tempfile::tempdir().unwrap();
    for model in TinyModel::ALL {
        let path = folder.path().join(model.architecture());
        std::fs::write(&path, model.gguf().bytes()).unwrap();
        let header = GgufHeader::read(&path).unwrap();
        let (token, sequence) = model.context_memory();
        let name = model.architecture();
        assert_eq!(
            (header.memory.per_token, header.memory.per_sequence),
            (token, sequence),
            "{name}"
        );
        let states = sequence * u64::from(Sequences::RECURRENT.count());
        assert_eq!(MemoryNeed::of(&header, 2048).cache, 2048 * token + states, "{name}");
    }
}

#[test]
fn the_catalogue_knows_the_need_before_the_download() {
    let catalog = Catalog::builtin();
    let cache_per_token =
        |id: &str| MemoryNeed::of_entry(catalog.get(&ModelId::new(id).unwrap()).unwrap(), 1024).cache / 1024;
    // KiB a token, as measured with llama.cpp.
    assert_eq!(cache_per_token("qwen2.5-coder-0.5b"), 12 * 1024);
    assert_eq!(cache_per_token("qwen2.5-coder-1.5b"), 28 * 1024);
    assert_eq!(cache_per_token("qwen2.5-coder-7b"), 56 * 1024);
    assert_eq!(cache_per_token("smollm2-135m"), 22 * 1024 + 512);
    assert_eq!(cache_per_token("gpt-oss-20b"), 48 * 1024);
    // Beside what the recurrent layers keep, whatever the context.
    let grows_by = |id: &str| {
        let cache = |context| MemoryNeed::of_entry(catalog.get(&ModelId::new(id).unwrap()).unwrap(), context).cache;
        (cache(2048) - cache(1024)) / 1024
    };
    assert_eq!(grows_by("qwen3.5-4b"), 32 * 1024);
    assert_eq!(grows_by("qwen3.5-9b"), 32 * 1024);
    assert_eq!(grows_by("qwen3.6-35b-a3b"), 20 * 1024);
    assert_eq!(grows_by("qwen3.6-27b"), 64 * 1024);
    let gigabytes =
        |id: &str| MemoryNeed::of_entry(catalog.get(&ModelId::new(id).unwrap()).unwrap(), 8192).bytes() >> 30;
    assert_eq!(
        (gigabytes("qwen2.5-coder-1.5b"), gigabytes("qwen2.5-coder-32b")),
        (1, 20)
    );
}

#[test]
fn every_class_of_memory_has_a_model_and_who_measured_it_is_said() {
    let catalog = Catalog::builtin();
    let suggestions = Suggestion::builtin();
    let entries = catalog.entries().iter().filter_map(CatalogEntry::memory_class);
    let classes: BTreeSet<_> = entries.chain(suggestions.iter().map(|one| one.memory)).collect();
    assert_eq!(classes.into_iter().collect::<Vec<_>>(), MemoryClass::ALL);
    let class_of = |id: &str| catalog.get(&ModelId::new(id).unwrap()).unwrap().memory_class();
    assert_eq!(class_of("qwen3.5-4b"), Some(MemoryClass::Gb8));
    assert_eq!(class_of("gpt-oss-20b"), Some(MemoryClass::Gb16));
    assert_eq!(class_of("qwen3.6-35b-a3b"), Some(MemoryClass::Gb24));
    for suggestion in &suggestions {
        assert!(
            suggestion.hub.file.is_none() && !suggestion.good_for.is_empty() && suggestion.measured.contains(" by ")
        );
    }
    let wrong = "[[suggestion]]\nhub = \"a/b\"\nname = \"\"\nmemory_gb = 8\ngood_for = \"\"\nmeasured = \"\"";
    assert!(Suggestion::parse(wrong).unwrap_err().contains("hf:OWNER/REPO"));
    assert!(
        Suggestion::parse(&wrong.replace("memory_gb = 8", "memory_gb = 9"))
            .unwrap_err()
            .contains("9 GB")
    );
}

#[test]
fn the_hub_of_the_catalogue_is_the_one_that_is_asked() {
    for entry in Catalog::builtin().entries() {
        assert!(entry.file.url.starts_with("https://huggingface.co/"), "{}", entry.id);
    }
}

#[test]
fn a_size_alone_says_what_is_too_large_and_what_is_tight() {
    let gigabytes = |count: u64| count << 30;
    assert_eq!(
        SizeFit::of(gigabytes(5), gigabytes(8)),
        SizeFit::Room { left: gigabytes(3) }
    );
    assert_eq!(
        SizeFit::of(gigabytes(7), gigabytes(8)),
        SizeFit::Tight { left: gigabytes(1) }
    );
    let available = gigabytes(8);
    assert_eq!(SizeFit::of(gigabytes(9), available), SizeFit::TooLarge { available });
}
