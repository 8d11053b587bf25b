//! A queue of an output port: its buffer, its policy, and what it counts.

use crate::frames::Cell;
use crate::line::Line;
use skycell_records::{
    ClassQueueRecord, DiscardReason, Discards, QueueIntegral, QueueRecord, QueueSamples,
};
use skycell_spec::{LinkSpec, QueueSpec, ServiceClass};
use skycell_switch::{BufferView, Policy};
use skycell_units::SimTime;

/// One VC as the port sees it.
#[derive(Clone, Debug)]
pub struct VcAtPort {
    /// VC id.
    pub vc: u32,
    /// Place of the queue that its cells join.
    pub(crate) queue: usize,
    /// Cells, or packets, in the port.
    pub queued: u32,
    /// Of what the buffer counts, the part that is the VC's.
    held: u32,
    /// Whether the last cell that arrived was not a last cell: the next one goes on with a frame.
    in_frame: bool,
    /// Why the frame that is arriving is being discarded.
    discarding: Option<DiscardReason>,
    /// Whether the last cell that was taken in was not a last cell: downstream waits for one.
    awaits_boundary: bool,
    /// Whether the frame that is arriving has lost a cell here.
    has_lost: bool,
    /// Of its cells, or packets.
    pub samples: QueueSamples,
}

impl VcAtPort {
    pub(crate) fn new(vc: u32, queue: usize) -> Self {
        VcAtPort {
            vc,
            queue,
            queued: 0,
            held: 0,
            in_frame: false,
            discarding: None,
            awaits_boundary: false,
            has_lost: false,
            samples: QueueSamples::default(),
        }
    }
}

/// What a port did with a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It took it in.
    Accepted,
    /// It did not.
    Discarded {
        /// Why.
        reason: DiscardReason,
        /// Whether it is the first cell that its frame loses here.
        is_first_loss: bool,
    },
}

/// A queue; the cell at its front may be under transmission and counts as queued until it has left.
#[derive(Debug)]
pub struct Queue {
    class: Option<ServiceClass>,
    capacity: u32,
    /// Whether what the buffer counts is octets.
    counts_octets: bool,
    policy: Policy,
    pub(crate) cells: Line,
    /// X: what is in the buffer, in what it counts: cells, packets or octets.
    held: u32,
    pub(crate) active_vcs: u32,
    /// Sum of the policy's weights of those VCs.
    active_weight: u64,
    last_departure: Option<SimTime>,
    pub(crate) arrived: u64,
    /// Cells, or packets, that have left.
    pub departed: u64,
    pub(crate) discarded: Discards,
    pub(crate) frames_discarded: Discards,
    pub(crate) integral: QueueIntegral,
    queue_max: u32,
    /// Of its length.
    pub samples: QueueSamples,
}

impl Queue {
    /// The queue that `spec` describes, at the port of `link`.
    pub(crate) fn new(spec: &QueueSpec, link: &LinkSpec, seed: u64) -> Self {
        let owner = link.port.name_of(spec, &link.name);
        Queue {
            class: spec.class,
            capacity: spec.capacity_cells.unwrap_or(u32::MAX),
            counts_octets: spec.counts_octets,
            policy: Policy::new(&spec.policy, seed, &owner),
            cells: Line::new(&link.port.scheduler),
            held: 0,
            active_vcs: 0,
            active_weight: 0,
            last_departure: None,
            arrived: 0,
            departed: 0,
            discarded: Discards::default(),
            frames_discarded: Discards::default(),
            integral: QueueIntegral::default(),
            queue_max: 0,
            samples: QueueSamples::default(),
        }
    }

    /// Cells, or packets, in the queue.
    pub fn queued(&self) -> u32 {
        self.cells.len() as u32
    }

    /// What a cell, or a packet, takes of the buffer.
    fn amount(&self, cell: &Cell) -> u32 {
        if self.counts_octets { cell.octets } else { 1 }
    }

