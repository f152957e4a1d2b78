//! `magis memory`: what is remembered of repositories.

use super::inspect::known_repository;
use super::{Place, agreed, engine, say_erasure};
use crate::args::{MemoryCommand, MemoryFileArgs};
use crate::exit::ExitStatus;
use crate::failure::{Failure, refuse_existing};
use crate::render::{Section, Table, Tone, bytes, clean, count, local_time, thousands};
use magis_core::RepoPath;
use magis_engine::records::{RepositoryEntry, Summary};
use magis_engine::repository::BaseChoice;
use magis_engine::{
    EngineError, EngineLimits, FileMemory, Magis, MemoryDayTotals, MemoryState, SummaryNotNeeded, WithCode,
};
use serde_json::{Value, json};
use std::path::Path;

/// Runs `magis memory`.
pub fn run(place: &Place, command: MemoryCommand) -> Result<ExitStatus, Failure> {
    let magis = place.open()?;
    match command {
        MemoryCommand::Status { repo: None, .. } => overview(place, &magis),
        MemoryCommand::Status { repo: Some(path), json } => status(place, &magis, &path, json),
        MemoryCommand::Show(file) => show(place, &magis, &file),
        MemoryCommand::Correct { file, text } => correct(place, &magis, &file, text),
        MemoryCommand::Drop(file) => forget(place, &magis, &file),
        MemoryCommand::Renew { file, model } => renew(place, &magis, &file, model),
        MemoryCommand::Export { file, repo, with_code } => {
            let code = if with_code { WithCode::Yes } else { WithCode::No };
            export(place, &magis, &file, &repo, code)
        }
        MemoryCommand::Import { file, repo } => import(place, &magis, &file, &repo),
        MemoryCommand::Erase { repo, yes } => erase(place, &magis, &repo, yes),
    }
}

