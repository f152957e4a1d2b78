//! Which functions the code enters that shows the fault, and what of its output locates.

use super::{allow, checks, put_in_place, solve, with_tests};
use crate::environment::{TestEnvironment, asked, script};
use magis_core::{BugCheck, CheckSource, Evidence, IssueChecks, RunEvent, TestsMode};
use magis_engine::SolveRequest;
use magis_testkit::sample;

/// An issue that shows a program and how it is started. What the program prints has many words of other files.
pub(super) const STARTED: &str = "list --until leaves out the last day

```python
# report.py
from datetime import date
from types import SimpleNamespace
from tally.filters import in_period

print('store balance export csv month category budget ' * 40)
print('within the period:', in_period(SimpleNamespace(day=date(2025, 3, 31)), until=date(2025, 3, 31)))
```

```
$ python3 report.py
```

The last line is:

```
within the period: False
```

Expected:

```
within the period: True
```
";

fn reached(check: &BugCheck) -> Vec<&str> {
    check.reached.iter().map(|at| at.name.as_str()).collect()
}

#[tokio::test]
async fn what_a_command_line_starts_is_seen_to_enter_functions() {
    let environment = TestEnvironment::new();
    let (magis, wish) = with_tests(&environment, STARTED, 1);
    allow(&environment, &magis);
    let (run, _) = solve(&magis, wish, script()).await;
    let found = checks(&magis, run);
    assert!(found[0].script.contains("python3 report.py"), "{found:?}");
    assert_eq!(reached(&found[0]), ["in_period"]);
    assert_eq!(found[0].reached[0].path.as_str(), "tally/filters.py");
    let written = found[0].on_base.stdout.text.as_str();
    assert!(written.contains("within the period: False"), "{written}");
}

#[tokio::test]
async fn what_a_program_writes_beside_the_fault_does_not_locate() {
    let environment = TestEnvironment::new();
    let (magis, wish) = with_tests(&environment, STARTED, 1);
    allow(&environment, &magis);
    let (run, _) = solve(&magis, wish, script()).await;
    let mut ranked = environment.events(run).into_iter().filter_map(|event| match event {
        RunEvent::CandidatesRanked { candidates, .. } => Some(candidates),
        _ => None,
    });
    let first = ranked.next().unwrap().remove(0);
    assert_eq!(first.path.as_str(), "tally/filters.py");
}

#[tokio::test]
async fn tests_that_fail_are_seen_to_enter_functions_of_the_project_and_not_their_own() {
    let environment = TestEnvironment::new();
    let test = &sample::UNTIL.check;
    std::fs::write(environment.repository().join(test.path), test.text).unwrap();
    environment.git(&["add", "--all"]);
    environment.commit("README.md", "Sums up.\n");
    let (magis, wish) = with_tests(&environment, "list --until leaves out the last day", 1);
    allow(&environment, &magis);
    let TestsMode::Run { command, .. } = wish.tests.clone() else {
        panic!("the wish runs tests");
    };
    let wish = SolveRequest {
        tests: TestsMode::Run {
            command,
            failing: vec![test.path.to_owned()],
            checks: IssueChecks::Make,
        },
        ..wish
    };
    let (run, _) = solve(&magis, wish, script()).await;
    let found = checks(&magis, run);
    assert!(matches!(found[0].source, CheckSource::Given { .. }), "{found:?}");
    assert!(reached(&found[0]).contains(&"in_period"), "{:?}", found[0].reached);
    let own = found[0].reached.iter().find(|at| at.path.as_str() == test.path);
    assert_eq!(own, None);
}

#[tokio::test]
async fn the_traceback_of_an_example_locates_and_every_agent_reads_it() {
    let environment = TestEnvironment::new();
    put_in_place(&environment, "    return since <= entry.day < until.day_after()\n");
    let issue = "Showing expenses crashes

```python
>>> from datetime import date
>>> from types import SimpleNamespace
>>> from tally.cli import list_entries
>>> food = SimpleNamespace(day=date(2025, 3, 31), category='food', note='', payer='', cents=1)
>>> list_entries(SimpleNamespace(since=None, until='2025-03-31', category=None, text=None), [food])
Traceback (most recent call last):
  ...
AttributeError: 'datetime.date' object has no attribute 'day_after'
```
";
    let (magis, wish) = with_tests(&environment, issue, 1);
    allow(&environment, &magis);
    let (run, _) = solve(&magis, wish, script()).await;
    let ranked = environment.events(run).into_iter().find_map(|event| match event {
        RunEvent::CandidatesRanked { candidates, .. } => Some(candidates),
        _ => None,
    });
    let ranked = ranked.unwrap();
    let frame = |path: &str| {
        let candidate = ranked.iter().find(|candidate| candidate.path.as_str() == path).unwrap();
        candidate.evidence.iter().find_map(|evidence| match evidence {
            Evidence::TraceFrame { depth } => Some(*depth),
            _ => None,
        })
    };
    assert_eq!(
        frame("tally/filters.py"),
        Some(0),
        "the issue does not name it: {ranked:?}"
    );
    for step in ["P4", "P5", "P10-code"] {
        let asked = asked(&magis, run, step);
        assert!(!asked.is_empty(), "{step} is asked");
        for prompt in asked {
            assert!(prompt.contains("in in_period"), "{step} reads the frame:\n{prompt}");
        }
    }
    let reviewed = asked(&magis, run, "P11-comment");
    assert!(!reviewed.is_empty());
    for prompt in reviewed {
        assert!(
            prompt.contains("What showed the fault was run with the change"),
            "{prompt}"
        );
    }
}
