//! `magis runs`: past runs, listed, shown, found, carried elsewhere, gone on with, deleted.

use super::follow::follow;
use super::inspect::known_repository;
use super::{Place, agreed, say_erasure};
use crate::args::{ExportFormatArg, RunsCommand, ShowArgs, StatusChoice};
use crate::exit::ExitStatus;
use crate::failure::{Failure, refuse_existing};
use crate::render::{Tone, calls_table, clean, count, escaped, shown_patch, shown_run, standing, table_of_runs};
use crate::screen::tell;
use magis_core::RunId;
use magis_engine::records::{DeletedRun, RunEntry, RunFilter, RunSearch, SnippetSpan, StoredStatus, TextSource};
use magis_engine::repository::Patch;
use magis_engine::{EngineError, Magis, write_whole};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Runs `magis runs`.
pub fn run(place: &Place, command: RunsCommand) -> Result<ExitStatus, Failure> {
    let magis = place.open()?;
    match command {
        RunsCommand::List {
            repo,
            status,
            limit,
            json,
        } => {
            let runs = listed(&magis, repo, status, limit)?;
            if json {
                print_json(place, &runs.iter().map(entry_json).collect())
            } else {
                list(place, &runs)
            }
        }
        RunsCommand::Show(args) => show(place, &magis, &args),
        RunsCommand::Search { text, limit } => search(place, &magis, &text.join(" "), limit),
        RunsCommand::Export { run, out, format } => export(place, &magis, run, out.as_deref(), format),
        RunsCommand::Import { file } => import(place, &magis, &file),
        RunsCommand::Resume {
            run,
            repo,
            engine,
            follow: form,
        } => {
            if let Some(repository) = &repo {
                magis.attach(run, repository)?;
            }
            follow(place, &magis, run, &[], engine, form)
        }
        RunsCommand::BreakLease { run, yes } => break_lease(place, &magis, run, yes),
        RunsCommand::Delete { run, yes } => delete(place, &magis, run, yes),
    }
}

fn listed(
    magis: &Magis,
    repo: Option<PathBuf>,
    status: Option<StatusChoice>,
    limit: u32,
) -> Result<Vec<RunEntry>, Failure> {
    let mut filter = RunFilter {
        limit,
        status: status.map(|status| match status {
            StatusChoice::Queued => StoredStatus::Queued,
            StatusChoice::Running => StoredStatus::Running,
            StatusChoice::Paused => StoredStatus::Paused,
            StatusChoice::Interrupted => StoredStatus::Interrupted,
            StatusChoice::Ended => StoredStatus::Ended,
        }),
        ..RunFilter::default()
    };
    if let Some(path) = repo {
        match known_repository(magis, &path)? {
            Some(repository) => filter.repo = Some(repository.id),
            None => return Ok(Vec::new()),
        }
    }
    Ok(magis.runs(&filter)?)
}

fn list(place: &Place, runs: &[RunEntry]) -> Result<ExitStatus, Failure> {
    if runs.is_empty() {
        place
            .screen
            .line("There is no such run yet. Begin one with: magis solve --repo PATH --issue FILE")?;
    } else {
        place
            .screen
            .write(&table_of_runs(runs, place.screen.paint, place.screen.width))?;
    }
    Ok(ExitStatus::Success)
}

fn show(place: &Place, magis: &Magis, args: &ShowArgs) -> Result<ExitStatus, Failure> {
    let (run, screen) = (args.run, place.screen);
    if args.patch {
        let patch = magis.merged(run)?.patch;
        if screen.has_person() {
            screen.write(&shown_patch(&Patch::parse(&patch)?, screen.paint, screen.width))?;
        } else {
            screen.exactly(&patch)?;
        }
        return Ok(ExitStatus::Success);
    }
    if args.calls {
        let calls = magis.calls(run)?;
        magis.run(run)?;
        if args.json {
            return print_json(place, &calls.iter().map(|call| json!(call.record)).collect());
        }
        if calls.is_empty() {
            screen.line(&format!("Run {run} has no model call yet."))?;
        } else {
            screen.write(&calls_table(&calls, screen.paint, screen.width))?;
        }
        return Ok(ExitStatus::Success);
    }
    let seen = magis.full_run(run)?;
    if args.json {
        let events = seen
            .events
            .iter()
            .filter(|stored| args.stage.is_none_or(|stage| stored.stage == stage));
        let mut value = json!({ "run": entry_json(&seen.run.entry), "request": seen.run.request });
        value["events"] = events.map(|stored| json!(stored)).collect();
        return print_json(place, &value);
    }
    let text = shown_run(&seen, args.stage, magis.base_text(run)?, screen.paint, screen.width);
    screen.write(&text)?;
    Ok(ExitStatus::Success)
}

