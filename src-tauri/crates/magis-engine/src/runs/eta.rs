//! How long a run still takes, about: from runs that ended here, else from how the stages usually share the time.
//!
//! It reads no clock; what was spent is passed in.

use crate::{EngineError, Magis};
use magis_core::{ProgramRun, RunEvent, RunId, Stage, TestsMode};
use magis_flow::{Attempt, Run, TaskState};
use magis_store::{RunFilter, StoredEvent, StoredStatus};
use std::time::Duration;

/// How many ended runs say how long a run takes.
const EARLIER_RUNS: usize = 5;
/// The number of the last runs that ended among which it looks.
const LOOKED_AT: u32 = 50;
/// How the stages share the time of a run that runs nothing, where no such run ended here yet.
const SHARES: StageTimes = StageTimes([0.0, 0.25, 0.1, 0.15, 0.05, 0.43, 0.02]);
/// The same of a run that runs code: a meeting is rarely held, and attempts take most of it.
const SHARES_WITH_TESTS: StageTimes = StageTimes([3.0, 11.0, 20.0, 0.0, 0.5, 155.0, 3.5]);
/// So much of the whole has to be over before shares say how long the rest takes.
const LEAST_SHARE: f64 = 0.05;
/// How many stages there are.
const STAGES: usize = Stage::ALL.len();

/// Seconds by stage, in the order of [`Stage::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StageTimes([f64; STAGES]);

/// What a run usually takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Eta {
    /// As runs that ended here did.
    Usual(StageTimes),
    /// Nobody knows; only how the stages share it.
    Shares(StageTimes),
}

impl StageTimes {
    /// Returns what a log says: the time before each event belongs to its stage. Pauses do not count.
    pub fn of(events: &[StoredEvent]) -> Self {
        let mut spent = Self::default();
        for pair in events.windows(2) {
            if !matches!(pair[1].event, RunEvent::Resumed) {
                let ms = pair[1].at_ms.saturating_sub(pair[0].at_ms).max(0);
                spent.0[pair[1].stage as usize] += ms as f64 / 1000.0;
            }
        }
        spent
    }

    /// Returns how long code was run, as far as a log tells of the runs. The model does nothing meanwhile, so that this adds to the time of its
    /// calls.
    pub fn running_code(events: &[StoredEvent]) -> Duration {
        let ms = events.iter().map(|stored| ran_for(&stored.event)).sum();
        Duration::from_millis(ms)
    }

    /// Adds time spent on a stage.
    pub fn add(&mut self, stage: Stage, time: Duration) {
        self.0[stage as usize] += time.as_secs_f64();
    }
}

/// Returns how long the programs ran that an event tells of, in milliseconds.
fn ran_for(event: &RunEvent) -> u64 {
    let took = |run: &ProgramRun| u64::from(run.took_ms);
    match event {
        RunEvent::FaultShown { checks, .. } | RunEvent::TestsWritten { checks, .. } => {
            checks.iter().map(|check| took(&check.on_base)).sum()
        }
        // Of the two runs on the base the first one is told.
        RunEvent::BaseTested { tests } => tests.run.as_ref().map_or(0, |run| 2 * took(run)),
        RunEvent::AttemptTested { result, .. } | RunEvent::PatchTested { result } => {
            let checks: u64 = result.checks.iter().map(|check| took(&check.run)).sum();
            let tests = result.tests.as_ref().map_or(0, |tests| took(&tests.run));
            // The run without the patch is not told where there is one with it.
            let as_tests: u64 = result.as_tests.iter().map(|test| 2 * took(&test.run)).sum();
            checks + tests + as_tests
        }
        _ => 0,
    }
}

impl Magis {
    /// Returns what the last runs that ended here took, with the model of this run, and running code where it does; of those with all their
    /// stages.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn eta(&self, run: RunId) -> Result<Eta, EngineError> {
        let own = self.store.run(run)?;
        let ended = RunFilter {
            status: Some(StoredStatus::Ended),
            limit: LOOKED_AT,
            ..RunFilter::default()
        };
        let alike = self.store.runs(&ended)?.into_iter();
        let alike =
            alike.filter(|entry| entry.model == own.entry.model && entry.parent.is_none() && entry.size.files > 0);
        let mut logs = Vec::new();
        for entry in alike {
            if logs.len() == EARLIER_RUNS {
                break;
            }
            if runs_code(&self.store.run(entry.id)?.request.tests) == runs_code(&own.request.tests) {
                logs.push(StageTimes::of(&self.store.events(entry.id)?));
            }
        }
        Ok(Eta::of(&logs, &own.request.tests))
    }
}

