//! Products of a matrix in llama.cpp's K-quants with few rows: each block of weights is unpacked once for up to eight rows.

#![expect(
    clippy::inline_always,
    reason = "parts of kernels have to be compiled with the kernels' instructions"
)]

use super::attention::Attend;

#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use std::sync::OnceLock;

/// Numbers of a block.
pub const BLOCK: usize = 256;
/// Rows that are multiplied at once at the most.
pub const ROWS: usize = 8;
/// Rows of weights that are multiplied at once at the most.
pub const GROUP: usize = 16;
/// Bytes of codes that stay in the processor's first cache while weights pass by.
const CODES_AT_HAND: usize = 30 << 10;

/// 256 numbers as codes of 8 bits, sixteen groups of sixteen. A group is a lane of 32 bits in each of the four parts, group
/// `4 m + l` the lane `4 l + m`: in this order weights come out of their blocks with the fewest instructions.
#[repr(C, align(64))]
#[derive(Debug, Clone, Copy)]
pub struct Codes {
    pub codes: [i8; BLOCK],
    /// The sum of the numbers of each lane.
    pub sums: [f32; 16],
}

/// llama.cpp's `block_q4_K`: a scale and an offset, and eight of 6 bits each for 32 codes of 4 bits.
#[repr(C)]
pub struct Q4K {
    pub halves: [u16; 2],
    pub scales: [u8; 12],
    pub low: [u8; 128],
}

/// llama.cpp's `block_q5_K`: as [`Q4K`] with a fifth bit of each code.
#[repr(C)]
pub struct Q5K {
    pub halves: [u16; 2],
    pub scales: [u8; 12],
    pub high: [u8; 32],
    pub low: [u8; 128],
}

/// llama.cpp's `block_q6_K`: a scale, and sixteen of 8 bits each for 16 codes of 6 bits, from which 32 is taken off.
#[repr(C)]
pub struct Q6K {
    pub low: [u8; 128],
    pub high: [u8; 64],
    pub scales: [i8; 16],
    pub half: u16,
}

/// Multiplies rows of weights, which follow each other and have so many blocks each, with rows of codes; the products with
/// the rows of weights follow each other, too.
///
/// # Safety
/// The processor has what the kernels ask for; there are as many rows of weights as said, [`GROUP`] at the most; the codes and
/// scales of each row that the kernel is for have as many blocks, and its products room for all rows of weights.
pub type Multiply = unsafe fn(
    weights: *const u8,
    blocks: usize,
    count: usize,
    codes: &[*const Codes; ROWS],
    scales: &[*const f32; ROWS],
    products: &[*mut f32; ROWS],
);

/// The kernels for one to eight rows.
pub type MultiplyRows = [Multiply; ROWS];

/// The kernels of a kind of processor.
pub struct Kernels {
    /// Brings numbers into codes; returns what a code counts.
    ///
    /// # Safety
    /// The processor has what the kernels ask for.
    pub quantise: unsafe fn(&[f32; BLOCK], &mut Codes) -> f32,
    /// Returns what attention with heads of a width is computed with; none where there is nothing for it.
    pub attend: fn(usize) -> Option<Attend>,
    pub q4: MultiplyRows,
    pub q5: MultiplyRows,
    pub q6: MultiplyRows,
}

impl Kernels {
    /// Returns the kernels that this processor has what they need for, the best first.
    pub fn here() -> &'static [Self] {
        static KERNELS: OnceLock<Vec<Kernels>> = OnceLock::new();
        #[cfg(target_arch = "x86_64")]
        let kernels = KERNELS.get_or_init(|| [avx512::kernels(), avx2::kernels()].into_iter().flatten().collect());
        #[cfg(not(target_arch = "x86_64"))]
        let kernels = KERNELS.get_or_init(Vec::new);
        kernels
    }
}

impl Codes {
    pub const ZERO: Self = Self {
        codes: [0; BLOCK],
        sums: [0.0; 16],
    };

    /// Returns by what numbers are multiplied to become codes, and what a code counts, where the largest number is that.
    pub fn scale(largest: f32) -> (f32, f32) {
        if largest == 0.0 {
            return (0.0, 0.0);
        }
        let per_number = 127.0 / largest;
        (per_number, 1.0 / per_number)
    }

    /// Puts the codes of a group in their places, with the sum of their numbers.
    #[inline(always)]
    pub fn put(&mut self, group: usize, codes: [i8; 16], sum: f32) {
        let lane = group % 4 * 4 + group / 4;
        for (part, codes) in codes.as_chunks::<4>().0.iter().enumerate() {
            self.codes.as_chunks_mut::<4>().0[part * 16 + lane] = *codes;
        }
        self.sums[lane] = sum;
    }
}

/// Returns how many blocks of each row are multiplied before the next row of weights: of many long rows not all stay at hand.
pub const fn blocks_at_once(rows: usize) -> usize {
    CODES_AT_HAND / (rows * size_of::<Codes>())
}

/// Lets the processor fetch a block, which may lie behind the end of all.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn prefetch<W>(block: *const W) {
    use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
    for line in 0..size_of::<W>().div_ceil(64) {
        // SAFETY: nothing is read; a place that does not exist is let be.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(block.cast::<i8>().wrapping_add(64 * line)) }
    }
}

/// Returns eight scales and eight offsets of 6 bits, a byte each.
#[inline(always)]
pub fn unpacked(packed: &[u8; 12]) -> [u32; 4] {
    let words: [[u8; 4]; 3] = [0, 4, 8].map(|at| [packed[at], packed[at + 1], packed[at + 2], packed[at + 3]]);
    let [scales, offsets, rest] = words.map(u32::from_le_bytes);
    let (four, six) = (0x0f0f_0f0f, 0x3f3f_3f3f);
    let upper = |word: u32| (word >> 6 & 0x0303_0303) << 4;
    [
        scales & six,
        rest & four | upper(scales),
        offsets & six,
        rest >> 4 & four | upper(offsets),
    ]
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests {
    use super::*;
    use llama_cpp_sys_2 as sys;

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
        for kernels in Kernels::here() {
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
}
