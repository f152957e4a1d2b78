//! Tests that would hang or fill the machine if what they test broke: they run in a process of their own, which is given so
//! much time and memory.

use std::process::{Command, Stdio};

/// Says in the child that it is the child.
const CHILD: &str = "MAGIS_BOUNDED_CHILD";
/// Seconds that a bounded program may take.
const SECONDS: &str = "60";
/// The most address space it may take, in KiB.
const KIBIBYTES: &str = "3000000";

/// Returns a command that runs `program` with the bounds. Where it takes more time, its exit code is 124.
pub fn command(program: &std::ffi::OsStr) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=1", SECONDS, "sh", "-c"]);
    command.arg(["ulimit -v ", KIBIBYTES, "; exec \"$0\" \"$@\""].concat());
    command.arg(program).stdin(Stdio::null());
    command
}

/// Carries out `body`, the whole of the test named `test` (with its modules), in a process with the bounds.
pub fn test(test: &str, body: impl FnOnce()) {
    if std::env::var_os(CHILD).is_some() {
        return body();
    }
    let program = std::env::current_exe().expect("a test knows its own program");
    let output = command(program.as_os_str())
        .args([test, "--exact", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .expect("the programs 'timeout' and 'sh' are there");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "{test} ended with {}:\n{said}", output.status);
    assert!(said.contains("1 passed"), "no test is named {test}:\n{said}");
}
