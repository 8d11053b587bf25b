//! A host's or router's port: whole frames, back to back, in closed form from the moment they are handed over.
//!
//! A frame is accepted or discarded whole, and frames leave in the order of arrival. So a frame's departure is known when
//! it is accepted, and its stay is booked then. A unit is a cell, or the packet of a link of packets: the cells of a frame
//! leave one after the other, and each counts by itself.

use crate::burst::Burst;
use crate::link::lossy::LossyLink;
use packets::Packets;
use skycell_des::Stream;
use skycell_records::{DiscardReason, Discards, QueueIntegral, QueueSamples};
use skycell_spec::LinkSpec;
use skycell_switch::{BufferView, Decision, Policy};
use skycell_traffic::prefetch;
use skycell_units::{Ecn, FrameId, PortVc, SimTime};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

mod packets;
mod record;

/// What is handed over.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Handed {
    /// A frame of so many cells.
    Cells {
        cells: u32,
        /// True if it does not wait for a gap before it.
        is_paced: bool,
    },
    /// A packet, of the flow with that number.
    Packet { octets: u32, ecn: Ecn, flow: u32 },
}

impl Handed {
    /// Units that leave by themselves.
    fn units(self) -> u32 {
        match self {
            Handed::Cells { cells, .. } => cells,
            Handed::Packet { .. } => 1,
        }
    }
}

/// What becomes of an accepted frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    /// When its first bit leaves, and when its last one has left.
    pub(crate) start: SimTime,
    pub(crate) end: SimTime,
    /// True if it came without CE and was marked.
    pub(crate) is_marked: bool,
}

/// A frame that the port has accepted.
#[derive(Clone, Copy, Debug, Default)]
struct Sending {
    /// When its last bit has left.
    end: SimTime,
    /// Its cells, or the octets of a packet.
    size: u32,
    /// Index of its VC at the port.
    port_vc: PortVc,
}

/// A VC at the port.
#[derive(Clone, Debug, Default)]
struct SourceVc {
    /// VC id.
    vc: u32,
    /// Units in the port, and what they take of the buffer, those of the frame under transmission all counted: for policies
    /// and samples that look.
    queued: u32,
    held: u32,
    samples: QueueSamples,
    /// Units that have not left, after `finish`.
    remaining: u64,
}

/// Frames that are remembered where the port is.
const LATEST: usize = 2;

/// The parameters that ports of one kind share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kind {
    /// Of a link of cells.
    cell_time: u64,
    carries_packets: bool,
    frame_gap: u64,
    capacity: u32,
    /// True if the policy must be asked.
    may_refuse: bool,
    /// True if the policy or a sample looks at what VCs have in the port.
    counts_vcs: bool,
    /// True if the policy observes transmissions of packets as they begin.
    is_observed: bool,
    /// Departures from here on are asked for at the end.
    kept_from: SimTime,
}

/// The port. What every frame of cells needs is in two lines of the cache, the rest elsewhere.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct SourcePort {
    kind: Arc<Kind>,
    arrived: u64,
    /// Sum of the times that units stay.
    stayed: u128,
    /// When the last frame will have left.
    free_at: SimTime,
    /// The two frames that were accepted last, if `remembered`, the older one first.
    latest: [Sending; LATEST],
    /// Frames that are remembered: those two, and the ones before them.
    remembered: u32,
    /// Of those, the ones that have wholly left.
    left: u32,
    /// Units of the others.
    queued: u32,
    queue_max: u32,
    gap_stream: Stream,
    rest: Box<ColdPort>,
}

/// Checks the cache lines described above; `look` reads one field of each.
const _: () = {
    use std::mem::{offset_of, size_of};
    assert!(offset_of!(SourcePort, arrived) < 64 && offset_of!(SourcePort, queue_max) >= 64);
    assert!(size_of::<SourcePort>() == 128);
};

