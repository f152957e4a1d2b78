//! Each kernel against llama.cpp's, in graphs of one node, and against what its result is defined as.

use super::*;

/// A graph of one node, on ggml's processor back end.
struct Graph {
    context: *mut sys::ggml_context,
    backend: sys::ggml_backend_t,
    buffer: *mut sys::ggml_backend_buffer,
    nodes: *mut sys::ggml_cgraph,
    node: *mut sys::ggml_tensor,
}

/// A tensor, and the bytes that it is filled with.
type Filled = (*mut sys::ggml_tensor, Vec<u8>);

/// What is multiplied: weights of `inputs` by `outputs`, `experts` of them, with so many rows of so many tokens.
#[derive(Debug, Clone, Copy)]
struct Product {
    kind: sys::ggml_type,
    inputs: i64,
    outputs: i64,
    experts: Option<i64>,
    rows: i64,
    tokens: i64,
}

/// What looks at what: so many heads of so many rows at cells, of which each has keys and values for some heads.
#[derive(Debug, Clone, Copy)]
struct Attention {
    width: i64,
    heads: i64,
    of_keys: i64,
    rows: i64,
    cells: i64,
    has_sinks: bool,
}

/// What scores are multiplied with.
const SCALE: f32 = 0.1;
/// Experts that a token uses.
const USED: i64 = 3;

const DENSE: Product = Product {
    kind: sys::GGML_TYPE_Q4_K,
    inputs: 768,
    outputs: 100,
    experts: None,
    rows: 1,
    tokens: 1,
};
const LOOK: Attention = Attention {
    width: 128,
    heads: 12,
    of_keys: 2,
    rows: 1,
    cells: 1040,
    has_sinks: false,
};

