//! What a model says of the candidates of each issue, as raw log-probabilities, into a file of JSON lines: for studying how
//! to fuse them without asking again.
//!
//! One line an issue and question. A line that is there is not asked for again, so a long recording can be stopped and
//! gone on with. How the numbers are to be fused is decided elsewhere.

use super::Ground;
use crate::args::LocateArgs;
use crate::commands::{load, model_of, runtime, stop_on_interrupt};
use anyhow::{Context as _, Result};
use magis_core::{Candidate, Issue};
use magis_engine::floors::llama::WorkerModel;
use magis_engine::floors::llm::{LanguageModel as _, Message, MessageRole, ScoreRequest};
use magis_engine::floors::prompts::{Head, RelevanceByName, render};
use magis_engine::floors::search::{ScoredSymbol, Signals};
use magis_engine::{LocateExtent, Locator};
use magis_eval::instances::{Instance, rows};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

const SYMBOL: &str = include_str!("../../prompts/locate_symbol.txt");
const SHOWN: &str = include_str!("../../prompts/locate_shown.txt");
const REVERSE: &str = include_str!("../../prompts/locate_reverse.txt");
const CODE: &str = include_str!("../../prompts/locate_code.txt");

/// Files of the ranking that are named.
const FILES: usize = 20;
/// Of so many files functions are named, so many of each.
const SYMBOL_FILES: usize = 6;
const SYMBOLS_EACH: usize = 2;
/// Functions of the whole ranking that are named besides.
const SYMBOLS: usize = 20;
/// The files whose code is shown.
const CODE_FILES: usize = 6;
/// Characters of code shown of each.
const CODE_CHARACTERS: usize = 900;
/// An issue is read as far as this, in characters: some 700 tokens.
const ISSUE_CHARACTERS: usize = 2_500;

/// What the model can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Question {
    /// The path, after the issue and without it.
    Naming,
    /// The path, after the title alone.
    Title,
    /// Path and name of a function, after the issue and without it.
    Symbols,
    /// The path, after the issue and a list of the first files with the names that match.
    Shown,
    /// Yes or no on the best functions of a file.
    Code,
    /// The issue's title, after the best functions of a file.
    Reverse,
}

#[derive(Deserialize)]
struct Line {
    instance_id: String,
    question: Question,
}

/// Records what is missing in `file`.
pub fn record(args: &LocateArgs, file: &Path) -> Result<ExitCode> {
    let known: BTreeSet<(String, Question)> = if file.exists() {
        let lines = rows::<Line>(file)?.into_iter();
        lines.map(|line| (line.instance_id, line.question)).collect()
    } else {
        BTreeSet::new()
    };
    let mut ground = Ground::begin(args)?;
    let model = model_of(ground.magis(), &args.engine);
    ground.magis().library().resolve(&model)?;
    // Spread over the set, so that a recording that is stopped early says something of all of it.
    let instances: Vec<Instance> = ground.instances()?;
    let spread = (0..SPREAD).flat_map(|first| instances.iter().skip(first).step_by(SPREAD));
    let jobs: Vec<&Instance> = spread.collect();
    let mut out = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .with_context(|| format!("opening {}", file.display()))?;
    runtime()?.block_on(async {
        let stop = stop_on_interrupt();
        let loaded = load(ground.magis(), &model, &args.engine.limits()).await?;
        let silent = Silent::default();
        for (at, instance) in jobs.iter().enumerate() {
            let missing: Vec<Question> = args
                .ask
                .iter()
                .copied()
                .filter(|question| !known.contains(&(instance.id.0.clone(), *question)))
                .collect();
            if missing.is_empty() {
                continue;
            }
            let locator = ground.locator(instance)?;
            let asking = Asking::of(locator, instance, &loaded, &silent)?;
            for question in missing {
                let begun = Instant::now();
                let answer = tokio::select! {
                    biased;
                    () = stop.cancelled() => return Ok(ExitCode::from(crate::commands::STOPPED)),
                    answer = asking.ask(question) => answer?,
                };
                let seconds = begun.elapsed().as_secs_f64();
                let line = json!({
                    "instance_id": instance.id, "repo": instance.repo, "question": question, "seconds": seconds,
                    "files": asking.files_json(), "answer": answer,
                });
                writeln!(out, "{line}").with_context(|| format!("writing {}", file.display()))?;
                eprintln!(
                    "[{}/{}] {} {question:?} {seconds:.1} s",
                    at + 1,
                    jobs.len(),
                    instance.id
                );
            }
        }
        loaded.shutdown().await;
        Ok(ExitCode::SUCCESS)
    })
}

/// In so many rounds the set is gone through.
const SPREAD: usize = 4;

/// What was answered without an issue: that depends on nothing but the question and the words.
type Silent = RefCell<BTreeMap<(String, String), (f64, u32)>>;

