//! A whole run, looked at later.

use super::transcript::{BaseText, Detail, Transcript, outcome_sentence};
use super::{Page, Paint, Tone, day_and_minute, local_time, span, standing, totals_table};
use magis_core::{RunEvent, Stage, TaskId};
use magis_engine::floors::store::{CallTotals, Run, RunOrigin, RunStatus, StoredEvent};
use std::collections::BTreeMap;
use std::time::Duration;

/// Everything that is shown of a run.
pub struct RunView<'a> {
    /// What lists show, and the request.
    pub run: &'a Run,
    /// Its log.
    pub events: &'a [StoredEvent],
    /// What its calls came to.
    pub totals: &'a [CallTotals],
}

/// The run as text; with `only`, one stage of it.
pub fn shown_run(view: &RunView<'_>, only: Option<Stage>, base_text: BaseText, paint: Paint, width: usize) -> String {
    let mut page = Page::new(paint, width);
    if only.is_none() {
        head(&mut page, view);
    }
    let mut transcript = Transcript::new(paint, width, Detail::Full, base_text);
    let mut told = false;
    for stored in by_task(view.events) {
        if only.is_none_or(|stage| stored.stage == stage) {
            let text = transcript.tell(&stored.event);
            told |= !text.is_empty();
            page.line_block(&text);
        } else {
            transcript.take_in(&stored.event);
        }
    }
    if let Some(stage) = only {
        if !told {
            page.line(&format!(
                "Run {} has nothing of the stage '{stage}'.",
                view.run.entry.id
            ));
        }
        return page.into_text().trim_start_matches('\n').to_owned();
    }
    foot(&mut page, view);
    page.into_text()
}

/// The run as Markdown, with its patch.
pub fn markdown(view: &RunView<'_>, base_text: BaseText) -> String {
    let entry = &view.run.entry;
    let shown = shown_run(view, None, base_text, Paint::Plain, 100);
    let patch = view.events.iter().rev().find_map(|stored| match &stored.event {
        RunEvent::Merged { result } => Some(result.patch.as_str()),
        _ => None,
    });
    let mut text = format!("# {}\n\n", entry.title);
    text.push_str(&fenced("text", &shown));
    if let Some(patch) = patch {
        text.push_str("\n## Patch\n\n");
        text.push_str(&fenced("diff", patch));
    }
    text
}

/// A code block whose fence is longer than any in the text.
fn fenced(kind: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{kind}\n{}\n{fence}\n", text.trim_end())
}

fn head(page: &mut Page, view: &RunView<'_>) {
    let entry = &view.run.entry;
    let (tone, state) = standing(entry);
    let title = page.paint.tone(
        Tone::Strong,
        &super::clean(&format!("Run {}: {}", entry.id, entry.title)),
    );
    page.line(&title);
    let origin = match entry.origin {
        RunOrigin::Local => "",
        RunOrigin::Imported => ", imported",
    };
    page.line(&format!("  repository {}{origin}", super::clean(&entry.repository)));
    let mut when = format!("  {}", page.paint.tone(tone, state));
    match (entry.started_at, entry.ended_at) {
        (Some(start), Some(end)) => {
            let took = Duration::from_millis(end.saturating_sub(start).max(0).cast_unsigned());
            when.push_str(&format!(
                ", {} to {} ({})",
                local_time(start),
                local_time(end),
                span(took)
            ));
        }
        (Some(start), None) => when.push_str(&format!(", begun {}", local_time(start))),
        (None, _) => when.push_str(&format!(", created {}", day_and_minute(entry.created_at))),
    }
    page.line(&when);
    if let Some(parent) = entry.parent {
        page.line(&format!(
            "  shares its first {} events with run {}",
            parent.shared_events, parent.run
        ));
    }
}

fn foot(page: &mut Page, view: &RunView<'_>) {
    let entry = &view.run.entry;
    page.heading("Outcome");
    match &entry.outcome {
        Some(outcome) => {
            let (tone, sentence) = outcome_sentence(outcome);
            page.toned_prose(2, Some(tone), &sentence);
        }
        None => match entry.status {
            RunStatus::Paused | RunStatus::Interrupted if entry.origin == RunOrigin::Local => {
                page.line(&format!("  Not over yet. To go on: magis runs resume {}", entry.id));
            }
            _ => page.line("  Not over yet."),
        },
    }
    if entry.size.files > 0 {
        page.line(&format!("  The patch: magis runs show {} --patch", entry.id));
    }
    if !view.totals.is_empty() {
        page.heading("Calls, tokens and time");
        totals_table(page, view.totals);
    }
}

/// The events with those of one task together: tasks of a parallel group were carried out in turn.
fn by_task(events: &[StoredEvent]) -> Vec<&StoredEvent> {
    let mut place: BTreeMap<TaskId, usize> = BTreeMap::new();
    let mut current = 0;
    let mut keyed: Vec<(usize, &StoredEvent)> = events
        .iter()
        .enumerate()
        .map(|(index, stored)| {
            current = match task_of(&stored.event) {
                Some(task) => *place.entry(task).or_insert(index),
                // What a person did, and notices, belong to what was under way.
                None if stored.event.stage().is_none() && stored.stage == Stage::Code => current,
                None => index,
            };
            (current, stored)
        })
        .collect();
    keyed.sort_by_key(|(place, _)| *place);
    keyed.into_iter().map(|(_, stored)| stored).collect()
}

/// The task whose coding an event belongs to.
fn task_of(event: &RunEvent) -> Option<TaskId> {
    match event {
        RunEvent::ReviewerDefined { task, .. }
        | RunEvent::LinesChosen { task, .. }
        | RunEvent::CodeWritten { task, .. }
        | RunEvent::CodeFailed { task, .. }
        | RunEvent::Reviewed { task, .. }
        | RunEvent::TaskClosed { task, .. } => Some(*task),
        _ => None,
    }
}
