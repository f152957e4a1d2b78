//! The worker process: reads requests from standard input, computes them side by side, answers on standard output.
//!
//! One thread reads, so that a cancelled call ends while it is computed and the process ends when its parent does; the
//! other computes. Restarting is the parent's business.

use crate::engine::{self, Ask, CallAnswer, CallEvent, Engine, LlamaError};
use magis_llm::LlmError;
use magis_llm::protocol::{FromWorker, Load, RequestId, ToWorker, from_line, to_line};
use magis_sandbox::Pledge;
use std::collections::HashSet;
use std::io::{self, BufRead, Cursor, Read as _, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
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

/// Gives up everything but reading the model that the first request loads, keeping prefixes, and what the system's libraries ask of the machine: a model's file and its
/// template are a stranger's.
fn keep_what_is_needed(first: &str) -> Result<(), String> {
    /// Libraries, and what they read to know the processor and its memory.
    const OF_THE_SYSTEM: [&str; 7] = [
        "/usr",
        "/lib",
        "/lib64",
        "/etc/ld.so.cache",
        "/etc/vulkan",
        "/proc",
        "/sys",
    ];
    let mut readable: Vec<PathBuf> = OF_THE_SYSTEM.map(PathBuf::from).into();
    #[cfg(feature = "dynamic-backends")]
    readable.extend(crate::engine::variants::folder());
    let mut writable = Vec::new();
    let mut devices = Vec::new();
    if let Ok(ToWorker::Load { load, .. }) = from_line(first) {
        if load.gpu_layers != Some(0) {
            devices = engine::device_files();
        }
        readable.push(load.path);
        writable.extend(load.prefixes);
    }
    let pledge = Pledge {
        readable,
        writable,
        devices,
        memory: None,
    };
    pledge.take().map(drop).map_err(|error| error.to_string())
}

const GRACE: Duration = Duration::from_secs(3);
/// How long steps are computed without a word.
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);
const EXIT_HUNG: i32 = 3;
/// How long nothing is asked for before prompts are kept: between two calls of a run there is less.
const PAUSE: Duration = Duration::from_millis(500);
/// How long prompts are kept when the worker ends; less than the grace.
const LAST_WORDS: Duration = Duration::from_millis(1500);

/// Which calls are in the step that is computed, and which were cancelled, seen by both threads.
struct Calls {
    // Ends the step that is computed.
    abort: Arc<AtomicBool>,
    state: Mutex<CallState>,
}

#[derive(Default)]
struct CallState {
    in_step: Vec<RequestId>,
    cancelled: HashSet<RequestId>,
    closed: bool,
}

impl Calls {
    fn state(&self) -> MutexGuard<'_, CallState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cancel(&self, id: RequestId) {
        let mut state = self.state();
        state.cancelled.insert(id);
        self.interrupt_if_useless(&state);
    }

    fn close(&self) {
        self.state().closed = true;
        self.abort.store(true, Ordering::Relaxed);
    }

    /// Takes note of whose rows are about to be computed.
    fn begin_step(&self, calls: &[RequestId]) {
        let mut state = self.state();
        state.in_step = calls.to_vec();
        self.interrupt_if_useless(&state);
    }

    fn end_step(&self) {
        let mut state = self.state();
        state.in_step.clear();
        if !state.closed {
            self.abort.store(false, Ordering::Relaxed);
        }
    }

    /// Ends a step that nobody waits for any more. One that others have rows in goes on: such steps are short.
    fn interrupt_if_useless(&self, state: &CallState) {
        let is_useless = state.in_step.iter().all(|id| state.cancelled.contains(id));
        if is_useless && !state.in_step.is_empty() {
            self.abort.store(true, Ordering::Relaxed);
        }
    }

    /// Returns whether a call was cancelled before its turn.
    fn is_cancelled(&self, id: RequestId) -> bool {
        self.state().cancelled.remove(&id)
    }

    /// Takes the calls up to `last` that were cancelled since this was asked; those behind it have not come yet.
    fn take_cancelled(&self, last: RequestId) -> Vec<RequestId> {
        self.state().cancelled.extract_if(|id| *id <= last).collect()
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
                | ToWorker::Tokenize { .. }
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

fn serve(requests: &Receiver<ToWorker>, output: impl Write, calls: &Calls) -> Result<(), ServeError> {
    let mut server = Server {
        engine: None,
        output,
        calls,
        last: RequestId(0),
        said: Instant::now(),
    };
    loop {
        let request = if server.is_idle() {
            server.wait(requests)
        } else {
            requests.try_recv()
        };
        match request {
            Ok(request) => server.take(request)?,
            Err(TryRecvError::Empty) => server.turn()?,
            Err(TryRecvError::Disconnected) => {
                server.keep_prompts(LAST_WORDS);
                return Ok(());
            }
        }
    }
}

/// The side that computes.
struct Server<'a, W> {
    engine: Option<Engine>,
    output: W,
    calls: &'a Calls,
    // The last request that came.
    last: RequestId,
    said: Instant,
}

