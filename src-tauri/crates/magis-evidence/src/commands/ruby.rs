//! Ruby: `RSpec`, and minitest by rake or by Rails.

use super::ReportPlace;
use super::family::{Found, Runner, Standing, Wanted, Worded, any_of, files_of, in_scratch, owned, printed, with};
use super::files::{Tree, file_name, has_extension, join, stem};
use crate::results::ReportForm;

/// A runner of Ruby tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RubyRunner {
    RSpec,
    /// minitest, started by `rake test`
    Rake,
    /// minitest, started by `bin/rails test`
    Rails,
}

use RubyRunner::{RSpec, Rails, Rake};

pub(super) fn find(tree: &Tree) -> Vec<Found<RubyRunner>> {
    let mut found = Vec::new();
    for folder in tree.folders_with(&["Gemfile", "Rakefile", ".rspec"]) {
        let at = |path: &str| join(&folder, path);
        let bundled: &[&str] = if tree.has(&at("Gemfile")) {
            &["bundle", "exec"]
        } else {
            &[]
        };
        let mut add = |runner, words: &[&str], standing, reason| {
            let words = [bundled, words].concat();
            found.push(Found::new(runner, &words, &folder, standing, reason));
        };
        if tree.has(&at(".rspec")) {
            add(
                RSpec,
                &["rspec"],
                Standing::Configured,
                format!("{} is there", at(".rspec")),
            );
        } else if tree.has(&at("spec/spec_helper.rb")) {
            add(
                RSpec,
                &["rspec"],
                Standing::Named,
                format!("{} is there", at("spec/spec_helper.rb")),
            );
        }
        let rakefile = at("Rakefile");
        if tree.has(&at("bin/rails")) && tree.has(&at("test/test_helper.rb")) {
            let reason = format!("{} and {} are there", at("bin/rails"), at("test/test_helper.rb"));
            add(Rails, &["rails", "test"], Standing::Named, reason);
        } else if tree.text(&rakefile).is_some_and(|text| text.contains("TestTask")) {
            add(
                Rake,
                &["rake", "test"],
                Standing::Configured,
                format!("{rakefile} has a TestTask"),
            );
        }
    }
    found
}

pub(super) fn recognise(words: &[&str]) -> Option<RubyRunner> {
    match (file_name(words.first()?), words.get(1)) {
        ("rspec", _) => Some(RSpec),
        ("rake", Some(&"test")) => Some(Rake),
        ("rails", Some(&"test")) => Some(Rails),
        _ => None,
    }
}

impl Runner for RubyRunner {
    fn name(&self) -> &'static str {
        match self {
            RSpec => "RSpec",
            Rake => "rake test",
            Rails => "rails test",
        }
    }

    fn environments(&self) -> &'static [&'static str] {
        match self {
            RSpec | Rake | Rails => &["vendor", ".bundle"],
        }
    }

    fn is_test_file(&self, path: &str) -> bool {
        let name = stem(path);
        has_extension(path, &["rb"])
            && match self {
                RSpec => name.ends_with("_spec"),
                Rake | Rails => name.ends_with("_test") || name.starts_with("test_") && name != "test_helper",
            }
    }

    fn words(&self, words: &[String], wanted: Wanted, scratch: &str) -> Worded {
        let names = |tests: &[crate::results::TestId]| any_of(tests.iter().map(|test| test.name.as_str()));
        let minitest = Some(printed(ReportForm::Minitest, ReportPlace::Stdout));
        match self {
            RSpec => {
                let report = format!("{scratch}/report.json");
                let mut words = with(words, ["--format", "json", "--out", report.as_str()]);
                match wanted {
                    Wanted::Whole => {}
                    Wanted::Files(files) => words.extend_from_slice(files),
                    Wanted::Tests(tests) => {
                        words.extend(files_of(tests)?);
                        words.extend(tests.iter().flat_map(|test| ["-e".to_owned(), test.name.clone()]));
                    }
                }
                Ok((words, Some(in_scratch(ReportForm::RSpec, "report.json"))))
            }
            Rake => {
                let more = match wanted {
                    Wanted::Whole => owned(&["TESTOPTS=-v"]),
                    Wanted::Files([file]) => vec!["TESTOPTS=-v".to_owned(), format!("TEST={file}")],
                    Wanted::Files(files) => vec!["TESTOPTS=-v".to_owned(), format!("TEST={{{}}}", files.join(","))],
                    Wanted::Tests(tests) => vec![format!("TESTOPTS=-v --name=/^{}$/", names(tests))],
                };
                Ok((with(words, more), minitest))
            }
            Rails => {
                let more = match wanted {
                    Wanted::Whole => Vec::new(),
                    Wanted::Files(files) => files.to_vec(),
                    Wanted::Tests(tests) => vec!["-n".to_owned(), format!("/^{}$/", names(tests))],
                };
                Ok((with(&with(words, ["-v"]), more), minitest))
            }
        }
    }
}
