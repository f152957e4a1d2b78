//! Snapshots in a folder, so that a later worker with the same model starts with the prompts of an earlier one.
//!
//! Each is a file of its own: a header with the tokens that were read, the logits behind them where they are known, then
//! llama.cpp's bytes, with a checksum over all. A file that is damaged, or of another version, is removed and counts as
//! absent. Workers that share the folder do not disturb one another: a file is there whole or not at all.

use super::native::Token;
use super::saved::{Extent, Saved};
use crc32fast::Hasher as Checksum;
use magis_platform::private;
use std::cmp::Reverse;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

/// What every file begins with; the last character is the version of the form.
const MAGIC: [u8; 8] = *b"magispf1";
/// Tokens of a prompt that a header can have at the most: what is more is no header of ours.
const MOST_TOKENS: usize = 1 << 22;
/// Values of logits, likewise.
const MOST_LOGITS: usize = 1 << 22;

/// The files of one model.
#[derive(Debug)]
pub struct PrefixFiles {
    folder: PathBuf,
    // Of what else than the tokens the bytes depend: the version of llama.cpp, and how the context stores.
    key: String,
    files: Vec<PrefixFile>,
    most_bytes: u64,
    // What this process may still write.
    left_to_write: u64,
}

#[derive(Debug)]
struct PrefixFile {
    path: PathBuf,
    extent: Extent,
    read: Vec<Token>,
    bytes: u64,
    used: SystemTime,
    // Whether it was removed by somebody else, who wants it forgotten perhaps: it is not written once more.
    is_gone: bool,
}

/// The part of a file before llama.cpp's bytes.
struct FileHeader {
    extent: Extent,
    read: Vec<Token>,
    logits: Vec<f32>,
    bytes: usize,
    checksum: u32,
}

impl PrefixFiles {
    /// Opens a folder, which has to be there, for `most_bytes`. Files that are older and too many are removed.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn open(folder: &Path, key: String, most_bytes: u64) -> io::Result<Self> {
        let mut files = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_none_or(|extension| extension != "prefix") {
                continue;
            }
            match PrefixFile::open(&path, &key) {
                Ok(file) => files.push(file),
                Err(_) => remove(&path),
            }
        }
        let mut opened = Self {
            folder: folder.to_owned(),
            key,
            files,
            most_bytes,
            left_to_write: most_bytes,
        };
        opened.make_room(0);
        Ok(opened)
    }

    /// Returns what every snapshot has read.
    pub fn all(&self) -> impl Iterator<Item = (Extent, &[Token])> {
        let there = self.files.iter().filter(|file| !file.is_gone);
        there.map(|file| (file.extent, &*file.read))
    }

    /// Returns whether something is kept behind exactly these tokens, or was until somebody else removed it.
    pub fn contains(&self, extent: Extent, read: &[Token]) -> bool {
        self.files.iter().any(|file| file.is(extent, read))
    }

    /// Reads what is kept behind exactly these tokens.
    pub fn get(&mut self, extent: Extent, read: &[Token]) -> Option<Saved> {
        let at = self.files.iter().position(|file| file.is(extent, read))?;
        let file = &mut self.files[at];
        let Ok(saved) = file.load(&self.key) else {
            file.is_gone = true;
            remove(&file.path);
            return None;
        };
        file.used = SystemTime::now();
        // Another worker then knows it as well.
        let _told = File::options()
            .write(true)
            .open(&file.path)
            .and_then(|open| open.set_modified(file.used));
        Some(saved)
    }

    /// Keeps a snapshot; false where there is no room for it, or the disk refuses it.
    pub fn keep(&mut self, extent: Extent, read: &[Token], saved: &Saved) -> bool {
        let header = FileHeader {
            extent,
            read: read.to_vec(),
            logits: saved.logits.as_deref().unwrap_or_default().to_vec(),
            bytes: saved.bytes.len(),
            checksum: 0,
        };
        let size = header.size(&self.key) + saved.bytes.len() as u64;
        if !self.has_room_for(size) {
            return false;
        }
        self.make_room(size);
        let path = self
            .folder
            .join(format!("{:016x}.prefix", name(&self.key, extent, read)));
        if header.write(&path, &self.key, &saved.bytes).is_err() {
            // A full disk stays full: nothing more is tried.
            self.left_to_write = 0;
            return false;
        }
        self.left_to_write -= size;
        self.files.retain(|file| !file.is(extent, read));
        self.files.push(PrefixFile {
            path,
            extent,
            read: read.to_vec(),
            bytes: size,
            used: SystemTime::now(),
            is_gone: false,
        });
        true
    }

    /// Returns whether a file of so many bytes may be written: none is to take the room of many, and what one process writes
    /// has a bound.
    pub fn has_room_for(&self, bytes: u64) -> bool {
        bytes <= self.left_to_write.min(self.most_bytes / 4)
    }

    /// Removes the files that were not used longest, until `bytes` more fit.
    fn make_room(&mut self, bytes: u64) {
        self.files.sort_by_key(|file| Reverse(file.used));
        let mut sum: u64 = self.files.iter().map(|file| file.bytes).sum();
        while sum + bytes > self.most_bytes {
            let Some(file) = self.files.pop() else { break };
            sum -= file.bytes;
            remove(&file.path);
        }
    }
}

