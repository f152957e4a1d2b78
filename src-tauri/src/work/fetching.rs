//! Fetching models: those of the catalogue, and those of the hub by their names there; and what the hub offers.
//!
//! The hub is asked when a person names a repository, and for nothing else.

use crate::problem::Problem;
use crate::state::{App, AppEvent};
use crate::view::{FetchNews, HubListingView};
use magis_engine::Magis;
use magis_engine::models::{
    FetchError, FetchOptions, FetchPhase, FetchProgress, FetchSource, Hub, HubError, HubListing, HubName, ModelFile,
    ModelId,
};
use magis_platform::memory;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// How often the progress of a download is told.
const BEAT: Duration = Duration::from_millis(200);

/// A model that is to be fetched.
enum Wanted {
    OfCatalog(ModelId),
    OfHub(Hub, HubName),
}

impl App {
    /// Asks the hub which models a repository has, by its name there as a person pastes it. Of a file that is named that one alone.
    pub fn hub_models(&self, name: &str) -> Result<HubListingView, Problem> {
        let (magis, hub) = (self.magis()?, self.hub()?);
        let name = hub.read_name(name).map_err(HubError::from)?;
        let listing = hub.list(&name.repo)?;
        if let Some(file) = &name.file {
            listing.find(Some(file))?;
        }
        let here = magis.library().hub_bytes_here(&hub, &listing)?;
        let limits = self.settings()?.limits();
        let available = memory::available().map(|_| limits.memory_now());
        let view = HubListingView::new(&listing, name.file.as_ref(), &here, available);
        self.hub_listings().insert(listing.repo.to_string(), listing);
        Ok(view)
    }

    /// Returns the hub that is asked for models by their names.
    pub fn hub(&self) -> Result<Hub, Problem> {
        match &self.launch().hub {
            Some(hub) => Ok(hub.clone()),
            None => Ok(Hub::from_environment()?),
        }
    }

    /// Returns what a repository of the hub offers, as it was shown, else as the hub says now.
    fn hub_listing(&self, hub: &Hub, name: &HubName) -> Result<HubListing, HubError> {
        let shown = self.hub_listings().get(name.repo.as_str()).cloned();
        shown.map_or_else(|| hub.list(&name.repo), Ok)
    }

    /// Fetches a model of the catalogue by its id, or one of the hub by its name there, and tells `sink` how far it is until it is
    /// over. Returns at once.
    pub fn fetch_model(&self, id: &str, sink: impl Fn(FetchNews) -> bool + Send + 'static) -> Result<(), Problem> {
        let magis = self.magis()?;
        let wanted = self.wanted(&magis, id)?;
        let stop = Arc::new(AtomicBool::new(false));
        {
            let mut fetches = self.fetches();
            if fetches.contains_key(id) {
                return Err(Problem::new(
                    "busy",
                    format!("the model {id} is being downloaded already"),
                    "Wait for it, or pause it.",
                ));
            }
            fetches.insert(id.to_owned(), Arc::clone(&stop));
        }
        let (app, id) = (self.clone(), id.to_owned());
        std::thread::spawn(move || {
            let end = app.carry_out(&magis, &wanted, &stop, &sink);
            app.fetches().remove(&id);
            sink(end);
            app.notify(AppEvent::Models);
        });
        Ok(())
    }

    /// Returns what is fetched by this id.
    fn wanted(&self, magis: &Magis, id: &str) -> Result<Wanted, Problem> {
        if HubName::is_meant(id) {
            let name: HubName = id.parse().map_err(HubError::from)?;
            return Ok(Wanted::OfHub(self.hub()?, name));
        }
        let id = ModelId::new(id)?;
        if magis.library().catalog().get(&id).is_none() {
            return Err(Problem::new(
                "model_missing",
                format!("the catalogue has no model called {id}"),
                "Choose one of the list, or add a file of your own.",
            ));
        }
        Ok(Wanted::OfCatalog(id))
    }

    fn carry_out(
        &self,
        magis: &Magis,
        wanted: &Wanted,
        stop: &AtomicBool,
        sink: &dyn Fn(FetchNews) -> bool,
    ) -> FetchNews {
        let options = FetchOptions::new(FetchSource::Auto, SystemTime::now());
        let mut meter = Meter::default();
        let mut tell = |progress: FetchProgress| {
            if let Some(news) = meter.news(&progress) {
                // A window that was closed listens no more; the download goes on.
                sink(news);
            }
        };
        match self.fetch(magis, wanted, &options, &mut tell, stop) {
            Ok(_) => FetchNews::Done,
            Err(FetchError::Cancelled { done, .. }) => FetchNews::Stopped { received: done },
            Err(error) => FetchNews::Problem { problem: error.into() },
        }
    }

    fn fetch(
        &self,
        magis: &Magis,
        wanted: &Wanted,
        options: &FetchOptions,
        tell: &mut dyn FnMut(FetchProgress),
        stop: &AtomicBool,
    ) -> Result<ModelFile, FetchError> {
        let library = magis.library();
        match wanted {
            Wanted::OfCatalog(id) => library.fetch(id, options, tell, stop),
            Wanted::OfHub(hub, name) => {
                let listing = self.hub_listing(hub, name)?;
                library.fetch_from_hub(hub, &listing, name.file.as_ref(), options, tell, stop)
            }
        }
    }

    /// Pauses a download; what arrived is kept.
    pub fn pause_fetch(&self, id: &str) {
        if let Some(stop) = self.fetches().get(id) {
            stop.store(true, Ordering::Relaxed);
        }
    }

    /// Pauses every download that is running.
    pub fn pause_fetches(&self) {
        for stop in self.fetches().values() {
            stop.store(true, Ordering::Relaxed);
        }
    }
}

/// How fast bytes arrive.
#[derive(Default)]
struct Meter {
    told: Option<Instant>,
    is_checking: bool,
    /// When and with how many bytes the present stretch began.
    stretch: Option<(Instant, u64)>,
    speed: f64,
}

impl Meter {
    fn news(&mut self, progress: &FetchProgress) -> Option<FetchNews> {
        if progress.phase == FetchPhase::Checking {
            return (!std::mem::replace(&mut self.is_checking, true)).then_some(FetchNews::Checking);
        }
        // A model in several files goes on with the next one.
        self.is_checking = false;
        let now = Instant::now();
        if self.told.is_some_and(|told| now - told < BEAT) {
            return None;
        }
        self.told = Some(now);
        let (since, bytes) = *self.stretch.get_or_insert((now, progress.bytes_done));
        let seconds = (now - since).as_secs_f64();
        if seconds >= 1.0 {
            self.speed = progress.bytes_done.saturating_sub(bytes) as f64 / seconds;
            self.stretch = Some((now, progress.bytes_done));
        }
        Some(FetchNews::Progress {
            received: progress.bytes_done,
            total: progress.bytes_total,
            bytes_per_second: self.speed,
        })
    }
}
