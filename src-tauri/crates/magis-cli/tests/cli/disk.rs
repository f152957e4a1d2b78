//! A data folder on a disk that is full, or that can only be read. The disk is made in memory, in a mount name space of its
//! own; where the system allows none, the test says so and shows nothing.

use crate::past_run;
use crate::support::{Answer, Program};
use std::path::Path;
use std::process::Command;

/// Returns what each step of `script` says, by its number; `magis` is the program and `disk` the folder of the small
/// disk, which holds a copy of the data folder as `disk/data`. None where no disk can be made.
fn on_a_small_disk(program: &Program, script: &str) -> Option<Answer> {
    let disk = program.beside("disk");
    std::fs::create_dir(&disk).unwrap();
    let (disk, data) = (disk.display().to_string(), program.data().display().to_string());
    let magis = env!("CARGO_BIN_EXE_magis");
    let prelude = format!(
        "disk='{disk}'; magis() {{ '{magis}' --data-dir \"$disk/data\" \"$@\"; echo \"code $?\"; }}
         mount -t tmpfs -o size=4m tmpfs \"$disk\" || exit 99
         cp -r '{data}' \"$disk/data\" || exit 98
         fill() {{ cat /dev/zero > \"$disk/fill\"; }} 2>/dev/null"
    );
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c"])
        .arg(format!("{prelude}\n{script}"))
        .env("TZ", "UTC")
        .output();
    let Ok(output) = output.map(|output| Answer::of(&output)) else {
        eprintln!("not shown here: there is no unshare");
        return None;
    };
    if output.code == Some(99) || output.err.contains("unshare: ") {
        eprintln!("not shown here: {}", output.err);
        return None;
    }
    Some(output)
}

fn with_a_past_run() -> Program {
    let program = Program::new();
    past_run::record(&program.data(), Path::new("/nowhere/tally"), usize::MAX);
    program
}

#[test]
fn past_runs_are_read_from_a_full_disk_and_what_cannot_be_kept_is_said() {
    let program = with_a_past_run();
    let script = "fill; magis runs list; magis runs delete 1 --yes; rm \"$disk/fill\"; magis runs delete 1 --yes";
    let Some(said) = on_a_small_disk(&program, script) else {
        return;
    };
    let codes: Vec<&str> = said.out.lines().filter(|line| line.starts_with("code ")).collect();
    assert_eq!(codes, ["code 0", "code 1", "code 0"], "{said:?}");
    assert!(said.out.contains("list --until"), "{said:?}");
    assert!(
        said.err
            .contains("the disk of the data folder is full: past runs can be read"),
        "{said:?}"
    );
    assert!(said.err.contains("no room is left on the disk of"), "{said:?}");
    assert!(said.err.contains("make room on that disk"), "{said:?}");
    assert!(said.err.contains("'magis models remove' deletes a model"), "{said:?}");
}

#[test]
fn past_runs_are_read_from_a_read_only_disk_and_what_cannot_be_kept_is_said() {
    let program = with_a_past_run();
    let script = "mount -o remount,ro \"$disk\"; magis runs list; magis runs delete 1 --yes; disk=\"$disk/none\"; magis runs list";
    let Some(said) = on_a_small_disk(&program, script) else {
        return;
    };
    let codes: Vec<&str> = said.out.lines().filter(|line| line.starts_with("code ")).collect();
    assert_eq!(codes, ["code 0", "code 1", "code 1"], "{said:?}");
    assert!(said.out.contains("list --until"), "{said:?}");
    assert!(
        said.err.contains("the data folder is read-only: past runs can be read"),
        "{said:?}"
    );
    assert!(said.err.contains("can only be read, not written"), "{said:?}");
    assert!(said.err.contains("choose another data folder"), "{said:?}");
}
