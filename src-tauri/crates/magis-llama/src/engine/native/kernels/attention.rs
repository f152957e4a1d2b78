//! Attention. llama.cpp computes each head of each row by itself, cell after cell, and from 64 rows on in tiles for which it looks
//! at all cells, seen or not. Here the cells that a row sees are looked at in groups, together with the rows that see the same ones.
//!
//! A row looks at the cells that it sees in their order, [`CELLS`] at a time, and, in a step of few rows, sums each [`RUN`] of them
//! up by itself. So what it gets does not depend on where the cells lie, on other rows, or on the number of threads.

use super::{MANY_ROWS, Shared};
use llama_cpp_sys_2 as sys;
use std::cell::UnsafeCell;
use std::sync::atomic::Ordering;

/// Cells that are looked at together.
pub const CELLS: usize = 16;
/// Cells that few rows sum up by themselves.
const RUN: usize = 512;
/// Rows whose heads look at cells together at the most.
const ROWS_TOGETHER: usize = 8;
/// Heads are so wide at the most: there is room for no wider keys.
const WIDEST: usize = 256;
/// The place of the scale in a node's parameters, behind those of the call.
const SCALE: usize = 15;
/// Zero in 16 bits, which a mask has where a cell is seen.
const SEEN: u16 = 0;

/// Cells that are looked at together.
pub struct Cells {
    /// Keys and values of one head, in 16 bits, and how many bytes apart those of two cells lie.
    pub keys: *const u8,
    pub values: *const u8,
    pub key_bytes: usize,
    pub value_bytes: usize,
    pub numbers: [u32; CELLS],
    /// How many of the numbers count.
    pub count: usize,
}

/// Keys and values of some cells, widened, one cell after the other.
#[repr(C, align(64))]
pub struct Widened {
    pub keys: [f32; CELLS * WIDEST],
    pub values: [f32; CELLS * WIDEST],
}

/// One head of one row, with what it has summed up so far.
pub struct Query {
    pub numbers: *const f32,
    /// The largest score that it has seen, minus infinity before the first.
    pub largest: f32,
    /// The sum of the weights of all cells, each relative to the largest.
    pub weight: f32,
    /// The values times their weights.
    pub sum: *mut f32,
}

/// Lets queries look at cells.
///
/// # Safety
/// The processor has what the kernel asks for; the cells are there; numbers and sums are as wide as the kernel is for.
pub type Attend = unsafe fn(cells: &Cells, widened: &mut Widened, scale: f32, queries: &mut [Query]);

/// What runs of cells have given each query: its largest score and its weight, and its sums.
#[derive(Default)]
pub struct Runs {
    states: Vec<[f32; 2]>,
    sums: Vec<f32>,
}

/// How an attention is cut up.
#[derive(Clone, Copy)]
struct Cut {
    heads: usize,
    of_keys: usize,
    rows: usize,
    cells: usize,
    width: usize,
}

/// Goes through the cells that a row sees.
#[derive(Clone)]
struct Sight<'a> {
    mask: &'a [u16],
    next: usize,
    left: usize,
}

impl Cut {
    fn of(node: &sys::ggml_tensor) -> Option<Self> {
        // SAFETY: the sources of a node live as long as its graph.
        let (queries, keys) = unsafe { node.src[0].as_ref().zip(node.src[1].as_ref())? };
        Some(Self {
            heads: queries.ne[2] as usize,
            of_keys: keys.ne[2] as usize,
            rows: queries.ne[1] as usize,
            cells: keys.ne[1] as usize,
            width: queries.ne[0] as usize,
        })
    }

    fn queries(self) -> usize {
        self.heads * self.rows
    }

    /// Returns how many units there are that look at the same cells: the rows, so many at a time, with the heads of one key.
    fn units(self) -> usize {
        self.of_keys * self.rows.div_ceil(ROWS_TOGETHER)
    }

    /// Returns into how many runs the cells of a row are cut at the most.
    fn runs(self) -> usize {
        if self.rows < MANY_ROWS {
            self.cells.div_ceil(RUN)
        } else {
            1
        }
    }
}

impl<'a> Sight<'a> {
    /// Returns the cells of a run.
    fn of_run(mask: &'a [u16], run: usize, is_only: bool) -> Self {
        let mut sight = Self {
            mask,
            next: 0,
            left: usize::MAX,
        };
        if !is_only {
            sight.skip(run * RUN);
            sight.left = RUN;
        }
        sight
    }

    /// Goes past so many cells that are seen.
    fn skip(&mut self, mut cells: usize) {
        while let (true, Some(group)) = (cells >= 64, self.mask.get(self.next..self.next + 64)) {
            cells -= group.iter().filter(|value| **value == SEEN).count();
            self.next += 64;
        }
        while cells > 0 && self.next < self.mask.len() {
            cells -= usize::from(self.mask[self.next] == SEEN);
            self.next += 1;
        }
    }

