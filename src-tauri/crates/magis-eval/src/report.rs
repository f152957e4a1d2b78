//! All measures of one or several settings, joined from records, references and verdicts.
//!
//! How it looks as text is `text`'s; nothing is run and nothing judged here.

mod text;

use crate::change::{Change, Size};
use crate::instances::{InstanceId, Reference};
use crate::measures::complexity::{Group, IndexRegression, Pair, group, regressions};
use crate::measures::cost::{CostTable, cost_table};
use crate::measures::coverage::{CoverageTable, Covered, coverage, coverage_table};
use crate::measures::locating::{Hits, RecallCurve, all_files, recall, recall_curve};
use crate::measures::loss::{Lost, lost};
use crate::record::RunRecord;
use crate::results::{Judged, Method, Setting, TaskScore};
use magis_core::RepoPath;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The measures of several settings.
#[derive(Debug, Serialize)]
pub struct Report {
    pub settings: Vec<SettingReport>,
}

/// The recorded runs of one setting with what is known of them.
pub struct RecordedSet {
    pub setting: Setting,
    pub runs: Vec<RecordedInstance>,
}

/// One recorded run with what is known of it.
pub struct RecordedInstance {
    pub reference: Reference,
    pub record: RunRecord,
    /// Whether `git apply --check` takes its patch on the base.
    pub applied: bool,
    pub judged: Option<Judged>,
    /// The score of its task descriptions.
    pub score: Option<TaskScore>,
}

/// The measures of one setting.
#[derive(Debug, Serialize)]
pub struct SettingReport {
    pub setting: Setting,
    /// Instances with a run.
    pub instances: usize,
    /// Of these, ones whose run ended without a change.
    pub without_change: usize,
    /// Of these, ones whose patch git applies.
    pub applied: usize,
    /// Of these, judged ones; a run without a change counts as judged where others are.
    pub judged: usize,
    /// Of these, resolved ones.
    pub resolved: usize,
    /// File location; none where the files were given.
    pub locating: Option<Locating>,
    pub coverage: CoverageTable,
    /// "Resolved" on the complexity of the reference.
    pub complexity: Vec<IndexRegression>,
    /// Changes that resolve their issue beside the references.
    pub resolved_changes: Group,
    /// Changes that apply and do not resolve, beside the references.
    pub unresolved_changes: Group,
    pub repositories: BTreeMap<String, RepositoryTotals>,
    /// Where unresolved ones were lost.
    pub lost: BTreeMap<Lost, usize>,
    pub cost: CostTable,
    /// How well task descriptions match the references; none where nothing was scored.
    pub task_scores: Option<TaskScores>,
    /// One row an instance.
    pub rows: Vec<InstanceRow>,
}

/// File location of a setting.
#[derive(Debug, Serialize)]
pub struct Locating {
    /// Recall after 1, 2, … files of the ranking.
    pub ranking: RecallCurve,
    /// Recall after 1, 2, … files, the model's judgement fused in.
    pub fused: RecallCurve,
    /// All reference files among the first k of the ranking.
    pub located_by_ranking: Hits,
    /// All reference files among the first k, the model's judgement fused in.
    pub located: Hits,
    /// Mean recall of the files that were kept.
    pub kept_recall: f64,
    /// Mean number of files that were kept.
    pub kept_files: f64,
}

/// One repository of a setting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RepositoryTotals {
    /// Instances with a run.
    pub instances: usize,
    /// Of these, ones whose patch git applies.
    pub applied: usize,
    /// Of these, judged ones.
    pub judged: usize,
    /// Of these, resolved ones.
    pub resolved: usize,
}

/// Scores of task descriptions, split by resolved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskScores {
    /// The models that judged.
    pub judges: BTreeSet<String>,
    /// How many of resolved instances have score 1, 2, 3, 4, 5.
    pub resolved: [usize; 5],
    /// The same of unresolved instances.
    pub unresolved: [usize; 5],
    /// The same of instances that were not judged.
    pub unjudged: [usize; 5],
}

