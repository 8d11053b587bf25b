//! Ports, VCs and flows of a run, and what happens at each frame event.

use crate::burst::input_burst::Moment;
use crate::frames::Frames;
use crate::plan::Plan;
use crate::plan::end_points::EndPoints;
use crate::port::output::Ended;
use crate::port::stepped::Departed;
use crate::port::{Ports, Slot, ports};
use crate::tuning::Tuning;
use crate::vcs::Vcs;
use skycell_des::Key;
use skycell_records::{DiscardReason, SteppedPort, Traces};
use skycell_reference::NetworkPart;
use skycell_spec::{NetworkSpec, Proxy, SourceSpec, TraceKind};
use skycell_tcp::Segment;
use skycell_traffic::{
    CellSource, Flow, HostDelay, Hosts, Outbox, Proxies, SharedTcp, Users, UsersOutbox, rank,
};
use skycell_units::{FlowId, FrameId, SimTime};
use std::collections::{HashMap, VecDeque};

mod coupled;
mod deliveries;
mod ended;
mod events;
mod flow_routes;
mod host_delays;
mod merged;
mod offer;
mod records;
mod region;
mod relay;
mod samples;
mod sources;
mod stepped;
mod users;

use deliveries::Deliveries;
use events::Events;
use flow_routes::FlowRoutes;
use host_delays::host_delays;
use merged::Halves;
use region::Here;

/// So many arrivals by a link before that of a frame the frame is asked for.
const ASKED_AHEAD: usize = 4;

/// A port at which units may wait processes what has come to it, before all else at its instant.
const PORT: u8 = rank::DEPARTURE;

/// A whole frame that is offered to a port, and what the port and the VC need to know of it.
#[derive(Clone, Copy, Debug)]
struct Offer {
    frame: FrameId,
    flow: FlowId,
    vc: u32,
    cells: u32,
    /// True if it is a cell of a source, before which no gap is waited.
    is_paced: bool,
}

/// A row of the discard trace and its place in the order of events.
#[derive(Clone, Copy, Debug)]
struct DiscardRow {
    order: Key,
    port: u32,
    vc: u32,
    flow: FlowId,
    reason: u8,
    /// When the cell entered the link by which it came, if that moves and leads to several ports; of frames that were
    /// handed over whole, which was offered first.
    entered: Option<SimTime>,
    /// True if another region has rows of the same event that come before.
    is_later: bool,
}

/// The state of a run, or of a region of the network in it.
#[derive(Debug)]
pub(crate) struct Network<'a> {
    spec: &'a NetworkSpec,
    /// Which ports are stepped, and why.
    stepped_ports: Vec<SteppedPort>,
    pub(crate) end: SimTime,
    /// Before when all is known that comes from other regions; not after the end.
    limit: SimTime,
    /// Which region it is; none if it is the whole network.
    here: Option<Box<Here>>,
    ports: Ports,
    vcs: Vcs,
    flows: Vec<Flow>,
    /// Of flows that other regions had a part in, the destination's half.
    halves: Halves,
    proxies: Proxies,
    /// None where there are no users.
    users: Option<Users>,
    of_users: UsersOutbox,
    /// In a region, which of all that its event lets users send is being offered: the least is first.
    order_of_users: u64,
    /// Sources of datagrams, and those of cells that are no open-loop sources, each with its id and the frame of which it sends
    /// cells.
    sources: Vec<(u32, CellSource, FrameId)>,
    /// By source: the one that answers its datagrams.
    echoes: Vec<Option<u32>>,
    /// By frame that an echo has sent: when what it answers was sent. Of frames that were lost it is left.
    asked_at: HashMap<FrameId, SimTime>,
    flow_routes: FlowRoutes,
    frames: Frames,
    deliveries: Deliveries,
    end_points: EndPoints,
    host_delays: Vec<HostDelay>,
    /// Packets under way that are accepted as soon as all that sends at present has sent.
    arriving: VecDeque<(Key, FrameId)>,
    /// Frames that an output port is done with, in order.
    ended: Vec<Ended>,
    /// Ports at which units may wait, each after those from which VCs go on to it, as far as there are no rings.
    waiting: Vec<u32>,
    /// Units that have left a stepped port.
    gone: Vec<Departed>,
    /// The ports that are stepped together, if any are.
    coupled: Option<Box<NetworkPart<'a>>>,
    /// True if prefetching of flows pays off.
    has_many: bool,
    /// True if any link carries packets.
    has_packets: bool,
    next_sample: SimTime,
    pub(crate) events: Events,
    out: Outbox,
    /// Discards in the order they were found; none where the trace is not asked for.
    discard_rows: Option<Vec<DiscardRow>>,
    /// Frames offered: which of those of one event was first.
    offered: u64,
    /// Number of steps so far, so that the progress function is called in time: events, frames that
    /// ports have finished, frames and units that arrive.
    pub(crate) moved: u64,
    /// Events that only go on with arrivals that one before them had begun.
    continued: u64,
    /// Events of other regions.
    events_elsewhere: u64,
    arrivals_at_once: u64,
    /// The event that is happening.
    current: Key,
}

