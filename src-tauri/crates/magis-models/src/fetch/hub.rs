//! The hub by HTTPS: one request for what is still missing, taken up again when it breaks.
//!
//! The request runs in a thread of its own, so that cancelling and a standing transfer are noticed whatever the network does.

use super::{Fetch, FetchError, FetchFrom, FetchPhase, storage};
use crate::http;
use crate::hub::HubToken;
use crate::part::{PartFile, PartState};
use std::io::Read as _;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// How often a transfer that brought something is taken up again after it broke.
const ATTEMPTS: u32 = 4;
const PIECE_BYTES: usize = 256 << 10;
/// How often the waiting side looks at `cancel`.
const GLANCE: Duration = Duration::from_millis(100);

/// How one request ended.
enum Attempt {
    Complete,
    /// All that was asked for arrived, and more is missing.
    NextRange,
    /// The hub did not answer at all.
    Silent(String),
    /// It answered and then broke off.
    Broken(String),
}

enum Message {
    Head(Head),
    Piece(Vec<u8>),
    End,
    /// Before the head: no answer. After it: the transfer broke.
    Failed(String),
}

struct Head {
    status: u16,
    length: Option<u64>,
    /// First byte and whole length of a partial answer.
    range: Option<(u64, u64)>,
    etag: Option<String>,
}

