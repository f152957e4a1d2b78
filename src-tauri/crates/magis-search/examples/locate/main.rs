//! Measures the ranking on real issues: `locate --issues FILE.jsonl --repos DIR [--index DIR] [--only OWNER/NAME]
//! [--show PLACE] [--without SIGNAL,...] [--commits N] [--dump FILE]`. An issue counts as located at k when all files of
//! its reference change are within the first k; they are used for nothing else. Trees are read with the `git` program.

mod history;

use history::Past;
use magis_core::{BlobId, Issue, RepoPath};
use magis_search::{Index, IssueQuery, Ranking, ScoredSymbol, Signal, Signals, Sources};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[derive(Deserialize)]
struct Case {
    instance_id: String,
    repo: String,
    base_commit: String,
    problem_statement: String,
    gold: BTreeMap<String, Vec<[u32; 2]>>,
}

const PLACES: [usize; 5] = [1, 3, 5, 10, 20];

#[derive(Default)]
struct Tally {
    issues: usize,
    located: [usize; 5],
    symbols: [usize; 2],
}

struct Options {
    issues: PathBuf,
    repos: PathBuf,
    index: Option<PathBuf>,
    only: Option<String>,
    /// Issues not located at this place are listed.
    show: usize,
    signals: Signals,
    /// So many commits of the past are known.
    commits: usize,
    /// What each signal gave goes here.
    dump: Option<PathBuf>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = options()?;
    let mut cases: Vec<Case> = Vec::new();
    for line in std::fs::read_to_string(&options.issues)?.lines() {
        cases.push(serde_json::from_str(line)?);
    }
    cases.retain(|case| options.only.as_ref().is_none_or(|only| only == &case.repo));
    cases.sort_by(|a, b| (&a.repo, &a.instance_id).cmp(&(&b.repo, &b.instance_id)));
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let (mut updating, mut ranking) = (Duration::ZERO, Duration::ZERO);
    let mut past_time = Duration::ZERO;
    let mut slowest: Vec<Duration> = Vec::new();
    let mut dump = options.dump.as_ref().map(std::fs::File::create).transpose()?;
    let mut current: Option<(String, Index, Past)> = None;
    for case in &cases {
        if current.as_ref().is_none_or(|(repo, ..)| repo != &case.repo) {
            let index = match &options.index {
                Some(folder) => Index::open(folder.join(case.repo.replace('/', "+")))?.keeping(usize::MAX),
                None => Index::in_memory()?,
            };
            let kept = options.index.as_ref();
            let kept = kept.map(|folder| folder.join(format!("{}.history", case.repo.replace('/', "+"))));
            let past = Past::open(folder(&options.repos, &case.repo)?, kept);
            current = Some((case.repo.clone(), index, past));
        }
        let Some((_, index, past)) = &mut current else { continue };
        let start = Instant::now();
        bring_up_to(index, &folder(&options.repos, &case.repo)?, &case.base_commit)?;
        updating += start.elapsed();
        let start = Instant::now();
        let history = past.before(&case.base_commit, options.commits)?;
        past_time += start.elapsed();
        let sources = Sources {
            signals: options.signals,
            history: Some(&history),
        };
        // What is worked out once for a tree is not the query's.
        index.rank_by(&IssueQuery::default(), sources, 1)?;
        let start = Instant::now();
        let query = IssueQuery::of(&Issue::new(&case.problem_statement)?, &[]);
        let found = index.rank_by(&query, sources, 200)?;
        let taken = start.elapsed();
        ranking += taken;
        slowest.push(taken);
        let symbols = index.symbols(&query, sources, 10)?;
        if let Some(dump) = &mut dump {
            write_signals(dump, case, &found)?;
        }
        let place = |gold: &String| {
            found
                .candidates
                .iter()
                .position(|candidate| candidate.path.as_str() == gold)
        };
        let worst = case
            .gold
            .keys()
            .map(|gold| place(gold).map_or(usize::MAX, |place| place + 1))
            .max()
            .unwrap_or(0);
        for name in [case.repo.as_str(), "all"] {
            let tally = tallies.entry(name.to_owned()).or_default();
            tally.issues += 1;
            for (hit, k) in tally.symbols.iter_mut().zip([5, 10]) {
                *hit += usize::from(symbols.iter().take(k).any(|symbol| is_hit(case, symbol)));
            }
            for (located, k) in tally.located.iter_mut().zip(PLACES) {
                *located += usize::from(worst <= k);
            }
        }
        if worst > options.show {
            println!(
                "{} at {worst}: {:?}",
                case.instance_id,
                case.gold.keys().collect::<Vec<_>>()
            );
            for symbol in symbols.iter().take(3) {
                println!("    {:.2} {}::{}", symbol.score, symbol.path, symbol.qualified_name);
            }
            for candidate in found.candidates.iter().take(3) {
                let why: Vec<String> = candidate.evidence.iter().map(ToString::to_string).collect();
                println!("    {:.2} {} ({})", candidate.score, candidate.path, why.join("; "));
            }
        }
    }
    for (name, tally) in &tallies {
        let share = |located: &usize| format!("{:5.1}", 100.0 * *located as f64 / tally.issues as f64);
        println!(
            "{name:24} {:4} issues  {}  symbols {}",
            tally.issues,
            tally.located.iter().map(share).collect::<Vec<_>>().join(" / "),
            tally.symbols.iter().map(share).collect::<Vec<_>>().join(" / ")
        );
    }
    println!(
        "indexing {updating:.1?}, history {past_time:.1?}, ranking {ranking:.1?} for {} issues, p95 {:.1?}",
        cases.len(),
        p95(&mut slowest)
    );
    Ok(())
}

