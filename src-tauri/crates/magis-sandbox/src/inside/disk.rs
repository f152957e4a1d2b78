//! What the command writes: how large its files are, and how much they hold together.

use crate::job::Limits;
use crate::outcome::End;
use nix::libc;
use nix::sys::statvfs::statvfs;
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Files that may be added to those that were there; whoever makes more has used up the disk.
const FILES: usize = 200_000;
/// The length of a path at which a folder is opened, and paths in it begin anew. The kernel takes twice as much at a time.
const LONG: usize = 2048;
/// How often paths may begin anew on the way to one file, each time with an open folder; whoever nests deeper has used up the disk.
const ANEW: usize = 200;

/// What the command writes, and how much it may.
pub struct Disk {
    folders: Vec<PathBuf>,
    limits: Limits,
    /// What was there at first, in bytes: a whole tree, where it is copied.
    bytes: u64,
    /// The files and folders that were there at first.
    files: usize,
    /// Files that were larger at first than the command may write one, by their device and number, with their sizes.
    large: BTreeMap<(u64, u64), u64>,
    /// What was free at first where the folders lie, in bytes, as far as that is known.
    free: Vec<Option<u64>>,
}

impl Disk {
    /// Begins for the folders that take up what the command writes.
    pub fn new(folders: Vec<PathBuf>, limits: &Limits) -> Self {
        let (mut bytes, mut files, mut large) = (0, 0, BTreeMap::new());
        for found in Walk::through(&folders) {
            files += 1;
            bytes += held(&found);
            if !found.is_dir() && found.len() > limits.file {
                large.insert((found.dev(), found.ino()), found.len());
            }
        }
        Self {
            free: folders.iter().map(|folder| free_at(folder)).collect(),
            folders,
            limits: *limits,
            bytes,
            files,
            large,
        }
    }

    /// Returns the end of a command that wrote a file, or files, larger than allowed. `unnamed` is what its files hold that no folder names, in bytes.
    pub fn over(&self, unnamed: u64) -> Option<End> {
        let used_up = Some(End::DiskUsedUp(self.limits.disk));
        let (mut bytes, mut files) = (unnamed, 0_usize);
        let is_too_much = |bytes: u64| bytes.saturating_sub(self.bytes) > self.limits.disk;
        let mut walk = Walk::through(&self.folders);
        for found in &mut walk {
            files += 1;
            bytes += held(&found);
            if !found.is_dir() && found.len() > self.most(&found) {
                return Some(End::FileTooLarge(self.limits.file));
            }
            if is_too_much(bytes) || files.saturating_sub(self.files) > FILES {
                return used_up;
            }
        }
        if is_too_much(bytes) || walk.is_too_deep || self.is_filling() {
            return used_up;
        }
        None
    }

    /// Returns how large a file may be: one that was larger than that at first may not grow.
    fn most(&self, file: &Metadata) -> u64 {
        let at_first = self.large.get(&(file.dev(), file.ino()));
        at_first.copied().unwrap_or(self.limits.file)
    }

    fn is_filling(&self) -> bool {
        self.folders
            .iter()
            .zip(&self.free)
            .filter_map(|(folder, at_first)| at_first.zip(free_at(folder)))
            .any(|(at_first, now)| is_filling(at_first, now, self.limits.disk))
    }
}

/// Returns whether a disk fills up: more than `limit` has gone since the command started, and less than that is left. Other programs write on the
/// disk as well, so what has gone says nothing by itself; but a command that wrote where nobody can count it must not fill the disk.
fn is_filling(at_first: u64, now: u64, limit: u64) -> bool {
    at_first.saturating_sub(now) > limit && now < limit
}

/// Returns what is free for ordinary users where a folder lies, in bytes.
fn free_at(folder: &Path) -> Option<u64> {
    let disk = statvfs(folder).ok()?;
    Some(disk.blocks_available() * disk.fragment_size())
}

/// Returns how many bytes a file holds on the disk.
fn held(found: &Metadata) -> u64 {
    if found.is_dir() { 0 } else { found.blocks() * 512 }
}

/// All files and folders in some folders, and in those, however deep they are nested. What has gone since is left out.
struct Walk {
    /// Still to be read.
    open: Vec<Folder>,
    /// What is being read.
    list: Option<(fs::ReadDir, Folder)>,
    /// Whether a folder was left out because it is nested too deep.
    is_too_deep: bool,
}