    /// A cell of `vc` arrives from a link or from a cell source.
    pub(crate) fn on_cell(&mut self, now: SimTime, cell: Cell, vc: &mut VcAtPort) -> Verdict {
        self.arrived += 1;
        self.integral.arrived(u128::from(now.0));
        if cell.rm.is_some() {
            return self.on_rm_cell(now, cell, vc);
        }
        if !vc.in_frame {
            self.begin_frame(now, vc, cell.is_last, cell.is_tagged);
        }
        let has_room = self.held < self.capacity;
        let keeps_last = self.policy.keeps_last_cells();
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
            return self.discard(now, vc, reason, 1);
        }
        self.take_in(cell, vc);
        Verdict::Accepted
    }

    /// An RM cell, between the cells of a frame or not: no policy looks at it, and it is taken in where
    /// there is room.
    fn on_rm_cell(&mut self, now: SimTime, cell: Cell, vc: &mut VcAtPort) -> Verdict {
        if self.held < self.capacity {
            self.take_in(cell, vc);
            return Verdict::Accepted;
        }
        self.discarded.add(DiscardReason::Overflow, 1);
        self.integral.departed(u128::from(now.0));
        Verdict::Discarded {
            reason: DiscardReason::Overflow,
            is_first_loss: false,
        }
    }

    /// Whether a cell may be sent now.
    pub(crate) fn is_ready(&self, now: SimTime) -> bool {
        self.cells.is_ready(now)
    }

    /// The transmission of the next cell begins, which may be sent now. An RM cell that its source has made
    /// for the moment comes to the queue with it, whether there is room or not.
    pub(crate) fn begin_service(&mut self, now: SimTime, vcs: &mut [VcAtPort]) {
        if let Some((cell, place)) = self.cells.begin_service(now) {
            self.arrived += 1;
            self.integral.arrived(u128::from(now.0));
            self.count_in(&cell, &mut vcs[place as usize]);
            self.queue_max = self.queue_max.max(self.queued());
        }
    }

    /// A whole frame of `cells` cells arrives at once, from a host or a router: all of it is taken in,
    /// or nothing. `make` gives the cell of an index.
    pub(crate) fn on_frame(
        &mut self,
        now: SimTime,
        vc: &mut VcAtPort,
        cells: u32,
        make: impl Fn(u32) -> Cell,
    ) -> Verdict {
        self.arrived += u64::from(cells);
        self.integral.arrived(u128::from(now.0) * u128::from(cells));
        self.begin_frame(now, vc, cells == 1, false);
        let refused = vc.discarding.take();
        let amount = u64::from(self.amount(&make(0))) * u64::from(cells);
        let has_room = u64::from(self.held) + amount <= u64::from(self.capacity);
        let reason = refused.or((!has_room).then_some(DiscardReason::Overflow));
        if let Some(reason) = reason {
            return self.discard(now, vc, reason, cells);
        }
        (0..cells).for_each(|index| self.take_in(make(index), vc));
        Verdict::Accepted
    }

    /// The cell at the front, which is `cell`, leaves; it belongs to `vc`.
    pub(crate) fn on_departure(&mut self, now: SimTime, cell: &Cell, vc: &mut VcAtPort) {
        self.cells.pop();
        let amount = self.amount(cell);
        self.held -= amount;
        vc.held -= amount;
        self.departed += 1;
        self.last_departure = Some(now);
        self.integral.departed(u128::from(now.0));
        vc.queued -= 1;
        if vc.queued == 0 {
            self.active_vcs -= 1;
            self.active_weight -= self.policy.weight(vc.vc);
        }
    }

    /// What the queue has counted when the run ends at `end`.
    pub(crate) fn record(&self, end: SimTime) -> ClassQueueRecord {
        let mean = self.integral.mean(u64::from(self.queued()), end.0);
        ClassQueueRecord {
            class: self.class.map(ServiceClass::name),
            arrived: self.arrived,
            departed: self.departed,
            queued: u64::from(self.queued()),
            discarded: self.discarded,
            frames_discarded: self.frames_discarded,
            queue: QueueRecord::new(mean, self.queue_max, &self.samples),
        }
    }

    /// The first cell of a frame, of a frame of one cell if `is_last`: the policy decides.
    fn begin_frame(&mut self, now: SimTime, vc: &mut VcAtPort, is_last: bool, is_tagged: bool) {
        let view = BufferView {
            queued: self.held,
            vc_queued: vc.held,
            active_vcs: self.active_vcs,
            active_weight: self.active_weight,
            now_ps: now.0,
            departed: self.departed,
            idle_since_ps: self
                .last_departure
                .filter(|_| self.cells.is_empty())
                .map(|t| t.0),
            is_tagged,
            capacity: self.capacity,
        };
        vc.discarding = if is_last && self.policy.keeps_last_cells() {
            None
        } else {
            self.policy.on_frame(vc.vc, &view)
        };
        vc.has_lost = false;
    }

    fn discard(
        &mut self,
        now: SimTime,
        vc: &mut VcAtPort,
        reason: DiscardReason,
        cells: u32,
    ) -> Verdict {
        self.discarded.add(reason, u64::from(cells));
        // A discarded cell spends no time in the queue.
        self.integral
            .departed(u128::from(now.0) * u128::from(cells));
        let is_first_loss = !std::mem::replace(&mut vc.has_lost, true);
        if is_first_loss {
            self.frames_discarded.add(reason, 1);
        }
        Verdict::Discarded {
            reason,
            is_first_loss,
        }
    }

    fn take_in(&mut self, cell: Cell, vc: &mut VcAtPort) {
        self.count_in(&cell, vc);
        self.cells.push(vc.vc, cell);
        self.queue_max = self.queue_max.max(self.queued());
    }

    fn count_in(&mut self, cell: &Cell, vc: &mut VcAtPort) {
        if cell.rm.is_none() {
            vc.awaits_boundary = !cell.is_last;
        }
        if vc.queued == 0 {
            self.active_vcs += 1;
            self.active_weight += self.policy.weight(vc.vc);
        }
        let amount = self.amount(cell);
        self.held += amount;
        vc.held += amount;
        vc.queued += 1;
        self.policy.on_taken_in(vc.vc, amount);
    }
}
