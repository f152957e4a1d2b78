//! A whole run, looked at later: as text for a terminal, and as Markdown for a file.

use super::render::{BaseText, Transcript, outcome_sentence};
use super::{Detail, Paint, Section, Tone, count, day_and_minute, local_time, span, totals_table};
use crate::{EngineError, Magis};
use magis_core::{ChangeTests, ModelReview, Proof, QaMode, RunEvent, RunId, RunOutcome, Stage, TaskId};
use magis_store::{CallTotals, ImportSource, RunEntry, RunOrigin, StoredEvent, StoredRun, StoredStatus};
use std::collections::BTreeMap;
use std::time::Duration;

/// Columns of the Markdown's text.
const COLUMNS: usize = 100;

/// A run, its log and its costs.
#[derive(Debug, Clone)]
pub struct FullRun {
    /// What lists show, and the request.
    pub run: StoredRun,
    /// From which file it came.
    pub import: Option<ImportSource>,
    pub events: Vec<StoredEvent>,
    /// What its calls came to.
    pub totals: Vec<CallTotals>,
}

impl Magis {
    /// Returns all that is told of a run.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be read.
    pub fn full_run(&self, run: RunId) -> Result<FullRun, EngineError> {
        Ok(FullRun {
            run: self.store.run(run)?,
            import: self.store.import_of(run)?,
            events: self.store.events(run)?,
            totals: self.store.call_totals(run)?,
        })
    }

    /// Returns the files that a run is based on, from the copy that the data folder keeps. Nothing where that is not
    /// there: a run that was carried out elsewhere has none.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be read.
    pub fn base_text(&self, run: RunId) -> Result<BaseText, EngineError> {
        let texts = self.texts(run)?;
        Ok(Box::new(move |path| texts.before(path)))
    }

    /// Returns a run as Markdown, with its patch.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be read.
    pub fn markdown(&self, run: RunId) -> Result<String, EngineError> {
        Ok(markdown(&self.full_run(run)?, self.base_text(run)?))
    }
}

/// Returns the run as text; with `only`, one stage of it.
pub fn shown_run(whole: &FullRun, only: Option<Stage>, base_text: BaseText, paint: Paint, width: usize) -> String {
    let mut page = Section::new(paint, width);
    if only.is_none() {
        head(&mut page, whole);
    }
    let mut transcript = Transcript::new(paint, width, Detail::Full, base_text);
    let mut told = false;
    for stored in by_task(&whole.events) {
        if only.is_none_or(|stage| stored.stage == stage) {
            let text = transcript.tell(&stored.event);
            told |= !text.is_empty();
            page.line_block(&text);
        } else {
            transcript.take_in(&stored.event);
        }
    }
    let entry = &whole.run.entry;
    if let Some(stage) = only {
        if !told {
            page.line(&format!("Run {} has nothing of the stage '{stage}'.", entry.id));
        }
        return page.into_text().trim_start_matches('\n').to_owned();
    }
    page.heading("Outcome");
    if can_go_on(entry) {
        page.line(&format!("  Not over yet. To go on: magis runs resume {}", entry.id));
    } else {
        outcome(&mut page, entry, whole.run.request.qa, tested(&whole.events));
    }
    if entry.size.files > 0 {
        page.line(&format!("  The patch: magis runs show {} --patch", entry.id));
    }
    if !whole.totals.is_empty() {
        page.heading("Calls, tokens and time");
        totals_table(&mut page, &whole.totals);
    }
    page.into_text()
}

/// Returns the run as Markdown. All that came from outside stands in fences that its own text cannot close.
fn markdown(whole: &FullRun, base_text: BaseText) -> String {
    let entry = &whole.run.entry;
    let mut text = format!("# {}\n", in_a_line(&entry.title));
    let page = || Section::new(Paint::Plain, COLUMNS);
    let mut opening = page();
    head(&mut opening, whole);
    let (mut title, mut body) = (None, opening.into_text());
    let mut transcript = Transcript::new(Paint::Plain, COLUMNS, Detail::Full, base_text);
    for stored in by_task(&whole.events) {
        let told = transcript.tell_apart(&stored.event);
        if let Some(begun) = told.title {
            add_part(&mut text, title.replace(begun), "text", &std::mem::take(&mut body));
        }
        body.push_str(&told.text);
    }
    add_part(&mut text, title, "text", &body);
    let mut end = page();
    outcome(&mut end, entry, whole.run.request.qa, tested(&whole.events));
    add_part(&mut text, Some("Outcome"), "text", &end.into_text());
    let patch = whole.events.iter().rev().find_map(|stored| match &stored.event {
        RunEvent::Merged { result } => Some(result.patch.as_str()),
        _ => None,
    });
    add_part(&mut text, Some("Patch"), "diff", patch.unwrap_or_default());
    if !whole.totals.is_empty() {
        let mut costs = page();
        totals_table(&mut costs, &whole.totals);
        add_part(&mut text, Some("Calls, tokens and time"), "text", &costs.into_text());
    }
    text
}

