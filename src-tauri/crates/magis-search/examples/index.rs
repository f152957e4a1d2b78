//! Measures the index on one repository: `index --repo GIT_DIR [--at COMMIT]`. Reading all blobs with `git cat-file
//! --batch`, the same with indexing, one changed file to searchable, the size on disk against the text, and queries.

use magis_core::{BlobId, Issue, RepoPath};
use magis_search::{Index, IssueQuery};
use std::error::Error;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
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
    let start = Instant::now();
    let texts = read_all(&repo, &wanted)?;
    let reading = start.elapsed();
    let bytes: usize = texts.iter().flatten().map(String::len).sum();
    println!(
        "reading {} blobs, {:.1} MB of text: {reading:.2?}",
        wanted.len(),
        bytes as f64 / 1e6
    );

    let folder = std::env::temp_dir().join(format!("magis-index-{}", std::process::id()));
    let mut index = Index::open(&folder)?;
    let start = Instant::now();
    let again = read_all(&repo, &wanted)?;
    let mut given = again.into_iter();
    index.update(&wanted, |_, _| given.next().flatten(), |_, _| {})?;
    let cold = start.elapsed();
    println!(
        "reading and indexing: {cold:.2?}, {:.2} times the reading alone",
        cold.as_secs_f64() / reading.as_secs_f64()
    );
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
        index.update(&tree, |_, _| Some(text.clone()), |_, _| {})?;
        changes.push(start.elapsed());
    }
    println!("one changed file: {}", spread(&mut changes));

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
        index.rank(&query, 20)?;
        queries.push(start.elapsed());
    }
    println!("query: {}", spread(&mut queries));
    drop(index);
    let start = Instant::now();
    let mut index = Index::open(&folder)?;
    index.update(&tree, |_, _| None, |_, _| {})?;
    println!("opening again: {:.2?}", start.elapsed());
    drop(index);
    fs::remove_dir_all(&folder)?;
    Ok(())
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

fn read_all(repo: &Path, wanted: &[(RepoPath, BlobId)]) -> Result<Vec<Option<String>>, Box<dyn Error>> {
    let mut git = Command::new("git")
        .arg("-C")
        .arg(repo)
        .args(["cat-file", "--batch", "--buffer"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = git.stdin.take().ok_or("git takes no input")?;
    let ids = wanted.iter().fold(String::new(), |ids, (_, blob)| ids + &blob.0 + "\n");
    let writer = std::thread::spawn(move || input.write_all(ids.as_bytes()));
    let mut output = BufReader::new(git.stdout.take().ok_or("git gives no output")?);
    let mut texts = Vec::with_capacity(wanted.len());
    for _ in wanted {
        let mut head = String::new();
        output.read_line(&mut head)?;
        let size: usize = head.trim().rsplit(' ').next().unwrap_or_default().parse()?;
        let mut bytes = vec![0; size + 1];
        output.read_exact(&mut bytes)?;
        bytes.pop();
        texts.push(if bytes.contains(&0) {
            None
        } else {
            String::from_utf8(bytes).ok()
        });
    }
    writer.join().map_err(|_| "writing to git failed")??;
    git.wait()?;
    Ok(texts)
}
