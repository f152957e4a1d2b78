//! When files are described in advance, and when not: decided from the circumstances alone.
//!
//! Pure: it knows no clock and no model.

use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// What describing files in advance may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SummarisationBudget {
    /// Tokens worked through; none: as many as it takes.
    pub tokens: Option<u64>,
    /// Minutes in which the model is at work; none: as many as it takes.
    pub minutes: Option<u32>,
}

/// Why nothing is described now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IdleReason {
    /// Nobody wants it any more.
    Off,
    /// A run is under way, or its model is loaded still.
    RunUnderWay,
    /// The budget of tokens is spent, or would be by the next file.
    TokensSpent,
    /// The budget of minutes is spent.
    MinutesSpent,
    /// The repository has just changed.
    JustChanged,
    /// Every file that could be described is.
    NothingLeft,
    /// It could not be done; it is tried again.
    Failed,
}

impl fmt::Display for IdleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "switched off",
            Self::RunUnderWay => "a run is under way",
            Self::TokensSpent => "the budget of tokens is spent",
            Self::MinutesSpent => "the budget of minutes is spent",
            Self::JustChanged => "the repository has just changed",
            Self::NothingLeft => "every file that could be described is",
            Self::Failed => "it could not be done",
        })
    }
}

/// Whether a person wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Go,
    /// Not while somebody else needs the machine, whom the store does not know of.
    Yield,
}

/// Whether somebody else needs the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runs {
    None,
    UnderWay,
}

/// What was spent of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SummarisationSpent {
    pub tokens: u64,
    pub time: Duration,
}

/// All that decides whether the background summarisation works or waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Circumstances {
    pub order: Order,
    pub runs: Runs,
    /// Since when the repository has been quiet.
    pub quiet: Duration,
    /// How long it has to be.
    pub idle: Duration,
    pub budget: SummarisationBudget,
    pub spent: SummarisationSpent,
}

/// Returns why nothing may begin now; none where it may.
pub(crate) fn idle_reason(now: &Circumstances) -> Option<IdleReason> {
    interruption(now).or_else(|| {
        let spent = now.budget.tokens.is_some_and(|most| now.spent.tokens >= most);
        if spent {
            Some(IdleReason::TokensSpent)
        } else if now.quiet < now.idle {
            Some(IdleReason::JustChanged)
        } else {
            None
        }
    })
}

/// Returns why what has begun ends at once; none where it may go on.
pub(crate) fn interruption(now: &Circumstances) -> Option<IdleReason> {
    let late = |minutes: u32| now.spent.time >= Duration::from_secs(60 * u64::from(minutes));
    match (now.order, now.runs) {
        (Order::Yield, _) | (Order::Go, Runs::UnderWay) => Some(IdleReason::RunUnderWay),
        (Order::Go, Runs::None) => now.budget.minutes.is_some_and(late).then_some(IdleReason::MinutesSpent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: Circumstances = Circumstances {
        order: Order::Go,
        runs: Runs::None,
        quiet: Duration::from_mins(1),
        idle: Duration::from_secs(10),
        budget: SummarisationBudget {
            tokens: Some(1_000),
            minutes: Some(1),
        },
        spent: SummarisationSpent {
            tokens: 0,
            time: Duration::ZERO,
        },
    };

    #[test]
    fn it_begins_only_where_nobody_needs_the_machine_and_something_is_left_of_the_budget() {
        let spent = |tokens, seconds| SummarisationSpent {
            tokens,
            time: Duration::from_secs(seconds),
        };
        let check = |now: Circumstances, begins: Option<IdleReason>, goes_on: Option<IdleReason>| {
            assert_eq!((idle_reason(&now), interruption(&now)), (begins, goes_on), "{now:?}");
        };
        check(FREE, None, None);
        let run = Circumstances {
            runs: Runs::UnderWay,
            ..FREE
        };
        check(run, Some(IdleReason::RunUnderWay), Some(IdleReason::RunUnderWay));
        let yielding = Circumstances {
            order: Order::Yield,
            ..FREE
        };
        check(yielding, Some(IdleReason::RunUnderWay), Some(IdleReason::RunUnderWay));
        let busy = Circumstances {
            quiet: Duration::from_secs(3),
            ..FREE
        };
        check(busy, Some(IdleReason::JustChanged), None);
        let tokens = Circumstances {
            spent: spent(1_000, 0),
            ..FREE
        };
        check(tokens, Some(IdleReason::TokensSpent), None);
        let minutes = Circumstances {
            spent: spent(10, 60),
            ..FREE
        };
        check(minutes, Some(IdleReason::MinutesSpent), Some(IdleReason::MinutesSpent));
        let unbounded = Circumstances {
            spent: spent(1_000_000, 100_000),
            budget: SummarisationBudget::default(),
            ..FREE
        };
        check(unbounded, None, None);
    }
}
