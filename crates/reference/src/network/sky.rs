//! Packets, or cells, that nodes forward by label, over links and routes that change at epochs.
//!
//! At one instant links and routes change first; then packets leave ports, by port, and arrive, by link.
//! A packet joins the queue of the port that its node's route leaves by as the packet arrives. It enters a
//! link as its last bit leaves, with the delay of the epoch in force then. Where links carry cells, a
//! frame is handed over whole, and each of its cells fares as a packet does from then on.

use super::Network;
use crate::bit_errors::Struck;
use crate::frames::Cell;
use crate::impairments::Impairments;
use crate::port::{Port, Verdict};
use skycell_des::Key;
use skycell_records::{LossReason, PortRecord, SkyMeter, SkyRecord};
use skycell_sky::{
    Columns, Courses, Departing, Forward, LossReason as NoLink, Rows, first_linked, first_routed,
    forward, leave,
};
use skycell_spec::{NetworkSpec, ServiceClass, SkySpec, Waiting};
use skycell_tcp::Segment;
use skycell_traffic::{RoundTrips, rank};
use skycell_units::{CELL_OCTETS, FrameId, PortVc, SimTime};
use std::collections::{BTreeMap, VecDeque};

/// A link of the sky.
#[derive(Debug)]
struct SkyLink {
    impairments: Impairments,
    /// In order of arrival.
    cells: VecDeque<(SimTime, Cell)>,
}

/// The counts of a node.
#[derive(Clone, Debug, Default)]
struct Counts {
    arrived: u64,
    handed_over: u64,
    delivered: u64,
    offered: u64,
    rerouted: u64,
    turned_back: u64,
    no_route: u64,
    hop_limit: u64,
    gone: u64,
    policed: u64,
}

/// The nodes that forward by label, their links and routes.
pub(super) struct Sky<'a> {
    spec: &'a SkySpec,
    columns: &'a Columns,
    rows: Rows<&'a Columns>,
    courses: Courses<'a>,
    /// The epoch in force.
    epoch: u32,
    end_of_run: SimTime,
    /// Number of the first port, and of the first link, of the sky in the run.
    first: u32,
    links: Vec<SkyLink>,
    /// Node that each link leaves.
    link_from: Vec<u32>,
    /// Counts by second of each port.
    meters: Vec<SkyMeter>,
    nodes: Vec<Counts>,
    /// Classes of the VCs by label: a port of packets has these in this order.
    classes: Vec<ServiceClass>,
    /// By port of cells: the VCs that have come to it, with their index there.
    port_vcs: Vec<BTreeMap<u32, PortVc>>,
    carries_cells: bool,
    has_ack_filter: bool,
    /// Round trips of connections.
    pub(super) round_trips: RoundTrips,
}

impl std::fmt::Debug for Sky<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (nodes, links) = (self.nodes.len(), self.links.len());
        write!(
            f,
            "Sky of {nodes} nodes and {links} links at epoch {}",
            self.epoch
        )
    }
}

impl<'a> Sky<'a> {
    /// The sky of a valid spec; its ports join the others.
    /// It has so many connections.
    pub(super) fn new(
        spec: &'a NetworkSpec,
        sky: &'a SkySpec,
        ports: &mut Vec<Port>,
        flows: usize,
    ) -> Self {
        let columns = sky.columns();
        let end_of_run = SimTime(spec.duration_ps);
        let first = ports.len() as u32;
        let by_label = spec.vcs.iter().filter(|vc| vc.by_label.is_some());
        let mut classes: Vec<ServiceClass> = by_label.map(|vc| vc.class).collect();
        classes.sort_unstable();
        classes.dedup();
        let link_from = columns.link_from();
        let first_links = columns.first_links();
        for (port, name) in sky.port_names(&spec.nodes).into_iter().enumerate() {
            let link = first_links[port] as usize;
            let kind = &sky.kinds[usize::from(columns.port_kind[port])];
            let link = kind.link(name, link_from[link], columns.link_to[link]);
            let mut port = Port::new(&link, spec.seed, end_of_run);
            for &class in classes.iter().filter(|_| !sky.carries_cells()) {
                port.add_vc(u32::MAX, class, &link);
            }
            ports.push(port);
        }
        let links = link_from
            .iter()
            .zip(&columns.link_to)
            .zip(&columns.link_port);
        let links = links.map(|((&from, &to), &port)| {
            let kind = &sky.kinds[usize::from(columns.port_kind[port as usize])];
            let node = |node: u32| &spec.nodes[node as usize].name;
            let name = format!("{}>{}", node(from), node(to));
            SkyLink {
                impairments: Impairments::new(&kind.link(name, from, to), spec.seed),
                cells: VecDeque::new(),
            }
        });
        Sky {
            links: links.collect(),
            spec: sky,
            columns,
            rows: Rows::new(columns),
            courses: Courses::new(columns),
            epoch: 0,
            end_of_run,
            first,
            link_from,
            meters: vec![SkyMeter::default(); columns.ports()],
            nodes: vec![Counts::default(); columns.nodes()],
            port_vcs: vec![BTreeMap::new(); columns.ports()],
            carries_cells: sky.carries_cells(),
            classes,
            round_trips: RoundTrips::new(flows, spec.vcs.len()),
            has_ack_filter: sky.kinds.iter().any(|kind| kind.port.ack_filter),
        }
    }