fn numbers(count: i64, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // Such that 16 bits hold it.
        (state >> 54) as f32 / 512.0 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// Returns numbers as a tensor of that type stores them.
fn stored(kind: sys::ggml_type, numbers: &[f32], in_row: i64) -> Vec<u8> {
    let rows = numbers.len() as i64 / in_row;
    // SAFETY: as many rows are read as there are, and the bytes of as many are written.
    unsafe {
        let mut bytes = vec![0; sys::ggml_row_size(kind, in_row) * rows as usize];
        let (from, to) = (numbers.as_ptr(), bytes.as_mut_ptr().cast());
        sys::ggml_quantize_chunk(kind, from, to, 0, rows, in_row, std::ptr::null());
        bytes
    }
}

impl Product {
    /// Returns the node and what it is computed from.
    unsafe fn node(self, context: *mut sys::ggml_context) -> (*mut sys::ggml_tensor, Vec<Filled>) {
        let experts = self.experts.unwrap_or(1);
        // SAFETY: the caller vouches for the context.
        unsafe {
            let weights = sys::ggml_new_tensor_3d(context, self.kind, self.inputs, self.outputs, experts);
            let rows = sys::ggml_new_tensor_3d(context, sys::GGML_TYPE_F32, self.inputs, self.rows, self.tokens);
            let values = numbers(self.inputs * self.outputs * experts, 1);
            let of_rows = numbers(self.inputs * self.rows * self.tokens, 2);
            let mut filled = vec![
                (weights, stored(self.kind, &values, self.inputs)),
                (rows, stored(sys::GGML_TYPE_F32, &of_rows, self.inputs)),
            ];
            let Some(experts) = self.experts else {
                return (sys::ggml_mul_mat(context, weights, rows), filled);
            };
            let used = sys::ggml_new_tensor_2d(context, sys::GGML_TYPE_I32, USED, self.tokens);
            let which = (0..USED * self.tokens).map(|at| ((at % USED * 2 + at / USED) % experts) as i32);
            filled.push((used, which.flat_map(i32::to_ne_bytes).collect()));
            (sys::ggml_mul_mat_id(context, weights, rows, used), filled)
        }
    }
}

impl Attention {
    fn queries(self) -> Vec<f32> {
        numbers(self.width * self.rows * self.heads, 5)
    }

    fn keys(self) -> Vec<f32> {
        numbers(self.width * self.cells * self.of_keys, 3)
    }

    fn values(self) -> Vec<f32> {
        numbers(self.width * self.cells * self.of_keys, 4)
    }

    fn sinks(self) -> Vec<f32> {
        numbers(self.heads, 6)
    }

    /// Each row sees other cells, and none sees all.
    fn mask(self) -> Vec<f32> {
        let is_seen =
            |at: i64| (at % self.cells).abs_diff((100 + at / self.cells * 61) % self.cells) < 300 && at % 7 > 0;
        let of_cell = |at| if is_seen(at) { 0.0 } else { f32::NEG_INFINITY };
        (0..self.cells * self.rows).map(of_cell).collect()
    }

    /// Returns what each head of each row gets, computed as it is defined.
    fn exact(self) -> Vec<f32> {
        let (queries, keys, values) = (self.queries(), self.keys(), self.values());
        let (mask, sinks) = (self.mask(), self.sinks());
        let vector = |of: &[f32], at: i64| -> Vec<f64> {
            let begin = (at * self.width) as usize;
            of[begin..begin + self.width as usize]
                .iter()
                .map(|number| f64::from(*number))
                .collect()
        };
        let mut out = Vec::new();
        for row in 0..self.rows {
            for head in 0..self.heads {
                let of_keys = head / (self.heads / self.of_keys);
                let query = vector(&queries, head * self.rows + row);
                let mut weight = if self.has_sinks {
                    f64::from(sinks[head as usize]).exp()
                } else {
                    0.0
                };
                let mut sum = vec![0.0; self.width as usize];
                for cell in 0..self.cells {
                    let key = vector(&keys, of_keys * self.cells + cell);
                    let score: f64 = query.iter().zip(&key).map(|(one, other)| one * other).sum();
                    let of_cell = f64::from(mask[(row * self.cells + cell) as usize]);
                    let share = (score * f64::from(SCALE) + of_cell).exp();
                    weight += share;
                    for (sum, value) in sum.iter_mut().zip(vector(&values, of_keys * self.cells + cell)) {
                        *sum += share * value;
                    }
                }
                out.extend(sum.iter().map(|sum| (sum / weight) as f32));
            }
        }
        out
    }

    /// Returns the node and what it is computed from.
    unsafe fn node(self, context: *mut sys::ggml_context) -> (*mut sys::ggml_tensor, Vec<Filled>) {
        let (f16, f32) = (sys::GGML_TYPE_F16, sys::GGML_TYPE_F32);
        // SAFETY: the caller vouches for the context.
        unsafe {
            let queries = sys::ggml_new_tensor_3d(context, f32, self.width, self.rows, self.heads);
            let keys = sys::ggml_new_tensor_3d(context, f16, self.width, self.cells, self.of_keys);
            let values = sys::ggml_new_tensor_3d(context, f16, self.width, self.cells, self.of_keys);
            let mask = sys::ggml_new_tensor_2d(context, f16, self.cells, self.rows);
            let sinks = sys::ggml_new_tensor_1d(context, f32, self.heads);
            let node = sys::ggml_flash_attn_ext(context, queries, keys, values, mask, SCALE, 0.0, 0.0);
            let mut filled = vec![
                (queries, stored(f32, &self.queries(), self.width)),
                (keys, stored(f16, &self.keys(), self.width)),
                (values, stored(f16, &self.values(), self.width)),
                (mask, stored(f16, &self.mask(), self.cells)),
            ];
            if self.has_sinks {
                sys::ggml_flash_attn_ext_add_sinks(node, sinks);
                filled.push((sinks, stored(f32, &self.sinks(), self.heads)));
            }
            (node, filled)
        }
    }
}

impl Graph {
    fn new(build: impl FnOnce(*mut sys::ggml_context) -> (*mut sys::ggml_tensor, Vec<Filled>)) -> Self {
        let params = sys::ggml_init_params {
            mem_size: 1 << 20,
            mem_buffer: std::ptr::null_mut(),
            no_alloc: true,
        };
        // SAFETY: all tensors are of the context, which lives until the graph is dropped, and are filled with as many bytes
        // as they have.
        unsafe {
            let backend = sys::ggml_backend_init_by_type(sys::GGML_BACKEND_DEVICE_TYPE_CPU, std::ptr::null());
            let context = sys::ggml_init(params);
            let (node, filled) = build(context);
            let nodes = sys::ggml_new_graph(context);
            sys::ggml_build_forward_expand(nodes, node);
            let buffer = sys::ggml_backend_alloc_ctx_tensors(context, backend);
            for (tensor, bytes) in filled {
                assert_eq!(bytes.len(), sys::ggml_nbytes(tensor));
                sys::ggml_backend_tensor_set(tensor, bytes.as_ptr().cast(), 0, bytes.len());
            }
            Self {
                context,
                backend,
                buffer,
                nodes,
                node,
            }
        }
    }

    fn compute(&mut self) -> Vec<f32> {
        // SAFETY: the graph is whole, and as many bytes are read as the node has.
        unsafe {
            assert_eq!(
                sys::ggml_backend_graph_compute(self.backend, self.nodes),
                sys::GGML_STATUS_SUCCESS
            );
            let mut computed = vec![0.0_f32; sys::ggml_nelements(self.node) as usize];
            let bytes = size_of_val(&computed[..]);
            sys::ggml_backend_tensor_get(self.node, computed.as_mut_ptr().cast(), 0, bytes);
            computed
        }
    }

    /// Computes it with llama.cpp's kernels, and then with ours; none where it is left as it is.
    fn both(mut self, kernels: &'static Kernels) -> Option<[Vec<f32>; 2]> {
        let mut own = OwnKernels::of(kernels).unwrap();
        let theirs = self.compute();
        // SAFETY: takes nothing and gives a plain value.
        let mut params = unsafe { sys::llama_context_default_params() };
        own.serve(&mut params);
        let (see, data) = (params.cb_eval.unwrap(), params.cb_eval_user_data);
        // SAFETY: nothing is computed now, and the node lives as long as the graph.
        let (is_asked_for, op) = unsafe { (see(self.node, true, data), (*self.node).op) };
        assert!(!is_asked_for, "no node is waited for");
        (op == sys::GGML_OP_CUSTOM).then(|| [theirs, self.compute()])
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: each was made in `new` and is freed once.
        unsafe {
            sys::ggml_backend_buffer_free(self.buffer);
            sys::ggml_free(self.context);
            sys::ggml_backend_free(self.backend);
        }
    }
}

/// Computes a product with llama.cpp's kernels and with each of ours; those that leave it as it is are left out.
fn products(shape: Product) -> Vec<[Vec<f32>; 2]> {
    // SAFETY: the graph gives its own context.
    let graph = || Graph::new(|context| unsafe { shape.node(context) });
    here().iter().filter_map(|kernels| graph().both(kernels)).collect()
}

#[track_caller]
fn assert_products_are_alike(shape: Product) {
    let all = products(shape);
    assert_eq!(all.len(), here().len(), "{shape:?}");
    for both in all {
        assert_alike(both, 1e-4, &shape);
    }
}

/// The numbers are alike within a part of the largest.
#[track_caller]
fn assert_alike([theirs, ours]: [Vec<f32>; 2], part: f32, what: &impl std::fmt::Debug) {
    let largest = theirs.iter().map(|number| number.abs()).fold(0.0, f32::max);
    for (theirs, ours) in theirs.iter().zip(&ours) {
        assert!((theirs - ours).abs() < largest * part, "{what:?}: {theirs} and {ours}");
    }
}

#[test]
fn products_are_as_those_of_llama_cpp() {
    for kind in [sys::GGML_TYPE_Q4_K, sys::GGML_TYPE_Q5_K, sys::GGML_TYPE_Q6_K] {
        for rows in [1, 2, 7, 8, 9, 63] {
            let shape = Product { kind, rows, ..DENSE };
            assert_products_are_alike(shape);
        }
        let long = Product {
            kind,
            rows: 8,
            inputs: 256 * 40,
            outputs: 37,
            ..DENSE
        };
        assert_products_are_alike(long);
    }
}

#[test]
fn each_token_is_multiplied_with_its_experts() {
    for (rows, tokens) in [(1, 1), (1, 5), (USED, 1), (USED, 20)] {
        let shape = Product {
            experts: Some(7),
            rows,
            tokens,
            ..DENSE
        };
        assert_products_are_alike(shape);
    }
}

#[test]
fn other_products_are_left_to_llama_cpp() {
    let many = Product { rows: 64, ..DENSE };
    let other = Product {
        kind: sys::GGML_TYPE_Q8_0,
        ..DENSE
    };
    let several = Product {
        rows: 2,
        tokens: 3,
        ..DENSE
    };
    for shape in [many, other, several] {
        assert!(products(shape).is_empty(), "{shape:?}");
    }
}

#[test]
fn attention_is_what_it_is_defined_as() {
    let sinks = Attention {
        has_sinks: true,
        ..LOOK
    };
    for shape in [LOOK, sinks] {
        for (width, rows, cells) in [
            (64, 1, 256),
            (128, 1, 1040),
            (128, 7, 1040),
            (256, 3, 512),
            (64, 70, 512),
        ] {
            let shape = Attention {
                width,
                rows,
                cells,
                ..shape
            };
            for kernels in here() {
                // SAFETY: the graph gives its own context.
                let graph = Graph::new(|context| unsafe { shape.node(context) });
                let [theirs, ours] = graph.both(kernels).unwrap();
                assert_alike([shape.exact(), ours], 1e-4, &shape);
                // llama.cpp sums values up in 16 bits.
                assert_alike([shape.exact(), theirs], 2e-2, &shape);
            }
        }
    }
}

/// Numbers that look like chance, the same each time.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.0 >> 33
    }

    fn number(&mut self) -> f32 {
        self.next() as f32 / (1_u32 << 30) as f32 - 1.0
    }
}

