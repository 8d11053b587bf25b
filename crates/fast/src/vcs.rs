//! The virtual channels of a run.

use crate::edge::Edge;
use crate::plan::end_points::EndPoints;
use crate::plan::route::Route;
use crate::plan::route::constant_loss;
use skycell_atm::Reassembly;
use skycell_records::{CellDelays, Discards};
use skycell_spec::NetworkSpec;
use skycell_traffic::prefetch;
use skycell_units::{InputId, PortVc, SimTime};
use std::collections::HashMap;

/// The state of a VC that a frame needs where it begins.
#[derive(Debug)]
pub(crate) struct Ingress {
    pub(crate) cells_offered: u64,
    pub(crate) frames_offered: u64,
    /// Which source port the VC begins at, and its index there.
    pub(crate) source: u32,
    pub(crate) source_port_vc: PortVc,
    /// Its index at its first output port, and which of the inputs it comes over.
    pub(crate) output_port_vc: PortVc,
    pub(crate) input: InputId,
    /// The link over which that port is reached, or the VC's end where it is multiplexed nowhere.
    pub(crate) first_link: u32,
    /// Which of the paths it takes.
    path: u32,
}

/// The state of a VC that a whole frame needs where it ends.
#[derive(Debug)]
pub(crate) struct Egress {
    pub(crate) frames_delivered: u64,
    /// Cells of those frames.
    pub(crate) cells_whole: u64,
    /// The link over which the end is reached.
    pub(crate) last_link: u32,
    path: u32,
}

/// One line of the cache: where one VC begins, and where another ends that it follows.
#[derive(Debug)]
#[repr(align(64))]
struct Line {
    begin: Ingress,
    end: Egress,
}

const _: () = assert!(std::mem::size_of::<Line>() == 64);

/// The common parameters of VCs between ports of the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Path {
    /// The first output port, where there is one.
    pub(crate) output: Option<u32>,
    /// From a cell's departure at the source port to that port or the VC's end.
    pub(crate) first_delay: SimTime,
    /// From a cell's departure at the last output port to the VC's end.
    pub(crate) last_delay: SimTime,
    /// True if the first link loses frames.
    pub(crate) is_lossy: bool,
    /// True if the VC's edge looks at frames.
    pub(crate) is_watched: bool,
    /// True if only one sender is at the end, which may process arrivals as soon as they are known.
    pub(crate) is_sender_alone: bool,
    /// True if the port at which it begins is stepped.
    pub(crate) is_stepped: bool,
    /// True if it is one link that carries packets.
    pub(crate) carries_packets: bool,
    /// True if routers or receivers accept its frames as soon as their arrival is known.
    pub(crate) arrives_at_once: bool,
    /// True if only receivers without events of their own are at the end.
    pub(crate) receives_at_once: bool,
}

/// The state of a VC that frames seldom need.
#[derive(Debug)]
pub(crate) struct ColdVc {
    pub(crate) route: Route,
    /// Its index at each of its output ports.
    pub(crate) port_vcs: Vec<PortVc>,
    pub(crate) edge: Edge,
    /// Delays of its cells, where they are measured.
    pub(crate) delays: Option<Box<CellDelays>>,
    /// True if delays are measured unit by unit, at stepped ports.
    pub(crate) measures_units: bool,
    /// True if it is in the part of the network whose ports are stepped together.
    is_coupled: bool,
    /// Of what comes to its end from a stepped port: how many units so far, and the frame that they are of.
    pub(crate) delivered: u64,
    pub(crate) reassembly: Reassembly,
    pub(crate) frames_corrupt: u64,
    /// Of those, frames whose cells all came, some of them with bit errors.
    pub(crate) frames_crc: u64,
    pub(crate) cells_corrupt: u64,
    /// Cells refused by its source port.
    pub(crate) discarded_at_source: Discards,
}

/// Where a VC stands at the ports of its way that count cells.
#[derive(Debug)]
pub(crate) struct PortVcs {
    /// Of its source port among them.
    pub(crate) source_port: u32,
    /// At its source port.
    pub(crate) source: PortVc,
    /// At each of its ports where units may wait, in order: there, and which of that port's inputs it comes over.
    pub(crate) outputs: Vec<AtOutput>,
    /// True if all its ports are stepped.
    pub(crate) are_stepped: bool,
    /// True if all are stepped together with others.
    pub(crate) are_together: bool,
}

/// Where a VC stands at an output port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtOutput {
    pub(crate) port_vc: PortVc,
    pub(crate) input: InputId,
}

/// All VCs that carry frames, by id.
#[derive(Debug)]
pub(crate) struct Vcs {
    /// By the VC that begins there.
    lines: Vec<Line>,
    /// By VC: the one over which that goes on, or is answered, which it carries to its end. Each follows one.
    next_vc: Vec<u32>,
    pub(crate) rest: Vec<ColdVc>,
    vc_paths: Vec<Path>,
}

