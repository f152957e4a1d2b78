//! A memory file: what goes out comes in, and what a damaged, newer or hostile file does: nothing.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says so by failing")]

mod support;

use magis_core::BlobId;
use magis_store::{
    ArchivedCode, MemoryArchive, MemoryFileError, MemoryImport, NewSummary, StoredChangeMessage, Summary,
};
use sha2::{Digest, Sha256};
use support::{Data, path};

const NOW: i64 = 1_000_000;

fn blob(digit: char) -> BlobId {
    BlobId(digit.to_string().repeat(40))
}

fn sha(digit: char) -> String {
    digit.to_string().repeat(64)
}

fn summary(data: &Data, file: &str, version: char, text: &str, made_at: i64) -> NewSummary {
    NewSummary {
        blob: blob(version),
        model_sha: sha('a'),
        template_hash: sha('b'),
        ..support::summary(data.repo, file, "", text, made_at)
    }
}

fn message(data: &Data, text: &str, made_at: i64) -> StoredChangeMessage {
    StoredChangeMessage {
        repo: data.repo,
        path: path("a.py"),
        from: blob('1'),
        to: blob('2'),
        message: text.to_owned(),
        model: "small".to_owned(),
        model_sha: sha('a'),
        template_hash: sha('c'),
        made_at,
        made_in: None,
    }
}

/// Returns a memory with a corrected summary, another one and a message.
fn filled() -> Data {
    let data = Data::new();
    data.store
        .put_summary(&summary(&data, "a.py", '1', "Adds numbers.", 10))
        .unwrap();
    data.store
        .put_summary(&summary(&data, "b.py", '3', "Reads files.", 11))
        .unwrap();
    data.store
        .correct_summary(data.repo, &path("a.py"), &blob('1'), "Adds money.", 20)
        .unwrap();
    data.store.put_change_message(&message(&data, "Rounds.", 12)).unwrap();
    data
}

