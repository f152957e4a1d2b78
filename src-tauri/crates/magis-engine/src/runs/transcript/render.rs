//! A run told event by event: while it happens, and again when it is looked at later.
//!
//! It keeps only what later events refer to: roles, paths, evidence.

use super::parts::{
    by_person, closed, defined, described, evidence, how, merged, noticed, person, request_in_full, title, with_role,
};
use super::section::Section;
use super::{Detail, Paint, Tone, count, diff, tested, thousands, without_code_marks};
use magis_core::{
    Candidate, ChangeTests, Judgement, ModelReview, Plan, Proof, QaMode, RepoPath, RunEvent, RunOutcome, SkippedFile,
    Speaker, Speech, Stage, TaskId, TestsMode, Turn, Verdict, WritingMode,
};
use std::collections::BTreeMap;

/// Finds the base version of a file, where it can be had.
pub type BaseText = Box<dyn Fn(&RepoPath) -> Option<String>>;

/// How many ranked files are shown while a run goes on.
const SHOWN_LIVE: usize = 8;
/// How many reasons for one of them.
const REASONS_LIVE: usize = 6;

/// A run being told.
pub struct Transcript {
    paint: Paint,
    width: usize,
    detail: Detail,
    base_text: BaseText,
    stage: Option<Stage>,
    /// The evidence of each candidate; taken out once it is told.
    evidence: BTreeMap<RepoPath, String>,
    tasks: BTreeMap<TaskId, TaskNames>,
    qa: QaMode,
    /// Whether code is run: then a task's attempts are told one by one.
    tests: TestsMode,
    /// Why the last answer gave no code, and how many behind it gave none for the same reason: those are told as a number.
    failed: Option<(String, u32)>,
}

/// An event as it is told.
pub(super) struct Rendered {
    /// The title of the stage that it begins.
    pub title: Option<&'static str>,
    /// The text; empty, or with a line break at its end.
    pub text: String,
}

#[derive(Default)]
struct TaskNames {
    path: Option<RepoPath>,
    developer: Option<String>,
    reviewer: Option<String>,
}

impl Transcript {
    /// Creates a transcript without a word yet.
    pub fn new(paint: Paint, width: usize, detail: Detail, base_text: BaseText) -> Self {
        Self {
            paint,
            width,
            detail,
            base_text,
            stage: None,
            evidence: BTreeMap::new(),
            tasks: BTreeMap::new(),
            qa: QaMode::default(),
            tests: TestsMode::default(),
            failed: None,
        }
    }

    /// Takes an event in without telling it, for what comes later.
    pub fn take_in(&mut self, event: &RunEvent) {
        // What was asked for stands above the first stage.
        if let (Some(stage), false) = (event.stage(), matches!(event, RunEvent::RunStarted { .. })) {
            self.stage = Some(stage);
        }
        match event {
            RunEvent::RunStarted { request, .. } => {
                self.qa = request.qa;
                self.tests.clone_from(&request.tests);
            }
            RunEvent::CandidatesRanked { candidates, .. } => {
                let most = match self.detail {
                    Detail::Live => REASONS_LIVE,
                    Detail::Full => usize::MAX,
                };
                let evidence = |candidate: &Candidate| (candidate.path.clone(), evidence(candidate, most));
                self.evidence.extend(candidates.iter().map(evidence));
            }
            RunEvent::TaskDefined { task } => self.task(task.id).path = Some(task.path.clone()),
            RunEvent::RoleDefined { task, role }
            | RunEvent::RoleRevised { task, role }
            | RunEvent::RoleEdited { task, role } => self.task(*task).developer = Some(role.name.clone()),
            RunEvent::ReviewerDefined { task, role } => self.task(*task).reviewer = Some(role.name.clone()),
            _ => {}
        }
    }

    /// Tells an event; the text may be empty and ends with a line break otherwise. The first event of a stage has the stage's
    /// title above it.
    pub fn tell(&mut self, event: &RunEvent) -> String {
        let told = self.tell_apart(event);
        match told.title {
            Some(title) => format!("\n{}\n{}", self.paint.tone(Tone::Heading, title), told.text),
            None => told.text,
        }
    }

