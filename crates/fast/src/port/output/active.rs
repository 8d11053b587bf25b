//! Which VCs have cells at an output port: N_a, and the weight W, of the policies that ask.

use skycell_units::{PortVc, SimTime};
use std::collections::VecDeque;

/// The VCs at the port that may have cells there, by index at the port.
///
/// A VC with a last cell in the port has cells in it. Of the others only those may have any that are
/// in the midst of a frame, or whose frame lost its last cell.
#[derive(Debug, Default)]
pub(crate) struct ActiveVcs {
    /// Weight that each VC adds to W.
    weights: Vec<u64>,
    /// Last cells in the port, by the time at which they leave.
    tails: VecDeque<(SimTime, PortVc)>,
    /// Of those, by index at the port.
    tails_of: Vec<u32>,
    /// VCs with last cells, and the sum of their weights.
    with_tails: (u32, u64),
    /// VCs that wait for a frame's boundary.
    open: Vec<PortVc>,
}

impl ActiveVcs {
    /// Adds one more VC.
    pub(crate) fn add_vc(&mut self, weight: u64) {
        self.weights.push(weight);
        self.tails_of.push(0);
    }

    /// The last cell of a frame was accepted and leaves at `departure`.
    pub(crate) fn accept_tail(&mut self, departure: SimTime, port_vc: PortVc) {
        self.tails.push_back((departure, port_vc));
        let tails = &mut self.tails_of[port_vc.index()];
        if *tails == 0 {
            self.with_tails.0 += 1;
            self.with_tails.1 += self.weights[port_vc.index()];
        }
        *tails += 1;
    }

    /// The VC begins to wait for a boundary, or no longer does.
    pub(crate) fn note_eom(&mut self, port_vc: PortVc, waits: bool) {
        if waits {
            self.open.push(port_vc);
        } else {
            self.open.retain(|&open| open != port_vc);
        }
    }

    /// N_a and W at `time`, departures done; `has_cells` tells of a VC without a last cell in the port
    /// whether it has others. Times must not go back.
    pub(crate) fn count(
        &mut self,
        time: SimTime,
        has_cells: impl Fn(PortVc) -> bool,
    ) -> (u32, u64) {
        while let Some(&(departure, port_vc)) = self.tails.front()
            && departure <= time
        {
            self.tails.pop_front();
            let tails = &mut self.tails_of[port_vc.index()];
            *tails -= 1;
            if *tails == 0 {
                self.with_tails.0 -= 1;
                self.with_tails.1 -= self.weights[port_vc.index()];
            }
        }
        let others = self
            .open
            .iter()
            .filter(|&&port_vc| self.tails_of[port_vc.index()] == 0 && has_cells(port_vc));
        others.fold(self.with_tails, |(vcs, weight), &port_vc| {
            (vcs + 1, weight + self.weights[port_vc.index()])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vc_counts_while_a_last_cell_or_a_part_of_a_frame_is_there() {
        let mut active = ActiveVcs::default();
        [3, 5, 7]
            .into_iter()
            .for_each(|weight| active.add_vc(weight));
        active.accept_tail(SimTime(10), PortVc(0));
        active.accept_tail(SimTime(20), PortVc(0));
        active.accept_tail(SimTime(20), PortVc(2));
        active.note_eom(PortVc(1), true);
        assert_eq!(active.count(SimTime(9), |_| true), (3, 15));
        assert_eq!(active.count(SimTime(9), |_| false), (2, 10));
        assert_eq!(active.count(SimTime(10), |_| false), (2, 10));
        assert_eq!(active.count(SimTime(20), |_| true), (1, 5));
        active.note_eom(PortVc(1), false);
        assert_eq!(active.count(SimTime(20), |_| true), (0, 0));
    }
}
