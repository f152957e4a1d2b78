//! Measures listing and searching in a data folder with many runs: `cargo run --release -p magis-store --example
//! ten_thousand_runs FOLDER [runs]`. A folder that has runs already is measured as it is, but loses its
//! oldest run. The runs are synthetic: words drawn from a vocabulary of 20,000 with the frequencies of
//! natural text (Zipf), 12 texts a run, from a fixed seed.

use magis_core::{
    Base, CommitId, FileAction, FileTask, HintsMode, Issue, MergeResult, QaMode, RelevanceMode, RepoId, RepoPath,
    RunEvent, RunOutcome, RunRequest, Speaker, Speech, Stage, TaskId, TestsMode, TreeId, Turn,
};
use magis_store::{
    ArchivedRun, CreationOrder, ImportSource, RunArchive, RunFilter, RunQuery, RunSearch, Store, StoreError,
    StoredEvent, StoredStatus,
};
use std::collections::BTreeSet;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runs: u32 = std::env::args().nth(2).map_or(Ok(10_000), |count| count.parse())?;
    let folder = std::env::args().nth(1).ok_or("name a folder for the data")?;
    let store = Store::open(folder.as_ref())?;
    let mut words = Words(0x9e37_79b9_7f4a_7c15);
    let begun = Instant::now();
    let there = store
        .runs(&RunFilter {
            limit: u32::MAX,
            ..RunFilter::default()
        })?
        .len();
    let from = ImportSource {
        file: "run.json".to_owned(),
        at: 0,
    };
    for _ in there..runs as usize {
        store.import_run(&archive(&mut words)?, &from)?;
    }
    let bytes = std::fs::metadata(store.path())?.len();
    println!(
        "{there} runs there, brought to {runs} in {:.1} s, {} MiB",
        begun.elapsed().as_secs_f64(),
        bytes / 1024 / 1024
    );

    measure("list: newest 100", 200, || {
        store.runs(&RunFilter::default()).map(|found| found.len())
    })?;
    let ended = RunFilter {
        status: Some(StoredStatus::Ended),
        ..RunFilter::default()
    };
    measure("list: newest 100 that ended", 200, || {
        store.runs(&ended).map(|found| found.len())
    })?;
    let none = RunFilter {
        repo: Some(RepoId(1)),
        ..RunFilter::default()
    };
    measure("list: of a repository without runs", 200, || {
        store.runs(&none).map(|found| found.len())
    })?;
    let mut search = |name: &str, text: &dyn Fn(&mut Words) -> String| {
        measure(name, 200, || {
            store
                .search_runs(&RunSearch {
                    text: text(&mut words),
                    repo: None,
                    limit: 50,
                })
                .map(|hits| hits.len())
        })
    };
    search("search: a word, as frequent as in text", &Words::next)?;
    search("search: two words", &|words| {
        format!("{} {}", words.next(), words.next())
    })?;
    search("search: the most frequent word", &|_| word(0))?;
    search("search: a rare word", &|_| word(19_990))?;
    search("search: the first two letters of a word", &|words| {
        words.next().chars().take(2).collect()
    })?;
    search("search: a path", &|_| format!("src/{}.py", word(15_000)))?;
    search("search: a word nobody used", &|_| "zzzzzz".to_owned())?;

    let mut page = |name: &str, text: &dyn Fn(&mut Words) -> String| {
        measure(name, 200, || {
            let query = RunQuery {
                text: text(&mut words),
                limit: 100,
                ..RunQuery::default()
            };
            store.run_page(&query).map(|page| page.rows.len())
        })
    };
    page("page: the newest 100 of all", &|_| String::new())?;
    page("page: a word, as frequent as in text", &Words::next)?;
    page("page: the most frequent word", &|_| word(0))?;
    page("page: the first two letters of a word", &|words| {
        words.next().chars().take(2).collect()
    })?;
    measure("costs: by day", 5, || store.day_totals(None).map(|days| days.len()))?;

    if let Some(oldest) = store
        .runs(&RunFilter {
            order: CreationOrder::OldestFirst,
            limit: 1,
            ..RunFilter::default()
        })?
        .first()
    {
        let begun = Instant::now();
        let erasure = store.delete_run(oldest.id, 0)?.erasure;
        println!(
            "deleting and erasing the oldest run: {:.1} s, {erasure:?}",
            begun.elapsed().as_secs_f64()
        );
    }
    Ok(())
}

