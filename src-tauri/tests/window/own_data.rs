//! What the program keeps for itself: settings, drafts, a database of another version.

use crate::environment::script;
use crate::support::{Window, filter, form, open};
use magis_app::ERASE_ALL;
use magis_app::views::{EngineManners, Purpose, Settings, SolveForm, Theme};
use magis_engine::model::Manners;
use std::fs;

#[tokio::test(flavor = "multi_thread")]
async fn what_was_typed_and_set_is_there_again() {
    let window = Window::new(script());
    let repo = window.add();
    let typed = SolveForm {
        comments: "see the log".to_owned(),
        ..form(repo, "half an iss")
    };
    window.app.save_draft(&typed).unwrap();
    let settings = Settings {
        theme: Theme::Dark,
        font_size: 99,
        memory_limit: Some(1),
        manners: EngineManners::Background,
        ..Settings::default()
    };
    window.app.put_settings(settings).unwrap();

    let window = window.reopened(script());
    assert_eq!(window.app.draft(repo).unwrap(), Some(typed));
    let read = window.app.settings().unwrap();
    assert_eq!((read.theme, read.font_size), (Theme::Dark, 24));
    assert_eq!(read.limits().memory, Some(256 << 20), "no model is smaller");
    assert_eq!(read.limits().manners, Some(Manners::Background));
    let refused = window
        .app
        .start_run(form(repo, "https://example.org/issues/1"))
        .await
        .unwrap_err();
    assert_eq!(refused.code, "issue_address");
    assert!(
        window.app.draft(repo).unwrap().is_some(),
        "a refused run leaves the draft"
    );

    let report = window.folder.path().join("report.txt");
    assert_eq!(window.app.save_report(&report).unwrap_err().code, "no_report");
    let shown = window.app.make_report().unwrap();
    window.app.save_report(&report).unwrap();
    assert_eq!(fs::read_to_string(report).unwrap(), shown);
    assert!(!shown.contains("tally") && !shown.contains("half an iss"), "{shown}");

    assert_eq!(window.app.erase_all("yes").await.unwrap_err().code, "not_confirmed");
    let data = window.folder.path().join("data");
    fs::write(data.join("notes.txt"), "not of Magis").unwrap();
    assert_eq!(window.app.erase_all(ERASE_ALL).await.unwrap(), ["notes.txt"]);
    assert_eq!(fs::read_to_string(data.join("notes.txt")).unwrap(), "not of Magis");
    let info = window.app.info().unwrap();
    assert!(info.first_start && info.opened.is_none());
    assert!(
        window.root().join(".git").exists(),
        "the repository is not ours to erase"
    );
}

#[test]
fn quick_runs_may_have_a_default_model_of_their_own() {
    let window = Window::new(script());
    let repo = window.add();
    let quick = SolveForm {
        max_rounds: 1,
        ..form(repo, "half an iss")
    };
    let usual = SolveForm {
        max_rounds: 3,
        ..quick.clone()
    };
    let chosen = SolveForm {
        model: Some("chosen".to_owned()),
        ..quick.clone()
    };
    let models = || [&quick, &usual, &chosen].map(|form| window.app.model_of(form).unwrap());

    window.app.set_default_model("large", Purpose::Runs).unwrap();
    assert_eq!(models(), ["large", "large", "chosen"]);
    window.app.set_default_model("small", Purpose::QuickRuns).unwrap();
    assert_eq!(models(), ["small", "large", "chosen"]);
}

#[test]
fn what_an_older_version_set_stays_set() {
    let window = Window::new(script());
    let magis = window.app.magis().unwrap();
    let older = serde_json::json!({ "theme": "dark", "top_k": 7, "gone": true, "warm": true });
    magis.put_setting("window/settings", &older).unwrap();
    let expected = Settings {
        theme: Theme::Dark,
        top_k: 7,
        summarise_when_idle: true,
        ..Settings::default()
    };
    assert_eq!(window.app.settings().unwrap(), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_a_newer_version_is_told_by_every_command() {
    let window = Window::new(script());
    window.add();
    let database = window.app.magis().unwrap().database().to_owned();
    let Window { app, folder } = window;
    drop(app);
    // SQLite keeps the version at byte 60 of the file, the greatest byte first.
    let mut bytes = fs::read(&database).unwrap();
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    fs::write(&database, bytes).unwrap();

    let app = open(&folder, script());
    let problem = app.repositories().unwrap_err();
    assert_eq!(problem.code, "newer_schema");
    assert!(problem.message.contains("99") && problem.remedy.unwrap().contains("pdate this program"));
    assert_eq!(app.runs_page(filter()).unwrap_err().code, "newer_schema");
}
