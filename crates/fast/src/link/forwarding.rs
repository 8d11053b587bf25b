//! Cells that go on from one output port to another.
//!
//! Where cells leave in the order in which they were accepted, it is known when one leaves as soon as it
//! has been accepted; where each VC has a queue, as soon as it has been chosen. To the next port a frame goes
//! as parts: cells at equal distances, each part one burst there.

use crate::burst::fragment::{DueFragment, NextHop, Part};
use skycell_units::{FrameId, PortVc, SimTime};
use std::collections::VecDeque;

/// A frame whose cells are processed.
#[derive(Clone, Copy, Debug)]
struct InFrame {
    frame: FrameId,
    clp: bool,
    /// Which cell of the frame is the next, from 0, if none has been lost.
    nth: u32,
    /// True if none of its cells has gone this far, or none since cells of another frame have.
    is_new: bool,
    begins: bool,
}

impl InFrame {
    /// No frame yet.
    const NONE: InFrame = InFrame {
        frame: FrameId::NONE,
        clp: false,
        nth: 0,
        is_new: false,
        begins: false,
    };
}

/// Cells that wait in the queue of their VC.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    of: InFrame,
    cells: u32,
    /// True if the last of them is the frame's last.
    eom: bool,
    /// True if everything that came is there, without the frame's last cell.
    is_over: bool,
}

/// A VC that goes on, or does not.
#[derive(Clone, Debug)]
struct ForwardVc {
    next_hop: Option<NextHop>,
    /// Fragment that comes to the port, and the frame whose cells were forwarded last.
    arriving: InFrame,
    forwarded: Option<FrameId>,
    /// Fragment that leaves it.
    sent: InFrame,
    /// Departures of cells of that which have not been told of.
    first: u64,
    last: u64,
    distance: u64,
    cells: u32,
    /// Between the two, where each VC has a queue.
    waiting: VecDeque<Waiting>,
}

/// The forwarding of a port's departures.
#[derive(Debug)]
pub(crate) struct Forwarding {
    cell_time: u64,
    /// By index at the port.
    vcs: Vec<ForwardVc>,
    /// Indices of VCs that may have cells that have not been told of.
    open: Vec<PortVc>,
    /// With the index of the VC here.
    parts: Vec<(PortVc, DueFragment)>,
    /// Cells chosen among the queues of VCs that have been sent.
    chosen: u64,
    /// Frames of which what came has been sent, without its last cell.
    over: Vec<FrameId>,
    /// By frame: whether it came, and none of its cells has gone on.
    is_new: Vec<bool>,
}

impl Forwarding {
    /// From a port with `vcs` VCs, where a cell takes `cell_time`.
    pub(crate) fn new(cell_time: u64, vcs: usize) -> Self {
        let leaving = ForwardVc {
            next_hop: None,
            arriving: InFrame::NONE,
            forwarded: None,
            sent: InFrame::NONE,
            first: 0,
            last: 0,
            distance: 0,
            cells: 0,
            waiting: VecDeque::new(),
        };
        Forwarding {
            cell_time,
            vcs: vec![leaving; vcs],
            open: Vec::new(),
            parts: Vec::new(),
            chosen: 0,
            over: Vec::new(),
            is_new: Vec::new(),
        }
    }

    /// Forwards the VC at `port_vc`.
    pub(crate) fn add(&mut self, port_vc: PortVc, next_hop: NextHop) {
        self.vcs[port_vc.index()].next_hop = Some(next_hop);
    }

    /// Returns whether the VC at `port_vc` is forwarded.
    pub(crate) fn has(&self, port_vc: PortVc) -> bool {
        self.vcs[port_vc.index()].next_hop.is_some()
    }

    /// A frame, or a part of one, begins to come to the port.
    pub(crate) fn begin(&mut self, fragment: &DueFragment) {
        let vc = &mut self.vcs[fragment.port_vc.index()];
        vc.arriving = InFrame {
            frame: fragment.frame,
            clp: fragment.clp,
            nth: fragment.nth.into(),
            ..InFrame::NONE
        };
        if fragment.part.is_new() {
            let at = fragment.frame.index();
            if self.is_new.len() <= at {
                self.is_new.resize(at + 1, false);
            }
            self.is_new[at] = true;
            // Another frame had the number before.
            vc.forwarded = vc.forwarded.filter(|&frame| frame != fragment.frame);
        }
    }

    /// `count` cells of what comes at `port_vc` were accepted.
    fn accept(&mut self, port_vc: PortVc, count: u32) -> InFrame {
        let vc = &mut self.vcs[port_vc.index()];
        let of = vc.arriving;
        vc.arriving.nth += count;
        let before = vc.forwarded.replace(of.frame);
        InFrame {
            is_new: std::mem::take(&mut self.is_new[of.frame.index()]),
            begins: before != Some(of.frame),
            ..of
        }
    }

