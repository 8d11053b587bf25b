//! How output ports hang together: what feeds them, where their VCs go on, how far ahead they may act.

use super::{Ports, Slot};
use crate::burst::fragment::NextHop;
use crate::plan::Plan;
use crate::plan::route::schedule_of;
use crate::plan::route::{Route, least_time};
use crate::port::inputs::Inputs;
use crate::port::lookahead::ReplyLookahead;
use crate::port::output::OutputPort;
use crate::port::stepped::Next;
use crate::tuning::Tuning;
use crate::vcs::PortVcs;
use skycell_spec::NetworkSpec;
use skycell_units::{InputId, SimTime};
use std::collections::{HashMap, HashSet};

/// An input of an output port: the port, the link over which its cells come, and the port that feeds it,
/// host's, router's or multiplexing, of which in the latter case each VC has an input of its own if the link does
/// not change over time. What comes over a time-varying link may come together.
pub(super) type Input = (u32, u32, Option<u32>, u32);

/// The inputs over which a VC comes to its ports where units may wait; none where it begins there, or where its units
/// come one by one.
pub(super) fn inputs(
    spec: &NetworkSpec,
    route: &Route,
    vc: u32,
) -> impl Iterator<Item = Option<Input>> {
    let feeds = route.outputs.iter().map(move |(output, hop)| {
        let is_still = schedule_of(&spec.links[*output as usize]).is_none();
        (hop, *output, is_still.then_some(vc))
    });
    let begins_there = route.begins_stepped();
    let first = (!begins_there).then_some((&route.first, route.source, None));
    let feeds = first.into_iter().chain(feeds);
    let none = (begins_there).then_some(None);
    let outputs = route.outputs.iter().skip(usize::from(begins_there));
    let inputs = outputs
        .zip(feeds)
        .map(move |((output, _), (hop, from, vc))| {
            let input = (*output, hop.link, vc, from);
            Some(input)
        });
    none.into_iter().chain(inputs)
}

/// Gives the output ports their inputs; the input of each.
pub(super) fn add_inputs(
    spec: &NetworkSpec,
    plan: &Plan,
    tuning: &Tuning,
    ports: &mut Ports,
) -> HashMap<Input, InputId> {
    let all = plan.routes.iter().zip(0u32..);
    let mut all: Vec<Input> = all
        .flat_map(|(route, vc)| inputs(spec, route, vc).flatten())
        .collect();
    all.sort_unstable();
    all.dedup();
    let mut input_ids = HashMap::with_capacity(all.len());
    for of_port in all.chunk_by(|a, b| a.0 == b.0) {
        let spacing = |feeding: u32| SimTime(spec.links[feeding as usize].cell_time_ps);
        let links = of_port.iter().map(|input| (input.1, spacing(input.3)));
        let schedule_of = |input: &Input| schedule_of(&spec.links[input.3 as usize]).is_some();
        let come_together = of_port.iter().any(schedule_of);
        match &mut ports.slots[of_port[0].0 as usize] {
            Slot::Stepped(port) => port.set_inputs(links),
            Slot::Output(port) => port.inputs = Inputs::new(links, come_together, tuning),
            _ => unreachable!("units may wait there"),
        }
        input_ids.extend(of_port.iter().copied().zip(InputId::all()));
    }
    input_ids
}

/// Tells ports at which units may wait which VCs go on from one to another.
pub(super) fn join(
    spec: &NetworkSpec,
    plan: &Plan,
    tuning: &Tuning,
    port_vcs: &[PortVcs],
    ports: &mut Ports,
) {
    for (route, port_vcs) in plan.routes.iter().zip(port_vcs) {
        let ends = route.outputs.windows(2).zip(port_vcs.outputs.windows(2));
        for (pair, at) in ends {
            let ((from, hop), (to, _)) = (&pair[0], &pair[1]);
            let next_hop = NextHop {
                port: *to,
                input: at[1].input,
                port_vc: at[1].port_vc,
                delay: match schedule_of(&spec.links[*from as usize]) {
                    Some(_) => SimTime::ZERO, // the link knows
                    None => hop.delay,
                },
            };
            let takes_bursts = ports.as_output(*to).map(OutputPort::take_parts);
            match &mut ports.slots[*from as usize] {
                Slot::Stepped(port) => {
                    port.vcs[at[0].port_vc.index()].next = match takes_bursts {
                        Some(()) => Next::Bursts(next_hop),
                        None => Next::Stepped(*to),
                    };
                }
                Slot::Output(port) => port.forward_vc(at[0].port_vc, next_hop),
                _ => unreachable!("units may wait there"),
            }
        }
    }
    for ((from, to), across) in &plan.port_graph {
        ports.lookahead_mut(*to).fed_by.push((*from, *across));
    }
    for (link, id) in spec.links.iter().zip(0..) {
        if let Slot::Stepped(port) = &mut ports.slots[id] {
            port.join(link, tuning);
        }
    }
    let upstream: HashMap<u32, HashSet<u32>> = plan
        .order
        .iter()
        .map(|&id| (id, upstream(ports, id)))
        .collect();
    let is_in_ring = |id: &u32| upstream[id].contains(id);
    let positions: HashMap<u32, usize> = plan.order.iter().copied().zip(0..).collect();
    for (id, feeding) in &upstream {
        let port = ports.lookahead_mut(*id);
        port.has_ring = feeding.iter().any(is_in_ring);
        port.upstream = feeding
            .iter()
            .copied()
            .filter(|other| other != id)
            .collect();
        port.upstream.sort_unstable_by_key(|other| positions[other]);
    }
}

