//! Columns that hold more than SQLite's own types: JSON, and the small closed sets as words.
//!
//! No table is named here.

use magis_core::LogFormatError;
use rusqlite::types::Type;
use rusqlite::{Error, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Reads a JSON column.
pub(crate) fn json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let index = row.as_ref().column_index(column)?;
    let text: String = row.get(index)?;
    serde_json::from_str(&text).map_err(|error| Error::FromSqlConversionFailure(index, Type::Text, Box::new(error)))
}

/// Reads a column that holds a part of a log, in the version that the row's `log_version` names.
pub(crate) fn logged<T>(
    row: &Row<'_>,
    column: &str,
    read: fn(u32, &str) -> Result<T, LogFormatError>,
) -> rusqlite::Result<T> {
    let index = row.as_ref().column_index(column)?;
    let text: String = row.get(index)?;
    read(row.get("log_version")?, &text)
        .map_err(|error| Error::FromSqlConversionFailure(index, Type::Text, Box::new(error)))
}

/// Reads a text column through a type's own check.
pub(crate) fn parsed<T>(row: &Row<'_>, column: &str) -> rusqlite::Result<T>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    let index = row.as_ref().column_index(column)?;
    let text: String = row.get(index)?;
    text.parse()
        .map_err(|error| Error::FromSqlConversionFailure(index, Type::Text, Box::new(error)))
}

/// Returns the word a plain enum has in JSON.
pub(crate) fn word<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    serde_json::to_value(value).and_then(serde_json::from_value)
}

/// Reads such a word.
pub(crate) fn from_word<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let index = row.as_ref().column_index(column)?;
    let text: String = row.get(index)?;
    serde_json::from_value(serde_json::Value::String(text))
        .map_err(|error| Error::FromSqlConversionFailure(index, Type::Text, Box::new(error)))
}
