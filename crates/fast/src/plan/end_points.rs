//! Which end points may act before their time comes in the event queue.
//!
//! Nothing here changes a record: it finds the places where fewer than all events decide the order
//! of a run's events.

use crate::plan::route::{PortKind, Route, SourcePlan};
use skycell_spec::{NetworkSpec, NodeKind, TraceKind, TrafficSpec};
use skycell_units::FlowId;

/// How the two ends of flows may act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndPoints {
    /// By VC: whether a frame is received as soon as the output port knows when it arrives.
    pub(crate) receives_at_once: Vec<bool>,
    /// By link: the flow whose sender alone it leads to, which may take all acknowledgements that
    /// are known, as only its own timers can come between them.
    pub(crate) sender_alone: Vec<Option<FlowId>>,
    /// By [`skycell_traffic::HostDelay::index`]: whether the port takes a frame in as soon as its processing time is drawn, as
    /// it accepts no others.
    pub(crate) hands_over_at_once: Vec<bool>,
    /// By VC of packets: whether routers accept what it brings as soon as it is known when that arrives, at ports that
    /// accept nothing else.
    pub(crate) forwards_at_once: Vec<bool>,
}

/// The VCs that end and begin at a node.
#[derive(Clone, Debug, Default)]
struct Use {
    senders: Vec<u32>,
    receivers: Vec<u32>,
    /// True if frames of sources begin, end or pass here.
    has_sources: bool,
    /// True if arrivals from a stepped port end here.
    receives_stepped: bool,
    /// Last link and last port where units may wait of the VCs that end here.
    arrivals: Vec<(u32, Option<u32>)>,
}

impl EndPoints {
    /// Those of a valid spec with ports of these kinds, VCs with these routes, and these open-loop sources.
    pub(crate) fn new(
        spec: &NetworkSpec,
        kinds: &[PortKind],
        routes: &[Route],
        open_loop_sources: &[SourcePlan],
    ) -> EndPoints {
        let uses = uses(spec, kinds, routes, open_loop_sources);
        let sampled = spec.records.sampled_ports.iter();
        let mut sampled = sampled.chain(&spec.records.vc_sampled_ports);
        // A port that end points feed must not be ahead of the samples.
        let is_free = sampled.all(|&port| match kinds[port as usize] {
            PortKind::Output | PortKind::Stepped(_) | PortKind::Coupled => true,
            PortKind::Source => {
                let link = &spec.links[port as usize];
                let from = spec.nodes[link.from as usize].kind;
                link.framing.is_some() && from == NodeKind::Router
            }
            PortKind::PassThrough => unreachable!("none is sampled"),
        });
        let is_host = |node: u32| spec.nodes[node as usize].kind == NodeKind::Host;
        let traces_senders = spec.records.traces.iter().any(|trace| {
            matches!(
                trace,
                TraceKind::Cwnd | TraceKind::Sequence | TraceKind::Transfers
            )
        });
        let traces_receivers = spec.records.traces.contains(&TraceKind::Deliveries);
        let receives = |node: u32| {
            let here = &uses[node as usize];
            let holds_acks = |&flow: &u32| spec.flows[flow as usize].tcp.delayed_ack.is_some();
            let is_one_path = here.arrivals.windows(2).all(|pair| pair[0] == pair[1]);
            // What waits for an event must not come to a port that others are ahead at.
            let has_jitter = |flow: u32| spec.flows[flow as usize].jitter.acks_ps > 0;
            let mut pairs = here.receivers.windows(2);
            let is_alike = pairs.all(|pair| has_jitter(pair[0]) == has_jitter(pair[1]));
            is_free
                && !traces_receivers
                && is_host(node)
                && !here.has_sources
                && here.senders.is_empty()
                && !here.receives_stepped
                && is_one_path
                && is_alike
                && !here.receivers.iter().any(holds_acks)
        };
        let sends_alone = |node: u32| {
            let here = &uses[node as usize];
            let is_alone = is_free
                && is_host(node)
                && !traces_senders
                && !here.has_sources
                && here.receivers.is_empty()
                && here.arrivals.len() == 1;
            match here.senders[..] {
                [flow] if is_alone => Some(FlowId(flow)),
                _ => None,
            }
        };
        let end = |vc: &skycell_spec::VcSpec| {
            let last = *vc.path.last().expect("a path has links");
            spec.links[last as usize].to
        };
        EndPoints {
            receives_at_once: spec.vcs.iter().map(|vc| receives(end(vc))).collect(),
            sender_alone: spec.links.iter().map(|l| sends_alone(l.to)).collect(),
            hands_over_at_once: alone_at_port(spec).map(|alone| is_free && alone).collect(),
            forwards_at_once: forwards_at_once(spec),
        }
    }
}

