//! Ports, VCs and flows of a run, and what happens at each frame event.

use crate::arrivals::Moment;
use crate::frames::{Frame, Frames};
use crate::mux::Fate;
use crate::plan::{Plan, Route};
use crate::stations::{Port, in_pass, ports};
use skycell_des::{EventQueue, Key};
use skycell_records::{Discards, Traces};
use skycell_spec::{NetworkSpec, TraceKind};
use skycell_tcp::Segment;
use skycell_traffic::{Flow, Outbox, Timers, rank};
use skycell_units::SimTime;
use std::collections::VecDeque;

/// What is due at the end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    /// The first cell of a frame comes to a multiplexing port.
    Head,
    /// Its last cell comes there.
    Tail,
    /// A whole frame has come to the end of its VC.
    Whole,
}

/// A virtual channel.
#[derive(Debug)]
pub(crate) struct Vc {
    pub(crate) route: Route,
    /// Its place at its source port, and at its multiplexing port.
    pub(crate) source_place: u32,
    pub(crate) mux_place: u32,
    pub(crate) cells_offered: u64,
    pub(crate) frames_offered: u64,
    pub(crate) frames_delivered: u64,
    pub(crate) cells_whole: u64,
    pub(crate) frames_corrupt: u64,
    pub(crate) cells_corrupt: u64,
    /// Cells refused by its source port.
    pub(crate) discarded_at_source: Discards,
}

#[derive(Debug)]
struct FlowAtWork {
    flow: Flow,
    forward: Vec<u32>,
    reverse: Vec<u32>,
    timers: Timers,
}

/// A row of the discard trace and its place in the order of events.
#[derive(Clone, Copy, Debug)]
struct DiscardRow {
    order: Key,
    port: u32,
    vc: u32,
    flow: u32,
    reason: u8,
}

/// The state of a run.
#[derive(Debug)]
pub(crate) struct Network<'a> {
    pub(crate) spec: &'a NetworkSpec,
    pub(crate) end: SimTime,
    pub(crate) ports: Vec<Port>,
    pub(crate) vcs: Vec<Vc>,
    flows: Vec<FlowAtWork>,
    pub(crate) frames: Frames,
    /// By link: what is due at its end, in order of time.
    due: Vec<VecDeque<(SimTime, Arrival, u32)>>,
    pub(crate) events: EventQueue,
    out: Outbox,
    /// Discards in the order they were found; none where the trace is not asked for.
    discard_rows: Option<Vec<DiscardRow>>,
    /// The event that is happening.
    current: Key,
}

impl<'a> Network<'a> {
    pub(crate) fn new(spec: &'a NetworkSpec, plan: Plan) -> Self {
        let (ports, places) = ports(spec, &plan);
        let vcs = plan
            .routes
            .into_iter()
            .zip(places)
            .map(|(route, places)| Vc {
                route,
                source_place: places.0,
                mux_place: places.1,
                cells_offered: 0,
                frames_offered: 0,
                frames_delivered: 0,
                cells_whole: 0,
                frames_corrupt: 0,
                cells_corrupt: 0,
                discarded_at_source: Discards::default(),
            });
        let flows = spec.flows.iter().zip(0u32..).map(|(flow, id)| {
            let host = spec.vc_source(flow.forward[0] as usize);
            let name = &spec.nodes[host as usize].name;
            FlowAtWork {
                flow: Flow::new(id, flow, spec.seed, name, &spec.records.traces),
                forward: flow.forward.clone(),
                reverse: flow.reverse.clone(),
                timers: Timers::default(),
            }
        });
        let traces_discards = spec.records.traces.contains(&TraceKind::Discards);
        let mut network = Network {
            spec,
            end: SimTime(spec.duration_ps),
            ports,
            vcs: vcs.collect(),
            flows: flows.collect(),
            frames: Frames::default(),
            due: vec![VecDeque::new(); spec.links.len()],
            events: EventQueue::default(),
            out: Outbox::default(),
            discard_rows: traces_discards.then(Vec::new),
            current: Key::new(SimTime::ZERO, 0, 0),
        };
        for id in 0..network.flows.len() as u32 {
            network.plan(id);
        }
        let first_sample = SimTime(spec.records.sample_every_ps);
        network.events.push(Key::new(first_sample, rank::SAMPLE, 0));
        network
    }

