//! Requests to the engine: bounded in time and size, tried again only while nothing of an answer has come.

use crate::EngineKey;
use crate::address::EngineAddress;
use crate::connection::{Connection, Trust};
use crate::trouble::Trouble;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, LOCATION, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::Value;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// The most bytes of an answer that is no stream: log-probabilities of a long prompt are the largest.
const LARGEST_ANSWER: usize = 64 << 20;
/// The most bytes of an error that are read, and the most characters of it that are shown.
const LARGEST_ERROR: usize = 64 << 10;
const SHOWN_OF_ERROR: usize = 300;
/// The longest wait that a server can ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How long is waited for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For the name, the connection and the greeting, each.
    pub connect: Duration,
    /// For the first piece of an answer. A long prompt is read first.
    pub first: Duration,
    /// For the next piece of an answer that has begun.
    pub next: Duration,
    /// For short questions: models, numbers of tokens.
    pub question: Duration,
    /// Before a request is tried again for the first time; twice as long each time after.
    pub retry: Duration,
    /// How often a request is tried at the most.
    pub tries: u32,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            first: Duration::from_mins(10),
            next: Duration::from_mins(1),
            question: Duration::from_secs(30),
            retry: Duration::from_millis(500),
            tries: 4,
        }
    }
}

/// The way to one engine.
pub(crate) struct Http {
    pub address: EngineAddress,
    pub patience: Patience,
    trust: Trust,
    key: Option<HeaderValue>,
}

/// An answer under way, with the connection that it comes over.
pub(crate) struct Incomplete {
    body: Incoming,
    patience: Patience,
    begun: bool,
    _connection: Connection,
}

impl Http {
    pub fn new(address: EngineAddress, trust: Trust, key: Option<&EngineKey>, patience: Patience) -> Self {
        // A key has visible ASCII characters only, so it can always stand in a header.
        let key = key
            .and_then(|key| HeaderValue::from_str(&key.bearer()).ok())
            .map(|mut value| {
                value.set_sensitive(true);
                value
            });
        Self {
            address,
            patience,
            trust,
            key,
        }
    }

    /// Asks for a JSON value within the time of a short question.
    pub async fn get(&self, path: &str) -> Result<Value, Trouble> {
        self.whole(Method::GET, path, None, self.patience.question).await
    }

    /// Sends a value and returns the answer's, within the time of a short question.
    pub async fn question(&self, path: &str, body: &Value) -> Result<Value, Trouble> {
        self.whole(Method::POST, path, Some(body), self.patience.question).await
    }

    /// Sends a value and returns the answer's, within the time that a prompt takes.
    pub async fn compute(&self, path: &str, body: &Value) -> Result<Value, Trouble> {
        self.whole(Method::POST, path, Some(body), self.patience.first).await
    }

    /// Sends a value and returns the answer as it comes.
    pub async fn stream(&self, path: &str, body: &Value) -> Result<Incomplete, Trouble> {
        self.send(Method::POST, path, Some(body), self.patience.first).await
    }

    async fn whole(&self, method: Method, path: &str, body: Option<&Value>, limit: Duration) -> Result<Value, Trouble> {
        let mut answer = self.send(method, path, body, limit).await?;
        let bytes = answer.read(LARGEST_ANSWER).await?;
        serde_json::from_slice(&bytes).map_err(|error| Trouble::Garbage(format!("{path} gives no JSON ({error})")))
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        limit: Duration,
    ) -> Result<Incomplete, Trouble> {
        let mut pause = self.patience.retry;
        let mut tried = 1;
        loop {
            let (trouble, asked) = match self.try_once(method.clone(), path, body, limit).await {
                Ok(answer) => return Ok(answer),
                Err(failed) => failed,
            };
            if tried >= self.patience.tries || !trouble.may_pass() {
                return Err(trouble);
            }
            sleep(asked.map_or(pause, |asked| asked.max(pause)).min(LONGEST_WAIT)).await;
            tried += 1;
            pause *= 2;
        }
    }

