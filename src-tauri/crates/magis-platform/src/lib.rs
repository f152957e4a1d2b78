//! What the operating system and the standard library leave to us: the clock, private folders and files, facts about memory
//! and processes, and hexadecimal digits.
//!
//! It knows nothing of issues, repositories or models, and every crate may use it. Where a system does not state a fact, the
//! function says so by `None` or by the value that its documentation names; nothing here ends a program.

mod clock;
pub mod hex;
pub mod memory;
pub mod private;
pub mod process;

pub use clock::now_ms;
