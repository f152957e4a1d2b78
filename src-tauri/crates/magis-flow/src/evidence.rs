//! The order of the code stage where code is run: attempts at several places, tested as they are written, until one is
//! shown to work. A departure from the paper, whose order is in `next`.
//!
//! What a run showed is in the events; nothing is run here.

use crate::next::not_approved;
use crate::task::Rank;
use crate::{Attempt, Effect, RoundState, Run, TaskState};
use magis_core::{
    AttemptNumber, BaseTests, CodePlace, QaMode, Round, RunEvent, TaskId, TaskOutcome, TestsMode, WritingMode,
};
use std::ops::Range;

/// The share of a round's answers that has to have the same code, where nothing can be shown, for the round to end early.
const AGREEMENT: (usize, usize) = (3, 4);

/// An attempt of a run.
type AttemptKey = (TaskId, Round, AttemptNumber);

impl Run {
    /// Returns the next step of the code stage.
    ///
    /// Tasks take turns, a round each, because nobody knows which of them is the right place. One whose attempts pass, though none is taken yet, goes
    /// first; then those with an attempt that a check passes with, whatever it breaks: the fault runs through their code. The first attempt that is shown
    /// to work ends the stage: its task is closed with it, and the others are set aside. What a person rewrote is tried before that, and preferred.
    pub(crate) fn code_by_evidence(&self) -> Vec<Effect> {
        let tasks: Vec<&TaskState> = self.groups().into_iter().flatten().collect();
        let open: Vec<&TaskState> = tasks.iter().copied().filter(|state| self.is_open(state)).collect();
        if open.is_empty() {
            return Vec::new();
        }
        if open.iter().any(|state| state.taken.is_some()) {
            return vec![close(&tasks, |state| match state.taken {
                Some((round, _)) => TaskOutcome::NotApproved { round },
                None => set_aside("a person took another attempt"),
            })];
        }
        let passing = self.passing_attempt();
        let passes = |state: &TaskState| passing.is_some_and(|(task, ..)| task == state.task.id);
        if let Some(edited) = open.iter().find(|state| self.is_awaited(state) && !passes(state)) {
            return vec![self.step(edited)];
        }
        // What was chosen before is compared with what came later.
        let is_in_question = |state: &&TaskState| {
            let is_chosen = state.taken.is_none() && state.accepted_change().is_some();
            self.is_open(state) || (is_chosen && !self.checks().is_empty())
        };
        let in_question: Vec<&TaskState> = tasks.into_iter().filter(is_in_question).collect();
        if let Some((task, round, attempt)) = passing {
            if let Some(next) = self.rival(task, round, attempt) {
                return vec![next];
            }
            if let Some(comparison) = self.comparison(task, round, attempt) {
                return vec![comparison];
            }
            if let Some(review) = self.review(task, round, attempt) {
                return vec![review];
            }
            let chosen = self.task(task).and_then(|state| state.attempt(round, attempt));
            let is_approved = self.request.qa == QaMode::Skip || chosen.is_some_and(Attempt::approved);
            let outcome = if is_approved {
                TaskOutcome::Approved { round }
            } else {
                TaskOutcome::NotApproved { round }
            };
            let reason = format!("the change of {task} alone passes");
            return vec![close_with(&in_question, task, &outcome, &reason)];
        }
        let rounds = |state: &TaskState| state.rounds.iter().filter(|round| self.is_written(round)).count();
        let unfinished = open.iter().filter(|state| !self.is_exhausted(state));
        let turn = |state: &&&TaskState| (!state.has_passing(), !state.came_near(), rounds(state));
        match unfinished.min_by_key(turn) {
            Some(state) => vec![self.step(state)],
            None => vec![self.close_unshown(&in_question)],
        }
    }

    /// Returns whether a person rewrote a task, and its first round is not over.
    fn is_awaited(&self, state: &TaskState) -> bool {
        let is_over = state.rounds.first().is_some_and(|first| self.is_written(first));
        state.edited && !is_over
    }

