//! What a bad server brings about: one clear sentence, and no hang.

mod support;

use magis_llm::{Constraint, LanguageModel as _, LlmError};
use magis_remote::{EngineOptions, RemoteModel};
use serde_json::json;
use std::net::TcpListener;
use std::time::Duration;
use support::{Asked, Reply, Server, Then, answer, chat, event, llama, options, plain, said};
use tokio::time::{sleep, timeout};

/// Longer than any of these servers may hold anybody up.
const LIMIT: Duration = Duration::from_secs(8);

/// Asks a server that answers a conversation so, and returns the error without host and port.
async fn check(reply: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static) -> String {
    let server = Server::start(move |asked, before| match asked.path.as_str() {
        "/v1/chat/completions" => reply(asked, before),
        _ => plain(asked),
    });
    let model = server.model().await;
    let mut request = chat("hello");
    request.max_tokens = 4;
    let asked = timeout(LIMIT, model.chat(&request, &mut |_| ()))
        .await
        .expect("no server holds anybody up");
    sentence(&asked.expect_err("the server is bad"))
}

/// Connects to a server that answers so, and returns the error without host and port.
async fn check_connecting(reply: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static) -> String {
    let server = Server::start(reply);
    failed(server.options()).await
}

async fn failed(options: EngineOptions) -> String {
    let connected = timeout(LIMIT, RemoteModel::connect(options))
        .await
        .expect("no server holds anybody up");
    sentence(&connected.err().expect("the server is bad"))
}

fn sentence(error: &LlmError) -> String {
    let text = error.to_string();
    match error {
        LlmError::Engine { host, .. } => text.replace(host.as_str(), "HOST"),
        _ => text,
    }
}

#[tokio::test]
async fn a_server_that_is_not_there() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    insta::assert_snapshot!(failed(options(&format!("http://{free}"))).await, @"the engine at HOST cannot be reached: Connection refused (os error 111); check that it runs and that the address is right");
}

#[tokio::test]
async fn a_server_without_tls_is_not_trusted() {
    let server = Server::start(|_, _| Reply::Close);
    let said = failed(options(&server.url.replace("http:", "https:"))).await;
    assert!(said.starts_with("the engine at HOST cannot be trusted: "), "{said}");
}

#[tokio::test]
async fn a_server_that_says_nothing() {
    insta::assert_snapshot!(check(|_, _| Reply::Silence).await, @"the engine at HOST sent nothing for 0.4 s; it may be too busy or stuck");
}

#[tokio::test]
async fn a_server_that_stops_in_the_midst() {
    insta::assert_snapshot!(check(|_, _| Reply::Events(vec![event("a")], Then::Silence)).await, @"the engine at HOST stopped in the midst of an answer and sent nothing for 0.4 s");
}

#[tokio::test]
async fn a_server_that_only_keeps_the_connection_open() {
    insta::assert_snapshot!(check(|_, _| Reply::Events(vec![event("a")], Then::Pings)).await, @"the engine at HOST stopped in the midst of an answer and sent nothing for 0.4 s");
}

#[tokio::test]
async fn a_stream_that_is_cut() {
    insta::assert_snapshot!(check(|_, _| Reply::Events(vec![event("a")], Then::Close)).await, @"the engine at HOST closed the connection in the midst of an answer: the stream ends without saying so");
    insta::assert_snapshot!(check(|_, _| Reply::Close).await, @"the engine at HOST closed the connection in the midst of an answer: connection closed before message completed");
}

#[tokio::test]
async fn a_stream_without_end() {
    insta::assert_snapshot!(check(|_, _| Reply::Events(vec![event("a")], Then::Forever)).await, @"the engine at HOST sends more than was asked for: over 4 tokens; it was cut off");
}

