//! Patches over several files, applied to a work tree that has changed in the meantime: `git apply` on the same patch and the same tree.

use super::placing::{self, Text};
use super::{Ended, Random, Tally, clear, open, run, within};
use magis_repo::{Conflict, ConflictReason, Patch, PlannedChange, RepoError, Repository, Selection, plan_worktree};
use magis_testkit::FixtureRepo;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Why Magis refuses what `git apply` applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    /// The patch changes a mode or a link, or is no UTF-8: no patch of Magis does that, and reading it is refused (patch/parse.rs).
    NotRead,
    /// A hunk is not placed, for a reason of the file alone.
    Hunk(placing::Difference),
    /// The patch writes a binary file.
    Binary,
    /// The file is no UTF-8 where the patch is applied.
    NotUtf8,
    /// The patch moves a file whose content stays, and a link or a folder lies in its place. Git moves that without a look.
    Moved,
    /// An empty folder lies where a file is to be made; git removes it.
    EmptyFolder,
}

const CASES: usize = 1_600;

/// What lies at a path.
#[derive(Clone, PartialEq, Eq)]
enum Node {
    File {
        bytes: Vec<u8>,
        is_program: bool,
    },
    Link(String),
    /// Only of a folder that is empty.
    Folder,
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { bytes, is_program } => {
                let kind = if *is_program { "program" } else { "file" };
                write!(f, "{kind} \"{}\"", bytes.escape_ascii())
            }
            Self::Link(target) => write!(f, "link to {target}"),
            Self::Folder => f.write_str("folder"),
        }
    }
}

/// A tree by its paths.
type Tree = BTreeMap<String, Node>;

/// A tree before and after the change that the patch is made of, and the one that the patch is applied to.
struct Case {
    old: Tree,
    new: Tree,
    now: Tree,
}

#[test]
fn patches_over_several_files_end_as_with_git() {
    use Difference::{Binary, EmptyFolder, Moved, NotRead, NotUtf8};
    let mut random = Random::of(2);
    let mut tally = Tally::new();
    let comparison = Comparison::new();
    let cases: Vec<Case> = (0..CASES).map(|_| case(&mut random)).collect();
    let patches = comparison.patches(&cases);
    for (number, (case, patch)) in cases
        .iter()
        .zip(&patches)
        .enumerate()
        .filter(|(_, (_, patch))| !patch.is_empty())
    {
        let (theirs, after_theirs) = comparison.by_git(case, patch);
        let (ours, after_ours) = comparison.by_magis(case, patch);
        let shown = || {
            format!(
                "case {number}\n{}\non {:#?}\nhere {ours:?}: {after_ours:#?}\ngit {}: {after_theirs:#?}",
                String::from_utf8_lossy(patch),
                case.now,
                theirs.stderr
            )
        };
        if let Ending::Applied = ours {
            if theirs.success && after_ours == after_theirs {
                tally.same("applied");
            } else {
                tally.differs(None, shown);
            }
            continue;
        }
        if after_ours != case.now {
            tally.differs(None, shown);
        } else if theirs.success {
            tally.differs(reason(case, patch, &ours), shown);
        } else {
            tally.same("refused");
        }
    }
    let several = Difference::Hunk(placing::Difference::SeveralPlaces);
    tally.end("trees", 1_500, &[NotRead, several, Binary, NotUtf8, Moved, EmptyFolder]);
}

/// What became of a patch here.
#[derive(Debug)]
enum Ending {
    Applied,
    NotRead,
    Conflicts(Vec<Conflict>),
}

/// Returns why Magis may refuse what git applies: the reason for the first conflict, if there is one for each.
fn reason(case: &Case, patch: &[u8], ours: &Ending) -> Option<Difference> {
    let text = std::str::from_utf8(patch);
    match ours {
        Ending::Applied => None,
        Ending::NotRead => {
            let unread = ["old mode ", "new file mode 120000", "deleted file mode 120000"];
            let is_link = |line: &str| line.starts_with("index ") && line.ends_with(" 120000");
            let is_unread = |line: &str| is_link(line) || unread.iter().any(|start| line.starts_with(start));
            text.map_or(true, |text| text.lines().any(is_unread))
                .then_some(Difference::NotRead)
        }
        Ending::Conflicts(conflicts) => {
            let patch = Patch::parse(text.ok()?).ok()?;
            let reasons: Option<Vec<Difference>> = conflicts.iter().map(|one| of_conflict(case, &patch, one)).collect();
            reasons?.first().copied()
        }
    }
}

