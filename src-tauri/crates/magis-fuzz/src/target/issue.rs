//! The text of an issue: whatever it is, checks come out of it or none do, and none is longer than the issue gives reason for.

use super::{CaseOutcome, FuzzTarget};
use anyhow::Result;
use magis_core::Issue;
use magis_evidence::reproduction::{Marker, ProjectInUse, Session, checks, session, tracebacks, wants_error};
use magis_syntax::SourceLanguage;

pub(super) struct IssueTarget {
    marker: Marker,
}

impl IssueTarget {
    pub(super) fn open() -> Result<Self> {
        Ok(Self {
            marker: Marker::new("0123456789abcdefFUZZ")?,
        })
    }
}

const SEEDS: [&str; 6] = [
    "# Port is lost\n\n```python\nfrom url import parse\nprint(parse(\"http://a:80\").port)\n```\n\nIt prints `None`, but I expected `80`.\n",
    "Crash on an empty list\n\n>>> import url\n>>> url.join([])\nTraceback (most recent call last):\n  File \"<stdin>\", line 1, in <module>\n  File \"/usr/lib/url/__init__.py\", line 12, in join\n    return parts[0]\nIndexError: list index out of range\n\nExpected: `''`\n",
    "Steps to reproduce:\n\n1. `echo 'a = 1' > conf.toml`\n2. Run it:\n\n```sh\n$ python -m url conf.toml\nKeyError: 'b'\n```\n\nActual output:\n```\nKeyError\n```\nExpected output:\n```\n1\n```\n",
    "```js\nconst { parse } = require('url-kit');\nconsole.log(parse('a').b); // undefined\n```\nShould be `1`. Also `parse('')` throws `TypeError: Cannot read properties of undefined`.\n",
    "`split` panics\n\n```rust\nuse url::split;\n\nfn main() {\n    let parts = split(\"a/b\");\n    assert_eq!(parts.len(), 2);\n}\n```\n\nthread 'main' panicked at src/lib.rs:3:5:\nindex out of bounds\n",
    "In [1]: import url\n\nIn [2]: url.f(1)\nOut[2]: 3\n\nshould return 2\n\nconf.py:\n~~~\nX = 1\n~~~\n",
];

impl FuzzTarget for IssueTarget {
    fn seeds(&mut self) -> Vec<Vec<u8>> {
        SEEDS.map(|seed| seed.as_bytes().to_vec()).to_vec()
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "```",
            "~~~",
            "````",
            "```python\n",
            "```js\n",
            "```rust\n",
            "```sh\n",
            "\n```\n",
            ">>> ",
            "... ",
            "$ ",
            "In [1]: ",
            "Out[1]: ",
            "Traceback (most recent call last):\n",
            "  File \"a.py\", line 3, in f\n",
            "expected",
            "Expected:",
            "actual",
            "instead of ",
            "should return ",
            "raises ",
            "ValueError: ",
            "import url\n",
            "from url import *\n",
            "assert ",
            "print(",
            "<details>",
            "</details>",
            "\u{2028}",
            "é",
            "\u{feff}",
            "\r\n",
            "\t",
            "    ",
            "1. ",
            "- ",
            "`",
            "\"\"\"",
            "'''",
            "(((((",
            "[[[[[",
            "{{{{{",
            "\\",
            "use url::f;\n",
            "fn main() {\n",
            "assert_eq!(",
            "require('url')",
            "export default",
            "=> {",
            "# %%",
            "cat <<EOF > a.py\n",
            "EOF\n",
        ]
    }

    fn run(&mut self, input: &[u8]) -> CaseOutcome {
        let mut outcome = CaseOutcome::default();
        let text = String::from_utf8_lossy(input);
        let Some(issue) = outcome.say_result("issue", Issue::new(&text)) else {
            return outcome;
        };
        outcome.say_count("title", issue.title().len());
        for (language, package) in [
            (SourceLanguage::Python, "url"),
            (SourceLanguage::JavaScript, "url-kit"),
            (SourceLanguage::Rust, "url"),
        ] {
            let project = ProjectInUse {
                language,
                packages: vec![package.to_owned()],
            };
            let found = checks(issue.text(), &project, &self.marker);
            outcome.say_count(language.name(), found.len());
            for check in &found {
                outcome.say(format!("{language:?} {:?}", std::mem::discriminant(&check.command)));
                outcome.say_count("claims", check.claims.len());
                outcome.say_count("steps", check.steps.len());
            }
        }
        outcome.say_count("tracebacks", tracebacks(issue.text()).len());
        outcome.say(format!("wants an error: {}", wants_error(issue.text())));
        match session(issue.text()) {
            None => {}
            Some(Session::Python(exchanges)) => outcome.say_count("session of Python", exchanges.len()),
            Some(Session::Shell(exchanges)) => outcome.say_count("session of a shell", exchanges.len()),
        }
        outcome
    }
}
