//! The few words that the program says outside the window: in a notification.
//!
//! Everything inside the window is the front end's.

use crate::view::{Language, RunRow, RunStatus};
use magis_core::{ModelReview, Proof};

/// The words of a notification, in the language of the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    pub title: String,
    pub body: String,
}

/// Returns what is said when a run halts by itself.
pub fn run_ended(language: Language, run: &RunRow) -> Words {
    let chinese = match language {
        Language::En => false,
        Language::ZhHans => true,
        Language::System => speaks_chinese(),
    };
    let title = match (&run.proof, run.review, chinese) {
        (_, None, _) => halted(run.status, chinese).to_owned(),
        (Proof::NotRun, Some(review), true) => format!("运行完成。{}", in_chinese(review)),
        (Proof::NotRun, Some(review), false) => format!("A run is over. {review}"),
        (Proof::ShownToWork { .. }, Some(_), true) => "运行完成，已证实有效".to_owned(),
        (Proof::Plausible { .. }, Some(_), true) => "运行完成，可能有效，未证实".to_owned(),
        (Proof::NotShown { .. }, Some(_), true) => "运行完成，未证实有效".to_owned(),
        (proof, Some(_), false) => format!("A run is over. {proof}"),
    };
    Words {
        title,
        body: format!("{}: {}", run.repository, run.title),
    }
}

/// As the front end says it.
fn in_chinese(review: ModelReview) -> &'static str {
    match review {
        ModelReview::Passed => "模型评审：通过 · 测试：未运行",
        ModelReview::NotPassed => "模型评审：未通过 · 测试：未运行",
        ModelReview::NotRun => "模型评审：未运行 · 测试：未运行",
    }
}

/// Returns what is said of a run without a patch.
fn halted(status: RunStatus, chinese: bool) -> &'static str {
    if chinese {
        match status {
            RunStatus::Approved | RunStatus::NotApproved => "运行完成",
            RunStatus::NoChange => "运行完成，没有改动",
            RunStatus::Failed => "运行失败",
            RunStatus::Queued
            | RunStatus::Waiting
            | RunStatus::Running
            | RunStatus::Paused
            | RunStatus::Interrupted => "运行已暂停，需要处理",
        }
    } else {
        match status {
            RunStatus::Approved | RunStatus::NotApproved => "A run is over",
            RunStatus::NoChange => "A run is over without a change",
            RunStatus::Failed => "A run could not be carried out",
            RunStatus::Queued
            | RunStatus::Waiting
            | RunStatus::Running
            | RunStatus::Paused
            | RunStatus::Interrupted => "A run is paused and needs you",
        }
    }
}

fn speaks_chinese() -> bool {
    ["LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
        .is_some_and(|language| language.starts_with("zh"))
}
