//! Where a network is cut into regions: between nodes with much delay, so that turns are long, and so that no region has
//! much more to do than others.
//!
//! All of it is a guess from the spec, in nanoseconds of computing for a second of the run. No record depends on it.

use super::{Atoms, atoms};
use crate::plan::Plan;
use crate::plan::route::{PortKind, least_time};
use skycell_spec::{FlowSpec, NetworkSpec};
use skycell_tcp::Segment;
use skycell_units::{Cells, Octets};
use std::collections::{BTreeMap, BTreeSet};

/// Of a frame, or of a cell where cells are stepped, at a port.
const AT_PORT_NS: f64 = 100.0;
/// Of a segment at the sender and at the receiver, each with its ACK.
const AT_SENDER_NS: f64 = 200.0;
const AT_RECEIVER_NS: f64 = 100.0;
/// Of a frame that crosses a border.
const CROSSING_NS: f64 = 120.0;
/// Of a turn, for which a thread is woken.
const TURN_NS: f64 = 20_000.0;
/// A region should have so much to do in a turn.
const LEAST_TURN_NS: f64 = 200_000.0;
/// A shorter run has one thread.
const LEAST_RUN_NS: f64 = 2e9;
/// No part of a cut may have more than this share of a region.
const BALANCE: f64 = 1.3;
/// A cut that costs more than this part of one region is none.
const WORTH: f64 = 0.8;
/// Lookaheads that are tried.
const LOOKAHEADS: usize = 24;
const SECOND_PS: f64 = 1e12;

/// What nodes have to do, and what passes between them.
struct Load {
    /// By node, nanoseconds.
    at: Vec<f64>,
    /// By pair of nodes between which whole frames pass: the least time, picoseconds, and how many frames do.
    between: BTreeMap<(u32, u32), (u64, f64)>,
}

/// The links of a route of VCs.
fn links<'a>(spec: &'a NetworkSpec, route: &'a [u32]) -> impl Iterator<Item = u32> {
    let vcs = route.iter().map(|&vc| &spec.vcs[vc as usize].path);
    vcs.flatten().copied()
}

fn cells(octets: Octets) -> f64 {
    f64::from(Cells::for_aal5_frame(octets).0)
}

/// Segments of a flow in a second at most: its share of the slowest link, or a window each round trip.
fn segments(spec: &NetworkSpec, flow: &FlowSpec, flows_at: &[f64]) -> f64 {
    let octets = Segment::longest_packet(&flow.tcp, true);
    let share = |id: u32| {
        let link = &spec.links[id as usize];
        let frame_ps = match &link.framing {
            Some(framing) => framing.time_ps(octets) as f64,
            None => cells(octets) * link.cell_time_ps as f64,
        };
        SECOND_PS / (frame_ps * flows_at[id as usize])
    };
    let shares = links(spec, &flow.forward).map(share);
    let round_trip = links(spec, &flow.forward).chain(links(spec, &flow.reverse));
    let rtt_ps: u64 = round_trip.map(|id| spec.links[id as usize].delay_ps).sum();
    let window = flow.tcp.rwnd as f64 / flow.tcp.mss as f64;
    let of_window = window * SECOND_PS / rtt_ps.max(1) as f64;
    shares.fold(of_window, f64::min)
}

