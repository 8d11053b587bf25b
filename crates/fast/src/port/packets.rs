//! A port that sends packets over its link: a closed form from the moment a packet is handed over.
//!
//! Arrivals are accepted or discarded whole, and leave in the order of arrival. So a packet's
//! departure is known when it is accepted, and its stay is booked then. What is kept of the packet is
//! what the queue's length follows from; the packets that have left by some time are found when they
//! are needed.

use crate::link::lossy::Draws;
use skycell_des::Stream;
use skycell_records::{
    DiscardReason, Discards, PacketMeter, PacketRecord, PortRecord, QueueIntegral, QueueRecord,
    QueueSamples,
};
use skycell_spec::{LinkSpec, PacketFraming};
use skycell_switch::{BufferView, Decision, Departures, Policy};
use skycell_units::{Ecn, PortVc, SimTime};
use std::collections::VecDeque;

/// A packet in the port.
#[derive(Clone, Copy, Debug)]
struct Queued {
    /// When its last bit has left.
    end: SimTime,
    octets: u32,
    /// Index of its VC at the port.
    port_vc: PortVc,
}

/// A VC at the port.
#[derive(Clone, Debug, Default)]
pub(crate) struct PacketVc {
    /// VC id.
    pub(crate) vc: u32,
    /// Packets in the port, and the amount of the buffer that they take; counted for policies and samples that look.
    queued: u32,
    held: u32,
    /// Packets that leave within the run, those included that the link loses, and these.
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
    /// True if it came without CE and was marked.
    pub(crate) is_marked: bool,
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
    /// True if the policy observes transmissions as they begin.
    is_observed: bool,
    /// When each packet in the port came; empty if the policy does not observe.
    came: VecDeque<SimTime>,
    /// True if the policy or a sample looks at the packets of each VC.
    counts_vcs: bool,
    /// When the run ends.
    run_end: SimTime,
    /// Losses of the link, if it has any.
    draws: Option<Draws>,
    /// In the order in which they leave.
    queue: VecDeque<Queued>,
    /// When the last of them will have left.
    free_at: SimTime,
    /// X: what they take of the buffer.
    held: u32,
    /// Their octets, and the most that there were.
    queued_octets: u64,
    octets_max: u64,
    queue_max: u32,
    active_vcs: u32,
    /// Sum of the policy's weights of those VCs.
    active_weight: u64,
    arrived: u64,
    departed: u64,
    /// Time that the link is busy within the run.
    busy: SimTime,
    discarded: Discards,
    integral: QueueIntegral,
    octets: PacketMeter,
    pub(crate) samples: QueueSamples,
    pub(crate) vcs: Vec<PacketVc>,
}

impl PacketPort {
    /// The port of `link`, which carries packets as `framing` says.
    ///
    /// `is_by_flow` asks for stays flow by flow, and `samples_vcs` for samples of each VC.
    pub(crate) fn new(
        link: &LinkSpec,
        framing: PacketFraming,
        (seed, run_end): (u64, SimTime),
        (is_by_flow, samples_vcs): (bool, bool),
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
            is_observed: queue.policy.needs().departures == Departures::Observed,
            came: VecDeque::new(),
            counts_vcs: queue.policy.needs().vcs || samples_vcs,
            run_end,
            draws: Draws::new(link, seed),
            queue: VecDeque::new(),
            free_at: SimTime::ZERO,
            held: 0,
            queued_octets: 0,
            octets_max: 0,
            queue_max: 0,
            active_vcs: 0,
            active_weight: 0,
            arrived: 0,
            departed: 0,
            busy: SimTime::ZERO,
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
        let decision = self.decision(now, port_vc, (octets, ecn));
        let is_marked = decision == Decision::Mark && ecn != Ecn::Ce;
        if let Some(reason) = decision
            .refusal()
            .or((!has_room).then_some(DiscardReason::Overflow))
        {
            self.discarded.add(reason, 1);
            self.octets.on_arrival(now.0, octets, ecn, false);
            return Err(reason);
        }
        let gap = match self.frame_gap {
            0 => 0,
            below => self.gap_stream.uniform(0, below),
        };
        let start = self.free_at.max(now) + SimTime(gap);
        let end = start + self.time(octets);
        self.free_at = end;
        let is_lost = self.draws.as_mut().is_some_and(Draws::next_is_lost);
        let vc = &mut self.vcs[port_vc.index()];
        if end < self.run_end {
            vc.departed += 1;
            vc.lost += u64::from(is_lost);
            self.busy += end - start;
            self.integral.stayed(u128::from((end - now).0));
            if is_marked {
                self.octets.on_arrival(now.0, octets, ecn, true);
                self.octets.on_mark();
                self.octets
                    .on_departure(end.0, octets, Ecn::Ce, flow, now.0);
            } else {
                self.octets.on_passage(now.0, end.0, octets, ecn, flow);
            }
        } else {
            self.busy += self.run_end.since(start);
            self.integral.arrived(u128::from(now.0));
            self.octets.on_arrival(now.0, octets, ecn, true);
            if is_marked {
                self.octets.on_mark();
            }
        }
        if self.counts_vcs {
            if vc.queued == 0 {
                self.active_vcs += 1;
                self.active_weight += self.policy.weight(vc.vc);
            }
            vc.queued += 1;
            vc.held += amount;
        }
        if self.may_refuse {
            self.policy.on_accepted(vc.vc, amount);
        }
        self.held += amount;
        self.queued_octets += u64::from(octets);
        self.octets_max = self.octets_max.max(self.queued_octets);
        self.queue.push_back(Queued {
            end,
            octets,
            port_vc,
        });
        self.queue_max = self.queue_max.max(self.queue.len() as u32);
        if self.is_observed {
            self.came.push_back(now);
            if self.queue.len() == 1 {
                self.begin_service(now);
            }
        }
        Ok(Sent {
            end,
            is_lost,
            is_marked,
        })
    }

