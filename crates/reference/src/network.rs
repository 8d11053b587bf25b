//! Nodes, ports, VCs and flows of a run, and what happens at each event.

use crate::frames::{Cell, Content, Frame, Frames};
use crate::live::Delivery;
use crate::paths::{Exit, Next, PathRows, VcPaths};
use crate::port::{Port, Verdict};
use crate::resequencer::Resequencer;
use crate::timers::Timers;
use skycell_atm::{GuaranteedVc, Policer, Reassembled, Reassembly};
use skycell_des::{EventQueue, Key};
use skycell_records::{CellDelays, Clp0Record, DiscardReason, LossReason, VcRecord};
use skycell_spec::{FlowSpec, NetworkSpec, Proxy, TraceKind};
use skycell_switch::PureAck;
use skycell_tcp::Segment;
use skycell_traffic::{
    CellSource, Flow, HostDelay, Hosts, Outbox, Proxies, SharedTcp, Users, UsersOutbox, rank,
};
use skycell_units::{Ecn, FrameId, PortVc, SimTime};

mod abr;
mod access;
mod contracts;
mod finish;
mod fragments;
mod order;
mod part;
mod real;
mod routes;
mod samples;
mod sky;
mod sources;
mod users;

use abr::Abr;
use access::Access;
pub use finish::Finished;
pub use part::{NetworkPart, Outside};
use sky::Sky;

/// A virtual channel.
#[derive(Debug)]
struct Vc {
    vc_paths: VcPaths,
    policer: Option<Policer>,
    delays: Option<CellDelays>,
    /// The frame whose cells a source is sending.
    frame_under_way: FrameId,
    reassembly: Reassembly,
    /// Its contract, if it has one.
    guaranteed: Option<GuaranteedVc>,
    /// Puts its cells in order at its end, if the spec asks for it.
    resequencer: Option<Resequencer>,
    /// Cells that have entered the network so far, counted for it.
    entered: u64,
    /// True if its one link carries packets.
    carries_packets: bool,
    record: VcRecord,
}

impl Vc {
    /// Units in which a frame crosses it.
    fn units(&self, frame: &Frame) -> u32 {
        if self.carries_packets { 1 } else { frame.cells }
    }
}

/// A flow with its routes and the events that are pending for it.
#[derive(Debug)]
struct FlowState {
    flow: Flow,
    forward: Vec<u32>,
    reverse: Vec<u32>,
    timers: Timers,
    /// Segments that the source, and the destination, have sent and not yet handed over.
    host_delays: [HostDelay; 2],
}

impl FlowState {
    /// The VCs that carry what the source, or else the destination, sends.
    fn route(&self, is_forward: bool) -> &[u32] {
        if is_forward {
            &self.forward
        } else {
            &self.reverse
        }
    }
}

/// The state of a run.
#[derive(Debug)]
pub(crate) struct Network<'a> {
    spec: &'a NetworkSpec,
    pub(crate) ports: Vec<Port>,
    vcs: Vec<Vc>,
    flows: Vec<FlowState>,
    proxies: Proxies,
    /// None where there are no users.
    users: Option<Users>,
    of_users: UsersOutbox,
    sources: Vec<CellSource>,
    /// By source: the one that answers its datagrams.
    echoes: Vec<Option<u32>>,
    frames: Frames,
    pub(crate) events: EventQueue,
    out: Outbox,
    /// Real packets that have come to the end of their way.
    delivered: Vec<Delivery>,
    /// The frame that has come to the end of its VC last and goes on outside of this part, until somebody takes it.
    out_of_part: Option<(FrameId, Ecn)>,
    abr: Abr,
    access: Access,
    /// None where no VC changes its path.
    path_rows: Option<PathRows>,
    /// None where no node forwards by label.
    sky: Option<Sky<'a>>,
    traces_discards: bool,
}

impl<'a> Network<'a> {
    /// With flows that begin as the spec says, and between which there are proxies.
    pub(crate) fn new(spec: &'a NetworkSpec, proxies: &[Proxy]) -> Self {
        let mut network = Network::without_flows(spec);
        let mut flows: Vec<&mut Flow> = network.flows.iter_mut().map(|f| &mut f.flow).collect();
        network.proxies = Proxies::join(&mut flows, proxies);
        (0..network.flows.len() as u32).for_each(|id| network.plan(id));
        network.begin_users();
        network
    }