/// By VC: whether all that it brings goes on at ports of packets that accept what comes over its link and nothing else,
/// and that are not sampled.
fn forwards_at_once(spec: &NetworkSpec) -> Vec<bool> {
    // Packets of a section end at its proxy.
    let sections = spec.user_sections();
    let flows = spec.flows.iter().flat_map(|f| [&f.forward, &f.reverse]);
    let datagrams = spec.sources.iter().map(|source| &source.datagram_route);
    let of_users = spec.user_routes().chain(&sections);
    let routes = flows.chain(datagrams).chain(of_users);
    let routes: Vec<&Vec<u32>> = routes.collect();
    let port = |vc: u32| spec.vcs[vc as usize].path[0];
    // By port: the link of packets over which all comes; none where there is another, or what is no such link.
    let mut feeding: Vec<Option<Option<u32>>> = vec![None; spec.links.len()];
    let mut feed = |port: u32, link: Option<u32>| {
        let known = feeding[port as usize].get_or_insert(link);
        *known = known.filter(|known| Some(*known) == link);
    };
    for source in &spec.sources {
        feed(port(source.vc), None);
    }
    for route in &routes {
        if let Some(&first) = route.first() {
            feed(port(first), None);
        }
        for pair in route.windows(2) {
            let is_of_packets = spec.carries_packets(pair[0] as usize);
            feed(port(pair[1]), is_of_packets.then(|| port(pair[0])));
        }
    }
    let records = &spec.records;
    let is_sampled = |port: &u32| {
        records.sampled_ports.contains(port) || records.vc_sampled_ports.contains(port)
    };
    let mut at_once: Vec<bool> = (0..spec.vcs.len())
        .map(|vc| spec.carries_packets(vc))
        .collect();
    for pair in routes.iter().flat_map(|route| route.windows(2)) {
        let next = port(pair[1]);
        let is_alone = feeding[next as usize] == Some(Some(port(pair[0])));
        let is_ready = is_alone && spec.carries_packets(pair[1] as usize) && !is_sampled(&next);
        at_once[pair[0] as usize] &= is_ready;
    }
    // What a connection that ends at a router brings does not go on.
    for route in &routes {
        if let Some(&last) = route.last() {
            at_once[last as usize] = false;
        }
    }
    // What ends at a host does not go on.
    let ends_at_router = |vc: usize| {
        let end = spec.nodes[spec.vc_destination(vc) as usize].kind;
        end == NodeKind::Router
    };
    for (vc, at_once) in at_once.iter_mut().enumerate() {
        *at_once &= ends_at_router(vc);
    }
    at_once
}

/// By [`skycell_traffic::HostDelay::index`]: whether nothing else begins at the port where what the end sends does.
fn alone_at_port(spec: &NetworkSpec) -> impl Iterator<Item = bool> {
    let port = |vc: u32| spec.vcs[vc as usize].path[0];
    let ends = spec.flows.iter().flat_map(|f| [f.forward[0], f.reverse[0]]);
    let ends: Vec<u32> = ends.map(port).collect();
    let mut users = vec![0; spec.links.len()];
    let of_sources = spec.sources.iter();
    let of_sources = of_sources.flat_map(|source| source.datagram_route.iter().chain([&source.vc]));
    let of_sources = of_sources.chain(spec.user_routes().flatten());
    for port in of_sources.map(|&vc| port(vc)).chain(ends.iter().copied()) {
        users[port as usize] += 1;
    }
    ends.into_iter().map(move |port| users[port as usize] == 1)
}

fn uses(
    spec: &NetworkSpec,
    kinds: &[PortKind],
    routes: &[Route],
    open_loop_sources: &[SourcePlan],
) -> Vec<Use> {
    let mut uses = vec![Use::default(); spec.nodes.len()];
    let first = |vc: u32| spec.links[spec.vcs[vc as usize].path[0] as usize].from;
    for (flow, id) in spec.flows.iter().zip(0u32..) {
        let (source, destination) = (first(flow.forward[0]), first(flow.reverse[0]));
        uses[source as usize].senders.push(id);
        uses[destination as usize].receivers.push(id);
        // A web user's requests are data of the other direction.
        if let TrafficSpec::Web(_) = flow.traffic {
            uses[destination as usize].senders.push(id);
            uses[source as usize].receivers.push(id);
        }
    }
    let is_open_loop = |vc: u32| {
        open_loop_sources
            .iter()
            .any(|open_loop_source| open_loop_source.vc == vc)
    };
    let of_sources = spec.sources.iter();
    let of_sources = of_sources.flat_map(|source| source.datagram_route.iter().chain([&source.vc]));
    // Users act at events, as what they do depends on more than one connection.
    let of_sources = of_sources.chain(spec.user_routes().flatten());
    for &vc in of_sources.filter(|vc| !is_open_loop(**vc)) {
        let path = &spec.vcs[vc as usize].path;
        for &link in path {
            let link = &spec.links[link as usize];
            uses[link.from as usize].has_sources = true;
            uses[link.to as usize].has_sources = true;
        }
    }
    for (vc, route) in spec.vcs.iter().zip(routes) {
        let last = *vc.path.last().expect("a path has links");
        let output = route.last_output();
        let end = &mut uses[spec.links[last as usize].to as usize];
        end.arrivals.push((last, output));
        let is_stepped = |output: u32| matches!(kinds[output as usize], PortKind::Stepped(_));
        end.receives_stepped |= output.is_some_and(is_stepped);
        end.receives_stepped |= kinds[last as usize] == PortKind::Coupled;
    }
    uses
}