impl PrefixFile {
    fn open(path: &Path, key: &str) -> io::Result<Self> {
        let file = File::open(path)?;
        let about = file.metadata()?;
        let header = FileHeader::read(&mut BufReader::new(file), key)?;
        if header.size(key) + header.bytes as u64 != about.len() {
            return Err(damaged());
        }
        Ok(Self {
            path: path.to_owned(),
            extent: header.extent,
            read: header.read,
            bytes: about.len(),
            used: about.modified()?,
            is_gone: false,
        })
    }

    fn is(&self, extent: Extent, read: &[Token]) -> bool {
        self.extent == extent && self.read == read
    }

    fn load(&self, key: &str) -> io::Result<Saved> {
        let mut file = BufReader::new(File::open(&self.path)?);
        let header = FileHeader::read(&mut file, key)?;
        // The file may be another worker's by now, and of another size.
        let mut bytes = Vec::new();
        let most = self.bytes.min(header.bytes as u64);
        file.take(most).read_to_end(&mut bytes)?;
        let is_whole = bytes.len() == header.bytes && header.checksum_with(key, &bytes) == header.checksum;
        if !is_whole || header.extent != self.extent || header.read != self.read {
            return Err(damaged());
        }
        Ok(Saved {
            bytes: bytes.into(),
            logits: (!header.logits.is_empty()).then(|| Rc::from(header.logits)),
        })
    }
}

impl FileHeader {
    fn read(file: &mut impl Read, key: &str) -> io::Result<Self> {
        let mut magic = [0; MAGIC.len()];
        file.read_exact(&mut magic)?;
        let of_key = number(file)?;
        if magic != MAGIC || of_key != key.len() {
            return Err(damaged());
        }
        let mut its_key = vec![0; of_key];
        file.read_exact(&mut its_key)?;
        if its_key != key.as_bytes() {
            return Err(damaged());
        }
        let extent = match number(file)? {
            0 => Extent::State,
            1 => Extent::Sequence,
            _ => return Err(damaged()),
        };
        let read = values(file, MOST_TOKENS)?;
        let logits = values(file, MOST_LOGITS)?;
        Ok(Self {
            extent,
            read: read.into_iter().map(Token::from_le_bytes).collect(),
            logits: logits.into_iter().map(f32::from_le_bytes).collect(),
            bytes: number(file)?,
            checksum: u32::try_from(number(file)?).map_err(|_| damaged())?,
        })
    }

    /// Returns all of it but the checksum.
    fn written(&self, key: &str) -> Vec<u8> {
        let number = |number: usize| (number as u64).to_le_bytes();
        let mut written = Vec::from(MAGIC);
        written.extend(number(key.len()));
        written.extend(key.as_bytes());
        written.extend(number(match self.extent {
            Extent::State => 0,
            Extent::Sequence => 1,
        }));
        written.extend(number(self.read.len()));
        written.extend(self.read.iter().flat_map(|token| token.to_le_bytes()));
        written.extend(number(self.logits.len()));
        written.extend(self.logits.iter().flat_map(|logit| logit.to_le_bytes()));
        written.extend(number(self.bytes));
        written
    }

    /// Returns its bytes in the file.
    fn size(&self, key: &str) -> u64 {
        (MAGIC.len() + 6 * size_of::<u64>() + key.len() + 4 * (self.read.len() + self.logits.len())) as u64
    }

    fn checksum_with(&self, key: &str, bytes: &[u8]) -> u32 {
        let mut checksum = Checksum::new();
        checksum.update(&self.written(key));
        checksum.update(bytes);
        checksum.finalize()
    }

    /// Writes a file that is there whole or not at all. It need not outlive a power cut: it has a checksum.
    fn write(&self, path: &Path, key: &str, bytes: &[u8]) -> io::Result<()> {
        let half = path.with_extension(format!("{}.new", std::process::id()));
        let written = private::file_options()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&half)
            .and_then(|mut file| {
                file.write_all(&self.written(key))?;
                file.write_all(&u64::from(self.checksum_with(key, bytes)).to_le_bytes())?;
                file.write_all(bytes)?;
                fs::rename(&half, path)
            });
        if written.is_err() {
            remove(&half);
        }
        written
    }
}

