//! Cells that go on from one multiplexing port to another.
//!
//! Cells leave in the order in which they were taken in, so when one leaves is known as soon as it has been
//! taken in. To the next port a frame goes as parts: cells at equal distances, each part one train there.

use crate::inputs::{Due, Part};
use skycell_units::SimTime;

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

/// A VC that goes on, or does not.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    onto: Option<Onto>,
    /// The frame whose cells are taken in.
    frame: u32,
    is_tagged: bool,
    /// Whether none of its cells went on before those below.
    begins: bool,
    /// Departures of cells that have not been told of.
    first: u64,
    last: u64,
    distance: u64,
    cells: u32,
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
}

impl Onward {
    /// From a port with `vcs` VCs, where a cell takes `cell_time`.
    pub(crate) fn new(cell_time: u64, vcs: usize) -> Self {
        let leaving = Leaving {
            onto: None,
            frame: u32::MAX,
            is_tagged: false,
            begins: true,
            first: 0,
            last: 0,
            distance: 0,
            cells: 0,
        };
        Onward {
            cell_time,
            vcs: vec![leaving; vcs],
            open: Vec::new(),
            parts: Vec::new(),
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
        if due.part.begins() {
            self.close(due.place, false);
            self.vcs[due.place as usize].begins = true;
        }
        let vc = &mut self.vcs[due.place as usize];
        (vc.frame, vc.is_tagged) = (due.frame, due.is_tagged);
    }

    /// `count` cells of the frame leave, the first at `first`, the others `distance` apart; the last of them
    /// is the frame's last if `ends`.
    pub(crate) fn send(&mut self, place: u32, first: u64, distance: u64, count: u32, ends: bool) {
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
        let part = Part::new(std::mem::replace(&mut vc.begins, false), ends);
        let due = Due {
            head: SimTime(vc.first) + onto.delay,
            frame: vc.frame,
            place: onto.place,
            cells: std::mem::replace(&mut vc.cells, 0),
            stride: (vc.distance / self.cell_time) as u16,
            part,
            is_tagged: vc.is_tagged,
        };
        self.parts.push((onto.port, onto.lane, due));
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
