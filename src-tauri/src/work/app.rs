//! The program itself: what it is, its settings, its privacy, whether all is well, and what to send with a report.

use crate::problem::Problem;
use crate::state::{App, Change, now};
use crate::view::{AppInfo, DoctorLine, FetchRecord, PrivacyReport, Settings};
use magis_engine::Magis;
use magis_engine::floors::models::{Fit, LibraryError, MINIMUM_CONTEXT, available_memory, fits};
use magis_engine::floors::store::{RunFilter, RunQuery, RunStatus};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// The key of the window's settings in the store.
const SETTINGS: &str = "window/settings";
/// The context a run is given where nothing else is set, in tokens.
pub(super) const USUAL_CONTEXT: u32 = 16_384;

/// What holds of the network, whatever is set.
const STATEMENTS: [&str; 4] = [
    "Magis sends nothing: no code, no issue, no statistics, no crash report.",
    "The only network access is fetching a model, and only when you ask for one by name.",
    "Models run in a process of their own on this machine and have no network code.",
    "All data lies in one folder that only your user can read. A deleted run is erased from its files.",
];

impl App {
    /// The program and the machine.
    pub fn info(&self) -> Result<AppInfo, Problem> {
        let magis = self.magis()?;
        let data = &self.place().data;
        let first_page = magis.store().run_page(&RunQuery {
            limit: 1,
            ..RunQuery::default()
        })?;
        Ok(AppInfo {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            data_folder: data.root().display().to_string(),
            data_bytes: bytes_below(data.root()),
            models_folder: data.models().display().to_string(),
            threads: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
            memory_bytes: memory_of_machine().unwrap_or(0),
            available_memory_bytes: available_memory().unwrap_or(0),
            first_start: first_page.rows.is_empty() && magis.store().repositories()?.is_empty(),
            opened: self.place().opening.clone(),
        })
    }

    /// What a person set; the usual values where nothing was set or an older version wrote it.
    pub fn settings(&self) -> Result<Settings, Problem> {
        let kept: Option<serde_json::Value> = self.magis()?.store().setting(SETTINGS)?;
        let read = kept.and_then(|value| serde_json::from_value(value).ok());
        Ok(read.unwrap_or_default())
    }

    /// Keeps what a person set, within what makes sense.
    pub fn put_settings(&self, settings: Settings) -> Result<(), Problem> {
        let within = Settings {
            font_size: settings.font_size.clamp(10, 24),
            top_k: settings.top_k.clamp(1, 200),
            max_rounds: settings.max_rounds.clamp(1, 20),
            threads: settings.threads.map(|threads| threads.clamp(1, 512)),
            context: settings.context.map(|context| context.max(MINIMUM_CONTEXT)),
            editor: settings.editor.filter(|editor| !editor.trim().is_empty()),
            ..settings
        };
        self.magis()?.store().put_setting(SETTINGS, &within)?;
        self.ring(Change::Settings);
        Ok(())
    }

    /// The model that is taken where none is chosen.
    pub fn default_model(&self) -> Result<String, Problem> {
        let magis = self.magis()?;
        let catalog = magis.library().catalog();
        Ok(self
            .settings()?
            .default_model
            .unwrap_or_else(|| catalog.default_entry().id.to_string()))
    }

    /// What touches a network, and what ever did.
    pub fn privacy(&self) -> Result<PrivacyReport, Problem> {
        let mut fetched: Vec<FetchRecord> = self.magis()?.library().fetched()?.into_iter().map(Into::into).collect();
        fetched.reverse();
        Ok(PrivacyReport {
            statements: STATEMENTS.map(ToOwned::to_owned).to_vec(),
            fetched,
        })
    }

    /// Looks at what a run needs.
    pub fn doctor(&self) -> Result<Vec<DoctorLine>, Problem> {
        let magis = self.magis()?;
        let mut lines = vec![database(&magis)];
        match available_memory() {
            Some(bytes) => lines.push(fine(format!("{} MiB of memory are available.", bytes >> 20))),
            None => lines.push(fine("The system does not say how much memory is available.".to_owned())),
        }
        lines.push(self.model_line(&magis)?);
        for known in magis.store().repositories()? {
            let found = magis.open_repository(known.id).map_err(Problem::from);
            let state = found.and_then(|repository| Ok(repository.state()?));
            lines.push(match state {
                Ok(_) => fine(format!("The repository {} can be read.", known.name)),
                Err(problem) => wrong(problem),
            });
        }
        Ok(lines)
    }

