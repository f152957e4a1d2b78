//! The lines of a memory file: how they are written, and what is checked before any of them is believed.
//!
//! A file may come from anybody. Lengths, names, hashes and times are held to what a memory can hold, and a seal tells
//! a damaged file from a whole one; it does not tell who wrote it.

use super::{ArchivedCode, MemoryArchive, MemoryFileError};
use crate::{NewSummary, StoredChangeMessage, Summary};
use magis_core::text::count;
use magis_core::{BlobId, RepoId, RepoPath};
use magis_platform::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::io::{BufRead, Read as _, Write};

const FORMAT: &str = "magis-memory";
const VERSION: u32 = 1;
/// Characters of a summary, a message or a name at the most; the prompts that make them allow a tenth of that.
const LONGEST_TEXT: usize = 8_000;
/// Bytes of a version's text at the most: what a run reads of a file.
const LONGEST_CODE: usize = 1 << 20;
/// Bytes of a line at the most: the longest code with every character escaped.
const LONGEST_LINE: u64 = 8 << 20;
/// A clock elsewhere may be ahead by so much, in milliseconds; words from later would always count as newer.
const CLOCKS_DIFFER: i64 = 86_400_000;

/// The first line of a memory file.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    format: String,
    version: u32,
    #[serde(default)]
    repository: String,
}

/// A line of a memory file after the first.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    Summary(SummaryLine),
    Change(ChangeLine),
    Code(CodeLine),
    End(EndLine),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SummaryLine {
    path: RepoPath,
    blob: String,
    text: String,
    from_skeleton: bool,
    file_bytes: u32,
    tokens: u32,
    model: String,
    model_sha: String,
    template_hash: String,
    made_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    corrected_at: Option<i64>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeLine {
    path: RepoPath,
    from: String,
    to: String,
    message: String,
    model: String,
    model_sha: String,
    template_hash: String,
    made_at: i64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CodeLine {
    blob: String,
    text: String,
}

/// The last line: how many stand between it and the first, and the SHA-256 of all lines before it with their line ends.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndLine {
    entries: usize,
    sha256: String,
}

impl MemoryArchive {
    /// Writes the file's lines.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn write(&self, to: &mut impl Write) -> std::io::Result<()> {
        let mut sealed = Sealed {
            to,
            hasher: Sha256::new(),
        };
        sealed.line(&Head {
            format: FORMAT.to_owned(),
            version: VERSION,
            repository: self.repository.clone(),
        })?;
        for summary in &self.summaries {
            sealed.line(&Line::Summary(summary_line(summary)))?;
        }
        for message in &self.messages {
            sealed.line(&Line::Change(change_line(message)))?;
        }
        for code in &self.code {
            sealed.line(&Line::Code(CodeLine {
                blob: code.blob.0.clone(),
                text: code.text.clone(),
            }))?;
        }
        let end = EndLine {
            entries: self.summaries.len() + self.messages.len() + self.code.len(),
            sha256: hex::encode(sealed.hasher.clone().finalize()),
        };
        sealed.line(&Line::End(end))?;
        to.flush()
    }

    /// Reads a file whole and believes nothing of it before its seal is found right. `now` is the time in milliseconds
    /// since the epoch.
    ///
    /// # Errors
    /// When the input cannot be read, or is no memory file.
    pub fn read(mut from: impl BufRead, now: i64) -> Result<Self, MemoryFileError> {
        let mut hasher = Sha256::new();
        let mut archive = Self::default();
        let mut seen = BTreeSet::new();
        let head = next_line(&mut from, 1)?.ok_or_else(|| MemoryFileError::NotOne("it is empty".to_owned()))?;
        archive.repository = read_head(&head)?;
        hasher.update(&head);
        for number in 2.. {
            let damaged = |why: String| MemoryFileError::Damaged { line: number, why };
            let Some(line) = next_line(&mut from, number)? else {
                return Err(damaged("it ends without its last line".to_owned()));
            };
            let parsed = serde_json::from_slice(&line).map_err(|error| damaged(error.to_string()))?;
            if let Line::End(end) = parsed {
                let entries = archive.summaries.len() + archive.messages.len() + archive.code.len();
                if end.entries != entries {
                    return Err(damaged(format!(
                        "{}, where {} were written",
                        count(entries, "entry"),
                        end.entries
                    )));
                }
                if end.sha256 != hex::encode(hasher.finalize()) {
                    return Err(damaged("its content is not what was written".to_owned()));
                }
                if next_line(&mut from, number + 1)?.is_some() {
                    return Err(damaged("something follows its last line".to_owned()));
                }
                return Ok(archive);
            }
            hasher.update(&line);
            let refused = |why: String| MemoryFileError::Refused { line: number, why };
            let key = archive.take(parsed, now).map_err(refused)?;
            if !seen.insert(key) {
                return Err(refused("it stands there twice".to_owned()));
            }
        }
        Err(MemoryFileError::NotOne("it has no end".to_owned()))
    }

    /// Checks an entry and takes it; returns its key.
    fn take(&mut self, line: Line, now: i64) -> Result<Vec<String>, String> {
        match line {
            Line::Summary(line) => {
                let key = [
                    "s",
                    line.path.as_str(),
                    &line.blob,
                    &line.model_sha,
                    &line.template_hash,
                ]
                .map(str::to_owned);
                self.summaries.push(summary(line, now)?);
                Ok(key.to_vec())
            }
            Line::Change(line) => {
                let key = ["c", &line.from, &line.to, &line.model_sha, &line.template_hash].map(str::to_owned);
                self.messages.push(change(line, now)?);
                Ok(key.to_vec())
            }
            Line::Code(CodeLine { blob, text }) => {
                let blob = blob_id(&blob)?;
                if text.len() > LONGEST_CODE {
                    return Err(format!(
                        "{} bytes of code, over the limit of {LONGEST_CODE}",
                        text.len()
                    ));
                }
                let key = vec!["t".to_owned(), blob.0.clone()];
                self.code.push(ArchivedCode { blob, text });
                Ok(key)
            }
            Line::End(_) => Err("an end stands in the middle".to_owned()),
        }
    }
}