    /// Lets an event happen.
    pub(crate) fn on_event(&mut self, event: Key) {
        self.current = event;
        let (now, subject) = (event.time(), event.subject());
        match event.rank() {
            rank::SAMPLE => self.on_sample(now),
            rank::ARRIVAL => self.on_arrival(now, subject),
            timer => {
                let at_work = &mut self.flows[subject as usize];
                let (timers, flow) = (&mut at_work.timers, &mut at_work.flow);
                timers.on_event(now, timer, flow, &mut self.out);
                self.after_flow(now, subject);
            }
        }
    }

    fn on_arrival(&mut self, now: SimTime, link: u32) {
        let due = &mut self.due[link as usize];
        let (_, arrival, id) = due.pop_front().expect("an arrival is due");
        match arrival {
            Arrival::Head => self.on_head(now, link, id),
            Arrival::Tail => self.on_tail(now, link, id),
            Arrival::Whole => self.on_whole(now, id),
        }
        if let Some(&(next, _, _)) = self.due[link as usize].front() {
            self.events.push(Key::new(next, rank::ARRIVAL, link));
        }
    }

    fn on_head(&mut self, now: SimTime, link: u32, id: u32) {
        let frame = *self.frames.get(id);
        let vc = &self.vcs[frame.vc as usize];
        let place = vc.mux_place;
        let spacing = SimTime(self.spec.links[vc.route.source as usize].cell_time_ps);
        let port_id = mux_of(&vc.route);
        let Port::Mux(mux) = &mut self.ports[port_id as usize] else {
            unreachable!("heads come to multiplexing ports");
        };
        let moment = Moment { time: now, link };
        let has_tail = mux.on_head(moment, id, place, frame.cells, spacing);
        self.note_losses(port_id);
        if frame.cells == 1 {
            self.on_tail(now, link, id);
        } else if !has_tail {
            // Its tail is the next thing due on its link.
            let tail = self.due[link as usize].pop_front();
            debug_assert_eq!(tail.map(|due| (due.1, due.2)), Some((Arrival::Tail, id)));
            self.frames.forget(id);
        }
    }

    fn on_tail(&mut self, now: SimTime, link: u32, id: u32) {
        let frame = *self.frames.get(id);
        let vc = &mut self.vcs[frame.vc as usize];
        let port_id = mux_of(&vc.route);
        let Port::Mux(mux) = &mut self.ports[port_id as usize] else {
            unreachable!("tails come to multiplexing ports");
        };
        let moment = Moment { time: now, link };
        let fate = mux.on_tail(moment, id, vc.mux_place, frame.cells);
        if let Fate::Ends {
            departure,
            cells,
            whole,
        } = fate
        {
            let stretch = &vc.route.mux.as_ref().expect("it is multiplexed").1;
            let (arrival, end_link) = (departure + stretch.delay, stretch.link);
            if whole {
                self.push_due(end_link, arrival, Arrival::Whole, id);
                return self.note_losses(port_id);
            }
            if arrival < self.end {
                vc.frames_corrupt += 1;
                vc.cells_corrupt += u64::from(cells);
            }
        }
        self.note_losses(port_id);
        self.frames.forget(id);
    }

