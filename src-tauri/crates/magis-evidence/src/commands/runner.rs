//! Every runner that is known, by families; what one does stands in its family's file.

use super::dotnet::{self, DotnetRunner};
use super::family::{Found, Runner};
use super::files::Tree;
use super::go::{self, GoRunner};
use super::javascript::{self, JavaScriptRunner};
use super::jvm::{self, JvmRunner};
use super::native::{self, NativeRunner};
use super::php::{self, PhpRunner};
use super::python::{self, PythonRunner};
use super::ruby::{self, RubyRunner};
use super::rust::{self, RustRunner};

/// A program that runs tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TestRunner {
    Python(PythonRunner),
    Rust(RustRunner),
    JavaScript(JavaScriptRunner),
    Go(GoRunner),
    Jvm(JvmRunner),
    Native(NativeRunner),
    Ruby(RubyRunner),
    Php(PhpRunner),
    Dotnet(DotnetRunner),
}

/// Finds the commands of every family, in no order of their own.
pub(super) fn find(tree: &Tree) -> Vec<Found<TestRunner>> {
    let mut found = Vec::new();
    found.extend(
        python::find(tree)
            .into_iter()
            .map(|found| found.map(TestRunner::Python)),
    );
    found.extend(rust::find(tree).into_iter().map(|found| found.map(TestRunner::Rust)));
    found.extend(
        javascript::find(tree)
            .into_iter()
            .map(|found| found.map(TestRunner::JavaScript)),
    );
    found.extend(go::find(tree).into_iter().map(|found| found.map(TestRunner::Go)));
    found.extend(jvm::find(tree).into_iter().map(|found| found.map(TestRunner::Jvm)));
    found.extend(
        native::find(tree)
            .into_iter()
            .map(|found| found.map(TestRunner::Native)),
    );
    found.extend(ruby::find(tree).into_iter().map(|found| found.map(TestRunner::Ruby)));
    found.extend(php::find(tree).into_iter().map(|found| found.map(TestRunner::Php)));
    found.extend(
        dotnet::find(tree)
            .into_iter()
            .map(|found| found.map(TestRunner::Dotnet)),
    );
    found
}

/// Recognises the runner of a command by its words, without what stands before it.
pub(super) fn recognise(words: &[&str]) -> Option<TestRunner> {
    None.or_else(|| python::recognise(words).map(TestRunner::Python))
        .or_else(|| rust::recognise(words).map(TestRunner::Rust))
        .or_else(|| javascript::recognise(words).map(TestRunner::JavaScript))
        .or_else(|| go::recognise(words).map(TestRunner::Go))
        .or_else(|| jvm::recognise(words).map(TestRunner::Jvm))
        .or_else(|| native::recognise(words).map(TestRunner::Native))
        .or_else(|| ruby::recognise(words).map(TestRunner::Ruby))
        .or_else(|| php::recognise(words).map(TestRunner::Php))
        .or_else(|| dotnet::recognise(words).map(TestRunner::Dotnet))
}

impl TestRunner {
    /// Returns the name of the runner, for a person.
    pub fn name(self) -> &'static str {
        self.as_runner().name()
    }

    pub(super) fn as_runner(&self) -> &dyn Runner {
        match self {
            Self::Python(runner) => runner,
            Self::Rust(runner) => runner,
            Self::JavaScript(runner) => runner,
            Self::Go(runner) => runner,
            Self::Jvm(runner) => runner,
            Self::Native(runner) => runner,
            Self::Ruby(runner) => runner,
            Self::Php(runner) => runner,
            Self::Dotnet(runner) => runner,
        }
    }
}

impl std::fmt::Display for TestRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
