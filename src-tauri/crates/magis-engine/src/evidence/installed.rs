//! The folders of installed packages beside a repository's own files: virtual environments, `node_modules`, folders of builds.

use magis_core::RepoPath;
use magis_evidence::commands::{TestCommand, TestRunner};
use magis_evidence::reproduction::CheckCommand;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of Python's virtual environments, in the order in which they are looked for.
const VIRTUAL_ENVIRONMENTS: [&str; 3] = [".venv", "venv", "env"];

/// Where the package managers of JavaScript install the packages of a project.
const JAVASCRIPT_PACKAGES: [&str; 3] = [NODE_MODULES, ".yarn/cache", ".yarn/unplugged"];
/// Where each package of a workspace has links to what it needs, and what it needs in another version than the others.
const NODE_MODULES: &str = "node_modules";
/// What Yarn's Plug'n'Play writes in the place of `node_modules`: where each package lies.
const PLUG_AND_PLAY: [&str; 2] = [".pnp.cjs", ".pnp.loader.mjs"];
/// How many packages of a workspace are shown with what they have installed: each costs a mount.
const MOST_PACKAGES: usize = 100;
/// How deep below its workspace a package may lie.
const DEEPEST_PACKAGE: usize = 4;

/// A folder of installed packages, by where it really lies: a person may have linked it into the repository's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledFolder {
    /// Relative to the repository's folder.
    pub path: String,
    pub original: PathBuf,
    pub is_linked: bool,
}

/// Returns those of a command's folders of installed packages that are there.
pub fn of_command(root: &Path, command: &TestCommand) -> Vec<InstalledFolder> {
    let paths = command.environments();
    paths.into_iter().filter_map(|path| at(root, path)).collect()
}

/// Returns the same for a run of the command on a tree that is written out in `tree`: behind them, for JavaScript, those of the packages below its folder.
pub fn of_run(root: &Path, tree: &Path, command: &TestCommand) -> Vec<InstalledFolder> {
    let mut found = of_command(root, command);
    if matches!(command.runner, Some(TestRunner::JavaScript(_))) {
        found.extend(of_packages(root, tree, &command.folder));
    }
    found
}

/// Returns the first virtual environment of Python in the repository's folder.
pub fn virtual_environment(root: &Path) -> Option<InstalledFolder> {
    VIRTUAL_ENVIRONMENTS
        .iter()
        .filter_map(|path| at(root, (*path).to_owned()))
        .find(|found| found.original.join("bin/python").exists())
}

/// Returns the folders of what is installed for Node in the repository's folder and in its packages, or Cargo has built there, for a check that may
/// need it. `tree` is where the tree is written out on which it runs.
pub fn of_check(root: &Path, tree: &Path, command: &CheckCommand) -> Vec<InstalledFolder> {
    match command {
        CheckCommand::JavaScript(_) | CheckCommand::Shell(_) => {
            let own = JAVASCRIPT_PACKAGES
                .iter()
                .filter_map(|path| at(root, (*path).to_owned()));
            own.chain(of_packages(root, tree, "")).collect()
        }
        CheckCommand::Rust => at(root, "target".to_owned()).into_iter().collect(),
        CheckCommand::Python(_) => Vec::new(),
    }
}

/// Returns what the packages of a JavaScript workspace have installed for themselves, those nearest to its `folder` first. A package is a folder of the
/// tree with a `package.json`; pnpm gives each its own `node_modules`.
fn of_packages(root: &Path, tree: &Path, folder: &str) -> Vec<InstalledFolder> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    for _ in 0..DEEPEST_PACKAGE {
        open = open.iter().flat_map(|outer| folders_in(tree, outer)).collect();
        let packages = open
            .iter()
            .filter(|path| tree.join(path).join("package.json").is_file());
        found.extend(packages.filter_map(|path| at(root, format!("{path}/{NODE_MODULES}"))));
    }
    found.truncate(MOST_PACKAGES);
    found
}

/// Returns the folders in a folder of a tree, by their paths in the tree and in their order, without those of installed packages.
fn folders_in(tree: &Path, outer: &str) -> Vec<String> {
    let entries = fs::read_dir(tree.join(outer)).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut names: Vec<String> = folders
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name != NODE_MODULES)
        .collect();
    names.sort();
    let join = |name: String| {
        if outer.is_empty() {
            name
        } else {
            format!("{outer}/{name}")
        }
    };
    names.into_iter().map(join).collect()
}