fn options() -> Result<Options, Box<dyn Error>> {
    let mut given: BTreeMap<String, String> = BTreeMap::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        given.insert(name, arguments.next().ok_or("each option takes a value")?);
    }
    let mut take = |name: &str| given.remove(name);
    Ok(Options {
        issues: take("--issues").ok_or("--issues is missing")?.into(),
        repos: take("--repos").ok_or("--repos is missing")?.into(),
        index: take("--index").map(Into::into),
        only: take("--only"),
        signals: signals(&take("--without").unwrap_or_default())?,
        commits: take("--commits").map_or(Ok(5_000), |most| most.parse())?,
        dump: take("--dump").map(Into::into),
        show: take("--show").map_or(Ok(usize::MAX), |show| show.parse())?,
    })
}

fn signals(without: &str) -> Result<Signals, String> {
    let mut signals = Signals::ALL;
    for name in without.split(',').filter(|name| !name.is_empty()) {
        let signal = Signal::named(name).ok_or_else(|| format!("there is no signal '{name}'"))?;
        signals = signals.without(signal);
    }
    Ok(signals)
}

/// Whether a symbol has a line of the reference change.
fn is_hit(case: &Case, symbol: &ScoredSymbol) -> bool {
    let ranges = case.gold.get(symbol.path.as_str()).into_iter().flatten();
    let mut ranges = ranges.map(|[first, last]| (*first, *last));
    ranges.any(|(first, last)| first <= symbol.span.last() && last >= symbol.span.first())
}

fn p95(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() * 95 / 100).copied().unwrap_or_default()
}

/// One line: the issue, its files, and of each candidate what every signal gave.
fn write_signals(dump: &mut std::fs::File, case: &Case, found: &Ranking) -> Result<(), Box<dyn Error>> {
    let candidates: Vec<serde_json::Value> = found
        .candidates
        .iter()
        .zip(&found.parts)
        .map(|(candidate, parts)| {
            let parts: BTreeMap<&str, f64> = parts.iter().map(|(signal, part)| (signal.name(), *part)).collect();
            serde_json::json!({"path": candidate.path, "score": candidate.score, "parts": parts})
        })
        .collect();
    let gold: Vec<&String> = case.gold.keys().collect();
    let line = serde_json::json!({"id": case.instance_id, "repo": case.repo, "gold": gold, "candidates": candidates});
    writeln!(dump, "{line}")?;
    Ok(())
}

fn folder(repos: &Path, repo: &str) -> Result<PathBuf, String> {
    let joined = repos.join(repo.replace('/', "+"));
    let places = [joined.join("repo"), joined, repos.join(repo)];
    places
        .into_iter()
        .find(|place| place.exists())
        .ok_or_else(|| format!("{repo} is not in {}", repos.display()))
}

fn bring_up_to(index: &mut Index, repo: &Path, commit: &str) -> Result<(), Box<dyn Error>> {
    let listed = Command::new("git")
        .arg("-C")
        .arg(repo)
        .args(["ls-tree", "-r", "-z", commit])
        .output()?;
    let mut wanted = Vec::new();
    for entry in String::from_utf8_lossy(&listed.stdout)
        .split('\0')
        .filter(|entry| entry.starts_with("100"))
    {
        let Some((head, path)) = entry.split_once('\t') else {
            continue;
        };
        let blob = head.rsplit(' ').next().unwrap_or_default();
        wanted.push((RepoPath::new(path)?, BlobId(blob.to_owned())));
    }
    let mut blobs = Command::new("git")
        .arg("-C")
        .arg(repo)
        .args(["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut reader = blobs.stdout.take().map(BufReader::new).ok_or("git gives no output")?;
    let update = index.update(&wanted, |_, blob| text(&mut blobs, &mut reader, blob), |_, _| {})?;
    drop(blobs.stdin.take());
    blobs.wait()?;
    if update.added + update.kept == 0 {
        return Err(format!("{} has no readable file at {commit}", repo.display()).into());
    }
    Ok(())
}

fn text(blobs: &mut Child, reader: &mut impl std::io::BufRead, blob: &BlobId) -> Option<String> {
    writeln!(blobs.stdin.as_mut()?, "{blob}").ok()?;
    let mut head = String::new();
    reader.read_line(&mut head).ok()?;
    let size: usize = head.trim().rsplit(' ').next()?.parse().ok()?;
    let mut bytes = vec![0; size + 1];
    reader.read_exact(&mut bytes).ok()?;
    bytes.pop();
    if bytes.contains(&0) {
        None
    } else {
        String::from_utf8(bytes).ok()
    }
}
