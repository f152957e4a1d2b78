//! How likely texts are after a prompt: the prompt is computed once, the texts are branches of it, and texts that begin
//! alike share their begin.
//!
//! The likelihood of a token stands in the logits of the one before it, so the last token of a text is never computed.

use super::LlamaError;
use super::call::{Branch, EngineCall, Prefilled};
use super::core::TokenRow;
use super::native::{Output, Sequence, Token};
use super::sampler::LogSoftmax;
use super::schedule::FEW_ROWS;
use magis_llm::{LlmError, Score, ScoreReply, ScoreRequest, Usage};
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

pub(super) async fn score(call: EngineCall, request: ScoreRequest) -> Result<ScoreReply, LlamaError> {
    let texts: Vec<Vec<Token>> = request
        .continuations
        .iter()
        .map(|text| call.tokenizer.data(text))
        .collect();
    if texts.is_empty() || texts.iter().any(Vec::is_empty) {
        let reason = "there is no continuation to score, or one is empty".to_owned();
        return Err(LlmError::BadRequest { reason }.into());
    }
    let prompt: Rc<[Token]> = call.tokenizer.prompt(&request.messages, &request.answer_prefix)?.into();
    if prompt.is_empty() {
        return Err(LlmError::BadRequest {
            reason: "the prompt is empty".to_owned(),
        }
        .into());
    }
    let longest = texts.iter().map(Vec::len).max().unwrap_or(0);
    call.core().check_room(prompt.len(), longest)?;

    // Sorted, texts with a common begin are neighbours.
    let mut order: Vec<usize> = (0..texts.len()).filter(|text| texts[*text].len() > 1).collect();
    order.sort_by(|one, other| texts[*one].cmp(&texts[*other]));
    let sorted: Vec<&[Token]> = order.iter().map(|text| texts[*text].as_slice()).collect();
    let context = call.core().loaded.context as usize;
    let together = sorted.iter().map(|text| inputs(text)).sum::<usize>().min(FEW_ROWS);
    let room = (context - prompt.len()).min(together.max(longest - 1));
    let _room = call.room(prompt.len() + room).await;
    let prefilled = call.prefill(&prompt).await?;
    let softmax = LogSoftmax::new(&prefilled.logits);
    // For each text those of its tokens so far.
    let first = |text: &Vec<Token>| vec![softmax.of(&prefilled.logits, text[0])];
    let mut logprobs: Vec<Vec<f64>> = texts.iter().map(first).collect();
    let mut found: Vec<Vec<f64>> = vec![Vec::new(); sorted.len()];
    let mut time = Duration::ZERO;
    let mut next = 0;
    while next < sorted.len() {
        let most = room.clamp(1, FEW_ROWS);
        let branches = call.core().sequences().branches as usize;
        let pack = pack(&sorted, next, most, branches);
        let branches = call.branches(pack.len()).await;
        time += compare(
            &call,
            (&prefilled, prompt.len()),
            &branches,
            &sorted[pack.clone()],
            &mut found[pack.clone()],
            most,
        )
        .await?;
        next = pack.end;
    }
    for (text, found) in order.iter().zip(found) {
        logprobs[*text].extend(found);
    }
    let scores: Vec<Score> = logprobs
        .iter()
        .map(|tokens| Score {
            logprob: tokens.iter().sum(),
            tokens: tokens.len() as u32,
        })
        .collect();
    let lines = if request.by_line {
        texts
            .iter()
            .zip(&logprobs)
            .map(|(text, logprobs)| by_line(text.iter().map(|token| call.tokenizer.bytes(*token)), logprobs))
            .collect()
    } else {
        Vec::new()
    };
    let generated_tokens = scores.iter().map(|score| score.tokens).sum();
    let usage = Usage {
        generated_tokens,
        generate_ms: time.as_millis() as u64,
        ..prefilled.usage
    };
    Ok(ScoreReply { scores, lines, usage })
}

/// Adds up the log-probabilities of tokens by the line that each begins on.
fn by_line(tokens: impl Iterator<Item = Vec<u8>>, logprobs: &[f64]) -> Vec<f64> {
    let mut lines = vec![0.0];
    let mut line = 0;
    for (bytes, logprob) in tokens.zip(logprobs) {
        lines[line] += logprob;
        line += bytes.split(|byte| *byte == b'\n').count() - 1;
        lines.resize(line + 1, 0.0);
    }
    lines
}

/// Returns the texts from `first` on that fit into one step of so many rows and branches, one at least.
fn pack(sorted: &[&[Token]], first: usize, rows: usize, branches: usize) -> Range<usize> {
    let mut used = 0;
    let mut end = first;
    while end < sorted.len() && end - first < branches {
        let shared = if end > first {
            // The last token of a text has no row, not even for the text that goes on behind it.
            common(sorted[end - 1], sorted[end]).min(inputs(sorted[end - 1]))
        } else {
            0
        };
        used += inputs(sorted[end]).saturating_sub(shared);
        if used > rows && end > first {
            break;
        }
        end += 1;
    }
    first..end
}