/// Returns the files by which Yarn's Plug'n'Play finds the packages of a project that it is used for: without them it takes the project for not installed.
pub fn plug_and_play(root: &Path, tree: &Path) -> Vec<RepoPath> {
    if !tree.join("yarn.lock").is_file() {
        return Vec::new();
    }
    let is_file = |name: &&str| root.join(name).symlink_metadata().is_ok_and(|found| found.is_file());
    let there = PLUG_AND_PLAY.into_iter().filter(is_file);
    there.filter_map(|name| RepoPath::new(name).ok()).collect()
}

/// Returns the folder of installed packages at a path. Strangers may have put a link there that leads anywhere on the machine, so a link counts only
/// where it leads to a virtual environment, or from `node_modules` to another folder of that name.
fn at(root: &Path, path: String) -> Option<InstalledFolder> {
    let original = root.join(&path).canonicalize().ok().filter(|folder| folder.is_dir())?;
    let name = Path::new(&path).file_name()?;
    let is_linked = original != root.canonicalize().ok()?.join(&path);
    let is_environment = if VIRTUAL_ENVIRONMENTS.iter().any(|known| name == *known) {
        ["pyvenv.cfg", "conda-meta"]
            .iter()
            .any(|mark| original.join(mark).exists())
    } else {
        !is_linked || name == NODE_MODULES && original.file_name() == Some(name)
    };
    is_environment.then_some(InstalledFolder {
        path,
        original,
        is_linked,
    })
}