    /// The transmission of the first packet begins, if there is one.
    fn begin_service(&mut self, now: SimTime) {
        let (Some(first), Some(came)) = (self.queue.front(), self.came.front()) else {
            return;
        };
        let view = BufferView {
            queued: self.held - self.amount(first.octets),
            now_ps: now.0,
            departed: self.departed,
            capacity: self.capacity,
            octets: self.queued_octets - u64::from(first.octets),
            packet_octets: first.octets,
            came_ps: came.0,
            ..BufferView::default()
        };
        let vc = self.vcs[first.port_vc.index()].vc;
        let decision = self.policy.on_dequeue(vc, &view);
        debug_assert_eq!(decision, Decision::Accept, "it observes");
    }

    /// What the policy decides on a packet that comes now.
    fn decision(&mut self, now: SimTime, port_vc: PortVc, (octets, ecn): (u32, Ecn)) -> Decision {
        if !self.may_refuse || self.policy.keeps_last_cells() {
            return Decision::Accept;
        }
        let vc = &self.vcs[port_vc.index()];
        // The last of those that have left is the last of all if none is left.
        let idle_since = (self.queue.is_empty() && self.departed > 0).then_some(self.free_at);
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
            octets: self.queued_octets,
            packet_octets: octets,
            ecn,
            ..BufferView::default()
        };
        self.policy.on_enqueue(vc.vc, &view)
    }

    /// Removes the packets that leave by `now`, that instant included.
    pub(crate) fn settle(&mut self, now: SimTime) {
        while let Some(first) = self.queue.front()
            && first.end <= now
        {
            let Queued {
                end,
                octets,
                port_vc,
            } = *first;
            self.queue.pop_front();
            let amount = self.amount(octets);
            self.held -= amount;
            self.queued_octets -= u64::from(octets);
            self.departed += 1;
            if self.is_observed {
                self.came.pop_front();
                self.begin_service(end);
            }
            if self.counts_vcs {
                let vc = &mut self.vcs[port_vc.index()];
                vc.queued -= 1;
                vc.held -= amount;
                if vc.queued == 0 {
                    self.active_vcs -= 1;
                    self.active_weight -= self.policy.weight(vc.vc);
                }
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
        self.queued_octets
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
        PortRecord {
            arrived: self.arrived,
            departed: self.departed,
            queued,
            discarded: self.discarded,
            frames_discarded: self.discarded,
            busy_ps: self.busy.0,
            queue: QueueRecord::new(
                self.integral.mean(queued, end.0),
                self.queue_max,
                &self.samples,
            ),
            octets: Some(PacketRecord {
                max: self.octets_max,
                ..self.octets.record(end.0)
            }),
            ..PortRecord::default()
        }
    }
}