/// One issue and its candidates, to be asked about.
struct Asking<'a> {
    model: &'a WorkerModel,
    silent: &'a Silent,
    title: String,
    text: String,
    files: Vec<Candidate>,
    parts: Vec<Value>,
    /// Of the first files, the functions that match best.
    of_files: Vec<Vec<ScoredSymbol>>,
    symbols: Vec<ScoredSymbol>,
    codes: Vec<String>,
}

impl<'a> Asking<'a> {
    fn of(locator: &Locator, instance: &Instance, model: &'a WorkerModel, silent: &'a Silent) -> Result<Self> {
        let issue = Issue::new(&instance.problem_statement)?;
        let extent = LocateExtent {
            files: FILES,
            symbols: SYMBOLS,
            signals: Signals::ALL,
        };
        let location = locator.locate(&issue, &[], extent)?;
        let files = location.ranking.candidates;
        let of_files = locator.symbols_of(&issue, &files[..files.len().min(SYMBOL_FILES)], SYMBOLS_EACH)?;
        let mut codes = Vec::new();
        for (candidate, symbols) in files.iter().zip(&of_files).take(CODE_FILES) {
            let text = locator
                .snapshot()
                .read(&candidate.path)
                .map(|source| source.text)
                .unwrap_or_default();
            codes.push(code(&text, symbols));
        }
        let part = |parts: &Vec<(magis_engine::floors::search::Signal, f64)>| {
            let parts: BTreeMap<&str, f64> = parts.iter().map(|(signal, part)| (signal.name(), *part)).collect();
            json!(parts)
        };
        let text: String = shortened(issue.text());
        Ok(Self {
            model,
            silent,
            title: issue.title().to_owned(),
            text,
            parts: location.ranking.parts.iter().map(part).collect(),
            files,
            of_files,
            symbols: location.symbols,
            codes,
        })
    }

    fn files_json(&self) -> Value {
        let one = |(candidate, parts): (&Candidate, &Value)| json!({"path": candidate.path, "score": candidate.score, "parts": parts});
        self.files.iter().zip(&self.parts).map(one).collect()
    }

    async fn ask(&self, question: Question) -> Result<Value> {
        let paths = |most: usize| -> Vec<String> {
            let files = self.files.iter().take(most);
            files.map(|file| format!("{}`", file.path)).collect()
        };
        Ok(match question {
            Question::Naming => {
                let paths = paths(FILES);
                let asked = self.scores(&after(&self.text)?, &paths).await?;
                let silent = self.unasked(&naming(Head::silent())?, &paths).await?;
                json!({"asked": asked, "silent": silent})
            }
            Question::Title => {
                json!({"asked": self.scores(&after(&self.title)?, &paths(FILES)).await?})
            }
            Question::Symbols => self.ask_symbols().await?,
            Question::Shown => {
                let listed: Vec<String> = self.files.iter().zip(&self.of_files).map(listed).collect();
                let user = SHOWN.trim_end().replace("{candidates}", &listed.join("\n"));
                let paths = paths(SYMBOL_FILES);
                let with = after_issue(&self.text, &user, "The file to change is `")?;
                let without = Asked {
                    user: format!("An issue was reported in a code repository.\n\n{user}"),
                    ..with.clone()
                };
                json!({"asked": self.scores(&with, &paths).await?, "silent": self.scores(&without, &paths).await?})
            }
            Question::Code => {
                let mut answers = Vec::new();
                for (file, code) in self.files.iter().zip(&self.codes) {
                    let user = filled(CODE, file.path.as_str(), code);
                    let asked = after_issue(&self.text, &user, "Answer:")?;
                    answers.push(self.scores(&asked, &[" yes".to_owned(), " no".to_owned()]).await?);
                }
                json!(answers)
            }
            Question::Reverse => {
                let mut answers = Vec::new();
                for (file, code) in self.files.iter().zip(&self.codes) {
                    let user = filled(REVERSE, file.path.as_str(), code);
                    let asked = Asked {
                        user,
                        answer: "Title:".to_owned(),
                        ..naming(Head::silent())?
                    };
                    answers.push(self.scores(&asked, &[format!(" {}", self.title)]).await?);
                }
                json!(answers)
            }
        })
    }

