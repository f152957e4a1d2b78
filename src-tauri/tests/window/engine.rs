//! Another engine: checked, used and left; it is a server on loopback, and nothing is sent to it before a person says so.

use crate::environment::script;
use crate::support::{Window, form, launch};
use magis_app::views::{EngineForm, EngineKind, EngineRemark, RunStatus, SolveForm};
use magis_app::{App, ModelSource};
use magis_testkit::sample;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A server with the `OpenAI` interface and two models. It answers what it has, and never a conversation.
struct EngineServer {
    host: String,
    asked: Arc<Mutex<Vec<String>>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl EngineServer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let over: Arc<AtomicBool> = Arc::default();
        let (heard, is_over) = (Arc::clone(&asked), Arc::clone(&over));
        let thread = thread::spawn(move || {
            let mut conversations = Vec::new();
            for stream in listener.incoming() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                let mut stream = stream.unwrap();
                let Some(path) = read_request(&stream) else { continue };
                let (status, body) = match path.as_str() {
                    "/v1/models" => (200, r#"{"data": [{"id": "small"}, {"id": "large"}]}"#),
                    "/v1/chat/completions" => {
                        heard.lock().unwrap().push(path);
                        conversations.push(stream);
                        continue;
                    }
                    _ => (404, "{}"),
                };
                heard.lock().unwrap().push(path);
                let length = body.len();
                // The client may have left.
                let _ = write!(
                    stream,
                    "HTTP/1.1 {status} As told\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                );
            }
        });
        Self {
            host,
            asked,
            over,
            thread: Some(thread),
        }
    }

    fn form(&self, model: Option<&str>) -> EngineForm {
        EngineForm {
            address: format!("http://{}", self.host),
            model: model.map(str::to_owned),
            context: Some(8192),
            authorities: None,
        }
    }

    fn conversations(&self) -> usize {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|path| path.contains("/chat/")).count()
    }
}

impl Drop for EngineServer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // The thread waits for a caller: this is the last one.
        drop(TcpStream::connect(&self.host));
        self.thread.take().unwrap().join().unwrap();
    }
}

/// Reads a request to its end, and returns its path.
fn read_request(stream: &TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    reader.read_exact(&mut vec![0; length]).ok()?;
    Some(path)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_is_used_from_when_a_person_says_so_until_they_leave_it() {
    let (window, server) = (Window::new(script()), EngineServer::start());
    let app = &window.app;
    let usual = form(window.add(), "half an iss");
    assert_eq!(app.other_engine().unwrap().used, None);
    let own = app.model_of(&usual).unwrap();

    let check = app.check_engine(server.form(None)).await.unwrap();
    assert_eq!(
        (check.host.as_str(), check.kind),
        (server.host.as_str(), EngineKind::Other)
    );
    assert_eq!((check.model.as_str(), check.context), ("small", 8192));
    assert_eq!(check.models, ["small", "large"]);
    assert!(check.remarks.contains(&EngineRemark::Estimated), "{check:?}");
    assert_eq!(app.other_engine().unwrap().used, None, "looking is not using");
    assert_eq!(app.model_of(&usual).unwrap(), own);

    app.use_other_engine(server.form(Some("large"))).await.unwrap();
    let used = app.other_engine().unwrap().used.unwrap();
    assert_eq!(
        (used.host.as_str(), used.label.as_str()),
        (server.host.as_str(), "large")
    );
    let chosen = |model: Option<&str>, rounds| SolveForm {
        model: model.map(str::to_owned),
        max_rounds: rounds,
        ..usual.clone()
    };
    let models = [chosen(None, 3), chosen(None, 1), chosen(Some("own"), 3)].map(|form| app.model_of(&form).unwrap());
    assert_eq!(models, [used.model.as_str(), &used.model, "own"]);

    app.leave_other_engine().await.unwrap();
    let left = app.other_engine().unwrap();
    assert_eq!((left.used, left.form), (None, server.form(Some("large"))));
    assert_eq!(app.model_of(&usual).unwrap(), own);
    assert_eq!(server.conversations(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_prompts_may_not_go_to_is_refused_with_the_reason() {
    let window = Window::new(script());
    let public = EngineForm {
        address: "https://8.8.8.8".to_owned(),
        ..EngineForm::default()
    };
    for problem in [
        window.app.check_engine(public.clone()).await.unwrap_err(),
        window.app.use_other_engine(public).await.unwrap_err(),
    ] {
        assert_eq!(problem.code, "engine_public");
        assert!(problem.message.contains("is a public address"), "{problem:?}");
    }
    let nobody = EngineForm {
        address: "http://127.0.0.1:9".to_owned(),
        ..EngineForm::default()
    };
    let problem = window.app.use_other_engine(nobody).await.unwrap_err();
    assert_eq!((problem.code.as_str(), &problem.remedy), ("engine", &None));
    assert!(problem.message.contains("cannot be reached"), "{problem:?}");
    assert_eq!(window.app.other_engine().unwrap().used, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_says_where_its_prompts_go_and_is_stopped_when_that_ends() {
    let (window, server) = (Window::new(script()), EngineServer::start());
    let launch = launch(&window.folder);
    let app = App::open(launch, ModelSource::Worker, Arc::new(|_| ()));
    let repo = app.add_repository(&window.root()).unwrap().id;
    app.use_other_engine(server.form(Some("small"))).await.unwrap();
    let run = app.start_run(form(repo, sample::TWO_TASK_ISSUE)).await.unwrap();
    assert_eq!(app.run_row(run).unwrap().host, Some(server.host.clone()));

    let begun = Instant::now();
    while server.conversations() == 0 {
        assert!(begun.elapsed() < Duration::from_mins(1), "no prompt came");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    app.leave_other_engine().await.unwrap();
    app.until_idle().await;
    let asked = server.conversations();
    assert_eq!(app.run_row(run).unwrap().status, RunStatus::Paused);

    app.resume_run(run).await.unwrap();
    app.until_idle().await;
    assert_eq!(app.run_row(run).unwrap().status, RunStatus::Paused);
    assert_eq!(server.conversations(), asked, "nothing goes there any more");
}
