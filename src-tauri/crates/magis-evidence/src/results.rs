//! Results of test runs, test by test, read from what the runners write for machines.
