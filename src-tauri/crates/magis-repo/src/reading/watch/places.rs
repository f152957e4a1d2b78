//! Where things lie in a repository, and what it means when one of them is touched.
//!
//! Pure: paths in, meaning out. Which paths git ignores is `folders`' business.

use crate::reading::Opened;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// A part of the repository that is touched as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Part {
    /// So much of the working tree that it is no longer named, or an unknown part of it.
    Many,
    /// `HEAD` of this work tree.
    Head,
    /// The index of this work tree.
    Index,
    /// Branches, tags, remote branches, `HEAD`s of other work trees.
    Refs,
    /// What decides which files count: ignore rules, attributes, configuration, nested repositories.
    Rules,
}

/// What one event touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Touch {
    Nothing,
    /// A part as a whole.
    Part(Part),
    /// A path of the working tree, relative to its root.
    Path(PathBuf),
}

/// Where the parts of one repository lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    /// The root of the work tree.
    pub root: PathBuf,
    /// What belongs to this work tree: `HEAD`, the index.
    pub git_dir: PathBuf,
    /// What all work trees share: references, configuration.
    pub common_dir: PathBuf,
}

impl Places {
    pub fn of(repository: &Opened) -> Self {
        // Without the slash at the end that libgit2 gives, so that they compare with what the system names.
        let plain = |path: &Path| path.components().collect::<PathBuf>();
        Self {
            root: plain(repository.root()),
            git_dir: plain(repository.git_dir()),
            common_dir: plain(repository.common_dir()),
        }
    }

    /// Returns what it means that `path` was touched.
    pub fn touch(&self, path: &Path) -> Touch {
        if let Ok(inside) = path.strip_prefix(&self.git_dir) {
            return in_git_dir(inside).unwrap_or_else(|| self.shared(path));
        }
        if path.starts_with(&self.common_dir) {
            return self.shared(path);
        }
        match path.strip_prefix(&self.root) {
            Ok(inside) => in_work_tree(inside),
            Err(_) => Touch::Nothing,
        }
    }

    /// Returns folders of git whose direct contents are watched.
    pub fn git_folders(&self) -> Vec<PathBuf> {
        let mut folders = vec![
            self.git_dir.clone(),
            self.common_dir.clone(),
            self.common_dir.join("info"),
            self.common_dir.join("worktrees"),
        ];
        folders.dedup();
        folders
    }

    /// Returns folders of git that are watched with everything below.
    pub fn ref_folders(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.common_dir.join("refs"), self.git_dir.join("refs")];
        folders.dedup();
        folders
    }

    /// Returns what git holds while it works on the index and the working tree.
    pub fn lock(&self) -> PathBuf {
        self.git_dir.join("index.lock")
    }

    fn shared(&self, path: &Path) -> Touch {
        path.strip_prefix(&self.common_dir)
            .map_or(Touch::Nothing, in_common_dir)
    }
}

/// In the folder of this work tree; none where what all work trees share decides.
fn in_git_dir(inside: &Path) -> Option<Touch> {
    if is_lock(inside) {
        return Some(Touch::Nothing);
    }
    match words(inside).as_slice() {
        ["HEAD"] => Some(Touch::Part(Part::Head)),
        ["index"] => Some(Touch::Part(Part::Index)),
        ["config.worktree"] | ["info", "sparse-checkout"] => Some(Touch::Part(Part::Rules)),
        _ => None,
    }
}

fn in_common_dir(inside: &Path) -> Touch {
    if is_lock(inside) {
        return Touch::Nothing;
    }
    match words(inside).as_slice() {
        ["packed-refs" | "worktrees"] | ["refs", ..] | ["worktrees", _] | ["worktrees", _, "HEAD"] => {
            Touch::Part(Part::Refs)
        }
        ["config"] | ["info", "exclude" | "attributes"] => Touch::Part(Part::Rules),
        // The folders of other work trees hold indexes and heads of their own.
        _ => Touch::Nothing,
    }
}

