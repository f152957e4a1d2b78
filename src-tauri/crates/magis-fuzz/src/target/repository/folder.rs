//! A folder on the disk that is changed and brought back: what lies in it is known to the byte.

use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What lies at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    File {
        bytes: Vec<u8>,
        is_program: bool,
    },
    Link(PathBuf),
    Folder,
    /// A named pipe, for which who opens it waits.
    Pipe,
}

impl Node {
    pub fn file(bytes: Vec<u8>) -> Self {
        Self::File {
            bytes,
            is_program: false,
        }
    }
}

/// What becomes of paths; none: they go.
pub(super) type Changes = BTreeMap<PathBuf, Option<Node>>;

/// A folder, and what lies in it when nothing was done to it.
pub(super) struct Folder {
    root: PathBuf,
    sound: BTreeMap<PathBuf, Node>,
}

impl Folder {
    pub fn read(root: &Path) -> Result<Self> {
        Ok(Self {
            root: root.to_owned(),
            sound: all(root).with_context(|| format!("reading {}", root.display()))?,
        })
    }

    pub fn sound(&self) -> &BTreeMap<PathBuf, Node> {
        &self.sound
    }

    pub fn change(&self, changes: &Changes) {
        for (path, node) in changes {
            self.put(path, node.as_ref());
        }
    }

    /// Brings everything back; returns what was neither changed by `changes` nor `touched` and is otherwise than before.
    pub fn bring_back(&self, changes: &Changes, touched: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
        let now = all(&self.root).expect("our own folder can be read");
        let is_below = |path: &Path| path.ancestors().skip(1).any(|above| changes.contains_key(above));
        let mut different: Vec<PathBuf> = Vec::new();
        let paths = now
            .keys()
            .chain(self.sound.keys().filter(|path| !now.contains_key(*path)));
        for path in paths {
            if now.get(path) != self.sound.get(path) {
                different.push(path.clone());
            }
        }
        let mut written: Vec<PathBuf> = Vec::new();
        for path in &different {
            // A changed path has to be as it was changed.
            let as_changed = match changes.get(path) {
                // What lies above it may have been changed, too, and not hold it.
                Some(node) => now.get(path) == node.as_ref() || is_below(path),
                None => is_below(path),
            };
            // Folders on the way to a changed path come with it.
            let on_the_way =
                now.get(path) == Some(&Node::Folder) && changes.keys().any(|changed| changed.starts_with(path));
            if !as_changed && !on_the_way && !touched(path) {
                written.push(path.clone());
            }
        }
        for path in different.iter().rev() {
            self.put(path, None);
        }
        for path in &different {
            if let Some(node) = self.sound.get(path) {
                self.put(path, Some(node));
            }
        }
        for (path, node) in &self.sound {
            // What stood below something that was replaced.
            if different.iter().any(|above| path.starts_with(above) && path != above) {
                self.put(path, Some(node));
            }
        }
        written
    }

    fn put(&self, path: &Path, node: Option<&Node>) {
        let place = self.root.join(path);
        // Never through a link, which may lead out of the ground.
        let mut above = place.ancestors().skip(1).take_while(|above| *above != self.root);
        if above.any(|above| fs::symlink_metadata(above).is_ok_and(|found| found.is_symlink())) {
            return;
        }
        // Whatever a changed repository cannot hold (a file below a file) is left out.
        let _left_out = put(&place, node);
    }
}

fn put(place: &Path, node: Option<&Node>) -> io::Result<()> {
    match fs::symlink_metadata(place) {
        Ok(found) if found.is_dir() => {
            if node == Some(&Node::Folder) {
                return Ok(());
            }
            fs::remove_dir_all(place)?;
        }
        // A new file, not the old one with other bytes: git may have that mapped into its memory.
        Ok(_) => fs::remove_file(place)?,
        Err(_) => {}
    }
    let Some(node) = node else { return Ok(()) };
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder)?;
    }
    match node {
        Node::File { bytes, is_program } => {
            fs::write(place, bytes)?;
            let mode = if *is_program { 0o755 } else { 0o644 };
            fs::set_permissions(place, fs::Permissions::from_mode(mode))
        }
        Node::Link(to) => symlink(to, place),
        Node::Folder => fs::create_dir(place),
        Node::Pipe => Command::new("mkfifo").arg(place).status().map(drop),
    }
}

/// Returns everything below a folder.
fn all(root: &Path) -> io::Result<BTreeMap<PathBuf, Node>> {
    let (mut found, mut left) = (BTreeMap::new(), vec![PathBuf::new()]);
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            let (place, kind) = (entry.path(), entry.file_type()?);
            let node = if kind.is_dir() {
                left.push(path.clone());
                Node::Folder
            } else if kind.is_symlink() {
                Node::Link(fs::read_link(place)?)
            } else if kind.is_file() {
                Node::File {
                    is_program: entry.metadata()?.permissions().mode() & 0o111 != 0,
                    bytes: fs::read(place)?,
                }
            } else {
                Node::Pipe
            };
            found.insert(path, node);
        }
    }
    Ok(found)
}
