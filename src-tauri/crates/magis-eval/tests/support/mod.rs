//! The program as its tests call it, and a small project that bugs are made of.
#![allow(dead_code, reason = "each test program uses a part of it")]

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const MANIFEST: &str = "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

/// The part of a judge that makes an environment: this machine's Python.
pub const ENVIRONMENT: &str = "\
import json, os, sys

def environment(row, tree, work):
    place = os.path.join(work, 'venv', row['instance_id'])
    os.makedirs(os.path.join(place, 'bin'))
    os.symlink(sys.executable, os.path.join(place, 'bin', 'python'))
    open(os.path.join(place, 'ready'), 'w').close()
    return place, None
";

/// The code that bugs are made in.
pub const CODE: &str = "\
pub fn total(numbers: &[i32]) -> i32 {
    let mut result = 0;
    for number in numbers {
        result = result + number;
    }
    result
}

pub fn clipped(number: i32, low: i32, high: i32) -> i32 {
    if number < low {
        return low;
    }
    if number > high {
        return high;
    }
    number
}
";

const TESTS: &str = "\
use calc::{clipped, total};

#[test]
fn adds_numbers_up() {
    assert_eq!(total(&[1, 2, 3]), 6);
}

#[test]
fn the_total_of_nothing_is_zero() {
    assert_eq!(total(&[]), 0);
}

#[test]
fn keeps_what_lies_within() {
    assert_eq!(clipped(3, 2, 5), 3);
}

#[test]
fn raises_what_is_too_low() {
    assert_eq!(clipped(1, 2, 5), 2);
}

#[test]
fn lowers_what_is_too_high() {
    assert_eq!(clipped(7, 2, 5), 5);
}
";

/// `magis-eval` in a folder, with a data folder in it. In the person's own, a model would be found by its hash among those of other tests, which are deleted when
/// those end.
pub fn program(folder: &Path) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_magis-eval"));
    program.current_dir(folder).env("XDG_DATA_HOME", folder.join("data"));
    program
}

/// Runs `magis-eval` in a folder, by a line of words; it has to succeed.
pub fn magis_eval(folder: &Path, line: &str) -> Output {
    let output = program(folder).args(line.split(' ')).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    output
}

/// Reads JSON lines.
pub fn values(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Writes files into a folder, by their paths in it.
pub fn write(folder: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// Makes a set of bugs of the project, `set.jsonl`, in a folder.
pub fn make_bugs(folder: &Path, count: usize) {
    write(
        &folder.join("project"),
        &[("Cargo.toml", MANIFEST), ("src/lib.rs", CODE), ("tests/calc.rs", TESTS)],
    );
    magis_eval(
        folder,
        &format!("mutate --project project --work work --out set.jsonl --count {count} --style snippet"),
    );
}