impl Load {
    fn of(spec: &NetworkSpec, plan: &Plan) -> Load {
        let mut flows_at = vec![0.0; spec.links.len()];
        for flow in &spec.flows {
            links(spec, &flow.forward).for_each(|id| flows_at[id as usize] += 1.0);
        }
        let mut load = Load {
            at: vec![0.0; spec.nodes.len()],
            between: BTreeMap::new(),
        };
        for flow in &spec.flows {
            let frames = segments(spec, flow, &flows_at);
            let end = |route: &[u32]| spec.vc_source(route[0] as usize) as usize;
            load.at[end(&flow.forward)] += frames * AT_SENDER_NS;
            load.at[end(&flow.reverse)] += frames * AT_RECEIVER_NS;
            let of_segment = cells(Segment::longest_packet(&flow.tcp, true));
            for (route, cells) in [(&flow.forward, of_segment), (&flow.reverse, 1.0)] {
                route
                    .iter()
                    .for_each(|&vc| load.add_vc(spec, plan, vc, (frames, cells)));
            }
        }
        for source in spec
            .sources
            .iter()
            .filter(|own| !own.datagram_route.is_empty())
        {
            let frames = SECOND_PS / source.cell_interval_ps.max(1) as f64;
            let of_datagram = f64::from(source.frame_cells);
            for &vc in &source.datagram_route {
                load.add_vc(spec, plan, vc, (frames, of_datagram));
            }
        }
        load
    }

    /// So many frames of so many cells cross a VC.
    fn add_vc(&mut self, spec: &NetworkSpec, plan: &Plan, vc: u32, (frames, cells): (f64, f64)) {
        let route = &plan.routes[vc as usize];
        let end = spec.vc_destination(vc as usize);
        let node = |port: u32| spec.links[port as usize].from;
        let units = |port: u32| match plan.kinds[port as usize] {
            PortKind::Stepped(_) | PortKind::Coupled if !spec.carries_packets(vc as usize) => cells,
            _ => 1.0,
        };
        self.at[node(route.source) as usize] += frames * units(route.source) * AT_PORT_NS;
        for (port, _) in &route.outputs {
            self.at[node(*port) as usize] += frames * units(*port) * AT_PORT_NS;
        }
        let mut pass = |port: u32, to: u32, delay: u64| {
            let across = delay + least_time(&spec.links[port as usize]).0;
            let known = self.between.entry((node(port), to));
            let (least, passing) = known.or_insert((across, 0.0));
            *least = across.min(*least);
            *passing += frames;
        };
        let first = route.first_output().map_or(end, node);
        pass(route.source, first, route.first.delay.0);
        if let Some((port, hop)) = route.outputs.last() {
            pass(*port, end, hop.delay.0);
        }
    }
}

/// A network whose nodes between which less than some time lies are one.
struct Parts {
    /// By node.
    of_node: Vec<usize>,
    loads: Vec<f64>,
    /// By part: others, and frames that pass to or from each.
    beside: Vec<BTreeMap<usize, f64>>,
}

impl Parts {
    fn new(load: &Load, atoms: &Atoms, lookahead: u64) -> Parts {
        let mut joined = Atoms(atoms.0.clone());
        for (&(from, to), &(least, _)) in &load.between {
            if least < lookahead {
                joined.join([from, to]);
            }
        }
        let mut numbers = BTreeMap::new();
        let mut number = |node: u32| {
            let next = numbers.len();
            *numbers.entry(joined.of(node)).or_insert(next)
        };
        let of_node: Vec<usize> = (0..load.at.len() as u32).map(&mut number).collect();
        let mut loads = vec![0.0; numbers.len()];
        for (part, load) in of_node.iter().zip(&load.at) {
            loads[*part] += load;
        }
        let mut beside = vec![BTreeMap::new(); loads.len()];
        for (&(from, to), &(_, frames)) in &load.between {
            let (from, to) = (of_node[from as usize], of_node[to as usize]);
            if from != to {
                *beside[from].entry(to).or_insert(0.0) += frames;
                *beside[to].entry(from).or_insert(0.0) += frames;
            }
        }
        Parts {
            of_node,
            loads,
            beside,
        }
    }

    /// The parts, neighbours after each other, from the one that is last to be reached from the first.
    fn in_order(&self) -> Vec<usize> {
        let from = |first: usize| {
            let (mut order, mut known) = (Vec::new(), BTreeSet::new());
            for begin in std::iter::once(first).chain(0..self.loads.len()) {
                let mut next = order.len();
                if known.insert(begin) {
                    order.push(begin);
                }
                while let Some(&part) = order.get(next) {
                    next += 1;
                    order.extend(self.beside[part].keys().filter(|&&part| known.insert(part)));
                }
            }
            order
        };
        from(from(0).last().copied().unwrap_or(0))
    }

