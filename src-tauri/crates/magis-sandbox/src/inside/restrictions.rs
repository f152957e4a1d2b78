//! What the helper gives up before it starts the command, which inherits it all: more than a little of anything, writing elsewhere, and the
//! system calls that no test needs.

use super::notify::{self, Listener};
use super::paths::TEMPORARY;
use super::watched;
use super::{Failed, Step as _};
use crate::job::{Limits, SandboxJob};
use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
    RulesetStatus, Scope, path_beneath_rules,
};
use nix::libc;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// A process has this many threads at most, taken over all processes.
const THREADS: u64 = 16;

/// Sets the limits that the kernel itself holds; the others are watched.
pub fn limit(limits: &Limits) -> Result<(), Failed> {
    // One byte more than allowed, so that a file that went over can be told from one that just fits.
    let file = limits.file.saturating_add(1);
    for (resource, limit) in [
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_FSIZE, file),
        (Resource::RLIMIT_NPROC, limits.processes.saturating_mul(THREADS)),
    ] {
        let (_, most) = getrlimit(resource).step(|| format!("reading the limit {resource:?}"))?;
        let limit = limit.min(most);
        setrlimit(resource, limit, limit).step(|| format!("setting the limit {resource:?}"))?;
    }
    Ok(())
}

/// Limits the ids of processes in this name space, and with them the processes, also where the person is root, whom the limits above do not
/// bind. Linux has this since 6.14; before, counting has to do. To be called before the machine's `/proc` is let go.
pub fn limit_process_ids(limits: &Limits) {
    /// The kernel takes no smaller number.
    const LEAST: u64 = 400;
    let most = limits.processes.saturating_mul(THREADS).max(LEAST);
    // The number is only lowered, and one that the kernel does not take changes nothing. In an older kernel it would be the machine's own, and
    // this process, root over nothing but its name spaces, must not change it there.
    if is_of_this_name_space() {
        let _ = fs::write("/proc/sys/kernel/pid_max", most.to_string());
    }
}

/// Returns whether the kernel keeps the greatest process id for each name space, by its version.
fn is_of_this_name_space() -> bool {
    kernel() >= (6, 14)
}

/// Returns the first two numbers of the kernel's version.
fn kernel() -> (u32, u32) {
    let version = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = version
        .split(|letter: char| !letter.is_ascii_digit())
        .map(|number| number.parse::<u32>().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Allows reading what is there, and writing in the job's folders, temporary folders and devices alone. Returns whether this kernel knows
/// Landlock.
pub fn landlock(job: &SandboxJob) -> Result<bool, Failed> {
    let step = || "setting Landlock's rules".to_owned();
    let abi = ABI::V6;
    let writable: Vec<PathBuf> = job
        .scratch
        .iter()
        .map(|scratch| scratch.at.clone())
        .chain(TEMPORARY.map(PathBuf::from))
        .chain([PathBuf::from("/dev")])
        .collect();
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))
        .and_then(|rules| rules.scope(Scope::from_all(abi)))
        .and_then(Ruleset::create)
        .and_then(|rules| rules.add_rules(path_beneath_rules(["/"], AccessFs::from_read(abi))))
        .and_then(|rules| rules.add_rules(path_beneath_rules(&writable, AccessFs::from_all(abi))))
        .and_then(landlock::RulesetCreated::restrict_self)
        .step(step)?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}

/// Allows reading these files and folders, keeping files in the writable folders and using these devices, and nothing else of
/// files. Returns whether this kernel knows Landlock.
pub fn keep_files(readable: &[PathBuf], writable: &[PathBuf], devices: &[PathBuf]) -> Result<bool, Failed> {
    let step = || "setting Landlock's rules".to_owned();
    let abi = ABI::V6;
    let reading = AccessFs::ReadFile | AccessFs::ReadDir;
    let writing = reading | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::MakeReg | AccessFs::RemoveFile;
    let using = reading | AccessFs::WriteFile | AccessFs::IoctlDev;
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))
        .and_then(|rules| rules.scope(Scope::from_all(abi)))
        .and_then(Ruleset::create)
        .and_then(|rules| rules.add_rules(path_beneath_rules(readable, reading)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(writable, writing)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(devices, using)))
        .and_then(landlock::RulesetCreated::restrict_self)
        .step(step)?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}