fn name(key: &str, extent: Extent, read: &[Token]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (key, extent, read).hash(&mut hasher);
    hasher.finish()
}

fn number(file: &mut impl Read) -> io::Result<usize> {
    let mut bytes = [0; size_of::<u64>()];
    file.read_exact(&mut bytes)?;
    usize::try_from(u64::from_le_bytes(bytes)).map_err(|_| damaged())
}

fn values(file: &mut impl Read, most: usize) -> io::Result<Vec<[u8; 4]>> {
    let count = number(file)?;
    if count > most {
        return Err(damaged());
    }
    let mut bytes = vec![0; count * 4];
    file.read_exact(&mut bytes)?;
    Ok(bytes.as_chunks().0.to_vec())
}

fn damaged() -> io::Error {
    io::Error::from(io::ErrorKind::InvalidData)
}

/// Removes a file that is worth nothing to anybody. What cannot be removed does no harm.
fn remove(path: &Path) {
    let _gone = fs::remove_file(path);
}

#[cfg(test)]
mod tests {
    use super::Extent::{Sequence, State};
    use super::*;

    fn open(folder: &Path, most_bytes: u64) -> PrefixFiles {
        PrefixFiles::open(folder, "llama 1".to_owned(), most_bytes).unwrap()
    }

    fn saved(byte: u8, logits: &[f32]) -> Saved {
        Saved {
            bytes: [byte; 100].into(),
            logits: (!logits.is_empty()).then(|| logits.into()),
        }
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect()
    }

    #[test]
    fn a_later_worker_finds_what_an_earlier_one_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut earlier = open(folder.path(), 4000);
        assert!(earlier.keep(Sequence, &[1, -2, 3], &saved(7, &[0.5, -1.5])));
        assert!(earlier.keep(State, &[1, -2], &saved(8, &[])));
        let mut later = open(folder.path(), 4000);
        assert_eq!(later.get(Sequence, &[1, -2, 3]), Some(saved(7, &[0.5, -1.5])));
        assert_eq!(later.get(State, &[1, -2]), Some(saved(8, &[])));
        assert_eq!(later.get(State, &[1, -2, 3]), None);
        let mut other_engine = PrefixFiles::open(folder.path(), "llama 2".to_owned(), 4000).unwrap();
        assert_eq!(other_engine.get(State, &[1, -2]), None);
        assert!(files(folder.path()).is_empty(), "it can never be of use again");
    }

    #[test]
    fn a_damaged_file_counts_as_absent_and_is_removed() {
        for at in 0..40 {
            let folder = tempfile::tempdir().unwrap();
            assert!(open(folder.path(), 4000).keep(Sequence, &[1, 2, 3], &saved(7, &[0.5])));
            let path = files(folder.path()).remove(0);
            let mut bytes = fs::read(&path).unwrap();
            match at {
                0 => bytes.clear(),
                1 => bytes.truncate(60),
                2 => bytes.push(0),
                at => {
                    let at = at * bytes.len() / 40;
                    bytes[at] ^= 0x81;
                }
            }
            fs::write(&path, bytes).unwrap();
            let mut later = open(folder.path(), 4000);
            assert_eq!(later.get(Sequence, &[1, 2, 3]), None, "{at}");
        }
    }

    #[test]
    fn a_file_that_somebody_else_removed_counts_as_absent_and_is_not_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut kept = open(folder.path(), 4000);
        assert!(kept.keep(State, &[1], &saved(1, &[])));
        fs::remove_file(&files(folder.path())[0]).unwrap();
        assert_eq!(kept.get(State, &[1]), None);
        assert_eq!(kept.all().count(), 0);
        assert!(kept.contains(State, &[1]));
    }

    #[test]
    fn the_least_recently_used_makes_room_and_what_is_written_has_a_bound() {
        let folder = tempfile::tempdir().unwrap();
        let size = 8 + 6 * 8 + 7 + 4 + 100;
        let mut kept = open(folder.path(), 4 * size);
        for token in 0..4 {
            assert!(kept.keep(State, &[token], &saved(token as u8, &[])));
        }
        assert!(!kept.keep(State, &[9], &saved(9, &[])), "it has written enough");
        assert!(kept.get(State, &[0]).is_some());
        let mut later = open(folder.path(), 4 * size);
        assert!(later.keep(State, &[9], &saved(9, &[])));
        assert!(later.contains(State, &[0]) && later.contains(State, &[9]));
        assert_eq!(files(folder.path()).len(), 4);
        open(folder.path(), 2 * size);
        assert_eq!(files(folder.path()).len(), 2);
    }

    #[test]
    fn a_disk_that_refuses_is_not_asked_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut kept = open(folder.path(), 4000);
        drop(folder);
        assert!(!kept.keep(State, &[1], &saved(1, &[])));
        assert!(!kept.has_room_for(1));
    }
}