impl<'a> Network<'a> {
    pub(crate) fn new(
        spec: &'a NetworkSpec,
        proxies: &[Proxy],
        plan: Plan,
        tuning: &Tuning,
    ) -> Self {
        Network::of_region(spec, proxies, plan, tuning, None)
    }

    /// The same, or that of a region.
    fn of_region(
        spec: &'a NetworkSpec,
        proxies: &[Proxy],
        plan: Plan,
        tuning: &Tuning,
        here: Option<Box<Here>>,
    ) -> Self {
        let stepped_ports = plan.stepped_ports(spec);
        let (ports, port_vcs) = ports(spec, &plan, tuning);
        let (waiting, end_points) = (plan.order, plan.end_points);
        let is_stepped = |&id: &u32| matches!(ports.slots[id as usize], Slot::Stepped(_));
        let takes_parts = |&id: &u32| match &ports.slots[id as usize] {
            Slot::Output(port) => port.takes_parts(),
            _ => true,
        };
        let go_in_parts = waiting.iter().any(takes_parts);
        let have_serials = waiting.iter().any(is_stepped);
        let coupled = coupled::part(spec, &plan.kinds);
        let vcs = Vcs::new(spec, plan.routes, port_vcs, &end_points);
        let mut tcp = SharedTcp::default();
        let flows = spec.flows.iter().zip(0u32..).map(|(flow, id)| {
            let (hosts, traces) = (Hosts::of(spec, flow), &spec.records.traces);
            Flow::new(id, flow, &mut tcp, spec.seed, hosts, traces)
        });
        let mut flows: Vec<Flow> = flows.collect();
        let proxies = Proxies::join(&mut flows.iter_mut().collect::<Vec<_>>(), proxies);
        let sources = (0u32..).zip(&spec.sources);
        let is_here = |id: u32, source: &SourceSpec| {
            let is_stream = plan
                .open_loop_sources
                .iter()
                .any(|cell_source| cell_source.source == id);
            let is_datagram = !source.datagram_route.is_empty();
            !is_stream && (is_datagram || !vcs.is_coupled(source.vc))
        };
        let sources = sources.filter(|(id, source)| is_here(*id, source));
        let sources = sources.map(|(id, _)| (id, CellSource::of(spec, id), FrameId::NONE));
        let sources: Vec<_> = sources.collect();
        let traces_discards = spec.records.traces.contains(&TraceKind::Discards);
        let users = match &here {
            None => Users::of(spec),
            Some(here) => here.users(spec),
        };
        let mut network = Network {
            spec,
            stepped_ports,
            end: SimTime(spec.duration_ps),
            limit: SimTime(spec.duration_ps),
            here,
            ports,
            vcs,
            flows,
            halves: Vec::new(),
            proxies,
            users,
            of_users: UsersOutbox::default(),
            order_of_users: 0,
            sources,
            echoes: spec.echoes(),
            asked_at: HashMap::new(),
            flow_routes: FlowRoutes::new(&spec.flows),
            frames: Frames::new(go_in_parts, have_serials),
            deliveries: Deliveries::at(spec.links.len()),
            end_points,
            host_delays: host_delays(spec),
            arriving: VecDeque::new(),
            ended: Vec::new(),
            waiting,
            gone: Vec::new(),
            coupled,
            has_many: spec.flows.len() >= tuning.many_flows,
            has_packets: spec.links.iter().any(|link| link.framing.is_some()),
            next_sample: SimTime(spec.records.sample_every_ps),
            events: Events::new(spec.flows.len()),
            out: Outbox::default(),
            discard_rows: traces_discards.then(Vec::new),
            offered: 0,
            moved: 0,
            continued: 0,
            events_elsewhere: 0,
            arrivals_at_once: tuning.arrivals_at_once,
            current: Key::new(SimTime::ZERO, 0, 0),
        };
        network.keep_own();
        for id in FlowId::all().take(network.flows.len()) {
            network.plan(id);
        }
        network.begin_users();
        for (id, source, _) in &network.sources {
            let vc = spec.sources[*id as usize].vc;
            if network.has(spec.vc_source(vc as usize)) {
                let due = Key::new(source.due(), rank::SOURCE, *id);
                network.events.push(due);
            }
        }
        let first_sample = Key::new(network.next_sample, rank::SAMPLE, 0);
        network.events.push(first_sample);
        network
    }

