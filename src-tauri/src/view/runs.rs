//! Runs as lists show them: a row, a page, a search hit, and what a day's runs cost.

use super::stage::StageView;
use magis_core::{ModelReview, Proof, RepoId, RunId, RunOutcome, model_host, model_label};
use magis_engine::records::{
    CreationOrder, ListedRun, RunEntry, RunListPage, RunOrigin, RunQuery, SnippetSpan, Standing, StoredStatus,
    TextSource,
};
use serde::{Deserialize, Serialize};
use specta::Type;

/// How a run stands, its outcome included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It waits for its turn.
    Queued,
    /// It waited for its turn when the window was closed or ended; it begins when a person starts it.
    Waiting,
    /// It is worked on.
    Running,
    /// It was paused or stopped, and can be resumed.
    Paused,
    /// Its driver vanished; it can be resumed.
    Interrupted,
    /// Over, with a patch whose every task passed the models' review, or was not reviewed.
    Approved,
    /// Over, with a patch that did not pass the models' review as a whole.
    NotApproved,
    /// Over without a change.
    NoChange,
    /// It could not be carried out.
    Failed,
}

impl RunStatus {
    /// Returns how the store's row says it. The store keeps no queue: a run that waits is queued only where somebody
    /// drives it.
    pub fn of(entry: &RunEntry, is_driven: bool) -> Self {
        match (&entry.status, &entry.outcome) {
            (StoredStatus::Queued, _) if is_driven => Self::Queued,
            (StoredStatus::Queued, _) => Self::Waiting,
            (StoredStatus::Running, _) => Self::Running,
            (StoredStatus::Paused, _) => Self::Paused,
            (StoredStatus::Ended, Some(RunOutcome::Approved)) => Self::Approved,
            (StoredStatus::Ended, Some(RunOutcome::NotApproved)) => Self::NotApproved,
            (StoredStatus::Ended, Some(RunOutcome::NoChange { .. })) => Self::NoChange,
            (StoredStatus::Ended, Some(RunOutcome::Failed { .. })) => Self::Failed,
            (StoredStatus::Interrupted, _) | (StoredStatus::Ended, None) => Self::Interrupted,
        }
    }
}

impl From<RunStatus> for Standing {
    fn from(status: RunStatus) -> Self {
        match status {
            RunStatus::Queued | RunStatus::Waiting => Self::Open(StoredStatus::Queued),
            RunStatus::Running => Self::Open(StoredStatus::Running),
            RunStatus::Paused => Self::Open(StoredStatus::Paused),
            RunStatus::Interrupted => Self::Open(StoredStatus::Interrupted),
            RunStatus::Approved => Self::Approved,
            RunStatus::NotApproved => Self::NotApproved,
            RunStatus::NoChange => Self::NoChange,
            RunStatus::Failed => Self::Failed,
        }
    }
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct RunRow {
    pub id: RunId,
    /// Its repository; none where that was removed, or the run was made elsewhere.
    pub repo: Option<RepoId>,
    pub repository: String,
    pub title: String,
    pub status: RunStatus,
    /// What the models' reviews of its patch came to; none where it has none. An opinion.
    pub review: Option<ModelReview>,
    /// What running its patch showed.
    pub proof: Proof,
    pub model: String,
    /// Host and port of the engine that its prompts go to; none: they stay on this machine.
    pub host: Option<String>,
    /// When it was created, in milliseconds since 1970.
    pub created_at_ms: i64,
    pub ended_at_ms: Option<i64>,
    /// Milliseconds the model worked on it.
    pub worked_ms: u64,
    /// Tokens the model read and wrote for it.
    pub tokens: u64,
    /// Files of its patch.
    pub files: u32,
    /// Lines its patch adds.
    pub added: u32,
    /// Lines its patch deletes.
    pub deleted: u32,
    /// The run whose beginning it shares.
    pub parent: Option<RunId>,
    /// Whether it was made elsewhere.
    pub imported: bool,
    pub tags: Vec<String>,
    /// Whether this window works on it, or has it in its queue.
    pub driven: bool,
}

impl RunRow {
    /// Returns the row of a run.
    pub fn new(entry: &RunEntry, tags: Vec<String>, is_driven: impl Fn(RunId) -> bool) -> Self {
        let driven = is_driven(entry.id);
        Self {
            id: entry.id,
            repo: entry.repo,
            repository: entry.repository.clone(),
            title: entry.title.clone(),
            status: RunStatus::of(entry, driven),
            review: entry.review,
            proof: entry.proof.clone(),
            model: match model_host(&entry.model) {
                Some(host) => format!("{} @ {host}", model_label(&entry.model)),
                None => model_label(&entry.model).to_owned(),
            },
            host: model_host(&entry.model).map(str::to_owned),
            created_at_ms: entry.created_at,
            ended_at_ms: entry.ended_at,
            worked_ms: entry.worked_ms,
            tokens: entry.tokens,
            files: entry.size.files,
            added: entry.size.added,
            deleted: entry.size.deleted,
            parent: entry.parent.map(|parent| parent.run),
            imported: entry.origin == RunOrigin::Imported,
            tags,
            driven,
        }
    }
}

/// Which runs a page shows.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, Type)]
pub struct RunListFilter {
    /// Only runs of this repository.
    pub repo: Option<RepoId>,
    /// Only runs that stand like this; queued ones and those that were left waiting are one.
    pub status: Option<RunStatus>,
    /// Only runs with this tag.
    pub tag: Option<String>,
    /// Only runs that say all of these words; the beginning of a word is enough.
    pub text: String,
    /// Only runs behind this one.
    pub after: Option<RunId>,
    /// At most this many.
    pub limit: u32,
    pub order: RunOrder,
}

/// The order of a list of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum RunOrder {
    NewestFirst,
    OldestFirst,
}

