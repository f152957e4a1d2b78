//! `magis doctor`: what works here, and what to do about what does not. Each line is ok, a note or a problem.

use super::models::{fit_in_words, fit_of};
use super::{Place, engine as engines, git, runtime, sandbox_helper, worker_command};
use crate::args::DoctorArgs;
use crate::exit::ExitStatus;
use crate::failure::{Failure, refuse_existing};
use crate::render::{Tone, bytes, clean, count, span};
use crate::screen::Screen;
use crate::status::StatusLine;
use magis_engine::model::{KvType, LoadRequest, Loaded, Loading, Placed, WorkerModel};
use magis_engine::models::{Fit, LibraryError, ModelFile, ModelLibrary, fits};
use magis_engine::repository::HeadState;
use magis_engine::sandbox::{Sandbox, SandboxJob, ScratchFolder};
use magis_engine::{DataFolder, OtherEngine, check_data, write_whole};
use magis_platform::memory;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long loading a model may take before it counts as stuck.
const LOADING: Duration = Duration::from_mins(5);
/// The context that is tried.
const CONTEXT: u32 = 4096;

/// Runs `magis doctor`.
pub fn doctor(place: &Place, args: &DoctorArgs) -> Result<ExitStatus, Failure> {
    if let Some(file) = &args.report {
        return write_report(place, file, args.yes);
    }
    let mut report = Report {
        screen: place.screen,
        problems: 0,
    };
    system(&mut report)?;
    let data = place.data()?;
    let chosen = database(&mut report, &data)?;
    if let Some(model) = models(&mut report, place, &data, args.model.as_deref())? {
        engine(&mut report, &model)?;
    }
    other_engine(&mut report, place.named_engine().or(chosen))?;
    sandbox(&mut report, &data)?;
    if let Some(path) = &args.repo {
        repository(&mut report, path)?;
    }
    report.end()
}

/// Shows a report, asks, and writes it.
fn write_report(place: &Place, file: &Path, yes: bool) -> Result<ExitStatus, Failure> {
    let report = place.open()?.report(env!("CARGO_PKG_VERSION"))?;
    for line in report.lines() {
        place.screen.line(&clean(line))?;
    }
    if !yes
        && !super::agreed(&format!("\nWrite this to {}? [y/N]", file.display()), || {
            "the report is not written".to_owned()
        })?
    {
        return Ok(ExitStatus::Error);
    }
    refuse_existing(file)?;
    write_whole(file, |to| to.write_all(report.as_bytes()))
        .map_err(|error| Failure::error(format!("cannot write {}: {error}", file.display()), "name another file"))?;
    place.screen.line(&format!("\nWritten to {}", file.display()))?;
    Ok(ExitStatus::Success)
}

struct Report {
    screen: Screen,
    problems: usize,
}

impl Report {
    fn ok(&self, what: &str, text: &str) -> Result<(), Failure> {
        self.line(Tone::Good, "ok", what, text)
    }

    fn note(&self, what: &str, text: &str) -> Result<(), Failure> {
        self.line(Tone::Note, "note", what, text)
    }

    fn problem(&mut self, what: &str, text: &str, remedy: &str) -> Result<(), Failure> {
        self.problems += 1;
        self.line(Tone::Bad, "problem", what, text)?;
        if remedy.is_empty() {
            Ok(())
        } else {
            self.screen.line(&format!("{:22}what to do: {}", "", clean(remedy)))
        }
    }

    fn failure(&mut self, what: &str, failure: &Failure) -> Result<(), Failure> {
        match failure {
            Failure::Told { sentence, remedy, .. } => self.problem(what, sentence, remedy),
            Failure::OutputClosed => Err(Failure::OutputClosed),
        }
    }

    fn line(&self, tone: Tone, state: &str, what: &str, text: &str) -> Result<(), Failure> {
        let state = self.screen.paint.tone(tone, &format!("{state:<8}"));
        self.screen.line(&format!("{state} {what:<12} {}", clean(text)))
    }

    fn end(self) -> Result<ExitStatus, Failure> {
        if self.problems == 0 {
            self.screen.line("\nAll checks passed.")?;
            return Ok(ExitStatus::Success);
        }
        self.screen
            .line(&format!("\n{} to be solved.", count(self.problems, "problem")))?;
        Ok(ExitStatus::Error)
    }
}

