//! What attributes make of a file: the blob that git keeps for it (`git add`), the filters that only git can run
//! (`git check-attr`), and the line ends of a new file (`git apply`).

use super::{Random, Tally, copy, open, run, within};
use crate::store;
use magis_repo::{BaseChoice, Patch, Selection, Snapshot, WorkTree, plan_worktree};
use magis_testkit::FixtureRepo;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Where Magis and git differ. All but the first two come from how libgit2 reads a rule; that is checked by a look at the same files without the rules of that form,
/// after which both have to give the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    /// A filter or an encoding is named that only git can run: Magis keeps the staged version (reading/filter.rs).
    Foreign,
    /// Git writes the id of a new file's content behind `$Id`, and takes it out again when the file is staged; Magis leaves that to the next check-out.
    Id,
    /// `!name text`: git leaves such a rule out, libgit2 has it count for all other files.
    Negative,
    /// `"a name" text`: libgit2 does not take the quotes off.
    Quoted,
    /// `[attr]mine text`, `binary`: libgit2 knows a macro only behind its definition, and has `binary` and `-binary` set further attributes.
    Macro,
}

impl Difference {
    /// Returns whether a rule has the form that is read otherwise.
    fn is_of(self, rule: &str) -> bool {
        match self {
            Self::Foreign | Self::Id => false,
            Self::Negative => rule.trim_start().starts_with('!'),
            Self::Quoted => rule.trim_start().starts_with('"'),
            Self::Macro => rule.contains("mine") || rule.contains("binary"),
        }
    }
}

const ROUNDS: usize = 24;

#[test]
fn attributes_count_as_with_git() {
    use Difference::{Foreign, Id, Macro, Negative, Quoted};
    let mut random = Random::of(3);
    let mut tally = Tally::new();
    for number in 0..ROUNDS {
        Round::new(&mut random).compare(number, &mut tally);
    }
    tally.end("attributes", 3_000, &[Foreign, Id, Negative, Quoted, Macro]);
}

/// A repository with attributes, files that are tracked and changed, files that are new, and files that a patch makes.
struct Round {
    fixture: FixtureRepo,
    settings: String,
    /// The lines of each file of attributes.
    rules: BTreeMap<String, Vec<String>>,
    files: BTreeSet<String>,
    created: BTreeMap<String, &'static str>,
}

/// What Magis and git make of one file.
#[derive(Debug)]
struct Made {
    /// The blob, or the content of a new file.
    here: Option<String>,
    git: Option<String>,
    staged: Option<String>,
    is_foreign: bool,
}

impl Round {
    fn new(random: &mut Random) -> Self {
        let fixture = FixtureRepo::in_memory();
        let mut files = BTreeSet::new();
        while files.len() < 100 {
            files.insert(path(random));
        }
        fixture.write("first", "first\n");
        for file in &files {
            if random.percent(60) {
                fixture.write(file, random.one(&CONTENTS));
            }
        }
        fixture.commit("one");
        let mut settings = String::new();
        for (key, values) in [
            ("core.autocrlf", &["false", "true", "input"][..]),
            ("core.eol", &["lf", "crlf", "native"]),
        ] {
            let value = random.one(values);
            fixture.config(key, value);
            settings += &format!("{key} = {value}\n");
        }
        let mut rules = BTreeMap::new();
        for folder in ["", "src/", "src/deep/", "docs/", ".git/info/"] {
            if folder.is_empty() || random.percent(50) {
                let name = if folder == ".git/info/" {
                    "attributes"
                } else {
                    ".gitattributes"
                };
                let lines = (0..random.between(2, 14)).map(|_| rule(random)).collect();
                rules.insert(format!("{folder}{name}"), lines);
            }
        }
        for file in &files {
            fixture.write(file, random.one(&CONTENTS));
        }
        let mut created = BTreeMap::new();
        while created.len() < 40 {
            let name = path(random);
            if !files.contains(&name) {
                created.insert(name, *random.one(&TEXTS.each_ref()));
            }
        }
        Self {
            fixture,
            settings,
            rules,
            files,
            created,
        }
    }

    fn compare(&self, number: usize, tally: &mut Tally<Difference>) {
        let made = self.made(|_| true);
        // What they are without the rules of one form, where somebody asks for that.
        let mut without: BTreeMap<Difference, BTreeMap<String, Made>> = BTreeMap::new();
        for (file, made) in &made {
            let meant = made.meant(self.created.get(file));
            if meant.is_none() && made.here == made.git {
                tally.same(if self.files.contains(file) { "kept" } else { "written" });
                continue;
            }
            let by_form = [Difference::Negative, Difference::Quoted, Difference::Macro];
            let meant = meant.or_else(|| {
                by_form.into_iter().find(|form| {
                    let without = without
                        .entry(*form)
                        .or_insert_with(|| self.made(|rule| !form.is_of(rule)));
                    without[file].here == without[file].git || without[file].meant(self.created.get(file)).is_some()
                })
            });
            tally.differs(meant, || {
                format!("round {number}: {file}\n{}{:#?}\n{made:#?}", self.settings, self.rules)
            });
        }
    }

