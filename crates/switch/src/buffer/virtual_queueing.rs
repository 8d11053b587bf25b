//! Virtual Queueing: a FIFO that counts as if each VC had a queue of its own.

use super::{BufferPolicy, BufferView, Draws, Needs, PolicyRule};
use crate::{Decision, DiscardReason};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{Interval, McrByVc, Threshold},
};
use std::collections::VecDeque;

/// Discards frames of VCs whose virtual queue, as under round robin, is above a threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "MA-ST",
    threshold = "static",
    discards = "deterministic",
    source = "Siu, Wu, Ren: Virtual Queuing Techniques for UBR+ Service in ATM, Globecom'97; Wu, Siu, Ren: Improved Virtual Queuing and Dynamic EPD Techniques, ICNP'97; as described in Goyal, Jain, Fahmy, Vandalore: Buffer Management for TCP over the ATM GFR Service, 1999",
    chosen = "threshold",
    label = "VQ"
)]
pub struct VirtualQueueingSpec {
    /// Virtual queue above which a VC's frames are discarded.
    #[param(
        key = "vc_threshold",
        default = 0.25,
        source = "choice: the documents we have give no value; with a quarter of the buffer, four VCs \
                  can fill it"
    )]
    pub threshold_cells: Threshold,
}

impl PolicyRule for VirtualQueueingSpec {
    type Policy = Box<VirtualQueueing>;

    fn policy(&self, _draws: &Draws) -> Box<VirtualQueueing> {
        Box::new(VirtualQueueing::of(Rule::Fixed(u64::from(
            self.threshold_cells,
        ))))
    }
}

/// Virtual Queueing; the threshold is what VCs below their equal share leave to the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "MA-ST",
    threshold = "dynamic",
    discards = "deterministic",
    fairness = "equal allocation",
    source = "Wu, Siu, Ren: Improved Virtual Queuing and Dynamic EPD Techniques, ICNP'97; as described in Goyal, Jain, Fahmy, Vandalore: Buffer Management for TCP over the ATM GFR Service, 1999",
    chosen = "how the threshold is divided among VCs above their equal share",
    label = "VQ + Dynamic EPD"
)]
pub struct DynamicEpdSpec {
    /// Cells that the VCs' virtual queues share.
    #[param(
        key = "drop_threshold",
        default = 0.9,
        symbol = "R",
        source = "as for Selective Drop: Ka Band Utilization Conference 1997, section 3"
    )]
    pub threshold_cells: Threshold,
}

impl PolicyRule for DynamicEpdSpec {
    type Policy = Box<VirtualQueueing>;

    fn policy(&self, _draws: &Draws) -> Box<VirtualQueueing> {
        Box::new(VirtualQueueing::of(Rule::Dynamic(u64::from(
            self.threshold_cells,
        ))))
    }
}

/// Virtual Queueing under a server that gives each VC its MCR first.
///
/// MCRs are given in `[[gfr]]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "MA-MT",
    threshold = "dynamic",
    discards = "deterministic",
    fairness = "MCR guarantee",
    source = "Siu, Wu, Ren: Virtual Queuing Techniques for UBR+ Service in ATM, Globecom'97; as described in Goyal, Jain, Fahmy, Vandalore: Buffer Management for TCP over the ATM GFR Service, 1999",
    chosen = "threshold, interval; a VC without cells saves up nothing; what MCRs leave is served in turn",
    label = "VQ + MCR scheduling"
)]
pub struct McrSchedulingSpec {
    /// Virtual queue above which a VC's frames are discarded.
    #[param(
        key = "vc_threshold",
        default = 0.25,
        source = "choice: the documents we have give no value; with a quarter of the buffer, four VCs \
                  can fill it"
    )]
    pub threshold_cells: Threshold,
    /// Time after which MCRs are served.
    #[param(
        key = "interval",
        default = "1 ms",
        symbol = "T",
        source = "choice: a few hundred cells of a 155 Mbit/s link"
    )]
    pub interval_ps: Interval,
    /// Rate that the server gives each VC first.
    #[param(unwritten)]
    pub mcr_millicells: McrByVc,
}

impl PolicyRule for McrSchedulingSpec {
    type Policy = Box<VirtualQueueing>;

