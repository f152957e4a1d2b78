//! Which files count that are not tracked: `git ls-files --others --exclude-standard` and `git check-ignore`.

use super::{Random, Tally, open, run, within};
use crate::path;
use magis_core::RepoPath;
use magis_repo::WorkTree;
use magis_testkit::FixtureRepo;
use std::collections::{BTreeMap, BTreeSet};

/// Where Magis and git differ, which comes from how libgit2 reads a rule. That is checked by a look at the same files without the rules of that form, after which
/// both have to give the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    /// `name<tab>`: libgit2 takes the tab off, git off the end of a rule takes spaces alone.
    Tab,
    /// `!name`: libgit2 leaves such a rule out where no rule of the same file is about that name.
    Negative,
    /// `*/`, `//`: libgit2 takes the root for a folder that this is about.
    AnyFolder,
    /// `name\`: for git this is about nothing, libgit2 reads on behind the end of the line.
    Backslash,
    /// Rules of several of these forms.
    Several,
}

impl Difference {
    const ALL: [Self; 5] = [
        Self::Tab,
        Self::Negative,
        Self::AnyFolder,
        Self::Backslash,
        Self::Several,
    ];

    /// Returns whether a rule has the form that is read otherwise.
    fn is_of(self, rule: &str) -> bool {
        let rule = rule.trim_end_matches(['\r', '\n']);
        match self {
            Self::Tab => rule.ends_with('\t'),
            Self::Negative => rule.starts_with('!') && !rule.contains(['*', '?', '[']),
            Self::AnyFolder => rule.trim_end().ends_with("*/") || rule == "//",
            Self::Backslash => rule.ends_with('\\'),
            Self::Several => Self::ALL[..4].iter().any(|one| one.is_of(rule)),
        }
    }
}

const ROUNDS: usize = 60;

#[test]
fn what_is_ignored_is_what_git_ignores() {
    let mut random = Random::of(4);
    let mut tally = Tally::new();
    for number in 0..ROUNDS {
        Round::new(&mut random).compare(number, &mut tally);
    }
    tally.end("ignored", 6_000, &Difference::ALL);
}

/// A repository with rules of what is ignored, and files that they may be about.
struct Round {
    fixture: FixtureRepo,
    /// The lines of each file of rules.
    rules: BTreeMap<String, Vec<String>>,
    files: BTreeSet<String>,
    tracked: BTreeSet<String>,
}

/// Whether a file that is not tracked counts.
#[derive(Debug, PartialEq, Eq)]
struct Counted {
    /// When all files are looked at.
    in_work_tree: bool,
    /// When it is looked at alone.
    alone: bool,
    /// It is taken for ignored code.
    is_built: bool,
}

impl Round {
    fn new(random: &mut Random) -> Self {
        let fixture = FixtureRepo::in_memory();
        let mut files = BTreeSet::new();
        while files.len() < 110 {
            let file = file(random);
            let below = |one: &str, other: &str| one.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'));
            // What shall be a folder is no file.
            let is_in_the_way = |folder: &&str| below(folder, &file);
            if !FOLDERS.iter().any(is_in_the_way) {
                files.insert(file);
            }
        }
        let mut rules = BTreeMap::new();
        for folder in ["", "src/", "src/deep/", "build/", "docs/", ".git/info/"] {
            if folder.is_empty() || random.percent(40) {
                let name = if folder == ".git/info/" {
                    "exclude"
                } else {
                    ".gitignore"
                };
                let lines = (0..random.between(1, 10)).map(|_| rule(random)).collect();
                rules.insert(format!("{folder}{name}"), lines);
            }
        }
        if random.percent(30) {
            // What all repositories of a person ignore, and this one does not.
            rules.insert(".git/info/exclude".to_owned(), vec!["*.log\n".to_owned()]);
            let kept = format!("!{}.log\n", random.one(&["a", "b", "ab", "file"]));
            rules.entry(".gitignore".to_owned()).or_insert_with(Vec::new).push(kept);
        }
        fixture.write("first", "first\n");
        let mut tracked = BTreeSet::from(["first".to_owned()]);
        for file in &files {
            fixture.write(file, "x\n");
            if random.percent(8) {
                tracked.insert(file.clone());
            }
        }
        let names: Vec<&str> = tracked.iter().map(String::as_str).collect();
        run(
            fixture.root(),
            &[&["--literal-pathspecs", "add", "--force", "--"], &names[..]].concat(),
            b"",
        )
        .ok();
        run(fixture.root(), &["commit", "--quiet", "--message=one"], b"").ok();
        files.retain(|file| !tracked.contains(file));
        Self {
            fixture,
            rules,
            files,
            tracked,
        }
    }

    fn compare(&self, number: usize, tally: &mut Tally<Difference>) {
        let counted = self.counted(|_| true);
        // What they are without the rules of one form, where somebody asks for that.
        let mut without = BTreeMap::new();
        for (file, (here, git)) in &counted {
            if here == git {
                tally.same(if git.in_work_tree { "counted" } else { "ignored" });
                continue;
            }
            let meant = Difference::ALL.into_iter().find(|form| {
                let without = without
                    .entry(*form)
                    .or_insert_with(|| self.counted(|rule| !form.is_of(rule)));
                let (here, git) = &without[file];
                here == git
            });
            tally.differs(meant, || {
                format!("round {number}: {file}\n{:#?}\nhere {here:?}\ngit {git:?}", self.rules)
            });
        }
    }