    /// Returns whether something is still to be done for a task: also where it was set aside for another one that was dropped since.
    fn is_open(&self, state: &TaskState) -> bool {
        match state.outcome {
            None => true,
            Some(TaskOutcome::SetAside { .. }) => !self.tasks().any(|other| other.accepted_change().is_some()),
            Some(_) => false,
        }
    }

    /// Returns the task whose change is to be made as small as it can be; only what passes can be.
    pub(crate) fn to_minimise(&self) -> Option<TaskId> {
        let of_task = |state: &TaskState| {
            let (round, number) = state.accepted_attempt()?;
            let passes = state.attempt(round, number)?.proof().grade().is_some();
            (passes && state.minimised.is_none()).then_some(state.task.id)
        };
        if self.runs_code() {
            self.tasks().find_map(of_task)
        } else {
            None
        }
    }

    /// Returns whether there is a check or a test to judge a change by.
    pub(crate) fn has_something_to_run(&self) -> bool {
        let has_tests = |tests: &BaseTests| tests.run.is_some() && tests.passed > 0;
        self.runs_code() && (!self.checks().is_empty() || self.base_tests.as_ref().is_some_and(has_tests))
    }

    /// Returns the numbers of a round's answers, in the order in which they are written: place by place.
    pub(crate) fn attempts(&self, round: &RoundState) -> impl Iterator<Item = AttemptNumber> + use<> {
        let last = self.share(round, round.places.len().saturating_sub(1)).end;
        (0..last).map(AttemptNumber)
    }

    /// Returns the numbers of the answers at the place of one, itself included.
    pub fn attempts_beside(&self, state: &TaskState, round: Round, number: AttemptNumber) -> Vec<AttemptNumber> {
        let share = state.round(round).map_or(0..1, |round| self.place_of(round, number).1);
        share.map(AttemptNumber).collect()
    }

    /// Returns at which of a round's places an answer is, from 0, and the numbers of all that are there.
    pub fn place_of(&self, round: &RoundState, number: AttemptNumber) -> (usize, Range<u32>) {
        let places = 0..round.places.len().max(1);
        let shares = places.map(|place| (place, self.share(round, place)));
        let mut holding = shares.filter(|(_, share)| share.contains(&number.0));
        holding.next().unwrap_or((0, 0..1))
    }

    /// Returns the numbers of the answers at a place: one at each, and the others by the square root of its lines, as there is more to be tried in
    /// longer code, and the best of it comes first. The first places have what is left over.
    fn share(&self, round: &RoundState, place: usize) -> Range<u32> {
        let answers = self.answers_of(round);
        let places = &round.places[..round.places.len().min(answers as usize)];
        let Some(last) = places.len().checked_sub(1) else {
            return 0..answers;
        };
        let lines = |place: &CodePlace| place.spans.iter().map(|span| span.lines()).sum::<u32>().max(1);
        let weight = |places: &[CodePlace]| places.iter().map(|place| f64::from(lines(place)).sqrt()).sum::<f64>();
        let others = f64::from(answers - places.len() as u32) / weight(places);
        let before = |place: usize| place as u32 + (others * weight(&places[..place])).ceil() as u32;
        let place = place.min(last);
        let end = if place == last { answers } else { before(place + 1) };
        before(place)..end
    }

    /// Returns how many answers a round has.
    pub fn answers_of(&self, round: &RoundState) -> u32 {
        let allowed = self.request.attempts_per_round.max(1);
        round.answers.map_or(allowed, |answers| answers.clamp(1, allowed))
    }

    /// Returns whether nothing more comes of a round: all its answers are there and tested, or enough of them agree.
    fn is_written(&self, round: &RoundState) -> bool {
        self.next_in(round).is_none()
    }

    fn is_exhausted(&self, state: &TaskState) -> bool {
        let Some(last) = state.rounds.last() else { return false };
        let may_go_on = last.round.0 < self.request.max_rounds.max(1);
        self.is_written(last) && (!may_go_on || (self.checks().is_empty() && self.is_settled_by_review(state, last)))
    }

    /// Returns whether a review has approved the best of a round; where nothing can be shown, that has to do.
    fn is_settled_by_review(&self, state: &TaskState, round: &RoundState) -> bool {
        let Some((number, best)) = round.best() else {
            return false;
        };
        let breaks = best
            .tested
            .as_ref()
            .is_some_and(|tested| tested.broken() > 0 || !tested.runs());
        let reviewed = self.request.qa == QaMode::Skip || best.approved();
        !breaks && reviewed && state.attempt(round.round, number).is_some()
    }

