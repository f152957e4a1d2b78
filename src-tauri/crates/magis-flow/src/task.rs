//! How far a task is: its rounds, the attempts of each, and what came of them.

use magis_core::{
    AttemptGain, AttemptNumber, ChangeTests, CheckState, CodePlace, Decision, FileChange, FileTask, Finding, Grade,
    Proof, Role, Round, TaskOutcome, Verdict, WritingMode,
};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// One task: who has it, and how far it is.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskState {
    pub task: FileTask,
    /// Whether a person rewrote it.
    pub edited: bool,
    pub role: Option<Role>,
    /// Whether the role was revised after the meeting (P6).
    pub revised: bool,
    pub reviewer: Option<Role>,
    /// The rounds so far, in order.
    pub rounds: Vec<RoundState>,
    /// The attempt that a person took.
    pub taken: Option<(Round, AttemptNumber)>,
    /// What is left of the change after what it can do without was taken out.
    pub minimised: Option<FileChange>,
    pub outcome: Option<TaskOutcome>,
}

/// One round of algorithm 3's loop.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundState {
    pub round: Round,
    /// Where to change, the likeliest first; never empty.
    pub places: Vec<CodePlace>,
    /// How many answers are asked for, where fewer do than the request allows.
    pub answers: Option<u32>,
    pub attempts: BTreeMap<AttemptNumber, Attempt>,
}

/// One answer of a round.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    pub state: AttemptState,
    /// What running it showed.
    pub tested: Option<ChangeTests>,
    /// How much likelier the code is with it than without it; none where that was not asked.
    pub gain: Option<AttemptGain>,
    /// How many attempts with other code pass as well, and only the model tells them apart.
    pub rivals: u32,
    /// P11.
    pub verdict: Option<Verdict>,
}

/// What came of a P10.
#[derive(Debug, Clone, PartialEq)]
pub enum AttemptState {
    /// Code that was spliced.
    Written {
        /// What is wrong, in a sentence or two.
        diagnosis: String,
        /// The change against the base version.
        change: FileChange,
        findings: Vec<Finding>,
        /// Which of the round's places, from 0.
        place: u32,
        mode: WritingMode,
        /// The earlier attempt that it repeats.
        same_as: Option<(Round, AttemptNumber)>,
    },
    Failed {
        reason: String,
    },
}

impl Attempt {
    pub(crate) fn new(state: AttemptState) -> Self {
        Self {
            state,
            tested: None,
            gain: None,
            rivals: 0,
            verdict: None,
        }
    }

    /// Returns the earlier attempt whose code it repeats.
    pub fn same_as(&self) -> Option<(Round, AttemptNumber)> {
        match &self.state {
            AttemptState::Written { same_as, .. } => *same_as,
            AttemptState::Failed { .. } => None,
        }
    }

    /// Returns at which of its round's places it is, from 0; none where it failed.
    pub fn place(&self) -> Option<usize> {
        match &self.state {
            AttemptState::Written { place, .. } => Some(*place as usize),
            AttemptState::Failed { .. } => None,
        }
    }

    /// Returns how it was asked for.
    pub fn mode(&self) -> WritingMode {
        match &self.state {
            AttemptState::Written { mode, .. } => *mode,
            AttemptState::Failed { .. } => WritingMode::default(),
        }
    }

    /// Returns what running it proves.
    pub fn proof(&self) -> Proof {
        let tested = self.tested.as_ref().map_or(Proof::NotRun, ChangeTests::proof);
        tested.beside(self.is_less_likely(), self.rivals)
    }

    /// Returns the change, where there is a usable one.
    pub fn usable_change(&self) -> Option<&FileChange> {
        match &self.state {
            AttemptState::Written { change, findings, .. } if !findings.iter().any(Finding::is_fatal) => Some(change),
            AttemptState::Written { .. } | AttemptState::Failed { .. } => None,
        }
    }

    /// Returns what programs found in the code.
    pub fn findings(&self) -> &[Finding] {
        match &self.state {
            AttemptState::Written { findings, .. } => findings,
            AttemptState::Failed { .. } => &[],
        }
    }

    /// Returns whether QA approved it.
    pub fn approved(&self) -> bool {
        self.verdict
            .as_ref()
            .is_some_and(|verdict| verdict.decision == Decision::Approved)
    }

