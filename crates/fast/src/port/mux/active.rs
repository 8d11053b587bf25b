//! Which VCs have cells at a multiplexing port: N_a, and the weight W, of the policies that ask.

use skycell_units::SimTime;
use std::collections::VecDeque;

/// The VCs at the port that may have cells there, by place.
///
/// A VC with a last cell in the port has cells in it. Of the others only those may have any that are
/// in the midst of a frame, or whose frame lost its last cell.
#[derive(Debug, Default)]
pub(crate) struct ActiveVcs {
    /// What each VC adds to W.
    weights: Vec<u64>,
    /// Last cells in the port, by the time at which they leave.
    tails: VecDeque<(SimTime, u32)>,
    /// Of those, by place.
    tails_of: Vec<u32>,
    /// VCs with last cells, and the sum of their weights.
    with_tails: (u32, u64),
    /// VCs that wait for a frame's boundary.
    open: Vec<u32>,
}

impl ActiveVcs {
    /// Lets one more VC cross the port.
    pub(crate) fn add_vc(&mut self, weight: u64) {
        self.weights.push(weight);
        self.tails_of.push(0);
    }

    /// The last cell of a frame was taken in and leaves at `departure`.
    pub(crate) fn take_in_tail(&mut self, departure: SimTime, place: u32) {
        self.tails.push_back((departure, place));
        let tails = &mut self.tails_of[place as usize];
        if *tails == 0 {
            self.with_tails.0 += 1;
            self.with_tails.1 += self.weights[place as usize];
        }
        *tails += 1;
    }

    /// The VC begins to wait for a boundary, or no longer does.
    pub(crate) fn note_boundary(&mut self, place: u32, waits: bool) {
        if waits {
            self.open.push(place);
        } else {
            self.open.retain(|&open| open != place);
        }
    }

    /// N_a and W at `time`, departures done; `has_cells` tells of a VC without a last cell in the port
    /// whether it has others. Times must not go back.
    pub(crate) fn count(&mut self, time: SimTime, has_cells: impl Fn(u32) -> bool) -> (u32, u64) {
        while let Some(&(departure, place)) = self.tails.front()
            && departure <= time
        {
            self.tails.pop_front();
            let tails = &mut self.tails_of[place as usize];
            *tails -= 1;
            if *tails == 0 {
                self.with_tails.0 -= 1;
                self.with_tails.1 -= self.weights[place as usize];
            }
        }
        let others = self
            .open
            .iter()
            .filter(|&&place| self.tails_of[place as usize] == 0 && has_cells(place));
        others.fold(self.with_tails, |(vcs, weight), &place| {
            (vcs + 1, weight + self.weights[place as usize])
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
        active.take_in_tail(SimTime(10), 0);
        active.take_in_tail(SimTime(20), 0);
        active.take_in_tail(SimTime(20), 2);
        active.note_boundary(1, true);
        assert_eq!(active.count(SimTime(9), |_| true), (3, 15));
        assert_eq!(active.count(SimTime(9), |_| false), (2, 10));
        assert_eq!(active.count(SimTime(10), |_| false), (2, 10));
        assert_eq!(active.count(SimTime(20), |_| true), (1, 5));
        active.note_boundary(1, false);
        assert_eq!(active.count(SimTime(20), |_| true), (0, 0));
    }
}
