//! A port that sends packets over its link: a closed form from the moment a packet is handed over.
//!
//! Arrivals are accepted or discarded whole, and leave in the order of arrival. So a packet's
//! departure is known when it is accepted, and the packets that have left by some time are found
//! when they are needed.

use crate::link::lossy::Draws;
use skycell_des::Stream;
use skycell_records::{
    DiscardReason, Discards, PacketMeter, PortRecord, QueueIntegral, QueueRecord, QueueSamples,
};
use skycell_spec::{LinkSpec, PacketFraming};
use skycell_switch::{BufferView, Policy};
use skycell_units::{Ecn, PortVc, SimTime};
use std::collections::VecDeque;

/// A packet in the port.
#[derive(Clone, Copy, Debug)]
struct Queued {
    /// When it came.
    came: SimTime,
    /// When its first bit leaves.
    start: SimTime,
    /// When its last bit has left.
    end: SimTime,
    octets: u32,
    ecn: Ecn,
    /// Number of its flow.
    flow: u32,
    /// Index of its VC at the port.
    port_vc: PortVc,
    /// True if the link loses it.
    is_lost: bool,
}

/// A VC at the port.
#[derive(Clone, Debug, Default)]
pub(crate) struct PacketVc {
    /// VC id.
    pub(crate) vc: u32,
    /// Packets in the port.
    queued: u32,
    /// Amount of the buffer that they take.
    held: u32,
    /// Packets that have left, those included that the link lost, and these.
    pub(crate) departed: u64,
    pub(crate) lost: u64,
    pub(crate) samples: QueueSamples,
}

/// The fate of an accepted packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    /// When its last bit leaves.
    pub(crate) end: SimTime,
    /// True if the link loses it.
    pub(crate) is_lost: bool,
}

/// The port.
#[derive(Debug)]
pub(crate) struct PacketPort {
    framing: PacketFraming,
    /// Sizes that came last, and their times.
    times: [(u32, u64); 2],
    frame_gap: u64,
    gap_stream: Stream,
    capacity: u32,
    /// True if the buffer counts octets.
    counts_octets: bool,
    policy: Policy,
    may_refuse: bool,
    /// Losses of the link, if it has any.
    draws: Option<Draws>,
    /// In the order in which they leave.
    queue: VecDeque<Queued>,
    /// When the last of them will have left.
    free_at: SimTime,
    /// X: what they take of the buffer.
    held: u32,
    queue_max: u32,
    active_vcs: u32,
    /// Sum of the policy's weights of those VCs.
    active_weight: u64,
    arrived: u64,
    departed: u64,
    last_departure: Option<SimTime>,
    /// Sum of the times of those that have left.
    sent_for: SimTime,
    discarded: Discards,
    integral: QueueIntegral,
    octets: PacketMeter,
    pub(crate) samples: QueueSamples,
    pub(crate) vcs: Vec<PacketVc>,
}

impl PacketPort {
    /// The port of `link`, which carries packets as `framing` says.
    pub(crate) fn new(
        link: &LinkSpec,
        framing: PacketFraming,
        seed: u64,
        is_by_flow: bool,
    ) -> Self {
        let queue = &link.port.queues[0];
        let policy = Policy::new(&queue.policy, seed, &link.name);
        PacketPort {
            framing,
            times: [(0, framing.time_ps(0)); 2],
            frame_gap: link.port.frame_gap_ps,
            gap_stream: Stream::new(seed, &format!("port/{}/gap", link.name)),
            capacity: queue.capacity_cells.unwrap_or(u32::MAX),
            counts_octets: queue.counts_octets,
            may_refuse: !policy.takes_all(),
            policy,
            draws: Draws::new(link, seed),
            queue: VecDeque::new(),
            free_at: SimTime::ZERO,
            held: 0,
            queue_max: 0,
            active_vcs: 0,
            active_weight: 0,
            arrived: 0,
            departed: 0,
            last_departure: None,
            sent_for: SimTime::ZERO,
            discarded: Discards::default(),
            integral: QueueIntegral::default(),
            octets: PacketMeter::new(is_by_flow),
            samples: QueueSamples::default(),
            vcs: Vec::new(),
        }
    }

    /// Adds `vc` to the port; returns its index there.
    pub(crate) fn add_vc(&mut self, vc: u32) -> PortVc {
        self.vcs.push(PacketVc {
            vc,
            ..PacketVc::default()
        });
        PortVc(self.vcs.len() as u32 - 1)
    }

    fn amount(&self, octets: u32) -> u32 {
        if self.counts_octets { octets } else { 1 }
    }

    /// Time of a packet of `octets` octets.
    fn time(&mut self, octets: u32) -> SimTime {
        if let Some((_, time)) = self.times.iter().find(|(size, _)| *size == octets) {
            return SimTime(*time);
        }
        let time = self.framing.time_ps(octets.into());
        self.times = [(octets, time), self.times[0]];
        SimTime(time)
    }

