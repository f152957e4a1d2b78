//! Kernels of our own for what llama.cpp is slow at. In steps of few rows, as answers, drafts and compared texts are computed, it
//! unpacks a matrix in a K-quant anew for each row, or for a tile of 256 that is mostly empty; here each block is unpacked once
//! for up to eight rows. In attention it looks at each cell of the cache once for each head of each row; here each cell is widened
//! once for several.
//!
//! llama.cpp shows each node of a graph before it computes it. One that can be computed here is then made a node that calls a
//! function of ours, which ggml has for that; it runs on ggml's threads.
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "there are kernels for x86 alone")
)]

mod attention;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod products;

use attention::{Attend, Runs};
use llama_cpp_sys_2 as sys;
use products::{BLOCK, Codes, GROUP, Kernels, MultiplyRows, Q4K, Q5K, Q6K, ROWS};
use std::cell::UnsafeCell;
use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows from which on products are left to llama.cpp: all steps that prompts are computed in.
const MANY_ROWS: usize = 64;
/// ggml's names of the buffers whose weights are as they lie in the file.
const BUFFERS: [&CStr; 2] = [c"CPU", c"CPU_Mapped"];
/// ggml's `GGML_N_TASKS_MAX`, a macro that the bindings leave out: all threads.
const ALL_THREADS: c_int = -1;

/// What one context computes with beside llama.cpp.
pub struct OwnKernels(Box<Shared>);

struct Shared {
    kernels: &'static Kernels,
    /// How nodes that call our functions look.
    dense: Call,
    experts: Call,
    attention: Call,
    space: UnsafeCell<Space>,
    runs: UnsafeCell<Runs>,
    meeting: Meeting,
}

/// What tells ggml to call a function.
#[derive(Clone, Copy, Default)]
struct Call {
    op: sys::ggml_op,
    op_params: [i32; 16],
}

/// The numbers of one product, brought into codes. It grows before a graph is computed; then threads write different parts.
#[derive(Default)]
struct Space {
    codes: Vec<Codes>,
    scales: Vec<f32>,
}

/// Where the threads of a node wait until all have come, and what part of it is taken next.
#[derive(Default)]
struct Meeting {
    arrived: AtomicUsize,
    round: AtomicUsize,
    next: AtomicUsize,
}

/// Weights that are multiplied with some of the rows: all of a matrix, or one expert.
struct Share {
    weights: *const u8,
    rows: Range<usize>,
}

/// A row of numbers by its place in [`Space`], and where its products go.
struct Row {
    number: usize,
    products: *mut f32,
}

impl OwnKernels {
    /// Returns what this processor computes with; none where llama.cpp's kernels are all there is.
    pub fn new() -> Option<Self> {
        Self::of(here().first()?)
    }

    fn of(kernels: &'static Kernels) -> Option<Self> {
        let mut shared = Box::new(Shared {
            kernels,
            dense: Call::default(),
            experts: Call::default(),
            attention: Call::default(),
            space: UnsafeCell::default(),
            runs: UnsafeCell::default(),
            meeting: Meeting::default(),
        });
        let data = (&raw mut *shared).cast::<c_void>();
        shared.dense = Call::of(multiply_dense, data)?;
        shared.experts = Call::of(multiply_experts, data)?;
        shared.attention = Call::of(attend, data)?;
        Some(Self(shared))
    }

    /// Lets a context that is made with these parameters compute with it.
    pub fn serve(&mut self, params: &mut sys::llama_context_params) {
        params.cb_eval = Some(see);
        params.cb_eval_user_data = (&raw mut *self.0).cast();
    }
}

/// Returns the kernels that this processor has what they need for, the best first.
fn here() -> &'static [Kernels] {
    static KERNELS: OnceLock<Vec<Kernels>> = OnceLock::new();
    #[cfg(target_arch = "x86_64")]
    let kernels = KERNELS.get_or_init(|| [avx512::kernels(), avx2::kernels()].into_iter().flatten().collect());
    #[cfg(not(target_arch = "x86_64"))]
    let kernels = KERNELS.get_or_init(Vec::new);
    kernels
}

