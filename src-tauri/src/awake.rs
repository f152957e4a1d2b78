//! Keeps the machine from falling asleep while runs are worked on. The screen may turn off.

use keepawake::{Builder, KeepAwake};

/// As long as it lives, the machine does not sleep by itself.
pub struct Awake {
    /// None where the system offers nothing of the kind: the run goes on all the same.
    _held: Option<KeepAwake>,
}

impl Awake {
    /// Asks the system not to sleep.
    pub async fn keep() -> Self {
        let ask = || {
            Builder::default()
                .idle(true)
                .sleep(true)
                .reason("Working on an issue")
                .app_name("Magis")
                .app_reverse_domain("org.magis.Magis")
                .create()
                .ok()
        };
        // Asking waits for another program's answer.
        let held = tokio::task::spawn_blocking(ask).await.ok().flatten();
        Self { _held: held }
    }
}
