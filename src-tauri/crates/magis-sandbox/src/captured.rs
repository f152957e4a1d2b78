//! Reading what a command prints: the beginning and the end are kept, and counted is all of it.

use crate::outcome::Captured;
use std::collections::VecDeque;
use std::pin::pin;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::watch;

/// How much of the beginning is kept, and how much of the end.
const KEPT: usize = 8 << 20;

/// Reads until the other side closes or `over` has come, and adds what came to `total` at once.
pub async fn read(
    mut from: impl AsyncRead + Unpin,
    total: &watch::Sender<u64>,
    over: impl Future<Output = ()>,
) -> Captured {
    let mut over = pin!(over);
    let mut beginning = Vec::new();
    let mut rest = VecDeque::new();
    let mut left_out = 0;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = tokio::select! {
            // A pipe that cannot be read any more has ended.
            read = from.read(&mut buffer) => read.unwrap_or(0),
            () = &mut over => 0,
        };
        if count == 0 {
            break;
        }
        total.send_modify(|total| *total += count as u64);
        let (first, more) = buffer[..count].split_at(count.min(KEPT - beginning.len()));
        beginning.extend_from_slice(first);
        rest.extend(more);
        let surplus = rest.len().saturating_sub(KEPT);
        rest.drain(..surplus);
        left_out += surplus as u64;
    }
    Captured {
        beginning,
        rest: rest.into(),
        left_out,
    }
}
