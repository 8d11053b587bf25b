//! Cells that go on from one multiplexing port to another.
//!
//! Where cells leave in the order in which they were taken in, it is known when one leaves as soon as it
//! has been taken in; where each VC has a queue, as soon as it has been chosen. To the next port a frame goes
//! as parts: cells at equal distances, each part one train there.

use crate::inputs::{Due, Part};
use skycell_units::SimTime;
use std::collections::VecDeque;

/// Where a VC goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Onto {
    /// The port, by id, and the VC's lane and place there.
    pub(crate) port: u32,
    pub(crate) lane: u32,
    pub(crate) place: u32,
    /// From a cell's departure here to its coming there.
    pub(crate) delay: SimTime,
}

/// A frame whose cells are dealt with.
#[derive(Clone, Copy, Debug)]
struct Dealt {
    frame: u32,
    is_tagged: bool,
    /// Whether none of its cells has gone this far.
    begins: bool,
}

impl Dealt {
    /// No frame yet.
    const NONE: Dealt = Dealt {
        frame: u32::MAX,
        is_tagged: false,
        begins: true,
    };
}

/// Cells that wait in the queue of their VC.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    of: Dealt,
    cells: u32,
    /// Whether the last of them is the frame's last.
    ends: bool,
    /// Whether all that came is there, without the frame's last cell.
    is_over: bool,
}

/// A VC that goes on, or does not.
#[derive(Clone, Debug)]
struct Leaving {
    onto: Option<Onto>,
    /// What comes to the port.
    coming: Dealt,
    /// What leaves it.
    sent: Dealt,
    /// Departures of cells of that which have not been told of.
    first: u64,
    last: u64,
    distance: u64,
    cells: u32,
    /// Between the two, where each VC has a queue.
    waiting: VecDeque<Waiting>,
}

/// What goes on from a port.
#[derive(Debug)]
pub(crate) struct Onward {
    cell_time: u64,
    /// By place.
    vcs: Vec<Leaving>,
    /// Places of VCs that may have cells that have not been told of.
    open: Vec<u32>,
    parts: Vec<(u32, u32, Due)>,
    /// Cells chosen among the queues of VCs that have been sent.
    chosen: u64,
    /// Frames of which what came has been sent, without its last cell.
    over: Vec<u32>,
}

impl Onward {
    /// From a port with `vcs` VCs, where a cell takes `cell_time`.
    pub(crate) fn new(cell_time: u64, vcs: usize) -> Self {
        let leaving = Leaving {
            onto: None,
            coming: Dealt::NONE,
            sent: Dealt::NONE,
            first: 0,
            last: 0,
            distance: 0,
            cells: 0,
            waiting: VecDeque::new(),
        };
        Onward {
            cell_time,
            vcs: vec![leaving; vcs],
            open: Vec::new(),
            parts: Vec::new(),
            chosen: 0,
            over: Vec::new(),
        }
    }

    /// Lets the VC at `place` go on.
    pub(crate) fn add(&mut self, place: u32, onto: Onto) {
        self.vcs[place as usize].onto = Some(onto);
    }

    /// Whether the VC at `place` goes on.
    pub(crate) fn has(&self, place: u32) -> bool {
        self.vcs[place as usize].onto.is_some()
    }

    /// A frame, or a part of one, begins to come to the port.
    pub(crate) fn begin(&mut self, due: &Due) {
        let coming = &mut self.vcs[due.place as usize].coming;
        *coming = Dealt {
            frame: due.frame,
            is_tagged: due.is_tagged,
            begins: coming.begins || due.part.begins(),
        };
    }

    /// `count` cells of what comes were taken in and leave, the first at `first`, the others `distance`
    /// apart; the last of them is the frame's last if `ends`.
    pub(crate) fn send(&mut self, place: u32, first: u64, distance: u64, count: u32, ends: bool) {
        let coming = &mut self.vcs[place as usize].coming;
        let of = *coming;
        coming.begins = false;
        self.note(place, of, first, distance, count, ends);
    }

