//! A run told as text: while it happens and when it is looked at later, for a terminal and for a file.
//!
//! Pure functions from facts to lines; only [`WholeRun`] and the files of a run's base are read from the data folder. What
//! the window draws is not told here.

mod diff;
mod page;
mod paint;
mod telling;
mod text;
mod time;
mod totals;
mod whole;

pub use diff::shown_patch;
pub use magis_core::text::{bytes, count, thousands, without_code_marks};
pub use page::{Page, Table};
pub use paint::{Paint, Tone};
pub use telling::{BaseText, Detail, Transcript, outcome_sentence};
pub use text::{clean, one_line, span};
pub use time::{day_and_minute, local_time};
pub use totals::{seconds, totals_table};
pub use whole::{WholeRun, shown_run, standing};
