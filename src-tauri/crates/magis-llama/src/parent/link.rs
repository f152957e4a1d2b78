//! One worker process as its parent holds it: lines go in, answers come back to whoever asked.
//!
//! A link never recovers: when the process ends, every open call learns so, and [`super::WorkerModel`] makes another. A
//! process that closes its output, says what is no answer, or computes nothing for long, is ended here.

use super::WorkerCommand;
use magis_llm::protocol::{FromWorker, RequestId, ToWorker, from_line, to_line};
use std::collections::{HashMap, VecDeque};
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{env, io};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// The most bytes of an answer: the likelihoods of whole files take some MiB.
const LONGEST_ANSWER: u64 = 64 << 20;
/// The most bytes of a line on the error stream that are read as one.
const LONGEST_ERROR: u64 = 500;

/// A worker process. It ends when this is dropped.
pub(super) struct Link {
    lines: mpsc::UnboundedSender<String>,
    open: Arc<Mutex<Open>>,
    ended: watch::Receiver<Option<String>>,
    tasks: Vec<JoinHandle<()>>,
}

/// A call that waits for its answers. Dropped before the last one came, it is cancelled.
pub(super) struct Call {
    id: RequestId,
    answers: mpsc::UnboundedReceiver<FromWorker>,
    link: Arc<Link>,
    answered: bool,
}

#[derive(Default)]
struct Open {
    calls: HashMap<RequestId, mpsc::UnboundedSender<FromWorker>>,
    last_id: u64,
    over: bool,
    // When a call was opened, or the process said something; none before the model is loaded, which may take long.
    last_sign: Option<Instant>,
}

impl Link {
    /// Starts the worker process, with pipes to it. It is ended when it says nothing for `patience` while calls are open.
    pub(super) fn start(command: &WorkerCommand, patience: Duration) -> io::Result<Self> {
        let mut process = Command::new(&command.program);
        process
            .args(&command.args)
            // A debugger started by a failed assertion would only keep the restart waiting.
            .env("GGML_NO_BACKTRACE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if WAITING.iter().all(|variable| env::var_os(variable).is_none()) {
            process.env(WAITING[0], SPINS);
        }
        #[cfg(windows)]
        command.priority.prepare(&mut process);
        let mut child = process.spawn()?;
        #[cfg(unix)]
        command.priority.set(&child);
        let missing = || io::Error::other("the process has no pipe");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let errors = child.stderr.take().ok_or_else(missing)?;
        let (lines, outgoing) = mpsc::unbounded_channel();
        let (end, ended) = watch::channel(None);
        let open = Arc::new(Mutex::new(Open::default()));
        let tasks = vec![
            tokio::spawn(write(input, outgoing)),
            tokio::spawn(follow(child, (output, errors), Arc::clone(&open), end, patience)),
        ];
        Ok(Self {
            lines,
            open,
            ended,
            tasks,
        })
    }

    /// Sends a request made for a fresh id.
    pub(super) fn call(
        self: &Arc<Self>,
        request: impl FnOnce(RequestId) -> ToWorker,
    ) -> Result<Call, serde_json::Error> {
        let (answer, answers) = mpsc::unbounded_channel();
        let id = {
            let mut open = self.open();
            open.last_id += 1;
            let id = RequestId(open.last_id);
            // To a process that is over nothing is entered: the dropped sender tells the call so.
            if !open.over {
                open.calls.insert(id, answer);
                open.last_sign = open.last_sign.map(|_| Instant::now());
            }
            id
        };
        let call = Call {
            id,
            answers,
            link: Arc::clone(self),
            answered: false,
        };
        self.send(&request(id))?;
        Ok(call)
    }

    /// Sends a message that is not answered; nothing happens when the process is over.
    pub(super) fn send(&self, message: &ToWorker) -> Result<(), serde_json::Error> {
        let line = to_line(message)?;
        let _ = self.lines.send(line);
        Ok(())
    }

    /// Returns whether the process is over.
    pub(super) fn is_over(&self) -> bool {
        self.ended.borrow().is_some()
    }

