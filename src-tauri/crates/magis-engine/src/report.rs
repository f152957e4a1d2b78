//! What helps with a report of a defect: versions, machine, settings, how the last runs went, and the last lines of the log.
//!
//! Nothing of a person's code is in it, no issue, no prompt and no answer, and no name or path that a person gave. What was left
//! out is named.

use crate::logging::last_lines;
use crate::{EngineError, Magis};
use magis_core::RunOutcome;
use magis_core::text::{bytes, count};
use magis_platform::memory;
use magis_store::{RunEntry, RunFilter};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::thread;

/// How many runs are told of one by one.
const RUNS: usize = 20;
/// How many are counted.
const COUNTED: u32 = 100;
/// Lines of the log.
const LINES: usize = 300;
/// Settings whose words are the program's own; other words may be a person's.
const OWN_WORDS: [&str; 4] = ["theme", "density", "language", "manners"];
/// Where the window keeps its settings.
const SETTINGS: &str = "window/settings";

impl Magis {
    /// Returns a text about this installation that can be handed to somebody, of a program of this version.
    ///
    /// # Errors
    /// When the database or the folder with the models cannot be read.
    pub fn report(&self, version: &str) -> Result<String, EngineError> {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# Magis {version}\n");
        self.about_machine(&mut text);
        self.about_settings(&mut text)?;
        self.about_models(&mut text)?;
        self.about_runs(&mut text)?;
        let _ = writeln!(text, "\n## Log\n");
        for line in last_lines(&self.data.logs(), LINES) {
            let _ = writeln!(text, "    {line}");
        }
        let _ = writeln!(text, "\n## Left out\n\n{LEFT_OUT}");
        Ok(text)
    }

    fn about_machine(&self, text: &mut String) {
        let size = |bytes_of: Option<u64>| bytes_of.map_or_else(|| "unknown".to_owned(), bytes);
        let threads = thread::available_parallelism().map_or(0, usize::from);
        let _ = writeln!(
            text,
            "{} {}, {}",
            std::env::consts::OS,
            std::env::consts::ARCH,
            count(threads, "thread")
        );
        let _ = writeln!(
            text,
            "memory: {}, {} available",
            size(memory::total()),
            size(memory::available())
        );
        let database = std::fs::metadata(self.store.path()).map(|file| file.len()).ok();
        let sound = match self.store.check() {
            Ok(()) => "sound",
            Err(error) => error.code(),
        };
        let _ = writeln!(text, "database: {}, {sound}", size(database));
    }

    fn about_settings(&self, text: &mut String) -> Result<(), EngineError> {
        let settings: Map<String, Value> = self.store.setting(SETTINGS)?.unwrap_or_default();
        let _ = writeln!(text, "\n## Settings that were changed\n");
        for (name, value) in &settings {
            match value {
                Value::String(_) if !OWN_WORDS.contains(&name.as_str()) => {
                    let _ = writeln!(text, "- {name}: left out");
                }
                other => _ = writeln!(text, "- {name}: {other}"),
            }
        }
        Ok(())
    }

    fn about_models(&self, text: &mut String) -> Result<(), EngineError> {
        let _ = writeln!(text, "\n## Models\n");
        let catalog = self.library.catalog();
        for model in self.library.list()? {
            let name = catalog
                .get(&model.id)
                .map_or("a file of your own", |entry| entry.name.as_str());
            let state = if model.header.is_ok() {
                "readable"
            } else {
                "not readable"
            };
            let _ = writeln!(text, "- {name}, {}, {state}", bytes(model.bytes));
        }
        Ok(())
    }

    fn about_runs(&self, text: &mut String) -> Result<(), EngineError> {
        let runs = self.store.runs(&RunFilter {
            limit: COUNTED,
            ..RunFilter::default()
        })?;
        let mut ends: BTreeMap<String, u32> = BTreeMap::new();
        for run in &runs {
            *ends.entry(end_of(run)).or_default() += 1;
        }
        let _ = writeln!(text, "\n## The last {}\n", count(runs.len(), "run"));
        for (end, number) in ends {
            let _ = writeln!(text, "- {end}: {number}");
        }
        for run in runs.iter().take(RUNS) {
            let (seconds, tokens) = (run.worked_ms / 1000, count(run.tokens as usize, "token"));
            let files = count(run.size.files as usize, "file");
            let _ = writeln!(
                text,
                "\nrun {}: {}, {seconds} s, {tokens}, {files}",
                run.id,
                end_of(run)
            );
            for total in self.store.call_totals(run.id)? {
                let _ = writeln!(
                    text,
                    "  {}: {}, {} read, {} reused, {} written, {} ms, asked again: {}",
                    total.step,
                    count(total.calls as usize, "call"),
                    total.prompt_tokens,
                    total.reused_tokens,
                    total.generated_tokens,
                    total.prompt_ms + total.generate_ms,
                    total.retries
                );
            }
        }
        Ok(())
    }
}

const LEFT_OUT: &str = "\
- issues, hints, code, patches, prompts, answers and summaries
- names and paths of repositories, files and branches
- names of model files that are not in the catalogue
- settings that are words of your own, such as the editor's command
- contents that were logged for single runs";

/// Returns how a run ended, or stands.
fn end_of(run: &RunEntry) -> String {
    match &run.outcome {
        Some(RunOutcome::Approved) => "with a patch".to_owned(),
        Some(RunOutcome::NotApproved) => "with a patch, not approved".to_owned(),
        Some(RunOutcome::NoChange { .. }) => "no change".to_owned(),
        Some(RunOutcome::Failed { .. }) => "failed".to_owned(),
        None => format!("{:?}", run.status).to_lowercase(),
    }
}
