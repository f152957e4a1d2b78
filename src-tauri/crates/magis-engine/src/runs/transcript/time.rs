//! Moments in the time zone of the machine.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// `2026-03-01 14:05:09`, from milliseconds since 1970.
pub fn local_time(at_ms: i64) -> String {
    zoned(at_ms).map_or_else(|| "?".to_owned(), |at| at.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

/// Writes a time as `2026-03-01 14:05`, in UTC.
pub fn day_and_minute(at_ms: i64) -> String {
    zoned(at_ms).map_or_else(|| "?".to_owned(), |at| at.strftime("%Y-%m-%d %H:%M").to_string())
}

fn zoned(at_ms: i64) -> Option<Zoned> {
    Some(Timestamp::from_millisecond(at_ms).ok()?.to_zoned(TimeZone::system()))
}
