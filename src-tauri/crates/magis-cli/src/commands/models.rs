//! `magis models`: which models are here, which can be had, and whether a file is whole.

mod fetch;
mod hub;
mod trying;

use super::Place;
use crate::args::ModelsCommand;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::render::{Section, Tone, bytes, clean};
use crate::screen::tell;
use crate::status::StatusLine;
use fetch::Print;
use magis_engine::models::{
    CatalogEntry, FetchedModel, Fit, HubName, InstalledModel, LibraryError, MemoryClass, ModelId, ModelLibrary,
    ModelPurpose, Suggestion, Verification, fits,
};
use magis_engine::{ModelAbilities, USUAL_CONTEXT};
use magis_platform::memory;
use serde_json::{Value, json};
use std::path::Path;

/// Runs `magis models`.
pub fn run(place: &Place, command: ModelsCommand) -> Result<ExitStatus, Failure> {
    // The library alone is opened: a damaged database is no reason not to fetch a model.
    let library = ModelLibrary::open(place.data()?.models())?;
    match command {
        ModelsCommand::List { json } => list(place, &library, json),
        ModelsCommand::Fetch { id, from, json } => {
            let print = if json { Print::Json } else { Print::Lines };
            if HubName::is_meant(&id) {
                hub::fetch(place, &library, &id, from, print)
            } else {
                fetch::run(place, &library, &id, from, print)
            }
        }
        ModelsCommand::Add { file } => add(place, &library, &file),
        ModelsCommand::Try { model, engine, json } => trying::run(place, &model, engine, json),
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
    let (installed, offers) = (library.list()?, Offer::all(library));
    // What they can do is kept in the database; a damaged one is no reason not to list them.
    let magis = place.open().ok();
    let abilities = |model: &InstalledModel| trying::known(magis.as_ref()?, library, model);
    let screen = place.screen;
    if as_json {
        let here = installed
            .iter()
            .map(|model| installed_json(library, model, abilities(model).as_ref()));
        let here: Vec<Value> = here.collect::<Result<_, _>>()?;
        let all: Value = here.into_iter().chain(offers.iter().map(Offer::json)).collect();
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
        installed_lines(&mut page, model, library.fetched_as(model)?.as_ref());
        if let Some(abilities) = abilities(model) {
            page.prose(6, &trying::in_words(&abilities));
        }
    }
    let mut class = None;
    for offer in &offers {
        if class != Some(offer.memory()) {
            class = Some(offer.memory());
            page.heading(&match offer.memory() {
                Some(class) => format!("Available to download, for a machine with {} GB", class.gigabytes()),
                None => "Available to download, for larger machines".to_owned(),
            });
        }
        offer.lines(&mut page);
    }
    screen.write(&page.into_text())?;
    Ok(ExitStatus::Success)
}

/// A model that can be downloaded.
enum Offer<'a> {
    /// Of the catalogue, with size and hash.
    Pinned(&'a CatalogEntry),
    /// By its name on the hub alone.
    Suggested(Suggestion),
}

impl<'a> Offer<'a> {
    /// Returns everything that can be downloaded and is not here, by the memory that it wants.
    fn all(library: &'a ModelLibrary) -> Vec<Self> {
        let pinned = library.not_installed().into_iter().map(Self::Pinned);
        let suggested = Suggestion::builtin().into_iter().map(Self::Suggested);
        let mut all: Vec<Self> = pinned.chain(suggested).collect();
        all.sort_by_key(|offer| offer.memory().map_or(u32::MAX, MemoryClass::gigabytes));
        all
    }

    /// Returns the machines that it is for; none where those are larger than any class.
    fn memory(&self) -> Option<MemoryClass> {
        match self {
            Self::Pinned(entry) => entry.memory_class(),
            Self::Suggested(suggestion) => Some(suggestion.memory),
        }
    }

    fn lines(&self, page: &mut Section) {
        match self {
            Self::Pinned(entry) => entry_lines(page, entry),
            Self::Suggested(suggestion) => {
                let about = format!("({}; by its name on the hub, without a hash here)", suggestion.name);
                page.entry(2, Tone::Strong, &suggestion.hub.to_string(), &about);
                page.prose(6, &format!("{} {}", suggestion.good_for, suggestion.measured));
            }
        }
    }

    fn json(&self) -> Value {
        let memory = self.memory().map(MemoryClass::gigabytes);
        match self {
            Self::Pinned(entry) => json!({
                "id": entry.id,
                "installed": false,
                "bytes": entry.file.bytes,
                "in_catalog": true,
                "context": entry.context,
                "quantisation": entry.quantisation,
                "licence": entry.licence,
                "sha256": entry.file.sha256,
                "memory_gb": memory,
                "good_for": entry.good_for,
                "measured": entry.measured,
            }),
            Self::Suggested(suggestion) => json!({
                "id": suggestion.hub.to_string(),
                "installed": false,
                "in_catalog": false,
                "sha256": null,
                "memory_gb": memory,
                "good_for": suggestion.good_for,
                "measured": suggestion.measured,
            }),
        }
    }
}

fn entry_lines(page: &mut Section, entry: &CatalogEntry) {
    let default = if entry.is_for(ModelPurpose::Default) {
        ", default"
    } else {
        ""
    };
    let about = format!(
        "{}{default}, {}, {}, context {}, {}",
        bytes(entry.file.bytes),
        entry.parameters,
        entry.quantisation,
        entry.context,
        entry.licence
    );
    page.entry(2, Tone::Strong, &format!("{}:", entry.id), &about);
    page.prose(6, format!("{} {}", entry.good_for, entry.measured).trim_end());
    if let Some(available) = memory::available() {
        let (tone, words) = fit_in_words(entry.fits(USUAL_CONTEXT.min(entry.context), available));
        page.toned_prose(6, Some(tone), &words);
    }
}

fn installed_lines(page: &mut Section, model: &InstalledModel, fetched: Option<&FetchedModel>) {
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
        None if fetched.is_some() => "",
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
    if let Some(origin) = fetched.and_then(|fetched| fetched.hub.as_ref()) {
        let licence = origin.licence.as_deref().unwrap_or("not stated");
        page.prose(
            6,
            &format!("from {} at {}, licence {licence}", origin.name(), origin.revision),
        );
    }
    if let Some(fit) = fit_of(model) {
        let (tone, words) = fit_in_words(fit);
        page.toned_prose(6, Some(tone), &words);
    }
}

fn installed_json(
    library: &ModelLibrary,
    model: &InstalledModel,
    abilities: Option<&ModelAbilities>,
) -> Result<Value, LibraryError> {
    let fetched = library.fetched_as(model)?;
    let header = model.header.as_ref();
    let origin = fetched.as_ref().and_then(|record| Some((record.hub.as_ref()?, record)));
    Ok(json!({
        "id": model.id,
        "installed": true,
        "path": model.path,
        "bytes": model.bytes,
        "in_catalog": model.entry.is_some(),
        "context": header.ok().map(|header| header.context_length),
        "quantisation": header.ok().map(|header| header.quantisation.to_string()),
        "problem": header.err().map(ToString::to_string),
        "abilities": abilities,
        "hub": origin.map(|(origin, record)| json!({
            "name": origin.name().to_string(),
            "revision": origin.revision,
            "licence": origin.licence,
            "sha256": record.sha256,
        })),
    }))
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