    /// Returns whether the model finds the code less likely with it than without it. Where a test of the project passes that failed, that is of no
    /// account: the example of an issue is a single one, and a test was written by somebody who knew more.
    pub fn is_less_likely(&self) -> bool {
        self.gains_less_than(0.0)
    }

    /// Returns whether the model finds the code so much less likely with it that others are looked for first.
    pub fn is_unlikely(&self) -> bool {
        let lines = self.usable_change().map_or(0, size);
        let further = lines.saturating_sub(1).min(FURTHER_LINES) as f64;
        self.gains_less_than(-UNLIKELY - UNLIKELY_BY_LINE * further)
    }

    fn gains_less_than(&self, least: f64) -> bool {
        let tests = self.tested.as_ref().and_then(|tested| tested.tests.as_ref());
        let mends_a_test = tests.is_some_and(|tests| !tests.newly_passing.is_empty());
        !mends_a_test && self.gain.is_some_and(|of| of.gain < least)
    }

    /// Returns why it has to be done again, in words for the Developer.
    pub fn objection(&self) -> Option<String> {
        match (&self.state, &self.verdict) {
            (AttemptState::Failed { reason }, _) => Some(reason.clone()),
            (AttemptState::Written { findings, .. }, _) if findings.iter().any(Finding::is_fatal) => {
                Some(findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
            }
            (AttemptState::Written { .. }, verdict) => {
                let rejected = verdict
                    .as_ref()
                    .filter(|verdict| verdict.decision == Decision::Rejected);
                let comment = rejected.map(|verdict| verdict.comment.as_str());
                let seen = self.tested.as_ref().and_then(objection_of_tests);
                match (comment, seen) {
                    (Some(comment), Some(seen)) => Some(format!("{}\n{seen}", first_sentence(comment))),
                    (comment, seen) => seen.or(comment.map(str::to_owned)),
                }
            }
        }
    }
}

/// How much less likely a change of one line may make its code before others are looked for, in nats: of 37 right changes one goes further, of 13 wrong
/// ones that passed eleven do.
const UNLIKELY: f64 = 3.0;
/// The same for each further line that it writes or replaces, four at the most: of eight right changes that put lines in two go further.
const UNLIKELY_BY_LINE: f64 = 6.0;
const FURTHER_LINES: usize = 4;

/// The most characters of an output or a message that an objection quotes.
const QUOTED: usize = 700;

/// Returns what runs say against a change, with the end of what was written; none where they say nothing.
fn objection_of_tests(tested: &ChangeTests) -> Option<String> {
    let mut said = Vec::new();
    for check in &tested.checks {
        let what = match &check.state {
            CheckState::Gone { .. } => continue,
            CheckState::Present => "The example of the issue still shows the fault".to_owned(),
            CheckState::OtherError { what } => format!("The example of the issue now fails in another way: {what}"),
            CheckState::TimedOut => "The example of the issue does not end".to_owned(),
        };
        said.push(
            format!("{what}. {}", end_of(&check.run.written()))
                .trim_end()
                .to_owned(),
        );
        break;
    }
    if let Some(test) = tested.tests.iter().flat_map(|tests| &tests.newly_failing).next() {
        said.push(format!(
            "The test {} passed before and fails now. {}",
            test.name,
            end_of(&test.message)
        ));
    }
    (!said.is_empty()).then(|| said.join("\n"))
}

fn first_sentence(text: &str) -> &str {
    let text = text.trim();
    text.find(". ").map_or(text, |end| &text[..=end])
}

fn end_of(text: &str) -> String {
    let text = text.trim_end();
    let skipped = text.chars().count().saturating_sub(QUOTED);
    if skipped == 0 {
        return text.to_owned();
    }
    format!("[…] {}", text.chars().skip(skipped).collect::<String>())
}

impl RoundState {
    /// Returns the answer that is taken furthest: the one that its runs speak best for, else the one with the fewest findings;
    /// then the one with the most votes, the likeliest, the smallest, the earliest of a round.
    pub fn best(&self) -> Option<(AttemptNumber, &Attempt)> {
        let usable = self
            .attempts
            .iter()
            .filter(|(_, attempt)| attempt.usable_change().is_some());
        // An answer that repeats another one stands behind it.
        usable
            .filter(|(_, attempt)| attempt.same_as().is_none_or(|(round, _)| round != self.round))
            .max_by_key(|(number, _)| self.rank(**number))
            .map(|(number, attempt)| (*number, attempt))
    }