/// The state that a frame of cells does not need if an idle port accepts it.
#[derive(Debug)]
struct ColdPort {
    /// The frames remembered before the latest, in order; what it holds where those are all is forgotten.
    older: VecDeque<Sending>,
    policy: Policy,
    /// The link behind the port, if that loses frames.
    lossy: Option<LossyLink>,
    /// Of a link of packets.
    packets: Option<Packets>,
    vcs: Vec<SourceVc>,
    active_vcs: u32,
    /// Sum of the policy's weights of those VCs.
    active_weight: u64,
    /// Units that left, after `finish`.
    departed: u64,
    /// Of the queue, after `finish`.
    integral: QueueIntegral,
    discarded: Discards,
    frames_discarded: Discards,
    samples: QueueSamples,
}

impl ColdPort {
    /// A frame of so many units of the VC at `port_vc` comes, which take so much of the buffer.
    fn enters(&mut self, port_vc: PortVc, units: u32, held: u32) {
        let vc = &mut self.vcs[port_vc.index()];
        if vc.queued == 0 {
            self.active_vcs += 1;
            self.active_weight += self.policy.weight(vc.vc);
        }
        vc.queued += units;
        vc.held += held;
    }

    /// It has left.
    fn leaves(&mut self, port_vc: PortVc, units: u32, held: u32) {
        let vc = &mut self.vcs[port_vc.index()];
        vc.queued -= units;
        vc.held -= held;
        if vc.queued == 0 {
            self.active_vcs -= 1;
            self.active_weight -= self.policy.weight(vc.vc);
        }
    }

    /// What belongs to a port of packets.
    fn packets(&mut self) -> &mut Packets {
        self.packets.as_mut().expect("the link carries packets")
    }
}

impl SourcePort {
    /// The port of `link` in a run that ends at `end`; `is_by_flow` asks for stays of packets flow by flow, and `samples_vcs`
    /// for samples of each VC.
    pub(crate) fn new(
        link: &LinkSpec,
        (seed, end): (u64, SimTime),
        (is_by_flow, samples_vcs): (bool, bool),
    ) -> Self {
        let queue = &link.port.queues[0];
        let policy = Policy::new(&queue.policy, seed, &link.name);
        let packets = Packets::of(link, end, is_by_flow);
        let counts_vcs = policy.needs().vcs || samples_vcs;
        let is_observed = packets.as_ref().is_some_and(Packets::is_observed);
        SourcePort {
            kind: Arc::new(Kind {
                cell_time: link.cell_time_ps,
                carries_packets: packets.is_some(),
                frame_gap: link.port.frame_gap_ps,
                capacity: queue.capacity_cells.unwrap_or(u32::MAX),
                may_refuse: !policy.takes_all(),
                counts_vcs,
                is_observed,
                kept_from: end,
            }),
            arrived: 0,
            stayed: 0,
            free_at: SimTime::ZERO,
            latest: [Sending::default(); LATEST],
            remembered: 0,
            left: 0,
            queued: 0,
            queue_max: 0,
            gap_stream: Stream::new(seed, &format!("port/{}/gap", link.name)),
            rest: Box::new(ColdPort {
                older: VecDeque::new(),
                policy,
                lossy: None,
                packets,
                vcs: Vec::new(),
                active_vcs: 0,
                active_weight: 0,
                departed: 0,
                integral: QueueIntegral::default(),
                discarded: Discards::default(),
                frames_discarded: Discards::default(),
                samples: QueueSamples::default(),
            }),
        }
    }

    /// The wait before the next frame.
    fn draw_gap(&mut self) -> u64 {
        match self.kind.frame_gap {
            0 => 0,
            below => self.gap_stream.uniform(0, below),
        }
    }

    /// Adds `vc`, which begins here; `delay` after they have left, its frames have no further effect on a run that ends at
    /// `end`.
    pub(crate) fn add_vc(&mut self, vc: u32, delay: SimTime, end: SimTime) -> PortVc {
        let kind = Arc::make_mut(&mut self.kind);
        kind.kept_from = kind.kept_from.min(end.since(delay));
        self.rest.vcs.push(SourceVc {
            vc,
            ..SourceVc::default()
        });
        PortVc(self.rest.vcs.len() as u32 - 1)
    }

