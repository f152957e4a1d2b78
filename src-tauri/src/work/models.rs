//! Models: what is here and what can be had, adding a file, checking one, choosing the default.

use crate::problem::Problem;
use crate::state::{App, AppEvent};
use crate::view::{MeasuredSpeed, ModelFit, ModelRow, Purpose, TriedAbilities};
use magis_engine::models::{CatalogEntry, Fit, InstalledModel, MemoryNeed, ModelId, Verification, fits};
use magis_engine::{EngineLimits, Magis};
use std::path::Path;

impl App {
    /// Returns all models: those that are here, then those of the catalogue that can be fetched.
    pub fn models(&self) -> Result<Vec<ModelRow>, Problem> {
        let magis = self.magis()?;
        let library = magis.library();
        let default = self.default_model()?;
        let quick = self.settings()?.quick_model;
        let limits = self.settings()?.limits();
        let here = library
            .list()?
            .into_iter()
            .map(|model| installed_row(&magis, &model, &limits));
        let others = library
            .not_installed()
            .into_iter()
            .map(|entry| entry_row(&magis, entry, &limits));
        let mut rows = here.chain(others).collect::<Result<Vec<_>, Problem>>()?;
        for row in &mut rows {
            let purposes = [(Purpose::Runs, Some(&default)), (Purpose::QuickRuns, quick.as_ref())];
            let its = purposes.into_iter().filter(|(_, model)| *model == Some(&row.id));
            row.default_for = its.map(|(purpose, _)| purpose).collect();
        }
        Ok(rows)
    }

    /// Deletes a model, or what was fetched of it so far.
    pub async fn remove_model(&self, id: &str) -> Result<(), Problem> {
        if self.driving().driven().is_empty() {
            self.driving().free(self).await;
        }
        let id = id.to_owned();
        self.work(move |app| {
            app.magis()?.library().remove(&ModelId::new(&id)?)?;
            app.notify(AppEvent::Models);
            Ok(())
        })
        .await
    }

    /// Takes a file into the library.
    pub fn add_model(&self, path: &Path) -> Result<ModelRow, Problem> {
        let added = self.magis()?.library().add(path)?;
        self.notify(AppEvent::Models);
        let rows = self.models()?;
        let row = rows.into_iter().find(|row| row.id == added.id.as_str());
        row.ok_or_else(|| {
            Problem::new(
                "model_missing",
                format!("the model {} was added and is not in the list", added.id),
                "Open Models again.",
            )
        })
    }

    /// Reads every byte of a model; says what is wrong with it, or nothing.
    pub fn verify_model(&self, id: &str) -> Result<Option<String>, Problem> {
        let verified = self.magis()?.library().verify(&ModelId::new(id)?)?;
        Ok(match verified {
            Verification::Intact { .. } | Verification::FirstSeen { .. } => None,
            Verification::Changed { expected, found } => Some(format!(
                "The file is not what it should be: its SHA-256 is {found}, and {expected} is right. Remove it and download it again."
            )),
        })
    }

    /// Takes this model where none is chosen, for one purpose.
    pub fn set_default_model(&self, id: &str, purpose: Purpose) -> Result<(), Problem> {
        let model = Some(ModelId::new(id)?.to_string());
        let mut settings = self.settings()?;
        match purpose {
            Purpose::Runs => settings.default_model = model,
            Purpose::QuickRuns => settings.quick_model = model,
        }
        self.put_settings(settings)?;
        self.notify(AppEvent::Models);
        Ok(())
    }
}

fn installed_row(magis: &Magis, model: &InstalledModel, limits: &EngineLimits) -> Result<ModelRow, Problem> {
    let available = limits.memory_now();
    let fetched = magis.library().fetched_as(model)?;
    let is_own = model.entry.is_none() && fetched.is_none();
    let origin = fetched.as_ref().and_then(|fetched| fetched.hub.as_ref());
    let sha256 = match (&model.entry, &model.header) {
        (Some(entry), _) => entry.file.sha256.to_string(),
        // The hash of a file that did not change since is remembered.
        (None, Ok(_)) => magis.library().named(model.id.as_str())?.sha256.to_string(),
        (None, Err(_)) => String::new(),
    };
    let mut row = match &model.entry {
        Some(entry) => entry_row(magis, entry, limits)?,
        None => ModelRow {
            id: model.id.to_string(),
            name: model.id.to_string(),
            licence: origin.and_then(|origin| origin.licence.clone()).unwrap_or_default(),
            bytes: model.bytes,
            sha256: sha256.clone(),
            good_for: String::new(),
            rated: String::new(),
            installed: true,
            own_file: true,
            broken: None,
            context_length: 0,
            need_bytes: 0,
            fits: ModelFit::No { need: 0, available },
            partial_bytes: 0,
            measured: measured(magis, &sha256)?,
            abilities: abilities(magis, &sha256)?,
            default_for: Vec::new(),
            from: origin.map_or_else(|| model.path.display().to_string(), |origin| origin.name().to_string()),
        },
    };
    row.installed = true;
    row.own_file = is_own;
    row.bytes = model.bytes;
    match &model.header {
        Ok(header) => {
            let wanted = limits.context_wanted(header.context_length);
            row.context_length = header.context_length;
            row.need_bytes = MemoryNeed::of(header, wanted).bytes();
            row.fits = fits(header, wanted, available).into();
        }
        Err(error) => row.broken = Some(Problem::new("model", error.to_string(), "").message),
    }
    Ok(row)
}

fn entry_row(magis: &Magis, entry: &CatalogEntry, limits: &EngineLimits) -> Result<ModelRow, Problem> {
    let wanted = limits.context_wanted(entry.context);
    let sha256 = entry.file.sha256.to_string();
    let fit: Fit = entry.fits(wanted, limits.memory_now());
    Ok(ModelRow {
        id: entry.id.to_string(),
        name: entry.name.clone(),
        licence: entry.licence.clone(),
        bytes: entry.file.bytes,
        measured: measured(magis, &sha256)?,
        abilities: abilities(magis, &sha256)?,
        sha256,
        good_for: entry.good_for.clone(),
        rated: entry.measured.clone(),
        installed: false,
        own_file: false,
        broken: None,
        context_length: entry.context,
        need_bytes: MemoryNeed::of_entry(entry, wanted).bytes(),
        fits: fit.into(),
        partial_bytes: magis.library().partial_bytes(entry),
        default_for: Vec::new(),
        from: entry.file.url.clone(),
    })
}

fn abilities(magis: &Magis, sha256: &str) -> Result<Option<TriedAbilities>, Problem> {
    Ok(magis.abilities(sha256)?.map(Into::into))
}

fn measured(magis: &Magis, sha256: &str) -> Result<Option<MeasuredSpeed>, Problem> {
    Ok(magis.speed_of(sha256)?.map(Into::into))
}
