//! The ports of a run, each in the form that suits it.

use crate::edge::Edge;
use crate::plan::Plan;
use crate::plan::route::{PassThrough, PortKind};
use crate::port::cell_source::OpenLoopSource;
use crate::port::form::Form;
use crate::port::lookahead::{Lookahead, Waiting};
use crate::port::output::OutputPort;
use crate::port::output::server::Server;
use crate::port::source::SourcePort;
use crate::port::stepped::SteppedPort;
use crate::tuning::Tuning;
use crate::vcs::{AtOutput, PortVcs};
use skycell_records::CellDelays;
use skycell_spec::{LinkSpec, NetworkSpec, TraceKind};
use skycell_traffic::CellSource;
use skycell_units::{InputId, PortVc, SimTime};

pub(crate) mod cell_source;
pub(crate) mod form;
mod graph;
pub(crate) mod inputs;
pub(crate) mod lookahead;
pub(crate) mod output;
pub(crate) mod source;
pub(crate) mod stepped;
pub(crate) mod vc_queues;

use graph::{add_inputs, inputs, join, set_times};

/// A port in its form, or where it is kept.
#[derive(Debug)]
pub(crate) enum Slot {
    /// Among [`Ports::sources`], by index there.
    Source(u32),
    Pass(Box<PassPort>),
    Output(Box<OutputPort>),
    Stepped(Box<SteppedPort>),
    /// In the part of the network whose ports are stepped together.
    Coupled,
    /// In another region of the network.
    Elsewhere,
}

/// All output ports. Those that frames begin at are the most, and lie side by side.
#[derive(Debug)]
pub(crate) struct Ports {
    /// By id.
    pub(crate) slots: Vec<Slot>,
    /// The source ports, by the index that the VCs know them by.
    pub(crate) sources: Vec<SourcePort>,
}

impl Ports {
    /// The port with id `id`, if it has a queue and is here.
    pub(crate) fn form(&self, id: u32) -> Option<&dyn Form> {
        match &self.slots[id as usize] {
            Slot::Source(index) => Some(&self.sources[*index as usize]),
            Slot::Output(port) => Some(&**port),
            Slot::Stepped(port) => Some(&port.port),
            Slot::Pass(_) | Slot::Coupled | Slot::Elsewhere => None,
        }
    }

    /// The same, at work.
    pub(crate) fn form_mut(&mut self, id: u32) -> Option<&mut dyn Form> {
        match &mut self.slots[id as usize] {
            Slot::Source(index) => Some(&mut self.sources[*index as usize]),
            Slot::Output(port) => Some(&mut **port),
            Slot::Stepped(port) => Some(&mut port.port),
            Slot::Pass(_) | Slot::Coupled | Slot::Elsewhere => None,
        }
    }

    /// The port with id `id`, if units may wait there for others.
    #[inline(always)]
    pub(crate) fn as_waiting(&self, id: u32) -> Option<&dyn Waiting> {
        match &self.slots[id as usize] {
            Slot::Output(port) => Some(&**port),
            Slot::Stepped(port) => Some(&**port),
            _ => None,
        }
    }

    /// The port with id `id`, at which units may wait.
    ///
    /// # Panics
    /// They may not.
    #[inline(always)]
    pub(crate) fn waiting(&self, id: u32) -> &dyn Waiting {
        self.as_waiting(id).expect("units may wait there")
    }

    /// Of units that come together by `link`, if they may come to several ports: which place the `nth` of `vc` had that
    /// went over it.
    pub(crate) fn entry(&self, link: u32, vc: u32, nth: u64) -> Option<SimTime> {
        self.as_waiting(link)?.entry(vc, nth)
    }

    /// How far ahead that port may act.
    #[inline(always)]
    pub(crate) fn lookahead(&self, id: u32) -> &Lookahead {
        self.waiting(id).lookahead()
    }

    /// The same, to be changed.
    #[inline(always)]
    pub(crate) fn lookahead_mut(&mut self, id: u32) -> &mut Lookahead {
        match &mut self.slots[id as usize] {
            Slot::Output(port) => &mut port.lookahead,
            Slot::Stepped(port) => &mut port.lookahead,
            _ => unreachable!("units may wait there"),
        }
    }

    /// The port with id `id`, if cells are multiplexed there in closed form.
    #[inline(always)]
    pub(crate) fn as_output(&mut self, id: u32) -> Option<&mut OutputPort> {
        match &mut self.slots[id as usize] {
            Slot::Output(port) => Some(port),
            _ => None,
        }
    }

    /// The same of a port that is one.
    #[inline(always)]
    pub(crate) fn output(&mut self, id: u32) -> &mut OutputPort {
        let port = self.as_output(id);
        port.expect("cells are multiplexed there in closed form")
    }

