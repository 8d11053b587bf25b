//! Round robin and weighted round robin over the VCs of one buffer, cell by cell.

use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{CellsInRound, EqualVcWeights, VcWeights},
};

/// A queue for each VC, in one buffer, served in turn, a cell at a time.
///
/// See [`VcRoundRobin`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(serves = "VCs")]
pub struct VcRoundRobinSpec {
    /// Cells of each VC in a round.
    #[param(unwritten)]
    pub weights: EqualVcWeights,
}

/// A queue for each VC, in one buffer, served in turn, each up to its weight in cells.
///
/// Another way to write a [`VcRoundRobinSpec`]: see [`VcRoundRobin`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(serves = "VCs", written_for = "vc_round_robin")]
pub struct VcWeightedRoundRobin {
    /// Cells of a VC in a round; 1 for a VC that is not named.
    #[param(
        optional,
        source = "MCR over the sum of MCRs across the link, times round, to the nearest cell, at least 1; 1 \
                  for a VC without a contract"
    )]
    pub weights: VcWeights,
    /// Cells in a round of the VCs with a contract, where weights follow from MCRs.
    #[param(
        default = 100,
        source = "choice: weights as fine as a hundredth of the total, and a round that is short compared \
                  with a buffer",
        without = "weights"
    )]
    pub round: CellsInRound,
}

/// Visits the VCs that have cells in the order of their ids; at each visit a VC sends up to its weight
/// in cells, or what it has.
///
/// While a set of VCs has cells all the time, each sends its weight in every round; with equal weights
/// of 1 that is plain round robin. A VC that runs dry loses the rest of its visit, and one that
/// has no cells when its turn comes is passed over: nothing is owed for the past.
///
/// Source: M. Katevenis, S. Sidiropoulos and C. Courcoubetis, "Weighted round-robin cell multiplexing
/// in a general-purpose ATM switch chip", IEEE JSAC 9(8), October 1991.
#[derive(Clone, Debug)]
pub struct VcRoundRobin {
    /// By VC, cells, above zero.
    weights: Vec<u32>,
    /// VCs with cells: bit v mod 64 of word v / 64 stands for VC v.
    backlog: Vec<u64>,
    /// The VC being visited.
    at: usize,
    /// Cells that it may still send on this visit.
    left: u32,
}

impl VcRoundRobin {
    /// Weights by VC, cells, above zero; at least one.
    pub fn new(weights: &[u32]) -> Self {
        VcRoundRobin {
            weights: weights.to_vec(),
            backlog: vec![0; weights.len().div_ceil(64)],
            at: 0,
            left: weights[0],
        }
    }

    /// The VC has cells from now on, or has none.
    pub fn set_backlog(&mut self, vc: u32, has_cells: bool) {
        let (word, bit) = (vc as usize / 64, 1 << (vc % 64));
        if has_cells {
            self.backlog[word] |= bit;
        } else {
            self.backlog[word] &= !bit;
        }
    }

    /// The VC that sends the next cell; one of them has cells.
    pub fn select(&mut self) -> u32 {
        let is_here = self.backlog[self.at / 64] & (1 << (self.at % 64)) != 0;
        if self.left == 0 || !is_here {
            self.at = self.next_after(self.at);
            self.left = self.weights[self.at];
        }
        self.left -= 1;
        self.at as u32
    }

    /// The first VC with cells behind `vc`, going round; `vc` itself comes last.
    fn next_after(&self, vc: usize) -> usize {
        let words = self.backlog.len();
        let (word, behind) = (vc / 64, (u64::MAX << (vc % 64)) << 1);
        let first = self.backlog[word] & behind;
        if first != 0 {
            return word * 64 + first.trailing_zeros() as usize;
        }
        let found = (1..=words).map(|step| (word + step) % words);
        let word = found
            .into_iter()
            .find(|&word| self.backlog[word] != 0)
            .expect("somebody has cells");
        word * 64 + self.backlog[word].trailing_zeros() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backlog, Schedules, WeightedRoundRobin};
    use proptest::prelude::*;

    fn services(weights: &[u32], backlogs: &[&[u32]]) -> Vec<u32> {
        let mut robin = VcRoundRobin::new(weights);
        let of = |with_cells: &&[u32]| {
            for vc in 0..weights.len() as u32 {
                robin.set_backlog(vc, with_cells.contains(&vc));
            }
            robin.select()
        };
        backlogs.iter().map(of).collect()
    }

    #[test]
    fn plain_round_robin_serves_a_cell_of_each_vc_in_turn() {
        let all: &[u32] = &[0, 1, 2];
        assert_eq!(services(&[1, 1, 1], &[all; 7]), [0, 1, 2, 0, 1, 2, 0]);
        assert_eq!(
            services(&[1, 1, 1], &[all, &[0, 2], &[0, 1], &[0, 1]]),
            [0, 2, 0, 1]
        );
    }

    #[test]
    fn each_vc_sends_its_weight_in_every_round() {
        let all: &[u32] = &[0, 1, 2];
        let served = services(&[2, 1, 3], &[all; 9]);
        assert_eq!(served, [0, 0, 1, 2, 2, 2, 0, 0, 1]);
    }

    #[test]
    fn a_vc_that_runs_dry_loses_the_rest_of_its_visit() {
        let both: &[u32] = &[0, 1];
        assert_eq!(
            services(&[3, 1], &[both, &[1], both, both, both, both]),
            [0, 1, 0, 0, 0, 1]
        );
        let first: &[u32] = &[0];
        assert_eq!(services(&[2, 1], &[first; 5]), [0; 5]);
    }

    #[test]
    fn the_round_goes_on_behind_the_sixty_fourth_vc() {
        let weights = [1; 130];
        let some: &[u32] = &[3, 63, 64, 129];
        assert_eq!(services(&weights, &[some; 6]), [3, 63, 64, 129, 3, 63]);
    }

    proptest! {
        #[test]
        fn it_is_weighted_round_robin_between_as_many_queues(
            weights in prop::collection::vec(1u32..5, 1..9),
            picks in prop::collection::vec(1u32..512, 1..200),
        ) {
            let mut queues = WeightedRoundRobin::new(&weights);
            let mut robin = VcRoundRobin::new(&weights);
            for pick in picks {
                let backlog = match pick % (1 << weights.len()) {
                    0 => 1,
                    some => some,
                };
                for vc in 0..weights.len() as u32 {
                    robin.set_backlog(vc, backlog & (1 << vc) != 0);
                }
                prop_assert_eq!(queues.select(Backlog(backlog)), robin.select() as usize);
            }
        }
    }

    #[test]
    fn a_visit_lasts_as_long_behind_the_sixty_fourth_vc() {
        let some: &[u32] = &[3, 63, 64, 66, 129];
        let round = [3, 3, 63, 63, 64, 64, 66, 66, 129, 129];
        assert_eq!(
            services(&[2; 130], &[some; 12]),
            [&round[..], &[3, 3]].concat()
        );
    }
}
