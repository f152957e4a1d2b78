//! The memory of a repository from elsewhere: any bytes are a memory or an error, and one that is taken in comes out again.

use super::run_archive::new_store;
use super::{CaseOutcome, FuzzTarget};
use anyhow::Result;
use magis_core::RepoId;
use magis_store::{MemoryArchive, NewRepository, Store};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The time at which files are taken in, in milliseconds since the epoch.
const NOW: i64 = 1_000_000;
/// So many files are taken in before the database is made anew.
const MOST_FILES: u32 = 500;

pub(super) struct MemoryFileTarget {
    folder: PathBuf,
    store: Store,
    repo: RepoId,
    files: u32,
}

impl MemoryFileTarget {
    pub(super) fn open(place: &Path) -> Result<Self> {
        let folder = place.join("store");
        let (store, repo) = opened(&folder)?;
        Ok(Self {
            folder,
            store,
            repo,
            files: 0,
        })
    }
}

fn opened(folder: &Path) -> Result<(Store, RepoId)> {
    let store = new_store(folder)?;
    let repository = NewRepository {
        root: "/projects/url".to_owned(),
        name: "url".to_owned(),
        identity: None,
    };
    let repo = store.upsert_repository(&repository, 1)?;
    Ok((store, repo))
}

/// Returns a file of these lines and the last one, which seals them.
fn sealed(lines: &[&[u8]]) -> Vec<u8> {
    let mut text = Vec::new();
    for line in lines {
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    let mut hash = String::new();
    for byte in Sha256::digest(&text) {
        let _written = write!(hash, "{byte:02x}");
    }
    let entries = lines.len().saturating_sub(1);
    text.extend(format!("{{\"end\":{{\"entries\":{entries},\"sha256\":\"{hash}\"}}}}\n").bytes());
    text
}

impl FuzzTarget for MemoryFileTarget {
    fn seeds(&mut self) -> Vec<Vec<u8>> {
        let head = r#"{"format":"magis-memory","version":1,"repository":"url"}"#;
        let (blob, other, sha) = ("1".repeat(40), "2".repeat(40), "a".repeat(64));
        let summary = format!(
            r#"{{"summary":{{"path":"a.py","blob":"{blob}","text":"Adds numbers.","from_skeleton":false,"file_bytes":10,"tokens":3,"model":"small","model_sha":"{sha}","template_hash":"{sha}","made_at":10,"corrected_at":20}}}}"#
        );
        let change = format!(
            r#"{{"change":{{"path":"a.py","from":"{blob}","to":"{other}","message":"Rounds.","model":"small","model_sha":"{sha}","template_hash":"{sha}","made_at":12}}}}"#
        );
        let code = format!(r#"{{"code":{{"blob":"{blob}","text":"a = 1\n"}}}}"#);
        let lines = [head, &summary, &change, &code].map(str::as_bytes);
        vec![sealed(&lines), sealed(&lines[..1]), sealed(&lines[..2])]
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "magis-memory",
            "format",
            "version",
            "repository",
            "summary",
            "change",
            "code",
            "end",
            "path",
            "blob",
            "text",
            "from_skeleton",
            "file_bytes",
            "tokens",
            "model",
            "model_sha",
            "template_hash",
            "made_at",
            "corrected_at",
            "../a",
            "a/b",
            "\u{0}",
            "\u{7f}",
            "entries",
            "sha256",
        ]
    }

    fn is_json(&self) -> bool {
        true
    }

    fn seal(&self, input: &mut Vec<u8>) {
        let text = input.strip_suffix(b"\n").unwrap_or(input);
        let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
        if lines.last().is_some_and(|line| line.starts_with(b"{\"end\"")) {
            lines.pop();
        }
        *input = sealed(&lines);
    }

    fn run(&mut self, input: &[u8]) -> CaseOutcome {
        let mut outcome = CaseOutcome::default();
        let Some(archive) = outcome.say_result("memory", MemoryArchive::read(input, NOW)) else {
            return outcome;
        };
        outcome.say_count("summaries", archive.summaries.len());
        outcome.say_count("messages", archive.messages.len());
        outcome.say_count("code", archive.code.len());
        let mut written = Vec::new();
        archive.write(&mut written).expect("memory can be written to");
        let again = MemoryArchive::read(written.as_slice(), NOW).expect("what was written can be read");
        assert!(again == archive, "a memory that is written and read is another one");
        if self.files == MOST_FILES {
            (self.store, self.repo) = opened(&self.folder).expect("the folder of the target can be written");
            self.files = 0;
        }
        self.files += 1;
        let taken = self.store.import_memory(self.repo, &archive);
        if let Some(done) = outcome.say_result("taken in", taken) {
            outcome.say_count("added", done.added as usize);
            outcome.say_count("replaced", done.replaced as usize);
            let memory = self
                .store
                .export_memory(self.repo)
                .expect("our own memory can be exported");
            let mut written = Vec::new();
            memory.write(&mut written).expect("memory can be written to");
            MemoryArchive::read(written.as_slice(), NOW).expect("what was exported can be read");
        }
        outcome
    }
}