    /// Returns what becomes of the files under those of the rules that `counts` names.
    fn made(&self, counts: impl Fn(&str) -> bool) -> BTreeMap<String, Made> {
        for (file, lines) in &self.rules {
            let lines: String = lines.iter().filter(|line| counts(line)).map(String::as_str).collect();
            self.fixture.write(file, lines);
        }
        let repository = open(&self.fixture);
        let copied = copy(&self.fixture);
        let staged = staged(&copied);
        run(&copied, &["add", "--all"], b"").ok();
        let kept = self::staged(&copied);
        let foreign = self.foreign(&copied);
        let (whole, store) = (repository.clone(), store(&self.fixture));
        let (work, snapshot) = within("reading", move || {
            let snapshot = Snapshot::take(&whole, &store, &BaseChoice::HeadWithUncommitted).unwrap();
            (WorkTree::read(&whole).unwrap(), snapshot)
        });
        let (listed, _) = snapshot.files().unwrap();
        let taken: BTreeMap<String, String> = listed
            .into_iter()
            .map(|file| (file.path.to_string(), file.blob.0))
            .collect();
        let mut made = BTreeMap::new();
        for file in &self.files {
            let here = work.files().get(&crate::path(file)).map(|blob| blob.0.clone());
            assert_eq!(
                here.as_ref(),
                taken.get(file),
                "{file} in the work tree and in a snapshot of it"
            );
            let one = Made {
                here,
                git: kept.get(file).cloned(),
                staged: staged.get(file).cloned(),
                is_foreign: foreign.contains(file),
            };
            made.insert(file.clone(), one);
        }

        let patch: String = self.created.iter().map(|(name, text)| creating(name, text)).collect();
        run(&copied, &["apply", "--whitespace=nowarn"], patch.as_bytes()).ok();
        let parsed = Patch::parse(&patch).unwrap();
        within("applying", move || {
            let planned = plan_worktree(&repository, &parsed, &Selection::All).unwrap();
            planned.carry_out().unwrap()
        });
        for name in self.created.keys() {
            let git = fs::read(copied.join(name)).unwrap();
            let one = Made {
                here: Some(String::from_utf8(self.fixture.read(name)).unwrap()),
                git: Some(String::from_utf8(git).unwrap()),
                staged: None,
                is_foreign: false,
            };
            made.insert(name.clone(), one);
            self.fixture.remove(name);
        }
        fs::remove_dir_all(copied).unwrap();
        made
    }

    /// Returns the files with a filter or an encoding that is named.
    fn foreign(&self, copied: &Path) -> BTreeSet<String> {
        let input: String = self.files.iter().flat_map(|file| [file.as_str(), "\0"]).collect();
        let asked = ["check-attr", "-z", "--stdin", "filter", "working-tree-encoding"];
        let told: Vec<String> = run(copied, &asked, input.as_bytes()).ok().parts().collect();
        let is_named = |told: &&[String]| !matches!(told[2].as_str(), "set" | "unset" | "unspecified");
        told.chunks_exact(3)
            .filter(is_named)
            .map(|told| told[0].clone())
            .collect()
    }
}

impl Made {
    /// Returns the reason that does not come from the form of a rule, for a file that a patch makes with the text `created` or for one that is there.
    fn meant(&self, created: Option<&&'static str>) -> Option<Difference> {
        if self.is_foreign && self.here == self.staged {
            return Some(Difference::Foreign);
        }
        created?;
        let git = self.git.as_ref()?;
        let (before, behind) = git.split_once("$Id: ")?;
        let (_, behind) = behind.split_once(" $")?;
        (self.here == Some(format!("{before}$Id${behind}"))).then_some(Difference::Id)
    }
}

/// Returns the staged blob of each path.
fn staged(repository: &Path) -> BTreeMap<String, String> {
    let listed = run(repository, &["ls-files", "--stage", "-z"], b"").ok();
    let entry = |entry: String| {
        let (about, path) = entry.split_once('\t').unwrap();
        (path.to_owned(), about.split(' ').nth(1).unwrap().to_owned())
    };
    listed.parts().map(entry).collect()
}

