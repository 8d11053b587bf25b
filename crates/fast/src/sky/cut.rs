//! Where a network that forwards by label is cut into regions: from the spec alone, before the run.
//!
//! What a node has to do follows from the routes of the VCs, looked at a few times. Nodes that links shorter than some
//! time join stay together; of the groups, regions of equal load grow along the links with most traffic, and groups at
//! the borders change over as long as fewer packets cross then (B. W. Kernighan and S. Lin 1970, C. M. Fiduccia and R. M.
//! Mattheyses 1982). Times and numbers of regions are tried, and the least estimate is taken.

use super::lookaheads_ps;
use skycell_sky::{Columns, Rows};
use skycell_spec::{NetworkSpec, SkySpec, TrafficSpec};
use std::collections::BTreeMap;

/// Wall time of a packet at a node, s: of the order of what `cargo bench --bench regions` measures.
const HOP_S: f64 = 2e-7;
/// That of one more at the end of a flow, and of one that crosses a border.
const END_S: f64 = 2.5e-7;
const CROSSING_S: f64 = 1.2e-7;
/// That of a turn: a thread has to be woken.
const TURN_S: f64 = 2e-5;
/// A region has so much to do in a turn on average, or there are fewer regions.
const LEAST_TURN_S: f64 = 2e-4;
/// A run that is shorter stays on one thread.
const LEAST_RUN_S: f64 = 2.0;
/// A region may have so many times its share of the load.
const LOAD_MAX: f64 = 1.1;
/// Times at which routes are looked at.
const LOOKS: u64 = 4;
/// Shortest links at borders that are tried.
const LOOKAHEADS: usize = 32;
/// Passes over all groups that change over.
const PASSES: usize = 8;

const PS_PER_SECOND: f64 = 1e12;

/// What a network has to do, s of work by s simulated.
struct Load {
    of_node: Vec<f64>,
    /// Packets in a second, by pair of nodes with a link, both ways together; the smaller node first.
    packets: BTreeMap<(u32, u32), f64>,
    /// Shortest lookahead, ps, by the same pairs; none if there is never a link.
    lookahead_ps: BTreeMap<(u32, u32), u64>,
}

/// The region of each node, at most `threads` of them; none if one is best.
pub(crate) fn cut(spec: &NetworkSpec, sky: &SkySpec, threads: u32) -> Option<Vec<u32>> {
    if threads < 2 {
        return None;
    }
    let load = Load::of(spec, sky);
    let total: f64 = load.of_node.iter().sum();
    let run_s = spec.duration_ps as f64 / PS_PER_SECOND;
    if total * run_s < LEAST_RUN_S {
        return None;
    }
    best_of(&load, threads, total)
}

/// So many regions, whether that pays or not; none if the load does not allow them.
pub(crate) fn cut_into(spec: &NetworkSpec, sky: &SkySpec, count: u32) -> Option<Vec<u32>> {
    let load = Load::of(spec, sky);
    let mut best = (f64::INFINITY, None);
    for lookahead_ps in tried_lookaheads(&load) {
        let groups = Groups::of(&load, lookahead_ps);
        try_count(&groups, count, lookahead_ps, &mut best);
    }
    best.1
}

/// Takes the regions of so many if they cost less than the best so far.
fn try_count(groups: &Groups, count: u32, lookahead_ps: u64, best: &mut (f64, Option<Vec<u32>>)) {
    let share = groups.load.iter().sum::<f64>() / f64::from(count);
    if groups.largest() > LOAD_MAX * share {
        return;
    }
    let regions = groups.regions(count);
    let turns = PS_PER_SECOND / lookahead_ps as f64;
    let cost = regions.largest + regions.crossings * CROSSING_S + TURN_S * turns;
    if cost < best.0 {
        *best = (cost, Some(groups.of_nodes(&regions.of_group)));
    }
}

