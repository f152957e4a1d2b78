//! The worker process: reads requests from standard input, computes one after the other, answers on standard output.
//!
//! One thread reads, so that a cancelled call ends while it is computed and the process ends when its parent does; the
//! other computes. Restarting is the parent's business.

use crate::engine::{Engine, LlamaError};
use magis_llm::LlmError;
use magis_llm::protocol::{FromWorker, RequestId, ToWorker, from_line, to_line};
use magis_sandbox::Pledge;
use std::collections::HashSet;
use std::io::{self, BufRead, Cursor, Read as _, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{process, thread};

/// Serves requests until a shutdown comes or `input` closes, so that no worker outlives its parent. Fails where
/// llama.cpp is in a state it cannot go on from, or the output is closed.
pub fn run(mut input: impl BufRead + Send + 'static, output: impl Write) -> ExitCode {
    // Before there is a second thread, which would keep what this one gives up.
    let mut first = String::new();
    let kept = input.read_line(&mut first).map_err(|error| error.to_string());
    if let Err(error) = kept.and_then(|_| keep_what_is_needed(&first)) {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    let input = Cursor::new(first).chain(input);
    let abort = Arc::new(AtomicBool::new(false));
    let calls = Arc::new(Calls {
        abort: Arc::clone(&abort),
        state: Mutex::default(),
    });
    let (queue, requests) = channel();
    let (computing, ended) = channel::<()>();
    let reader = {
        let calls = Arc::clone(&calls);
        thread::Builder::new().name("requests".to_owned()).spawn(move || {
            read(input, &queue, &calls);
            drop(queue);
            // The computation notices the flag within half a second. If it hangs, the process must not stay.
            if ended.recv_timeout(GRACE) == Err(RecvTimeoutError::Timeout) {
                process::exit(EXIT_HUNG);
            }
        })
    };
    if let Err(error) = reader {
        eprintln!("no thread to read requests: {error}");
        return ExitCode::FAILURE;
    }
    let code = match serve(&requests, output, &calls) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    };
    drop(computing);
    code
}

/// Gives up everything but reading the model that the first request loads, and what the system's libraries ask of the machine: a model's file and its
/// template are a stranger's.
fn keep_what_is_needed(first: &str) -> Result<(), String> {
    /// Libraries, and what they read to know the processor and its memory.
    const OF_THE_SYSTEM: [&str; 6] = ["/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/proc", "/sys"];
    let mut readable: Vec<PathBuf> = OF_THE_SYSTEM.map(PathBuf::from).into();
    #[cfg(feature = "dynamic-backends")]
    readable.extend(crate::engine::variants::folder());
    if let Ok(ToWorker::Load { load, .. }) = from_line(first) {
        readable.push(load.path);
    }
    let pledge = Pledge { readable, memory: None };
    pledge.take().map(drop).map_err(|error| error.to_string())
}

const GRACE: Duration = Duration::from_secs(3);
const EXIT_HUNG: i32 = 3;

/// Which call runs and which were cancelled, seen by both threads.
struct Calls {
    abort: Arc<AtomicBool>,
    state: Mutex<CallState>,
}

#[derive(Default)]
struct CallState {
    running: Option<RequestId>,
    cancelled: HashSet<RequestId>,
    closed: bool,
}

impl Calls {
    fn state(&self) -> MutexGuard<'_, CallState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cancel(&self, id: RequestId) {
        let mut state = self.state();
        if state.running == Some(id) {
            self.abort.store(true, Ordering::Relaxed);
        } else {
            state.cancelled.insert(id);
        }
    }

    fn close(&self) {
        self.state().closed = true;
        self.abort.store(true, Ordering::Relaxed);
    }

    /// False where the call was cancelled before its turn.
    fn begin(&self, id: RequestId) -> bool {
        let mut state = self.state();
        // Calls come in order, so a cancellation of an earlier one came too late.
        state.cancelled.retain(|cancelled| *cancelled >= id);
        if state.closed || state.cancelled.remove(&id) {
            return false;
        }
        state.running = Some(id);
        true
    }

    fn end(&self) {
        let mut state = self.state();
        state.running = None;
        if !state.closed {
            self.abort.store(false, Ordering::Relaxed);
        }
    }
}

