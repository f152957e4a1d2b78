//! Another engine than our own: naming it, looking what is there, using it, and its key in the system's keyring.
//!
//! Prompts go there only while it is used. What each run shows of that is the run's own record.

use crate::problem::Problem;
use crate::state::{App, AppEvent, Halt};
use crate::view::{EngineCheck, EngineForm, EngineSetting, UsedEngine};
use magis_core::model_host;
use magis_engine::model::{EngineAddress, EngineKey};
use magis_engine::{EngineError, OtherEngine};

/// The key under which the engine that was named last is kept, whether it is used or not.
const LAST_NAMED: &str = "window/other_engine";

impl App {
    /// Returns where prompts go.
    pub fn other_engine(&self) -> Result<EngineSetting, Problem> {
        let magis = self.magis()?;
        let engine = magis.other_engine()?;
        let used = engine.as_ref().map(UsedEngine::of).transpose()?.flatten();
        let form: EngineForm = match engine {
            Some(engine) => engine.into(),
            None => magis.setting(LAST_NAMED)?.unwrap_or_default(),
        };
        Ok(EngineSetting { form, used })
    }

    /// Connects to another engine and says what is there. It is named from now on, and not used yet.
    pub async fn check_engine(&self, form: EngineForm) -> Result<EngineCheck, Problem> {
        let mut engine = OtherEngine::from(form.clone());
        self.work(move |app| Ok(app.magis()?.put_setting(LAST_NAMED, &form)?))
            .await?;
        let models = engine.models().await.map_err(without_run)?;
        if engine.model.is_none() {
            engine.model = models.first().map(|model| model.name().to_owned());
        }
        let connected = engine.connect().await.map_err(without_run)?;
        Ok(EngineCheck::new(&connected, &models))
    }

    /// Sends the prompts of new runs to another engine, once it answers.
    pub async fn use_other_engine(&self, form: EngineForm) -> Result<EngineCheck, Problem> {
        let check = self.check_engine(form.clone()).await?;
        let engine = OtherEngine {
            model: Some(check.model.clone()),
            ..form.into()
        };
        self.put_other_engine(Some(engine)).await?;
        Ok(check)
    }

    /// Sends prompts nowhere any more. A run that is worked on elsewhere is stopped, and can be resumed.
    pub async fn leave_other_engine(&self) -> Result<(), Problem> {
        self.put_other_engine(None).await
    }

    async fn put_other_engine(&self, engine: Option<OtherEngine>) -> Result<(), Problem> {
        let host = engine.as_ref().map(OtherEngine::host).transpose()?;
        self.work(move |app| {
            let magis = app.magis()?;
            if let Some(before) = magis.other_engine()? {
                magis.put_setting(LAST_NAMED, &EngineForm::from(before))?;
            }
            magis.put_other_engine(engine.as_ref())?;
            for run in app.driving().driven() {
                let model = magis.run(run)?.request.model;
                if model_host(&model).is_some_and(|at| Some(at) != host.as_deref()) {
                    app.driving().halt(app, run, Halt::Stop)?;
                }
            }
            Ok(())
        })
        .await?;
        if self.driving().driven().is_empty() {
            // A model that is loaded there is asked nothing more.
            self.driving().free(self).await;
        }
        self.notify(AppEvent::Settings);
        Ok(())
    }
}

/// Checks that the system has a keyring.
pub fn check_keyring() -> Result<(), Problem> {
    Ok(EngineKey::check_keyring().map_err(EngineError::from)?)
}

/// Keeps the key of the engine at an address in the system's keyring.
pub fn keep_engine_key(address: &str, key: &str) -> Result<(), Problem> {
    let address = read(address)?;
    let key = EngineKey::new(key).map_err(EngineError::from)?;
    Ok(key.keep(&address).map_err(EngineError::from)?)
}

/// Removes the key of the engine at an address from the system's keyring.
pub fn forget_engine_key(address: &str) -> Result<(), Problem> {
    Ok(EngineKey::forget(&read(address)?).map_err(EngineError::from)?)
}

/// Tells what is wrong with an engine where no run is to be resumed: it is said with what can be done.
fn without_run(error: EngineError) -> Problem {
    Problem {
        remedy: None,
        ..error.into()
    }
}

fn read(address: &str) -> Result<EngineAddress, EngineError> {
    Ok(address.parse::<EngineAddress>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_refused_before_a_keyring_is_asked() {
        let refused = |address, key| keep_engine_key(address, key).unwrap_err().code;
        assert_eq!(refused("https://8.8.8.8", "secret"), "engine_public");
        assert_eq!(refused("gpu", "secret"), "engine_address");
        assert_eq!(refused("http://gpu:8000", "two words"), "engine_key");
    }
}