/// Limits the memory of this process, files that it maps for reading left out.
pub fn limit_memory(bytes: u64) -> Result<(), Failed> {
    setrlimit(Resource::RLIMIT_DATA, bytes, bytes).step(|| "setting the limit of memory".into())?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0).step(|| "setting the limit of core files".into())
}

/// Refuses all that leads to the network, to other programs and to other processes, beside what is refused to every command. Threads are allowed.
pub fn alone() -> Result<(), Failed> {
    let step = || "setting the filter of system calls".to_owned();
    let arch: TargetArch = std::env::consts::ARCH.try_into().step(step)?;
    seccompiler::apply_filter(&unknown_calls(arch).step(step)?).step(step)?;
    let mut calls = refused_calls().step(step)?;
    for call in ALONE {
        calls.insert(*call, vec![]);
    }
    // A process of its own is one without the memory of this one.
    let shared = u64::from(libc::CLONE_VM.unsigned_abs());
    let apart = condition(0, SeccompCmpOp::MaskedEq(shared), 0).and_then(|apart| SeccompRule::new(vec![apart]));
    if let Some(rules) = calls.get_mut(&libc::SYS_clone) {
        rules.push(apart.step(step)?);
    }
    seccompiler::apply_filter(&filter(calls, libc::EPERM, arch).step(step)?).step(step)
}

/// Calls that are refused to who is to be alone, whatever their arguments.
const ALONE: &[i64] = &[
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
];

/// Refuses the system calls that change the machine, look into other processes or make further name spaces. Returns who writes down which were
/// made, where the kernel tells.
pub fn seccomp() -> Result<Option<Listener>, Failed> {
    let step = || "setting the filter of system calls".to_owned();
    let arch: TargetArch = std::env::consts::ARCH.try_into().step(step)?;
    // One filter's error comes before another one's question to the listener, so this holds for all of them.
    seccompiler::apply_filter(&unknown_calls(arch).step(step)?).step(step)?;
    let mut asked = refused_calls().step(step)?;
    // A kernel before 5.5 cannot be told to go on with a call that it asked about.
    if kernel() >= (5, 5) {
        asked.extend(watched::calls().map(|call| (call, vec![])));
    }
    match notify::apply(&filter(asked, libc::EPERM, arch).step(step)?) {
        Ok(listener) => Ok(Some(listener)),
        // A kernel before 5.0, or a container that listens already: refused all the same, but nothing is written down.
        Err(_) => {
            let refused = filter(refused_calls().step(step)?, libc::EPERM, arch).step(step)?;
            seccompiler::apply_filter(&refused).map(|()| None).step(step)
        }
    }
}

/// Returns a filter under which some calls end with an error, and all others are allowed.
fn filter(
    calls: BTreeMap<i64, Vec<SeccompRule>>,
    error: i32,
    arch: TargetArch,
) -> Result<BpfProgram, seccompiler::BackendError> {
    let action = SeccompAction::Errno(error.unsigned_abs());
    SeccompFilter::new(calls, SeccompAction::Allow, action, arch).and_then(BpfProgram::try_from)
}

/// Returns a filter under which some calls are none that this kernel knows.
fn unknown_calls(arch: TargetArch) -> Result<BpfProgram, seccompiler::BackendError> {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const IS_AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    /// Where the number of the call stands.
    const NUMBER: u32 = 0;
    /// From here on calls have their second numbers, on `x86_64` (x32, an ABI that few kernels offer). The other filters know the first ones alone.
    const SECOND: u32 = 0x4000_0000;
    const UNKNOWN: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    // The C library asks for `clone3` first and takes `clone` where there is none; only the flags of the latter can be looked at.
    let unknown = filter(BTreeMap::from([(libc::SYS_clone3, vec![])]), libc::ENOSYS, arch)?;
    if arch != TargetArch::x86_64 {
        return Ok(unknown);
    }
    let line = |code, k, jf| sock_filter { code, jt: 0, jf, k };
    let second = [
        line(LOAD, NUMBER, 0),
        line(IS_AT_LEAST, SECOND, 1),
        line(RETURN, UNKNOWN, 0),
    ];
    Ok(second.into_iter().chain(unknown).collect())
}

