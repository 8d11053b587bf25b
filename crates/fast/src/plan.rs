//! Which form holds at which port, and the ways of VCs between them.

use skycell_records::{SteppedPort, SteppedReason};
use skycell_spec::{FifoSpec, LinkSpec, NetworkSpec, NodeKind, SchedulerSpec, VcSpec};
use skycell_units::SimTime;
use std::collections::{BTreeMap, HashSet};

pub(crate) mod cell_sources;
pub(crate) mod end_points;
mod order;
pub(crate) mod regions;
pub(crate) mod route;
pub(crate) mod stepping;

use cell_sources::Shared;
use end_points::EndPoints;
use route::{Hop, PortKind, Route, SourcePlan, least_time, route, schedule_of};
use stepping::{Stepping, coupled, may_refuse};

/// Kinds of all ports and ways of all VCs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) kinds: Vec<PortKind>,
    pub(crate) routes: Vec<Route>,
    /// All ports at which units may wait for others, each after those from which VCs go on to it, as far as there are
    /// no rings.
    pub(crate) order: Vec<u32>,
    /// Which of them units go on to from which, and the least time from a unit's coming there to its coming here.
    pub(crate) port_graph: BTreeMap<(u32, u32), SimTime>,
    /// Sources whose cells are known beforehand; their VCs have no route.
    pub(crate) open_loop_sources: Vec<SourcePlan>,
    /// By port: which of its queues holds the cells of frames; none where several do.
    pub(crate) frame_queues: Vec<Option<usize>>,
    /// Which end points may act before their time.
    pub(crate) end_points: EndPoints,
}

impl Plan {
    /// The plan for a valid spec.
    pub(crate) fn new(spec: &NetworkSpec) -> Plan {
        let mut stepping = Stepping::new(spec);
        // A port that is stepped may ask for others.
        loop {
            let kinds = kinds(spec, &stepping);
            let before = stepping.clone();
            let shared = cell_sources::plan(spec, &kinds, &mut stepping);
            step_out_of_order(spec, &shared, &mut stepping);
            step_before_policers(spec, &shared, &mut stepping);
            if stepping == before {
                return Plan::of(spec, kinds, shared);
            }
        }
    }

    /// Which ports are stepped, and why.
    pub(crate) fn stepped_ports(&self, spec: &NetworkSpec) -> Vec<SteppedPort> {
        let kinds = spec.links.iter().zip(&self.kinds);
        let stepped = kinds
            .zip(coupled(spec))
            .filter_map(|((link, kind), coupled)| {
                let reason = match kind {
                    PortKind::Stepped(reason) => *reason,
                    PortKind::Coupled => coupled?,
                    _ => return None,
                };
                let port = link.name.clone();
                Some(SteppedPort { port, reason })
            });
        stepped.collect()
    }

    fn of(spec: &NetworkSpec, kinds: Vec<PortKind>, shared: Shared) -> Plan {
        let of_vc = |(vc, id): (&VcSpec, u32)| {
            if shared.has_open_loop_source(id) {
                // What a source's cells meet is reported by its source.
                return Route {
                    source: vc.path[0],
                    first: Hop::default(),
                    outputs: Vec::new(),
                };
            }
            route(spec, &kinds, vc)
        };
        let routes: Vec<Route> = spec.vcs.iter().zip(0..).map(of_vc).collect();
        let port_graph = port_graph(spec, &routes);
        let waiting = (0u32..).zip(&kinds).filter(|(_, kind)| kind.may_wait());
        let order = order::upstream_first(waiting.map(|(id, _)| id), port_graph.keys().copied());
        Plan {
            end_points: EndPoints::new(spec, &kinds, &routes, &shared.open_loop_sources),
            kinds,
            routes,
            order,
            port_graph,
            open_loop_sources: shared.open_loop_sources,
            frame_queues: shared.frame_queues,
        }
    }
}

