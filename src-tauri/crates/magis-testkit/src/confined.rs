//! What the processes that a test started have given up, by the kernel's word.

use std::fs;

/// Returns the processes that this test has started by a command with this word.
pub fn children(word: &str) -> Vec<i32> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let ids: Vec<i32> = lists
        .flat_map(|list| {
            list.split_whitespace()
                .filter_map(|id| id.parse().ok())
                .collect::<Vec<i32>>()
        })
        .collect();
    let is_one = |id: &i32| fs::read_to_string(format!("/proc/{id}/cmdline")).is_ok_and(|words| words.contains(word));
    ids.into_iter().filter(is_one).collect()
}

/// Panics unless a process has a filter of system calls, can get no more rights, and holds no socket.
pub fn assert_confined(process: i32) {
    let read = |name: &str| fs::read_to_string(format!("/proc/{process}/{name}")).expect("a process that is there");
    let status = read("status");
    for line in ["Seccomp:\t2", "NoNewPrivs:\t1"] {
        assert!(status.contains(line), "{process} lacks '{line}':\n{status}");
    }
    let open = fs::read_dir(format!("/proc/{process}/fd")).expect("a process that is there");
    let links = open.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    let sockets: Vec<_> = links
        .filter(|link| link.to_string_lossy().starts_with("socket:"))
        .collect();
    assert!(sockets.is_empty(), "{process} has {sockets:?}");
}