impl Vcs {
    /// The VCs of the spec over the given routes, each with its indices at the ports.
    pub(crate) fn new(
        spec: &NetworkSpec,
        routes: Vec<Route>,
        port_vcs: Vec<PortVcs>,
        end_points: &EndPoints,
    ) -> Self {
        let (mut begins, mut all_ends) = (Vec::new(), Vec::new());
        let mut vcs = Vcs {
            lines: Vec::new(),
            next_vc: next_vcs(spec),
            rest: Vec::with_capacity(routes.len()),
            vc_paths: Vec::new(),
        };
        let mut known = HashMap::new();
        for ((route, port_vcs), id) in routes.into_iter().zip(port_vcs).zip(0..) {
            let is_measured =
                spec.records.delay_vcs.contains(&(id as u32)) && !port_vcs.are_together;
            let edge = match port_vcs.are_together {
                true => Edge::none(),
                false => {
                    let (from, end) = (spec.measure_from_ps, spec.duration_ps);
                    Edge::new(&spec.vcs[id], SimTime(from), SimTime(end))
                }
            };
            let last = route.last();
            let first_output = port_vcs.outputs.first();
            let path = Path {
                output: route.first_output(),
                first_delay: route.first.delay,
                last_delay: last.delay,
                is_lossy: constant_loss(&spec.links[route.source as usize]).is_some(),
                is_watched: edge.is_watching(),
                is_stepped: port_vcs.source_port == u32::MAX,
                is_sender_alone: end_points.sender_alone[last.link as usize].is_some(),
                receives_at_once: end_points.receives_at_once[id],
                carries_packets: spec.carries_packets(id),
                arrives_at_once: spec.carries_packets(id)
                    && (end_points.forwards_at_once[id] || end_points.receives_at_once[id]),
            };
            let path = *known.entry(path).or_insert_with(|| {
                vcs.vc_paths.push(path);
                vcs.vc_paths.len() as u32 - 1
            });
            begins.push(Ingress {
                cells_offered: 0,
                frames_offered: 0,
                source: port_vcs.source_port,
                source_port_vc: port_vcs.source,
                output_port_vc: first_output.map_or(PortVc::NONE, |output| output.port_vc),
                input: first_output.map_or(InputId::NONE, |output| output.input),
                first_link: route.first.link,
                path,
            });
            let end = Egress {
                frames_delivered: 0,
                cells_whole: 0,
                last_link: last.link,
                path,
            };
            all_ends.push((vcs.next_vc(id as u32), end));
            vcs.rest.push(ColdVc {
                route,
                port_vcs: port_vcs
                    .outputs
                    .iter()
                    .map(|output| output.port_vc)
                    .collect(),
                edge,
                delays: is_measured.then(|| Box::new(CellDelays::new(spec.vc_fixed_delay_ps(id)))),
                measures_units: is_measured && port_vcs.are_stepped,
                is_coupled: port_vcs.are_together,
                delivered: 0,
                reassembly: Reassembly::default(),
                frames_corrupt: 0,
                frames_crc: 0,
                cells_corrupt: 0,
                discarded_at_source: Discards::default(),
            });
        }
        all_ends.sort_unstable_by_key(|(next_vc, _)| *next_vc);
        let lines = begins.into_iter().zip(all_ends);
        vcs.lines
            .extend(lines.map(|(begin, (_, end))| Line { begin, end }));
        vcs
    }

    /// Where the VC with id `vc` begins, and the path that it goes.
    pub(crate) fn begin(&self, vc: u32) -> (&Ingress, &Path) {
        let begin = &self.lines[vc as usize].begin;
        (begin, &self.vc_paths[begin.path as usize])
    }

    /// Returns whether it is in the part of the network whose ports are stepped together.
    pub(crate) fn is_coupled(&self, vc: u32) -> bool {
        self.rest[vc as usize].is_coupled
    }

    pub(crate) fn begin_mut(&mut self, vc: u32) -> &mut Ingress {
        &mut self.lines[vc as usize].begin
    }

    /// Where it ends, and the path that it has gone.
    pub(crate) fn end(&self, vc: u32) -> (&Egress, &Path) {
        let end = &self.lines[self.next_vc(vc) as usize].end;
        (end, &self.vc_paths[end.path as usize])
    }

    /// As [`Vcs::end`], to be counted at.
    pub(crate) fn end_and_path_mut(&mut self, vc: u32) -> (&mut Egress, &Path) {
        let next_vc = self.next_vc(vc);
        let end = &mut self.lines[next_vc as usize].end;
        let path = &self.vc_paths[end.path as usize];
        (end, path)
    }

    /// Asks for the line of the cache where `vc` ends.
    pub(crate) fn prefetch_end(&self, vc: u32) {
        prefetch(&self.lines[self.next_vc(vc) as usize]);
    }

    /// The VC over which most of what `vc` carries to its end goes on, or is answered.
    pub(crate) fn next_vc(&self, vc: u32) -> u32 {
        self.next_vc[vc as usize]
    }
}

/// By VC: another that follows it in a flow, on the way there, at its end, or on the way back; any other where there
/// is none that does not follow one already.
fn next_vcs(spec: &NetworkSpec) -> Vec<u32> {
    let mut next_vcs: Vec<Option<u32>> = vec![None; spec.vcs.len()];
    let mut follows = vec![false; spec.vcs.len()];
    let of_flows = spec.flows.iter().map(|flow| (&flow.forward, &flow.reverse));
    let of_users = spec.users.iter().flat_map(|users| &users.routes);
    let of_users = of_users.map(|route| (&route.forward, &route.reverse));
    for (forward, reverse) in of_flows.chain(of_users) {
        let flow_routes = || forward.iter().chain(reverse).copied();
        for (vc, next) in flow_routes().zip(flow_routes().cycle().skip(1)) {
            let next_vc = &mut next_vcs[vc as usize];
            if next_vc.is_none() && !follows[next as usize] {
                *next_vc = Some(next);
                follows[next as usize] = true;
            }
        }
    }
    let mut others = (0..).zip(follows).filter(|(_, follows)| !follows);
    let mut any_other = || others.next().expect("as many follow as are followed").0;
    let next_vcs = next_vcs.into_iter();
    next_vcs
        .map(|next_vc| next_vc.unwrap_or_else(&mut any_other))
        .collect()
}