    /// A whole frame has come to the end of its VC: a router sends it on, a host hands it up.
    fn on_whole(&mut self, now: SimTime, id: u32) {
        let frame = *self.frames.get(id);
        let vc = &mut self.vcs[frame.vc as usize];
        vc.frames_delivered += 1;
        vc.cells_whole += u64::from(frame.cells);
        let at_work = &mut self.flows[frame.flow as usize];
        let route = if frame.is_forward {
            &at_work.forward
        } else {
            &at_work.reverse
        };
        if let Some(&next) = route.get(frame.leg as usize + 1) {
            let under_way = self.frames.get_mut(id);
            under_way.leg += 1;
            under_way.vc = next;
            return self.offer_frame(now, id);
        }
        self.frames.forget(id);
        let (segment, out) = (&frame.segment, &mut self.out);
        if frame.is_forward {
            let handed_at = frame.handed_at;
            let flow = &mut at_work.flow;
            flow.on_segment_at_destination(now, segment, handed_at, out);
        } else {
            at_work.flow.on_segment_at_source(now, segment, out);
        }
        self.after_flow(now, frame.flow);
    }

    /// Sends what the flow wants sent and plans its timers.
    fn after_flow(&mut self, now: SimTime, id: u32) {
        for is_forward in [true, false] {
            let mut segments = std::mem::take(self.outgoing(is_forward));
            for segment in segments.drain(..) {
                self.send(now, id, is_forward, segment);
            }
            *self.outgoing(is_forward) = segments;
        }
        self.plan(id);
    }

    fn outgoing(&mut self, is_forward: bool) -> &mut Vec<Segment> {
        if is_forward {
            &mut self.out.forward
        } else {
            &mut self.out.reverse
        }
    }

    fn plan(&mut self, id: u32) {
        let at_work = &mut self.flows[id as usize];
        at_work.timers.plan(id, &at_work.flow, &mut self.events);
    }

    fn send(&mut self, now: SimTime, flow_id: u32, is_forward: bool, segment: Segment) {
        let at_work = &self.flows[flow_id as usize];
        let route = if is_forward {
            &at_work.forward
        } else {
            &at_work.reverse
        };
        let frame = Frame {
            segment,
            flow: flow_id,
            vc: route[0],
            leg: 0,
            cells: at_work.flow.cells(&segment).0,
            handed_at: now,
            is_forward,
        };
        let id = self.frames.add(frame);
        self.offer_frame(now, id);
    }

    /// Offers a whole frame to the first port of its VC.
    fn offer_frame(&mut self, now: SimTime, id: u32) {
        let frame = *self.frames.get(id);
        let vc = &mut self.vcs[frame.vc as usize];
        vc.frames_offered += 1;
        vc.cells_offered += u64::from(frame.cells);
        let Port::Source(source) = &mut self.ports[vc.route.source as usize] else {
            unreachable!("a route begins at a source port");
        };
        let place = vc.source_place;
        let (port_id, delay) = (vc.route.source, vc.route.first.delay);
        match source.offer(now, place, frame.cells, delay) {
            Err(reason) => {
                vc.discarded_at_source.add(reason, u64::from(frame.cells));
                if let Some(rows) = &mut self.discard_rows {
                    rows.push(DiscardRow {
                        order: self.current,
                        port: port_id,
                        vc: frame.vc,
                        flow: frame.flow,
                        reason: reason as u8,
                    });
                }
                self.frames.forget(id);
            }
            Ok(start) => {
                let spacing = self.spec.links[port_id as usize].cell_time_ps;
                let first = start + SimTime(spacing) + delay;
                let last = first + SimTime(u64::from(frame.cells - 1) * spacing);
                let link = vc.route.first.link;
                if vc.route.mux.is_none() {
                    self.push_due(link, last, Arrival::Whole, id);
                } else {
                    self.push_due(link, first, Arrival::Head, id);
                    if frame.cells > 1 {
                        self.push_due(link, last, Arrival::Tail, id);
                    }
                }
            }
        }
    }

    fn push_due(&mut self, link: u32, time: SimTime, arrival: Arrival, id: u32) {
        let due = &mut self.due[link as usize];
        if due.is_empty() {
            self.events.push(Key::new(time, rank::ARRIVAL, link));
        }
        debug_assert!(due.back().is_none_or(|last| last.0 < time));
        due.push_back((time, arrival, id));
    }

