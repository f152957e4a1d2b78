//! Models of the hub, which is on loopback: what is listed of a repository, what is fetched, and what is said where that fails.

use crate::support::launch;
use magis_app::views::{FetchNews, HubFit, HubObstacle, ModelRow};
use magis_app::{App, LaunchOptions, ModelSource};
use magis_engine::models::Hub;
use magis_models::Sha256Hex;
use magis_testkit::gguf::Gguf;
use magis_testkit::hub::{HubEntry, HubRepository, LoopbackHub};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use tempfile::TempDir;

const REPO: &str = "some-one/Tiny-GGUF";
const SMALL: &str = "hf:some-one/Tiny-GGUF:Tiny-Q4_K_M.gguf";

struct HubWindow {
    app: App,
    hub: LoopbackHub,
    _folder: TempDir,
}

impl HubWindow {
    fn new() -> Self {
        let entry = |path: &str, rows: u64| {
            let bytes = Gguf::small(rows).bytes();
            HubEntry {
                path: path.to_owned(),
                oid: Some(Sha256Hex::of(&bytes).to_string()),
                bytes,
            }
        };
        let files = vec![
            entry("Tiny-Q8_0.gguf", 5000),
            entry("Tiny-Q4_K_M.gguf", 100),
            entry("Tiny-BF16-00001-of-00002.gguf", 6000),
        ];
        let hub = LoopbackHub::start(HubRepository::new(REPO, files));
        let (app, folder) = open(&hub.address);
        Self {
            app,
            hub,
            _folder: folder,
        }
    }

    fn fetch(&self, id: &str) -> Vec<FetchNews> {
        let (sender, news): (_, Receiver<FetchNews>) = channel();
        self.app.fetch_model(id, move |one| sender.send(one).is_ok()).unwrap();
        // The channel closes when it is over.
        news.iter().collect()
    }

    fn refused(&self, name: &str) -> String {
        let problem = self.app.hub_models(name).unwrap_err();
        assert!(problem.remedy.is_some(), "{problem:?}");
        problem.code
    }

    fn listed(&self) -> Option<ModelRow> {
        let models = self.app.models().unwrap();
        models.into_iter().find(|row| row.from == SMALL)
    }
}

fn open(hub: &str) -> (App, TempDir) {
    let folder = TempDir::new().unwrap();
    let launch = LaunchOptions {
        hub: Some(Hub::at(hub, None).unwrap()),
        ..launch(&folder)
    };
    (App::open(launch, ModelSource::Worker, Arc::new(|_| ())), folder)
}

#[test]
fn a_repository_is_listed_with_what_is_known_before_anything_is_fetched() {
    let window = HubWindow::new();
    let listing = window.app.hub_models(&format!(" {REPO}\n")).unwrap();
    assert_eq!((listing.repo.as_str(), listing.has_terms), (REPO, false));
    assert_eq!(listing.licence.as_deref(), Some("apache-2.0"));
    let [small, _, parts] = &listing.models[..] else {
        panic!("{listing:?}")
    };
    let bytes = Gguf::small(100).bytes();
    assert_eq!((small.id.as_str(), small.bytes), (SMALL, bytes.len() as u64));
    assert_eq!(small.sha256, [Sha256Hex::of(&bytes).to_string()]);
    assert!(
        !matches!(small.fits, Some(HubFit::No { .. })),
        "some hundred kilobytes fit anywhere"
    );
    assert_eq!((small.here_bytes, small.obstacle), (0, None));
    assert_eq!((parts.parts, parts.obstacle), (2, Some(HubObstacle::PartsMissing)));

    let one = window.app.hub_models(SMALL).unwrap();
    assert_eq!(one.models, std::slice::from_ref(small));
}

#[test]
fn a_file_is_fetched_as_it_was_shown_and_is_a_model_like_the_others() {
    let window = HubWindow::new();
    window.app.hub_models(REPO).unwrap();
    let before = window.hub.asked().len();
    assert_eq!(window.fetch(SMALL).last(), Some(&FetchNews::Done));
    assert!(
        window.hub.asked()[before..]
            .iter()
            .all(|asked| !asked.path.starts_with("/api/")),
        "what was shown is not asked for again"
    );
    let row = window.listed().unwrap();
    assert!(row.installed && !row.own_file, "{row:?}");
    assert_eq!(row.licence, "apache-2.0");
    let again = window.app.hub_models(SMALL).unwrap();
    assert_eq!(again.models[0].here_bytes, again.models[0].bytes);
    assert_eq!(window.app.fetched().unwrap().len(), 1, "the privacy page lists it");
}

#[test]
fn a_file_is_fetched_by_its_name_also_where_nothing_was_shown() {
    let window = HubWindow::new();
    assert_eq!(window.fetch(SMALL).last(), Some(&FetchNews::Done));
    assert!(window.listed().is_some());
}

#[test]
fn why_nothing_is_listed_is_told_by_a_code_with_what_can_be_done() {
    let window = HubWindow::new();
    assert_eq!(window.refused("Tiny"), "hub_name");
    assert_eq!(window.refused("some-one/other"), "hub_closed");
    assert_eq!(window.refused(&format!("{REPO}:Tiny-Q2.gguf")), "hub_no_such_file");
    assert_eq!(
        window.refused(&format!("{REPO}:Tiny-BF16-00001-of-00002.gguf")),
        "hub_parts_missing"
    );
    window.hub.change(|repository| repository.files.clear());
    assert_eq!(window.refused(REPO), "hub_no_model");

    let (app, _folder) = open("http://127.0.0.1:9");
    let silent = app.hub_models(REPO).unwrap_err();
    assert_eq!(silent.code, "hub_silent");
    assert_eq!(silent.remedy.as_deref(), Some("Check the connection."));
}

#[test]
fn terms_that_were_not_accepted_are_told_when_a_file_is_fetched() {
    let window = HubWindow::new();
    window
        .hub
        .change(|repository| repository.gated = Some("auto".to_owned()));
    assert!(window.app.hub_models(REPO).unwrap().has_terms);
    window
        .hub
        .change(|repository| repository.token = Some("hf_secret".to_owned()));
    let news = window.fetch(SMALL);
    let Some(FetchNews::Problem { problem }) = news.last() else {
        panic!("{news:?}")
    };
    assert_eq!(problem.code, "hub_closed");
    assert!(problem.remedy.as_deref().unwrap().contains("HF_TOKEN"), "{problem:?}");
}
