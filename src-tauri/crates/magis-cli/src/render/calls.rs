//! What the model was asked and what it cost.

use super::{Page, Paint, Table, Tone, span, thousands};
use magis_engine::floors::store::{Call, CallOrigin, CallTotals};
use std::time::Duration;

/// One line a call.
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

/// Calls, tokens and time by agent and step, with their sum.
pub fn totals_table(page: &mut Page, totals: &[CallTotals]) {
    let mut table = Table::new(&[
        "AGENT", "STEP", ">CALLS", ">READ", ">REUSED", ">WRITTEN", ">TIME", "TOKENS/S",
    ]);
    let mut sum = (0, 0, 0, 0, 0, 0);
    for of in totals {
        let calls = match of.origin {
            CallOrigin::Own => of.calls.to_string(),
            CallOrigin::Inherited => format!("({})", of.calls),
        };
        let row = table.row().cell(of.agent.name()).cell(&of.step).cell(calls);
        row.cell(thousands(of.prompt_tokens))
            .cell(thousands(of.reused_tokens))
            .cell(thousands(of.generated_tokens))
            .cell(seconds(of.prompt_ms + of.generate_ms))
            .last(speed(of.generated_tokens, of.generate_ms));
        if of.origin == CallOrigin::Own {
            sum.0 += of.calls;
            sum.1 += of.prompt_tokens;
            sum.2 += of.reused_tokens;
            sum.3 += of.generated_tokens;
            sum.4 += of.prompt_ms;
            sum.5 += of.generate_ms;
        }
    }
    table
        .row()
        .toned(Tone::Strong, "this run")
        .cell("")
        .toned(Tone::Strong, sum.0.to_string())
        .cell(thousands(sum.1))
        .cell(thousands(sum.2))
        .cell(thousands(sum.3))
        .cell(seconds(sum.4 + sum.5))
        .last(speed(sum.3, sum.5));
    let (paint, width) = (page.paint, page.width);
    for line in table.lines(paint, width) {
        page.line(&format!("  {line}"));
    }
    if totals.iter().any(|of| of.origin == CallOrigin::Inherited) {
        page.line("  In brackets: calls of the run before, which this one shares.");
    }
}

fn seconds(ms: u64) -> String {
    if ms < 10_000 {
        format!("{:.1} s", ms as f64 / 1000.0)
    } else {
        span(Duration::from_millis(ms))
    }
}

fn speed(tokens: u64, ms: u64) -> String {
    if ms == 0 || tokens == 0 {
        return String::new();
    }
    format!("{:.1}", tokens as f64 * 1000.0 / ms as f64)
}
