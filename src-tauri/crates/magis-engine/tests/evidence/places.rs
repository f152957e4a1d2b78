//! Where attempts are made: at definitions that the check enters and at lines that it runs.

use super::attempts::{UNCHANGED, edits};
use super::{ISSUE, allow, checks, put_in_place, solve, with_tests};
use crate::environment::{TestEnvironment, script, script_after};
use magis_core::{RunId, RunOutcome, WritingMode};
use magis_engine::{DriveEnd, Magis, SolveRequest};
use magis_llm::ScriptedModel;
use std::collections::BTreeSet;

#[tokio::test]
async fn lines_that_the_check_does_not_run_are_not_asked_for() {
    let environment = TestEnvironment::new();
    let code = "    if until < since:\n        raise ValueError(until)\n    return since <= entry.day < until\n";
    let longer = put_in_place(&environment, code);
    let (magis, wish) = with_tests(&environment, ISSUE, 6);
    allow(&environment, &magis);
    let model = script_after(ScriptedModel::new("fills in").fill_in_with(|request| {
        assert!(!request.before.ends_with("if until < since:\n"), "{}", request.before);
        Some("    return since <= entry.day < until and entry\n".into())
    }));
    let wish = SolveRequest {
        places: 2,
        writing: vec![WritingMode::FillIn],
        ..wish
    };
    let (run, _) = solve(&magis, wish, model).await;
    assert!(environment.calls(run, "P9-surprisal") > 0);
    assert!(environment.calls(run, "P10-fill-in") > 0);
    let found = checks(&magis, run);
    let entered = found[0].reached.iter().find(|at| at.name == "in_period").unwrap();
    let missed = entered
        .missed
        .iter()
        .map(|line| longer.lines().nth(*line as usize - 1).unwrap());
    assert_eq!(missed.collect::<Vec<_>>(), ["        raise ValueError(until)"]);
}

/// Returns the names of all places of a task, by the path of its file.
fn places_in(magis: &Magis, run: RunId, path: &str) -> BTreeSet<String> {
    let state = magis.state(run).unwrap();
    let task = state.tasks().find(|task| task.task.path.as_str() == path).unwrap();
    let places = task.rounds.iter().flat_map(|round| &round.places);
    places.flat_map(|place| &place.symbols).cloned().collect()
}

#[tokio::test]
async fn functions_that_the_check_does_not_enter_are_no_places() {
    let environment = TestEnvironment::new();
    let (magis, wish) = with_tests(
        &environment,
        &format!("{ISSUE}\nPerhaps `matching` of filters or `by_category` is wrong, which I call after it.\n"),
        6,
    );
    allow(&environment, &magis);
    let wish = SolveRequest { places: 4, ..wish };
    let (run, _) = solve(&magis, wish, script()).await;
    let places = places_in(&magis, run, "tally/filters.py");
    assert_eq!(places, BTreeSet::from(["in_period".to_owned()]));
}

#[tokio::test]
async fn definitions_of_one_name_are_places_of_their_own() {
    let environment = TestEnvironment::new();
    let with_bound = "    bound = Bound()\n    bound.day = until\n    return since <= entry.day <= bound.day\n\n\n\
                      class Bound:\n    @property\n    def day(self):\n        return self._day\n\n    \
                      @day.setter\n    def day(self, day):\n        self._day = date.fromordinal(day.toordinal() - 1)\n";
    put_in_place(&environment, with_bound);
    let (magis, wish) = with_tests(&environment, ISSUE, 9);
    let wish = SolveRequest {
        places: 4,
        max_rounds: 1,
        ..wish
    };
    allow(&environment, &magis);
    let reads = ScriptedModel::new("reads").when_prefixed("def in_period", UNCHANGED);
    let model = script_after(reads.edit_with(|request| {
        let wanted = if request.text.contains("return self._day") {
            [("self._day", "self._day.today()")]
        } else if request.text.contains("self._day = ") {
            [(" - 1", "")]
        } else {
            return None;
        };
        Some(edits(&request.text, &wanted))
    }));
    let (run, end) = solve(&magis, wish, model).await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
    let state = magis.state(run).unwrap();
    let patch = &state.merged().unwrap().patch;
    assert!(
        patch.contains("+        self._day = date.fromordinal(day.toordinal())\n"),
        "{patch}"
    );
}

#[tokio::test]
async fn functions_that_are_called_when_a_file_is_loaded_are_places() {
    let environment = TestEnvironment::new();
    let text = environment.read("tally/filters.py");
    let loaded = "def _ends():\n    return _widest(date)\n\n\ndef _widest(kind):\n    return kind.min, kind.max\n\n\nENDS = _ends()\n";
    environment.commit("tally/filters.py", &format!("{text}\n\n{loaded}"));
    let (magis, wish) = with_tests(&environment, ISSUE, 6);
    allow(&environment, &magis);
    let wish = SolveRequest { places: 4, ..wish };
    let (run, _) = solve(&magis, wish, script()).await;
    let places = places_in(&magis, run, "tally/filters.py");
    assert!(places.contains("in_period") && places.contains("_widest"), "{places:?}");
    assert!(!places.contains("matching"), "{places:?}");
}

#[tokio::test]
async fn edits_at_tokens_that_the_check_does_not_run_are_no_answers() {
    let environment = TestEnvironment::new();
    let code = "    if until < since:\n        raise ValueError(until)\n    return since <= entry.day < until\n";
    put_in_place(&environment, code);
    let (magis, wish) = with_tests(&environment, ISSUE, 4);
    allow(&environment, &magis);
    let wanted = [("(until)", "(since)"), (" < until", " <= until")];
    let model = script_after(
        ScriptedModel::new("reads")
            .edit_with(move |request| (request.text == code).then(|| edits(&request.text, &wanted))),
    );
    let (run, end) = solve(&magis, wish, model).await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
    let state = magis.state(run).unwrap();
    let (_, number) = state.tasks().next().unwrap().accepted_attempt().unwrap();
    assert_eq!(number.0, 0);
}