    /// As [`Transcript::tell`], with the title apart.
    pub(super) fn tell_apart(&mut self, event: &RunEvent) -> Rendered {
        let before = self.stage;
        self.take_in(event);
        let mut page = Section::new(self.paint, self.width);
        let begun = self.stage.filter(|stage| before != Some(*stage));
        let title = begun.filter(|_| !matches!(event, RunEvent::RunEnded { .. })).map(title);
        if title.is_some() {
            // What follows a title right away needs no gap.
            page.line("");
        }
        if let (Some((reason, alike)), RunEvent::CodeFailed { reason: this, .. }) = (&mut self.failed, event)
            && reason == this
        {
            *alike += 1;
            return Rendered {
                title: None,
                text: String::new(),
            };
        }
        if let Some((_, alike @ 1..)) = self.failed.take() {
            page.line(&format!("      the same {} more", count(alike as usize, "time")));
        }
        if let RunEvent::CodeFailed { reason, .. } = event {
            self.failed = Some((reason.clone(), 0));
        }
        self.write(&mut page, event);
        let text = page.into_text();
        Rendered {
            title,
            text: if title.is_some() { text[1..].to_owned() } else { text },
        }
    }

    fn task(&mut self, task: TaskId) -> &mut TaskNames {
        self.tasks.entry(task).or_default()
    }

    fn path_of(&self, task: TaskId) -> Option<&RepoPath> {
        self.tasks.get(&task)?.path.as_ref()
    }

