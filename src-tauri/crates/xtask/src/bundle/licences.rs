//! The licences of everything that a package holds: Rust crates with the C sources inside them, and what npm's packages put into the front end.
//!
//! Which licences are allowed is not decided here but in `.deny.toml`. System libraries are not inside a package, so they are not named.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{cargo, folders};

/// The licences, written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Licences {
    /// For people to read.
    pub text: String,
    /// How many works of others are named.
    pub works: usize,
    /// How many texts are printed.
    pub texts: usize,
}

/// Something that somebody else made.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Work {
    name: String,
    version: String,
    expression: String,
    authors: Vec<String>,
    texts: Vec<String>,
}

/// How deep inside a crate the licences of the C sources lie that it brings.
const DEPTH: usize = 5;

/// What a crate has lying about and no build for Linux takes in.
const NOT_INSIDE: [&str; 7] = ["winhttp", "tests", "test", "docs", "examples", "fuzz", "benches"];

/// For works that name this licence and hold no text of it.
const MIT: &str = "Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
\"Software\"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS
FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER
IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.";

/// The text of the licence, as [`MIT`] is.
const BSD_3_CLAUSE: &str = "Redistribution and use in source and binary forms, with or without modification, are permitted provided that the following
conditions are met:

1. Redistributions of source code must retain the above copyright notice, this list of conditions and the following disclaimer.

2. Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following disclaimer in the documentation and/or
other materials provided with the distribution.

3. Neither the name of the copyright holder nor the names of its contributors may be used to endorse or promote products derived from this software without
specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS \"AS IS\" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED
WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE FOR ANY
DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS
OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING
NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.";

/// Collects the licences of what these packages of the workspace and the front end hold.
///
/// # Errors
/// When a licence cannot be found; the message names every work of which that is so.
pub fn collect(packages: &[&str]) -> Result<Licences> {
    let own = fs::read_to_string(folders::workspace().join("LICENSE")).context("reading LICENSE")?;
    let mut works = crates(&cargo::metadata_for(&[cargo::LINUX])?, packages)?;
    works.extend(npm_packages(&folders::workspace().join("ui"))?);
    // The sources say so in their heads; there is no file of it.
    works.push(work("nlohmann/json (in llama.cpp)", "", "MIT", &["Niels Lohmann"]));
    works.push(work(
        "the headers of Vulkan and its binding for C++ (in llama.cpp's library for graphics cards)",
        "",
        "Apache-2.0 OR MIT",
        &["The Khronos Group Inc."],
    ));
    works.push(work(
        "the headers of SPIR-V (there, too)",
        "",
        "MIT",
        &["The Khronos Group Inc."],
    ));
    works.push(work(
        "the standard library of Rust",
        "",
        "MIT OR Apache-2.0",
        &["The Rust Project Developers"],
    ));
    works.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    // This licence names nobody, so one copy is as good as another.
    let mozilla = works
        .iter()
        .find(|work| work.expression == "MPL-2.0" && work.texts.len() == 1)
        .map(|work| work.texts.clone());
    let mut without = Vec::new();
    for work in &mut works {
        if work.texts.is_empty() {
            match text_of(&work.expression, &work.authors, &own) {
                Some(text) => work.texts.push(text),
                None if work.expression == "MPL-2.0" && mozilla.is_some() => {
                    work.texts = mozilla.clone().unwrap_or_default();
                }
                None => without.push(format!("{} {} ({})", work.name, work.version, work.expression)),
            }
        }
    }
    if !without.is_empty() {
        bail!("no text of a licence is there for {}", without.join(", "));
    }
    Ok(written(&own, &works))
}

fn work(name: &str, version: &str, expression: &str, authors: &[&str]) -> Work {
    Work {
        name: name.to_owned(),
        version: version.to_owned(),
        expression: expression.to_owned(),
        authors: authors.iter().map(|&author| author.to_owned()).collect(),
        texts: Vec::new(),
    }
}

