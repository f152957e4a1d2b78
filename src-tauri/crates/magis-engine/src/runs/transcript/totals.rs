//! What a run's calls came to.

use super::{Section, Table, Tone, span, thousands};
use magis_store::{CallOrigin, CallTotals};
use std::time::Duration;

/// Calls, tokens and time by agent and step, with their sum.
pub fn totals_table(page: &mut Section, totals: &[CallTotals]) {
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

/// Returns a length of time, with tenths of a second where it is short.
pub fn seconds(ms: u64) -> String {
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
