//! Which lines of a definition surprise the model most, reading it with the issue in mind: code with a fault is less natural than code without
//! (Ray and others, 2016), and one pass over it tells.

use super::reading::{LONGEST, missed_by_any, spans};
use crate::calls::{AskError, CallContext, PromptVariant};
use crate::custodian::relevance::descending;
use crate::runs::roles::region::fence;
use crate::runs::workspace::{Workspace, lines};
use magis_core::LineSpan;
use magis_flow::{Run, TaskState};
use magis_prompts::{CodeToRead, Template};
use magis_syntax::{Symbol, code_lines, outline};

/// Lines of a definition that are told: of 20 wrong lines 11 were the most surprising one of their function, 14 among the first two.
pub(super) const LINES: usize = 2;
/// The same where one place is all there is: 16 were among the first five.
pub(super) const MOST_LINES: usize = 5;

/// Returns whether lines are chosen like this: where several answers fill in what was left out, one line each.
pub(super) fn is_asked(work: &Workspace, run: &Run) -> bool {
    run.runs_code() && run.request().attempts_per_round > 1 && work.calls.card().fills_in
}

/// Returns the lines of a definition that surprise most, the first the most, [`MOST_LINES`] at the most; none where the model gave no usable answer.
pub(super) async fn lines_of(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    about: &CallContext,
    text: &str,
    symbol: &Symbol,
    shown: LineSpan,
) -> Result<Vec<LineSpan>, AskError> {
    let path = &state.task.path;
    let missed = missed_by_any(run.checks(), path, symbol.span);
    // The line that names a definition says what it is, and surprises whoever has not seen it. One that was never run shows no fault.
    let is_asked = |line: &u32| *line != symbol.body_first && !missed.contains(line);
    let code: Vec<u32> = code_lines(path, text, shown).into_iter().filter(is_asked).collect();
    // Of a long definition its head and docstring are left out, which may be all that would be read else.
    let pieces = if shown.lines() > LONGEST {
        spans(run.checks(), path, text, &outline(path, text), &[symbol])
    } else {
        vec![shown]
    };
    let is_read = |line: &u32| pieces.iter().any(|piece| piece.contains(*line));
    let code: Vec<u32> = code.into_iter().filter(is_read).collect();
    if code.len() <= 1 {
        return Ok(code
            .into_iter()
            .filter_map(|line| LineSpan::new(line, line).ok())
            .collect());
    }
    let prompt = CodeToRead {
        head: work.head(run),
        path: path.to_string(),
        task: state.task.description.clone(),
        symbol: symbol.qualified_name.clone(),
        fence: fence(path).to_owned(),
        begin: String::new(),
    };
    let mut surprises = vec![f64::NEG_INFINITY; code.len()];
    for piece in pieces {
        let asked = [PromptVariant::whole(prompt.clone())];
        // The line before the first one ends with the text's first character.
        let read_text = format!("\n{}", lines(text, piece).trim_end());
        let found = match work.calls.score_lines(about, asked, &read_text).await {
            Ok(found) => found,
            Err(AskError::Unusable(why)) => {
                work.calls.replaced(Template::Surprisal, why, "the lines that P9 names");
                return Ok(Vec::new());
            }
            Err(fatal) => return Err(fatal),
        };
        for (line, surprise) in code
            .iter()
            .zip(&mut surprises)
            .filter(|(line, _)| piece.contains(**line))
        {
            let at = (line - piece.first() + 1) as usize;
            *surprise = -found.get(at).copied().unwrap_or(0.0);
        }
    }
    let first = descending(&surprises).into_iter().take(MOST_LINES);
    Ok(first.filter_map(|at| LineSpan::new(code[at], code[at]).ok()).collect())
}
