//! The one source of randomness: a small generator whose stream never changes,
//! so that a seed gives the same bytes with every version of every dependency.

/// `SplitMix64`: one 64-bit state, one multiplication chain a number.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// A generator; equal seeds give equal streams.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// An independent generator for a named part of the work, so that adding draws
    /// to one part does not shift the numbers of another.
    pub fn stream(seed: u64, part: u64) -> Self {
        let mut rng = Self::new(seed ^ part.wrapping_mul(0xd6e8_feb8_6659_fd93));
        rng.state = rng.next_u64();
        rng
    }

    /// The state, to be stored in a checkpoint and given back to [`Rng::new`].
    pub fn state(&self) -> u64 {
        self.state
    }

    /// 64 uniform bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A uniform number in `0..bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // The bias of a multiply-shift is below bound / 2^64.
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }

    /// A uniform number in `[0, 1)`.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A draw from N(0, 1), by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Puts the values into a uniformly random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_of_a_seed_never_changes() {
        let mut rng = Rng::new(7);
        let drawn: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
        assert_eq!(drawn, [7_191_089_600_892_374_487, 309_689_372_594_955_804, 16_616_101_746_815_609_346]);
    }

    #[test]
    fn a_shuffle_is_a_permutation() {
        let mut values: Vec<usize> = (0..100).collect();
        Rng::new(1).shuffle(&mut values);
        assert_ne!(values, (0..100).collect::<Vec<_>>());
        values.sort_unstable();
        assert_eq!(values, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn normal_draws_have_mean_zero_and_variance_one() {
        let mut rng = Rng::new(3);
        let draws: Vec<f64> = (0..20_000).map(|_| rng.normal()).collect();
        let mean = draws.iter().sum::<f64>() / 20_000.0;
        let variance = draws.iter().map(|x| x * x).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03, "mean {mean}");
        assert!((variance - 1.0).abs() < 0.05, "variance {variance}");
    }
}
