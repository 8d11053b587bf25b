//! Cells that a multiplexing port takes in and that go on to another such port, or are lost on the way.

use super::MuxPort;
use crate::burst::Burst;
use crate::burst::due::Onto;
use crate::burst::train::{Moment, Train, take_turns};
use crate::link::onward::Onward;
use skycell_units::SimTime;

impl MuxPort {
    /// Lets the VC at `place` go on to another such port, once all VCs are there.
    pub(crate) fn go_on(&mut self, place: u32, onto: Onto) {
        let (cell_time, vcs) = (self.cell_time, self.vcs.len());
        let onward = self
            .onward
            .get_or_insert_with(|| Box::new(Onward::new(cell_time, vcs)));
        onward.add(place, onto);
        if let Some(moving) = &mut self.moving {
            moving.add(place, onto);
        }
    }

    /// Whether the VC at `place` goes on to another such port.
    pub(super) fn goes_on(&self, place: u32) -> bool {
        self.onward.as_ref().is_some_and(|onward| onward.has(place))
    }

    /// Whether it matters when the cells of the VC at `place` leave.
    fn tells_departures(&self, place: u32) -> bool {
        self.lossy.is_some() || self.goes_on(place)
    }

    /// Sends the cells on that have been chosen among the queues of VCs.
    pub(crate) fn send_chosen(&mut self) {
        if let (Some(onward), Some(queues)) = (&mut self.onward, &self.vc_queues) {
            onward.send_chosen(queues.count(), |nth| {
                let departure = self.log.departure(nth);
                (queues.place_of(nth), departure.expect("it has been chosen"))
            });
        }
    }

    /// The cells that the arriving trains have just brought go on, as far as they go on to another port, or are
    /// lost; `taken_in` had been taken in before.
    pub(super) fn send_trains(&mut self, taken_in: u64) {
        self.draw_in_order();
        // Where cells wait to be chosen, nobody asks which of them came first.
        let in_turn = self.vc_queues.is_some() || take_turns(self.arriving.iter().map(|a| a.train));
        let count = self.arriving.len() as u64;
        for at in 0..self.arriving.len() {
            let arriving = self.arriving[at];
            let (train, cells) = (arriving.train, arriving.coming);
            if cells == 0 || !self.tells_departures(train.place) {
                continue;
            }
            let ends = arriving.ends && arriving.left == cells;
            let trains = self.arriving.iter().map(|a| a.train);
            if in_turn {
                let order = |train: &Train| (train.next, train.link);
                let earlier = trains.filter(|other| order(other) < order(&train));
                let first = taken_in + earlier.count() as u64;
                self.send(train.place, first, count, cells, ends);
                continue;
            }
            for nth in 0..cells {
                let moment = Moment {
                    time: SimTime(train.next + u64::from(nth) * train.spacing),
                    link: train.link,
                };
                let trains = self.arriving.iter().map(|a| a.train);
                let by: u64 = trains.map(|train| train.count(moment)).sum();
                let is_end = ends && nth + 1 == cells;
                self.send(train.place, taken_in + by - 1, 1, 1, is_end);
            }
        }
    }

    /// Draws for those of the arriving frames of which the first cells have just been taken in, in the order of these.
    fn draw_in_order(&mut self) {
        let Some(lossy) = &self.lossy else {
            return;
        };
        let begun = self.arriving.iter().filter(|a| a.coming > 0);
        let begun = begun.map(|a| (a.train.next, a.train.link, a.train.place));
        let mut begun: Vec<_> = begun
            .filter(|&(_, _, place)| lossy.is_open(place))
            .collect();
        begun.sort_unstable();
        for (_, _, place) in begun {
            self.is_lost(place);
        }
    }

    /// Whether the link behind the port, which loses frames, loses the one that comes on the VC at `place`.
    fn is_lost(&mut self, place: u32) -> bool {
        let lossy = self.lossy.as_mut().expect("the link loses frames");
        let server = self.log.server.as_mut();
        lossy.loses(place, server.and_then(|server| server.draws.as_mut()))
    }

    /// Whether cells of sources are drawn for as well, so that the first cell of a frame is dealt with alone.
    pub(super) fn draws_at_choices(&self) -> bool {
        let server = self.log.server.as_ref();
        server.is_some_and(|server| server.draws.is_some())
    }

    /// Whether that is so, and the first cell of an arriving frame has not been taken in.
    pub(super) fn awaits_draws(&self) -> bool {
        let Some(lossy) = self.lossy.as_ref().filter(|_| self.draws_at_choices()) else {
            return false;
        };
        let mut places = self.arriving.iter().map(|a| a.train.place);
        places.any(|place| lossy.is_open(place))
    }

    /// `cells` cells of the VC at `place` go on, if it does, or are lost, which have just been taken in: the first
    /// after `rank` others, and each `step` after the one before. The last of them is the frame's last if `ends`.
    #[inline(always)]
    pub(super) fn send(&mut self, place: u32, rank: u64, step: u64, cells: u32, ends: bool) {
        if self.lossy.is_some() && self.loses(place, rank, step, cells) {
            return;
        }
        if self.goes_on(place) {
            self.send_on(place, rank, step, cells, ends);
        }
    }

    /// The same of cells of `train`, each of which leaves before the next comes.
    pub(super) fn send_through(&mut self, train: &Train, cells: u32, ends: bool) {
        let (place, distance) = (train.place, train.spacing);
        let first = train.next + self.cell_time;
        if self.lossy.is_some() && self.is_lost(place) {
            let lost = Burst::new(SimTime(first), SimTime(distance), cells.into());
            return self.note_lost(place, lost);
        }
        if let Some(onward) = self.onward.as_mut().filter(|onward| onward.has(place)) {
            onward.send(place, first, distance, cells, ends);
        }
    }

    /// Whether the link behind the port loses the frame that these cells are of.
    fn loses(&mut self, place: u32, rank: u64, step: u64, cells: u32) -> bool {
        if !self.is_lost(place) {
            return false;
        }
        let together = if self.log.server.is_none() { cells } else { 1 };
        for nth in (0..cells).step_by(together as usize) {
            let first = self.log.departure(rank + u64::from(nth) * step);
            let first = first.expect("it has just been taken in");
            let distance = SimTime(step * self.cell_time);
            self.note_lost(place, Burst::new(first, distance, together.into()));
        }
        true
    }

    fn note_lost(&mut self, place: u32, cells: Burst) {
        let lossy = self.lossy.as_mut().expect("the link loses frames");
        lossy.note(place, cells);
    }

    fn send_on(&mut self, place: u32, rank: u64, step: u64, cells: u32, ends: bool) {
        let onward = self.onward.as_mut().expect("the VC goes on");
        if self.vc_queues.is_some() {
            return onward.wait(place, cells, ends);
        }
        let departure = |nth: u32| {
            let departure = self.log.departure(rank + u64::from(nth) * step);
            departure.expect("it has just been taken in").0
        };
        if self.log.server.is_none() {
            return onward.send(place, departure(0), step * self.cell_time, cells, ends);
        }
        for nth in 0..cells {
            let is_end = ends && nth + 1 == cells;
            onward.send(place, departure(nth), self.cell_time, 1, is_end);
        }
    }
}