    /// The port with id `id`, which is stepped alone.
    #[inline(always)]
    pub(crate) fn stepped(&mut self, id: u32) -> &mut SteppedPort {
        match &mut self.slots[id as usize] {
            Slot::Stepped(port) => port,
            _ => unreachable!("the port is stepped"),
        }
    }
}

/// A port where no cell waits: it shifts times.
#[derive(Debug)]
pub(crate) struct PassPort {
    pub(crate) cell_time: SimTime,
    /// The port its cells come from, and how long after their departure there.
    pub(crate) from_port: u32,
    pub(crate) after: PassThrough,
    /// The indices there of the VCs that cross it.
    port_vcs: Vec<PortVc>,
}

/// All ports of a run, and the indices of each VC.
pub(crate) fn ports(spec: &NetworkSpec, plan: &Plan, tuning: &Tuning) -> (Ports, Vec<PortVcs>) {
    let end = SimTime(spec.duration_ps);
    let notes_losses = spec.records.traces.contains(&TraceKind::Discards);
    type Link<'a> = (((&'a LinkSpec, &'a PortKind), &'a Option<usize>), u32);
    let mut sources = Vec::new();
    let new = |(((link, kind), &own), id): Link<'_>| match kind {
        PortKind::Source => {
            let is_by_flow = spec.records.flow_ports.contains(&id);
            let samples_vcs = spec.records.vc_sampled_ports.contains(&id);
            let (run, asked) = ((spec.seed, end), (is_by_flow, samples_vcs));
            sources.push(SourcePort::new(link, run, asked));
            Slot::Source(sources.len() as u32 - 1)
        }
        PortKind::Output => {
            let samples_vcs = spec.records.vc_sampled_ports.contains(&id);
            let port = OutputPort::new(link, own, spec.seed, end, samples_vcs, notes_losses);
            Slot::Output(Box::new(port))
        }
        PortKind::Stepped(_) => {
            let mut port = SteppedPort::new((link, id), spec.seed, end, notes_losses);
            if spec.records.flow_ports.contains(&id) {
                port.port.report_flows();
            }
            if spec.records.stay_ports.contains(&id) {
                port.port.report_stays();
            }
            Slot::Stepped(Box::new(port))
        }
        PortKind::Coupled => Slot::Coupled,
        PortKind::PassThrough => Slot::Pass(Box::new(PassPort {
            cell_time: SimTime(link.cell_time_ps),
            from_port: u32::MAX,
            after: PassThrough {
                port: u32::MAX,
                arrival: SimTime::ZERO,
                departure: SimTime::ZERO,
            },
            port_vcs: Vec::new(),
        })),
    };
    let links = spec.links.iter().zip(&plan.kinds).zip(&plan.frame_queues);
    let links = links.zip(0u32..);
    let slots = links.map(new).collect();
    let mut ports = Ports { slots, sources };
    add_servers(spec, plan, &mut ports);
    let input_ids = add_inputs(spec, plan, tuning, &mut ports);
    let mut port_vcs = Vec::new();
    for (route, vc) in plan.routes.iter().zip(0u32..) {
        let source_port = match ports.slots[route.source as usize] {
            Slot::Source(index) => index,
            _ => u32::MAX, // It is stepped.
        };
        let source_port_vc = match plan.kinds[route.source as usize] {
            PortKind::Stepped(_) | PortKind::Coupled => PortVc::NONE,
            _ => {
                // What the end of a link of packets has got is counted there.
                let is_counted = spec.carries_packets(vc as usize);
                let delay = if is_counted {
                    SimTime::ZERO
                } else {
                    route.first.delay
                };
                ports.sources[source_port as usize].add_vc(vc, delay, end)
            }
        };
        for pass in &route.first.passes {
            cross(&mut ports, *pass, route.source, source_port_vc);
        }
        let mut outputs = Vec::new();
        for ((output, hop), input) in route.outputs.iter().zip(inputs(spec, route, vc)) {
            let class = spec.vcs[vc as usize].class;
            let queue = spec.links[*output as usize].port.queue_of(class);
            let queue = queue.expect("a class has a queue");
            let port_vc = match &mut ports.slots[*output as usize] {
                Slot::Stepped(port) => port.add_vc(vc, class, &spec.links[*output as usize]),
                Slot::Output(port) => port.add_vc(vc, queue, hop.delay),
                _ => unreachable!("units may wait there"),
            };
            let input = input.and_then(|input| input_ids.get(&input).copied());
            let input = input.unwrap_or(InputId::NONE);
            outputs.push(AtOutput { port_vc, input });
            for pass in &hop.passes {
                cross(&mut ports, *pass, *output, port_vc);
            }
        }
        let are_together = plan.kinds[route.source as usize] == PortKind::Coupled;
        port_vcs.push(PortVcs {
            source_port,
            source: source_port_vc,
            are_stepped: {
                let mut links = spec.vcs[vc as usize].paths().flatten();
                links.all(|&link| matches!(plan.kinds[link as usize], PortKind::Stepped(_)))
            },
            are_together,
            outputs,
        });
    }
    add_links(spec, tuning, &mut ports);
    SourcePort::share_kinds(&mut ports.sources);
    join(spec, plan, tuning, &port_vcs, &mut ports);
    set_times(spec, plan, &mut ports);
    (ports, port_vcs)
}

