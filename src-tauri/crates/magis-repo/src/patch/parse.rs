//! Reading a patch in git's form. Only what this program's own patches hold is read: moves, new and deleted files and
//! changed lines of ordinary files; copies, links, submodules and changes of modes are refused by name, not dropped.

use super::{FilePatch, FilePatchKind, Hunk, HunkNumber, Patch, PatchError};
use magis_core::RepoPath;
use std::iter::Peekable;

pub(super) fn patch(text: &str) -> Result<Patch, PatchError> {
    let numbered = text.strip_suffix('\n').unwrap_or(text).split('\n').zip(1..);
    let mut lines = Lines {
        lines: numbered.peekable(),
        last: 0,
    };
    let mut files = Vec::new();
    let mut number = 0;
    if text.is_empty() {
        return Ok(Patch { files });
    }
    while let Some(first) = lines.next() {
        let paths = first
            .strip_prefix("diff --git ")
            .ok_or_else(|| lines.error("a 'diff --git' line is missing"))?;
        let mut file = header(&mut lines, first, paths)?;
        if lines.peek().is_some_and(|line| line == "GIT binary patch") {
            while let Some(line) = lines.next_unless(|line| line.starts_with("diff --git ")) {
                file.binary.push(line.to_owned());
            }
        }
        while let Some(line) = lines.next_unless(|line| !line.starts_with("@@ ")) {
            number += 1;
            file.hunks.push(hunk(&mut lines, line, HunkNumber(number))?);
        }
        if file.hunks.is_empty() {
            number += 1;
            file.hunks.push(Hunk {
                number: HunkNumber(number),
                old_start: 0,
                old_lines: 0,
                new_start: 0,
                new_lines: 0,
                section: String::new(),
                lines: Vec::new(),
            });
        }
        files.push(file);
    }
    Ok(Patch { files })
}

/// The lines of a text with the number of the last one read.
struct Lines<'t, I: Iterator<Item = (&'t str, u32)>> {
    lines: Peekable<I>,
    last: u32,
}

impl<'t, I: Iterator<Item = (&'t str, u32)>> Lines<'t, I> {
    fn next(&mut self) -> Option<&'t str> {
        let (line, number) = self.lines.next()?;
        self.last = number;
        Some(line)
    }

    fn peek(&mut self) -> Option<&'t str> {
        self.lines.peek().map(|(line, _)| *line)
    }

    fn next_unless(&mut self, stop: impl Fn(&str) -> bool) -> Option<&'t str> {
        if stop(self.peek()?) { None } else { self.next() }
    }

    fn error(&self, what: impl Into<String>) -> PatchError {
        PatchError {
            line: self.last,
            what: what.into(),
        }
    }
}

/// Returns everything up to the first hunk.
fn header<'t, I: Iterator<Item = (&'t str, u32)>>(
    lines: &mut Lines<'t, I>,
    first: &str,
    paths: &str,
) -> Result<FilePatch, PatchError> {
    let (mut kind, mut old_blob, mut path, mut from) = (FilePatchKind::Modify, String::new(), None, None);
    let mut header = vec![first.to_owned()];
    let body = |line: &str| {
        ["@@ ", "diff --git ", "GIT binary patch"]
            .iter()
            .any(|start| line.starts_with(start))
    };
    while let Some(line) = lines.next_unless(body) {
        header.push(line.to_owned());
        if let Some(mode) = line.strip_prefix("new file mode ") {
            kind = FilePatchKind::Create;
            if !matches!(mode, "100644" | "100755") {
                return Err(lines.error(format!("a new file of mode {mode} is not supported")));
            }
        } else if let Some(mode) = line.strip_prefix("deleted file mode ") {
            kind = FilePatchKind::Delete;
            if !is_ordinary(mode) {
                return Err(lines.error(format!("a deleted file of mode {mode} is not supported")));
            }
        } else if let Some(ids) = line.strip_prefix("index ") {
            if let Some((_, mode)) = ids.split_once(' ').filter(|(_, mode)| !is_ordinary(mode)) {
                return Err(lines.error(format!("a file of mode {mode} is not supported")));
            }
            let old = ids.split("..").next().unwrap_or_default();
            if !old.chars().all(|digit| digit == '0') {
                old.clone_into(&mut old_blob);
            }
        } else if let Some(name) = line.strip_prefix("rename from ") {
            from = Some(plain_path(lines, name)?);
        } else if let Some(name) = line.strip_prefix("rename to ") {
            path = Some(plain_path(lines, name)?);
        } else if let Some(name) = line.strip_prefix("--- ").filter(|name| *name != "/dev/null") {
            path = path.or(Some(prefixed_path(lines, name, "a/")?));
        } else if let Some(name) = line.strip_prefix("+++ ").filter(|name| *name != "/dev/null") {
            path = Some(prefixed_path(lines, name, "b/")?);
        } else if ["old mode ", "new mode ", "copy from ", "Binary files "]
            .iter()
            .any(|start| line.starts_with(start))
        {
            return Err(lines.error(format!("'{line}' is not supported")));
        }
    }
    if let Some(from) = from {
        kind = FilePatchKind::Rename { from };
    }
    let path = match path {
        Some(path) => path,
        None => same_path(lines, paths)?,
    };
    Ok(FilePatch {
        path,
        kind,
        old_blob,
        hunks: Vec::new(),
        header,
        binary: Vec::new(),
    })
}

