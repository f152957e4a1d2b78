//! The kernels for processors with AVX-512 and its instructions for products of bytes.
#![allow(
    clippy::wildcard_imports,
    clippy::inline_always,
    reason = "vector code is made of nothing but intrinsics, which have to become part of the kernel with the right instructions"
)]

mod attention;

use super::products::{self, BLOCK, Codes, GROUP, Kernels, MultiplyRows, Q4K, Q5K, Q6K, ROWS};
use std::arch::x86_64::*;

/// Returns the kernels, where the processor has all that they use.
pub fn kernels() -> Option<Kernels> {
    let has_all = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vnni")
        && is_x86_feature_detected!("f16c");
    has_all.then_some(Kernels {
        quantise,
        attend: attention::of_width,
        q4: rows_of::<Q4K>(),
        q5: rows_of::<Q5K>(),
        q6: rows_of::<Q6K>(),
    })
}

const fn rows_of<W: Weights>() -> MultiplyRows {
    [
        multiply::<W, 1>,
        multiply::<W, 2>,
        multiply::<W, 3>,
        multiply::<W, 4>,
        multiply::<W, 5>,
        multiply::<W, 6>,
        multiply::<W, 7>,
        multiply::<W, 8>,
    ]
}

/// A block of weights as they lie in the file.
trait Weights {
    /// Returns the codes in the order of [`Codes`], and for each lane what a code counts and what is taken off it.
    ///
    /// # Safety
    /// The processor has all that [`kernels`] asks for, and the block can be read.
    unsafe fn decode(block: *const Self) -> ([__m512i; 4], __m512, __m512);
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,f16c")]
unsafe fn quantise(numbers: &[f32; BLOCK], codes: &mut Codes) -> f32 {
    // SAFETY: all reads lie within the numbers, all writes within the codes.
    unsafe {
        let part = |at: usize| _mm512_loadu_ps(numbers.as_ptr().add(16 * at));
        let largest = (0..16).fold(_mm512_setzero_ps(), |largest, at| {
            _mm512_max_ps(largest, _mm512_abs_ps(part(at)))
        });
        let largest = _mm512_reduce_max_ps(largest);
        let (per_number, scale) = Codes::scale(largest);
        for group in 0..16 {
            let whole = _mm512_cvtps_epi32(_mm512_mul_ps(part(group), _mm512_set1_ps(per_number)));
            let mut bytes = [0_i8; 16];
            _mm_storeu_si128(bytes.as_mut_ptr().cast(), _mm512_cvtepi32_epi8(whole));
            codes.put(group, bytes, _mm512_reduce_add_epi32(whole) as f32 * scale);
        }
        scale
    }
}

/// Multiplies `count` rows of weights with `R` rows of numbers.
///
/// # Safety
/// As said at [`products::Multiply`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,f16c")]
unsafe fn multiply<W: Weights, const R: usize>(
    weights: *const u8,
    blocks: usize,
    count: usize,
    codes: &[*const Codes; ROWS],
    scales: &[*const f32; ROWS],
    products: &[*mut f32; ROWS],
) {
    let weights = weights.cast::<W>();
    let mut sums = [[_mm512_setzero_ps(); R]; GROUP];
    let most = products::blocks_at_once(R);
    let mut first = 0;
    while first < blocks {
        let end = blocks.min(first + most);
        for (row, sums) in sums.iter_mut().enumerate().take(count) {
            // What is read next: the same row farther on, or the row that follows these.
            let next = if end < blocks {
                row * blocks + end
            } else {
                (row + count) * blocks
            };
            let mut of_row = *sums;
            for block in first..end {
                products::prefetch(weights.wrapping_add(next + block - first));
                // SAFETY: the caller vouches for the blocks of all rows, of weights and of codes.
                unsafe {
                    let (weights, scale, offset) = W::decode(weights.add(row * blocks + block));
                    for (at, sum) in of_row.iter_mut().enumerate() {
                        let of_codes = codes[at].add(block);
                        let part = |part: usize| _mm512_load_si512((*of_codes).codes.as_ptr().add(64 * part).cast());
                        let mut whole = _mm512_dpbusd_epi32(_mm512_setzero_si512(), weights[0], part(0));
                        whole = _mm512_dpbusd_epi32(whole, weights[1], part(1));
                        whole = _mm512_dpbusd_epi32(whole, weights[2], part(2));
                        whole = _mm512_dpbusd_epi32(whole, weights[3], part(3));
                        let of_numbers = _mm512_set1_ps(*scales[at].add(block));
                        let product = _mm512_mul_ps(_mm512_cvtepi32_ps(whole), of_numbers);
                        *sum = _mm512_fmadd_ps(product, scale, *sum);
                        *sum = _mm512_fnmadd_ps(offset, _mm512_load_ps((*of_codes).sums.as_ptr()), *sum);
                    }
                }
            }
            *sums = of_row;
        }
        first = end;
    }
    for (row, sums) in sums.iter().enumerate().take(count) {
        for (sum, products) in sums.iter().zip(products) {
            // SAFETY: the caller vouches for room for the products of all rows.
            unsafe { *products.add(row) = _mm512_reduce_add_ps(*sum) }
        }
    }
}

/// Returns two numbers of 16 bits that follow each other.
#[inline(always)]
unsafe fn two_halves(numbers: *const [u16; 2]) -> (__m512, __m512) {
    // SAFETY: the caller vouches for both.
    unsafe {
        let both = _mm_cvtph_ps(_mm_cvtsi32_si128(numbers.cast::<i32>().read_unaligned()));
        (
            _mm512_broadcastss_ps(both),
            _mm512_broadcastss_ps(_mm_movehdup_ps(both)),
        )
    }
}

/// Returns what a code counts in each lane and what is taken off it, of blocks with eight scales and offsets of 6 bits.
#[inline(always)]
unsafe fn scales_of_eight(halves: *const [u16; 2], packed: &[u8; 12]) -> (__m512, __m512) {
    // SAFETY: the caller vouches for the halves.
    unsafe {
        let (scale, offset) = two_halves(halves);
        let [low, high, offset_low, offset_high] = products::unpacked(packed).map(u32::cast_signed);
        let bytes = _mm_set_epi32(offset_high, offset_low, high, low);
        // Of the 32 codes of a scale half lie in one lane, and half in the one behind the next three.
        let [of_codes, of_offsets] = [0, 8].map(|first| {
            let lanes = _mm_set_epi8(7, 5, 3, 1, 7, 5, 3, 1, 6, 4, 2, 0, 6, 4, 2, 0);
            let lanes = _mm_add_epi8(lanes, _mm_set1_epi8(first));
            _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_shuffle_epi8(bytes, lanes)))
        });
        (_mm512_mul_ps(of_codes, scale), _mm512_mul_ps(of_offsets, offset))
    }
}