    /// Makes the link behind the port lose frames, if the spec says so, once all VCs are there.
    pub(crate) fn lose_frames(&mut self, link: &LinkSpec, seed: u64) {
        let (vcs, late) = (self.rest.vcs.len(), self.kind.kept_from);
        self.rest.lossy = LossyLink::new(link, seed, vcs, late);
    }

    /// The link behind the port, if that loses frames.
    pub(crate) fn lossy(&self) -> Option<&LossyLink> {
        self.rest.lossy.as_ref()
    }

    /// Returns whether the link loses a frame of the VC at `port_vc` that has been accepted just now: `units` units leave it
    /// as `sent` says.
    pub(crate) fn loses(&mut self, sent: Sent, port_vc: PortVc, units: u32) -> bool {
        let Some(lossy) = &mut self.rest.lossy else {
            return false;
        };
        lossy.begin(port_vc, FrameId::default(), true);
        let is_lost = lossy.loses(port_vc, None);
        if is_lost {
            let spacing = SimTime((sent.end - sent.start).0 / u64::from(units));
            let entering = Burst::new(sent.start + spacing, spacing, units.into());
            lossy.note(port_vc, entering);
        }
        is_lost
    }

    /// Shares the common parameters of ports of one kind, once all have their VCs.
    pub(crate) fn share_kinds(ports: &mut [SourcePort]) {
        let mut known: HashSet<Arc<Kind>> = HashSet::new();
        for port in ports {
            match known.get(&port.kind) {
                Some(kind) => port.kind = kind.clone(),
                None => {
                    known.insert(port.kind.clone());
                }
            }
        }
    }

    /// Time that a cell takes, picoseconds.
    pub(crate) fn cell_time(&self) -> u64 {
        self.kind.cell_time
    }

    /// Asks for the lines of the cache that `offer` needs.
    pub(crate) fn prefetch(&self) {
        prefetch(&self.arrived);
        prefetch(&self.queue_max);
    }

    /// Offers a frame of the VC at `port_vc`; why it was refused, if it was.
    #[inline(always)]
    pub(crate) fn offer(
        &mut self,
        now: SimTime,
        port_vc: PortVc,
        frame: Handed,
    ) -> Result<Sent, DiscardReason> {
        self.settle(now);
        let units = frame.units();
        self.arrived += u64::from(units);
        let queued = self.queued(now);
        let (held, size) = match frame {
            Handed::Cells { cells, .. } => (queued, cells),
            Handed::Packet { octets, .. } => (self.held(queued), octets),
        };
        let takes = self.takes(size);
        let is_asked = self.kind.may_refuse && !(units == 1 && self.rest.policy.keeps_last_cells());
        let decision = match is_asked {
            true => self.decision(now, port_vc, (queued, held), frame),
            false => Decision::Accept,
        };
        let has_room = u64::from(held) + u64::from(takes) <= u64::from(self.kind.capacity);
        let refused = decision.refusal();
        if let Some(reason) = refused.or((!has_room).then_some(DiscardReason::Overflow)) {
            self.rest.discarded.add(reason, u64::from(units));
            self.rest.frames_discarded.add(reason, 1);
            if let Handed::Packet { octets, ecn, .. } = frame {
                self.rest.packets().on_refusal(now, octets, ecn);
            }
            return Err(reason);
        }
        let gap = match frame {
            Handed::Cells { is_paced: true, .. } => 0,
            _ => self.draw_gap(),
        };
        let start = self.free_at.max(now) + SimTime(gap);
        let (sending, is_marked) = match frame {
            Handed::Cells { cells, .. } => {
                self.free_at = start + SimTime(u64::from(cells) * self.kind.cell_time);
                (self.sending(cells.into()), false)
            }
            Handed::Packet { octets, ecn, flow } => {
                let is_marked = decision == Decision::Mark && ecn != Ecn::Ce;
                let packets = self.rest.packets();
                let time = packets.time(octets);
                self.free_at = start + time;
                let packet = (octets, ecn, flow);
                packets.on_acceptance((now, start, self.free_at), packet, is_marked);
                (time.0.into(), is_marked)
            }
        };
        self.remember(now, size, port_vc);
        if self.kind.may_refuse {
            let vc = self.rest.vcs[port_vc.index()].vc;
            self.rest.policy.on_accepted(vc, takes);
        }
        self.queued += units;
        if self.kind.counts_vcs {
            self.rest.enters(port_vc, units, takes);
        }
        let wait = u128::from((start - now).0) * u128::from(units);
        self.stayed += wait + sending;
        self.queue_max = self.queue_max.max(queued + units);
        if queued == 0 && self.kind.is_observed {
            self.begin_service(now);
        }
        Ok(Sent {
            start,
            end: self.free_at,
            is_marked,
        })
    }

