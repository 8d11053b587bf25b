//! How multiplexing ports hang together: what feeds them, where their VCs go on, how far ahead they may act.

use super::{PortMut, Ports};
use crate::burst::due::Onto;
use crate::plan::Plan;
use crate::plan::route::moves;
use crate::plan::route::{Route, least_time};
use crate::port::inputs::Inputs;
use crate::port::lookahead::Returns;
use crate::port::stepped::Next;
use crate::tuning::Tuning;
use crate::vcs::Places;
use skycell_spec::NetworkSpec;
use skycell_units::SimTime;
use std::collections::{HashMap, HashSet};

/// An input of a multiplexing port: the port, the link over which its cells come, and the port that feeds it,
/// host's, router's or multiplexing, of which in the latter case each VC has an input of its own if the link does
/// not move. What comes over a link that moves may come together.
pub(super) type Input = (u32, u32, Option<u32>, u32);

/// The inputs over which a VC comes to its ports where units may wait; none where it begins there, or where its units
/// come one by one.
pub(super) fn inputs(
    spec: &NetworkSpec,
    route: &Route,
    vc: u32,
) -> impl Iterator<Item = Option<Input>> {
    let is_rerouted = spec.vcs[vc as usize].rerouting.is_some();
    let feeds = route.muxes.iter().map(move |(mux, stretch)| {
        let is_still = moves(&spec.links[*mux as usize]).is_none();
        (stretch, *mux, is_still.then_some(vc))
    });
    let begins_there = route.begins_stepped();
    let first = (!begins_there).then_some((&route.first, route.source, None));
    let feeds = first.into_iter().chain(feeds);
    let none = (begins_there).then_some(None);
    let muxes = route.muxes.iter().skip(usize::from(begins_there));
    let inputs = muxes
        .zip(feeds)
        .map(move |((mux, _), (stretch, from, vc))| {
            let input = (*mux, stretch.link, vc, from);
            (!is_rerouted).then_some(input)
        });
    none.into_iter().chain(inputs)
}

/// Gives the multiplexing ports their inputs; the lane of each.
pub(super) fn add_inputs(
    spec: &NetworkSpec,
    plan: &Plan,
    tuning: &Tuning,
    ports: &mut Ports,
) -> HashMap<Input, u32> {
    let all = plan.routes.iter().zip(0u32..);
    let mut all: Vec<Input> = all
        .flat_map(|(route, vc)| inputs(spec, route, vc).flatten())
        .collect();
    all.sort_unstable();
    all.dedup();
    let mut lanes = HashMap::with_capacity(all.len());
    for of_port in all.chunk_by(|a, b| a.0 == b.0) {
        let spacing = |feeding: u32| SimTime(spec.links[feeding as usize].cell_time_ps);
        let links = of_port.iter().map(|input| (input.1, spacing(input.3)));
        let moves = |input: &Input| moves(&spec.links[input.3 as usize]).is_some();
        let come_together = of_port.iter().any(moves);
        match ports.get_mut(of_port[0].0) {
            PortMut::Stepped(port) => port.set_lanes(links),
            _ => ports.mux_mut(of_port[0].0).inputs = Inputs::new(links, come_together, tuning),
        }
        lanes.extend(of_port.iter().copied().zip(0u32..));
    }
    lanes
}

