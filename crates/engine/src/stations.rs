//! The ports of a run, each in the form that suits it.

use crate::cell_stream::CellStream;
use crate::inputs::Inputs;
use crate::mux::MuxPort;
use crate::plan::{PassThrough, Plan, PortKind, Route};
use crate::server::Server;
use crate::source::SourcePort;
use skycell_records::{CellDelays, QueueSamples};
use skycell_spec::{LinkSpec, NetworkSpec, TraceKind};
use skycell_traffic::CellSource;
use skycell_units::SimTime;
use std::collections::HashSet;

/// An output port.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Port<'a> {
    Source(&'a SourcePort),
    Pass(&'a PassPort),
    Mux(&'a MuxPort),
}

/// An output port at work.
#[derive(Debug)]
pub(crate) enum PortMut<'a> {
    Source(&'a mut SourcePort),
    Pass(&'a mut PassPort),
    Mux(&'a mut MuxPort),
}

/// Where a port is kept.
#[derive(Debug)]
enum Kept {
    /// Among the source ports, by place.
    Source(u32),
    Pass(Box<PassPort>),
    Mux(Box<MuxPort>),
}

/// All output ports. Those that frames begin at are the most, and lie side by side.
#[derive(Debug)]
pub(crate) struct Ports {
    kept: Vec<Kept>,
    /// The source ports, by place.
    pub(crate) sources: Vec<SourcePort>,
}

impl Ports {
    pub(crate) fn len(&self) -> u32 {
        self.kept.len() as u32
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Port<'_>> {
        (0..self.len()).map(|id| self.get(id))
    }

    pub(crate) fn get(&self, id: u32) -> Port<'_> {
        match &self.kept[id as usize] {
            Kept::Source(place) => Port::Source(&self.sources[*place as usize]),
            Kept::Pass(port) => Port::Pass(port),
            Kept::Mux(port) => Port::Mux(port),
        }
    }

    pub(crate) fn get_mut(&mut self, id: u32) -> PortMut<'_> {
        match &mut self.kept[id as usize] {
            Kept::Source(place) => PortMut::Source(&mut self.sources[*place as usize]),
            Kept::Pass(port) => PortMut::Pass(port),
            Kept::Mux(port) => PortMut::Mux(port),
        }
    }

    /// The source port with id `id`.
    pub(crate) fn source(&self, id: u32) -> &SourcePort {
        &self.sources[self.source_place(id) as usize]
    }

    fn source_place(&self, id: u32) -> u32 {
        let Kept::Source(place) = self.kept[id as usize] else {
            unreachable!("a route begins at a source port");
        };
        place
    }

    /// The multiplexing port with id `id`.
    pub(crate) fn mux(&self, id: u32) -> &MuxPort {
        let Kept::Mux(port) = &self.kept[id as usize] else {
            unreachable!("only multiplexing ports are asked for so");
        };
        port
    }

    /// The multiplexing port with id `id`, at work.
    pub(crate) fn mux_mut(&mut self, id: u32) -> &mut MuxPort {
        let Kept::Mux(port) = &mut self.kept[id as usize] else {
            unreachable!("only multiplexing ports are asked for so");
        };
        port
    }

    /// The pass-through port with id `id`.
    pub(crate) fn pass(&self, id: u32) -> &PassPort {
        let Kept::Pass(port) = &self.kept[id as usize] else {
            unreachable!("a stretch passes through ports where no cell waits");
        };
        port
    }
}

/// A VC at a port where no cell waits.
#[derive(Debug, Default)]
pub(crate) struct PassVc {
    pub(crate) vc: u32,
    /// Its place at the station its cells come from.
    pub(crate) place: u32,
    pub(crate) samples: QueueSamples,
}

/// A port where no cell waits: it shifts times.
#[derive(Debug)]
pub(crate) struct PassPort {
    pub(crate) cell_time: SimTime,
    /// The port its cells come from, and how long after their departure there.
    pub(crate) station: u32,
    pub(crate) after: PassThrough,
    pub(crate) vcs: Vec<PassVc>,
    pub(crate) samples: QueueSamples,
}

/// Where a VC stands at the ports of its way that count cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    /// Of its source port among them.
    pub(crate) source_port: u32,
    /// At its source port.
    pub(crate) source: u32,
    /// At its multiplexing port, if it has one.
    pub(crate) mux: u32,
    /// Which of that port's inputs it comes over.
    pub(crate) lane: u32,
}

/// All ports of a run, and the places of each VC.
pub(crate) fn ports(spec: &NetworkSpec, plan: &Plan) -> (Ports, Vec<Places>) {
    let end = SimTime(spec.duration_ps);
    let notes_losses = spec.records.traces.contains(&TraceKind::Discards);
    type Link<'a> = (((&'a LinkSpec, &'a PortKind), &'a usize), u32);
    let mut sources = Vec::new();
    let new = |(((link, kind), &own), id): Link<'_>| match kind {
        PortKind::Source => {
            sources.push(SourcePort::new(link, spec.seed));
            Kept::Source(sources.len() as u32 - 1)
        }
        PortKind::Mux => {
            let samples_vcs = spec.records.vc_sampled_ports.contains(&id);
            let port = MuxPort::new(link, own, spec.seed, end, samples_vcs, notes_losses);
            Kept::Mux(Box::new(port))
        }
        PortKind::PassThrough => Kept::Pass(Box::new(PassPort {
            cell_time: SimTime(link.cell_time_ps),
            station: u32::MAX,
            after: PassThrough {
                port: u32::MAX,
                arrival: SimTime::ZERO,
                departure: SimTime::ZERO,
            },
            vcs: Vec::new(),
            samples: QueueSamples::default(),
        })),
    };
    let links = spec.links.iter().zip(&plan.kinds).zip(&plan.own_queues);
    let links = links.zip(0u32..);
    let kept = links.map(new).collect();
    let mut ports = Ports { kept, sources };
    add_servers(spec, plan, &mut ports);
    let mut inputs: Vec<(u32, u32, u32)> = plan.routes.iter().filter_map(input).collect();
    inputs.sort_unstable();
    inputs.dedup();
    for of_port in inputs.chunk_by(|a, b| a.0 == b.0) {
        let spacing = |source: u32| SimTime(spec.links[source as usize].cell_time_ps);
        let links = of_port.iter().map(|i| (i.1, spacing(i.2)));
        ports.mux_mut(of_port[0].0).inputs = Inputs::new(links);
    }
    let mut places = Vec::new();
    for (route, vc) in plan.routes.iter().zip(0u32..) {
        let source_port = ports.source_place(route.source);
        let source_place = ports.sources[source_port as usize].add_vc(vc, route.first.delay);
        for pass in &route.first.passes {
            cross(&mut ports, *pass, route.source, vc, source_place);
        }
        let (mut mux_place, mut lane) = (u32::MAX, u32::MAX);
        if let Some((mux, stretch)) = &route.mux {
            let port = ports.mux_mut(*mux);
            let cell_time = SimTime(spec.links[route.source as usize].cell_time_ps);
            mux_place = port.add_vc(vc, route.first.delay + cell_time, stretch.delay);
            lane = port.inputs.lane_of(route.first.link);
            for pass in &stretch.passes {
                cross(&mut ports, *pass, *mux, vc, mux_place);
            }
        }
        places.push(Places {
            source_port,
            source: source_place,
            mux: mux_place,
            lane,
        });
    }
    SourcePort::share_kinds(&mut ports.sources);
    for mux in inputs
        .chunk_by(|a, b| a.0 == b.0)
        .map(|of_port| of_port[0].0)
    {
        let returns = returns(spec, plan, &ports, mux);
        ports.mux_mut(mux).returns = returns;
    }
    (ports, places)
}

