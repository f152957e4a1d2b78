//! `magis memory`: what is remembered of repositories.

use super::Place;
use super::inspect::known_repository;
use crate::args::MemoryCommand;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::render::{Page, Table, Tone, bytes, clean, count, local_time, thousands};
use magis_core::RepoPath;
use magis_engine::floors::repo::{self as git, BaseChoice, ObjectStore, Snapshot};
use magis_engine::floors::store::{Coverage, Repository};
use magis_engine::{EngineError, Magis};
use std::path::Path;

/// `magis memory`.
pub fn run(place: &Place, command: MemoryCommand) -> Result<ExitStatus, Failure> {
    let magis = place.open()?;
    match command {
        MemoryCommand::Status { repo: None } => overview(place, &magis),
        MemoryCommand::Status { repo: Some(path) } => status(place, &magis, &path),
        MemoryCommand::Show { path, repo } => show(place, &magis, &path, &repo),
    }
}

fn overview(place: &Place, magis: &Magis) -> Result<ExitStatus, Failure> {
    let screen = place.screen;
    let repositories = magis.store().repositories()?;
    if repositories.is_empty() {
        screen.line("Nothing is remembered yet: no run has read a repository.")?;
        return Ok(ExitStatus::Success);
    }
    let mut table = Table::new(&["REPOSITORY", ">FILES", ">TOKENS", "NEWEST", "FOLDER"]);
    for repository in &repositories {
        let summaries = magis.store().summaries(repository.id)?;
        let tokens: u64 = summaries.iter().map(|summary| u64::from(summary.kept.tokens)).sum();
        let newest = summaries.iter().map(|summary| summary.kept.made_at).max();
        table
            .row()
            .toned(Tone::Strong, &repository.name)
            .cell(summaries.len().to_string())
            .cell(thousands(tokens))
            .cell(newest.map_or_else(|| "-".to_owned(), local_time))
            .last(&repository.root);
    }
    screen.write(&(table.lines(screen.paint, screen.width).join("\n") + "\n"))?;
    Ok(ExitStatus::Success)
}

fn status(place: &Place, magis: &Magis, path: &Path) -> Result<ExitStatus, Failure> {
    let screen = place.screen;
    let known = known(magis, path)?;
    let coverage = coverage(magis, &known, path)?;
    let files = coverage.fresh + coverage.stale + coverage.none;
    let mut page = Page::new(screen.paint, screen.width);
    let title = page
        .paint
        .tone(Tone::Strong, &clean(&format!("{} ({})", known.name, known.root)));
    page.line(&title);
    page.line(&format!(
        "  {} at its last commit",
        count(files as usize, "readable file")
    ));
    page.line(&format!("  {:>6}  remembered as they are", coverage.fresh));
    page.line(&format!(
        "  {:>6}  remembered in an older version; the difference is told when a run needs it",
        coverage.stale
    ));
    page.line(&format!(
        "  {:>6}  not remembered; summarised when a run needs them",
        coverage.none
    ));
    screen.write(&page.into_text())?;
    Ok(ExitStatus::Success)
}

fn coverage(magis: &Magis, known: &Repository, path: &Path) -> Result<Coverage, Failure> {
    let repository = git::Repository::open(path)?;
    let store = ObjectStore::open(magis.data().objects(known.id), &repository)?;
    let (files, _) = Snapshot::take(&repository, &store, &BaseChoice::Head)?.files()?;
    let files: Vec<_> = files.into_iter().map(|file| (file.path, file.blob)).collect();
    Ok(magis.store().coverage(known.id, &files)?)
}

fn show(place: &Place, magis: &Magis, path: &str, repo: &Path) -> Result<ExitStatus, Failure> {
    let path = RepoPath::new(path).map_err(EngineError::from)?;
    let known = known(magis, repo)?;
    let Some(summary) = magis.store().latest_summary(known.id, &path)? else {
        return Err(Failure::error(
            format!("nothing is remembered of {path} in {}", known.name),
            "a run that reads the file summarises it; see 'magis memory status'",
        ));
    };
    let screen = place.screen;
    let mut page = Page::new(screen.paint, screen.width);
    let kept = &summary.kept;
    let title = page.paint.tone(Tone::Strong, &clean(path.as_str()));
    page.line(&title);
    page.prose(2, &kept.text);
    page.gap();
    let outline = if kept.from_skeleton {
        ", from its outline because it is long"
    } else {
        ""
    };
    page.line(&format!(
        "  {} in {} tokens{outline}",
        bytes(kept.file_bytes.into()),
        kept.tokens
    ));
    let corrected = if summary.corrected_by_person {
        ", corrected by you"
    } else {
        ""
    };
    page.line(&format!(
        "  made {} by {}{corrected}",
        local_time(kept.made_at),
        clean(&kept.model)
    ));
    if let Some(run) = kept.made_in {
        page.line(&format!("  in run {run}"));
    }
    page.line(&format!("  of blob {}", kept.blob));
    screen.write(&page.into_text())?;
    Ok(ExitStatus::Success)
}

fn known(magis: &Magis, path: &Path) -> Result<Repository, Failure> {
    known_repository(magis, path)?.ok_or_else(|| {
        Failure::error(
            format!("nothing is remembered of the repository at {}", path.display()),
            "the first run in it fills the memory; 'magis memory status' lists the repositories that are known",
        )
    })
}