/// Returns the codes of 4 bits of blocks in which two scales share each 32 bytes.
#[inline(always)]
unsafe fn nibbles(packed: &[u8; 128]) -> [__m512i; 4] {
    // SAFETY: both reads lie within the bytes.
    unsafe {
        let [low, high] = [0, 64].map(|at| _mm512_loadu_si512(packed.as_ptr().add(at).cast()));
        let first = _mm512_set_epi32(28, 20, 12, 4, 24, 16, 8, 0, 28, 20, 12, 4, 24, 16, 8, 0);
        let shift = _mm512_set_epi32(4, 4, 4, 4, 4, 4, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0);
        [0, 1, 2, 3].map(|part| {
            let lanes = _mm512_add_epi32(first, _mm512_set1_epi32(part));
            let bytes = _mm512_permutex2var_epi32(low, lanes, high);
            _mm512_and_si512(_mm512_srlv_epi32(bytes, shift), _mm512_set1_epi8(15))
        })
    }
}

impl Weights for Q4K {
    #[inline(always)]
    unsafe fn decode(block: *const Self) -> ([__m512i; 4], __m512, __m512) {
        // SAFETY: the caller vouches for the block and the processor.
        unsafe {
            let (scale, offset) = scales_of_eight(&raw const (*block).halves, &(*block).scales);
            (nibbles(&(*block).low), scale, offset)
        }
    }
}

