//! Trees of least cost to a destination on the ground, kept from one moment to the next.
//!
//! A moment's tree begins with the last one. Costs that are summed anew along it are costs of real
//! paths, so they are upper bounds; a satellite whose link has gone has none. Then every link is
//! compared, and what can be shortened goes through a heap. This ends at the least costs. A satellite's
//! next hop is the neighbour of the least cost, and of the smallest number among equals, so a tree
//! depends on its moment alone, and not on the moments before. Places on the ground that forward packets
//! count as satellites here.

use crate::graph::Graph;
use crate::route::Gateway;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Cost of a satellite from which no path leads to the destination.
pub const UNREACHED: u64 = u64::MAX / 2;
/// Next hop of such a satellite.
const NONE: u32 = u32::MAX;
/// Next hop of a satellite that hands down to the destination.
const DOWN: u32 = u32::MAX - 1;
/// Places by which satellites may be out of order, for each of them, before they are sorted anew.
const MOST_MOVES: usize = 8;

/// Where a path goes on from a satellite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextHop {
    /// To another satellite.
    Satellite(u32),
    /// Down to the destination.
    Down,
}

/// The links between satellites at a moment, each with a cost above 0.
#[derive(Default)]
pub struct Mesh {
    starts: Vec<u32>,
    neighbours: Vec<u32>,
    costs: Vec<u64>,
    /// Of each slot before the last change of links, its slot since; `NONE` where the link has gone.
    moved: Vec<u32>,
    has_moved: bool,
}

impl Mesh {
    /// Takes the links of another moment.
    ///
    /// `cost` is that of a delay in ps. A link of cost 0 costs 1, so that no circle is a tie.
    pub fn take(&mut self, graph: &Graph, cost: impl Fn(u64) -> u64) {
        let (starts, neighbours, delays_ps) = graph.slots();
        self.has_moved = starts != self.starts || neighbours != self.neighbours;
        if self.has_moved {
            self.moved.clear();
            for satellite in 0..self.starts.len().saturating_sub(1) {
                let own =
                    |starts: &[u32]| starts[satellite] as usize..starts[satellite + 1] as usize;
                let after = own(starts);
                for &neighbour in &self.neighbours[own(&self.starts)] {
                    let place = neighbours[after.clone()]
                        .iter()
                        .position(|&to| to == neighbour);
                    let slot = place.map_or(NONE, |place| (after.start + place) as u32);
                    self.moved.push(slot);
                }
            }
            starts.clone_into(&mut self.starts);
            neighbours.clone_into(&mut self.neighbours);
        }
        self.costs.clear();
        self.costs
            .extend(delays_ps.iter().map(|&delay_ps| cost(delay_ps).max(1)));
    }

    fn satellites(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Neighbours of a satellite with the costs of the links to them, in the order of their numbers.
    pub fn links(&self, satellite: u32) -> impl Iterator<Item = (u32, u64)> + '_ {
        let row = self.row(satellite as usize);
        let neighbours = self.neighbours[row.clone()].iter().copied();
        neighbours.zip(self.costs[row].iter().copied())
    }

    fn row(&self, satellite: usize) -> std::ops::Range<usize> {
        self.starts[satellite] as usize..self.starts[satellite + 1] as usize
    }
}

/// What trees need while they are brought to another moment; one serves all of them.
#[derive(Default)]
pub struct Search {
    down: Vec<u64>,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
}

/// The paths of least cost from every satellite to one destination.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    costs: Vec<u64>,
    /// Slot of the mesh, `DOWN` or `NONE`.
    next: Vec<u32>,
    /// Satellites by cost, so that the next hop of each stands before it.
    order: Vec<u32>,
}

impl Tree {
    /// Brings the tree to the moment of a mesh; it has seen each of the mesh's moments, or none.
    ///
    /// `gateways` are the satellites that the destination may be reached from, with costs above 0; or the
    /// destination itself with a cost of 0, where it is among them.
    pub fn follow(&mut self, mesh: &Mesh, gateways: &[Gateway], search: &mut Search) {
        let satellites = mesh.satellites();
        if self.next.len() != satellites {
            self.costs = vec![UNREACHED; satellites];
            self.next = vec![NONE; satellites];
            self.order = (0..satellites as u32).collect();
        } else if mesh.has_moved {
            for slot in self.next.iter_mut().filter(|slot| **slot < DOWN) {
                *slot = mesh.moved[*slot as usize];
            }
        }
        search.down.resize(satellites, UNREACHED);
        for &(satellite, cost) in gateways {
            search.down[satellite as usize] = cost;
        }
        let is_new = self.next.iter().all(|&slot| slot == NONE);
        self.sum(mesh, &search.down);
        self.come_down(gateways, &mut search.heap);
        // From nothing, the heap alone finds satellites in the order of their costs.
        if !is_new {
            self.compare(mesh, &mut search.heap);
        }
        self.shorten(mesh, &mut search.heap);
        self.sort();
        for &(satellite, _) in gateways {
            search.down[satellite as usize] = UNREACHED;
        }
    }