impl Call {
    /// Returns how ggml writes down a call.
    fn of(
        function: unsafe extern "C" fn(*mut sys::ggml_tensor, c_int, c_int, *mut c_void),
        data: *mut c_void,
    ) -> Option<Self> {
        let mut memory = [0_u64; 128];
        let params = sys::ggml_init_params {
            mem_size: size_of_val(&memory),
            mem_buffer: memory.as_mut_ptr().cast(),
            no_alloc: true,
        };
        // SAFETY: the memory lives until the context is freed, and holds the one tensor that is made in it; what is copied of
        // the tensor are plain values.
        unsafe {
            let context = NonNull::new(sys::ggml_init(params))?;
            let mut no_source = std::ptr::null_mut();
            let tensor = sys::ggml_custom_4d(
                context.as_ptr(),
                sys::GGML_TYPE_F32,
                1,
                1,
                1,
                1,
                &raw mut no_source,
                0,
                Some(function),
                ALL_THREADS,
                data,
            );
            let call = tensor.as_ref().map(|tensor| Self {
                op: tensor.op,
                op_params: tensor.op_params,
            });
            sys::ggml_free(context.as_ptr());
            call
        }
    }

    /// Makes a node this call.
    fn put(self, node: &mut sys::ggml_tensor) {
        node.op = self.op;
        node.op_params = self.op_params;
    }
}

impl Shared {
    /// Makes a product or an attention a call where it can be computed here.
    fn see(&mut self, node: &mut sys::ggml_tensor) {
        let call = match node.op {
            sys::GGML_OP_MUL_MAT => self.dense,
            sys::GGML_OP_MUL_MAT_ID => self.experts,
            sys::GGML_OP_FLASH_ATTN_EXT if is_on_host(node) && attention::is_ours(self, node) => {
                attention::hold(&self.runs, node);
                let scale = node.op_params[0];
                self.attention.put(node);
                attention::keep_scale(node, scale);
                return;
            }
            _ => return,
        };
        // SAFETY: the sources of a node live as long as its graph.
        let Some((weights, numbers)) = (unsafe { node.src[0].as_ref().zip(node.src[1].as_ref()) }) else {
            return;
        };
        let rows = numbers.ne[1] * numbers.ne[2];
        let is_flat = node.op == sys::GGML_OP_MUL_MAT_ID || (weights.ne[2] == 1 && numbers.ne[2] == 1);
        let is_few = is_flat && (1..MANY_ROWS as i64).contains(&rows) && numbers.ne[3] == 1 && weights.ne[3] == 1;
        let is_plain =
            numbers.type_ == sys::GGML_TYPE_F32 && numbers.nb[0] == size_of::<f32>() && node.nb[0] == size_of::<f32>();
        let is_here = lie_as_in_file(weights) && is_on_host(node);
        if is_few && is_plain && is_here && self.kernels_of(weights).is_some() {
            // SAFETY: no graph is computed now.
            unsafe { &mut *self.space.get() }.hold(rows as usize * blocks_of(weights));
            call.put(node);
        }
    }

    /// Returns what attention with heads of a width is computed with.
    fn attend(&self, width: usize) -> Option<Attend> {
        (self.kernels.attend)(width)
    }

    fn kernels_of(&self, weights: &sys::ggml_tensor) -> Option<&MultiplyRows> {
        let (kernels, bytes) = match weights.type_ {
            sys::GGML_TYPE_Q4_K => (&self.kernels.q4, size_of::<Q4K>()),
            sys::GGML_TYPE_Q5_K => (&self.kernels.q5, size_of::<Q5K>()),
            sys::GGML_TYPE_Q6_K => (&self.kernels.q6, size_of::<Q6K>()),
            _ => return None,
        };
        (weights.nb[1] == blocks_of(weights) * bytes).then_some(kernels)
    }

