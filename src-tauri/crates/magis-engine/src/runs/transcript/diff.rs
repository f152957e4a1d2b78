//! Patches and edits as people read them.

use super::{Paint, Section, Tone, clean};
use magis_core::{Edit, FileChange};
use magis_repo::{FilePatch, FilePatchKind, Patch, text_diff};

/// Returns a patch with its hunks numbered, for a person's eyes.
pub fn shown_patch(patch: &Patch, paint: Paint, width: usize) -> String {
    let mut page = Section::new(paint, width);
    for file in &patch.files {
        page.gap();
        let title = paint.tone(Tone::Strong, &clean(&format!("{} {}", kind(file), file.path)));
        page.line(&title);
        for hunk in &file.hunks {
            let place = format!(
                "@@ -{},{} +{},{} @@{}",
                hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines, hunk.section
            );
            let number = format!("hunk {}", hunk.number.0);
            if hunk.lines.is_empty() {
                let what = if file.is_binary() {
                    "binary content"
                } else {
                    "no lines change"
                };
                page.line(&format!("{}  {what}", paint.tone(Tone::Note, &number)));
                continue;
            }
            page.line(&format!(
                "{}  {}",
                paint.tone(Tone::Note, &number),
                paint.tone(Tone::Place, &clean(&place))
            ));
            for line in &hunk.lines {
                page.line(&diff_line(paint, line));
            }
        }
    }
    page.into_text()
}

/// `1-3, 5`: the hunks of a file.
pub fn hunk_ranges(file: &FilePatch) -> String {
    match (file.hunks.first(), file.hunks.last()) {
        (Some(first), Some(last)) if first.number != last.number => {
            format!("hunks {}-{}", first.number.0, last.number.0)
        }
        (Some(only), _) => format!("hunk {}", only.number.0),
        (None, _) => "no hunk".to_owned(),
    }
}

/// Returns what happens to a file, in a word.
pub fn kind(file: &FilePatch) -> String {
    match &file.kind {
        FilePatchKind::Modify => "modify".to_owned(),
        FilePatchKind::Create => "create".to_owned(),
        FilePatchKind::Delete => "delete".to_owned(),
        FilePatchKind::Rename { from } => format!("rename {from} to"),
    }
}

/// A change as a diff where the base text is known, else as the new lines for each interval.
pub fn change(page: &mut Section, indent: usize, change: &FileChange, base: Option<&str>) {
    let paint = page.paint;
    let margin = " ".repeat(indent);
    match change {
        FileChange::Delete => page.line(&format!("{margin}{}", paint.tone(Tone::Bad, "the file is deleted"))),
        FileChange::Create { content } => {
            page.line(&format!("{margin}{}", paint.tone(Tone::Place, "a new file")));
            for line in content.lines() {
                page.line(&format!("{margin}{}", diff_line(paint, &format!("+{line}"))));
            }
        }
        FileChange::Modify { edits } => edits_as_diff(page, &margin, edits, base),
        FileChange::Rename { to, edits } => {
            page.line(&format!(
                "{margin}{}",
                paint.tone(Tone::Place, &clean(&format!("moved to {to}")))
            ));
            edits_as_diff(page, &margin, edits, base);
        }
    }
}

fn edits_as_diff(page: &mut Section, margin: &str, edits: &[Edit], base: Option<&str>) {
    let paint = page.paint;
    let diff = base.and_then(|base| Some(text_diff(base, &Edit::splice(base, edits).ok()?, 3)));
    if let Some(diff) = diff {
        for line in diff.lines() {
            page.line(&format!("{margin}{}", diff_line(paint, line)));
        }
        return;
    }
    for edit in edits {
        let place = match (edit.text.is_empty(), edit.span.lines()) {
            (true, 1) => format!("@@ line {} goes @@", edit.span),
            (true, _) => format!("@@ lines {} go @@", edit.span),
            (false, 1) => format!("@@ line {} becomes @@", edit.span),
            (false, _) => format!("@@ lines {} become @@", edit.span),
        };
        page.line(&format!("{margin}{}", paint.tone(Tone::Place, &place)));
        for line in edit.text.lines() {
            page.line(&format!("{margin}{}", diff_line(paint, &format!("+{line}"))));
        }
    }
}

fn diff_line(paint: Paint, line: &str) -> String {
    let line = clean(line);
    match line.as_bytes().first() {
        Some(b'+') => paint.tone(Tone::Good, &line),
        Some(b'-') => paint.tone(Tone::Bad, &line),
        Some(b'@') => paint.tone(Tone::Place, &line),
        Some(b'\\') => paint.tone(Tone::Faint, &line),
        Some(_) | None => line.into_owned(),
    }
}