fn search(place: &Place, magis: &Magis, text: &str, limit: u32) -> Result<ExitStatus, Failure> {
    let hits = magis.search_runs(&RunSearch {
        text: text.to_owned(),
        repo: None,
        limit,
    })?;
    let (screen, paint) = (place.screen, place.screen.paint);
    if hits.is_empty() {
        screen.line(&format!("No run says '{}'.", clean(text)))?;
    }
    for hit in hits {
        let (tone, state) = standing(&hit.run);
        let title = paint.tone(Tone::Strong, &clean(&format!("Run {}: {}", hit.run.id, hit.run.title)));
        screen.line(&format!("{title} ({})", paint.tone(tone, state)))?;
        for place in &hit.places {
            let source = match place.source {
                TextSource::Issue => "issue",
                TextSource::Hint => "hint",
                TextSource::Words => "said",
                TextSource::Path => "path",
                TextSource::Patch => "patch",
            };
            let part = |part: &SnippetSpan| match part {
                SnippetSpan::Plain(text) => clean(text).replace(['\n', '\t'], " "),
                SnippetSpan::Found(text) => paint.tone(Tone::Note, &clean(text)),
            };
            let snippet: String = place.snippet.iter().map(part).collect();
            screen.line(&format!("  {source}: {}", snippet.trim()))?;
        }
    }
    Ok(ExitStatus::Success)
}

fn export(
    place: &Place,
    magis: &Magis,
    run: RunId,
    out: Option<&Path>,
    format: ExportFormatArg,
) -> Result<ExitStatus, Failure> {
    let text = match format {
        ExportFormatArg::Json => escaped(&magis.export(run)?).into_owned() + "\n",
        ExportFormatArg::Markdown => magis.markdown(run)?,
    };
    let Some(out) = out else {
        place.screen.write(&text)?;
        return Ok(ExitStatus::Success);
    };
    refuse_existing(out)?;
    write_whole(out, |to| to.write_all(text.as_bytes())).map_err(|error| {
        Failure::error(
            format!("cannot write {}: {error}", out.display()),
            "check the path, its permissions and the free space of its disk",
        )
    })?;
    place.screen.line(&format!(
        "Run {run} is written to {}. It holds the issue, code and every prompt.",
        out.display()
    ))?;
    Ok(ExitStatus::Success)
}

fn import(place: &Place, magis: &Magis, file: &Path) -> Result<ExitStatus, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        Failure::error(
            format!("cannot read {}: {error}", file.display()),
            "give a file of 'magis runs export'",
        )
    })?;
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    let run = magis.import(&text, &name)?;
    let show = place.next_command(&format!("runs show {run}"));
    place
        .screen
        .line(&format!("Imported as run {run}. To look at it: {show}"))?;
    if let Err(EngineError::WhichRepository { roots, .. }) = magis.repository_id_of(run) {
        tell(&format!(
            "  note: several repositories here have its base: {}.",
            clean(&roots.join(", "))
        ));
    }
    let apply = place.next_command(&format!("apply {run} --repo DIR"));
    tell(&format!(
        "  note: it is applied only to a repository that you name: {apply}"
    ));
    Ok(ExitStatus::Success)
}

fn break_lease(place: &Place, magis: &Magis, run: RunId, yes: bool) -> Result<ExitStatus, Failure> {
    if let Some(lease) = magis.driven_elsewhere(run)? {
        let question = format!(
            "Run {run} is being worked on by {}. Take it from that process? Its present step is lost. [y/N]",
            clean(&lease.holder)
        );
        if !yes && !agreed(&question, || format!("run {run} stays with that process"))? {
            place.screen.line("Nothing is changed.")?;
            return Ok(ExitStatus::Success);
        }
    }
    let said = if magis.break_lease(run)? {
        format!(
            "Run {run} is free. To go on with it: {}",
            place.next_command(&format!("runs resume {run}"))
        )
    } else {
        format!("Nobody works on run {run}.")
    };
    place.screen.line(&said)?;
    Ok(ExitStatus::Success)
}

fn delete(place: &Place, magis: &Magis, run: RunId, yes: bool) -> Result<ExitStatus, Failure> {
    let entry = magis.run(run)?.entry;
    let question = format!("Delete run {run} ({}) for good? [y/N]", clean(&entry.title));
    if !yes && !agreed(&question, || format!("run {run} is not deleted"))? {
        place.screen.line("Nothing is deleted.")?;
        return Ok(ExitStatus::Success);
    }
    let DeletedRun {
        summaries_kept,
        change_messages_kept,
        reruns,
        erasure,
    } = magis.delete_run(run)?;
    place.screen.line(&format!("Run {run} is deleted."))?;
    say_erasure(place, &erasure)?;
    if summaries_kept + change_messages_kept > 0 {
        place.screen.line(&format!(
            "  The memory keeps what it made: {} and {}.",
            count(summaries_kept as usize, "description"),
            count(change_messages_kept as usize, "change message"),
        ))?;
    }
    if !reruns.is_empty() {
        let reruns: Vec<String> = reruns.iter().map(ToString::to_string).collect();
        place.screen.line(&format!(
            "  Runs that share its beginning keep their copy of it: {}.",
            reruns.join(", ")
        ))?;
    }
    Ok(ExitStatus::Success)
}

fn entry_json(entry: &RunEntry) -> Value {
    json!({
        "id": entry.id,
        "repository": entry.repository,
        "origin": entry.origin,
        "title": entry.title,
        "model": entry.model,
        "base": entry.base,
        "status": entry.status,
        "outcome": entry.outcome,
        "created_at_ms": entry.created_at,
        "started_at_ms": entry.started_at,
        "ended_at_ms": entry.ended_at,
        "parent": entry.parent,
        "size": entry.size,
        "tokens": entry.tokens,
    })
}

fn print_json(place: &Place, value: &Value) -> Result<ExitStatus, Failure> {
    place.screen.json(value)?;
    Ok(ExitStatus::Success)
}
