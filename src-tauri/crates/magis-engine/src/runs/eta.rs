//! How long a run still takes, about: from runs that ended here, else from how the stages usually share the time.
//!
//! It reads no clock; what was spent is passed in.

use crate::{EngineError, Magis};
use magis_core::{RunEvent, RunId, Stage};
use magis_store::{RunFilter, StoredEvent, StoredStatus};
use std::time::Duration;

/// How many ended runs say how long a run takes.
const EARLIER_RUNS: usize = 5;
/// The number of the last runs that ended among which it looks.
const LOOKED_AT: u32 = 50;
/// How the stages share a run's time where no run ended here yet.
const SHARES: [f64; STAGES] = [0.0, 0.25, 0.1, 0.15, 0.05, 0.43, 0.02];
/// How many stages there are.
const STAGES: usize = Stage::ALL.len();

/// Seconds by stage, in the order of [`Stage::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StageTimes([f64; STAGES]);

/// What a run usually takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Eta {
    /// As runs that ended here did.
    Usual(StageTimes),
    /// Nobody knows; only how the stages share it.
    Unknown,
}

impl StageTimes {
    /// Returns what a log says: the time before each event belongs to its stage. Pauses do not count.
    pub fn of(events: &[StoredEvent]) -> Self {
        let mut spent = Self::default();
        for pair in events.windows(2) {
            if !matches!(pair[1].event, RunEvent::Resumed) {
                let ms = pair[1].at_ms.saturating_sub(pair[0].at_ms).max(0);
                spent.0[pair[1].stage as usize] += ms as f64 / 1000.0;
            }
        }
        spent
    }

    /// Adds time spent on a stage.
    pub fn add(&mut self, stage: Stage, time: Duration) {
        self.0[stage as usize] += time.as_secs_f64();
    }
}

impl Magis {
    /// Returns what the last runs that ended here took, with the model of this run; of those with all their stages.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn eta(&self, run: RunId) -> Result<Eta, EngineError> {
        let model = self.store.run(run)?.entry.model;
        let ended = RunFilter {
            status: Some(StoredStatus::Ended),
            limit: LOOKED_AT,
            ..RunFilter::default()
        };
        let alike = self.store.runs(&ended)?.into_iter();
        let alike = alike.filter(|entry| entry.model == model && entry.parent.is_none() && entry.size.files > 0);
        let mut logs = Vec::new();
        for entry in alike.take(EARLIER_RUNS) {
            logs.push(StageTimes::of(&self.store.events(entry.id)?));
        }
        Ok(Eta::of(&logs))
    }
}

impl Eta {
    /// Returns the average of runs that ended.
    pub fn of(logs: &[StageTimes]) -> Self {
        if logs.is_empty() {
            return Self::Unknown;
        }
        let mut usual = StageTimes::default();
        for (stage, seconds) in usual.0.iter_mut().enumerate() {
            *seconds = logs.iter().map(|log| log.0[stage]).sum::<f64>() / logs.len() as f64;
        }
        Self::Usual(usual)
    }

    /// Returns how long it still takes, at `stage`, of whose work `done` (0 to 1) is known to be done. None while
    /// nothing can be said.
    pub fn remaining(&self, spent: &StageTimes, stage: Stage, done: f64) -> Option<Duration> {
        let at = stage as usize;
        let before: f64 = spent.0[..at].iter().sum();
        let (usual, speed) = match self {
            Self::Usual(usual) => {
                let expected: f64 = usual.0[..at].iter().sum();
                let speed = if expected > 1.0 {
                    (before / expected).clamp(0.3, 5.0)
                } else {
                    1.0
                };
                (usual.0, speed)
            }
            Self::Unknown => {
                let share: f64 = SHARES[..at].iter().sum();
                if share <= 0.0 || before <= 0.0 {
                    return None;
                }
                (SHARES, before / share)
            }
        };
        let here = spent.0[at];
        let current = if done > 0.05 {
            here / done - here
        } else {
            // A stage that takes longer than usual is still not over.
            (usual[at] * speed - here).max(usual[at] * speed * 0.1)
        };
        let later: f64 = usual[at + 1..].iter().map(|seconds| seconds * speed).sum();
        Some(Duration::from_secs_f64((current + later).max(1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(eta: Eta, spent: [f64; STAGES], stage: Stage, done: f64, expected: Option<u64>) {
        let left = eta.remaining(&StageTimes(spent), stage, done);
        assert_eq!(left.map(|left| left.as_secs_f64().round() as u64), expected);
    }

    #[test]
    fn runs_that_ended_here_say_how_long_it_takes() {
        let usual = Eta::of(&[
            StageTimes([0.0, 10.0, 10.0, 20.0, 0.0, 60.0, 0.0]),
            StageTimes([0.0, 30.0, 10.0, 20.0, 0.0, 40.0, 0.0]),
        ]);
        check(usual, [0.0; STAGES], Stage::Locate, 0.0, Some(100));
        // Half as fast as usual so far.
        check(usual, [0.0, 40.0, 0.0, 0.0, 0.0, 0.0, 0.0], Stage::Team, 0.0, Some(160));
    }

    #[test]
    fn without_any_the_shares_of_the_stages_do_once_one_is_over() {
        check(
            Eta::Unknown,
            [0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            Stage::Locate,
            0.0,
            None,
        );
        check(
            Eta::Unknown,
            [0.0, 25.0, 10.0, 15.0, 5.0, 0.0, 0.0],
            Stage::Code,
            0.0,
            Some(45),
        );
    }

    #[test]
    fn tasks_that_are_closed_say_how_much_of_the_code_is_done() {
        check(
            Eta::Unknown,
            [0.0, 25.0, 10.0, 15.0, 5.0, 30.0, 0.0],
            Stage::Code,
            0.5,
            Some(32),
        );
    }
}
