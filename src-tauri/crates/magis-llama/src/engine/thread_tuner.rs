//! How many threads a step is computed with: all of them, and fewer while something else needs the processor.
//!
//! The threads of a step wait for one another some hundred times. Where another program takes a core from one of them, all
//! wait for it, so that fewer threads can be much faster. This is found by trying, and only while the system says that
//! threads wait for a processor: how long a step takes hangs on its content as well. Times are passed in; nothing is
//! measured or set here.
//!
//! llama.cpp computes each row of a product in one thread, so the number of threads changes no result, with one
//! exception: a single row's attention over a long context is summed up thread by thread, with another rounding for each
//! number of threads. So the threads of single rows only change where the alternative is to stand still.

use std::collections::BTreeMap;
use std::time::Duration;

/// The threads of both kinds of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threads {
    /// Of steps of one row: the next token of an answer.
    pub single: u32,
    pub rows: u32,
}

/// Decides on the number of threads, from how long each step took.
#[derive(Debug)]
pub struct ThreadTuner {
    single: Search,
    rows: Search,
}

impl ThreadTuner {
    /// Begins with all threads.
    pub fn new(most: u32) -> Self {
        Self {
            single: Search::new(most, 4.0),
            rows: Search::new(most, 1.5),
        }
    }

    /// Takes note of a step of so many rows, in which the threads together waited so long for a processor; gives the
    /// threads of the next ones where they are others than before.
    pub fn after(&mut self, rows: usize, begun: Duration, ended: Duration, waited: Duration) -> Option<Threads> {
        // The matrix kernels compute four rows at a time. Steps of about as many rows are alike, and each is measured by the
        // rows that it really has.
        let (search, alike, computed) = match rows {
            0 | 1 => (&mut self.single, 1, 1),
            rows => {
                let computed = rows.next_multiple_of(4);
                (&mut self.rows, computed.next_power_of_two(), computed)
            }
        };
        let before = search.threads;
        let time = ended.saturating_sub(begun);
        let step = Timing {
            rows: alike,
            time: time.as_secs_f64() / computed as f64,
            contended: waited > time.mul_f64(CONTENDED) * before,
        };
        search.after(&step, ended);
        (search.threads != before).then_some(Threads {
            single: self.single.threads,
            rows: self.rows.threads,
        })
    }
}

/// A step, as the search sees it.
#[derive(Debug)]
struct Timing {
    // About how many rows.
    rows: usize,
    // Seconds a row.
    time: f64,
    // Whether other programs took the processor from its threads.
    contended: bool,
}

/// The search for the best number of threads.
#[derive(Debug)]
struct Search {
    most: u32,
    threads: u32,
    // How many times the best a step has to take to be slow.
    slow_at: f64,
    // Steps of about as many rows are compared with one another alone.
    alike: BTreeMap<usize, Seen>,
    trial: Option<Trial>,
    changed_at: Duration,
    // How long to wait before more threads are tried; longer after each time it was of no use.
    patience: Duration,
}

#[derive(Debug, Default)]
struct Seen {
    // Seconds a row at its best, slowly forgotten: a context that grows makes every step longer.
    best: Option<f64>,
    // The last steps that were slow, without a usual one between them.
    slow: Vec<f64>,
}

/// Another number of threads, for a few steps.
#[derive(Debug)]
struct Trial {
    rows: usize,
    from: u32,
    // Seconds a row with the old number.
    before: f64,
    fastest: f64,
    contended: bool,
    left: u32,
    // Steps of other sizes until it is given up.
    others: u32,
}

/// What share of a step each thread has to wait for a processor, on average, for other programs to be the reason.
const CONTENDED: f64 = 0.05;
/// Steps one after the other that have to be slow, and steps of a trial: one alone may have been disturbed by chance.
const STEPS: u32 = 3;
/// How much of the old time a trial may take to count as faster.
const FASTER: f64 = 0.9;
/// Steps of other sizes after which a trial is given up.
const OTHERS: u32 = 16;
/// What becomes of the best with each step.
const FORGETTING: f64 = 1.001;
const FIRST_PATIENCE: Duration = Duration::from_secs(2);
const LONGEST_PATIENCE: Duration = Duration::from_secs(8);
/// How many times what a useless trial took passes before the next one.
const WORTH: u32 = 20;

impl Search {
    fn new(most: u32, slow_at: f64) -> Self {
        Self {
            most,
            threads: most,
            slow_at,
            alike: BTreeMap::new(),
            trial: None,
            changed_at: Duration::ZERO,
            patience: FIRST_PATIENCE,
        }
    }

