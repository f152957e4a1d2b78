//! The folder of models: listing, resolving, adding, verifying and removing.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failing fixture should stop the test"
)]

mod support;

use magis_core::text::bytes;
use magis_models::{LibraryError, ModelId, ModelLibrary, Sha256Hex, Verification};
use magis_testkit::gguf::{Gguf, text};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use support::catalog;
use tempfile::TempDir;

struct Here {
    folder: TempDir,
    library: ModelLibrary,
    small: Vec<u8>,
}

fn here() -> Here {
    let folder = tempfile::tempdir().unwrap();
    let small = Gguf::small(10).bytes();
    let catalog = catalog(&small, "https://hub.example/small.gguf", &[]);
    let library = ModelLibrary::with_catalog(folder.path().join("models"), catalog).unwrap();
    Here { folder, library, small }
}

impl Here {
    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    fn ids(&self) -> Vec<String> {
        self.library
            .list()
            .unwrap()
            .into_iter()
            .map(|model| model.id.to_string())
            .collect()
    }
}

fn id(text: &str) -> ModelId {
    ModelId::new(text).unwrap()
}

fn other_model(name: &str) -> Vec<u8> {
    Gguf::small(10).with("general.name", text(name)).bytes()
}

/// Changes the contents and leaves size and time as they were.
fn change_unseen(path: &Path) {
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    let mut bytes = fs::read(path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(path, bytes).unwrap();
    File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(modified)
        .unwrap();
}

#[test]
fn an_added_catalogue_file_gets_its_name_from_its_hash() {
    let here = here();
    assert_eq!(here.library.not_installed().len(), 1);
    let added = here.library.add(&here.write("Download (1).gguf", &here.small)).unwrap();
    assert_eq!(
        (added.id.as_str(), added.path),
        ("small", here.library.folder().join("small.gguf"))
    );
    assert_eq!(
        here.library.resolve("small").unwrap().sha256,
        Sha256Hex::of(&here.small)
    );
    assert!(here.library.not_installed().is_empty());
    assert_eq!(here.ids(), ["small"]);
}

#[test]
fn an_own_file_is_added_once_under_its_own_name_and_the_original_stays() {
    let here = here();
    let file = here.write("My Model.GGUF", &other_model("one"));
    let added = here.library.add(&file).unwrap();
    assert_eq!(added.id.as_str(), "my-model");
    assert_eq!(here.library.add(&file).unwrap(), added);
    assert_eq!(here.library.resolve("my-model").unwrap(), added);
    let another = here.write("my-model.gguf", &other_model("two"));
    assert!(matches!(
        here.library.add(&another),
        Err(LibraryError::NameTaken { .. })
    ));
    here.library.remove(&id("my-model")).unwrap();
    assert!(file.is_file());
    assert!(here.ids().is_empty());
}

#[test]
fn an_own_file_never_takes_the_name_of_a_catalogue_model() {
    let here = here();
    let added = here
        .library
        .add(&here.write("small.gguf", &other_model("not small")))
        .unwrap();
    assert_eq!(added.id.as_str(), "own-small");
    assert!(matches!(
        here.library.resolve("small"),
        Err(LibraryError::NotInstalled { .. })
    ));
}

#[test]
fn a_file_whose_name_has_nothing_to_keep_is_still_named_and_found() {
    let here = here();
    fs::write(here.library.folder().join("模型.gguf"), other_model("named in Chinese")).unwrap();
    let ids = here.ids();
    assert!(ids[0].starts_with("model-"), "{ids:?}");
    assert!(here.library.resolve(&ids[0]).is_ok());
}

#[test]
fn a_file_anywhere_can_be_named_by_its_path() {
    let here = here();
    let own = here.write("own.gguf", &other_model("own"));
    let found = here.library.resolve(own.to_str().unwrap()).unwrap();
    assert_eq!((found.id.as_str(), found.path), ("own", fs::canonicalize(own).unwrap()));
    let same = here.write("renamed.gguf", &here.small);
    assert_eq!(
        here.library.resolve(same.to_str().unwrap()).unwrap().id.as_str(),
        "small"
    );
}

#[test]
fn an_unknown_name_is_answered_with_the_known_ones() {
    let here = here();
    here.library.add(&here.write("own.gguf", &other_model("own"))).unwrap();
    let message = here.library.resolve("smal").unwrap_err().to_string();
    assert!(
        message.contains("\"smal\"") && message.contains("small, own"),
        "{message}"
    );
    let message = here.library.resolve("small").unwrap_err().to_string();
    assert!(
        message.contains("download it first") && message.contains(&bytes(here.small.len() as u64)),
        "{message}"
    );
}

#[test]
fn a_damaged_catalogue_file_is_refused_with_both_hashes_and_listed_with_the_reason() {
    let here = here();
    let path = here.library.folder().join("small.gguf");
    let other = other_model("not small");
    fs::write(&path, &other).unwrap();
    let message = here.library.resolve("small").unwrap_err().to_string();
    let hashes = [Sha256Hex::of(&here.small), Sha256Hex::of(&other)];
    assert!(
        hashes.iter().all(|hash| message.contains(&hash.to_string())),
        "{message}"
    );
    fs::write(&path, &here.small[..here.small.len() / 2]).unwrap();
    assert!(matches!(here.library.resolve("small"), Err(LibraryError::File(_))));
    let listed = here.library.list().unwrap();
    assert!(
        listed[0]
            .header
            .as_ref()
            .unwrap_err()
            .to_string()
            .contains("incomplete")
    );
}

#[test]
fn a_hash_is_taken_once_and_verifying_takes_it_again() {
    let here = here();
    let added = here.library.add(&here.write("own.gguf", &other_model("own"))).unwrap();
    assert_eq!(
        here.library.verify(&added.id).unwrap(),
        Verification::Intact { sha256: added.sha256 }
    );
    change_unseen(&added.path);
    assert_eq!(here.library.resolve("own").unwrap().sha256, added.sha256);
    let Verification::Changed { expected, found } = here.library.verify(&added.id).unwrap() else {
        panic!("it changed")
    };
    assert_eq!(
        (expected, found),
        (added.sha256, Sha256Hex::of(&fs::read(&added.path).unwrap()))
    );
    // A change that shows in the file's time is noticed without verifying.
    File::options()
        .write(true)
        .open(&added.path)
        .unwrap()
        .set_modified(std::time::UNIX_EPOCH)
        .unwrap();
    assert_eq!(here.library.resolve("own").unwrap().sha256, found);
}

#[test]
fn verifying_all_covers_catalogue_and_own_files() {
    let here = here();
    here.library.add(&here.write("a.gguf", &here.small)).unwrap();
    fs::write(here.library.folder().join("dropped.gguf"), other_model("dropped")).unwrap();
    fs::write(here.library.folder().join("bad.gguf"), b"GGUF").unwrap();
    let all = here.library.verify_all().unwrap();
    let outcomes: Vec<_> = all
        .iter()
        .map(|(id, outcome)| (id.as_str(), outcome.as_ref().ok()))
        .collect();
    let sha256 = Sha256Hex::of(&here.small);
    let dropped = Sha256Hex::of(&other_model("dropped"));
    let expected = [
        ("bad", None),
        ("dropped", Some(&Verification::FirstSeen { sha256: dropped })),
        ("small", Some(&Verification::Intact { sha256 })),
    ];
    assert_eq!(outcomes, expected);
}

#[test]
fn removing_says_how_much_it_freed_and_also_takes_what_was_half_fetched() {
    let here = here();
    assert!(matches!(
        here.library.remove(&id("small")),
        Err(LibraryError::NotInstalled { .. })
    ));
    fs::write(here.library.folder().join("small.gguf.part"), [0; 100]).unwrap();
    assert_eq!(here.library.remove(&id("small")).unwrap(), 100);
    here.library.add(&here.write("a.gguf", &here.small)).unwrap();
    assert_eq!(here.library.remove(&id("small")).unwrap(), here.small.len() as u64);
    assert!(matches!(
        here.library.remove(&id("other")),
        Err(LibraryError::Unknown { .. })
    ));
}

#[test]
fn what_is_no_model_is_not_added() {
    let here = here();
    let page = here.write("model.gguf", b"<!DOCTYPE html>");
    assert!(matches!(here.library.add(&page), Err(LibraryError::File(_))));
    assert!(matches!(
        here.library.add(Path::new("/nonexistent.gguf")),
        Err(LibraryError::Storage { .. })
    ));
    assert!(here.ids().is_empty());
}
