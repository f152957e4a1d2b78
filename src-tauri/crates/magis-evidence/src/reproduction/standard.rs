//! What examples in Rust take from the standard library without saying where it is.

/// A name or a trait of the standard library, and what of code needs it.
const IMPORTS: [(&str, &str, &[&str]); 15] = [
    ("std::collections::BTreeMap", "BTreeMap", &["BTreeMap"]),
    ("std::collections::BTreeSet", "BTreeSet", &["BTreeSet"]),
    ("std::collections::HashMap", "HashMap", &["HashMap"]),
    ("std::collections::HashSet", "HashSet", &["HashSet"]),
    ("std::collections::VecDeque", "VecDeque", &["VecDeque"]),
    ("std::ffi::OsString", "OsString", &["OsString"]),
    ("std::path::PathBuf", "PathBuf", &["PathBuf"]),
    ("std::time::Duration", "Duration", &["Duration"]),
    ("std::time::Instant", "Instant", &["Instant"]),
    ("std::time::SystemTime", "SystemTime", &["SystemTime"]),
    ("std::time::UNIX_EPOCH", "UNIX_EPOCH", &["UNIX_EPOCH"]),
    ("std::error::Error as _", "Error", &[".source()"]),
    ("std::io::Read as _", "Read", &[".read_to_string(", ".read_to_end("]),
    ("std::io::Write as _", "Write", &[".write_all("]),
    ("std::str::FromStr as _", "FromStr", &["::from_str("]),
];

/// Returns the imports that code needs and has not: only those, because a trait in scope may make the method of another one ambiguous.
pub(super) fn imports(code: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let needs = |form: &str| {
        code.match_indices(form).any(|(at, _)| {
            let (before, behind) = (&code[..at], &code[at + form.len()..]);
            !form.starts_with(is_part)
                || !before.ends_with(is_part) && !before.ends_with("::") && !behind.starts_with(is_part)
        })
    };
    // An import ends with its semicolon, perhaps lines further down.
    let is_use = |text: &&str| text.trim_start().starts_with("use ");
    let uses = code.split_inclusive([';', '\n', '{', '}']).scan(false, |inside, part| {
        *inside = is_use(&part) || *inside;
        let is_import = *inside;
        *inside &= !part.ends_with(';');
        Some(if is_import { part } else { "" })
    });
    let imported: Vec<&str> = uses.flat_map(|part| part.split(|c| !is_part(c))).collect();
    let is_imported = |name: &str| imported.contains(&name);
    let missing = IMPORTS
        .iter()
        .filter(|(_, name, forms)| !is_imported(name) && forms.iter().any(|form| needs(form)));
    missing.map(|(path, ..)| format!("use {path};")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_code_needs_and_does_not_import_is_imported() {
        let check = |code: &str, expected: &[&str]| assert_eq!(imports(code), expected, "{code}");
        check("wait(Duration::from_secs(1))", &["use std::time::Duration;"]);
        check("wait(std::time::Duration::from_secs(1))", &[]);
        check(
            "use std::time::{Duration, Instant};\nwait(Duration::ZERO, Instant::now())",
            &[],
        );
        check(
            "use std::time::{\n    Duration,\n    Instant,\n};\nwait(Duration::ZERO, Instant::now())",
            &[],
        );
        check("parse(\"x\").unwrap_err().source()", &["use std::error::Error as _;"]);
        check("Version::from_str(\"1\")", &["use std::str::FromStr as _;"]);
        check("MyDuration::new().take(3)", &[]);
    }
}