/// Gives each port with several queues its server, with the cells of sources that cross it.
fn add_servers(spec: &NetworkSpec, plan: &Plan, ports: &mut Ports) {
    let end = SimTime(spec.duration_ps);
    for (port, id) in ports.kept.iter_mut().zip(0u32..) {
        let link = &spec.links[id as usize];
        let Kept::Mux(port) = port else {
            continue;
        };
        if link.port.queues.len() == 1 {
            continue;
        }
        let streams = plan.streams.iter().filter(|stream| stream.mux == id);
        let streams = streams.map(|stream| {
            let source = CellSource::new(&spec.sources[stream.source as usize], spec.seed);
            let own = &spec.links[stream.own_port as usize];
            let is_measured = spec.records.delay_vcs.contains(&stream.vc);
            let fixed = spec.vc_fixed_delay_ps(stream.vc as usize);
            let delays = is_measured.then(|| CellDelays::new(fixed));
            let (cell_time, delay) = (own.cell_time_ps, own.delay_ps);
            CellStream::new(stream.clone(), source, cell_time, delay, delays, end)
        });
        let own = plan.own_queues[id as usize];
        let server = Server::new(&link.port, link.cell_time_ps, own, streams.collect(), end);
        port.log.server = Some(Box::new(server));
    }
}