    #[expect(
        clippy::too_many_lines,
        reason = "one arm an event; splitting it would hide that all are there"
    )]
    fn write(&mut self, page: &mut Section, event: &RunEvent) {
        match event {
            RunEvent::RunStarted { request, base } => {
                let uncommitted = if base.uncommitted { " with uncommitted work" } else { "" };
                let commit = base.commit.0.get(..10).unwrap_or(&base.commit.0);
                if self.detail == Detail::Live {
                    page.entry(2, Tone::Strong, "issue", &without_code_marks(request.issue.title()));
                }
                page.line(&format!("  base {} ({commit}){uncommitted}", super::clean(&base.name)));
                page.line(&format!("  {}", how(request)));
                if self.detail == Detail::Full {
                    request_in_full(page, request);
                }
            }
            RunEvent::IssueRead {
                condensed,
                tokens_before,
                tokens_after,
            } => {
                if let Some(condensed) = condensed {
                    page.entry(
                        2,
                        Tone::Note,
                        "note",
                        &format!(
                            "the issue is long and was condensed from {} to {}",
                            thousands((*tokens_before).into()),
                            count(*tokens_after as usize, "token")
                        ),
                    );
                    if self.detail == Detail::Full {
                        page.prose(4, condensed);
                    }
                }
            }
            RunEvent::FaultShown { checks, remarks } | RunEvent::TestsWritten { checks, remarks } => {
                tested::fault(page, checks, remarks, self.detail);
            }
            RunEvent::BaseTested { tests } => tested::base(page, tests, self.detail),
            RunEvent::AttemptTested {
                round, attempt, result, ..
            } => {
                let lead = format!("attempt {}.{} run:", round.0, attempt.0 + 1);
                let proof = result.proof();
                let tone = if proof.is_shown() { Tone::Good } else { Tone::Bad };
                page.entry(4, tone, &lead, &proof.to_string());
                tested::change(page, result, self.detail);
            }
            RunEvent::AttemptsCompared { round, gains, .. } => tested::compared(page, *round, gains),
            RunEvent::PatchTested { result } => tested::change(page, result, self.detail),
            RunEvent::Minimised {
                task,
                dropped,
                hunks,
                needed,
                ..
            } => {
                if *dropped > 0 {
                    let text = format!(
                        "{dropped} of {} left out, as nothing depends on them",
                        count(*hunks as usize, "hunk")
                    );
                    page.entry(4, Tone::Strong, &format!("{task} made smaller:"), &text);
                }
                tested::needed(page, *task, needed);
            }
            RunEvent::AttemptTaken { task, round, attempt } => {
                by_person(
                    page,
                    &format!("took attempt {} of round {round} of {task}", attempt.0 + 1),
                );
            }
            RunEvent::CandidatesRanked { candidates, skipped } => self.ranked(page, candidates, skipped),
            RunEvent::RelevanceJudged { judgements } => self.judged(page, judgements),
            RunEvent::FileDescribed { description } => described(page, description),
            RunEvent::TaskDefined { task } => defined(page, task),
            RunEvent::TaskDeclined { path, reason } => {
                page.entry(2, Tone::Faint, "-", &format!("nothing to do in {path}: {reason}"));
            }
            RunEvent::RoleDefined { task, role } => person(page, 4, &format!("{task} Developer"), role),
            RunEvent::Spoken { speech } => self.spoken(page, speech),
            RunEvent::RoleRevised { task, role } => person(page, 2, &format!("{task} Developer from now on"), role),
            RunEvent::PlanMade { plan } => self.plan(page, plan),
            RunEvent::ReviewerDefined { task, role } => {
                page.break_block();
                let path = self.path_of(*task).map(ToString::to_string).unwrap_or_default();
                let title = self
                    .paint
                    .tone(Tone::Strong, &super::clean(&format!("  {task} {path}")));
                page.line(&title);
                person(page, 4, "QA Engineer", role);
            }
            RunEvent::LinesChosen {
                task,
                round,
                symbols,
                spans,
                others,
                answers: _,
            } => {
                let word = match spans.as_slice() {
                    [span] if span.lines() == 1 => "line",
                    _ => "lines",
                };
                let spans: Vec<String> = spans.iter().map(ToString::to_string).collect();
                let symbols = match symbols.as_slice() {
                    [] => String::new(),
                    symbols => format!(" in {}", symbols.join(", ")),
                };
                let place = match spans.as_slice() {
                    [] => "the whole file".to_owned(),
                    spans => format!("{word} {}{symbols}", spans.join(", ")),
                };
                page.entry(4, Tone::Strong, &format!("{task} round {round}:"), &place);
                if !others.is_empty() {
                    let others: Vec<String> = others.iter().map(|place| place.symbols.join(", ")).collect();
                    page.entry(4, Tone::Faint, "or else in", &others.join(", or in "));
                }
            }
            RunEvent::CodeWritten {
                task,
                round,
                attempt,
                diagnosis,
                change,
                findings,
                place,
                mode,
                same_as,
            } => {
                if self.tests != TestsMode::Skip {
                    let way = match mode {
                        WritingMode::Definition => "the definition rewritten",
                        WritingMode::Lines => "the lines rewritten",
                        WritingMode::FillIn => "the lines filled in",
                        WritingMode::TokenEdit => "edited at one token",
                        WritingMode::Insert => "a statement put in",
                    };
                    let lead = format!("attempt {}.{}", round.0, attempt.0 + 1);
                    page.entry(4, Tone::Strong, &lead, &format!("at place {}, {way}", place + 1));
                }
                if let Some((round, attempt)) = same_as {
                    page.line(&format!("      the same as attempt {}.{}", round.0, attempt.0 + 1));
                    return;
                }
                if !diagnosis.is_empty() {
                    page.entry(6, Tone::Strong, "diagnosis:", diagnosis);
                }
                let base = self.path_of(*task).and_then(|path| (self.base_text)(path));
                diff::change(page, 6, change, base.as_deref());
                for finding in findings {
                    let tone = if finding.is_fatal() { Tone::Bad } else { Tone::Note };
                    page.entry(6, tone, "found by a check:", &finding.to_string());
                }
            }
            RunEvent::CodeFailed { reason, .. } => page.entry(6, Tone::Bad, "no usable code:", reason),
            RunEvent::Reviewed { task, verdict, .. } => self.reviewed(page, *task, verdict),
            RunEvent::TaskClosed { task, outcome } => closed(page, *task, outcome, self.qa, &self.tests),
            RunEvent::Merged { result } => merged(page, result, self.detail),
            RunEvent::RunEnded { .. } => {}
            RunEvent::CandidateDropped { path } => by_person(page, &format!("dropped {path}")),
            RunEvent::CandidateAdded { path, .. } => by_person(page, &format!("added {path}")),
            RunEvent::TaskEdited {
                task,
                action,
                description,
            } => {
                by_person(page, &format!("{task} now: {action}; {description}"));
            }
            RunEvent::RoleEdited { task, role } => {
                by_person(page, &format!("{task} Developer is now {}: {}", role.name, role.focus));
            }
            RunEvent::HintAdded { hint } => by_person(page, &format!("hint: {}", hint.text())),
            RunEvent::Paused { reason } => page.entry(2, Tone::Note, "paused:", reason),
            RunEvent::Resumed => page.line(&format!("  {}", self.paint.tone(Tone::Note, "resumed"))),
            RunEvent::Noticed { notice } => page.entry(4, Tone::Note, "note:", &noticed(notice)),
        }
    }

    fn ranked(&mut self, page: &mut Section, candidates: &[Candidate], skipped: &[SkippedFile]) {
        let unread = match skipped.len() {
            0 => String::new(),
            number => format!("; {} could not be read", count(number, "file")),
        };
        page.line(&format!("  {} ranked{unread}", count(candidates.len(), "file")));
        let shown = match self.detail {
            Detail::Live => SHOWN_LIVE,
            Detail::Full => candidates.len(),
        };
        for (index, candidate) in candidates.iter().take(shown).enumerate() {
            self.file(page, &format!("{:>3}.", index + 1), &candidate.path);
        }
        if candidates.len() > shown {
            page.line(&format!("       and {} more", candidates.len() - shown));
        }
        if self.detail == Detail::Full {
            for file in skipped {
                page.entry(4, Tone::Faint, "not read:", &format!("{} ({})", file.path, file.reason));
            }
        }
    }

    fn judged(&mut self, page: &mut Section, judgements: &[Judgement]) {
        let (kept, aside): (Vec<_>, Vec<_>) = judgements.iter().partition(|judgement| judgement.kept);
        page.line(&format!(
            "  {} relevant, {} set aside",
            count(kept.len(), "file"),
            aside.len()
        ));
        for judgement in kept {
            self.file(page, &format!("{:>6.2}", judgement.relevance), &judgement.path);
        }
        if self.detail == Detail::Full && !aside.is_empty() {
            let paths: Vec<String> = aside
                .iter()
                .map(|judgement| format!("{} {:.2}", judgement.path, judgement.relevance))
                .collect();
            page.toned_prose(4, Some(Tone::Faint), &format!("set aside: {}", paths.join(", ")));
        }
    }

    fn file(&mut self, page: &mut Section, lead: &str, path: &RepoPath) {
        let path_text = super::clean(path.as_str()).into_owned();
        page.line(&format!("  {lead} {}", self.paint.tone(Tone::Strong, &path_text)));
        if let Some(evidence) = self.evidence.remove(path).filter(|evidence| !evidence.is_empty()) {
            page.toned_prose(10, Some(Tone::Faint), &evidence);
        }
    }

    fn spoken(&self, page: &mut Section, speech: &Speech) {
        let who = match speech.speaker {
            Speaker::Manager => match speech.turn {
                Turn::Open => "Manager, opening".to_owned(),
                Turn::Speak => "Manager".to_owned(),
                Turn::SumUp => "Manager, summing up".to_owned(),
            },
            Speaker::Developer(task) => {
                let name = self.tasks.get(&task).and_then(|known| known.developer.as_deref());
                name.map_or_else(
                    || format!("Developer of {task}"),
                    |name| with_role(name, &format!("Developer of {task}")),
                )
            }
            Speaker::Person => "You".to_owned(),
        };
        let tone = if speech.speaker == Speaker::Person {
            Tone::Note
        } else {
            Tone::Strong
        };
        let who = self.paint.tone(tone, &super::clean(&format!("{who}:")));
        page.line(&format!("  {who}"));
        page.prose(4, &speech.text);
    }

    fn plan(&self, page: &mut Section, plan: &Plan) {
        for (index, group) in plan.groups().iter().enumerate() {
            let task = |task: &TaskId| match self.path_of(*task) {
                Some(path) => format!("{task} {path}"),
                None => task.to_string(),
            };
            let tasks: Vec<String> = group.iter().map(task).collect();
            let how = if group.len() > 1 { " (in parallel)" } else { "" };
            page.entry(
                2,
                Tone::Strong,
                &format!("{}.", index + 1),
                &format!("{}{how}", tasks.join(", ")),
            );
        }
    }

    fn reviewed(&self, page: &mut Section, task: TaskId, verdict: &Verdict) {
        let who = match self.tasks.get(&task).and_then(|known| known.reviewer.as_deref()) {
            Some(name) => with_role(name, "QA Engineer"),
            None => "the QA Engineer".to_owned(),
        };
        let word = ModelReview::from(verdict.decision).word();
        page.entry(
            6,
            Tone::Strong,
            &format!("Model review by {who}: {word}."),
            &verdict.comment,
        );
    }
}

