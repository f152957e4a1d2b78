//! What the command sees instead of the machine's files: the system's programs and libraries, what the job names, and empty folders to write
//! in. All of it is mounted below a new root; the old one is then let go.

use super::keys;
use super::paths::{HOME, NEW, OLD, TEMPORARY, below, make_folder, make_parent, write};
use super::{Failed, Step as _};
use crate::files;
use crate::job::{SandboxJob, Scratch};
use crate::layer::{UPPER, WORK, copy_tree};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::statvfs::{FsFlags, statvfs};
use nix::unistd::pivot_root;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Programs and libraries. Links among them stay links.
const SYSTEM: [&str; 10] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/var/lib/gems",
    "/nix/store",
    "/gnu/store",
];

/// Of `/etc`, what programs need to start: nothing that names the machine, its users or its secrets. A word covers all that begins with it.
const SETTINGS: [&str; 23] = [
    "alternatives",
    "ca-certificates",
    "crypto-policies",
    "debian_version",
    "dotnet",
    "fonts",
    "java",
    "ld.so",
    "localtime",
    "locale",
    "lsb-release",
    "magic",
    "maven",
    "mime.types",
    "os-release",
    "php",
    "pki",
    "protocols",
    "python",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
    "timezone",
];

const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// What was built for a job's changes.
pub struct Built {
    /// Every folder to be changed lies behind an overlay; where the file system allows none, it is copied.
    pub overlay: bool,
    /// The folders that take up the changes; the new root does not show them.
    pub changed: Vec<File>,
}

/// Builds the new root and enters it.
pub fn build(job: &SandboxJob) -> Result<Built, Failed> {
    begin()?;
    system()?;
    processes()?;
    devices(job.limits.memory)?;
    keys::place()?;
    for path in &job.readable {
        if below(OLD, path).exists() {
            show(path)?;
        }
    }
    let mut built = Built {
        overlay: true,
        changed: Vec::new(),
    };
    for scratch in &job.scratch {
        built.overlay &= changeable(scratch)?;
        let changed = below(OLD, &scratch.layer).join(UPPER);
        built
            .changed
            .push(File::open(&changed).step(|| format!("opening {}", changed.display()))?);
    }
    finish()?;
    Ok(built)
}

/// Makes an empty root of its own, with the machine's at [`OLD`].
fn begin() -> Result<(), Failed> {
    let nothing = None::<&str>;
    mount(nothing, "/", nothing, MsFlags::MS_REC | MsFlags::MS_PRIVATE, nothing)
        .step(|| "parting from the machine's mounts".into())?;
    tmpfs("/tmp", "mode=755,size=16m")?;
    for folder in [OLD, NEW] {
        make_folder(&below("/tmp", Path::new(folder)))?;
    }
    std::env::set_current_dir("/tmp").step(|| "entering the new root".into())?;
    pivot_root(".", &below("/tmp", Path::new(OLD))).step(|| "entering the new root".into())?;
    std::env::set_current_dir("/").step(|| "entering the new root".into())?;
    // A mount of its own, so that it can become the root.
    tmpfs(NEW, "mode=755,size=16m")
}

fn system() -> Result<(), Failed> {
    for folder in SYSTEM {
        show(Path::new(folder))?;
    }
    let settings = below(OLD, Path::new("/etc"));
    for inside in ["", "ssl"] {
        let Ok(entries) = fs::read_dir(settings.join(inside)) else {
            continue;
        };
        for entry in entries.flatten() {
            let name = Path::new(inside).join(entry.file_name());
            if SETTINGS.iter().any(|word| name.to_string_lossy().starts_with(word)) {
                show(&Path::new("/etc").join(&name))?;
            }
        }
    }
    let user = super::namespaces::user_inside();
    let made = [
        (
            "/etc/passwd",
            format!(
                "root:x:0:0:root:/root:/bin/sh\nsandbox:x:{user}:{user}:sandbox:{HOME}:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"
            ),
        ),
        (
            "/etc/group",
            format!("root:x:0:\nsandbox:x:{user}:\nnogroup:x:65534:\n"),
        ),
        ("/etc/hosts", "127.0.0.1 localhost sandbox\n::1 localhost\n".to_owned()),
        // An address set aside for documents: a look-up fails at once, and is counted as a wish for the network.
        (
            "/etc/resolv.conf",
            "nameserver 192.0.2.1\noptions timeout:1 attempts:1\n".to_owned(),
        ),
        (
            "/etc/nsswitch.conf",
            "passwd: files\ngroup: files\nhosts: files dns\n".to_owned(),
        ),
    ];
    for (path, text) in made {
        write(&below(NEW, Path::new(path)), &text)?;
    }
    Ok(())
}

