//! Where what shows the fault runs in a file, and what cannot be at fault because it does not.

use crate::EngineError;
use crate::runs::code_names::identifiers;
use crate::runs::roles::region::is_function;
use crate::runs::workspace::{Workspace, lines};
use magis_core::{BlobId, BugCheck, CheckSource, LineSpan, MOST_ENTERED, RepoPath, entered_by_all};
use magis_flow::Run;
use magis_search::{Frame, frames};
use magis_syntax::{Outline, SourceLanguage, Symbol, SymbolKind, reachable, top_statements};
use std::collections::BTreeSet;

/// What a function gains when what shows the fault runs through it, and loses when that runs through others of the file alone.
const REACHED: f64 = 1.0;
/// What a function gains when it is on the way to the exception that shows the fault.
const RAISED: f64 = 1.5;
/// Files that are read for the names in them; of more it is not told what they may enter.
const MOST_FILES: usize = 1_000;

/// Where what shows the fault runs, as far as that is known.
pub(super) struct Reach {
    /// The definitions of the file that all of it enters.
    entered: Vec<LineSpan>,
    /// Whether the lists of what is entered are whole.
    is_whole: bool,
    /// Where nothing records what is entered: the definitions that all of it may enter, as far as that can be told from names.
    may_enter: Option<Vec<LineSpan>>,
    /// Those on the way to the exception that shows the fault.
    raised: Vec<LineSpan>,
    /// The words of the code that it enters.
    words: BTreeSet<String>,
    /// What runs when the file is loaded, where no check may have seen it.
    loading: BTreeSet<String>,
}

