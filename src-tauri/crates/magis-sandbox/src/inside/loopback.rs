//! The network inside: the loopback device alone, so that tests can speak with servers that they start themselves.

use super::{Failed, Step as _};
use nix::sys::socket::{AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, socket};
use std::fs;
use std::io;
use std::os::fd::AsRawFd as _;

/// Brings the loopback device up, by one message to the kernel.
pub fn bring_up() -> Result<(), Failed> {
    let step = || "bringing up the loopback device".to_owned();
    let link = socket(
        AddressFamily::Netlink,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC,
        SockProtocol::NetlinkRoute,
    )
    .step(step)?;
    sendto(
        link.as_raw_fd(),
        &up_message(),
        &NetlinkAddr::new(0, 0),
        MsgFlags::empty(),
    )
    .step(step)?;
    let mut answer = [0; 64];
    recv(link.as_raw_fd(), &mut answer, MsgFlags::empty()).step(step)?;
    let code = answer[16..20].try_into().map_or(0, i32::from_ne_bytes);
    if code == 0 {
        return Ok(());
    }
    Err(io::Error::from_raw_os_error(-code)).step(step)
}

/// Returns the message (rtnetlink(7)): a header, then which device, which flags, and which of the flags are meant.
fn up_message() -> [u8; 32] {
    const NEW_LINK: u16 = 16;
    const REQUEST_AND_ANSWER: u16 = 1 | 4;
    const LOOPBACK: u32 = 1;
    const UP: u32 = 1;
    let mut message = [0; 32];
    message[0..4].copy_from_slice(&32_u32.to_ne_bytes());
    message[4..6].copy_from_slice(&NEW_LINK.to_ne_bytes());
    message[6..8].copy_from_slice(&REQUEST_AND_ANSWER.to_ne_bytes());
    message[20..24].copy_from_slice(&LOOPBACK.to_ne_bytes());
    message[24..28].copy_from_slice(&UP.to_ne_bytes());
    message[28..32].copy_from_slice(&UP.to_ne_bytes());
    message
}

/// Returns whether anything was sent to where no route leads, by the kernel's count of it. Look-ups of names count too: the only name
/// server that is named inside lies where no route leads.
pub fn network_was_wanted() -> bool {
    without_route("/proc/self/net/snmp", |text| {
        let mut lines = text.lines().filter_map(|line| line.strip_prefix("Ip:"));
        let names = lines.next()?.split_whitespace();
        let mut counts = lines.next()?.split_whitespace();
        names
            .zip(counts.by_ref())
            .find(|(name, _)| *name == "OutNoRoutes")?
            .1
            .parse()
            .ok()
    }) || without_route("/proc/self/net/snmp6", |text| {
        let line = text.lines().find_map(|line| line.strip_prefix("Ip6OutNoRoutes"))?;
        line.trim().parse().ok()
    })
}

/// Returns whether something inside listens at a port, by the kernel's tables of sockets.
pub fn is_listened_at(port: u16) -> bool {
    const LISTENING: &str = "0A";
    let end = format!(":{port:04X}");
    ["/proc/self/net/tcp", "/proc/self/net/tcp6"].iter().any(|file| {
        fs::read_to_string(file).unwrap_or_default().lines().any(|line| {
            let mut fields = line.split_whitespace().skip(1);
            let here = fields.next().is_some_and(|address| address.ends_with(&end));
            here && fields.nth(1) == Some(LISTENING)
        })
    })
}

/// Returns whether a socket without a file has this name inside; the kernel's table puts an `@` before it.
pub fn has_abstract_socket(name: &str) -> bool {
    let table = fs::read_to_string("/proc/self/net/unix").unwrap_or_default();
    table.lines().any(|line| line.split_whitespace().last() == Some(name))
}

fn without_route(file: &str, count: impl FnOnce(&str) -> Option<u64>) -> bool {
    // A system that does not count has nothing to say here.
    fs::read_to_string(file)
        .ok()
        .and_then(|text| count(&text))
        .is_some_and(|count| count > 0)
}
