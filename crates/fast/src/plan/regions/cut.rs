//! What the nodes of a network have to do, from the rates of links and the windows of flows, and which of them stay
//! together.

use super::atoms;
use crate::cut::Load;
use crate::plan::Plan;
use crate::plan::route::{PortKind, least_time};
use skycell_spec::{AppSpec, NetworkSpec, TcpSpec, UsersSpec};
use skycell_tcp::Segment;
use skycell_units::{Cells, Octets};

/// Wall time of a frame, or of a cell where cells are stepped, at a port, s.
const AT_PORT_S: f64 = 1e-7;
/// That of a segment at the sender and at the receiver, each with its ACK.
const AT_SENDER_S: f64 = 2e-7;
const AT_RECEIVER_S: f64 = 1e-7;

/// Requests in datagrams of a user in a second, about.
const ASKS: f64 = 20.0;

const PS_PER_SECOND: f64 = 1e12;

/// The links of a route of VCs.
fn links<'a>(spec: &'a NetworkSpec, route: &'a [u32]) -> impl Iterator<Item = u32> {
    let vcs = route.iter().map(|&vc| &spec.vcs[vc as usize].path);
    vcs.flatten().copied()
}

fn cells(octets: Octets) -> f64 {
    f64::from(Cells::for_aal5_frame(octets).0)
}

/// Connections that are alike.
struct Alike<'a> {
    forward: &'a [u32],
    reverse: &'a [u32],
    tcp: &'a TcpSpec,
    /// How many.
    count: f64,
    /// Packets of each in a second, at most.
    most: f64,
}

/// Flows, and the users of groups on each route, who are taken to load their links as flows do.
fn all_connections(spec: &NetworkSpec) -> Vec<Alike<'_>> {
    let flows = spec.flows.iter().map(|flow| Alike {
        forward: &flow.forward,
        reverse: &flow.reverse,
        tcp: &flow.tcp,
        count: 1.0,
        most: f64::INFINITY,
    });
    flows.chain(spec.users.iter().flat_map(of_users)).collect()
}

fn of_users(users: &UsersSpec) -> impl Iterator<Item = Alike<'_>> {
    let routes = users.routes.len() as f64;
    let of_group = move |group| users.routes.iter().map(move |route| (group, route));
    let pairs = users.groups.iter().flat_map(of_group);
    pairs.map(move |(group, route)| Alike {
        forward: &route.forward,
        reverse: &route.reverse,
        tcp: &group.tcp,
        count: f64::from(group.count) / routes,
        most: match &group.app {
            AppSpec::Call(call) => PS_PER_SECOND / call.interval_ps as f64,
            AppSpec::Asks(_) => ASKS,
            AppSpec::Bulk(_) | AppSpec::Pages(_) | AppSpec::Video(_) => f64::INFINITY,
        },
    })
}

/// Segments of a connection in a second at most: its share of the slowest link, or a window each round trip.
fn segments(spec: &NetworkSpec, flow: &Alike<'_>, flows_at: &[f64]) -> f64 {
    let octets = Segment::longest_packet(flow.tcp, true);
    let share = |id: u32| {
        let link = &spec.links[id as usize];
        let frame_ps = match &link.framing {
            Some(framing) => framing.time_ps(octets) as f64,
            None => cells(octets) * link.cell_time_ps as f64,
        };
        PS_PER_SECOND / (frame_ps * flows_at[id as usize].max(1.0))
    };
    let shares = links(spec, flow.forward).map(share);
    let round_trip = links(spec, flow.forward).chain(links(spec, flow.reverse));
    let rtt_ps: u64 = round_trip.map(|id| spec.links[id as usize].delay_ps).sum();
    let window = flow.tcp.rwnd as f64 / flow.tcp.mss as f64;
    let of_window = window * PS_PER_SECOND / rtt_ps.max(1) as f64;
    shares.fold(of_window.min(flow.most), f64::min)
}

/// What the nodes of a valid spec have to do.
pub(crate) fn load(spec: &NetworkSpec) -> Load {
    let plan = &Plan::new(spec);
    let mut flows_at = vec![0.0; spec.links.len()];
    let connections = all_connections(spec);
    // Those who send what they want to leave the rest to the others.
    for flow in connections.iter().filter(|flow| flow.most.is_infinite()) {
        links(spec, flow.forward).for_each(|id| flows_at[id as usize] += flow.count);
    }
    let mut load = Load::none(spec.nodes.len());
    let atoms = atoms(spec, plan);
    for node in 0..spec.nodes.len() as u32 {
        if atoms.of(node) != node {
            load.join(atoms.of(node), node, 0);
        }
    }
    for flow in &connections {
        let frames = flow.count * segments(spec, flow, &flows_at);
        let end = |route: &[u32]| spec.vc_source(route[0] as usize);
        load.add(end(flow.forward), frames * AT_SENDER_S);
        load.add(end(flow.reverse), frames * AT_RECEIVER_S);
        let of_segment = cells(Segment::longest_packet(flow.tcp, true));
        for (route, cells) in [(flow.forward, of_segment), (flow.reverse, 1.0)] {
            route
                .iter()
                .for_each(|&vc| add_vc(&mut load, (spec, plan), vc, (frames, cells)));
        }
    }
    for source in spec
        .sources
        .iter()
        .filter(|own| !own.datagram_route.is_empty())
    {
        let frames = PS_PER_SECOND / source.cell_interval_ps.max(1) as f64;
        let of_datagram = f64::from(source.frame_cells);
        for &vc in &source.datagram_route {
            add_vc(&mut load, (spec, plan), vc, (frames, of_datagram));
        }
    }
    load
}

/// So many frames of so many cells cross a VC in a second.
fn add_vc(
    load: &mut Load,
    (spec, plan): (&NetworkSpec, &Plan),
    vc: u32,
    (frames, cells): (f64, f64),
) {
    let route = &plan.routes[vc as usize];
    let end = spec.vc_destination(vc as usize);
    let node = |port: u32| spec.links[port as usize].from;
    let units = |port: u32| match plan.kinds[port as usize] {
        PortKind::Stepped(_) | PortKind::Coupled if !spec.carries_packets(vc as usize) => cells,
        _ => 1.0,
    };
    load.add(node(route.source), frames * units(route.source) * AT_PORT_S);
    for (port, _) in &route.outputs {
        load.add(node(*port), frames * units(*port) * AT_PORT_S);
    }
    let mut pass = |port: u32, to: u32, delay: u64| {
        let across = delay + least_time(&spec.links[port as usize]).0;
        load.join(node(port), to, across);
        load.pass(node(port), to, frames);
    };
    let first = route.first_output().map_or(end, node);
    pass(route.source, first, route.first.delay.0);
    for pair in route.outputs.windows(2) {
        pass(pair[0].0, node(pair[1].0), pair[0].1.delay.0);
    }
    if let Some((port, hop)) = route.outputs.last() {
        pass(*port, end, hop.delay.0);
    }
}
