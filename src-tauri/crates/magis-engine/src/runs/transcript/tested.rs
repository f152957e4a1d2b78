//! What running code showed, as text: the checks of the fault, the tests on the base, and both on an attempt or the patch.

use super::section::Section;
use super::{Detail, Tone, count};
use magis_core::{
    AttemptGain, BaseTests, BugCheck, ChangeTests, CheckSource, CheckState, HunkNeed, ProgramRun, Proof, Round, TaskId,
    TestsOnChange,
};
use std::fmt::Display;

/// Lines of an output that are shown while a run goes on.
const LIVE: usize = 14;
/// Names of tests that are shown.
const NAMES: usize = 5;
/// Hexadecimal digits of a tree that name it.
const TREE: usize = 12;

pub(super) fn fault(page: &mut Section, checks: &[BugCheck], remarks: &[String], detail: Detail) {
    for check in checks {
        let what = match &check.source {
            CheckSource::Issue { .. } => "an example of the issue fails on the base".to_owned(),
            CheckSource::Given { test } => format!("the given test {test} fails on the base"),
            CheckSource::FailingTests { tests } => {
                format!(
                    "{} of the project fail on the base: {}",
                    count(tests.len(), "test"),
                    names(tests)
                )
            }
            CheckSource::Written { .. } => "a test that QA wrote fails on the base".to_owned(),
        };
        page.entry(2, Tone::Strong, &format!("{}", check.id), &what);
        page.entry(4, Tone::Faint, "passes it:", &format!("{}, at the most", check.grade));
        for warning in &check.warnings {
            page.entry(4, Tone::Note, "note:", warning);
        }
        page.code(4, &excerpt(&check.on_base.written(), detail));
        if detail == Detail::Full {
            page.entry(4, Tone::Faint, "run:", &command(&check.on_base));
            if let Some(test) = &check.as_test {
                page.entry(4, Tone::Faint, "as a test:", "");
                page.code(6, test);
            }
        }
    }
    for remark in remarks {
        page.entry(2, Tone::Note, "note:", remark);
    }
    if checks.is_empty() && remarks.is_empty() {
        page.line("  nothing that can be run shows the fault");
    }
}