/// One instance of a setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InstanceRow {
    pub id: InstanceId,
    /// How its run ended.
    pub outcome: String,
    /// Whether git applies its patch.
    pub applied: bool,
    /// Whether it is resolved, where that was judged.
    pub resolved: Option<bool>,
    /// The share of the reference's files that were kept; none where they were given.
    pub recall: Option<f64>,
    pub coverage: Option<f64>,
    /// Seconds.
    pub seconds: f64,
    /// Prompt tokens computed and tokens written.
    pub tokens: u64,
    /// Where it was lost; none where it is resolved, or has a change that was not judged.
    pub lost: Option<Lost>,
}

/// The text of a file of a reference's base version, where it is available.
pub type ReferenceText<'a> = &'a dyn Fn(&Reference, &RepoPath) -> Option<String>;

impl Report {
    /// Measures recorded sets against the references.
    pub fn of(sets: &[RecordedSet], base: ReferenceText<'_>) -> Self {
        Self {
            settings: sets.iter().map(|set| SettingReport::of(set, base)).collect(),
        }
    }
}

/// An instance with everything that is derived from it once.
struct Measured<'s> {
    instance: &'s RecordedInstance,
    resolved: Option<bool>,
    coverage: Option<f64>,
    generated: Option<Size>,
    reference: Option<Size>,
    lost: Option<Lost>,
}

impl SettingReport {
    fn of(set: &RecordedSet, base: ReferenceText<'_>) -> Self {
        let any_judged = set.runs.iter().any(|run| run.judged.is_some());
        let measured: Vec<Measured<'_>> = set
            .runs
            .iter()
            .map(|run| Measured::of(run, set.setting.method, any_judged, base))
            .collect();
        let covered = measured.iter().filter_map(|one| {
            Some(Covered {
                coverage: one.coverage?,
                resolved: one.resolved,
            })
        });
        let complexity: Vec<(Size, bool)> = measured
            .iter()
            .filter_map(|one| Some((one.reference?, one.resolved?)))
            .collect();
        let applied = measured.iter().filter(|one| one.instance.applied);
        let pair = |one: &Measured<'_>| {
            Some(Pair {
                generated: one.generated?,
                reference: one.reference?,
                resolved: one.resolved?,
            })
        };
        let pairs: Vec<Pair> = applied.filter_map(pair).collect();
        let mut lost = BTreeMap::new();
        for step in measured.iter().filter_map(|one| one.lost) {
            *lost.entry(step).or_default() += 1;
        }
        let mut repositories: BTreeMap<String, RepositoryTotals> = BTreeMap::new();
        let mut whole = RepositoryTotals::default();
        for one in &measured {
            whole.count(one);
            repositories
                .entry(one.instance.reference.repo.clone())
                .or_default()
                .count(one);
        }
        Self {
            setting: set.setting.clone(),
            instances: whole.instances,
            without_change: set
                .runs
                .iter()
                .filter(|run| run.record.patch().trim().is_empty())
                .count(),
            applied: whole.applied,
            judged: whole.judged,
            resolved: whole.resolved,
            locating: locating(&set.runs),
            coverage: coverage_table(&covered.collect::<Vec<_>>()),
            complexity: if complexity.is_empty() {
                Vec::new()
            } else {
                regressions(&complexity)
            },
            resolved_changes: group(&pairs, true),
            unresolved_changes: group(&pairs, false),
            repositories,
            lost,
            cost: cost_table(set.runs.iter().map(|run| &run.record)),
            task_scores: task_scores(&measured),
            rows: measured.iter().map(Measured::row).collect(),
        }
    }
}

impl<'s> Measured<'s> {
    fn of(instance: &'s RecordedInstance, method: Method, any_judged: bool, base: ReferenceText<'_>) -> Self {
        let (record, reference) = (&instance.record, &instance.reference);
        let text = |path: &RepoPath| base(reference, path);
        let no_change = record.patch().trim().is_empty();
        let resolved = match &instance.judged {
            Some(judged) => Some(judged.resolved),
            None if any_judged && no_change => Some(false),
            None => None,
        };
        let change = Change::parse(record.patch()).ok();
        let chosen = match method {
            Method::Magis => record.chosen_lines(),
            Method::Baseline => change.as_ref().map(Change::touched).unwrap_or_default(),
        };
        Self {
            instance,
            resolved,
            coverage: coverage(&reference.gold, &chosen),
            generated: change
                .filter(|change| !change.is_empty())
                .map(|change| change.size(&text)),
            reference: reference.change.as_ref().map(|change| change.size(&text)),
            lost: (no_change || resolved == Some(false)).then(|| lost(record, method, reference, &text)),
        }
    }