    /// When an epoch comes into force.
    fn begins(&self, epoch: u32) -> SimTime {
        let times = &self.columns.epoch_ps;
        match times.get(epoch as usize) {
            Some(time) => SimTime(time - times[0]),
            None => SimTime::NEVER,
        }
    }

    /// Takes the epoch in force at `now`, and its routes of a node.
    fn bring(&mut self, now: SimTime, node: u32) {
        while self.begins(self.epoch + 1) <= now {
            self.epoch += 1;
        }
        self.rows.bring(node, self.epoch);
    }

    /// The port, by its number in the run, that feeds a link, by its number in the sky.
    fn port_of(&self, link: u32) -> u32 {
        self.first + self.columns.link_port[link as usize]
    }

    /// What becomes of a packet whose last bit leaves its port.
    fn leaving(&mut self, now: SimTime, cell: &Cell, label: u16) -> Departing {
        let link = cell.sky_link;
        let node = self.link_from[link as usize];
        self.bring(now, node);
        let kind = self.columns.port_kind[self.columns.link_port[link as usize] as usize];
        let waiting = self.spec.kinds[usize::from(kind)].waiting.into();
        let route = (node, label, link);
        let (epoch, courses) = (self.epoch, &mut self.courses);
        let exists = |link: u32| courses.delay_ps(link, epoch).is_some();
        leave(&self.rows, exists, route, epoch, waiting)
    }

    /// When a packet of a label may be sent that is ready at `ready`: its port may hold it until there is a route.
    fn routed(&self, label: u16, cell: &Cell, ready: SimTime) -> SimTime {
        let port = self.columns.link_port[cell.sky_link as usize] as usize;
        let kind = &self.spec.kinds[usize::from(self.columns.port_kind[port])];
        let is_turned = kind.waiting == Waiting::Turned;
        if !(kind.waits_for_route || is_turned) || ready == SimTime::NEVER {
            return ready;
        }
        let mut epoch = self.epoch;
        while self.begins(epoch + 1) <= ready {
            epoch += 1;
        }
        let node = self.link_from[cell.sky_link as usize];
        let routed = match is_turned {
            true => first_linked(self.columns, node, label, epoch),
            false => first_routed(self.columns, node, label, epoch),
        };
        routed.map_or(SimTime::NEVER, |epoch| ready.max(self.begins(epoch)))
    }

    /// A packet enters a link, under transmission since `since`. Returns the reason when it is lost on the
    /// route, and whether its payload has bit errors.
    fn enter(
        &mut self,
        (since, now): (SimTime, SimTime),
        link: u32,
        cell: Cell,
        serial: u64,
    ) -> (Option<LossReason>, bool) {
        let delay_ps = self.courses.known_ps(link, self.epoch);
        let ends = self.courses.exists_until(link, self.epoch);
        let ends = self.begins(ends);
        let own = &mut self.links[link as usize];
        // None arrives before the one ahead of it.
        let ahead = own.cells.back().map_or(SimTime::ZERO, |last| last.0);
        // The draw comes first, so that handovers shift nobody's draws.
        let struck = own.impairments.on_cell((since, now), None, &cell, serial);
        if let Struck::Lost(reason) = struck {
            return (Some(reason), false);
        }
        let is_errored = struck == Struck::Payload;
        let Some(delay_ps) = delay_ps else {
            return (Some(LossReason::OutOfRange), is_errored);
        };
        let arrival = ahead.max(now + SimTime(delay_ps));
        if self.spec.loses_in_flight && ends < arrival && ends < self.end_of_run {
            return (Some(LossReason::Handover), is_errored);
        }
        own.cells.push_back((arrival, cell));
        (None, is_errored)
    }

