//! The hub without a catalogue: what is believed of its answers, and what is fetched; from a hub on loopback.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failing fixture should stop the test"
)]

mod support;

use magis_models::{
    FetchError, FetchOptions, FetchPhase, FetchProgress, FetchSource, Hub, HubAccess, HubError, HubListing, HubName,
    HubPath, HubRepo, HubToken, ModelFile, ModelLibrary, Sha256Hex, Verification,
};
use magis_testkit::gguf::{Gguf, Tensor, Value};
use magis_testkit::hub::{HubEntry, HubRepository, LoopbackHub};
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, UNIX_EPOCH};
use tempfile::TempDir;

const REPO: &str = "Some-One/Tiny_1.5-GGUF";

fn entry(path: &str, bytes: Vec<u8>) -> HubEntry {
    HubEntry {
        path: path.to_owned(),
        oid: Some(Sha256Hex::of(&bytes).to_string()),
        bytes,
    }
}

fn model(rows: u64) -> Vec<u8> {
    Gguf::small(rows).bytes()
}

/// Returns a model of which every part holds one tensor.
fn parts(stem: &str) -> Vec<HubEntry> {
    let part = |number: u32| {
        let gguf = if number == 0 { Gguf::small(1) } else { Gguf::new("none") };
        let gguf = Gguf {
            tensors: vec![Tensor {
                values: vec![1.0; 64 * 500],
                ..Tensor::stated(&format!("blk.{number}.weight"), &[64, 500])
            }],
            ..gguf
        };
        let gguf = gguf
            .with("split.count", Value::Number(3))
            .with("split.no", Value::Number(number));
        entry(&format!("{stem}-{:05}-of-00003.gguf", number + 1), gguf.bytes())
    };
    (0..3).map(part).collect()
}

fn repository() -> HubRepository {
    let readme = HubEntry {
        path: "README.md".to_owned(),
        bytes: b"# Tiny".to_vec(),
        oid: None,
    };
    let mut files = vec![
        readme,
        entry("Tiny-Q8_0.gguf", model(5000)),
        entry("mmproj-F16.gguf", model(2)),
        entry("old/Tiny-Q4_K_M.gguf", model(100)),
    ];
    // In another order than their numbers.
    files.extend(parts("BF16/Tiny-BF16").into_iter().rev());
    HubRepository::new(REPO, files)
}

struct Here {
    _folder: TempDir,
    server: LoopbackHub,
    hub: Hub,
    library: ModelLibrary,
    options: FetchOptions,
}

fn here_as(repository: HubRepository, token: Option<&str>) -> Here {
    let folder = tempfile::tempdir().unwrap();
    let server = LoopbackHub::start(repository);
    let mut options = FetchOptions::new(FetchSource::Hub, UNIX_EPOCH + Duration::from_secs(7));
    options.free_bytes = Some(1 << 40);
    Here {
        hub: Hub::at(&server.address, token.and_then(HubToken::new)).unwrap(),
        library: ModelLibrary::open(folder.path().join("models")).unwrap(),
        _folder: folder,
        server,
        options,
    }
}

fn here() -> Here {
    here_as(repository(), None)
}

impl Here {
    fn list(&self) -> Result<HubListing, HubError> {
        self.hub.list(&HubRepo::new(REPO).unwrap())
    }

    fn fetch(&self, file: &str) -> Result<ModelFile, FetchError> {
        self.fetch_watched(file, &mut |_| {})
    }

    fn fetch_watched(&self, file: &str, watch: &mut dyn FnMut(FetchProgress)) -> Result<ModelFile, FetchError> {
        let (listing, file) = (self.list()?, HubPath::new(file).unwrap());
        let cancel = AtomicBool::new(false);
        self.library
            .fetch_from_hub(&self.hub, &listing, Some(&file), &self.options, watch, &cancel)
    }

