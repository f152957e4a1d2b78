//! A driver that answers every effect with a plain event.

use magis_core::*;
use magis_flow::{Effect, Run, TaskQuestion};
use std::collections::BTreeSet;

/// Answers effects; what varies from test to test is how P4, P10 and P11 come out.
pub struct Driver {
    pub kept: Vec<&'static str>,
    pub declined: Vec<&'static str>,
    pub verdicts: Vec<Decision>,
    pub code: fn(Round) -> Option<Vec<Finding>>,
    /// Which earlier answer an answer repeats.
    pub same_as: fn(Round, AttemptNumber) -> Option<(Round, AttemptNumber)>,
    /// What programs find in an answer, besides what `code` says.
    pub finds: fn(AttemptNumber) -> Option<Finding>,
    /// The change that an answer is.
    pub change: fn(AttemptNumber) -> FileChange,
    pub mode: WritingMode,
    /// What fails on the base.
    pub checks: Vec<BugCheck>,
    /// How many answers a round has, where fewer than the request allows.
    pub answers: Option<u32>,
    /// The lines of each place of a round.
    pub lines: Vec<u32>,
    /// What running an attempt shows: what becomes of each check, and how many tests it breaks.
    pub shows: fn(TaskId, Round, AttemptNumber) -> (CheckState, usize),
    /// The tests of the project that failed on the base and pass with an attempt.
    pub mends: Vec<TestName>,
    /// How much likelier an attempt makes the code, and how many tokens of it it touches.
    pub gain: Box<dyn Fn(AttemptNumber) -> f64>,
    pub touched: fn(AttemptNumber) -> u32,
    pub steps: Vec<String>,
}

impl Default for Driver {
    fn default() -> Self {
        Self {
            kept: vec!["a.py"],
            declined: Vec::new(),
            verdicts: Vec::new(),
            code: |_| Some(Vec::new()),
            same_as: |_, _| None,
            finds: |_| None,
            change: |_| FileChange::Delete,
            mode: WritingMode::Definition,
            checks: Vec::new(),
            lines: vec![1],
            answers: None,
            shows: |_, _, _| (CheckState::Present, 0),
            mends: Vec::new(),
            gain: Box::new(|_| 0.0),
            touched: |_| 0,
            steps: Vec::new(),
        }
    }
}

pub fn path(text: &str) -> RepoPath {
    RepoPath::new(text).unwrap()
}

pub fn request() -> RunRequest {
    RunRequest {
        issue: Issue::new("It crashes").unwrap(),
        hints: Vec::new(),
        hints_mode: HintsMode::Use,
        relevance: RelevanceMode::Code,
        without: BTreeSet::new(),
        files: Vec::new(),
        model: "scripted".to_owned(),
        seed: 1,
        top_k: 10,
        max_rounds: 3,
        attempts_per_round: 1,
        places_per_round: 1,
        writing: Vec::new(),
        tests: TestsMode::Skip,
        qa: QaMode::Review,
    }
}

pub fn started(request: RunRequest) -> RunEvent {
    let base = Base {
        commit: CommitId("c".to_owned()),
        tree: TreeId("t".to_owned()),
        uncommitted: false,
        name: "HEAD".to_owned(),
    };
    RunEvent::RunStarted {
        request: Box::new(request),
        base,
    }
}

pub fn role(name: &str) -> Role {
    Role {
        name: name.to_owned(),
        focus: String::new(),
    }
}

fn undecided(run: &Run, task: TaskId, round: Round) -> Vec<AttemptNumber> {
    let of_round = run.task(task).and_then(|state| state.round(round)).unwrap();
    of_round.undecided().into_iter().map(|(number, _)| number).collect()
}