/// Least time in which what arrives at the end of a VC from port `mux` leads to a hand-over to that
/// port, by way of the VCs that begin there.
fn returns(spec: &NetworkSpec, plan: &Plan, ports: &Ports, mux: u32) -> SimTime {
    let crosses = |route: &&Route| route.mux.as_ref().is_some_and(|(port, _)| *port == mux);
    let end = |route: &Route| {
        let stretch = route.mux.as_ref().map_or(&route.first, |(_, last)| last);
        spec.links[stretch.link as usize].to
    };
    let ends: HashSet<u32> = plan.routes.iter().filter(crosses).map(end).collect();
    let begin = |route: &&Route| ends.contains(&spec.links[route.source as usize].from);
    let answer = |route: &Route| match &route.mux {
        Some((port, _)) if *port == mux => SimTime::ZERO,
        Some((port, _)) => ports.mux(*port).lead + ports.mux(*port).slack,
        None => route.first.delay + SimTime(spec.links[route.source as usize].cell_time_ps),
    };
    let answers = plan.routes.iter().filter(begin).map(answer);
    answers.min().unwrap_or(SimTime::NEVER)
}

/// The multiplexing port of a way, the link over which it is reached, and the port that feeds it.
fn input(route: &Route) -> Option<(u32, u32, u32)> {
    let (mux, _) = route.mux.as_ref()?;
    Some((*mux, route.first.link, route.source))
}

fn cross(ports: &mut Ports, pass: PassThrough, station: u32, vc: u32, place: u32) {
    let PortMut::Pass(port) = ports.get_mut(pass.port) else {
        unreachable!("a stretch passes through ports where no cell waits");
    };
    // All its VCs come over one link, so from one station after the same time.
    debug_assert!(port.vcs.is_empty() || (port.station, port.after) == (station, pass));
    (port.station, port.after) = (station, pass);
    port.vcs.push(PassVc {
        vc,
        place,
        samples: QueueSamples::default(),
    });
}

/// A cell on its way through a pass-through port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassingCell {
    pub(crate) came: SimTime,
    pub(crate) leaves: SimTime,
    /// Of its VC, at the station before.
    pub(crate) place: u32,
}

/// The cell that came last to the pass-through port `id` before `time`.
pub(crate) fn last_of_pass(ports: &Ports, id: u32, time: SimTime) -> Option<PassingCell> {
    let port = ports.pass(id);
    if port.vcs.is_empty() {
        return None;
    }
    let before = SimTime(time.0.checked_sub(port.after.arrival.0)?);
    let crosses = |place: u32| port.vcs.iter().any(|vc| vc.place == place);
    let (departure, place) = match ports.get(port.station) {
        Port::Source(source) => source.last_departure(before, crosses)?,
        Port::Mux(mux) => mux
            .last_departure_before(before)
            .filter(|(_, place)| crosses(*place))?,
        Port::Pass(_) => unreachable!("a stretch begins at a source or multiplexing port"),
    };
    Some(PassingCell {
        came: departure + port.after.arrival,
        leaves: departure + port.after.departure,
        place,
    })
}

/// The place of the cell that is in the pass-through port `id` at `time`, departures done and
/// arrivals not. There is at most one.
pub(crate) fn in_pass(ports: &Ports, id: u32, time: SimTime) -> Option<u32> {
    let last = last_of_pass(ports, id, time)?;
    (last.leaves > time).then_some(last.place)
}