/// Gives each port with several queues, one of which frames join, its server, with the cells of sources that cross it.
fn add_servers(spec: &NetworkSpec, plan: &Plan, ports: &mut Ports) {
    let end = SimTime(spec.duration_ps);
    for (port, id) in ports.slots.iter_mut().zip(0u32..) {
        let link = &spec.links[id as usize];
        let Slot::Output(port) = port else {
            continue;
        };
        let own = plan.frame_queues[id as usize];
        let Some(own) = own.filter(|_| link.port.queues.len() > 1) else {
            continue;
        };
        let cell_sources = plan
            .open_loop_sources
            .iter()
            .filter(|cell_source| cell_source.output == id);
        let cell_sources = cell_sources.map(|cell_source| {
            let source = CellSource::new(&spec.sources[cell_source.source as usize], spec.seed);
            let own = &spec.links[cell_source.own_port as usize];
            let is_measured = spec.records.delay_vcs.contains(&cell_source.vc);
            let fixed = spec.vc_fixed_delay_ps(cell_source.vc as usize);
            let delays = is_measured.then(|| CellDelays::new(fixed));
            let (cell_time, delay) = (own.cell_time_ps, own.delay_ps);
            let from = SimTime(spec.measure_from_ps);
            let edge = Edge::new(&spec.vcs[cell_source.vc as usize], from, end);
            OpenLoopSource::new(
                cell_source.clone(),
                source,
                edge,
                cell_time,
                delay,
                delays,
                end,
            )
        });
        let (cell_time, notes_losses) = (link.cell_time_ps, port.losses.is_some());
        let cell_sources = cell_sources.collect();
        let server = Server::new(&link.port, cell_time, own, cell_sources, end, notes_losses);
        port.log.server = Some(Box::new(server));
    }
}

/// All VCs are there: ports know what of that which has left them is asked for as the run ends, and what links are
/// behind them.
fn add_links(spec: &NetworkSpec, tuning: &Tuning, ports: &mut Ports) {
    for (link, slot) in spec.links.iter().zip(&mut ports.slots) {
        match slot {
            Slot::Source(index) => {
                ports.sources[*index as usize].lose_frames(link, spec.seed);
            }
            Slot::Output(port) => {
                port.keep_order();
                port.lose_frames(link, spec.seed);
                port.vary_link(link, spec.seed, tuning);
            }
            _ => {}
        }
    }
}

fn cross(ports: &mut Ports, pass: PassThrough, from_port: u32, port_vc: PortVc) {
    let Slot::Pass(port) = &mut ports.slots[pass.port as usize] else {
        unreachable!("a stretch passes through ports where no cell waits");
    };
    // All its VCs come over one link, so from one port after the same time.
    debug_assert!(port.port_vcs.is_empty() || (port.from_port, port.after) == (from_port, pass));
    (port.from_port, port.after) = (from_port, pass);
    port.port_vcs.push(port_vc);
}

/// When the cell came that was the last to come to the pass-through port `id` before the run ends at `end`, if none after
/// it was lost on the way.
pub(crate) fn last_of_pass(ports: &Ports, id: u32, end: SimTime) -> Option<SimTime> {
    let Slot::Pass(port) = &ports.slots[id as usize] else {
        return None;
    };
    let before = SimTime(end.0.checked_sub(port.after.arrival.0)?);
    let crosses = |port_vc: PortVc| port.port_vcs.contains(&port_vc);
    let ((departure, port_vc), lossy) = match &ports.slots[port.from_port as usize] {
        Slot::Source(index) => {
            let source = &ports.sources[*index as usize];
            let last = source.last_departure(before, crosses)?;
            (last, source.lossy())
        }
        Slot::Output(output) => {
            let last = output.last_departure_before(before);
            let last = last.filter(|(_, port_vc)| crosses(*port_vc))?;
            (last, output.lossy.as_deref())
        }
        _ => unreachable!("a stretch begins at a source or multiplexing port"),
    };
    // What came before one that was lost has left, too.
    if lossy.is_some_and(|lossy| lossy.has_lost_at(departure, port_vc)) {
        return None;
    }
    Some(departure + port.after.arrival)
}
