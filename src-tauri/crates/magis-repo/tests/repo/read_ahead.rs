//! Blobs that are read ahead: what is told of each is what is told of it alone.

use crate::{numbered, take};
use magis_core::BlobId;
use magis_repo::{BaseChoice, FileEntry, ReadError, RepoError, Snapshot, blob_of};
use magis_testkit::FixtureRepo;
use proptest::prelude::*;
use std::os::unix::fs::PermissionsExt as _;

/// How many files the repository has.
const FILES: usize = 90;
/// The one of them with a text that no other has, short, and of letters that cannot be packed.
const SHORT: usize = 49;

struct Scene {
    fixture: FixtureRepo,
    snapshot: Snapshot,
    files: Vec<FileEntry>,
}

fn scene() -> Scene {
    let fixture = FixtureRepo::new();
    for number in 0..FILES {
        let name = format!("{number:02}");
        match number % 9 {
            _ if number == SHORT => fixture.write(&name, "the quick brown fox jumps over a lazy dog\n"),
            0 => fixture.write(&name, ""),
            1 => fixture.write(&name, format!("\0{number}")),
            2 => fixture.write(&name, [0xff_u8, number as u8]),
            3 => fixture.write(&name, "the same in many places\n"),
            _ => fixture.write(&name, numbered(number as u32)),
        };
    }
    fixture.commit("one");
    let snapshot = take(&fixture, &BaseChoice::Head);
    let (files, _) = snapshot.files().unwrap();
    assert_eq!(files.len(), FILES);
    Scene {
        fixture,
        snapshot,
        files,
    }
}

/// Returns what was read in words.
fn told(read: &Result<magis_repo::SourceText, ReadError>) -> String {
    format!("{read:?}")
}

#[test]
fn whatever_is_asked_for_in_whatever_order_is_as_if_read_alone() {
    let Scene { snapshot, files, .. } = &scene();
    let config = ProptestConfig {
        cases: 40,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let listed = proptest::collection::vec(0..FILES, 0..80);
    let jumps = proptest::collection::vec((0..FILES, 1_usize..40), 0..6);
    proptest!(config, |(listed in listed, jumps in jumps)| {
        let mut ahead = snapshot.read_ahead(listed.iter().map(|number| &files[*number].blob));
        // Runs through the list from different places, and ids that are not in it or of nothing.
        let of_list = jumps
            .iter()
            .flat_map(|(from, count)| listed.iter().skip(*from).take(*count))
            .map(|number| files[*number].blob.clone());
        let others = jumps.iter().map(|(number, _)| files[*number].blob.clone());
        let strange = [blob_of("nowhere"), BlobId("no id".to_owned())];
        for blob in of_list.chain(others).chain(strange) {
            prop_assert_eq!(told(&ahead.scan(&blob)), told(&snapshot.scan(&blob)));
        }
    });
}

#[test]
fn a_blob_over_which_the_reader_is_lost_costs_no_other() {
    let Scene {
        fixture,
        snapshot,
        files,
    } = scene();
    let broken = &files[SHORT].blob;
    let (two, rest) = broken.0.split_at(2);
    let object = fixture.root().join(".git/objects").join(two).join(rest);
    std::fs::set_permissions(&object, std::fs::Permissions::from_mode(0o644)).unwrap();
    // libgit2 inflates what is left of it without end.
    std::fs::File::options()
        .write(true)
        .open(&object)
        .unwrap()
        .set_len(20)
        .unwrap();
    let mut ahead = snapshot.read_ahead(files.iter().map(|file| &file.blob));
    for file in &files {
        let read = ahead.scan(&file.blob);
        let is_lost = matches!(read, Err(ReadError::Repo(RepoError::ReadingLost { .. })));
        assert_eq!(is_lost, file.blob == *broken, "{}: {read:?}", file.path);
    }
}
