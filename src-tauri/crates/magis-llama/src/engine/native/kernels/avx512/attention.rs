//! Attention over sixteen cells: their keys and values are widened once for all that look at them.
#![allow(
    clippy::wildcard_imports,
    clippy::inline_always,
    reason = "vector code is made of nothing but intrinsics, which have to become part of the kernel with the right instructions"
)]

use super::super::attention::{Attend, CELLS, Cells, Query, Widened};
use std::arch::x86_64::*;

/// Returns the kernel for heads of a width; none where there is none for it.
pub fn of_width(width: usize) -> Option<Attend> {
    match width {
        64 => Some(attend::<64, 4>),
        128 => Some(attend::<128, 8>),
        256 => Some(attend::<256, 16>),
        _ => None,
    }
}

/// Lets queries look at cells.
///
/// # Safety
/// As said at [`Attend`]. `PARTS` is the sixteenth of `WIDTH`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,f16c")]
unsafe fn attend<const WIDTH: usize, const PARTS: usize>(
    cells: &Cells,
    widened: &mut Widened,
    scale: f32,
    queries: &mut [Query],
) {
    for (at, number) in cells.numbers.iter().take(cells.count).enumerate() {
        let [key, value] = [cells.key_bytes, cells.value_bytes].map(|bytes| *number as usize * bytes);
        // SAFETY: the caller vouches for the cells; there is room for all of them.
        unsafe {
            widen::<PARTS>(cells.keys.add(key), widened.keys.as_mut_ptr().add(at * WIDTH));
            widen::<PARTS>(cells.values.add(value), widened.values.as_mut_ptr().add(at * WIDTH));
        }
    }
    let is_cell: __mmask16 = u16::MAX >> (CELLS - cells.count);
    for query in queries {
        // SAFETY: the caller vouches for the numbers of each query and for the place of its sum.
        unsafe {
            let scores = scores::<WIDTH, PARTS>(query.numbers, widened.keys.as_ptr());
            let scores = _mm512_mul_ps(scores, _mm512_set1_ps(scale));
            let largest = _mm512_mask_reduce_max_ps(is_cell, scores);
            let mut sum = [_mm512_setzero_ps(); PARTS];
            for (part, sum) in sum.iter_mut().enumerate() {
                *sum = _mm512_loadu_ps(query.sum.add(16 * part));
            }
            if largest > query.largest {
                let shrunk = (query.largest - largest).exp();
                query.weight *= shrunk;
                sum = sum.map(|sum| _mm512_mul_ps(sum, _mm512_set1_ps(shrunk)));
                query.largest = largest;
            }
            let weights = exp(_mm512_sub_ps(scores, _mm512_set1_ps(query.largest)));
            let weights = _mm512_maskz_mov_ps(is_cell, weights);
            query.weight += _mm512_reduce_add_ps(weights);
            let mut each = [0.0_f32; CELLS];
            _mm512_storeu_ps(each.as_mut_ptr(), weights);
            for (cell, weight) in each.iter().enumerate().take(cells.count) {
                let weight = _mm512_set1_ps(*weight);
                for (part, sum) in sum.iter_mut().enumerate() {
                    let value = _mm512_load_ps(widened.values.as_ptr().add(cell * WIDTH + 16 * part));
                    *sum = _mm512_fmadd_ps(weight, value, *sum);
                }
            }
            for (part, sum) in sum.iter().enumerate() {
                _mm512_storeu_ps(query.sum.add(16 * part), *sum);
            }
        }
    }
}

/// Widens the numbers of a cell.
#[inline(always)]
unsafe fn widen<const PARTS: usize>(from: *const u8, to: *mut f32) {
    for part in 0..PARTS {
        // SAFETY: the caller vouches for both.
        unsafe {
            let half = _mm256_loadu_si256(from.add(32 * part).cast());
            _mm512_store_ps(to.add(16 * part), _mm512_cvtph_ps(half));
        }
    }
}

/// Returns the products of a query with sixteen keys.
#[inline(always)]
unsafe fn scores<const WIDTH: usize, const PARTS: usize>(query: *const f32, keys: *const f32) -> __m512 {
    // SAFETY: the caller vouches for the numbers of the query.
    unsafe {
        let mut sums = [_mm512_setzero_ps(); CELLS];
        for part in 0..PARTS {
            let numbers = _mm512_loadu_ps(query.add(16 * part));
            for (cell, sum) in sums.iter_mut().enumerate() {
                let key = _mm512_load_ps(keys.add(cell * WIDTH + 16 * part));
                *sum = _mm512_fmadd_ps(numbers, key, *sum);
            }
        }
        // The sums of four cells come into each lane of 128 bits, and then the lanes are added.
        let mut fours = [_mm512_setzero_ps(); 4];
        for (four, sums) in fours.iter_mut().zip(sums.as_chunks::<4>().0) {
            let pair = |a, b| _mm512_castps_pd(_mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b)));
            let (low, high) = (pair(sums[0], sums[1]), pair(sums[2], sums[3]));
            let (low, high) = (_mm512_unpacklo_pd(low, high), _mm512_unpackhi_pd(low, high));
            *four = _mm512_add_ps(_mm512_castpd_ps(low), _mm512_castpd_ps(high));
        }
        let lanes = |a, b| _mm512_add_ps(_mm512_shuffle_f32x4::<0x88>(a, b), _mm512_shuffle_f32x4::<0xdd>(a, b));
        lanes(lanes(fours[0], fours[1]), lanes(fours[2], fours[3]))
    }
}

/// Returns the exponentials of numbers that are not above 0.
#[inline(always)]
unsafe fn exp(numbers: __m512) -> __m512 {
    // SAFETY: nothing but registers is used.
    unsafe {
        let numbers = _mm512_max_ps(numbers, _mm512_set1_ps(-104.0));
        let whole = _mm512_roundscale_ps::<0>(_mm512_mul_ps(numbers, _mm512_set1_ps(std::f32::consts::LOG2_E)));
        // The logarithm of 2 in two parts, so that what is left is exact.
        let rest = _mm512_fnmadd_ps(whole, _mm512_set1_ps(355.0 / 512.0), numbers);
        let rest = _mm512_fnmadd_ps(whole, _mm512_set1_ps(-2.121_944_4e-4), rest);
        let mut power = _mm512_set1_ps(1.0 / 720.0);
        for divisor in [120.0, 24.0, 6.0, 2.0, 1.0, 1.0] {
            power = _mm512_fmadd_ps(power, rest, _mm512_set1_ps(1.0 / divisor));
        }
        _mm512_scalef_ps(power, whole)
    }
}
