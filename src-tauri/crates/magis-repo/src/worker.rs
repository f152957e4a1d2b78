//! The process that reads a repository: this very program, started again with a hidden word. It is told which folders it may read, gives up everything else,
//! and then answers what its parent asks.

pub(crate) mod frames;
pub(crate) mod link;
mod personal;

use crate::reading::{Reading, Request};
use frames::{Kind, read_request, write_frame};
use magis_sandbox::Pledge;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, BufReader, BufWriter, Write as _};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

/// The most memory that the process may take.
pub(crate) const MEMORY: u64 = 400 << 20;

/// How to start the process: the program is given, never guessed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitWorker {
    /// The executable; it must call [`serve_git`].
    pub program: PathBuf,
    /// Its arguments, a hidden word say.
    pub args: Vec<OsString>,
}

/// What the process is told first.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Begin {
    /// The folders that it may read.
    pub folders: Vec<PathBuf>,
    /// The most bytes of memory that it may take.
    pub memory: u64,
}

/// Serves as the process that reads a repository: answers what comes by standard input, until that is closed. To be called first of all in `main`, when the
/// program was started with the word of a [`GitWorker`], before it starts a thread.
pub fn serve_git() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody is there to be told.
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve() -> io::Result<()> {
    let mut input = BufReader::new(io::stdin());
    let mut output = BufWriter::with_capacity(link::AT_ONCE, io::stdout());
    let Some(begin) = read_request::<Begin>(&mut input)? else {
        return Ok(());
    };
    let mut readable = begin.folders;
    readable.extend(personal::files());
    let pledge = Pledge {
        readable,
        memory: Some(begin.memory),
        ..Pledge::default()
    };
    let pledged = pledge.take().map_err(io::Error::other)?;
    link::end_with_the_parent()?;
    write_frame(&mut output, Kind::Answer, &serde_json::to_vec(&pledged)?, b"")?;
    output.flush()?;
    let mut reading = Reading::default();
    while let Some(request) = read_request::<Request>(&mut input)? {
        let mut written = Ok(());
        let answer = reading.answer(request, &mut |part| {
            written = write_frame(&mut output, Kind::Part, &part.json, &part.bytes).and_then(|()| output.flush());
            if written.is_ok() {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        written?;
        match answer {
            Ok(frame) => write_frame(&mut output, Kind::Answer, &frame.json, &frame.bytes)?,
            Err(error) => write_frame(&mut output, Kind::Refusal, &frames::refusal(&error), b"")?,
        }
        output.flush()?;
    }
    Ok(())
}
