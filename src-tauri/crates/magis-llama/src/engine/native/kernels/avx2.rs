//! The kernels for processors with AVX2. What is one vector of sixteen lanes with AVX-512 is a lower and an upper half here.
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
    let has_all =
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c");
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

/// A block of weights, unpacked: the codes of eight lanes in each of the four parts, and for each lane what a code counts and
/// what is taken off it.
type Half = ([__m256i; 4], __m256, __m256);

/// A block of weights as they lie in the file.
trait Weights {
    /// Returns the codes in the order of [`Codes`], the lower lanes and the upper ones.
    ///
    /// # Safety
    /// The processor has all that [`kernels`] asks for, and the block can be read.
    unsafe fn decode(block: *const Self) -> [Half; 2];
}

#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn quantise(numbers: &[f32; BLOCK], codes: &mut Codes) -> f32 {
    // SAFETY: all reads lie within the numbers, all writes within the arrays.
    unsafe {
        let part = |at: usize| _mm256_loadu_ps(numbers.as_ptr().add(8 * at));
        let sign = _mm256_set1_ps(-0.0);
        let largest = (0..32).fold(_mm256_setzero_ps(), |largest, at| {
            _mm256_max_ps(largest, _mm256_andnot_ps(sign, part(at)))
        });
        let mut lanes = [0.0_f32; 8];
        _mm256_storeu_ps(lanes.as_mut_ptr(), largest);
        let (per_number, scale) = Codes::scale(lanes.into_iter().fold(0.0, f32::max));
        for group in 0..16 {
            let whole = |at: usize| _mm256_cvtps_epi32(_mm256_mul_ps(part(at), _mm256_set1_ps(per_number)));
            let (lower, upper) = (whole(2 * group), whole(2 * group + 1));
            let mut sums = [0_i32; 8];
            _mm256_storeu_si256(sums.as_mut_ptr().cast(), _mm256_add_epi32(lower, upper));
            let halves = _mm256_permute4x64_epi64::<0b1101_1000>(_mm256_packs_epi32(lower, upper));
            let mut bytes = [0_i8; 16];
            let packed = _mm_packs_epi16(_mm256_castsi256_si128(halves), _mm256_extracti128_si256::<1>(halves));
            _mm_storeu_si128(bytes.as_mut_ptr().cast(), packed);
            codes.put(group, bytes, sums.iter().sum::<i32>() as f32 * scale);
        }
        scale
    }
}

/// Multiplies `count` rows of weights with `R` rows of numbers.
///
/// # Safety
/// As said at [`products::Multiply`].
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn multiply<W: Weights, const R: usize>(
    weights: *const u8,
    blocks: usize,
    count: usize,
    codes: &[*const Codes; ROWS],
    scales: &[*const f32; ROWS],
    products: &[*mut f32; ROWS],
) {
    let weights = weights.cast::<W>();
    let mut sums = [[_mm256_setzero_ps(); R]; GROUP];
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
                    let halves = W::decode(weights.add(row * blocks + block));
                    for (at, sum) in of_row.iter_mut().enumerate() {
                        let of_codes = codes[at].add(block);
                        let of_numbers = _mm256_set1_ps(*scales[at].add(block));
                        for (half, (weights, scale, offset)) in halves.iter().enumerate() {
                            let product = |part: usize| {
                                let codes = (*of_codes).codes.as_ptr().add(64 * part + 32 * half);
                                _mm256_maddubs_epi16(weights[part], _mm256_load_si256(codes.cast()))
                            };
                            // Two products of two codes each still fit into 16 bits, of 6 bits as well.
                            let ones = _mm256_set1_epi16(1);
                            let whole = _mm256_add_epi32(
                                _mm256_madd_epi16(_mm256_add_epi16(product(0), product(1)), ones),
                                _mm256_madd_epi16(_mm256_add_epi16(product(2), product(3)), ones),
                            );
                            let product = _mm256_mul_ps(_mm256_cvtepi32_ps(whole), of_numbers);
                            let of_sums = _mm256_load_ps((*of_codes).sums.as_ptr().add(8 * half));
                            *sum = _mm256_fmadd_ps(product, *scale, *sum);
                            *sum = _mm256_fnmadd_ps(*offset, of_sums, *sum);
                        }
                    }
                }
            }
            *sums = of_row;
        }
        first = end;
    }
    for (row, sums) in sums.iter().enumerate().take(count) {
        for (sum, products) in sums.iter().zip(products) {
            let quarters = _mm_add_ps(_mm256_castps256_ps128(*sum), _mm256_extractf128_ps::<1>(*sum));
            let pairs = _mm_add_ps(quarters, _mm_movehl_ps(quarters, quarters));
            let whole = _mm_add_ss(pairs, _mm_movehdup_ps(pairs));
            // SAFETY: the caller vouches for room for the products of all rows.
            unsafe { *products.add(row) = _mm_cvtss_f32(whole) }
        }
    }
}

/// Turns four vectors so that each has one number of 32 bits of all four, in each lane of 128 bits.
#[inline(always)]
unsafe fn turned([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    // SAFETY: nothing but registers is used.
    unsafe {
        let [first, second] = [_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)];
        let [third, fourth] = [_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d)];
        [
            _mm256_unpacklo_epi64(first, third),
            _mm256_unpackhi_epi64(first, third),
            _mm256_unpacklo_epi64(second, fourth),
            _mm256_unpackhi_epi64(second, fourth),
        ]
    }
}

