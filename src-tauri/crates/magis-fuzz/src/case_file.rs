//! The file in which a working process leaves the input that it is at, so that whoever watches it has it after the process ended or hung.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// What was done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CaseCounts {
    /// Inputs that were begun.
    pub inputs: u64,
    /// Inputs that ended a git worker, which its parent said in time.
    pub contained: u64,
    /// Inputs that led to something new and were kept.
    pub kept: u64,
    /// Findings, also those that were met before.
    pub findings: u64,
}

const HEAD: usize = 40;

/// The file, as the working process writes it.
#[derive(Debug)]
pub struct CaseFile {
    file: File,
    written: Vec<u8>,
}

impl CaseFile {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: File::create(path)?,
            written: Vec::new(),
        })
    }

    /// Writes down what is about to be tried.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(&mut self, counts: CaseCounts, input: &[u8]) -> io::Result<()> {
        let CaseCounts {
            inputs,
            contained,
            kept,
            findings,
        } = counts;
        self.written.clear();
        for number in [inputs, contained, kept, findings, input.len() as u64] {
            self.written.extend(number.to_le_bytes());
        }
        self.written.extend(input);
        self.file.write_all_at(&self.written, 0)
    }
}

/// Returns the counts and the input that were written last; none where there are none yet.
pub fn read(path: &Path) -> Option<(CaseCounts, Vec<u8>)> {
    let bytes = fs::read(path).ok()?;
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    let mut numbers = head.chunks_exact(8).map(|eight| {
        let mut number = [0; 8];
        number.copy_from_slice(eight);
        u64::from_le_bytes(number)
    });
    let counts = CaseCounts {
        inputs: numbers.next()?,
        contained: numbers.next()?,
        kept: numbers.next()?,
        findings: numbers.next()?,
    };
    let length = numbers.next()? as usize;
    Some((counts, rest.get(..length)?.to_vec()))
}
