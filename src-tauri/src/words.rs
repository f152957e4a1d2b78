//! The few words that the program says outside the window: in a notification.
//!
//! Everything inside the window is the front end's.

use crate::view::{Language, RunRow, RunStatus};

/// A notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// Its first line.
    pub title: String,
    /// What stands below.
    pub body: String,
}

/// What is said when a run halts by itself.
pub fn run_ended(language: Language, run: &RunRow) -> Words {
    let chinese = match language {
        Language::En => false,
        Language::ZhHans => true,
        Language::System => speaks_chinese(),
    };
    let title = if chinese {
        match run.status {
            RunStatus::Approved => "运行完成，已通过评审",
            RunStatus::NotApproved => "运行完成，未全部通过评审",
            RunStatus::NoChange => "运行完成，没有改动",
            RunStatus::Failed => "运行失败",
            RunStatus::Queued
            | RunStatus::Waiting
            | RunStatus::Running
            | RunStatus::Paused
            | RunStatus::Interrupted => "运行已暂停，需要处理",
        }
    } else {
        match run.status {
            RunStatus::Approved => "A run is over and approved",
            RunStatus::NotApproved => "A run is over and not approved as a whole",
            RunStatus::NoChange => "A run is over without a change",
            RunStatus::Failed => "A run could not be carried out",
            RunStatus::Queued
            | RunStatus::Waiting
            | RunStatus::Running
            | RunStatus::Paused
            | RunStatus::Interrupted => "A run is paused and needs you",
        }
    };
    Words {
        title: title.to_owned(),
        body: format!("{}: {}", run.repository, run.title),
    }
}

fn speaks_chinese() -> bool {
    ["LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
        .is_some_and(|language| language.starts_with("zh"))
}