    fn model_line(&self, magis: &Magis) -> Result<DoctorLine, Problem> {
        let name = self.default_model()?;
        Ok(match magis.library().resolve(&name) {
            Ok(file) => {
                let wanted = USUAL_CONTEXT.min(file.header.context_length);
                match available_memory().map(|available| fits(&file.header, wanted, available)) {
                    Some(Fit::No { need, available }) => wrong(Problem::new(
                        "too_little_memory",
                        format!(
                            "the model {name} needs {} MiB of memory, and {} MiB are available",
                            need >> 20,
                            available >> 20
                        ),
                        "Close other programs, or choose a smaller model.",
                    )),
                    Some(Fit::Smaller { context }) => fine(format!(
                        "The model {name} fits with a context of {context} tokens only."
                    )),
                    Some(Fit::Fits { .. }) | None => fine(format!("The model {name} is whole and fits.")),
                }
            }
            Err(LibraryError::NotInstalled { id, bytes }) => wrong(Problem::new(
                "model_missing",
                format!("the model {id} is not on this machine ({} MB)", bytes / 1_000_000),
                "Fetch it under Models.",
            )),
            Err(error) => wrong(error.into()),
        })
    }

    /// Writes what helps with a report: versions, sizes, how runs ended; no code, no issue, no path, no name.
    pub fn diagnostics(&self, path: &Path) -> Result<(), Problem> {
        let magis = self.magis()?;
        let info = self.info()?;
        let settings = self.settings()?;
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "Magis {}, {}", info.version, info.platform);
        let _ = writeln!(
            text,
            "{} processors, {} MiB of memory, {} MiB available, {} MiB of data",
            info.threads,
            info.memory_bytes >> 20,
            info.available_memory_bytes >> 20,
            info.data_bytes >> 20
        );
        let _ = writeln!(
            text,
            "threads {:?}, context {:?}, top k {}, rounds {}",
            settings.threads, settings.context, settings.top_k, settings.max_rounds
        );
        let catalog = magis.library().catalog();
        for model in magis.library().list()? {
            let name = catalog
                .get(&model.id)
                .map_or("a file of the person's own", |entry| entry.name.as_str());
            let state = if model.header.is_ok() {
                "readable"
            } else {
                "not readable"
            };
            let _ = writeln!(text, "model: {name}, {} MiB, {state}", model.bytes >> 20);
        }
        let runs = magis.store().runs(&RunFilter {
            limit: 100,
            ..RunFilter::default()
        })?;
        let mut standing: BTreeMap<String, u32> = BTreeMap::new();
        for run in &runs {
            *standing.entry(stands(run.status, run.outcome.as_ref())).or_default() += 1;
        }
        let _ = writeln!(text, "the last {} runs: {standing:?}", runs.len());
        for run in runs.iter().take(20) {
            let _ = writeln!(
                text,
                "run {}: {}, {} s, {} tokens, {} files",
                run.id,
                stands(run.status, run.outcome.as_ref()),
                run.worked_ms / 1000,
                run.tokens,
                run.size.files
            );
            for total in magis.store().call_totals(run.id)? {
                let _ = writeln!(
                    text,
                    "  {}: {} calls, {} read, {} reused, {} written, {} ms, {} retries",
                    total.step,
                    total.calls,
                    total.prompt_tokens,
                    total.reused_tokens,
                    total.generated_tokens,
                    total.prompt_ms + total.generate_ms,
                    total.retries
                );
            }
        }
        for line in self.doctor()?.into_iter().filter(|line| !line.ok).take(1) {
            // The words of a problem can name a folder, so only that there is one is told.
            let _ = writeln!(text, "not well: {}", line.remedy.unwrap_or_default());
        }
        let _ = writeln!(text, "written {} (milliseconds since 1970)", now());
        write_new(path, text.as_bytes())
    }
}

/// Writes a file that a person named; one that is there is replaced, because the dialogue asked.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    std::fs::write(path, bytes).map_err(|error| {
        Problem::new(
            "io",
            format!("could not write {}: {error}", path.display()),
            "Check the folder, its permissions and the free space of its disk.",
        )
    })
}

fn stands(status: RunStatus, outcome: Option<&magis_core::RunOutcome>) -> String {
    use magis_core::RunOutcome;
    match outcome {
        Some(RunOutcome::Approved) => "approved".to_owned(),
        Some(RunOutcome::NotApproved) => "not approved".to_owned(),
        Some(RunOutcome::NoChange { .. }) => "no change".to_owned(),
        Some(RunOutcome::Failed { .. }) => "failed".to_owned(),
        None => format!("{status:?}").to_lowercase(),
    }
}

fn database(magis: &Magis) -> DoctorLine {
    match magis.store().check() {
        Ok(()) => fine("The database is sound.".to_owned()),
        Err(error) => wrong(error.into()),
    }
}

fn fine(what: String) -> DoctorLine {
    DoctorLine {
        ok: true,
        what,
        remedy: None,
    }
}

fn wrong(problem: Problem) -> DoctorLine {
    DoctorLine {
        ok: false,
        what: problem.message,
        remedy: problem.remedy,
    }
}

/// The bytes of all files below a folder; what cannot be read counts nothing.
fn bytes_below(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 0;
    };
    entries
        .filter_map(Result::ok)
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => bytes_below(&entry.path()),
            Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |file| file.len()),
            _ => 0,
        })
        .sum()
}

/// The memory of the machine, where the system says it as Linux does.
fn memory_of_machine() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}