    /// Sends a request once; with what went wrong comes how long the server asks to wait.
    async fn try_once(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        limit: Duration,
    ) -> Result<Incomplete, (Trouble, Option<Duration>)> {
        let alone = |trouble| (trouble, None);
        let request = self.request(method, path, body).map_err(alone)?;
        let mut connection = Connection::open(&self.address, &self.trust, self.patience.connect)
            .await
            .map_err(alone)?;
        let response = match timeout(limit, connection.sender.send_request(request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) if error.is_parse() => {
                return Err(alone(Trouble::Garbage(format!("its answer is no HTTP ({error})"))));
            }
            Ok(Err(error)) => return Err(alone(Trouble::CutOff(error.to_string()))),
            Err(_) => return Err(alone(Trouble::Silent(limit))),
        };
        let status = response.status();
        let location = header(&response, &LOCATION);
        let wait = header(&response, &RETRY_AFTER).and_then(|text| text.trim().parse().ok());
        let mut answer = Incomplete {
            body: response.into_body(),
            patience: Patience {
                first: limit,
                ..self.patience
            },
            begun: false,
            _connection: connection,
        };
        if status.is_success() {
            return Ok(answer);
        }
        if status.is_redirection() {
            let to = location.unwrap_or_else(|| "it does not say where".to_owned());
            return Err(alone(Trouble::Redirect(shown(&to))));
        }
        // The status says enough where the rest of the answer does not come.
        let said = answer.read(LARGEST_ERROR).await.unwrap_or_default();
        Err((refusal(status, &said), wait.map(Duration::from_secs)))
    }

    fn request(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Request<Full<Bytes>>, Trouble> {
        let mut request = Request::builder()
            .method(method)
            .uri(self.address.path_of(path))
            .header(HOST, self.address.host_and_port())
            .header(ACCEPT, "application/json, text/event-stream");
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key);
        }
        let bytes = match body {
            Some(body) => {
                request = request.header(CONTENT_TYPE, "application/json");
                Bytes::from(body.to_string())
            }
            None => Bytes::new(),
        };
        request
            .body(Full::new(bytes))
            .map_err(|error| Trouble::Garbage(format!("its address makes no request ({error})")))
    }
}

impl Incomplete {
    pub fn patience(&self) -> Patience {
        self.patience
    }

    /// Returns the next piece; none at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Trouble> {
        let limit = if self.begun {
            self.patience.next
        } else {
            self.patience.first
        };
        loop {
            match timeout(limit, self.body.frame()).await {
                Ok(Some(Ok(frame))) => {
                    if let Ok(bytes) = frame.into_data() {
                        self.begun = true;
                        return Ok(Some(bytes));
                    }
                }
                Ok(Some(Err(error))) => return Err(Trouble::CutOff(error.to_string())),
                Ok(None) => return Ok(None),
                Err(_) if self.begun => return Err(Trouble::Stalled(limit)),
                Err(_) => return Err(Trouble::Silent(limit)),
            }
        }
    }

    async fn read(&mut self, most: usize) -> Result<Vec<u8>, Trouble> {
        let mut whole = Vec::new();
        while let Some(bytes) = self.next().await? {
            if whole.len() + bytes.len() > most {
                return Err(Trouble::TooMuch(format!("{most} bytes")));
            }
            whole.extend_from_slice(&bytes);
        }
        Ok(whole)
    }
}

fn header(response: &Response<Incoming>, name: &hyper::header::HeaderName) -> Option<String> {
    let value = response.headers().get(name)?.to_str().ok()?;
    Some(value.to_owned())
}

/// Returns what a status that is no success means, with what the server says of it.
fn refusal(status: StatusCode, said: &[u8]) -> Trouble {
    let message = error_message(said);
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Trouble::Key(status.as_u16());
    }
    if status.is_client_error() && speaks_of_context(said, &message) {
        return Trouble::Context(message);
    }
    Trouble::Status {
        status: status.as_u16(),
        message,
    }
}

/// Returns the sentence of an error in any of the forms that servers have for it.
pub(crate) fn error_message(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let value: Value = serde_json::from_slice(said).unwrap_or(Value::Null);
    let places = ["/error/message", "/message", "/error", "/detail"];
    let sentence = places.iter().find_map(|place| value.pointer(place)?.as_str());
    let sentence = shown(sentence.unwrap_or(&text));
    if sentence.is_empty() {
        "it says nothing".to_owned()
    } else {
        sentence
    }
}

/// Returns whether an error is about the room for a prompt.
pub(crate) fn speaks_of_context(said: &[u8], message: &str) -> bool {
    let kind = serde_json::from_slice::<Value>(said).ok();
    let kind = kind.as_ref().and_then(|value| value.pointer("/error/type")?.as_str());
    let message = message.to_lowercase();
    kind == Some("exceed_context_size_error")
        || [
            "context length",
            "context size",
            "context window",
            "max_model_len",
            "n_ctx",
        ]
        .iter()
        .any(|words| message.contains(words))
}

/// Returns the first line of what a server says, as far as it can be shown.
fn shown(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(SHOWN_OF_ERROR).collect()
}