/// Returns how a run ended, in a sentence, with its tone. A patch is told as good only where checks and tests say so: the models' review is an
/// opinion. `tested` is what was run on it.
pub fn outcome_sentence(outcome: &RunOutcome, qa: QaMode, tested: Option<&ChangeTests>) -> (Tone, String) {
    if let Some(review) = ModelReview::of_run(outcome, qa) {
        let proof = tested.map_or(Proof::NotRun, ChangeTests::proof);
        let tone = match (&proof, review) {
            (Proof::ShownToWork { .. }, _) => Tone::Good,
            (Proof::NotShown { .. } | Proof::Plausible { .. }, _) | (Proof::NotRun, ModelReview::NotPassed) => {
                Tone::Note
            }
            (Proof::NotRun, ModelReview::Passed | ModelReview::NotRun) => Tone::Strong,
        };
        let said = tested::proof_sentence(&proof, tested);
        return (
            tone,
            format!("A patch. {review} · {said}. Look at it before you apply it."),
        );
    }
    match outcome {
        RunOutcome::Approved | RunOutcome::NotApproved => (Tone::Strong, "A patch.".to_owned()),
        RunOutcome::NoChange { reason } => (Tone::Note, format!("No change: {reason}")),
        RunOutcome::Failed { reason } => (Tone::Bad, format!("The run failed: {reason}")),
    }
}

#[cfg(test)]
mod tests;