    /// Remembers the frame of size `size` that was accepted just now. Those that are over are
    /// forgotten when the last one is, and when there is no more room for another.
    #[inline(always)]
    fn remember(&mut self, now: SimTime, size: u32, port_vc: PortVc) {
        let frame = Sending {
            end: self.free_at,
            size,
            port_vc,
        };
        let [before, last] = self.latest;
        self.latest = [last, frame];
        if self.is_over(&last, now) {
            (self.remembered, self.left) = (1, 0);
            return;
        }
        self.remembered += 1;
        if self.remembered as usize <= LATEST {
            return;
        }
        if self.remembered as usize == LATEST + 1 {
            self.rest.older.clear();
        } else if self.rest.older.len() == self.rest.older.capacity() {
            while self.left > 0
                && let Some(first) = self.rest.older.front()
                && self.is_over(first, now)
            {
                self.rest.older.pop_front();
                (self.remembered, self.left) = (self.remembered - 1, self.left - 1);
            }
        }
        self.rest.older.push_back(before);
    }

    /// Returns whether the frame has left, and its departure time is no longer needed.
    fn is_over(&self, frame: &Sending, now: SimTime) -> bool {
        frame.end < now && frame.end < self.kind.kept_from
    }

    /// The frame that was accepted `at`-th of those remembered.
    fn frame(&self, at: u32) -> Option<&Sending> {
        if at >= self.remembered {
            return None;
        }
        match (self.remembered - at) as usize {
            from_end @ ..=LATEST => Some(&self.latest[LATEST - from_end]),
            _ => self.rest.older.get(at as usize),
        }
    }

    /// All frames remembered, in order.
    fn frames(&self) -> impl DoubleEndedIterator<Item = &Sending> {
        (0..self.remembered).filter_map(|at| self.frame(at))
    }

    /// What the policy decides on a frame that comes now, to `queued` units that take `held` of the buffer.
    fn decision(
        &mut self,
        now: SimTime,
        port_vc: PortVc,
        (queued, held): (u32, u32),
        frame: Handed,
    ) -> Decision {
        // What came and was neither refused nor is still here has left.
        let departed = self.departed(queued) - u64::from(frame.units());
        let here = &self.rest.vcs[port_vc.index()];
        let (vc, vc_held) = (here.vc, here.held);
        let mut view = BufferView {
            queued: held,
            // It holds nothing where nobody counts.
            vc_queued: vc_held - self.sent_of(now, port_vc).min(vc_held),
            // A frame that has not wholly left keeps its VC active.
            active_vcs: self.rest.active_vcs,
            active_weight: self.rest.active_weight,
            now_ps: now.0,
            departed,
            idle_since_ps: (queued == 0 && departed > 0).then_some(self.free_at.0),
            clp: false,
            capacity: self.kind.capacity,
            ..BufferView::default()
        };
        if let Handed::Packet { octets, ecn, .. } = frame {
            view.octets = self.rest.packets().octets();
            (view.packet_octets, view.ecn) = (octets, ecn);
        }
        self.rest.policy.on_enqueue(vc, &view)
    }