    /// Takes the next cells; returns their numbers, and how many they are.
    fn take(&mut self) -> ([u32; CELLS], usize) {
        let (mut numbers, mut count) = ([0; CELLS], 0);
        let most = CELLS.min(self.left);
        while count < most && self.next < self.mask.len() {
            match self.mask.get(self.next..self.next + CELLS) {
                // Mostly all or none of them are seen.
                Some(group) if count == 0 && most == CELLS && group.iter().all(|value| *value == SEEN) => {
                    numbers = std::array::from_fn(|at| (self.next + at) as u32);
                    (count, self.next) = (CELLS, self.next + CELLS);
                }
                Some(group) if group.iter().all(|value| *value != SEEN) => self.next += CELLS,
                _ => {
                    if self.mask[self.next] == SEEN {
                        numbers[count] = self.next as u32;
                        count += 1;
                    }
                    self.next += 1;
                }
            }
        }
        self.left -= count;
        (numbers, count)
    }
}

/// Returns whether an attention can be computed here.
pub fn is_ours(shared: &Shared, node: &sys::ggml_tensor) -> bool {
    let Some(cut) = Cut::of(node) else { return false };
    // SAFETY: the sources of a node live as long as its graph.
    let [queries, keys, values, mask] = [0, 1, 2, 3].map(|at| unsafe { node.src[at].as_ref() });
    let (Some(queries), Some(keys), Some(values), Some(mask)) = (queries, keys, values, mask) else {
        return false;
    };
    // Without a bias a mask is zero where a cell is seen, and minus infinity elsewhere.
    let [bias, softcap] = [1, 2].map(|at| f32::from_bits(node.op_params[at].cast_unsigned()));
    let is_f16 = [keys, values, mask]
        .iter()
        .all(|tensor| tensor.type_ == sys::GGML_TYPE_F16);
    let is_flat = [queries, keys, values, mask].iter().all(|tensor| tensor.ne[3] == 1) && mask.ne[2] == 1;
    let fits = values.ne[0] == keys.ne[0]
        && values.ne[2] == keys.ne[2]
        && cut.heads.is_multiple_of(cut.of_keys)
        && cut.rows > 0;
    let is_plain = queries.type_ == sys::GGML_TYPE_F32
        && queries.nb[0] == size_of::<f32>()
        && keys.nb[0] == size_of::<u16>()
        && values.nb[0] == size_of::<u16>()
        && mask.nb[0] == size_of::<u16>();
    let is_known = shared.attend(cut.width).is_some() && cut.width <= WIDEST;
    is_f16 && is_flat && fits && is_plain && bias == 0.0 && softcap == 0.0 && is_known
}

/// Keeps the scale where the parameters of a call leave room.
pub fn keep_scale(node: &mut sys::ggml_tensor, scale: i32) {
    node.op_params[SCALE] = scale;
}

/// Makes room for an attention.
pub fn hold(runs: &UnsafeCell<Runs>, node: &sys::ggml_tensor) {
    let Some(cut) = Cut::of(node) else { return };
    let count = cut.queries() * cut.runs();
    // SAFETY: no graph is computed now.
    let runs = unsafe { &mut *runs.get() };
    if runs.states.len() < count {
        runs.states.resize(count, [0.0; 2]);
    }
    // A single run is summed up where the result goes.
    if cut.runs() > 1 && runs.sums.len() < count * cut.width {
        runs.sums.resize(count * cut.width, 0.0);
    }
}