impl Driver {
    fn answer(&mut self, run: &Run, effect: &Effect) -> RunEvent {
        match effect {
            Effect::ReadIssue => RunEvent::IssueRead {
                condensed: None,
                tokens_before: 3,
                tokens_after: 3,
            },
            Effect::ShowFault => RunEvent::FaultShown {
                checks: self.checks.clone(),
                remarks: Vec::new(),
            },
            Effect::WriteTests => RunEvent::TestsWritten {
                checks: Vec::new(),
                remarks: vec!["nothing fails".to_owned()],
            },
            Effect::TestBase => RunEvent::BaseTested {
                tests: Box::new(BaseTests {
                    covers: run.tasks().map(|state| state.task.path.clone()).collect(),
                    files: vec![path("test_a.py")],
                    left_out: 0,
                    passed: 3,
                    failing: Vec::new(),
                    wavering: Vec::new(),
                    run: Some(program_run()),
                    incomplete: None,
                }),
            },
            Effect::TestAttempt(task, round, attempt) => RunEvent::AttemptTested {
                task: *task,
                round: *round,
                attempt: *attempt,
                result: Box::new(self.result(*task, *round, *attempt)),
            },
            Effect::CompareAttempts(task, round) => RunEvent::AttemptsCompared {
                task: *task,
                round: *round,
                gains: undecided(run, *task, *round)
                    .into_iter()
                    .map(|attempt| AttemptGain {
                        attempt,
                        gain: (self.gain)(attempt),
                        touched: (self.touched)(attempt),
                    })
                    .collect(),
            },
            Effect::Minimise(task) => RunEvent::Minimised {
                task: *task,
                change: FileChange::Delete,
                dropped: 0,
                hunks: 1,
                needed: Vec::new(),
            },
            Effect::TestPatch => {
                let accepted = run
                    .tasks()
                    .find_map(|state| Some((state.task.id, state.accepted_attempt()?)));
                let (task, (round, attempt)) = accepted.unwrap();
                RunEvent::PatchTested {
                    result: Box::new(self.result(task, round, attempt)),
                }
            }
            Effect::Rank => RunEvent::CandidatesRanked {
                candidates: ["a.py", "b.py", "c.py"]
                    .map(|name| Candidate {
                        path: path(name),
                        blob: BlobId(name.to_owned()),
                        score: 1.0,
                        evidence: Vec::new(),
                    })
                    .to_vec(),
                skipped: Vec::new(),
            },
            Effect::Judge => RunEvent::RelevanceJudged {
                judgements: run
                    .candidates()
                    .iter()
                    .map(|candidate| Judgement {
                        path: candidate.path.clone(),
                        naming: None,
                        yes_no: None,
                        relevance: 0.0,
                        kept: self.kept.contains(&candidate.path.as_str()),
                    })
                    .collect(),
            },
            Effect::Describe(path) => RunEvent::FileDescribed {
                description: Description {
                    path: path.clone(),
                    blob: BlobId(path.to_string()),
                    source: DescriptionSource::Fresh,
                    summary: "what it is".to_owned(),
                    from_skeleton: false,
                },
            },
            Effect::DefineTask(path, TaskQuestion::Openly) if self.declined.contains(&path.as_str()) => {
                RunEvent::TaskDeclined {
                    path: path.clone(),
                    reason: "nothing to do".to_owned(),
                }
            }
            Effect::DefineTask(path, _) => RunEvent::TaskDefined {
                task: FileTask {
                    id: TaskId(run.tasks().count() as u32 + 1),
                    path: path.clone(),
                    candidate: path.clone(),
                    action: FileAction::Modify,
                    description: "mend it".to_owned(),
                },
            },
            Effect::DefineRole(task) => RunEvent::RoleDefined {
                task: *task,
                role: role("developer"),
            },
            Effect::OpenMeeting => spoken(Speaker::Manager, Turn::Open),
            Effect::Speak(task) => spoken(Speaker::Developer(*task), Turn::Speak),
            Effect::SumUp => spoken(Speaker::Manager, Turn::SumUp),
            Effect::ReviseRole(task) => RunEvent::RoleRevised {
                task: *task,
                role: role("revised"),
            },
            Effect::MakePlan => {
                let steps = run.tasks().map(|state| PlanStep {
                    task: state.task.id,
                    after: BTreeSet::new(),
                });
                RunEvent::PlanMade {
                    plan: Plan::new(steps.collect()).unwrap(),
                }
            }
            Effect::DefineReviewer(task) => RunEvent::ReviewerDefined {
                task: *task,
                role: role("qa"),
            },
            Effect::ChooseLines(task, round) => RunEvent::LinesChosen {
                task: *task,
                round: *round,
                symbols: Vec::new(),
                spans: place(self.lines[0]).spans,
                others: self.lines[1..].iter().map(|lines| place(*lines)).collect(),
                answers: self.answers,
            },
            Effect::WriteCode(task, round, attempt) => match (self.code)(*round) {
                Some(findings) => RunEvent::CodeWritten {
                    task: *task,
                    round: *round,
                    attempt: *attempt,
                    diagnosis: String::new(),
                    change: (self.change)(*attempt),
                    findings: findings.into_iter().chain((self.finds)(*attempt)).collect(),
                    place: 0,
                    mode: self.mode,
                    same_as: (self.same_as)(*round, *attempt),
                },
                None => RunEvent::CodeFailed {
                    task: *task,
                    round: *round,
                    attempt: *attempt,
                    reason: "no code".to_owned(),
                },
            },
            Effect::Review(task, round, attempt) => {
                let decision = if self.verdicts.is_empty() {
                    Decision::Approved
                } else {
                    self.verdicts.remove(0)
                };
                let verdict = Verdict {
                    decision,
                    comment: "see line 1".to_owned(),
                };
                RunEvent::Reviewed {
                    task: *task,
                    round: *round,
                    attempt: *attempt,
                    verdict,
                }
            }
            Effect::Merge => RunEvent::Merged {
                result: MergeResult {
                    tree: TreeId("r".to_owned()),
                    patch: "diff".to_owned(),
                    commit_message: String::new(),
                    pull_request: String::new(),
                },
            },
            Effect::Record(_) => unreachable!("what the flow decides needs no answer"),
        }
    }