    /// `count` cells of what comes were accepted and leave, the first at `first`, the others `distance`
    /// apart; the last of them is the frame's last if `eom`.
    pub(crate) fn send(
        &mut self,
        port_vc: PortVc,
        first: u64,
        distance: u64,
        count: u32,
        eom: bool,
    ) {
        let of = self.accept(port_vc, count);
        if count == 1 || is_stride(distance, self.cell_time) {
            return self.note(port_vc, of, first, distance, count, eom);
        }
        for at in 0..count {
            let of = InFrame {
                nth: of.nth + at,
                is_new: of.is_new && at == 0,
                begins: of.begins && at == 0,
                ..of
            };
            let departure = first + u64::from(at) * distance;
            self.note(port_vc, of, departure, distance, 1, eom && at + 1 == count);
        }
    }

    /// One cell of the VC at `port_vc` leaves, of which `fragment` tells all, its head being when it does.
    pub(crate) fn send_one(&mut self, port_vc: PortVc, fragment: &DueFragment) {
        let of = InFrame {
            frame: fragment.frame,
            clp: fragment.clp,
            nth: fragment.nth.into(),
            is_new: fragment.part.is_new(),
            begins: fragment.part.begins(),
        };
        self.note(
            port_vc,
            of,
            fragment.head.0,
            self.cell_time,
            1,
            fragment.part.eom(),
        );
    }

    /// `count` cells of what comes were accepted and wait to be chosen.
    pub(crate) fn wait(&mut self, port_vc: PortVc, count: u32, eom: bool) {
        let of = self.accept(port_vc, count);
        self.vcs[port_vc.index()].waiting.push_back(Waiting {
            of,
            cells: count,
            eom,
            is_over: false,
        });
    }

    /// Of what came, no more cells follow, and the last was not the frame's. Whether some still wait.
    pub(crate) fn end_without_last(&mut self, port_vc: PortVc) -> bool {
        let vc = &mut self.vcs[port_vc.index()];
        let frame = vc.arriving.frame;
        let last = vc.waiting.back_mut().filter(|last| last.of.frame == frame);
        last.map(|last| last.is_over = true).is_some()
    }

    /// Sends the cells that have been chosen since the last call, `count` in all: `chosen` tells the index
    /// and the departure of the n-th, from 0.
    pub(crate) fn send_chosen(&mut self, count: u64, chosen: impl Fn(u64) -> (PortVc, SimTime)) {
        for nth in self.chosen..count {
            let (port_vc, departure) = chosen(nth);
            let waiting = &mut self.vcs[port_vc.index()].waiting;
            let Some(cell) = waiting.front_mut() else {
                continue;
            };
            let of = cell.of;
            (cell.of.is_new, cell.of.begins) = (false, false);
            cell.of.nth += 1;
            cell.cells -= 1;
            let eom = cell.cells == 0 && cell.eom;
            if cell.cells == 0 {
                self.over.extend(cell.is_over.then_some(of.frame));
                waiting.pop_front();
            }
            self.note(port_vc, of, departure.0, self.cell_time, 1, eom);
        }
        self.chosen = count;
    }

    fn note(
        &mut self,
        port_vc: PortVc,
        of: InFrame,
        first: u64,
        distance: u64,
        count: u32,
        eom: bool,
    ) {
        let vc = &mut self.vcs[port_vc.index()];
        let follows = of.nth == vc.sent.nth + vc.cells && of.clp == vc.sent.clp;
        if of.begins || !follows {
            self.close(port_vc, false);
        }
        let vc = &mut self.vcs[port_vc.index()];
        let after = first - vc.last;
        let continues = match vc.cells {
            0 => false,
            1 => is_stride(after, self.cell_time) && (count == 1 || after == distance),
            _ => after == vc.distance && (count == 1 || distance == vc.distance),
        };
        if continues {
            vc.distance = after;
            vc.cells += count;
        } else {
            self.close(port_vc, false);
            let vc = &mut self.vcs[port_vc.index()];
            let of_one = count == 1;
            vc.distance = if of_one { self.cell_time } else { distance };
            (vc.first, vc.cells) = (first, count);
            vc.sent = of;
            self.open.push(port_vc);
        }
        self.vcs[port_vc.index()].last = first + u64::from(count - 1) * distance;
        if eom {
            self.close(port_vc, true);
        }
    }

