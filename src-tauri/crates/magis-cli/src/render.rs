//! Text for people, where it is of a terminal alone; a run itself is told by `magis_engine::transcript`. Nothing here reads,
//! writes or asks.

mod calls;
mod list;

pub use calls::calls_table;
pub use list::table_of_runs;
pub use magis_engine::transcript::{
    Detail, Paint, Section, Table, Tone, Transcript, bytes, clean, count, day_and_minute, escaped, local_time,
    one_line, outcome_sentence, seconds, shown_patch, shown_run, span, standing, thousands,
};