impl Reach {
    /// Reads what the checks of a run tell of a file.
    pub(super) fn of(
        work: &mut Workspace,
        run: &Run,
        path: &RepoPath,
        text: &str,
        outline: &Outline,
    ) -> Result<Self, EngineError> {
        let may_enter = match work.may_enter.get(path) {
            Some(known) => known.clone(),
            None => {
                let found = may_enter(work, run, path)?;
                work.may_enter.entry(path.clone()).or_insert(found).clone()
            }
        };
        let innermost = |line: u32| outline.innermost(line).map(|symbol| symbol.span);
        let checks = run.checks().iter();
        let entered = entered_by_all(run.checks()).into_iter().filter(|at| at.path == *path);
        let entered: Vec<LineSpan> = entered.filter_map(|at| innermost(at.line)).collect();
        let is_whole = run.checks().iter().all(|check| check.reached.len() < MOST_ENTERED);
        let raised = checks.flat_map(|check| lines_of_frames(&check.on_base.written(), path));
        let words_of = |span: LineSpan| {
            identifiers(&lines(text, span))
                .into_iter()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        Ok(Self {
            words: entered.iter().flat_map(|span| words_of(*span)).collect(),
            loading: called_at_loading(text, outline),
            raised: raised.filter_map(innermost).collect(),
            entered,
            is_whole,
            may_enter,
        })
    }

    /// Returns whether the fault cannot well be at a symbol: functions that are neither entered nor called when the file is loaded, or that cannot be
    /// entered, and constants that no entered one names.
    pub(super) fn misses(&self, symbol: &Symbol) -> bool {
        if let Some(may_enter) = &self.may_enter {
            return is_function(symbol) && !may_enter.contains(&symbol.span);
        }
        self.is_whole
            && !self.entered.is_empty()
            && match symbol.kind {
                SymbolKind::Function | SymbolKind::Method => {
                    !self.entered.contains(&symbol.span) && !self.loading.contains(&symbol.name)
                }
                SymbolKind::Constant => !self.words.contains(&symbol.name),
                _ => false,
            }
    }

    /// Returns what a symbol gains or loses by where the fault shows.
    pub(super) fn gain(&self, symbol: &Symbol) -> f64 {
        let mut gain = 0.0;
        // Of a type only the attributes make code that runs.
        let is_type = matches!(
            symbol.kind,
            SymbolKind::Struct | SymbolKind::Enum | SymbolKind::Type | SymbolKind::Trait
        );
        if self.may_enter.is_some() && is_type {
            gain -= REACHED;
        }
        if self.raised.contains(&symbol.span) {
            gain += RAISED;
        }
        if self.entered.contains(&symbol.span) {
            gain += REACHED;
        } else if self.misses(symbol) {
            gain -= REACHED;
        }
        gain
    }
}

/// Returns the definitions of a file that each example of the issue may enter, by the names in them; none where that is not known, or what they enter is
/// recorded.
fn may_enter(work: &mut Workspace, run: &Run, path: &RepoPath) -> Result<Option<Vec<LineSpan>>, EngineError> {
    let is_rust = |path: &RepoPath| SourceLanguage::of(path) == Some(SourceLanguage::Rust);
    let is_example = |check: &BugCheck| {
        let is_of_issue = matches!(check.source, CheckSource::Issue { .. } | CheckSource::Written { .. });
        // A command line names no functions.
        is_of_issue && check.reached.is_empty() && top_statements(SourceLanguage::Rust, &check.script).is_some()
    };
    if !is_rust(path) || run.checks().is_empty() || !run.checks().iter().all(is_example) {
        return Ok(None);
    }
    let files: Vec<(RepoPath, BlobId)> = work
        .files()?
        .readable
        .iter()
        .filter(|(path, _)| is_rust(path))
        .cloned()
        .collect();
    if files.len() > MOST_FILES {
        return Ok(None);
    }
    let mut texts = work.snapshot.read_ahead(files.iter().map(|(_, blob)| blob));
    let read = |(path, blob): &(RepoPath, BlobId)| Some((path.clone(), texts.scan(blob).ok()?.text));
    let files: Vec<(RepoPath, String)> = files.iter().filter_map(read).collect();
    let mut common: Option<Vec<LineSpan>> = None;
    for check in run.checks() {
        let entered = reachable(&files, &check.script).into_iter();
        let here: Vec<LineSpan> = entered
            .filter(|(file, _)| *file == path)
            .map(|(_, span)| span)
            .collect();
        common = Some(match common {
            None => here,
            Some(known) => known.into_iter().filter(|span| here.contains(span)).collect(),
        });
    }
    Ok(common.filter(|spans| !spans.is_empty()))
}

/// Returns the names that are called when a file is loaded: by the code outside of its functions, and by what that calls.
fn called_at_loading(text: &str, outline: &Outline) -> BTreeSet<String> {
    let is_function = |symbol: &&Symbol| matches!(symbol.kind, SymbolKind::Function | SymbolKind::Method);
    let outside = (1..)
        .zip(text.lines())
        .filter(|(line, _)| !outline.innermost(*line).is_some_and(|symbol| is_function(&symbol)));
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut fresh: Vec<String> = outside.flat_map(|(_, line)| called(line)).map(str::to_owned).collect();
    while let Some(name) = fresh.pop() {
        if names.insert(name.clone()) {
            let meant = outline
                .symbols
                .iter()
                .filter(is_function)
                .filter(|symbol| symbol.name == name);
            let code: Vec<String> = meant.map(|symbol| lines(text, symbol.span)).collect();
            fresh.extend(
                code.iter()
                    .flat_map(|code| code.lines())
                    .flat_map(called)
                    .map(str::to_owned),
            );
        }
    }
    names
}

/// Returns the names that a line calls, or decorates with.
fn called(line: &str) -> impl Iterator<Item = &str> {
    identifiers(line).into_iter().filter(|word| {
        line.match_indices(word).any(|(at, _)| {
            let (before, behind) = (&line[..at], &line[at + word.len()..]);
            behind.starts_with('(') || before.ends_with('@')
        })
    })
}

/// Returns the lines of a file that the frames of traces name.
fn lines_of_frames(text: &str, path: &RepoPath) -> Vec<u32> {
    let in_file = |frame: &Frame| frame.path.ends_with(path.as_str());
    frames(text)
        .into_iter()
        .filter(in_file)
        .filter_map(|frame| frame.line)
        .collect()
}
