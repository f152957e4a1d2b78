//! A change as the measures see it: files, hunks, lines, functions.
//!
//! It reads patches in git's form, the references' and our own; it applies nothing to any repository.

use anyhow::Result;
use magis_core::{LineSpan, RepoPath};
use magis_repo::{FilePatch, FilePatchKind, Hunk, Patch};
use magis_syntax::{Outline, SymbolKind, outline};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A change of some files.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    patch: Patch,
}

/// How large a change is: the paper's indices of complexity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Size {
    pub files: u32,
    /// Functions and methods that hold a touched line; unknown without the base version.
    pub functions: Option<u32>,
    pub hunks: u32,
    /// Lines added.
    pub added: u32,
    /// Lines deleted.
    pub deleted: u32,
    /// The first line of a base version that is touched, 0 where none is.
    pub first_line: u32,
    /// The last line of a base version that is touched, 0 where none is.
    pub last_line: u32,
}

impl Size {
    /// Returns lines added and deleted.
    pub fn changed(&self) -> u32 {
        self.added + self.deleted
    }
}

/// What a line of a hunk does, with the numbers it has before and after.
struct Line<'p> {
    sign: char,
    text: &'p str,
    /// Its number in the base version; for an added line, that of the line before it.
    old: u32,
    /// Its number in the new version; for a deleted line, that of the line before it.
    new: u32,
}

impl Change {
    /// Reads a patch; an empty text is the change of nothing.
    pub fn parse(patch: &str) -> Result<Self> {
        if patch.trim().is_empty() {
            return Ok(Self {
                patch: Patch { files: Vec::new() },
            });
        }
        Ok(Self {
            patch: Patch::parse(patch)?,
        })
    }

    /// Returns whether the change changes nothing.
    pub fn is_empty(&self) -> bool {
        self.patch.files.is_empty()
    }

    /// Returns the files, by the name they have before (a new one: after).
    pub fn files(&self) -> BTreeSet<RepoPath> {
        self.patch.files.iter().map(|file| file.old_path().clone()).collect()
    }

    /// Returns whether it makes this file.
    pub fn creates(&self, path: &RepoPath) -> bool {
        self.patch
            .files
            .iter()
            .any(|file| file.path == *path && matches!(file.kind, FilePatchKind::Create))
    }

    /// Returns the lines of the base version that are touched: in each hunk from the first to the last. An insertion
    /// that comes first in its hunk touches the line before it; later ones touch none, as in the sets' `gold`. A new
    /// file stands there without lines.
    pub fn touched(&self) -> BTreeMap<RepoPath, Vec<LineSpan>> {
        let mut touched: BTreeMap<RepoPath, Vec<LineSpan>> = BTreeMap::new();
        for file in &self.patch.files {
            let spans = touched.entry(file.old_path().clone()).or_default();
            if !matches!(file.kind, FilePatchKind::Create) {
                spans.extend(file.hunks.iter().filter_map(touched_by));
            }
        }
        touched
    }

    /// Returns how large it is. `base` gives the text of a file before the change, where it is available.
    pub fn size(&self, base: &dyn Fn(&RepoPath) -> Option<String>) -> Size {
        let lines = |sign: char| {
            let hunks = self.patch.files.iter().flat_map(|file| &file.hunks);
            hunks
                .flat_map(|hunk| &hunk.lines)
                .filter(|line| line.starts_with(sign))
                .count() as u32
        };
        let spans: Vec<LineSpan> = self.touched().into_values().flatten().collect();
        Size {
            files: self.patch.files.len() as u32,
            functions: self.patch.files.iter().map(|file| functions(file, base)).sum(),
            hunks: self.patch.files.iter().map(|file| file.hunks.len() as u32).sum(),
            added: lines('+'),
            deleted: lines('-'),
            first_line: spans.iter().map(|span| span.first()).min().unwrap_or(0),
            last_line: spans.iter().map(|span| span.last()).max().unwrap_or(0),
        }
    }

