//! The window itself: how it is opened, what it may load, what it is told, and how it is closed.
//!
//! What it shows is the front end's; what it can ask for stands under `commands`.

use crate::arguments::{Arguments, WORKER};
use crate::closing::{self, Closing, MAIN};
use crate::state::{App, AppEvent, LaunchOptions, ModelSource, Notifier};
use crate::view::{
    MemoryChanged, ModelsChanged, RepositoriesChanged, RunsChanged, SettingsChanged, Theme, WatchChanged,
};
use crate::words::run_ended;
use magis_core::RunId;
use magis_engine::model::{Priority, WorkerCommand};
use magis_engine::{DataFolder, start_log};
use magis_platform::now_ms;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::sync::Arc;
use tauri::utils::config::Color;
use tauri::webview::NewWindowResponse;
use tauri::{AppHandle, Manager as _, Url, WebviewUrl, WebviewWindowBuilder};
use tauri_plugin_notification::NotificationExt as _;
use tauri_plugin_window_state::StateFlags;
use tauri_specta::Event as _;

/// Opens the window and stays until it is closed. What keeps it from opening is told in a sentence.
pub fn run(arguments: Arguments) -> Result<(), String> {
    let launch = launch(arguments)?;
    let _log = start_log(&launch.data);
    let commands = crate::commands::all();
    let invoked = commands.invoke_handler();
    let state_file = launch.data.root().join("window.json").display().to_string();
    tauri::Builder::default()
        .plugin(
            tauri_plugin_single_instance::Builder::new()
                .callback(|handle, words, folder| started_again(handle, &words, &folder))
                .dbus_id(instance(&launch))
                .build(),
        )
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_notification::init())
        .plugin(
            tauri_plugin_window_state::Builder::new()
                .with_filename(state_file)
                .with_state_flags(StateFlags::SIZE | StateFlags::POSITION | StateFlags::MAXIMIZED)
                .build(),
        )
        .invoke_handler(invoked)
        .setup(move |tauri_app| {
            commands.mount_events(tauri_app);
            let handle = tauri_app.handle().clone();
            let web = launch.data.root().join("web");
            let app = App::open(launch, ModelSource::Worker, notifier(handle.clone()));
            tauri_app.manage(app.clone());
            tauri_app.manage(Closing::new(handle));
            let page = WebviewUrl::App("index.html".into());
            let window = WebviewWindowBuilder::new(tauri_app, MAIN, page)
                .title("Magis")
                .inner_size(1280.0, 800.0)
                .min_inner_size(900.0, 600.0)
                .data_directory(web)
                .on_navigation(is_ours)
                .on_new_window(|_, _| NewWindowResponse::Deny);
            // What is seen before the page is drawn; the system's own colour where the page follows the system.
            let window = match app.settings().map(|settings| settings.theme) {
                Ok(Theme::Dark) => window.background_color(Color(24, 24, 27, 255)),
                Ok(Theme::Light) => window.background_color(Color(255, 255, 255, 255)),
                Ok(Theme::System) | Err(_) => window,
            };
            window.build()?;
            tauri::async_runtime::spawn_blocking(move || app.erase_removed(now_ms()));
            Ok(())
        })
        .on_window_event(closing::asked)
        .run(tauri::generate_context!())
        .map_err(|error| format!("the window cannot be opened: {error}"))
}

/// Returns where the data lies; and this very program, which serves the model as well.
fn launch(arguments: Arguments) -> Result<LaunchOptions, String> {
    let here = std::env::current_dir().unwrap_or_default();
    let opening = arguments.opening(&here);
    let data = DataFolder::locate(arguments.data).map_err(|error| error.to_string())?;
    let data = match arguments.models {
        Some(models) => data.with_models(std::path::absolute(&models).unwrap_or(models)),
        None => data,
    };
    let program = std::env::current_exe()
        .map_err(|error| format!("this program cannot find its own file, which serves the model as well: {error}"))?;
    let worker = WorkerCommand {
        program,
        args: vec![WORKER.into()],
        priority: Priority::BelowNormal,
    };
    Ok(LaunchOptions {
        data,
        worker,
        hub: None,
        opening,
    })
}

/// The program was started while its window is open: the window comes to the front and shows what that start named.
fn started_again(handle: &AppHandle, words: &[String], folder: &str) {
    closing::come_back(handle);
    // That start has refused what cannot be read already.
    let words = words.iter().skip(1).map(Into::into);
    if let Ok(Some(opening)) = Arguments::read(words).map(|arguments| arguments.opening(Path::new(folder))) {
        drop(opening.emit(handle));
    }
}

/// Returns one window a data folder: another one is another program.
fn instance(launch: &LaunchOptions) -> String {
    let mut hasher = DefaultHasher::new();
    launch.data.root().hash(&mut hasher);
    format!("org.magis.Magis.d{:016x}", hasher.finish())
}

/// Returns the window shows its own pages and nothing else.
fn is_ours(url: &Url) -> bool {
    matches!(
        (url.scheme(), url.host_str()),
        ("tauri", Some("localhost")) | ("http" | "https", Some("tauri.localhost"))
    )
}

/// Rings on what changed.
fn notifier(handle: AppHandle) -> Notifier {
    Arc::new(move |change| {
        // A window that is gone needs no news.
        drop(match change {
            AppEvent::Repositories => RepositoriesChanged {}.emit(&handle),
            AppEvent::Runs(run) => RunsChanged { run }.emit(&handle),
            AppEvent::Models => ModelsChanged {}.emit(&handle),
            AppEvent::Memory(repo) => MemoryChanged { repo }.emit(&handle),
            AppEvent::Watch(view) => WatchChanged { view: *view }.emit(&handle),
            AppEvent::Settings => SettingsChanged {}.emit(&handle),
            AppEvent::RunEnded(run) => {
                notify(&handle, run);
                Ok(())
            }
            AppEvent::Idle => {
                closing::idle(&handle);
                Ok(())
            }
        });
    })
}

/// Tells the person that a run halted by itself, unless they look at the window.
fn notify(handle: &AppHandle, run: RunId) {
    let is_looked_at = handle
        .get_webview_window(MAIN)
        .is_some_and(|window| window.is_focused().unwrap_or(false));
    let Some(app) = handle.try_state::<App>() else { return };
    let (Ok(settings), Ok(row)) = (app.settings(), app.run_row(run)) else {
        return;
    };
    if settings.notify && !is_looked_at {
        let words = run_ended(settings.language, &row);
        // A system without notifications shows none; the window says the same.
        drop(
            handle
                .notification()
                .builder()
                .title(words.title)
                .body(words.body)
                .show(),
        );
    }
}