/// A part with its title; nothing where it has no text.
fn add_part(text: &mut String, title: Option<&str>, kind: &str, body: &str) {
    if body.trim().is_empty() {
        return;
    }
    if let Some(title) = title {
        text.push_str(&format!("\n## {title}\n"));
    }
    text.push('\n');
    text.push_str(&fenced(kind, body));
}

/// Returns a code block whose fence is longer than any in the text.
fn fenced(kind: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{kind}\n{}\n{fence}\n", text.trim_matches('\n').trim_end())
}

/// Returns words within a line: no line's end, and nothing that Markdown or HTML would take for markup.
fn in_a_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('[', "\\[")
}

/// Returns how a run stands or ended, in a word or two; of a patch, what running it showed, else what the models think of it.
pub fn standing(entry: &RunEntry) -> (Tone, &'static str) {
    match entry.proof {
        Proof::ShownToWork { .. } => return (Tone::Good, "shown to work"),
        Proof::Plausible { .. } => return (Tone::Note, "plausible, not shown to work"),
        Proof::NotShown { .. } => return (Tone::Note, "not shown to work"),
        Proof::NotRun => {}
    }
    match entry.review {
        Some(ModelReview::Passed) => return (Tone::Strong, "model review passed"),
        Some(ModelReview::NotPassed) => return (Tone::Note, "model review not passed"),
        Some(ModelReview::NotRun) => return (Tone::Strong, "not reviewed"),
        None => {}
    }
    match (entry.status, &entry.outcome) {
        (StoredStatus::Queued, _) => (Tone::Faint, "queued"),
        (StoredStatus::Running, _) => (Tone::Strong, "running"),
        (StoredStatus::Paused, _) => (Tone::Note, "paused"),
        (StoredStatus::Interrupted, _) => (Tone::Note, "interrupted"),
        (StoredStatus::Ended, Some(RunOutcome::NoChange { .. })) => (Tone::Note, "no change"),
        (StoredStatus::Ended, Some(RunOutcome::Failed { .. })) => (Tone::Bad, "failed"),
        (StoredStatus::Ended, Some(RunOutcome::Approved | RunOutcome::NotApproved) | None) => (Tone::Faint, "ended"),
    }
}

fn head(page: &mut Section, whole: &FullRun) {
    let entry = &whole.run.entry;
    let (tone, state) = standing(entry);
    let proof = tested(&whole.events).map_or(Proof::NotRun, ChangeTests::proof);
    let title = page.paint.tone(
        Tone::Strong,
        &super::clean(&format!("Run {}: {}", entry.id, entry.title)),
    );
    page.line(&title);
    let origin = match (entry.origin, &whole.import) {
        (RunOrigin::Local, _) => String::new(),
        (RunOrigin::Imported, Some(import)) if !import.file.is_empty() => format!(
            ", imported from {} on {}; nothing of it ran here",
            super::clean(&import.file),
            day_and_minute(import.at)
        ),
        (RunOrigin::Imported, _) => ", imported; nothing of it ran here".to_owned(),
    };
    page.line(&format!("  repository {}{origin}", super::clean(&entry.repository)));
    let state = entry
        .review
        .map_or_else(|| state.to_owned(), |review| format!("{review} · {proof}"));
    let mut when = format!("  {}", page.paint.tone(tone, &state));
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
            "  shares its first {} with run {}",
            count(parent.shared_events as usize, "event"),
            parent.run
        ));
    }
}

/// Returns what was run on the patch.
fn tested(events: &[StoredEvent]) -> Option<&ChangeTests> {
    events.iter().rev().find_map(|stored| match &stored.event {
        RunEvent::PatchTested { result } => Some(&**result),
        _ => None,
    })
}

/// How the run ended, in a sentence.
fn outcome(page: &mut Section, entry: &RunEntry, qa: QaMode, tested: Option<&ChangeTests>) {
    match &entry.outcome {
        Some(outcome) => {
            let (tone, sentence) = outcome_sentence(outcome, qa, tested);
            page.toned_prose(2, Some(tone), &sentence);
        }
        None => page.line("  Not over yet."),
    }
}

fn can_go_on(entry: &RunEntry) -> bool {
    let halted = matches!(entry.status, StoredStatus::Paused | StoredStatus::Interrupted);
    halted && entry.outcome.is_none() && entry.origin == RunOrigin::Local
}

/// Returns the events with those of one task together: tasks of a parallel group were carried out in turn.
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

/// Returns the task whose coding an event belongs to.
fn task_of(event: &RunEvent) -> Option<TaskId> {
    match event {
        RunEvent::ReviewerDefined { task, .. }
        | RunEvent::LinesChosen { task, .. }
        | RunEvent::CodeWritten { task, .. }
        | RunEvent::CodeFailed { task, .. }
        | RunEvent::AttemptTested { task, .. }
        | RunEvent::AttemptsCompared { task, .. }
        | RunEvent::Minimised { task, .. }
        | RunEvent::Reviewed { task, .. }
        | RunEvent::TaskClosed { task, .. } => Some(*task),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_cannot_leave_its_fence_or_its_line() {
        assert_eq!(fenced("text", "a\n```\n<b>"), "````text\na\n```\n<b>\n````\n");
        assert_eq!(in_a_line("<img onerror=x>\n# [y]"), "&lt;img onerror=x> # \\[y]");
    }
}
