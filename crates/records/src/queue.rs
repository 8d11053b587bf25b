//! Queue length over a run: exact mean and maximum, percentiles from samples.

use serde::Serialize;
use std::collections::BTreeMap;

/// Queue length of a port over the run, in cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct QueueRecord {
    /// Mean over time, exact.
    pub mean: f64,
    /// Largest, exact.
    pub max: u32,
    /// Median of the samples; none where the port is not sampled.
    pub p50: Option<u32>,
    /// 90th percentile of the samples.
    pub p90: Option<u32>,
    /// 99th percentile of the samples.
    pub p99: Option<u32>,
    /// The samples.
    #[serde(skip)]
    pub samples: QueueSamples,
}

impl QueueRecord {
    /// From the exact mean and maximum, and the samples, if there are any.
    pub fn new(mean: f64, max: u32, samples: &QueueSamples) -> Self {
        QueueRecord {
            mean,
            max,
            p50: samples.percentile(50),
            p90: samples.percentile(90),
            p99: samples.percentile(99),
            samples: samples.clone(),
        }
    }
}

/// The integral of a queue length over time, in cell picoseconds, exact.
///
/// It is kept as the sum of all departure times less the sum of all arrival times, so that an engine
/// can add whole frames at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueIntegral {
    arrivals: u128,
    departures: u128,
}

impl QueueIntegral {
    /// Cells arrived at times that add up to `sum_ps`.
    pub fn arrived(&mut self, sum_ps: u128) {
        self.arrivals += sum_ps;
    }

    /// Cells departed at times that add up to `sum_ps`.
    pub fn departed(&mut self, sum_ps: u128) {
        self.departures += sum_ps;
    }

    /// Cells arrived and will depart, after stays that add up to `sum_ps`.
    pub fn stayed(&mut self, sum_ps: u128) {
        self.departures += sum_ps;
    }

    /// Cells that have [`QueueIntegral::stayed`] do not depart within the run after all; their
    /// departure times add up to `sum_ps`.
    pub fn not_departed(&mut self, sum_ps: u128) {
        self.arrivals += sum_ps;
    }

    /// The integral of both queues together.
    #[must_use]
    pub fn and(self, other: QueueIntegral) -> QueueIntegral {
        QueueIntegral {
            arrivals: self.arrivals + other.arrivals,
            departures: self.departures + other.departures,
        }
    }

    /// Mean queue length over `duration_ps`, with `queued` cells still there at its end.
    pub fn mean(&self, queued: u64, duration_ps: u64) -> f64 {
        let still_there = u128::from(queued) * u128::from(duration_ps);
        let integral = self.departures + still_there - self.arrivals;
        integral as f64 / duration_ps as f64
    }
}

/// Samples of a queue length, kept as counts by length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueSamples {
    counts: BTreeMap<u32, u64>,
    total: u64,
}

impl QueueSamples {
    /// Adds a sample.
    pub fn add(&mut self, cells: u32) {
        *self.counts.entry(cells).or_default() += 1;
        self.total += 1;
    }

    /// Those that are not among `earlier` ones, of which these are the continuation.
    #[must_use]
    pub fn since(&self, earlier: &QueueSamples) -> QueueSamples {
        let before = |cells| earlier.counts.get(cells).copied().unwrap_or(0);
        let counts = self.counts.iter();
        let counts = counts.map(|(cells, count)| (*cells, count - before(cells)));
        QueueSamples {
            counts: counts.filter(|&(_, count)| count > 0).collect(),
            total: self.total - earlier.total,
        }
    }

    /// Smallest length that at least `percent` % of the samples do not exceed; none without samples.
    pub fn percentile(&self, percent: u64) -> Option<u32> {
        // Nearest rank: the ceil(percent / 100 * total)-th smallest.
        let rank = (self.total * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (&cells, &count) in &self.counts {
            seen += count;
            if seen >= rank {
                return Some(cells);
            }
        }
        None
    }

    /// Mean of the samples; 0 without samples.
    pub fn mean(&self) -> f64 {
        let sum: u64 = self.counts.iter().map(|(&c, &n)| u64::from(c) * n).sum();
        if self.total == 0 {
            0.0
        } else {
            sum as f64 / self.total as f64
        }
    }

    /// Largest sample; 0 without samples.
    pub fn max(&self) -> u32 {
        self.counts.keys().next_back().copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_integral_of_two_overlapping_cells_is_the_sum_of_their_stays() {
        let mut queue = QueueIntegral::default();
        queue.arrived(10 + 20); // at 10 and at 20
        queue.departed(30); // the first at 30; the second stays to the end, 50
        assert_eq!(queue.mean(1, 50), (20.0 + 30.0) / 50.0);
    }

    #[test]
    fn later_samples_are_all_but_the_earlier_ones() {
        let mut samples = QueueSamples::default();
        (50..=52).for_each(|cells| samples.add(cells));
        let earlier = samples.clone();
        (1..=3).for_each(|cells| samples.add(cells));
        let later = samples.since(&earlier);
        assert_eq!((later.max(), later.mean(), later.total), (3, 2.0, 3));
        assert_eq!(later.percentile(50), Some(2));
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let mut samples = QueueSamples::default();
        assert_eq!(samples.percentile(50), None);
        (1..=10).for_each(|cells| samples.add(cells));
        assert_eq!(samples.percentile(50), Some(5));
        assert_eq!(samples.percentile(90), Some(9));
        assert_eq!(samples.percentile(99), Some(10));
        assert_eq!((samples.mean(), samples.max()), (5.5, 10));
    }
}
