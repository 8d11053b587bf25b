//! Virtual Spacing: one queue for each VC, served by stamps (self-clocked fair queueing of cells).

use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, types::VcIntervals};

/// A queue for each VC, in one buffer, served in proportion to the VCs' MCRs.
///
/// See [`VirtualSpacing`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(serves = "VCs")]
pub struct VirtualSpacingSpec {
    /// Rate that stands for the MCR of a VC without a contract.
    #[param(
        key = "other_rate",
        default = "1000 cells/s",
        source = "choice: negligible compared with the MCRs of the studies, but no VC starves"
    )]
    pub intervals_ps: VcIntervals,
}

/// Stamps that tell in which order the cells of several VCs are served.
///
/// A cell of VC i that arrives is stamped VS_i = max(spacing time, VS_i) + 1/r_i. Cells are served in
/// the order of their stamps, of equal stamps that of the VC with the lower id first, and spacing
/// time is the stamp of the cell whose service began last. VCs that have cells all the time are
/// served in proportion to their rates r_i: in a stretch in which both i and j have cells, the cells
/// served over r differ by less than 1/r_i + 1/r_j.
///
/// The unit of stamps is that of 1/r_i, picoseconds; only ratios of rates count. 128 bits hold any
/// run.
///
/// Source: J. Roberts, "Virtual spacing for flexible traffic control", 1994, and S. Golestani, "A
/// self-clocked fair queueing scheme for broadband applications", INFOCOM'94, as told by O.
/// Bonaventure, "A simulation study of TCP with the GFR service category", section 3.
#[derive(Clone, Debug)]
pub struct VirtualSpacing {
    /// 1/r_i by VC id, above zero.
    intervals: Vec<u64>,
    /// VS_i by VC id: the stamp of the last cell that arrived.
    last: Vec<u128>,
    spacing_time: u128,
}

impl VirtualSpacing {
    /// With 1/r_i by VC id, picoseconds, above zero.
    pub fn new(intervals_ps: &[u64]) -> Self {
        VirtualSpacing {
            intervals: intervals_ps.to_vec(),
            last: vec![0; intervals_ps.len()],
            spacing_time: 0,
        }
    }

    /// The stamp of a cell of the VC with spec id `vc` that arrives.
    pub fn stamp(&mut self, vc: u32) -> u128 {
        let vc = vc as usize;
        let last = &mut self.last[vc];
        *last = self.spacing_time.max(*last) + u128::from(self.intervals[vc]);
        *last
    }

    /// The service of the cell with this stamp begins.
    pub fn on_service(&mut self, stamp: u128) {
        self.spacing_time = stamp;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// A switch port without time: cells as (stamp, VC).
    struct Bench {
        spacing: VirtualSpacing,
        waiting: BTreeSet<(u128, u32)>,
    }

    impl Bench {
        fn new(intervals: &[u64]) -> Self {
            Bench {
                spacing: VirtualSpacing::new(intervals),
                waiting: BTreeSet::new(),
            }
        }

        fn arrive(&mut self, vc: u32) -> u128 {
            let stamp = self.spacing.stamp(vc);
            self.waiting.insert((stamp, vc));
            stamp
        }

        fn serve(&mut self) -> Option<u32> {
            let (stamp, vc) = self.waiting.pop_first()?;
            self.spacing.on_service(stamp);
            Some(vc)
        }
    }

    #[test]
    fn cells_are_served_in_the_order_of_stamps_worked_out_by_hand() {
        // r_0 twice r_1: 1/r of 10 and 20. Four cells of each are there at once.
        let mut bench = Bench::new(&[10, 20]);
        let first: Vec<u128> = (0..4).map(|_| bench.arrive(0)).collect();
        let second: Vec<u128> = (0..4).map(|_| bench.arrive(1)).collect();
        assert_eq!(first, [10, 20, 30, 40]);
        assert_eq!(second, [20, 40, 60, 80]);
        // Equal stamps at 20 and 40: the lower id first.
        let served: Vec<u32> = std::iter::from_fn(|| bench.serve()).collect();
        assert_eq!(served, [0, 0, 1, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn a_vc_that_was_silent_begins_at_spacing_time_and_claims_nothing_for_the_past() {
        let mut bench = Bench::new(&[10, 20]);
        (0..6).for_each(|_| _ = bench.arrive(0));
        (0..3).for_each(|_| _ = bench.serve());
        // Spacing time is 30, the stamp of the third cell.
        assert_eq!(bench.arrive(1), 50);
        assert_eq!(bench.arrive(1), 70);
        // VC 0 has 40, 50, 60 left.
        let served: Vec<u32> = std::iter::from_fn(|| bench.serve()).collect();
        assert_eq!(served, [0, 0, 1, 0, 1]);
        // All are served: the next cell of either starts from 70.
        assert_eq!(bench.arrive(0), 80);
    }

    /// Intervals of some VCs, and how many cells each keeps waiting.
    fn any_case() -> impl Strategy<Value = (Vec<u64>, u32)> {
        (prop::collection::vec(1u64..1000, 2..6), 1u32..5)
    }

    proptest! {
        #[test]
        fn vcs_with_cells_all_the_time_are_served_in_proportion((intervals, depth) in any_case()) {
            let mut bench = Bench::new(&intervals);
            let mut served = vec![0u64; intervals.len()];
            for vc in 0..intervals.len() as u32 {
                (0..depth).for_each(|_| _ = bench.arrive(vc));
            }
            for _ in 0..2_000 {
                let vc = bench.serve().expect("all have cells");
                served[vc as usize] += 1;
                bench.arrive(vc);
                for (i, &a) in intervals.iter().enumerate() {
                    for (j, &b) in intervals.iter().enumerate() {
                        // Cells over rates: n_i / r_i.
                        let (of_i, of_j) = (served[i] * a, served[j] * b);
                        prop_assert!(of_i.abs_diff(of_j) <= a + b, "{i} {of_i}, {j} {of_j}");
                    }
                }
            }
        }

        #[test]
        fn stamps_of_a_vc_grow_and_lie_behind_the_cell_in_service(
            intervals in prop::collection::vec(1u64..1000, 3),
            steps in prop::collection::vec((0u32..3, any::<bool>()), 1..300),
        ) {
            let mut bench = Bench::new(&intervals);
            let mut last = [0u128; 3];
            for (vc, serves) in steps {
                let stamp = bench.arrive(vc);
                prop_assert!(stamp > last[vc as usize]);
                prop_assert!(stamp > bench.spacing.spacing_time);
                last[vc as usize] = stamp;
                if serves {
                    bench.serve();
                }
            }
        }
    }
}