    /// With flows that never begin: they are routes for real packets.
    pub(crate) fn without_flows(spec: &'a NetworkSpec) -> Self {
        let mut network = Network::of(spec, &spec.flows, |_| true);
        network.begin_sources(|_| true);
        let first_sample = SimTime(spec.records.sample_every_ps);
        network.events.push(Key::new(first_sample, rank::SAMPLE, 0));
        network
    }

    /// With these flows, none of which begins, nor any source; delays are measured of the VCs that it `has`, and nothing is
    /// sampled.
    pub(crate) fn of(spec: &'a NetworkSpec, flows: &[FlowSpec], has: impl Fn(u32) -> bool) -> Self {
        let [from, end] = [spec.measure_from_ps, spec.duration_ps].map(SimTime);
        let links = spec.links.iter();
        let mut ports: Vec<Port> = links.map(|link| Port::new(link, spec.seed, end)).collect();
        let sky = spec
            .sky
            .as_ref()
            .map(|sky| Sky::new(spec, sky, &mut ports, flows.len()));
        for &port in &spec.records.flow_ports {
            ports[port as usize].report_flows();
        }
        for &port in &spec.records.stay_ports {
            ports[port as usize].report_stays();
        }
        let mut labels = 0u16..;
        let vcs = spec
            .vcs
            .iter()
            .zip(0u32..)
            .map(|(vc, id)| Vc {
                vc_paths: VcPaths::new(
                    vc,
                    vc.rerouting.as_ref().and_then(|_| labels.next()),
                    |link| ports[link as usize].add_vc(id, vc.class, &spec.links[link as usize]),
                    |link| spec.links[link as usize].from,
                ),
                policer: (!vc.policing.is_empty()).then(|| Policer::new(&vc.policing)),
                delays: (spec.records.delay_vcs.contains(&id) && has(id))
                    .then(|| CellDelays::new(spec.vc_fixed_delay_ps(id as usize))),
                frame_under_way: FrameId(0),
                reassembly: Reassembly::default(),
                guaranteed: vc.gfr.map(|gfr| GuaranteedVc::new(&gfr, from, end)),
                resequencer: vc.resequencer.as_ref().map(Resequencer::new),
                entered: 0,
                carries_packets: spec.carries_packets(id as usize),
                record: VcRecord {
                    name: vc.name.clone(),
                    carries_packets: spec.carries_packets(id as usize),
                    clp0: spec.counts_clp0(id).then(Clp0Record::default),
                    ..VcRecord::default()
                },
            })
            .collect();
        let mut tcp = SharedTcp::default();
        let flows = flows
            .iter()
            .zip(0u32..)
            .map(|(flow, id)| {
                let hosts = Hosts::of(spec, flow);
                FlowState {
                    flow: Flow::new(id, flow, &mut tcp, spec.seed, hosts, &spec.records.traces),
                    forward: flow.forward.clone(),
                    reverse: flow.reverse.clone(),
                    timers: Timers::default(),
                    host_delays: HostDelay::of_ends(flow, spec.seed),
                }
            })
            .collect();
        let mut events = EventQueue::default();
        let abr = Abr::new(spec, &mut events);
        let access = Access::new(spec, &mut ports, &mut events);
        let sources = 0..spec.sources.len() as u32;
        let mut network = Network {
            spec,
            ports,
            vcs,
            flows,
            proxies: Proxies::default(),
            users: None,
            of_users: UsersOutbox::default(),
            sources: sources.map(|id| CellSource::of(spec, id)).collect(),
            echoes: spec.echoes(),
            frames: Frames::default(),
            events,
            out: Outbox::default(),
            delivered: Vec::new(),
            out_of_part: None,
            abr,
            access,
            path_rows: PathRows::of(spec),
            sky,
            traces_discards: spec.records.traces.contains(&TraceKind::Discards),
        };
        network.add_pacers();
        network
    }