fn runs_code(tests: &TestsMode) -> bool {
    match tests {
        TestsMode::Run { .. } => true,
        TestsMode::Skip => false,
    }
}

impl Eta {
    /// Returns the average of runs that ended; where none did, how the stages of such a run share its time.
    pub fn of(logs: &[StageTimes], tests: &TestsMode) -> Self {
        if logs.is_empty() {
            return Self::Shares(if runs_code(tests) { SHARES_WITH_TESTS } else { SHARES });
        }
        let mut usual = StageTimes::default();
        for (stage, seconds) in usual.0.iter_mut().enumerate() {
            *seconds = logs.iter().map(|log| log.0[stage]).sum::<f64>() / logs.len() as f64;
        }
        Self::Usual(usual)
    }

    /// Returns how much of the code stage is done, from 0 to 1, on average of the tasks: all of one that is closed, else the answers that are
    /// judged, of all that its rounds may have.
    pub fn code_done(run: &Run) -> f64 {
        let request = run.request();
        let of_task = |state: &TaskState| {
            let asked = state.rounds.last();
            let answers = asked.map_or(request.attempts_per_round, |round| run.answers_of(round));
            task_done(state, answers, request.max_rounds)
        };
        let tasks: Vec<f64> = run.tasks().map(of_task).collect();
        if tasks.is_empty() {
            0.0
        } else {
            tasks.iter().sum::<f64>() / tasks.len() as f64
        }
    }

    /// Returns how long it still takes, at `stage`, of whose work `done` (0 to 1) is known to be done. None while
    /// nothing can be said.
    pub fn remaining(&self, spent: &StageTimes, stage: Stage, done: f64) -> Option<Duration> {
        let at = stage as usize;
        let before: f64 = spent.0[..at].iter().sum();
        let (usual, speed) = match self {
            Self::Usual(usual) => {
                let expected: f64 = usual.0[..at].iter().sum();
                let speed = if expected > 1.0 {
                    (before / expected).clamp(0.3, 5.0)
                } else {
                    1.0
                };
                (usual.0, speed)
            }
            Self::Shares(shares) => {
                let over: f64 = shares.0[..at].iter().sum();
                let whole: f64 = shares.0.iter().sum();
                if over < LEAST_SHARE * whole || before <= 0.0 {
                    return None;
                }
                (shares.0, before / over)
            }
        };
        let here = spent.0[at];
        let current = if done > 0.05 {
            here / done - here
        } else {
            // A stage that takes longer than usual is still not over.
            (usual[at] * speed - here).max(usual[at] * speed * 0.1)
        };
        let later: f64 = usual[at + 1..].iter().map(|seconds| seconds * speed).sum();
        Some(Duration::from_secs_f64((current + later).max(1.0)))
    }
}

/// Returns how much of a task is done, whose rounds have so many answers and which has so many rounds at the most.
fn task_done(state: &TaskState, answers: u32, rounds: u32) -> f64 {
    if state.outcome.is_some() {
        return 1.0;
    }
    let attempts = state.rounds.iter().flat_map(|round| round.attempts.values());
    let judged = attempts.filter(|attempt| is_judged(attempt)).count();
    let all = f64::from(answers.max(1)) * f64::from(rounds.max(1));
    (judged as f64 / all).min(1.0)
}