    fn check_refused(&self, file: &str, says: &str) {
        let message = self.fetch(file).unwrap_err().to_string();
        assert!(message.contains(says), "{says:?} is missing in: {message}");
    }
}

#[test]
fn names_are_read_as_they_are_written_and_nothing_else_is_a_name() {
    for text in ["hf:a/b", "hf:Qwen/Qwen3.5-9B_x:a b/ü-Q4.gguf"] {
        assert_eq!(text.parse::<HubName>().unwrap().to_string(), text);
    }
    for text in [
        "a/b",
        "hf:",
        "hf:a",
        "hf:/b",
        "hf:a/",
        "hf:a/b/c",
        "hf:a/..",
        "hf:-a/b",
        "hf:a/b?c",
        "hf:a/b:",
        "hf:a/b:../c.gguf",
        "hf:a/b:/c.gguf",
        "hf:a/b:c\\d.gguf",
        "hf:a/b:c\u{202e}.gguf",
        "hf:a/b:c\n.gguf",
        "HF:a/b",
    ] {
        assert!(text.parse::<HubName>().is_err(), "{text:?}");
    }
}

#[test]
fn a_name_is_read_as_it_is_pasted() {
    let hub = Hub::at("https://hub.example/", None).unwrap();
    for (text, expected) in [
        (" hf:a/b:c.gguf\n", "hf:a/b:c.gguf"),
        ("a/b", "hf:a/b"),
        ("a/b:c.gguf", "hf:a/b:c.gguf"),
        ("https://hub.example/a/b/", "hf:a/b"),
    ] {
        assert_eq!(hub.read_name(text).unwrap().to_string(), expected, "{text:?}");
    }
    for text in [
        "",
        "a",
        "https://elsewhere.example/a/b",
        "https://hub.example/a/b/tree/main",
    ] {
        assert!(hub.read_name(text).is_err(), "{text:?}");
    }
}

#[test]
fn a_repository_is_listed_with_its_revision_licence_sizes_and_hashes() {
    let here = here();
    let listing = here.list().unwrap();
    assert_eq!(listing.licence.as_deref(), Some("apache-2.0"));
    assert_eq!(listing.access, HubAccess::Everybody);
    let shown: Vec<_> = listing
        .models
        .iter()
        .map(|model| (model.path.as_str(), model.files.len(), model.bytes()))
        .collect();
    let all_parts = parts("x").iter().map(|part| part.bytes.len() as u64).sum();
    assert_eq!(
        shown,
        [
            ("old/Tiny-Q4_K_M.gguf", 1, model(100).len() as u64),
            ("BF16/Tiny-BF16-00001-of-00003.gguf", 3, all_parts),
            ("Tiny-Q8_0.gguf", 1, model(5000).len() as u64),
        ]
    );
    assert_eq!(listing.models[2].files[0].sha256, Some(Sha256Hex::of(&model(5000))));
}

#[test]
fn a_file_is_fetched_from_the_pinned_revision_and_where_it_came_from_is_noted() {
    let here = here();
    let mut done = Vec::new();
    let mut watch = |step: FetchProgress| done.push((step.phase, step.bytes_done));
    let fetched = here.fetch_watched("old/Tiny-Q4_K_M.gguf", &mut watch).unwrap();
    assert_eq!(fetched.id.as_str(), "tiny-q4_k_m");
    assert_eq!(fs::read(&fetched.path).unwrap(), model(100));
    assert_eq!(done.last(), Some(&(FetchPhase::Done, model(100).len() as u64)));
    let resolve = format!("/{REPO}/resolve/0123456789abcdef0123456789abcdef01234567/old/Tiny-Q4_K_M.gguf");
    assert!(here.server.asked().iter().any(|asked| asked.path == resolve));

    let installed = here.library.list().unwrap();
    let record = here.library.fetched_as(&installed[0]).unwrap().unwrap();
    let origin = record.hub.unwrap();
    assert_eq!(origin.name().to_string(), format!("hf:{REPO}:old/Tiny-Q4_K_M.gguf"));
    assert_eq!(origin.revision.as_str(), "0123456789abcdef0123456789abcdef01234567");
    assert_eq!(
        (origin.licence.as_deref(), record.sha256),
        (Some("apache-2.0"), fetched.sha256)
    );

    // Again: the hub is asked what it has, and no file.
    let before = here.server.asked().len();
    assert_eq!(here.fetch("old/Tiny-Q4_K_M.gguf").unwrap(), fetched);
    assert!(
        here.server.asked()[before..]
            .iter()
            .all(|asked| asked.path.starts_with("/api/"))
    );
}

