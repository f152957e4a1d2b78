//! Steps with a heading and a time, and the lines that sum them up.
//!
//! It prints; it does not decide what follows a failure.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// A step that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// What was done, in a few words.
    pub name: &'static str,
    /// A remark, such as a count, or why it failed.
    pub outcome: Result<String, String>,
    /// How long it took.
    pub elapsed: Duration,
}

/// Announces a step, carries it out, and says how long it took.
pub fn run(name: &'static str, action: impl FnOnce() -> Result<String>) -> Finished {
    println!("\n=== {name}");
    let start = Instant::now();
    let outcome = action().map_err(|error| format!("{error:#}"));
    let finished = Finished {
        name,
        outcome,
        elapsed: start.elapsed(),
    };
    println!("{}", line(&finished));
    finished
}

/// Carries out a step that the next ones need, and keeps its line for the summary.
///
/// # Errors
/// When the step fails; it has printed why.
pub fn kept<T>(
    steps: &mut Vec<Finished>,
    name: &'static str,
    action: impl FnOnce() -> Result<(String, T)>,
) -> Result<T> {
    let mut value = None;
    let finished = run(name, || {
        let (remark, made) = action()?;
        value = Some(made);
        Ok(remark)
    });
    steps.push(finished);
    value.with_context(|| format!("it stopped at this step: {name}; it can be started again"))
}

/// Returns one line for a step: how it ended, its time, its name, its remark.
pub fn line(step: &Finished) -> String {
    let (word, remark) = match &step.outcome {
        Ok(remark) => ("ok", remark),
        Err(reason) => ("FAILED", reason),
    };
    let text = format!("{word:<6} {:>9}  {}  {remark}", time(step.elapsed), step.name);
    text.trim_end().to_owned()
}

/// Returns a duration as people write it: `8.2 s`, `3 min 05 s`.
pub fn time(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    if seconds < 60 {
        format!("{:.1} s", elapsed.as_secs_f64())
    } else {
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_outcome_time_and_remark() {
        let mut step = Finished {
            name: "clippy",
            outcome: Ok(String::new()),
            elapsed: Duration::from_millis(8240),
        };
        assert_eq!(line(&step), "ok         8.2 s  clippy");
        step.outcome = Err("exit status: 101".to_owned());
        step.elapsed = Duration::from_secs(185);
        assert_eq!(line(&step), "FAILED 3 min 05 s  clippy  exit status: 101");
    }
}