fn in_work_tree(inside: &Path) -> Touch {
    let mut names = inside.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    match names.clone().position(|name| name == OsStr::new(".git")) {
        // A repository begins or ends here: what lies beside it counts no longer, or again.
        Some(place) if place + 1 == names.clone().count() => return Touch::Part(Part::Rules),
        Some(_) => return Touch::Nothing,
        None => {}
    }
    match names.next_back().and_then(OsStr::to_str) {
        // The root itself: its permissions, or it went away.
        None => Touch::Part(Part::Many),
        Some(".gitignore" | ".gitattributes" | ".gitmodules") => Touch::Part(Part::Rules),
        Some(_) => Touch::Path(inside.to_owned()),
    }
}

fn is_lock(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "lock")
}

fn words(path: &Path) -> Vec<&str> {
    path.iter().map(|name| name.to_str().unwrap_or("")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn main_work_tree() -> Places {
        Places {
            root: "/r".into(),
            git_dir: "/r/.git".into(),
            common_dir: "/r/.git".into(),
        }
    }

    fn linked_work_tree() -> Places {
        Places {
            root: "/side".into(),
            git_dir: "/r/.git/worktrees/side".into(),
            common_dir: "/r/.git".into(),
        }
    }

    fn check(places: &Places, paths: &[&str], expected: &Touch) {
        for path in paths {
            assert_eq!(places.touch(Path::new(path)), *expected, "{path}");
        }
    }

    #[test]
    fn parts_of_the_git_folder_mean_different_things() {
        let places = main_work_tree();
        check(&places, &["/r/.git/HEAD"], &Touch::Part(Part::Head));
        check(&places, &["/r/.git/index"], &Touch::Part(Part::Index));
        check(
            &places,
            &[
                "/r/.git/packed-refs",
                "/r/.git/refs/heads/main",
                "/r/.git/refs/stash",
                "/r/.git/refs/heads/feature/deep",
                "/r/.git/worktrees/side/HEAD",
                "/r/.git/worktrees/side",
            ],
            &Touch::Part(Part::Refs),
        );
        check(
            &places,
            &["/r/.git/config", "/r/.git/info/exclude"],
            &Touch::Part(Part::Rules),
        );
        check(
            &places,
            &[
                "/r/.git/index.lock",
                "/r/.git/HEAD.lock",
                "/r/.git/refs/heads/main.lock",
                "/r/.git/packed-refs.lock",
                "/r/.git/COMMIT_EDITMSG",
                "/r/.git/logs/HEAD",
                "/r/.git/objects/12/34",
                "/r/.git/worktrees/side/index",
            ],
            &Touch::Nothing,
        );
    }

    #[test]
    fn a_linked_work_tree_has_its_own_head_and_shares_the_references() {
        let places = linked_work_tree();
        check(&places, &["/r/.git/worktrees/side/HEAD"], &Touch::Part(Part::Head));
        check(&places, &["/r/.git/worktrees/side/index"], &Touch::Part(Part::Index));
        check(
            &places,
            &[
                "/r/.git/refs/heads/main",
                "/r/.git/packed-refs",
                "/r/.git/worktrees/other/HEAD",
            ],
            &Touch::Part(Part::Refs),
        );
        check(&places, &["/r/.git/HEAD", "/r/.git/index", "/r/a.py"], &Touch::Nothing);
        check(&places, &["/side/a.py"], &Touch::Path("a.py".into()));
    }

    #[test]
    fn files_of_the_working_tree_are_named_and_rules_are_not_files() {
        let places = main_work_tree();
        check(&places, &["/r/src/a b.py"], &Touch::Path("src/a b.py".into()));
        check(
            &places,
            &[
                "/r/.gitignore",
                "/r/src/.gitignore",
                "/r/.gitattributes",
                "/r/.gitmodules",
            ],
            &Touch::Part(Part::Rules),
        );
        check(&places, &["/r/nested/.git"], &Touch::Part(Part::Rules));
        check(&places, &["/r/nested/.git/HEAD"], &Touch::Nothing);
        check(&places, &["/r"], &Touch::Part(Part::Many));
        check(&places, &["/elsewhere/a.py"], &Touch::Nothing);
    }
}
