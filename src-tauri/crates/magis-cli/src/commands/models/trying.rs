//! `magis models try`: what a model can do, tried with a dozen questions, and how that is said.

use crate::args::EngineArgs;
use crate::commands::{Place, runtime};
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::status::StatusLine;
use magis_engine::models::{InstalledModel, ModelLibrary};
use magis_engine::{Magis, ModelAbilities, RightAnswers};

/// Runs `magis models try`.
pub fn run(place: &Place, model: &str, engine: EngineArgs, as_json: bool) -> Result<ExitStatus, Failure> {
    let magis = place.open()?;
    let name = magis.model_name(model)?;
    let screen = place.screen;
    let status = StatusLine::new(screen);
    status.say("loading the model");
    let abilities = runtime()?.block_on(async {
        let loaded = magis.load(&name, &engine.limits()).await?;
        let tried = magis
            .try_abilities(&*loaded.model, &mut |done, all| {
                status.say(&format!("trying what it can do, {done} of {all}"));
            })
            .await;
        loaded.shutdown().await;
        tried
    });
    status.clear();
    let abilities = abilities?;
    if as_json {
        screen.json(&serde_json::json!(abilities))?;
    } else {
        screen.line(&format!("{name}: {}", in_words(&abilities)))?;
    }
    Ok(ExitStatus::Success)
}

/// Returns what an installed model could do when it was tried; none where that is not known.
pub fn known(magis: &Magis, library: &ModelLibrary, model: &InstalledModel) -> Option<ModelAbilities> {
    let of_entry = || model.entry.as_ref().map(|entry| entry.file.sha256);
    let sha256 = library.known_hash(&model.path).or_else(of_entry)?;
    magis.abilities(&sha256.to_string()).ok()?
}

/// Returns what a model could do, in one line.
pub fn in_words(abilities: &ModelAbilities) -> String {
    let of = |right: RightAnswers| format!("{} of {}", right.right, right.asked);
    let tools = match abilities.tools {
        Some(right) => format!("calls tools {}", of(right)),
        None => "has no form for tools".to_owned(),
    };
    format!(
        "tried here: follows a form {}, names the function {}, {tools}; reads {:.0} and writes {:.1} tokens/s",
        of(abilities.form),
        of(abilities.naming),
        abilities.reading,
        abilities.writing
    )
}