    /// Executes the next event; returns its time, if the run has not ended.
    #[inline(always)]
    pub(crate) fn advance(&mut self) -> Option<SimTime> {
        if self.coupled.is_some()
            && let Some(now) = self.advance_coupled()
        {
            return Some(now);
        }
        let event = self.events.pop_before(self.limit)?;
        self.on_event(event);
        self.note_rows(self.current);
        Some(event.time())
    }

    /// The event that is next, of all.
    #[inline(always)]
    fn first_event(&mut self) -> Option<Key> {
        let coupled = self.coupled.as_ref().and_then(|part| part.first());
        self.events.first().into_iter().chain(coupled).min()
    }

    /// Executes an event.
    fn on_event(&mut self, event: Key) {
        self.current = event;
        self.moved += 1;
        let (now, subject) = (event.time(), event.subject());
        match event.rank() {
            PORT => self.on_port(now, subject),
            rank::SAMPLE => self.on_sample(now),
            rank::ARRIVAL => self.on_arrival(now, subject),
            rank::SOURCE => self.on_source(now, subject),
            rank::TRANSMIT => self.on_transmit(now, subject),
            timer if self.is_user(subject) => self.on_user_event(now, timer, subject),
            timer => {
                let flow = FlowId(subject);
                self.flows[flow.index()].on_timer(now, timer, &mut self.out);
                self.after_flow(now, flow);
            }
        }
    }

    /// The port is to act before anything that it does arrives somewhere.
    fn on_port(&mut self, now: SimTime, id: u32) {
        if self.ports.lookahead(id).wakes_at != Some(now) {
            return;
        }
        self.ports.lookahead_mut(id).wakes_at = None;
        // A frame that is not on its way yet is handed over by what happens next elsewhere, or in answer to what this
        // port does now.
        let elsewhere = self.first_event().map_or(self.limit, Key::time);
        let source_safe_time = elsewhere.min(self.limit).min(self.reply_safe_time(id, now));
        loop {
            let before = self.ports.lookahead(id).local_clock;
            for at in 0..self.ports.lookahead(id).upstream.len() {
                let upstream = self.ports.lookahead(id).upstream[at];
                self.run_port_knowing(upstream, source_safe_time);
            }
            self.run_port_knowing(id, source_safe_time);
            // In a ring each lets the next one on by the way between them, until this one has done its due.
            let ahead = self.ports.lookahead(id);
            if !ahead.has_ring || ahead.local_clock > now || ahead.local_clock == before {
                break;
            }
        }
        self.plan_port(id);
    }

