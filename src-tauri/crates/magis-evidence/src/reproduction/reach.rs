//! Which functions of a project any program in Python or JavaScript enters, told by a module that Python or Node loads at its start.
//!
//! What runs the steps of a check tells it by itself ([`Observation::reached`](crate::reproduction::Observation::reached)); this is for what a shell
//! or a test runner starts.

use crate::reproduction::record::ReachedFunction;
use std::collections::BTreeSet;
use std::path::Path;

/// The module's name is one that Python looks for at its start.
const PYTHON_FILE: &str = "sitecustomize.py";
const PYTHON: &str = concat!(
    include_str!("programs/reached.py"),
    "\n\n",
    include_str!("programs/recorder.py")
);
const NODE_FILE: &str = "recorder.cjs";
const NODE: &str = concat!(
    include_str!("programs/reached.js"),
    "\n\n",
    include_str!("programs/recorder.js")
);

/// The modules with what is needed that they are loaded: they write what each process entered into the folder they lie in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReachRecorder {
    /// Their names in that folder, and their texts.
    pub files: [(&'static str, &'static str); 2],
    /// The environment of the program.
    pub variables: [(&'static str, String); 3],
}

impl ReachRecorder {
    /// Creates one in `folder`, whose path has no blanks, for the project at `root`; `search` is what Python's search path has beside it, perhaps empty.
    pub fn new(folder: &Path, root: &Path, search: &str) -> Self {
        let mut path = folder.display().to_string();
        if !search.is_empty() {
            path = format!("{path}:{search}");
        }
        Self {
            files: [(PYTHON_FILE, PYTHON), (NODE_FILE, NODE)],
            variables: [
                ("PYTHONPATH", path),
                (
                    "NODE_OPTIONS",
                    format!("--require={}", folder.join(NODE_FILE).display()),
                ),
                ("MAGIS_ROOT", root.display().to_string()),
            ],
        }
    }

    /// Returns whether a file of its folder is one that it writes, by its name.
    pub fn is_record(name: &str) -> bool {
        Path::new(name).extension().is_some_and(|extension| extension == "json")
    }

    /// Reads what it wrote, a text for each process. Lines are missed that no process ran. Nothing is known where one of the processes did not come to its
    /// end: it may have entered anything.
    pub fn read<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<ReachedFunction> {
        let mut all: Vec<ReachedFunction> = Vec::new();
        for text in texts {
            let Ok(of_process) = serde_json::from_str::<Vec<ReachedFunction>>(text) else {
                return Vec::new();
            };
            for function in of_process {
                let is_same = |known: &&mut ReachedFunction| {
                    (&known.0, known.1, &known.2) == (&function.0, function.1, &function.2)
                };
                match all.iter_mut().find(is_same) {
                    Some(known) => {
                        let missed: BTreeSet<u32> = function.3.into_iter().collect();
                        known.3.retain(|line| missed.contains(line));
                    }
                    None => all.push(function),
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_several_processes_enter_is_one_list_where_all_come_to_their_end() {
        let first = r#"[["a.py", 1, "f", [2, 3]], ["a.py", 9, "g", []]]"#;
        let second = r#"[["a.py", 1, "f", [3, 4]], ["b.py", 1, "f", [5]]]"#;
        let function = |path: &str, line, name: &str, missed: &[u32]| {
            ReachedFunction(path.to_owned(), line, name.to_owned(), missed.to_vec())
        };
        assert_eq!(
            ReachRecorder::read([first, second]),
            [
                function("a.py", 1, "f", &[3]),
                function("a.py", 9, "g", &[]),
                function("b.py", 1, "f", &[5])
            ]
        );
        for without_end in ["null", "[[\"a.py\", 1", ""] {
            assert_eq!(ReachRecorder::read([first, without_end]), []);
        }
    }
}
