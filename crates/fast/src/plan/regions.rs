//! Which nodes may be in different regions of a network, and what crosses the border between two regions.
//!
//! Frames cross, whole from a source port to the first port at which they may wait and from the last port to the end of
//! their VC, in parts from one such port to the next. So do letters between users and their servers. Nodes stay together
//! between which anything else goes, or state is shared.

mod cut;

use crate::plan::Plan;
use crate::plan::route::{Hop, PortKind, least_time};
use crate::turns::Edge;
use skycell_spec::{FlowSpec, NetworkSpec, TraceKind, TrafficSpec, UserRouteSpec};
use skycell_units::SimTime;
use std::collections::BTreeMap;

pub(crate) use cut::load;

/// Which regions there are, from 0 on without a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Regions {
    /// By node: its region.
    pub(crate) of_node: Vec<u32>,
    /// By VC: the region where it ends.
    of_end: Vec<u32>,
}

/// Nodes that stay together, each by one of them.
struct Atoms(Vec<u32>);

impl Atoms {
    fn of(&self, node: u32) -> u32 {
        let next = self.0[node as usize];
        if next == node { node } else { self.of(next) }
    }

    fn join(&mut self, nodes: impl IntoIterator<Item = u32>) {
        let mut nodes = nodes.into_iter();
        let Some(first) = nodes.next() else {
            return;
        };
        for node in nodes {
            let (one, other) = (self.of(first), self.of(node));
            self.0[one.max(other) as usize] = one.min(other);
        }
    }
}

/// The atoms of a network.
fn atoms(spec: &NetworkSpec, plan: &Plan) -> Atoms {
    let mut atoms = Atoms((0..spec.nodes.len() as u32).collect());
    let ends = |link: u32| {
        let link = &spec.links[link as usize];
        [link.from, link.to]
    };
    let of_vc = |vc: u32| spec.vcs[vc as usize].paths().flatten().copied();
    let moves = |link: u32| spec.links[link as usize].schedule.is_some();
    for (route, vc) in plan.routes.iter().zip(0u32..) {
        // Parts of several frames of the VC may be mixed.
        if of_vc(vc).any(moves) {
            atoms.join(route.outputs.iter().map(|output| ends(output.0)[0]));
        }
    }
    // The port behind a link that moves is asked how far it has come.
    for link in (0..spec.links.len() as u32).filter(|&link| moves(link)) {
        atoms.join(ends(link));
    }
    // One list of events, also where nothing crosses a port.
    let together = (0u32..).zip(&plan.kinds);
    let together = together.filter(|(_, kind)| **kind == PortKind::Coupled);
    atoms.join(together.flat_map(|(id, _)| ends(id)));
    // A timer at the user of a web flow lets the trace of its server begin.
    let traces_cwnd = spec.records.traces.contains(&TraceKind::Cwnd);
    let is_web = |flow: &&FlowSpec| traces_cwnd && matches!(flow.traffic, TrafficSpec::Web(_));
    for flow in spec.flows.iter().filter(is_web) {
        let first = [flow.forward[0], flow.reverse[0]];
        atoms.join(first.map(|vc| spec.vc_source(vc as usize)));
    }
    // A connection with proxies has more than two ends.
    for route in user_routes(spec).filter(|route| !route.peps.is_empty()) {
        let vcs = route.forward.iter().chain(&route.reverse);
        atoms.join(vcs.flat_map(|&vc| of_vc(vc)).flat_map(ends));
    }
    atoms
}

fn user_routes(spec: &NetworkSpec) -> impl Iterator<Item = &UserRouteSpec> {
    spec.users.iter().flat_map(|users| &users.routes)
}

/// The least time from one end of a VC to the other, picoseconds.
fn least_delay(spec: &NetworkSpec, vc: u32) -> u64 {
    let across = |&id: &u32| {
        let link = &spec.links[id as usize];
        // One that moves may become shorter.
        let delay = if link.schedule.is_some() {
            0
        } else {
            link.delay_ps
        };
        delay + least_time(link).0
    };
    let paths = spec.vcs[vc as usize].paths();
    let times = paths.map(|path| path.iter().map(across).sum());
    times.min().unwrap_or(0)
}

/// What crosses between two regions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Border {
    /// The least time from a frame's hand-over at a port that crosses at once to where it comes, if there is one.
    pub(crate) direct: Option<SimTime>,
    /// Ports at which units may wait, from which frames cross; the least time from a unit's coming there to the end of
    /// its VC.
    pub(crate) ports: Vec<(u32, SimTime)>,
    /// Ports at which units may wait, from which parts of frames go on across the border; the least time from a unit's
    /// coming there to its coming to the next.
    pub(crate) parts: Vec<(u32, SimTime)>,
}

