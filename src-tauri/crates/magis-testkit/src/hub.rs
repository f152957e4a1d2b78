//! A hub of models on loopback: [`LoopbackHub`], which answers as the real one does.
//!
//! The listing comes in pages, and a file by way of a redirect to another host (here: the same machine by another name) whose tag
//! for it is not its hash. What was asked is kept for the test to see. Answers are bounded by what the test gave.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// What a repository of the hub holds.
#[derive(Debug, Clone)]
pub struct HubRepository {
    /// `OWNER/REPO`.
    pub name: String,
    /// 40 digits.
    pub revision: String,
    pub licence: Option<String>,
    /// `auto` or `manual`, where its files are for accounts that accepted its terms.
    pub gated: Option<String>,
    /// The token that shows the repository and gives its files; none where everybody may have them.
    pub token: Option<String>,
    pub files: Vec<HubEntry>,
}

/// A file of a repository.
#[derive(Debug, Clone)]
pub struct HubEntry {
    pub path: String,
    pub bytes: Vec<u8>,
    /// The hash that the hub states, as hexadecimal digits; none for a small file.
    pub oid: Option<String>,
}

/// A request that the hub got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The path and what follows it.
    pub path: String,
    /// The name by which the server was called, without its port.
    pub host: String,
    pub authorization: Option<String>,
    pub range: Option<String>,
}

/// A server on loopback, until it is dropped.
pub struct LoopbackHub {
    pub address: String,
    repository: Arc<Mutex<HubRepository>>,
    asked: Arc<Mutex<Vec<Asked>>>,
    breaks: Arc<Mutex<Option<usize>>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Entries of a page of a listing: few, so that every listing has several.
const PAGE: usize = 3;

impl HubRepository {
    /// Returns a repository for everybody with these files, all under Apache-2.0.
    pub fn new(name: &str, files: Vec<HubEntry>) -> Self {
        Self {
            name: name.to_owned(),
            revision: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            licence: Some("apache-2.0".to_owned()),
            gated: None,
            token: None,
            files,
        }
    }

    fn about(&self) -> String {
        let gated = self
            .gated
            .as_ref()
            .map_or("false".to_owned(), |how| format!("\"{how}\""));
        let card = self
            .licence
            .as_ref()
            .map_or("null".to_owned(), |licence| format!("{{\"license\":\"{licence}\"}}"));
        format!(
            "{{\"id\":\"{}\",\"sha\":\"{}\",\"gated\":{gated},\"cardData\":{card}}}",
            self.name, self.revision
        )
    }

    fn page(&self, first: usize) -> String {
        let entries = self.files.iter().skip(first).take(PAGE).map(|file| {
            let size = file.bytes.len();
            let lfs = file.oid.as_ref().map_or(String::new(), |oid| {
                format!(",\"lfs\":{{\"oid\":\"{oid}\",\"size\":{size},\"pointerSize\":135}}")
            });
            format!(
                "{{\"type\":\"file\",\"path\":\"{}\",\"size\":{size},\"oid\":\"f00d\"{lfs}}}",
                file.path
            )
        });
        format!("[{}]", entries.collect::<Vec<_>>().join(","))
    }
}

impl LoopbackHub {
    /// Starts a hub with this one repository.
    pub fn start(repository: HubRepository) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of loopback");
        let port = listener.local_addr().expect("it is bound").port();
        let mut hub = Self {
            address: format!("http://127.0.0.1:{port}"),
            repository: Arc::new(Mutex::new(repository)),
            asked: Arc::default(),
            breaks: Arc::default(),
            over: Arc::default(),
            thread: None,
        };
        let (repository, asked) = (Arc::clone(&hub.repository), Arc::clone(&hub.asked));
        let (breaks, over) = (Arc::clone(&hub.breaks), Arc::clone(&hub.over));
        hub.thread = Some(thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(mut stream) = stream else { continue };
                let Some(request) = read_request(&stream) else { continue };
                let repository = repository.lock().expect("no test panics with it").clone();
                let broken_after = if request.path.starts_with("/cdn/") {
                    breaks.lock().expect("no test panics with it").take()
                } else {
                    None
                };
                let answer = answer(&repository, &request, port);
                asked.lock().expect("no test panics with it").push(request);
                let length = broken_after.map_or(answer.len(), |after| after.min(answer.len()));
                // The client may leave at any time: that is its right.
                let _ = stream.write_all(&answer[..length]);
            }
        }));
        hub
    }

    /// Changes what the repository holds.
    pub fn change(&self, change: impl FnOnce(&mut HubRepository)) {
        change(&mut self.repository.lock().expect("no test panics with it"));
    }

    /// Lets the next transfer of a file end after so many bytes of the whole answer.
    pub fn break_after(&self, bytes: usize) {
        *self.breaks.lock().expect("no test panics with it") = Some(bytes);
    }

    /// Returns what was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no test panics with it").clone()
    }
}

