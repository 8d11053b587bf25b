//! In which order multiplexing ports act for each other.

use crate::plan::{PortKind, Route};

/// All multiplexing ports, each after those from which VCs go on to it; none when they stand in a ring.
pub(crate) fn upstream_first(kinds: &[PortKind], routes: &[Route]) -> Option<Vec<u32>> {
    let muxes = (0u32..)
        .zip(kinds)
        .filter(|(_, kind)| **kind == PortKind::Mux);
    let mut left: Vec<u32> = muxes.map(|(id, _)| id).collect();
    let pairs = routes.iter().flat_map(|route| route.muxes.windows(2));
    let mut pairs: Vec<(u32, u32)> = pairs.map(|pair| (pair[0].0, pair[1].0)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let is_fed = |id: u32| pairs.iter().any(|&(_, to)| to == id);
        let (later, next): (Vec<u32>, Vec<u32>) = left.iter().partition(|&&id| is_fed(id));
        if next.is_empty() {
            return None;
        }
        pairs.retain(|(from, _)| !next.contains(from));
        order.extend(next);
        left = later;
    }
    Some(order)
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
    fn ports_in_a_ring_have_no_order() {
        assert_eq!(order(&[&[0, 1], &[1, 2], &[2, 0]]), None);
        assert_eq!(order(&[&[3, 3]]), None);
    }
}
