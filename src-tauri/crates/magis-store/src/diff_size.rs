//! How large a patch is.

use serde::{Deserialize, Serialize};

/// The size of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DiffSize {
    /// Lines added.
    pub added: u32,
    /// Lines deleted.
    pub deleted: u32,
    pub files: u32,
}

impl DiffSize {
    /// Counts what a diff in git's form adds, deletes and touches. Hunk headers say how many lines follow, so that a
    /// changed line that looks like a header is counted as a line.
    pub fn of(patch: &str) -> Self {
        let mut size = Self::default();
        let (mut old, mut new) = (0_u32, 0_u32);
        for line in patch.lines() {
            if old > 0 || new > 0 {
                match line.as_bytes().first() {
                    Some(b'+') => (size.added, new) = (size.added + 1, new.saturating_sub(1)),
                    Some(b'-') => (size.deleted, old) = (size.deleted + 1, old.saturating_sub(1)),
                    Some(b'\\') => {}
                    Some(_) | None => (old, new) = (old.saturating_sub(1), new.saturating_sub(1)),
                }
            } else if line.starts_with("diff --git ") {
                size.files += 1;
            } else if let Some(header) = line.strip_prefix("@@ -") {
                (old, new) = hunk_lengths(header).unwrap_or_default();
            }
        }
        size
    }
}

/// Returns the two lengths in `12,3 +14 @@ ...`; a missing one is 1.
fn hunk_lengths(header: &str) -> Option<(u32, u32)> {
    let (old, rest) = header.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let length = |range: &str| range.split_once(',').map_or(Some(1), |(_, length)| length.parse().ok());
    Some((length(old)?, length(new)?))
}
