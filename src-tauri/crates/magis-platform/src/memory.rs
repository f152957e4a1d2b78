//! How much memory the machine has, how much of it can be had, and how much this process holds.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the bytes of memory that the machine has; `None` where the system does not say (not Linux).
pub fn total() -> Option<u64> {
    field_of("/proc/meminfo", "MemTotal")
}

/// Returns the bytes of memory that can be taken without swapping: what the machine has available, or what the control group
/// still allows when that is less; `None` where the system does not say (not Linux).
pub fn available() -> Option<u64> {
    let machine = field_of("/proc/meminfo", "MemAvailable")?;
    let groups = fs::read_to_string("/proc/self/cgroup").map(|text| control_groups(Path::new("/sys/fs/cgroup"), &text));
    let allowed = groups.unwrap_or_default().iter().filter_map(ControlGroup::left).min();
    Some(allowed.map_or(machine, |allowed| allowed.min(machine)))
}

/// Returns the bytes of memory that this process holds; `None` where the system does not say (not Linux).
pub fn resident() -> Option<u64> {
    field_of("/proc/self/status", "VmRSS")
}

/// Returns the bytes of a field that the text of a `/proc` file states in kB.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

fn field_of(file: &str, name: &str) -> Option<u64> {
    field(&fs::read_to_string(file).ok()?, name)
}

/// A control group with a limit on memory.
struct ControlGroup {
    folder: PathBuf,
    version: ControlGroupVersion,
}

enum ControlGroupVersion {
    One,
    Two,
}

/// Returns the control groups this process is in, with all their parents, from the text of `/proc/self/cgroup`.
fn control_groups(root: &Path, own: &str) -> Vec<ControlGroup> {
    let mut all = Vec::new();
    for line in own.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        let (mount, version): (PathBuf, fn() -> ControlGroupVersion) = if controllers.is_empty() {
            (root.to_owned(), || ControlGroupVersion::Two)
        } else if controllers.split(',').any(|name| name == "memory") {
            (root.join("memory"), || ControlGroupVersion::One)
        } else {
            continue;
        };
        // Inside a container the path may be the host's and not exist here; the mount's own root then holds the limit.
        let relative = Path::new(path.trim_start_matches('/'));
        all.extend(relative.ancestors().map(|part| ControlGroup {
            folder: mount.join(part),
            version: version(),
        }));
    }
    all
}

impl ControlGroup {
    /// Returns the bytes it still allows; file cache that can be dropped counts as free. Nothing without a limit.
    fn left(&self) -> Option<u64> {
        let (limit, usage, cache) = match self.version {
            ControlGroupVersion::Two => ("memory.max", "memory.current", "inactive_file "),
            ControlGroupVersion::One => ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "),
        };
        let number = |file: &str| {
            fs::read_to_string(self.folder.join(file))
                .ok()?
                .trim()
                .parse::<u64>()
                .ok()
        };
        let limit = number(limit)?;
        let usage = number(usage)?;
        let stat = fs::read_to_string(self.folder.join("memory.stat")).unwrap_or_default();
        let droppable = stat
            .lines()
            .find_map(|line| line.strip_prefix(cache)?.trim().parse::<u64>().ok())
            .unwrap_or(0);
        Some(limit.saturating_sub(usage.saturating_sub(droppable)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_meminfo_is_in_bytes() {
        let meminfo = "MemTotal: 9 kB\nMemAvailable:    2048 kB\n";
        assert_eq!(field(meminfo, "MemAvailable"), Some(2_097_152));
        assert_eq!(field("MemTotal: 9 kB\n", "MemAvailable"), None);
    }

    #[test]
    fn the_tightest_control_group_counts_and_droppable_cache_is_free() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("folder");
            fs::write(path, text).expect("file");
        };
        write("user/memory.max", "max\n");
        write("user/memory.current", "77\n");
        write("user/app/memory.max", "1000\n");
        write("user/app/memory.current", "700\n");
        write("user/app/memory.stat", "anon 500\ninactive_file 200\n");
        write("memory/memory.limit_in_bytes", "900\n");
        write("memory/memory.usage_in_bytes", "100\n");
        let left = |own: &str| {
            control_groups(root.path(), own)
                .iter()
                .filter_map(ControlGroup::left)
                .min()
        };
        assert_eq!(left("0::/user/app\n"), Some(500));
        assert_eq!(left("0::/user\n"), None);
        assert_eq!(left("4:cpu,memory:/docker/of-the-host\n3:cpuset:/\n"), Some(800));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_says_what_it_has() {
        let (total, available, resident) = (total().unwrap(), available().unwrap(), resident().unwrap());
        assert!(
            available <= total && resident < total && resident > 1 << 20,
            "{total} {available} {resident}"
        );
    }
}
