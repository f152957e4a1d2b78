//! Products of a matrix in llama.cpp's K-quants with few rows: each block of weights is unpacked once for up to eight rows.

#![expect(
    clippy::inline_always,
    reason = "parts of kernels have to be compiled with the kernels' instructions"
)]

use super::attention::Attend;

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

impl Codes {
    /// Those of nothing but zeros.
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
