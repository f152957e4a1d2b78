//! `magis engine`: another engine than our own, which a person names; and what the other commands ask of it.

use super::{Place, runtime};
use crate::args::EngineCommand;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::render::{clean, thousands};
use crate::screen::tell;
use magis_engine::model::{EngineAddress, EngineKey, LanguageModel as _};
use magis_engine::{ConnectedEngine, EngineError, Magis, OtherEngine};
use std::io::{IsTerminal as _, Read as _};

/// Said where prompts stay on this machine.
pub const NONE: &str = "none: prompts stay on this machine";

/// Runs `magis engine`.
pub fn run(place: &Place, command: &EngineCommand) -> Result<ExitStatus, Failure> {
    match command {
        EngineCommand::Show => show(place)?,
        EngineCommand::Use => {
            let mut engine = named(place)?;
            let connected = connect(&engine)?;
            engine.model = Some(connected.model.card().name.clone());
            place.open()?.put_other_engine(Some(&engine))?;
            describe(place, &connected)?;
            place
                .screen
                .line("New runs use it from now on; 'magis engine off' ends that.")?;
        }
        EngineCommand::Off => {
            place.open()?.put_other_engine(None)?;
            place.screen.line("Prompts stay on this machine.")?;
        }
        EngineCommand::Key => {
            let address = address(&named(place)?)?;
            read_key()?.keep(&address).map_err(EngineError::from)?;
            place.screen.line("The key is in the system's keyring.")?;
        }
        EngineCommand::ForgetKey => {
            EngineKey::forget(&address(&named(place)?)?).map_err(EngineError::from)?;
            place.screen.line("The system's keyring has no key of it any more.")?;
        }
    }
    Ok(ExitStatus::Success)
}

/// Connects to an engine.
pub fn connect(engine: &OtherEngine) -> Result<ConnectedEngine, Failure> {
    Ok(runtime()?.block_on(engine.connect())?)
}

/// Returns the model that new runs use where none is named, and what a person should know of it; none where it is our own usual one.
pub fn usual_model(magis: &Magis) -> Result<Option<(String, Vec<String>)>, Failure> {
    let Some(engine) = magis.other_engine()? else {
        return Ok(None);
    };
    let connected = connect(&engine)?;
    Ok(Some((connected.name(), connected.notes())))
}

/// Returns what an engine is, in a line.
pub fn summary(connected: &ConnectedEngine) -> String {
    let card = connected.model.card();
    format!(
        "{}, {}, model {}, context {}",
        connected.notes()[0],
        connected.model.abilities().kind,
        card.name,
        thousands(u64::from(card.context))
    )
}

fn show(place: &Place) -> Result<(), Failure> {
    match place.open()?.other_engine()? {
        None => place.screen.line(NONE),
        Some(engine) => describe(place, &connect(&engine)?),
    }
}

fn describe(place: &Place, connected: &ConnectedEngine) -> Result<(), Failure> {
    place.screen.line(&clean(&summary(connected)))?;
    for remark in connected.model.abilities().remarks() {
        place.screen.line(&format!("  {remark}"))?;
    }
    Ok(())
}

fn named(place: &Place) -> Result<OtherEngine, Failure> {
    place
        .named_engine()
        .ok_or_else(|| Failure::error("no engine is named", "name it with --engine URL"))
}

fn address(engine: &OtherEngine) -> Result<EngineAddress, Failure> {
    let parsed = engine.address.parse::<EngineAddress>();
    Ok(parsed.map_err(EngineError::from)?)
}

/// Reads a key from standard input, never from the arguments, which other programs can see.
fn read_key() -> Result<EngineKey, Failure> {
    if std::io::stdin().is_terminal() {
        tell("Paste the key, press Enter, then Ctrl-D.");
    }
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| Failure::error(format!("cannot read the key: {error}"), ""))?;
    Ok(EngineKey::new(&text).map_err(EngineError::from)?)
}
