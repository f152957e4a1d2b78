//! What git remembers: past commits that read alike, files changed lately, and files changed together.

use super::{evidence, paths, rank_after};
use magis_core::{CommitId, Evidence, RepoPath};
use magis_search::{Signal, Signals};

#[test]
fn a_past_commit_that_reads_alike_leads_to_what_it_changed() {
    let files = [("a.py", "x = 1\n"), ("b.py", "y = 1\n"), ("c.py", "z = 1\n")];
    let commits: [(&str, &[&str]); 3] = [
        ("Tidy up", &["a.py"]),
        ("Fix the walrus that overflows on tides", &["b.py"]),
        ("Rename all walrus", &["c.py"]),
    ];
    let ranking = rank_after(&files, &commits, Signals::ALL, "The walrus overflows again");
    assert_eq!(paths(&ranking).first(), Some(&"b.py"), "{:#?}", ranking.candidates);
    assert!(evidence(&ranking, "b.py").contains(&Evidence::PastCommit {
        commit: CommitId(format!("{:040}", 1)),
        subject: "Fix the walrus that overflows on tides".to_owned(),
    }));
    let without = Signals::ALL.without(Signal::PastCommits);
    let ranking = rank_after(&files, &commits, without, "The walrus overflows again");
    assert_eq!(paths(&ranking), [] as [&str; 0]);
}

#[test]
fn of_equal_files_the_one_changed_last_stands_first() {
    let files = [
        ("a.py", "# walrus one\n"),
        ("b.py", "# walrus two\n"),
        ("c.py", "# walrus three\n"),
    ];
    let commits: [(&str, &[&str]); 2] = [("Tidy up", &["c.py"]), ("Write more", &["b.py"])];
    let ranking = rank_after(&files, &commits, Signals::ALL, "The walrus fails");
    assert_eq!(paths(&ranking), ["c.py", "b.py", "a.py"]);
    assert!(evidence(&ranking, "b.py").contains(&Evidence::ChangedLately { ago: 1 }));
    let without = Signals::ALL.without(Signal::Recency);
    let ranking = rank_after(&files, &commits, without, "The walrus fails");
    assert_eq!(paths(&ranking), ["a.py", "b.py", "c.py"]);
}

#[test]
fn what_was_changed_together_with_the_best_file_is_lifted() {
    let files = [
        ("a_far.py", "# shared word\n"),
        ("best.py", "def quaggle(shared):\n    return shared\n"),
        ("company.py", "# shared word\n"),
    ];
    let both: &[&str] = &["best.py", "company.py"];
    let commits: [(&str, &[&str]); 4] = [("One", both), ("Two", both), ("Three", both), ("Four", &["a_far.py"])];
    let enabled = Signals::ALL.without(Signal::Recency);
    let issue = "`quaggle` fails in quaggle with a shared word";
    let ranking = rank_after(&files, &commits, enabled, issue);
    assert_eq!(paths(&ranking), ["best.py", "company.py", "a_far.py"]);
    let with = RepoPath::new("best.py").unwrap();
    let why = evidence(&ranking, "company.py");
    assert!(why.contains(&Evidence::ChangedTogether { with }), "{why:?}");
    // Two times are chance, and so is the company of what everything changes.
    let ranking = rank_after(&files, &commits[1..], enabled, issue);
    assert_eq!(paths(&ranking), ["best.py", "a_far.py", "company.py"]);
}

#[test]
fn a_moved_file_keeps_its_past() {
    let files = [("src/tides.py", "x = 1\n"), ("src/other.py", "y = 1\n")];
    let commits: [(&str, &[&str]); 3] = [
        ("Tidy up", &["other.py"]),
        ("Fix the walrus overflow", &["tides.py"]),
        ("Write more", &["other.py"]),
    ];
    let ranking = rank_after(&files, &commits, Signals::ALL, "walrus overflow fails");
    assert_eq!(paths(&ranking).first(), Some(&"src/tides.py"));
}
