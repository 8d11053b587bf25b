//! An output port: one FIFO queue, a buffer policy, and the link it feeds.

use crate::frames::Cell;
use skycell_des::Stream;
use skycell_records::{DiscardReason, Discards, QueueIntegral, QueueSamples};
use skycell_spec::LinkSpec;
use skycell_switch::{BufferPolicy, BufferView, Policy};
use skycell_units::SimTime;
use std::collections::VecDeque;

/// One VC as the port sees it.
#[derive(Clone, Debug)]
pub(crate) struct VcAtPort {
    /// VC id.
    pub(crate) vc: u32,
    /// Cells in the port.
    pub(crate) queued: u32,
    /// Whether the last cell that arrived was not a last cell: the next one goes on with a frame.
    in_frame: bool,
    /// Why the frame that is arriving is being discarded.
    discarding: Option<DiscardReason>,
    /// Whether the last cell that was taken in was not a last cell: downstream waits for one.
    awaits_boundary: bool,
    /// Whether the frame that is arriving has lost a cell here.
    has_lost: bool,
    pub(crate) samples: QueueSamples,
}

/// What a port did with a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Accepted,
    Discarded {
        reason: DiscardReason,
        /// Whether it is the first cell that its frame loses here.
        is_first_loss: bool,
    },
}

/// An output port and its link.
#[derive(Debug)]
pub(crate) struct Port {
    cell_time: SimTime,
    delay: SimTime,
    /// Range of the wait before a frame, and the stream it is drawn from.
    frame_gap: u64,
    gap_stream: Stream,
    capacity: u32,
    policy: Policy,
    /// The cell at the front is under transmission.
    queue: VecDeque<Cell>,
    /// When its transmission began, or will after the wait before its frame.
    sending_since: SimTime,
    pub(crate) vcs: Vec<VcAtPort>,
    active_vcs: u32,
    /// Sum of the policy's weights of those VCs.
    active_weight: u64,
    /// Cells on the link, with their times of arrival.
    pub(crate) link: VecDeque<(SimTime, Cell)>,
    pub(crate) arrived: u64,
    pub(crate) departed: u64,
    pub(crate) discarded: Discards,
    pub(crate) frames_discarded: Discards,
    pub(crate) integral: QueueIntegral,
    pub(crate) queue_max: u32,
    pub(crate) samples: QueueSamples,
}

impl Port {
    pub(crate) fn new(spec: &LinkSpec, seed: u64) -> Self {
        Port {
            cell_time: SimTime(spec.cell_time_ps),
            delay: SimTime(spec.delay_ps),
            frame_gap: spec.port.frame_gap_ps,
            gap_stream: Stream::new(seed, &format!("port/{}/gap", spec.name)),
            capacity: spec.port.queues[0].capacity_cells.unwrap_or(u32::MAX),
            policy: Policy::new(&spec.port.queues[0].policy, seed, &spec.name),
            queue: VecDeque::new(),
            sending_since: SimTime::ZERO,
            vcs: Vec::new(),
            active_vcs: 0,
            active_weight: 0,
            link: VecDeque::new(),
            arrived: 0,
            departed: 0,
            discarded: Discards::default(),
            frames_discarded: Discards::default(),
            integral: QueueIntegral::default(),
            queue_max: 0,
            samples: QueueSamples::default(),
        }
    }

    /// Lets VC `vc` cross the port; returns its place there.
    pub(crate) fn add_vc(&mut self, vc: u32) -> u32 {
        self.vcs.push(VcAtPort {
            vc,
            queued: 0,
            in_frame: false,
            discarding: None,
            awaits_boundary: false,
            has_lost: false,
            samples: QueueSamples::default(),
        });
        self.vcs.len() as u32 - 1
    }

    /// X: cells in the port.
    pub(crate) fn queued(&self) -> u32 {
        self.queue.len() as u32
    }

    /// Time during which a cell was under transmission, up to `end`.
    pub(crate) fn busy(&self, end: SimTime) -> SimTime {
        let sending = if self.queue.is_empty() {
            SimTime::ZERO
        } else {
            end.since(self.sending_since)
        };
        SimTime(self.departed * self.cell_time.0) + sending
    }

