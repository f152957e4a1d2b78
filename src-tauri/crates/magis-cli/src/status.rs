//! The one line at the bottom of a terminal that says what is going on, and whether there is one.

use crate::failure::Failure;
use crate::render::clean;
use crate::screen::Screen;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// How often the sign of life turns.
const TURN: Duration = Duration::from_millis(120);

/// A status line, or none where standard output is no terminal.
pub struct StatusLine {
    screen: Screen,
    bar: Option<ProgressBar>,
}

impl StatusLine {
    /// Creates a status line for a run.
    pub fn new(screen: Screen) -> Self {
        let bar = screen.has_status_line().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(TURN);
            bar
        });
        Self { screen, bar }
    }

    /// No line at all, wherever the output goes.
    pub fn none(screen: Screen) -> Self {
        Self { screen, bar: None }
    }

    /// Returns a bar of bytes, drawn on a terminal only.
    pub fn of_bytes(screen: Screen, total: u64) -> Self {
        let bar = screen.has_status_line().then(|| {
            let bar = ProgressBar::new(total);
            let style = "{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, about {eta} left  {msg}";
            if let Ok(style) = ProgressStyle::with_template(style) {
                bar.set_style(style);
            }
            bar
        });
        Self { screen, bar }
    }

    /// Returns whether anybody sees it.
    pub fn is_shown(&self) -> bool {
        self.bar.is_some()
    }

    /// Changes what it says.
    pub fn say(&self, message: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(clean(message).into_owned());
        }
    }

    /// Moves the bar to the bytes that have arrived.
    pub fn reached(&self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(bytes);
        }
    }

    /// Begins to measure speed from `bytes`, which were there before.
    pub fn start_at(&self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(bytes);
            bar.reset_eta();
        }
    }

    /// Writes text above it.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        match &self.bar {
            Some(bar) => bar.suspend(|| self.screen.write(text)),
            None => self.screen.write(text),
        }
    }

    /// Takes the status line away until there is something new to say.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