fn overview(place: &Place, magis: &Magis) -> Result<ExitStatus, Failure> {
    let screen = place.screen;
    let repositories = magis.repositories()?;
    if repositories.is_empty() {
        screen.line("There are no summaries yet: no run has read a repository.")?;
        return Ok(ExitStatus::Success);
    }
    let mut table = Table::new(&["REPOSITORY", ">FILES", ">TOKENS", "NEWEST", "FOLDER"]);
    for repository in &repositories {
        let summaries = magis.summaries(repository.id)?;
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

fn status(place: &Place, magis: &Magis, path: &Path, as_json: bool) -> Result<ExitStatus, Failure> {
    let screen = place.screen;
    let known = known(magis, path)?;
    let files = magis.memory_of(known.id, &magis.files_of(known.id, &BaseChoice::Head)?)?;
    let days = magis.memory_days(known.id)?;
    if as_json {
        screen.json(&report_json(&known, &files, &days))?;
        return Ok(ExitStatus::Success);
    }
    let counted = |state| files.iter().filter(|file| file.state == state).count();
    let mut page = Section::new(screen.paint, screen.width);
    let title = page
        .paint
        .tone(Tone::Strong, &clean(&format!("{} ({})", known.name, known.root)));
    page.line(&title);
    page.line(&format!("  {} at its last commit", count(files.len(), "readable file")));
    page.line(&format!("  {:>6}  with a current summary", counted(MemoryState::Fresh)));
    page.line(&format!(
        "  {:>6}  with a summary of an older version; a run that needs it adds the change since",
        counted(MemoryState::Stale)
    ));
    page.line(&format!(
        "  {:>6}  without a summary; written when a run needs it",
        counted(MemoryState::None)
    ));
    for (why, words) in [
        (
            SummaryNotNeeded::ShortEnough,
            "no summary needed: short enough to be read whole",
        ),
        (
            SummaryNotNeeded::NoText,
            "no summary needed: not text, so no run reads it",
        ),
    ] {
        match counted(MemoryState::SummaryNotNeeded(why)) {
            0 => {}
            some => page.line(&format!("  {some:>6}  {words}")),
        }
    }
    let corrected = files.iter().filter(|file| is_corrected(file)).count();
    if corrected > 0 {
        page.line(&format!("  {corrected:>6}  of these corrected by you"));
    }
    screen.write(&page.into_text())?;
    if !days.is_empty() {
        let mut table = Table::new(&["DAY", ">TOKENS SPENT", ">TOKENS SAVED"]);
        for day in &days {
            table
                .row()
                .cell(&day.day)
                .cell(thousands(day.spent))
                .last(thousands(day.saved));
        }
        let sum = |part: fn(&MemoryDayTotals) -> u64| days.iter().map(part).sum::<u64>();
        table
            .row()
            .toned(Tone::Strong, "all")
            .cell(thousands(sum(|day| day.spent)))
            .last(thousands(sum(|day| day.saved)));
        screen.write(&(table.lines(screen.paint, screen.width).join("\n") + "\n"))?;
    }
    Ok(ExitStatus::Success)
}

fn is_corrected(file: &FileMemory) -> bool {
    file.summary.as_ref().is_some_and(Summary::is_corrected)
}

fn report_json(known: &RepositoryEntry, files: &[FileMemory], days: &[MemoryDayTotals]) -> Value {
    let word = |state| match state {
        MemoryState::Fresh => "fresh",
        MemoryState::Stale => "stale",
        MemoryState::None => "none",
        MemoryState::SummaryNotNeeded(_) => "needs_none",
    };
    let why = |state| match state {
        MemoryState::SummaryNotNeeded(SummaryNotNeeded::ShortEnough) => Some("short_enough"),
        MemoryState::SummaryNotNeeded(SummaryNotNeeded::NoText) => Some("no_text"),
        MemoryState::Fresh | MemoryState::Stale | MemoryState::None => None,
    };
    let counted = |state| files.iter().filter(|file| file.state == state).count();
    let file = |file: &FileMemory| {
        let kept = file.summary.as_ref().map(|summary| &summary.kept);
        json!({
            "path": file.path,
            "bytes": file.bytes,
            "state": word(file.state),
            "needs_none": why(file.state),
            "corrected": is_corrected(file),
            "tokens": kept.map(|kept| kept.tokens),
            "model": kept.map(|kept| &kept.model),
            "made_at_ms": kept.map(|kept| kept.made_at),
        })
    };
    let day = |day: &MemoryDayTotals| json!({ "day": day.day, "tokens_spent": day.spent, "tokens_saved": day.saved });
    json!({
        "repository": known.name,
        "root": known.root,
        "fresh": counted(MemoryState::Fresh),
        "stale": counted(MemoryState::Stale),
        "none": counted(MemoryState::None),
        "needs_none": files.iter().filter(|file| why(file.state).is_some()).count(),
        "summarised": counted(MemoryState::Fresh) + counted(MemoryState::Stale),
        "corrected": files.iter().filter(|file| is_corrected(file)).count(),
        "tokens_spent": days.iter().map(|day| day.spent).sum::<u64>(),
        "tokens_saved": days.iter().map(|day| day.saved).sum::<u64>(),
        "days": days.iter().map(day).collect::<Vec<_>>(),
        "files": files.iter().map(file).collect::<Vec<_>>(),
    })
}

fn correct(place: &Place, magis: &Magis, file: &MemoryFileArgs, text: Option<String>) -> Result<ExitStatus, Failure> {
    let (known, path) = named(magis, file)?;
    let text = match text {
        Some(text) => text,
        None => std::io::read_to_string(std::io::stdin()).map_err(|error| {
            Failure::error(
                format!("cannot read the words from standard input: {error}"),
                "give them with --text",
            )
        })?,
    };
    let corrected = magis.correct_summary(known.id, &path, &text)?;
    let stale = if corrected.state == MemoryState::Fresh {
        ""
    } else {
        "; the file has changed since the version they are about"
    };
    place
        .screen
        .line(&format!("The summary of {path} is now in your words{stale}."))?;
    Ok(ExitStatus::Success)
}

fn forget(place: &Place, magis: &Magis, file: &MemoryFileArgs) -> Result<ExitStatus, Failure> {
    let (known, path) = named(magis, file)?;
    let dropped = magis.drop_summary(known.id, &path)?;
    if dropped == 0 {
        return Err(nothing_of(&path, &known));
    }
    place
        .screen
        .line(&format!("{} of {path} forgotten.", count(dropped as usize, "summary")))?;
    Ok(ExitStatus::Success)
}

fn renew(place: &Place, magis: &Magis, file: &MemoryFileArgs, model: Option<String>) -> Result<ExitStatus, Failure> {
    let (known, path) = named(magis, file)?;
    let name = match model {
        Some(word) => magis.model_name(&word)?,
        None => match engine::usual_model(magis)? {
            Some((model, _)) => model,
            None => magis.model_name(magis.library().catalog().default_entry().id.as_str())?,
        },
    };
    super::runtime()?.block_on(async {
        let loaded = magis.load(&name, &EngineLimits::default()).await?;
        magis.renew_summary(known.id, &path, loaded.model).await
    })?;
    show(place, magis, file)
}

fn export(place: &Place, magis: &Magis, file: &Path, repo: &Path, code: WithCode) -> Result<ExitStatus, Failure> {
    refuse_existing(file)?;
    let known = known(magis, repo)?;
    let written = magis.export_memory(known.id, file, code)?;
    let corrected = match written.corrected {
        0 => String::new(),
        some => format!(" ({some} corrected by a person)"),
    };
    let with = match code {
        WithCode::No => "no code".to_owned(),
        WithCode::Yes => format!("the text of {}", count(written.code as usize, "version")),
    };
    place.screen.line(&format!(
        "{}{corrected}, {} of changes and {with} written to {}.",
        count(written.summaries as usize, "summary"),
        count(written.messages as usize, "message"),
        clean(&file.display().to_string())
    ))?;
    Ok(ExitStatus::Success)
}

fn erase(place: &Place, magis: &Magis, repo: &Path, yes: bool) -> Result<ExitStatus, Failure> {
    let known = known(magis, repo)?;
    let question = format!("Erase all that is remembered of {}? [y/N]", clean(&known.root));
    if !yes && !agreed(&question, || format!("nothing is erased of {}", clean(&known.root)))? {
        place.screen.line("Nothing is erased.")?;
        return Ok(ExitStatus::Success);
    }
    let erased = magis.delete_repository(known.id)?;
    place.screen.line(&format!(
        "{} of {} erased, with its index and its objects.",
        count(erased.summaries as usize, "summary"),
        clean(&known.root)
    ))?;
    say_erasure(place, &erased.erasure)?;
    if erased.runs_kept > 0 {
        place.screen.line(&format!(
            "  Its {} stay; 'magis runs delete' deletes one.",
            count(erased.runs_kept as usize, "run")
        ))?;
    }
    Ok(ExitStatus::Success)
}

fn import(place: &Place, magis: &Magis, file: &Path, repo: &Path) -> Result<ExitStatus, Failure> {
    let screen = place.screen;
    let id = magis.add_repository(repo)?;
    let taken = magis.import_memory(id, file)?;
    let entries = taken.entries;
    screen.line(&format!(
        "{} added, {} replaced by newer summaries, {} kept as they are here; {} corrected by a person.",
        entries.added, entries.replaced, entries.kept, entries.corrected
    ))?;
    if taken.unknown_versions > 0 {
        screen.line(&format!(
            "{} of a file in it not in this repository; the summaries are kept until the version is there.",
            count(taken.unknown_versions as usize, "version")
        ))?;
    }
    Ok(ExitStatus::Success)
}

fn show(place: &Place, magis: &Magis, file: &MemoryFileArgs) -> Result<ExitStatus, Failure> {
    let (known, path) = named(magis, file)?;
    let Some(remembered) = magis.remembered(known.id, &path)? else {
        return Err(nothing_of(&path, &known));
    };
    let summary = &remembered.summary;
    let screen = place.screen;
    let mut page = Section::new(screen.paint, screen.width);
    let kept = &summary.kept;
    let title = page.paint.tone(Tone::Strong, &clean(path.as_str()));
    page.line(&title);
    page.prose(2, &kept.text);
    if let Some(message) = &remembered.change_message {
        page.prose(2, &format!("Changed since: {message}"));
    }
    page.gap();
    let outline = if kept.from_skeleton {
        ", from its outline because it is long"
    } else {
        ""
    };
    page.line(&format!(
        "  {} in {}{outline}",
        bytes(kept.file_bytes.into()),
        count(kept.tokens as usize, "token")
    ));
    page.line(&format!(
        "  made {} by {}",
        local_time(kept.made_at),
        clean(&kept.model)
    ));
    if let Some(at) = summary.corrected_at {
        page.line(&format!("  corrected by a person {}", local_time(at)));
    }
    if remembered.state != MemoryState::Fresh {
        page.line("  stale: the file is another one at the last commit");
    }
    if let Some(run) = kept.made_in {
        page.line(&format!("  in run {run}"));
    }
    page.line(&format!("  of blob {}", kept.blob));
    screen.write(&page.into_text())?;
    Ok(ExitStatus::Success)
}

fn named(magis: &Magis, file: &MemoryFileArgs) -> Result<(RepositoryEntry, RepoPath), Failure> {
    let path = RepoPath::new(&file.path).map_err(EngineError::from)?;
    Ok((known(magis, &file.repo)?, path))
}

fn nothing_of(path: &RepoPath, known: &RepositoryEntry) -> Failure {
    Failure::error(
        format!("there is no summary of {path} in {}", known.name),
        "a run that reads the file summarises it; see 'magis memory status'",
    )
}

fn known(magis: &Magis, path: &Path) -> Result<RepositoryEntry, Failure> {
    known_repository(magis, path)?.ok_or_else(|| {
        Failure::error(
            format!("there are no summaries of the repository at {}", path.display()),
            "the first run in it fills the memory; 'magis memory status' lists the repositories that are known",
        )
    })
}