    fn policy(&self, _draws: &Draws) -> Box<VirtualQueueing> {
        Box::new(VirtualQueueing::of(Rule::Mcr {
            threshold: u64::from(self.threshold_cells),
            interval_ps: self.interval_ps,
            mcr_millicells: self.mcr_millicells.clone(),
            owed: vec![0; self.mcr_millicells.len()],
            intervals: 0,
            unused: 0,
        }))
    }

    /// Its virtual queues are served at the ends of intervals.
    fn discards_when_empty(&self) -> bool {
        true
    }
}

/// The queues that a round-robin or weighted server would have, one for each VC.
///
/// One more for each cell that the buffer takes in, one less for some VC at each cell time. The
/// counts are brought up to date when a frame begins: cells taken in since first, then departures.
#[derive(Clone, Debug, Default)]
struct VirtualQueues {
    /// By VC id, cells.
    cells: Vec<u64>,
    /// VCs with cells, in the order of the round.
    round: VecDeque<u32>,
    departed: u64,
}

impl VirtualQueues {
    fn of(&self, vc: u32) -> u64 {
        self.cells.get(vc as usize).copied().unwrap_or(0)
    }

    fn accept(&mut self, vc: u32, cells: u32) {
        let at = vc as usize;
        if self.cells.len() <= at {
            self.cells.resize(at + 1, 0);
        }
        if self.cells[at] == 0 && cells > 0 {
            self.round.push_back(vc);
        }
        self.cells[at] += u64::from(cells);
    }

    /// Cells that have left the buffer since this was last asked.
    fn departures(&mut self, view: &BufferView) -> u64 {
        let new = view.departed - self.departed;
        self.departed = view.departed;
        new
    }

    /// One cell less for VC after VC, `count` times.
    fn serve_in_turn(&mut self, count: u64) {
        for _ in 0..count {
            let Some(vc) = self.round.pop_front() else {
                return;
            };
            self.cells[vc as usize] -= 1;
            if self.cells[vc as usize] > 0 {
                self.round.push_back(vc);
            }
        }
    }

    /// Up to `count` cells less for one VC; returns how many.
    fn serve(&mut self, vc: u32, count: u64) -> u64 {
        let Some(cells) = self.cells.get_mut(vc as usize) else {
            return 0;
        };
        let served = count.min(*cells);
        *cells -= served;
        if served > 0 && *cells == 0 {
            self.round.retain(|&other| other != vc);
        }
        served
    }
}

/// The rule by which Virtual Queueing discards; three schemes share the counts.
#[derive(Clone, Debug)]
enum Rule {
    /// A VC's virtual queue is above a fixed threshold, cells.
    Fixed(u64),
    /// It is above its part of R, cells: R less the virtual queues of the VCs below the equal part
    /// R / N, divided among the others.
    Dynamic(u64),
    /// As `Fixed`, the server being weighted.
    Mcr {
        threshold: u64,
        interval_ps: u64,
        /// By VC id, thousandths of a cell a second.
        mcr_millicells: Vec<u64>,
        /// By VC id, cell fractions that the MCR has not yet given: 10^15 make a cell.
        owed: Vec<u64>,
        intervals: u64,
        /// Departures that the MCRs have not used.
        unused: u64,
    },
}

/// Virtual Queueing, with Dynamic EPD or MCR scheduling where its spec says so.
///
/// Sources: K.-Y. Siu, Y. Wu, W. Ren, "Virtual Queuing Techniques for UBR+ Service in ATM with Fair
/// Access and Minimum Bandwidth Guarantee", Globecom'97, and Y. Wu, K.-Y. Siu, W. Ren, "Improved
/// Virtual Queuing and Dynamic EPD Techniques for TCP over ATM", ICNP'97, as told in "Buffer
/// Management for TCP over the ATM GFR Service", section 7. Chosen by us: how Dynamic EPD divides R;
/// that a weighted server banks nothing for a VC without cells; that what MCRs leave is served in
/// turn, at the end of an interval.
#[derive(Clone, Debug)]
pub struct VirtualQueueing {
    queues: VirtualQueues,
    rule: Rule,
}

impl VirtualQueueing {
    fn of(rule: Rule) -> Self {
        VirtualQueueing {
            queues: VirtualQueues::default(),
            rule,
        }
    }