    /// Executes an event.
    pub(crate) fn on_event(&mut self, event: Key) {
        let (now, subject) = (event.time(), event.subject());
        match event.rank() {
            rank::DEPARTURE => self.on_departure(now, subject),
            rank::SAMPLE => self.on_sample(now),
            rank::ARRIVAL => self.on_arrival(now, subject),
            rank::SOURCE => self.on_source(now, subject),
            rank::TRANSMIT => self.on_transmit(now, subject),
            rank::PACE => self.on_pace(now, subject),
            rank::INTERVAL => self.on_interval(now, subject),
            rank::SLOT => self.on_slot(now, subject),
            rank::RESEQUENCE => self.on_resequence(now, subject),
            timer if self.is_user(subject) => self.on_user_event(now, timer, subject),
            timer => self.on_timer(now, timer, subject),
        }
    }

    fn on_departure(&mut self, now: SimTime, port_id: u32) {
        if port_id as usize >= self.spec.links.len() {
            return self.on_sky_departure(now, port_id);
        }
        let port = &mut self.ports[port_id as usize];
        let (cell, _) = port.sending();
        let from = self.spec.links[port_id as usize].from;
        let vc_paths = &self.vcs[cell.vc as usize].vc_paths;
        let at = (from, port_id, port.link.to);
        let to = match vc_paths.departing(&mut self.path_rows, now, at) {
            Exit::To(node) => Some(node),
            Exit::Lost => None,
            Exit::Rejoins(hop) => {
                let cell = port.leave(now);
                self.offer_cell(
                    now,
                    Cell {
                        hop,
                        came_at: now,
                        ..cell
                    },
                );
                self.begin_sending(now, port_id);
                return self.note_change(port_id);
            }
        };
        let before = port.link.next_arrival();
        let serial = self.frames.serial(cell.frame);
        let left = port.on_departure(now, serial, to);
        if let Some(frame) = left.errored {
            match self.spec.links[port_id as usize].framing {
                None => self.frames.set_errored(frame),
                Some(_) => self.frames.set_damaged(frame),
            }
        }
        if let Some((lost, reason)) = left.lost {
            self.vcs[lost.vc as usize].record.cells_lost.add(reason);
            self.lose_clp0(lost.vc, lost.clp, 1);
            self.frames.settle(lost.frame, 1);
        }
        self.begin_sending(now, port_id);
        self.note_change(port_id);
        let first = self.ports[port_id as usize].link.next_arrival();
        if let Some(arrival) = first
            && first != before
        {
            self.events.push(Key::new(arrival, rank::ARRIVAL, port_id));
        }
    }

    /// The port begins to send its next cell, if it has one. With the first cell of a frame that the
    /// VC's adapter sends goes the decision whether it is tagged.
    fn begin_sending(&mut self, now: SimTime, port_id: u32) {
        let departure = self.begin_on_port(now, port_id);
        self.settle_discarded(now, port_id);
        if !self.ports[port_id as usize].is_busy() {
            return self.plan_pace(now, port_id);
        }
        let (&cell, start) = self.ports[port_id as usize].sending();
        self.count_rm_cell(now, port_id, &cell);
        let Some(departure) = departure else {
            return; // there is no path any more
        };
        let event = Key::new(departure, rank::DEPARTURE, port_id);
        self.events.push(event);
        self.access.on_sending(port_id, &cell, start);
        if cell.hop == 0
            && cell.index == 0
            && let Some(guaranteed) = &mut self.vcs[cell.vc as usize].guaranteed
        {
            let cells = self.frames.get(cell.frame).cells;
            let clp = guaranteed.on_sending(start, cells);
            self.frames.set_clp(cell.frame, clp);
        }
    }

    fn on_arrival(&mut self, now: SimTime, link_id: u32) {
        if link_id as usize >= self.spec.links.len() {
            return self.on_sky_arrival(now, link_id);
        }
        let link = &mut self.ports[link_id as usize].link;
        let Some((node, mut cell)) = link.take(now) else {
            return; // a cell on a new path was earlier
        };
        if let Some(next) = link.next_arrival() {
            self.events.push(Key::new(next, rank::ARRIVAL, link_id));
        }
        let enters = cell.hop == 0;
        if enters && self.is_discarded_by_policer(now, &mut cell) {
            return;
        }
        let vc = &mut self.vcs[cell.vc as usize];
        match (vc.vc_paths).next(&mut self.path_rows, now, cell.hop, node) {
            Next::Hop(hop) => {
                cell.hop = hop;
                cell.came_at = now;
                if self.is_cut(cell.vc, node) {
                    return self.on_cell_at_cut(now, node, cell);
                }
                self.lower_er(now, node, &mut cell);
                if enters {
                    if self.is_refused_by_contract(now, &mut cell) {
                        return;
                    }
                    let entered = &mut self.vcs[cell.vc as usize].entered;
                    cell.entry = *entered;
                    *entered += 1;
                }
                self.offer_cell(now, cell);
            }
            Next::End if vc.resequencer.is_some() => self.on_cell_to_order(now, cell),
            Next::End => self.on_cell_at_end(now, node, cell),
            Next::Lost => {
                vc.record.cells_lost.add(LossReason::OffPath);
                self.lose_clp0(cell.vc, cell.clp, 1);
                self.frames.settle(cell.frame, 1);
            }
        }
    }

