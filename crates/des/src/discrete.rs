//! Draws from a few values with given weights, the Poisson distribution between limits among them.

use crate::Stream;

/// A distribution over the numbers 0, 1, 2 ... One draw takes one number from the stream, whatever
/// the weights, so that a change of weights shifts no later draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Discrete {
    /// Sums of the weights up to each number.
    cumulative: Vec<f64>,
}

impl Discrete {
    /// With these weights (none below zero), at least one of them.
    pub fn weighted(weights: impl IntoIterator<Item = f64>) -> Self {
        let sums = weights.into_iter().scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Discrete {
            cumulative: sums.collect(),
        }
    }

    /// Poisson with `mean` (above 0, at most 500), held to `low..=high`; number 0 stands for `low`.
    ///
    /// With `clamps` a value beyond a limit counts as that limit; without, the distribution is cut
    /// off there, as if such a value were drawn again.
    pub fn poisson(mean: f64, low: u32, high: u32, clamps: bool) -> Self {
        // p(k) = exp(-mean) mean^k / k!, each from the one before.
        let mut probability = libm::exp(-mean);
        let (mut below, mut upto) = (0.0, 0.0);
        let mut weights = Vec::new();
        for k in 0..=high {
            if k > 0 {
                probability *= mean / f64::from(k);
            }
            upto += probability;
            if k < low {
                below += probability;
            } else {
                weights.push(probability);
            }
        }
        if clamps {
            weights[0] += below;
            let last = weights.len() - 1;
            weights[last] += (1.0 - upto).max(0.0);
        }
        Discrete::weighted(weights)
    }

    /// A number, drawn from `stream`.
    pub fn draw(&self, stream: &mut Stream) -> usize {
        let last = self.cumulative.len() - 1;
        let target = stream.unit() * self.cumulative[last];
        self.cumulative
            .partition_point(|&sum| sum < target)
            .min(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frequencies(distribution: &Discrete, numbers: usize) -> Vec<f64> {
        let mut stream = Stream::new(3, "test");
        let mut counts = vec![0.0; numbers];
        (0..200_000).for_each(|_| counts[distribution.draw(&mut stream)] += 1.0 / 200_000.0);
        counts
    }

    fn mean(distribution: &Discrete, low: usize, numbers: usize) -> f64 {
        let shares = frequencies(distribution, numbers);
        shares.iter().zip(low..).map(|(f, k)| f * k as f64).sum()
    }

    #[test]
    fn weights_become_frequencies() {
        // SPECweb96 as 98-0876R1 modifies it, Table 1; standard error at most 0.0011, six of them.
        let weights = [0.2, 0.28, 0.4, 0.112, 0.008];
        let found = frequencies(&Discrete::weighted(weights), 5);
        for (weight, share) in weights.iter().zip(found) {
            assert!((weight - share).abs() < 0.0066, "{weight} {share}");
        }
    }

    #[test]
    fn a_number_without_weight_is_never_drawn() {
        let found = frequencies(&Discrete::weighted([0.0, 1.0, 0.0, 1.0, 0.0]), 5);
        assert_eq!((found[0], found[2], found[4]), (0.0, 0.0, 0.0));
    }

    #[test]
    fn a_poisson_count_held_to_1_to_9_has_the_means_worked_out() {
        // Mean 5: P(0) = 0.00674; E[(K - 9)+] = 0.0534; so clamping gives 5 + 0.0067 - 0.0534 = 4.953,
        // and cutting off 4.846, the mean of those from 1 to 9. Standard error 0.0045.
        let clamped = Discrete::poisson(5.0, 1, 9, true);
        let cut = Discrete::poisson(5.0, 1, 9, false);
        assert!((mean(&clamped, 1, 9) - 4.953).abs() < 0.027);
        assert!((mean(&cut, 1, 9) - 4.846).abs() < 0.027);
    }

    #[test]
    fn limits_far_from_the_mean_leave_the_nearer_one() {
        let above = Discrete::poisson(0.001, 300, 310, false);
        assert!(frequencies(&above, 11)[0] > 0.999);
        let below = Discrete::poisson(500.0, 0, 3, true);
        assert!(frequencies(&below, 4)[3] > 0.999);
    }

    #[test]
    fn one_draw_takes_one_number_from_the_stream() {
        let mut streams = [Stream::new(1, "a"), Stream::new(1, "a")];
        Discrete::poisson(5.0, 1, 9, true).draw(&mut streams[0]);
        Discrete::weighted([1.0]).draw(&mut streams[1]);
        assert_eq!(
            streams[0].uniform(0, 1 << 60),
            streams[1].uniform(0, 1 << 60)
        );
    }

    #[test]
    fn what_lies_below_the_limits_counts_as_the_lower_one_where_it_clamps() {
        // Mean 0.1 between 2 and 3: P(0) + P(1) + P(2) = 0.99985, of which P(2) is 0.0045.
        let clamped = Discrete::poisson(0.1, 2, 3, true);
        assert!(frequencies(&clamped, 2)[0] > 0.999);
    }
}
