//! The only clock of the workspace that is kept in records.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the milliseconds since 1970, in UTC; 0 where the system's clock stands before that.
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
