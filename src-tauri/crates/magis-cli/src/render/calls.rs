//! The model calls of a run.

use super::{Paint, Table, Tone, seconds, thousands};
use magis_engine::records::{Call, CallOrigin};

/// Returns one line a call.
pub fn calls_table(calls: &[Call], paint: Paint, width: usize) -> String {
    let mut table = Table::new(&[
        ">#", "STEP", "AGENT", "TASK", ">READ", ">REUSED", ">WRITTEN", ">TIME", "END", "ABOUT",
    ]);
    for (index, call) in calls.iter().enumerate() {
        let record = &call.record;
        let task = match (record.task, record.round) {
            (Some(task), Some(round)) => format!("{task} round {round}"),
            (Some(task), None) => task.to_string(),
            (None, _) => String::new(),
        };
        let mut about = record.path.as_ref().map(ToString::to_string).unwrap_or_default();
        if record.retries > 0 {
            about.push_str(&format!(" (asked again {} times)", record.retries));
        }
        if call.origin == CallOrigin::Inherited {
            about.push_str(" (made by the run before)");
        }
        let tokens = |tokens: u32| thousands(tokens.into());
        table
            .row()
            .cell((index + 1).to_string())
            .toned(Tone::Strong, &record.step)
            .cell(record.agent.name())
            .cell(task)
            .cell(tokens(record.prompt_tokens))
            .cell(tokens(record.reused_tokens))
            .cell(tokens(record.generated_tokens))
            .cell(seconds(u64::from(record.prompt_ms) + u64::from(record.generate_ms)))
            .cell(&record.finish)
            .last(about.trim_start());
    }
    table.lines(paint, width.max(120)).join("\n") + "\n"
}
