//! Packets that nodes forward by label, over links and routes that change at epochs.
//!
//! At one instant links and routes change first; then packets leave ports, by port, and arrive, by link.
//! A packet joins the queue of the port that its node's route leaves by as the packet arrives. It enters a
//! link as its last bit leaves, with the delay of the epoch in force then.

use super::Network;
use crate::bit_errors::Struck;
use crate::frames::Cell;
use crate::impairments::Impairments;
use crate::port::{Port, Verdict};
use skycell_des::Key;
use skycell_records::{LossReason, PortRecord, SkyMeter, SkyRecord};
use skycell_sky::{Columns, Courses, Departing, Forward, Rows, forward, leave};
use skycell_spec::{NetworkSpec, ServiceClass, SkySpec};
use skycell_tcp::Segment;
use skycell_traffic::{RoundTrips, rank};
use skycell_units::{FrameId, PortVc, SimTime};
use std::collections::VecDeque;

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
}

/// The nodes that forward by label, their links and routes.
pub(super) struct Sky<'a> {
    spec: &'a SkySpec,
    columns: &'a Columns,
    rows: Rows<'a>,
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
    /// Classes of the VCs by label: a port has these in this order.
    classes: Vec<ServiceClass>,
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
            for &class in &classes {
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
        leave(&self.rows, &mut self.courses, route, self.epoch, waiting)
    }

    /// A packet enters a link, under transmission since `since`; the reason when it is lost on the route.
    fn enter(
        &mut self,
        (since, now): (SimTime, SimTime),
        link: u32,
        cell: Cell,
        serial: u64,
    ) -> Option<LossReason> {
        let delay_ps = self.courses.known_ps(link, self.epoch);
        let ends = self.courses.exists_until(link, self.epoch);
        let ends = self.begins(ends);
        let own = &mut self.links[link as usize];
        // None arrives before the one ahead of it.
        let ahead = own.cells.back().map_or(SimTime::ZERO, |last| last.0);
        // The draw comes first, so that handovers shift nobody's draws.
        let struck = own.impairments.on_cell((since, now), None, &cell, serial);
        if let Struck::Lost(reason) = struck {
            return Some(reason);
        }
        let Some(delay_ps) = delay_ps else {
            return Some(LossReason::OutOfRange);
        };
        let arrival = ahead.max(now + SimTime(delay_ps));
        if self.spec.loses_in_flight && ends < arrival && ends < self.end_of_run {
            return Some(LossReason::Handover);
        }
        own.cells.push_back((arrival, cell));
        None
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

    /// A whole packet is handed over where its VC begins.
    pub(super) fn hand_to_sky(&mut self, now: SimTime, id: FrameId, vc_id: u32, node: u32) {
        let frame = self.frames.get(id);
        let cell = Cell {
            frame: id,
            rm: None,
            efci: false,
            ack: None,
            index: 0,
            octets: frame.octets,
            vc: vc_id,
            port_vc: PortVc(0),
            flow: frame.content.flow_number(self.flows.len()),
            hop: 0,
            sky_link: 0,
            eom: true,
            clp: frame.clp,
            is_paced: false,
            ecn: frame.ecn,
            came_at: now,
            left_at: now,
            entry: 0,
        };
        self.frames.begin(id, 1);
        let record = &mut self.vcs[vc_id as usize].record;
        record.frames_offered += 1;
        record.cells_offered += 1;
        self.sky().nodes[node as usize].handed_over += 1;
        self.forward(now, node, None, cell);
    }

    /// A packet is at a node, to which it came over a link or not: it is delivered, lost, or goes on.
    fn forward(&mut self, now: SimTime, node: u32, came_over: Option<u32>, cell: Cell) {
        let label = self.label(cell.vc);
        let sky = self.sky();
        sky.bring(now, node);
        let limit = sky.spec.hop_limit as usize;
        let fate = forward(&sky.rows, node, label, usize::from(cell.hop), limit);
        let counts = &mut sky.nodes[node as usize];
        match fate {
            Forward::Delivered => {
                counts.delivered += 1;
                self.on_cell_at_end(now, node, cell);
            }
            Forward::Lost(reason) => {
                let reason = LossReason::from(reason);
                match reason {
                    LossReason::HopLimit => counts.hop_limit += 1,
                    _ => counts.no_route += 1,
                }
                self.lose_packet(&cell, reason);
            }
            Forward::Link(link) => {
                let back =
                    |came: u32| sky.link_from[came as usize] == sky.columns.link_to[link as usize];
                counts.turned_back += u64::from(came_over.is_some_and(back));
                self.offer_packet(now, link, cell);
            }
        }
    }

    /// Offers a packet to the port of a link.
    fn offer_packet(&mut self, now: SimTime, link: u32, cell: Cell) {
        let class = self.spec.vcs[cell.vc as usize].class;
        let sky = self.sky();
        sky.nodes[sky.link_from[link as usize] as usize].offered += 1;
        let port_id = sky.port_of(link);
        let index = sky.classes.iter().position(|&own| own == class);
        let port_vc = PortVc(index.expect("all classes by label are known") as u32);
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
        let verdict = port.on_frame(now, port_vc, 1, |_| own);
        let discarded = port.discarded.len() as u32 + u32::from(verdict != Verdict::Accepted);
        let queued = port.queued();
        let sky = self.sky();
        let meter = &mut sky.meters[(port_id - sky.first) as usize];
        meter.on_arrival(now.0, queued);
        meter.on_discard(now.0, discarded);
        self.settle_discarded(now, port_id);
        self.after_offer(now, port_id, was_idle, cell.vc, cell.frame, 1, verdict);
    }

    fn lose_packet(&mut self, cell: &Cell, reason: LossReason) {
        self.vcs[cell.vc as usize].record.cells_lost.add(reason);
        self.frames.settle(cell.frame, 1);
    }

    /// The last bit of a packet leaves a port of the sky.
    pub(super) fn on_sky_departure(&mut self, now: SimTime, port_id: u32) {
        let port = &mut self.ports[port_id as usize];
        let (_, since) = port.sending();
        let cell = port.leave(now);
        let (label, serial) = (self.label(cell.vc), self.frames.serial(cell.frame));
        let sky = self.sky();
        sky.meters[(port_id - sky.first) as usize].on_departure(now.0, cell.octets);
        let node = sky.link_from[cell.sky_link as usize] as usize;
        match sky.leaving(now, &cell, label) {
            Departing::Link(link) => {
                let before = sky.links[link as usize].cells.is_empty();
                let lost = sky.enter((since, now), link, cell, serial);
                match (lost, before, sky.links[link as usize].cells.front()) {
                    (Some(reason), ..) => {
                        if reason == LossReason::OutOfRange {
                            sky.nodes[node].gone += 1;
                        }
                        self.lose_packet(&cell, reason);
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
                self.offer_packet(now, link, cell);
            }
            Departing::Lost(reason) => {
                sky.nodes[node].gone += 1;
                self.lose_packet(&cell, reason.into());
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
        self.forward(now, node, Some(link), cell);
    }
}