/// Shows the processes inside. What of `/proc` is about the machine cannot be written: where the person is root, the kernel would let it.
fn processes() -> Result<(), Failed> {
    let at = below(NEW, Path::new("/proc"));
    make_folder(&at)?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), &at, Some("proc"), flags, None::<&str>).step(|| "mounting /proc".into())?;
    for entry in fs::read_dir(&at).step(|| "reading /proc".into())?.flatten() {
        let about_processes = entry
            .file_name()
            .to_string_lossy()
            .starts_with(|first: char| first.is_ascii_digit());
        // Links lead to processes too: `self`, `thread-self`, `mounts`, `net`.
        if !about_processes && entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            bind(&entry.path(), &entry.path())?;
            read_only(&entry.path())?;
        }
    }
    Ok(())
}

fn devices(memory: u64) -> Result<(), Failed> {
    for name in DEVICES {
        let device = Path::new("/dev").join(name);
        write(&below(NEW, &device), "")?;
        bind(&below(OLD, &device), &below(NEW, &device))?;
    }
    let links = [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
        ("ptmx", "pts/ptmx"),
    ];
    for (name, to) in links {
        symlink(to, below(NEW, &Path::new("/dev").join(name))).step(|| format!("making /dev/{name}"))?;
    }
    let terminals = below(NEW, Path::new("/dev/pts"));
    make_folder(&terminals)?;
    mount(
        Some("devpts"),
        &terminals,
        Some("devpts"),
        MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC,
        Some("newinstance,ptmxmode=0666,mode=620"),
    )
    .step(|| "mounting /dev/pts".into())?;
    // One file system for all of them, so that together they hold no more than the command's memory.
    tmpfs("/memory", &format!("mode=755,size={memory}"))?;
    for (number, folder) in TEMPORARY.iter().enumerate() {
        let held = PathBuf::from(format!("/memory/{number}"));
        make_folder(&held)?;
        let seen = below(NEW, Path::new(folder));
        make_folder(&seen)?;
        bind(&held, &seen)?;
    }
    Ok(())
}

/// Shows a file or folder of the machine at its own path, read-only.
fn show(path: &Path) -> Result<(), Failed> {
    let (real, seen) = (below(OLD, path), below(NEW, path));
    let Ok(kind) = fs::symlink_metadata(&real) else {
        return Ok(());
    };
    if seen.symlink_metadata().is_ok() && !kind.is_dir() {
        return Ok(());
    }
    if kind.is_symlink() {
        let to = fs::read_link(&real).step(|| format!("reading the link {}", path.display()))?;
        make_parent(&seen)?;
        return symlink(to, &seen).step(|| format!("making the link {}", path.display()));
    }
    if kind.is_dir() {
        make_folder(&seen)?;
    } else {
        write(&seen, "")?;
    }
    bind(&real, &seen)?;
    for mounted in mounts_below(&seen)? {
        read_only(&mounted)?;
    }
    Ok(())
}