/// Prints the median, the 95th percentile and the longest of `times` runs of `work`, and how much it found on average.
fn measure(name: &str, times: u32, mut work: impl FnMut() -> Result<usize, StoreError>) -> Result<(), StoreError> {
    let mut taken = Vec::new();
    let mut found = 0;
    for _ in 0..times {
        let begun = Instant::now();
        found += work()?;
        taken.push(begun.elapsed().as_secs_f64() * 1000.0);
    }
    taken.sort_by(f64::total_cmp);
    let at = |share: f64| taken[((taken.len() - 1) as f64 * share).round() as usize];
    let mean = found as f64 / f64::from(times);
    println!(
        "{name:<42} p50 {:7.2} ms  p95 {:7.2} ms  max {:7.2} ms  found {mean:.1}",
        at(0.5),
        at(0.95),
        at(1.0)
    );
    Ok(())
}

fn archive(words: &mut Words) -> Result<RunArchive, Box<dyn std::error::Error>> {
    let request = RunRequest {
        issue: Issue::new(words.text(200))?,
        hints: Vec::new(),
        hints_mode: HintsMode::Use,
        relevance: RelevanceMode::Code,
        without: BTreeSet::new(),
        files: Vec::new(),
        model: "small".to_owned(),
        seed: 1,
        top_k: 10,
        max_rounds: 3,
        attempts_per_round: 1,
        places_per_round: 1,
        writing: Vec::new(),
        tests: TestsMode::Skip,
        qa: QaMode::Review,
    };
    let base = Base {
        commit: CommitId("1".to_owned()),
        tree: TreeId("2".to_owned()),
        uncommitted: false,
        name: "HEAD".to_owned(),
    };
    let mut events = vec![RunEvent::RunStarted {
        request: Box::new(request.clone()),
        base,
    }];
    for id in 1..=3 {
        let path = RepoPath::new(format!("src/{}.py", words.next()))?;
        let (candidate, action) = (path.clone(), FileAction::Modify);
        let task = FileTask {
            id: TaskId(id),
            path,
            candidate,
            action,
            description: words.text(60),
        };
        events.push(RunEvent::TaskDefined { task });
    }
    for _ in 0..5 {
        let speech = Speech {
            speaker: Speaker::Manager,
            turn: Turn::Speak,
            text: words.text(120),
        };
        events.push(RunEvent::Spoken { speech });
    }
    let result = MergeResult {
        tree: TreeId("3".to_owned()),
        patch: words.text(300),
        commit_message: words.text(10),
        pull_request: words.text(60),
    };
    events.push(RunEvent::Merged { result });
    events.push(RunEvent::RunEnded {
        outcome: RunOutcome::Approved,
    });
    let events = (1..).zip(events).map(|(seq, event)| StoredEvent {
        seq,
        at_ms: 0,
        stage: Stage::Locate,
        event,
    });
    let run = ArchivedRun {
        repository: "synthetic".to_owned(),
        request,
        created_at: 0,
        events: events.collect(),
        calls: Vec::new(),
    };
    Ok(RunArchive {
        format: RunArchive::FORMAT.to_owned(),
        version: RunArchive::VERSION,
        run,
    })
}

/// A stream of words; its state is that of Marsaglia's xorshift.
struct Words(u64);

impl Words {
    /// Returns a word whose frequency falls with its rank.
    fn next(&mut self) -> String {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let uniform = (self.0 >> 11) as f64 / (1_u64 << 53) as f64;
        word(20_000_f64.powf(uniform) as u32 - 1)
    }

    fn text(&mut self, count: usize) -> String {
        (0..count).map(|_| self.next()).collect::<Vec<_>>().join(" ")
    }
}

/// Returns the word of a rank: syllables that spell the number.
fn word(rank: u32) -> String {
    const SYLLABLES: [&str; 16] = [
        "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va",
    ];
    let mut rest = rank + 16;
    let mut word = String::new();
    while rest > 0 {
        word.push_str(SYLLABLES[(rest % 16) as usize]);
        rest /= 16;
    }
    word
}