    fn row(&self) -> InstanceRow {
        let RecordedInstance {
            record,
            reference,
            applied,
            ..
        } = self.instance;
        let kept: Vec<RepoPath> = record.kept().into_iter().collect();
        let gold: BTreeSet<RepoPath> = reference.files().into_iter().collect();
        let located = !record.files_were_given();
        let spent = |call: &magis_store::CallRecord| u64::from(call.prompt_tokens) + u64::from(call.generated_tokens);
        InstanceRow {
            id: reference.id.clone(),
            outcome: record.outcome(),
            applied: *applied,
            resolved: self.resolved,
            recall: if located { recall(&kept, &gold) } else { None },
            coverage: self.coverage,
            seconds: record.milliseconds() as f64 / 1000.0,
            tokens: record.calls.iter().map(spent).sum(),
            lost: self.lost,
        }
    }
}

impl RepositoryTotals {
    fn count(&mut self, one: &Measured<'_>) {
        self.instances += 1;
        self.applied += usize::from(one.instance.applied);
        self.judged += usize::from(one.resolved.is_some());
        self.resolved += usize::from(one.resolved == Some(true));
    }
}

fn locating(runs: &[RecordedInstance]) -> Option<Locating> {
    let located: Vec<(&RecordedInstance, BTreeSet<RepoPath>)> = runs
        .iter()
        .filter(|run| !run.record.files_were_given() && !run.record.ranked().is_empty())
        .map(|run| (run, run.reference.files().into_iter().collect()))
        .filter(|(_, gold): &(_, BTreeSet<RepoPath>)| !gold.is_empty())
        .collect();
    if located.is_empty() {
        return None;
    }
    let orders = |of: fn(&RunRecord) -> Vec<RepoPath>| -> Vec<(Vec<RepoPath>, &BTreeSet<RepoPath>)> {
        located.iter().map(|(run, gold)| (of(&run.record), gold)).collect()
    };
    let measure = |orders: &[(Vec<RepoPath>, &BTreeSet<RepoPath>)]| {
        let mut located = Hits::default();
        for (order, gold) in orders {
            located.count(all_files(order, gold));
        }
        (
            recall_curve(orders.iter().map(|(order, gold)| (order.as_slice(), *gold))),
            located,
        )
    };
    let (ranking, located_by_ranking) = measure(&orders(RunRecord::ranked));
    let (fused, located_at) = measure(&orders(RunRecord::fused));
    let kept: Vec<(Vec<RepoPath>, &BTreeSet<RepoPath>)> = located
        .iter()
        .map(|(run, gold)| (run.record.kept().into_iter().collect(), gold))
        .collect();
    let count = kept.len() as f64;
    Some(Locating {
        ranking,
        fused,
        located_by_ranking,
        located: located_at,
        kept_recall: kept.iter().filter_map(|(kept, gold)| recall(kept, gold)).sum::<f64>() / count,
        kept_files: kept.iter().map(|(kept, _)| kept.len() as f64).sum::<f64>() / count,
    })
}

fn task_scores(measured: &[Measured<'_>]) -> Option<TaskScores> {
    let mut scores = TaskScores {
        judges: BTreeSet::new(),
        resolved: [0; 5],
        unresolved: [0; 5],
        unjudged: [0; 5],
    };
    for one in measured {
        let Some(score) = &one.instance.score else { continue };
        scores.judges.insert(score.judge.clone());
        let split = match one.resolved {
            Some(true) => &mut scores.resolved,
            Some(false) => &mut scores.unresolved,
            None => &mut scores.unjudged,
        };
        split[usize::from(score.score.clamp(1, 5)) - 1] += 1;
    }
    (!scores.judges.is_empty()).then_some(scores)
}