/// A folder by its path, which begins at another one, held open, where it would be too long as a whole.
struct Folder {
    base: Option<Rc<Base>>,
    path: PathBuf,
}

/// A folder that is held open.
struct Base {
    file: File,
    /// How often the path to it began anew.
    depth: usize,
}

impl Walk {
    fn through(folders: &[PathBuf]) -> Self {
        let open = folders.iter().map(|path| Folder {
            base: None,
            path: path.clone(),
        });
        Self {
            open: open.collect(),
            list: None,
            is_too_deep: false,
        }
    }
}

impl Iterator for Walk {
    type Item = Metadata;

    fn next(&mut self) -> Option<Metadata> {
        loop {
            let Some((list, folder)) = &mut self.list else {
                let next = self.open.pop()?;
                if next.depth() > ANEW {
                    self.is_too_deep = true;
                } else {
                    self.list = next.read();
                }
                continue;
            };
            let Some(entry) = list.next() else {
                self.list = None;
                continue;
            };
            let Ok(entry) = entry else { continue };
            let Ok(found) = entry.metadata() else { continue };
            if found.is_dir() {
                self.open.push(Folder {
                    base: folder.base.clone(),
                    path: folder.path.join(entry.file_name()),
                });
            }
            return Some(found);
        }
    }
}

impl Folder {
    fn depth(&self) -> usize {
        self.base.as_ref().map_or(0, |base| base.depth)
    }

    /// Begins to read it. Returns the folder with what is in it.
    fn read(self) -> Option<(fs::ReadDir, Self)> {
        let folder = if self.path.as_os_str().len() > LONG {
            self.anew()?
        } else {
            self
        };
        Some((fs::read_dir(folder.whole_path()).ok()?, folder))
    }

    /// Returns the same folder with a path that begins at itself.
    fn anew(&self) -> Option<Self> {
        let mut options = File::options();
        // A link or a pipe may have come in its place.
        options.read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW);
        let base = Base {
            file: options.open(self.whole_path()).ok()?,
            depth: self.depth() + 1,
        };
        Some(Self {
            base: Some(Rc::new(base)),
            path: PathBuf::new(),
        })
    }

    fn whole_path(&self) -> PathBuf {
        match &self.base {
            Some(base) => Path::new(&format!("/proc/self/fd/{}", base.file.as_raw_fd())).join(&self.path),
            None => self.path.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a file of so many bytes.
    fn write(path: &Path, bytes: usize) {
        fs::write(path, vec![1_u8; bytes]).expect("a file");
    }

    /// Writes ten files of 10000 bytes into a folder.
    fn write_ten(folder: &Path) {
        fs::create_dir(folder).expect("a folder");
        for number in 0..10 {
            write(&folder.join(number.to_string()), 10_000);
        }
    }

    #[test]
    fn what_was_there_at_first_is_not_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        let inside = |name: &str| folder.path().join(name);
        let limits = Limits {
            file: 20_000,
            disk: 60_000,
            ..Limits::default()
        };
        write_ten(&inside("before"));
        write(&inside("before/large"), 50_000);
        let disk = Disk::new(vec![folder.path().to_owned()], &limits);
        assert_eq!(disk.over(0), None);

        fs::rename(inside("before/large"), inside("moved")).expect("moving a file");
        assert_eq!(disk.over(0), None);
        write(&inside("new"), 20_001);
        assert_eq!(disk.over(0), Some(End::FileTooLarge(20_000)));
        write(&inside("new"), 20_000);
        assert_eq!(disk.over(0), None);
        write(&inside("moved"), 50_001);
        assert_eq!(disk.over(0), Some(End::FileTooLarge(20_000)));
        write(&inside("moved"), 50_000);
        assert_eq!(disk.over(0), None);

        assert_eq!(disk.over(60_000), Some(End::DiskUsedUp(60_000)));
        write_ten(&inside("after"));
        assert_eq!(disk.over(0), Some(End::DiskUsedUp(60_000)));
    }

    #[test]
    fn a_disk_fills_up_where_more_than_the_limit_has_gone_and_less_is_left() {
        for (at_first, now, expected) in [
            (100, 100, false),
            (100, 60, false),
            (100, 39, false),
            (60, 29, true),
            (60, 30, false),
            (29, 0, false),
            (20, 90, false),
        ] {
            assert_eq!(is_filling(at_first, now, 30), expected, "{at_first} {now}");
        }
    }
}