    /// Serves the virtual queues for what has left the buffer.
    fn serve(&mut self, view: &BufferView) {
        let departures = self.queues.departures(view);
        match &mut self.rule {
            Rule::Fixed(_) | Rule::Dynamic(_) => self.queues.serve_in_turn(departures),
            Rule::Mcr {
                interval_ps,
                mcr_millicells,
                owed,
                intervals,
                unused,
                ..
            } => {
                *unused += departures;
                let ended = view.now_ps / *interval_ps;
                let new = ended - *intervals;
                if new == 0 {
                    return;
                }
                *intervals = ended;
                let time = u128::from(new) * u128::from(*interval_ps);
                for (vc, (&mcr, owed)) in (0..).zip(mcr_millicells.iter().zip(owed)) {
                    let parts = u128::from(mcr) * time + u128::from(*owed);
                    *owed = (parts % WHOLE_CELL) as u64;
                    let cells = u64::try_from(parts / WHOLE_CELL).unwrap_or(u64::MAX);
                    *unused = unused.saturating_sub(self.queues.serve(vc, cells));
                }
                self.queues.serve_in_turn(std::mem::take(unused));
            }
        }
    }

    /// Returns the limit of the VC's virtual queue.
    fn threshold(&self, vc: u32) -> u64 {
        match self.rule {
            Rule::Fixed(threshold) | Rule::Mcr { threshold, .. } => threshold,
            Rule::Dynamic(whole) => {
                let active = self.queues.round.len() as u64;
                let equal = whole / active.max(1);
                if self.queues.of(vc) < equal {
                    return equal;
                }
                let small = self.queues.round.iter().map(|&vc| self.queues.of(vc));
                let (few, held) = small
                    .filter(|&cells| cells < equal)
                    .fold((0, 0), |(few, held), cells| (few + 1, held + cells));
                (whole - held) / (active - few).max(1)
            }
        }
    }
}

/// Thousandths of a cell a second, times picoseconds, that make a cell.
const WHOLE_CELL: u128 = 1_000 * 1_000_000_000_000;

impl BufferPolicy for VirtualQueueing {
    const NEEDS: Needs = Needs::ORDER;

    fn on_enqueue(&mut self, vc: u32, view: &BufferView) -> Decision {
        self.serve(view);
        (self.queues.of(vc) > self.threshold(vc))
            .then_some(DiscardReason::OverFairShare)
            .into()
    }

    /// Out of line: other policies are told as well, for nothing.
    #[inline(never)]
    fn on_accepted(&mut self, vc: u32, cells: u32) {
        self.queues.accept(vc, cells);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Policy, PolicyKind, PolicySpec};
    use super::*;

    fn mcr_scheduling(spec: &McrSchedulingSpec) -> VirtualQueueing {
        let Policy { kind, .. } = Policy::new(&PolicySpec::McrScheduling(spec.clone()), 1, "p");
        match kind {
            PolicyKind::McrScheduling(policy) => *policy,
            other => panic!("{other:?}"),
        }
    }

    const MS: u64 = 1_000_000_000;

    fn at(now_ps: u64, departed: u64) -> BufferView {
        BufferView {
            now_ps,
            departed,
            capacity: 1_000,
            ..BufferView::default()
        }
    }

    const OVER: Decision = Decision::Discard(DiscardReason::OverFairShare);

    #[test]
    fn departures_are_taken_from_the_vcs_in_turn() {
        let mut vq = VirtualQueueing::of(Rule::Fixed(14));
        vq.on_accepted(0, 20);
        vq.on_accepted(1, 3);
        // 8 departures: VC1 loses its 3 in the first 6, VC0 has 20 - 5 = 15 left.
        assert_eq!(vq.on_enqueue(0, &at(0, 8)), OVER);
        assert_eq!(vq.on_enqueue(1, &at(0, 8)), Decision::Accept);
        assert_eq!(vq.on_enqueue(0, &at(0, 9)), Decision::Accept); // 14
    }