    /// A cell of the VC at `place` arrives from a link.
    pub(crate) fn on_cell(&mut self, now: SimTime, cell: Cell, place: u32) -> Verdict {
        self.arrived += 1;
        self.integral.arrived(u128::from(now.0));
        if !self.vcs[place as usize].in_frame {
            self.begin_frame(place, cell.is_last);
        }
        let has_room = self.queued() < self.capacity;
        let keeps_last = self.policy.keeps_last_cells();
        let vc = &mut self.vcs[place as usize];
        vc.in_frame = !cell.is_last;
        let reason = match vc.discarding {
            // The boundary that downstream waits for, or that the policy keeps, although its frame
            // is lost.
            Some(_) if cell.is_last && has_room && (vc.awaits_boundary || keeps_last) => None,
            Some(reason) => Some(reason),
            None if has_room => None,
            None => {
                if self.policy.has_partial_discard() {
                    vc.discarding = Some(DiscardReason::RestOfFrame);
                }
                Some(DiscardReason::Overflow)
            }
        };
        if let Some(reason) = reason {
            return self.discard(now, place, reason, 1);
        }
        self.take_in(cell, place);
        Verdict::Accepted
    }

    /// A whole frame of `cells` cells arrives at once, from a host or a router: all of it is taken in,
    /// or nothing. `make` gives the cell of an index.
    pub(crate) fn on_frame(
        &mut self,
        now: SimTime,
        place: u32,
        cells: u32,
        make: impl Fn(u32) -> Cell,
    ) -> Verdict {
        self.arrived += u64::from(cells);
        self.integral.arrived(u128::from(now.0) * u128::from(cells));
        self.begin_frame(place, cells == 1);
        let refused = self.vcs[place as usize].discarding.take();
        let has_room = u64::from(self.queued()) + u64::from(cells) <= u64::from(self.capacity);
        let reason = refused.or((!has_room).then_some(DiscardReason::Overflow));
        if let Some(reason) = reason {
            return self.discard(now, place, reason, cells);
        }
        (0..cells).for_each(|index| self.take_in(make(index), place));
        Verdict::Accepted
    }

    /// The first cell of a frame, of a frame of one cell if `is_last`: the policy decides.
    fn begin_frame(&mut self, place: u32, is_last: bool) {
        let view = BufferView {
            queued: self.queued(),
            vc_queued: self.vcs[place as usize].queued,
            active_vcs: self.active_vcs,
            active_weight: self.active_weight,
            is_tagged: false,
            capacity: self.capacity,
        };
        let vc = &mut self.vcs[place as usize];
        vc.discarding = if is_last && self.policy.keeps_last_cells() {
            None
        } else {
            self.policy.on_frame(vc.vc, &view)
        };
        vc.has_lost = false;
    }

    fn discard(&mut self, now: SimTime, place: u32, reason: DiscardReason, cells: u32) -> Verdict {
        self.discarded.add(reason, u64::from(cells));
        // A discarded cell spends no time in the queue.
        self.integral
            .departed(u128::from(now.0) * u128::from(cells));
        let is_first_loss = !std::mem::replace(&mut self.vcs[place as usize].has_lost, true);
        if is_first_loss {
            self.frames_discarded.add(reason, 1);
        }
        Verdict::Discarded {
            reason,
            is_first_loss,
        }
    }

    fn take_in(&mut self, cell: Cell, place: u32) {
        let vc = &mut self.vcs[place as usize];
        vc.awaits_boundary = !cell.is_last;
        if vc.queued == 0 {
            self.active_vcs += 1;
            self.active_weight += self.policy.weight(vc.vc);
        }
        vc.queued += 1;
        self.queue.push_back(cell);
        self.queue_max = self.queue_max.max(self.queue.len() as u32);
    }

    /// Begins to send the cell at the front, if there is one; returns when its last bit will leave.
    pub(crate) fn begin_sending(&mut self, now: SimTime) -> Option<SimTime> {
        let cell = self.queue.front()?;
        let gap = if cell.index == 0 && self.frame_gap > 0 {
            self.gap_stream.uniform(0, self.frame_gap)
        } else {
            0
        };
        self.sending_since = now + SimTime(gap);
        Some(self.sending_since + self.cell_time)
    }

    /// The last bit of the cell under transmission leaves: it is on the link now. `place` gives the
    /// place of a cell's VC at this port.
    pub(crate) fn on_departure(&mut self, now: SimTime, place: impl Fn(&Cell) -> u32) {
        let cell = self.queue.pop_front().expect("a departing cell is queued");
        self.departed += 1;
        self.integral.departed(u128::from(now.0));
        let vc = &mut self.vcs[place(&cell) as usize];
        vc.queued -= 1;
        if vc.queued == 0 {
            self.active_vcs -= 1;
            self.active_weight -= self.policy.weight(vc.vc);
        }
        self.link.push_back((now + self.delay, cell));
    }
}

#[cfg(test)]
#[path = "port_tests.rs"]
mod tests;