/// The output ports that feed port `id`, over others or not; itself, if it stands in a ring.
fn upstream(ports: &Ports, id: u32) -> HashSet<u32> {
    let (mut found, mut left) = (HashSet::new(), vec![id]);
    while let Some(next) = left.pop() {
        for (feeding, _) in &ports.lookahead(next).fed_by {
            if found.insert(*feeding) {
                left.push(*feeding);
            }
        }
    }
    found
}

/// Ports that are looked at each time that a port acts; where there are more, the least time is taken.
const MOST_PORTS: usize = 4;

/// Tells output ports how far ahead they may act.
pub(super) fn set_times(spec: &NetworkSpec, plan: &Plan, ports: &mut Ports) {
    let least = |port: u32| least_time(&spec.links[port as usize]);
    for route in &plan.routes {
        let Some((last, hop)) = route.outputs.last() else {
            continue;
        };
        let first = ports.lookahead_mut(route.outputs[0].0);
        let source_lookahead = match route.begins_stepped() {
            true => SimTime::ZERO,
            false => route.first.delay + least(route.source),
        };
        first.source_lookahead = first.source_lookahead.min(source_lookahead);
        let mut end = |port: u32, delay: SimTime| {
            let port_end_lookahead = &mut ports.lookahead_mut(port).end_lookahead;
            *port_end_lookahead = (*port_end_lookahead).min(delay + least(port));
        };
        end(*last, hop.delay);
    }
    // Once, but where there are rings.
    let mut changes = true;
    while changes {
        changes = false;
        for &id in plan.order.iter().rev() {
            let end_lookahead = ports.lookahead(id).end_lookahead;
            for (feeding, across) in ports.lookahead(id).fed_by.clone() {
                let feeding = ports.lookahead_mut(feeding);
                changes |= across + end_lookahead < feeding.end_lookahead;
                feeding.end_lookahead = feeding.end_lookahead.min(across + end_lookahead);
            }
        }
    }
    let answers = Answers::new(spec, plan);
    for &id in &plan.order {
        ports.lookahead_mut(id).reply_lookahead = answers.to(id, ports);
    }
}

/// Where VCs end that cross a port, and which begin at a node.
struct Answers<'a> {
    spec: &'a NetworkSpec,
    /// By port at which units may wait: the nodes.
    ends: HashMap<u32, HashSet<u32>>,
    /// By node.
    beginning: HashMap<u32, Vec<&'a Route>>,
}

impl<'a> Answers<'a> {
    fn new(spec: &'a NetworkSpec, plan: &'a Plan) -> Self {
        let (mut ends, mut beginning) = (HashMap::new(), HashMap::new());
        for (route, vc) in plan.routes.iter().zip(0..) {
            for (port, _) in &route.outputs {
                let ends = ends.entry(*port).or_insert_with(HashSet::new);
                ends.insert(spec.vc_destination(vc));
            }
            let from = spec.links[route.source as usize].from;
            beginning.entry(from).or_insert_with(Vec::new).push(route);
        }
        Answers {
            spec,
            ends,
            beginning,
        }
    }

    /// When what arrives at the end of a VC from port `output` leads to a hand-over to that port, or to one that acts
    /// before it, by way of the VCs that begin there.
    fn to(&self, output: u32, ports: &Ports) -> ReplyLookahead {
        let ends = self.ends.get(&output).into_iter().flatten();
        let answers = ends.filter_map(|end| self.beginning.get(end));
        let acting = |port: u32| port == output || ports.lookahead(output).upstream.contains(&port);
        let (mut after, mut first_ports) = (SimTime::NEVER, HashSet::new());
        for route in answers.flatten() {
            if let Some(port) = route.first_output()
                && !route.outputs.iter().any(|(port, _)| acting(*port))
            {
                first_ports.insert(port);
                continue;
            }
            let source = &self.spec.links[route.source as usize];
            after = after.min(match route.first_output() {
                Some(_) => SimTime::ZERO,
                None => route.first.delay + SimTime(source.cell_time_ps),
            });
        }
        if first_ports.len() > MOST_PORTS {
            let first_ports = first_ports.drain().map(|id| ports.lookahead(id));
            let least = first_ports
                .map(|port| port.source_lookahead + port.end_lookahead)
                .min();
            after = after.min(least.unwrap_or(SimTime::NEVER));
        }
        let via_ports = first_ports.into_iter().collect();
        ReplyLookahead { after, via_ports }
    }
}