    fn step(&self, state: &TaskState) -> Effect {
        let task = state.task.id;
        let Some(last) = state.rounds.last() else {
            return Effect::ChooseLines(task, Round(1));
        };
        if self.wants_base_tests(state) {
            return Effect::TestBase;
        }
        if let Some(next) = self.next_in(last) {
            return next.of(task, last.round);
        }
        // The review of the best one is what the next round is told; where nothing shows the fault, it also decides whether to go on.
        if let Some((number, _)) = last.best()
            && let Some(review) = self.review(task, last.round, number)
        {
            return review;
        }
        Effect::ChooseLines(task, Round(last.round.0 + 1))
    }

    fn wants_base_tests(&self, state: &TaskState) -> bool {
        let has_command = matches!(&self.request.tests, TestsMode::Run { command: Some(_), .. });
        let covered = |tests: &BaseTests| tests.covers.contains(&state.task.path);
        has_command && !self.base_tests.as_ref().is_some_and(covered)
    }

    /// Returns what is missing in a round: place by place the answers are written, and each that is usable and new is tested before the next is
    /// written.
    fn next_in(&self, round: &RoundState) -> Option<Next> {
        for place in 0..round.places.len().max(1) {
            let share = self.share(round, place);
            if self.checks().is_empty() && place > 0 && agrees(round) {
                return None;
            }
            if let Some(next) = self.next_among(round, share) {
                return Some(next);
            }
        }
        None
    }

    /// Returns what is missing of some answers of a round.
    fn next_among(&self, round: &RoundState, answers: Range<u32>) -> Option<Next> {
        for number in answers.map(AttemptNumber) {
            let Some(attempt) = round.attempts.get(&number) else {
                return Some(Next::Write(number));
            };
            let is_new = attempt.usable_change().is_some() && attempt.same_as().is_none();
            if is_new && attempt.tested.is_none() && self.has_something_to_run() {
                return Some(Next::Test(number));
            }
        }
        None
    }

    /// Returns what is missing of the other answers at the place of an attempt that passes, before it is reviewed. They are waited for where programs
    /// found something in it, and where they are written already, as edits at one token and what is put in are: one of them may pass as well and stand before
    /// it. The last one at a place rewrites the definition, so that only a finding is worth its time.
    fn rival(&self, task: TaskId, round: Round, number: AttemptNumber) -> Option<Effect> {
        let state = self.task(task)?;
        let attempt = state.attempt(round, number)?;
        if attempt.verdict.is_some() {
            return None;
        }
        let of_round = state.round(round)?;
        let (_, mut beside) = self.place_of(of_round, number);
        if attempt.findings().is_empty() {
            let written = matches!(attempt.mode(), WritingMode::TokenEdit | WritingMode::Insert);
            beside.end = if written { beside.end - 1 } else { beside.start };
        }
        Some(self.next_among(of_round, beside)?.of(task, round))
    }

    /// Returns what is missing to know how likely the code is with an attempt that passes, and with others that pass as well, before it is reviewed.
    fn comparison(&self, task: TaskId, round: Round, best: AttemptNumber) -> Option<Effect> {
        let of_round = self.task(task)?.round(round)?;
        if of_round.attempts.get(&best)?.verdict.is_some() {
            return None;
        }
        let undecided = of_round.undecided();
        let is_missing = undecided.iter().any(|(_, attempt)| attempt.gain.is_none());
        is_missing.then_some(Effect::CompareAttempts(task, round))
    }