    /// Takes the losses that the multiplexing port has found since it was last asked.
    fn note_losses(&mut self, port: u32) {
        let Port::Mux(mux) = &mut self.ports[port as usize] else {
            unreachable!("frames are lost at multiplexing ports");
        };
        if let Some(rows) = &mut self.discard_rows {
            for loss in &mux.losses {
                let frame = self.frames.get(loss.frame);
                rows.push(DiscardRow {
                    order: Key::new(loss.moment.time, rank::ARRIVAL, loss.moment.link),
                    port,
                    vc: frame.vc,
                    flow: frame.flow,
                    reason: loss.reason as u8,
                });
            }
        }
        mux.losses.clear();
    }

    fn on_sample(&mut self, now: SimTime) {
        for port in &mut self.ports {
            if let Port::Mux(mux) = port {
                mux.advance_before(now);
            }
        }
        let records = &self.spec.records;
        let traces = &mut self.out.traces;
        for &id in &records.sampled_ports {
            let in_pass = match &self.ports[id as usize] {
                Port::Pass(_) => u32::from(in_pass(&self.ports, id, now).is_some()),
                _ => 0,
            };
            let (cells, samples) = match &mut self.ports[id as usize] {
                Port::Source(port) => (port.settled_queue(now), &mut port.samples),
                Port::Pass(port) => (in_pass, &mut port.samples),
                Port::Mux(port) => (port.queued(now) as u32, &mut port.samples),
            };
            samples.add(cells);
            if records.traces.contains(&TraceKind::Queue) {
                traces.queue.push(id, now.0, cells);
            }
        }
        for &id in &records.vc_sampled_ports {
            let mut note = |vc: u32, cells: u32| {
                if records.traces.contains(&TraceKind::VcQueue) {
                    traces.vc_queue.push(id, vc, now.0, cells);
                }
            };
            let in_pass = match &self.ports[id as usize] {
                Port::Pass(_) => in_pass(&self.ports, id, now).map(|(_, place)| place),
                _ => None,
            };
            match &mut self.ports[id as usize] {
                Port::Source(port) => port.sample_vcs(now, &mut note),
                Port::Mux(port) => port.sample_vcs(now, &mut note),
                Port::Pass(port) => {
                    for vc in &mut port.vcs {
                        let cells = u32::from(in_pass == Some(vc.place));
                        vc.samples.add(cells);
                        note(vc.vc, cells);
                    }
                }
            }
        }
        let next = now + SimTime(records.sample_every_ps);
        self.events.push(Key::new(next, rank::SAMPLE, 0));
    }

    /// Ends the run at the ports: books what leaves and what is lost before the end.
    pub(crate) fn finish_ports(&mut self) {
        for id in 0..self.ports.len() as u32 {
            match &mut self.ports[id as usize] {
                Port::Source(port) => port.finish(self.end),
                Port::Mux(port) => {
                    port.finish();
                    self.note_losses(id);
                }
                Port::Pass(_) => {}
            }
        }
    }

    /// Ends the run: the flows and the traces.
    pub(crate) fn take_flows(&mut self) -> (Vec<Flow>, Traces) {
        let mut traces = std::mem::take(&mut self.out.traces);
        let mut rows = self.discard_rows.take().unwrap_or_default();
        // Overflows are found at the next frame event; cells at one link never come together.
        rows.sort_by_key(|row| row.order);
        for row in rows {
            let time = row.order.time().0;
            let trace = &mut traces.discards;
            trace.push(row.port, row.vc, row.flow, time, row.reason);
        }
        let flows = std::mem::take(&mut self.flows);
        (flows.into_iter().map(|f| f.flow).collect(), traces)
    }
}

fn mux_of(route: &Route) -> u32 {
    route.mux.as_ref().expect("the route is multiplexed").0
}