    /// Does a thread's part of a product.
    ///
    /// # Safety
    /// The node is one that [`Shared::see`] has made a call, and it is computed by `threads` threads at once.
    unsafe fn compute(&self, node: &sys::ggml_tensor, thread: usize, threads: usize, rows: &[Row], shares: &[Share]) {
        // SAFETY: a product has both sources, which live as long as the graph.
        let (weights, numbers) = unsafe { (&*node.src[0], &*node.src[1]) };
        let Some(kernels) = self.kernels_of(weights) else {
            return;
        };
        let blocks = blocks_of(weights);
        let count = (numbers.ne[1] * numbers.ne[2]) as usize;
        // SAFETY: the space was made large enough, and nobody changes its size while a graph is computed.
        let (codes, scales) = unsafe {
            let space = self.space.get();
            ((*space).codes.as_mut_ptr(), (*space).scales.as_mut_ptr())
        };
        let all = count * blocks;
        for at in thread * all / threads..(thread + 1) * all / threads {
            let (row, block) = (at / blocks, at % blocks);
            let (inner, outer) = (row % numbers.ne[1] as usize, row / numbers.ne[1] as usize);
            let begin = inner * numbers.nb[1] + outer * numbers.nb[2] + block * BLOCK * size_of::<f32>();
            // SAFETY: the block lies within the row, numbers follow each other, and each block is brought into codes by one
            // thread; the processor was asked for what the kernels need.
            unsafe {
                let numbers = &*numbers.data.cast::<[f32; BLOCK]>().byte_add(begin);
                *scales.add(at) = (self.kernels.quantise)(numbers, &mut *codes.add(at));
            }
        }
        self.meeting.wait(threads);
        let of_weights = weights.ne[1] as usize;
        let part = (of_weights / (4 * threads))
            .next_multiple_of(GROUP)
            .clamp(GROUP, 16 * GROUP);
        let parts = of_weights.div_ceil(part);
        loop {
            let taken = self.meeting.next.fetch_add(1, Ordering::Relaxed);
            let Some(share) = shares.get(taken / parts) else { return };
            let end = of_weights.min((taken % parts + 1) * part);
            for first in (taken % parts * part..end).step_by(GROUP) {
                for rows in rows[share.rows.clone()].chunks(ROWS) {
                    let first_row = &rows[0];
                    let row = |at: usize| rows.get(at).unwrap_or(first_row);
                    // SAFETY: all places lie within the space, the weights and the products of these rows.
                    unsafe {
                        kernels[rows.len() - 1](
                            share.weights.add(first * weights.nb[1]),
                            blocks,
                            GROUP.min(end - first),
                            &std::array::from_fn(|at| codes.add(row(at).number * blocks).cast_const()),
                            &std::array::from_fn(|at| scales.add(row(at).number * blocks).cast_const()),
                            &std::array::from_fn(|at| row(at).products.add(first)),
                        );
                    }
                }
            }
        }
    }
}

impl Space {
    fn hold(&mut self, blocks: usize) {
        if self.codes.len() < blocks {
            self.codes.resize(blocks, Codes::ZERO);
            self.scales.resize(blocks, 0.0);
        }
    }
}

