//! Writes the sample repository, and its issues beside it, into a folder: `write_sample FOLDER`.
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(|| "sample".into()));
    magis_sample::write_repository(&folder.join("tally"))?;
    for issue in magis_sample::ISSUES {
        std::fs::write(folder.join(format!("{}.md", issue.name)), issue.text)?;
    }
    Ok(())
}
