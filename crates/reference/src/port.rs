//! An output port: its queues, the scheduler that chooses between them, and the link they feed.

use crate::abr::Pacer;
use crate::frames::Cell;
use crate::link::Link;
use crate::queue::{Queue, Service, VcAtPort};
use skycell_access::Waiting;
use skycell_des::Stream;
use skycell_records::{
    CellDelays, CellStayRecord, DiscardReason, Discards, LossReason, PacketMeter, PortRecord,
    QueueIntegral, QueueRecord, QueueSamples, Traces, VcQueueRecord,
};
use skycell_spec::{LinkSpec, RecordSpec, ServiceClass, TraceKind};
use skycell_switch::{Backlog, Decision, PacketPolicer, Scheduler, Schedules, TokenBucket};
use skycell_units::{CELL_OCTETS, Ecn, FrameId, PortVc, SimTime};

pub use crate::queue::Verdict;

/// Slots of an uplink that a port may use.
#[derive(Clone, Copy, Debug)]
struct Granted {
    /// Cells that it may still send in the slot under way.
    cells: u32,
    /// True if they are lost on the way.
    is_lost: bool,
}

/// An output port and its link.
#[derive(Debug)]
pub struct Port {
    /// Time during which cells were under transmission that have left since.
    sent_for: SimTime,
    /// Range of the wait before a frame, and the stream it is drawn from.
    frame_gap: u64,
    gap_stream: Stream,
    /// By index at the port.
    pub queues: Vec<Queue>,
    scheduler: Scheduler,
    /// Slots that it may send in, if it is a terminal's port on an uplink.
    granted: Option<Granted>,
    /// Policer of arriving packets, if there is one.
    policer: Option<PacketPolicer>,
    /// Shaper of packets that were chosen, if there is one.
    shaper: Option<TokenBucket>,
    /// The queue whose first cell is under transmission, while the port has cells.
    sending: usize,
    /// When that transmission began, or will after the wait before its frame.
    sending_since: SimTime,
    /// True if a cell is under transmission, or held for want of a path.
    is_busy: bool,
    /// The queue that holds class abr.
    abr_queue: Option<usize>,
    /// By index at the port.
    pub vcs: Vec<VcAtPort>,
    /// The link behind it.
    pub link: Link,
    /// Of all its queues together.
    pub samples: QueueSamples,
    /// Counts in octets, if it carries packets.
    packets: Option<PacketMeter>,
    /// True if it reports how long the cells of its VCs stay.
    reports_stays: bool,
    /// Units that it had accepted and has discarded, and why, until the caller takes them.
    pub discarded: Vec<(Cell, DiscardReason)>,
}

/// The fate of a cell that has left its port.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// The cell and why it is lost, or will be on the link, if it is.
    pub lost: Option<(Cell, LossReason)>,
    /// Its frame, if it goes on with bit errors in its payload.
    pub errored: Option<FrameId>,
}

impl Port {
    /// The port of the link that `spec` describes, in a run with `seed`.
    pub fn new(spec: &LinkSpec, seed: u64, end_of_run: SimTime) -> Self {
        let queues = spec.port.queues.iter();
        Port {
            sent_for: SimTime::ZERO,
            frame_gap: spec.port.frame_gap_ps,
            gap_stream: Stream::new(seed, &format!("port/{}/gap", spec.name)),
            queues: queues.map(|queue| Queue::new(queue, spec, seed)).collect(),
            scheduler: Scheduler::new(&spec.port.scheduler),
            granted: None,
            policer: spec.port.policer.as_ref().map(PacketPolicer::new),
            shaper: spec.port.shaper.as_ref().map(TokenBucket::new),
            sending: 0,
            sending_since: SimTime::ZERO,
            is_busy: false,
            abr_queue: spec.port.queue_of(ServiceClass::Abr),
            vcs: Vec::new(),
            link: Link::new(spec, seed, end_of_run),
            samples: QueueSamples::default(),
            packets: spec.framing.map(|_| PacketMeter::new(false)),
            reports_stays: false,
            discarded: Vec::new(),
        }
    }

    /// It tells from now on, before VCs cross it, how long their cells stay.
    pub fn report_stays(&mut self) {
        self.reports_stays = true;
    }

    /// Adds VC `vc` of `class` to the port that `spec` describes; returns its index there.
    pub fn add_vc(&mut self, vc: u32, class: ServiceClass, spec: &LinkSpec) -> PortVc {
        let queue = spec.port.queue_of(class).expect("a class has a queue");
        let stays = self.reports_stays.then(|| CellDelays::new(0));
        self.vcs.push(VcAtPort::new(vc, queue, stays));
        PortVc(self.vcs.len() as u32 - 1)
    }

