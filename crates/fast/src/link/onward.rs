//! Cells that go on from one multiplexing port to another.
//!
//! Where cells leave in the order in which they were taken in, it is known when one leaves as soon as it
//! has been taken in; where each VC has a queue, as soon as it has been chosen. To the next port a frame goes
//! as parts: cells at equal distances, each part one train there.

use crate::burst::due::{Due, Onto, Part};
use skycell_units::SimTime;
use std::collections::VecDeque;

/// A frame whose cells are dealt with.
#[derive(Clone, Copy, Debug)]
struct Dealt {
    frame: u32,
    is_tagged: bool,
    /// Which cell of the frame is the next, from 0, if none has been lost.
    nth: u32,
    /// Whether none of its cells has gone this far, or none since cells of another frame have.
    is_new: bool,
    begins: bool,
}

impl Dealt {
    /// No frame yet.
    const NONE: Dealt = Dealt {
        frame: u32::MAX,
        is_tagged: false,
        nth: 0,
        is_new: false,
        begins: false,
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
    /// What comes to the port, and the frame of which cells went on last.
    coming: Dealt,
    gone_on: Option<u32>,
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
    /// With the place of the VC here.
    parts: Vec<(u32, Due)>,
    /// Cells chosen among the queues of VCs that have been sent.
    chosen: u64,
    /// Frames of which what came has been sent, without its last cell.
    over: Vec<u32>,
    /// By frame: whether it came, and none of its cells has gone on.
    is_new: Vec<bool>,
}

impl Onward {
    /// From a port with `vcs` VCs, where a cell takes `cell_time`.
    pub(crate) fn new(cell_time: u64, vcs: usize) -> Self {
        let leaving = Leaving {
            onto: None,
            coming: Dealt::NONE,
            gone_on: None,
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
            is_new: Vec::new(),
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
        let vc = &mut self.vcs[due.place as usize];
        vc.coming = Dealt {
            frame: due.frame,
            is_tagged: due.is_tagged,
            nth: due.nth.into(),
            ..Dealt::NONE
        };
        if due.part.is_new() {
            let at = due.frame as usize;
            if self.is_new.len() <= at {
                self.is_new.resize(at + 1, false);
            }
            self.is_new[at] = true;
            // Another frame had the number before.
            vc.gone_on = vc.gone_on.filter(|&frame| frame != due.frame);
        }
    }

    /// `count` cells of what comes at `place` were taken in.
    fn take_in(&mut self, place: u32, count: u32) -> Dealt {
        let vc = &mut self.vcs[place as usize];
        let of = vc.coming;
        vc.coming.nth += count;
        let before = vc.gone_on.replace(of.frame);
        Dealt {
            is_new: std::mem::take(&mut self.is_new[of.frame as usize]),
            begins: before != Some(of.frame),
            ..of
        }
    }

    /// `count` cells of what comes were taken in and leave, the first at `first`, the others `distance`
    /// apart; the last of them is the frame's last if `ends`.
    pub(crate) fn send(&mut self, place: u32, first: u64, distance: u64, count: u32, ends: bool) {
        let of = self.take_in(place, count);
        if count == 1 || is_stride(distance, self.cell_time) {
            return self.note(place, of, first, distance, count, ends);
        }
        for at in 0..count {
            let of = Dealt {
                nth: of.nth + at,
                is_new: of.is_new && at == 0,
                begins: of.begins && at == 0,
                ..of
            };
            let departure = first + u64::from(at) * distance;
            self.note(place, of, departure, distance, 1, ends && at + 1 == count);
        }
    }

    /// One cell of the VC at `place` leaves, of which `due` tells all, its head being when it does.
    pub(crate) fn send_one(&mut self, place: u32, due: &Due) {
        let of = Dealt {
            frame: due.frame,
            is_tagged: due.is_tagged,
            nth: due.nth.into(),
            is_new: due.part.is_new(),
            begins: due.part.begins(),
        };
        self.note(place, of, due.head.0, self.cell_time, 1, due.part.ends());
    }

    /// `count` cells of what comes were taken in and wait to be chosen.
    pub(crate) fn wait(&mut self, place: u32, count: u32, ends: bool) {
        let of = self.take_in(place, count);
        self.vcs[place as usize].waiting.push_back(Waiting {
            of,
            cells: count,
            ends,
            is_over: false,
        });
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
            (cell.of.is_new, cell.of.begins) = (false, false);
            cell.of.nth += 1;
            cell.cells -= 1;
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
        let follows = of.nth == vc.sent.nth + vc.cells && of.is_tagged == vc.sent.is_tagged;
        if of.begins || !follows {
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
            let of_one = count == 1;
            vc.distance = if of_one { self.cell_time } else { distance };
            (vc.first, vc.cells) = (first, count);
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
            cells: std::mem::replace(&mut vc.cells, 0) as u16,
            nth: vc.sent.nth as u16,
            stride: (vc.distance / self.cell_time) as u16,
            part: Part::new(vc.sent.is_new, ends).again(vc.sent.begins && !vc.sent.is_new),
            is_tagged: vc.sent.is_tagged,
        };
        self.parts.push((place, due));
    }

    /// Frames, or parts of them, of which the last cell that waited has been sent since the last call.
    pub(crate) fn take_over(&mut self) -> impl Iterator<Item = u32> {
        self.over.drain(..)
    }

    /// Takes the parts that have been sent since the last call: the VC's place here, where it goes on, and what
    /// comes there.
    pub(crate) fn take(&mut self, mut tell: impl FnMut(u32, &Onto, Due)) {
        for at in 0..self.open.len() {
            self.close(self.open[at], false);
        }
        self.open.clear();
        for (place, due) in self.parts.drain(..) {
            let onto = self.vcs[place as usize].onto.as_ref();
            tell(place, onto.expect("only what goes on is sent"), due);
        }
    }
}

/// Whether cells may be `distance` apart in a part.
fn is_stride(distance: u64, cell_time: u64) -> bool {
    distance.is_multiple_of(cell_time) && distance / cell_time <= u64::from(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: u64 = 10;
    const FIRST: Part = Part::new(true, false);
    const MIDDLE: Part = Part::new(false, false);
    const LAST: Part = Part::new(false, true);

    /// Two VCs that go on; their cells come 100 after they have left.
    fn onward() -> Onward {
        let mut onward = Onward::new(CELL, 2);
        for place in 0..2 {
            let onto = Onto {
                port: 7,
                lane: 3 + place,
                place: 5 + place,
                delay: SimTime(100),
            };
            onward.add(place, onto);
        }
        onward
    }

    fn frame(place: u32, frame: u32, part: Part, is_tagged: bool) -> Due {
        Due {
            part,
            ..Due::new(SimTime(0), frame, place, 1, is_tagged)
        }
    }

    /// Of the parts taken: frame, head, cells, stride, part.
    fn taken(onward: &mut Onward) -> Vec<(u32, u64, u32, u16, Part)> {
        let mut parts = Vec::new();
        onward.take(|place, onto, due| {
            assert_eq!((onto.port, onto.lane, place + 5), (7, place + 3, due.place));
            parts.push((
                due.frame,
                due.head.0,
                due.cells.into(),
                due.stride,
                due.part,
            ));
        });
        parts
    }

    #[test]
    fn cells_at_equal_distances_are_one_part() {
        let mut onward = onward();
        onward.begin(&frame(0, 9, Part::WHOLE, false));
        onward.send(0, 50, CELL, 3, false);
        onward.send(0, 80, CELL, 1, false);
        onward.send(0, 90, CELL, 2, false);
        // Another VC's cells take every other place from here on.
        onward.send(0, 120, 2 * CELL, 2, false);
        onward.send(0, 160, CELL, 1, true);
        let parts = [(9, 150, 6, 1, FIRST), (9, 220, 3, 2, LAST)];
        assert_eq!(taken(&mut onward), parts);
        assert_eq!(taken(&mut onward), []);
    }

    #[test]
    fn what_is_taken_early_is_a_part_of_its_own() {
        let mut onward = onward();
        onward.begin(&frame(1, 4, Part::WHOLE, false));
        onward.send(1, 10, CELL, 2, false);
        assert_eq!(taken(&mut onward), [(4, 110, 2, 1, FIRST)]);
        onward.send(1, 30, CELL, 1, false);
        assert_eq!(taken(&mut onward), [(4, 130, 1, 1, MIDDLE)]);
        // Its last cell is lost, and the next frame begins.
        onward.begin(&frame(1, 6, Part::WHOLE, false));
        onward.send(1, 40, CELL, 1, true);
        assert_eq!(taken(&mut onward), [(6, 140, 1, 1, Part::WHOLE)]);
    }

    #[test]
    fn a_frame_whose_first_part_is_lost_begins_with_the_next() {
        let mut onward = onward();
        onward.begin(&frame(0, 2, FIRST, false));
        onward.begin(&frame(0, 2, MIDDLE, false));
        onward.send(0, 10, CELL, 1, false);
        onward.begin(&frame(0, 2, LAST, true));
        onward.send(0, 20, CELL, 1, true);
        let parts = [(2, 110, 1, 1, FIRST), (2, 120, 1, 1, LAST)];
        assert_eq!(taken(&mut onward), parts, "the CLP bits differ");
    }

    #[test]
    fn cells_that_wait_go_on_when_they_are_chosen() {
        let mut onward = onward();
        onward.begin(&frame(0, 1, Part::WHOLE, false));
        onward.wait(0, 2, false);
        assert!(onward.end_without_last(0));
        onward.begin(&frame(0, 2, Part::WHOLE, false));
        assert!(!onward.end_without_last(0), "nothing of the frame waits");
        onward.wait(0, 1, true);
        onward.begin(&frame(1, 3, Part::WHOLE, false));
        onward.wait(1, 1, true);
        let places = [0, 1, 0, 0];
        let chosen = |nth: u64| (places[nth as usize], SimTime(10 * (nth + 1)));
        onward.send_chosen(2, chosen);
        let first = [(3, 120, 1, 1, Part::WHOLE), (1, 110, 1, 1, FIRST)];
        assert_eq!(taken(&mut onward), first);
        assert_eq!(onward.take_over().count(), 0);
        onward.send_chosen(4, chosen);
        let others = [(1, 130, 1, 1, MIDDLE), (2, 140, 1, 1, Part::WHOLE)];
        assert_eq!(taken(&mut onward), others);
        assert_eq!(onward.take_over().collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn cells_know_their_places_in_the_frame() {
        let mut onward = onward();
        let places = |onward: &mut Onward| {
            let mut places = Vec::new();
            onward.take(|_, _, due| places.push((due.nth, due.cells)));
            places
        };
        let part = |nth: u16, part: Part| Due {
            nth,
            ..frame(0, 9, part, false)
        };
        // Later cells of the frame come first, here and with nothing between.
        onward.begin(&part(5, FIRST));
        onward.send(0, 50, CELL, 2, false);
        onward.send(0, 80, CELL, 1, false);
        onward.begin(&part(0, MIDDLE));
        onward.send(0, 90, CELL, 4, false);
        onward.begin(&part(4, MIDDLE));
        onward.send(0, 130, CELL, 1, false);
        assert_eq!(places(&mut onward), [(5, 2), (7, 1), (0, 5)]);
        onward.begin(&part(8, LAST));
        onward.wait(0, 2, true);
        onward.send_chosen(1, |_| (0, SimTime(200)));
        assert_eq!(places(&mut onward), [(8, 1)]);
        onward.send_chosen(2, |_| (0, SimTime(210)));
        assert_eq!(places(&mut onward), [(9, 1)]);
    }

    #[test]
    fn cells_too_far_apart_for_a_part_go_one_by_one() {
        let mut onward = onward();
        let far = 65_536 * CELL;
        onward.begin(&frame(0, 9, Part::WHOLE, false));
        onward.send(0, 50, far, 2, false);
        onward.send(0, 50 + 2 * far, far, 1, true);
        let parts = [
            (9, 150, 1, 1, FIRST),
            (9, 150 + far, 1, 1, MIDDLE),
            (9, 150 + 2 * far, 1, 1, LAST),
        ];
        assert_eq!(taken(&mut onward), parts);
        // As far as a part reaches, or out of step with the port.
        onward.begin(&frame(1, 3, Part::WHOLE, false));
        onward.send(1, 50, far - CELL, 2, false);
        onward.send(1, 2 * far, CELL + 1, 2, true);
        let parts = [
            (3, 150, 2, 65_535, FIRST),
            (3, 2 * far + 100, 1, 1, MIDDLE),
            (3, 2 * far + 111, 1, 1, LAST),
        ];
        assert_eq!(taken(&mut onward), parts);
    }
}