/// Returns the crates that are compiled into these packages. What only builds or tests them is not inside.
fn crates(metadata: &Value, packages: &[&str]) -> Result<Vec<Work>> {
    let list = |value: &'_ Value| value.as_array().cloned().unwrap_or_default();
    let all: BTreeMap<String, Value> = list(&metadata["packages"])
        .into_iter()
        .filter_map(|package| Some((package["id"].as_str()?.to_owned(), package)))
        .collect();
    let nodes: BTreeMap<String, Value> = list(&metadata["resolve"]["nodes"])
        .into_iter()
        .filter_map(|node| Some((node["id"].as_str()?.to_owned(), node)))
        .collect();
    let mut open: Vec<String> = all
        .iter()
        .filter(|(_, package)| package["source"].is_null() && packages.iter().any(|name| package["name"] == *name))
        .map(|(id, _)| id.clone())
        .collect();
    if open.len() != packages.len() {
        bail!("the workspace does not have all of {}", packages.join(", "));
    }
    let mut inside = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !inside.insert(id.clone()) {
            continue;
        }
        if all.get(&id).is_some_and(only_builds) {
            continue;
        }
        for dependency in list(&nodes.get(&id).unwrap_or(&Value::Null)["deps"]) {
            let compiled_in = list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
            if let Some(id) = dependency["pkg"].as_str().filter(|_| compiled_in) {
                open.push(id.to_owned());
            }
        }
    }
    let mut works = Vec::new();
    for package in inside.iter().filter_map(|id| all.get(id)) {
        if package["source"].is_null() {
            continue;
        }
        let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
        let manifest = PathBuf::from(text("manifest_path"));
        let folder = manifest.parent().context("a manifest lies in a folder")?;
        works.push(Work {
            name: text("name"),
            version: text("version"),
            // An old way to write a choice.
            expression: text("license").replace('/', " OR "),
            authors: list(&package["authors"])
                .iter()
                .filter_map(|author| Some(author.as_str()?.to_owned()))
                .collect(),
            texts: texts_in(folder, DEPTH)?,
        });
    }
    Ok(works)
}

/// Returns whether a crate runs inside the compiler; what it uses is in the compiler too.
fn only_builds(package: &Value) -> bool {
    let targets = package["targets"].as_array().into_iter().flatten();
    targets
        .filter_map(|target| target["kind"].as_array())
        .flatten()
        .any(|kind| kind == "proc-macro")
}

/// Returns the packages that the front end is made of, by its lock file.
fn npm_packages(front_end: &Path) -> Result<Vec<Work>> {
    let file = front_end.join("package-lock.json");
    let lock = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    let lock: Value = serde_json::from_str(&lock).with_context(|| format!("reading {}", file.display()))?;
    let mut works = Vec::new();
    for (path, package) in lock["packages"].as_object().into_iter().flatten() {
        let folder = front_end.join(path);
        if path.is_empty() || package["dev"] == true || !folder.is_dir() {
            continue;
        }
        works.push(Work {
            name: path.rsplit("node_modules/").next().unwrap_or(path).to_owned(),
            version: package["version"].as_str().unwrap_or_default().to_owned(),
            expression: package["license"].as_str().unwrap_or_default().to_owned(),
            authors: npm_author(&folder).into_iter().collect(),
            texts: texts_in(&folder, 1)?,
        });
    }
    Ok(works)
}

fn npm_author(folder: &Path) -> Option<String> {
    let package: Value = serde_json::from_str(&fs::read_to_string(folder.join("package.json")).ok()?).ok()?;
    let author = &package["author"];
    Some(author.as_str().or_else(|| author["name"].as_str())?.to_owned())
}

/// Returns the texts of licences in a folder and those below it.
fn texts_in(folder: &Path, depth: usize) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))? {
        entries.push(entry.with_context(|| format!("listing {}", folder.display()))?.path());
    }
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if depth > 1 && !NOT_INSIDE.contains(&name.as_str()) {
                texts.extend(texts_in(&path, depth - 1)?);
            }
        } else if names_a_licence(&name) {
            let bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
            texts.push(String::from_utf8_lossy(&bytes).replace('\r', "").trim().to_owned());
        }
    }
    Ok(texts)
}