fn read(input: impl BufRead, queue: &Sender<ToWorker>, calls: &Calls) {
    for line in input.lines() {
        let Ok(line) = line else { break };
        match from_line(&line) {
            Ok(ToWorker::Cancel { id }) => calls.cancel(id),
            Ok(ToWorker::Abort) => {
                eprintln!("abort was asked for");
                process::abort()
            }
            Ok(ToWorker::Shutdown) => break,
            Ok(
                message @ (ToWorker::Load { .. }
                | ToWorker::Chat { .. }
                | ToWorker::Score { .. }
                | ToWorker::TokenEdits { .. }
                | ToWorker::GenerateAll { .. }
                | ToWorker::CountTokens { .. }
                | ToWorker::CountPrompt { .. }
                | ToWorker::CountFillIn { .. }
                | ToWorker::Stats { .. }),
            ) => {
                if queue.send(message).is_err() {
                    return;
                }
            }
            Err(error) => {
                eprintln!("a request that cannot be read: {error}");
                break;
            }
        }
    }
    calls.close();
}

#[derive(Debug, thiserror::Error)]
enum ServeError {
    #[error("answers cannot be written: {0}")]
    Output(#[from] io::Error),
    #[error("an answer has no written form: {0}")]
    Form(#[from] serde_json::Error),
    #[error(transparent)]
    Engine(LlamaError),
}

fn serve(requests: &Receiver<ToWorker>, mut output: impl Write, calls: &Calls) -> Result<(), ServeError> {
    let mut engine: Option<Engine> = None;
    while let Ok(request) = requests.recv() {
        let Some(id) = id_of(&request) else { continue };
        if !calls.begin(id) {
            say(
                &mut output,
                &FromWorker::Failed {
                    id,
                    error: LlmError::Cancelled,
                },
            )?;
            continue;
        }
        let answer = answer(&mut engine, request, &mut output, &calls.abort);
        calls.end();
        match answer {
            Ok(answer) => say(&mut output, &answer)?,
            Err(LlamaError::Call(error)) => say(&mut output, &FromWorker::Failed { id, error })?,
            Err(broken @ LlamaError::Broken(_)) => return Err(ServeError::Engine(broken)),
        }
    }
    Ok(())
}

fn id_of(request: &ToWorker) -> Option<RequestId> {
    match request {
        ToWorker::Load { id, .. }
        | ToWorker::Chat { id, .. }
        | ToWorker::Score { id, .. }
        | ToWorker::TokenEdits { id, .. }
        | ToWorker::GenerateAll { id, .. }
        | ToWorker::CountTokens { id, .. }
        | ToWorker::CountPrompt { id, .. }
        | ToWorker::CountFillIn { id, .. }
        | ToWorker::Stats { id } => Some(*id),
        ToWorker::Cancel { .. } | ToWorker::Shutdown | ToWorker::Abort => None,
    }
}

fn say(output: &mut impl Write, message: &FromWorker) -> Result<(), ServeError> {
    output.write_all(to_line(message)?.as_bytes())?;
    Ok(output.flush()?)
}

fn answer(
    loaded: &mut Option<Engine>,
    request: ToWorker,
    output: &mut impl Write,
    abort: &Arc<AtomicBool>,
) -> Result<FromWorker, LlamaError> {
    let nothing = || {
        LlamaError::Call(LlmError::BadRequest {
            reason: "no model is loaded".to_owned(),
        })
    };
    if let ToWorker::Load { id, load } = request {
        // The one that goes makes room for the one that comes.
        *loaded = None;
        let engine = loaded.insert(Engine::load(&load, Arc::clone(abort))?);
        return Ok(FromWorker::Loaded {
            id,
            loaded: engine.loaded().clone(),
        });
    }
    let engine = loaded.as_mut().ok_or_else(nothing)?;
    let mut tell = |id: RequestId, text: &str| {
        let text = text.to_owned();
        // Where nobody listens any more, the reply's own line ends the process.
        let _ = say(output, &FromWorker::Token { id, text });
    };
    match request {
        ToWorker::Chat { id, request } => Ok(FromWorker::Chat {
            id,
            reply: engine.chat(&request, &mut |text| tell(id, text))?,
        }),
        ToWorker::GenerateAll { id, requests } => Ok(FromWorker::GeneratedAll {
            id,
            replies: engine.generate_all(&requests, &mut |text| tell(id, text))?,
        }),
        ToWorker::Score { id, request } => Ok(FromWorker::Score {
            id,
            reply: engine.score(&request)?,
        }),
        ToWorker::TokenEdits { id, request } => Ok(FromWorker::TokenEdits {
            id,
            reply: engine.token_edits(&request)?,
        }),
        ToWorker::CountTokens { id, texts } => Ok(FromWorker::Counts {
            id,
            counts: engine.count_tokens(&texts),
        }),
        ToWorker::CountPrompt {
            id,
            messages,
            answer_prefix,
        } => Ok(FromWorker::Counts {
            id,
            counts: vec![engine.count_prompt(&messages, &answer_prefix)?],
        }),
        ToWorker::CountFillIn { id, before, after } => Ok(FromWorker::Counts {
            id,
            counts: vec![engine.count_fill_in(&before, &after)?],
        }),
        ToWorker::Stats { id } => Ok(FromWorker::Stats {
            id,
            stats: engine.stats(),
        }),
        ToWorker::Load { .. } | ToWorker::Cancel { .. } | ToWorker::Shutdown | ToWorker::Abort => Err(nothing()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use magis_llm::protocol::Load;

    fn check(requests: &[ToWorker], expected: &[FromWorker]) {
        let lines: String = requests.iter().map(|request| to_line(request).unwrap()).collect();
        let mut output = Vec::new();
        let (queue, waiting) = channel();
        let calls = Calls {
            abort: Arc::default(),
            state: Mutex::default(),
        };
        read(Cursor::new(lines), &queue, &calls);
        drop(queue);
        // Reading ended before anything was answered: as if the parent were still there.
        calls.state().closed = false;
        calls.abort.store(false, Ordering::Relaxed);
        serve(&waiting, &mut output, &calls).unwrap();
        let answers: Vec<FromWorker> = String::from_utf8(output)
            .unwrap()
            .lines()
            .map(|line| from_line(line).unwrap())
            .collect();
        assert_eq!(answers, expected);
    }

    fn count(id: u64) -> ToWorker {
        ToWorker::CountTokens {
            id: RequestId(id),
            texts: Vec::new(),
        }
    }

    fn nothing_loaded(id: u64) -> FromWorker {
        FromWorker::Failed {
            id: RequestId(id),
            error: LlmError::BadRequest {
                reason: "no model is loaded".to_owned(),
            },
        }
    }

    #[test]
    fn a_call_cancelled_before_its_turn_is_answered_as_cancelled() {
        check(
            &[count(1), count(2), ToWorker::Cancel { id: RequestId(2) }, count(3)],
            &[
                nothing_loaded(1),
                FromWorker::Failed {
                    id: RequestId(2),
                    error: LlmError::Cancelled,
                },
                nothing_loaded(3),
            ],
        );
    }

    #[test]
    fn what_comes_after_a_shutdown_is_not_read() {
        check(&[count(1), ToWorker::Shutdown, count(2)], &[nothing_loaded(1)]);
    }

    #[test]
    fn files_that_are_no_models_are_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let empty = folder.path().join("empty.gguf");
        std::fs::write(&empty, b"GG").unwrap();
        let text = folder.path().join("text.gguf");
        std::fs::write(&text, b"some text").unwrap();
        for (path, part) in [
            (empty, "2 bytes"),
            (text, "not a GGUF"),
            (folder.path().to_owned(), "not a file"),
        ] {
            let load = Load {
                path,
                context: None,
                threads: None,
                batch: None,
            };
            let refused = Engine::load(&load, Arc::default()).err().unwrap().to_string();
            assert!(refused.contains(part), "{refused}");
        }
    }
}
