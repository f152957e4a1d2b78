//! A recorded run, as the measures read it: the state its log folds to, its calls, and where the time went.
//!
//! It decides nothing about how good a run was.

use anyhow::{Context as _, Result};
use magis_core::{Evidence, LineSpan, RepoPath, RunEvent, RunOutcome, Stage};
use magis_flow::Run;
use magis_store::{CallRecord, RunArchive, StoredEvent};
use std::collections::{BTreeMap, BTreeSet};

/// A run as it was recorded: its events folded, with its model calls.
#[derive(Debug, Clone)]
pub struct RunRecord {
    /// The state: the fold of its log.
    pub state: Run,
    /// Its calls, in order.
    pub calls: Vec<CallRecord>,
    /// Milliseconds between its events, by stage, without the time it was paused.
    pub stages: BTreeMap<Stage, u64>,
}

impl RunRecord {
    /// Reads an exported run.
    pub fn of(archive: RunArchive) -> Result<Self> {
        let run = archive.run;
        let state = Run::fold(run.events.iter().map(|stored| &stored.event))
            .with_context(|| format!("folding the log of a run of {}", run.repository))?;
        Ok(Self {
            state,
            stages: time_by_stage(&run.events),
            calls: run.calls,
        })
    }

    /// Returns milliseconds it was worked on.
    pub fn milliseconds(&self) -> u64 {
        self.stages.values().sum()
    }

    /// Returns how it ended, in a few words.
    pub fn outcome(&self) -> String {
        match self.state.outcome() {
            None => "not over".to_owned(),
            Some(RunOutcome::Approved) => "approved".to_owned(),
            Some(RunOutcome::NotApproved) => "not approved".to_owned(),
            Some(RunOutcome::NoChange { reason }) => format!("no change: {reason}"),
            Some(RunOutcome::Failed { reason }) => format!("failed: {reason}"),
        }
    }

    /// Returns the patch; empty where there is none.
    pub fn patch(&self) -> &str {
        self.state.merged().map_or("", |result| result.patch.as_str())
    }

    /// Returns whether the files were given, so that nothing was located.
    pub fn files_were_given(&self) -> bool {
        let candidates = self.state.candidates();
        !candidates.is_empty()
            && candidates
                .iter()
                .all(|candidate| candidate.evidence.contains(&Evidence::Given))
    }

    /// Returns the files in the order of the ranking.
    pub fn ranked(&self) -> Vec<RepoPath> {
        self.state
            .candidates()
            .iter()
            .map(|candidate| candidate.path.clone())
            .collect()
    }

    /// Returns the files in the order after the model judged them; in that of the ranking where it did not.
    pub fn fused(&self) -> Vec<RepoPath> {
        let judgements = self.state.judgements();
        if judgements.is_empty() {
            return self.ranked();
        }
        judgements.iter().map(|judgement| judgement.path.clone()).collect()
    }

    /// Returns the files that stayed candidates.
    pub fn kept(&self) -> BTreeSet<RepoPath> {
        self.state
            .kept()
            .into_iter()
            .map(|candidate| candidate.path.clone())
            .collect()
    }

    /// Returns the intervals of the round that was kept, of all tasks (P9), joined where they touch. A file that was
    /// deleted as a whole is in it with all its lines; a new file has none.
    pub fn chosen_lines(&self) -> BTreeMap<RepoPath, Vec<LineSpan>> {
        let mut chosen: BTreeMap<RepoPath, Vec<LineSpan>> = BTreeMap::new();
        for task in self.state.tasks() {
            let Some((round, change)) = task.accepted_change() else {
                continue;
            };
            let whole = LineSpan::new(1, u32::MAX).into_iter().collect();
            let spans = match change {
                magis_core::FileChange::Delete => whole,
                magis_core::FileChange::Create { .. } => Vec::new(),
                magis_core::FileChange::Modify { .. } | magis_core::FileChange::Rename { .. } => {
                    let taken = task
                        .accepted_attempt()
                        .and_then(|(round, number)| task.attempt(round, number));
                    let at = taken.and_then(magis_flow::Attempt::place).unwrap_or_default();
                    let place = task.round(round).and_then(|state| state.places.get(at));
                    place.map(|place| place.spans.clone()).unwrap_or_default()
                }
            };
            chosen.entry(task.task.path.clone()).or_default().extend(spans);
        }
        chosen
            .into_iter()
            .map(|(path, spans)| (path, LineSpan::merged(spans)))
            .collect()
    }
}

/// The time up to an event belongs to that event's stage. What passed before a resumption belongs to none.
fn time_by_stage(events: &[StoredEvent]) -> BTreeMap<Stage, u64> {
    let mut stages: BTreeMap<Stage, u64> = BTreeMap::new();
    for pair in events.windows(2) {
        let [before, event] = pair else { continue };
        if matches!(event.event, RunEvent::Resumed) {
            continue;
        }
        let passed = event.at_ms.saturating_sub(before.at_ms).max(0).cast_unsigned();
        *stages.entry(event.stage).or_default() += passed;
    }
    stages
}