    /// Makes a part of everything that has been sent of the VC at `port_vc`.
    fn close(&mut self, port_vc: PortVc, eom: bool) {
        let vc = &mut self.vcs[port_vc.index()];
        let Some(next_hop) = vc.next_hop.filter(|_| vc.cells > 0) else {
            return;
        };
        let fragment = DueFragment {
            head: SimTime(vc.first) + next_hop.delay,
            frame: vc.sent.frame,
            port_vc: next_hop.port_vc,
            cells: std::mem::replace(&mut vc.cells, 0) as u16,
            nth: vc.sent.nth as u16,
            stride: (vc.distance / self.cell_time) as u16,
            part: Part::new(vc.sent.is_new, eom).again(vc.sent.begins && !vc.sent.is_new),
            clp: vc.sent.clp,
        };
        self.parts.push((port_vc, fragment));
    }

    /// Frames, or parts of them, of which the last cell that waited has been sent since the last call.
    pub(crate) fn take_over(&mut self) -> impl Iterator<Item = FrameId> {
        self.over.drain(..)
    }

    /// Takes the parts that have been sent since the last call: the VC's index here, where it goes on, and what
    /// comes there.
    pub(crate) fn take(&mut self, mut report: impl FnMut(PortVc, &NextHop, DueFragment)) {
        for at in 0..self.open.len() {
            self.close(self.open[at], false);
        }
        self.open.clear();
        for (port_vc, fragment) in self.parts.drain(..) {
            let next_hop = self.vcs[port_vc.index()].next_hop.as_ref();
            report(
                port_vc,
                next_hop.expect("only what goes on is sent"),
                fragment,
            );
        }
    }
}