/// Returns whether an answer is tested or reviewed, or nothing can be: it has no usable code, or repeats another.
fn is_judged(attempt: &Attempt) -> bool {
    let is_new = attempt.usable_change().is_some() && attempt.same_as().is_none();
    !is_new || attempt.tested.is_some() || attempt.verdict.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use magis_core::{
        AttemptNumber, BaseTests, ChangeTests, CodePlace, FileAction, FileChange, FileTask, IssueChecks, RepoPath,
        Round, TaskId, TaskOutcome, TreeId, WritingMode,
    };
    use magis_flow::{AttemptState, RoundState};

    const NOTHING_RUN: TestsMode = TestsMode::Skip;

    fn running_code() -> TestsMode {
        TestsMode::Run {
            command: None,
            failing: Vec::new(),
            checks: IssueChecks::Make,
        }
    }

    fn check(eta: Eta, spent: [f64; STAGES], stage: Stage, done: f64, expected: Option<u64>) {
        let left = eta.remaining(&StageTimes(spent), stage, done);
        assert_eq!(left.map(|left| left.as_secs_f64().round() as u64), expected);
    }

    #[test]
    fn runs_that_ended_here_say_how_long_it_takes() {
        let logs = [
            StageTimes([0.0, 10.0, 10.0, 20.0, 0.0, 60.0, 0.0]),
            StageTimes([0.0, 30.0, 10.0, 20.0, 0.0, 40.0, 0.0]),
        ];
        let usual = Eta::of(&logs, &NOTHING_RUN);
        check(usual, [0.0; STAGES], Stage::Locate, 0.0, Some(100));
        // Half as fast as usual so far.
        check(usual, [0.0, 40.0, 0.0, 0.0, 0.0, 0.0, 0.0], Stage::Team, 0.0, Some(160));
    }

    #[test]
    fn without_any_the_shares_of_the_stages_do_once_one_is_over() {
        let shares = Eta::of(&[], &NOTHING_RUN);
        check(shares, [0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0], Stage::Locate, 0.0, None);
        check(
            shares,
            [0.0, 25.0, 10.0, 15.0, 5.0, 0.0, 0.0],
            Stage::Code,
            0.0,
            Some(45),
        );
    }

    #[test]
    fn a_run_that_runs_code_has_shares_of_its_own_and_needs_no_meeting() {
        let shares = Eta::of(&[], &running_code());
        check(shares, [6.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], Stage::Locate, 0.0, None);
        check(
            shares,
            [6.0, 22.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            Stage::Team,
            0.0,
            Some(358),
        );
        check(
            shares,
            [6.0, 22.0, 40.0, 0.0, 1.0, 0.0, 0.0],
            Stage::Code,
            0.0,
            Some(317),
        );
    }

    #[test]
    fn what_is_done_of_the_code_says_how_long_the_rest_takes() {
        let shares = Eta::of(&[], &NOTHING_RUN);
        check(
            shares,
            [0.0, 25.0, 10.0, 15.0, 5.0, 30.0, 0.0],
            Stage::Code,
            0.5,
            Some(32),
        );
    }

    #[test]
    fn answers_that_are_judged_say_how_much_of_a_task_is_done() {
        let failed = Attempt {
            state: AttemptState::Failed {
                reason: "no code".to_owned(),
            },
            tested: None,
            gain: None,
            rivals: 0,
            verdict: None,
        };
        let waiting = Attempt {
            state: AttemptState::Written {
                diagnosis: String::new(),
                change: FileChange::Delete,
                findings: Vec::new(),
                place: 0,
                mode: WritingMode::default(),
                same_as: None,
            },
            ..failed.clone()
        };
        let tested = Attempt {
            tested: Some(ChangeTests {
                tree: TreeId("t".to_owned()),
                checks: Vec::new(),
                tests: None,
                less_likely: false,
                rivals: 0,
                as_tests: Vec::new(),
            }),
            ..waiting.clone()
        };
        let attempts = [failed, tested, waiting].into_iter().enumerate();
        let path = RepoPath::new("a.py").expect("a path");
        let mut task = TaskState {
            task: FileTask {
                id: TaskId(1),
                path: path.clone(),
                candidate: path,
                action: FileAction::Modify,
                description: String::new(),
            },
            edited: false,
            role: None,
            revised: false,
            reviewer: None,
            rounds: vec![RoundState {
                round: Round(1),
                places: vec![CodePlace {
                    symbols: Vec::new(),
                    spans: Vec::new(),
                }],
                answers: None,
                attempts: attempts
                    .map(|(number, attempt)| (AttemptNumber(number as u32), attempt))
                    .collect(),
            }],
            taken: None,
            minimised: None,
            outcome: None,
        };
        assert_eq!((task_done(&task, 4, 2) * 100.0).round() as u32, 25, "two of eight");
        task.outcome = Some(TaskOutcome::NotApproved { round: Round(1) });
        assert_eq!(task_done(&task, 4, 2).round() as u32, 1);
    }

    #[test]
    fn what_programs_took_is_time_of_running_code() {
        let run = ProgramRun {
            took_ms: 1_500,
            ..ProgramRun::none("ended with exit status 0")
        };
        let tests = BaseTests {
            covers: Vec::new(),
            files: Vec::new(),
            left_out: 0,
            passed: 1,
            failing: Vec::new(),
            wavering: Vec::new(),
            run: Some(run),
            incomplete: None,
        };
        let events = [
            RunEvent::Resumed,
            RunEvent::BaseTested { tests: Box::new(tests) },
            RunEvent::Resumed,
        ];
        let logged = events.into_iter().enumerate().map(|(at, event)| StoredEvent {
            seq: at as u32 + 1,
            at_ms: 0,
            stage: Stage::Code,
            event,
        });
        let logged: Vec<StoredEvent> = logged.collect();
        assert_eq!(StageTimes::running_code(&logged), Duration::from_secs(3));
    }
}
