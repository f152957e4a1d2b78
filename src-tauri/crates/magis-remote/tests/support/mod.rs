//! A server on loopback that answers as a test tells it: like an engine, or as badly as one can.
//!
//! Nothing here checks anything.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    reason = "each test file uses a part; a broken fixture should stop the test"
)]

use magis_llm::{ChatRequest, Message, MessageRole, ScoreRequest};
use magis_remote::{EngineOptions, Patience, RemoteModel};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How a request is answered.
pub enum Reply {
    Json(u16, Value),
    /// A status with headers of its own and no content.
    Head(u16, &'static str),
    /// These events, then how the stream goes on.
    Events(Vec<String>, Then),
    /// These bytes as they are.
    Raw(&'static [u8]),
    /// Nothing; the connection stays open.
    Silence,
    /// Nothing; the connection is closed.
    Close,
}

/// What comes behind the events of a stream.
#[derive(Clone, Copy)]
pub enum Then {
    /// The end, as it should be.
    Done,
    /// The connection is closed.
    Close,
    /// Nothing; the connection stays open.
    Silence,
    /// The last event again and again.
    Forever,
    /// Lines that keep the connection open, again and again.
    Pings,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    pub path: String,
    pub headers: String,
    pub body: Value,
}

/// A server on loopback, until it is dropped.
pub struct Server {
    pub url: String,
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    asked: Mutex<Vec<Asked>>,
    /// Connections that the client closed while they were held open.
    left: AtomicUsize,
    /// Requests whose answer is made now.
    at_work: AtomicUsize,
    most_at_work: AtomicUsize,
    is_over: AtomicBool,
}

impl Server {
    /// Answers each request by `answer`, which gets the request and how many came to this path before.
    pub fn start(answer: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(State::default());
        let (shared, answer) = (Arc::clone(&state), Arc::new(answer));
        let thread = thread::spawn(move || {
            let mut connections = Vec::new();
            for stream in listener.incoming() {
                if shared.is_over.load(Ordering::SeqCst) {
                    break;
                }
                let (state, answer) = (Arc::clone(&shared), Arc::clone(&answer));
                connections.push(thread::spawn(move || {
                    serve(stream.unwrap(), &state, answer.as_ref());
                }));
            }
            for connection in connections {
                connection.join().unwrap();
            }
        });
        Self {
            url,
            state,
            thread: Some(thread),
        }
    }

    pub fn asked(&self, path: &str) -> Vec<Asked> {
        let asked = self.state.asked.lock().unwrap();
        asked.iter().filter(|asked| asked.path == path).cloned().collect()
    }

    pub fn connections_left(&self) -> usize {
        self.state.left.load(Ordering::SeqCst)
    }

    pub fn most_at_work(&self) -> usize {
        self.state.most_at_work.load(Ordering::SeqCst)
    }

    pub fn options(&self) -> EngineOptions {
        options(&self.url)
    }

    pub async fn model(&self) -> RemoteModel {
        RemoteModel::connect(self.options()).await.unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::SeqCst);
        let address = self.url.trim_start_matches("http://");
        drop(TcpStream::connect(address));
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// Returns options with little patience, and a context where the server says none.
pub fn options(url: &str) -> EngineOptions {
    EngineOptions {
        context: Some(4096),
        patience: Patience {
            connect: Duration::from_secs(2),
            first: Duration::from_millis(400),
            next: Duration::from_millis(400),
            question: Duration::from_secs(2),
            retry: Duration::from_millis(1),
            tries: 3,
        },
        ..EngineOptions::at(url.parse().unwrap())
    }
}

/// Answers as a server without a name does: one model, and nothing that is not of the interface.
pub fn plain(asked: &Asked) -> Reply {
    match asked.path.as_str() {
        "/v1/models" => Reply::Json(
            200,
            json!({"object": "list", "data": [{"id": "small", "owned_by": "library"}]}),
        ),
        _ => Reply::Json(404, json!({"error": {"message": "no such thing"}})),
    }
}

/// Answers as llama.cpp's server does; a token is a character with its code, and its log-probability a hundredth of that, below 0.
pub fn llama(asked: &Asked) -> Reply {
    let codes = |text: &str| text.chars().map(u32::from).collect::<Vec<_>>();
    match asked.path.as_str() {
        "/v1/models" => {
            let meta = json!({"n_ctx": 2048, "n_params": 7, "size": 9});
            let data = json!([{"id": "/models/small.gguf", "owned_by": "llamacpp", "meta": meta}]);
            Reply::Json(200, json!({"data": data}))
        }
        "/props" => Reply::Json(
            200,
            json!({"default_generation_settings": {"n_ctx": 2048}, "total_slots": 2}),
        ),
        "/apply-template" => {
            let texts = asked.body["messages"].as_array().unwrap().iter();
            let prompt: Vec<&str> = texts.map(|message| message["content"].as_str().unwrap()).collect();
            Reply::Json(200, json!({"prompt": format!("<{}>", prompt.join("><"))}))
        }
        "/tokenize" => {
            let codes = codes(asked.body["content"].as_str().unwrap()).into_iter();
            let tokens: Vec<Value> = if asked.body["with_pieces"] == true {
                codes
                    .map(|code| json!({"id": code, "piece": char::from_u32(code).unwrap().to_string()}))
                    .collect()
            } else {
                codes.map(Value::from).collect()
            };
            Reply::Json(200, json!({"tokens": tokens}))
        }
        "/completion" => {
            let grammar = asked.body["grammar"].as_str().unwrap();
            let ids = grammar.split(['[', ']']).filter_map(|part| part.parse::<u32>().ok());
            let given: Vec<Value> = ids
                .map(|id| json!({"id": id, "logprob": f64::from(id) / -100.0}))
                .collect();
            Reply::Json(
                200,
                json!({"completion_probabilities": given, "timings": {"prompt_n": 5, "cache_n": 3}}),
            )
        }
        _ => Reply::Json(404, json!({"error": {"message": "no such thing"}})),
    }
}

/// Answers as vLLM does; tokens as with [`llama`].
pub fn vllm(asked: &Asked, version: &str) -> Reply {
    match asked.path.as_str() {
        "/v1/models" => {
            let data = json!([{"id": "org/small", "owned_by": "vllm", "max_model_len": 3000, "root": "org/small"}]);
            Reply::Json(200, json!({"data": data}))
        }
        "/version" => Reply::Json(200, json!({"version": version})),
        "/tokenize" => {
            let text = match asked.body["prompt"].as_str() {
                Some(prompt) => prompt.to_owned(),
                None => asked.body["messages"].to_string(),
            };
            let tokens: Vec<u32> = text.chars().map(u32::from).collect();
            Reply::Json(
                200,
                json!({"count": tokens.len(), "max_model_len": 3000, "tokens": tokens}),
            )
        }
        "/v1/completions" => {
            let ids = asked.body["prompt"].as_array().unwrap();
            let given: Vec<Value> = ids
                .iter()
                .map(|id| {
                    let code = id.as_u64().unwrap() as u32;
                    let text = char::from_u32(code).unwrap().to_string();
                    let token = json!({"logprob": f64::from(code) / -100.0, "decoded_token": text});
                    json!({id.to_string(): token, "999999": {"logprob": -0.1}})
                })
                .collect();
            Reply::Json(200, json!({"choices": [{"prompt_logprobs": given}]}))
        }
        _ => Reply::Json(404, json!({"error": {"message": "no such thing"}})),
    }
}

/// Returns the events of an answer in pieces, with its end and what it cost.
pub fn answer(pieces: &[&str]) -> Vec<String> {
    let mut events: Vec<String> = pieces.iter().map(|piece| event(piece)).collect();
    events.push(json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}).to_string());
    let details = json!({"cached_tokens": 4});
    let usage = json!({"prompt_tokens": 10, "completion_tokens": pieces.len(), "prompt_tokens_details": details});
    events.push(json!({"choices": [], "usage": usage}).to_string());
    events
}

/// Returns one event with a piece of text.
pub fn event(piece: &str) -> String {
    json!({"choices": [{"delta": {"content": piece}, "finish_reason": null}]}).to_string()
}

pub fn said(pieces: &[&str]) -> Reply {
    Reply::Events(answer(pieces), Then::Done)
}

pub fn chat(text: &str) -> ChatRequest {
    ChatRequest::new(user(text), 16)
}

pub fn scores(text: &str, continuations: &[&str]) -> ScoreRequest {
    ScoreRequest {
        messages: user(text),
        answer_prefix: String::new(),
        continuations: continuations.iter().map(|one| (*one).to_owned()).collect(),
        by_line: false,
    }
}

pub fn user(text: &str) -> Vec<Message> {
    vec![Message::new(MessageRole::User, text)]
}

fn serve(stream: TcpStream, state: &State, answer: &dyn Fn(&Asked, usize) -> Reply) {
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let Some(asked) = read(&stream) else { return };
    let before = {
        let mut all = state.asked.lock().unwrap();
        let before = all.iter().filter(|one| one.path == asked.path).count();
        all.push(asked.clone());
        before
    };
    let now = state.at_work.fetch_add(1, Ordering::SeqCst) + 1;
    state.most_at_work.fetch_max(now, Ordering::SeqCst);
    let reply = answer(&asked, before);
    state.at_work.fetch_sub(1, Ordering::SeqCst);
    // A client that has gone away is what some tests are about.
    let _ = write(stream, &reply, state);
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let path = first.split(' ').nth(1)?.to_owned();
    let mut headers = String::new();
    while reader.read_line(&mut headers).ok()? > 2 {}
    let length = headers.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some(Asked {
        path,
        headers,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    })
}

fn write(mut stream: TcpStream, reply: &Reply, state: &State) -> std::io::Result<()> {
    match reply {
        Reply::Json(status, value) => {
            let body = value.to_string();
            write!(
                stream,
                "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )
        }
        Reply::Head(status, headers) => write!(stream, "HTTP/1.1 {status} X\r\n{headers}Content-Length: 0\r\n\r\n"),
        Reply::Raw(bytes) => stream.write_all(bytes),
        Reply::Silence => hold(&mut stream, state, ""),
        Reply::Close => Ok(()),
        Reply::Events(events, then) => {
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
            )?;
            for event in events {
                write!(stream, "data: {event}\n\n")?;
            }
            match then {
                Then::Done => write!(stream, "data: [DONE]\n\n"),
                Then::Close => Ok(()),
                Then::Silence => hold(&mut stream, state, ""),
                Then::Forever => hold(&mut stream, state, &format!("data: {}\n\n", events.last().unwrap())),
                Then::Pings => hold(&mut stream, state, ": ping\n\n"),
            }
        }
    }
}

/// Keeps a connection open, with `again` written all the while, until the client leaves or the server ends.
fn hold(stream: &mut TcpStream, state: &State, again: &str) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_millis(if again.is_empty() { 20 } else { 1 })))?;
    while !state.is_over.load(Ordering::SeqCst) {
        let mut byte = [0];
        let gone = match stream.read(&mut byte) {
            Ok(0) => true,
            Ok(_) => false,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        };
        if gone || stream.write_all(again.as_bytes()).is_err() {
            state.left.fetch_add(1, Ordering::SeqCst);
            break;
        }
    }
    Ok(())
}