    /// Returns the text of a file after the change; none where the change does not fit `base`, or the file goes.
    pub fn after(&self, path: &RepoPath, base: &str) -> Option<String> {
        let file = self.patch.files.iter().find(|file| file.old_path() == path)?;
        match file.kind {
            FilePatchKind::Delete => None,
            FilePatchKind::Create | FilePatchKind::Modify | FilePatchKind::Rename { .. } => after(file, base),
        }
    }

    /// Returns whether it gives a file this text, but for blanks at the ends of lines.
    pub fn gives(&self, path: &RepoPath, base: &str, text: &str) -> bool {
        let after = self.after(path, base);
        after.is_some_and(|own| own.lines().map(str::trim_end).eq(text.lines().map(str::trim_end)))
    }
}

fn touched_by(hunk: &Hunk) -> Option<LineSpan> {
    let first = lines(hunk).find(|line| line.sign != ' ')?.old.max(1);
    let last = lines(hunk)
        .filter(|line| line.sign == '-')
        .map(|line| line.old)
        .max()
        .unwrap_or(first);
    LineSpan::new(first, last.max(first)).ok()
}

fn lines(hunk: &Hunk) -> impl Iterator<Item = Line<'_>> {
    // The numbers of the lines before the hunk; a hunk without lines on a side names the line before it.
    let mut old = if hunk.old_lines == 0 {
        hunk.old_start
    } else {
        hunk.old_start.saturating_sub(1)
    };
    let mut new = if hunk.new_lines == 0 {
        hunk.new_start
    } else {
        hunk.new_start.saturating_sub(1)
    };
    hunk.lines.iter().filter_map(move |line| {
        let sign = line.chars().next().unwrap_or(' ');
        if sign == '\\' {
            return None;
        }
        old += u32::from(sign != '+');
        new += u32::from(sign != '-');
        Some(Line {
            sign,
            text: line.get(1..).unwrap_or(""),
            old,
            new,
        })
    })
}

/// Returns the functions and methods, innermost ones, that hold a deleted line before or an added line after; code
/// outside of any counts nothing.
fn functions(file: &FilePatch, base: &dyn Fn(&RepoPath) -> Option<String>) -> Option<u32> {
    let before = if matches!(file.kind, FilePatchKind::Create) {
        String::new()
    } else {
        base(file.old_path())?
    };
    let after = if matches!(file.kind, FilePatchKind::Delete) {
        String::new()
    } else {
        after(file, &before)?
    };
    let (old, new) = (outline(file.old_path(), &before), outline(&file.path, &after));
    let mut touched = BTreeSet::new();
    for line in file.hunks.iter().flat_map(lines) {
        match line.sign {
            '-' => touched.extend(function_at(&old, line.old)),
            '+' if !line.text.trim().is_empty() => touched.extend(function_at(&new, line.new)),
            _ => {}
        }
    }
    Some(touched.len() as u32)
}

fn function_at(outline: &Outline, line: u32) -> Option<String> {
    let function = |kind| matches!(kind, SymbolKind::Function | SymbolKind::Method);
    let inside = outline
        .symbols
        .iter()
        .filter(|symbol| function(symbol.kind) && symbol.span.contains(line));
    inside
        .max_by_key(|symbol| symbol.depth)
        .map(|symbol| symbol.qualified_name.clone())
}