    /// Before when no frame is handed over in answer to what the port does at `now` or later, as far as it comes there
    /// or to a port upstream.
    fn reply_safe_time(&self, id: u32, now: SimTime) -> SimTime {
        let reply_lookahead = &self.ports.lookahead(id).reply_lookahead;
        // What other regions answer comes at the limit or later.
        let via_ports = reply_lookahead.via_ports.iter();
        let via_ports = via_ports.filter_map(|&id| self.ports.as_waiting(id));
        let via_ports = via_ports.map(|port| {
            let source_lookahead = port.lookahead().source_lookahead;
            port.arrives_after(now + source_lookahead)
        });
        via_ports.fold(now + reply_lookahead.after, SimTime::min)
    }

    /// Advances the port as far as possible if all frames are known that are handed over before
    /// `source_safe_time`, and the ports that feed it are where they are.
    fn run_port_knowing(&mut self, id: u32, source_safe_time: SimTime) {
        let source_lookahead = self.ports.lookahead(id).source_lookahead;
        let safe_time = (source_safe_time + source_lookahead).min(self.upstream_safe_time(id));
        self.run_port(id, safe_time.min(self.next_sample).min(self.end));
    }

    /// Before when all is known that comes to the port from others.
    #[inline(always)]
    fn upstream_safe_time(&self, id: u32) -> SimTime {
        let feeding = self.ports.lookahead(id).fed_by.iter();
        let safe_time =
            feeding.map(|(feeding, across)| self.ports.lookahead(*feeding).sends_from + *across);
        safe_time.min().unwrap_or(SimTime::NEVER).min(self.limit)
    }

    /// Advances all ports at which units may wait up to `limit`, before which all frames are known.
    fn run_ports(&mut self, limit: SimTime) {
        let mut is_behind = true;
        while is_behind {
            is_behind = false;
            for at in 0..self.waiting.len() {
                let id = self.waiting[at];
                let safe_time = self.upstream_safe_time(id).min(limit);
                self.run_port(id, safe_time);
                is_behind |= safe_time < limit;
            }
        }
    }

    /// Sees to it that the port acts in time.
    #[inline(always)]
    fn plan_port(&mut self, id: u32) {
        if let Some(acts_at) = self.ports.waiting(id).acts_at() {
            self.wake(id, acts_at);
        }
    }

    /// The port is to act at `time`, if not earlier.
    fn wake(&mut self, id: u32, time: SimTime) {
        let wakes_at = &mut self.ports.lookahead_mut(id).wakes_at;
        if wakes_at.is_none_or(|earlier| time < earlier) {
            *wakes_at = Some(time);
            self.events.push(Key::new(time, PORT, id));
        }
    }

    fn on_arrival(&mut self, now: SimTime, link: u32) {
        let mut now = now;
        let sender = self.end_points.sender_alone[link as usize];
        let limit = self.moved + self.arrivals_at_once;
        loop {
            self.moved += 1;
            if let Some(later) = self.deliveries.later(link, ASKED_AHEAD) {
                self.frames.prefetch(later);
            }
            let frame = self.deliveries.pop(link);
            // What comes by the link in answer has an event of its own.
            let next = self.deliveries.next(link);
            self.on_whole(now, frame);
            let Some(next) = next else {
                return;
            };
            let key = Key::new(next, rank::ARRIVAL, link);
            let is_next = match sender {
                // Arrivals come before timers of the same instant.
                Some(flow) => self.events.timer(flow) >= next,
                None => self.first_event().is_none_or(|first| key < first),
            };
            if !is_next || next >= self.limit {
                return self.events.push(key);
            }
            if self.moved >= limit {
                self.continued += 1;
                return self.events.push(key);
            }
            self.note_rows(self.current);
            now = next;
            self.current = key;
        }
    }