fn best_of(load: &Load, threads: u32, total: f64) -> Option<Vec<u32>> {
    let mut best = (total, None);
    for lookahead_ps in tried_lookaheads(load) {
        let groups = Groups::of(load, lookahead_ps);
        let mut count = threads;
        while count > 1 {
            let lookahead_s = lookahead_ps as f64 / PS_PER_SECOND;
            if total / f64::from(count) * lookahead_s >= LEAST_TURN_S {
                try_count(&groups, count, lookahead_ps, &mut best);
            }
            count -= count.div_ceil(4);
        }
    }
    best.1
}

/// Some of the lookaheads of links that carry something or might, from the longest on.
fn tried_lookaheads(load: &Load) -> Vec<u64> {
    let mut all: Vec<u64> = load.lookahead_ps.values().copied().collect();
    all.sort_unstable();
    let Some(last) = all.len().checked_sub(1) else {
        return Vec::new();
    };
    let mut tried: Vec<u64> = (0..LOOKAHEADS)
        .map(|nth| all[last * nth / (LOOKAHEADS - 1)])
        .collect();
    tried.dedup();
    tried.reverse();
    tried
}

impl Load {
    fn of(spec: &NetworkSpec, sky: &SkySpec) -> Self {
        let columns = sky.columns();
        let mut load = Load {
            of_node: vec![0.0; columns.nodes()],
            packets: BTreeMap::new(),
            lookahead_ps: BTreeMap::new(),
        };
        let from = columns.link_from();
        for (link, lookahead) in lookaheads_ps(spec, sky).into_iter().enumerate() {
            if let Some(lookahead) = lookahead {
                let pair = pair(from[link], columns.link_to[link]);
                let known = load.lookahead_ps.entry(pair).or_insert(lookahead);
                *known = lookahead.min(*known);
            }
        }
        let begins = super::Epochs::of(columns);
        let mut rows = Rows::new(columns);
        for look in 0..LOOKS {
            let time = spec.duration_ps / (2 * LOOKS) * (2 * look + 1);
            let epoch = begins.at(skycell_units::SimTime(time), 0);
            rows.bring_all(epoch);
            load.look(spec, sky, &rows);
        }
        load
    }

    /// Adds what the routes in force make.
    fn look(&mut self, spec: &NetworkSpec, sky: &SkySpec, rows: &Rows<&Columns>) {
        let columns = sky.columns();
        let paths: Vec<Vec<u32>> = (spec.vcs.iter())
            .map(|vc| {
                let by_label = vc.by_label.expect("without links all VCs go by label");
                path(
                    columns,
                    rows,
                    sky.hop_limit,
                    by_label.from,
                    by_label.label as u16,
                )
            })
            .collect();
        let mut sharing = vec![0u32; columns.ports()];
        let data = |flow: &skycell_spec::FlowSpec| flow.forward.clone();
        for flow in &spec.flows {
            for &vc in &data(flow) {
                for &link in &paths[vc as usize] {
                    sharing[columns.link_port[link as usize] as usize] += 1;
                }
            }
        }
        let run_s = spec.duration_ps as f64 / PS_PER_SECOND;
        for flow in &spec.flows {
            let octets = flow.tcp.mss + 40;
            let links = || flow.forward.iter().flat_map(|&vc| &paths[vc as usize]);
            let share = |&link: &u32| {
                let port = columns.link_port[link as usize] as usize;
                let kind = &sky.kinds[usize::from(columns.port_kind[port])];
                let packet_ps = match &kind.framing {
                    Some(framing) => framing.time_ps(octets),
                    None => kind.cell_time_ps * octets.div_ceil(48),
                };
                PS_PER_SECOND / packet_ps.max(1) as f64 / f64::from(sharing[port])
            };
            let mut packets = links().map(share).fold(f64::INFINITY, f64::min);
            let pairs =
                |&link: &u32| pair(columns_from(columns, link), columns.link_to[link as usize]);
            let delays =
                links().map(|link| self.lookahead_ps.get(&pairs(link)).copied().unwrap_or(0));
            let rtt_s = 2.0 * delays.sum::<u64>() as f64 / PS_PER_SECOND;
            if rtt_s > 0.0 {
                packets = packets.min((flow.tcp.rwnd / flow.tcp.mss) as f64 / rtt_s);
            }
            if let TrafficSpec::Transfers { size_octets, .. } = flow.traffic {
                packets = packets.min((size_octets / flow.tcp.mss + 1) as f64 / run_s);
            }
            let units = match sky.carries_cells() {
                true => octets.div_ceil(48) as f64,
                false => 1.0,
            };
            for (vcs, packets) in [(&flow.forward, packets * units), (&flow.reverse, packets)] {
                for &vc in vcs {
                    self.add(columns, vc_from(spec, vc), &paths[vc as usize], packets);
                }
            }
        }
        for source in &spec.sources {
            let packets = PS_PER_SECOND / source.cell_interval_ps.max(1) as f64;
            let route = match source.datagram_route.is_empty() {
                true => &[source.vc][..],
                false => &source.datagram_route[..],
            };
            for &vc in route {
                self.add(columns, vc_from(spec, vc), &paths[vc as usize], packets);
            }
        }
    }

