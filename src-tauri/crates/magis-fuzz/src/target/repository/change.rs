//! An input as a list of changes to a repository. Any bytes are such a list.

use super::folder::{Changes, Folder, Node};
use super::objects::{id_of, inflated, loose, path_of, renamed};
use super::pack;
use super::seeds::Seed;
use crate::dice::Dice;
use crate::mutate::{Material, mutate};
use crate::sha1::sha1;
use std::path::{Path, PathBuf};

/// So many objects get another name at the most.
const MOST_RENAMED: usize = 60;
/// The most changes of one input.
const MOST: usize = 5;

/// Lines of a configuration.
const CONFIG: &[&str] = &[
    "[core]\n",
    "[include]\n\tpath = ",
    "[includeIf \"gitdir:/\"]\n\tpath = config\n",
    "[extensions]\n",
    "\tobjectFormat = sha256\n",
    "\trefStorage = reftable\n",
    "\tpartialClone = origin\n",
    "\tworktreeConfig = true\n",
    "\trepositoryFormatVersion = 1\n",
    "\tbare = true\n",
    "\tworktree = ../outside\n",
    "\tautocrlf = true\n",
    "\tsafecrlf = true\n",
    "\tignoreCase = true\n",
    "\tfileMode = maybe\n",
    "\texcludesFile = /dev/zero\n",
    "\tattributesFile = ~/\n",
    "\tsymlinks = false\n",
    "\tprecomposeUnicode = true\n",
    "\tbigFileThreshold = 99999999999999999999g\n",
    "\tlogAllRefUpdates\n",
    "[filter \"a\"]\n\tclean = touch x\n",
    "[diff \"python\"]\n\txfuncname = ((((a*)*)*)*)*$\n",
    "[remote \"",
    "\"]",
    "\\\n",
    "= \"",
];

/// Lines of attributes, ignore rules and submodules.
const RULES: &[&str] = &[
    "* text=auto eol=crlf\n",
    "* filter=a\n",
    "* ident\n",
    "*.py -text\n",
    "* working-tree-encoding=UTF-16\n",
    "[attr]a b\n[attr]b a\n* a\n",
    "* a b !c -d e=f\n",
    "**/**/**/**/**/**/**/**/**/a\n",
    "a*a*a*a*a*a*a*a*a*a*a*a*b\n",
    "!*\n",
    "/\n",
    "[[[[a-z\n",
    "[!a-\\]]\n",
    "\\\n",
    "[submodule \"lib\"]\n",
    "\tpath = lib/module\n",
    "\tpath = ../outside\n",
    "\turl = -u./x\n",
    "\tignore = all\n",
];

/// Pieces of git's other files.
const PIECES: &[&str] = &[
    "ref: refs/heads/main\n",
    "ref: HEAD\n",
    "ref: ",
    "# pack-refs with: peeled fully-peeled sorted \n",
    "^0000000000000000000000000000000000000000\n",
    "0000000000000000000000000000000000000000",
    " refs/heads/",
    " refs/tags/v1\n",
    "tree ",
    "parent ",
    "author ",
    "committer ",
    "encoding ",
    "object ",
    "type commit\n",
    "tag ",
    " 99999999999999999999 +9999\n",
    "40000 ",
    "100644 ",
    "120000 ",
    "160000 ",
    "100644 a.py\0",
    "\0",
    "..",
    ".git",
    "../",
    "git~1",
    "\u{200c}.git",
    "DIRC",
    "TREE",
    "REUC",
    "link",
    "sdir",
    "UNTR",
    "FSMN",
    "EOIE",
    "gitdir: ",
    "../../outside",
    "MIDX",
    "CGPH",
    "OIDF",
    "OIDL",
    "CDAT",
    "EDGE",
    "PNAM",
    "OOFF",
    "LOFF",
    "PACK",
    "commit 1\0",
    "tree 99999999999\0",
    "blob -1\0",
];

/// Whole contents of git's small files.
const TEXTS: [&str; 12] = [
    "",
    "\n",
    "ref: HEAD\n",
    "ref: refs/heads/none\n",
    "ref: refs/heads/main",
    "0123456789012345678901234567890123456789\n",
    "ref: refs/heads/a\nref: refs/heads/b\n",
    "gitdir: .\n",
    "gitdir: ../.git\n",
    ".\n",
    "..\n",
    "/\n",
];