impl From<RunListFilter> for RunQuery {
    fn from(filter: RunListFilter) -> Self {
        Self {
            repo: filter.repo,
            standing: filter.status.map(Into::into),
            tag: filter.tag,
            text: filter.text,
            after: filter.after,
            limit: filter.limit.min(500),
            order: match filter.order {
                RunOrder::NewestFirst => CreationOrder::NewestFirst,
                RunOrder::OldestFirst => CreationOrder::OldestFirst,
            },
        }
    }
}

/// A page of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct RunPage {
    pub rows: Vec<RunHitView>,
    pub more: bool,
    /// How many there are on all pages; of a search at most 500 are counted.
    pub total: u32,
}

/// A run of a page, with where it says what was searched for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct RunHitView {
    pub run: RunRow,
    /// In which text: `issue`, `hint`, `words`, `path`, `patch`; empty without a search.
    pub place: String,
    /// A piece of that text.
    pub snippet: Vec<SnippetPart>,
}

/// A piece of a snippet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct SnippetPart {
    pub text: String,
    /// Whether it is what was searched for.
    pub hit: bool,
}

impl RunPage {
    /// Returns the page as the store gives it.
    pub fn new(page: RunListPage, is_driven: impl Fn(RunId) -> bool) -> Self {
        let row = |listed: ListedRun| {
            let place = listed.places.into_iter().next();
            let source = place.as_ref().map(|place| place.source);
            RunHitView {
                run: RunRow::new(&listed.run, listed.tags, &is_driven),
                place: source.map_or(String::new(), |source| word(source).to_owned()),
                snippet: place.map_or_else(Vec::new, |place| place.snippet.into_iter().map(part).collect()),
            }
        };
        Self {
            total: page.total,
            more: page.rest > 0,
            rows: page.rows.into_iter().map(row).collect(),
        }
    }
}

fn word(source: TextSource) -> &'static str {
    match source {
        TextSource::Issue => "issue",
        TextSource::Hint => "hint",
        TextSource::Words => "words",
        TextSource::Path => "path",
        TextSource::Patch => "patch",
    }
}

fn part(part: SnippetSpan) -> SnippetPart {
    match part {
        SnippetSpan::Plain(text) => SnippetPart { text, hit: false },
        SnippetSpan::Found(text) => SnippetPart { text, hit: true },
    }
}

/// A deleted run that can still be had back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct DeleteTicket {
    /// What to give for having it back.
    pub ticket: i64,
    /// What happens with it, in a sentence.
    pub note: String,
}

/// As what a run is written to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// All of it, to be imported elsewhere.
    Json,
    /// To be read by people.
    Markdown,
    Patch,
}

/// What the runs of a day cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct UsageDay {
    /// The day, `2026-11-21`, where this machine is.
    pub day: String,
    /// How many runs were worked on.
    pub runs: u32,
    /// Milliseconds the model worked.
    pub ms: u64,
    /// Tokens it read and wrote.
    pub tokens: u64,
    /// The same by stage.
    pub by_stage: Vec<StageView>,
}