fn of_conflict(case: &Case, patch: &Patch, conflict: &Conflict) -> Option<Difference> {
    let path = conflict.path.as_str();
    let file = patch
        .files
        .iter()
        .find(|file| file.path == conflict.path || *file.old_path() == conflict.path)?;
    match conflict.reason {
        ConflictReason::LinesDiffer => {
            let Node::File { bytes, .. } = case.now.get(path)? else {
                return None;
            };
            let text = std::str::from_utf8(bytes).ok()?;
            placing::refused_here(file, text).map(Difference::Hunk)
        }
        ConflictReason::NotText if file.is_binary() => Some(Difference::Binary),
        ConflictReason::NotText => {
            let is_text = matches!(case.now.get(path)?, Node::File { bytes, .. } if std::str::from_utf8(bytes).is_ok());
            (!is_text).then_some(Difference::NotUtf8)
        }
        ConflictReason::NotARegularFile if *file.old_path() == conflict.path => {
            let is_moved = file.old_path() != &file.path && file.hunks.iter().all(|hunk| hunk.lines.is_empty());
            is_moved.then_some(Difference::Moved)
        }
        ConflictReason::NotARegularFile => (case.now.get(path)? == &Node::Folder).then_some(Difference::EmptyFolder),
        ConflictReason::FileMissing | ConflictReason::FileExists | ConflictReason::ContentDiffers => None,
    }
}

/// A repository for Magis, and a folder for git.
struct Comparison {
    fixture: FixtureRepo,
    repository: Repository,
    for_git: PathBuf,
}

impl Comparison {
    fn new() -> Self {
        let fixture = FixtureRepo::in_memory();
        fixture.write("f", "").commit("one");
        let for_git = fixture.beside("for-git");
        fs::create_dir(&for_git).unwrap();
        Self {
            repository: open(&fixture),
            fixture,
            for_git,
        }
    }

    /// Returns the patch that git makes of each case.
    fn patches(&self, cases: &[Case]) -> Vec<Vec<u8>> {
        let pair = |case: &Case| format!("{} {}\n", self.tree(&case.old), self.tree(&case.new));
        let pairs: Vec<String> = cases.iter().map(pair).collect();
        let arguments = ["diff-tree", "--stdin", "-r", "-p", "-M", "--full-index", "--binary"];
        let all = run(self.fixture.root(), &arguments, pairs.concat().as_bytes())
            .ok()
            .stdout;
        let mut rest = &all[..];
        let mut patches = Vec::new();
        for (number, pair) in pairs.iter().enumerate() {
            rest = rest.strip_prefix(pair.as_bytes()).unwrap();
            let next = pairs.get(number + 1).map(String::as_bytes);
            let end = next.and_then(|next| rest.windows(next.len()).position(|here| here == next));
            let (patch, behind) = rest.split_at(end.unwrap_or(rest.len()));
            patches.push(patch.to_vec());
            rest = behind;
        }
        patches
    }

    fn tree(&self, tree: &Tree) -> git2::Oid {
        let git = self.fixture.git2();
        let mut index = git2::Index::new().unwrap();
        for (path, node) in tree {
            let (mode, bytes) = match node {
                Node::File {
                    bytes,
                    is_program: true,
                } => (0o100_755, &bytes[..]),
                Node::File {
                    bytes,
                    is_program: false,
                } => (0o100_644, &bytes[..]),
                Node::Link(target) => (0o120_000, target.as_bytes()),
                Node::Folder => continue,
            };
            let time = git2::IndexTime::new(0, 0);
            let entry = git2::IndexEntry {
                ctime: time,
                mtime: time,
                dev: 0,
                ino: 0,
                mode,
                uid: 0,
                gid: 0,
                file_size: 0,
                id: git.blob(bytes).unwrap(),
                flags: 0,
                flags_extended: 0,
                path: path.clone().into_bytes(),
            };
            index.add(&entry).unwrap();
        }
        index.write_tree_to(git).unwrap()
    }