    /// Offers a cell to the port of its hop.
    fn offer_cell(&mut self, now: SimTime, mut cell: Cell) {
        let (port_id, _) = self.vcs[cell.vc as usize].vc_paths.hop(cell.hop);
        self.meet_control(now, port_id, &mut cell);
        self.enqueue_cell(now, cell);
    }

    /// A cell comes to the queue of its hop's port.
    fn enqueue_cell(&mut self, now: SimTime, cell: Cell) {
        let (port_id, port_vc) = self.vcs[cell.vc as usize].vc_paths.hop(cell.hop);
        let port = &mut self.ports[port_id as usize];
        let was_idle = !port.is_busy();
        let verdict = port.on_cell(now, cell, port_vc);
        if matches!(verdict, Verdict::Discarded { .. }) {
            self.lose_clp0(cell.vc, cell.clp, 1);
        }
        self.after_offer(now, port_id, was_idle, cell.vc, cell.frame, 1, verdict);
    }

    /// A cell has reached the end of its VC.
    fn on_cell_at_end(&mut self, now: SimTime, node: u32, cell: Cell) {
        self.vcs[cell.vc as usize].record.cells_delivered += 1;
        if cell.rm.is_some() {
            return self.on_rm_cell_at_end(now, node, cell);
        }
        self.see_efci(now, node, &cell);
        let frame = self.frames.get(cell.frame);
        let is_errored =
            frame.is_errored || frame.is_damaged && self.next_on_route(&frame.content).is_none();
        let vc = &mut self.vcs[cell.vc as usize];
        if let Some(delays) = &mut vc.delays {
            delays.add((now - cell.left_at).0);
        }
        match vc
            .reassembly
            .on_cell(frame.serial, cell.index, cell.eom, is_errored)
        {
            Some(Reassembled::Whole) => {
                vc.record.frames_delivered += 1;
                vc.record.cells_whole += u64::from(vc.units(frame));
                if let Some(guaranteed) = &mut vc.guaranteed {
                    guaranteed.on_delivered(now, frame.cells);
                }
                self.frames.set_ecn(cell.frame, cell.ecn);
                self.on_frame_at_end(now, cell.frame);
            }
            Some(Reassembled::Corrupt { cells, is_crc }) => {
                vc.record.frames_corrupt += 1;
                vc.record.frames_crc += u64::from(is_crc);
                vc.record.cells_corrupt += u64::from(cells);
                self.frames.settle(cell.frame, 1);
            }
            None => self.frames.settle(cell.frame, 1),
        }
    }