struct Sealed<'w, W> {
    to: &'w mut W,
    hasher: Sha256,
}

impl<W: Write> Sealed<'_, W> {
    fn line(&mut self, line: &impl Serialize) -> std::io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.hasher.update(&text);
        self.to.write_all(&text)
    }
}

fn summary_line(summary: &Summary) -> SummaryLine {
    let kept = &summary.kept;
    SummaryLine {
        path: kept.path.clone(),
        blob: kept.blob.0.clone(),
        text: kept.text.clone(),
        from_skeleton: kept.from_skeleton,
        file_bytes: kept.file_bytes,
        tokens: kept.tokens,
        model: kept.model.clone(),
        model_sha: kept.model_sha.clone(),
        template_hash: kept.template_hash.clone(),
        made_at: kept.made_at,
        corrected_at: summary.corrected_at,
    }
}

fn change_line(message: &StoredChangeMessage) -> ChangeLine {
    ChangeLine {
        path: message.path.clone(),
        from: message.from.0.clone(),
        to: message.to.0.clone(),
        message: message.message.clone(),
        model: message.model.clone(),
        model_sha: message.model_sha.clone(),
        template_hash: message.template_hash.clone(),
        made_at: message.made_at,
    }
}

/// Returns a line with its end; none at the end of the file.
fn next_line(from: &mut impl BufRead, number: usize) -> Result<Option<Vec<u8>>, MemoryFileError> {
    let mut line = Vec::new();
    from.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut line)?;
    if line.len() as u64 > LONGEST_LINE {
        return Err(match number {
            1 => MemoryFileError::NotOne("its first line is too long".to_owned()),
            _ => MemoryFileError::Refused {
                line: number,
                why: format!("a line of more than {LONGEST_LINE} bytes"),
            },
        });
    }
    Ok((!line.is_empty()).then_some(line))
}

