//! What the window can ask for, one file a feature, and what it is told; as TypeScript in `ui/src/ipc/bindings.ts`.
//!
//! A command that is not named in a permission of `permissions/` cannot be called.

mod app;
mod engine;
mod memory;
mod models;
mod repositories;
mod review;
mod runs;
mod solve;
mod tests;

use crate::view::{
    CloseAsked, MemoryChanged, ModelsChanged, Opening, RepositoriesChanged, RunsChanged, SettingsChanged, WatchChanged,
};
use tauri_specta::{Builder, collect_commands, collect_events};

/// Returns all commands and events. Numbers cross as JavaScript's: ids, bytes and milliseconds stay below 2^53.
#[expect(clippy::too_many_lines, reason = "a list of names, one a line")]
pub fn all() -> Builder<tauri::Wry> {
    Builder::new()
        .commands(collect_commands![
            app::app_info,
            app::settings,
            app::put_settings,
            app::fetched,
            app::make_report,
            app::save_report,
            app::erase_all_data,
            app::open_in_editor,
            app::read_text,
            app::doctor,
            app::answer_close,
            engine::other_engine,
            engine::check_engine,
            engine::use_other_engine,
            engine::leave_other_engine,
            engine::check_keyring,
            engine::keep_engine_key,
            engine::forget_engine_key,
            repositories::repositories,
            repositories::add_repository,
            repositories::remove_repository,
            repositories::undo_remove_repository,
            repositories::branches,
            repositories::repository_files,
            repositories::watch_repository,
            repositories::add_sample,
            repositories::sample_issues,
            tests::test_commands,
            tests::read_test_command,
            tests::allow_tests,
            tests::code_permission,
            tests::allow_issue_code,
            tests::forbid_tests,
            tests::try_check,
            tests::stop_check,
            solve::draft,
            solve::save_draft,
            solve::estimate,
            solve::start_run,
            solve::resume_run,
            solve::break_lease,
            solve::pause_run,
            solve::stop_run,
            solve::steer,
            solve::rerun,
            solve::rerun_taking,
            solve::follow_run,
            solve::unfollow_run,
            solve::running_runs,
            runs::runs_page,
            runs::run_view,
            runs::calls,
            runs::call_text,
            runs::set_tags,
            runs::delete_run,
            runs::undo_delete,
            runs::export_run,
            runs::import_run,
            runs::name_repository,
            runs::usage,
            runs::base_file,
            review::patch,
            review::file_texts,
            review::review,
            review::save_review,
            review::conflicts,
            review::apply,
            review::undecided_programs,
            review::decide_programs,
            review::decided_programs,
            review::forget_decided_programs,
            review::undo_apply,
            memory::memory_report,
            memory::summary,
            memory::correct_summary,
            memory::drop_summary,
            memory::export_memory,
            memory::import_memory,
            memory::renew_summary,
            memory::renew_summarisation_budget,
            models::models,
            models::model_suggestions,
            models::hub_models,
            models::fetch_model,
            models::pause_fetch,
            models::remove_model,
            models::add_model,
            models::verify_model,
            models::set_default_model,
        ])
        .events(collect_events![
            CloseAsked,
            MemoryChanged,
            ModelsChanged,
            Opening,
            RepositoriesChanged,
            RunsChanged,
            SettingsChanged,
            WatchChanged,
        ])
        .dangerously_cast_bigints_to_number()
        .disable_serde_phases()
}