pub(super) fn compared(page: &mut Section, round: Round, gains: &[AttemptGain]) {
    let mut ordered: Vec<&AttemptGain> = gains.iter().collect();
    ordered.sort_by(|one, other| other.likelihood().total_cmp(&one.likelihood()));
    let of = |one: &&AttemptGain| format!("{}.{} ({:+.1})", round.0, one.attempt.0 + 1, one.likelihood());
    let shown = ordered.iter().take(NAMES).map(of).collect::<Vec<_>>().join(", ");
    let more = match ordered.len().saturating_sub(NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let text = if gains.len() == 1 {
        format!("how much likelier the code is with it, in nats: {shown}")
    } else {
        format!("what was run does not tell them apart; by how likely the code is with each, in nats: {shown}{more}")
    };
    let passing = match gains.len() {
        1 => "one attempt passes:".to_owned(),
        number => format!("{} pass:", count(number, "attempt")),
    };
    page.entry(4, Tone::Strong, &passing, &text);
}

pub(super) fn base(page: &mut Section, tests: &BaseTests, detail: Detail) {
    let which = match tests.files.len() {
        0 => "all tests".to_owned(),
        number => format!("the {} nearest to the change", count(number, "file of tests")),
    };
    let said = match &tests.run {
        Some(run) => format!(
            "{which} on the base: {} pass, {} fail, {} waver ({})",
            tests.passed,
            tests.failing.len(),
            tests.wavering.len(),
            command(run)
        ),
        None => "no tests judge the changes".to_owned(),
    };
    page.entry(4, Tone::Strong, "tests:", &said);
    if !tests.failing.is_empty() {
        let lead = "fail already, which is not held against a change:";
        page.entry(4, Tone::Note, lead, &names(&tests.failing));
    }
    if !tests.wavering.is_empty() {
        page.entry(4, Tone::Note, "set aside, as they waver:", &names(&tests.wavering));
    }
    if let Some(why) = &tests.incomplete {
        page.entry(4, Tone::Note, "note:", why);
    }
    if detail == Detail::Full
        && let Some(run) = &tests.run
    {
        page.code(6, &run.written());
    }
}

/// A changed tree: a line for each check, one for the tests, and what they prove.
pub(super) fn change(page: &mut Section, tested: &ChangeTests, detail: Detail) {
    for run in &tested.checks {
        let (tone, said) = match &run.state {
            CheckState::Gone { grade } => (Tone::Good, grade.to_string()),
            CheckState::Present => (Tone::Bad, "the fault is still there".to_owned()),
            CheckState::OtherError { what } => (Tone::Bad, format!("something else goes wrong: {what}")),
            CheckState::TimedOut => (Tone::Bad, "it did not end in time".to_owned()),
        };
        page.entry(6, tone, &format!("{}:", run.check), &said);
        if detail == Detail::Full {
            page.code(8, &run.run.written());
        }
    }
    if let Some(tests) = &tested.tests {
        on_change(page, tests, detail);
        // A check that stands on tests of the project has the same run, and its output stands above.
        let is_shown = tested.checks.iter().any(|check| check.run == tests.run);
        if detail == Detail::Full && !is_shown {
            page.code(8, &tests.run.written());
        }
    }
    for test in &tested.as_tests {
        match &test.trouble {
            None => page.entry(
                6,
                Tone::Good,
                "as a test:",
                &format!("{} fails without the patch and passes with it", test.path),
            ),
            Some(trouble) => {
                let lead = format!("{} is not offered as a test:", test.check);
                page.entry(6, Tone::Note, &lead, &trouble.to_string());
            }
        }
        if detail == Detail::Full && !test.run.command.is_empty() {
            page.entry(8, Tone::Faint, "run:", &command(&test.run));
        }
    }
    if tested.rivals > 0 {
        let others = match tested.rivals {
            1 => "1 other change passes as well".to_owned(),
            many => format!("{many} other changes pass as well"),
        };
        let text = format!("{others}, and nothing that was run tells them apart");
        page.entry(6, Tone::Note, "beside it:", &text);
    }
    if tested.less_likely {
        let text = "the model finds the code less likely with this change than without it: look at it closely";
        page.entry(6, Tone::Bad, "less likely:", text);
    }
}

/// The tests on a changed tree, with what those say that fail because of the change: while a run goes on the first of them alone.
fn on_change(page: &mut Section, tests: &TestsOnChange, detail: Detail) {
    let tone = if tests.newly_failing.is_empty() {
        Tone::Strong
    } else {
        Tone::Bad
    };
    let mut said = format!(
        "{} pass, {} fail that passed before",
        tests.passed,
        tests.newly_failing.len()
    );
    if !tests.newly_passing.is_empty() {
        said += &format!(", {} pass that failed before", tests.newly_passing.len());
    }
    page.entry(6, tone, "tests:", &format!("{said} ({})", command(&tests.run)));
    let (named, told) = match detail {
        Detail::Live => (NAMES, 1),
        Detail::Full => (usize::MAX, usize::MAX),
    };
    for (index, test) in tests.newly_failing.iter().take(named).enumerate() {
        page.entry(8, Tone::Bad, "fails:", &test.name.0);
        if index < told {
            page.code(10, &excerpt(&test.message, detail));
        }
    }
    if tests.newly_failing.len() > named {
        page.line(&format!("        and {} more", tests.newly_failing.len() - named));
    }
    if let Some(why) = &tests.incomplete {
        page.entry(6, Tone::Note, "note:", why);
    }
}

/// What fails again without each hunk that stays in a task's change, as far as that is known.
pub(super) fn needed(page: &mut Section, task: TaskId, needs: &[HunkNeed]) {
    for need in needs {
        let checks = need.checks.iter().map(ToString::to_string);
        let failing: Vec<String> = checks.chain(need.tests.iter().map(ToString::to_string)).collect();
        let verb = match failing.len() {
            0 => continue,
            1 => "fails",
            _ => "fail",
        };
        let lead = format!("{task} without the hunk at line {}:", need.line);
        page.entry(4, Tone::Strong, &lead, &format!("{} {verb}", names(&failing)));
    }
}

/// Returns what is known of a patch by running it, with the command behind it.
pub(super) fn proof_sentence(proof: &Proof, tested: Option<&ChangeTests>) -> String {
    match tested.and_then(tests_sentence) {
        Some(tests) => format!("{proof} · {tests}"),
        None => proof.to_string(),
    }
}

/// Returns what the tests say for a changed tree; none where they say nothing for it. That tests pass is said only where their run ended well, too:
/// a runner that ends otherwise has failing tests, or another trouble, on the base already.
fn tests_sentence(tested: &ChangeTests) -> Option<String> {
    let tests = tested.tests.as_ref()?;
    let speaks_for_it = tests.passed > 0 && tests.newly_failing.is_empty() && tests.incomplete.is_none();
    if !speaks_for_it || tests.run.command.is_empty() {
        return None;
    }
    let tree = tested.tree.0.get(..TREE).unwrap_or(&tested.tree.0);
    let run = command(&tests.run);
    if tests.run.status == Some(0) {
        return Some(format!("Tests pass on tree {tree}: {run}"));
    }
    let too = match tests.still_failing {
        0 => String::new(),
        failing => format!("; {failing} failed on the base too"),
    };
    Some(format!("No test fails on tree {tree} that passed before: {run}{too}"))
}

/// Returns what was run, how it ended and how long it took.
fn command(run: &ProgramRun) -> String {
    format!(
        "`{}` {} after {:.1} s",
        run.command,
        run.end,
        f64::from(run.took_ms) / 1_000.0
    )
}

fn names(all: &[impl Display]) -> String {
    let shown: Vec<String> = all.iter().take(NAMES).map(ToString::to_string).collect();
    match all.len().saturating_sub(NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Returns an output: while a run goes on its last lines alone.
fn excerpt(output: &str, detail: Detail) -> String {
    let lines: Vec<&str> = output.trim_end().lines().collect();
    let skipped = match detail {
        Detail::Live => lines.len().saturating_sub(LIVE),
        Detail::Full => 0,
    };
    let mark = if skipped > 0 { "[…]\n" } else { "" };
    format!("{mark}{}", lines[skipped..].join("\n"))
}
