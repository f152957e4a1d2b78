//! What the tests build: model files, catalogues, and a server on loopback that answers as told.
//!
//! Nothing here checks anything.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    reason = "each test file uses a part; a broken fixture should stop the test"
)]

use magis_models::{Catalog, Sha256Hex};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// Returns a catalogue with one model, `small`, of these bytes.
pub fn catalog(bytes: &[u8], url: &str, mirror: &[(&str, &str)]) -> Catalog {
    Catalog::parse(&catalog_text(bytes, url, mirror)).unwrap()
}

pub fn catalog_text(bytes: &[u8], url: &str, mirror: &[(&str, &str)]) -> String {
    let mirror: Vec<String> = mirror
        .iter()
        .map(|(package, member)| format!("{{ package = \"{package}\", member = \"{member}\" }}"))
        .collect();
    format!(
        "[[model]]
id = \"small\"
name = \"Small\"
licence = \"Apache-2.0\"
family = \"Small\"
parameters = \"1K\"
quantisation = \"F32\"
context = 4096
prompt_notes = \"\"
good_for = \"\"
purposes = [\"default\"]
dimensions = {{ layers = 4, kv_heads = 2, key_length = 8, value_length = 8, embedding = 64, feed_forward = 256, vocabulary = 3 }}

[model.file]
name = \"small.gguf\"
bytes = {}
sha256 = \"{}\"
url = \"{url}\"
mirror = [{}]
",
        bytes.len(),
        Sha256Hex::of(bytes),
        mirror.join(", ")
    )
}

/// How the server answers one request.
#[derive(Clone, Copy)]
pub enum Answer {
    /// As a good server: the range that was asked for, or everything.
    Right,
    /// Everything, whatever range was asked for.
    WithoutRange,
    /// As a good server, but the connection ends after so many bytes.
    BrokenAfter(usize),
    Status(u16),
    /// Another address of the same server, which the next answer is for.
    Redirect,
    /// An older file of the same length, tagged `"old"`, and the connection ends after so many bytes.
    OldBrokenAfter(usize),
    /// Nothing, with the connection left open.
    Silence,
    /// The head of a good answer and so many bytes, then nothing, with the connection left open.
    StandsStillAfter(usize),
}

/// A server on loopback that answers one request after the other and then is gone.
pub struct Server {
    pub url: String,
    asked: Arc<Mutex<Vec<Option<String>>>>,
    open: Arc<Mutex<Vec<TcpStream>>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub fn start(content: Vec<u8>, answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/small.gguf", listener.local_addr().unwrap());
        let (asked, open) = (Arc::<Mutex<Vec<_>>>::default(), Arc::<Mutex<Vec<_>>>::default());
        let (asked_there, open_there) = (Arc::clone(&asked), Arc::clone(&open));
        let thread = thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let (range, only_of) = read_request(&stream);
                asked_there.lock().unwrap().push(range.clone());
                // The client may leave at any time: that is its right.
                let _ = respond(
                    &mut stream,
                    &content,
                    range.as_deref().filter(|_| only_of.is_none_or(|tag| tag == "\"one\"")),
                    answer,
                );
                if matches!(answer, Answer::Silence | Answer::StandsStillAfter(_)) {
                    open_there.lock().unwrap().push(stream);
                }
            }
        });
        Self {
            url,
            asked,
            open,
            thread: Some(thread),
        }
    }

    /// Returns the `Range` of each request, after all answers were given.
    pub fn asked(mut self) -> Vec<Option<String>> {
        self.thread.take().unwrap().join().unwrap();
        self.open.lock().unwrap().clear();
        self.asked.lock().unwrap().clone()
    }
}

/// Returns the `Range` and the `If-Range` of the request.
fn read_request(stream: &TcpStream) -> (Option<String>, Option<String>) {
    let (mut range, mut only_of) = (None, None);
    for line in BufReader::new(stream).lines() {
        let line = line.unwrap();
        if line.is_empty() {
            break;
        }
        let line = line.to_ascii_lowercase();
        range = line.strip_prefix("range: ").map(str::to_owned).or(range);
        only_of = line.strip_prefix("if-range: ").map(str::to_owned).or(only_of);
    }
    (range, only_of)
}

fn respond(stream: &mut TcpStream, content: &[u8], range: Option<&str>, answer: Answer) -> std::io::Result<()> {
    if matches!(answer, Answer::Silence) {
        return Ok(());
    }
    if matches!(answer, Answer::Redirect) {
        return write!(
            stream,
            "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
    }
    if let Answer::Status(status) = answer {
        return write!(
            stream,
            "HTTP/1.1 {status} As told\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
    }
    let honoured = range.filter(|_| !matches!(answer, Answer::WithoutRange));
    let first: usize = honoured.map_or(0, |range| {
        range
            .trim_start_matches("bytes=")
            .trim_end_matches('-')
            .parse()
            .unwrap()
    });
    let old = content.iter().map(|byte| !byte).collect::<Vec<u8>>();
    let (content, tag) = if matches!(answer, Answer::OldBrokenAfter(_)) {
        (old.as_slice(), "old")
    } else {
        (content, "one")
    };
    let body = &content[first..];
    let (status, extra) = match honoured {
        Some(_) => (
            "206 Partial",
            format!(
                "Content-Range: bytes {first}-{}/{}\r\n",
                content.len() - 1,
                content.len()
            ),
        ),
        None => ("200 OK", String::new()),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nETag: \"{tag}\"\r\n{extra}Connection: close\r\n\r\n"
    )?;
    match answer {
        Answer::BrokenAfter(count) | Answer::OldBrokenAfter(count) | Answer::StandsStillAfter(count) => {
            stream.write_all(&body[..count.min(body.len())])?;
        }
        _ => stream.write_all(body)?,
    }
    stream.flush()
}