    async fn ask_symbols(&self) -> Result<Value> {
        let mut seen = BTreeSet::new();
        let mut symbols: Vec<(&ScoredSymbol, bool)> = Vec::new();
        let ranked = self.symbols.iter().map(|symbol| (symbol, true));
        for (symbol, ranked) in ranked.chain(self.of_files.iter().flatten().map(|symbol| (symbol, false))) {
            if seen.insert((symbol.path.clone(), symbol.span, symbol.qualified_name.clone())) {
                symbols.push((symbol, ranked));
            }
        }
        let names: Vec<String> = symbols
            .iter()
            .map(|(symbol, _)| format!("{}::{}`", symbol.path, symbol.qualified_name))
            .collect();
        let with = after_issue(&self.text, SYMBOL.trim_end(), "The code to change is `")?;
        let without = Asked {
            user: format!("An issue was reported in a code repository.\n\n{}", SYMBOL.trim_end()),
            ..with.clone()
        };
        let asked = self.scores(&with, &names).await?;
        let silent = self.unasked(&without, &names).await?;
        let listed: Vec<Value> = symbols
            .iter()
            .map(|(symbol, ranked)| {
                let span = [symbol.span.first(), symbol.span.last()];
                json!({"path": symbol.path, "name": symbol.qualified_name, "span": span, "score": symbol.score, "ranked": ranked})
            })
            .collect();
        Ok(json!({"symbols": listed, "asked": asked, "silent": silent}))
    }

    /// As [`Self::scores`], for a question without an issue: what is known of it is not asked for again.
    async fn unasked(&self, asked: &Asked, continuations: &[String]) -> Result<Vec<(f64, u32)>> {
        let key = |text: &String| (asked.user.clone(), text.clone());
        let known = |text: &&String| self.silent.borrow().contains_key(&key(text));
        let missing: Vec<String> = continuations.iter().filter(|text| !known(text)).cloned().collect();
        if !missing.is_empty() {
            let scores = self.scores(asked, &missing).await?;
            self.silent.borrow_mut().extend(missing.iter().map(key).zip(scores));
        }
        let known = self.silent.borrow();
        Ok(continuations
            .iter()
            .filter_map(|text| known.get(&key(text)).copied())
            .collect())
    }

    /// Log-probability and tokens of each continuation.
    async fn scores(&self, asked: &Asked, continuations: &[String]) -> Result<Vec<(f64, u32)>> {
        let message = |role, content: &str| Message {
            role,
            content: content.to_owned(),
        };
        let request = ScoreRequest {
            messages: vec![
                message(MessageRole::System, &asked.system),
                message(MessageRole::User, &asked.user),
            ],
            answer_prefix: asked.answer.clone(),
            continuations: continuations.to_vec(),
        };
        let reply = self.model.score(&request).await?;
        Ok(reply.scores.iter().map(|score| (score.logprob, score.tokens)).collect())
    }
}

#[derive(Clone)]
struct Asked {
    system: String,
    user: String,
    answer: String,
}

/// A question of our own behind the issue, as the engine's prompts have it.
fn after_issue(issue: &str, words: &str, answer: &str) -> Result<Asked> {
    let asked = after(issue)?;
    let head = asked.user.rsplit_once("\n\n").map_or("", |(head, _)| head);
    Ok(Asked {
        user: format!("{head}\n\n{words}"),
        answer: answer.to_owned(),
        ..asked
    })
}

fn after(issue: &str) -> Result<Asked> {
    naming(Head {
        issue: Some(issue.to_owned()),
        ..Head::silent()
    })
}

fn naming(head: Head) -> Result<Asked> {
    let rendered = render(&RelevanceByName { head })?;
    Ok(Asked {
        system: rendered.system,
        user: rendered.user,
        answer: rendered.answer,
    })
}

fn filled(prompt: &str, path: &str, code: &str) -> String {
    let (before, after) = prompt.trim_end().split_once("{path}").unwrap_or((prompt, ""));
    let (between, after) = after.split_once("{code}").unwrap_or((after, ""));
    format!("{before}{path}{between}{code}{after}")
}

fn listed((file, symbols): (&Candidate, &Vec<ScoredSymbol>)) -> String {
    let names: Vec<&str> = symbols
        .iter()
        .map(|symbol| symbol.qualified_name.as_str())
        .take(5)
        .collect();
    format!("{}: {}", file.path, names.join(", "))
}

/// The best functions of a file, as far as there is room; its beginning where it has none.
fn code(text: &str, symbols: &[ScoredSymbol]) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let whole = symbols.iter().take(2).map(|symbol| {
        let span = symbol.span.first() as usize - 1..(symbol.span.last() as usize).min(lines.len());
        lines.get(span).unwrap_or_default().join("\n")
    });
    let mut code: String = whole.collect::<Vec<_>>().join("\n");
    if code.trim().is_empty() {
        code = lines.iter().take(25).copied().collect::<Vec<_>>().join("\n");
    }
    let end = code.floor_char_boundary(CODE_CHARACTERS);
    code[..end].to_owned()
}

/// The beginning and the end of a long issue.
fn shortened(text: &str) -> String {
    if text.len() <= ISSUE_CHARACTERS {
        return text.to_owned();
    }
    let first = text.floor_char_boundary(ISSUE_CHARACTERS * 3 / 4);
    let last = text.ceil_char_boundary(text.len() - ISSUE_CHARACTERS / 4);
    format!("{}\n[the middle is left out]\n{}", &text[..first], &text[last..])
}