    /// Index of a VC at a port, by their numbers in the sky and in the spec.
    fn port_vc(&mut self, own: &mut Port, port: u32, vc: u32, class: ServiceClass) -> PortVc {
        if !self.carries_cells {
            let index = self.classes.iter().position(|&own| own == class);
            return PortVc(index.expect("all classes by label are known") as u32);
        }
        let kind = &self.spec.kinds[usize::from(self.columns.port_kind[port as usize])];
        let known = self.port_vcs[port as usize].entry(vc);
        *known.or_insert_with(|| own.add_vc(vc, class, &kind.link(String::new(), 0, 0)))
    }

    /// The record of the sky when the run ends, with its `ports`.
    pub(super) fn record(self, ports: &[Port]) -> SkyRecord {
        let mut record = SkyRecord::default();
        let own = ports[self.first as usize..].iter().zip(&self.meters);
        for ((port, meter), id) in own.zip(0u32..) {
            let counts = port.record("", self.end_of_run, false);
            if counts.arrived > 0 {
                record.add_port(id, &counts, meter);
            }
        }
        for (node, id) in self.nodes.iter().zip(0u32..) {
            if node.arrived + node.handed_over == 0 {
                continue;
            }
            record.nodes.push(
                id,
                node.arrived,
                node.handed_over,
                node.delivered,
                node.offered,
                node.rerouted,
                node.turned_back,
                node.no_route,
                node.hop_limit,
                node.gone,
                node.policed,
            );
        }
        record.round_trips = self.round_trips.into_times();
        record
    }

    /// The records of the ports of the sky that are sampled, of all `ports`.
    pub(super) fn sampled(&self, spec: &NetworkSpec, ports: &[Port]) -> Vec<PortRecord> {
        let names = self.spec.port_names(&spec.nodes);
        let own = spec.records.sampled_ports.iter();
        let own = own.filter(|&&port| port >= self.first);
        let name = |port: u32| &names[(port - self.first) as usize];
        own.map(|&port| ports[port as usize].record(name(port), self.end_of_run, false))
            .collect()
    }

    /// VCs of the packets that are on links, one each.
    pub(super) fn vcs_on_links(&self) -> impl Iterator<Item = u32> {
        let cells = self.links.iter().flat_map(|link| &link.cells);
        cells.map(|(_, cell)| cell.vc)
    }
}

