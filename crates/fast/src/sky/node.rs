//! A node within a window: its events in the order of `reference`.

use super::Sky;
use super::links::{Entry, Link};
use super::ports::{Closed, Slot, Stepped};
use skycell_des::{Key, KeyHeap, Stream};
use skycell_records::{DiscardReason, DiscardTrace, LossReason, SkyMeter};
use skycell_reference::{Cell, Port, Verdict, pure_ack};
use skycell_sky::{
    Columns, Forward, LossReason as NoLink, Waiting, first_linked, first_routed, forward,
    last_routed,
};
use skycell_spec::LinkSpec;
use skycell_traffic::rank;
use skycell_units::{FlowId, FrameId, PortVc, SimTime};
use std::collections::BTreeMap;

/// A node, in one line of the cache but for its keys.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Node {
    /// What lies ahead: the first packet on each link to it, departures of its stepped ports, timers.
    pub(super) keys: KeyHeap,
    /// The window in which it acts next; `u64::MAX` for none.
    pub(super) window: u64,
    /// The epoch that its rows are at.
    epoch: u32,
    pub(super) arrived: u64,
    pub(super) delivered: u64,
    pub(super) offered: u64,
}

const _: () = assert!(size_of::<Node>() == 64);

impl Default for Node {
    fn default() -> Self {
        Node {
            keys: KeyHeap::default(),
            window: u64::MAX,
            epoch: 0,
            arrived: 0,
            delivered: 0,
            offered: 0,
        }
    }
}

/// The other counts of a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) handed_over: u64,
    pub(super) rerouted: u64,
    pub(super) turned_back: u64,
    pub(super) no_route: u64,
    pub(super) hop_limit: u64,
    pub(super) gone: u64,
}

impl Counts {
    pub(super) fn add(&mut self, more: &Counts) {
        self.handed_over += more.handed_over;
        self.rerouted += more.rerouted;
        self.turned_back += more.turned_back;
        self.no_route += more.no_route;
        self.hop_limit += more.hop_limit;
        self.gone += more.gone;
    }
}