/// Returns whether cells of a part may be `distance` apart.
fn is_stride(distance: u64, cell_time: u64) -> bool {
    distance.is_multiple_of(cell_time) && distance / cell_time <= u64::from(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use skycell_units::InputId;

    const CELL: u64 = 10;
    const FIRST: Part = Part::new(true, false);
    const MIDDLE: Part = Part::new(false, false);
    const LAST: Part = Part::new(false, true);

    /// Two VCs that go on; their cells come 100 after they have left.
    fn forwarding() -> Forwarding {
        let mut forwarding = Forwarding::new(CELL, 2);
        for port_vc in 0..2 {
            let next_hop = NextHop {
                port: 7,
                input: InputId(3 + port_vc),
                port_vc: PortVc(5 + port_vc),
                delay: SimTime(100),
            };
            forwarding.add(PortVc(port_vc), next_hop);
        }
        forwarding
    }

    fn frame(port_vc: u32, frame: u32, part: Part, clp: bool) -> DueFragment {
        DueFragment {
            part,
            ..DueFragment::new(SimTime(0), FrameId(frame), PortVc(port_vc), 1, clp)
        }
    }

    /// Of the parts taken: frame, head, cells, stride, part.
    fn taken(forwarding: &mut Forwarding) -> Vec<(u32, u64, u32, u16, Part)> {
        let mut parts = Vec::new();
        forwarding.take(|port_vc, next_hop, fragment| {
            assert_eq!(
                (next_hop.port, next_hop.input, PortVc(port_vc.0 + 5)),
                (7, InputId(port_vc.0 + 3), fragment.port_vc)
            );
            parts.push((
                fragment.frame.0,
                fragment.head.0,
                fragment.cells.into(),
                fragment.stride,
                fragment.part,
            ));
        });
        parts
    }

    #[test]
    fn cells_at_equal_distances_are_one_part() {
        let mut forwarding = forwarding();
        forwarding.begin(&frame(0, 9, Part::WHOLE, false));
        forwarding.send(PortVc(0), 50, CELL, 3, false);
        forwarding.send(PortVc(0), 80, CELL, 1, false);
        forwarding.send(PortVc(0), 90, CELL, 2, false);
        // Another VC's cells take every other place from here on.
        forwarding.send(PortVc(0), 120, 2 * CELL, 2, false);
        forwarding.send(PortVc(0), 160, CELL, 1, true);
        let parts = [(9, 150, 6, 1, FIRST), (9, 220, 3, 2, LAST)];
        assert_eq!(taken(&mut forwarding), parts);
        assert_eq!(taken(&mut forwarding), []);
    }

    #[test]
    fn what_is_taken_early_is_a_part_of_its_own() {
        let mut forwarding = forwarding();
        forwarding.begin(&frame(1, 4, Part::WHOLE, false));
        forwarding.send(PortVc(1), 10, CELL, 2, false);
        assert_eq!(taken(&mut forwarding), [(4, 110, 2, 1, FIRST)]);
        forwarding.send(PortVc(1), 30, CELL, 1, false);
        assert_eq!(taken(&mut forwarding), [(4, 130, 1, 1, MIDDLE)]);
        // Its last cell is lost, and the next frame begins.
        forwarding.begin(&frame(1, 6, Part::WHOLE, false));
        forwarding.send(PortVc(1), 40, CELL, 1, true);
        assert_eq!(taken(&mut forwarding), [(6, 140, 1, 1, Part::WHOLE)]);
    }

    #[test]
    fn a_frame_whose_first_part_is_lost_begins_with_the_next() {
        let mut forwarding = forwarding();
        forwarding.begin(&frame(0, 2, FIRST, false));
        forwarding.begin(&frame(0, 2, MIDDLE, false));
        forwarding.send(PortVc(0), 10, CELL, 1, false);
        forwarding.begin(&frame(0, 2, LAST, true));
        forwarding.send(PortVc(0), 20, CELL, 1, true);
        let parts = [(2, 110, 1, 1, FIRST), (2, 120, 1, 1, LAST)];
        assert_eq!(taken(&mut forwarding), parts, "the CLP bits differ");
    }

    #[test]
    fn cells_that_wait_go_on_when_they_are_chosen() {
        let mut forwarding = forwarding();
        forwarding.begin(&frame(0, 1, Part::WHOLE, false));
        forwarding.wait(PortVc(0), 2, false);
        assert!(forwarding.end_without_last(PortVc(0)));
        forwarding.begin(&frame(0, 2, Part::WHOLE, false));
        assert!(
            !forwarding.end_without_last(PortVc(0)),
            "nothing of the frame waits"
        );
        forwarding.wait(PortVc(0), 1, true);
        forwarding.begin(&frame(1, 3, Part::WHOLE, false));
        forwarding.wait(PortVc(1), 1, true);
        let port_vcs = [0, 1, 0, 0].map(PortVc);
        let chosen = |nth: u64| (port_vcs[nth as usize], SimTime(10 * (nth + 1)));
        forwarding.send_chosen(2, chosen);
        let first = [(3, 120, 1, 1, Part::WHOLE), (1, 110, 1, 1, FIRST)];
        assert_eq!(taken(&mut forwarding), first);
        assert_eq!(forwarding.take_over().count(), 0);
        forwarding.send_chosen(4, chosen);
        let others = [(1, 130, 1, 1, MIDDLE), (2, 140, 1, 1, Part::WHOLE)];
        assert_eq!(taken(&mut forwarding), others);
        assert_eq!(forwarding.take_over().collect::<Vec<_>>(), [FrameId(1)]);
    }

    #[test]
    fn cells_know_their_places_in_the_frame() {
        let mut forwarding = forwarding();
        let positions = |forwarding: &mut Forwarding| {
            let mut positions = Vec::new();
            forwarding.take(|_, _, fragment| positions.push((fragment.nth, fragment.cells)));
            positions
        };
        let part = |nth: u16, part: Part| DueFragment {
            nth,
            ..frame(0, 9, part, false)
        };
        // Later cells of the frame come first, here and with nothing between.
        forwarding.begin(&part(5, FIRST));
        forwarding.send(PortVc(0), 50, CELL, 2, false);
        forwarding.send(PortVc(0), 80, CELL, 1, false);
        forwarding.begin(&part(0, MIDDLE));
        forwarding.send(PortVc(0), 90, CELL, 4, false);
        forwarding.begin(&part(4, MIDDLE));
        forwarding.send(PortVc(0), 130, CELL, 1, false);
        assert_eq!(positions(&mut forwarding), [(5, 2), (7, 1), (0, 5)]);
        forwarding.begin(&part(8, LAST));
        forwarding.wait(PortVc(0), 2, true);
        forwarding.send_chosen(1, |_| (PortVc(0), SimTime(200)));
        assert_eq!(positions(&mut forwarding), [(8, 1)]);
        forwarding.send_chosen(2, |_| (PortVc(0), SimTime(210)));
        assert_eq!(positions(&mut forwarding), [(9, 1)]);
    }

    #[test]
    fn cells_too_far_apart_for_a_part_go_one_by_one() {
        let mut forwarding = forwarding();
        let far = 65_536 * CELL;
        forwarding.begin(&frame(0, 9, Part::WHOLE, false));
        forwarding.send(PortVc(0), 50, far, 2, false);
        forwarding.send(PortVc(0), 50 + 2 * far, far, 1, true);
        let parts = [
            (9, 150, 1, 1, FIRST),
            (9, 150 + far, 1, 1, MIDDLE),
            (9, 150 + 2 * far, 1, 1, LAST),
        ];
        assert_eq!(taken(&mut forwarding), parts);
        // As far as a part reaches, or out of step with the port.
        forwarding.begin(&frame(1, 3, Part::WHOLE, false));
        forwarding.send(PortVc(1), 50, far - CELL, 2, false);
        forwarding.send(PortVc(1), 2 * far, CELL + 1, 2, true);
        let parts = [
            (3, 150, 2, 65_535, FIRST),
            (3, 2 * far + 100, 1, 1, MIDDLE),
            (3, 2 * far + 111, 1, 1, LAST),
        ];
        assert_eq!(taken(&mut forwarding), parts);
    }
}
