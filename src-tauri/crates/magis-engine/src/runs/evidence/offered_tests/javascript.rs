//! Tests in JavaScript where they are put: what an example loads by its path from the root is loaded from the test's folder, and so is the project itself.

use magis_core::RepoPath;
use std::ops::Range;

/// Returns a test as it has to be in its file; none where Node would load the file in another way, or not find the project by its own name.
pub(super) fn placed(text: &str, path: &RepoPath, manifest: &str) -> Option<String> {
    let manifest: serde_json::Value = serde_json::from_str(manifest).unwrap_or_default();
    let is_module = text.lines().any(|line| line.starts_with("import "));
    let may_be = match path.extension().as_str() {
        "mjs" | "mts" => is_module,
        "cjs" | "cts" => !is_module,
        "ts" | "tsx" => true,
        _ => is_module == (manifest["type"] == "module"),
    };
    let name = manifest["name"].as_str().unwrap_or_default();
    let exports = !manifest["exports"].is_null();
    let depth = path.parent().split('/').filter(|folder| !folder.is_empty()).count();
    let root = if depth == 0 {
        ".".to_owned()
    } else {
        vec![".."; depth].join("/")
    };
    let mut placed = String::new();
    let mut done = 0;
    for Range { start, end } in loaded(text) {
        let wanted = &text[start..end];
        let own = wanted
            .strip_prefix(name)
            .filter(|rest| !name.is_empty() && (rest.is_empty() || rest.starts_with('/')));
        placed.push_str(&text[done..start]);
        done = end;
        match (own, wanted.strip_prefix("./")) {
            (Some(_), _) if exports => placed.push_str(wanted),
            // A module names a file.
            (Some(""), _) if is_module => return None,
            (Some(rest), _) => placed.push_str(&format!("{root}{rest}")),
            (None, Some(rest)) => placed.push_str(&format!("{root}/{rest}")),
            (None, None) if wanted.starts_with("..") => return None,
            (None, None) => placed.push_str(wanted),
        }
    }
    placed.push_str(&text[done..]);
    may_be.then_some(placed)
}

/// Returns where a text names what it loads, without the quotes.
fn loaded(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(['\'', '"']).map(|found| at + found) {
        let quote = &text[start..=start];
        let Some(end) = text[start + 1..].find(quote).map(|length| start + 1 + length) else {
            break;
        };
        let before = text[..start].trim_end();
        if ["require(", "import(", " from", "import"]
            .iter()
            .any(|word| before.ends_with(word))
        {
            found.push(start + 1..end);
        }
        at = end + 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, manifest: &str, text: &str, expected: Option<&str>) {
        let path = RepoPath::new(path).expect("a path");
        assert_eq!(placed(text, &path, manifest).as_deref(), expected, "{path}");
    }

    #[test]
    fn a_test_loads_the_project_and_its_files_from_its_own_folder() {
        let plain = r#"{"name": "sums"}"#;
        check(
            "test/add.js",
            plain,
            "const { add } = require('sums');",
            Some("const { add } = require('..');"),
        );
        check(
            "test/unit/add.js",
            plain,
            "require('sums/lib/add')",
            Some("require('../../lib/add')"),
        );
        check("add.test.js", plain, "require(\"sums\")", Some("require(\".\")"));
        check(
            "test/add.js",
            plain,
            "const a = require('./lib/a'), say = 'sums';",
            Some("const a = require('../lib/a'), say = 'sums';"),
        );
        check("test/add.js", plain, "require('summary')", Some("require('summary')"));
        check("test/add.js", plain, "require('../other')", None);
    }

    #[test]
    fn a_test_is_not_put_where_node_would_not_load_it() {
        let (plain, module) = (r#"{"name": "sums"}"#, r#"{"name": "sums", "type": "module"}"#);
        let exported = r#"{"name": "sums", "type": "module", "exports": "./index.js"}"#;
        let imports = "import { add } from 'sums';";
        check("test/add.js", exported, imports, Some(imports));
        check("test/add.js", module, imports, None);
        check("test/add.js", plain, "import assert from 'node:assert';", None);
        check("test/add.mjs", plain, "require('sums')", None);
        check(
            "test/add.js",
            module,
            "import { add } from './index.js';",
            Some("import { add } from '../index.js';"),
        );
    }
}