    /// The transmission of the first packet begins, if there is one: for a policy that observes that.
    fn begin_service(&mut self, now: SimTime) {
        let rest = &*self.rest;
        let came = rest.packets.as_ref().and_then(Packets::first_came);
        let (Some(first), Some(came)) = (self.frame(self.left), came) else {
            return;
        };
        let (size, port_vc) = (first.size, first.port_vc);
        let octets = rest.packets.as_ref().map_or(0, Packets::octets);
        let view = BufferView {
            queued: self.held(self.queued) - self.takes(size),
            now_ps: now.0,
            departed: self.departed(self.queued),
            capacity: self.kind.capacity,
            octets: octets - u64::from(size),
            packet_octets: size,
            came_ps: came.0,
            ..BufferView::default()
        };
        let vc = rest.vcs[port_vc.index()].vc;
        let decision = self.rest.policy.on_dequeue(vc, &view);
        debug_assert_eq!(decision, Decision::Accept, "it observes");
    }

    /// What a frame takes of the buffer.
    fn takes(&self, size: u32) -> u32 {
        match self.kind.carries_packets {
            true => self.rest.packets.as_ref().map_or(0, |p| p.takes(size)),
            false => size,
        }
    }

    /// What `queued` units take of the buffer, which are all.
    fn held(&self, queued: u32) -> u32 {
        let packets = self.rest.packets.as_ref();
        packets.map_or(queued, |packets| packets.held(queued))
    }

    /// Units of a frame.
    fn units(&self, frame: &Sending) -> u32 {
        match self.kind.carries_packets {
            true => 1,
            false => frame.size,
        }
    }

    /// Units that have left where `queued` have not.
    fn departed(&self, queued: u32) -> u64 {
        self.arrived - self.rest.discarded.total() - u64::from(queued)
    }

    /// Sum of the times after which the first `count` cells of a frame have left, since its start.
    fn sending(&self, count: u64) -> u128 {
        u128::from(count * (count + 1) / 2) * u128::from(self.kind.cell_time)
    }

    /// When the first bit of `frame` leaves.
    fn start(&self, frame: &Sending) -> SimTime {
        let packets = self.rest.packets.as_ref();
        let of_cells = || SimTime(u64::from(frame.size) * self.kind.cell_time);
        frame.end - packets.map_or_else(of_cells, |packets| packets.time_of(frame.size))
    }

    /// Units of `frame` that have left by `now`, that instant included.
    fn departed_of(&self, frame: &Sending, now: SimTime) -> u32 {
        if self.kind.carries_packets {
            return u32::from(frame.end <= now);
        }
        let start = frame.end - SimTime(u64::from(frame.size) * self.kind.cell_time);
        (now.since(start).0 / self.kind.cell_time).min(u64::from(frame.size)) as u32
    }

    /// Sets the frames apart that have wholly left by `now`.
    #[inline(always)]
    fn settle(&mut self, now: SimTime) {
        if self.free_at <= now && !self.kind.counts_vcs && !self.kind.is_observed {
            // All have, and nobody asks which.
            (self.left, self.queued) = (self.remembered, 0);
            if self.kind.carries_packets {
                self.rest.packets().on_idle();
            }
            return;
        }
        while let Some(&frame) = self.frame(self.left)
            && frame.end <= now
        {
            let units = self.units(&frame);
            self.left += 1;
            self.queued -= units;
            if self.kind.counts_vcs {
                let takes = self.takes(frame.size);
                self.rest.leaves(frame.port_vc, units, takes);
            }
            if self.kind.carries_packets {
                self.rest.packets().on_departure(frame.size);
            }
            if self.kind.is_observed {
                self.begin_service(frame.end);
            }
        }
    }

    /// Frames that have not wholly left, after `settle`.
    fn under_way(&self) -> impl Iterator<Item = &Sending> {
        (self.left..self.remembered).filter_map(|at| self.frame(at))
    }

    /// X: units in the port, departures at `now` done.
    fn queued(&self, now: SimTime) -> u32 {
        if self.queued == 0 || self.kind.carries_packets {
            return self.queued;
        }
        let front = self.frame(self.left);
        self.queued - front.map_or(0, |front| self.departed_of(front, now))
    }

    /// Cells that have left, departures at `now` done, of the frame under transmission if that is of the VC at `port_vc`.
    fn sent_of(&self, now: SimTime, port_vc: PortVc) -> u32 {
        match self.frame(self.left) {
            Some(front) if front.port_vc == port_vc => self.departed_of(front, now),
            _ => 0,
        }
    }
}
