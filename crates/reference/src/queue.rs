//! A queue of an output port: its buffer, its policy, and what it counts.

use crate::frames::Cell;
use crate::line::Line;
use crate::shares::Shares;
use skycell_records::{
    CellDelays, ClassQueueRecord, DiscardReason, Discards, PacketMeter, QueueIntegral, QueueRecord,
    QueueSamples,
};
use skycell_spec::{LinkSpec, QueueSpec, ServiceClass};
use skycell_switch::{AckFilter, BufferView, Decision, Departures, Policy, PureAck};
use skycell_units::{Ecn, PortVc, SimTime};

/// One VC as the port sees it.
#[derive(Clone, Debug)]
pub struct VcAtPort {
    /// VC id.
    pub vc: u32,
    /// Place of the queue that its cells join.
    pub(crate) queue: usize,
    /// Cells, or packets, in the port.
    pub queued: u32,
    /// True if the last arrived cell was not a last cell: the next one continues a frame.
    in_frame: bool,
    /// Why the frame that is arriving is being discarded.
    discarding: Option<DiscardReason>,
    /// True if the last accepted cell was not a last cell: downstream waits for one.
    awaits_eom: bool,
    /// True if the arriving frame has lost a cell here.
    has_lost: bool,
    /// Of its cells, or packets.
    pub samples: QueueSamples,
    /// How long its cells stayed, if that is recorded.
    pub(crate) stays: Option<CellDelays>,
}

impl VcAtPort {
    pub(crate) fn new(vc: u32, queue: usize, stays: Option<CellDelays>) -> Self {
        VcAtPort {
            vc,
            queue,
            queued: 0,
            in_frame: false,
            discarding: None,
            awaits_eom: false,
            has_lost: false,
            samples: QueueSamples::default(),
            stays,
        }
    }
}

/// The decision of a port on a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It took it in.
    Accepted,
    /// It did not.
    Discarded {
        /// Why.
        reason: DiscardReason,
        /// True if it is the first cell that its frame loses here.
        is_first_loss: bool,
    },
}

/// The decision on the cell that a queue is to send next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Service {
    /// Its transmission begins.
    Begins {
        /// True if it came without CE and was marked.
        is_marked: bool,
    },
    /// It has left the queue.
    Discarded(Cell, DiscardReason),
}

/// A queue; the cell at its front may be under transmission and counts as queued until it has left.
#[derive(Debug)]
pub struct Queue {
    class: Option<ServiceClass>,
    capacity: u32,
    /// True if the buffer counts octets.
    counts_octets: bool,
    policy: Policy,
    /// True if the policy decides about packets that are about to be sent.
    asks_at_departure: bool,
    pub(crate) cells: Line,
    /// True if shares are those of flows.
    by_flow: bool,
    /// True if the policy decides which queue within the buffer a packet joins.
    is_ordered_by_policy: bool,
    /// By index at the port of a VC at the port, or by flow: what it has in the buffer.
    shares: Shares,
    /// True if the cell at the front is under transmission.
    is_sending: bool,
    /// X: what is in the buffer, in what it counts: cells, packets or octets.
    held: u32,
    /// Octets of the packets in it; 0 where it holds cells.
    octets: u64,
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
    /// Counts in octets, if it is one of several packet queues.
    pub(crate) packets: Option<PacketMeter>,
    /// Filter of acknowledgements, if there is one.
    ack_filter: Option<AckFilter>,
}

impl Queue {
    /// The queue that `spec` describes, at the port of `link`.
    pub(crate) fn new(spec: &QueueSpec, link: &LinkSpec, seed: u64) -> Self {
        let owner = link.port.name_of(spec, &link.name);
        let by_flow = spec.by_flow || spec.policy.order().is_some();
        Queue {
            class: spec.class,
            capacity: spec.capacity_cells.unwrap_or(u32::MAX),
            counts_octets: spec.counts_octets,
            policy: Policy::new(&spec.policy, seed, &owner),
            asks_at_departure: spec.policy.needs().departures != Departures::Unseen,
            cells: Line::new(&link.port.scheduler, spec.policy.order()),
            by_flow,
            is_ordered_by_policy: spec.policy.order().is_some(),
            shares: Shares::new(by_flow),
            is_sending: false,
            held: 0,
            octets: 0,
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
            packets: (link.framing.is_some() && link.port.queues.len() > 1)
                .then(|| PacketMeter::new(false)),
            ack_filter: link.port.ack_filter.then(AckFilter::default),
        }
    }