/// Does a thread's part of an attention.
///
/// # Safety
/// The node is one for which [`is_ours`] holds and [`hold`] was called, and it is computed by `threads` threads at once.
pub unsafe fn compute(shared: &Shared, node: &sys::ggml_tensor, thread: usize, threads: usize) {
    let (Some(cut), meeting) = (Cut::of(node), &shared.meeting) else {
        return;
    };
    let Some(attend) = shared.attend(cut.width) else { return };
    // SAFETY: an attention has these sources, which live as long as the graph.
    let [queries, keys, values, mask] = [0, 1, 2, 3].map(|at| unsafe { &*node.src[at] });
    let scale = f32::from_bits(node.op_params[SCALE].cast_unsigned());
    let group = cut.heads / cut.of_keys;
    let runs = cut.runs();
    // SAFETY: the lists were made long enough; each place is written by one thread before the second meeting.
    let (states, sums) = unsafe {
        let space = shared.runs.get();
        ((*space).states.as_mut_ptr(), (*space).sums.as_mut_ptr())
    };
    let mut widened = Box::new(Widened {
        keys: [0.0; CELLS * WIDEST],
        values: [0.0; CELLS * WIDEST],
    });
    let mut of_unit = Vec::with_capacity(group * ROWS_TOGETHER);
    meeting.wait(threads);
    loop {
        let unit = meeting.next.fetch_add(1, Ordering::Relaxed);
        if unit >= runs * cut.units() {
            break;
        }
        let (run, unit) = (unit % runs, unit / runs);
        let (of_keys, first) = (unit % cut.of_keys, unit / cut.of_keys * ROWS_TOGETHER);
        let rows = first..cut.rows.min(first + ROWS_TOGETHER);
        of_unit.clear();
        // SAFETY: all places lie within the tensors and the lists.
        unsafe {
            for row in rows.clone() {
                for head in of_keys * group..(of_keys + 1) * group {
                    let sum = if runs == 1 {
                        result(node, head, row)
                    } else {
                        sums.add(((head * cut.rows + row) * runs + run) * cut.width)
                    };
                    std::slice::from_raw_parts_mut(sum, cut.width).fill(0.0);
                    of_unit.push(Query {
                        numbers: queries.data.byte_add(row * queries.nb[1] + head * queries.nb[2]).cast(),
                        largest: f32::NEG_INFINITY,
                        weight: 0.0,
                        sum,
                    });
                }
            }
            let mut sights: Vec<Sight> = rows
                .clone()
                .map(|row| {
                    let mask = std::slice::from_raw_parts(mask.data.byte_add(row * mask.nb[1]).cast(), cut.cells);
                    Sight::of_run(mask, run, runs == 1)
                })
                .collect();
            let mut cells = Cells {
                keys: keys.data.byte_add(of_keys * keys.nb[2]).cast(),
                values: values.data.byte_add(of_keys * values.nb[2]).cast(),
                key_bytes: keys.nb[1],
                value_bytes: values.nb[1],
                numbers: [0; CELLS],
                count: 0,
            };
            loop {
                let taken: Vec<_> = sights.iter_mut().map(Sight::take).collect();
                if taken.iter().all(|(_, count)| *count == 0) {
                    break;
                }
                // Rows that see the same cells follow each other.
                let mut of_rows = &mut of_unit[..];
                for same in taken.chunk_by(|one, other| one == other) {
                    let (looking, others) = of_rows.split_at_mut(same.len() * group);
                    (cells.numbers, cells.count) = same[0];
                    if cells.count > 0 {
                        attend(&cells, &mut widened, scale, looking);
                    }
                    of_rows = others;
                }
            }
            for (at, query) in of_unit.iter().enumerate() {
                let (head, row) = (of_keys * group + at % group, first + at / group);
                *states.add((head * cut.rows + row) * runs + run) = [query.largest, query.weight];
            }
        }
    }
    meeting.wait(threads);
    // SAFETY: all threads have written their places.
    unsafe { join(node, cut, (states, sums), thread, threads) }
}

/// Joins what runs of cells gave: a thread's part of all queries.
///
/// # Safety
/// As said at [`compute`]; there are states and sums of all runs.
unsafe fn join(
    node: &sys::ggml_tensor,
    cut: Cut,
    (states, sums): (*const [f32; 2], *const f32),
    thread: usize,
    threads: usize,
) {
    let (all, runs) = (cut.queries(), cut.runs());
    for at in thread * all / threads..(thread + 1) * all / threads {
        let (head, row) = (at / cut.rows, at % cut.rows);
        // SAFETY: the caller vouches for the lists; each place of the node is written by one thread.
        unsafe {
            let states = std::slice::from_raw_parts(states.add(at * runs), runs);
            let out = std::slice::from_raw_parts_mut(result(node, head, row), cut.width);
            let sink = node.src[4]
                .as_ref()
                .map(|sinks| sinks.data.cast::<f32>().add(head).read());
            let shares = Shares::of(states, sink);
            if let [state] = states {
                let share = shares.of_run(*state);
                for out in out {
                    *out *= share;
                }
            } else {
                out.fill(0.0);
                for (run, state) in states.iter().enumerate().filter(|(_, [_, weight])| *weight > 0.0) {
                    let of_run = std::slice::from_raw_parts(sums.add((at * runs + run) * cut.width), cut.width);
                    let share = shares.of_run(*state);
                    for (out, sum) in out.iter_mut().zip(of_run) {
                        *out += share * sum;
                    }
                }
            }
        }
    }
}

/// What the runs of one query count. A sink takes its share of the weight and gives nothing.
struct Shares {
    largest: f32,
    weight: f32,
}

impl Shares {
    fn of(states: &[[f32; 2]], sink: Option<f32>) -> Self {
        let scores = states.iter().map(|[largest, _]| *largest).chain(sink);
        let largest = scores.fold(f32::NEG_INFINITY, f32::max);
        let mut weight = sink.map_or(0.0, |sink| (sink - largest).exp());
        for [of_run, of_weight] in states.iter().filter(|[_, weight]| *weight > 0.0) {
            weight += of_weight * (of_run - largest).exp();
        }
        Self { largest, weight }
    }

    /// Returns what the sums of a run are multiplied with.
    fn of_run(&self, [largest, weight]: [f32; 2]) -> f32 {
        if weight > 0.0 {
            (largest - self.largest).exp() / self.weight
        } else {
            0.0
        }
    }
}

/// Returns where what a head of a row gets goes.
///
/// # Safety
/// The node has both.
unsafe fn result(node: &sys::ggml_tensor, head: usize, row: usize) -> *mut f32 {
    // SAFETY: the caller vouches for the place.
    unsafe { node.data.byte_add(head * node.nb[1] + row * node.nb[2]).cast() }
}