/// Returns the name of a system call that may be refused.
pub fn name_of(call: i64) -> Option<&'static str> {
    let by_arguments = [
        ("clone", libc::SYS_clone),
        ("unshare", libc::SYS_unshare),
        ("socket", libc::SYS_socket),
        ("ioctl", libc::SYS_ioctl),
        ("mknodat", libc::SYS_mknodat),
        #[cfg(target_arch = "x86_64")]
        ("mknod", libc::SYS_mknod),
    ];
    CALLS
        .iter()
        .chain(&by_arguments)
        .find(|(_, number)| *number == call)
        .map(|(name, _)| *name)
}

/// Calls that are refused whatever their arguments.
const CALLS: [(&str, i64); 46] = [
    ("acct", libc::SYS_acct),
    ("add_key", libc::SYS_add_key),
    ("adjtimex", libc::SYS_adjtimex),
    ("bpf", libc::SYS_bpf),
    ("chroot", libc::SYS_chroot),
    ("clock_adjtime", libc::SYS_clock_adjtime),
    ("clock_settime", libc::SYS_clock_settime),
    ("delete_module", libc::SYS_delete_module),
    ("fanotify_init", libc::SYS_fanotify_init),
    ("finit_module", libc::SYS_finit_module),
    ("fsconfig", libc::SYS_fsconfig),
    ("fsmount", libc::SYS_fsmount),
    ("fsopen", libc::SYS_fsopen),
    ("fspick", libc::SYS_fspick),
    ("init_module", libc::SYS_init_module),
    ("io_uring_enter", libc::SYS_io_uring_enter),
    ("io_uring_register", libc::SYS_io_uring_register),
    ("io_uring_setup", libc::SYS_io_uring_setup),
    ("kcmp", libc::SYS_kcmp),
    ("kexec_file_load", libc::SYS_kexec_file_load),
    ("kexec_load", libc::SYS_kexec_load),
    ("keyctl", libc::SYS_keyctl),
    ("lookup_dcookie", libc::SYS_lookup_dcookie),
    ("mount", libc::SYS_mount),
    ("mount_setattr", libc::SYS_mount_setattr),
    ("move_mount", libc::SYS_move_mount),
    ("name_to_handle_at", libc::SYS_name_to_handle_at),
    ("open_by_handle_at", libc::SYS_open_by_handle_at),
    ("open_tree", libc::SYS_open_tree),
    ("perf_event_open", libc::SYS_perf_event_open),
    ("pivot_root", libc::SYS_pivot_root),
    ("process_vm_readv", libc::SYS_process_vm_readv),
    ("process_vm_writev", libc::SYS_process_vm_writev),
    ("ptrace", libc::SYS_ptrace),
    ("quotactl", libc::SYS_quotactl),
    ("reboot", libc::SYS_reboot),
    ("request_key", libc::SYS_request_key),
    ("setdomainname", libc::SYS_setdomainname),
    ("sethostname", libc::SYS_sethostname),
    ("setns", libc::SYS_setns),
    ("settimeofday", libc::SYS_settimeofday),
    ("swapoff", libc::SYS_swapoff),
    ("swapon", libc::SYS_swapon),
    ("syslog", libc::SYS_syslog),
    ("umount2", libc::SYS_umount2),
    ("userfaultfd", libc::SYS_userfaultfd),
];