    fn after(&mut self, step: &Timing, now: Duration) {
        match self.trial.take() {
            Some(trial) => self.go_on(trial, step, now),
            None => self.compare(step, now),
        }
    }

    fn compare(&mut self, step: &Timing, now: Duration) {
        let seen = self.alike.entry(step.rows).or_default();
        let best = seen.best.map_or(step.time, |best| (best * FORGETTING).min(step.time));
        seen.best = Some(best);
        if step.contended && step.time > best * self.slow_at {
            seen.slow.push(step.time);
        } else {
            seen.slow.clear();
        }
        if self.threads > 1 && seen.slow.len() >= STEPS as usize {
            let before = seen.slow.drain(..).fold(f64::INFINITY, f64::min);
            self.try_out(self.threads / 2, step.rows, before, now);
            return;
        }
        // First it comes to an end with going down.
        let settled = self.threads == 1 || seen.slow.is_empty();
        if settled && self.threads < self.most && now.saturating_sub(self.changed_at) >= self.patience {
            self.try_out((self.threads * 2).min(self.most), step.rows, step.time, now);
        }
    }

    fn try_out(&mut self, threads: u32, rows: usize, before: f64, now: Duration) {
        self.trial = Some(Trial {
            rows,
            from: self.threads,
            before,
            fastest: f64::INFINITY,
            contended: false,
            left: STEPS,
            others: OTHERS,
        });
        self.threads = threads;
        self.changed_at = now;
    }