    /// Offers a packet of `octets` octets with `ecn`, of the flow with that number, of the VC at `port_vc`; why it was
    /// refused, if it was.
    pub(crate) fn offer(
        &mut self,
        now: SimTime,
        port_vc: PortVc,
        (octets, ecn, flow): (u32, Ecn, u32),
    ) -> Result<Sent, DiscardReason> {
        self.settle(now);
        self.arrived += 1;
        let amount = self.amount(octets);
        let has_room = u64::from(self.held) + u64::from(amount) <= u64::from(self.capacity);
        let refused = self.refusal(now, port_vc, octets);
        if let Some(reason) = refused.or((!has_room).then_some(DiscardReason::Overflow)) {
            self.discarded.add(reason, 1);
            self.octets.on_arrival(now.0, octets, ecn, false);
            return Err(reason);
        }
        self.octets.on_arrival(now.0, octets, ecn, true);
        self.integral.arrived(u128::from(now.0));
        let gap = match self.frame_gap {
            0 => 0,
            below => self.gap_stream.uniform(0, below),
        };
        let start = self.free_at.max(now) + SimTime(gap);
        let end = start + self.time(octets);
        self.free_at = end;
        let is_lost = self.draws.as_mut().is_some_and(Draws::next_is_lost);
        let vc = &mut self.vcs[port_vc.index()];
        if vc.queued == 0 {
            self.active_vcs += 1;
            self.active_weight += self.policy.weight(vc.vc);
        }
        vc.queued += 1;
        vc.held += amount;
        self.held += amount;
        if self.may_refuse {
            self.policy.on_accepted(vc.vc, amount);
        }
        self.queue.push_back(Queued {
            came: now,
            start,
            end,
            octets,
            ecn,
            flow,
            port_vc,
            is_lost,
        });
        self.queue_max = self.queue_max.max(self.queue.len() as u32);
        Ok(Sent { end, is_lost })
    }

    /// Why the policy refuses a packet that comes now.
    fn refusal(&mut self, now: SimTime, port_vc: PortVc, octets: u32) -> Option<DiscardReason> {
        if !self.may_refuse || self.policy.keeps_last_cells() {
            return None;
        }
        let vc = &self.vcs[port_vc.index()];
        let idle_since = self.last_departure.filter(|_| self.queue.is_empty());
        let view = BufferView {
            queued: self.held,
            vc_queued: vc.held,
            active_vcs: self.active_vcs,
            active_weight: self.active_weight,
            now_ps: now.0,
            departed: self.departed,
            idle_since_ps: idle_since.map(|time| time.0),
            clp: false,
            capacity: self.capacity,
            octets: self.octets.queued(),
            packet_octets: octets,
            ..BufferView::default()
        };
        self.policy.on_enqueue(vc.vc, &view).refusal()
    }

    /// Removes the packets that leave by `now`, that instant included.
    pub(crate) fn settle(&mut self, now: SimTime) {
        while let Some(&first) = self.queue.front()
            && first.end <= now
        {
            self.queue.pop_front();
            let amount = self.amount(first.octets);
            self.held -= amount;
            self.departed += 1;
            self.last_departure = Some(first.end);
            self.sent_for += first.end - first.start;
            self.integral.departed(u128::from(first.end.0));
            self.octets.on_departure(
                first.end.0,
                first.octets,
                first.ecn,
                first.flow,
                first.came.0,
            );
            let vc = &mut self.vcs[first.port_vc.index()];
            vc.queued -= 1;
            vc.held -= amount;
            vc.departed += 1;
            vc.lost += u64::from(first.is_lost);
            if vc.queued == 0 {
                self.active_vcs -= 1;
                self.active_weight -= self.policy.weight(vc.vc);
            }
        }
    }

    /// Packets in the port at `now`, departures done.
    pub(crate) fn settled_queue(&mut self, now: SimTime) -> u32 {
        self.settle(now);
        self.queue.len() as u32
    }

    /// Octets of the packets in the port, departures done.
    pub(crate) fn queued_octets(&self) -> u64 {
        self.octets.queued()
    }

    /// Samples every VC's packets at `now`, and reports them.
    pub(crate) fn sample_each_vc(&mut self, now: SimTime, report: &mut dyn FnMut(u32, u32)) {
        self.settle(now);
        for vc in &mut self.vcs {
            vc.samples.add(vc.queued);
            report(vc.vc, vc.queued);
        }
    }

    /// Returns the counts of its record in a run that ends at `end`; everything that leaves before has left.
    pub(crate) fn counts(&self, end: SimTime) -> PortRecord {
        let queued = self.queue.len() as u64;
        let sending = self.queue.front();
        let sending = sending.map_or(SimTime::ZERO, |first| end.since(first.start));
        PortRecord {
            arrived: self.arrived,
            departed: self.departed,
            queued,
            discarded: self.discarded,
            frames_discarded: self.discarded,
            busy_ps: (self.sent_for + sending).0,
            queue: QueueRecord::new(
                self.integral.mean(queued, end.0),
                self.queue_max,
                &self.samples,
            ),
            octets: Some(self.octets.record(end.0)),
            ..PortRecord::default()
        }
    }
}
