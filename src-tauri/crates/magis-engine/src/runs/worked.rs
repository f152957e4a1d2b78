//! How long a run was worked on: the sum of its calls and of the code it ran, and what is under way.
//!
//! Pauses and the time before a resumption do not count, so a run that is taken up again goes on where it was. It reads
//! no clock; the time is passed in.

use crate::Progress;
use std::time::{Duration, Instant};

/// The time that was spent on calls of the model and on running code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worked {
    /// What the recorded calls and the code took.
    recorded: Duration,
    /// When the call or the code under way began.
    since: Option<Instant>,
}

impl Worked {
    /// Goes on from what the run's recorded calls and its code took.
    pub fn after(recorded: Duration) -> Self {
        Self { recorded, since: None }
    }

    /// Takes notice of a beginning or an end. A reply from the run's own record was counted when it was made.
    pub fn note(&mut self, progress: &Progress, now: Instant) {
        match progress {
            Progress::CallStarted { .. } | Progress::CodeStarted { .. } => self.since = Some(now),
            Progress::CodeEnded => {
                self.recorded = self.until(now);
                self.since = None;
            }
            Progress::CallEnded {
                prompt_ms,
                generate_ms,
                recorded,
                ..
            } => {
                self.since = None;
                if !recorded {
                    self.recorded += Duration::from_millis(prompt_ms + generate_ms);
                }
            }
            Progress::Event { .. } | Progress::Indexing { .. } | Progress::Text { .. } => {}
        }
    }

    /// Returns the time up to `now`.
    pub fn until(&self, now: Instant) -> Duration {
        let under_way = self.since.map(|since| now.saturating_duration_since(since));
        self.recorded + under_way.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use magis_core::{Agent, RunningCode, Stage};

    const SECOND: Duration = Duration::from_secs(1);

    fn started() -> Progress {
        Progress::CallStarted {
            stage: Stage::Team,
            agent: Agent::Manager,
            step: "P4",
            task: None,
            path: None,
        }
    }

    fn ended(recorded: bool) -> Progress {
        Progress::CallEnded {
            prompt_tokens: 10,
            reused_tokens: 0,
            generated_tokens: 5,
            prompt_ms: 2_000,
            generate_ms: 1_000,
            recorded,
        }
    }

    #[test]
    fn a_run_that_is_taken_up_again_goes_on_where_it_was() {
        let begun = Instant::now();
        let mut worked = Worked::after(60 * SECOND);
        assert_eq!(worked.until(begun + SECOND), 60 * SECOND, "no call, no time");
        worked.note(&started(), begun + SECOND);
        assert_eq!(worked.until(begun + 3 * SECOND), 62 * SECOND);
        worked.note(&ended(false), begun + 4 * SECOND);
        assert_eq!(worked.until(begun + 9 * SECOND), 63 * SECOND);
    }

    #[test]
    fn code_counts_while_it_runs() {
        let begun = Instant::now();
        let mut worked = Worked::after(Duration::ZERO);
        let started = Progress::CodeStarted {
            code: RunningCode::Check,
            changed: false,
            task: None,
        };
        worked.note(&started, begun);
        assert_eq!(worked.until(begun + 2 * SECOND), 2 * SECOND);
        worked.note(&Progress::CodeEnded, begun + 3 * SECOND);
        assert_eq!(worked.until(begun + 9 * SECOND), 3 * SECOND);
    }

    #[test]
    fn a_reply_on_record_counts_once() {
        let begun = Instant::now();
        let mut worked = Worked::after(3 * SECOND);
        worked.note(&started(), begun);
        worked.note(&ended(true), begun);
        assert_eq!(worked.until(begun), 3 * SECOND);
    }
}
