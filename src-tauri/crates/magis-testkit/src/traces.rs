//! Where a text stands in the files of a folder, byte by byte: as it is, in the names of files, and inside whatever zlib
//! deflated, git's objects say.
//!
//! It finds a text in capitals or small letters, and also one of which only a half is left, as where a database cut it in
//! two or left the beginning out that an entry before it has. It does not understand any other format.

use flate2::read::ZlibDecoder;
use std::collections::BTreeSet;
use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::BuildHasher as _;
use std::io::Read as _;
use std::path::Path;

/// Letters of a mark.
const LETTERS: usize = 32;
/// More is not inflated of one stream.
const INFLATED: u64 = 64 << 20;

/// Returns a text of 32 random letters: nothing holds it by chance.
pub fn mark() -> String {
    let mut drawn = String::new();
    while drawn.len() < LETTERS {
        let mut number = RandomState::new().hash_one(drawn.len());
        for _ in 0..8 {
            drawn.push(char::from(b'a' + (number % 26) as u8));
            number /= 26;
        }
    }
    drawn
}

/// Returns the marks of which these bytes hold something.
pub fn held<'m>(bytes: &[u8], marks: &[&'m str]) -> Vec<&'m str> {
    let text = String::from_utf8_lossy(bytes).to_ascii_lowercase();
    let is_held = |mark: &&&str| {
        let small = mark.to_ascii_lowercase();
        let middle = small.len() / 2;
        // The first letters are left out where an index keeps what two words have in common once.
        text.contains(&small[4..middle]) || text.contains(&small[middle..])
    };
    marks.iter().filter(is_held).copied().collect()
}

/// Returns the places in the files below `folder` that hold something of a mark, each as the mark and the file's path.
pub fn traces<'m>(folder: &Path, marks: &[&'m str]) -> BTreeSet<(&'m str, String)> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let name = path.strip_prefix(folder).expect("it lies below").display().to_string();
        let mut add = |bytes: &[u8], how: &str| {
            let place = format!("{name}{how}");
            found.extend(held(bytes, marks).into_iter().map(|mark| (mark, place.clone())));
        };
        add(name.as_bytes(), " (its name)");
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("the folder can be read");
            open.extend(entries.map(|entry| entry.expect("the folder can be read").path()));
            continue;
        }
        let bytes = fs::read(&path).expect("the file can be read");
        add(&bytes, "");
        for (at, pair) in bytes.windows(2).enumerate() {
            if pair[0] == 0x78 && u16::from_be_bytes([pair[0], pair[1]]).is_multiple_of(31) {
                add(&inflated(&bytes[at..]), " (inflated)");
            }
        }
    }
    found
}

/// Returns what these bytes inflate to, as far as they do.
fn inflated(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    // What came out before an error counts.
    drop(ZlibDecoder::new(bytes).take(INFLATED).read_to_end(&mut out));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FixtureRepo;

    fn check(mark: &str, file: &str, bytes: &[u8], places: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(file), bytes).unwrap();
        let found: Vec<String> = traces(folder.path(), &[mark])
            .into_iter()
            .map(|(_, place)| place)
            .collect();
        assert_eq!(found, places);
    }

    #[test]
    fn a_mark_is_found_however_it_is_written() {
        let mark = mark();
        let middle = mark.len() / 2;
        check(&mark, "log", format!("said {mark}.").as_bytes(), &["log"]);
        check(&mark, "log", mark.to_uppercase().as_bytes(), &["log"]);
        check(&mark, "log", &mark.as_bytes()[4..], &["log"]);
        check(&mark, "log", &mark.as_bytes()[..middle], &["log"]);
        check(
            &mark,
            "log",
            &[&[0xff, 0][..], mark.as_bytes(), &[0xff][..]].concat(),
            &["log"],
        );
        check(&mark, &mark, b"", &[format!("{mark} (its name)").as_str()]);
        check(&mark, "log", super::mark().as_bytes(), &[]);
    }

    #[test]
    fn a_mark_in_an_object_of_git_is_found() {
        let (mark, repository) = (mark(), FixtureRepo::new());
        repository.write("notes.txt", format!("one\n{mark}\n")).commit("First");
        let found = traces(repository.git_dir(), &[&mark]);
        assert_eq!(found.len(), 1, "{found:?}");
        let (_, place) = found.first().unwrap();
        assert!(
            place.starts_with("objects/") && place.ends_with("(inflated)"),
            "{place}"
        );
    }
}
