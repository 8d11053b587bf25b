//! Random streams found by name, and the draws we make from them.
//!
//! A stream depends on the run's seed and its own name only, so a new source of randomness shifts
//! nobody else's draws, and two scenarios that differ in one parameter share all their other draws.

use rand::rngs::{ChaCha8Rng, Xoshiro256PlusPlus};
use rand::{Rng, SeedableRng};

/// One named stream of random numbers, half a line of the cache.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream `name` (such as `flow/s3/start`) of a run with `seed`.
    pub fn new(seed: u64, name: &str) -> Self {
        // ChaCha has a stream of its own for each name, but keeps ten times what we do: it only says where
        // ours begins.
        let mut beginnings = ChaCha8Rng::seed_from_u64(seed);
        beginnings.set_stream(fnv1a(name));
        Stream(Xoshiro256PlusPlus::from_rng(&mut beginnings))
    }

    /// Uniform over [low, high); `high` must lie above `low`.
    pub fn uniform(&mut self, low: u64, high: u64) -> u64 {
        // Lemire's multiplication; the bias is below (high - low) / 2^64.
        let range = u128::from(high - low);
        low + ((u128::from(self.0.next_u64()) * range) >> 64) as u64
    }

    /// Uniform over (0, 1].
    pub fn unit(&mut self) -> f64 {
        // 53 bits, moved up by one step so that a logarithm is always finite.
        ((self.0.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Exponential with `mean`, by inversion, rounded to a whole number.
    pub fn exponential(&mut self, mean: u64) -> u64 {
        (-libm::log(self.unit()) * mean as f64).round() as u64
    }
}

/// FNV-1a, 64 bit: the same number for a name on every machine and in every release.
fn fnv1a(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_hashed_as_fnv_publishes_it() {
        assert_eq!(fnv1a(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a("a"), 0xaf63_dc4c_8601_ec8c); // test vector of draft-eastlake-fnv
    }

    #[test]
    fn a_stream_is_found_again_by_seed_and_name_only() {
        let draw = |seed, name: &str| Stream::new(seed, name).uniform(0, u64::MAX);
        assert_eq!(draw(1, "flow/a/start"), draw(1, "flow/a/start"));
        assert_ne!(draw(1, "flow/a/start"), draw(2, "flow/a/start"));
        assert_ne!(draw(1, "flow/a/start"), draw(1, "flow/b/start"));
    }

    #[test]
    fn draws_stay_in_range_and_have_their_means() {
        let mut stream = Stream::new(7, "test");
        let n = 100_000;
        let mean = |values: &[u64]| values.iter().sum::<u64>() as f64 / values.len() as f64;
        let uniform: Vec<u64> = (0..n).map(|_| stream.uniform(100, 300)).collect();
        assert!(uniform.iter().all(|v| (100..300).contains(v)));
        // Standard error of the mean: 57.7 / sqrt(1e5) = 0.18; six of them.
        assert!((mean(&uniform) - 199.5).abs() < 1.1);
        let exponential: Vec<u64> = (0..n).map(|_| stream.exponential(1_000)).collect();
        // Standard error 1000 / sqrt(1e5) = 3.2; six of them.
        assert!((mean(&exponential) - 1_000.0).abs() < 19.0);
    }

    #[test]
    fn an_exponential_time_is_rounded_to_the_nearest_picosecond() {
        // Mean 1: the sum of P(X >= k - 1/2) is e^(-1/2) / (1 - 1/e) = 0.9595; of whole parts 0.582.
        let mut stream = Stream::new(7, "test");
        let sum: u64 = (0..100_000).map(|_| stream.exponential(1)).sum();
        assert!((sum as f64 / 1e5 - 0.9595).abs() < 0.02); // standard error 0.0033
    }
}
