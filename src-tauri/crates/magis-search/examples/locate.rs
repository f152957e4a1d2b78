//! Measures the ranking on real issues: `locate --issues FILE.jsonl --repos DIR [--index DIR] [--only OWNER/NAME]
//! [--show PLACE]`. An issue counts as located at k when all files of its reference change are within the first k; they
//! are used for nothing else. Trees are read with the `git` program.

use magis_core::{BlobId, Issue, RepoPath};
use magis_search::{Index, IssueQuery};
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
    gold: BTreeMap<String, serde_json::Value>,
}

const PLACES: [usize; 5] = [1, 3, 5, 10, 20];

#[derive(Default)]
struct Tally {
    issues: usize,
    located: [usize; 5],
}

struct Options {
    issues: PathBuf,
    repos: PathBuf,
    index: Option<PathBuf>,
    only: Option<String>,
    /// Issues not located at this place are listed.
    show: usize,
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
    let mut current: Option<(String, Index)> = None;
    for case in &cases {
        if current.as_ref().is_none_or(|(repo, _)| repo != &case.repo) {
            let index = match &options.index {
                Some(folder) => Index::open(folder.join(case.repo.replace('/', "+")))?,
                None => Index::in_memory()?,
            };
            current = Some((case.repo.clone(), index));
        }
        let Some((_, index)) = &mut current else { continue };
        let start = Instant::now();
        bring_up_to(index, &folder(&options.repos, &case.repo)?, &case.base_commit)?;
        updating += start.elapsed();
        let start = Instant::now();
        let query = IssueQuery::of(&Issue::new(&case.problem_statement)?, &[]);
        let found = index.rank(&query, 200)?;
        ranking += start.elapsed();
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
            for candidate in found.candidates.iter().take(3) {
                let why: Vec<String> = candidate.evidence.iter().map(ToString::to_string).collect();
                println!("    {:.2} {} ({})", candidate.score, candidate.path, why.join("; "));
            }
        }
    }
    for (name, tally) in &tallies {
        let share = |located: &usize| format!("{:5.1}", 100.0 * *located as f64 / tally.issues as f64);
        println!(
            "{name:24} {:4} issues  {}",
            tally.issues,
            tally.located.iter().map(share).collect::<Vec<_>>().join(" / ")
        );
    }
    println!(
        "indexing {updating:.1?}, ranking {ranking:.1?} for {} issues",
        cases.len()
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
        show: take("--show").map_or(Ok(usize::MAX), |show| show.parse())?,
    })
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
