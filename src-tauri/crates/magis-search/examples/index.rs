//! Measures the index on one repository: `index --repo GIT_DIR [--at COMMIT]`. Reading all blobs with `git cat-file
//! --batch`, the same with indexing, one changed file to searchable, the size on disk against the text, and queries.

use magis_core::{BlobId, Issue, RepoPath, SkipReason};
use magis_search::{Index, IssueQuery, Sources};
use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let (mut repo, mut at) = (None, "HEAD".to_owned());
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or("each option takes a value")?;
        match name.as_str() {
            "--repo" => repo = Some(PathBuf::from(value)),
            "--at" => at = value,
            _ => return Err(format!("there is no option {name}").into()),
        }
    }
    let repo = repo.ok_or("--repo is missing")?;
    let wanted = tree(&repo, &at)?;
    let mut reads: Vec<Duration> = Vec::new();
    let mut texts = Vec::new();
    for _ in 0..5 {
        let start = Instant::now();
        texts = read_all(&repo, &wanted)?;
        reads.push(start.elapsed());
    }
    let reading = median(&mut reads);
    let bytes: usize = texts.iter().flatten().map(String::len).sum();
    println!(
        "reading {} blobs, {:.1} MB of text: {reading:.2?}",
        wanted.len(),
        bytes as f64 / 1e6
    );

    let folder = std::env::temp_dir().join(format!("magis-index-{}", std::process::id()));
    let mut colds: Vec<Duration> = Vec::new();
    for _ in 0..5 {
        drop(fs::remove_dir_all(&folder));
        let mut index = Index::open(&folder)?;
        let start = Instant::now();
        let mut blobs = Blobs::of(&repo, &wanted)?;
        index.update_text_while(
            &wanted,
            |_, _| blobs.next().unwrap_or(Err(SkipReason::Unreadable)),
            |_, _| ControlFlow::Continue(()),
        )?;
        colds.push(start.elapsed());
    }
    say("reading and indexing words", median(&mut colds), reading);
    let mut index = Index::open(&folder)?;
    let start = Instant::now();
    let by_blob: HashMap<&BlobId, &Result<String, SkipReason>> =
        wanted.iter().map(|(_, blob)| blob).zip(&texts).collect();
    index.update(
        &wanted,
        |_, blob| {
            by_blob
                .get(blob)
                .map_or(Err(SkipReason::Missing), |text| (*text).clone())
        },
        |_, _| {},
    )?;
    say("indexing symbols, read already", start.elapsed(), reading);
    let size: u64 = fs::read_dir(&folder)?
        .filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len()))
        .sum();
    println!(
        "size {:.1} MB, {:.2} of the text",
        size as f64 / 1e6,
        size as f64 / bytes as f64
    );

    let mut changes: Vec<Duration> = Vec::new();
    let mut tree = wanted.clone();
    for (number, (path, _)) in wanted
        .iter()
        .filter(|(path, _)| path.extension() == "py")
        .take(20)
        .enumerate()
    {
        let place = tree
            .iter()
            .position(|(known, _)| known == path)
            .ok_or("a file is gone")?;
        tree[place].1 = BlobId(format!("{number:040}"));
        let text = format!("def changed_{number}(x):\n    return x\n");
        let start = Instant::now();
        index.update(&tree, |_, _| Ok(text.clone()), |_, _| {})?;
        changes.push(start.elapsed());
    }
    println!("one changed file: {}", spread(&mut changes));

    let mut queries = query_times(&index, &texts)?;
    println!("query: {}", spread(&mut queries));
    drop(index);
    let start = Instant::now();
    let mut index = Index::open(&folder)?;
    index.update(&tree, |_, _| Err(SkipReason::Missing), |_, _| {})?;
    println!("opening again: {:.2?}", start.elapsed());
    drop(index);
    fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Returns how long ranking takes by issues made of the repository's own lines.
fn query_times(index: &Index, texts: &[Result<String, SkipReason>]) -> Result<Vec<Duration>, Box<dyn Error>> {
    let mut queries: Vec<Duration> = Vec::new();
    for line in texts
        .iter()
        .flatten()
        .flat_map(|text| text.lines())
        .filter(|line| line.len() > 40)
        .step_by(997)
        .take(200)
    {
        let query = IssueQuery::of(&Issue::new(format!("{line}\n\n{}", line.repeat(8)))?, &[]);
        let start = Instant::now();
        index.rank_by(&query, Sources::default(), 20)?;
        queries.push(start.elapsed());
    }
    Ok(queries)
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn say(what: &str, taken: Duration, reading: Duration) {
    let times = taken.as_secs_f64() / reading.as_secs_f64();
    println!("{what}: {taken:.2?}, {times:.2} times the reading alone");
}

fn spread(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    format!("median {:.1?}, p95 {:.1?} of {}", at(50), at(95), times.len())
}

fn tree(repo: &Path, at: &str) -> Result<Vec<(RepoPath, BlobId)>, Box<dyn Error>> {
    let listed = Command::new("git")
        .arg("-C")
        .arg(repo)
        .args(["ls-tree", "-r", "-z", at])
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
    wanted.sort();
    let mut seen = std::collections::BTreeSet::new();
    wanted.retain(|(_, blob)| seen.insert(blob.clone()));
    Ok(wanted)
}

fn read_all(repo: &Path, wanted: &[(RepoPath, BlobId)]) -> Result<Vec<Result<String, SkipReason>>, Box<dyn Error>> {
    let mut blobs = Blobs::of(repo, wanted)?;
    wanted.iter().map(|_| blobs.next()).collect()
}

/// The blobs of a tree, one after the other, from one `git cat-file --batch`.
struct Blobs {
    git: Child,
    output: BufReader<ChildStdout>,
}

impl Blobs {
    fn of(repo: &Path, wanted: &[(RepoPath, BlobId)]) -> Result<Self, Box<dyn Error>> {
        let mut git = Command::new("git")
            .arg("-C")
            .arg(repo)
            .args(["cat-file", "--batch", "--buffer"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut input = git.stdin.take().ok_or("git takes no input")?;
        let ids = wanted.iter().fold(String::new(), |ids, (_, blob)| ids + &blob.0 + "\n");
        std::thread::spawn(move || input.write_all(ids.as_bytes()));
        let output = BufReader::with_capacity(1 << 16, git.stdout.take().ok_or("git gives no output")?);
        Ok(Self { git, output })
    }

    fn next(&mut self) -> Result<Result<String, SkipReason>, Box<dyn Error>> {
        let mut head = String::new();
        self.output.read_line(&mut head)?;
        let size: usize = head.trim().rsplit(' ').next().unwrap_or_default().parse()?;
        let mut bytes = vec![0; size + 1];
        self.output.read_exact(&mut bytes)?;
        bytes.pop();
        Ok(if bytes.contains(&0) {
            Err(SkipReason::Binary)
        } else {
            String::from_utf8(bytes).map_err(|_| SkipReason::NotUtf8)
        })
    }
}

impl Drop for Blobs {
    fn drop(&mut self) {
        drop(self.git.kill());
        drop(self.git.wait());
    }
}
