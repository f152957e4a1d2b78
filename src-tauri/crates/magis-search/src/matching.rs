//! Whether a path, module or name that an issue mentions means a certain file. Pure comparisons, no weights.

use crate::neighbours::module_parts;

/// Returns how well `mentioned` (`/`-separated, perhaps absolute, perhaps only an end, perhaps without extension) names
/// `path`, from 0 to 1.
pub(crate) fn path_match(mentioned: &str, path: &str) -> f64 {
    let mine: Vec<&str> = path.split('/').collect();
    let theirs: Vec<&str> = mentioned.split('/').collect();
    let same = mine.iter().rev().zip(theirs.iter().rev()).enumerate();
    let common = same
        .take_while(|(index, (mine, theirs))| mine == theirs || (*index == 0 && is_stem(theirs, mine)))
        .count();
    match common {
        0 => 0.0,
        _ if common == mine.len() && (mine.len() > 1 || theirs.len() == 1) => 1.0,
        _ if common == theirs.len() && common > 1 => 1.0,
        _ if common == theirs.len() => 0.6,
        1 => 0.0,
        _ => 0.7,
    }
}

/// Returns how well a dotted name (`a.b.c`, the file may be `a/b.py` or `x/a/b/c.rs`) names `path`, from 0 to 1. The
/// more of the name is the module, the better; a single part says too little.
pub(crate) fn module_match(dotted: &[&str], path: &str) -> f64 {
    let parts = module_parts(path);
    let skip = usize::from(
        dotted
            .first()
            .is_some_and(|first| matches!(*first, "crate" | "self" | "super")),
    );
    let dotted = &dotted[skip..];
    let longest = dotted.len().min(parts.len());
    // `crate::io` is told by its first word; elsewhere one part is too little.
    let least = if skip == 1 { 1 } else { 2 };
    let matched = (least..=longest)
        .rev()
        .find(|length| parts.ends_with(&dotted[..*length]));
    matched.map_or(0.0, |length| {
        // The last part is mostly a name inside the module.
        let whole = dotted.len().saturating_sub(1).max(1);
        (length as f64 / whole as f64).min(1.0)
    })
}

/// Returns whether a file is named without its ending: `dispatch` for `dispatch.js`.
fn is_stem(mentioned: &str, name: &str) -> bool {
    !mentioned.contains('.')
        && name
            .rsplit_once('.')
            .is_some_and(|(stem, _)| stem == mentioned && stem.len() > 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_path(mentioned: &str, path: &str, expected: f64) {
        assert!(
            (path_match(mentioned, path) - expected).abs() < 1e-9,
            "{mentioned} against {path}: {}",
            path_match(mentioned, path)
        );
    }

    fn check_module(dotted: &str, path: &str, expected: f64) {
        let parts: Vec<&str> = dotted.split('.').collect();
        let found = module_match(&parts, path);
        assert!((found - expected).abs() < 1e-9, "{dotted} against {path}: {found}");
    }

    #[test]
    fn a_path_is_meant_whole_by_its_end_or_from_outside() {
        check_path("src/net/url.rs", "src/net/url.rs", 1.0);
        check_path("net/url.rs", "src/net/url.rs", 1.0);
        check_path("home/me/x/src/net/url.rs", "src/net/url.rs", 1.0);
        check_path("site-packages/_pytest/python.py", "src/_pytest/python.py", 0.7);
        check_path("lib/core/dispatch", "lib/core/dispatch.js", 1.0);
        check_path("url.rs", "src/net/url.rs", 0.6);
    }

    #[test]
    fn another_path_is_not_meant() {
        check_path("src/net/url.rs", "src/net/uri.rs", 0.0);
        check_path("other/url.rs", "src/net/url.rs", 0.0);
        check_path("elsewhere/setup.py", "setup.py", 0.0);
    }

    #[test]
    fn a_module_is_a_file_or_a_name_in_one() {
        check_module("astropy.modeling.separable", "astropy/modeling/separable.py", 1.0);
        check_module("astropy.modeling.separable.f", "astropy/modeling/separable.py", 1.0);
        check_module("astropy.modeling.separable", "astropy/modeling/__init__.py", 1.0);
        check_module("tokio.sync.mpsc.Sender", "tokio/src/sync/mpsc/mod.rs", 1.0);
        check_module(
            "com.google.gson.Gson",
            "gson/src/main/java/com/google/gson/Gson.java",
            1.0,
        );
        check_module("crate.printer", "src/printer.rs", 1.0);
        check_module("np.array", "pkg/array.py", 0.0);
    }
}