    /// A whole frame has come to the end of its VC: a router sends it on, a host hands it up.
    fn on_whole(&mut self, now: SimTime, id: FrameId) {
        let frame = *self.frames.get(id);
        let (end, path) = self.vcs.end_and_path_mut(frame.vc);
        end.frames_delivered += 1;
        end.cells_whole += u64::from(frame.cells());
        if path.is_watched {
            let edge = &mut self.vcs.rest[frame.vc as usize].edge;
            edge.on_delivered(now, frame.cells());
        }
        let next = match frame.sent_by() {
            Some(source) => {
                let route = &self.spec.sources[source as usize].datagram_route;
                route.get(usize::from(frame.route_index) + 1).copied()
            }
            None if self.is_user(frame.flow.0) => self.after_on_route_of_user(&frame),
            None => self
                .flow_routes
                .after(frame.route_index.into(), frame.flow, frame.is_forward),
        };
        if let Some(vc) = next {
            let under_way = self.frames.get_mut(id);
            (under_way.vc, under_way.route_index) = (vc, frame.route_index + 1);
            let offer = Offer {
                frame: id,
                flow: frame.flow,
                vc,
                cells: frame.cells(),
                is_paced: false,
            };
            self.offer_frame(now, offer);
            return self.take_arriving();
        }
        let segment = self.frames.segment(id);
        self.frames.forget(id);
        if frame.sent_by().is_some() {
            self.on_datagram_at_end(now, id, &frame);
            let vc = &mut self.vcs.rest[frame.vc as usize];
            if let Some(delays) = vc.delays.as_mut().filter(|_| !vc.measures_units) {
                delays.add((now - frame.enqueued_at).0);
            }
            return;
        }
        if self.is_user(frame.flow.0) {
            return self.on_user_segment(now, &frame, &segment);
        }
        let (flow, out) = (&mut self.flows[frame.flow.index()], &mut self.out);
        if frame.is_forward {
            let enqueued_at = frame.enqueued_at;
            flow.on_segment_at_destination(now, &segment, enqueued_at, out);
            if !flow.has_timers_at_destination() {
                return self.send_all(now, frame.flow);
            }
        } else {
            flow.on_segment_at_source(now, &segment, out);
        }
        self.after_flow(now, frame.flow);
        if let Some(beyond) = self.proxies.beyond(frame.flow.0, frame.is_forward) {
            self.relay(now, frame.flow, FlowId(beyond), frame.is_forward);
        }
    }

    /// Sends what the flow wants sent and plans its timers.
    #[inline(always)]
    fn after_flow(&mut self, now: SimTime, id: FlowId) {
        self.send_all(now, id);
        self.plan(id);
    }

    fn send_all(&mut self, now: SimTime, id: FlowId) {
        if !self.host_delays.is_empty() {
            return self.send_with_times(now, id);
        }
        // Each with its direction known, which the compiler makes two loops of.
        self.send_each(now, id, true, |network, offer| {
            network.offer_frame(now, offer)
        });
        self.send_each(now, id, false, |network, offer| {
            network.offer_frame(now, offer)
        });
        if !self.arriving.is_empty() {
            self.take_arriving();
        }
    }

