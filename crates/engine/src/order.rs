//! In which order multiplexing ports act for each other.

use crate::plan::{PortKind, Route};
use std::collections::HashSet;

/// All multiplexing ports, each after those from which VCs go on to it, but for one or more of each ring; none when a
/// VC comes back to a port.
pub(crate) fn upstream_first(kinds: &[PortKind], routes: &[Route]) -> Option<Vec<u32>> {
    let muxes = (0u32..)
        .zip(kinds)
        .filter(|(_, kind)| **kind == PortKind::Mux);
    let comes_back = |route: &Route| {
        let ports: HashSet<u32> = route.muxes.iter().map(|mux| mux.0).collect();
        ports.len() < route.muxes.len()
    };
    if routes.iter().any(comes_back) {
        return None;
    }
    let mut left: Vec<u32> = muxes.map(|(id, _)| id).collect();
    let pairs = routes.iter().flat_map(|route| route.muxes.windows(2));
    let mut pairs: Vec<(u32, u32)> = pairs.map(|pair| (pair[0].0, pair[1].0)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let is_fed = |id: u32| pairs.iter().any(|&(_, to)| to == id);
        let (mut later, mut next): (Vec<u32>, Vec<u32>) = left.iter().partition(|&&id| is_fed(id));
        if next.is_empty() {
            let in_ring = later.iter().position(|&id| is_in_ring(id, &pairs));
            next.push(later.remove(in_ring.expect("what only rings feed is left")));
        }
        pairs.retain(|(from, _)| !next.contains(from));
        order.extend(next);
        left = later;
    }
    Some(order)
}

/// Whether a way leads from `id` back to it, over `pairs` of ports of which one feeds the other.
fn is_in_ring(id: u32, pairs: &[(u32, u32)]) -> bool {
    let (mut found, mut left) = (HashSet::new(), vec![id]);
    while let Some(from) = left.pop() {
        let fed = pairs.iter().filter(|pair| pair.0 == from);
        left.extend(fed.map(|pair| pair.1).filter(|&to| found.insert(to)));
    }
    found.contains(&id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Stretch;

    /// VCs that cross the given multiplexing ports, among five.
    fn order(ways: &[&[u32]]) -> Option<Vec<u32>> {
        let mux = |&port: &u32| (port, Stretch::default());
        let route = |way: &&[u32]| Route {
            source: 0,
            first: Stretch::default(),
            muxes: way.iter().map(mux).collect(),
        };
        let routes: Vec<Route> = ways.iter().map(route).collect();
        upstream_first(&[PortKind::Mux; 5], &routes)
    }

    #[test]
    fn ports_come_after_those_that_feed_them() {
        assert_eq!(order(&[]), Some(vec![0, 1, 2, 3, 4]));
        let rows: &[&[u32]] = &[&[4, 2, 1], &[3, 1], &[0]];
        assert_eq!(order(rows), Some(vec![0, 3, 4, 2, 1]));
    }

    #[test]
    fn a_ring_begins_somewhere_and_what_it_feeds_comes_later() {
        let ring: &[&[u32]] = &[&[2, 3], &[3, 1], &[1, 2], &[3, 0], &[4, 2]];
        assert_eq!(order(ring), Some(vec![4, 1, 2, 3, 0]));
        assert_eq!(order(&[&[3, 2, 3]]), None);
    }
}