    /// Returns the likeliest of the places to change.
    pub fn first_place(&self) -> &CodePlace {
        &self.places[0]
    }

    /// Returns how many answers of the round have this one's code, itself included. Edits at one token and what is put in are not drawn: two of them that come
    /// to the same code say no more than one.
    pub fn votes(&self, number: AttemptNumber) -> usize {
        let is_drawn = |attempt: &Attempt| !matches!(attempt.mode(), WritingMode::TokenEdit | WritingMode::Insert);
        let same = |attempt: &&Attempt| attempt.same_as() == Some((self.round, number)) && is_drawn(attempt);
        1 + self.attempts.values().filter(same).count()
    }

    /// Returns the attempts that pass and that only the model tells apart: all that stand behind the best one by no more than its likelihood and its size.
    /// Several that pass are rarely the same, because a check is a single example.
    pub fn undecided(&self) -> Vec<(AttemptNumber, &Attempt)> {
        let Some((_, best)) = self.best().and_then(|(number, _)| Some((number, self.rank(number)?))) else {
            return Vec::new();
        };
        let passing = self
            .attempts
            .iter()
            .filter(|(_, attempt)| attempt.proof().grade().is_some());
        passing
            .filter(|(number, attempt)| {
                let rank = self.rank(**number).filter(|_| attempt.same_as().is_none());
                rank.is_some_and(|rank| rank.ties_by_evidence(&best))
            })
            .map(|(number, attempt)| (*number, attempt))
            .collect()
    }

    /// Returns the place of an answer by likelihood, from 1, and among how many; none where it was not compared with others.
    pub fn likelihood(&self, number: AttemptNumber) -> Option<(usize, usize)> {
        let likelihood = self.attempts.get(&number)?.gain?.likelihood();
        let compared = || {
            self.attempts
                .values()
                .filter_map(|attempt| Some(attempt.gain?.likelihood()))
        };
        let among = compared().count();
        (among > 1).then(|| (1 + compared().filter(|other| *other > likelihood).count(), among))
    }

    /// Returns the place of an answer among all of a run: more is better. Being shown to work comes first, where neither the likelihood of the code nor the
    /// review speaks against it; then breaking nothing, how many checks pass and by which grade, whether the code still runs, the review, whether the code
    /// is unlikely, the findings, the votes, how likely the change is, and how many lines it has.
    pub(crate) fn rank(&self, number: AttemptNumber) -> Option<Rank> {
        let attempt = self.attempts.get(&number)?;
        let change = attempt.usable_change()?;
        let tested = attempt.tested.as_ref();
        // What was run of it is with the attempt of an earlier round that it repeats, and was not enough there.
        let repeats = tested.is_none() && attempt.same_as().is_some_and(|(round, _)| round != self.round);
        let grades = tested
            .iter()
            .flat_map(|tested| &tested.checks)
            .filter_map(|run| match run.state {
                CheckState::Gone { grade } => Some(grade),
                CheckState::Present | CheckState::OtherError { .. } | CheckState::TimedOut => None,
            });
        let mut grades: Vec<Grade> = grades.collect();
        grades.sort_by(|a, b| b.cmp(a));
        let grade = attempt.proof().grade();
        let is_rejected = attempt.verdict.is_some() && !attempt.approved();
        let is_doubtful = attempt.is_unlikely() || (is_rejected && !grade.is_some_and(Grade::is_strong));
        Some(Rank {
            proof: grade.filter(|_| !is_doubtful),
            // Where the checks failed the tests were not run: what they would have said is not taken for good.
            broken: Reverse(tested.map_or(if repeats { usize::MAX } else { 0 }, |tested| {
                let skipped = tested.tests.is_none() && !tested.checks.is_empty() && tested.passed_checks() == 0;
                if skipped || tested.is_without_results() {
                    usize::MAX
                } else {
                    tested.broken()
                }
            })),
            grades,
            runs: tested.map_or(!repeats, ChangeTests::runs),
            approved: attempt.approved(),
            likely: !attempt.is_unlikely(),
            findings: Reverse(attempt.findings().len()),
            votes: self.votes(number),
            likelihood: attempt.gain.map_or(0, |gain| (gain.likelihood() * 1_000.0) as i64),
            size: Reverse(size(change)),
            round: self.round,
            number: Reverse(number),
        })
    }
}

/// What an answer is ranked by, the most important first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    proof: Option<Grade>,
    broken: Reverse<usize>,
    grades: Vec<Grade>,
    runs: bool,
    approved: bool,
    likely: bool,
    findings: Reverse<usize>,
    votes: usize,
    /// In thousandths of a nat.
    likelihood: i64,
    size: Reverse<usize>,
    round: Round,
    number: Reverse<AttemptNumber>,
}

