//! `magis models fetch hf:OWNER/REPO`: what a repository of the hub offers, and fetching a file of it.

use super::fetch::{Print, watch};
use crate::args::SourceChoice;
use crate::commands::Place;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::render::{Section, Tone, bytes};
use magis_engine::models::{Hub, HubAccess, HubError, HubListing, HubModel, HubName, ModelLibrary, SizeFit};
use magis_platform::memory;
use serde_json::{Value, json};

/// Fetches the file that `name` says; without a file, lists those there are.
pub fn fetch(
    place: &Place,
    library: &ModelLibrary,
    name: &str,
    from: SourceChoice,
    print: Print,
) -> Result<ExitStatus, Failure> {
    let name: HubName = name.parse().map_err(HubError::from)?;
    let hub = Hub::from_environment()?;
    let listing = hub.list(&name.repo)?;
    let Some(file) = &name.file else {
        return list(place, &listing, print);
    };
    let model = listing.find(Some(file))?;
    if print == Print::Lines {
        let size = bytes(model.bytes());
        let folder = library.folder().display();
        place
            .screen
            .line(&format!("{name}: {size}, {}, to {folder}", licence(&listing)))?;
    }
    watch(place, from, print, |options, progress, cancel| {
        library.fetch_from_hub(&hub, &listing, Some(file), options, progress, cancel)
    })
}

fn list(place: &Place, listing: &HubListing, print: Print) -> Result<ExitStatus, Failure> {
    let (screen, available) = (place.screen, memory::available());
    if print == Print::Json {
        screen.json(&listing_json(listing, available))?;
        return Ok(ExitStatus::Success);
    }
    let mut page = Section::new(screen.paint, screen.width);
    page.heading(&format!(
        "hf:{} at {}, {}",
        listing.repo,
        listing.revision,
        licence(listing)
    ));
    if listing.access == HubAccess::Accepted {
        page.line("  for accounts that accepted its terms: give your token in the environment variable HF_TOKEN");
    }
    for model in &listing.models {
        page.entry(2, Tone::Strong, &format!("{}:", model.path), &about(model));
        if let Some(available) = available {
            let (tone, words) = size_fit_in_words(SizeFit::of(model.bytes(), available));
            page.toned_prose(6, Some(tone), &words);
        }
    }
    screen.write(&page.into_text())?;
    let example = format!("models fetch hf:{}:{}", listing.repo, listing.models[0].path);
    Err(Failure::usage(
        "no file was named",
        format!("name one of these, as in: {}", place.next_command(&example)),
    ))
}

/// Returns size and hash, or that there is none.
fn about(model: &HubModel) -> String {
    let size = match model.parts {
        1 => bytes(model.bytes()),
        parts => format!("{} in {parts} files", bytes(model.bytes())),
    };
    let hash = match model.files.as_slice() {
        [only] if model.parts == 1 => only.sha256.map(|hash| format!("SHA-256 {hash}")),
        files if files.len() < model.parts as usize => Some(format!("only {} of them are there", files.len())),
        files => files
            .iter()
            .all(|file| file.sha256.is_some())
            .then(|| "each with its SHA-256".to_owned()),
    };
    format!(
        "{size}, {}",
        hash.as_deref()
            .unwrap_or("without a hash: cannot be checked, so not downloaded")
    )
}

fn licence(listing: &HubListing) -> String {
    listing.licence.as_ref().map_or_else(
        || "no licence stated".to_owned(),
        |licence| format!("licence {licence}"),
    )
}

/// Returns what the size says about whether a model fits.
fn size_fit_in_words(fit: SizeFit) -> (Tone, String) {
    match fit {
        SizeFit::Room { left } => (
            Tone::Good,
            format!("fits by its size: {} are left for its context", bytes(left)),
        ),
        SizeFit::Tight { left } => (
            Tone::Note,
            format!("tight by its size: only {} are left for its context", bytes(left)),
        ),
        SizeFit::TooLarge { available } => (
            Tone::Bad,
            format!("does not fit: larger than the {} available", bytes(available)),
        ),
    }
}

fn listing_json(listing: &HubListing, available: Option<u64>) -> Value {
    let model_json = |model: &HubModel| {
        let files = model.files.iter().map(|file| {
            json!({
                "path": file.path,
                "bytes": file.bytes,
                "sha256": file.sha256,
            })
        });
        json!({
            "name": format!("hf:{}:{}", listing.repo, model.path),
            "bytes": model.bytes(),
            "parts": model.parts,
            "files": files.collect::<Value>(),
            "size_fits": available.map(|available| match SizeFit::of(model.bytes(), available) {
                SizeFit::Room { .. } => "room",
                SizeFit::Tight { .. } => "tight",
                SizeFit::TooLarge { .. } => "no",
            }),
        })
    };
    json!({
        "repo": listing.repo,
        "revision": listing.revision,
        "licence": listing.licence,
        "terms_to_accept": listing.access == HubAccess::Accepted,
        "models": listing.models.iter().map(model_json).collect::<Value>(),
    })
}
