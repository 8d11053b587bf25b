//! Ways through the satellites: the shortest, and the greedy one of the JSAC paper.

use crate::graph::Graph;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Way to a satellite that comes up from the ground: before every satellite.
const GROUND: u32 = u32::MAX;
const UNREACHED: u64 = u64::MAX;

/// Where a way may begin or end: a satellite, and the delay of the link to the ground in ps.
pub type Gateway = (u32, u64);

/// Shortest paths, over and over, in memory of their own.
#[derive(Default)]
pub struct Shortest {
    delays_ps: Vec<u64>,
    before: Vec<u32>,
    touched: Vec<u32>,
    /// Lower bounds of the remaining delay, for satellites that are reached.
    bounds_ps: Vec<u64>,
    /// Delay down to the ground at the destination, by satellite.
    down_ps: Vec<u64>,
    heap: BinaryHeap<Reverse<(u64, u64, u32)>>,
}

impl Shortest {
    /// The satellites of the path of least delay, from an uplink to a downlink.
    ///
    /// `at_least_ps(s)` is no more than the delay from `s` to the ground at the destination; zero is
    /// always right, the straight line makes the search short. On equal delays the way is, seen from
    /// the destination, through the satellite of the smallest number, and from the ground before
    /// through any satellite. None where no uplink leads to a downlink.
    pub fn path(
        &mut self,
        graph: &Graph,
        uplinks: &[Gateway],
        downlinks: &[Gateway],
        at_least_ps: impl Fn(u32) -> u64,
    ) -> Option<Vec<u32>> {
        self.clear(graph.satellites());
        for &(satellite, delay_ps) in uplinks {
            self.reach(satellite, delay_ps, GROUND, &at_least_ps);
        }
        for &(satellite, delay_ps) in downlinks {
            self.down_ps[satellite as usize] = delay_ps;
        }
        let best = self.search(graph, &at_least_ps);
        for &(satellite, _) in downlinks {
            self.down_ps[satellite as usize] = UNREACHED;
        }
        best.map(|(_, last)| self.route_to(last))
    }

    /// Delay and last satellite of the best path.
    fn search(&mut self, graph: &Graph, at_least_ps: &impl Fn(u32) -> u64) -> Option<(u64, u32)> {
        let mut best: Option<(u64, u32)> = None;
        while let Some(Reverse((bound_ps, delay_ps, satellite))) = self.heap.pop() {
            // Every satellite on a path as good as the best has a smaller bound than its delay.
            if best.is_some_and(|(best_ps, _)| bound_ps > best_ps) {
                break;
            }
            if delay_ps > self.delays_ps[satellite as usize] {
                continue; // reached on a better way since
            }
            let down_ps = self.down_ps[satellite as usize];
            if down_ps != UNREACHED {
                let whole = (delay_ps + down_ps, satellite);
                best = Some(best.map_or(whole, |known| known.min(whole)));
            }
            for (neighbour, link_ps) in graph.row(satellite) {
                self.reach(neighbour, delay_ps + link_ps, satellite, at_least_ps);
            }
        }
        best
    }

    fn clear(&mut self, satellites: usize) {
        if self.delays_ps.len() != satellites {
            self.delays_ps = vec![UNREACHED; satellites];
            self.before = vec![GROUND; satellites];
            self.bounds_ps = vec![0; satellites];
            self.down_ps = vec![UNREACHED; satellites];
            self.touched.clear();
        }
        for satellite in self.touched.drain(..) {
            self.delays_ps[satellite as usize] = UNREACHED;
        }
        self.heap.clear();
    }

    fn reach(&mut self, to: u32, delay_ps: u64, before: u32, at_least_ps: impl Fn(u32) -> u64) {
        let known_ps = self.delays_ps[to as usize];
        if delay_ps < known_ps {
            if known_ps == UNREACHED {
                self.touched.push(to);
            }
            self.delays_ps[to as usize] = delay_ps;
            self.before[to as usize] = before;
            // A satellite that is reached again has told its bound.
            if known_ps == UNREACHED {
                self.bounds_ps[to as usize] = at_least_ps(to);
            }
            let bound_ps = delay_ps + self.bounds_ps[to as usize];
            self.heap.push(Reverse((bound_ps, delay_ps, to)));
        } else if delay_ps == known_ps && self.before[to as usize] != GROUND {
            let known = &mut self.before[to as usize];
            *known = before.min(*known);
        }
    }

    fn route_to(&self, last: u32) -> Vec<u32> {
        let mut route = vec![last];
        let mut satellite = last;
        while self.before[satellite as usize] != GROUND {
            satellite = self.before[satellite as usize];
            route.push(satellite);
        }
        route.reverse();
        route
    }
}

