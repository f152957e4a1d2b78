//! Closing the window: at once where nothing is worked on, else after the person said what becomes of the runs.

use crate::state::{App, Halt};
use crate::view::{CloseAnswer, CloseAsked};
use magis_platform::now_ms;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tauri::{AppHandle, Manager as _, Window, WindowEvent};
use tauri_specta::Event as _;

/// The label of the one window; capabilities name it.
pub(crate) const MAIN: &str = "main";
/// How long runs may take to halt before the program ends all the same; their logs hold everything anyway.
const PATIENCE: Duration = Duration::from_secs(10);

/// How far closing is.
pub struct Closing {
    handle: AppHandle,
    /// The person was asked and has not answered.
    is_asked: AtomicBool,
    /// The window is hidden, and the program ends with its runs.
    in_background: AtomicBool,
    /// The program is about to end.
    is_leaving: AtomicBool,
}

impl Closing {
    /// Begins in the state in which nobody has asked to close.
    pub fn new(handle: AppHandle) -> Self {
        Self {
            handle,
            is_asked: AtomicBool::new(false),
            in_background: AtomicBool::new(false),
            is_leaving: AtomicBool::new(false),
        }
    }

    /// Does what the person answered.
    pub fn answer(&self, answer: CloseAnswer) {
        self.is_asked.store(false, Ordering::Relaxed);
        match answer {
            CloseAnswer::Background => {
                self.in_background.store(true, Ordering::Relaxed);
                hide(&self.handle);
            }
            CloseAnswer::Pause => leave(&self.handle, Some(Halt::Pause)),
            CloseAnswer::Stop => leave(&self.handle, Some(Halt::Stop)),
            CloseAnswer::Cancel => {}
        }
    }
}

/// The window was asked to close.
pub(crate) fn asked(window: &Window, event: &WindowEvent) {
    let WindowEvent::CloseRequested { api, .. } = event else {
        return;
    };
    let handle = window.app_handle();
    let (Some(app), Some(closing)) = (handle.try_state::<App>(), handle.try_state::<Closing>()) else {
        return;
    };
    api.prevent_close();
    let running = app.driving().driven().len();
    if running == 0 {
        leave(handle, None);
    } else if closing.is_asked.swap(true, Ordering::Relaxed) {
        // Asked twice without an answer: the page cannot ask, so the safe answer is taken.
        leave(handle, Some(Halt::Pause));
    } else {
        let news = CloseAsked {
            running: u32::try_from(running).unwrap_or(u32::MAX),
        };
        drop(news.emit(handle));
    }
}

/// Somebody started the program again: the window comes back.
pub(crate) fn come_back(handle: &AppHandle) {
    if let Some(closing) = handle.try_state::<Closing>() {
        closing.in_background.store(false, Ordering::Relaxed);
    }
    if let Some(window) = handle.get_webview_window(MAIN) {
        // Each is a courtesy of the window manager.
        drop(window.show());
        drop(window.unminimize());
        drop(window.set_focus());
    }
}

/// No run is left to work on: a program without a window ends.
pub(crate) fn idle(handle: &AppHandle) {
    let in_background = handle
        .try_state::<Closing>()
        .is_some_and(|closing| closing.in_background.load(Ordering::Relaxed));
    if in_background {
        leave(handle, None);
    }
}

fn hide(handle: &AppHandle) {
    if let Some(window) = handle.get_webview_window(MAIN) {
        drop(window.hide());
    }
}

/// Halts what is worked on, frees the model, erases what was deleted, and ends.
fn leave(handle: &AppHandle, how: Option<Halt>) {
    let Some(closing) = handle.try_state::<Closing>() else {
        return;
    };
    if closing.is_leaving.swap(true, Ordering::Relaxed) {
        return;
    }
    hide(handle);
    let handle = handle.clone();
    tauri::async_runtime::spawn(async move {
        if let Some(app) = handle.try_state::<App>() {
            app.pause_fetches();
            if let Some(how) = how {
                app.driving().halt_all(&app, how);
            }
            drop(tokio::time::timeout(PATIENCE, app.until_idle()).await);
            app.driving().free(&app).await;
            let erase = |app: &App| {
                app.watching().end();
                app.erase_removed(now_ms());
                Ok(())
            };
            drop(app.work(erase).await);
        }
        handle.exit(0);
    });
}
