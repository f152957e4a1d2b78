//! What tests give on the base tree.

use super::{TestBench, is_meant, test_name};
use magis_core::{ProgramRun, RepoPath, TestName};
use magis_evidence::results::{TestResults, TestStatus};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What a selection of tests gives on the base.
#[derive(Debug, Clone)]
pub(crate) struct BaseResults {
    /// The folder of the command, from which its reports see files.
    pub folder: String,
    /// Empty where all tests were run.
    pub files: Vec<RepoPath>,
    pub statuses: BTreeMap<TestName, TestStatus>,
    /// What the tests that fail say.
    pub messages: BTreeMap<TestName, String>,
    /// Where the runner says so: the files of the tests.
    pub places: BTreeMap<TestName, RepoPath>,
    /// How long the tests of a file took together, in seconds.
    pub seconds: BTreeMap<RepoPath, f64>,
    pub wavering: BTreeSet<TestName>,
    /// What is not known of them, in a sentence.
    pub gap: Option<String>,
    /// How long they take where what they depend on is built.
    pub took: Duration,
    /// How long they took with what was built for them.
    pub longest: Duration,
    /// Whether the exit status alone tells how they end.
    pub only_status: bool,
    pub run: ProgramRun,
}

/// Why tests gave no results on the base.
pub(crate) struct BaseTrouble {
    pub why: String,
    pub run: Option<ProgramRun>,
}

impl TestBench {
    pub(crate) fn base_results(
        &self,
        files: &[RepoPath],
        results: &TestResults,
        took: Duration,
        run: ProgramRun,
    ) -> BaseResults {
        let folder = self.command.as_ref().map_or("", |command| command.folder.as_str());
        let mut base = BaseResults {
            folder: folder.to_owned(),
            files: files.to_vec(),
            statuses: BTreeMap::new(),
            messages: BTreeMap::new(),
            places: BTreeMap::new(),
            seconds: BTreeMap::new(),
            wavering: BTreeSet::new(),
            gap: None,
            took,
            longest: took,
            only_status: false,
            run,
        };
        for (id, outcome) in &results.tests {
            let name = test_name(id);
            base.statuses.insert(name.clone(), outcome.status);
            if let Some(failure) = &outcome.failure {
                base.messages.insert(name.clone(), failure.text.clone());
            }
            let place = |file: &str| RepoPath::new(file).ok();
            let seen = id.file.as_deref();
            let inside = seen
                .filter(|_| !folder.is_empty())
                .and_then(|file| place(&format!("{folder}/{file}")));
            let there = inside.filter(|path| self.has_file(path));
            if let Some(place) = there.or_else(|| seen.and_then(place)) {
                let seconds = outcome.duration.unwrap_or_default().as_secs_f64();
                *base.seconds.entry(place.clone()).or_default() += seconds;
                base.places.insert(name, place);
            }
        }
        base
    }
}

impl BaseResults {
    /// Returns whether a person's word for a test, which may begin with a path from the root of the tree, means one of these.
    pub fn is_meant(&self, name: &TestName, word: &str) -> bool {
        let inside = word
            .strip_prefix(self.folder.as_str())
            .and_then(|rest| rest.strip_prefix('/'));
        is_meant(name, word) || inside.is_some_and(|word| is_meant(name, word))
    }

    /// Returns the tests that fail, without those that waver.
    pub fn failing(&self) -> impl Iterator<Item = &TestName> {
        let steady = self.statuses.iter().filter(|(name, _)| !self.wavering.contains(*name));
        steady.filter(|(_, status)| status.is_bad()).map(|(name, _)| name)
    }

    /// Returns whether tests keep their names from run to run. Where some do not, one that is missing may have got another name.
    pub fn has_steady_names(&self) -> bool {
        self.wavering.iter().all(|name| self.statuses.contains_key(name))
    }

    /// Returns how many tests pass.
    pub fn passed(&self) -> u32 {
        let passed = self.statuses.values().filter(|status| **status == TestStatus::Passed);
        passed.count() as u32
    }
}
