//! How likely texts are after a prompt: the prompt is computed once, the texts are branches of it, and texts that begin
//! alike share their begin.
//!
//! The likelihood of a token stands in the logits of the one before it, so the last token of a text is never computed.

use super::native::{DecodeBatch, Output, Sequence, StepError, Token};
use super::sampler::LogSoftmax;
use super::{Engine, LlamaError, milliseconds};
use magis_llm::{LlmError, Score, ScoreReply, ScoreRequest, Usage};
use std::ops::Range;
use std::time::Instant;

pub(super) fn score(engine: &mut Engine, request: &ScoreRequest) -> Result<ScoreReply, LlamaError> {
    engine.check_cancelled()?;
    let texts: Vec<Vec<Token>> = request
        .continuations
        .iter()
        .map(|text| engine.tokenizer.data(text))
        .collect();
    if texts.is_empty() || texts.iter().any(Vec::is_empty) {
        let reason = "there is no continuation to score, or one is empty".to_owned();
        return Err(LlmError::BadRequest { reason }.into());
    }
    let prompt = engine.tokenizer.prompt(&request.messages, &request.answer_prefix)?;
    if prompt.is_empty() {
        return Err(LlmError::BadRequest {
            reason: "the prompt is empty".to_owned(),
        }
        .into());
    }
    engine.check_room(prompt.len(), texts.iter().map(Vec::len).max().unwrap_or(0))?;
    let prefilled = engine.prefill(&prompt)?;
    let begun = Instant::now();
    let first = engine.logits(prefilled.last)?;
    let softmax = LogSoftmax::new(first);
    // For each text those of its tokens so far.
    let mut logprobs: Vec<Vec<f64>> = texts.iter().map(|text| vec![softmax.of(first, text[0])]).collect();

    // Sorted, texts with a common begin are neighbours.
    let mut order: Vec<usize> = (0..texts.len()).filter(|text| texts[*text].len() > 1).collect();
    order.sort_by(|one, other| texts[*one].cmp(&texts[*other]));
    let sorted: Vec<&[Token]> = order.iter().map(|text| texts[*text].as_slice()).collect();
    let rows = (engine.context.shape().outputs.min(engine.loaded.batch)) as usize;
    let mut found: Vec<Vec<f64>> = vec![Vec::new(); sorted.len()];
    let mut next = 0;
    while next < sorted.len() {
        engine.check_cancelled()?;
        let most = rows.min(room(engine, prefilled.sequence, rows));
        let pack = pack(&sorted, next, most.max(1), engine.sequences().branches as usize);
        let result = branch(
            engine,
            prefilled.sequence,
            &sorted[pack.clone()],
            &mut found[pack.clone()],
            most.max(1),
        );
        for branch in 0..pack.len() {
            let branch = engine.branch_sequence(branch);
            engine.context.clear(branch);
        }
        result?;
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
            .map(|(text, logprobs)| by_line(text.iter().map(|token| engine.tokenizer.bytes(*token)), logprobs))
            .collect()
    } else {
        Vec::new()
    };
    let generated_tokens = scores.iter().map(|score| score.tokens).sum();
    let usage = Usage {
        generated_tokens,
        generate_ms: milliseconds(begun),
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

/// Returns cells for `rows` tokens of branches, or as many as there can be beside the prompt.
fn room(engine: &mut Engine, prompt: Sequence, rows: usize) -> usize {
    engine.make_room(rows, prompt);
    engine.cache.free()
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

/// Finds the log-probabilities of all but the first token of each text.
fn branch(
    engine: &mut Engine,
    prompt: Sequence,
    texts: &[&[Token]],
    found: &mut [Vec<f64>],
    rows: usize,
) -> Result<(), LlamaError> {
    let held = engine.cache.len(prompt);
    for number in 0..texts.len() {
        let branch = engine.branch_sequence(number);
        engine.context.share(prompt, branch, held);
        if !engine.context.holds(branch, held) {
            return Err(LlamaError::Broken(StepError::Malformed(
                "it branches off a prompt that the cache has lost",
            )));
        }
    }
    let first_branch = engine.branch_sequence(0);
    // One text alone may be longer than a step; several fit by their packing.
    let mut done = 0;
    let longest = texts.iter().map(|text| inputs(text)).max().unwrap_or(0);
    while done < longest {
        engine.check_cancelled()?;
        let window = done..if texts.len() == 1 {
            longest.min(done + rows)
        } else {
            longest
        };
        let (mut step, paths) = tree(texts, &window, held, first_branch);
        engine.compute(&mut step)?;
        let mut softmaxes: Vec<Option<LogSoftmax>> = vec![None; step.len()];
        for ((text, path), found) in texts.iter().zip(&paths).zip(found.iter_mut()) {
            for (depth, node) in window.clone().zip(path) {
                let logits = engine.logits(*node)?;
                let softmax = *softmaxes[*node].get_or_insert_with(|| LogSoftmax::new(logits));
                found.push(softmax.of(logits, text[depth + 1]));
            }
        }
        done = window.end;
    }
    Ok(())
}

/// Returns the tokens of a window of sorted texts as a tree: one row a node. Also the nodes of each text from the root
/// on. Each text has its own sequence, from `first_branch` on.
fn tree(
    texts: &[&[Token]],
    window: &Range<usize>,
    held: usize,
    first_branch: Sequence,
) -> (DecodeBatch, Vec<Vec<usize>>) {
    let mut step = DecodeBatch::default();
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
            let sequences: Vec<Sequence> = through
                .map(|(ahead, _)| Sequence(first_branch.0 + (number + ahead) as i32))
                .collect();
            path.push(step.push(text[depth], held + depth, &sequences, Output::Logits));
        }
        paths.push(path);
    }
    (step, paths)
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
        let mut next = 0;
        let mut found = Vec::new();
        while next < texts.len() {
            let pack = pack(texts, next, rows, 32);
            let (step, _) = tree(&texts[pack.clone()], &(0..100), 10, Sequence(16));
            assert!(step.len() <= rows || pack.len() == 1, "{} rows of {rows}", step.len());
            next = pack.end;
            found.push(pack);
        }
        assert_eq!(found.iter().map(|pack| pack.end).collect::<Vec<_>>(), ends);
        let (step, nodes) = tree(&texts[found[0].clone()], &(0..100), 10, Sequence(16));
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
