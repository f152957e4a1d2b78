//! A run told as text: while it happens and when it is looked at later, for a terminal and for a file.
//!
//! Pure functions from facts to lines; only [`FullRun`] and the files of a run's base are read from the data folder. What
//! the window draws is not told here.

mod diff;
mod full;
mod paint;
mod parts;
mod render;
mod section;
mod tested;
mod text;
mod time;
mod totals;

pub use diff::shown_patch;
pub use full::{FullRun, shown_run, standing};
pub use magis_core::text::{bytes, count, thousands, without_code_marks};
pub use paint::{Paint, Tone};
pub use render::{BaseText, Transcript, outcome_sentence};
pub use section::{Section, Table};
pub use text::{clean, escaped, one_line, span};
pub use time::{day_and_minute, local_time};
pub use totals::{seconds, totals_table};

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What a person follows while it happens.
    Live,
    Full,
}
