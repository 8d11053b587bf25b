//! The Generic Cell Rate Algorithm, and the policer made of it.

use skycell_spec::{GcraSpec, PolicingAction};
use skycell_units::SimTime;

/// GCRA(T, tau): a cell every T on average, each at most tau early.
///
/// Source: ATM Forum Traffic Management 4.0, section 4.4.2, the virtual scheduling form; ITU-T I.371.
#[derive(Clone, Copy, Debug)]
pub struct Gcra {
    /// T.
    increment: SimTime,
    /// tau.
    limit: SimTime,
    /// TAT, the theoretical arrival time of the next cell.
    tat: SimTime,
}

impl Gcra {
    /// GCRA(`increment`, `limit`); the first cell conforms whenever it comes.
    pub fn new(increment: SimTime, limit: SimTime) -> Self {
        Gcra {
            increment,
            limit,
            tat: SimTime::ZERO,
        }
    }

    /// Returns whether a cell that arrives now conforms. Changes nothing.
    pub fn conforms(&self, now: SimTime) -> bool {
        now + self.limit >= self.tat
    }

    /// A conforming cell has arrived.
    pub fn on_conforming(&mut self, now: SimTime) {
        self.tat = self.tat.max(now) + self.increment;
    }
}

/// All buckets of a VC.
///
/// A cell conforms when it conforms to every bucket that counts it, and only then do these change: so the dual GCRA of a
/// VBR connection is defined (Traffic Management 4.0, section 4.4.3). With a bucket of CLP = 0 alone it is that of VBR.2,
/// and of VBR.3 where that bucket tags: a cell that it tags is held to the others as one with CLP = 1.
#[derive(Clone, Debug, Default)]
pub struct Policer {
    buckets: Vec<Bucket>,
}

#[derive(Clone, Debug)]
struct Bucket {
    gcra: Gcra,
    action: PolicingAction,
    clp0_only: bool,
}

impl Bucket {
    fn counts(&self, clp: bool) -> bool {
        !(self.clp0_only && clp)
    }
}

impl Policer {
    /// The policer of a VC with these buckets.
    pub fn new(buckets: &[GcraSpec]) -> Self {
        let bucket = |spec: &GcraSpec| Bucket {
            gcra: Gcra::new(SimTime(spec.increment_ps), SimTime(spec.limit_ps)),
            action: spec.action,
            clp0_only: spec.clp0_only,
        };
        Policer {
            buckets: buckets.iter().map(bucket).collect(),
        }
    }

