//! Patches: any text is a patch or an error, one that is written again is the same, and what is placed can be taken back.

use super::{CaseOutcome, FuzzTarget};
use anyhow::{Context as _, Result};
use magis_repo::{
    DiffStat, Git, HunkNumber, Patch, Repository, Selection, conflicts, diff_stat, edits_between, plan_worktree,
    text_diff, undo,
};
use magis_testkit::FixtureRepo;
use std::collections::BTreeSet;
use std::fs;

/// Stands between the two texts of an input.
const BETWEEN: &[u8] = b"\n\0\n";
const FILE: &str = "a.py";

/// A repository with one file, in which patches are placed.
struct Ground {
    fixture: FixtureRepo,
    repository: Repository,
}

impl Ground {
    fn open() -> Result<Self> {
        let fixture = FixtureRepo::new();
        fixture.write(FILE, "a\n").commit("one");
        // It is ours, so that reading it needs no process.
        let repository = Git::in_this_process()
            .open(fixture.root())
            .context("opening our own repository")?;
        Ok(Self { fixture, repository })
    }

    fn write(&self, text: &str) {
        self.fixture.write(FILE, text);
    }
}

fn split(input: &[u8]) -> (String, String) {
    let at = input.windows(BETWEEN.len()).position(|three| three == BETWEEN);
    let (one, other) = match at {
        Some(at) => (&input[..at], &input[at + BETWEEN.len()..]),
        None => (input, &[][..]),
    };
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (text(one), text(other))
}

fn joined(one: &str, other: &str) -> Vec<u8> {
    [one.as_bytes(), BETWEEN, other.as_bytes()].concat()
}

fn numbered(lines: u32) -> String {
    (1..=lines)
        .flat_map(|line| ["line ".to_owned(), line.to_string(), "\n".to_owned()])
        .collect()
}

/// A patch, and the text it is placed in.
pub(super) struct PatchTarget {
    ground: Ground,
}

impl PatchTarget {
    pub(super) fn open() -> Result<Self> {
        Ok(Self {
            ground: Ground::open()?,
        })
    }
}

impl FuzzTarget for PatchTarget {
    fn seeds(&mut self) -> Vec<Vec<u8>> {
        let old = numbered(30);
        let new = old.replace("line 5\n", "five\n").replace("line 25\n", "");
        let patch = |header: &str, old: &str, new: &str| [header, &text_diff(old, new, 3)].concat();
        let plain = "diff --git a/a.py b/a.py\nindex 1234567..89abcde 100644\n--- a/a.py\n+++ b/a.py\n";
        let created = "diff --git a/b/ö.py b/b/ö.py\nnew file mode 100755\nindex 0000000..89abcde\n--- /dev/null\n+++ \"b/b/\\303\\266.py\"\n";
        let gone =
            "diff --git a/a.py b/a.py\ndeleted file mode 100644\nindex 1234567..0000000\n--- a/a.py\n+++ /dev/null\n";
        let moved = "diff --git a/a.py b/c.py\nsimilarity index 90%\nrename from a.py\nrename to c.py\nindex 1234567..89abcde 100644\n--- a/a.py\n+++ b/c.py\n";
        let binary = "diff --git a/d b/d\nnew file mode 100644\nindex 0000000..89abcde\nGIT binary patch\nliteral 3\nKcmZSh%}E3R0F(g$0RR91\n\nliteral 0\nHcmV?d00001\n\n";
        let open = old.trim_end();
        vec![
            joined(&patch(plain, &old, &new), &old),
            joined(&patch(plain, &old, &new), &format!("moved\n{old}")),
            joined(&patch(plain, &old, &new), &old.replace('\n', "\r\n")),
            joined(&patch(created, "", "new\n"), "a\n"),
            joined(&patch(gone, "a\nb", ""), "a\nb"),
            joined(&patch(moved, &old, &new), &old),
            joined(&patch(plain, open, &new), open),
            joined(&[binary, &patch(plain, &old, &new)].concat(), &old),
        ]
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "diff --git a/a.py b/a.py\n",
            "--- a/a.py\n+++ b/a.py\n",
            "--- /dev/null\n",
            "+++ /dev/null\n",
            "@@ -1,3 +1,3 @@\n",
            "@@ -0,0 +1 @@\n",
            "@@ -1 +0,0 @@\n",
            "@@ -4294967295,4294967295 +4294967295,4294967295 @@\n",
            "rename from ",
            "rename to ",
            "new file mode 100644\n",
            "deleted file mode 100644\n",
            "similarity index 100%\n",
            "index 1234567..89abcde 100644\n",
            "GIT binary patch\n",
            "\\ No newline at end of file\n",
            "\"a/\\303\\266\"",
            "../",
            ".git/",
            "/etc/passwd",
            "\n\0\n",
            "\r\n",
            "+",
            "-",
            " ",
            "line 5\n",
            "é",
        ]
    }

    fn run(&mut self, input: &[u8]) -> CaseOutcome {
        let mut outcome = CaseOutcome::default();
        let (patch, text) = split(input);
        let Some(patch) = outcome.say_result("patch", Patch::parse(&patch)) else {
            return outcome;
        };
        let again = Patch::parse(&patch.to_string()).expect("a patch that was read and written can be read");
        assert_eq!(again.files.len(), patch.files.len());
        assert!(again == patch, "a patch that is written and read is another one");
        outcome.say_count("files", patch.files.len());
        outcome.say_count("hunks", patch.hunk_count() as usize);
        let first = Selection::Hunks {
            numbers: BTreeSet::from([HunkNumber(1)]),
        };
        for selection in [first, Selection::All] {
            let chosen = patch.select(&selection);
            self.ground.write(&text);
            let Some(found) = outcome.say_result("conflicts", conflicts(&self.ground.repository, &chosen)) else {
                continue;
            };
            for conflict in &found {
                outcome.say(conflict.to_string());
            }
            let planned = plan_worktree(&self.ground.repository, &patch, &selection);
            let Some(planned) = outcome.say_result("planned", planned) else {
                continue;
            };
            // Carrying a patch out is left to the target of whole repositories: it costs a flush of the disk.
            outcome.say(format!("{:?}", std::mem::discriminant(planned.applied())));
        }
        outcome
    }
}