    fn by_git(&self, case: &Case, patch: &[u8]) -> (Ended, Tree) {
        lay_out(&self.for_git, &case.now);
        let ended = run(&self.for_git, &["apply", "--whitespace=nowarn"], patch);
        (ended, read(&self.for_git))
    }

    fn by_magis(&self, case: &Case, patch: &[u8]) -> (Ending, Tree) {
        lay_out(self.fixture.root(), &case.now);
        let text = std::str::from_utf8(patch).ok();
        let Some(patch) = text.and_then(|text| Patch::parse(text).ok()) else {
            return (Ending::NotRead, case.now.clone());
        };
        let repository = self.repository.clone();
        let applied = within("applying", move || {
            plan_worktree(&repository, &patch, &Selection::All).and_then(PlannedChange::carry_out)
        });
        let ending = match applied {
            Ok(_) => Ending::Applied,
            Err(RepoError::Conflicts(conflicts)) => Ending::Conflicts(conflicts),
            Err(error) => unreachable!("{error}"),
        };
        (ending, read(self.fixture.root()))
    }
}

/// Makes the folder hold this tree and nothing else.
fn lay_out(folder: &Path, tree: &Tree) {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    clear(folder);
    for (path, node) in tree {
        let place = folder.join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        match node {
            Node::File { bytes, is_program } => {
                fs::write(&place, bytes).unwrap();
                let mode = if *is_program { 0o755 } else { 0o644 };
                fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
            }
            Node::Link(target) => symlink(target, &place).unwrap(),
            Node::Folder => fs::create_dir(&place).unwrap(),
        }
    }
}

fn read(folder: &Path) -> Tree {
    use std::os::unix::fs::PermissionsExt as _;
    let mut tree = Tree::new();
    let mut open = vec![folder.to_owned()];
    while let Some(place) = open.pop() {
        let entries: Vec<fs::DirEntry> = fs::read_dir(&place).unwrap().map(Result::unwrap).collect();
        let name = |path: &Path| path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
        if entries.is_empty() && place != folder {
            tree.insert(name(&place), Node::Folder);
        }
        for entry in entries.iter().filter(|entry| entry.file_name() != ".git") {
            let (path, metadata) = (entry.path(), entry.metadata().unwrap());
            let node = if metadata.is_symlink() {
                Node::Link(fs::read_link(&path).unwrap().to_str().unwrap().to_owned())
            } else if metadata.is_dir() {
                open.push(path);
                continue;
            } else {
                Node::File {
                    bytes: fs::read(&path).unwrap(),
                    is_program: metadata.permissions().mode() & 0o100 != 0,
                }
            };
            tree.insert(name(&path), node);
        }
    }
    tree
}

const NAMES: [&str; 14] = [
    "a.txt",
    "run.sh",
    "src/b.py",
    "src/deep/c d.txt",
    "src/deep/größe.txt",
    "src/\"quoted\".txt",
    "folder/x",
    "folder/y",
    "folder/back\\slash",
    "z",
    // These lie below names from above, so that a file becomes a folder.
    "z/inside",
    "a.txt/inside",
    "new/one",
    "new/deep/two",
];

fn case(random: &mut Random) -> Case {
    let mut old = Tree::new();
    for name in &NAMES[..10] {
        if random.percent(55) {
            put(&mut old, name, node(random));
        }
    }
    let mut new = old.clone();
    for _ in 0..random.between(1, 5) {
        change(&mut new, random);
    }
    let mut now = if random.percent(10) { new.clone() } else { old.clone() };
    if random.percent(65) {
        for _ in 0..random.between(1, 4) {
            disturb(&mut now, &new, random);
        }
    }
    Case { old, new, now }
}

