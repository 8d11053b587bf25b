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

    /// Whether a cell that arrives now conforms. Changes nothing.
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
/// A cell conforms when it conforms to every bucket, and only then do the buckets change: so the
/// dual GCRA of a VBR connection is defined (Traffic Management 4.0, section 4.4.3).
#[derive(Clone, Debug, Default)]
pub struct Policer {
    buckets: Vec<(Gcra, PolicingAction)>,
}

impl Policer {
    /// The policer of a VC with these buckets.
    pub fn new(buckets: &[GcraSpec]) -> Self {
        let bucket = |spec: &GcraSpec| {
            let gcra = Gcra::new(SimTime(spec.increment_ps), SimTime(spec.limit_ps));
            (gcra, spec.action)
        };
        Policer {
            buckets: buckets.iter().map(bucket).collect(),
        }
    }

    /// A cell has arrived: what becomes of it when it does not conform.
    pub fn on_cell(&mut self, now: SimTime) -> Option<PolicingAction> {
        if let Some((_, action)) = self.buckets.iter().find(|(gcra, _)| !gcra.conforms(now)) {
            return Some(*action);
        }
        self.buckets
            .iter_mut()
            .for_each(|(gcra, _)| gcra.on_conforming(now));
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
        };
        let mut policer = Policer::new(&[spec]);
        arrivals
            .iter()
            .map(|&at| policer.on_cell(SimTime(at)).is_none())
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
        };
        let mut policer = Policer::new(&[
            bucket(2, 0, PolicingAction::Discard),
            bucket(10, 32, PolicingAction::Tag),
        ]);
        let burst: Vec<_> = (0..6).map(|k| policer.on_cell(SimTime(2 * k))).collect();
        assert_eq!(burst[..5], [None; 5]);
        assert_eq!(burst[5], Some(PolicingAction::Tag));
        // Between two cells of the peak rate: the peak rate's bucket speaks first.
        let mut policer = Policer::new(&[
            bucket(2, 0, PolicingAction::Discard),
            bucket(10, 0, PolicingAction::Tag),
        ]);
        assert_eq!(policer.on_cell(SimTime(0)), None);
        assert_eq!(policer.on_cell(SimTime(1)), Some(PolicingAction::Discard));
    }
}
