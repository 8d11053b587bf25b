//! Ports: in closed form, or stepped.
//!
//! A port with one queue in order of arrival and tail drop knows of a packet at hand-over when it begins to send it:
//! once it is free. So departure, link, delay and losses are settled there and then. The rows and the delay that a
//! packet meets as its last bit leaves are data, and the port looks at them ahead of its node.

use super::Epochs;
use super::links::Entry;
use skycell_des::{Key, Stream};
use skycell_records::{SkyMeter, SteppedReason};
use skycell_reference::Port;
use skycell_sky::{Columns, NO_LINK, Waiting, first_linked, first_routed};
use skycell_spec::{FifoSpec, PacketFraming, PolicySpec, PortKindSpec, SchedulerSpec};
use skycell_traffic::rank;
use skycell_units::{PortVc, SimTime};
use std::collections::{BTreeMap, VecDeque};

/// Why ports of a kind are stepped, if they are.
pub(super) fn reason(kind: &PortKindSpec) -> Option<SteppedReason> {
    if kind.framing.is_none() {
        return Some(SteppedReason::CellsByLabel);
    }
    let port = &kind.port;
    if port.queues.len() > 1 || port.scheduler != SchedulerSpec::Fifo(FifoSpec {}) {
        return Some(SteppedReason::QueuesBesideSwitches);
    }
    let drops_tails = matches!(port.queues[0].policy, PolicySpec::TailDrop(_));
    let holds_back = port.shaper.is_some() || port.policer.is_some() || port.ack_filter;
    (!drops_tails || holds_back).then_some(SteppedReason::QueueManagement)
}

/// Lengths of packets of which the times of transmission are kept.
const LENGTHS: usize = 64;

/// What ports that are alike have in common.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) is_stepped: bool,
    pub(super) has_ack_filter: bool,
    pub(super) waiting: Waiting,
    /// True if a packet may wait for a route as its turn comes.
    pub(super) waits_for_route: bool,
    /// None of ports of cells, which are stepped.
    framing: Option<PacketFraming>,
    capacity: u64,
    counts_octets: bool,
    /// By octets modulo [`LENGTHS`]: those of the last such packet, and its time of transmission.
    times: Vec<(u32, SimTime)>,
    frame_gap_ps: u64,
}

impl Kind {
    pub(super) fn new(spec: &PortKindSpec) -> Self {
        let queue = &spec.port.queues[0];
        Kind {
            is_stepped: reason(spec).is_some(),
            has_ack_filter: spec.port.ack_filter,
            waiting: spec.waiting.into(),
            waits_for_route: spec.waits_for_route || spec.waiting == skycell_spec::Waiting::Turned,
            framing: spec.framing,
            capacity: queue.capacity_cells.map_or(u64::MAX, u64::from),
            counts_octets: queue.counts_octets,
            times: vec![(u32::MAX, SimTime::ZERO); LENGTHS],
            frame_gap_ps: spec.port.frame_gap_ps,
        }
    }

    /// Time that a packet takes.
    #[inline(always)]
    fn time(&mut self, octets: u32) -> SimTime {
        let known = &mut self.times[octets as usize % LENGTHS];
        if known.0 != octets {
            let framing = self.framing.expect("ports of cells are stepped");
            *known = (octets, SimTime(framing.time_ps(octets.into())));
        }
        known.1
    }
}

/// The place of a port, which is made with its first packet.
#[derive(Debug)]
pub(super) enum Slot {
    Unused,
    Closed(Box<Closed>),
    Stepped(Box<Stepped>),
}

/// A port that is stepped as in `reference`.
#[derive(Debug)]
pub(super) struct Stepped {
    pub(super) port: Port,
    pub(super) meter: SkyMeter,
    /// Where it carries cells: the VCs that have come to it, with their index there.
    pub(super) vcs: BTreeMap<u32, PortVc>,
}

/// A packet in a port in closed form.
#[derive(Clone, Copy, Debug)]
struct Held {
    departure: SimTime,
    octets: u32,
    vc: u32,
}

/// A port in closed form. A packet needs the first two lines of the cache of it, and those of the ring.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Closed {
    /// When the last bit of the last packet leaves.
    free: SimTime,
    /// When that of the first packet held does; [`SimTime::NEVER`] where none is.
    first_departure: SimTime,
    held: VecDeque<Held>,
    octets_held: u64,
    /// Epoch in force when the last packet left.
    epoch: u32,
    queue_max: u32,
    /// Integral of the queue over the run.
    pub(super) stays_ps: u128,
    pub(super) arrived: u64,
    /// Times of transmission within the run.
    pub(super) busy: SimTime,
    pub(super) meter: SkyMeter,
    pub(super) discarded: u64,
    gap: Option<Stream>,
    /// Its node's row as the last packet left, where packets take the route in force then.
    row: Option<Row>,
    /// Packets that go to other ports as they leave, with the links that they take then.
    pub(super) rerouted: VecDeque<(SimTime, u32, Entry)>,
}

/// The row of a node, as far ahead as a port of it.
#[derive(Debug)]
struct Row {
    links: Vec<u16>,
    /// Next change of the node.
    change: u32,
}