/// The satellites from `first` to `last` when each hands on to the linked satellite nearest to the
/// last, and no satellite comes twice; none where that leads into a dead end.
///
/// `to_last_ps(s)` is the delay of the straight line from `s` to the last satellite; on ties the
/// smaller number is taken.
///
/// Source: NASA/CR-1999-209158, part III.A, section 5.2.2.
pub fn greedy(
    graph: &Graph,
    first: u32,
    last: u32,
    to_last_ps: impl Fn(u32) -> u64,
) -> Option<Vec<u32>> {
    let mut route = vec![first];
    let mut current = first;
    while current != last {
        current = graph
            .row(current)
            .map(|(neighbour, _)| neighbour)
            .filter(|neighbour| !route.contains(neighbour))
            .min_by_key(|&neighbour| (to_last_ps(neighbour), neighbour))?;
        route.push(current);
    }
    Some(route)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn graph(satellites: usize, links: &[(u32, u32, u64)]) -> Graph {
        let ends: Vec<[u32; 2]> = links.iter().map(|&(a, b, _)| [a, b]).collect();
        let mut graph = Graph::default();
        graph.fill(satellites, &ends, |[a, b]| {
            let is_it = |link: &&(u32, u32, u64)| [link.0, link.1] == [a.min(b), a.max(b)];
            links.iter().find(is_it).unwrap().2
        });
        graph
    }

    #[test]
    fn the_shorter_of_two_ways_is_taken() {
        let graph = graph(4, &[(0, 1, 5), (1, 3, 5), (0, 2, 4), (2, 3, 5)]);
        let route = Shortest::default().path(&graph, &[(0, 1)], &[(3, 1)], |_| 0);
        assert_eq!(route, Some(vec![0, 2, 3]));
    }

    #[test]
    fn of_equal_ways_that_through_the_smaller_number_is_taken() {
        let graph = graph(4, &[(0, 1, 5), (1, 3, 5), (0, 2, 5), (2, 3, 5)]);
        let route = Shortest::default().path(&graph, &[(0, 1)], &[(3, 1)], |_| 0);
        assert_eq!(route, Some(vec![0, 1, 3]));
    }

    #[test]
    fn the_ground_comes_before_a_way_that_is_as_long() {
        let graph = graph(2, &[(0, 1, 5)]);
        let route = Shortest::default().path(&graph, &[(0, 2), (1, 7)], &[(1, 1)], |_| 0);
        assert_eq!(route, Some(vec![1]));
    }

    #[test]
    fn there_is_no_way_between_parts_that_are_not_linked() {
        let graph = graph(4, &[(0, 1, 5), (2, 3, 5)]);
        let mut shortest = Shortest::default();
        assert_eq!(shortest.path(&graph, &[(0, 1)], &[(3, 1)], |_| 0), None);
        assert_eq!(shortest.path(&graph, &[], &[(3, 1)], |_| 0), None);
    }

    #[test]
    fn the_greedy_way_goes_toward_the_end_even_when_that_is_longer() {
        // 1 is nearer to the end as the crow flies, and its link onward is long.
        let graph = graph(4, &[(0, 1, 5), (1, 3, 50), (0, 2, 5), (2, 3, 5)]);
        let to_last = |s: u32| [10, 4, 5, 0][s as usize];
        assert_eq!(greedy(&graph, 0, 3, to_last), Some(vec![0, 1, 3]));
    }

    #[test]
    fn the_greedy_way_does_not_turn_back_and_may_end_nowhere() {
        let graph = graph(4, &[(0, 1, 5), (0, 2, 5), (2, 3, 5)]);
        let to_last = |s: u32| [10, 4, 12, 0][s as usize];
        assert_eq!(greedy(&graph, 0, 3, to_last), None);
    }

    proptest! {
        #[test]
        fn the_shortest_way_is_that_of_bellman_and_ford(
            delays in prop::collection::vec(prop::option::weighted(0.4, 1u64..20), 28),
            ends in (0u32..8, 0u32..8),
        ) {
            let pairs = (0..8u32).flat_map(|a| (a + 1..8).map(move |b| (a, b)));
            let links: Vec<_> = pairs
                .zip(&delays)
                .filter_map(|((a, b), delay)| delay.map(|delay| (a, b, delay)))
                .collect();
            let mut known = [u64::MAX; 8];
            known[ends.0 as usize] = 0;
            for _ in 0..8 {
                for &(a, b, delay) in &links {
                    for (from, to) in [(a as usize, b as usize), (b as usize, a as usize)] {
                        known[to] = known[to].min(known[from].saturating_add(delay));
                    }
                }
            }
            let graph = graph(8, &links);
            let route = Shortest::default().path(&graph, &[(ends.0, 0)], &[(ends.1, 0)], |_| 0);
            let delay = route.map(|route| {
                route.windows(2).map(|hop| graph.delay_ps(hop[0], hop[1]).unwrap()).sum::<u64>()
            });
            prop_assert_eq!(delay.unwrap_or(u64::MAX), known[ends.1 as usize]);
        }
    }
}
