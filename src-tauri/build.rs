//! Prepares the window's build: permissions, icons, and a page where the front end has not been built.

use std::{fs, io, path::Path};

/// What the window shows when it was built without its front end.
const EMPTY_PAGE: &str = "<!doctype html><meta charset=\"utf-8\"><title>Magis</title>\
<p>This program was built without its window. Build the folder ui, then build the program again.</p>\n";

fn main() -> io::Result<()> {
    let page = Path::new("../ui/dist/index.html");
    if !page.exists() {
        fs::create_dir_all("../ui/dist")?;
        fs::write(page, EMPTY_PAGE)?;
    }
    println!("cargo:rerun-if-changed=../ui/dist");
    tauri_build::build();
    Ok(())
}