    /// It tells from now on, as the run begins, how long packets stay flow by flow; it carries packets.
    pub fn report_flows(&mut self) {
        self.packets = Some(PacketMeter::new(true));
    }

    /// Cells in the port.
    pub fn queued(&self) -> u32 {
        self.queues.iter().map(Queue::queued).sum()
    }

    /// Octets of the packets in the port, or of its cells.
    pub fn octets(&self) -> u64 {
        let of_cells = u64::from(self.queued()) * CELL_OCTETS;
        self.packets.as_ref().map_or(of_cells, PacketMeter::queued)
    }

    /// Returns whether a cell is under transmission, or held for want of a path.
    pub fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// Cells in the queue of class abr.
    pub(crate) fn abr_queued(&self) -> u32 {
        self.abr_queue
            .map_or(0, |queue| self.queues[queue].queued())
    }

    /// Returns the pacer of the VC at `port_vc`, and of others in its queue.
    pub(crate) fn pacer_of(&mut self, port_vc: PortVc) -> &mut Pacer {
        let queue = self.vcs[port_vc.index()].queue;
        self.queues[queue].cells.pace()
    }

    /// When a cell that waits for its pace may be sent, if that is all that is missing.
    pub(crate) fn wake(&self, now: SimTime) -> Option<SimTime> {
        let pacers = self.queues.iter().filter_map(|queue| queue.cells.pacer());
        pacers.filter_map(|pacer| pacer.wake(now)).min()
    }

    /// It sends in slots only, in that under way `cells` cells, which are lost on the way or not.
    pub(crate) fn grant(&mut self, cells: u32, is_lost: bool) {
        self.granted = Some(Granted { cells, is_lost });
    }

    /// Returns the cells that wait in it when a slot begins, in which it sends nothing yet.
    pub(crate) fn waiting(&self, now: SimTime) -> Waiting {
        let first = self.queues.iter().filter_map(|queue| queue.cells.front());
        Waiting {
            cells: self.queued(),
            since: first.map(|cell| cell.came_at).min().unwrap_or(now),
            arrived: self.queues.iter().map(|queue| queue.arrived).sum(),
            is_cut_off: self.link.may_send_from(now) > now,
        }
    }

    /// Time during which a cell was under transmission, up to `end`.
    pub fn busy(&self, end: SimTime) -> SimTime {
        let sending = if self.is_busy {
            end.since(self.sending_since)
        } else {
            SimTime::ZERO
        };
        self.sent_for + sending
    }

    /// A cell of the VC at `port_vc` arrives from a link or from a cell source.
    pub fn on_cell(&mut self, now: SimTime, mut cell: Cell, port_vc: PortVc) -> Verdict {
        cell.port_vc = port_vc;
        let vc = &mut self.vcs[port_vc.index()];
        self.queues[vc.queue].on_cell(now, cell, vc)
    }

    /// A whole frame of `cells` cells arrives at once, from a host or a router: all of it is accepted,
    /// or nothing. `make` gives the cell of an index.
    pub fn on_frame(
        &mut self,
        now: SimTime,
        port_vc: PortVc,
        cells: u32,
        make: impl Fn(u32) -> Cell,
    ) -> Verdict {
        let first = make(0);
        let policing = self.policer.as_mut().map_or(Decision::Accept, |policer| {
            policer.on_packet(now, first.octets, first.ecn)
        });
        let is_policed_with_ce = policing == Decision::Mark && first.ecn != Ecn::Ce;
        let make = |index| {
            let own = make(index);
            let ecn = match policing {
                Decision::Mark => Ecn::Ce,
                Decision::Accept | Decision::Discard(_) => own.ecn,
            };
            Cell {
                port_vc,
                ecn,
                ..own
            }
        };
        let queue = &mut self.queues[self.vcs[port_vc.index()].queue];
        if let Some(reason) = policing.refusal() {
            for packets in self.packets.iter_mut().chain(&mut queue.packets) {
                packets.on_arrival(now.0, first.octets, first.ecn, false);
            }
            return queue.refuse(now, &mut self.vcs[port_vc.index()], reason, cells);
        }
        let ack = queue.look_at_ack(&first);
        let make = |index| Cell { ack, ..make(index) };
        if let Some((older, reason)) = queue.filter_ack(now, &mut self.vcs, make(0)) {
            for packets in self.packets.iter_mut().chain(&mut queue.packets) {
                packets.on_discard(now.0, older.octets, older.ecn);
                packets.on_arrival(now.0, first.octets, first.ecn, true);
                if is_policed_with_ce {
                    packets.on_mark();
                }
            }
            self.discarded.push((older, reason));
            return Verdict::Accepted;
        }
        while let Some((cell, reason)) = queue.push_out(now, &mut self.vcs, &first) {
            for packets in self.packets.iter_mut().chain(&mut queue.packets) {
                packets.on_discard(now.0, cell.octets, cell.ecn);
            }
            self.discarded.push((cell, reason));
        }
        let (verdict, is_marked) = queue.on_frame(now, &mut self.vcs, port_vc, cells, make);
        let is_accepted = verdict == Verdict::Accepted;
        for packets in self.packets.iter_mut().chain(&mut queue.packets) {
            packets.on_arrival(now.0, first.octets, first.ecn, is_accepted);
            if is_marked || is_accepted && is_policed_with_ce {
                packets.on_mark();
            }
        }
        verdict
    }