/// Names of files that may be new, below the folder of git.
const NEW_IN_GIT: [&str; 26] = [
    "refs/heads/a.lock",
    "refs/heads/\u{1b}[31m",
    "refs/heads/a b",
    "refs/heads/main/below",
    "refs/heads/-x",
    "refs/heads/@{-1}",
    "refs/x",
    "objects/info/alternates",
    "objects/00/x",
    "objects/pack/pack-0123456789012345678901234567890123456789.idx",
    "objects/pack/pack-x.pack",
    "objects/pack/multi-pack-index",
    "objects/info/commit-graph",
    "objects/info/commit-graphs/commit-graph-chain",
    "shallow",
    "commondir",
    "config.worktree",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "info/sparse-checkout",
    "worktrees/x/gitdir",
    "worktrees/x/HEAD",
    "MERGE_HEAD",
    "rebase-merge/head-name",
    "index.lock",
];

/// Likewise in the work tree.
const NEW_IN_WORK_TREE: [&str; 14] = [
    "deep",
    "to",
    "deep/new",
    "src",
    ".gitattributes",
    "src/.gitattributes",
    ".gitignore",
    "build/.gitignore",
    ".gitmodules",
    "a.py",
    "nested/.git/HEAD",
    "nested/.git",
    "\u{1b}]0;x\u{7}",
    "gone.txt",
];

const LINKS: [&str; 6] = [
    "/dev/zero",
    "../outside",
    "../outside/secret",
    ".",
    "loop",
    "/proc/self/mem",
];

/// Where the lines of alternates lead.
const ALTERNATES: [&str; 7] = [
    ".",
    "../objects",
    "../../.git/objects",
    "/",
    "/proc",
    "../../../outside",
    "#",
];

/// Makes changes out of bytes.
pub(super) struct Changer<'f> {
    folder: &'f Folder,
    seed: &'f Seed,
    /// The files that may change, those of interest several times.
    files: Vec<&'f Path>,
    changes: Changes,
}

impl<'f> Changer<'f> {
    pub fn of(folder: &'f Folder, seed: &'f Seed) -> Self {
        let mut files = Vec::new();
        for (path, node) in folder.sound() {
            if !matches!(node, Node::File { .. }) {
                continue;
            }
            let times = if path.starts_with(&seed.git_dir) {
                match path.file_name().unwrap_or_default().to_str().unwrap_or_default() {
                    "index" | "config" | "packed-refs" | "HEAD" | "multi-pack-index" | "commit-graph" => 6,
                    name if name.starts_with("pack-") => 6,
                    _ if path.components().any(|part| part.as_os_str() == "logs") => 0,
                    // A cut one has git turn round for ever, which is known and costs a second each time.
                    _ if id_of(path).is_some() => usize::from(files.len().is_multiple_of(4)),
                    _ => 2,
                }
            } else {
                usize::from(path.starts_with(&seed.work_tree) || path.starts_with("repository"))
            };
            files.extend(std::iter::repeat_n(path.as_path(), times));
        }
        Self {
            folder,
            seed,
            files,
            changes: Changes::new(),
        }
    }

    pub fn finish(self) -> Changes {
        self.changes
    }

    /// Makes the changes that the bytes stand for.
    pub fn change(&mut self, bytes: &[u8]) {
        // A change takes seven bytes; what is left of the last one counts as zeros.
        for change in bytes.chunks(7).take(MOST) {
            let mut seven = [0; 7];
            seven[..change.len()].copy_from_slice(change);
            let [kind, high, low, rest @ ..] = seven;
            let file = usize::from(u16::from_be_bytes([high, low]));
            let dice = Dice::new(u64::from(u32::from_be_bytes(rest)));
            self.one(kind, file, dice);
        }
    }

