//! The folders of installed packages beside a repository's own files: virtual environments, `node_modules`, folders of builds.

use magis_evidence::commands::TestCommand;
use magis_evidence::reproduction::CheckCommand;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of Python's virtual environments, in the order in which they are looked for.
const VIRTUAL_ENVIRONMENTS: [&str; 3] = [".venv", "venv", "env"];

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

/// Returns the first virtual environment of Python in the repository's folder.
pub fn virtual_environment(root: &Path) -> Option<InstalledFolder> {
    VIRTUAL_ENVIRONMENTS
        .iter()
        .filter_map(|path| at(root, (*path).to_owned()))
        .find(|found| found.original.join("bin/python").exists())
}

/// Returns the folder of what Node has installed in the repository's folder, or Cargo has built there, for a check that may need it.
pub fn of_check(root: &Path, command: &CheckCommand) -> Option<InstalledFolder> {
    match command {
        CheckCommand::JavaScript(_) | CheckCommand::Shell(_) => at(root, "node_modules".to_owned()),
        CheckCommand::Rust => at(root, "target".to_owned()),
        CheckCommand::Python(_) => None,
    }
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
        !is_linked || name == "node_modules" && original.file_name() == Some(name)
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
