//! Where a network is cut into regions: from what its nodes have to do, before the run. No record depends on it.
//!
//! Nodes that links shorter than some time join stay together; of the groups, regions of equal load grow along the links
//! with most traffic, and groups at the borders change over as long as fewer packets cross then (B. W. Kernighan and S.
//! Lin 1970, C. M. Fiduccia and R. M. Mattheyses 1982). Times and numbers of regions are tried, and the least estimate is
//! taken.

use std::collections::BTreeMap;

/// Wall time of a packet that crosses a border, s.
const CROSSING_S: f64 = 1.2e-7;
/// That of a turn: a thread has to be woken.
const TURN_S: f64 = 2e-5;
/// A region has so much to do in a turn on average, or there are fewer regions.
const LEAST_TURN_S: f64 = 2e-4;
/// A run that is shorter stays on one thread.
const LEAST_RUN_S: f64 = 2.0;
/// Regions cost at most so much of what one does.
const WORTH: f64 = 0.8;
/// A group may have so many times the share of a region.
const GROUP_MAX: f64 = 1.3;
/// A region may grow to so many times its share by groups that change over.
const LOAD_MAX: f64 = 1.1;
/// Shortest links at borders that are tried.
const LOOKAHEADS: usize = 32;
/// Passes over all groups that change over.
const PASSES: usize = 8;

const PS_PER_SECOND: f64 = 1e12;

/// What a network has to do, s of work by s simulated.
pub(crate) struct Load {
    of_node: Vec<f64>,
    /// Packets in a second, by pair of nodes with a link, both ways together; the smaller node first.
    packets: BTreeMap<(u32, u32), f64>,
    /// Shortest lookahead, ps, by the same pairs; 0 for nodes that stay together, none if there is never a link.
    lookahead_ps: BTreeMap<(u32, u32), u64>,
}

fn pair(one: u32, other: u32) -> (u32, u32) {
    (one.min(other), one.max(other))
}

impl Load {
    /// Of nodes with nothing to do and no links.
    pub(crate) fn none(nodes: usize) -> Self {
        Load {
            of_node: vec![0.0; nodes],
            packets: BTreeMap::new(),
            lookahead_ps: BTreeMap::new(),
        }
    }

    /// A node has so much more to do.
    pub(crate) fn add(&mut self, node: u32, work_s: f64) {
        self.of_node[node as usize] += work_s;
    }

    /// A link joins two nodes, over which nothing goes in less than the time.
    pub(crate) fn join(&mut self, one: u32, other: u32, lookahead_ps: u64) {
        let known = self.lookahead_ps.entry(pair(one, other));
        let known = known.or_insert(lookahead_ps);
        *known = lookahead_ps.min(*known);
    }

    /// So many more packets go between two nodes that a link joins.
    pub(crate) fn pass(&mut self, one: u32, other: u32, packets: f64) {
        *self.packets.entry(pair(one, other)).or_default() += packets;
    }

    /// The shortest lookahead between two nodes that a link joins.
    pub(crate) fn lookahead_ps(&self, one: u32, other: u32) -> Option<u64> {
        self.lookahead_ps.get(&pair(one, other)).copied()
    }

    fn total(&self) -> f64 {
        self.of_node.iter().sum()
    }
}

/// The region of each node, at most `threads` of them; none if one is best.
pub(crate) fn cut(load: &Load, duration_ps: u64, threads: u32) -> Option<Vec<u32>> {
    let work_s = load.total() * (duration_ps as f64 / PS_PER_SECOND);
    if threads < 2 || work_s < LEAST_RUN_S {
        return None;
    }
    best_of(load, threads)
}

/// So many regions, whether that pays or not; none if the load does not allow them.
pub(crate) fn cut_into(load: &Load, count: u32) -> Option<Vec<u32>> {
    let mut best = (f64::INFINITY, None);
    for lookahead_ps in tried_lookaheads(load) {
        let groups = Groups::of(load, lookahead_ps);
        try_count(&groups, count, lookahead_ps, &mut best);
    }
    best.1
}

/// Takes the regions of so many if they cost less than the best so far.
fn try_count(groups: &Groups, count: u32, lookahead_ps: u64, best: &mut (f64, Option<Vec<u32>>)) {
    let share = groups.load.iter().sum::<f64>() / f64::from(count);
    if groups.largest() > GROUP_MAX * share {
        return;
    }
    let regions = groups.regions(count);
    let turns = PS_PER_SECOND / lookahead_ps as f64;
    // Each region has its share of the crossings.
    let crossings = regions.crossings * CROSSING_S / f64::from(count);
    let cost = regions.largest + crossings + TURN_S * turns;
    if cost < best.0 {
        *best = (cost, Some(groups.of_nodes(&regions.of_group)));
    }
}

fn best_of(load: &Load, threads: u32) -> Option<Vec<u32>> {
    let total = load.total();
    let mut best = (total * WORTH, None);
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
    let mut all: Vec<u64> = load
        .lookahead_ps
        .values()
        .copied()
        .filter(|&ps| ps > 0)
        .collect();
    all.sort_unstable();
    all.dedup();
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
        let mut load = Load::none(of_node.len());
        (0..)
            .zip(of_node)
            .for_each(|(node, &work_s)| load.add(node, work_s));
        for &(one, other, ms, packets) in links {
            load.join(one, other, ms * MS);
            load.pass(one, other, packets);
        }
        load
    }

    /// The sets of nodes, each ascending.
    fn sets(load: &Load, threads: u32) -> Option<Vec<Vec<usize>>> {
        let of_node = best_of(load, threads)?;
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
    fn nodes_that_stay_together_are_in_one_region() {
        let links = [(0, 1, 5, 10.0), (1, 2, 5, 10.0), (2, 3, 5, 10.0)];
        let mut load = load(&[1.0; 4], &links);
        assert_eq!(sets(&load, 2), in_two(&[0, 1], &[2, 3]));
        load.join(1, 2, 0);
        assert_eq!(sets(&load, 2), in_two(&[0, 1, 2], &[3]));
    }

    #[test]
    fn a_node_with_most_of_the_load_is_no_gain_to_have_apart() {
        let links = [(0, 1, 5, 10.0), (1, 2, 5, 10.0)];
        assert_eq!(sets(&load(&[0.1, 3.0, 0.1], &links), 3), None);
    }
}