    fn one(&mut self, kind: u8, file: usize, mut dice: Dice) {
        let Some(path) = self
            .files
            .get(file % self.files.len().max(1))
            .map(|path| path.to_path_buf())
        else {
            return;
        };
        let git_dir = self.seed.git_dir.clone();
        match kind % 16 {
            0..=3 => self.bytes(&path, &mut dice, kind.is_multiple_of(2)),
            4 | 5 => self.object(&mut dice),
            6 | 7 => self.pack(&mut dice),
            8 => {
                let node = match dice.below(4) {
                    0 => Node::Pipe,
                    1 => Node::Folder,
                    _ => Node::Link(PathBuf::from(LINKS[dice.below(LINKS.len())])),
                };
                self.changes.insert(path, Some(node));
            }
            9 => drop(self.changes.insert(path, None)),
            10 => {
                let name = NEW_IN_GIT[dice.below(NEW_IN_GIT.len())];
                let node = self.new_node(&mut dice);
                self.changes.insert(git_dir.join(name), Some(node));
            }
            11 => {
                let name = NEW_IN_WORK_TREE[dice.below(NEW_IN_WORK_TREE.len())];
                let node = self.new_node(&mut dice);
                self.changes.insert(self.seed.work_tree.join(name), Some(node));
            }
            12 => {
                let config = git_dir.join("config");
                let mut text = self.bytes_of(&config).unwrap_or_default();
                for _ in 0..=dice.below(4) {
                    text.extend(CONFIG[dice.below(CONFIG.len())].bytes());
                }
                self.changes.insert(config, Some(Node::file(text)));
            }
            13 => {
                let name = [".gitattributes", ".gitignore", "src/.gitignore", ".gitmodules"][dice.below(4)];
                let rules = self.seed.work_tree.join(name);
                let mut text = self.bytes_of(&rules).unwrap_or_default();
                for _ in 0..=dice.below(4) {
                    text.extend(RULES[dice.below(RULES.len())].bytes());
                }
                self.changes.insert(rules, Some(Node::file(text)));
            }
            14 => {
                let line = format!("{}\n", ALTERNATES[dice.below(ALTERNATES.len())]);
                let text = line.repeat(1 << dice.below(8));
                let alternates = git_dir.join("objects/info/alternates");
                self.changes.insert(alternates, Some(Node::file(text.into_bytes())));
            }
            _ => {
                let name = [
                    "HEAD",
                    "refs/heads/main",
                    "packed-refs",
                    "shallow",
                    "commondir",
                    "MERGE_HEAD",
                ][dice.below(6)];
                let text = TEXTS[dice.below(TEXTS.len())];
                self.changes
                    .insert(git_dir.join(name), Some(Node::file(text.as_bytes().to_vec())));
            }
        }
    }

    fn new_node(&self, dice: &mut Dice) -> Node {
        match dice.below(8) {
            0 => Node::Pipe,
            1 => Node::Folder,
            2 | 3 => Node::Link(PathBuf::from(LINKS[dice.below(LINKS.len())])),
            4 | 5 => Node::file(TEXTS[dice.below(TEXTS.len())].as_bytes().to_vec()),
            _ => {
                let other = self
                    .files
                    .get(dice.below(self.files.len()))
                    .and_then(|path| self.bytes_of(path));
                Node::file(other.unwrap_or_default())
            }
        }
    }

    /// Returns the bytes of a file as it is by now.
    fn bytes_of(&self, path: &Path) -> Option<Vec<u8>> {
        let node = match self.changes.get(path) {
            Some(node) => node.as_ref()?,
            None => self.folder.sound().get(path)?,
        };
        match node {
            Node::File { bytes, .. } => Some(bytes.clone()),
            Node::Link(_) | Node::Folder | Node::Pipe => None,
        }
    }

    /// Changes bytes of a file, and seals it anew where it is one that is sealed.
    fn bytes(&mut self, path: &Path, dice: &mut Dice, seals: bool) {
        let Some(mut bytes) = self.bytes_of(path) else { return };
        let other = self
            .files
            .get(dice.below(self.files.len()))
            .and_then(|path| self.bytes_of(path));
        let others: Vec<Vec<u8>> = other.into_iter().collect();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let material = Material {
            words: match name.as_str() {
                "config" | "config.worktree" => CONFIG,
                "attributes" | "exclude" | ".gitattributes" | ".gitignore" | ".gitmodules" => RULES,
                _ => PIECES,
            },
            others: &others,
            is_json: false,
        };
        let is_sealed = name == "index"
            || name == "multi-pack-index"
            || name == "commit-graph"
            || [".idx", ".pack"].iter().any(|ending| name.ends_with(ending));
        if seals && is_sealed && bytes.len() > 20 {
            bytes.truncate(bytes.len() - 20);
            mutate(&mut bytes, material, dice);
            let seal = sha1(&bytes);
            bytes.extend(seal);
        } else {
            mutate(&mut bytes, material, dice);
        }
        self.changes.insert(path.to_owned(), Some(Node::file(bytes)));
    }