    fn go_on(&mut self, mut trial: Trial, step: &Timing, now: Duration) {
        let more = self.threads > trial.from;
        trial.contended |= step.contended;
        if step.rows == trial.rows {
            trial.left -= 1;
            trial.fastest = trial.fastest.min(step.time);
        } else {
            trial.others -= 1;
        }
        // Where more threads stand still, no further step is spent on them.
        let hopeless = more && step.contended && step.rows == trial.rows && step.time > trial.before * self.slow_at;
        if trial.left > 0 && trial.others > 0 && !hopeless {
            self.trial = Some(trial);
            return;
        }
        let undisturbed = more && !trial.contended;
        if undisturbed || trial.fastest < trial.before * FASTER {
            self.patience = FIRST_PATIENCE;
        } else {
            self.threads = trial.from;
            if more {
                let wasted = now.saturating_sub(self.changed_at);
                self.patience = (self.patience * 2).min(LONGEST_PATIENCE).max(wasted * WORTH);
            } else if trial.left == 0 {
                // It is simply what such a step takes now.
                self.alike.entry(trial.rows).or_default().best = Some(trial.before);
            }
        }
        self.changed_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine on which a row takes so many milliseconds with each number of threads.
    struct Machine {
        thread_tuner: ThreadTuner,
        threads: Threads,
        now: Duration,
        tried: Vec<u32>,
    }

    impl Machine {
        fn new(most: u32) -> Self {
            Self {
                thread_tuner: ThreadTuner::new(most),
                threads: Threads {
                    single: most,
                    rows: most,
                },
                now: Duration::ZERO,
                tried: Vec::new(),
            }
        }

        /// Computes steps of so many rows beside nothing else; gives the threads in use at the end.
        fn steps(&mut self, count: usize, rows: usize, milliseconds: impl Fn(u32) -> f64) -> u32 {
            self.waiting(|_| 0.0, count, rows, milliseconds)
        }

        /// Returns the same, with threads that wait for a processor that share of the time.
        fn waiting(
            &mut self,
            share: impl Fn(u32) -> f64,
            count: usize,
            rows: usize,
            milliseconds: impl Fn(u32) -> f64,
        ) -> u32 {
            for _ in 0..count {
                let threads = self.of(rows);
                self.tried.push(threads);
                let begun = self.now;
                let time = Duration::from_secs_f64(milliseconds(threads) * rows as f64 / 1000.0);
                self.now += time;
                let waited = time.mul_f64(share(threads)) * threads;
                if let Some(threads) = self.thread_tuner.after(rows, begun, self.now, waited) {
                    self.threads = threads;
                }
            }
            self.of(rows)
        }

        fn of(&self, rows: usize) -> u32 {
            if rows > 1 {
                self.threads.rows
            } else {
                self.threads.single
            }
        }
    }

    fn idle(threads: u32) -> f64 {
        64.0 / f64::from(threads)
    }

    /// Something else takes all cores but one: whoever waits for a second thread waits long.
    fn busy(threads: u32) -> f64 {
        if threads == 1 { 70.0 } else { 600.0 * f64::from(threads) }
    }

    /// With one thread it has the core that is left to itself.
    fn beside_others(threads: u32) -> f64 {
        if threads == 1 { 0.0 } else { 0.4 }
    }

    impl Machine {
        fn beside(&mut self, count: usize, rows: usize, milliseconds: impl Fn(u32) -> f64) -> u32 {
            self.waiting(beside_others, count, rows, milliseconds)
        }
    }

    #[test]
    fn an_idle_machine_keeps_all_its_threads() {
        for rows in [1, 8, 512] {
            let mut machine = Machine::new(8);
            machine.steps(200, rows, idle);
            assert!(machine.tried.iter().all(|threads| *threads == 8), "{:?}", machine.tried);
        }
    }

    #[test]
    fn beside_a_build_it_comes_down_to_what_is_fastest_and_goes_up_again_afterwards() {
        for rows in [1, 8, 512] {
            let mut machine = Machine::new(8);
            machine.steps(20, rows, idle);
            assert_eq!(machine.beside(30, rows, busy), 1);
            machine.beside(200, rows, busy);
            let up = machine.tried[50..].iter().filter(|threads| **threads > 1).count();
            assert!(up < 20, "more threads were tried {up} times: {:?}", machine.tried);
            assert_eq!(machine.steps(2000, rows, idle), 8, "{rows} rows");
        }
    }

    #[test]
    fn steps_that_are_not_full_are_measured_by_the_rows_they_have() {
        let mut machine = Machine::new(2);
        let mixed = |machine: &mut Machine, times: usize| {
            for _ in 0..times {
                machine.steps(1, 512, idle);
                machine.steps(4, 260, idle);
            }
        };
        mixed(&mut machine, 50);
        assert!(machine.tried.iter().all(|threads| *threads == 2), "{:?}", machine.tried);
        assert_eq!(machine.beside(30, 512, busy), 1);
        mixed(&mut machine, 200);
        assert_eq!(machine.of(512), 2);
    }

    #[test]
    fn one_disturbed_step_changes_nothing() {
        let mut machine = Machine::new(4);
        for _ in 0..30 {
            machine.steps(9, 8, idle);
            machine.beside(2, 8, |threads| 10.0 * idle(threads));
        }
        assert!(machine.tried.iter().all(|threads| *threads == 4), "{:?}", machine.tried);
    }

    #[test]
    fn steps_that_are_longer_with_any_number_of_threads_cost_one_trial() {
        let mut machine = Machine::new(4);
        machine.steps(10, 8, idle);
        assert_eq!(machine.beside(100, 8, |threads| 3.0 * idle(threads)), 4);
        let fewer = machine.tried.iter().filter(|threads| **threads < 4).count();
        assert_eq!(fewer, STEPS as usize);
    }

    #[test]
    fn long_steps_are_no_disturbance_while_every_thread_has_its_processor() {
        let mut machine = Machine::new(2);
        machine.steps(20, 8, idle);
        let with_fewer_twice_as_fast = |threads| if threads == 2 { 4.0 * idle(2) } else { idle(2) };
        assert_eq!(machine.steps(100, 8, with_fewer_twice_as_fast), 2);
        assert!(machine.tried.iter().all(|threads| *threads == 2), "{:?}", machine.tried);
    }

    #[test]
    fn a_context_that_grows_is_no_disturbance() {
        let mut machine = Machine::new(4);
        for step in 0..3000 {
            machine.steps(1, 8, |threads| idle(threads) * (1.0 + f64::from(step) / 1000.0));
        }
        assert!(machine.tried.iter().all(|threads| *threads == 4));
    }

    #[test]
    fn single_rows_keep_their_threads_while_they_get_on_at_all() {
        let mut machine = Machine::new(4);
        machine.steps(10, 1, idle);
        machine.beside(100, 1, |threads| if threads == 4 { 3.0 * idle(4) } else { idle(4) });
        assert!(machine.tried.iter().all(|threads| *threads == 4));
        let mut machine = Machine::new(4);
        machine.steps(10, 8, idle);
        machine.beside(30, 8, busy);
        assert_eq!(machine.of(8), 1);
        assert_eq!(machine.of(1), 4, "the ones do not decide for the others");
    }

    #[test]
    fn steps_of_another_size_are_not_compared() {
        let mut machine = Machine::new(2);
        for _ in 0..50 {
            machine.steps(1, 512, |_| 5.0);
            machine.steps(1, 8, |_| 40.0);
            machine.steps(1, 60, |_| 10.0);
        }
        assert!(machine.tried.iter().all(|threads| *threads == 2));
    }
}