/// Puts a node at a path; what is in the way goes.
fn put(tree: &mut Tree, path: &str, node: Node) {
    let below = |one: &str, other: &str| one.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'));
    tree.retain(|other, _| !below(path, other) && !below(other, path));
    tree.insert(path.to_owned(), node);
}

fn node(random: &mut Random) -> Node {
    if random.percent(6) {
        return Node::Link(random.one(&["a.txt", "src", "nowhere"]).to_owned());
    }
    let bytes = match random.below(14) {
        0 => [b"\0binary", &random.below(99).to_le_bytes()[..]].concat(),
        1 => Vec::new(),
        2 if random.percent(30) => b"gr\xf6\xdfe\nb\nc\n".to_vec(),
        _ => Text::any(random).text().into_bytes(),
    };
    Node::File {
        bytes,
        is_program: random.percent(15),
    }
}

/// Returns a path at which the tree has something.
fn any(tree: &Tree, random: &mut Random) -> Option<String> {
    let number = random.below(tree.len().max(1));
    tree.keys().nth(number).cloned()
}

/// Changes what lies at a path a little.
fn edit(node: &mut Node, random: &mut Random) {
    match node {
        Node::File { bytes, .. } => match String::from_utf8(bytes.clone()) {
            Ok(text) if !text.contains('\0') => {
                let mut text = Text::of(&text);
                text.change(random);
                *bytes = text.text().into_bytes();
            }
            Ok(_) | Err(_) => bytes.extend(b"more\n"),
        },
        Node::Link(target) => target.push('x'),
        Node::Folder => {}
    }
}

/// Changes one path of a tree as a commit may.
fn change(tree: &mut Tree, random: &mut Random) {
    let some = any(tree, random);
    match (random.below(12), some) {
        (0..=4, Some(path)) => edit(tree.get_mut(&path).unwrap(), random),
        (5 | 6, Some(path)) => drop(tree.remove(&path)),
        (7 | 8, Some(path)) => {
            let mut moved = tree.remove(&path).unwrap();
            if random.percent(50) {
                edit(&mut moved, random);
            }
            put(tree, random.one(&NAMES), moved);
        }
        (9, Some(path)) if random.percent(40) => {
            if let Some(Node::File { is_program, .. }) = tree.get_mut(&path) {
                *is_program = !*is_program;
            }
        }
        _ => put(tree, random.one(&NAMES), node(random)),
    }
}

/// Changes one path of a work tree as a person may; often one that `new` has as well.
fn disturb(tree: &mut Tree, new: &Tree, random: &mut Random) {
    let Some(path) = any(if random.percent(70) { tree } else { new }, random) else {
        return;
    };
    match random.below(12) {
        0..=3 => {
            if let Some(node) = tree.get_mut(&path) {
                edit(node, random);
            }
        }
        4 => drop(tree.remove(&path)),
        5 => put(tree, &path, node(random)),
        6 => put(tree, &path, Node::Folder),
        7 => put(tree, &format!("{path}/inside"), node(random)),
        8 => put(tree, &path, Node::Link("run.sh".to_owned())),
        9 => {
            // The folder is a link now, to one that holds the same.
            if let Some((folder, _)) = path.split_once('/') {
                let inside: Vec<(String, Node)> = tree
                    .iter()
                    .filter_map(|(path, node)| {
                        Some((path.strip_prefix(folder)?.strip_prefix('/')?.to_owned(), node.clone()))
                    })
                    .collect();
                put(tree, folder, Node::Link("elsewhere".to_owned()));
                for (path, node) in inside {
                    put(tree, &format!("elsewhere/{path}"), node);
                }
            }
        }
        10 => {
            if let Some(Node::File { is_program, .. }) = tree.get_mut(&path) {
                *is_program = !*is_program;
            }
        }
        _ => {
            if let Some(Node::File { bytes, .. }) = tree.get_mut(&path) {
                bytes.extend(b"\xff\n");
            }
        }
    }
}
