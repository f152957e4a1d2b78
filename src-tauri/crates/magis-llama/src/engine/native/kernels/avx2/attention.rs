//! Attention over sixteen cells: their keys and values are widened once for all that look at them.
#![allow(
    clippy::wildcard_imports,
    clippy::inline_always,
    reason = "vector code is made of nothing but intrinsics, which have to become part of the kernel with the right instructions"
)]

use super::super::attention::{Attend, CELLS, Cells, Query, Widened};
use std::arch::x86_64::*;

/// Values that are summed up at once: more do not fit into the registers.
const AT_ONCE: usize = 64;

/// Returns the kernel for heads of a width; none where there is none for it.
pub fn of_width(width: usize) -> Option<Attend> {
    match width {
        64 => Some(attend::<64>),
        128 => Some(attend::<128>),
        256 => Some(attend::<256>),
        _ => None,
    }
}

/// Lets queries look at cells.
///
/// # Safety
/// As said at [`Attend`].
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn attend<const WIDTH: usize>(cells: &Cells, widened: &mut Widened, scale: f32, queries: &mut [Query]) {
    for (at, number) in cells.numbers.iter().take(cells.count).enumerate() {
        let [key, value] = [cells.key_bytes, cells.value_bytes].map(|bytes| *number as usize * bytes);
        // SAFETY: the caller vouches for the cells; there is room for all of them.
        unsafe {
            widen::<WIDTH>(cells.keys.add(key).cast(), widened.keys.as_mut_ptr().add(at * WIDTH));
            widen::<WIDTH>(
                cells.values.add(value).cast(),
                widened.values.as_mut_ptr().add(at * WIDTH),
            );
        }
    }
    for query in queries {
        // SAFETY: the caller vouches for the numbers of each query and for the place of its sum.
        unsafe {
            let mut scores = [0.0_f32; CELLS];
            for half in [0, 8] {
                let of_half = scores_of_eight::<WIDTH>(query.numbers, widened.keys.as_ptr().add(half * WIDTH));
                let of_half = _mm256_mul_ps(of_half, _mm256_set1_ps(scale));
                _mm256_storeu_ps(scores.as_mut_ptr().add(half), of_half);
            }
            // What is no cell weighs nothing.
            scores[cells.count..].fill(f32::NEG_INFINITY);
            let halves = [0, 8].map(|half| _mm256_loadu_ps(scores.as_ptr().add(half)));
            let largest = largest(_mm256_max_ps(halves[0], halves[1]));
            let mut shrunk = 1.0;
            if largest > query.largest {
                shrunk = (query.largest - largest).exp();
                query.weight *= shrunk;
                query.largest = largest;
            }
            let mut weights = [0.0_f32; CELLS];
            for (at, half) in halves.into_iter().enumerate() {
                let weight = exp(_mm256_sub_ps(half, _mm256_set1_ps(query.largest)));
                _mm256_storeu_ps(weights.as_mut_ptr().add(8 * at), weight);
            }
            weights[cells.count..].fill(0.0);
            query.weight += weights.iter().sum::<f32>();
            for begin in (0..WIDTH).step_by(AT_ONCE) {
                let place = |part: usize| query.sum.add(begin + 8 * part);
                let mut sums = [_mm256_setzero_ps(); AT_ONCE / 8];
                for (part, sum) in sums.iter_mut().enumerate() {
                    *sum = _mm256_mul_ps(_mm256_loadu_ps(place(part)), _mm256_set1_ps(shrunk));
                }
                for (cell, weight) in weights.iter().enumerate().take(cells.count) {
                    let weight = _mm256_set1_ps(*weight);
                    for (part, sum) in sums.iter_mut().enumerate() {
                        let value = _mm256_load_ps(widened.values.as_ptr().add(cell * WIDTH + begin + 8 * part));
                        *sum = _mm256_fmadd_ps(weight, value, *sum);
                    }
                }
                for (part, sum) in sums.iter().enumerate() {
                    _mm256_storeu_ps(place(part), *sum);
                }
            }
        }
    }
}

/// Widens the numbers of a cell.
#[inline(always)]
unsafe fn widen<const WIDTH: usize>(from: *const u16, to: *mut f32) {
    for part in (0..WIDTH).step_by(8) {
        // SAFETY: the caller vouches for both.
        unsafe { _mm256_store_ps(to.add(part), _mm256_cvtph_ps(_mm_loadu_si128(from.add(part).cast()))) }
    }
}

/// Returns the products of a query with eight keys.
#[inline(always)]
unsafe fn scores_of_eight<const WIDTH: usize>(query: *const f32, keys: *const f32) -> __m256 {
    // SAFETY: the caller vouches for the numbers of the query and of the keys.
    unsafe {
        let mut sums = [_mm256_setzero_ps(); 8];
        for part in (0..WIDTH).step_by(8) {
            let numbers = _mm256_loadu_ps(query.add(part));
            for (cell, sum) in sums.iter_mut().enumerate() {
                *sum = _mm256_fmadd_ps(numbers, _mm256_load_ps(keys.add(cell * WIDTH + part)), *sum);
            }
        }
        let four = |at: usize| {
            let first = _mm256_hadd_ps(sums[at], sums[at + 1]);
            _mm256_hadd_ps(first, _mm256_hadd_ps(sums[at + 2], sums[at + 3]))
        };
        let (low, high) = (four(0), four(4));
        let (lower, upper) = (
            _mm256_permute2f128_ps::<0x20>(low, high),
            _mm256_permute2f128_ps::<0x31>(low, high),
        );
        _mm256_add_ps(lower, upper)
    }
}

/// Returns the largest of eight numbers.
#[inline(always)]
unsafe fn largest(numbers: __m256) -> f32 {
    // SAFETY: nothing but registers is used.
    unsafe {
        let four = _mm_max_ps(_mm256_castps256_ps128(numbers), _mm256_extractf128_ps::<1>(numbers));
        let two = _mm_max_ps(four, _mm_movehl_ps(four, four));
        _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)))
    }
}

/// Returns the exponentials of numbers that are not above 0.
#[inline(always)]
unsafe fn exp(numbers: __m256) -> __m256 {
    // SAFETY: nothing but registers is used.
    unsafe {
        let numbers = _mm256_max_ps(numbers, _mm256_set1_ps(-87.0));
        let whole = _mm256_mul_ps(numbers, _mm256_set1_ps(std::f32::consts::LOG2_E));
        let whole = _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(whole);
        // The logarithm of 2 in two parts, so that what is left is exact.
        let rest = _mm256_fnmadd_ps(whole, _mm256_set1_ps(355.0 / 512.0), numbers);
        let rest = _mm256_fnmadd_ps(whole, _mm256_set1_ps(-2.121_944_4e-4), rest);
        let mut power = _mm256_set1_ps(1.0 / 720.0);
        for divisor in [120.0, 24.0, 6.0, 2.0, 1.0, 1.0] {
            power = _mm256_fmadd_ps(power, rest, _mm256_set1_ps(1.0 / divisor));
        }
        let exponent = _mm256_add_epi32(_mm256_cvtps_epi32(whole), _mm256_set1_epi32(127));
        _mm256_mul_ps(power, _mm256_castsi256_ps(_mm256_slli_epi32::<23>(exponent)))
    }
}