/// Returns the installation of Python that a virtual environment stands on, by its `pyvenv.cfg`: where it lies elsewhere, it has to be shown. The
/// file may be a stranger's, so what it names has to be an installation.
pub fn interpreter_of(environment: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(environment.join("pyvenv.cfg")).ok()?;
    let home = text.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "home").then(|| PathBuf::from(value.trim()))
    })?;
    let python = ["python3", "python"]
        .iter()
        .find_map(|name| home.join(name).canonicalize().ok())?;
    // It lies beside its library; where there is only a link to it, the installation is elsewhere.
    let installation = python.parent().filter(|bin| bin.ends_with("bin"))?.parent()?;
    let is_library = |entry: fs::DirEntry| entry.file_name().to_string_lossy().starts_with("python");
    let has_library = fs::read_dir(installation.join("lib"))
        .into_iter()
        .flatten()
        .flatten()
        .any(is_library);
    // What the machine has installed is shown anyway; the root of the machine, or a folder above a home, is none.
    let is_deep = installation.components().count() > 3;
    (home.is_absolute() && has_library && is_deep).then(|| installation.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A repository's folder, and beside it what strangers would like to see.
    fn machine() -> tempfile::TempDir {
        let machine = tempfile::tempdir().expect("a folder");
        for folder in [
            "repository/sub",
            "keys",
            "environments/one/bin",
            "pythons/3/bin",
            "pythons/3/lib/python3.11",
        ] {
            fs::create_dir_all(machine.path().join(folder)).expect("a folder");
        }
        let home = machine.path().join("pythons/3/bin");
        fs::write(home.join("python3"), "").expect("a file");
        let at = machine.path().join("environments/one");
        fs::write(at.join("pyvenv.cfg"), format!("home = {}\n", home.display())).expect("a file");
        symlink(home.join("python3"), at.join("bin/python")).expect("a link");
        machine
    }

    #[test]
    fn a_linked_environment_is_used_where_it_lies() {
        let machine = machine();
        let root = machine.path().join("repository");
        symlink("../environments/one", root.join(".venv")).expect("a link");
        let found = virtual_environment(&root).expect("an environment");
        let one = machine.path().canonicalize().expect("a path").join("environments/one");
        assert_eq!(
            (found.path.as_str(), &found.original, found.is_linked),
            (".venv", &one, true)
        );
        assert_eq!(
            interpreter_of(&found.original),
            Some(one.join("../../pythons/3").canonicalize().expect("a path"))
        );
    }

    #[test]
    fn a_link_to_anything_else_is_no_environment() {
        let machine = machine();
        let root = machine.path().join("repository");
        for (path, to) in [
            (".venv", "../keys"),
            ("node_modules", "../keys"),
            ("sub/vendor", "../../keys"),
        ] {
            symlink(to, root.join(path)).expect("a link");
            assert_eq!(at(&root, path.to_owned()), None, "{path}");
        }
        assert_eq!(virtual_environment(&root), None);
    }

    #[test]
    fn a_folder_of_the_project_that_is_named_like_an_environment_is_none() {
        let machine = machine();
        let root = machine.path().join("repository");
        fs::create_dir_all(root.join("env/bin")).expect("a folder");
        fs::create_dir_all(root.join("node_modules/one")).expect("a folder");
        assert_eq!(at(&root, "env".to_owned()), None);
        assert!(at(&root, "node_modules".to_owned()).is_some_and(|found| !found.is_linked));
    }

    #[test]
    fn the_packages_of_a_workspace_are_shown_with_what_they_have_installed_for_themselves() {
        let machine = machine();
        let (root, tree) = (machine.path().join("repository"), machine.path().join("tree"));
        let packages = ["apps/site", "packages/one", "packages/two"];
        for package in packages.iter().chain(&["", "docs", "node_modules/other"]) {
            fs::create_dir_all(root.join(package).join("node_modules")).expect("a folder");
            fs::create_dir_all(tree.join(package)).expect("a folder");
            if *package != "docs" {
                fs::write(tree.join(package).join("package.json"), "{}").expect("a file");
            }
        }
        let paths = |found: Vec<InstalledFolder>| found.into_iter().map(|folder| folder.path).collect::<Vec<_>>();
        let own = packages.map(|package| format!("{package}/node_modules"));
        assert_eq!(paths(of_packages(&root, &tree, "")), own);
        assert_eq!(paths(of_packages(&root, &tree, "packages")), own[1..]);
        assert_eq!(of_packages(&root, &tree, "packages/one"), []);
        let all = [&["node_modules".to_owned()], &own[..]].concat();
        let node = CheckCommand::JavaScript("check.mjs".to_owned());
        assert_eq!(paths(of_check(&root, &tree, &node)), all);
        assert_eq!(of_check(&root, &tree, &CheckCommand::Python("check.py".to_owned())), []);
    }

    #[test]
    fn what_plug_and_play_wrote_is_taken_where_the_project_uses_yarn() {
        let machine = machine();
        let (root, tree) = (machine.path().join("repository"), machine.path().join("tree"));
        fs::create_dir_all(&tree).expect("a folder");
        fs::write(root.join(".pnp.cjs"), "").expect("a file");
        symlink("../keys", root.join(".pnp.loader.mjs")).expect("a link");
        assert_eq!(plug_and_play(&root, &tree), []);
        fs::write(tree.join("yarn.lock"), "").expect("a file");
        assert_eq!(
            plug_and_play(&root, &tree),
            [RepoPath::new(".pnp.cjs").expect("a path")]
        );
        fs::create_dir_all(root.join(".yarn/unplugged")).expect("a folder");
        let node = CheckCommand::JavaScript("check.mjs".to_owned());
        let found = of_check(&root, &tree, &node);
        assert_eq!(
            found.iter().map(|folder| folder.path.as_str()).collect::<Vec<_>>(),
            [".yarn/unplugged"]
        );
    }

    #[test]
    fn a_file_that_names_no_installation_shows_nothing() {
        let machine = machine();
        let (own, keys) = (machine.path().join("repository/.venv"), machine.path().join("keys/bin"));
        for folder in [&own, &keys] {
            fs::create_dir_all(folder).expect("a folder");
        }
        let named = |home: &Path| {
            fs::write(own.join("pyvenv.cfg"), format!("home = {}\n", home.display())).expect("a file");
            interpreter_of(&own)
        };
        assert_eq!(named(&keys), None, "no Python");
        fs::write(keys.join("python3"), "").expect("a file");
        assert_eq!(named(&keys), None, "no library");
        assert!(named(&machine.path().join("pythons/3/bin")).is_some());
    }
}