/// Two texts; their difference leads from one to the other.
pub(super) struct DiffTarget {
    ground: Ground,
}

impl DiffTarget {
    pub(super) fn open() -> Result<Self> {
        Ok(Self {
            ground: Ground::open()?,
        })
    }
}

impl FuzzTarget for DiffTarget {
    fn seeds(&mut self) -> Vec<Vec<u8>> {
        let old = numbered(30);
        let new = old.replace("line 5\n", "five\n").replace("line 25\n", "");
        vec![
            joined(&old, &new),
            joined(&old.replace('\n', "\r\n"), &new.replace('\n', "\r\n")),
            joined("a\nb\na\nb\na\n", "b\na\nb\na\nb"),
            joined("", "a\n"),
            joined("a", "a\n"),
        ]
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "\n\0\n",
            "\n",
            "\r\n",
            "\r",
            "a\n",
            "b\n",
            "}\n",
            "line 5\n",
            "\\ No newline at end of file",
            "@@ ",
            "\n@@ ",
            "é",
            "\u{0}",
        ]
    }

    fn run(&mut self, input: &[u8]) -> CaseOutcome {
        let mut outcome = CaseOutcome::default();
        let (old, new) = split(input);
        let DiffStat { added, deleted } = diff_stat(&old, &new);
        outcome.say_count("added", added as usize);
        outcome.say_count("deleted", deleted as usize);
        let hunks = text_diff(&old, &new, 3);
        if hunks.is_empty() {
            // Git sees no lines in what it takes for binary.
            assert!(
                old == new || old.contains('\0') || new.contains('\0'),
                "no difference between two texts"
            );
            return outcome;
        }
        if !old.is_empty() {
            outcome.say_count("edits", edits_between(&old, &new).len());
        }
        let patch = format!("diff --git a/{FILE} b/{FILE}\n--- a/{FILE}\n+++ b/{FILE}\n{hunks}");
        let patch = Patch::parse(&patch).expect("our own difference is a patch");
        outcome.say_count("hunks", patch.hunk_count() as usize);
        self.ground.write(&old);
        let planned = plan_worktree(&self.ground.repository, &patch, &Selection::All)
            .expect("a difference can be placed in the text that it begins with");
        let applied = planned.carry_out().expect("our own file can be written");
        let file = self.ground.fixture.root().join(FILE);
        let written = fs::read(&file).expect("our own file can be read");
        assert!(written == new.as_bytes(), "a placed difference led to another text");
        undo(&self.ground.repository, &applied).expect("what was placed can be taken back");
        let written = fs::read(&file).expect("our own file can be read");
        assert!(written == old.as_bytes(), "what was taken back is another text");
        outcome
    }
}
