//! Weighted round robin, cell by cell.

use super::{Backlog, Period, Schedules, period_of};
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, types::ClassWeights};

/// Serves one queue after the other, each up to its weight in cells.
///
/// See [`WeightedRoundRobin`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(serves = "queues")]
pub struct WeightedRoundRobinSpec {
    /// Cells of a class in a round; 1 for a class that is not named; a class without its own queue stands
    /// for the default queue.
    #[param(empty, source = "equal shares")]
    pub weights: ClassWeights,
}

/// Visits the queues in order; at each visit a queue sends up to its weight in cells, or what it has.
///
/// While a queue has cells, at least its weight of any Σ weights cells in a row are its own: between two of
/// its visits the others send their weights at most, and what a window cuts off one visit it has of the
/// next.
#[derive(Clone, Debug)]
pub struct WeightedRoundRobin {
    weights: Vec<u32>,
    /// The queue being visited.
    at: usize,
    /// Cells that it may still send on this visit.
    left: u32,
}

impl WeightedRoundRobin {
    /// Weights by queue, cells, above zero.
    pub fn new(weights: &[u32]) -> Self {
        WeightedRoundRobin {
            weights: weights.to_vec(),
            at: 0,
            left: weights[0],
        }
    }

    /// Goes on to a queue that has cells, if this one's visit is over or it has none.
    fn move_on(&mut self, backlog: Backlog) {
        while self.left == 0 || !backlog.has(self.at) {
            self.at = (self.at + 1) % self.weights.len();
            self.left = self.weights[self.at];
        }
    }

    /// See [`Scheduler::period`](super::Scheduler::period).
    pub(crate) fn period(&mut self, backlog: Backlog, queue: usize) -> Option<Period> {
        self.move_on(backlog); // as the next choice would
        let start = (self.at, self.left);
        let found = period_of(self, backlog, queue, |now| {
            now.move_on(backlog);
            (now.at, now.left) == start
        });
        (self.at, self.left) = start;
        found
    }
}

impl Schedules for WeightedRoundRobin {
    fn select(&mut self, backlog: Backlog) -> usize {
        self.move_on(backlog);
        self.left -= 1;
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn services(weights: &[u32], backlogs: &[u32]) -> Vec<usize> {
        let mut scheduler = WeightedRoundRobin::new(weights);
        backlogs
            .iter()
            .map(|&b| scheduler.select(Backlog(b)))
            .collect()
    }

    #[test]
    fn each_queue_sends_its_weight_in_every_round() {
        assert_eq!(
            services(&[2, 1, 3], &[0b111; 12]),
            [0, 0, 1, 2, 2, 2, 0, 0, 1, 2, 2, 2]
        );
    }

    #[test]
    fn a_queue_that_runs_dry_loses_the_rest_of_its_visit() {
        // Queue 0 has one cell only, then more again: its turn is over until the next round.
        assert_eq!(
            services(&[3, 1], &[0b11, 0b10, 0b11, 0b11, 0b11, 0b11]),
            [0, 1, 0, 0, 0, 1]
        );
    }

    #[test]
    fn a_queue_alone_is_served_without_a_pause() {
        assert_eq!(services(&[1, 2], &[0b01; 4]), [0; 4]);
    }

    fn any_case() -> impl Strategy<Value = (Vec<u32>, Vec<u32>)> {
        prop::collection::vec(1u32..6, 2..5).prop_flat_map(|weights| {
            let run = (1u32..1 << weights.len(), 1usize..40);
            let backlogs = prop::collection::vec(run, 1..12).prop_map(|runs| {
                let repeated = runs.iter().flat_map(|&(b, n)| std::iter::repeat_n(b, n));
                repeated.collect::<Vec<u32>>()
            });
            (Just(weights), backlogs)
        })
    }

    proptest! {
        #[test]
        fn every_round_in_which_a_queue_has_cells_holds_its_weight((weights, backlogs) in any_case()) {
            let served = services(&weights, &backlogs);
            let round = weights.iter().sum::<u32>() as usize;
            for (q, &weight) in weights.iter().enumerate() {
                for (cells, backlog) in served.windows(round).zip(backlogs.windows(round)) {
                    if backlog.iter().all(|&b| Backlog(b).has(q)) {
                        let own = cells.iter().filter(|&&sent| sent == q).count();
                        prop_assert!(own >= weight as usize);
                    }
                }
            }
        }
    }
}