impl Meeting {
    /// Waits until all threads have come. The last one begins the parts anew.
    fn wait(&self, threads: usize) {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.next.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut spins = 0_u32;
        while self.round.load(Ordering::Acquire) == round {
            spins = spins.wrapping_add(1);
            if spins.is_multiple_of(1 << 12) {
                std::thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

/// Returns how many blocks a row of weights has.
fn blocks_of(weights: &sys::ggml_tensor) -> usize {
    weights.ne[0] as usize / BLOCK
}

/// Returns whether weights lie in main memory as in their file.
fn lie_as_in_file(weights: &sys::ggml_tensor) -> bool {
    if weights.buffer.is_null() || !weights.extra.is_null() {
        return false;
    }
    // SAFETY: a buffer that a tensor names is alive, it has a type, and that a name which ends with NUL.
    let name = unsafe {
        CStr::from_ptr(sys::ggml_backend_buft_name(sys::ggml_backend_buffer_get_type(
            weights.buffer,
        )))
    };
    BUFFERS.contains(&name)
}

/// Returns whether a node is computed by the processor.
fn is_on_host(node: &sys::ggml_tensor) -> bool {
    // SAFETY: as above.
    !node.buffer.is_null() && unsafe { sys::ggml_backend_buffer_is_host(node.buffer) }
}

/// Told of each node before a graph is computed; says that none of them is asked for.
unsafe extern "C" fn see(node: *mut sys::ggml_tensor, _: bool, shared: *mut c_void) -> bool {
    // SAFETY: the pointer is that of a box which outlives the context, and no graph is computed now.
    if let Some((shared, node)) = unsafe { shared.cast::<Shared>().as_mut().zip(node.as_mut()) } {
        shared.see(node);
    }
    false
}

unsafe extern "C" fn multiply_dense(node: *mut sys::ggml_tensor, thread: c_int, threads: c_int, shared: *mut c_void) {
    // SAFETY: the pointer is that of a box which outlives the context; the node is one that was made a call, so it has sources.
    unsafe {
        let (node, shared) = (&*node, &*shared.cast::<Shared>());
        let weights = &*node.src[0];
        let rows = (0..node.ne[1] as usize).map(|number| Row {
            number,
            products: node.data.cast::<u8>().add(number * node.nb[1]).cast(),
        });
        let rows: Vec<Row> = rows.collect();
        let all = Share {
            weights: weights.data.cast_const().cast(),
            rows: 0..rows.len(),
        };
        shared.compute(node, thread as usize, threads as usize, &rows, &[all]);
    }
}

unsafe extern "C" fn attend(node: *mut sys::ggml_tensor, thread: c_int, threads: c_int, shared: *mut c_void) {
    // SAFETY: the pointer is that of a box which outlives the context; the node is one that was made a call.
    unsafe { attention::compute(&*shared.cast::<Shared>(), &*node, thread as usize, threads as usize) }
}

unsafe extern "C" fn multiply_experts(node: *mut sys::ggml_tensor, thread: c_int, threads: c_int, shared: *mut c_void) {
    // SAFETY: as above; the third source says for each token which experts it uses.
    unsafe {
        let (node, shared) = (&*node, &*shared.cast::<Shared>());
        let (weights, numbers, used) = (&*node.src[0], &*node.src[1], &*node.src[2]);
        let mut rows = Vec::new();
        for token in 0..used.ne[1] as usize {
            for at in 0..used.ne[0] as usize {
                let place = at * used.nb[0] + token * used.nb[1];
                let expert = used.data.cast::<i32>().byte_add(place).read() as usize;
                let row = Row {
                    number: token * numbers.ne[1] as usize + at % numbers.ne[1] as usize,
                    products: node.data.cast::<u8>().add(at * node.nb[1] + token * node.nb[2]).cast(),
                };
                rows.push((expert, row));
            }
        }
        rows.sort_by_key(|(expert, _)| *expert);
        let mut shares: Vec<(usize, Range<usize>)> = Vec::new();
        for (at, (expert, _)) in rows.iter().enumerate() {
            match shares.last_mut() {
                Some((last, range)) if last == expert => range.end = at + 1,
                _ => shares.push((*expert, at..at + 1)),
            }
        }
        let share = |(expert, rows): (usize, Range<usize>)| Share {
            weights: weights.data.cast_const().cast::<u8>().add(expert * weights.nb[2]),
            rows,
        };
        let shares: Vec<Share> = shares.into_iter().map(share).collect();
        let rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
        shared.compute(node, thread as usize, threads as usize, &rows, &shares);
    }
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests;