/// Tells ports at which units may wait which VCs go on from one to another.
pub(super) fn join(
    spec: &NetworkSpec,
    plan: &Plan,
    tuning: &Tuning,
    places: &[Places],
    ports: &mut Ports,
) {
    for ((route, places), vc) in plan.routes.iter().zip(places).zip(&spec.vcs) {
        let ends = route.muxes.windows(2).zip(places.muxes.windows(2));
        for (pair, at) in ends.filter(|_| vc.rerouting.is_none()) {
            let ((from, stretch), (to, _)) = (&pair[0], &pair[1]);
            let onto = Onto {
                port: *to,
                lane: at[1].lane,
                place: at[1].place,
                delay: match moves(&spec.links[*from as usize]) {
                    Some(_) => SimTime::ZERO, // the link knows
                    None => stretch.delay,
                },
            };
            let takes_bursts = match ports.get_mut(*to) {
                PortMut::Mux(fed) => {
                    fed.take_parts();
                    true
                }
                _ => false,
            };
            match ports.get_mut(*from) {
                PortMut::Stepped(port) if takes_bursts => {
                    port.vcs[at[0].place as usize].next = Next::Bursts(onto);
                }
                PortMut::Stepped(port) => {
                    port.vcs[at[0].place as usize].next = Next::Stepped(*to);
                }
                _ => ports.mux_mut(*from).go_on(at[0].place, onto),
            }
        }
        if vc.rerouting.is_some() {
            for ((port, _), at) in route.muxes.iter().zip(&places.muxes) {
                ports.stepped_mut(*port).vcs[at.place as usize].next = Next::Rerouted;
            }
        }
    }
    for ((from, to), across) in &plan.joints {
        ports.lookahead_mut(*to).fed_by.push((*from, *across));
    }
    for (link, id) in spec.links.iter().zip(0..) {
        if let PortMut::Stepped(port) = ports.get_mut(id) {
            port.join(link, tuning);
        }
    }
    let upstream: HashMap<u32, HashSet<u32>> = plan
        .order
        .iter()
        .map(|&id| (id, upstream(ports, id)))
        .collect();
    let is_in_ring = |id: &u32| upstream[id].contains(id);
    let places: HashMap<u32, usize> = plan.order.iter().copied().zip(0..).collect();
    for (id, feeding) in &upstream {
        let port = ports.lookahead_mut(*id);
        port.has_ring = feeding.iter().any(is_in_ring);
        port.upstream = feeding
            .iter()
            .copied()
            .filter(|other| other != id)
            .collect();
        port.upstream.sort_unstable_by_key(|other| places[other]);
    }
}

/// The multiplexing ports that feed port `id`, over others or not; itself, if it stands in a ring.
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
const MOST_WAYS: usize = 4;

/// Tells multiplexing ports how far ahead they may act.
pub(super) fn set_times(spec: &NetworkSpec, plan: &Plan, ports: &mut Ports) {
    let least = |port: u32| least_time(&spec.links[port as usize]);
    for (route, vc) in plan.routes.iter().zip(&spec.vcs) {
        let Some((last, stretch)) = route.muxes.last() else {
            continue;
        };
        let first = ports.lookahead_mut(route.muxes[0].0);
        let lead = match route.begins_stepped() {
            true => SimTime::ZERO,
            false => route.first.delay + least(route.source),
        };
        first.lead = first.lead.min(lead);
        let mut end = |port: u32, delay: SimTime| {
            let port_slack = &mut ports.lookahead_mut(port).slack;
            *port_slack = (*port_slack).min(delay + least(port));
        };
        if vc.rerouting.is_none() {
            end(*last, stretch.delay);
            continue;
        }
        // Any of them may lead to its end.
        for (port, _) in &route.muxes {
            end(*port, SimTime(spec.links[*port as usize].delay_ps));
        }
    }
    // Once, but where there are rings.
    let mut changes = true;
    while changes {
        changes = false;
        for &id in plan.order.iter().rev() {
            let slack = ports.lookahead(id).slack;
            for (feeding, across) in ports.lookahead(id).fed_by.clone() {
                let feeding = ports.lookahead_mut(feeding);
                changes |= across + slack < feeding.slack;
                feeding.slack = feeding.slack.min(across + slack);
            }
        }
    }
    let answers = Answers::new(spec, plan);
    for &id in &plan.order {
        ports.lookahead_mut(id).returns = answers.to(id, ports);
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
            for (port, _) in &route.muxes {
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

    /// When what arrives at the end of a VC from port `mux` leads to a hand-over to that port, or to one that acts
    /// before it, by way of the VCs that begin there.
    fn to(&self, mux: u32, ports: &Ports) -> Returns {
        let ends = self.ends.get(&mux).into_iter().flatten();
        let answers = ends.filter_map(|end| self.beginning.get(end));
        let acting = |port: u32| port == mux || ports.lookahead(mux).upstream.contains(&port);
        let (mut after, mut ways) = (SimTime::NEVER, HashSet::new());
        for route in answers.flatten() {
            if let Some(port) = route.first_mux()
                && !route.muxes.iter().any(|(port, _)| acting(*port))
            {
                ways.insert(port);
                continue;
            }
            let source = &self.spec.links[route.source as usize];
            after = after.min(match route.first_mux() {
                Some(_) => SimTime::ZERO,
                None => route.first.delay + SimTime(source.cell_time_ps),
            });
        }
        if ways.len() > MOST_WAYS {
            let ways = ways.drain().map(|id| ports.lookahead(id));
            let least = ways.map(|port| port.lead + port.slack).min();
            after = after.min(least.unwrap_or(SimTime::NEVER));
        }
        let by_way_of = ways.into_iter().collect();
        Returns { after, by_way_of }
    }
}