impl Closed {
    /// The port with number `id`, of a node that links leave from `first` on.
    pub(super) fn new(
        kind: &Kind,
        columns: &Columns,
        node: u32,
        stream: impl FnOnce() -> Stream,
    ) -> Self {
        let labels = columns.labels();
        let row = || Row {
            links: columns.route_first[node as usize * labels..][..labels].to_vec(),
            change: columns.node_change[node as usize],
        };
        Closed {
            free: SimTime::ZERO,
            first_departure: SimTime::NEVER,
            held: VecDeque::new(),
            octets_held: 0,
            epoch: 0,
            queue_max: 0,
            arrived: 0,
            discarded: 0,
            busy: SimTime::ZERO,
            stays_ps: 0,
            meter: SkyMeter::default(),
            gap: (kind.frame_gap_ps > 0).then(stream),
            row: (!matches!(kind.waiting, Waiting::Sent | Waiting::Lost)).then(row),
            rerouted: VecDeque::new(),
        }
    }

    /// A packet comes; the times of its transmission, or none if there is no room.
    #[inline(always)]
    pub(super) fn offer(
        &mut self,
        at: Key,
        id: u32,
        kind: &mut Kind,
        packet: &Entry,
        end: SimTime,
        routed: impl FnOnce(&mut Self, SimTime, Waiting) -> SimTime,
    ) -> Option<(SimTime, SimTime)> {
        self.settle(at, id);
        let now = at.time();
        self.arrived += 1;
        let has_room = match kind.counts_octets {
            true => self.octets_held + u64::from(packet.octets) <= kind.capacity,
            false => (self.held.len() as u64) < kind.capacity,
        };
        if !has_room {
            self.discarded += 1;
            self.meter.on_arrival(now.0, self.queued());
            self.meter.on_discard(now.0, 1);
            return None;
        }
        let ready = self.free.max(now);
        let gap = self
            .gap
            .as_mut()
            .map(|gap| gap.uniform(0, kind.frame_gap_ps));
        let mut since = ready + SimTime(gap.unwrap_or(0));
        if kind.waits_for_route {
            since = routed(self, ready.max(since), kind.waiting);
        }
        let departure = match since {
            SimTime::NEVER => since,
            _ => since + kind.time(packet.octets),
        };
        self.free = departure;
        if self.held.is_empty() {
            self.first_departure = departure;
        }
        self.held.push_back(Held {
            departure,
            octets: packet.octets,
            vc: packet.vc,
        });
        self.octets_held += u64::from(packet.octets);
        self.queue_max = self.queue_max.max(self.queued());
        self.meter.on_arrival(now.0, self.queued());
        self.stays_ps += u128::from((departure.min(end) - now).0);
        self.busy += departure.min(end).since(since);
        Some((since, departure))
    }

    /// Lets go of the packets whose last bit leaves before the event `at`.
    #[inline(always)]
    pub(super) fn settle(&mut self, at: Key, id: u32) {
        while self.first_departure < at.time()
            || self.first_departure == at.time()
                && Key::new(self.first_departure, rank::DEPARTURE, id) < at
        {
            let first = self.held.pop_front().expect("the first of those held");
            self.octets_held -= u64::from(first.octets);
            self.meter.on_departure(first.departure.0, first.octets);
            let next = self.held.front();
            self.first_departure = next.map_or(SimTime::NEVER, |next| next.departure);
        }
    }

    /// The epoch in force as the packet leaves that was taken in last.
    #[inline(always)]
    pub(super) fn epoch_of_last(&mut self, epochs: &Epochs) -> u32 {
        self.epoch = epochs.at(self.free, self.epoch);
        self.epoch
    }

    /// The link by which the node forwards a label as the packet leaves that was taken in last, and that epoch is in
    /// force; the port follows the rows.
    pub(super) fn next_link(&mut self, columns: &Columns, node: u32, label: u16) -> Option<u32> {
        let row = self.row.as_mut().expect("it follows the rows");
        let end = columns.node_change[node as usize + 1];
        while row.change < end && columns.change_epoch[row.change as usize] <= self.epoch {
            let change = row.change as usize;
            row.links[usize::from(columns.change_label[change])] = columns.change_link[change];
            row.change += 1;
        }
        let link = row.links[usize::from(label)];
        (link != NO_LINK).then(|| columns.links(node).start + u32::from(link))
    }

    /// When a packet of a label may be sent that is ready at `ready`, after all before it: once its node has a route.
    pub(super) fn routed(
        &mut self,
        ready: SimTime,
        (columns, epochs): (&Columns, &Epochs),
        (node, label): (u32, u16),
        waiting: Waiting,
    ) -> SimTime {
        if ready == SimTime::NEVER {
            return ready;
        }
        self.epoch = epochs.at(ready, self.epoch);
        if waiting == Waiting::Turned {
            let next = self.next_link(columns, node, label);
            if next.is_some_and(|link| columns.exists(link, self.epoch)) {
                return ready;
            }
            let linked = first_linked(columns, node, label, self.epoch);
            self.epoch = linked.unwrap_or(self.epoch);
            return linked.map_or(SimTime::NEVER, |epoch| ready.max(epochs.begins(epoch)));
        }
        if self.next_link(columns, node, label).is_some() {
            return ready;
        }
        let routed = first_routed(columns, node, label, self.epoch);
        self.epoch = routed.unwrap_or(self.epoch);
        routed.map_or(SimTime::NEVER, |epoch| epochs.begins(epoch))
    }

    /// Packets in the port, as far as it is settled.
    pub(super) fn queued(&self) -> u32 {
        self.held.len() as u32
    }

    /// Most packets in the port.
    pub(super) fn queue_max(&self) -> u32 {
        self.queue_max
    }

    /// VCs of the packets in the port, as far as it is settled.
    pub(super) fn vcs_of_packets(&self) -> impl Iterator<Item = u32> {
        self.held.iter().map(|held| held.vc)
    }
}