fn refused_calls() -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::BackendError> {
    let mut calls: BTreeMap<i64, Vec<SeccompRule>> = CALLS.into_iter().map(|(_, call)| (call, vec![])).collect();
    let spaces = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP;
    let mut any_space = Vec::new();
    for bit in (0..31)
        .map(|shift| 1_u64 << shift)
        .filter(|bit| u64::from(spaces.unsigned_abs()) & bit != 0)
    {
        any_space.push(SeccompRule::new(vec![condition(0, SeccompCmpOp::MaskedEq(bit), bit)?])?);
    }
    calls.insert(libc::SYS_clone, any_space.clone());
    calls.insert(libc::SYS_unshare, any_space);
    // Sockets of other kinds reach past the name space of the network: a virtual machine's host, hardware, the kernel's ciphers.
    let families = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let other: Result<Vec<_>, _> = families
        .iter()
        .map(|family| condition(0, SeccompCmpOp::Ne, u64::from(family.unsigned_abs())))
        .collect();
    // So do packets that a program makes up itself; the kernel's own messages are such packets as well.
    let raw = [libc::AF_INET, libc::AF_INET6].map(|family| {
        SeccompRule::new(vec![
            condition(0, SeccompCmpOp::Eq, u64::from(family.unsigned_abs()))?,
            condition(
                1,
                SeccompCmpOp::MaskedEq(SOCKET_KIND),
                u64::from(libc::SOCK_RAW.unsigned_abs()),
            )?,
        ])
    });
    let mut sockets = vec![SeccompRule::new(other?)?];
    for rule in raw {
        sockets.push(rule?);
    }
    calls.insert(libc::SYS_socket, sockets);
    // Files that stand for a device: a disk, the memory.
    let device = |argument: u8| {
        let kinds = [libc::S_IFCHR, libc::S_IFBLK];
        let rules = kinds.map(|kind| {
            let is_kind = SeccompCmpOp::MaskedEq(u64::from(libc::S_IFMT));
            condition(argument, is_kind, u64::from(kind)).and_then(|one| SeccompRule::new(vec![one]))
        });
        rules.into_iter().collect::<Result<Vec<_>, _>>()
    };
    calls.insert(libc::SYS_mknodat, device(2)?);
    #[cfg(target_arch = "x86_64")]
    calls.insert(libc::SYS_mknod, device(1)?);
    // Typing into a terminal in somebody's place.
    let typing = [libc::TIOCSTI, libc::TIOCLINUX]
        .map(|request| condition(1, SeccompCmpOp::Eq, request).and_then(|one| SeccompRule::new(vec![one])));
    calls.insert(libc::SYS_ioctl, typing.into_iter().collect::<Result<_, _>>()?);
    Ok(calls)
}

/// What of a socket's type says of which kind it is; the rest are flags.
const SOCKET_KIND: u64 = 0xf;

fn condition(
    argument: u8,
    comparison: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, comparison, value)
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// Returns what a filter says of a call, as the kernel works it out from the call's number. None: it has a line that is not known here.
    fn answer(program: &BpfProgram, number: i64) -> Option<u32> {
        const X86_64: u32 = 0xc000_003e;
        let (mut at, mut loaded) = (0, 0);
        loop {
            let line = program.get(at)?;
            let jump = |holds: bool| usize::from(if holds { line.jt } else { line.jf });
            at += 1;
            match (line.code, line.k) {
                (0x20, 0) => loaded = number as u32,
                (0x20, 4) => loaded = X86_64,
                (0x05, by) => at += by as usize,
                (0x15, to) => at += jump(loaded == to),
                (0x35, to) => at += jump(loaded >= to),
                (0x06, answer) => return Some(answer),
                _ => return None,
            }
        }
    }

    #[track_caller]
    fn check(number: i64, expected: u32) {
        let program = unknown_calls(TargetArch::x86_64).expect("a filter");
        assert_eq!(answer(&program, number), Some(expected), "{number:#x}");
    }

    #[test]
    fn calls_by_their_second_numbers_are_unknown() {
        const UNKNOWN: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
        check(libc::SYS_read, libc::SECCOMP_RET_ALLOW);
        check(libc::SYS_clone, libc::SECCOMP_RET_ALLOW);
        check(libc::SYS_clone3, UNKNOWN);
        for call in [libc::SYS_clone, libc::SYS_mount, 0] {
            check(0x4000_0000 | call, UNKNOWN);
        }
    }
}