impl<'a> Network<'a> {
    fn sky(&mut self) -> &mut Sky<'a> {
        self.sky.as_mut().expect("only a sky forwards by label")
    }

    /// Times a segment that has come back to the source of a flow.
    pub(super) fn time_answer(&mut self, now: SimTime, flow: u32, segment: &Segment) {
        let vc = self.flows[flow as usize].forward[0];
        if let Some(sky) = &mut self.sky {
            sky.round_trips.on_answer(flow, vc, segment, now);
        }
    }

    /// The label of a VC.
    fn label(&self, vc: u32) -> u16 {
        let route = self.spec.vcs[vc as usize].by_label;
        route.expect("the VC goes by label").label as u16
    }

    /// A whole packet, or frame of cells, is handed over where its VC begins.
    pub(super) fn hand_to_sky(&mut self, now: SimTime, id: FrameId, vc_id: u32, node: u32) {
        let frame = self.frames.get(id);
        let (units, carries_packets) = {
            let vc = &self.vcs[vc_id as usize];
            (vc.units(frame), vc.carries_packets)
        };
        let cell = Cell {
            frame: id,
            rm: None,
            efci: false,
            ack: None,
            index: 0,
            octets: if carries_packets { frame.octets } else { 0 },
            vc: vc_id,
            port_vc: PortVc(0),
            flow: frame.content.flow_number(self.flows.len()),
            hop: 0,
            sky_link: 0,
            eom: units == 1,
            clp: frame.clp,
            is_paced: false,
            ecn: frame.ecn,
            came_at: now,
            left_at: now,
            entry: 0,
        };
        self.frames.begin(id, units);
        let vc = &mut self.vcs[vc_id as usize];
        vc.record.frames_offered += 1;
        vc.record.cells_offered += u64::from(units);
        vc.offer_clp0(cell.clp, units);
        self.sky().nodes[node as usize].handed_over += u64::from(units);
        self.forward(now, node, None, cell, units);
    }

    /// A packet is at a node, to which it came over a link or not: it is delivered, lost, or goes on. A frame
    /// that is handed over has `units` cells, the first of which is given.
    fn forward(
        &mut self,
        now: SimTime,
        node: u32,
        came_over: Option<u32>,
        mut cell: Cell,
        units: u32,
    ) {
        let label = self.label(cell.vc);
        let sky = self.sky();
        sky.bring(now, node);
        let limit = sky.spec.hop_limit as usize;
        let fate = match forward(&sky.rows, node, label, usize::from(cell.hop), limit) {
            // Only where it begins may a packet wait for a route.
            Forward::Lost(NoLink::NoRoute) if came_over.is_none() => {
                let held = sky.spec.link_to_wait_for(node);
                held.map_or(Forward::Lost(NoLink::NoRoute), Forward::Link)
            }
            fate => fate,
        };
        // Where its first link ends a VC enters the network.
        if cell.hop == 1 {
            if fate != Forward::Delivered && self.is_discarded_by_policer(now, &mut cell) {
                self.sky().nodes[node as usize].policed += 1;
                return;
            }
            let entered = &mut self.vcs[cell.vc as usize].entered;
            cell.entry = *entered;
            *entered += 1;
        }
        let sky = self.sky.as_mut().expect("only a sky forwards by label");
        let counts = &mut sky.nodes[node as usize];
        match fate {
            Forward::Delivered => {
                counts.delivered += 1;
                match self.vcs[cell.vc as usize].resequencer {
                    Some(_) => self.on_cell_to_order(now, cell),
                    None => self.on_cell_at_end(now, node, cell),
                }
            }
            Forward::Lost(reason) => {
                let reason = LossReason::from(reason);
                match reason {
                    LossReason::HopLimit => counts.hop_limit += u64::from(units),
                    _ => counts.no_route += u64::from(units),
                }
                self.lose_units(&cell, units, reason);
            }
            Forward::Link(link) => {
                let back =
                    |came: u32| sky.link_from[came as usize] == sky.columns.link_to[link as usize];
                counts.turned_back += u64::from(came_over.is_some_and(back));
                let is_handed_over = came_over.is_none();
                self.offer_units(now, link, cell, units, is_handed_over);
            }
        }
    }

    /// Offers a packet, a cell, or the `units` cells of a frame that is handed over, to the port of a link.
    fn offer_units(
        &mut self,
        now: SimTime,
        link: u32,
        cell: Cell,
        units: u32,
        is_handed_over: bool,
    ) {
        let class = self.spec.vcs[cell.vc as usize].class;
        let sky = self.sky.as_mut().expect("only a sky forwards by label");
        sky.nodes[sky.link_from[link as usize] as usize].offered += u64::from(units);
        let port_id = sky.port_of(link);
        let port = &mut self.ports[port_id as usize];
        let port_vc = sky.port_vc(port, port_id - sky.first, cell.vc, class);
        let carries_cells = sky.carries_cells;
        // Each port looks at the packet anew, whatever the filter of one before has made of it.
        let has_ack_filter = self.sky().has_ack_filter;
        let content = &self.frames.get(cell.frame).content;
        let ack = has_ack_filter.then(|| self.pure_ack(content));
        let own = Cell {
            ack: ack.flatten(),
            sky_link: link,
            came_at: now,
            ..cell
        };
        let port = &mut self.ports[port_id as usize];
        let was_idle = !port.is_busy();
        let verdict = match carries_cells && !is_handed_over {
            true => port.on_cell(now, own, port_vc),
            false => port.on_frame(now, port_vc, units, |index| Cell {
                index,
                eom: index + 1 == units,
                ..own
            }),
        };
        let is_refused = verdict != Verdict::Accepted;
        let discarded = port.discarded.len() as u32 + units * u32::from(is_refused);
        let queued = port.queued();
        let sky = self.sky();
        let meter = &mut sky.meters[(port_id - sky.first) as usize];
        meter.on_arrival(now.0, queued);
        meter.on_discard(now.0, discarded);
        self.settle_discarded(now, port_id);
        if is_refused {
            self.lose_clp0(cell.vc, cell.clp, units);
        }
        self.after_offer(now, port_id, was_idle, cell.vc, cell.frame, units, verdict);
    }

    fn lose_units(&mut self, cell: &Cell, units: u32, reason: LossReason) {
        let lost = &mut self.vcs[cell.vc as usize].record.cells_lost;
        (0..units).for_each(|_| lost.add(reason));
        self.lose_clp0(cell.vc, cell.clp, units);
        self.frames.settle(cell.frame, units);
    }

    /// A port of the sky, or another one, begins to send; returns when the last bit will leave.
    pub(super) fn begin_on_port(&mut self, now: SimTime, port_id: u32) -> Option<SimTime> {
        let port = &mut self.ports[port_id as usize];
        let Some(sky) = self.sky.as_ref().filter(|sky| port_id >= sky.first) else {
            return port.begin_sending(now);
        };
        let vcs = &self.spec.vcs;
        port.begin_sending_routed(now, |cell, ready| {
            let route = vcs[cell.vc as usize].by_label;
            let label = route.expect("the VC goes by label").label as u16;
            sky.routed(label, cell, ready)
        })
    }

    /// The last bit of a packet leaves a port of the sky.
    pub(super) fn on_sky_departure(&mut self, now: SimTime, port_id: u32) {
        let port = &mut self.ports[port_id as usize];
        let (_, since) = port.sending();
        let cell = port.leave(now);
        let (label, serial) = (self.label(cell.vc), self.frames.serial(cell.frame));
        let sky = self.sky();
        let octets = if sky.carries_cells {
            CELL_OCTETS as u32
        } else {
            cell.octets
        };
        sky.meters[(port_id - sky.first) as usize].on_departure(now.0, octets);
        let node = sky.link_from[cell.sky_link as usize] as usize;
        match sky.leaving(now, &cell, label) {
            Departing::Link(link) => {
                let before = sky.links[link as usize].cells.is_empty();
                let (lost, is_errored) = sky.enter((since, now), link, cell, serial);
                if is_errored {
                    self.frames.set_errored(cell.frame);
                }
                let sky = self.sky.as_mut().expect("only a sky forwards by label");
                match (lost, before, sky.links[link as usize].cells.front()) {
                    (Some(reason), ..) => {
                        if reason == LossReason::OutOfRange {
                            sky.nodes[node].gone += 1;
                        }
                        self.lose_units(&cell, 1, reason);
                    }
                    (None, true, Some(&(arrival, _))) => {
                        let subject = sky.first + link;
                        self.events.push(Key::new(arrival, rank::ARRIVAL, subject));
                    }
                    _ => {}
                }
            }
            Departing::Port(link) => {
                sky.nodes[node].rerouted += 1;
                self.offer_units(now, link, cell, 1, false);
            }
            Departing::Lost(reason) => {
                sky.nodes[node].gone += 1;
                self.lose_units(&cell, 1, reason.into());
            }
        }
        self.begin_sending(now, port_id);
    }

    /// A packet arrives at the end of a link of the sky.
    pub(super) fn on_sky_arrival(&mut self, now: SimTime, link_id: u32) {
        let sky = self.sky();
        let link = link_id - sky.first;
        let cells = &mut sky.links[link as usize].cells;
        let (_, mut cell) = cells.pop_front().expect("an arrival has its packet");
        let next = cells.front().map(|first| first.0);
        let node = sky.columns.link_to[link as usize];
        sky.nodes[node as usize].arrived += 1;
        if let Some(next) = next {
            self.events.push(Key::new(next, rank::ARRIVAL, link_id));
        }
        cell.hop += 1;
        self.forward(now, node, Some(link), cell, 1);
    }
}
