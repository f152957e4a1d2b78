//! The process that reads a repository as a program of its own, for this crate's tests; the programs that ship are their own.

use std::process::ExitCode;

fn main() -> ExitCode {
    magis_repo::serve_git()
}