fn written(data: &Data) -> String {
    let mut bytes = Vec::new();
    data.store.export_memory(data.repo).unwrap().write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn read(text: &str) -> Result<MemoryArchive, MemoryFileError> {
    MemoryArchive::read(text.as_bytes(), NOW)
}

fn texts(data: &Data) -> Vec<(String, Option<i64>)> {
    let all = data.store.all_summaries(data.repo).unwrap();
    let said = |one: Summary| (one.kept.text, one.corrected_at);
    all.into_iter().map(said).collect()
}

/// Returns the file with these lines between the first and the last, its seal made right again: what somebody would
/// write who knows the form.
fn sealed(head: &str, lines: &[&str]) -> String {
    let mut text = format!("{head}\n");
    for line in lines {
        text += line;
        text.push('\n');
    }
    let digest = Sha256::digest(text.as_bytes());
    let hash = digest
        .iter()
        .fold(String::new(), |hash, byte| hash + &format!("{byte:02x}"));
    text + &format!("{{\"end\":{{\"entries\":{},\"sha256\":\"{hash}\"}}}}\n", lines.len())
}

const HEAD: &str = r#"{"format":"magis-memory","version":1,"repository":"url"}"#;

#[test]
fn what_goes_out_of_one_memory_comes_into_another_with_its_corrections() {
    let (here, there) = (filled(), Data::new());
    let archive = read(&written(&here)).unwrap();
    let done = there.store.import_memory(there.repo, &archive).unwrap();
    let expected = MemoryImport {
        added: 3,
        corrected: 1,
        ..MemoryImport::default()
    };
    assert_eq!(done, expected);
    assert_eq!(
        texts(&there),
        [("Adds money.".to_owned(), Some(20)), ("Reads files.".to_owned(), None)]
    );
    assert_eq!(written(&there), written(&here));
    let again = there.store.import_memory(there.repo, &archive).unwrap();
    assert_eq!((again.added, again.replaced, again.kept), (0, 0, 3));
}

#[test]
fn an_entry_that_is_here_gives_way_to_newer_words_only_and_a_persons_to_a_persons_only() {
    let check = |here: (&str, i64, Option<i64>), there: (&str, i64, Option<i64>), expected: &str| {
        let fill = |(text, made_at, corrected_at): (&str, i64, Option<i64>)| {
            let data = Data::new();
            data.store
                .put_summary(&summary(&data, "a.py", '1', text, made_at))
                .unwrap();
            if let Some(at) = corrected_at {
                data.store
                    .correct_summary(data.repo, &path("a.py"), &blob('1'), text, at)
                    .unwrap();
            }
            data
        };
        let (here, there) = (fill(here), fill(there));
        let archive = read(&written(&there)).unwrap();
        here.store.import_memory(here.repo, &archive).unwrap();
        assert_eq!(texts(&here)[0].0, expected);
    };
    check(("ours", 10, None), ("theirs", 20, None), "theirs");
    check(("ours", 20, None), ("theirs", 10, None), "ours");
    check(("ours", 10, None), ("theirs", 10, None), "ours");
    check(("ours", 10, None), ("theirs", 5, Some(20)), "theirs");
    check(("ours", 10, Some(11)), ("theirs", 20, None), "ours");
    check(("ours", 10, Some(11)), ("theirs", 5, Some(12)), "theirs");
}

#[test]
fn no_code_is_in_it_unless_it_was_put_there() {
    let data = filled();
    let mut archive = data.store.export_memory(data.repo).unwrap();
    assert_eq!(archive.code, []);
    archive.code.push(ArchivedCode {
        blob: blob('1'),
        text: "x = 1\n".to_owned(),
    });
    let mut bytes = Vec::new();
    archive.write(&mut bytes).unwrap();
    assert_eq!(MemoryArchive::read(bytes.as_slice(), NOW).unwrap().code, archive.code);
}

#[test]
fn any_byte_that_is_changed_and_any_end_that_is_missing_is_noticed() {
    let whole = written(&filled());
    // Without the very last line end nothing is missing.
    for at in 0..whole.len() - 1 {
        assert!(read(&whole[..at]).is_err(), "cut off at {at}");
        let mut bytes = whole.clone().into_bytes();
        bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
        assert!(MemoryArchive::read(bytes.as_slice(), NOW).is_err(), "changed at {at}");
    }
    let more = format!("{whole}{{}}\n");
    assert!(matches!(read(&more), Err(MemoryFileError::Damaged { .. })));
}

#[test]
fn another_file_and_a_newer_version_are_told_apart() {
    let check = |text: &str, expected: &str| {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check("", "it is empty");
    check("not json\n", "this is no memory file of Magis");
    check(r#"{"format":"magis-run","version":1}"#, "its format is 'magis-run'");
    check(
        r#"{"format":"magis-memory","version":2,"anything":[]}"#,
        "has version 2; this program reads versions up to 1",
    );
    check("\u{0}\u{1}\u{2}", "this is no memory file of Magis");
}

#[test]
fn a_well_sealed_file_with_hostile_entries_is_refused() {
    let data = filled();
    let whole = written(&data);
    let line = |number: usize| whole.lines().nth(number).unwrap();
    let (first, change) = (line(1), line(3));
    assert!(
        read(&sealed(HEAD, &[first, change])).is_ok(),
        "the form itself is right"
    );
    let check = |lines: &[&str], expected: &str| {
        let error = read(&sealed(HEAD, lines)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("nothing was taken in"), "{error}");
    };
    check(&[first, first], "it stands there twice");
    check(&[&first.replace("a.py", "../../a.py")], "line 2");
    check(&[&first.replace("a.py", "/etc/a.py")], "line 2");
    check(&[&first.replace(&blob('1').0, "HEAD")], "'HEAD' is no object id");
    check(&[&first.replace(&sha('a'), "")], "the model's hash is ''");
    check(&[&first.replace("Adds money.", " ")], "the summary is empty");
    check(&[&first.replace("Adds money.", "\\u001b[2J")], "control characters");
    check(&[&first.replace("Adds money.", &"x".repeat(8_001))], "over the limit");
    check(
        &[&first.replace("\"corrected_at\":20", "\"corrected_at\":9223372036854775807")],
        "in the future",
    );
    check(&[&first.replace("\"made_at\":10", "\"made_at\":-1")], "before 1970");
    check(&[&first.replace("\"tokens\":30", "\"tokens\":-30")], "line 2");
    check(
        &[&first.replace("\"tokens\"", "\"more\":1,\"tokens\"")],
        "unknown field",
    );
    check(&[&change.replace("Rounds.", "")], "the message is empty");
    check(&[&"{\"summary\":".repeat(100_000)], "is damaged at line 2");
}

#[test]
fn a_file_that_cannot_be_taken_in_whole_leaves_the_memory_as_it_was() {
    let (here, there) = (Data::new(), filled());
    let archive = read(&written(&there)).unwrap();
    let missing = magis_core::RepoId(99);
    assert!(here.store.import_memory(missing, &archive).is_err());
    assert_eq!(texts(&here), []);
}