impl<W: Write> Server<'_, W> {
    fn is_idle(&self) -> bool {
        self.engine.as_ref().is_none_or(Engine::is_idle)
    }

    /// Waits for a request. While none comes, prompts are kept for later workers.
    fn wait(&mut self, requests: &Receiver<ToWorker>) -> Result<ToWorker, TryRecvError> {
        let mut asked = requests.recv_timeout(PAUSE);
        while asked == Err(RecvTimeoutError::Timeout) && self.keep_one_prompt() {
            asked = requests.recv_timeout(Duration::ZERO);
        }
        match asked {
            Ok(request) => Ok(request),
            Err(RecvTimeoutError::Timeout) => requests.recv().map_err(|_| TryRecvError::Disconnected),
            Err(RecvTimeoutError::Disconnected) => Err(TryRecvError::Disconnected),
        }
    }

    fn keep_one_prompt(&mut self) -> bool {
        self.engine.as_mut().is_some_and(Engine::keep_one_prompt)
    }

    fn keep_prompts(&mut self, time: Duration) {
        let begun = Instant::now();
        while begun.elapsed() < time && self.keep_one_prompt() {}
    }

    /// Answers a request, or begins the call that it asks for.
    fn take(&mut self, request: ToWorker) -> Result<(), ServeError> {
        let Some(id) = id_of(&request) else { return Ok(()) };
        self.last = id;
        if self.calls.is_cancelled(id) {
            return self.fail(id, LlmError::Cancelled);
        }
        match self.carry_out(request) {
            Ok(Some(answer)) => self.say(&answer),
            Ok(None) => Ok(()),
            Err(ServeError::Engine(LlamaError::Call(error))) => self.fail(id, error),
            Err(error) => Err(error),
        }
    }

    /// Computes the next step, and tells what came of it.
    fn turn(&mut self) -> Result<(), ServeError> {
        let Some(engine) = &mut self.engine else { return Ok(()) };
        let cancelled = self.calls.take_cancelled(self.last);
        let cancelled: Vec<RequestId> = cancelled.into_iter().filter(|id| engine.cancel(*id)).collect();
        let events = engine.turn(&mut |calls| self.calls.begin_step(calls));
        self.calls.end_step();
        for id in cancelled {
            self.fail(id, LlmError::Cancelled)?;
        }
        if self.said.elapsed() > SIGN_OF_LIFE {
            self.say(&FromWorker::Working)?;
        }
        for event in events.map_err(ServeError::Engine)? {
            self.say(&match event {
                CallEvent::Text(id, text) => FromWorker::Token { id, text },
                CallEvent::Ended(id, Err(error)) => FromWorker::Failed { id, error },
                CallEvent::Ended(id, Ok(CallAnswer::Chat(reply))) => FromWorker::Chat { id, reply },
                CallEvent::Ended(id, Ok(CallAnswer::GeneratedAll(replies))) => FromWorker::GeneratedAll { id, replies },
                CallEvent::Ended(id, Ok(CallAnswer::Score(reply))) => FromWorker::Score { id, reply },
                CallEvent::Ended(id, Ok(CallAnswer::TokenEdits(reply))) => FromWorker::TokenEdits { id, reply },
            })?;
        }
        Ok(())
    }

    /// Loads a model in place of the one that is loaded, once no call goes on.
    fn load(&mut self, id: RequestId, load: &Load) -> Result<FromWorker, ServeError> {
        while !self.is_idle() {
            self.turn()?;
        }
        // The one that goes makes room for the one that comes.
        self.engine = None;
        self.calls.begin_step(&[id]);
        let engine = Engine::load(load, Arc::clone(&self.calls.abort));
        self.calls.end_step();
        let engine = engine.map_err(LlamaError::Call).map_err(ServeError::Engine)?;
        let loaded = engine.loaded().clone();
        self.engine = Some(engine);
        Ok(FromWorker::Loaded { id, loaded })
    }

    /// Carries a request out; no answer yet where it is a call, which has begun.
    fn carry_out(&mut self, request: ToWorker) -> Result<Option<FromWorker>, ServeError> {
        if let ToWorker::Load { id, load } = request {
            return self.load(id, &load).map(Some);
        }
        let nothing = || {
            let reason = "no model is loaded".to_owned();
            ServeError::Engine(LlamaError::Call(LlmError::BadRequest { reason }))
        };
        let engine = self.engine.as_mut().ok_or_else(nothing)?;
        let counted = |id, count: Result<u32, LlmError>| match count {
            Ok(count) => FromWorker::Counts {
                id,
                counts: vec![count],
            },
            Err(error) => FromWorker::Failed { id, error },
        };
        let mut begin = |id, urgency, ask| {
            engine.begin(id, urgency, ask);
            None
        };
        Ok(match request {
            ToWorker::Chat { id, urgency, request } => begin(id, urgency, Ask::Chat(request)),
            ToWorker::GenerateAll { id, urgency, requests } => begin(id, urgency, Ask::GenerateAll(requests)),
            ToWorker::Score { id, urgency, request } => begin(id, urgency, Ask::Score(request)),
            ToWorker::TokenEdits { id, urgency, request } => begin(id, urgency, Ask::TokenEdits(request)),
            ToWorker::CountTokens { id, texts } => Some(FromWorker::Counts {
                id,
                counts: engine.count_tokens(&texts),
            }),
            ToWorker::CountPrompt {
                id,
                messages,
                answer_prefix,
            } => Some(counted(id, engine.count_prompt(&messages, &answer_prefix))),
            ToWorker::CountFillIn { id, before, after } => Some(counted(id, engine.count_fill_in(&before, &after))),
            ToWorker::Tokenize { id, texts } => Some(FromWorker::Tokens {
                id,
                tokens: engine.tokenize(&texts).map_err(ServeError::Engine)?,
            }),
            ToWorker::Stats { id } => Some(FromWorker::Stats {
                id,
                stats: engine.stats(),
            }),
            ToWorker::Load { .. } | ToWorker::Cancel { .. } | ToWorker::Shutdown | ToWorker::Abort => {
                return Err(nothing());
            }
        })
    }

    fn fail(&mut self, id: RequestId, error: LlmError) -> Result<(), ServeError> {
        self.say(&FromWorker::Failed { id, error })
    }

    fn say(&mut self, message: &FromWorker) -> Result<(), ServeError> {
        self.said = Instant::now();
        self.output.write_all(to_line(message)?.as_bytes())?;
        Ok(self.output.flush()?)
    }
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
        | ToWorker::Tokenize { id, .. }
        | ToWorker::Stats { id } => Some(*id),
        ToWorker::Cancel { .. } | ToWorker::Shutdown | ToWorker::Abort => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
                ..Load::default()
            };
            let refused = Engine::load(&load, Arc::default()).err().unwrap().to_string();
            assert!(refused.contains(part), "{refused}");
        }
    }
}
