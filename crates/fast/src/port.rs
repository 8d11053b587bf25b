//! The ports of a run, each in the form that suits it.

use crate::edge::Edge;
use crate::plan::Plan;
use crate::plan::route::{PassThrough, PortKind, Route};
use crate::port::cell_stream::CellStream;
use crate::port::lookahead::Lookahead;
use crate::port::mux::MuxPort;
use crate::port::mux::server::Server;
use crate::port::packets::PacketPort;
use crate::port::source::SourcePort;
use crate::port::stepped::SteppedPort;
use crate::tuning::Tuning;
use crate::vcs::{AtMux, Places};
use skycell_records::CellDelays;
use skycell_reference::Ways;
use skycell_spec::{LinkSpec, NetworkSpec, TraceKind};
use skycell_traffic::CellSource;
use skycell_units::SimTime;

pub(crate) mod cell_stream;
mod graph;
pub(crate) mod inputs;
pub(crate) mod lookahead;
pub(crate) mod mux;
pub(crate) mod packets;
pub(crate) mod source;
pub(crate) mod stepped;
pub(crate) mod vc_queues;

use graph::{add_inputs, inputs, join, set_times};

/// An output port.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Port<'a> {
    Source(&'a SourcePort),
    Pass(&'a PassPort),
    Mux(&'a MuxPort),
    Packets(&'a PacketPort),
    Stepped(&'a SteppedPort),
}

/// An output port at work.
#[derive(Debug)]
pub(crate) enum PortMut<'a> {
    Source(&'a mut SourcePort),
    Pass(&'a mut PassPort),
    Mux(&'a mut MuxPort),
    Packets(&'a mut PacketPort),
    Stepped(&'a mut SteppedPort),
}

/// Where a port is kept.
#[derive(Debug)]
enum Kept {
    /// Among the source ports, by place.
    Source(u32),
    Pass(Box<PassPort>),
    Mux(Box<MuxPort>),
    Packets(u32),
    Stepped(Box<SteppedPort>),
}

/// All output ports. Those that frames begin at are the most, and lie side by side.
#[derive(Debug)]
pub(crate) struct Ports {
    kept: Vec<Kept>,
    /// The source ports, by place.
    pub(crate) sources: Vec<SourcePort>,
    /// Ports of packets, by the place that the VCs know them by.
    pub(crate) packets: Vec<PacketPort>,
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
            Kept::Packets(place) => Port::Packets(&self.packets[*place as usize]),
            Kept::Stepped(port) => Port::Stepped(port),
        }
    }

    pub(crate) fn get_mut(&mut self, id: u32) -> PortMut<'_> {
        match &mut self.kept[id as usize] {
            Kept::Source(place) => PortMut::Source(&mut self.sources[*place as usize]),
            Kept::Pass(port) => PortMut::Pass(port),
            Kept::Mux(port) => PortMut::Mux(port),
            Kept::Packets(place) => PortMut::Packets(&mut self.packets[*place as usize]),
            Kept::Stepped(port) => PortMut::Stepped(port),
        }
    }

    /// The source port with id `id`.
    pub(crate) fn source(&self, id: u32) -> &SourcePort {
        &self.sources[self.source_place(id) as usize]
    }

    fn source_place(&self, id: u32) -> u32 {
        match self.kept[id as usize] {
            Kept::Source(place) | Kept::Packets(place) => place,
            Kept::Stepped(_) => u32::MAX,
            _ => unreachable!("a route begins at a host's or router's port"),
        }
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

    /// The same of any port, if it is one.
    #[inline(always)]
    pub(crate) fn as_mux_mut(&mut self, id: u32) -> Option<&mut MuxPort> {
        match &mut self.kept[id as usize] {
            Kept::Mux(port) => Some(port),
            _ => None,
        }
    }

    /// The stepped port with id `id`.
    pub(crate) fn stepped(&self, id: u32) -> &SteppedPort {
        let Kept::Stepped(port) = &self.kept[id as usize] else {
            unreachable!("only stepped ports are asked for so");
        };
        port
    }

    /// The stepped port with id `id`, at work.
    pub(crate) fn stepped_mut(&mut self, id: u32) -> &mut SteppedPort {
        let Kept::Stepped(port) = &mut self.kept[id as usize] else {
            unreachable!("only stepped ports are asked for so");
        };
        port
    }

    /// How far ahead the port with id `id` may act, at which units may wait.
    #[inline(always)]
    pub(crate) fn lookahead(&self, id: u32) -> &Lookahead {
        match &self.kept[id as usize] {
            Kept::Mux(port) => &port.lookahead,
            Kept::Stepped(port) => &port.lookahead,
            _ => unreachable!("units may wait there"),
        }
    }

    /// The same, to be changed.
    #[inline(always)]
    pub(crate) fn lookahead_mut(&mut self, id: u32) -> &mut Lookahead {
        match &mut self.kept[id as usize] {
            Kept::Mux(port) => &mut port.lookahead,
            Kept::Stepped(port) => &mut port.lookahead,
            _ => unreachable!("units may wait there"),
        }
    }

    /// When the earliest of what comes to the port at `time` or later may arrive at the end of its VC, as far as is
    /// known.
    #[inline(always)]
    pub(crate) fn arrives_after(&self, id: u32, time: SimTime) -> SimTime {
        match &self.kept[id as usize] {
            Kept::Mux(port) => port.arrives_after(time),
            _ => time + self.lookahead(id).slack,
        }
    }

    /// When the port is to act before anything that it does arrives at the end of a VC, if it has anything to do.
    #[inline(always)]
    pub(crate) fn acts_at(&self, id: u32) -> Option<SimTime> {
        match &self.kept[id as usize] {
            Kept::Mux(port) => port.acts_at(),
            _ => self.stepped(id).acts_at(),
        }
    }

    /// How many units of the VC at `place` of the port with id `id` have come and been dealt with.
    pub(crate) fn dealt_with(&self, id: u32, place: u32) -> u64 {
        match &self.kept[id as usize] {
            Kept::Mux(port) => port.dealt_with(place),
            _ => self.stepped(id).dealt_with(place),
        }
    }

    /// Of units that come together by `link`, if they may come to several ports: which place the `nth` of `vc` had that
    /// went over it.
    pub(crate) fn entry(&self, link: u32, vc: u32, nth: u64) -> Option<SimTime> {
        match &self.kept[link as usize] {
            Kept::Mux(feeding) => feeding.entry(vc, nth),
            Kept::Stepped(feeding) => feeding.entry(vc, nth),
            _ => None,
        }
    }

    /// The pass-through port with id `id`.
    pub(crate) fn pass(&self, id: u32) -> &PassPort {
        let Kept::Pass(port) = &self.kept[id as usize] else {
            unreachable!("a stretch passes through ports where no cell waits");
        };
        port
    }
}

/// A port where no cell waits: it shifts times.
#[derive(Debug)]
pub(crate) struct PassPort {
    pub(crate) cell_time: SimTime,
    /// The port its cells come from, and how long after their departure there.
    pub(crate) station: u32,
    pub(crate) after: PassThrough,
    /// The places there of the VCs that cross it.
    places: Vec<u32>,
}

/// All ports of a run, and the places of each VC.
pub(crate) fn ports(spec: &NetworkSpec, plan: &Plan, tuning: &Tuning) -> (Ports, Vec<Places>) {
    let end = SimTime(spec.duration_ps);
    let notes_losses = spec.records.traces.contains(&TraceKind::Discards);
    type Link<'a> = (((&'a LinkSpec, &'a PortKind), &'a Option<usize>), u32);
    let (mut sources, mut packets) = (Vec::new(), Vec::new());
    let new = |(((link, kind), &own), id): Link<'_>| match kind {
        PortKind::Source => {
            sources.push(SourcePort::new(link, spec.seed));
            Kept::Source(sources.len() as u32 - 1)
        }
        PortKind::Packets => {
            let framing = link.framing.expect("it carries packets");
            let is_by_flow = spec.records.flow_ports.contains(&id);
            packets.push(PacketPort::new(link, framing, spec.seed, is_by_flow));
            Kept::Packets(packets.len() as u32 - 1)
        }
        PortKind::Mux => {
            let samples_vcs = spec.records.vc_sampled_ports.contains(&id);
            let port = MuxPort::new(link, own, spec.seed, end, samples_vcs, notes_losses);
            Kept::Mux(Box::new(port))
        }
        PortKind::Stepped(_) => {
            let mut port = SteppedPort::new((link, id), spec.seed, end, notes_losses);
            if spec.records.flow_ports.contains(&id) {
                port.port.tell_flows();
            }
            Kept::Stepped(Box::new(port))
        }
        PortKind::PassThrough => Kept::Pass(Box::new(PassPort {
            cell_time: SimTime(link.cell_time_ps),
            station: u32::MAX,
            after: PassThrough {
                port: u32::MAX,
                arrival: SimTime::ZERO,
                departure: SimTime::ZERO,
            },
            places: Vec::new(),
        })),
    };
    let links = spec.links.iter().zip(&plan.kinds).zip(&plan.own_queues);
    let links = links.zip(0u32..);
    let kept = links.map(new).collect();
    let mut ports = Ports {
        kept,
        sources,
        packets,
    };
    add_servers(spec, plan, &mut ports);
    let lanes = add_inputs(spec, plan, tuning, &mut ports);
    let mut places = Vec::new();
    for (route, vc) in plan.routes.iter().zip(0u32..) {
        let source_port = ports.source_place(route.source);
        let source_place = match plan.kinds[route.source as usize] {
            PortKind::Packets => ports.packets[source_port as usize].add_vc(vc),
            PortKind::Stepped(_) => u32::MAX,
            _ => ports.sources[source_port as usize].add_vc(vc, route.first.delay),
        };
        for pass in &route.first.passes {
            cross(&mut ports, *pass, route.source, source_place);
        }
        let mut muxes = Vec::new();
        for ((mux, stretch), input) in route.muxes.iter().zip(inputs(spec, route, vc)) {
            let class = spec.vcs[vc as usize].class;
            let queue = spec.links[*mux as usize].port.queue_of(class);
            let queue = queue.expect("a class has a queue");
            let place = match ports.get_mut(*mux) {
                PortMut::Stepped(port) => port.add_vc(vc, class, &spec.links[*mux as usize]),
                _ => ports.mux_mut(*mux).add_vc(vc, queue, stretch.delay),
            };
            let lane = input.and_then(|input| lanes.get(&input).copied());
            let lane = lane.unwrap_or(u32::MAX);
            muxes.push(AtMux { place, lane });
            for pass in &stretch.passes {
                cross(&mut ports, *pass, *mux, place);
            }
        }
        places.push(Places {
            source_port,
            source: source_place,
            ways: ways(spec, vc, route, &muxes),
            are_stepped: {
                let mut links = spec.vcs[vc as usize].paths().flatten();
                links.all(|&link| matches!(plan.kinds[link as usize], PortKind::Stepped(_)))
            },
            muxes,
        });
    }
    add_links(spec, tuning, &mut ports);
    SourcePort::share_kinds(&mut ports.sources);
    join(spec, plan, tuning, &places, &mut ports);
    set_times(spec, plan, &mut ports);
    (ports, places)
}

/// The paths of `vc`, if it is rerouted, whose ports are those of `route`.
fn ways(spec: &NetworkSpec, vc: u32, route: &Route, muxes: &[AtMux]) -> Option<Ways> {
    let of = &spec.vcs[vc as usize];
    of.rerouting.as_ref()?;
    let place = |port: u32| {
        let at = route.muxes.iter().position(|mux| mux.0 == port);
        muxes[at.expect("it may cross the port")].place
    };
    let from = |link: u32| spec.links[link as usize].from;
    Some(Ways::new(of, spec.vc_destination(vc as usize), place, from))
}

/// Gives each port with several queues, one of which frames join, its server, with the cells of sources that cross it.
fn add_servers(spec: &NetworkSpec, plan: &Plan, ports: &mut Ports) {
    let end = SimTime(spec.duration_ps);
    for (port, id) in ports.kept.iter_mut().zip(0u32..) {
        let link = &spec.links[id as usize];
        let Kept::Mux(port) = port else {
            continue;
        };
        let own = plan.own_queues[id as usize];
        let Some(own) = own.filter(|_| link.port.queues.len() > 1) else {
            continue;
        };
        let streams = plan.streams.iter().filter(|stream| stream.mux == id);
        let streams = streams.map(|stream| {
            let source = CellSource::new(&spec.sources[stream.source as usize], spec.seed);
            let own = &spec.links[stream.own_port as usize];
            let is_measured = spec.records.delay_vcs.contains(&stream.vc);
            let fixed = spec.vc_fixed_delay_ps(stream.vc as usize);
            let delays = is_measured.then(|| CellDelays::new(fixed));
            let (cell_time, delay) = (own.cell_time_ps, own.delay_ps);
            let edge = Edge::new(&spec.vcs[stream.vc as usize], end);
            CellStream::new(stream.clone(), source, edge, cell_time, delay, delays, end)
        });
        let (cell_time, notes_losses) = (link.cell_time_ps, port.losses.is_some());
        let streams = streams.collect();
        let server = Server::new(&link.port, cell_time, own, streams, end, notes_losses);
        port.log.server = Some(Box::new(server));
    }
}

/// All VCs are there: ports know what of that which has left them is asked for as the run ends, and what links are
/// behind them.
fn add_links(spec: &NetworkSpec, tuning: &Tuning, ports: &mut Ports) {
    let end = SimTime(spec.duration_ps);
    for (link, id) in spec.links.iter().zip(0u32..) {
        match ports.get_mut(id) {
            PortMut::Source(port) => {
                port.keep_frames(end);
                port.lose_frames(link, spec.seed);
            }
            PortMut::Mux(port) => {
                port.keep_order();
                port.lose_frames(link, spec.seed);
                port.move_link(link, spec.seed, tuning);
            }
            PortMut::Pass(_) | PortMut::Packets(_) | PortMut::Stepped(_) => {}
        }
    }
}

fn cross(ports: &mut Ports, pass: PassThrough, station: u32, place: u32) {
    let PortMut::Pass(port) = ports.get_mut(pass.port) else {
        unreachable!("a stretch passes through ports where no cell waits");
    };
    // All its VCs come over one link, so from one station after the same time.
    debug_assert!(port.places.is_empty() || (port.station, port.after) == (station, pass));
    (port.station, port.after) = (station, pass);
    port.places.push(place);
}

/// When the cell came that was the last to come to the pass-through port `id` before the run ends at `end`, if none after
/// it was lost on the way.
pub(crate) fn last_of_pass(ports: &Ports, id: u32, end: SimTime) -> Option<SimTime> {
    let port = ports.pass(id);
    let before = SimTime(end.0.checked_sub(port.after.arrival.0)?);
    let crosses = |place: u32| port.places.contains(&place);
    let ((departure, place), lossy) = match ports.get(port.station) {
        Port::Source(source) => {
            let last = source.last_departure(before, crosses)?;
            (last, source.rest.lossy.as_ref())
        }
        Port::Mux(mux) => {
            let last = mux.last_departure_before(before);
            let last = last.filter(|(_, place)| crosses(*place))?;
            (last, mux.lossy.as_deref())
        }
        Port::Pass(_) | Port::Packets(_) | Port::Stepped(_) => {
            unreachable!("a stretch begins at a source or multiplexing port")
        }
    };
    // What came before one that was lost has left, too.
    if lossy.is_some_and(|lossy| lossy.has_lost_at(departure, place)) {
        return None;
    }
    Some(departure + port.after.arrival)
}