fn after(file: &FilePatch, base: &str) -> Option<String> {
    let old: Vec<&str> = base.split_inclusive('\n').collect();
    let mut text = String::with_capacity(base.len());
    let mut next = 0_usize;
    for hunk in &file.hunks {
        for line in lines(hunk) {
            let at = line.old as usize;
            match line.sign {
                '+' => {
                    text.extend(old.get(next..at)?.iter().copied());
                    next = next.max(at);
                    text.push_str(line.text);
                    text.push('\n');
                }
                _ => {
                    let whole = *old.get(at.checked_sub(1)?)?;
                    if whole.trim_end_matches(['\r', '\n']) != line.text.trim_end_matches('\r') {
                        return None;
                    }
                    text.extend(old.get(next..at - 1)?.iter().copied());
                    next = at;
                    if line.sign == ' ' {
                        text.push_str(whole);
                    }
                }
            }
        }
    }
    text.extend(old.get(next..)?.iter().copied());
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "import os\n\n\ndef one():\n    a = 1\n    return a\n\n\ndef two():\n    return 2\n";
    const PATCH: &str = "\
diff --git a/m.py b/m.py
--- a/m.py
+++ b/m.py
@@ -3,4 +3,4 @@
 
 def one():
-    a = 1
+    a = 2
     return a
@@ -9,2 +9,3 @@ def one():
 def two():
+    b = 3
     return 2
diff --git a/new.py b/new.py
new file mode 100644
--- /dev/null
+++ b/new.py
@@ -0,0 +1,2 @@
+def three():
+    return 3
";

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).unwrap()
    }

    fn span(first: u32, last: u32) -> LineSpan {
        LineSpan::new(first, last).unwrap()
    }

    #[test]
    fn a_hunk_touches_its_first_to_its_last_line_and_an_insertion_the_line_before() {
        let twice = "diff --git a/m b/m\n--- a/m\n+++ b/m\n@@ -7,3 +7,5 @@\n a\n+x\n b\n+y\n c\n";
        assert_eq!(Change::parse(twice).unwrap().touched()[&path("m")], [span(7, 7)]);
        let change = Change::parse(PATCH).unwrap();
        let touched = change.touched();
        assert_eq!(touched[&path("m.py")], [span(5, 5), span(9, 9)]);
        assert_eq!(touched[&path("new.py")], []);
        assert!(change.creates(&path("new.py")) && !change.creates(&path("m.py")));
    }

    #[test]
    fn size_counts_files_functions_hunks_and_lines() {
        let change = Change::parse(PATCH).unwrap();
        let base = |path: &RepoPath| (path.as_str() == "m.py").then(|| BASE.to_owned());
        let size = change.size(&base);
        let expected = Size {
            files: 2,
            functions: Some(3),
            hunks: 3,
            added: 4,
            deleted: 1,
            first_line: 5,
            last_line: 9,
        };
        assert_eq!((size, size.changed()), (expected, 5));
        assert_eq!(change.size(&|_| None).functions, None);
    }

    #[test]
    fn the_text_after_a_change_is_that_of_git() {
        let change = Change::parse(PATCH).unwrap();
        let expected = BASE
            .replace("a = 1", "a = 2")
            .replace("def two():\n", "def two():\n    b = 3\n");
        assert_eq!(change.after(&path("m.py"), BASE), Some(expected));
        assert_eq!(change.after(&path("m.py"), "something else\n"), None);
    }

    #[test]
    fn a_text_is_that_of_a_change_whatever_blanks_its_lines_end_with() {
        let (change, file) = (Change::parse(PATCH).unwrap(), path("m.py"));
        let right = change.after(&file, BASE).unwrap();
        assert!(change.gives(&file, BASE, &right));
        assert!(change.gives(&file, BASE, &right.replace("a = 2\n", "a = 2  \r\n")));
        assert!(!change.gives(&file, BASE, &right.replace("    a = 2", "  a = 2")));
        assert!(!change.gives(&file, BASE, BASE));
        assert!(!change.gives(&path("other.py"), BASE, BASE));
        assert!(!change.gives(&file, "something else\n", &right));
        assert!(change.gives(&path("new.py"), "", "def three():\n    return 3\n"));
    }

    #[test]
    fn an_empty_patch_changes_nothing() {
        assert!(Change::parse(" \n").unwrap().is_empty());
        assert!(Change::parse("no patch at all").is_err());
    }
}