impl Sky<'_> {
    /// A node acts up to the end of a window.
    pub(super) fn run_node(&mut self, node: u32, until: SimTime) {
        while let Some(at) = self.nodes[node as usize].keys.first()
            && at.time() < until
        {
            self.moved += 1;
            match at.rank() {
                rank::ARRIVAL => self.on_arrival(at, node),
                other => {
                    self.nodes[node as usize].keys.pop();
                    match other {
                        rank::DEPARTURE => self.on_departure(at, node),
                        rank::SAMPLE => self.on_sample(at, node),
                        rank::SOURCE => self.on_source(at, node),
                        rank::TRANSMIT => self.on_transmit(at, node),
                        _ => self.on_timer(at, node),
                    }
                }
            }
            self.traces.note(at, &self.out.traces);
        }
        let own = &mut self.nodes[node as usize];
        own.window = u64::MAX;
        if let Some(first) = own.keys.first() {
            own.window = self.windows.of(first.time());
            match own.window > self.windows.now() {
                true => self.windows.put(own.window, node),
                // The turn of the region ends within the window.
                false => self.held_back.push(node),
            }
        }
    }

    /// An event of the node that acts lies ahead of it.
    pub(super) fn plan(&mut self, node: u32, key: Key) {
        if key.time() < self.end {
            self.nodes[node as usize].keys.push(key);
        }
    }

    /// A packet arrives at the end of a link.
    #[inline(always)]
    fn on_arrival(&mut self, at: Key, node: u32) {
        let id = at.subject();
        let link = &mut self.links.all[id as usize];
        let mut entry = link.ring.pop_front().expect("an arrival has its packet");
        let own = &mut self.nodes[node as usize];
        own.arrived += 1;
        let keys = &mut own.keys;
        match link.ring.front() {
            Some(next) if next.arrival < self.end => {
                keys.replace_first(Key::new(next.arrival, rank::ARRIVAL, id));
            }
            _ => keys.pop(),
        }
        entry.hops += 1;
        self.forward(at, node, Some(id), entry);
    }

    /// A packet is at a node, to which it came over a link or not: it is delivered, lost, or goes on.
    #[inline(always)]
    pub(super) fn forward(&mut self, at: Key, node: u32, came_over: Option<u32>, entry: Entry) {
        self.bring(at.time(), node);
        let limit = self.sky.hop_limit as usize;
        let mut fate = forward(&self.rows, node, entry.label, entry.hops.into(), limit);
        if fate == Forward::Lost(NoLink::NoRoute) && came_over.is_none() {
            // Only where it begins may a packet wait for a route.
            let held = self.sky.link_to_wait_for(node);
            fate = held.map_or(fate, Forward::Link);
        }
        match fate {
            Forward::Delivered => {
                self.nodes[node as usize].delivered += 1;
                self.on_delivered(at, node, entry);
            }
            Forward::Lost(reason) => {
                let counts = &mut self.counts[node as usize];
                let reason = LossReason::from(reason);
                match reason {
                    LossReason::HopLimit => counts.hop_limit += 1,
                    _ => counts.no_route += 1,
                }
                self.lose(&entry, reason);
            }
            Forward::Link(link) => {
                let to = self.links.all[link as usize].to;
                let back = |came: u32| self.links.all[came as usize].from == to;
                if came_over.is_some_and(back) {
                    self.counts[node as usize].turned_back += 1;
                }
                self.offer(at, node, link, entry);
            }
        }
    }

    /// Brings the rows of a node to the epoch in force.
    #[inline(always)]
    fn bring(&mut self, now: SimTime, node: u32) -> u32 {
        let own = &mut self.nodes[node as usize];
        let epoch = self.epochs.at(now, own.epoch);
        if epoch != own.epoch {
            own.epoch = epoch;
            self.rows.bring(node, epoch);
        }
        epoch
    }

    /// Offers a packet to the port of a link of a node.
    #[inline(always)]
    fn offer(&mut self, at: Key, node: u32, link: u32, entry: Entry) {
        self.nodes[node as usize].offered += 1;
        let Link { port: id, kind, .. } = self.links.all[link as usize];
        let kind = &mut self.kinds[usize::from(kind)];
        match &mut self.ports[id as usize] {
            Slot::Closed(port) => {
                match port.offer(at, id, kind, &entry, self.end, |port, ready, waiting| {
                    let over = (self.columns, &self.epochs);
                    port.routed(ready, over, (node, entry.label), waiting)
                }) {
                    Some(times) if times.1 < self.end => {
                        let waiting = kind.waiting;
                        self.leave_ahead(node, (id, link), times, waiting, entry);
                    }
                    Some(_) => {}
                    None => {
                        let record = &mut self.vcs[entry.vc as usize].record;
                        record.cells_discarded.add(DiscardReason::Overflow, 1);
                        self.trace_discard(at.time(), id, &entry, DiscardReason::Overflow);
                        self.forget(entry.frame);
                    }
                }
            }
            Slot::Stepped(_) => {
                let is_frame = !self.carries_cells;
                self.offer_to_stepped(at, node, (id, link), entry, is_frame.then_some(1));
            }
            Slot::Unused => {
                self.make_port(id);
                self.nodes[node as usize].offered -= 1;
                self.offer(at, node, link, entry);
            }
        }
    }

    /// A port in closed form has taken a packet in, which leaves within the run.
    #[inline(always)]
    fn leave_ahead(
        &mut self,
        node: u32,
        (id, link): (u32, u32),
        times: (SimTime, SimTime),
        waiting: Waiting,
        entry: Entry,
    ) {
        let Slot::Closed(port) = &mut self.ports[id as usize] else {
            unreachable!("a port in closed form");
        };
        let epoch = port.epoch_of_last(&self.epochs);
        let leaves_by = match waiting {
            Waiting::Sent => Ok(link),
            Waiting::Lost => self.if_there(link, epoch),
            Waiting::SentIfRouted => match port.next_link(self.columns, node, entry.label) {
                None => Err(NoLink::NoRoute),
                Some(_) => Ok(link),
            },
            Waiting::Rerouted | Waiting::Turned => match port
                .next_link(self.columns, node, entry.label)
                .or_else(|| last_link(self.columns, waiting, (node, entry.label), epoch))
            {
                None => Err(NoLink::NoRoute),
                Some(next) if self.columns.link_port[next as usize] != id => {
                    let departure = times.1;
                    if port.rerouted.is_empty() {
                        let key = Key::new(departure, rank::DEPARTURE, id);
                        self.nodes[node as usize].keys.push(key);
                    }
                    port.rerouted.push_back((departure, next, entry));
                    return;
                }
                Some(next) if waiting == Waiting::Turned => Ok(next),
                Some(next) => self.if_there(next, epoch),
            },
        };
        self.leave(node, times, leaves_by, epoch, entry);
    }

    /// A link, if it exists at an epoch.
    fn if_there(&mut self, link: u32, epoch: u32) -> Result<u32, NoLink> {
        match self.links.exists(link, epoch, &self.epochs) {
            true => Ok(link),
            false => Err(NoLink::OutOfRange),
        }
    }

    /// The last bit of a packet leaves a port of a node, by a link or not.
    #[inline(always)]
    fn leave(
        &mut self,
        node: u32,
        times: (SimTime, SimTime),
        leaves_by: Result<u32, NoLink>,
        epoch: u32,
        entry: Entry,
    ) {
        let reason = match leaves_by {
            Ok(link) => {
                let frames = &mut self.frames;
                match self
                    .links
                    .enter(times, (link, epoch), entry, frames, &self.epochs)
                {
                    Ok((arrival, is_only)) => {
                        if self.links.all[link as usize].crosses {
                            self.cross(link);
                        } else if is_only {
                            let to = self.links.all[link as usize].to;
                            self.wake(to, Key::new(arrival, rank::ARRIVAL, link));
                        }
                        return;
                    }
                    Err(reason) => reason,
                }
            }
            Err(reason) => reason.into(),
        };
        if leaves_by.is_err() || reason == LossReason::OutOfRange {
            self.counts[node as usize].gone += 1;
        }
        self.lose(&entry, reason);
    }

    #[inline(never)] // few packets are
    fn lose(&mut self, entry: &Entry, reason: LossReason) {
        self.vcs[entry.vc as usize].record.cells_lost.add(reason);
        self.forget(entry.frame);
    }

    /// Makes a port, to which its first packet comes.
    #[inline(never)] // once a port
    pub(super) fn make_port(&mut self, id: u32) {
        let kind = usize::from(self.columns.port_kind[id as usize]);
        let first = self.columns.link_port.iter().position(|&port| port == id);
        let first = first.expect("a port feeds a link");
        let (from, to) = (self.links.all[first].from, self.links.all[first].to);
        let name = &self.port_names[id as usize];
        let records = &self.spec.records;
        let is_sampled = records.has_sampled(id);
        self.ports[id as usize] = match self.kinds[kind].is_stepped || is_sampled {
            false => {
                let gap = || Stream::new(self.spec.seed, &format!("port/{name}/gap"));
                let port = Closed::new(&self.kinds[kind], self.columns, from, gap);
                Slot::Closed(Box::new(port))
            }
            true => {
                let link: LinkSpec = self.sky.kinds[kind].link(name.clone(), from, to);
                let mut port = Port::new(&link, self.spec.seed, self.end);
                if records.flow_ports.binary_search(&id).is_ok() {
                    port.report_flows();
                }
                for &class in self.classes.iter().filter(|_| !self.carries_cells) {
                    port.add_vc(u32::MAX, class, &link);
                }
                Slot::Stepped(Box::new(Stepped {
                    port,
                    meter: SkyMeter::default(),
                    vcs: BTreeMap::new(),
                }))
            }
        };
    }

    fn stepped(&mut self, id: u32) -> &mut Stepped {
        match &mut self.ports[id as usize] {
            Slot::Stepped(stepped) => stepped,
            _ => unreachable!("a stepped port"),
        }
    }

    /// A frame of so many cells is handed over where its VC begins; the first cell is given.
    pub(super) fn hand_over_cells(&mut self, at: Key, node: u32, entry: Entry, units: u32) {
        (1..units).for_each(|_| self.frames.hold(entry.frame));
        self.bring(at.time(), node);
        let held = || self.sky.link_to_wait_for(node);
        let Some(link) = self.rows.next(node, entry.label).or_else(held) else {
            self.counts[node as usize].no_route += u64::from(units);
            let entries = std::iter::repeat_n(entry, units as usize);
            return entries.for_each(|entry| self.lose(&entry, LossReason::NoRoute));
        };
        self.nodes[node as usize].offered += u64::from(units);
        let id = self.links.all[link as usize].port;
        if matches!(self.ports[id as usize], Slot::Unused) {
            self.make_port(id);
        }
        self.offer_to_stepped(at, node, (id, link), entry, Some(units));
    }

    /// Index of a VC at a stepped port.
    fn port_vc(&mut self, id: u32, vc: u32) -> PortVc {
        let kind = &self.sky.kinds[usize::from(self.columns.port_kind[id as usize])];
        let class = self.vcs[vc as usize].class;
        if !self.carries_cells {
            return PortVc(class);
        }
        let class = self.classes[class as usize];
        let Stepped { port, vcs, .. } = self.stepped(id);
        let known = vcs.entry(vc);
        *known.or_insert_with(|| port.add_vc(vc, class, &kind.link(String::new(), 0, 0)))
    }

    /// Offers a packet or a cell to a stepped port, or a frame of so many cells that is handed over.
    fn offer_to_stepped(
        &mut self,
        at: Key,
        node: u32,
        (id, link): (u32, u32),
        entry: Entry,
        frame_of: Option<u32>,
    ) {
        let now = at.time();
        let kind = &self.kinds[usize::from(self.columns.port_kind[id as usize])];
        let frame = self.frames.get(entry.frame);
        let is_read = kind.has_ack_filter
            && frame.flow != FlowId::NONE
            && !self.spec.flows[frame.flow.0 as usize].ipsec;
        let cell = Cell {
            flow: frame.flow_number(self.flows.len()),
            ack: if is_read {
                pure_ack(&self.frames.segment(entry.frame))
            } else {
                None
            },
            sky_link: link,
            ..entry.to_cell(now)
        };
        let port_vc = self.port_vc(id, entry.vc);
        let Stepped { port, meter, .. } = self.stepped(id);
        let was_idle = !port.is_busy();
        let units = frame_of.unwrap_or(1);
        let verdict = match frame_of {
            None => port.on_cell(now, cell, port_vc),
            Some(_) => port.on_frame(now, port_vc, units, |index| Cell {
                index,
                eom: index + 1 == units,
                ..cell
            }),
        };
        let is_refused = verdict != Verdict::Accepted;
        let discarded = port.discarded.len() as u32 + units * u32::from(is_refused);
        meter.on_arrival(now.0, port.queued());
        meter.on_discard(now.0, discarded);
        self.settle_discarded(now, id);
        match verdict {
            Verdict::Accepted if was_idle => self.begin_sending(now, node, id),
            Verdict::Accepted => {}
            Verdict::Discarded {
                reason,
                is_first_loss,
            } => {
                let record = &mut self.vcs[entry.vc as usize].record;
                record.cells_discarded.add(reason, units.into());
                if is_first_loss {
                    self.trace_discard(now, id, &entry, reason);
                }
                (0..units).for_each(|_| self.forget(entry.frame));
            }
        }
    }

    /// A stepped port begins to send its next packet, if it has one.
    fn begin_sending(&mut self, now: SimTime, node: u32, id: u32) {
        let (columns, epochs) = (self.columns, &self.epochs);
        let kind = &self.kinds[usize::from(columns.port_kind[id as usize])];
        let (vcs, since) = (&self.vcs, self.nodes[node as usize].epoch);
        let routed = |cell: &Cell, ready: SimTime| {
            if !kind.waits_for_route || ready == SimTime::NEVER {
                return ready;
            }
            let label = vcs[cell.vc as usize].label;
            let epoch = epochs.at(ready, since);
            let routed = match kind.waiting {
                Waiting::Turned => first_linked(columns, node, label, epoch),
                _ => first_routed(columns, node, label, epoch),
            };
            routed.map_or(SimTime::NEVER, |epoch| ready.max(epochs.begins(epoch)))
        };
        let Slot::Stepped(stepped) = &mut self.ports[id as usize] else {
            unreachable!("a stepped port");
        };
        let departure = stepped.port.begin_sending_routed(now, routed);
        self.settle_discarded(now, id);
        if let Some(departure) = departure {
            self.plan(node, Key::new(departure, rank::DEPARTURE, id));
        }
    }

    /// Counts what a stepped port had accepted and has discarded now.
    fn settle_discarded(&mut self, now: SimTime, id: u32) {
        if self.stepped(id).port.discarded.is_empty() {
            return;
        }
        let mut discarded = std::mem::take(&mut self.stepped(id).port.discarded);
        for (cell, reason) in discarded.drain(..) {
            let entry = self.entry_of(&cell);
            let record = &mut self.vcs[cell.vc as usize].record;
            record.cells_discarded.add(reason, 1);
            self.trace_discard(now, id, &entry, reason);
            self.forget(cell.frame);
        }
        self.stepped(id).port.discarded = discarded;
    }

    fn entry_of(&self, cell: &Cell) -> Entry {
        Entry {
            arrival: SimTime::ZERO,
            frame: cell.frame,
            vc: cell.vc,
            octets: Entry::octets_of(cell),
            label: self.vcs[cell.vc as usize].label,
            hops: cell.hop as u8,
            ecn: cell.ecn,
        }
    }

    fn trace_discard(&mut self, now: SimTime, id: u32, entry: &Entry, reason: DiscardReason) {
        if !self.traces.has_discards {
            return;
        }
        let flow = match self.frames.get(entry.frame).flow {
            FlowId::NONE => DiscardTrace::NO_FLOW,
            flow => flow.0,
        };
        let trace = &mut self.out.traces.discards;
        trace.push(id, entry.vc, flow, now.0, reason as u8);
    }

    /// The last bit of a packet leaves a stepped port, or one in closed form for another port.
    fn on_departure(&mut self, at: Key, node: u32) {
        let (now, id) = (at.time(), at.subject());
        if let Slot::Closed(port) = &mut self.ports[id as usize] {
            let (_, link, entry) = port.rerouted.pop_front().expect("a packet that leaves");
            if let Some(&(next, ..)) = port.rerouted.front() {
                self.plan(node, Key::new(next, rank::DEPARTURE, id));
            }
            self.counts[node as usize].rerouted += 1;
            return self.offer(at, node, link, entry);
        }
        let port = &mut self.stepped(id).port;
        let (_, since) = port.sending();
        let cell = port.leave(now);
        let entry = self.entry_of(&cell);
        let meter = &mut self.stepped(id).meter;
        meter.on_departure(now.0, entry.line_octets());
        let epoch = self.bring(now, node);
        let kind = usize::from(self.columns.port_kind[id as usize]);
        let waiting = self.kinds[kind].waiting;
        let leaves_by = match waiting {
            Waiting::Sent => Ok(cell.sky_link),
            Waiting::Lost => self.if_there(cell.sky_link, epoch),
            Waiting::SentIfRouted => match self.rows.next(node, entry.label) {
                None => Err(NoLink::NoRoute),
                Some(_) => Ok(cell.sky_link),
            },
            Waiting::Rerouted | Waiting::Turned => match self
                .rows
                .next(node, entry.label)
                .or_else(|| last_link(self.columns, waiting, (node, entry.label), epoch))
            {
                None => Err(NoLink::NoRoute),
                Some(next) if self.columns.link_port[next as usize] != id => {
                    self.counts[node as usize].rerouted += 1;
                    self.offer(at, node, next, entry);
                    return self.begin_sending(now, node, id);
                }
                Some(next) if waiting == Waiting::Turned => Ok(next),
                Some(next) => self.if_there(next, epoch),
            },
        };
        self.leave(node, (since, now), leaves_by, epoch, entry);
        self.begin_sending(now, node, id);
    }

    /// Plans the first samples of the ports that are sampled.
    pub(super) fn begin_samples(&mut self) {
        let records = &self.spec.records;
        let first = SimTime(records.sample_every_ps);
        for &id in &records.sampled_ports {
            let links = &self.links.all;
            let link = links.iter().find(|link| link.port == id);
            let node = link.expect("a port feeds a link").from;
            if !self.has_node(node) {
                continue;
            }
            self.make_port(id);
            self.wake(node, Key::new(first, rank::SAMPLE, id));
        }
    }

    /// The queue of a port is sampled.
    fn on_sample(&mut self, at: Key, node: u32) {
        let (now, id) = (at.time(), at.subject());
        let records = &self.spec.records;
        let traces = &mut self.out.traces;
        let Slot::Stepped(stepped) = &mut self.ports[id as usize] else {
            unreachable!("a sampled port is stepped, and made at the beginning");
        };
        stepped.port.sample(id, now, records, traces);
        let next = now + SimTime(records.sample_every_ps);
        self.plan(node, Key::new(next, rank::SAMPLE, id));
    }

    /// A packet, or the first cell of a frame, as it is handed over where a VC begins.
    pub(super) fn new_entry(&self, frame: FrameId, vc: u32) -> Entry {
        let own = self.frames.get(frame);
        Entry {
            arrival: SimTime::ZERO,
            frame,
            vc,
            octets: match self.carries_cells {
                true => Entry::first_cell(own.cells()),
                false => own.octets(),
            },
            label: self.vcs[vc as usize].label,
            hops: 0,
            ecn: own.ecn(),
        }
    }
}

/// The link of the last route of a node for a label, where a port takes that for want of one.
fn last_link(
    columns: &Columns,
    waiting: Waiting,
    (node, label): (u32, u16),
    epoch: u32,
) -> Option<u32> {
    let takes_last = waiting == Waiting::Turned;
    takes_last.then(|| last_routed(columns, node, label, epoch))?
}