    /// A whole frame has reached the end of its VC: a router sends it on, a host hands it up.
    fn on_frame_at_end(&mut self, now: SimTime, id: FrameId) {
        let frame = self.frames.get(id);
        if let Content::Outside(outside) = &frame.content {
            self.out_of_part = Some((outside.frame, frame.ecn));
            return self.frames.take_out(id);
        }
        if let Some(next) = self.next_on_route(&frame.content) {
            self.frames.next_vc(id);
            return self.offer_frame(now, id, next);
        }
        let (flow_id, is_forward) = match frame.content {
            Content::Segment { flow, .. } if self.is_user(flow) => {
                return self.on_user_segment(now, id);
            }
            Content::Segment {
                flow, is_forward, ..
            } => (flow, is_forward),
            Content::Real(_) => return self.on_real_at_end(now, id),
            Content::Fragment(_) => return self.on_fragment_at_end(now, id),
            Content::Datagram { source, since, .. } => {
                let (octets, cells) = (frame.octets, frame.cells);
                self.sources[source as usize].on_delivered(octets, now - since);
                self.frames.settle(id, 1);
                if let Some(echo) = self.echoes[source as usize] {
                    let answer = self.sources[echo as usize].answer(octets, cells);
                    self.send_datagram(now, echo, answer, since);
                }
                return;
            }
            _ => return self.frames.settle(id, 1),
        };
        let frame = frame.clone();
        self.frames.settle(id, 1);
        let flow = &mut self.flows[flow_id as usize].flow;
        let Content::Segment { segment, .. } = frame.content else {
            unreachable!("the frame of a flow");
        };
        let segment = Segment {
            ecn: frame.ecn,
            ..segment
        };
        let out = &mut self.out;
        if is_forward {
            flow.on_segment_at_destination(now, &segment, frame.enqueued_at, out);
        } else {
            flow.on_segment_at_source(now, &segment, out);
            self.time_answer(now, flow_id, &segment);
        }
        self.after_flow(now, flow_id);
        if let Some(beyond) = self.proxies.beyond(flow_id, is_forward) {
            let pair = [flow_id as usize, beyond as usize];
            let flows = self.flows.get_disjoint_mut(pair);
            let [one, other] = flows.expect("a connection does not join itself");
            (other.flow).on_beyond(now, is_forward, &mut one.flow, &mut self.out);
            self.after_flow(now, beyond);
        }
    }

    fn on_timer(&mut self, now: SimTime, timer: u8, id: u32) {
        let state = &mut self.flows[id as usize];
        let (timers, flow) = (&mut state.timers, &mut state.flow);
        timers.on_event(now, timer, flow, &mut self.out);
        self.after_flow(now, id);
    }

    /// Sends what the flow wants sent and plans its timers.
    fn after_flow(&mut self, now: SimTime, id: u32) {
        let mut segments = std::mem::take(&mut self.out.forward);
        segments
            .drain(..)
            .for_each(|segment| self.send(now, id, true, segment));
        self.out.forward = segments;
        let mut segments = std::mem::take(&mut self.out.reverse);
        segments
            .drain(..)
            .for_each(|segment| self.send(now, id, false, segment));
        self.out.reverse = segments;
        self.plan(id);
    }

    fn plan(&mut self, id: u32) {
        let state = &mut self.flows[id as usize];
        state.timers.plan(id, &state.flow, &mut self.events);
    }

    /// The end of a flow sends a segment, which comes to its port after the host's processing time.
    fn send(&mut self, now: SimTime, flow_id: u32, is_forward: bool, segment: Segment) {
        let state = &mut self.flows[flow_id as usize];
        let cells = state.flow.cells(&segment, is_forward).0;
        let octets = state.flow.packet(&segment, is_forward) as u32;
        let content = Content::Segment {
            segment,
            flow: flow_id,
            is_forward,
            route_index: 0,
        };
        let end = &mut state.host_delays[usize::from(!is_forward)];
        let at = end.draw(now);
        if is_forward && let Some(sky) = &mut self.sky {
            sky.round_trips.on_sent(flow_id, &segment, now);
        }
        let id = self.frames.add(content, octets, cells, at);
        if end.is_immediate() {
            self.hand_over(now, id, flow_id, is_forward);
        } else if end.wait(at, id) {
            let subject = HostDelay::index(flow_id, is_forward);
            self.events.push(Key::new(at, rank::TRANSMIT, subject));
        }
    }

    /// The end of a flow hands over what is due, in order.
    fn on_transmit(&mut self, now: SimTime, subject: u32) {
        let (flow_id, is_forward) = HostDelay::end_at(subject);
        let end = usize::from(!is_forward);
        while let Some(id) = self.flows[flow_id as usize].host_delays[end].take(now) {
            self.hand_over(now, id, flow_id, is_forward);
        }
        if let Some(next) = self.flows[flow_id as usize].host_delays[end].next() {
            self.events.push(Key::new(next, rank::TRANSMIT, subject));
        }
    }

    fn hand_over(&mut self, now: SimTime, id: FrameId, flow_id: u32, is_forward: bool) {
        let vc = self.flows[flow_id as usize].route(is_forward)[0];
        self.offer_frame(now, id, vc);
    }

