//! Where in a data folder a text is left: in the files' bytes and names, and inside what hides it from a plain reading: git's
//! objects, the rows of the database, the terms and documents of a search index.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use magis_testkit::held;
use rusqlite::types::ValueRef;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Whether a place is a row of the database: `table.column`.
pub const ROW: &str = "row ";

/// Returns every place in the data folder that holds something of a mark. It is looked at in a copy, as a kill would
/// leave it.
pub fn traces<'m>(data: &Path, marks: &[&'m str]) -> BTreeSet<(&'m str, String)> {
    let copy = tempfile::tempdir().unwrap();
    copy_folder(data, copy.path());
    let mut found = magis_testkit::traces(copy.path(), marks);
    rows(&copy.path().join("magis.sqlite3"), marks, &mut found);
    let indexes = fs::read_dir(copy.path().join("index")).into_iter().flatten();
    for index in indexes.map(|entry| entry.unwrap().path()) {
        if index.join("meta.json").exists() {
            terms(&index, marks, &mut found);
        }
    }
    found
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (from, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        if from.is_dir() {
            copy_folder(&from, &to.join(name));
        } else {
            fs::copy(&from, to.join(name)).unwrap();
        }
    }
}

fn rows<'m>(database: &Path, marks: &[&'m str], found: &mut BTreeSet<(&'m str, String)>) {
    let connection = rusqlite::Connection::open(database).unwrap();
    let mut names = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
        .unwrap();
    let tables: Vec<String> = names
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for table in tables {
        let mut all = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns: Vec<String> = all.column_names().map(str::to_owned).collect();
        let mut rows = all.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for (at, column) in columns.iter().enumerate() {
                if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = row.get_ref(at).unwrap() {
                    let place = format!("{ROW}{table}.{column}");
                    found.extend(held(bytes, marks).into_iter().map(|mark| (mark, place.clone())));
                }
            }
        }
    }
}

/// The terms of an index are kept letter by letter in an automaton, which no plain reading finds.
fn terms<'m>(folder: &Path, marks: &[&'m str], found: &mut BTreeSet<(&'m str, String)>) {
    let index = tantivy::Index::open_in_dir(folder).unwrap();
    let place = format!("index/{} (a term)", folder.file_name().unwrap().display());
    for segment in index.reader().unwrap().searcher().segment_readers() {
        for (field, entry) in index.schema().fields() {
            if !entry.is_indexed() {
                continue;
            }
            let inverted = segment.inverted_index(field).unwrap();
            let mut terms = inverted.terms().stream().unwrap();
            while terms.advance() {
                found.extend(held(terms.key(), marks).into_iter().map(|mark| (mark, place.clone())));
            }
        }
    }
}
