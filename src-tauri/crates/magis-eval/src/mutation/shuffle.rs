//! An order drawn by a seed.

/// A source of numbers that is the same for the same seed (`SplitMix64`, by Steele, Lea and Flood).
#[derive(Debug, Clone)]
pub struct Shuffle {
    state: u64,
}

impl Shuffle {
    /// Returns the source of a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Draws a number below `bound`; 0 where that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        (mixed % (bound.max(1) as u64)) as usize
    }

    /// Puts values into an order of its own.
    pub fn order<T>(&mut self, values: &mut [T]) {
        for at in (1..values.len()).rev() {
            values.swap(at, self.below(at + 1));
        }
    }
}
