//! The program itself: what it is, its settings, what it fetched, whether all is well, and what to send with a report.

use crate::problem::{Problem, named};
use crate::state::{App, AppEvent, Watching};
use crate::view::{AppInfo, DoctorLine, FetchRecord, Settings, SolveForm};
use magis_core::text::bytes;
use magis_engine::models::MINIMUM_CONTEXT;
use magis_engine::records::RunQuery;
use magis_engine::{Magis, write_whole};
use magis_platform::memory;
use serde_json::Value;
use std::io::Write as _;
use std::path::Path;

/// The key of the window's settings in the store.
const SETTINGS: &str = "window/settings";
/// Fewer tokens describe no file.
const SMALLEST_SUMMARISATION_BUDGET: u64 = 2_000;
/// Settings that had another name in an earlier version.
const RENAMED_SETTINGS: [(&str, &str); 3] = [
    ("warm", "summarise_when_idle"),
    ("warm_tokens", "summarise_tokens"),
    ("warm_minutes", "summarise_minutes"),
];
/// Less memory holds no model worth loading, in bytes.
const SMALLEST_MEMORY_LIMIT: u64 = 256 << 20;

impl App {
    /// Returns the program and the machine.
    pub fn info(&self) -> Result<AppInfo, Problem> {
        let magis = self.magis()?;
        let data = &self.launch().data;
        let first_page = magis.run_page(&RunQuery {
            limit: 1,
            ..RunQuery::default()
        })?;
        Ok(AppInfo {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            data_folder: data.root().display().to_string(),
            data_bytes: data.bytes(),
            models_folder: data.models().display().to_string(),
            hub: self.hub().ok().map(|hub| hub.address().to_owned()),
            threads: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
            memory_bytes: memory::total().unwrap_or(0),
            available_memory_bytes: memory::available().unwrap_or(0),
            first_start: first_page.rows.is_empty() && magis.repositories()?.is_empty(),
            opened: self.launch().opening.clone(),
            broken_off: self.broken_off().clone(),
            access: magis.access().into(),
        })
    }

    /// Returns what a person set, and the usual values for what nobody set: an older version knew fewer settings.
    pub fn settings(&self) -> Result<Settings, Problem> {
        let kept: Option<serde_json::Map<String, Value>> = self.magis()?.setting(SETTINGS)?;
        let mut all = serde_json::to_value(Settings::default()).unwrap_or_default();
        if let (Some(all), Some(mut kept)) = (all.as_object_mut(), kept) {
            for (before, name) in RENAMED_SETTINGS {
                if let Some(value) = kept.remove(before) {
                    kept.entry(name).or_insert(value);
                }
            }
            all.extend(kept);
        }
        Ok(serde_json::from_value(all).unwrap_or_default())
    }

    /// Keeps what a person set, within what makes sense.
    pub fn put_settings(&self, settings: Settings) -> Result<(), Problem> {
        let within = Settings {
            font_size: settings.font_size.clamp(10, 24),
            top_k: settings.top_k.clamp(1, 200),
            max_rounds: settings.max_rounds.clamp(1, 20),
            threads: settings.threads.map(|threads| threads.clamp(1, 512)),
            context: settings.context.map(|context| context.max(MINIMUM_CONTEXT)),
            memory_limit: settings.memory_limit.map(|limit| limit.max(SMALLEST_MEMORY_LIMIT)),
            summarise_tokens: settings
                .summarise_tokens
                .map(|tokens| tokens.max(SMALLEST_SUMMARISATION_BUDGET)),
            summarise_minutes: settings.summarise_minutes.map(|minutes| minutes.max(1)),
            editor: settings.editor.filter(|editor| !editor.trim().is_empty()),
            ..settings
        };
        self.magis()?.put_setting(SETTINGS, &within)?;
        self.notify(AppEvent::Settings);
        Watching::obey(self)
    }

    /// Returns the model of this machine that is taken where none is chosen.
    pub fn default_model(&self) -> Result<String, Problem> {
        let magis = self.magis()?;
        let catalog = magis.library().catalog();
        Ok(self
            .settings()?
            .default_model
            .unwrap_or_else(|| catalog.default_entry().id.to_string()))
    }

    /// Returns the model that a person waits for where none is chosen: that of another engine, while one is used.
    pub fn usual_model(&self) -> Result<String, Problem> {
        match self.other_engine()?.used {
            Some(used) => Ok(used.model),
            None => self.default_model(),
        }
    }