impl Drop for LoopbackHub {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // The thread waits for a caller: this is the last one.
        let _ = TcpStream::connect(self.address.trim_start_matches("http://"));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn read_request(stream: &TcpStream) -> Option<Asked> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next()?.ok()?;
    let mut asked = Asked {
        path: first.split(' ').nth(1)?.to_owned(),
        host: String::new(),
        authorization: None,
        range: None,
    };
    for line in lines {
        let line = line.ok()?;
        let Some((name, value)) = line.split_once(": ") else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "host" => value.split(':').next()?.clone_into(&mut asked.host),
            "authorization" => asked.authorization = Some(value.to_owned()),
            "range" => asked.range = Some(value.to_owned()),
            _ => {}
        }
    }
    Some(asked)
}

fn answer(repository: &HubRepository, asked: &Asked, port: u16) -> Vec<u8> {
    let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
    if let Some(path) = path.strip_prefix("/cdn/") {
        return repository
            .files
            .iter()
            .find(|file| file.path == path)
            .map_or_else(|| status(404), |file| content(file, asked.range.as_deref()));
    }
    let HubRepository { name, revision, .. } = repository;
    let is_shown = repository.token.as_ref().is_none_or(|token| {
        let right = format!("Bearer {token}");
        asked.authorization.as_ref() == Some(&right)
    });
    if !is_shown {
        return status(401);
    }
    if path == format!("/api/models/{name}") {
        return json("", &repository.about());
    }
    if path == format!("/api/models/{name}/tree/{revision}") {
        let first: usize = query
            .rsplit_once("cursor=")
            .and_then(|(_, first)| first.parse().ok())
            .unwrap_or(0);
        let next = first + PAGE;
        let link = if next < repository.files.len() {
            format!("Link: <http://127.0.0.1:{port}{path}?recursive=true&cursor={next}>; rel=\"next\"\r\n")
        } else {
            String::new()
        };
        return json(&link, &repository.page(first));
    }
    match path.strip_prefix(&format!("/{name}/resolve/{revision}/")) {
        Some(file) => format!(
            "HTTP/1.1 302 Found\r\nLocation: http://localhost:{port}/cdn/{file}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
        .into_bytes(),
        None => status(404),
    }
}

fn status(status: u16) -> Vec<u8> {
    format!("HTTP/1.1 {status} As told\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").into_bytes()
}

fn json(headers: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{headers}Connection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Returns a file, or the range of it that was asked for.
fn content(file: &HubEntry, range: Option<&str>) -> Vec<u8> {
    let whole = file.bytes.len();
    let asked = range.and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
    let number = |text: &str| text.parse::<usize>().ok();
    let first = asked.and_then(|(first, _)| number(first));
    let last = asked
        .and_then(|(_, last)| number(last))
        .unwrap_or(whole - 1)
        .min(whole - 1);
    let body = &file.bytes[first.unwrap_or(0)..=last];
    let mut head = match first {
        Some(first) => format!("HTTP/1.1 206 Partial\r\nContent-Range: bytes {first}-{last}/{whole}\r\n"),
        None => "HTTP/1.1 200 OK\r\n".to_owned(),
    };
    // The servers behind a hub tag a file with a hash of their own.
    let tag = "c".repeat(64);
    let _ = write!(
        head,
        "ETag: \"{tag}\"\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}