#[test]
fn a_file_that_is_no_longer_the_one_that_was_fetched_is_not_called_so() {
    let here = here();
    let fetched = here.fetch("old/Tiny-Q4_K_M.gguf").unwrap();
    fs::write(&fetched.path, model(9)).unwrap();
    let installed = here.library.list().unwrap();
    assert!(here.library.fetched_as(&installed[0]).unwrap().is_none());
}

#[test]
fn the_token_goes_to_the_hub_and_not_to_the_host_that_it_leads_to() {
    let here = here_as(
        HubRepository {
            token: Some("hf_secret".to_owned()),
            gated: Some("auto".to_owned()),
            ..repository()
        },
        Some(" hf_secret\n"),
    );
    here.fetch("Tiny-Q8_0.gguf").unwrap();
    let asked = here.server.asked();
    assert!(asked.iter().any(|asked| asked.host == "localhost"));
    for asked in &asked {
        let sent = asked.authorization.as_deref();
        assert_eq!(
            sent,
            (asked.host == "127.0.0.1").then_some("Bearer hf_secret"),
            "{asked:?}"
        );
    }
    assert_eq!(here.list().unwrap().access, HubAccess::Accepted);
    assert!(!format!("{:?}", here.hub).contains("secret"));
}

#[test]
fn a_closed_or_absent_repository_says_where_to_accept_its_terms() {
    let closed = HubRepository {
        token: Some("hf_secret".to_owned()),
        ..repository()
    };
    let nobody = here_as(closed.clone(), None);
    let message = nobody.list().unwrap_err().to_string();
    let page = format!("{}/{REPO}", nobody.server.address);
    assert!(message.contains(&page) && message.contains("HF_TOKEN"), "{message}");
    let other = here_as(closed, Some("hf_other"));
    let message = other.list().unwrap_err().to_string();
    assert!(message.contains("to the account of HF_TOKEN"), "{message}");
    assert!(!message.contains("hf_other"), "{message}");
}

#[test]
fn terms_that_are_asked_for_at_the_file_alone_say_the_same() {
    let here = here();
    let listing = here.list().unwrap();
    here.server
        .change(|repository| repository.token = Some("hf_secret".to_owned()));
    let file = HubPath::new("Tiny-Q8_0.gguf").unwrap();
    let cancel = AtomicBool::new(false);
    let error = here
        .library
        .fetch_from_hub(&here.hub, &listing, Some(&file), &here.options, &mut |_| {}, &cancel)
        .unwrap_err();
    assert!(matches!(error, FetchError::Hub(HubError::Closed { .. })), "{error}");
}

#[test]
fn a_broken_transfer_resumes_although_the_tag_is_no_hash_of_the_file() {
    let here = here();
    here.server.break_after(400_000);
    let fetched = here.fetch("Tiny-Q8_0.gguf").unwrap();
    assert_eq!(fs::read(&fetched.path).unwrap(), model(5000));
    let ranges: Vec<_> = here
        .server
        .asked()
        .into_iter()
        .filter_map(|asked| asked.range)
        .collect();
    assert!(ranges.iter().all(|range| range.starts_with("bytes=39")), "{ranges:?}");
    // Once asked of the hub and once where that leads to.
    assert_eq!(ranges.len(), 2);
}