    fn result(&self, task: TaskId, round: Round, attempt: AttemptNumber) -> ChangeTests {
        let (state, broken) = (self.shows)(task, round, attempt);
        let failing = |number: usize| FailingTest {
            name: TestName(format!("test_{number}")),
            message: "assert 1 == 2".to_owned(),
        };
        let of_check = |check: &BugCheck| CheckRun {
            check: check.id,
            state: state.clone(),
            run: program_run(),
        };
        ChangeTests {
            tree: TreeId("t2".to_owned()),
            checks: self.checks.iter().map(of_check).collect(),
            tests: Some(TestsOnChange {
                passed: 3,
                newly_passing: self.mends.clone(),
                newly_failing: (0..broken).map(failing).collect(),
                still_failing: 0,
                run: program_run(),
                incomplete: None,
                missing: 0,
            }),
            less_likely: false,
            rivals: 0,
            as_tests: Vec::new(),
        }
    }

    /// Drives a run to its end; at each step `steer` may put an event of its own in between.
    pub fn drive(
        &mut self,
        request: RunRequest,
        mut steer: impl FnMut(&Run, &Effect) -> Option<RunEvent>,
    ) -> Vec<RunEvent> {
        let mut log = vec![started(request)];
        let mut run = Run::start(&log[0]).unwrap();
        let mut effects = run.pending();
        while let Some(effect) = effects.first().cloned() {
            let events = match (steer(&run, &effect), &effect) {
                (Some(event), _) => vec![event],
                (None, Effect::Record(events)) => {
                    self.steps.extend(events.iter().map(decision));
                    events.clone()
                }
                (None, effect) => {
                    self.steps.push(name(effect));
                    vec![self.answer(&run, effect)]
                }
            };
            assert!(!events.is_empty(), "nothing is decided: {:?}", self.steps);
            for event in events {
                effects = run.handle(&event).unwrap();
                log.push(event);
            }
            assert!(log.len() < 500, "the run does not end: {:?}", self.steps);
        }
        assert_eq!(Run::fold(&log).unwrap(), run, "the fold of the log is the state");
        log
    }
}

pub fn spoken(speaker: Speaker, turn: Turn) -> RunEvent {
    RunEvent::Spoken {
        speech: Speech {
            speaker,
            turn,
            text: "well".to_owned(),
        },
    }
}

fn decision(event: &RunEvent) -> String {
    match event {
        RunEvent::TaskClosed { task, outcome } => format!("Close({task}, {outcome:?})"),
        RunEvent::RunEnded { outcome } => format!("End({outcome:?})"),
        other => format!("{other:?}"),
    }
}

fn name(effect: &Effect) -> String {
    match effect {
        Effect::Describe(path) => format!("Describe({path})"),
        Effect::DefineTask(path, asking) => format!("DefineTask({path}, {asking:?})"),
        other => format!("{other:?}"),
    }
}

pub fn outcome(log: &[RunEvent]) -> &RunOutcome {
    match log.last() {
        Some(RunEvent::RunEnded { outcome }) => outcome,
        other => panic!("the run did not end: {other:?}"),
    }
}

pub fn program_run() -> ProgramRun {
    ProgramRun {
        command: "pytest".to_owned(),
        folder: String::new(),
        end: "ended".to_owned(),
        status: Some(0),
        took_ms: 1,
        stdout: ExcerptedOutput::default(),
        stderr: ExcerptedOutput::default(),
        refused: Vec::new(),
    }
}

/// A check of this grade.
pub fn check(number: u32, grade: Grade) -> BugCheck {
    BugCheck {
        id: CheckId(number),
        source: CheckSource::Issue { number },
        grade,
        script: "import a".to_owned(),
        as_test: None,
        on_base: program_run(),
        reached: Vec::new(),
        warnings: Vec::new(),
    }
}

fn place(lines: u32) -> CodePlace {
    CodePlace {
        symbols: Vec::new(),
        spans: vec![LineSpan::new(1, lines).unwrap()],
    }
}
