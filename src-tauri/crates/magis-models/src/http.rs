//! How a server is spoken to: one agent for each request, with the same limits everywhere.
//!
//! It decides neither what is asked nor what an answer means.

use std::time::Duration;

/// How far a request may be sent on.
const MOST_REDIRECTS: u32 = 8;

/// Returns an agent for one request to `url`: every step has `answer_timeout`, and a status is an answer, not an error.
///
/// An authorisation stays with the host that it was meant for: a redirect to another host is followed without it.
pub(crate) fn agent(url: &str, answer_timeout: Duration) -> ureq::Agent {
    let limit = Some(answer_timeout);
    // Proxies are those of the environment, as other programs use them; none leads to this machine itself.
    let is_here = url.starts_with("http://127.0.0.1:");
    let proxy = if is_here { None } else { ureq::Proxy::try_from_env() };
    ureq::Agent::config_builder()
        .proxy(proxy)
        .timeout_resolve(limit)
        .timeout_connect(limit)
        .timeout_recv_response(limit)
        .https_only(url.starts_with("https://"))
        .http_status_as_error(false)
        .max_redirects(MOST_REDIRECTS)
        .redirect_auth_headers(ureq::config::RedirectAuthHeaders::SameHost)
        .user_agent("magis-models")
        .build()
        .into()
}