    /// Waits until the process is over; gives how it ended and what it said last.
    pub(super) async fn ended(&self) -> String {
        let mut ended = self.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(last) => last.clone().unwrap_or_default(),
            Err(_) => "it was stopped".to_owned(),
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The aborted task drops the child, which kills it.
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl Call {
    /// Returns the next answer; none when the process is over.
    pub(super) async fn next(&mut self) -> Option<FromWorker> {
        let answer = self.answers.recv().await;
        self.answered = !matches!(answer, Some(FromWorker::Token { .. }));
        answer
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.answered {
            self.link.open().calls.remove(&self.id);
            let _ = self.link.send(&ToWorker::Cancel { id: self.id });
        }
    }
}

/// The variables by which a person says how threads wait for one another; the libraries read them at their start.
const WAITING: [&str; 2] = ["GOMP_SPINCOUNT", "OMP_WAIT_POLICY"];
/// Turns of a waiting thread before it sleeps. By default it turns for milliseconds, on a core that another program, or
/// even the thread that is waited for, could use.
const SPINS: &str = "20000";

/// How long a process may take to end once its output is closed.
const ENDING: Duration = Duration::from_millis(500);

/// How many lines of a worker's standard error are kept.
const KEPT_LINES: usize = 20;

async fn write(mut input: ChildStdin, mut lines: mpsc::UnboundedReceiver<String>) {
    while let Some(line) = lines.recv().await {
        if input.write_all(line.as_bytes()).await.is_err() || input.flush().await.is_err() {
            return;
        }
    }
}

async fn follow(
    mut child: Child,
    (output, errors): (ChildStdout, ChildStderr),
    open: Arc<Mutex<Open>>,
    end: watch::Sender<Option<String>>,
    patience: Duration,
) {
    let answers = async {
        let why = tokio::select! {
            why = dispatch(output, &open) => why,
            () = silence(&open, patience) => Some(format!("it computed nothing for {} s", patience.as_secs())),
        };
        // One that ends by itself says best how.
        if why.is_some() || timeout(ENDING, child.wait()).await.is_err() {
            let _ = child.start_kill();
        }
        why
    };
    let mut said = VecDeque::new();
    let why = {
        let mut errors = pin!(keep_last_lines(errors, &mut said));
        let mut answers = pin!(answers);
        tokio::select! {
            biased;
            why = &mut answers => {
                // A process that it has started may hold the error stream open.
                let _ = timeout(ENDING, errors).await;
                why
            }
            () = &mut errors => answers.await,
        }
    };
    let status = child.wait().await;
    // First the reason, then the calls: who finds a call broken finds the reason there.
    let last = last_words(status, said);
    end.send_replace(Some(why.map_or(last.clone(), |why| format!("{why}; {last}"))));
    let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
    open.over = true;
    open.calls.clear();
}

/// Hands each answer to whoever waits for it, until there are no more. Gives why no more is heard, where that is not
/// because the process ended.
async fn dispatch(output: ChildStdout, open: &Mutex<Open>) -> Option<String> {
    let mut output = BufReader::new(output);
    while let Some(line) = next_line(&mut output, LONGEST_ANSWER).await {
        let Ok(line) = line else {
            return Some("it said one thing without end".to_owned());
        };
        let Ok(answer) = from_line::<FromWorker>(&line) else {
            return Some("it said something that is no answer".to_owned());
        };
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.last_sign.is_some() || matches!(answer, FromWorker::Loaded { .. }) {
            open.last_sign = Some(Instant::now());
        }
        let Some(id) = answer.id() else { continue };
        if matches!(answer, FromWorker::Token { .. }) {
            if let Some(call) = open.calls.get(&id) {
                let _ = call.send(answer);
            }
        } else if let Some(call) = open.calls.remove(&id) {
            let _ = call.send(answer);
        }
    }
    None
}

/// Waits until nothing was said for so long while calls are open.
async fn silence(open: &Mutex<Open>, patience: Duration) {
    loop {
        sleep(patience / 4).await;
        let open = open.lock().unwrap_or_else(PoisonError::into_inner);
        let is_silent = open.last_sign.is_some_and(|sign| sign.elapsed() > patience);
        if is_silent && !open.calls.is_empty() {
            return;
        }
    }
}

/// Keeps the last lines that are said, as long as they are no longer than anybody reads, until there are no more.
async fn keep_last_lines(errors: ChildStderr, kept: &mut VecDeque<String>) {
    let mut errors = BufReader::new(errors);
    while let Some(line) = next_line(&mut errors, LONGEST_ERROR).await {
        if kept.len() == KEPT_LINES {
            kept.pop_front();
        }
        kept.push_back(line.unwrap_or_else(|TooLong(begin)| begin));
    }
}

/// A line with more bytes than are read, as far as it was.
struct TooLong(String);

/// Returns the next line; none at the end. What a line has beyond `most` bytes is the next one.
async fn next_line(from: &mut (impl AsyncBufRead + Unpin), most: u64) -> Option<Result<String, TooLong>> {
    let mut bytes = Vec::new();
    let read = from.take(most).read_until(b'\n', &mut bytes).await.ok()?;
    if read == 0 {
        return None;
    }
    let is_whole = bytes.ends_with(b"\n") || (read as u64) < most;
    let line = String::from_utf8_lossy(&bytes);
    let line = line.trim_end_matches(['\n', '\r']).to_owned();
    Some(if is_whole { Ok(line) } else { Err(TooLong(line)) })
}

fn last_words(status: io::Result<ExitStatus>, said: VecDeque<String>) -> String {
    let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
    let said: Vec<String> = said.into_iter().filter(|line| !line.trim().is_empty()).collect();
    if said.is_empty() {
        status
    } else {
        format!("{status}; it said: {}", said.join(" | "))
    }
}