    /// Chooses the next cell and begins to send it, if there is one; returns when its last bit will
    /// leave. What a policy discards before it is among `discarded`.
    pub fn begin_sending(&mut self, now: SimTime) -> Option<SimTime> {
        self.begin_sending_routed(now, |_, ready| ready)
    }

    /// As [`Port::begin_sending`], but the transmission of a cell that is ready at a time begins when `routed`
    /// says: its node may have no route for it before.
    pub fn begin_sending_routed(
        &mut self,
        now: SimTime,
        routed: impl FnOnce(&Cell, SimTime) -> SimTime,
    ) -> Option<SimTime> {
        if self.granted.is_some_and(|granted| granted.cells == 0) {
            return None;
        }
        let chosen = self.choose(now).copied();
        if let Some(granted) = &mut self.granted {
            // What comes later in a slot with nothing to send does not send in it.
            granted.cells = chosen.as_ref().map_or(0, |_| granted.cells - 1);
        }
        let cell = chosen?;
        let (octets, vc) = (cell.octets, cell.vc);
        let begins_frame = cell.index == 0 && !cell.is_paced && self.granted.is_none();
        self.is_busy = true;
        let gap = if begins_frame && self.frame_gap > 0 {
            self.gap_stream.uniform(0, self.frame_gap)
        } else {
            0
        };
        let ready = now + SimTime(gap);
        let bucket = self.shaper.as_ref();
        let shaped = bucket.map_or(ready, |bucket| bucket.may_send_from(ready, octets));
        self.sending_since = match self.granted {
            // There was a path as the slot began: its burst takes it as a cell does.
            Some(_) => now,
            None => routed(&cell, self.link.may_send_from(shaped)),
        };
        if let Some(bucket) = &mut self.shaper {
            bucket.on_sending(self.sending_since, octets);
        }
        // Without a path to the end of the run the cell stays where it is.
        (self.sending_since != SimTime::NEVER)
            .then(|| self.sending_since + self.link.unit_time(self.sending_since, octets, vc))
    }

    /// The cell whose transmission begins.
    fn choose(&mut self, now: SimTime) -> Option<&Cell> {
        loop {
            let has_cells = self.queues.iter().map(|queue| queue.is_ready(now));
            let backlog = has_cells
                .zip(0..)
                .fold(0, |bits, (has, q)| bits | u32::from(has) << q);
            if backlog == 0 {
                return None;
            }
            self.sending = self.scheduler.select(Backlog(backlog));
            let queue = &mut self.queues[self.sending];
            let service = queue.begin_service(now, &mut self.vcs);
            let meters = self.packets.iter_mut().chain(&mut queue.packets);
            match service {
                Service::Begins { is_marked } => {
                    meters.filter(|_| is_marked).for_each(PacketMeter::on_mark);
                    return self.queues[self.sending].cells.front();
                }
                Service::Discarded(cell, reason) => {
                    meters.for_each(|own| own.on_discard(now.0, cell.octets, cell.ecn));
                    self.discarded.push((cell, reason));
                }
            }
        }
    }

    /// The cell under transmission, and when its transmission began or will; there is one.
    pub fn sending(&self) -> (&Cell, SimTime) {
        let cell = self.queues[self.sending].cells.front();
        let cell = cell.expect("a cell is under transmission");
        (cell, self.sending_since)
    }

    /// The last bit of the cell under transmission leaves: it is on the link now. `serial` is the number of
    /// its frame in the run, and `to` the node that the link leads to; the cell is lost where its node has forgotten its VC.
    pub fn on_departure(&mut self, now: SimTime, serial: u64, to: Option<u32>) -> Departure {
        let cell = self.leave(now);
        let (lost, is_errored) = match to {
            None => (Some(LossReason::OffPath), false),
            Some(_) if self.granted.is_some_and(|granted| granted.is_lost) => {
                (Some(LossReason::Drawn), false)
            }
            Some(to) => self.link.enter((self.sending_since, now), to, cell, serial),
        };
        Departure {
            lost: lost.map(|reason| (cell, reason)),
            errored: is_errored.then_some(cell.frame),
        }
    }