    /// `count` cells of what comes were taken in and wait to be chosen.
    pub(crate) fn wait(&mut self, place: u32, count: u32, ends: bool) {
        let vc = &mut self.vcs[place as usize];
        vc.waiting.push_back(Waiting {
            of: vc.coming,
            cells: count,
            ends,
            is_over: false,
        });
        vc.coming.begins = false;
    }

    /// Of what came, no more cells follow, and the last was not the frame's. Whether some still wait.
    pub(crate) fn end_without_last(&mut self, place: u32) -> bool {
        let vc = &mut self.vcs[place as usize];
        let frame = vc.coming.frame;
        let last = vc.waiting.back_mut().filter(|last| last.of.frame == frame);
        last.map(|last| last.is_over = true).is_some()
    }

    /// Sends the cells that have been chosen since the last call, `count` in all: `chosen` tells the place
    /// and the departure of the n-th, from 0.
    pub(crate) fn send_chosen(&mut self, count: u64, chosen: impl Fn(u64) -> (u32, SimTime)) {
        for nth in self.chosen..count {
            let (place, departure) = chosen(nth);
            let waiting = &mut self.vcs[place as usize].waiting;
            let Some(cell) = waiting.front_mut() else {
                continue;
            };
            let of = cell.of;
            (cell.of.begins, cell.cells) = (false, cell.cells - 1);
            let ends = cell.cells == 0 && cell.ends;
            if cell.cells == 0 {
                self.over.extend(cell.is_over.then_some(of.frame));
                waiting.pop_front();
            }
            self.note(place, of, departure.0, self.cell_time, 1, ends);
        }
        self.chosen = count;
    }

    fn note(&mut self, place: u32, of: Dealt, first: u64, distance: u64, count: u32, ends: bool) {
        let vc = &mut self.vcs[place as usize];
        if of.begins || of.is_tagged != vc.sent.is_tagged {
            self.close(place, false);
        }
        let vc = &mut self.vcs[place as usize];
        let after = first - vc.last;
        let goes_on = match vc.cells {
            0 => false,
            1 => is_stride(after, self.cell_time) && (count == 1 || after == distance),
            _ => after == vc.distance && (count == 1 || distance == vc.distance),
        };
        if goes_on {
            vc.distance = after;
            vc.cells += count;
        } else {
            self.close(place, false);
            let vc = &mut self.vcs[place as usize];
            (vc.first, vc.distance, vc.cells) = (first, distance, count);
            vc.sent = of;
            self.open.push(place);
        }
        self.vcs[place as usize].last = first + u64::from(count - 1) * distance;
        if ends {
            self.close(place, true);
        }
    }

    /// What has been sent of the VC at `place` is a part.
    fn close(&mut self, place: u32, ends: bool) {
        let vc = &mut self.vcs[place as usize];
        let Some(onto) = vc.onto.filter(|_| vc.cells > 0) else {
            return;
        };
        let due = Due {
            head: SimTime(vc.first) + onto.delay,
            frame: vc.sent.frame,
            place: onto.place,
            cells: std::mem::replace(&mut vc.cells, 0),
            stride: (vc.distance / self.cell_time) as u16,
            part: Part::new(vc.sent.begins, ends),
            is_tagged: vc.sent.is_tagged,
        };
        self.parts.push((onto.port, onto.lane, due));
    }

    /// Frames, or parts of them, of which the last cell that waited has been sent since the last call.
    pub(crate) fn take_over(&mut self) -> impl Iterator<Item = u32> {
        self.over.drain(..)
    }

    /// Takes the parts that have been sent since the last call: port, lane, and what comes there.
    pub(crate) fn take(&mut self, mut tell: impl FnMut(u32, u32, Due)) {
        for at in 0..self.open.len() {
            self.close(self.open[at], false);
        }
        self.open.clear();
        self.parts
            .drain(..)
            .for_each(|(port, lane, due)| tell(port, lane, due));
    }
}

/// Whether cells may be `distance` apart in a part.
fn is_stride(distance: u64, cell_time: u64) -> bool {
    distance.is_multiple_of(cell_time) && distance / cell_time <= u64::from(u16::MAX)
}