    /// Returns the model of a run: the chosen one, else that of another engine, else the one for such runs.
    pub fn model_of(&self, form: &SolveForm) -> Result<String, Problem> {
        if let Some(chosen) = &form.model {
            return Ok(chosen.clone());
        }
        let quick = self.settings()?.quick_model.filter(|_| form.is_quick());
        match quick {
            Some(quick) if self.other_engine()?.used.is_none() => Ok(quick),
            _ => self.usual_model(),
        }
    }

    /// Returns everything that was ever fetched from a network, the last first.
    pub fn fetched(&self) -> Result<Vec<FetchRecord>, Problem> {
        let fetched = self.magis()?.library().fetched()?;
        Ok(fetched.into_iter().rev().map(Into::into).collect())
    }

    /// Looks at what a run needs.
    pub fn doctor(&self) -> Result<Vec<DoctorLine>, Problem> {
        let magis = self.magis()?;
        let mut lines = vec![database(&magis), memory(), self.model_line(&magis)?];
        for known in magis.repositories()? {
            let found = magis.open_repository(known.id).map_err(Problem::from);
            let state = found.and_then(|repository| Ok(repository.state()?));
            lines.push(match state {
                Ok(_) => {
                    let sentence = format!("The repository {} can be read.", known.name);
                    fine(Problem::new("repository_fine", sentence, "").naming(named([("name", known.name)])))
                }
                Err(problem) => wrong(problem),
            });
        }
        Ok(lines)
    }

    fn model_line(&self, magis: &Magis) -> Result<DoctorLine, Problem> {
        if let Some(used) = self.other_engine()?.used {
            let sentence = format!("Prompts go to {}, to the model {}.", used.host, used.label);
            let given = named([("host", used.host), ("model", used.label)]);
            return Ok(fine(Problem::new("engine_used", sentence, "").naming(given)));
        }
        let name = self.default_model()?;
        let limits = self.settings()?.limits();
        let found = magis.library().named(&name).map_err(Problem::from);
        let fit = found.and_then(|file| Ok(limits.context_of(&file)?));
        Ok(match fit {
            Ok((_, notes)) if notes.is_empty() => {
                let sentence = format!("The model {name} is whole and fits.");
                fine(Problem::new("model_fine", sentence, "").naming(named([("model", name)])))
            }
            Ok((context, _)) => {
                let sentence = format!("The model {name} fits with a context of {context} tokens only.");
                let given = named([("model", name), ("context", context.to_string())]);
                fine(Problem::new("model_smaller", sentence, "").naming(given))
            }
            Err(problem) => wrong(problem),
        })
    }

    /// Returns a report without code, issues, paths and names, and keeps it: what was shown is what is saved.
    pub fn make_report(&self) -> Result<String, Problem> {
        let report = self.magis()?.report(env!("CARGO_PKG_VERSION"))?;
        *self.report() = Some(report.clone());
        Ok(report)
    }

    /// Writes the report that was shown last.
    pub fn save_report(&self, path: &Path) -> Result<(), Problem> {
        match &*self.report() {
            Some(report) => write_new(path, report.as_bytes()),
            None => Err(Problem::new(
                "no_report",
                "There is no report to save yet.",
                "Show the report first.",
            )),
        }
    }
}

/// Writes a file that a person named; one that is there is replaced, because the dialogue asked.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    write_whole(path, |to| to.write_all(bytes)).map_err(|error| {
        Problem::new(
            "io",
            format!("could not write {}: {error}", path.display()),
            "Check the folder, its permissions and the free space of its disk.",
        )
    })
}

fn database(magis: &Magis) -> DoctorLine {
    match magis.check_database() {
        Ok(()) => fine(Problem::new("database_fine", "The database is sound.", "")),
        Err(error) => wrong(error.into()),
    }
}

fn memory() -> DoctorLine {
    fine(match memory::available().map(bytes) {
        Some(available) => Problem::new("memory_available", format!("{available} of memory are available."), "")
            .naming(named([("available", available)])),
        None => Problem::new(
            "memory_unknown",
            "The system does not say how much memory is available.",
            "",
        ),
    })
}

fn fine(said: Problem) -> DoctorLine {
    DoctorLine { ok: true, said }
}

fn wrong(said: Problem) -> DoctorLine {
    DoctorLine { ok: false, said }
}