impl Weights for Q5K {
    #[inline(always)]
    unsafe fn decode(block: *const Self) -> ([__m512i; 4], __m512, __m512) {
        // SAFETY: the caller vouches for the block and the processor.
        unsafe {
            let (scale, offset) = scales_of_eight(&raw const (*block).halves, &(*block).scales);
            let mut codes = nibbles(&(*block).low);
            // The fifth bits of all scales lie in one byte: each is turned to where the fifth bit of a code is.
            let high = _mm512_broadcast_i64x4(_mm256_loadu_si256((*block).high.as_ptr().cast()));
            let turn = _mm512_set_epi32(29, 31, 1, 3, 29, 31, 1, 3, 30, 0, 2, 4, 30, 0, 2, 4);
            let first = _mm512_set_epi32(4, 4, 4, 4, 0, 0, 0, 0, 4, 4, 4, 4, 0, 0, 0, 0);
            for (part, codes) in (0..).zip(&mut codes) {
                let lanes = _mm512_add_epi32(first, _mm512_set1_epi32(part));
                let bits = _mm512_rolv_epi32(_mm512_permutexvar_epi32(lanes, high), turn);
                *codes = _mm512_or_si512(*codes, _mm512_and_si512(bits, _mm512_set1_epi8(16)));
            }
            (codes, scale, offset)
        }
    }
}

impl Weights for Q6K {
    #[inline(always)]
    unsafe fn decode(block: *const Self) -> ([__m512i; 4], __m512, __m512) {
        // SAFETY: the caller vouches for the block and the processor.
        unsafe {
            let half = |half: usize| {
                let low = _mm512_loadu_si512((*block).low.as_ptr().add(64 * half).cast());
                let high = _mm256_loadu_si256((*block).high.as_ptr().add(32 * half).cast());
                let high = _mm512_broadcast_i64x4(high);
                let [four, two] = [_mm512_set1_epi8(15), _mm512_set1_epi8(0x30)];
                let first = _mm512_sllv_epi64(high, _mm512_set_epi64(2, 2, 2, 2, 4, 4, 4, 4));
                let second = _mm512_srlv_epi64(high, _mm512_set_epi64(2, 2, 2, 2, 0, 0, 0, 0));
                [(low, first), (_mm512_srli_epi16::<4>(low), second)]
                    .map(|(low, high)| _mm512_or_si512(_mm512_and_si512(low, four), _mm512_and_si512(high, two)))
            };
            let ([a, b], [c, d]) = (half(0), half(1));
            // Each lane of 128 bits has four groups of 16 codes in a row of each; now it has a part of all.
            let [first, second] = [_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b)];
            let [third, fourth] = [_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d)];
            let codes = [
                _mm512_unpacklo_epi64(first, third),
                _mm512_unpackhi_epi64(first, third),
                _mm512_unpacklo_epi64(second, fourth),
                _mm512_unpackhi_epi64(second, fourth),
            ];
            let lanes = _mm_set_epi8(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
            let scales = _mm_shuffle_epi8(_mm_loadu_si128((*block).scales.as_ptr().cast()), lanes);
            let whole = _mm_cvtph_ps(_mm_cvtsi32_si128((*block).half.into()));
            let scales = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(scales));
            let scale = _mm512_mul_ps(scales, _mm512_broadcastss_ps(whole));
            (codes, scale, _mm512_mul_ps(scale, _mm512_set1_ps(32.0)))
        }
    }
}