/// Returns the patch that makes a file.
fn creating(name: &str, text: &str) -> String {
    let lines = text.split_inclusive('\n').count();
    let shown: String = text.split_inclusive('\n').flat_map(|line| ["+", line]).collect();
    let open = if text.ends_with('\n') {
        ""
    } else {
        "\n\\ No newline at end of file\n"
    };
    let range = if lines == 1 {
        "1".to_owned()
    } else {
        format!("1,{lines}")
    };
    format!(
        "diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +{range} @@\n{shown}{open}"
    )
}

/// Texts, of which a patch can make a file.
const TEXTS: [&str; 7] = [
    "a\nb\n",
    "a\r\nb\r\n",
    "a\r\nb\nc\r\n",
    "a\nb",
    "a\rb\n",
    "$Id$\nb\n",
    "a\u{1}\u{2}\u{3}\u{4}\nb\n",
];

/// What files hold.
const CONTENTS: [&str; 10] = [
    "a\nb\n",
    "a\r\nb\r\n",
    "c\r\nd\r\n",
    "a\r\nb\nc\r\n",
    "a\nb",
    "a\rb\r\n",
    "a\0b\r\n",
    "$Id: 12345 $\r\nb\r\n",
    "a\u{1}\u{2}\u{3}\u{4}\r\nb\r\n",
    "",
];

const FOLDERS: [&str; 8] = [
    "",
    "",
    "src/",
    "src/deep/",
    "src/deep/er/",
    "docs/",
    "docs/src/",
    "a b/",
];
const STEMS: [&str; 12] = [
    "a", "b", "ab", "file", "Makefile", "read me", "x-y", "größe", "a[1]", "a*b", "#c", "!d",
];
const ENDS: [&str; 6] = ["", ".txt", ".py", ".bin", ".TXT", ".tar.gz"];

fn path(random: &mut Random) -> String {
    [random.one(&FOLDERS), random.one(&STEMS), random.one(&ENDS)].concat()
}

/// Returns a line of a file of attributes.
fn rule(random: &mut Random) -> String {
    let end = if random.percent(5) { "\r\n" } else { "\n" };
    match random.below(30) {
        0 => return "# *.txt -text\n".to_owned(),
        1 => return "\n".to_owned(),
        2 => return format!("[attr]mine {}\n", random.one(&ATTRIBUTES)),
        3 => return format!("*{} mine\n", random.one(&ENDS)),
        _ => {}
    }
    let space = random.one(&[" ", " ", " ", "\t", "  "]);
    let before = if random.percent(5) { " " } else { "" };
    let attributes: Vec<&str> = (0..random.between(1, 4)).map(|_| random.one(&ATTRIBUTES)).collect();
    format!("{before}{}{space}{}{end}", pattern(random), attributes.join(space))
}

const ATTRIBUTES: [&str; 26] = [
    "text",
    "-text",
    "!text",
    "text=auto",
    "text=auto",
    "text=input",
    "eol=crlf",
    "eol=crlf",
    "eol=lf",
    "-eol",
    "!eol",
    "crlf",
    "-crlf",
    "crlf=input",
    "binary",
    "-binary",
    "ident",
    "-ident",
    "filter=lfs",
    "filter",
    "-filter",
    "!filter",
    "working-tree-encoding=latin-1",
    "-working-tree-encoding",
    "diff=python",
    "export-ignore",
];

fn pattern(random: &mut Random) -> String {
    let end = random.one(&ENDS);
    let stem = random.one(&STEMS);
    match random.below(20) {
        0..=5 => format!("*{end}"),
        6 => "*".to_owned(),
        7 => format!("/*{end}"),
        8 => format!(
            "{}*{end}",
            random.one(&["src/", "/src/", "deep/", "src/deep/", "docs/src/"])
        ),
        9 => format!("**/{}*{end}", random.one(&["", "deep/", "src/"])),
        10 => format!("{}/**", random.one(&["src", "/docs", "deep", "src/deep"])),
        11 => format!("src/**/*{end}"),
        12 => format!("?{end}"),
        13 => format!(
            "[{}]{end}",
            random.one(&["ab", "a-c", "!a", "^a", "[:alpha:]", "]a", "a-"])
        ),
        14 => format!("{}/", random.one(&["src", "docs", "deep"])),
        15 => format!("\"{stem}{end}\""),
        16 => format!("\"{}*\"", random.one(&["a b/", "src/\\141", "read "])),
        17 => format!("{}{}", random.one(&["!", "\\!", "\\#", "\\"]), stem.replace(' ', "?")),
        18 => random
            .one(&["a\\[1\\]*", "a\\*b*", "a[[]1]", "**", "***", "**a", "a**", "*/*", "*/"])
            .to_owned(),
        _ => format!("{}{end}", stem.replace(' ', "?")),
    }
}
