//! The order in which the tables came to be. Append-only: a released version is never edited, the next one is added.
//!
//! The statements themselves stand with their tables.

use crate::error::Fault;
use crate::{
    StoreError, calls, change_messages, drafts, erasure, events, lease, removals, repositories, reviews, run_tags,
    run_texts, runs, settings, summaries,
};
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;

/// Marks the file as ours: "MAGI" in ASCII.
const APPLICATION_ID: i32 = 0x4D41_4749;

/// Statements of each version, from 1; those of one version run in this order.
const VERSIONS: &[&[&str]] = &[
    &[
        repositories::VERSION_1,
        runs::VERSION_1,
        summaries::VERSION_1,
        change_messages::VERSION_1,
        events::VERSION_1,
        calls::VERSION_1,
        lease::VERSION_1,
        run_texts::VERSION_1,
        settings::VERSION_1,
        erasure::VERSION_1,
    ],
    &[
        runs::VERSION_2,
        calls::VERSION_2,
        run_tags::VERSION_2,
        reviews::VERSION_2,
        drafts::VERSION_2,
        removals::VERSION_2,
    ],
];

/// Brings the database to the newest version, each step whole or not at all.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), Fault> {
    if version(connection, path)? as usize == VERSIONS.len() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Read again under the lock: another program may have been faster.
    let found = version(&transaction, path)?;
    for (version, statements) in (1_u32..).zip(VERSIONS).skip(found as usize) {
        for statement in *statements {
            transaction.execute_batch(statement)?;
        }
        transaction.pragma_update(None, "user_version", version)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.commit()?;
    Ok(())
}

fn version(connection: &Connection, path: &Path) -> Result<u32, Fault> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let found = u32::try_from(pragma("user_version")?).unwrap_or(u32::MAX);
    let application = pragma("application_id")?;
    let tables: u32 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application != i64::from(APPLICATION_ID) && (tables > 0 || found > 0) {
        return Err(StoreError::NotOurs { path: path.to_owned() }.into());
    }
    let known = VERSIONS.len() as u32;
    if found > known {
        return Err(StoreError::NewerSchema {
            path: path.to_owned(),
            found,
            known,
        }
        .into());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_is_the_recorded_one() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, Path::new("memory")).unwrap();
        let mut statement = connection
            .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
            .unwrap();
        let dump: Vec<String> = statement
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        insta::assert_snapshot!(dump.join(";\n\n"));
    }

    #[test]
    fn migrating_again_changes_nothing() {
        let mut connection = Connection::open_in_memory().unwrap();
        for _ in 0..2 {
            migrate(&mut connection, Path::new("memory")).unwrap();
        }
        assert_eq!(
            version(&connection, Path::new("memory")).unwrap() as usize,
            VERSIONS.len()
        );
    }
}
