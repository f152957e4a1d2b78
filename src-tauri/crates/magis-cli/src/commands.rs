//! What each command does, one file each, and what they share.

mod apply;
mod doctor;
mod engine;
mod follow;
mod inspect;
mod locate;
mod memory;
mod models;
mod runs;
mod sandbox;
mod solve;
mod steer;
mod tests;
mod watch;

use crate::args::{Cli, Command, Global};
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::render::clean;
use crate::screen::{Screen, ask, tell};
use clap::CommandFactory as _;
use magis_core::RunId;
use magis_core::text::bytes;
use magis_engine::model::{Priority, WorkerCommand, worker};
use magis_engine::records::{Access, Erasure};
use magis_engine::repository::{Git, GitWorker};
use magis_engine::sandbox::HelperCommand;
use magis_engine::{DataFolder, LogGuard, Magis, OtherEngine, start_log};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Carries out a command line.
pub fn run(cli: Cli) -> Result<ExitCode, Failure> {
    let Cli { global, command } = cli;
    let place = Place {
        screen: Screen::look(global.color),
        global,
        log: OnceCell::new(),
    };
    let status = match command {
        Command::Solve(args) => solve::solve(&place, *args)?,
        Command::Locate(args) => locate::locate(&place, &args)?,
        Command::Runs(command) => runs::run(&place, command)?,
        Command::Rerun(args) => solve::rerun(&place, args)?,
        Command::Steer(args) => steer::steer(&place, args)?,
        Command::Apply(args) => apply::apply(&place, args)?,
        Command::Memory(command) => memory::run(&place, command)?,
        Command::Watch(args) => watch::watch(&place, &args)?,
        Command::Models(command) => models::run(&place, command)?,
        Command::Engine(command) => engine::run(&place, &command)?,
        Command::Doctor(args) => doctor::doctor(&place, &args)?,
        Command::Tests(command) => return tests::run(&place, command),
        Command::Sandbox(args) => return sandbox::sandbox(&place, &args),
        Command::Completions { shell } => completions(&place, shell)?,
    };
    Ok(status.into())
}

/// Where a command is carried out: which data folder, which screen.
pub struct Place {
    pub screen: Screen,
    global: Global,
    /// Writes the last lines of the log when the command is over.
    log: OnceCell<Option<LogGuard>>,
}

impl Place {
    /// Returns where the data lies.
    pub fn data(&self) -> Result<DataFolder, Failure> {
        let data = DataFolder::locate(self.global.data_dir.clone())?;
        Ok(match &self.global.models_dir {
            Some(models) => data.with_models(models.clone()),
            None => data,
        })
    }

    /// Returns the engine that the command line names, if it does.
    pub fn named_engine(&self) -> Option<OtherEngine> {
        self.global.other_engine.named()
    }

    /// Opens the data folder; this very program is the engine's worker as well.
    pub fn open(&self) -> Result<Magis, Failure> {
        let magis = Magis::open(self.data()?, worker_command()?, git()?)?.with_sandbox(sandbox_helper()?);
        let magis = match self.named_engine() {
            Some(engine) => magis.with_other_engine(engine),
            None => magis,
        };
        self.log.get_or_init(|| start_log(magis.data()));
        match magis.access() {
            Access::ReadWrite => {}
            Access::DiskFull => {
                tell("note: the disk of the data folder is full: past runs can be read, nothing can be recorded");
                tell(&format!(
                    "  the data folder has {}, the models {}; 'magis models remove' deletes a model",
                    bytes(magis.data().bytes()),
                    bytes(magis.data().model_bytes())
                ));
            }
            Access::ReadOnly => {
                tell("note: the data folder is read-only: past runs can be read, nothing can be recorded");
            }
        }
        for broken_off in magis.settle_applications()? {
            tell(&format!("note: {}", clean(&broken_off.sentence())));
        }
        Ok(magis)
    }

    /// Returns the command that goes on with a run, with the folder of its model where that is not the usual one.
    pub fn resume_command(&self, run: RunId) -> String {
        let command = self.next_command(&format!("runs resume {run}"));
        match &self.global.models_dir {
            Some(folder) => format!("{command} --models-dir {}", quoted(&folder.display().to_string())),
            None => command,
        }
    }