/// Returns the name of the repository, from a head of a version that is known.
fn read_head(line: &[u8]) -> Result<String, MemoryFileError> {
    let head: Head = serde_json::from_slice(line).map_err(|error| MemoryFileError::NotOne(error.to_string()))?;
    if head.format != FORMAT {
        return Err(MemoryFileError::NotOne(format!(
            "its format is '{}'",
            short(&head.format)
        )));
    }
    if head.version > VERSION {
        return Err(MemoryFileError::Newer {
            found: head.version,
            known: VERSION,
        });
    }
    if head.version == 0 {
        return Err(MemoryFileError::NotOne("its version is 0".to_owned()));
    }
    words("the repository's name", &head.repository).map_err(|why| MemoryFileError::Refused { line: 1, why })?;
    Ok(head.repository)
}

fn summary(line: SummaryLine, now: i64) -> Result<Summary, String> {
    said("the summary", &line.text)?;
    words("the model's name", &line.model)?;
    hash("the model's hash", &line.model_sha)?;
    hash("the prompt's hash", &line.template_hash)?;
    time(line.made_at, now)?;
    if let Some(corrected_at) = line.corrected_at {
        time(corrected_at, now)?;
    }
    Ok(Summary {
        corrected_at: line.corrected_at,
        kept: NewSummary {
            // The repository it is taken into is said at that moment.
            repo: RepoId(0),
            path: line.path,
            blob: blob_id(&line.blob)?,
            text: line.text,
            from_skeleton: line.from_skeleton,
            file_bytes: line.file_bytes,
            tokens: line.tokens,
            model: line.model,
            model_sha: line.model_sha,
            template_hash: line.template_hash,
            made_at: line.made_at,
            made_in: None,
        },
    })
}

fn change(line: ChangeLine, now: i64) -> Result<StoredChangeMessage, String> {
    said("the message", &line.message)?;
    words("the model's name", &line.model)?;
    // Both are empty where the message needed no model.
    if !(line.model_sha.is_empty() && line.template_hash.is_empty()) {
        hash("the model's hash", &line.model_sha)?;
        hash("the prompt's hash", &line.template_hash)?;
    }
    time(line.made_at, now)?;
    Ok(StoredChangeMessage {
        repo: RepoId(0),
        path: line.path,
        from: blob_id(&line.from)?,
        to: blob_id(&line.to)?,
        message: line.message,
        model: line.model,
        model_sha: line.model_sha,
        template_hash: line.template_hash,
        made_at: line.made_at,
        made_in: None,
    })
}

fn blob_id(text: &str) -> Result<BlobId, String> {
    let hexadecimal = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if hexadecimal && matches!(text.len(), 40 | 64) {
        Ok(BlobId(text.to_owned()))
    } else {
        Err(format!("'{}' is no object id of git", short(text)))
    }
}

fn hash(what: &str, text: &str) -> Result<(), String> {
    if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        Ok(())
    } else {
        Err(format!("{what} is '{}'", short(text)))
    }
}

/// Returns words that somebody reads as a paragraph.
fn said(what: &str, text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err(format!("{what} is empty"));
    }
    words(what, text)
}

fn words(what: &str, text: &str) -> Result<(), String> {
    let length = text.chars().count();
    if length > LONGEST_TEXT {
        return Err(format!(
            "{what} has {length} characters, over the limit of {LONGEST_TEXT}"
        ));
    }
    if text
        .chars()
        .any(|character| character.is_control() && !matches!(character, '\n' | '\t'))
    {
        return Err(format!("{what} holds control characters"));
    }
    Ok(())
}

fn time(at: i64, now: i64) -> Result<(), String> {
    if at < 0 || at > now.saturating_add(CLOCKS_DIFFER) {
        return Err("it was written in the future, or before 1970".to_owned());
    }
    Ok(())
}

/// Returns a foreign text as an error may quote it.
fn short(text: &str) -> String {
    text.chars()
        .filter(|character| !character.is_control())
        .take(40)
        .collect()
}