    /// Offers a whole frame to the first port of VC `vc_id`.
    fn offer_frame(&mut self, now: SimTime, id: FrameId, vc_id: u32) {
        if let Some(mtu) = self.needs_fragments(id, vc_id) {
            return self.offer_fragments(now, id, vc_id, mtu);
        }
        if let Some(by_label) = self.spec.vcs[vc_id as usize].by_label {
            return self.hand_to_sky(now, id, vc_id, by_label.from);
        }
        let is_paced = self.abr.paces(vc_id);
        let vc = &self.vcs[vc_id as usize];
        let frame = self.frames.get(id);
        let units = vc.units(frame);
        let octets = if vc.carries_packets { frame.octets } else { 0 };
        let (ecn, clp) = (frame.ecn, frame.clp);
        let flow = frame.content.flow_number(self.flows.len());
        let (port_id, port_vc) = vc.vc_paths.hop(0);
        let is_filtered = self.spec.links[port_id as usize].port.ack_filter;
        let ack = is_filtered.then(|| self.pure_ack(&frame.content)).flatten();
        self.frames.begin(id, units);
        let vc = &mut self.vcs[vc_id as usize];
        vc.record.frames_offered += 1;
        vc.record.cells_offered += u64::from(units);
        vc.offer_clp0(clp, units);
        let port = &mut self.ports[port_id as usize];
        let was_idle = !port.is_busy();
        let verdict = port.on_frame(now, port_vc, units, |index| Cell {
            frame: id,
            rm: None,
            efci: false,
            ack,
            index,
            octets,
            vc: vc_id,
            port_vc: PortVc(0),
            flow,
            hop: 0,
            sky_link: 0,
            eom: index + 1 == units,
            clp,
            is_paced,
            ecn,
            came_at: now,
            left_at: now,
            entry: 0,
        });
        self.settle_discarded(now, port_id);
        if matches!(verdict, Verdict::Discarded { .. }) {
            self.lose_clp0(vc_id, clp, units);
        }
        self.after_offer(now, port_id, was_idle, vc_id, id, units, verdict);
    }

    /// Returns the acknowledgement of a packet that does nothing else and that a queue may look at.
    fn pure_ack(&self, content: &Content) -> Option<PureAck> {
        let flows = &self.spec.flows;
        content.pure_ack(|flow| flows.get(flow as usize).is_some_and(|flow| flow.ipsec))
    }

    /// Handles the offer of `units` units of frame `frame` to a port: transmission begins, or the
    /// loss is counted.
    #[allow(clippy::too_many_arguments)] // the offer and its outcome
    fn after_offer(
        &mut self,
        now: SimTime,
        port_id: u32,
        was_idle: bool,
        vc_id: u32,
        frame: FrameId,
        units: u32,
        verdict: Verdict,
    ) {
        match verdict {
            Verdict::Accepted if was_idle => {
                self.begin_sending(now, port_id);
            }
            Verdict::Accepted => {}
            Verdict::Discarded {
                reason,
                is_first_loss,
            } => {
                let discarded = &mut self.vcs[vc_id as usize].record.cells_discarded;
                discarded.add(reason, u64::from(units));
                if is_first_loss {
                    self.trace_discard(now, port_id, vc_id, frame, reason);
                }
                self.frames.settle(frame, units);
            }
        }
        self.note_change(port_id);
    }

    /// Counts the units that the port had accepted and has discarded now.
    fn settle_discarded(&mut self, now: SimTime, port_id: u32) {
        let mut discarded = std::mem::take(&mut self.ports[port_id as usize].discarded);
        for (cell, reason) in discarded.drain(..) {
            let record = &mut self.vcs[cell.vc as usize].record;
            record.cells_discarded.add(reason, 1);
            self.lose_clp0(cell.vc, cell.clp, 1);
            self.trace_discard(now, port_id, cell.vc, cell.frame, reason);
            self.frames.settle(cell.frame, 1);
        }
        self.ports[port_id as usize].discarded = discarded;
    }

    fn trace_discard(
        &mut self,
        now: SimTime,
        port_id: u32,
        vc_id: u32,
        frame: FrameId,
        reason: DiscardReason,
    ) {
        if !self.traces_discards {
            return;
        }
        let flow = self.frames.get(frame).content.flow();
        let trace = &mut self.out.traces.discards;
        trace.push(port_id, vc_id, flow, now.0, reason as u8);
    }
}