    /// Returns a further command for the person to type, with the data folder where it is not the usual one.
    pub fn next_command(&self, words: &str) -> String {
        match &self.global.data_dir {
            Some(folder) => format!("magis {words} --data-dir {}", quoted(&folder.display().to_string())),
            None => format!("magis {words}"),
        }
    }
}

/// The word that makes this program the engine's process. It is no command of a person, so neither help nor completions offer it.
pub const WORKER: &str = "worker";

/// Returns how the engine's process is started.
fn worker_command() -> Result<WorkerCommand, Failure> {
    Ok(WorkerCommand {
        program: own_program()?,
        args: vec![WORKER.into()],
        priority: Priority::Normal,
    })
}

/// The word that makes this program the process that reads a repository.
pub const GIT_WORKER: &str = "git-worker";

/// Returns how repositories are read: by this very program.
fn git() -> Result<Git, Failure> {
    Ok(Git::in_workers(GitWorker {
        program: own_program()?,
        args: vec![GIT_WORKER.into()],
    }))
}

/// The word that makes this program the helper that runs commands.
pub const SANDBOX_HELPER: &str = "sandbox-helper";

/// Returns how the helper that runs commands is started.
fn sandbox_helper() -> Result<HelperCommand, Failure> {
    Ok(HelperCommand {
        program: own_program()?,
        args: vec![SANDBOX_HELPER.into()],
    })
}

fn own_program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| {
        Failure::error(
            format!("this program cannot find its own file, which serves the model and runs commands as well: {error}"),
            "start it by its whole path",
        )
    })
}

fn completions(place: &Place, shell: clap_complete::Shell) -> Result<ExitStatus, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "magis", &mut script);
    place.screen.exactly(&String::from_utf8_lossy(&script))?;
    Ok(ExitStatus::Success)
}

/// Returns the engine's process. Ctrl-C reaches it too, because it belongs to the same terminal; whether it ends is its
/// parent's decision.
pub fn serve_as_worker() -> Result<ExitCode, Failure> {
    // Of one thread: another one would keep what the worker gives up.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| no_threads(&error))?;
    let guard = runtime.enter();
    // From here on the signal no longer ends this process, also when nobody waits for it.
    let _ignored = interrupts()?;
    drop(guard);
    Ok(worker::run(
        std::io::BufReader::new(std::io::stdin()),
        std::io::stdout().lock(),
    ))
}

#[cfg(unix)]
fn interrupts() -> Result<tokio::signal::unix::Signal, Failure> {
    use tokio::signal::unix::{SignalKind, signal};
    signal(SignalKind::interrupt())
        .map_err(|error| Failure::error(format!("cannot listen for Ctrl-C: {error}"), "try again"))
}

#[cfg(not(unix))]
fn interrupts() -> Result<(), Failure> {
    Ok(())
}

fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| no_threads(&error))
}

fn no_threads(error: &std::io::Error) -> Failure {
    Failure::error(
        format!("cannot start the threads to work with: {error}"),
        "close other programs and try again",
    )
}

/// Returns a word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns whether a person says yes; where nobody can be asked, an error that begins with `undone`.
fn agreed(question: &str, undone: impl Fn() -> String) -> Result<bool, Failure> {
    let answer = ask(question)
        .ok_or_else(|| Failure::usage(format!("{}: nobody is there to be asked", undone()), "give --yes"))?;
    Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
}

/// Says whether anything is left of what was deleted.
fn say_erasure(place: &Place, erasure: &Erasure) -> Result<(), Failure> {
    match erasure {
        Erasure::Complete => place
            .screen
            .line("  No byte of its texts is left in the data folder.")?,
        Erasure::Pending { why } => tell(&format!("  note: traces wait to be erased at the next opening: {why}")),
    }
    Ok(())
}

/// Returns the text of a file; `what` names it in an error.
fn read_text(what: &str, file: &Path) -> Result<String, Failure> {
    let bytes = std::fs::read(file).map_err(|error| {
        let remedy = match what {
            "the issue" => "give a file with the issue's text, or '-' and the text on standard input",
            _ => "check the path",
        };
        Failure::error(format!("cannot read {what} from {}: {error}", file.display()), remedy)
    })?;
    String::from_utf8(bytes).map_err(|_| not_text(&format!("{what} in {}", file.display())))
}

/// Returns the error of something that is no text.
fn not_text(what: &str) -> Failure {
    Failure::error(format!("{what} is not UTF-8 text"), "save it as UTF-8 and try again")
}