/// Finds the log-probabilities of all but the first token of each text, each behind the prompt in a branch of its own;
/// gives how long that took.
async fn compare(
    call: &EngineCall,
    (prompt, held): (&Prefilled, usize),
    branches: &[Branch],
    texts: &[&[Token]],
    found: &mut [Vec<f64>],
    rows: usize,
) -> Result<Duration, LlamaError> {
    for branch in branches {
        branch.begin_with(prompt.sequence, held)?;
    }
    let branches: Vec<Sequence> = branches.iter().map(|branch| branch.sequence).collect();
    let mut time = Duration::ZERO;
    // One text alone may be longer than a step; several fit by their packing.
    let mut done = 0;
    let longest = texts.iter().map(|text| inputs(text)).max().unwrap_or(0);
    while done < longest {
        let window = done..if texts.len() == 1 {
            longest.min(done + rows)
        } else {
            longest
        };
        let (rows, paths) = tree(texts, &window, held, &branches);
        let mut softmaxes: Vec<Option<LogSoftmax>> = vec![None; rows.len()];
        let step = call.rows(rows).await?;
        time += step.time;
        let core = call.core();
        for ((text, path), found) in texts.iter().zip(&paths).zip(found.iter_mut()) {
            for (depth, node) in window.clone().zip(path) {
                let logits = core.logits(step.first + node)?;
                let softmax = *softmaxes[*node].get_or_insert_with(|| LogSoftmax::new(logits));
                found.push(softmax.of(logits, text[depth + 1]));
            }
        }
        done = window.end;
    }
    Ok(time)
}

/// Returns the tokens of a window of sorted texts as a tree: one row a node. Also the nodes of each text from the root
/// on. Each text has its own branch.
fn tree(
    texts: &[&[Token]],
    window: &Range<usize>,
    held: usize,
    branches: &[Sequence],
) -> (Vec<TokenRow>, Vec<Vec<usize>>) {
    let mut rows: Vec<TokenRow> = Vec::new();
    let mut paths: Vec<Vec<usize>> = Vec::with_capacity(texts.len());
    for (number, text) in texts.iter().enumerate() {
        let end = inputs(text).min(window.end);
        let shared = if number > 0 { common(texts[number - 1], text) } else { 0 };
        let mut path: Vec<usize> = match paths.last() {
            Some(previous) => previous[..shared.saturating_sub(window.start).min(previous.len())].to_vec(),
            None => Vec::new(),
        };
        path.truncate(end.saturating_sub(window.start));
        for depth in window.start + path.len()..end {
            let with = texts[number..]
                .iter()
                .take_while(|other| common(text, other) > depth)
                .count();
            let through = texts[number..number + with]
                .iter()
                .enumerate()
                .filter(|(_, other)| inputs(other) > depth);
            path.push(rows.len());
            rows.push(TokenRow {
                token: text[depth],
                position: held + depth,
                sequences: through.map(|(ahead, _)| branches[number + ahead]).collect(),
                output: Output::Logits,
            });
        }
        paths.push(path);
    }
    (rows, paths)
}

/// Returns tokens that have to be computed: all but the last.
fn inputs(text: &[Token]) -> usize {
    text.len() - 1
}

fn common(one: &[Token], other: &[Token]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(texts: &[&[Token]], rows: usize, ends: &[usize], paths: &[&[usize]]) {
        let branches: Vec<Sequence> = (16..48).map(Sequence).collect();
        let mut next = 0;
        let mut found = Vec::new();
        while next < texts.len() {
            let pack = pack(texts, next, rows, 32);
            let (step, _) = tree(&texts[pack.clone()], &(0..100), 10, &branches);
            assert!(step.len() <= rows || pack.len() == 1, "{} rows of {rows}", step.len());
            next = pack.end;
            found.push(pack);
        }
        assert_eq!(found.iter().map(|pack| pack.end).collect::<Vec<_>>(), ends);
        let (step, nodes) = tree(&texts[found[0].clone()], &(0..100), 10, &branches);
        assert_eq!(nodes, paths);
        assert_eq!(step.len(), nodes.iter().flatten().max().map_or(0, |node| node + 1));
    }

    #[test]
    fn a_token_counts_for_the_line_that_it_begins_on() {
        let tokens = ["if x", ":\n", "    ", "return", "\n\n", "end"].map(|text| text.as_bytes().to_vec());
        let lines = by_line(tokens.into_iter(), &[-1.0, -2.0, -0.5, -0.25, -4.0, -8.0]);
        assert_eq!(lines, [-3.0, -4.75, 0.0, -8.0]);
    }

    #[test]
    fn texts_that_begin_alike_share_their_rows() {
        check(
            &[&[1, 2, 3], &[1, 2, 3, 4], &[1, 2, 5], &[6, 7]],
            100,
            &[4],
            &[&[0, 1], &[0, 1, 2], &[0, 1], &[3]],
        );
    }

    #[test]
    fn a_text_that_ends_where_another_goes_on_leaves_it_a_row() {
        check(&[&[1, 2], &[1, 2, 3], &[1, 2, 3, 4]], 2, &[2, 3], &[&[0], &[0, 1]]);
    }

    #[test]
    fn a_step_takes_as_many_texts_as_it_has_rows() {
        check(&[&[1, 1, 1], &[2, 2, 2], &[3, 3, 3]], 4, &[2, 3], &[&[0, 1], &[2, 3]]);
        check(&[&[1, 1, 1, 1, 1, 1], &[2, 2]], 4, &[1, 2], &[&[0, 1, 2, 3, 4]]);
    }
}
