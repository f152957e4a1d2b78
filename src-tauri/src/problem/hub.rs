//! What goes wrong with the hub, as the window tells it.

use super::{Given, Problem, named};
use magis_engine::models::HubError;

impl From<HubError> for Problem {
    fn from(error: HubError) -> Self {
        Self::from(&error)
    }
}

impl From<&HubError> for Problem {
    fn from(error: &HubError) -> Self {
        let text = error.to_string();
        // Each of its sentences ends with what can be done.
        let (message, remedy) = text.rsplit_once("; ").unwrap_or((&text, ""));
        Self::new(code(error), message, remedy).naming(given(error))
    }
}

fn code(error: &HubError) -> &'static str {
    match error {
        HubError::Name(_) => "hub_name",
        HubError::Address { .. } => "hub_address",
        HubError::Silent { .. } => "hub_silent",
        HubError::Closed { .. } => "hub_closed",
        HubError::ClosedToToken { .. } => "hub_closed_to_token",
        HubError::Refused { .. } => "hub_refused",
        HubError::Answer { .. } => "hub_answer",
        HubError::NoModel { .. } => "hub_no_model",
        HubError::WhichFile { .. } => "hub_which_file",
        HubError::NoSuchFile { .. } => "hub_no_such_file",
        HubError::PartsMissing { .. } => "hub_parts_missing",
        HubError::NoHash { .. } => "hub_no_hash",
    }
}

fn given(error: &HubError) -> Given {
    match error {
        HubError::Name(_) | HubError::Address { .. } => Given::new(),
        HubError::Silent { url, reason } => named([("url", url), ("reason", reason)]),
        HubError::Closed { repo, page } | HubError::ClosedToToken { repo, page } => {
            named([("repo", repo.to_string()), ("page", page.clone())])
        }
        HubError::Refused { url, status } => named([("url", url.clone()), ("status", status.to_string())]),
        HubError::Answer { url, what } => named([("url", url), ("what", what)]),
        HubError::NoModel { repo } => named([("repo", repo)]),
        HubError::WhichFile { repo, files } => named([("repo", repo.to_string()), ("files", files.clone())]),
        HubError::NoSuchFile { repo, file, files } => named([
            ("repo", repo.to_string()),
            ("file", file.to_string()),
            ("files", files.clone()),
        ]),
        HubError::PartsMissing { repo, file, .. } | HubError::NoHash { repo, file } => {
            named([("repo", repo.to_string()), ("file", file.to_string())])
        }
    }
}
