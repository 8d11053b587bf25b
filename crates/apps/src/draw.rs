//! Draws from the distributions of a spec.

use skycell_des::Stream;
use skycell_spec::{DistributionSpec, SizeSpec};

/// A distribution to draw from.
pub trait Draw {
    /// One value.
    fn draw(&self, stream: &mut Stream) -> u64;
}

impl Draw for DistributionSpec {
    fn draw(&self, stream: &mut Stream) -> u64 {
        match *self {
            DistributionSpec::Constant { value_ps } => value_ps,
            DistributionSpec::Uniform { low_ps, high_ps } => stream.uniform(low_ps, high_ps),
            DistributionSpec::Exponential { mean_ps } => stream.exponential(mean_ps),
        }
    }
}

impl Draw for SizeSpec {
    /// Octets of an IP packet, at least those of its header.
    fn draw(&self, stream: &mut Stream) -> u64 {
        match *self {
            SizeSpec::Constant { octets } => octets.into(),
            SizeSpec::Extreme { mode, scale } => {
                // Of 1 the logarithm is 0, whose own is none: the draw is then the largest.
                let value = mode - scale * libm::log(-libm::log(stream.unit()));
                value.round().clamp(20.0, 65_535.0) as u64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extreme_values_have_their_mode_and_median() {
        let sizes = SizeSpec::Extreme {
            mode: 120.0,
            scale: 36.0,
        };
        let mut stream = Stream::new(3, "sizes");
        let mut drawn: Vec<u64> = (0..20_001).map(|_| sizes.draw(&mut stream)).collect();
        drawn.sort_unstable();
        // The median is mode - scale ln(ln 2) = 133.2; its standard error 36 / (ln 2 sqrt(20 000)) = 0.4.
        assert!((drawn[10_000] as f64 - 133.2).abs() < 2.0);
        // The mean is mode + 0.5772 scale = 140.8, with a standard error of 46.2 / sqrt(20 000) = 0.3.
        let mean = drawn.iter().sum::<u64>() as f64 / 20_001.0;
        assert!((mean - 140.8).abs() < 2.0);
    }
}