#[test]
fn of_each_model_it_is_known_how_much_is_here() {
    let here = here();
    let listing = here.list().unwrap();
    let bytes_here = || here.library.hub_bytes_here(&here.hub, &listing).unwrap();
    assert_eq!(bytes_here(), [0, 0, 0]);

    let file = HubPath::new("Tiny-Q8_0.gguf").unwrap();
    let cancel = AtomicBool::new(false);
    let mut stop = |step: FetchProgress| cancel.store(step.bytes_done > 0, Ordering::Relaxed);
    let stopped = here
        .library
        .fetch_from_hub(&here.hub, &listing, Some(&file), &here.options, &mut stop, &cancel);
    let Err(FetchError::Cancelled { done, .. }) = stopped else {
        panic!("{stopped:?}")
    };
    assert!(done > 0);
    assert_eq!(bytes_here(), [0, 0, done]);

    here.fetch("Tiny-Q8_0.gguf").unwrap();
    here.fetch("BF16/Tiny-BF16-00001-of-00003.gguf").unwrap();
    let [_, parts, single] = &listing.models[..] else {
        panic!("{listing:?}")
    };
    assert_eq!(bytes_here(), [0, parts.bytes(), single.bytes()]);
}

#[test]
fn what_is_too_large_for_one_answer_is_asked_for_in_ranges() {
    let mut here = here();
    here.options.largest_request = 500_000;
    let fetched = here.fetch("Tiny-Q8_0.gguf").unwrap();
    assert_eq!(fs::read(&fetched.path).unwrap(), model(5000));
    let asked = here
        .server
        .asked()
        .into_iter()
        .filter(|asked| asked.host == "localhost");
    let ranges: Vec<_> = asked.filter_map(|asked| asked.range).collect();
    assert_eq!(ranges, ["bytes=0-499999", "bytes=500000-999999", "bytes=1000000-"]);
}

#[test]
fn bytes_with_another_hash_than_the_hub_states_are_deleted() {
    let here = here();
    here.server
        .change(|repository| repository.files[1].bytes = model(5001)[..model(5000).len()].to_vec());
    here.check_refused("Tiny-Q8_0.gguf", "SHA-256");
    assert!(here.library.list().unwrap().is_empty());
}

