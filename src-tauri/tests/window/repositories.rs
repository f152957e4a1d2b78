//! Repositories, and what is remembered of them.

use crate::environment::script;
use crate::support::{Window, all_of, filter, form, listed};
use magis_app::views::{ApplyRequest, BaseRequest, CodeTerm, IndexView, MemoryFileState, WhyNotIsolated};
use magis_core::TestLine;
use magis_engine::sandbox::{IsolationPart, NotIsolated, SandboxError};
use magis_testkit::sample;
use std::fs;

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_repository_comes_back_with_its_memory_until_the_window_closes() {
    let window = Window::new(script());
    let (run, _) = window.solve(sample::TWO_TASK_ISSUE).await;
    let repo = window.app.run_row(run).unwrap().repo.unwrap();
    let before = window.app.repositories().unwrap();
    assert!(before[0].memory.unwrap().fresh >= 2);

    window.app.remove_repository(repo).unwrap();
    assert_eq!(window.app.repositories().unwrap(), []);
    assert_eq!(window.app.run_row(run).unwrap().repo, None);
    let refused = window.app.start_run(form(repo, sample::ISSUE)).await.unwrap_err();
    assert_eq!(refused.code, "no_repository");
    window.app.undo_remove_repository(repo).unwrap();
    assert_eq!(window.app.repositories().unwrap(), before);
    assert_eq!(window.app.run_row(run).unwrap().repo, Some(repo));

    window.app.remove_repository(repo).unwrap();
    assert_eq!(window.add(), repo, "adding it again is taking the removal back");
    window.app.erase_removed(i64::MAX);
    assert!(window.app.repositories().unwrap()[0].memory.unwrap().fresh >= 2);

    window.app.remove_repository(repo).unwrap();
    window.app.erase_removed(i64::MAX);
    assert_eq!(
        window.app.undo_remove_repository(repo).unwrap_err().code,
        "no_repository"
    );
    let index = window.folder.path().join("data/index").join(repo.to_string());
    assert!(!index.exists());
    window.add();
    assert_eq!(window.app.repositories().unwrap()[0].memory.unwrap().fresh, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_says_for_which_commit_its_index_was_made() {
    let window = Window::new(script());
    window.add();
    let index = || window.app.repositories().unwrap().remove(0).index.unwrap();
    assert_eq!(index(), IndexView::None);
    window.solve(sample::TWO_TASK_ISSUE).await;
    assert_eq!(index(), IndexView::Fresh);

    let commit = |message: &str| {
        let who = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
        window.git(&[who.as_slice(), &["commit", "-q", "--allow-empty", "-m", message]].concat());
    };
    let made_for = window.git(&["rev-parse", "HEAD"]).trim().to_owned();
    commit("one");
    commit("two");
    assert_eq!(index(), IndexView::Older { commits: 2 });
    window.git(&["checkout", "-q", "HEAD~3"]);
    assert_eq!(index(), IndexView::Elsewhere { commit: made_for });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_vanished_is_told_and_its_runs_still_open() {
    let window = Window::new(script());
    let (run, _) = window.solve(sample::TWO_TASK_ISSUE).await;
    fs::rename(window.root(), window.folder.path().join("elsewhere")).unwrap();

    let rows = window.app.repositories().unwrap();
    let problem = rows[0].problem.as_ref().unwrap();
    assert_eq!((problem.code.as_str(), rows[0].runs), ("no_such_folder", 1));
    assert!(problem.remedy.as_ref().unwrap().contains("remove the repository"));
    assert_eq!(window.app.run_view(run).unwrap().tasks.len(), 2);
    assert!(window.app.base_file(run, "tally/filters.py").unwrap().contains("def "));
    let applied = window
        .app
        .apply(run, all_of(&window.app, run), ApplyRequest::Worktree)
        .unwrap_err();
    assert_eq!(applied.code, "repository_gone");
    let begun = window.app.start_run(form(rows[0].id, sample::ISSUE)).await.unwrap_err();
    assert_eq!(begun.code, "no_such_folder");

    let file = window.folder.path().join("all.patch");
    let request = ApplyRequest::PatchFile {
        path: file.display().to_string(),
    };
    window.app.apply(run, all_of(&window.app, run), request).unwrap();
    assert!(fs::read_to_string(file).unwrap().contains("casefold"));
    window.app.remove_repository(rows[0].id).unwrap();
    assert!(window.app.repositories().unwrap().is_empty());
    assert_eq!(listed(&window.app, filter()), [run], "runs stay");
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_shows_what_is_known_and_keeps_what_a_person_wrote() {
    let window = Window::new(script());
    let (run, _) = window.solve(sample::TWO_TASK_ISSUE).await;
    let repo = window.app.run_row(run).unwrap().repo.unwrap();
    let report = window.app.memory_report(repo).unwrap();
    assert!(
        report.counts.fresh >= 2 && report.counts.none > 0,
        "{:?}",
        report.counts
    );
    assert!(report.tokens_spent > 0);

    let path = "tally/filters.py";
    let corrected = window
        .app
        .correct_summary(repo, path, "This file chooses entries. Mine.")
        .unwrap();
    assert!(corrected.corrected && !corrected.stale);
    window.solve(sample::TWO_TASK_ISSUE).await;
    assert_eq!(
        window.app.summary(repo, path).unwrap().unwrap().text,
        "This file chooses entries. Mine."
    );
    let saved = window.app.memory_report(repo).unwrap();
    assert!(saved.tokens_saved > 0, "the second run used what the first one made");
    assert!(saved.files.iter().any(|file| file.path == path && file.corrected));

    let renewed = window.app.renew_summary(repo, path).await.unwrap();
    assert!(!renewed.corrected && renewed.text.contains("chooses entries"));
    fs::write(window.root().join(path), "# another\n".repeat(80)).unwrap();
    window.git(&[
        "-c",
        "user.name=T",
        "-c",
        "user.email=t@example.org",
        "commit",
        "-qam",
        "change",
    ]);
    assert!(window.app.summary(repo, path).unwrap().unwrap().stale);
    let report = window.app.memory_report(repo).unwrap();
    let file = report.files.iter().find(|file| file.path == path).unwrap();
    assert_eq!(file.state, MemoryFileState::Stale);
    window.app.drop_summary(repo, path).unwrap();
    assert_eq!(window.app.summary(repo, path).unwrap(), None);
    let nothing = window.app.correct_summary(repo, path, "x").unwrap_err();
    assert_eq!(nothing.code, "nothing_remembered");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sample_is_written_once_and_has_issues() {
    let window = Window::new(script());
    let row = window.app.add_sample().unwrap();
    assert_eq!(window.app.add_sample().unwrap().id, row.id);
    assert!(row.problem.is_none() && row.memory.unwrap().none > 5);
    assert!(
        window
            .app
            .branches(row.id)
            .unwrap()
            .iter()
            .any(|branch| branch.name == "main" && branch.current)
    );
    let issue = &window.app.sample_issues()[0];
    let run = window.app.start_run(form(row.id, &issue.text)).await.unwrap();
    window.app.until_idle().await;
    assert!(window.app.run_view(run).unwrap().outcome.is_some());
}

#[test]
fn a_test_command_that_a_person_gave_and_allowed_is_listed_from_then_on() {
    let window = Window::new(script());
    let repo = window.add();
    let listed = || window.app.test_commands(repo, BaseRequest::Head).unwrap();
    let found = listed();
    let given = TestLine {
        line: "python3 -m unittest tests.test_filters".to_owned(),
        folder: String::new(),
    };
    let allowed = window
        .app
        .allow_tests(repo, BaseRequest::Head, &given, CodeTerm::Isolated)
        .unwrap();
    assert_eq!((&allowed.command, allowed.allowed), (&given, Some(CodeTerm::Isolated)));
    assert_eq!(listed(), [found.clone(), vec![allowed]].concat());
    window.app.forbid_tests(repo).unwrap();
    assert_eq!(listed(), found);
}

#[test]
fn a_typed_command_is_read_before_it_is_allowed() {
    let window = Window::new(script());
    let repo = window.add();
    let read = |line: &str| {
        let command = TestLine {
            line: line.to_owned(),
            folder: String::new(),
        };
        window.app.read_test_command(repo, BaseRequest::Head, &command)
    };
    let found = window.app.test_commands(repo, BaseRequest::Head).unwrap();
    let given = read("ctest --test-dir build").unwrap();
    assert_eq!((given.runner.as_deref(), given.allowed), (Some("CTest"), None));
    assert_eq!(given.before, ["cmake -S . -B build", "cmake --build build"]);
    assert_eq!(read("make 'check").unwrap_err().code, "test_command_quote");
    assert_eq!(
        window.app.test_commands(repo, BaseRequest::Head).unwrap(),
        found,
        "nothing is kept"
    );
}

#[test]
fn why_nothing_isolates_crosses_as_a_code_with_what_the_system_said() {
    let missing = NotIsolated::from(SandboxError::NoIsolation {
        part: IsolationPart::NameSpaces,
        step: "taking name spaces of its own".to_owned(),
        reason: "EPERM: Operation not permitted".to_owned(),
    });
    assert_eq!(
        serde_json::to_value(WhyNotIsolated::from(missing)).unwrap(),
        serde_json::json!({ "code": "name_spaces", "said": "EPERM: Operation not permitted" })
    );
}