    /// Adds packets of a second, on average over all looks.
    fn add(&mut self, columns: &Columns, from: u32, links: &[u32], packets: f64) {
        if !packets.is_finite() {
            return;
        }
        let packets = packets / LOOKS as f64;
        let mut node = from;
        self.of_node[node as usize] += packets * END_S;
        for &link in links {
            self.of_node[node as usize] += packets * HOP_S;
            let to = columns.link_to[link as usize];
            *self.packets.entry(pair(node, to)).or_default() += packets;
            node = to;
        }
        self.of_node[node as usize] += packets * END_S;
    }
}

fn vc_from(spec: &NetworkSpec, vc: u32) -> u32 {
    spec.vc_source(vc as usize)
}

fn columns_from(columns: &Columns, link: u32) -> u32 {
    columns.node_link.partition_point(|&first| first <= link) as u32 - 1
}

fn pair(one: u32, other: u32) -> (u32, u32) {
    (one.min(other), one.max(other))
}

/// The links by which a label goes on from a node.
fn path(columns: &Columns, rows: &Rows<&Columns>, most: u32, from: u32, label: u16) -> Vec<u32> {
    let mut links = Vec::new();
    let mut node = from;
    while node != columns.label_node[usize::from(label)] && (links.len() as u32) < most {
        let Some(link) = rows.next(node, label) else {
            break;
        };
        links.push(link);
        node = columns.link_to[link as usize];
    }
    links
}

/// Nodes that stay together, and what goes on between them.
struct Groups {
    /// By node.
    of_node: Vec<u32>,
    load: Vec<f64>,
    /// By group: others with a link to it, and the packets between them in a second.
    near: Vec<Vec<(u32, f64)>>,
}

/// A way to put groups into regions.
struct Regions {
    of_group: Vec<u32>,
    /// Of the region with most of it.
    largest: f64,
    /// Packets from region to region in a second.
    crossings: f64,
}

impl Groups {
    /// Nodes joined by links shorter than a time.
    fn of(load: &Load, lookahead_ps: u64) -> Self {
        let nodes = load.of_node.len();
        let mut parent: Vec<u32> = (0..nodes as u32).collect();
        let root = |parent: &mut Vec<u32>, mut node: u32| {
            while parent[node as usize] != node {
                parent[node as usize] = parent[parent[node as usize] as usize];
                node = parent[node as usize];
            }
            node
        };
        for (&(one, other), &own) in &load.lookahead_ps {
            if own < lookahead_ps {
                let [one, other] = [one, other].map(|node| root(&mut parent, node));
                parent[one.max(other) as usize] = one.min(other);
            }
        }
        let mut numbers = BTreeMap::new();
        let mut of_node = vec![0; nodes];
        let mut loads: Vec<f64> = Vec::new();
        for node in 0..nodes as u32 {
            let count = loads.len() as u32;
            let group = *numbers.entry(root(&mut parent, node)).or_insert(count);
            if group == count {
                loads.push(0.0);
            }
            loads[group as usize] += load.of_node[node as usize];
            of_node[node as usize] = group;
        }
        let mut between: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for &(one, other) in load.lookahead_ps.keys() {
            let [a, b] = [one, other].map(|node| of_node[node as usize]);
            if a != b {
                let packets = load.packets.get(&(one, other)).copied().unwrap_or(0.0);
                *between.entry((a, b)).or_default() += packets;
                *between.entry((b, a)).or_default() += packets;
            }
        }
        let mut near = vec![Vec::new(); loads.len()];
        for ((from, to), packets) in between {
            near[from as usize].push((to, packets));
        }
        Groups {
            of_node,
            load: loads,
            near,
        }
    }

