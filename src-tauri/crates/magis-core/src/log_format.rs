//! The log of events as it is written: its version, and how what an earlier version wrote becomes what this one reads.
//!
//! The JSON of [`RunEvent`] and [`RunRequest`] is kept for years, in the database and in exported runs. It changes only together
//! with a new version, whose [`Upcaster`] raises JSON of the version before. Where the JSON is kept is for others to say.

use crate::{RunEvent, RunRequest};
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

/// Raises JSON of one version of the log to the next.
struct Upcaster {
    /// Raises what was asked for, also where it stands inside the first event.
    request: fn(&mut Value),
    event: fn(&mut Value),
}

/// The upcasters, the one from version 1 to version 2 first.
const UPCASTERS: &[Upcaster] = &[];

/// The version of the log that this program writes, and the newest that it reads.
pub const LOG_VERSION: u32 = 1 + UPCASTERS.len() as u32;

/// Why a part of a log cannot be read.
#[derive(Debug, Error)]
pub enum LogFormatError {
    /// It was written by a newer program.
    #[error("it has version {found} of the log, and this program knows {LOG_VERSION}")]
    Newer {
        /// The version it has.
        found: u32,
    },
    /// It is not what its version writes.
    #[error("it is not a part of a log: {0}")]
    Malformed(#[from] serde_json::Error),
}

/// Raises the JSON of an event to this version of the log; what is no object stays as it is.
pub fn upcast_event(version: u32, event: &mut Value) {
    raise(UPCASTERS, version, event, raise_event);
}

/// Raises the JSON of what a run was asked to this version of the log.
pub fn upcast_request(version: u32, request: &mut Value) {
    raise(UPCASTERS, version, request, |upcaster, value| (upcaster.request)(value));
}

/// Reads an event that was written in this version of the log.
///
/// # Errors
/// When the version is unknown here, or the JSON is not an event of it.
pub fn read_event(version: u32, json: &str) -> Result<RunEvent, LogFormatError> {
    read(version, json, upcast_event)
}

/// Reads what a run was asked, written in this version of the log.
///
/// # Errors
/// When the version is unknown here, or the JSON is not a request of it.
pub fn read_request(version: u32, json: &str) -> Result<RunRequest, LogFormatError> {
    read(version, json, upcast_request)
}

fn read<T: DeserializeOwned>(version: u32, json: &str, upcast: fn(u32, &mut Value)) -> Result<T, LogFormatError> {
    if version == 0 || version > LOG_VERSION {
        return Err(LogFormatError::Newer { found: version });
    }
    if version == LOG_VERSION {
        return Ok(serde_json::from_str(json)?);
    }
    let mut value = serde_json::from_str(json)?;
    upcast(version, &mut value);
    Ok(serde_json::from_value(value)?)
}

fn raise(upcasters: &[Upcaster], version: u32, value: &mut Value, one: impl Fn(&Upcaster, &mut Value)) {
    for upcaster in upcasters.iter().skip(version.saturating_sub(1) as usize) {
        one(upcaster, value);
    }
}

fn raise_event(upcaster: &Upcaster, event: &mut Value) {
    if let Some(request) = event.get_mut("request") {
        (upcaster.request)(request);
    }
    (upcaster.event)(event);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rename(value: &mut Value, from: &str, to: &str) {
        if let Some(fields) = value.as_object_mut()
            && let Some(field) = fields.remove(from)
        {
            fields.insert(to.to_owned(), field);
        }
    }

    const MADE_UP: &[Upcaster] = &[
        Upcaster {
            request: |request| rename(request, "title", "issue"),
            event: |event| rename(event, "type", "event"),
        },
        Upcaster {
            request: |request| request["seed"] = json!(1),
            event: |event| rename(event, "who", "speaker"),
        },
    ];

    #[test]
    fn each_version_is_raised_through_all_that_follow_it() {
        let check = |version, mut event: Value, expected: Value| {
            raise(MADE_UP, version, &mut event, raise_event);
            assert_eq!(event, expected, "from version {version}");
        };
        let newest = json!({"event": "spoken", "speaker": "manager"});
        check(1, json!({"type": "spoken", "who": "manager"}), newest.clone());
        check(2, json!({"event": "spoken", "who": "manager"}), newest.clone());
        check(3, newest.clone(), newest);
    }

    #[test]
    fn the_request_inside_the_first_event_is_raised_with_it() {
        let mut event = json!({"type": "run_started", "request": {"title": "Crash"}});
        raise(MADE_UP, 1, &mut event, raise_event);
        assert_eq!(
            event,
            json!({"event": "run_started", "request": {"issue": "Crash", "seed": 1}})
        );
    }

    #[test]
    fn a_newer_version_is_refused_with_its_number() {
        for version in [0, LOG_VERSION + 1] {
            let error = read_event(version, "{\"event\":\"resumed\"}").unwrap_err().to_string();
            assert!(error.contains(&format!("version {version}")), "{error}");
        }
    }
}
