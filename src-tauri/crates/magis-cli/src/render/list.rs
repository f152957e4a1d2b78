//! Runs in a list.

use super::{Paint, Table, Tone, day_and_minute, one_line, span, standing};
use magis_engine::records::{RunEntry, RunOrigin};
use std::time::Duration;

/// Returns one line a run; the number of the run begins it.
pub fn table_of_runs(runs: &[RunEntry], paint: Paint, width: usize) -> String {
    let mut table = Table::new(&["RUN", "STATE", ">PATCH", "STARTED", ">TIME", "REPOSITORY", "ISSUE"]);
    for run in runs {
        let (tone, state) = standing(run);
        let patch = match run.size.files {
            0 => "-".to_owned(),
            _ => format!("+{} -{}", run.size.added, run.size.deleted),
        };
        let repository = match run.origin {
            RunOrigin::Local => one_line(&run.repository, 24),
            RunOrigin::Imported => format!("{} (imported)", one_line(&run.repository, 24)),
        };
        table
            .row()
            .toned(Tone::Strong, run.id.to_string())
            .toned(tone, state)
            .cell(patch)
            .cell(day_and_minute(run.started_at.unwrap_or(run.created_at)))
            .cell(took(run).map_or_else(|| "-".to_owned(), span))
            .cell(repository)
            .last(one_line(&run.title, 200));
    }
    table.lines(paint, width).join("\n") + "\n"
}

fn took(run: &RunEntry) -> Option<Duration> {
    let ms = run.ended_at?.checked_sub(run.started_at?)?;
    Some(Duration::from_millis(ms.max(0).cast_unsigned()))
}