    /// Makes a frame of each segment that the flow wants sent in one direction, and lets it go.
    #[inline(always)]
    fn send_each(
        &mut self,
        now: SimTime,
        id: FlowId,
        is_forward: bool,
        send: impl Fn(&mut Self, Offer),
    ) {
        let mut sent = 0;
        while let Some(segment) = outgoing(&mut self.out, is_forward).get(sent) {
            sent += 1;
            let vc = self.flow_routes.first(id, is_forward);
            let flow = &self.flows[id.index()];
            let cells = flow.cells(segment, is_forward).0;
            let octets = match self.has_packets {
                true => flow.packet(segment, is_forward) as u32,
                false => 0, // which nobody asks for
            };
            let size = (cells, octets);
            let frames = &mut self.frames;
            let frame = frames.add(segment, id, is_forward, vc, size, now);
            let offer = Offer {
                frame,
                flow: id,
                vc,
                cells,
                is_paced: false,
            };
            send(self, offer);
        }
        if sent > 0 {
            outgoing(&mut self.out, is_forward).clear();
        }
    }

    fn plan(&mut self, id: FlowId) {
        let next = self.flows[id.index()].next_timer(id.0);
        self.events.set_timer(id, next);
    }

    fn push_delivery(&mut self, link: u32, time: SimTime, id: FrameId) {
        if !self.deliveries.has_any(link) {
            self.events.push(Key::new(time, rank::ARRIVAL, link));
        }
        self.deliveries.push(link, time, id);
    }

    /// Takes the losses that the output port has found since it was last asked.
    fn note_losses(&mut self, port: u32) {
        let Some(rows) = &mut self.discard_rows else {
            return;
        };
        if let Some(mut losses) = self.ports.output(port).losses.take() {
            for loss in losses.drain(..) {
                let frame = self.frames.get(loss.frame);
                let Moment { time, link } = loss.moment;
                rows.push(DiscardRow {
                    order: Key::new(time, rank::ARRIVAL, link),
                    port,
                    vc: frame.vc,
                    flow: frame.flow,
                    reason: loss.reason as u8,
                    entered: self.ports.entry(link, frame.vc, loss.nth),
                    is_later: false,
                });
            }
            self.ports.output(port).losses = Some(losses);
        }
        let beside = self.ports.output(port).log.server.as_mut();
        if let Some(losses) = beside.and_then(|server| server.losses.as_mut()) {
            for (moment, vc) in losses.drain(..) {
                rows.push(DiscardRow {
                    order: Key::new(moment.time, rank::ARRIVAL, moment.link),
                    port,
                    vc,
                    flow: FlowId::NONE,
                    reason: DiscardReason::Overflow as u8,
                    entered: None,
                    is_later: false,
                });
            }
        }
    }

    /// Ends the run at the ports, where it books what leaves and what is lost before the end, and for users.
    pub(crate) fn finish(&mut self) {
        if let Some(users) = &mut self.users {
            users.finish(self.end);
        }
        for port in &mut self.ports.sources {
            port.finish(self.end);
        }
        self.run_ports(self.end);
        for at in 0..self.waiting.len() {
            let id = self.waiting[at];
            if let Some(port) = self.ports.as_output(id) {
                port.finish();
                self.note_losses(id);
            }
        }
    }

    /// Ends the run: the flows and the traces.
    fn take_flows(&mut self) -> (Vec<Flow>, Traces) {
        let mut traces = std::mem::take(&mut self.out.traces);
        let mut rows = self.discard_rows.take().unwrap_or_default();
        // Overflows are found at the next frame event.
        rows.sort_by_key(|row| row.order);
        // Cells come together by a time-varying link alone, in the order in which they entered it.
        for coupled in rows.chunk_by_mut(|a, b| a.order == b.order) {
            coupled.sort_by_key(|row| (row.is_later, row.entered));
        }
        for row in rows {
            let time = row.order.time().0;
            let trace = &mut traces.discards;
            trace.push(row.port, row.vc, row.flow.0, time, row.reason);
        }
        (std::mem::take(&mut self.flows), traces)
    }
}

/// Returns the segments that a flow sends in one direction.
fn outgoing(out: &mut Outbox, is_forward: bool) -> &mut Vec<Segment> {
    if is_forward {
        &mut out.forward
    } else {
        &mut out.reverse
    }
}