#[test]
fn a_newer_file_under_the_same_name_is_told_and_does_not_replace_the_one_here() {
    let here = here();
    let fetched = here.fetch("Tiny-Q8_0.gguf").unwrap();
    here.server.change(|repository| {
        repository.revision = "f".repeat(40);
        repository.files[1] = entry("Tiny-Q8_0.gguf", model(4000));
    });
    let error = here.fetch("Tiny-Q8_0.gguf").unwrap_err();
    let FetchError::Newer { here: old, there, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!((*old, *there), (fetched.sha256, Sha256Hex::of(&model(4000))));
    assert!(error.to_string().contains("remove tiny-q8_0"), "{error}");
    here.library.remove(&fetched.id).unwrap();
    assert_eq!(here.fetch("Tiny-Q8_0.gguf").unwrap().sha256, *there);
}

#[test]
fn a_model_of_another_owner_with_the_same_file_name_gets_a_name_of_its_own() {
    let here = here();
    let own = here.library.folder().join("own.gguf");
    fs::write(&own, model(7)).unwrap();
    let named = here.library.folder().parent().unwrap().join("Tiny-Q8_0.gguf");
    fs::rename(&own, &named).unwrap();
    here.library.add(&named).unwrap();
    assert_eq!(here.fetch("Tiny-Q8_0.gguf").unwrap().id.as_str(), "some-one-tiny-q8_0");
}

#[test]
fn a_model_in_several_files_is_fetched_verified_and_removed_as_one() {
    let here = here();
    let mut steps = Vec::new();
    let mut watch = |step: FetchProgress| steps.push((step.bytes_done, step.bytes_total));
    let fetched = here
        .fetch_watched("BF16/Tiny-BF16-00002-of-00003.gguf", &mut watch)
        .unwrap();
    let total: u64 = parts("x").iter().map(|part| part.bytes.len() as u64).sum();
    assert!(steps.is_sorted() && steps.iter().all(|&(_, all)| all == total));
    assert_eq!(fetched.id.as_str(), "tiny-bf16");
    assert!(fetched.path.ends_with("tiny-bf16-00001-of-00003.gguf"));
    assert_eq!(
        (fetched.header.file_bytes, fetched.header.parameters),
        (total, 3 * 64 * 500)
    );
    let installed = here.library.list().unwrap();
    assert_eq!((installed.len(), installed[0].bytes), (1, total));
    assert_eq!(
        here.library.fetched_as(&installed[0]).unwrap().unwrap().sha256,
        fetched.sha256
    );
    assert_eq!(here.library.resolve("tiny-bf16").unwrap(), fetched);
    assert_eq!(here.fetch("BF16/Tiny-BF16-00001-of-00003.gguf").unwrap(), fetched);
    let intact = Verification::Intact { sha256: fetched.sha256 };
    assert_eq!(here.library.verify(&fetched.id).unwrap(), intact);

    let last = here.library.folder().join("tiny-bf16-00003-of-00003.gguf");
    let mut bytes = fs::read(&last).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&last, bytes).unwrap();
    assert!(matches!(
        here.library.verify(&fetched.id),
        Ok(Verification::Changed { .. })
    ));
    fs::remove_file(&last).unwrap();
    let message = here.library.list().unwrap().remove(0).header.unwrap_err().to_string();
    assert!(message.contains("00003-of-00003.gguf is missing"), "{message}");
    assert!(here.library.remove(&fetched.id).unwrap() > 0);
    assert!(here.library.list().unwrap().is_empty());
}

#[test]
fn what_cannot_be_had_whole_or_checked_is_refused_with_the_choice_there_is() {
    let here = here();
    let listing = here.list().unwrap();
    let message = listing.find(None).unwrap_err().to_string();
    assert!(
        message.contains("name one of them: old/Tiny-Q4_K_M.gguf, "),
        "{message}"
    );
    here.check_refused("Tiny-Q3.gguf", "it has: old/Tiny-Q4_K_M.gguf, ");
    here.server.change(|repository| {
        repository.files.retain(|file| !file.path.contains("00002-of"));
        repository.files[1].oid = None;
    });
    here.check_refused("BF16/Tiny-BF16-00001-of-00003.gguf", "2 of the 3 parts");
    here.check_refused("Tiny-Q8_0.gguf", "states no SHA-256");
    here.server.change(|repository| repository.files.truncate(1));
    assert!(matches!(here.list(), Err(HubError::NoModel { .. })));
}

#[test]
fn answers_that_are_no_answers_of_a_hub_are_named() {
    let check = |change: &dyn Fn(&mut HubRepository), says: &str| {
        let here = here();
        here.server.change(change);
        let message = here.list().unwrap_err().to_string();
        assert!(message.contains(says), "{says:?} is missing in: {message}");
    };
    check(&|repository| repository.revision = "main".to_owned(), "no revision");
    check(
        &|repository| repository.files[1].oid = Some("short".to_owned()),
        "not a SHA-256 hash",
    );
    check(
        &|repository| repository.licence = Some("\"".to_owned()),
        "cannot use the answer",
    );
    check(
        &|repository| repository.files[1].path = "x".repeat(9 << 20),
        "cannot use the answer",
    );
    assert!(matches!(
        Hub::at("http://example.org", None),
        Err(HubError::Address { .. })
    ));
    let nobody = Hub::at("http://127.0.0.1:9", None).unwrap();
    assert!(matches!(
        nobody.list(&HubRepo::new(REPO).unwrap()),
        Err(HubError::Silent { .. })
    ));
}