    /// Sums costs anew along the tree.
    fn sum(&mut self, mesh: &Mesh, down: &[u64]) {
        for &satellite in &self.order {
            let satellite = satellite as usize;
            let cost = match self.next[satellite] {
                NONE => UNREACHED,
                DOWN => down[satellite],
                slot => {
                    let slot = slot as usize;
                    mesh.costs[slot] + self.costs[mesh.neighbours[slot] as usize]
                }
            };
            self.costs[satellite] = cost.min(UNREACHED);
            if cost >= UNREACHED {
                self.next[satellite] = NONE;
            }
        }
    }

    /// Takes the ways straight down to the destination that are shorter.
    fn come_down(&mut self, gateways: &[Gateway], heap: &mut BinaryHeap<Reverse<(u64, u32)>>) {
        for &(satellite, down) in gateways {
            let own = satellite as usize;
            if down < self.costs[own] {
                (self.costs[own], self.next[own]) = (down, DOWN);
                heap.push(Reverse((down, satellite)));
            }
        }
    }

    /// Compares each satellite's cost with that over every link; neighbours are in ascending order, and
    /// the destination comes after all satellites.
    fn compare(&mut self, mesh: &Mesh, heap: &mut BinaryHeap<Reverse<(u64, u32)>>) {
        for satellite in 0..mesh.satellites() {
            let known = self.costs[satellite];
            let (mut least, mut next) = (known, self.next[satellite]);
            for slot in mesh.row(satellite) {
                let cost = mesh.costs[slot] + self.costs[mesh.neighbours[slot] as usize];
                if cost < least || cost == least && (slot as u32) < next {
                    (least, next) = (cost, slot as u32);
                }
            }
            self.next[satellite] = next;
            if least < known {
                self.costs[satellite] = least;
                heap.push(Reverse((least, satellite as u32)));
            }
        }
    }

    /// Hands shorter costs on to the satellites before, the least first.
    fn shorten(&mut self, mesh: &Mesh, heap: &mut BinaryHeap<Reverse<(u64, u32)>>) {
        while let Some(Reverse((cost, satellite))) = heap.pop() {
            if cost > self.costs[satellite as usize] {
                continue; // shortened again since
            }
            for slot in mesh.row(satellite as usize) {
                let before = mesh.neighbours[slot] as usize;
                let whole = cost + mesh.costs[slot];
                if whole > self.costs[before] {
                    continue;
                }
                let back = mesh
                    .row(before)
                    .find(|&back| mesh.neighbours[back] == satellite);
                let back = back.expect("a link is in both rows") as u32;
                if whole < self.costs[before] {
                    self.costs[before] = whole;
                    self.next[before] = back;
                    heap.push(Reverse((whole, before as u32)));
                } else {
                    self.next[before] = back.min(self.next[before]);
                }
            }
        }
    }

    /// Puts satellites in the order of their costs; most of them are in order.
    fn sort(&mut self) {
        let mut moves = 0;
        for place in 1..self.order.len() {
            let satellite = self.order[place];
            let cost = self.costs[satellite as usize];
            let mut to = place;
            while to > 0 && self.costs[self.order[to - 1] as usize] > cost {
                self.order[to] = self.order[to - 1];
                to -= 1;
            }
            self.order[to] = satellite;
            moves += place - to;
            if moves > MOST_MOVES * self.order.len() {
                let costs = &self.costs;
                self.order
                    .sort_unstable_by_key(|&satellite| costs[satellite as usize]);
                return;
            }
        }
    }

    /// Least cost from each satellite to the destination.
    pub fn costs(&self) -> &[u64] {
        &self.costs
    }