    fn largest(&self) -> f64 {
        self.load.iter().copied().fold(0.0, f64::max)
    }

    fn of_nodes(&self, of_group: &[u32]) -> Vec<u32> {
        let region = |&group: &u32| of_group[group as usize];
        self.of_node.iter().map(region).collect()
    }

    /// Regions that have grown, after groups at their borders have changed over.
    fn regions(&self, count: u32) -> Regions {
        let mut of_group = self.grown(count);
        let mut loads = vec![0.0; count as usize];
        for (group, &region) in of_group.iter().enumerate() {
            loads[region as usize] += self.load[group];
        }
        let most = self.load.iter().sum::<f64>() / f64::from(count) * LOAD_MAX;
        for _ in 0..PASSES {
            if !self.pass(&mut of_group, &mut loads, most) {
                break;
            }
        }
        let crossings = self.near.iter().enumerate().map(|(group, near)| {
            let own = of_group[group];
            let other = near.iter().filter(|&&(to, _)| of_group[to as usize] != own);
            other.map(|&(_, packets)| packets / 2.0).sum::<f64>()
        });
        Regions {
            crossings: crossings.sum(),
            largest: loads.iter().copied().fold(0.0, f64::max),
            of_group,
        }
    }

    /// Each region takes the group with most traffic to it, or one with a link to it, until it has its share.
    fn grown(&self, count: u32) -> Vec<u32> {
        const NONE: u32 = u32::MAX;
        let mut of_group = vec![NONE; self.load.len()];
        let mut left: f64 = self.load.iter().sum();
        for region in 0..count - 1 {
            let share = left / f64::from(count - region);
            let mut own = 0.0;
            let mut pull: BTreeMap<u32, f64> = BTreeMap::new();
            while own < share {
                let by_pull = pull
                    .iter()
                    .max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)));
                let next = by_pull
                    .map(|(&group, _)| group)
                    .or_else(|| self.seed(&of_group));
                let Some(next) = next else { break };
                pull.remove(&next);
                of_group[next as usize] = region;
                own += self.load[next as usize];
                for &(to, packets) in &self.near[next as usize] {
                    if of_group[to as usize] == NONE {
                        *pull.entry(to).or_default() += packets;
                    }
                }
            }
            left -= own;
        }
        let rest = of_group.iter_mut().filter(|region| **region == NONE);
        rest.for_each(|region| *region = count - 1);
        of_group
    }

    /// A free group with the least traffic to free groups: one at an edge.
    fn seed(&self, of_group: &[u32]) -> Option<u32> {
        let free = |group: &u32| of_group[*group as usize] == u32::MAX;
        let traffic = |group: u32| {
            let near = self.near[group as usize].iter();
            let near = near.filter(|near| free(&near.0));
            near.map(|near| near.1).sum::<f64>()
        };
        let with_load = |group: &u32| free(group) && self.load[*group as usize] > 0.0;
        let all = || 0..self.load.len() as u32;
        let least = all()
            .filter(with_load)
            .min_by(|&a, &b| traffic(a).total_cmp(&traffic(b)));
        least.or_else(|| all().find(free))
    }

    /// Each group changes over once if that saves crossings, or takes from what is above its share. Returns whether one
    /// has.
    fn pass(&self, of_group: &mut [u32], loads: &mut [f64], most: f64) -> bool {
        let mut has_moved = false;
        for group in 0..self.load.len() {
            let own = of_group[group];
            let mut to: BTreeMap<u32, f64> = BTreeMap::new();
            for &(near, packets) in &self.near[group] {
                *to.entry(of_group[near as usize]).or_default() += packets;
            }
            let stays = to.get(&own).copied().unwrap_or(0.0);
            let load = self.load[group];
            let is_full = loads[own as usize] > most;
            let others = to.iter().filter(|&(&region, &packets)| {
                let then = loads[region as usize] + load;
                region != own
                    && (then <= most && packets > stays
                        || is_full && then < loads[own as usize]
                        || packets == stays && load > 0.0 && then < loads[own as usize])
            });
            let best = others.max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)));
            if let Some((&region, _)) = best {
                of_group[group] = region;
                loads[own as usize] -= load;
                loads[region as usize] += load;
                has_moved = true;
            }
        }
        has_moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    /// Nodes with their loads, and links: two nodes, lookahead in ms, packets in a second.
    fn load(of_node: &[f64], links: &[(u32, u32, u64, f64)]) -> Load {
        let packets = links.iter().map(|link| ((link.0, link.1), link.3));
        let lookaheads = links.iter().map(|link| ((link.0, link.1), link.2 * MS));
        Load {
            of_node: of_node.to_vec(),
            packets: packets.collect(),
            lookahead_ps: lookaheads.collect(),
        }
    }

    /// The sets of nodes, each ascending.
    fn sets(load: &Load, threads: u32) -> Option<Vec<Vec<usize>>> {
        let of_node = best_of(load, threads, load.of_node.iter().sum())?;
        let mut sets = vec![Vec::new(); threads as usize];
        for (node, &region) in of_node.iter().enumerate() {
            sets[region as usize].push(node);
        }
        sets.retain(|set| !set.is_empty());
        sets.sort();
        Some(sets)
    }

    fn in_two(one: &[usize], other: &[usize]) -> Option<Vec<Vec<usize>>> {
        Some(vec![one.to_vec(), other.to_vec()])
    }

    #[test]
    fn a_row_is_cut_at_its_long_link() {
        let links = [(0, 1, 1, 10.0), (1, 2, 50, 10.0), (2, 3, 1, 10.0)];
        assert_eq!(sets(&load(&[1.0; 4], &links), 2), in_two(&[0, 1], &[2, 3]));
    }

    #[test]
    fn a_long_link_beside_the_middle_is_no_place_to_cut() {
        let links = [(0, 1, 1, 10.0), (1, 2, 1, 10.0), (2, 3, 50, 10.0)];
        assert_eq!(sets(&load(&[1.0; 4], &links), 2), in_two(&[0, 1], &[2, 3]));
    }

    #[test]
    fn of_equal_cuts_the_one_that_few_packets_cross_is_taken() {
        // Two rows of four: along a row goes much, from row to row little.
        let along = |first: u32| (first..first + 3).map(|node| (node, node + 1, 5, 1e5));
        let across = (0..4).map(|node| (node, node + 4, 5, 10.0));
        let links: Vec<_> = along(0).chain(along(4)).chain(across).collect();
        assert_eq!(
            sets(&load(&[1.0; 8], &links), 2),
            in_two(&[0, 1, 2, 3], &[4, 5, 6, 7])
        );
    }

    #[test]
    fn a_network_with_little_to_do_in_a_turn_stays_whole() {
        let links = [(0, 1, 1, 10.0)];
        // 0.3 s of work in a second are 0.3 ms in a turn of 1 ms, 0.15 for each of two regions.
        assert_eq!(sets(&load(&[0.15; 2], &links), 2), None);
        assert_eq!(sets(&load(&[0.3; 2], &links), 2), in_two(&[0], &[1]));
    }

    #[test]
    fn a_node_with_most_of_the_load_is_no_gain_to_have_apart() {
        let links = [(0, 1, 5, 10.0), (1, 2, 5, 10.0)];
        assert_eq!(sets(&load(&[0.1, 3.0, 0.1], &links), 3), None);
    }
}