impl Rank {
    /// Returns whether nothing that was run, found or said tells two answers apart.
    fn ties_by_evidence(&self, other: &Self) -> bool {
        let evidence = |rank: &Self| (rank.proof, rank.broken, rank.approved, rank.findings, rank.votes);
        evidence(self) == evidence(other) && self.grades == other.grades
    }
}

/// Returns how many lines a change writes or replaces.
fn size(change: &FileChange) -> usize {
    match change {
        FileChange::Modify { edits } | FileChange::Rename { edits, .. } => edits
            .iter()
            .map(|edit| edit.text.lines().count().max(edit.span.lines() as usize))
            .sum(),
        FileChange::Create { content } => content.lines().count(),
        FileChange::Delete => 1,
    }
}

impl TaskState {
    /// Returns the best answer of all rounds that are written.
    pub fn best(&self) -> Option<(Round, AttemptNumber)> {
        let best_of = |round: &RoundState| {
            round
                .best()
                .map(|(number, _)| (round.rank(number), round.round, number))
        };
        self.rounds
            .iter()
            .filter_map(best_of)
            .max()
            .map(|(_, round, number)| (round, number))
    }

    /// Returns whether an attempt passes.
    pub(crate) fn has_passing(&self) -> bool {
        let attempts = self.rounds.iter().flat_map(|round| round.attempts.values());
        attempts.map(Attempt::proof).any(|proof| proof.grade().is_some())
    }

    /// Returns whether a check passes with an attempt, whatever the attempt breaks.
    pub(crate) fn came_near(&self) -> bool {
        let attempts = self.rounds.iter().flat_map(|round| round.attempts.values());
        let mut tested = attempts.filter_map(|attempt| attempt.tested.as_ref());
        tested.any(|tested| tested.passed_checks() > 0)
    }

    /// Returns the state of a round, where it was begun.
    pub fn round(&self, round: Round) -> Option<&RoundState> {
        self.rounds.iter().find(|state| state.round == round)
    }

    /// Returns an attempt, where it was written.
    pub fn attempt(&self, round: Round, number: AttemptNumber) -> Option<&Attempt> {
        self.round(round)?.attempts.get(&number)
    }

    /// Returns the attempt whose change goes into the merge.
    pub fn accepted_attempt(&self) -> Option<(Round, AttemptNumber)> {
        let round = match self.outcome.as_ref()? {
            TaskOutcome::Approved { round } | TaskOutcome::NotApproved { round } => *round,
            TaskOutcome::SetAside { .. } | TaskOutcome::Failed { .. } => return None,
        };
        if let Some(taken) = self.taken {
            return Some(taken);
        }
        self.round(round)?.best().map(|(number, _)| (round, number))
    }

    /// Returns the change that goes into the merge, and its round.
    pub fn accepted_change(&self) -> Option<(Round, &FileChange)> {
        let (round, number) = self.accepted_attempt()?;
        let written = self.attempt(round, number)?.usable_change()?;
        Some((round, self.minimised.as_ref().unwrap_or(written)))
    }

    /// Returns what was said against the last round, if anything.
    pub fn last_objection(&self) -> Option<String> {
        let last = self.rounds.last()?;
        let attempt = last
            .best()
            .map(|(_, attempt)| attempt)
            .or_else(|| last.attempts.values().next_back())?;
        attempt.objection()
    }
}