/// Returns whether a file of this mode is neither a link nor a submodule.
fn is_ordinary(mode: &str) -> bool {
    mode.starts_with("100")
}

fn hunk<'t, I: Iterator<Item = (&'t str, u32)>>(
    lines: &mut Lines<'t, I>,
    line: &str,
    number: HunkNumber,
) -> Result<Hunk, PatchError> {
    let parts = || {
        let (ranges, section) = line.strip_prefix("@@ -")?.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        Some((range(old)?, range(new)?, section))
    };
    let ((old_start, old_lines), (new_start, new_lines), section) =
        parts().ok_or_else(|| lines.error("the '@@' line is malformed"))?;
    let mut hunk = Hunk {
        number,
        old_start,
        old_lines,
        new_start,
        new_lines,
        section: section.to_owned(),
        lines: Vec::new(),
    };
    let (mut old, mut new) = (0, 0);
    while old < old_lines || new < new_lines || lines.peek().is_some_and(|line| line.starts_with('\\')) {
        let line = lines.next().ok_or_else(|| lines.error("the hunk ends too early"))?;
        match line.as_bytes().first() {
            Some(b' ') => (old, new) = (old + 1, new + 1),
            Some(b'-') => old += 1,
            Some(b'+') => new += 1,
            Some(b'\\') => {}
            _ => return Err(lines.error("a line of a hunk begins with ' ', '-', '+' or '\\'")),
        }
        hunk.lines.push(line.to_owned());
    }
    if (old, new) == (old_lines, new_lines) {
        Ok(hunk)
    } else {
        Err(lines.error("the hunk has other lines than its '@@' line says"))
    }
}

fn range(text: &str) -> Option<(u32, u32)> {
    match text.split_once(',') {
        Some((start, lines)) => Some((start.parse().ok()?, lines.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// Returns the path of a `diff --git` line that has it twice.
fn same_path<'t, I: Iterator<Item = (&'t str, u32)>>(
    lines: &Lines<'t, I>,
    paths: &str,
) -> Result<RepoPath, PatchError> {
    let name = if paths.starts_with('"') {
        paths.find("\" ").map(|end| &paths[..=end])
    } else {
        paths.get(..paths.len().saturating_sub(1) / 2)
    };
    prefixed_path(
        lines,
        name.ok_or_else(|| lines.error("the paths cannot be read"))?,
        "a/",
    )
}

fn prefixed_path<'t, I: Iterator<Item = (&'t str, u32)>>(
    lines: &Lines<'t, I>,
    name: &str,
    prefix: &str,
) -> Result<RepoPath, PatchError> {
    let name = unquoted(name.strip_suffix('\t').unwrap_or(name)).ok_or_else(|| lines.error("the path is malformed"))?;
    let name = name
        .strip_prefix(prefix)
        .ok_or_else(|| lines.error(format!("'{name}' does not begin with {prefix}")))?;
    RepoPath::new(name).map_err(|error| lines.error(error.to_string()))
}

fn plain_path<'t, I: Iterator<Item = (&'t str, u32)>>(
    lines: &Lines<'t, I>,
    name: &str,
) -> Result<RepoPath, PatchError> {
    let name = unquoted(name).ok_or_else(|| lines.error("the path is malformed"))?;
    RepoPath::new(name).map_err(|error| lines.error(error.to_string()))
}

/// Takes off git's quotes: `"a/gr\303\266\303\237e"`.
fn unquoted(name: &str) -> Option<String> {
    let Some(inner) = name.strip_prefix('"') else {
        return Some(name.to_owned());
    };
    let mut rest = inner.strip_suffix('"')?.bytes();
    let mut bytes = Vec::new();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next()? {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            digit @ b'0'..=b'3' => {
                let octal = [digit, rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&octal).ok()?, 8).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_about_an_ordinary_file_is_refused_by_name() {
        let check = |header: &str, expected: &str| {
            let text = format!("diff --git a/f b/f\n{header}\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n");
            assert_eq!(
                patch(&text).map_err(|error| error.what).err().as_deref(),
                Some(expected)
            );
        };
        check(
            "index 1234567..89abcde 120000",
            "a file of mode 120000 is not supported",
        );
        check(
            "index 1234567..89abcde 160000",
            "a file of mode 160000 is not supported",
        );
        check(
            "deleted file mode 120000",
            "a deleted file of mode 120000 is not supported",
        );
        check("new file mode 120000", "a new file of mode 120000 is not supported");
        check("old mode 100644", "'old mode 100644' is not supported");
    }
}