    /// The parts in so many regions: by part its region, and what the longest takes with all that crosses.
    fn divided(&self, count: usize) -> (Vec<usize>, f64) {
        let total: f64 = self.loads.iter().sum();
        let mut of_part = vec![0; self.loads.len()];
        let mut taken = 0.0;
        for part in self.in_order() {
            let middle = taken + self.loads[part] / 2.0;
            of_part[part] = ((middle / total * count as f64) as usize).min(count - 1);
            taken += self.loads[part];
        }
        let mut loads = vec![0.0; count];
        for (region, load) in of_part.iter().zip(&self.loads) {
            loads[*region] += load;
        }
        let passing = |of_part: &[usize], part: usize, region: usize| {
            let others = self.beside[part].iter();
            let others = others.filter(|(other, _)| of_part[**other] == region);
            others.map(|other| other.1).sum::<f64>()
        };
        // One pass: each part to where less crosses, if no region becomes too large.
        for part in 0..self.loads.len() {
            let (own, load) = (of_part[part], self.loads[part]);
            let here = passing(&of_part, part, own);
            let most = (total / count as f64 * 1.05).max(loads[own]);
            let gain = |&region: &usize| passing(&of_part, part, region) - here;
            let fits = |&region: &usize| region != own && loads[region] + load <= most;
            let best = (0..count)
                .filter(fits)
                .max_by(|a, b| gain(a).total_cmp(&gain(b)));
            if let Some(best) = best.filter(|best| gain(best) > 0.0) {
                loads[own] -= load;
                loads[best] += load;
                of_part[part] = best;
            }
        }
        let crossing = (0..self.loads.len()).map(|part| {
            let others = self.beside[part].iter();
            let others = others.filter(|(other, _)| of_part[**other] != of_part[part]);
            others.map(|other| other.1).sum::<f64>() / 2.0
        });
        let crossing: f64 = crossing.sum();
        let longest = loads.iter().copied().fold(0.0, f64::max);
        // Each region has its share of them.
        (of_part, longest + crossing * CROSSING_NS / count as f64)
    }
}

/// By node: the region, for so many threads; none where a run is too short for several, or has no cut that is worth it.
pub(crate) fn cut(spec: &NetworkSpec, threads: u32) -> Option<Vec<u32>> {
    if threads < 2 {
        return None;
    }
    let plan = &Plan::new(spec);
    let load = Load::of(spec, plan);
    let total: f64 = load.at.iter().sum();
    if total * (spec.duration_ps as f64 / SECOND_PS) < LEAST_RUN_NS {
        return None;
    }
    let atoms = atoms(spec, plan);
    let mut lookaheads: Vec<u64> = load.between.values().map(|between| between.0).collect();
    lookaheads.sort_unstable();
    // Of those that are nearly the same the least.
    lookaheads.dedup_by(|next, last| *next / 10 * 9 <= *last);
    let mut best: Option<(f64, Vec<u32>)> = None;
    for lookahead in lookaheads.into_iter().rev().take(LOOKAHEADS) {
        let parts = Parts::new(&load, &atoms, lookahead);
        let largest = parts.loads.iter().copied().fold(0.0, f64::max);
        let seconds = lookahead as f64 / SECOND_PS;
        for count in 2..=parts.loads.len().min(threads as usize) {
            let share = total / count as f64;
            if largest > share * BALANCE || share * seconds < LEAST_TURN_NS {
                break;
            }
            let (of_part, longest) = parts.divided(count);
            let cost = longest + TURN_NS / seconds;
            let is_better = best.as_ref().is_none_or(|(least, _)| cost < *least);
            if is_better && cost < total * WORTH {
                let region = |part: &usize| of_part[*part] as u32;
                best = Some((cost, parts.of_node.iter().map(region).collect()));
            }
        }
    }
    best.map(|(_, of_node)| of_node)
}