    /// Cells, or packets, in the queue.
    pub fn queued(&self) -> u32 {
        self.cells.len() as u32
    }

    /// Returns the amount of the buffer that a cell, or a packet, takes.
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
            self.begin_frame(now, vc, &cell);
        }
        let has_room = self.held < self.capacity;
        let keeps_last = self.policy.keeps_last_cells();
        vc.in_frame = !cell.eom;
        let reason = match vc.discarding {
            // The boundary that downstream waits for, or that the policy keeps, although its frame
            // is lost.
            Some(_) if cell.eom && has_room && (vc.awaits_eom || keeps_last) => None,
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
        self.accept(cell, vc);
        Verdict::Accepted
    }

    /// An RM cell, between the cells of a frame or not: no policy looks at it, and it is accepted where
    /// there is room.
    fn on_rm_cell(&mut self, now: SimTime, cell: Cell, vc: &mut VcAtPort) -> Verdict {
        if self.held < self.capacity {
            self.accept(cell, vc);
            return Verdict::Accepted;
        }
        self.discarded.add(DiscardReason::Overflow, 1);
        self.integral.departed(u128::from(now.0));
        Verdict::Discarded {
            reason: DiscardReason::Overflow,
            is_first_loss: false,
        }
    }

    /// Returns whether a cell may be sent now.
    pub(crate) fn is_ready(&self, now: SimTime) -> bool {
        self.cells.is_ready(now)
    }

    /// A whole frame of `cells` cells of the VC at `port_vc` arrives at once, from a host or a router: all of it is
    /// accepted, or nothing. `make` gives the cell of an index. Whether it was marked, which had not come with CE,
    /// goes with the verdict.
    pub(crate) fn on_frame(
        &mut self,
        now: SimTime,
        vcs: &mut [VcAtPort],
        port_vc: PortVc,
        cells: u32,
        make: impl Fn(u32) -> Cell,
    ) -> (Verdict, bool) {
        let vc = &mut vcs[port_vc.index()];
        self.arrived += u64::from(cells);
        self.integral.arrived(u128::from(now.0) * u128::from(cells));
        let mut first = make(0);
        let decision = self.begin_frame(now, vc, &first);
        let is_marked = decision == Decision::Mark && first.ecn != Ecn::Ce;
        let refused = vc.discarding.take();
        let amount = u64::from(self.amount(&first)) * u64::from(cells);
        let has_room = u64::from(self.held) + amount <= u64::from(self.capacity);
        let reason = refused.or((!has_room).then_some(DiscardReason::Overflow));
        if let Some(reason) = reason {
            return (self.discard(now, vc, reason, cells), false);
        }
        if is_marked {
            first.ecn = Ecn::Ce;
        }
        let ecn = first.ecn;
        (0..cells).for_each(|index| {
            let cell = Cell { ecn, ..make(index) };
            self.accept(cell, vc);
        });
        (Verdict::Accepted, is_marked)
    }

    /// A whole frame of `cells` cells arrives and is discarded for `reason` before the policy has seen it.
    pub(crate) fn refuse(
        &mut self,
        now: SimTime,
        vc: &mut VcAtPort,
        reason: DiscardReason,
        cells: u32,
    ) -> Verdict {
        self.arrived += u64::from(cells);
        self.integral.arrived(u128::from(now.0) * u128::from(cells));
        vc.has_lost = false;
        self.discard(now, vc, reason, cells)
    }

    /// Pushes out the packets that have waited longest if the buffer is full and this makes room
    /// for the arriving packet; returns the first of them, as long as that helps.
    pub(crate) fn push_out(
        &mut self,
        now: SimTime,
        vcs: &mut [VcAtPort],
        arriving: &Cell,
    ) -> Option<(Cell, DiscardReason)> {
        if !self.policy.pushes_out() {
            return None;
        }
        let amount = self.amount(arriving);
        let fits = |held: u32| u64::from(held) + u64::from(amount) <= u64::from(self.capacity);
        if fits(self.held) {
            return None;
        }
        let sending = self.cells.front().filter(|_| self.is_sending);
        if !fits(sending.map_or(0, |cell| self.amount(cell))) {
            return None;
        }
        let queue = self.queue_of(arriving);
        let cell = self.cells.pop_waiting(self.is_sending, arriving, queue)?;
        self.take_out(now, &cell, &mut vcs[cell.port_vc.index()]);
        Some(self.count_discard(cell, DiscardReason::PushedOut))
    }

    /// A packet comes: whether it may take the place of another for what it acknowledges, and another its place.
    pub(crate) fn look_at_ack(&mut self, packet: &Cell) -> Option<PureAck> {
        let filter = self.ack_filter.as_mut()?;
        filter.on_ack(packet.flow, packet.ack?)
    }

    /// Gives the place of the last waiting packet of its flow to `arriving`, if that packet
    /// acknowledges less and nothing is lost with it; returns that packet. The buffer holds as much
    /// as before, and the policy is not asked.
    pub(crate) fn filter_ack(
        &mut self,
        now: SimTime,
        vcs: &mut [VcAtPort],
        arriving: Cell,
    ) -> Option<(Cell, DiscardReason)> {
        let newer = arriving.ack?;
        let queue = self.queue_of(&arriving);
        let older = self
            .cells
            .last_waiting(self.is_sending, queue, arriving.flow)?;
        if !older.ack.is_some_and(|ack| newer.replaces(&ack)) || older.octets != arriving.octets {
            return None;
        }
        let older = std::mem::replace(older, arriving);
        self.take_out(now, &older, &mut vcs[older.port_vc.index()]);
        self.arrived += 1;
        self.integral.arrived(u128::from(now.0));
        self.count_in(&arriving, &mut vcs[arriving.port_vc.index()]);
        Some(self.count_discard(older, DiscardReason::Filtered))
    }

    /// The transmission of the next cell begins, of which there is one, unless the policy discards it now:
    /// then it has left the queue, and this is why. An RM cell that its source has made for the moment comes to
    /// the queue with it, whether there is room or not.
    pub(crate) fn begin_service(&mut self, now: SimTime, vcs: &mut [VcAtPort]) -> Service {
        if let Some((cell, port_vc)) = self.cells.begin_service(now) {
            self.arrived += 1;
            self.integral.arrived(u128::from(now.0));
            self.count_in(&cell, &mut vcs[port_vc.index()]);
            self.queue_max = self.queue_max.max(self.queued());
        }
        self.is_sending = true;
        let Some(cell) = self
            .cells
            .front()
            .copied()
            .filter(|_| self.asks_at_departure)
        else {
            self.cells.on_sending();
            return Service::Begins { is_marked: false };
        };
        let with_it = self.view(now, &cell);
        let octets = self.octets - u64::from(cell.octets);
        let behind = self.cells.behind().unwrap_or((self.queued() - 1, octets));
        let view = BufferView {
            queued: with_it.queued - self.amount(&cell),
            vc_queued: with_it.vc_queued - self.amount(&cell),
            octets,
            queue_packets: behind.0,
            queue_octets: behind.1,
            ..with_it
        };
        match self.policy.on_dequeue(self.number(&cell), &view) {
            Decision::Accept => {
                self.cells.on_sending();
                Service::Begins { is_marked: false }
            }
            Decision::Mark => {
                self.cells.on_sending();
                let is_marked = cell.ecn != Ecn::Ce;
                let front = self.cells.front_mut().expect("it is there");
                front.ecn = Ecn::Ce;
                Service::Begins { is_marked }
            }
            Decision::Discard(reason) => {
                self.is_sending = false;
                self.cells.pop();
                self.take_out(now, &cell, &mut vcs[cell.port_vc.index()]);
                let (cell, reason) = self.count_discard(cell, reason);
                Service::Discarded(cell, reason)
            }
        }
    }

    fn count_discard(&mut self, cell: Cell, reason: DiscardReason) -> (Cell, DiscardReason) {
        self.discarded.add(reason, 1);
        self.frames_discarded.add(reason, 1);
        (cell, reason)
    }

    /// The cell at the front, which is `cell`, leaves; it belongs to `vc`.
    pub(crate) fn on_departure(&mut self, now: SimTime, cell: &Cell, vc: &mut VcAtPort) {
        self.is_sending = false;
        self.cells.pop();
        self.take_out(now, cell, vc);
        self.departed += 1;
        self.last_departure = Some(now);
    }

    /// Returns the counters of the queue when the run ends at `end`.
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
            octets: self.packets.as_ref().map(|packets| packets.record(end.0)),
        }
    }

    /// `cell` is the first of a frame: the policy decides.
    fn begin_frame(&mut self, now: SimTime, vc: &mut VcAtPort, cell: &Cell) -> Decision {
        vc.has_lost = false;
        vc.discarding = None;
        if cell.eom && self.policy.keeps_last_cells() {
            return Decision::Accept;
        }
        let view = self.view(now, cell);
        let decision = self.policy.on_enqueue(self.number(cell), &view);
        vc.discarding = decision.refusal();
        decision
    }

    /// The number of the VC, or flow, that `cell` is counted with.
    fn number(&self, cell: &Cell) -> u32 {
        if self.by_flow { cell.flow } else { cell.vc }
    }

    /// Which queue within the buffer `cell` joins.
    fn queue_of(&self, cell: &Cell) -> u32 {
        match self.is_ordered_by_policy {
            true => self.policy.queue_of(cell.flow, cell.ecn),
            false => self.number(cell),
        }
    }

    /// Returns the policy's view of the buffer when it decides on `cell`.
    fn view(&self, now: SimTime, cell: &Cell) -> BufferView {
        BufferView {
            queued: self.held,
            vc_queued: self.shares.get(cell).held,
            active_vcs: self.active_vcs,
            active_weight: self.active_weight,
            now_ps: now.0,
            departed: self.departed,
            idle_since_ps: self
                .last_departure
                .filter(|_| self.cells.is_empty())
                .map(|t| t.0),
            clp: cell.clp,
            capacity: self.capacity,
            octets: self.octets,
            queue_octets: self.octets,
            queue_packets: self.queued(),
            packet_octets: cell.octets,
            ecn: cell.ecn,
            came_ps: cell.came_at.0,
        }
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

    fn accept(&mut self, cell: Cell, vc: &mut VcAtPort) {
        self.count_in(&cell, vc);
        self.cells.push(self.queue_of(&cell), cell);
        self.queue_max = self.queue_max.max(self.queued());
    }

    /// `cell` of `vc` is in the queue from now on.
    fn count_in(&mut self, cell: &Cell, vc: &mut VcAtPort) {
        if cell.rm.is_none() {
            vc.awaits_eom = !cell.eom;
        }
        let amount = self.amount(cell);
        self.held += amount;
        self.octets += u64::from(cell.octets);
        vc.queued += 1;
        if self.is_of_no_flow(cell) {
            return;
        }
        let number = self.number(cell);
        if self.shares.add(cell, amount) {
            self.active_vcs += 1;
            self.active_weight += self.policy.weight(number);
        }
        self.policy.on_accepted(number, amount);
    }

    /// Returns whether shares are those of flows and the cell, an RM cell, has none.
    fn is_of_no_flow(&self, cell: &Cell) -> bool {
        self.by_flow && cell.rm.is_some()
    }

    /// `cell` of `vc` is in the queue no more.
    fn take_out(&mut self, now: SimTime, cell: &Cell, vc: &mut VcAtPort) {
        let amount = self.amount(cell);
        if !self.is_of_no_flow(cell) && self.shares.take(cell, amount) {
            self.active_vcs -= 1;
            self.active_weight -= self.policy.weight(self.number(cell));
        }
        self.held -= amount;
        self.octets -= u64::from(cell.octets);
        self.integral.departed(u128::from(now.0));
        vc.queued -= 1;
    }
}