fn system(report: &mut Report) -> Result<(), Failure> {
    let about = format!(
        "magis {}, {} {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    report.ok("system", &about)?;
    match std::thread::available_parallelism() {
        Ok(cores) => report.ok("cores", &format!("{} to compute with", count(cores.get(), "processor")))?,
        Err(error) => report.note("cores", &format!("the system does not say how many there are: {error}"))?,
    }
    match memory::available() {
        Some(available) => report.ok("memory", &format!("{} available", bytes(available))),
        None => report.note(
            "memory",
            "this system does not say how much is available, so nothing is checked",
        ),
    }
}

/// Looks at the data folder, and gives the engine that is set there.
fn database(report: &mut Report, data: &DataFolder) -> Result<Option<OtherEngine>, Failure> {
    let found = match check_data(data) {
        Ok(found) => found,
        Err(error) => {
            report.failure("data folder", &error.into())?;
            return Ok(None);
        }
    };
    report.ok("data folder", &data.root().display().to_string())?;
    let runs = count(found.runs as usize, "run");
    report.ok("database", &format!("sound, {runs}, {}", bytes(found.bytes)))?;
    if let Some(lease) = found.driven {
        report.note(
            "database",
            &format!("run {} is being worked on by process {}", lease.run, lease.process.pid),
        )?;
    }
    Ok(found.other_engine)
}

/// Looks at the models, and gives the one to load.
fn models(
    report: &mut Report,
    place: &Place,
    data: &DataFolder,
    wanted: Option<&str>,
) -> Result<Option<ModelFile>, Failure> {
    let library = match ModelLibrary::open(data.models()) {
        Ok(library) => library,
        Err(error) => {
            report.failure("models", &error.into())?;
            return Ok(None);
        }
    };
    let installed = library.list()?;
    for model in &installed {
        let Err(error) = &model.header else { continue };
        report.problem(
            model.id.as_str(),
            &error.to_string(),
            &place.next_command(&format!("models remove {}", model.id)),
        )?;
    }
    for model in installed.iter().filter(|model| model.header.is_ok()) {
        let (tone, fit) = fit_of(model).map_or((Tone::Note, "fit unknown".to_owned()), fit_in_words);
        let text = format!("{}, {}, {fit}", model.id, bytes(model.bytes));
        if tone == Tone::Good {
            report.ok("model", &text)?;
        } else {
            report.note("model", &text)?;
        }
    }
    let name = wanted
        .unwrap_or(library.catalog().default_entry().id.as_str())
        .to_owned();
    let status = StatusLine::new(report.screen);
    status.say(&format!("reading {name}"));
    let resolved = library.resolve(&name);
    status.clear();
    match resolved {
        Ok(model) => {
            report.ok(
                "hash",
                &format!("{} is the file it should be: SHA-256 {}", model.id, model.sha256),
            )?;
            Ok(Some(model))
        }
        Err(LibraryError::NotInstalled { id, bytes: size }) => {
            let text = format!("{id} is not on this machine ({})", bytes(size));
            report.problem("model", &text, &place.next_command(&format!("models fetch {id}")))?;
            Ok(None)
        }
        Err(error) => {
            report.failure("model", &error.into())?;
            Ok(None)
        }
    }
}

/// Says where prompts go, and asks the engine there.
fn other_engine(report: &mut Report, chosen: Option<OtherEngine>) -> Result<(), Failure> {
    let Some(chosen) = chosen else {
        return report.ok("other engine", engines::NONE);
    };
    match engines::connect(&chosen) {
        Ok(connected) => {
            report.note("other engine", &engines::summary(&connected))?;
            let remarks = connected.model.abilities().remarks();
            remarks
                .iter()
                .try_for_each(|remark| report.note("other engine", remark))
        }
        Err(failure) => report.failure("other engine", &failure),
    }
}

/// Starts a worker and loads the model in it.
fn engine(report: &mut Report, model: &ModelFile) -> Result<(), Failure> {
    let wanted = CONTEXT.min(model.header.context_length);
    let fit = memory::available().map(|available| fits(&model.header, wanted, available));
    if let Some(fit @ Fit::No { .. }) = fit {
        let remedy = "close other programs, or take a smaller model";
        return report.problem("engine", &format!("{} {}", model.id, fit_in_words(fit).1), remedy);
    }
    let load = LoadRequest {
        file: model.path.clone(),
        sha256: model.sha256.to_string(),
        context: Some(wanted),
        threads: None,
        ..LoadRequest::default()
    };
    let status = StatusLine::new(report.screen);
    status.say(&format!("loading {}", model.id));
    let start = Instant::now();
    let command = worker_command()?;
    let runtime = runtime()?;
    let loaded = runtime.block_on(async {
        let started = tokio::time::timeout(LOADING, WorkerModel::start(command, load)).await;
        if let Ok(Ok(model)) = &started {
            model.shutdown().await;
        }
        started.map(|started| started.map(|model| model.loaded()))
    });
    status.clear();
    match loaded {
        Ok(Ok(loaded)) => {
            let took = span(start.elapsed());
            let threads = count(loaded.threads as usize, "thread");
            let text = format!(
                "{} loads in {took}, {threads}, trained context {}",
                loaded.name, loaded.trained_context
            );
            report.ok("engine", &text)?;
            report.ok("engine", &placed_in_words(loaded.placed))?;
            devices(report, &loaded)
        }
        Ok(Err(error)) => report.problem(
            "engine",
            &error.to_string(),
            "verify the model with 'magis models verify'",
        ),
        Err(_) => report.problem(
            "engine",
            &format!("{} did not load within {}", model.id, span(LOADING)),
            "take a smaller model, or close other programs",
        ),
    }
}

/// Says where the weights lie and in which form, and what the context is stored as.
fn placed_in_words(placed: Placed) -> String {
    let mut parts = vec![match placed.loading {
        Loading::Mapped => "weights mapped from the file".to_owned(),
        Loading::Read => "weights copied in the processor's order".to_owned(),
    }];
    if placed.gpu_layers > 0 {
        parts.push(format!("{} on the device", count(placed.gpu_layers as usize, "layer")));
    }
    if placed.host_experts > 0 {
        let layers = count(placed.host_experts as usize, "layer");
        parts.push(format!("the experts of {layers} in main memory"));
    }
    let kv_type = match placed.kv_type {
        KvType::F16 => "f16",
        KvType::Q8 => "q8",
    };
    parts.push(format!("keys and values as {kv_type}"));
    if placed.heads {
        parts.push("its own heads draft".to_owned());
    }
    parts.join(", ")
}

/// Says what computes beside the processor, and which of the engine's libraries could not be loaded.
fn devices(report: &Report, loaded: &Loaded) -> Result<(), Failure> {
    for device in &loaded.devices {
        let text = format!(
            "{} ({}, {}): {} of {} free",
            device.description,
            device.name,
            device.library,
            bytes(device.free),
            bytes(device.total)
        );
        report.ok("device", &text)?;
    }
    for library in &loaded.unused_libraries {
        report.note("device", &format!("{} is not used: {}", library.file, library.reason))?;
    }
    for note in &loaded.notes {
        report.note("engine", note)?;
    }
    Ok(())
}

/// Tries whether tests can be run isolated. Where they cannot, Magis works without running any.
fn sandbox(report: &mut Report, data: &DataFolder) -> Result<(), Failure> {
    let helper = sandbox_helper()?;
    let mut scratch = ScratchFolder::create(data)?;
    let folder = scratch.path().to_owned();
    let mut job = SandboxJob::new(["true"], &folder);
    scratch.allow_change(&mut job, &folder, &folder)?;
    let isolation = runtime()?.block_on(Sandbox::probe(&helper, &job));
    match isolation {
        Ok(isolation) => report.ok("sandbox", &format!("tests run isolated: {isolation}")),
        Err(missing) => {
            report.note("sandbox", &format!("tests are not run: {missing}"))?;
            report.note("sandbox", &format!("to change that: {}", missing.remedy()))
        }
    }
}

fn repository(report: &mut Report, path: &Path) -> Result<(), Failure> {
    let state = match git()?.open(path).and_then(|repository| repository.state()) {
        Ok(state) => state,
        Err(error) => return report.failure("repository", &error.into()),
    };
    let head = match &state.head {
        HeadState::Branch { name } => format!("branch {name}"),
        HeadState::Detached { .. } => "detached HEAD".to_owned(),
    };
    let commit = state.commit.0.get(..10).unwrap_or(&state.commit.0);
    report.ok(
        "repository",
        &format!("{}, {head} at {commit}: {}", state.root.display(), state.subject),
    )?;
    let changes = state.cleanliness;
    if !changes.is_clean() {
        let text = format!(
            "uncommitted work: {} staged, {} changed, {} untracked; --include-uncommitted takes it into a run",
            changes.staged, changes.changed, changes.untracked
        );
        report.note("repository", &text)?;
    }
    for note in &state.notes {
        report.note("repository", note)?;
    }
    Ok(())
}
