//! The folder for what commands change: one for each use, in the data folder, gone when it is over.

use crate::EngineError;
use crate::data_folder::DataFolder;
use magis_platform::{private, process};
use magis_sandbox::{Isolation, LayerError, SandboxJob, Scratch, ScratchLayer};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The largest file that is compared with what it was before, in bytes.
const MOST_COMPARED: u64 = 256 << 20;

/// A folder that holds the layers of commands; it goes, with all in it, when the value goes.
#[derive(Debug)]
pub struct ScratchFolder {
    folder: PathBuf,
    layers: Vec<ChangeableFolder>,
}

/// A folder that commands may change.
#[derive(Debug)]
struct ChangeableFolder {
    /// Where commands see it.
    at: PathBuf,
    original: PathBuf,
    layer: ScratchLayer,
}

static NEXT: AtomicU32 = AtomicU32::new(0);

impl ScratchFolder {
    /// Makes a folder of its own. Those that programs left behind when they were killed are removed first.
    ///
    /// # Errors
    /// When the data folder cannot be written.
    pub fn create(data: &DataFolder) -> Result<Self, EngineError> {
        let all = data.scratch();
        private::create_folder(&all).map_err(EngineError::io("make", &all))?;
        Self::remove_abandoned(data);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = all.join(format!("{}-{number}", std::process::id()));
        // An earlier process of the same id may have left one.
        let _ = magis_sandbox::remove_tree(&folder);
        private::create_folder(&folder).map_err(EngineError::io("make", &folder))?;
        Ok(Self {
            folder,
            layers: Vec::new(),
        })
    }

    /// Removes those that programs left behind when they were killed. What cannot be removed now is tried again the next time.
    pub(crate) fn remove_abandoned(data: &DataFolder) {
        for entry in fs::read_dir(data.scratch()).into_iter().flatten().flatten() {
            if owner(&entry.file_name().to_string_lossy()).is_some_and(|owner| !process::is_alive(owner)) {
                let _ = magis_sandbox::remove_tree(&entry.path());
            }
        }
    }

    /// Returns the folder itself, for what is to be read by commands.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Returns the layer that was made as the `number`-th, from 0.
    pub fn layer(&self, number: usize) -> Option<&ScratchLayer> {
        self.layers.get(number).map(|folder| &folder.layer)
    }

    /// Returns the layer that was made last.
    pub fn last_layer(&self) -> Option<&ScratchLayer> {
        self.layers.last().map(|folder| &folder.layer)
    }

    /// Returns all layers, each with where commands see it.
    pub fn layers(&self) -> impl Iterator<Item = (&Path, &ScratchLayer)> {
        self.layers.iter().map(|folder| (folder.at.as_path(), &folder.layer))
    }

    /// Returns the files that a command changed in the folder that it saw at `at`, by their paths there. Where `isolation` has no overlays, the folder was
    /// copied: what is as it was is left out then, and what was removed is not known.
    pub fn changed_files(&self, at: &Path, isolation: Isolation) -> Vec<PathBuf> {
        let Some(folder) = self.layers.iter().find(|folder| folder.at == at) else {
            return Vec::new();
        };
        let mut changed = folder.layer.changed_files();
        if !isolation.overlay {
            changed.retain(|path| {
                let original = folder.original.join(path);
                !has_same_bytes(&original, &folder.layer, path) && !is_link_in_both(&original, &folder.layer, path)
            });
        }
        changed
    }

    /// Lets a job change a folder, seen at `at`, with a layer of its own. Returns that layer.
    ///
    /// # Errors
    /// When the layer cannot be made.
    pub fn allow_change(
        &mut self,
        job: &mut SandboxJob,
        original: &Path,
        at: &Path,
    ) -> Result<&ScratchLayer, EngineError> {
        let layer = ScratchLayer::create(self.folder.join(format!("layer{}", self.layers.len())))?;
        job.scratch.push(Scratch {
            at: at.to_owned(),
            original: original.to_owned(),
            layer: layer.folder().to_owned(),
        });
        let number = self.layers.len();
        self.layers.push(ChangeableFolder {
            at: at.to_owned(),
            original: original.to_owned(),
            layer,
        });
        Ok(&self.layers[number].layer)
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        self.layers.clear();
        let _ = magis_sandbox::remove_tree(&self.folder);
    }
}

/// Returns whether a command left a file as it was before; `path` is its path in the layer.
pub(super) fn has_same_bytes(original: &Path, layer: &ScratchLayer, path: &Path) -> bool {
    let before = original.symlink_metadata().ok().filter(fs::Metadata::is_file);
    let Some(before) = before.filter(|before| before.len() <= MOST_COMPARED) else {
        return false;
    };
    let after = layer.read(path, before.len());
    after.is_ok_and(|after| fs::read(original).is_ok_and(|before| before == after))
}

/// Returns whether there is a link where one was before. Where it leads is not looked at: a layer opens no links.
fn is_link_in_both(original: &Path, layer: &ScratchLayer, path: &Path) -> bool {
    original.is_symlink() && matches!(layer.read(path, 0), Err(LayerError::NoFile(_)))
}

/// Returns the id of the process that made a folder of this name.
fn owner(name: &str) -> Option<u32> {
    name.split_once('-')?.0.parse().ok()
}