impl Border {
    /// The least time that anything takes to cross.
    fn lookahead(&self) -> SimTime {
        let ports = self.ports.iter().chain(&self.parts).map(|port| port.1);
        let all = ports.chain(self.direct);
        all.min().unwrap_or(SimTime::NEVER)
    }
}

impl Regions {
    /// Those of a map from nodes, or the next ones that divide no atom.
    pub(crate) fn new(spec: &NetworkSpec, plan: &Plan, wanted: &[u32]) -> Regions {
        let atoms = atoms(spec, plan);
        let mut numbers = BTreeMap::new();
        let region = |node: u32| {
            let wanted = wanted.get(atoms.of(node) as usize).copied();
            let next = numbers.len() as u32;
            *numbers.entry(wanted.unwrap_or(0)).or_insert(next)
        };
        let of_node: Vec<u32> = (0..spec.nodes.len() as u32).map(region).collect();
        let ends = (0..spec.vcs.len()).map(|vc| spec.vc_destination(vc));
        Regions {
            of_end: ends.map(|node| of_node[node as usize]).collect(),
            of_node,
        }
    }

    pub(crate) fn count(&self) -> u32 {
        self.of_node.iter().max().map_or(0, |last| last + 1)
    }

    /// The region of a port.
    pub(crate) fn of_port(&self, spec: &NetworkSpec, port: u32) -> u32 {
        self.of_node[spec.links[port as usize].from as usize]
    }

    /// The region where a VC ends.
    pub(crate) fn of_end(&self, vc: u32) -> u32 {
        self.of_end[vc as usize]
    }

    /// By route of users: the regions of the servers and of the users.
    pub(crate) fn of_users(&self, spec: &NetworkSpec) -> Vec<[u32; 2]> {
        let ends = user_routes(spec).map(|route| [route.forward[0], route.reverse[0]]);
        let region = |vc: u32| self.of_node[spec.vc_source(vc as usize) as usize];
        ends.map(|ends| ends.map(region)).collect()
    }

    /// By pair of regions: what crosses from one to the other.
    pub(crate) fn borders(&self, spec: &NetworkSpec, plan: &Plan) -> BTreeMap<(u32, u32), Border> {
        let mut borders: BTreeMap<(u32, u32), Border> = BTreeMap::new();
        let is_open_loop = |vc: u32| plan.open_loop_sources.iter().any(|source| source.vc == vc);
        for (route, vc) in plan.routes.iter().zip(0u32..) {
            let is_together = plan.kinds[route.source as usize] == PortKind::Coupled;
            if is_together || is_open_loop(vc) {
                continue;
            }
            let across = |port: u32, hop: &Hop| hop.delay + least_time(&spec.links[port as usize]);
            let end = self.of_end(vc);
            let first = route.first_output();
            let to = first.map_or(end, |port| self.of_port(spec, port));
            let from = self.of_port(spec, route.source);
            if from != to {
                let direct = &mut borders.entry((from, to)).or_default().direct;
                let time = across(route.source, &route.first);
                *direct = Some(direct.map_or(time, |least| least.min(time)));
            }
            for pair in route.outputs.windows(2) {
                let ((port, hop), (next, _)) = (&pair[0], &pair[1]);
                let (from, to) = (self.of_port(spec, *port), self.of_port(spec, *next));
                if from != to {
                    let parts = &mut borders.entry((from, to)).or_default().parts;
                    parts.push((*port, across(*port, hop)));
                }
            }
            if let Some((port, hop)) = route.outputs.last() {
                let from = self.of_port(spec, *port);
                if from != end {
                    let ports = &mut borders.entry((from, end)).or_default().ports;
                    ports.push((*port, across(*port, hop)));
                }
            }
        }
        for (route, [servers, users]) in user_routes(spec).zip(self.of_users(spec)) {
            // What one lets the other know is there before anything that goes all the way.
            let both = [
                (servers, users, &route.forward),
                (users, servers, &route.reverse),
            ];
            for (from, to, vcs) in both.into_iter().filter(|(from, to, _)| from != to) {
                let time = vcs.iter().map(|&vc| least_delay(spec, vc)).sum();
                let direct = &mut borders.entry((from, to)).or_default().direct;
                *direct = Some(direct.map_or(SimTime(time), |least| least.min(SimTime(time))));
            }
        }
        for border in borders.values_mut() {
            for ports in [&mut border.ports, &mut border.parts] {
                ports.sort_unstable();
                // Of one port the least time.
                ports.dedup_by_key(|port| port.0);
            }
        }
        borders
    }

    /// The edges between regions.
    pub(crate) fn edges(borders: &BTreeMap<(u32, u32), Border>) -> Vec<Edge> {
        let edge = |(&(from, to), border): (&(u32, u32), &Border)| Edge {
            from,
            to,
            lookahead: border.lookahead(),
        };
        borders.iter().map(edge).collect()
    }
}