/// Returns what a code counts in each lane and what is taken off it, of blocks with eight scales and offsets of 6 bits.
#[inline(always)]
unsafe fn scales_of_eight(halves: *const [u16; 2], packed: &[u8; 12]) -> [(__m256, __m256); 2] {
    // SAFETY: the caller vouches for the halves.
    unsafe {
        let both = _mm_cvtph_ps(_mm_cvtsi32_si128(halves.cast::<i32>().read_unaligned()));
        let scale = _mm256_broadcastss_ps(both);
        let offset = _mm256_broadcastss_ps(_mm_movehdup_ps(both));
        let [low, high, offset_low, offset_high] = products::unpacked(packed).map(u32::cast_signed);
        let bytes = _mm_set_epi32(offset_high, offset_low, high, low);
        // The lower lanes have the scales of even numbers, twice, and the upper ones those of odd numbers.
        [0, 1].map(|odd| {
            let [of_codes, of_offsets] = [0, 8].map(|first| {
                let lanes = _mm_set_epi8(-1, -1, -1, -1, -1, -1, -1, -1, 6, 4, 2, 0, 6, 4, 2, 0);
                let lanes = _mm_add_epi8(lanes, _mm_set1_epi8(first + odd));
                _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_shuffle_epi8(bytes, lanes)))
            });
            (_mm256_mul_ps(of_codes, scale), _mm256_mul_ps(of_offsets, offset))
        })
    }
}

/// Returns 32 bytes.
#[inline(always)]
unsafe fn bytes(from: *const u8) -> __m256i {
    // SAFETY: the caller vouches for them.
    unsafe { _mm256_loadu_si256(from.cast()) }
}

/// Returns the codes of 4 bits of blocks in which two scales share each 32 bytes.
#[inline(always)]
unsafe fn nibbles(packed: &[u8; 128]) -> [[__m256i; 4]; 2] {
    // SAFETY: all reads lie within the bytes.
    unsafe {
        let four = _mm256_set1_epi8(15);
        let at = packed.as_ptr();
        let both = turned([bytes(at), bytes(at.add(32)), bytes(at.add(64)), bytes(at.add(96))]);
        [
            both.map(|both| _mm256_and_si256(both, four)),
            both.map(|both| _mm256_and_si256(_mm256_srli_epi16::<4>(both), four)),
        ]
    }
}

#[inline(always)]
fn halves([lower, upper]: [[__m256i; 4]; 2], [of_lower, of_upper]: [(__m256, __m256); 2]) -> [Half; 2] {
    [(lower, of_lower.0, of_lower.1), (upper, of_upper.0, of_upper.1)]
}

impl Weights for Q4K {
    #[inline(always)]
    unsafe fn decode(block: *const Self) -> [Half; 2] {
        // SAFETY: the caller vouches for the block and the processor.
        unsafe {
            let scales = scales_of_eight(&raw const (*block).halves, &(*block).scales);
            halves(nibbles(&(*block).low), scales)
        }
    }
}

impl Weights for Q5K {
    #[inline(always)]
    unsafe fn decode(block: *const Self) -> [Half; 2] {
        // SAFETY: the caller vouches for the block and the processor.
        unsafe {
            let scales = scales_of_eight(&raw const (*block).halves, &(*block).scales);
            let mut codes = nibbles(&(*block).low);
            // The fifth bits of all scales lie in one byte: each is moved to where the fifth bit of a code is.
            let high = bytes((*block).high.as_ptr());
            for (odd, codes) in codes.iter_mut().enumerate() {
                let fifth = |scale: i32| {
                    let right = _mm_cvtsi32_si128(scale * 2 + odd as i32);
                    let one = _mm256_and_si256(_mm256_srl_epi16(high, right), _mm256_set1_epi8(1));
                    _mm256_slli_epi16::<4>(one)
                };
                let fifth = turned([fifth(0), fifth(1), fifth(2), fifth(3)]);
                for (codes, fifth) in codes.iter_mut().zip(fifth) {
                    *codes = _mm256_or_si256(*codes, fifth);
                }
            }
            halves(codes, scales)
        }
    }
}

impl Weights for Q6K {
    #[inline(always)]
    unsafe fn decode(block: *const Self) -> [Half; 2] {
        // SAFETY: the caller vouches for the block and the processor.
        unsafe {
            let [four, two] = [_mm256_set1_epi8(15), _mm256_set1_epi8(0x30)];
            let codes = [0, 1].map(|upper| {
                // 32 codes of each quarter of the block, whose sixteen first are of the lower lanes.
                let quarter = |at: usize| {
                    let low = bytes((*block).low.as_ptr().add(at / 2 * 64 + 32 * upper));
                    let high = bytes((*block).high.as_ptr().add(at / 2 * 32));
                    let (low, left) = if at.is_multiple_of(2) {
                        (low, _mm256_sll_epi16(high, _mm_cvtsi32_si128(4 - 2 * upper as i32)))
                    } else {
                        let right = _mm_cvtsi32_si128(2 * upper as i32);
                        (_mm256_srli_epi16::<4>(low), _mm256_srl_epi16(high, right))
                    };
                    _mm256_or_si256(_mm256_and_si256(low, four), _mm256_and_si256(left, two))
                };
                turned([quarter(0), quarter(1), quarter(2), quarter(3)])
            });
            let lanes = _mm_set_epi8(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
            let scales = _mm_shuffle_epi8(_mm_loadu_si128((*block).scales.as_ptr().cast()), lanes);
            let whole = _mm256_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128((*block).half.into())));
            let scales = [scales, _mm_unpackhi_epi64(scales, scales)].map(|scales| {
                let scales = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(scales)), whole);
                (scales, _mm256_mul_ps(scales, _mm256_set1_ps(32.0)))
            });
            halves(codes, scales)
        }
    }
}