    /// The last bit of the cell under transmission leaves, which is returned.
    pub fn leave(&mut self, now: SimTime) -> Cell {
        self.sent_for += now - self.sending_since;
        self.is_busy = false;
        let queue = &mut self.queues[self.sending];
        let mut cell = *queue.cells.front().expect("a departing cell is queued");
        queue.on_departure(now, &cell, &mut self.vcs[cell.port_vc.index()]);
        for packets in self.packets.iter_mut().chain(&mut queue.packets) {
            packets.on_departure(now.0, cell.octets, cell.ecn, cell.flow, cell.came_at.0);
        }
        if let Some(stays) = &mut self.vcs[cell.port_vc.index()].stays {
            stays.add((now - cell.came_at).0);
        }
        if cell.hop == 0 {
            cell.left_at = now;
        }
        cell
    }

    /// What is in the port: VCs with packets, one each, or with numbers of cells.
    pub fn queued_by_vc(&self) -> impl Iterator<Item = (u32, u32)> {
        let carries_packets = self.packets.is_some();
        let queues = self.queues.iter().filter(move |_| carries_packets);
        let packets = queues.flat_map(|queue| queue.cells.packets().map(|cell| (cell.vc, 1)));
        let vcs = self.vcs.iter().filter(move |_| !carries_packets);
        packets.chain(vcs.map(|vc| (vc.vc, vc.queued)))
    }

    /// Samples the queues of the port, which has this id, as far as `records` asks for that.
    pub fn sample(&mut self, id: u32, now: SimTime, records: &RecordSpec, traces: &mut Traces) {
        let cells = self.queued();
        self.samples.add(cells);
        if records.traces.contains(&TraceKind::Queue) {
            traces.queue.push(id, now.0, cells, self.octets());
        }
        if self.queues.len() == 1 {
            return;
        }
        for (queue, port_vc) in self.queues.iter_mut().zip(0u32..) {
            queue.samples.add(queue.queued());
            if records.traces.contains(&TraceKind::Service) {
                let (sent, held) = (queue.departed, queue.queued());
                traces.service.push(id, port_vc, now.0, sent, held);
            }
        }
    }

    /// Samples how much every VC has in the port, which has this id.
    pub fn sample_vcs(&mut self, id: u32, now: SimTime, records: &RecordSpec, traces: &mut Traces) {
        for vc in &mut self.vcs {
            vc.samples.add(vc.queued);
            if records.traces.contains(&TraceKind::VcQueue) {
                traces.vc_queue.push(id, vc.vc, now.0, vc.queued);
            }
        }
    }

    /// Returns the counters of the port when the run ends at `end`.
    pub fn record(&self, name: &str, end: SimTime, has_vc_samples: bool) -> PortRecord {
        let queues: Vec<_> = self.queues.iter().map(|queue| queue.record(end)).collect();
        let sum = |of: fn(&Queue) -> u64| self.queues.iter().map(of).sum();
        let all = |of: fn(&Queue) -> &Discards| {
            self.queues
                .iter()
                .map(of)
                .fold(Discards::default(), Discards::and)
        };
        let integral = self.queues.iter().map(|queue| queue.integral);
        let integral = integral.fold(QueueIntegral::default(), QueueIntegral::and);
        let queued = u64::from(self.queued());
        // Of several queues the sum, which is reached if they are longest together.
        let max = queues.iter().map(|queue| queue.queue.max).sum();
        let sampled = self.vcs.iter().filter(|_| has_vc_samples);
        PortRecord {
            name: name.to_string(),
            arrived: sum(|queue| queue.arrived),
            departed: sum(|queue| queue.departed),
            queued,
            discarded: all(|queue| &queue.discarded),
            frames_discarded: all(|queue| &queue.frames_discarded),
            busy_ps: self.busy(end).0,
            queue: QueueRecord::new(integral.mean(queued, end.0), max, &self.samples),
            queues: if queues.len() > 1 { queues } else { Vec::new() },
            vc_queues: sampled
                .map(|vc| VcQueueRecord::new(vc.vc, &vc.samples))
                .collect(),
            octets: self.packets.as_ref().map(|packets| packets.record(end.0)),
            errors: self.link.errors(),
            stays: (self.vcs.iter())
                .filter_map(|vc| Some(CellStayRecord::new(vc.vc, vc.stays.as_ref()?)))
                .collect(),
        }
    }
}

#[cfg(test)]
#[path = "port_tests.rs"]
mod tests;
