//! What a port counts of packets beside their number: octets, stays and marks.

use skycell_records::{PacketMeter, PacketRecord};
use skycell_spec::{LinkSpec, PacketFraming};
use skycell_switch::Departures;
use skycell_units::{Ecn, SimTime};
use std::collections::VecDeque;

/// The packets of a port.
#[derive(Debug)]
pub(super) struct Packets {
    framing: PacketFraming,
    /// True if the buffer counts octets.
    counts_octets: bool,
    /// Sizes that came last, and their times.
    times: [(u32, u64); 2],
    /// When each packet in the port came; none if the policy does not observe transmissions as they begin.
    came: Option<VecDeque<SimTime>>,
    /// Octets in the port, and the most that there were.
    octets: u64,
    octets_max: u64,
    /// Time that all accepted packets take.
    sending: SimTime,
    /// When the run ends.
    end: SimTime,
    meter: PacketMeter,
}

impl Packets {
    /// Those of the port of `link` in a run that ends at `end`, if it carries packets; `is_by_flow` asks for stays flow by flow.
    pub(super) fn of(link: &LinkSpec, end: SimTime, is_by_flow: bool) -> Option<Self> {
        let framing = link.framing?;
        let queue = &link.port.queues[0];
        let is_observed = queue.policy.needs().departures == Departures::Observed;
        Some(Packets {
            framing,
            counts_octets: queue.counts_octets,
            times: [(0, framing.time_ps(0)); 2],
            came: is_observed.then(VecDeque::new),
            octets: 0,
            octets_max: 0,
            sending: SimTime::ZERO,
            end,
            meter: PacketMeter::new(is_by_flow),
        })
    }

    /// Returns whether the policy observes transmissions as they begin.
    pub(super) fn is_observed(&self) -> bool {
        self.came.is_some()
    }

    /// When the first packet in the port came, where that is asked for.
    pub(super) fn first_came(&self) -> Option<SimTime> {
        self.came.as_ref()?.front().copied()
    }

    /// Octets in the port.
    pub(super) fn octets(&self) -> u64 {
        self.octets
    }

    /// Time that all accepted packets take.
    pub(super) fn sending(&self) -> SimTime {
        self.sending
    }

    /// What a packet of `octets` octets takes of the buffer.
    pub(super) fn takes(&self, octets: u32) -> u32 {
        if self.counts_octets { octets } else { 1 }
    }

    /// What the `queued` packets in the port take of the buffer.
    pub(super) fn held(&self, queued: u32) -> u32 {
        match self.counts_octets {
            true => self.octets as u32,
            false => queued,
        }
    }

    /// Time of a packet of `octets` octets.
    pub(super) fn time_of(&self, octets: u32) -> SimTime {
        SimTime(self.framing.time_ps(octets.into()))
    }

    /// The same, of one that comes: most have one of two sizes.
    pub(super) fn time(&mut self, octets: u32) -> SimTime {
        if let Some((_, time)) = self.times.iter().find(|(size, _)| *size == octets) {
            return SimTime(*time);
        }
        let time = self.time_of(octets);
        self.times = [(octets, time.0), self.times[0]];
        time
    }

    /// A packet that came at `now` is discarded.
    pub(super) fn on_refusal(&mut self, now: SimTime, octets: u32, ecn: Ecn) {
        self.meter.on_arrival(now.0, octets, ecn, false);
    }

    /// A packet came at `now`, is sent from `start` on, and has left at `end`.
    pub(super) fn on_acceptance(
        &mut self,
        (now, start, end): (SimTime, SimTime, SimTime),
        (octets, ecn, flow): (u32, Ecn, u32),
        is_marked: bool,
    ) {
        let leaves = end < self.end;
        if leaves && !is_marked {
            self.meter.on_passage(now.0, end.0, octets, ecn, flow);
        } else {
            self.meter.on_arrival(now.0, octets, ecn, true);
            if is_marked {
                self.meter.on_mark();
            }
            if leaves {
                self.meter.on_departure(end.0, octets, Ecn::Ce, flow, now.0);
            }
        }
        self.sending += end - start;
        self.octets += u64::from(octets);
        self.octets_max = self.octets_max.max(self.octets);
        if let Some(came) = &mut self.came {
            came.push_back(now);
        }
    }

    /// The first packet, of so many octets, has left.
    pub(super) fn on_departure(&mut self, octets: u32) {
        self.octets -= u64::from(octets);
        if let Some(came) = &mut self.came {
            came.pop_front();
        }
    }

    /// All packets have left.
    pub(super) fn on_idle(&mut self) {
        self.octets = 0;
    }

    /// The record of a run that ends at `end`.
    pub(super) fn record(&self, end: SimTime) -> PacketRecord {
        PacketRecord {
            max: self.octets_max,
            ..self.meter.record(end.0)
        }
    }
}