    /// Satellites in the order of their costs.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Where the path goes on from a satellite; none where there is no path.
    pub fn next(&self, mesh: &Mesh, satellite: u32) -> Option<NextHop> {
        match self.next[satellite as usize] {
            NONE => None,
            DOWN => Some(NextHop::Down),
            slot => Some(NextHop::Satellite(mesh.neighbours[slot as usize])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const SATELLITES: usize = 9;

    /// A moment: links with delays, and satellites above the destination with theirs.
    type Drawn = (Vec<([u32; 2], u64)>, Vec<(u32, u64)>);

    fn any_moment() -> impl Strategy<Value = Drawn> {
        let ends = (0..SATELLITES as u32, 0..SATELLITES as u32);
        // Few delays, 0 among them, so that many paths tie.
        let links = vec((ends, 0u64..6), 0..24);
        let gateways = vec((0..SATELLITES as u32, 1u64..8), 0..4);
        (links, gateways).prop_map(|(links, mut gateways)| {
            let mut found: Vec<([u32; 2], u64)> = Vec::new();
            for ((a, b), delay) in links {
                let ends = [a.min(b), a.max(b)];
                if a != b && found.iter().all(|link| link.0 != ends) {
                    found.push((ends, delay));
                }
            }
            gateways.sort_unstable();
            gateways.dedup_by_key(|gateway| gateway.0);
            (found, gateways)
        })
    }

    /// Bellman and Ford: as many rounds over all links as there are satellites; then the neighbour of
    /// least cost and number.
    fn plain((links, gateways): &Drawn) -> Vec<(u64, Option<NextHop>)> {
        let mut costs = [UNREACHED; SATELLITES];
        for _ in 0..=SATELLITES {
            for &(satellite, down) in gateways {
                let own = &mut costs[satellite as usize];
                *own = down.min(*own);
            }
            for &([a, b], delay) in links {
                let [a, b] = [a as usize, b as usize];
                costs[a] = costs[a].min(costs[b] + delay.max(1));
                costs[b] = costs[b].min(costs[a] + delay.max(1));
            }
        }
        (0..SATELLITES as u32)
            .map(|satellite| {
                let cost = costs[satellite as usize].min(UNREACHED);
                if cost == UNREACHED {
                    return (cost, None);
                }
                let over = links.iter().filter_map(|&([a, b], delay)| {
                    let other = if a == satellite { b } else { a };
                    let is_own = a == satellite || b == satellite;
                    let is_tight = costs[other as usize] + delay.max(1) == cost;
                    (is_own && is_tight).then_some(other)
                });
                (
                    cost,
                    Some(over.min().map_or(NextHop::Down, NextHop::Satellite)),
                )
            })
            .collect()
    }

    fn mesh_of(mesh: &mut Mesh, links: &[([u32; 2], u64)]) {
        let mut graph = Graph::default();
        let ends: Vec<[u32; 2]> = links.iter().map(|link| link.0).collect();
        graph.fill(SATELLITES, &ends, |[a, b]| {
            let own = [a.min(b), a.max(b)];
            links
                .iter()
                .find(|link| link.0 == own)
                .map_or(0, |link| link.1)
        });
        mesh.take(&graph, |delay| delay);
    }

    proptest! {
        #[test]
        fn a_kept_tree_is_that_of_bellman_and_ford_at_every_moment(moments in vec(any_moment(), 1..8)) {
            let (mut mesh, mut tree, mut search) = (Mesh::default(), Tree::default(), Search::default());
            for moment in &moments {
                mesh_of(&mut mesh, &moment.0);
                tree.follow(&mesh, &moment.1, &mut search);
                let found: Vec<_> = (0..SATELLITES as u32)
                    .map(|satellite| (tree.costs()[satellite as usize], tree.next(&mesh, satellite)))
                    .collect();
                prop_assert_eq!(found, plain(moment));
            }
        }

        #[test]
        fn delays_that_drift_give_the_trees_of_bellman_and_ford(
            first in any_moment(),
            drifts in vec(vec(0u64..3, 24), 1..12),
        ) {
            let (mut mesh, mut tree, mut search) = (Mesh::default(), Tree::default(), Search::default());
            let mut moment = first;
            for drift in drifts {
                for (link, more) in moment.0.iter_mut().zip(drift) {
                    link.1 = (link.1 + more) % 7;
                }
                mesh_of(&mut mesh, &moment.0);
                tree.follow(&mesh, &moment.1, &mut search);
                let found: Vec<_> = (0..SATELLITES as u32)
                    .map(|satellite| (tree.costs()[satellite as usize], tree.next(&mesh, satellite)))
                    .collect();
                prop_assert_eq!(found, plain(&moment));
            }
        }
    }
}
