//! One answer of the hub: asked once, bounded in size and time, read as JSON.

use super::{Hub, HubError, HubRepo};
use crate::http;
use serde::de::DeserializeOwned;

/// A page of a listing has some thousand entries of 300 bytes.
const MOST_BYTES: u64 = 8 << 20;

/// What the hub answered, and where the next page of it is.
pub(super) struct Answer<T> {
    pub(super) value: T,
    pub(super) next: Option<String>,
}

impl Hub {
    /// Asks for a path below the hub's address that is about `repo`.
    pub(super) fn ask<T: DeserializeOwned>(&self, repo: &HubRepo, path: &str) -> Result<Answer<T>, HubError> {
        self.ask_at(repo, &format!("{}/{path}", self.address))
    }

    /// As [`Self::ask`], for an address that the hub gave; it must be the hub's own.
    pub(super) fn ask_at<T: DeserializeOwned>(&self, repo: &HubRepo, url: &str) -> Result<Answer<T>, HubError> {
        let unusable = |what: String| HubError::Answer {
            url: url.to_owned(),
            what,
        };
        let is_own = url
            .strip_prefix(&self.address)
            .is_some_and(|rest| rest.starts_with('/'));
        if !is_own {
            return Err(unusable("it lies outside of the hub".to_owned()));
        }
        let agent = http::agent(url, self.answer_timeout);
        let mut request = agent
            .get(url)
            .config()
            .timeout_global(Some(self.answer_timeout))
            .build();
        if let Some(token) = &self.token {
            request = request.header("Authorization", token.as_header());
        }
        let mut response = request.call().map_err(|error| HubError::Silent {
            url: url.to_owned(),
            reason: error.to_string(),
        })?;
        match response.status().as_u16() {
            200 => {}
            // The hub does not say whether a repository is private or absent.
            401 | 403 | 404 => return Err(self.closed(repo)),
            status => {
                return Err(HubError::Refused {
                    url: url.to_owned(),
                    status,
                });
            }
        }
        let links = response.headers().get("link").and_then(|value| value.to_str().ok());
        let next = links.and_then(next_link).map(str::to_owned);
        let body = response.body_mut().with_config().limit(MOST_BYTES).read_to_vec();
        let body = body.map_err(|error| unusable(error.to_string()))?;
        let value = serde_json::from_slice(&body).map_err(|error| unusable(error.to_string()))?;
        Ok(Answer { value, next })
    }

    /// Returns that a repository cannot be seen by this account.
    pub(crate) fn closed(&self, repo: &HubRepo) -> HubError {
        let page = self.page(repo);
        match self.token {
            Some(_) => HubError::ClosedToToken {
                repo: repo.clone(),
                page,
            },
            None => HubError::Closed {
                repo: repo.clone(),
                page,
            },
        }
    }
}

/// Returns the address of the next page out of a `Link` header.
fn next_link(header: &str) -> Option<&str> {
    header.split(',').find_map(|link| {
        let (address, relation) = link.trim().strip_prefix('<')?.split_once('>')?;
        relation.contains("rel=\"next\"").then_some(address)
    })
}
