//! What is read of small crates, and what is refused.

use serde_json::json;

use super::*;

fn reading(files: &[(&str, &str)]) -> Result<Target> {
    let read = |path: &Path| {
        let file = files.iter().find(|(name, _)| Path::new(name) == path);
        Ok(file.map(|(_, text)| (*text).to_owned()))
    };
    target("sample", Path::new(files[0].0), &read)
}

/// Returns the modules as `path file:items`.
fn modules(files: &[(&str, &str)]) -> Vec<String> {
    let target = reading(files).expect("the sources can be followed");
    let line = |module: &Module| {
        format!(
            "{} {}:{}",
            module.path.join("::"),
            module.file.display(),
            module.items.len()
        )
    };
    target.modules.iter().map(line).collect()
}

fn refused(files: &[(&str, &str)]) -> String {
    reading(files).err().expect("this cannot be followed").to_string()
}

#[test]
fn modules_are_found_in_each_of_their_places() {
    assert_eq!(
        modules(&[
            ("src/lib.rs", "mod a; mod b; mod c { mod d; struct C; } struct Root;"),
            ("src/a.rs", "mod x;"),
            ("src/a/x.rs", "struct X; struct Y;"),
            ("src/b/mod.rs", "mod y;"),
            ("src/b/y.rs", ""),
            ("src/c/d.rs", "struct D;"),
        ]),
        [
            " src/lib.rs:1",
            "a src/a.rs:0",
            "a::x src/a/x.rs:2",
            "b src/b/mod.rs:0",
            "b::y src/b/y.rs:0",
            "c src/lib.rs:1",
            "c::d src/c/d.rs:1",
        ]
    );
}

#[test]
fn a_program_has_its_modules_beside_it() {
    let files = [("src/bin/x.rs", "mod r#type;"), ("src/bin/type.rs", "struct T;")];
    assert_eq!(modules(&files), [" src/bin/x.rs:0", "type src/bin/type.rs:1"]);
}

#[test]
fn what_is_compiled_for_tests_only_is_left_out() {
    let read = |item: &str| modules(&[("lib.rs", item)])[0].clone();
    for condition in [
        "#[cfg(test)]",
        "#[cfg(all(unix, test))]",
        "#[cfg(any(test, test))]",
        "#[cfg(not(not(test)))]",
        "#[test]",
        "#[tokio::test]",
        "#[tokio::test(flavor = \"multi_thread\")]",
    ] {
        assert_eq!(read(&format!("{condition} fn f() {{}}")), " lib.rs:0", "{condition}");
    }
    for condition in [
        "#[cfg(not(test))]",
        "#[cfg(any(test, feature = \"x\"))]",
        "#[cfg(all(unix, not(test)))]",
        "#[cfg(unix)]",
        "#[cfg(feature = \"test\")]",
        "#[inline]",
    ] {
        assert_eq!(read(&format!("{condition} fn f() {{}}")), " lib.rs:1", "{condition}");
    }
}

#[test]
fn modules_for_tests_need_no_file_that_can_be_followed() {
    assert_eq!(modules(&[("lib.rs", "#[cfg(test)] mod tests;")]), [" lib.rs:0"]);
    assert_eq!(
        modules(&[("lib.rs", "#[cfg(test)] #[path = \"x.rs\"] mod tests;")]),
        [" lib.rs:0"]
    );
    let files = [("lib.rs", "mod checks;"), ("checks.rs", "#![cfg(test)] mod gone;")];
    assert_eq!(modules(&files), [" lib.rs:0"]);
}

#[test]
fn what_cannot_be_followed_is_an_error_with_its_place() {
    assert_eq!(
        refused(&[("src/lib.rs", "struct S;\nmod gone;")]),
        "src/lib.rs:2: module gone has no file, neither gone.rs nor gone/mod.rs in src"
    );
    let path = refused(&[("lib.rs", "\n#[path = \"other.rs\"]\nmod a;"), ("a.rs", "")]);
    assert!(path.starts_with("lib.rs:3: module a has a #[path]"), "{path}");
    let path = refused(&[("lib.rs", "#[cfg_attr(unix, path = \"b.rs\")] mod a;"), ("a.rs", "")]);
    assert!(path.contains("#[path]"), "{path}");
    let syntax = refused(&[("lib.rs", "mod a;"), ("a.rs", "\nfn {")]);
    assert!(syntax.starts_with("a.rs:2: "), "{syntax}");
    assert!(reading(&[("lib.rs", "#[cfg_attr(unix, allow(dead_code))] mod a;"), ("a.rs", "")]).is_ok());
}

#[test]
fn libraries_and_programs_of_the_workspace_are_roots() {
    let target = |kind: &str, path: &str| json!({"kind": [kind], "src_path": path});
    let metadata = json!({
        "workspace_root": "/checkout",
        "workspace_members": ["a 1"],
        "packages": [
            {"id": "a 1", "name": "a", "targets": [
                target("lib", "/checkout/a/src/lib.rs"), target("bin", "/checkout/a/src/main.rs"),
                target("test", "/checkout/a/tests/t.rs"), target("bench", "/checkout/a/benches/b.rs"),
                target("example", "/checkout/a/examples/e.rs"), target("custom-build", "/checkout/a/build.rs")]},
            {"id": "serde 1", "name": "serde", "targets": [target("lib", "/registry/serde/src/lib.rs")]},
        ],
    });
    let expected = ["a/src/lib.rs", "a/src/main.rs"].map(|file| ("a".to_owned(), PathBuf::from(file)));
    assert_eq!(roots(&metadata).expect("the metadata is well formed"), expected);
    assert!(roots(&json!({"packages": []})).is_err());
}