    /// Returns which files count here and for git under those of the rules that `counts` names.
    fn counted(&self, counts: impl Fn(&str) -> bool) -> BTreeMap<String, (Counted, Counted)> {
        for (file, lines) in &self.rules {
            let lines: String = lines.iter().filter(|line| counts(line)).map(String::as_str).collect();
            self.fixture.write(file, lines);
        }
        let root = self.fixture.root();
        let others = run(root, &["ls-files", "--others", "--exclude-standard", "-z"], b"").ok();
        let others: BTreeSet<String> = others.parts().collect();
        let ignored: BTreeSet<String> = self.ignored();
        let repository = open(&self.fixture);
        let paths: Vec<RepoPath> = self.files.iter().map(|file| path(file)).collect();
        let (work, looked, built, untracked) = within("reading", move || {
            let work = WorkTree::read(&repository).unwrap();
            let mut looked = work.clone();
            looked.look_at(&paths).unwrap();
            let built = repository.built_files().unwrap();
            (work, looked, built, repository.state().unwrap().cleanliness.untracked)
        });
        let names = work.files().keys().map(RepoPath::as_str);
        let by_name: Vec<&str> = names.filter(|name| !self.tracked.contains(*name)).collect();
        assert_eq!(untracked as usize, by_name.len(), "{by_name:?} under {:#?}", self.rules);
        let counted = |file: &String| {
            let name = path(file);
            let here = Counted {
                in_work_tree: work.files().contains_key(&name),
                alone: looked.files().contains_key(&name),
                is_built: built.contains(&name),
            };
            let git = Counted {
                in_work_tree: others.contains(file),
                alone: !ignored.contains(file),
                // Which of the ignored files are taken for code is not git's to say.
                is_built: here.is_built && ignored.contains(file),
            };
            (file.clone(), (here, git))
        };
        self.files.iter().map(counted).collect()
    }

    /// Returns the files that git says are ignored when it is asked for each.
    fn ignored(&self) -> BTreeSet<String> {
        let input: String = self.files.iter().flat_map(|file| [file.as_str(), "\0"]).collect();
        let asked = ["check-ignore", "--no-index", "-z", "--stdin"];
        run(self.fixture.root(), &asked, input.as_bytes()).parts().collect()
    }
}

const FOLDERS: [&str; 12] = [
    "",
    "",
    "src/",
    "src/deep/",
    "src/deep/er/",
    "build/",
    "build/out/",
    "docs/",
    "docs/build/",
    "a b/",
    "log/",
    "src/build/",
];
const STEMS: [&str; 14] = [
    "a",
    "b",
    "ab",
    "file",
    "Makefile",
    "read me",
    "x-y",
    "größe",
    "a[1]",
    "a*b",
    "#c",
    "!d",
    "build",
    "back\\slash",
];
const ENDS: [&str; 8] = ["", ".txt", ".py", ".so", ".log", ".LOG", ".tar.gz", " "];

fn file(random: &mut Random) -> String {
    [random.one(&FOLDERS), random.one(&STEMS), random.one(&ENDS)].concat()
}

/// Returns a line of a file of ignored files.
fn rule(random: &mut Random) -> String {
    let end = random.one(&[
        "\n", "\n", "\n", "\n", "\n", "\n", "\n", "\r\n", " \n", "  \n", "\\ \n", "\t\n",
    ]);
    match random.below(40) {
        0 => return "# *.py\n".to_owned(),
        1 => return "\n".to_owned(),
        2 => {
            return random
                .one(&["/\n", "//\n", "!\n", "\\\n", " \n", "**\n", "/**\n", "**/\n"])
                .to_owned();
        }
        3..=8 => return format!("!{}{}\n", random.one(&STEMS), random.one(&ENDS).trim()),
        9 => return random.one(&["a\\\n", "*\\\n"]).to_owned(),
        10 => return "*/\n".to_owned(),
        _ => {}
    }
    let not = if random.percent(25) { "!" } else { "" };
    format!("{not}{}{end}", pattern(random))
}

fn pattern(random: &mut Random) -> String {
    let end = random.one(&ENDS).trim();
    let stem = random.one(&STEMS);
    let folder = random.one(&["src", "build", "docs", "deep", "log", "src/deep", "docs/build", "a b"]);
    let slash = random.one(&["", "", "/"]);
    match random.below(22) {
        0..=3 => format!("*{end}"),
        4 => "*".to_owned(),
        5 => format!("/*{end}"),
        6 => format!("{slash}{folder}/*{end}"),
        7 => format!("**/{folder}/*{end}"),
        8 => format!("{slash}{folder}/**"),
        9 => format!("{slash}{folder}/**/*{end}"),
        10 | 11 => format!("{slash}{folder}/"),
        12 => format!("{slash}{folder}"),
        13 => format!("?{end}"),
        14 => format!(
            "[{}]{end}",
            random.one(&["ab", "a-c", "!a", "^a", "[:alpha:]", "]a", "a-", "\\a", "!]a"])
        ),
        15 => format!("{}{stem}{end}", random.one(&["!", "\\!", "\\#", "\\", "/"])),
        16 => random
            .one(&[
                "a\\[1\\]*",
                "a\\*b*",
                "a[[]1]",
                "***",
                "**a",
                "a**",
                "*/*",
                "*/",
                "**/b",
                "**/*.py",
                "src/*/b",
                "*/deep",
                "/*/*/*",
                "back\\\\slash",
                "back\\slash",
                "b[",
                "b[a",
                "a\\",
                "src//",
                "src/**/er",
                "**/er/**",
                "deep/**/",
                "\\a",
                "s[r]c/*",
                "src[/]a",
                "src?a",
                "src*a*",
                "./a",
                "../a",
            ])
            .to_owned(),
        17 => format!("{folder}/{stem}{end}"),
        _ => format!("{stem}{end}"),
    }
}