impl Fetch<'_> {
    pub(super) fn ask_hub(&mut self, part: &mut PartFile) -> Result<(), FetchError> {
        self.from = FetchFrom::Hub;
        self.report(FetchPhase::Connecting, part.done());
        let mut tries_left = ATTEMPTS;
        let mut answered = false;
        loop {
            let before = part.done();
            let outcome = self.request(part);
            // Whatever happened, what arrived has to last.
            part.save().map_err(storage("write", part.path()))?;
            let reason = match outcome? {
                Attempt::Complete => return Ok(()),
                Attempt::NextRange => continue,
                Attempt::Silent(reason) if !answered => {
                    return Err(FetchError::HubSilent {
                        url: self.file.url.clone(),
                        reason,
                    });
                }
                Attempt::Silent(reason) | Attempt::Broken(reason) => reason,
            };
            answered = true;
            if part.done() > before {
                tries_left = ATTEMPTS;
            }
            tries_left -= 1;
            if tries_left == 0 {
                return Err(FetchError::Interrupted {
                    done: part.done(),
                    total: self.total(),
                    reason,
                });
            }
            self.report(FetchPhase::Retrying { reason }, part.done());
        }
    }

    fn request(&mut self, part: &mut PartFile) -> Result<Attempt, FetchError> {
        let (sender, receiver) = sync_channel(4);
        let most = part.done().saturating_add(self.options.largest_request);
        let until = (most < self.total()).then_some(most);
        let request = Request {
            url: self.file.url.clone(),
            from: part.done(),
            until,
            etag: part.state.etag.clone(),
            token: self.wanted.token().map(HubToken::as_header),
            answer_timeout: self.options.answer_timeout,
        };
        thread::Builder::new()
            .name("model-fetch".to_owned())
            .spawn(move || request.run(&sender))
            .map_err(storage("start a thread to fetch", part.path()))?;

        // Name, connection and answer each have the time; a redirect needs them once more.
        let head = match self.wait(&receiver, self.options.answer_timeout * 4, part)? {
            Ok(Message::Head(head)) => head,
            Ok(Message::Failed(reason)) | Err(reason) => return Ok(Attempt::Silent(reason)),
            Ok(Message::Piece(_) | Message::End) => return Ok(Attempt::Silent("an answer without a head".to_owned())),
        };
        if let Some(outcome) = self.accept(&head, part)? {
            return Ok(outcome);
        }
        loop {
            match self.wait(&receiver, self.options.stall_timeout, part)? {
                Ok(Message::Piece(bytes)) => {
                    let found = part.done() + bytes.len() as u64;
                    if found > self.total() {
                        part.restart().map_err(storage("empty", part.path()))?;
                        return Err(self.wrong_length(found));
                    }
                    part.append(&bytes).map_err(storage("write", part.path()))?;
                    self.report(FetchPhase::Receiving, part.done());
                }
                Ok(Message::End) if part.done() == self.total() => return Ok(Attempt::Complete),
                Ok(Message::End) if Some(part.done()) == until => return Ok(Attempt::NextRange),
                Ok(Message::End | Message::Head(_)) => {
                    return Ok(Attempt::Broken("the connection ended early".to_owned()));
                }
                Ok(Message::Failed(reason)) | Err(reason) => return Ok(Attempt::Broken(reason)),
            }
        }
    }

    /// Prepares the part for what the answer brings; an outcome when it brings nothing.
    fn accept(&self, head: &Head, part: &mut PartFile) -> Result<Option<Attempt>, FetchError> {
        let offered = match head.status {
            200 => {
                // The server ignores ranges, or the file behind the address is another one: from the beginning.
                if part.done() > 0 {
                    part.restart().map_err(storage("empty", part.path()))?;
                }
                head.length
            }
            206 => {
                let Some((first, whole)) = head.range.filter(|&(first, _)| first == part.done()) else {
                    part.restart().map_err(storage("empty", part.path()))?;
                    return Ok(Some(Attempt::Broken(
                        "the server sent another range than was asked for".to_owned(),
                    )));
                };
                debug_assert_eq!(first, part.done());
                Some(whole)
            }
            // Nothing lies beyond what is here, so what is here is not the beginning of the file.
            416 => {
                part.restart().map_err(storage("empty", part.path()))?;
                return Ok(Some(Attempt::Broken(
                    "the server does not know the range that is missing".to_owned(),
                )));
            }
            status @ 500.. => {
                return Ok(Some(Attempt::Silent(format!(
                    "the server answers with status {status}"
                ))));
            }
            status => {
                if let (401 | 403, Some((hub, origin))) = (status, &self.wanted.hub) {
                    return Err(hub.closed(&origin.repo).into());
                }
                return Err(FetchError::HubRefused {
                    url: self.file.url.clone(),
                    status,
                });
            }
        };
        if let Some(found) = offered.filter(|&found| found != self.total()) {
            return Err(self.wrong_length(found));
        }
        part.state = PartState {
            etag: head.etag.clone(),
            ..PartState::default()
        };
        part.save().map_err(storage("write", part.path()))?;
        Ok(None)
    }

    /// Returns the next message, or why there is none; cancelling ends the wait.
    fn wait(
        &self,
        from: &Receiver<Message>,
        limit: Duration,
        part: &PartFile,
    ) -> Result<Result<Message, String>, FetchError> {
        let begun = Instant::now();
        loop {
            if self.is_cancelled() {
                return Err(self.cancelled(part));
            }
            match from.recv_timeout(GLANCE) {
                Ok(message) => return Ok(Ok(message)),
                Err(RecvTimeoutError::Disconnected) => return Ok(Err("the transfer ended without a word".to_owned())),
                Err(RecvTimeoutError::Timeout) if begun.elapsed() >= limit => {
                    return Ok(Err(format!("nothing arrived for {} s", limit.as_secs_f32())));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn wrong_length(&self, found: u64) -> FetchError {
        FetchError::WrongLength {
            origin: self.file.url.clone(),
            expected: self.total(),
            found,
        }
    }
}

struct Request {
    url: String,
    from: u64,
    /// Where to stop before the end: there are servers that give no more than so much at once.
    until: Option<u64>,
    etag: Option<String>,
    /// The authorisation, for the hub's own host.
    token: Option<String>,
    answer_timeout: Duration,
}

impl Request {
    /// Runs to its end, or until nobody listens any more.
    fn run(self, to: &SyncSender<Message>) {
        let last = match self.transfer(to) {
            Ok(()) => Message::End,
            Err(reason) => Message::Failed(reason),
        };
        // Nobody listens after cancelling; then there is nobody to tell.
        let _ = to.send(last);
    }

    fn transfer(self, to: &SyncSender<Message>) -> Result<(), String> {
        let agent = http::agent(&self.url, self.answer_timeout);
        let mut request = agent.get(&self.url);
        if let Some(token) = self.token {
            request = request.header("Authorization", token);
        }
        if let Some(until) = self.until {
            request = request.header("Range", format!("bytes={}-{}", self.from, until - 1));
        } else if self.from > 0 {
            request = request.header("Range", format!("bytes={}-", self.from));
        }
        if self.from > 0
            && let Some(etag) = self.etag.filter(|etag| !etag.starts_with("W/"))
        {
            request = request.header("If-Range", etag);
        }
        let mut response = request.call().map_err(|error| error.to_string())?;
        let header = |name: &str| {
            response
                .headers()
                .get(name)
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned)
        };
        let head = Head {
            status: response.status().as_u16(),
            length: header("content-length").and_then(|text| text.parse().ok()),
            range: header("content-range").and_then(|text| parse_range(&text)),
            etag: header("etag"),
        };
        if to.send(Message::Head(head)).is_err() {
            return Ok(());
        }
        let mut body = response.body_mut().as_reader();
        loop {
            let mut piece = vec![0; PIECE_BYTES];
            let count = body.read(&mut piece).map_err(|error| error.to_string())?;
            piece.truncate(count);
            if count == 0 || to.send(Message::Piece(piece)).is_err() {
                return Ok(());
            }
        }
    }
}

/// First byte and whole length of `bytes FIRST-LAST/WHOLE`.
fn parse_range(text: &str) -> Option<(u64, u64)> {
    let (range, whole) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (first, _) = range.split_once('-')?;
    Some((first.trim().parse().ok()?, whole.trim().parse().ok()?))
}
