//! The helper as a program of its own, for this crate's tests; the programs that ship are their own helpers.

use std::process::ExitCode;

fn main() -> ExitCode {
    magis_sandbox::helper::serve()
}
