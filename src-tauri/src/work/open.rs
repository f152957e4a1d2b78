//! Files that a person names: opened in their editor at a line, or read as text.
//!
//! No shell is involved: the command is split at white space, and file and line are put in as they are.

use crate::problem::Problem;
use crate::state::App;
use magis_core::{RepoId, RepoPath};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Editors that open a file at a line, in the order in which they are looked for.
const KNOWN: [&str; 7] = [
    "code --goto {file}:{line}",
    "codium --goto {file}:{line}",
    "zed {file}:{line}",
    "subl {file}:{line}",
    "kate --line {line} {file}",
    "gedit +{line} {file}",
    "xdg-open {file}",
];

impl App {
    /// Opens a file of a repository's work tree in the editor of the settings, or in the first known one that is here.
    pub fn open_in_editor(&self, repo: RepoId, path: &str, line: u32) -> Result<(), Problem> {
        let path = RepoPath::new(path)?;
        let root = self.magis()?.repository(repo)?.root;
        let file = Path::new(&root).join(path.as_str());
        if !file.is_file() {
            return Err(Problem::new(
                "no_such_file",
                format!("{path} is not in the working tree of this repository"),
                "It may have been moved, or stand on another branch.",
            ));
        }
        let template = match self.settings()?.editor {
            Some(editor) => editor,
            None => first_known().ok_or_else(none_found)?,
        };
        start(&template, &file, line)
    }
}

/// The greatest file that is read as text.
const GREATEST: u64 = 1_000_000;

/// Returns the text of a file that a person dropped or picked.
pub fn read_given(path: &Path) -> Result<String, Problem> {
    let shown = path.display();
    let failed = |error: std::io::Error| {
        Problem::new(
            "io",
            format!("could not read {shown}: {error}"),
            "Check the path and its permissions.",
        )
    };
    let about = std::fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        return Err(Problem::new(
            "not_a_file",
            format!("{shown} is no file"),
            "Choose a text file.",
        ));
    }
    if about.len() > GREATEST {
        return Err(Problem::new(
            "too_large",
            format!("{shown} has {} bytes, and at most {GREATEST} are read", about.len()),
            "Choose the part that matters and paste it.",
        ));
    }
    let bytes = std::fs::read(path).map_err(failed)?;
    String::from_utf8(bytes).map_err(|_| {
        Problem::new(
            "not_text",
            format!("{shown} is not UTF-8 text"),
            "Save it as UTF-8, or paste its text.",
        )
    })
}

fn start(template: &str, file: &Path, line: u32) -> Result<(), Problem> {
    let file = file.display().to_string();
    let mut words = words(template, &file, line).into_iter();
    let program = words.next().ok_or_else(none_found)?;
    let started = Command::new(&program)
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        Ok(mut child) => {
            // Somebody has to wait for it, or it stays behind as a zombie.
            std::thread::spawn(move || drop(child.wait()));
            Ok(())
        }
        Err(error) => Err(Problem::new(
            "editor",
            format!("the editor '{program}' could not be started: {error}"),
            "Set its command under Settings, with {file} and {line} where they belong.",
        )),
    }
}

fn words(template: &str, file: &str, line: u32) -> Vec<String> {
    let line = line.max(1).to_string();
    let put_in = |word: &str| word.replace("{line}", &line).replace("{file}", file);
    let mut words: Vec<String> = template.split_whitespace().map(put_in).collect();
    if !template.contains("{file}") {
        words.push(file.to_owned());
    }
    words
}

fn first_known() -> Option<String> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let is_here = |template: &&&str| {
        let program = template.split_whitespace().next().unwrap_or_default();
        folders.iter().any(|folder| folder.join(program).is_file())
    };
    KNOWN.iter().find(is_here).map(|template| (*template).to_owned())
}

fn none_found() -> Problem {
    Problem::new(
        "editor",
        "no editor was found",
        "Set its command under Settings, with {file} and {line} where they belong.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_and_line_stand_where_the_command_wants_them() {
        assert_eq!(
            words("code --goto {file}:{line}", "/a b/c.rs", 7),
            ["code", "--goto", "/a b/c.rs:7"]
        );
        assert_eq!(words("vi", "/a.rs", 0), ["vi", "/a.rs"]);
    }
}