    /// Changes a loose object and gives it its right name, as do all that name it; or leaves it under the old one.
    fn object(&mut self, dice: &mut Dice) {
        let objects = self.seed.git_dir.join("objects");
        let all = self.loose_objects(&objects);
        let Some((id, content)) = dice.pick(&all) else { return };
        let mut changed = content.clone();
        let others: Vec<Vec<u8>> = all.iter().map(|(_, content)| content.clone()).collect();
        let material = Material {
            words: PIECES,
            others: &others,
            is_json: false,
        };
        let header = changed.iter().position(|byte| *byte == 0).map_or(0, |at| at + 1);
        if dice.one_in(4) {
            mutate(&mut changed, material, dice);
        } else {
            let mut body = changed.split_off(header);
            mutate(&mut body, material, dice);
            if let Some(kind) = changed.split(|byte| *byte == b' ').next().map(<[u8]>::to_vec) {
                changed = [&kind, format!(" {}\0", body.len()).as_bytes(), &body].concat();
            }
        }
        if dice.one_in(6) {
            let (_, node) = loose(&changed);
            self.changes.insert(path_of(&objects, id), Some(node));
        } else {
            self.rename(&objects, id, &changed, 0);
        }
    }

    /// Puts an object of this content in the place of another one, for all that name that.
    fn rename(&mut self, objects: &Path, old: &str, content: &[u8], depth: usize) {
        let (new, node) = loose(content);
        self.changes.insert(path_of(objects, &new), Some(node));
        if new == old || depth > 8 || self.changes.len() > MOST_RENAMED {
            return;
        }
        for (id, content) in self.loose_objects(objects) {
            if id != old
                && id != new
                && let Some(changed) = renamed(&content, old, &new)
            {
                self.rename(objects, &id, &changed, depth + 1);
            }
        }
        let texts: Vec<PathBuf> = self
            .folder
            .sound()
            .keys()
            .filter(|path| path.starts_with(&self.seed.git_dir) && !path.starts_with(objects))
            .cloned()
            .collect();
        for path in texts {
            if let Some(bytes) = self.bytes_of(&path)
                && let Some(mut changed) = renamed(&bytes, old, &new)
            {
                if path.ends_with("index") && changed.len() > 20 {
                    changed.truncate(changed.len() - 20);
                    let seal = sha1(&changed);
                    changed.extend(seal);
                }
                self.changes.insert(path, Some(Node::file(changed)));
            }
        }
    }

    /// Returns the loose objects as they are by now, with their headers.
    fn loose_objects(&self, objects: &Path) -> Vec<(String, Vec<u8>)> {
        let paths = self.folder.sound().keys().chain(self.changes.keys());
        let mut paths: Vec<&PathBuf> = paths.filter(|path| path.starts_with(objects)).collect();
        paths.sort();
        paths.dedup();
        let object = |path: &PathBuf| {
            let id = id_of(path)?;
            let (content, _) = inflated(&self.bytes_of(path)?)?;
            Some((id, content))
        };
        paths.into_iter().filter_map(object).collect()
    }

    fn pack(&mut self, dice: &mut Dice) {
        let is_pack = |path: &&PathBuf| path.extension().is_some_and(|is| is == "pack");
        let packs: Vec<PathBuf> = self.folder.sound().keys().filter(is_pack).cloned().collect();
        let Some(path) = dice.pick(&packs) else {
            // There is none: a loose object, then.
            return self.object(dice);
        };
        let index = path.with_extension("idx");
        if let (Some(pack), Some(bytes)) = (self.bytes_of(path), self.bytes_of(&index))
            && let Some((pack, bytes)) = pack::changed(&pack, &bytes, PIECES, dice)
        {
            self.changes.insert(path.clone(), Some(Node::file(pack)));
            self.changes.insert(index, Some(Node::file(bytes)));
        }
    }
}
