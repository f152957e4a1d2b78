//! Facts about processes.

use std::path::Path;

/// Returns whether a process of this id lives; `true` where the system has no `/proc` to look it up in.
pub fn is_alive(pid: u32) -> bool {
    let processes = Path::new("/proc");
    !processes.join("self").exists() || processes.join(pid.to_string()).exists()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::is_alive;

    #[test]
    fn this_process_lives_and_no_process_has_the_greatest_id() {
        assert!(is_alive(std::process::id()));
        assert!(!is_alive(u32::MAX));
    }
}