/// Steps the ports before links whose losses do not follow from the order in which frames come to
/// them: the other ports have one queue and send first what came first, or have a server that draws
/// as it chooses. Only a server draws for the cells of an open-loop source.
fn step_out_of_order(spec: &NetworkSpec, shared: &Shared, stepping: &mut Stepping) {
    for (vc, id) in spec.vcs.iter().zip(0..) {
        for &port in &vc.path {
            let link = &spec.links[port as usize];
            let has_server =
                link.port.queues.len() > 1 && shared.frame_queues[port as usize].is_some();
            let is_fifo = link.port.scheduler == SchedulerSpec::Fifo(FifoSpec {});
            let draws_in_order = has_server || is_fifo && !shared.has_open_loop_source(id);
            let draws = link.schedule.is_some() || link.loss_ppb > 0;
            if draws && !draws_in_order {
                stepping.step(port, SteppedReason::LossesOutOfOrder);
            }
        }
    }
}

/// Steps the first ports of VCs that have a policer, which looks at the cells of frames one by one.
/// The policer of an open-loop source does so anyway.
fn step_before_policers(spec: &NetworkSpec, shared: &Shared, stepping: &mut Stepping) {
    let vcs = spec.vcs.iter().zip(0..);
    for (vc, _) in vcs.filter(|(_, id)| !shared.has_open_loop_source(*id)) {
        if !vc.policing.is_empty() {
            stepping.step(vc.path[0], SteppedReason::Policer);
        }
    }
}

fn kinds(spec: &NetworkSpec, stepping: &Stepping) -> Vec<PortKind> {
    // The links that feed each switch port.
    let mut inputs: Vec<Vec<u32>> = vec![Vec::new(); spec.links.len()];
    for pair in spec.vcs.iter().flat_map(|vc| vc.path.windows(2)) {
        let feeding = &mut inputs[pair[1] as usize];
        if !feeding.contains(&pair[0]) {
            feeding.push(pair[0]);
        }
    }
    // What comes to these is not what has left a host.
    let refusing = spec.vcs.iter().filter(|vc| may_refuse(vc));
    let behind_edges: HashSet<u32> = refusing.filter_map(|vc| vc.path.get(1).copied()).collect();
    let kind = |((link, inputs), id): ((&LinkSpec, &Vec<u32>), u32)| {
        if stepping.coupled[id as usize].is_some() {
            return PortKind::Coupled;
        }
        if let Some(reason) = stepping.of(id) {
            return PortKind::Stepped(reason);
        }
        if link.framing.is_some() || spec.nodes[link.from as usize].kind != NodeKind::Switch {
            return PortKind::Source;
        }
        let is_plain = link.schedule.is_none() && link.loss_ppb == 0;
        let records = &spec.records;
        let is_sampled =
            records.sampled_ports.contains(&id) || records.vc_sampled_ports.contains(&id);
        if link.port.queues.len() > 1 || behind_edges.contains(&id) || !is_plain || is_sampled {
            return PortKind::Output;
        }
        // What a link brings that moves may come together.
        let is_slower = |&id: &u32| {
            let input = &spec.links[id as usize];
            let is_still = schedule_of(input).is_none() && stepping.of(id).is_none();
            input.cell_time_ps >= link.cell_time_ps && is_still
        };
        if inputs.len() <= 1
            && inputs.iter().all(is_slower)
            && !link.port.queues[0].policy.discards_when_empty()
        {
            PortKind::PassThrough
        } else {
            PortKind::Output
        }
    };
    spec.links
        .iter()
        .zip(&inputs)
        .zip(0u32..)
        .map(kind)
        .collect()
}

/// Ports at which units may wait, and those that they go on to from there: the least time between.
fn port_graph(spec: &NetworkSpec, routes: &[Route]) -> BTreeMap<(u32, u32), SimTime> {
    let mut port_graph = BTreeMap::new();
    let mut join = |from: u32, to: u32, delay: SimTime| {
        let across = delay + least_time(&spec.links[from as usize]);
        let least = port_graph.entry((from, to)).or_insert(across);
        *least = across.min(*least);
    };
    for route in routes {
        for pair in route.outputs.windows(2) {
            join(pair[0].0, pair[1].0, pair[0].1.delay);
        }
    }
    port_graph
}
