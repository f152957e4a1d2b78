//! Each rule of the workspace, kept and broken once.

use serde_json::json;

use super::*;

fn workspace(arrows: &[(&str, &str, DependencyKind)]) -> Workspace {
    let crates = [
        "magis-core",
        "magis-flow",
        "magis-syntax",
        "magis-search",
        "magis-repo",
        "magis-llama",
        "magis-llm",
    ]
    .into_iter()
    .chain([
        "magis-models",
        "magis-store",
        "magis-engine",
        "magis-cli",
        "magis-app",
        "magis-testkit",
        "xtask",
    ])
    .map(str::to_owned)
    .collect();
    let arrows = arrows
        .iter()
        .map(|(from, to, purpose)| Arrow {
            from: (*from).to_owned(),
            to: (*to).to_owned(),
            purpose: *purpose,
        })
        .collect();
    Workspace {
        crates,
        arrows,
        brings: BTreeMap::new(),
    }
}

/// Returns the rules that one arrow breaks, joined.
fn check(from: &str, to: &str, purpose: DependencyKind) -> String {
    let broken = violations(&workspace(&[(from, to, purpose)]));
    broken.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn allowed(from: &str, to: &str) {
    assert_eq!(check(from, to, DependencyKind::Product), "");
}

fn forbidden(from: &str, to: &str, reason: &str) {
    let said = check(from, to, DependencyKind::Product);
    assert!(
        said.starts_with(&format!("{from} -> {to}: ")) && said.contains(reason),
        "{from} -> {to}: {said:?}"
    );
}

#[test]
fn arrows_of_the_table_are_allowed() {
    allowed("magis-flow", "magis-core");
    allowed("magis-search", "magis-syntax");
    allowed("magis-llama", "magis-llm");
    allowed("magis-engine", "magis-store");
    allowed("magis-cli", "magis-engine");
}

#[test]
fn arrows_upward_and_along_a_layer_are_named() {
    forbidden("magis-core", "magis-flow", "goes up from layer 0 to layer 1");
    forbidden("magis-repo", "magis-engine", "goes up from layer 2 to layer 3");
    forbidden("magis-search", "magis-store", "both are on layer 2");
    forbidden("magis-cli", "magis-app", "both are on layer 4");
}

#[test]
fn arrows_down_past_the_table_are_named() {
    forbidden(
        "magis-repo",
        "magis-syntax",
        "may use magis-core, magis-platform, magis-sandbox only",
    );
    forbidden(
        "magis-cli",
        "magis-store",
        "may use magis-core, magis-platform, magis-engine only",
    );
}

#[test]
fn what_ships_does_not_use_development_crates() {
    forbidden("magis-engine", "magis-testkit", "what is shipped");
    assert_eq!(check("magis-core", "magis-testkit", DependencyKind::Tests), "");
    assert_ne!(check("magis-core", "xtask", DependencyKind::Tests), "");
    allowed("magis-testkit", "magis-core");
}

#[test]
fn tests_may_use_lower_layers_but_not_higher_ones() {
    assert_eq!(check("magis-repo", "magis-syntax", DependencyKind::Tests), "");
    assert!(check("magis-repo", "magis-engine", DependencyKind::Tests).contains("goes up"));
}

#[test]
fn packages_from_outside_stay_with_their_crate() {
    for (owner, stranger, package) in [
        ("magis-llama", "magis-core", "tokio"),
        ("magis-app", "magis-engine", "tauri"),
        ("magis-app", "magis-cli", "tauri-build"),
        ("magis-llama", "magis-engine", "llama-cpp-2"),
        ("magis-store", "magis-repo", "rusqlite"),
        ("magis-testkit", "magis-engine", "git2"),
        ("magis-models", "magis-engine", "ureq"),
        ("magis-models", "magis-cli", "reqwest"),
        ("magis-models", "magis-cli", "hyper-util"),
        ("magis-search", "magis-store", "tantivy"),
        ("magis-syntax", "magis-search", "tree-sitter-python"),
        ("magis-cli", "magis-engine", "indicatif"),
    ] {
        allowed(owner, package);
        forbidden(stranger, package, " only");
    }
    allowed("magis-core", "serde");
    assert_eq!(check("magis-core", "tokio", DependencyKind::Tests), "");
}

#[test]
fn a_network_client_behind_another_package_is_found() {
    let mut workspace = workspace(&[("magis-engine", "telemetry", DependencyKind::Product)]);
    for (from, to) in [
        ("magis-engine", "telemetry"),
        ("telemetry", "ureq"),
        ("magis-cli", "magis-engine"),
        ("magis-models", "downloads"),
        ("downloads", "ureq"),
    ] {
        workspace
            .brings
            .entry(from.to_owned())
            .or_default()
            .insert(to.to_owned());
    }
    let broken = violations(&workspace);
    assert_eq!(broken.len(), 1, "{broken:?}");
    assert_eq!(
        (broken[0].from.as_str(), broken[0].to.as_str()),
        ("magis-engine", "ureq")
    );
    assert!(broken[0].rule.contains("through telemetry"));
}

#[test]
fn a_crate_without_a_place_is_named() {
    let mut workspace = workspace(&[]);
    workspace.crates.insert("magis-annex".to_owned());
    let broken = violations(&workspace);
    assert_eq!(broken.len(), 1);
    assert!(broken[0].to_string().starts_with("magis-annex -> the workspace"));
}

#[test]
fn metadata_is_read_with_the_purpose_of_each_dependency() {
    let metadata = json!({
        "packages": [
            {"id": "a 1", "name": "magis-core", "dependencies": [
                {"name": "serde", "kind": null}, {"name": "insta", "kind": "dev"}, {"name": "cc", "kind": "build"}]},
            {"id": "s 1", "name": "serde", "dependencies": [{"name": "serde_derive", "kind": null}]},
            {"id": "c 1", "name": "cc", "dependencies": []},
        ],
        "workspace_members": ["a 1"],
        "resolve": {"nodes": [{"id": "a 1", "deps": [
            {"pkg": "s 1", "dep_kinds": [{"kind": null}]},
            {"pkg": "c 1", "dep_kinds": [{"kind": "build"}]},
        ]}]},
    });
    let workspace = parse(&metadata).expect("the metadata is well formed");
    let purposes: Vec<_> = workspace
        .arrows
        .iter()
        .map(|arrow| (arrow.to.as_str(), arrow.purpose))
        .collect();
    assert_eq!(
        purposes,
        [
            ("cc", DependencyKind::Product),
            ("insta", DependencyKind::Tests),
            ("serde", DependencyKind::Product)
        ]
    );
    assert_eq!(workspace.brings["magis-core"], BTreeSet::from(["serde".to_owned()]));
    assert!(parse(&json!({"packages": []})).is_err());
}