/// Shows a folder so that it can be changed; the changes go to its layer. Returns whether by an overlay.
fn changeable(scratch: &Scratch) -> Result<bool, Failed> {
    let (original, layer, seen) = (
        below(OLD, &scratch.original),
        below(OLD, &scratch.layer),
        below(NEW, &scratch.at),
    );
    // A folder inside another one: strangers may have put a link in its place, and the machine's own root is still there to lead to.
    files::without_links(Path::new(NEW), &seen).step(|| format!("showing {}", scratch.at.display()))?;
    make_folder(&seen)?;
    let (upper, work) = (layer.join(UPPER), layer.join(WORK));
    let options = format!(
        "userxattr,lowerdir={},upperdir={},workdir={}",
        escaped(&original),
        escaped(&upper),
        escaped(&work)
    );
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    if mount(Some("overlay"), &seen, Some("overlay"), flags, Some(options.as_str())).is_ok() {
        return Ok(true);
    }
    copy_tree(&original, &upper).step(|| format!("copying {}", scratch.original.display()))?;
    bind(&upper, &seen)?;
    Ok(false)
}

/// Makes the new root the only one.
fn finish() -> Result<(), Failed> {
    let step = || "letting the machine's root go".to_owned();
    umount2(OLD, MntFlags::MNT_DETACH).step(step)?;
    std::env::set_current_dir(NEW).step(step)?;
    pivot_root(".", ".").step(step)?;
    umount2(".", MntFlags::MNT_DETACH).step(step)?;
    std::env::set_current_dir("/").step(step)?;
    read_only(Path::new("/"))
}

fn tmpfs(at: impl AsRef<Path>, options: &str) -> Result<(), Failed> {
    let at = at.as_ref();
    make_folder(at)?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), at, Some("tmpfs"), flags, Some(options)).step(|| format!("mounting {}", at.display()))
}

fn bind(from: &Path, to: &Path) -> Result<(), Failed> {
    mount(
        Some(from),
        to,
        None::<&str>,
        MsFlags::MS_BIND | MsFlags::MS_REC,
        None::<&str>,
    )
    .step(|| format!("showing {}", from.display()))
}

/// Takes writing away from one mount. What was taken away outside has to be named again, or the kernel refuses.
fn read_only(at: &Path) -> Result<(), Failed> {
    let step = || format!("making {} read-only", at.display());
    let before = statvfs(at).step(step)?.flags();
    let kept = [
        (FsFlags::ST_NODEV, MsFlags::MS_NODEV),
        (FsFlags::ST_NOEXEC, MsFlags::MS_NOEXEC),
        (FsFlags::ST_NOATIME, MsFlags::MS_NOATIME),
        (FsFlags::ST_NODIRATIME, MsFlags::MS_NODIRATIME),
        (FsFlags::ST_RELATIME, MsFlags::MS_RELATIME),
    ];
    let mut flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY | MsFlags::MS_NOSUID;
    for (was, flag) in kept {
        if before.contains(was) {
            flags |= flag;
        }
    }
    mount(None::<&str>, at, None::<&str>, flags, None::<&str>).step(step)
}

/// Returns the mounts at a path and below it, by the kernel's list (`proc_pid_mountinfo(5)`).
fn mounts_below(path: &Path) -> Result<Vec<PathBuf>, Failed> {
    let list = below(OLD, Path::new("/proc/self/mountinfo"));
    let text = fs::read_to_string(list).step(|| "reading the list of mounts".into())?;
    let points = text
        .lines()
        .filter_map(|line| line.split(' ').nth(4))
        .map(|point| PathBuf::from(unescaped(point)));
    Ok(points.filter(|point| point.starts_with(path)).collect())
}

/// Reads the list's way to write blanks: a backslash and three octal digits.
fn unescaped(point: &str) -> String {
    let mut text = String::new();
    let mut rest = point;
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        let code = after.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(code) => {
                text.push(char::from(code));
                rest = &after[3..];
            }
            None => {
                text.push('\\');
                rest = after;
            }
        }
    }
    text + rest
}

/// Writes a path so that the overlay's options keep it whole.
fn escaped(path: &Path) -> String {
    let mut text = String::new();
    for letter in path.to_string_lossy().chars() {
        if matches!(letter, '\\' | ',' | ':') {
            text.push('\\');
        }
        text.push(letter);
    }
    text
}