fn names_a_licence(name: &str) -> bool {
    const BEGINNINGS: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE", "COPYRIGHT"];
    const SOURCES: [&str; 9] = ["cmake", "rs", "py", "c", "h", "toml", "json", "js", "ts"];
    let upper = name.to_uppercase();
    let extension = Path::new(name)
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    BEGINNINGS.iter().any(|beginning| upper.starts_with(beginning)) && !SOURCES.contains(&extension.as_str())
}

/// Returns the text for a work that holds none, of a licence that it may be taken under.
fn text_of(expression: &str, authors: &[String], apache: &str) -> Option<String> {
    let choices: Vec<&str> = expression
        .split(" OR ")
        .map(|choice| choice.trim_matches(['(', ')', ' ']))
        .collect();
    if choices.contains(&"Apache-2.0") {
        return Some(apache.trim().to_owned());
    }
    let authors = if authors.is_empty() {
        "its authors".to_owned()
    } else {
        authors.join(", ")
    };
    let known = [
        ("MIT", "MIT License", MIT),
        ("BSD-3-Clause", "BSD 3-Clause License", BSD_3_CLAUSE),
    ];
    let (_, title, text) = known.into_iter().find(|(id, _, _)| choices.contains(id))?;
    Some(format!("{title}\n\nCopyright (c) {authors}\n\n{text}"))
}

/// Returns everything in one text, in which a licence that several share stands once.
fn written(own: &str, works: &[Work]) -> Licences {
    let mut texts: Vec<&str> = Vec::new();
    let mut list = String::new();
    for work in works {
        let mut numbers: Vec<String> = Vec::new();
        for text in &work.texts {
            let same = |known: &&str| known.split_whitespace().eq(text.split_whitespace());
            let number = texts.iter().position(same).unwrap_or_else(|| {
                texts.push(text);
                texts.len() - 1
            });
            numbers.push((number + 1).to_string());
        }
        numbers.dedup();
        let name = format!("{} {}", work.name, work.version);
        list.push_str(&format!(
            "{}: {}; text {}\n",
            name.trim_end(),
            work.expression,
            numbers.join(", ")
        ));
    }
    let mut text = format!(
        "Magis is licensed under Apache-2.0:\n\n{}\n\nIt holds works of others, each under the licence named behind it. Texts are printed below, by number.\n\n{list}",
        own.trim_end()
    );
    for (number, one) in texts.iter().enumerate() {
        text.push_str(&format!("\n--- text {} ---\n\n{one}\n", number + 1));
    }
    Licences {
        text,
        works: works.len(),
        texts: texts.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_that_two_share_stands_once() {
        let mut first = work("a", "1.0.0", "MIT", &[]);
        let mut second = work("b", "2.0.0", "MIT", &[]);
        first.texts = vec!["Do as\nyou like.".to_owned()];
        second.texts = vec!["Do as you like.".to_owned(), "Name me.".to_owned()];
        let written = written("Ours.", &[first, second]);
        assert_eq!((written.works, written.texts), (2, 2));
        assert!(
            written.text.contains("a 1.0.0: MIT; text 1\nb 2.0.0: MIT; text 1, 2\n"),
            "{}",
            written.text
        );
        assert_eq!(written.text.matches("you like").count(), 1);
    }

    #[test]
    fn what_holds_no_text_gets_one_that_it_names() {
        let check = |expression: &str, begins: Option<&str>| {
            let text = text_of(expression, &["Ana".to_owned()], "The Apache text.");
            assert_eq!(
                text.as_deref().map(|text| text.lines().next().unwrap_or_default()),
                begins,
                "{expression}"
            );
        };
        check("MIT OR Apache-2.0", Some("The Apache text."));
        check("MIT", Some("MIT License"));
        check("BSD-3-Clause", Some("BSD 3-Clause License"));
        check("MPL-2.0", None);
    }

    #[test]
    fn files_of_licences_are_known_by_name() {
        for name in [
            "LICENSE",
            "license-mit",
            "COPYING.txt",
            "LICENSE-APACHE-2.0",
            "NOTICE.md",
        ] {
            assert!(names_a_licence(name), "{name}");
        }
        for name in ["license.cmake", "README.md", "licenses.rs"] {
            assert!(!names_a_licence(name), "{name}");
        }
    }
}
