//! The order in which the tables came to be. Append-only: a released version is never edited, the next one is added.
//!
//! The statements themselves stand with their tables.

use crate::error::DatabaseError;
use crate::{
    StoreError, applications, calls, change_messages, drafts, erasure, events, imports, lease, memory_work,
    pending_prunings, program_decisions, removals, repositories, repository_removals, reviews, run_tags, run_texts,
    runs, settings, summaries, test_permissions, unconditional_scores,
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
    &[repository_removals::VERSION_3],
    &[summaries::VERSION_4, change_messages::VERSION_4, memory_work::VERSION_4],
    &[unconditional_scores::VERSION_5],
    &[runs::VERSION_6],
    &[applications::VERSION_7, pending_prunings::VERSION_7],
    &[events::VERSION_8, runs::VERSION_8, unconditional_scores::VERSION_8],
    &[test_permissions::VERSION_9],
    &[runs::VERSION_10],
    &[events::VERSION_11],
    &[applications::VERSION_12],
    &[program_decisions::VERSION_13],
    &[lease::VERSION_14],
    &[imports::VERSION_15],
];

/// Brings the database to the newest version, each step whole or not at all.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), DatabaseError> {
    // In a transaction, so that all of it is read as of one moment, also while another program makes the tables.
    let reading = connection.transaction()?;
    if version(&reading, path)? as usize == VERSIONS.len() {
        return Ok(());
    }
    drop(reading);
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

fn version(connection: &Connection, path: &Path) -> Result<u32, DatabaseError> {
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
    fn a_database_of_version_1_keeps_its_runs_and_learns_what_they_cost() {
        let mut connection = Connection::open_in_memory().unwrap();
        for statement in VERSIONS[0] {
            connection.execute_batch(statement).unwrap();
        }
        connection.pragma_update(None, "user_version", 1).unwrap();
        connection
            .pragma_update(None, "application_id", APPLICATION_ID)
            .unwrap();
        let rows = "\
INSERT INTO runs (id, repository_name, origin, title, model, status, created_at, request)
VALUES (1, 'tally', 'local', 'Crash', 'm', 'ended', 1, '{}');
INSERT INTO calls (run, origin, key, after_seq, agent, step, template_hash, model, model_sha, seed, kind, finish,
                   prompt_tokens, reused_tokens, generated_tokens, prompt_ms, generate_ms, retries, at_ms, left_out,
                   request, reply)
VALUES (1, 'own', 'a', 1, 'manager', 'P4', 'h', 'm', 's', 1, 'chat', 'complete', 1, 1, 1, 30, 12, 0, 1, '[]', '{}', '{}'),
       (1, 'inherited', 'b', 1, 'manager', 'P4', 'h', 'm', 's', 1, 'chat', 'complete', 1, 1, 1, 500, 500, 0, 1, '[]', '{}', '{}');";
        connection.execute_batch(rows).unwrap();

        migrate(&mut connection, Path::new("memory")).unwrap();

        let worked: i64 = connection
            .query_row("SELECT worked_ms FROM runs WHERE title = 'Crash'", [], |row| row.get(0))
            .unwrap();
        assert_eq!(worked, 42, "its own calls, not those it took over");
    }

    #[test]
    fn a_database_of_version_3_keeps_its_summaries_corrections_and_messages() {
        let mut connection = Connection::open_in_memory().unwrap();
        for statement in VERSIONS[..3].iter().flat_map(|version| version.iter()) {
            connection.execute_batch(statement).unwrap();
        }
        connection.pragma_update(None, "user_version", 3).unwrap();
        connection
            .pragma_update(None, "application_id", APPLICATION_ID)
            .unwrap();
        let rows = "\
INSERT INTO repositories (id, root, name, added_at, last_used_at) VALUES (1, '/url', 'url', 1, 1);
INSERT INTO summaries (repo, path, blob, summary, from_skeleton, file_bytes, tokens, model, model_sha, template_hash,
                       made_at, corrected_by_person)
VALUES (1, 'a.py', 'b1', 'mine', 0, 1, 1, 'm', 's', 't', 7, 1), (1, 'a.py', 'b2', 'its', 0, 1, 1, 'm', 's', 't', 8, 0);
INSERT INTO change_messages VALUES (1, 'a.py', 'b1', 'b2', 'said', 'm', 's', 't', 9, NULL);";
        connection.execute_batch(rows).unwrap();

        migrate(&mut connection, Path::new("memory")).unwrap();

        let mut read = connection
            .prepare("SELECT summary, corrected_at FROM summaries ORDER BY id")
            .unwrap();
        let summaries: Vec<(String, Option<i64>)> = read
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(summaries, [("mine".to_owned(), Some(7)), ("its".to_owned(), None)]);
        let said: String = connection
            .query_row("SELECT message FROM change_messages", [], |row| row.get(0))
            .unwrap();
        assert_eq!(said, "said");
    }

    #[test]
    fn a_database_of_version_7_keeps_what_its_json_said_in_columns() {
        let mut connection = Connection::open_in_memory().unwrap();
        for statement in VERSIONS[..7].iter().flat_map(|version| version.iter()) {
            connection.execute_batch(statement).unwrap();
        }
        connection.pragma_update(None, "user_version", 7).unwrap();
        connection
            .pragma_update(None, "application_id", APPLICATION_ID)
            .unwrap();
        let rows = r#"
INSERT INTO repositories (id, root, name, added_at, last_used_at) VALUES (1, '/url', 'url', 1, 1);
INSERT INTO silent_scores VALUES (1, 'a.py', 's', 't', -2.5, 3);
INSERT INTO runs (id, repository_name, origin, title, model, status, created_at, request)
VALUES (1, 'url', 'local', 'Crash', 'm', 'ended', 1, '{"qa": "skip"}');
INSERT INTO events VALUES
    (1, 1, 7, 'locate', '{"event": "file_described", "description": {"path": "a.py", "source": {"kind": "stored"}}}'),
    (1, 2, 8, 'locate', '{"event": "resumed"}');"#;
        connection.execute_batch(rows).unwrap();

        migrate(&mut connection, Path::new("memory")).unwrap();

        let read = |query: &str| -> String { connection.query_row(query, [], |row| row.get(0)).unwrap() };
        assert_eq!(read("SELECT qa || log_version FROM runs"), "skip1");
        assert_eq!(
            read(
                "SELECT group_concat(run || seq || path || source || log_version) FROM run_file_descriptions JOIN events USING (run, seq)"
            ),
            "11a.pystored1"
        );
        assert_eq!(read("SELECT name || logprob FROM unconditional_scores"), "a.py-2.5");
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