    #[test]
    fn what_small_vcs_leave_of_the_threshold_is_the_others() {
        let mut vq = VirtualQueueing::of(Rule::Dynamic(90));
        vq.on_accepted(0, 10);
        vq.on_accepted(1, 40);
        vq.on_accepted(2, 41);
        // Equal parts 30; VC0 is below, and leaves (90 - 10) / 2 = 40 to the others.
        assert_eq!(vq.on_enqueue(0, &at(0, 0)), Decision::Accept);
        assert_eq!(vq.on_enqueue(1, &at(0, 0)), Decision::Accept);
        assert_eq!(vq.on_enqueue(2, &at(0, 0)), OVER);
    }

    #[test]
    fn mcrs_are_served_first_and_what_they_leave_in_turn() {
        let spec = McrSchedulingSpec {
            threshold_cells: 50,
            interval_ps: MS,
            // 30 and 10 cells a millisecond.
            mcr_millicells: vec![30_000_000, 10_000_000],
        };
        let mut vq = mcr_scheduling(&spec);
        vq.on_accepted(0, 100);
        vq.on_accepted(1, 100);
        assert_eq!(vq.on_enqueue(0, &at(MS / 2, 25)), OVER); // within the interval
        // After it, 60 departures: 30 + 10 + 20 in turn: 60 and 80 left.
        assert_eq!(vq.on_enqueue(0, &at(MS, 60)), OVER);
        // After the next, 40 more: MCRs only, 30 and 70 left.
        assert_eq!(vq.on_enqueue(0, &at(2 * MS, 100)), Decision::Accept);
        assert_eq!(vq.on_enqueue(1, &at(2 * MS, 100)), OVER);
    }

    #[test]
    fn the_round_begins_with_the_vc_that_came_first() {
        let mut vq = VirtualQueueing::of(Rule::Fixed(9));
        vq.on_accepted(0, 10);
        vq.on_accepted(1, 10);
        assert_eq!(vq.on_enqueue(0, &at(0, 1)), Decision::Accept);
        assert_eq!(vq.on_enqueue(1, &at(0, 1)), OVER);
    }

    #[test]
    fn all_that_small_vcs_leave_is_the_only_other_ones() {
        let mut vq = VirtualQueueing::of(Rule::Dynamic(90));
        vq.on_accepted(0, 10);
        vq.on_accepted(1, 10);
        vq.on_accepted(2, 70);
        assert_eq!(vq.on_enqueue(2, &at(0, 0)), Decision::Accept);
        vq.on_accepted(2, 1);
        assert_eq!(vq.on_enqueue(2, &at(0, 0)), OVER);
    }

    #[test]
    fn a_vc_that_its_mcr_has_emptied_leaves_the_round_to_the_others() {
        let mut vq = mcr_scheduling(&McrSchedulingSpec {
            threshold_cells: 80,
            interval_ps: MS,
            mcr_millicells: vec![30_000_000, 10_000_000],
        });
        vq.on_accepted(0, 1);
        vq.on_accepted(1, 100);
        // 20 departures: 1 and 10 by the MCRs, and the 9 left are all of VC1.
        assert_eq!(vq.on_enqueue(1, &at(MS, 20)), OVER);
        assert_eq!(vq.on_enqueue(1, &at(2 * MS, 30)), Decision::Accept); // 71
    }

    #[test]
    fn an_mcr_gives_the_fraction_of_a_cell_with_the_next_intervals() {
        // 1.5 cells a millisecond to VC0, none to VC1, which comes first in the round.
        let mut vq = mcr_scheduling(&McrSchedulingSpec {
            threshold_cells: 7,
            interval_ps: MS,
            mcr_millicells: vec![1_500_000, 0],
        });
        vq.on_accepted(1, 8);
        vq.on_accepted(0, 10);
        assert_eq!(vq.on_enqueue(0, &at(MS, 1)), OVER); // 9
        assert_eq!(vq.on_enqueue(0, &at(2 * MS, 3)), Decision::Accept); // 7
        // What leaves the buffer within an interval is served at its end, and no more than that.
        assert_eq!(vq.on_enqueue(1, &at(2 * MS + 1, 4)), OVER);
        assert_eq!(vq.on_enqueue(1, &at(3 * MS, 4)), OVER); // VC0 had it
        assert_eq!(vq.on_enqueue(1, &at(4 * MS, 4)), OVER); // its MCR gave two more, which nobody sent
    }
}