#[tokio::test]
async fn a_server_that_sends_nonsense() {
    insta::assert_snapshot!(check(|_, _| Reply::Events(vec!["{\"choices\": 3}".to_owned()], Then::Done)).await, @r#"the engine at HOST does not answer as an engine does: an event of its stream cannot be read (invalid type: integer `3`, expected a sequence at line 1 column 13)"#);
    insta::assert_snapshot!(check(|_, _| Reply::Raw(b"\x00\xff\xfenonsense\r\n\r\n")).await, @"the engine at HOST does not answer as an engine does: its answer is no HTTP (invalid HTTP version parsed)");
    insta::assert_snapshot!(check_connecting(|_, _| Reply::Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>")).await, @"the engine at HOST does not answer as an engine does: /v1/models gives no JSON (expected value at line 1 column 1)");
    insta::assert_snapshot!(check_connecting(|_, _| Reply::Json(200, json!({"models": []}))).await, @"the engine at HOST does not answer as an engine does: its list of models is none");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Server::start(|asked, _| plain(asked));
    let there: &'static str = Box::leak(format!("Location: {}/v1/models\r\n", elsewhere.url).into_boxed_str());
    let sentence = check_connecting(move |_, _| Reply::Head(307, there)).await;
    assert!(
        sentence.contains("sends the request on to another place (http://127.0.0.1:"),
        "{sentence}"
    );
    assert!(
        elsewhere.asked("/v1/models").is_empty(),
        "nothing may reach the other place"
    );
}

#[tokio::test]
async fn a_server_that_lies_about_its_context() {
    let refused = json!({"error": {"code": 400, "type": "exceed_context_size_error",
        "message": "request (900 tokens) exceeds the available context size (512 tokens), try increasing it"}});
    let later = json!({"error": {"message": "This model's maximum context length is 512 tokens"}}).to_string();
    insta::assert_snapshot!(check(move |_, _| Reply::Json(400, refused.clone())).await, @"the engine at HOST says that the prompt does not fit into its context: request (900 tokens) exceeds the available context size (512 tokens), try increasing it; give the context that it really has");
    insta::assert_snapshot!(check(move |_, _| Reply::Events(vec![later.clone()], Then::Close)).await, @"the engine at HOST says that the prompt does not fit into its context: This model's maximum context length is 512 tokens; give the context that it really has");
}

#[tokio::test]
async fn a_server_that_gives_up() {
    let error = json!({"error": {"message": "CUDA error: out of memory\nat line 7"}}).to_string();
    insta::assert_snapshot!(check(move |_, _| Reply::Events(vec![event("a"), error.clone()], Then::Close)).await, @"the engine at HOST gave up in the midst of an answer: CUDA error: out of memory");
    insta::assert_snapshot!(check(|_, _| Reply::Json(500, json!({"detail": "broken"}))).await, @"the engine at HOST answers with status 500: broken");
}

#[tokio::test]
async fn a_key_that_is_refused() {
    insta::assert_snapshot!(check_connecting(|_, _| Reply::Json(401, json!({"error": "bad key sk-123"}))).await, @"the engine at HOST refuses the key (status 401); set the right one in the system's keyring");
}

#[tokio::test]
async fn a_busy_server_is_asked_again_and_a_broken_one_is_not() {
    for (first, tries) in [(429, 2), (503, 2), (500, 1)] {
        let server = Server::start(move |asked, before| match (asked.path.as_str(), before) {
            ("/v1/chat/completions", 0) => Reply::Json(first, json!({"error": {"message": "Loading model"}})),
            ("/v1/chat/completions", _) => said(&["yes"]),
            _ => plain(asked),
        });
        let answered = server.model().await.chat(&chat("hello"), &mut |_| ()).await;
        assert_eq!(answered.is_ok(), tries == 2, "{first}: {answered:?}");
        assert_eq!(server.asked("/v1/chat/completions").len(), tries, "{first}");
    }
    insta::assert_snapshot!(check(|_, _| Reply::Json(503, json!({"error": {"message": "Loading model"}}))).await, @"the engine at HOST answers with status 503: Loading model");
}

#[tokio::test]
async fn an_answer_of_the_wrong_form_is_asked_for_again() {
    let server = Server::start(|asked, before| match asked.path.as_str() {
        "/v1/chat/completions" => said(&[
            ["maybe", "per", "haps"][before.min(2)],
            if before < 2 { "" } else { " no" },
        ]),
        _ => llama(asked),
    });
    let model = server.model().await;
    let mut request = chat("well?");
    request.constraint = Constraint::OneOf(vec!["yes".to_owned(), "haps no".to_owned()]);
    let mut shown = String::new();
    let reply = model.chat(&request, &mut |text| shown.push_str(text)).await.unwrap();
    assert_eq!((reply.text.as_str(), shown.as_str()), ("haps no", "haps no"));
    assert_eq!(reply.usage.prompt_tokens, 18, "all three are paid for");
    let asked = server.asked("/v1/chat/completions");
    let drawn: Vec<_> = asked
        .iter()
        .map(|asked| (&asked.body["temperature"], &asked.body["seed"]))
        .collect();
    assert_eq!(
        format!("{drawn:?}"),
        "[(Number(0.0), Number(0)), (Number(0.800000011920929), Number(1)), (Number(0.800000011920929), Number(2))]"
    );
}

#[tokio::test]
async fn an_answer_that_never_has_the_form_is_an_error() {
    let server = Server::start(|asked, _| match asked.path.as_str() {
        "/v1/chat/completions" => said(&["maybe"]),
        _ => llama(asked),
    });
    let mut request = chat("well?");
    request.constraint = Constraint::OneOf(vec!["yes".to_owned(), "no".to_owned()]);
    let error = server.model().await.chat(&request, &mut |_| ()).await.unwrap_err();
    insta::assert_snapshot!(error, @"the answer has not the form that was asked for, also when asked again: it is none of the texts to choose from");
    assert_eq!(server.asked("/v1/chat/completions").len(), 3);
}

#[tokio::test]
async fn a_call_that_is_dropped_closes_its_connection() {
    for reply in [|| Reply::Silence, || Reply::Events(vec![event("a")], Then::Silence)] {
        let server = Server::start(move |asked, _| match asked.path.as_str() {
            "/v1/chat/completions" => reply(),
            _ => plain(asked),
        });
        let model = server.model().await;
        let request = chat("hello");
        drop(timeout(Duration::from_millis(150), model.chat(&request, &mut |_| ())).await);
        for _ in 0..50 {
            if server.connections_left() == 1 {
                break;
            }
            sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(
            server.connections_left(),
            1,
            "the server has to see that nobody waits any more"
        );
    }
}

#[tokio::test]
async fn an_end_that_was_said_is_an_end_even_if_the_connection_breaks() {
    let server = Server::start(|asked, _| match asked.path.as_str() {
        "/v1/chat/completions" => Reply::Events(answer(&["a", "b"]), Then::Close),
        _ => plain(asked),
    });
    let reply = server.model().await.chat(&chat("hello"), &mut |_| ()).await.unwrap();
    assert_eq!(reply.text, "ab");
}

#[tokio::test]
async fn log_probabilities_of_another_text_are_not_taken() {
    let server = Server::start(|asked, _| match asked.path.as_str() {
        // As a server that does not know grammars of tokens: it writes what it likes.
        "/completion" => Reply::Json(200, json!({"completion_probabilities": [{"id": 5, "logprob": -0.1}]})),
        "/v1/chat/completions" => said(&["1"]),
        _ => llama(asked),
    });
    let model = server.model().await;
    assert_eq!(model.abilities().scoring, magis_remote::Scoring::Ranked);
}