/// Returns so many blocks of any codes, whose scales of 16 bits are small numbers.
fn blocks(draws: &mut Draws, count: usize, size: usize, halves: &[usize]) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..count * size).map(|_| draws.next() as u8).collect();
    for block in bytes.chunks_mut(size) {
        for at in halves {
            block[at + 1] = 0x20 + (draws.next() % 4) as u8;
        }
    }
    bytes
}

/// Returns the weights that llama.cpp takes blocks for.
fn plain(blocks: &[u8], kind: sys::ggml_type, count: usize) -> Vec<f32> {
    let mut weights = vec![0.0; count * BLOCK];
    // SAFETY: as many blocks as said are read, and as many weights written.
    unsafe {
        let to_float = (*sys::ggml_get_type_traits(kind)).to_float.unwrap();
        to_float(blocks.as_ptr().cast(), weights.as_mut_ptr(), weights.len() as i64);
    }
    weights
}

#[test]
fn products_are_those_of_the_weights_that_llama_cpp_takes_blocks_for() {
    let draws = &mut Draws(3);
    for kernels in here() {
        let kinds = [
            (&kernels.q4, sys::GGML_TYPE_Q4_K, size_of::<Q4K>(), &[0, 2][..]),
            (&kernels.q5, sys::GGML_TYPE_Q5_K, size_of::<Q5K>(), &[0, 2]),
            (&kernels.q6, sys::GGML_TYPE_Q6_K, size_of::<Q6K>(), &[208]),
        ];
        for (multiply, kind, size, halves) in kinds {
            for (rows, in_row, count) in [(1, 1, 1), (2, 3, 16), (5, 40, 7), (8, 13, 16)] {
                let bytes = blocks(draws, count * in_row, size, halves);
                let weights = plain(&bytes, kind, count * in_row);
                let numbers: Vec<f32> = (0..rows * in_row * BLOCK).map(|_| draws.number()).collect();
                let mut codes = vec![Codes::ZERO; rows * in_row];
                let quantised = codes.iter_mut().zip(numbers.as_chunks::<BLOCK>().0);
                // SAFETY: the kernels are there, so the processor has what they need; every place lies within the lists.
                let scales: Vec<f32> = quantised
                    .map(|(codes, numbers)| unsafe { (kernels.quantise)(numbers, codes) })
                    .collect();
                let mut products = vec![0.0_f32; rows * count];
                unsafe {
                    let of = |row: usize| row.min(rows - 1);
                    multiply[rows - 1](
                        bytes.as_ptr(),
                        in_row,
                        count,
                        &std::array::from_fn(|row| codes.as_ptr().add(of(row) * in_row)),
                        &std::array::from_fn(|row| scales.as_ptr().add(of(row) * in_row)),
                        &std::array::from_fn(|row| products.as_mut_ptr().add(of(row) * count)),
                    );
                }
                for (at, product) in products.iter().enumerate() {
                    let pair =
                        |at: usize, row: usize| (&weights[at * in_row * BLOCK..], &numbers[row * in_row * BLOCK..]);
                    let (weights, numbers) = pair(at % count, at / count);
                    let pairs = || weights.iter().zip(numbers).take(in_row * BLOCK);
                    let exact: f64 = pairs().map(|(one, other)| f64::from(one * other)).sum();
                    // Numbers in 8 bits are off by up to half a step, any way.
                    let steps: f64 = pairs().map(|(weight, _)| f64::from(weight * weight)).sum();
                    let slack = 6.0 * steps.sqrt() / 127.0 / 3.4;
                    assert!(
                        (f64::from(*product) - exact).abs() < slack,
                        "{kind} {rows} {in_row}: {product} {exact} {slack}"
                    );
                }
            }
        }
    }
}
