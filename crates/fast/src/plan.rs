//! Which closed form holds at which port, and the fixed times between the stations of a VC.

use crate::cell_stream::StreamPlan;
use crate::edge::may_discard;
use crate::moving::moves;
use crate::order;
use crate::shared;
use skycell_spec::{FifoSpec, LinkSpec, NetworkSpec, NodeKind, SchedulerSpec, VcSpec};
use skycell_units::SimTime;
use std::collections::HashSet;

/// How a port can be treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PortKind {
    /// A host's or router's port: whole frames, back to back.
    Source,
    /// A switch port fed by one link that is no faster than itself: a cell never waits there, and
    /// no policy discards in an empty buffer.
    PassThrough,
    /// Any other switch port: cells of several trains are multiplexed.
    Mux,
    /// A host's or router's port whose link carries packets.
    Packets,
}

/// A station that cells pass on their way: when, after the departure that begins the stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PassThrough {
    /// Port id.
    pub(crate) port: u32,
    /// From the departure to the cell's arrival at the port.
    pub(crate) arrival: SimTime,
    /// From the departure to the cell's departure from the port.
    pub(crate) departure: SimTime,
}

/// A stretch of a VC over which cells keep their spacing: from a departure to the next station that
/// may change it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) passes: Vec<PassThrough>,
    /// From the departure to the arrival at the stretch's end.
    pub(crate) delay: SimTime,
    /// The link over which cells arrive at the stretch's end.
    pub(crate) link: u32,
}

/// The way of a VC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) source: u32,
    pub(crate) first: Stretch,
    /// The ports where cells are multiplexed, in order, and the stretch from each to the next or to the
    /// VC's end.
    pub(crate) muxes: Vec<(u32, Stretch)>,
}

impl Route {
    /// The port where cells are multiplexed first, if they are anywhere.
    pub(crate) fn first_mux(&self) -> Option<u32> {
        self.muxes.first().map(|(port, _)| *port)
    }

    /// The port where cells are multiplexed last.
    pub(crate) fn last_mux(&self) -> Option<u32> {
        self.muxes.last().map(|(port, _)| *port)
    }

    /// The stretch to the VC's end.
    pub(crate) fn last(&self) -> &Stretch {
        self.muxes.last().map_or(&self.first, |(_, last)| last)
    }
}

/// Kinds of all ports and ways of all VCs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) kinds: Vec<PortKind>,
    pub(crate) routes: Vec<Route>,
    /// All multiplexing ports, each after those from which VCs go on to it, as far as there are no rings.
    pub(crate) order: Vec<u32>,
    /// Sources whose cells are known beforehand; their VCs have no route.
    pub(crate) streams: Vec<StreamPlan>,
    /// By port: which of its queues holds the cells of frames; none where several do.
    pub(crate) own_queues: Vec<Option<usize>>,
}

impl Plan {
    /// The plan for a valid spec; none for what has no closed form here: a VC that is rerouted,
    /// or comes back to a multiplexing port, links that change more than their delay, losses at random that do not follow from the order
    /// in which frames come, edges that discard where no switch port follows, and classes beyond those of
    /// [`crate::shared`].
    pub(crate) fn new(spec: &NetworkSpec) -> Option<Plan> {
        let is_rerouted = spec.vcs.iter().any(|vc| vc.rerouting.is_some());
        let mut links = 0..spec.links.len() as u32;
        if is_rerouted || !links.all(|link| has_closed_form(spec, link)) {
            return None;
        }
        let kinds = kinds(spec);
        let shared = shared::plan(spec, &kinds)?;
        let streams = &shared.streams;
        let is_stream: Vec<bool> = (0..spec.vcs.len() as u32)
            .map(|vc| streams.iter().any(|stream| stream.vc == vc))
            .collect();
        let mut vcs = spec.vcs.iter().zip(&is_stream);
        if !vcs.all(|(vc, &is_stream)| draws_in_order(spec, vc, is_stream, &shared.own_queues)) {
            return None;
        }
        let of_vc = |(vc, &is_stream): (&VcSpec, &bool)| {
            if is_stream {
                // What a source's cells meet is told by its stream.
                return Some(Route {
                    source: vc.path[0],
                    first: Stretch::default(),
                    muxes: Vec::new(),
                });
            }
            // What an edge discards does not come to the multiplexing port behind it.
            let has_port = vc.path.len() > 1;
            (has_port || !may_discard(vc)).then(|| route(spec, &kinds, &vc.path))
        };
        let routes = spec.vcs.iter().zip(&is_stream).map(of_vc);
        let routes = routes.collect::<Option<Vec<Route>>>()?;
        let order = order::upstream_first(&kinds, &routes)?;
        Some(Plan {
            kinds,
            routes,
            order,
            streams: shared.streams,
            own_queues: shared.own_queues,
        })
    }
}

