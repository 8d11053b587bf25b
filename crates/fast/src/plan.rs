//! Which form holds at which port, and the ways of VCs between them.

use skycell_records::{SteppedPort, SteppedReason};
use skycell_spec::{FifoSpec, LinkSpec, NetworkSpec, NodeKind, SchedulerSpec, VcSpec};
use skycell_units::SimTime;
use std::collections::{BTreeMap, HashSet};

pub(crate) mod ends;
mod order;
pub(crate) mod route;
pub(crate) mod stepping;
pub(crate) mod streams;

use ends::Ends;
use route::{PortKind, Route, StreamPlan, Stretch, least_time, moves, route};
use stepping::{Stepping, may_refuse};
use streams::Shared;

/// Kinds of all ports and ways of all VCs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) kinds: Vec<PortKind>,
    pub(crate) routes: Vec<Route>,
    /// All ports at which units may wait for others, each after those from which VCs go on to it, as far as there are
    /// no rings.
    pub(crate) order: Vec<u32>,
    /// Which of them units go on to from which, and the least time from a unit's coming there to its coming here.
    pub(crate) joints: BTreeMap<(u32, u32), SimTime>,
    /// Sources whose cells are known beforehand; their VCs have no route.
    pub(crate) streams: Vec<StreamPlan>,
    /// By port: which of its queues holds the cells of frames; none where several do.
    pub(crate) own_queues: Vec<Option<usize>>,
    /// Which end points may act before their time.
    pub(crate) ends: Ends,
}

impl Plan {
    /// The plan for a valid spec.
    pub(crate) fn new(spec: &NetworkSpec) -> Plan {
        let mut stepping = Stepping::new(spec);
        // A port that is stepped may ask for others.
        loop {
            let kinds = kinds(spec, &stepping);
            let before = stepping.clone();
            let shared = streams::plan(spec, &kinds, &mut stepping);
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
        let stepped = kinds.filter_map(|(link, kind)| match kind {
            PortKind::Stepped(reason) => Some(SteppedPort {
                port: link.name.clone(),
                reason: *reason,
            }),
            _ => None,
        });
        stepped.collect()
    }

    fn of(spec: &NetworkSpec, kinds: Vec<PortKind>, shared: Shared) -> Plan {
        let of_vc = |(vc, id): (&VcSpec, u32)| {
            if shared.has_stream(id) {
                // What a source's cells meet is told by its stream.
                return Route {
                    source: vc.path[0],
                    first: Stretch::default(),
                    muxes: Vec::new(),
                };
            }
            route(spec, &kinds, vc)
        };
        let routes: Vec<Route> = spec.vcs.iter().zip(0..).map(of_vc).collect();
        let joints = joints(spec, &routes);
        let waiting = (0u32..).zip(&kinds).filter(|(_, kind)| kind.may_wait());
        let order = order::upstream_first(waiting.map(|(id, _)| id), joints.keys().copied());
        Plan {
            ends: Ends::new(spec, &kinds, &routes, &shared.streams),
            kinds,
            routes,
            order,
            joints,
            streams: shared.streams,
            own_queues: shared.own_queues,
        }
    }
}

/// Lets ports be stepped before links whose losses do not follow from the order in which frames come to them: others have
/// one queue and send what came first, or have a server that draws as it chooses. The cells of a stream are drawn for
/// by a server alone.
fn step_out_of_order(spec: &NetworkSpec, shared: &Shared, stepping: &mut Stepping) {
    for (vc, id) in spec.vcs.iter().zip(0..) {
        for &port in &vc.path {
            let link = &spec.links[port as usize];
            let has_server =
                link.port.queues.len() > 1 && shared.own_queues[port as usize].is_some();
            let is_fifo = link.port.scheduler == SchedulerSpec::Fifo(FifoSpec {});
            let draws_in_order = has_server || is_fifo && !shared.has_stream(id);
            let draws = link.schedule.is_some() || link.loss_ppb > 0;
            if draws && !draws_in_order {
                stepping.step(port, SteppedReason::LossesOutOfOrder);
            }
        }
    }
}

/// Lets the first ports of VCs be stepped that have a policer, which looks at the cells of frames one by one. That of a
/// stream does so anyway.
fn step_before_policers(spec: &NetworkSpec, shared: &Shared, stepping: &mut Stepping) {
    let vcs = spec.vcs.iter().zip(0..);
    for (vc, _) in vcs.filter(|(_, id)| !shared.has_stream(*id)) {
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
        if let Some(reason) = stepping.of(id) {
            return PortKind::Stepped(reason);
        }
        if link.framing.is_some() {
            return PortKind::Packets;
        }
        if spec.nodes[link.from as usize].kind != NodeKind::Switch {
            return PortKind::Source;
        }
        let is_plain = link.schedule.is_none() && link.loss_ppb == 0;
        let records = &spec.records;
        let is_sampled =
            records.sampled_ports.contains(&id) || records.vc_sampled_ports.contains(&id);
        if link.port.queues.len() > 1 || behind_edges.contains(&id) || !is_plain || is_sampled {
            return PortKind::Mux;
        }
        // What a link brings that moves may come together.
        let is_slower = |&id: &u32| {
            let input = &spec.links[id as usize];
            let is_still = moves(input).is_none() && stepping.of(id).is_none();
            input.cell_time_ps >= link.cell_time_ps && is_still
        };
        if inputs.len() <= 1
            && inputs.iter().all(is_slower)
            && !link.port.queues[0].policy.discards_when_empty()
        {
            PortKind::PassThrough
        } else {
            PortKind::Mux
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
fn joints(spec: &NetworkSpec, routes: &[Route]) -> BTreeMap<(u32, u32), SimTime> {
    let mut joints = BTreeMap::new();
    let mut join = |from: u32, to: u32, delay: SimTime| {
        let across = delay + least_time(&spec.links[from as usize]);
        let least = joints.entry((from, to)).or_insert(across);
        *least = across.min(*least);
    };
    for (route, vc) in routes.iter().zip(&spec.vcs) {
        if vc.rerouting.is_none() {
            for pair in route.muxes.windows(2) {
                join(pair[0].0, pair[1].0, pair[0].1.delay);
            }
            continue;
        }
        for (from, _) in &route.muxes {
            let link = &spec.links[*from as usize];
            for (to, _) in &route.muxes {
                if to != from && link.leads_to(spec.links[*to as usize].from) {
                    join(*from, *to, SimTime(link.delay_ps));
                }
            }
        }
    }
    joints
}
