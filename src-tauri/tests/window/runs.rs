//! Runs: begun, followed, paused, left behind, handed over, deleted.

use crate::environment::{hang_at, script, script_after};
use crate::support::{Window, all_of, filter, form, listed, onto, until_step, until_text, until_the_end, until_time};
use magis_app::Halt;
use magis_app::views::{
    CandidateState, CandidateView, ExportFormat, RunListFilter, RunOrder, RunStatus, RunUpdate, SteeringRequest,
};
use magis_core::Stage;
use magis_core::text::variant_name;
use magis_llm::{ScriptedModel, ScriptedReply};
use magis_testkit::sample;
use std::fs;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_followed_to_its_end_and_stands_in_the_lists() {
    let window = Window::new(script());
    let (run, news) = window.solve(sample::TWO_TASK_ISSUE).await;

    assert_eq!(news.last(), Some(&RunUpdate::Ended));
    let steps: Vec<&str> = news
        .iter()
        .filter_map(|one| match one {
            RunUpdate::CallStarted { step, .. } => Some(step.as_str()),
            _ => None,
        })
        .collect();
    assert!(steps.contains(&"P4") && steps.contains(&"P11-comment"), "{steps:?}");
    let written = news
        .iter()
        .any(|one| matches!(one, RunUpdate::Text { step, delta, .. } if step == "P10-code" && !delta.is_empty()));
    assert!(written, "code was streamed");

    let view = window.app.run_view(run).unwrap();
    assert_eq!(view.row.status, RunStatus::Approved);
    assert!(!view.row.driven);
    assert_eq!(view.tasks.len(), 2);
    assert!(
        view.tasks
            .iter()
            .all(|task| task.rounds.last().unwrap().attempts[0].diff.contains("casefold"))
    );
    assert!(view.tasks.iter().all(|task| task.base_lines.is_some()));
    assert!(view.stages.iter().all(|stage| stage.done));
    assert!(
        view.candidates
            .iter()
            .any(|one| one.state == CandidateState::JudgedIrrelevant)
    );
    let kinds = |one: &CandidateView| one.candidate.evidence.iter().map(variant_name).collect::<Vec<_>>();
    let filters = view
        .candidates
        .iter()
        .find(|one| one.candidate.path.as_str() == "tally/filters.py");
    let kinds = kinds(filters.unwrap());
    let place = |kind: &str| {
        kinds
            .iter()
            .position(|other| other == kind)
            .unwrap_or_else(|| panic!("{kind}: {kinds:?}"))
    };
    assert!(
        place("TestedBy") < place("Title") && place("Title") < place("Text") && place("Text") < place("PathWords"),
        "what the issue says outright stands before what words suggest: {kinds:?}"
    );
    let last_view = news.iter().rev().find_map(|one| match one {
        RunUpdate::View { view } => Some(view.seq),
        _ => None,
    });
    assert_eq!(last_view, Some(view.seq), "the last view is the whole log");

    let page = window
        .app
        .runs_page(RunListFilter {
            text: "categor".to_owned(),
            ..filter()
        })
        .unwrap();
    assert_eq!(
        (page.total, page.rows[0].run.id, page.rows[0].place.as_str()),
        (1, run, "issue")
    );
    assert!(page.rows[0].snippet.iter().any(|part| part.hit));
    assert_eq!(
        listed(
            &window.app,
            RunListFilter {
                status: Some(RunStatus::Approved),
                ..filter()
            }
        ),
        [run]
    );
    assert_eq!(
        listed(
            &window.app,
            RunListFilter {
                status: Some(RunStatus::Failed),
                ..filter()
            }
        ),
        []
    );
    let calls = window.app.calls(run).unwrap();
    let text = window.app.call_text(run, calls[0].id).unwrap();
    assert!(text.prompt.contains("Categories"));
    assert_eq!(window.app.usage().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_in_the_middle_of_a_call_sees_it_from_its_beginning() {
    let model = ScriptedModel::new("script").answer(|request| {
        let writes_code = request.answer_prefix.contains("The corrected");
        writes_code.then(|| ScriptedReply::HangAfter("    return label.casefold()".to_owned()))
    });
    let window = Window::new(script_after(model));
    let run = window
        .app
        .start_run(form(window.add(), sample::TWO_TASK_ISSUE))
        .await
        .unwrap();
    let mut first = window.follow(run);
    let begun = until_step(&mut first, "P10-code").await;
    let written = until_text(&mut first).await;

    let mut second = window.follow(run);
    assert_eq!(until_step(&mut second, "P10-code").await, begun);
    assert_eq!(until_text(&mut second).await, written);
    assert!(written.ends_with("return label.casefold()"), "{written}");

    window.app.halt_run(run, Halt::Stop).await.unwrap();
    window.app.until_idle().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_of_a_run_goes_on_where_it_was_when_it_is_resumed() {
    const CALL_MS: u64 = 60_000;
    let window = Window::new(hang_at("P10-code").with_time(CALL_MS));
    let run = window
        .app
        .start_run(form(window.add(), sample::TWO_TASK_ISSUE))
        .await
        .unwrap();
    let mut news = window.follow(run);
    until_step(&mut news, "P10-code").await;
    window.app.halt_run(run, Halt::Pause).await.unwrap();
    window.app.until_idle().await;
    let before = window.app.run_row(run).unwrap().worked_ms;
    assert!(before >= 5 * CALL_MS, "{before}");

    let window = window.reopened(hang_at("P10-code").with_time(CALL_MS));
    window.app.resume_run(run).await.unwrap();
    let mut news = window.follow(run);
    let shown = until_time(&mut news).await;
    window.app.halt_run(run, Halt::Stop).await.unwrap();
    window.app.until_idle().await;
    let view = window.app.run_view(run).unwrap();
    assert!(
        (before..before + CALL_MS).contains(&shown),
        "{shown} ms after {before} ms"
    );
    assert_eq!(
        view.stages.iter().map(|stage| stage.ms).sum::<u64>(),
        view.row.worked_ms
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_paused_and_goes_on_from_there() {
    let window = Window::new(hang_at("P10-code"));
    let run = window
        .app
        .start_run(form(window.add(), sample::TWO_TASK_ISSUE))
        .await
        .unwrap();
    let mut news = window.follow(run);
    until_step(&mut news, "P10-code").await;
    let waiting = window.app.start_run(form(window.add(), sample::ISSUE)).await.unwrap();
    assert_eq!(window.app.run_row(waiting).unwrap().status, RunStatus::Queued);
    assert_eq!(window.app.running_runs().unwrap().len(), 2);
    assert_eq!(window.app.delete_run(run).unwrap_err().code, "run_active");
    window
        .app
        .steer(
            run,
            SteeringRequest::Hint {
                text: "Look at the case.".to_owned(),
            },
        )
        .unwrap();

    window.app.halt_run(waiting, Halt::Stop).await.unwrap();
    assert_eq!(window.app.run_row(waiting).unwrap().status, RunStatus::Paused);
    window.app.halt_run(run, Halt::Pause).await.unwrap();
    assert_eq!(until_the_end(news).await.last(), Some(&RunUpdate::Stopped));
    window.app.until_idle().await;
    let paused = window.app.run_view(run).unwrap();
    assert_eq!((paused.row.status, paused.stage), (RunStatus::Paused, Stage::Code));
    assert!(paused.paused_reason.is_some());
    let calls = window.app.calls(run).unwrap().len();

    let window = window.reopened(script());
    window.app.resume_run(run).await.unwrap();
    until_the_end(window.follow(run)).await;
    window.app.until_idle().await;
    let view = window.app.run_view(run).unwrap();
    assert_eq!(view.row.status, RunStatus::Approved);
    assert_eq!(view.hints.len(), 1);
    assert!(window.app.calls(run).unwrap().len() > calls);
    assert_eq!(window.app.resume_run(run).await.unwrap_err().code, "run_over");

    let again = window.app.rerun(run, Stage::Code, None, Some(7)).await.unwrap();
    window.app.until_idle().await;
    assert_eq!(window.app.run_row(again).unwrap().parent, Some(run));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_left_in_the_queue_of_an_ended_window_waits_for_a_word() {
    let window = Window::new(hang_at("P10-code"));
    let repo = window.add();
    let active = window.app.start_run(form(repo, sample::TWO_TASK_ISSUE)).await.unwrap();
    until_step(&mut window.follow(active), "P10-code").await;
    let closed = window.app.start_run(form(repo, sample::TWO_TASK_ISSUE)).await.unwrap();
    let mut news = window.follow(closed);
    window.app.driving().halt_all(&window.app, Halt::Pause);
    window.app.until_idle().await;
    let mut last = None;
    while let Some(one) = news.recv().await {
        last = Some(one);
    }
    assert_eq!(last, Some(RunUpdate::Stopped));
    // A killed window gets no further than this.
    let killed = window.app.prepare_run(form(repo, sample::ISSUE)).unwrap();

    let window = window.reopened(script());
    let status = |run| window.app.run_row(run).unwrap().status;
    assert_eq!(status(active), RunStatus::Paused);
    assert_eq!([status(closed), status(killed)], [RunStatus::Waiting; 2]);
    assert!(
        window.app.running_runs().unwrap().is_empty(),
        "nothing begins by itself"
    );
    let waiting = RunListFilter {
        status: Some(RunStatus::Waiting),
        order: RunOrder::OldestFirst,
        ..filter()
    };
    assert_eq!(listed(&window.app, waiting.clone()), [closed, killed]);

    window.app.resume_run(closed).await.unwrap();
    assert_eq!(
        until_the_end(window.follow(closed)).await.last(),
        Some(&RunUpdate::Ended)
    );
    window.app.until_idle().await;
    assert_eq!(status(closed), RunStatus::Approved);
    window.app.delete_run(killed).unwrap();
    assert_eq!(listed(&window.app, waiting), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_imported_run_belongs_to_the_repository_it_was_made_in() {
    let made = Window::new(script());
    let (run, _) = made.solve(sample::TWO_TASK_ISSUE).await;
    let file = made.folder.path().join("run.json");
    made.app.export_run(run, ExportFormat::Json, &file).unwrap();

    let window = Window::new(script());
    let imported = window.app.import_run(&file).unwrap();
    assert_eq!(window.app.run_row(imported).unwrap().repo, None);
    assert_eq!(
        window.app.file_texts(imported, "tally/filters.py").unwrap().before,
        None
    );
    assert_eq!(
        window
            .app
            .apply(imported, all_of(&window.app, imported), onto("b"))
            .unwrap_err()
            .code,
        "no_repository"
    );

    let repo = window.add();
    let row = window.app.run_row(imported).unwrap();
    assert_eq!((row.repo, row.imported), (Some(repo), true));
    assert!(
        window
            .app
            .base_file(imported, "tally/filters.py")
            .unwrap()
            .contains("def ")
    );
    let apply = || window.app.apply(imported, all_of(&window.app, imported), onto("b"));
    assert_eq!(apply().unwrap_err().code, "which_repository");
    let view = window.app.run_view(imported).unwrap();
    assert_eq!(view.import.unwrap().file, "run.json");
    assert!(!view.repository_named);
    window.app.name_repository(imported, repo).unwrap();
    assert!(window.app.run_view(imported).unwrap().repository_named);
    apply().unwrap();
    assert_eq!(window.git(&["diff", "--name-only", "main", "b"]).lines().count(), 2);
    window.app.undo_apply(imported).unwrap();

    let markdown = window.folder.path().join("run.md");
    window
        .app
        .export_run(imported, ExportFormat::Markdown, &markdown)
        .unwrap();
    let told = fs::read_to_string(&markdown).unwrap();
    assert!(told.contains("\n## Patch\n\n```diff\n"), "{told}");
    assert!(
        told.contains("Model review by ") && told.contains("\n      +"),
        "what was written and reviewed is told: {told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_run_comes_back_until_it_is_erased() {
    let window = Window::new(script());
    let (run, _) = window.solve(sample::TWO_TASK_ISSUE).await;
    window.app.set_tags(run, &[" case ".to_owned(), String::new()]).unwrap();
    let tagged = RunListFilter {
        tag: Some("case".to_owned()),
        ..filter()
    };
    assert_eq!(listed(&window.app, tagged.clone()), [run]);

    let ticket = window.app.delete_run(run).unwrap().ticket;
    assert_eq!(listed(&window.app, tagged.clone()), []);
    assert_eq!(
        listed(
            &window.app,
            RunListFilter {
                text: "categories".to_owned(),
                ..filter()
            }
        ),
        []
    );
    window.app.undo_delete(ticket).unwrap();
    assert_eq!(listed(&window.app, tagged), [run]);

    window.app.delete_run(run).unwrap();
    window.app.erase_removed(i64::MAX);
    assert_eq!(window.app.undo_delete(ticket).unwrap_err().code, "no_run");
    assert_eq!(window.app.run_view(run).unwrap_err().code, "no_run");
}