    /// A cell with this CLP bit has arrived: what becomes of it when it does not conform.
    pub fn on_cell(&mut self, now: SimTime, clp: bool) -> Option<PolicingAction> {
        let counting = self.buckets.iter().filter(|bucket| bucket.counts(clp));
        let offended = |bucket: &&Bucket| !bucket.gcra.conforms(now);
        if let Some(bucket) = counting.clone().find(offended) {
            let action = bucket.action;
            if bucket.clp0_only && action == PolicingAction::Tag {
                // As a cell with CLP = 1 it may offend a bucket of both.
                return Some(self.on_cell(now, true).unwrap_or(action));
            }
            return Some(action);
        }
        for bucket in self.buckets.iter_mut().filter(|bucket| bucket.counts(clp)) {
            bucket.gcra.on_conforming(now);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conforming(gcra: Gcra, arrivals: &[u64]) -> Vec<bool> {
        let spec = GcraSpec {
            increment_ps: gcra.increment.0,
            limit_ps: gcra.limit.0,
            action: PolicingAction::Count,
            clp0_only: false,
        };
        let mut policer = Policer::new(&[spec]);
        arrivals
            .iter()
            .map(|&at| policer.on_cell(SimTime(at), false).is_none())
            .collect()
    }

    fn gcra(increment: u64, limit: u64) -> Gcra {
        Gcra::new(SimTime(increment), SimTime(limit))
    }

    #[test]
    fn a_cell_may_come_early_by_the_tolerance_and_no_more() {
        // TAT after the first cell: 10. A cell at 7 is 3 early; the next is expected at 20.
        assert_eq!(conforming(gcra(10, 3), &[0, 7, 17, 27]), [true; 4]);
        assert_eq!(
            conforming(gcra(10, 3), &[0, 6, 7]),
            [true, false, true],
            "a cell that does not conform leaves no mark"
        );
    }

    #[test]
    fn back_to_back_cells_conform_as_many_as_the_formula_of_the_standard_gives() {
        // I.371 annex A: N = 1 + floor(tau / (T - delta)) cells at a spacing of delta.
        for (increment, limit, spacing) in [(10, 30, 1), (100, 350, 30), (7, 0, 3), (5, 21, 4)] {
            let arrivals: Vec<u64> = (0..50).map(|k| k * spacing).collect();
            let conforms = conforming(gcra(increment, limit), &arrivals);
            let first = conforms.iter().position(|c| !c).unwrap_or(50) as u64;
            assert_eq!(first, 1 + limit / (increment - spacing));
        }
    }

    #[test]
    fn a_late_cell_earns_nothing_for_the_next() {
        assert_eq!(
            conforming(gcra(10, 0), &[0, 100, 105, 110]),
            [true, true, false, true]
        );
    }

    #[test]
    fn a_burst_of_mbs_cells_at_the_peak_rate_conforms_to_both_buckets_and_the_next_cell_does_not() {
        // PCR 1/2, SCR 1/10, MBS 5: BT = (MBS - 1)(1/SCR - 1/PCR) = 32.
        let bucket = |increment_ps, limit_ps, action| GcraSpec {
            increment_ps,
            limit_ps,
            action,
            clp0_only: false,
        };
        let mut policer = Policer::new(&[
            bucket(2, 0, PolicingAction::Discard),
            bucket(10, 32, PolicingAction::Tag),
        ]);
        let burst: Vec<_> = (0..6)
            .map(|k| policer.on_cell(SimTime(2 * k), false))
            .collect();
        assert_eq!(burst[..5], [None; 5]);
        assert_eq!(burst[5], Some(PolicingAction::Tag));
        // Between two cells of the peak rate: the peak rate's bucket speaks first.
        let mut policer = Policer::new(&[
            bucket(2, 0, PolicingAction::Discard),
            bucket(10, 0, PolicingAction::Tag),
        ]);
        assert_eq!(policer.on_cell(SimTime(0), false), None);
        assert_eq!(
            policer.on_cell(SimTime(1), false),
            Some(PolicingAction::Discard)
        );
    }

    #[test]
    fn the_sustainable_rate_of_vbr_2_and_vbr_3_counts_cells_with_clp_0_alone() {
        // GCRA(2, 0) for PCR of CLP = 0+1, GCRA(6, 6) for SCR of CLP = 0. Cells by time and CLP, TATs behind each:
        //  0 CLP 0: conforms to both; 2 and 6.
        //  2 CLP 0: 4 early for SCR, conforms; 4 and 12.
        //  4 CLP 0: 8 early for SCR. VBR.2 discards it, and nothing changes: 4 and 12. VBR.3 tags it, and PCR counts it: 6 and 12.
        //  5 CLP 1: SCR does not count it. VBR.2: conforms to PCR; 7. VBR.3: 1 early for PCR, discarded.
        //  6 CLP 0: SCR conforms. VBR.2: 1 early for PCR, discarded. VBR.3: conforms; 8 and 18.
        //  8 CLP 1: conforms to PCR; 10.
        //  9 CLP 0: 1 early for PCR, whatever SCR says of it.
        // 12 CLP 0: VBR.2: conforms; 14 and 18. VBR.3: 6 early, conforms; 14 and 24.
        let arrivals = [
            (0, false),
            (2, false),
            (4, false),
            (5, true),
            (6, false),
            (8, true),
            (9, false),
            (12, false),
        ];
        let found = |scr_action| {
            let mut policer = Policer::new(&[
                GcraSpec {
                    increment_ps: 2,
                    limit_ps: 0,
                    action: PolicingAction::Discard,
                    clp0_only: false,
                },
                GcraSpec {
                    increment_ps: 6,
                    limit_ps: 6,
                    action: scr_action,
                    clp0_only: true,
                },
            ]);
            arrivals.map(|(at, clp)| policer.on_cell(SimTime(at), clp))
        };
        let (tag, discard) = (Some(PolicingAction::Tag), Some(PolicingAction::Discard));
        assert_eq!(
            found(PolicingAction::Discard),
            [None, None, discard, None, discard, None, discard, None]
        );
        assert_eq!(
            found(PolicingAction::Tag),
            [None, None, tag, discard, None, None, discard, None]
        );
    }

    #[test]
    fn a_cell_tagged_by_the_bucket_of_clp_0_may_offend_one_of_both_behind_it() {
        let bucket = |increment_ps, action, clp0_only| GcraSpec {
            increment_ps,
            limit_ps: 0,
            action,
            clp0_only,
        };
        let mut policer = Policer::new(&[
            bucket(10, PolicingAction::Tag, true),
            bucket(2, PolicingAction::Discard, false),
        ]);
        assert_eq!(policer.on_cell(SimTime(0), false), None);
        let found = policer.on_cell(SimTime(1), false);
        assert_eq!(found, Some(PolicingAction::Discard));
        let found = policer.on_cell(SimTime(2), false);
        assert_eq!(found, Some(PolicingAction::Tag));
    }
}