    /// Returns the best attempt that passes; of those by as strong a grade, one of a task that a person rewrote comes first. Where there is more to come,
    /// one does not count with which the code is unlikely, and with a weak grade none that its review rejected.
    fn passing_attempt(&self) -> Option<AttemptKey> {
        let mut passing: Vec<(bool, bool, Rank, AttemptKey)> = Vec::new();
        for state in self.tasks() {
            for round in &state.rounds {
                for (number, attempt) in &round.attempts {
                    let Some(grade) = attempt.proof().grade() else {
                        continue;
                    };
                    let rejected = attempt.verdict.is_some() && !attempt.approved() && !grade.is_strong();
                    if (rejected || attempt.is_unlikely()) && !self.is_exhausted(state) {
                        continue;
                    }
                    if let Some(rank) = round.rank(*number) {
                        let is_strong = grade.is_strong() && !attempt.is_unlikely();
                        passing.push((is_strong, state.edited, rank, (state.task.id, round.round, *number)));
                    }
                }
            }
        }
        passing.into_iter().max().map(|(.., key)| key)
    }

    /// Returns what is missing for the review of an attempt; none where there is a verdict, or none is wanted.
    fn review(&self, task: TaskId, round: Round, attempt: AttemptNumber) -> Option<Effect> {
        let state = self.task(task)?;
        if self.request.qa == QaMode::Skip || state.attempt(round, attempt)?.verdict.is_some() {
            None
        } else if state.reviewer.is_none() {
            Some(Effect::DefineReviewer(task))
        } else {
            Some(Effect::Review(task, round, attempt))
        }
    }

    /// Closes the tasks when nothing is shown to work: where a check could have shown it, with the one attempt that came
    /// nearest, else each with its own best.
    fn close_unshown(&self, tasks: &[&TaskState]) -> Effect {
        // It was never tried together with what a person took.
        if self.tasks().any(|state| state.taken.is_some()) {
            return close(tasks, |_| set_aside("a person took another attempt"));
        }
        if self.checks().is_empty() {
            return close(tasks, |state| {
                let last = state
                    .rounds
                    .last()
                    .filter(|last| self.is_settled_by_review(state, last));
                last.map_or_else(
                    || not_approved(state),
                    |last| TaskOutcome::Approved { round: last.round },
                )
            });
        }
        let rank = |state: &&&TaskState| {
            let (round, number) = state.best()?;
            state.round(round)?.rank(number)
        };
        let best = tasks
            .iter()
            .rev()
            .max_by_key(rank)
            .filter(|state| state.best().is_some());
        match best.and_then(|state| Some((state.task.id, state.best()?))) {
            Some((task, (round, _))) => {
                let reason = format!("the change of {task} came nearer, and together they were not tried");
                close_with(tasks, task, &TaskOutcome::NotApproved { round }, &reason)
            }
            None => close(tasks, not_approved),
        }
    }
}

/// Closes tasks, those that are closed so already left out.
fn close(tasks: &[&TaskState], outcome: impl Fn(&TaskState) -> TaskOutcome) -> Effect {
    let closed = |state: &&TaskState| {
        let outcome = outcome(state);
        (state.outcome.as_ref() != Some(&outcome)).then_some(RunEvent::TaskClosed {
            task: state.task.id,
            outcome,
        })
    };
    Effect::Record(tasks.iter().filter_map(closed).collect())
}

/// Closes tasks: one with what came of it, the others without their changes.
fn close_with(tasks: &[&TaskState], chosen: TaskId, outcome: &TaskOutcome, reason: &str) -> Effect {
    close(tasks, |state| {
        if state.task.id == chosen {
            outcome.clone()
        } else {
            set_aside(reason)
        }
    })
}

fn set_aside(reason: &str) -> TaskOutcome {
    TaskOutcome::SetAside {
        reason: reason.to_owned(),
    }
}

/// What is missing in a round.
enum Next {
    Write(AttemptNumber),
    Test(AttemptNumber),
}

impl Next {
    fn of(self, task: TaskId, round: Round) -> Effect {
        match self {
            Self::Write(number) => Effect::WriteCode(task, round, number),
            Self::Test(number) => Effect::TestAttempt(task, round, number),
        }
    }
}

/// Returns whether enough of the answers so far have the same code.
fn agrees(round: &RoundState) -> bool {
    let written = round.attempts.len();
    let most = round
        .attempts
        .keys()
        .map(|number| round.votes(*number))
        .max()
        .unwrap_or(0);
    most >= AGREEMENT.0 && most * AGREEMENT.1 >= written * AGREEMENT.0
}
