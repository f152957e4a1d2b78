//! What the job of a command shows to it.

use super::*;
use magis_core::RepoId;
use magis_evidence::commands::{JavaScriptRunner, PythonRunner};
use magis_repo::{BaseChoice, Git, ObjectStore};
use magis_sandbox::HelperCommand;
use magis_testkit::FixtureRepo;

/// Writes the tree of a repository out, for a person whose home lies beside it.
fn checkout(repository: &FixtureRepo) -> Checkout {
    let data = DataFolder::locate(Some(repository.beside("data"))).expect("a data folder");
    let opened = Git::in_this_process().open(repository.root()).expect("the repository");
    let objects = ObjectStore::open(data.objects(RepoId(1)), &opened).expect("its objects");
    let snapshot = Snapshot::take(&opened, &objects, &BaseChoice::Head).expect("its tree");
    let sandbox = Sandbox::limits_only(HelperCommand {
        program: "/no/such/helper".into(),
        args: Vec::new(),
    });
    let created = Checkout::create(&data, sandbox, &snapshot, opened.root(), &mut |_| {
        ControlFlow::Continue(())
    });
    Checkout {
        tools: Toolchains::find(&repository.beside("home"), |_| None),
        ..created.expect("a checkout").expect("it is not broken off")
    }
}

/// Returns the folders that a command of this runner may change, below the root or by their whole paths.
fn changeable(checkout: &Checkout, runner: TestRunner) -> Vec<String> {
    let command = TestCommand {
        runner: Some(runner),
        words: vec!["true".to_owned()],
        variables: Vec::new(),
        folder: String::new(),
        test_names: Vec::new(),
        reason: String::new(),
    };
    let worded = command.run(TestSelection::Whole, REPORTS).expect("a run");
    let prepared = checkout.prepare(&command, &worded, &[], Limits::default());
    let prepared = prepared.expect("a job");
    let place = |at: &Path| at.strip_prefix(&checkout.root).unwrap_or(at).display().to_string();
    prepared.job.scratch.iter().map(|scratch| place(&scratch.at)).collect()
}

#[test]
fn a_command_is_shown_what_its_own_packages_have_installed_and_the_caches_of_its_own_runner() {
    let repository = FixtureRepo::new();
    repository
        .write(".gitignore", "node_modules\n")
        .write("package.json", "{}")
        .write("packages/one/package.json", "{}")
        .commit("First");
    repository.write("packages/one/node_modules/plus/index.js", "");
    let registry = repository.beside("home/.cargo/registry");
    fs::create_dir_all(&registry).expect("a folder");
    let registry = registry.display().to_string();
    let checkout = checkout(&repository);
    let check = |runner: TestRunner, expected: &[&str]| {
        let always = ["", REPORTS];
        assert_eq!(
            changeable(&checkout, runner),
            [&always[..], expected].concat(),
            "{runner}"
        );
    };
    check(
        TestRunner::JavaScript(JavaScriptRunner::Jest),
        &["packages/one/node_modules"],
    );
    check(TestRunner::Rust(RustRunner::CargoTest), &[registry.as_str()]);
    check(TestRunner::Python(PythonRunner::Pytest), &[]);
}

#[cfg(unix)]
#[test]
fn a_link_of_the_tree_in_the_place_of_installed_packages_stays() {
    let repository = FixtureRepo::new();
    repository
        .write("node_modules/plus/index.js", "")
        .write("packages/one/package.json", "{}")
        .symlink("packages/one/node_modules", "../../node_modules")
        .commit("First");
    let shown = changeable(&checkout(&repository), TestRunner::JavaScript(JavaScriptRunner::Jest));
    assert_eq!(shown, ["", REPORTS, "node_modules"]);
}

#[test]
fn where_plug_and_play_has_put_the_packages_is_known_in_the_tree() {
    let repository = FixtureRepo::new();
    repository
        .write(".gitignore", ".pnp.*\n")
        .write("yarn.lock", "")
        .commit("First");
    repository.write(".pnp.cjs", "");
    let path = RepoPath::new(".pnp.cjs").expect("a path");
    assert!(checkout(&repository).has_file(&path));
}