/// Whether what links on the way of `vc` lose follows from the order in which frames come to the ports before them:
/// these have one queue and send what came first, or have a server that draws as it chooses. The cells of a stream are
/// drawn for by a server alone.
fn draws_in_order(
    spec: &NetworkSpec,
    vc: &VcSpec,
    is_stream: bool,
    own_queues: &[Option<usize>],
) -> bool {
    let links = vc
        .path
        .iter()
        .map(|&id| (&spec.links[id as usize].port, id));
    let mut drawing = links.filter(|(_, id)| spec.links[*id as usize].motion.is_some());
    drawing.all(|(port, id)| {
        let has_server = port.queues.len() > 1 && own_queues[id as usize].is_some();
        has_server || !is_stream && port.scheduler == SchedulerSpec::Fifo(FifoSpec {})
    })
}

/// Whether the link at `link` moves in a way that has a closed form here: cells are sent at one rate and without a
/// break, by a port from which they leave as they came, and go on to another port.
fn has_closed_form(spec: &NetworkSpec, link: u32) -> bool {
    let LinkSpec {
        port,
        from,
        cell_time_ps,
        ..
    } = &spec.links[link as usize];
    let is_moving = moves(&spec.links[link as usize]).is_some();
    if spec.links[link as usize].framing.is_some() {
        return !is_moving
            && port.queues.len() == 1
            && !port.queues[0].policy.needs().packets
            && !port.queues[0].by_flow
            && port.shaper.is_none()
            && port.scheduler == SchedulerSpec::Fifo(FifoSpec {});
    }
    let Some(motion) = moves(&spec.links[link as usize]) else {
        return true;
    };
    let in_run = |step: &usize| motion.times_ps[*step] < spec.duration_ps;
    let mut steps = (0..motion.times_ps.len()).filter(in_run);
    let rates = &motion.cell_times_ps;
    let sends_on = steps.clone().all(|step| {
        motion.delays_ps[step].is_some() && rates.get(step).is_none_or(|time| time == cell_time_ps)
    });
    let has_handover = steps.any(|step| step > 0 && motion.paths[step] != motion.paths[step - 1]);
    let mut crossing = spec.vcs.iter().filter(|vc| vc.path.contains(&link));
    sends_on
        && motion.to.is_empty()
        && (motion.interruption_ps == 0 || !has_handover)
        && spec.nodes[*from as usize].kind == NodeKind::Switch
        && port.queues.len() == 1
        && port.scheduler == SchedulerSpec::Fifo(FifoSpec {})
        && crossing.all(|vc| vc.path.last() != Some(&link))
}

fn kinds(spec: &NetworkSpec) -> Vec<PortKind> {
    // The links that feed each switch port.
    let mut inputs: Vec<Vec<u32>> = vec![Vec::new(); spec.links.len()];
    for pair in spec.vcs.iter().flat_map(|vc| vc.path.windows(2)) {
        let feeding = &mut inputs[pair[1] as usize];
        if !feeding.contains(&pair[0]) {
            feeding.push(pair[0]);
        }
    }
    // What comes to these is not what has left a host.
    let cutting = spec.vcs.iter().filter(|vc| may_discard(vc));
    let behind_edges: HashSet<u32> = cutting.filter_map(|vc| vc.path.get(1).copied()).collect();
    let kind = |((link, inputs), id): ((&LinkSpec, &Vec<u32>), u32)| {
        if link.framing.is_some() {
            return PortKind::Packets;
        }
        if spec.nodes[link.from as usize].kind != NodeKind::Switch {
            return PortKind::Source;
        }
        if link.port.queues.len() > 1 || behind_edges.contains(&id) || link.motion.is_some() {
            return PortKind::Mux;
        }
        // What a link brings that moves may come together.
        let is_slower = |&input: &u32| {
            let input = &spec.links[input as usize];
            input.cell_time_ps >= link.cell_time_ps && moves(input).is_none()
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

/// The way over `path`.
pub(crate) fn route(spec: &NetworkSpec, kinds: &[PortKind], path: &[u32]) -> Route {
    let mut route = Route {
        source: path[0],
        first: Stretch::default(),
        muxes: Vec::new(),
    };
    let mut stretch = &mut route.first;
    for &id in path {
        let link = &spec.links[id as usize];
        match kinds[id as usize] {
            PortKind::Source | PortKind::Packets => {}
            PortKind::PassThrough => {
                let departure = stretch.delay + SimTime(link.cell_time_ps);
                stretch.passes.push(PassThrough {
                    port: id,
                    arrival: stretch.delay,
                    departure,
                });
                stretch.delay = departure;
            }
            PortKind::Mux => {
                route.muxes.push((id, Stretch::default()));
                stretch = &mut route.muxes.last_mut().expect("it has just been added").1;
            }
        }
        stretch.delay += SimTime(link.delay_ps);
        stretch.link = id;
    }
    route
}
