//! Files that a person asked for, written as a whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

/// Writes a file by way of one beside it, which then takes its place. A program that is killed meanwhile leaves the file as it was, and the one beside it, which the
/// next writing replaces. What is no ordinary file, such as a pipe, is written directly.
pub(crate) fn write(file: &Path, contents: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let fill = |open: File| {
        let mut to = BufWriter::new(open);
        contents(&mut to)?;
        to.flush()?;
        Ok(to)
    };
    if file.symlink_metadata().is_ok_and(|there| !there.is_file()) {
        return File::create(file).and_then(fill).map(drop);
    }
    let beside = file.with_extension("magis-part");
    let written = File::create(&beside)
        .and_then(fill)
        .and_then(|to| to.get_ref().sync_all())
        .and_then(|()| fs::rename(&beside, file));
    if written.is_err() {
        // What is left of the half-written file is worth nothing to anybody.
        let _gone = fs::remove_file(&beside);
    }
    written
}
