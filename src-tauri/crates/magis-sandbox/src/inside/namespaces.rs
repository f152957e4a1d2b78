//! New name spaces, and the user inside them.

use super::{Failed, Step as _};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{Gid, Uid, getgid, getuid, sethostname};
use std::fs;

/// The user that commands run as where the person is root: no test should see itself as root.
const ORDINARY: u32 = 1000;

/// Leaves the machine's users, mounts, processes, network and host name behind. The next process that is started is the first of its
/// name space. Inside, this process is root, over nothing but these name spaces.
pub fn enter() -> Result<(), Failed> {
    let (user, group) = (getuid(), getgid());
    let spaces = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS
        | CloneFlags::CLONE_NEWCGROUP;
    unshare(spaces).step(|| "taking name spaces of its own".into())?;
    map(0, user, 0, group)?;
    sethostname("sandbox").step(|| "naming the host".into())
}

/// Becomes an ordinary user in one more name space, without any right over the mounts and the network made so far.
pub fn take_ordinary_user() -> Result<(), Failed> {
    unshare(CloneFlags::CLONE_NEWUSER).step(|| "giving up the rights of root".into())?;
    map(user_inside(), Uid::from_raw(0), user_inside(), Gid::from_raw(0))
}

/// Returns the user's number that commands see.
pub fn user_inside() -> u32 {
    ORDINARY
}

/// Maps a user and a group of the name space to those outside.
fn map(user: u32, user_outside: Uid, group: u32, group_outside: Gid) -> Result<(), Failed> {
    let maps = [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{user} {user_outside} 1")),
        ("/proc/self/gid_map", format!("{group} {group_outside} 1")),
    ];
    for (file, line) in maps {
        fs::write(file, line).step(|| format!("writing {file}"))?;
    }
    Ok(())
}
