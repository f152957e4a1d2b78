//! Text for people: pure functions from facts to lines. Nothing here reads, writes or asks.

mod calls;
mod diff;
mod list;
mod page;
mod paint;
mod run;
mod text;
mod time;
mod transcript;

pub use calls::{calls_table, totals_table};
pub use diff::shown_patch;
pub use list::{standing, table_of_runs};
pub use page::{Page, Table};
pub use paint::{Paint, Tone};
pub use run::{RunView, markdown, shown_run};
pub use text::{bytes, clean, count, one_line, span, thousands};
pub use time::{day_and_minute, local_time};
pub use transcript::{BaseText, Detail, Transcript, outcome_sentence};
