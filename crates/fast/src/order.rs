//! In which order multiplexing ports act for each other.

use crate::plan::{PortKind, Route};
use std::collections::{BTreeMap, BTreeSet, HashSet};

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
    let pairs = routes.iter().flat_map(|route| route.muxes.windows(2));
    let pairs: BTreeSet<(u32, u32)> = pairs.map(|pair| (pair[0].0, pair[1].0)).collect();
    let mut feeding: BTreeMap<u32, usize> = muxes.map(|(id, _)| (id, 0)).collect();
    for (_, to) in &pairs {
        *feeding.entry(*to).or_default() += 1;
    }
    let mut ready: BTreeSet<u32> = BTreeSet::new();
    ready.extend(
        feeding
            .iter()
            .filter(|(_, count)| **count == 0)
            .map(|(id, _)| *id),
    );
    let mut order = Vec::with_capacity(feeding.len());
    while !feeding.is_empty() {
        let in_ring = || {
            feeding
                .keys()
                .copied()
                .find(|&id| is_in_ring(id, &feeding, &pairs))
        };
        let next = ready.pop_first().or_else(in_ring);
        let next = next.expect("of what only others feed some stand in a ring");
        feeding.remove(&next);
        order.push(next);
        for (_, to) in fed_by(next, &pairs) {
            if let Some(count) = feeding.get_mut(to) {
                *count -= 1;
                if *count == 0 {
                    ready.insert(*to);
                }
            }
        }
    }
    Some(order)
}

/// The pairs in which `id` feeds another port.
fn fed_by(id: u32, pairs: &BTreeSet<(u32, u32)>) -> impl Iterator<Item = &(u32, u32)> {
    pairs.range((id, 0)..=(id, u32::MAX))
}

/// Whether a way leads from `id` back to it among the ports that are `left`.
fn is_in_ring(id: u32, left: &BTreeMap<u32, usize>, pairs: &BTreeSet<(u32, u32)>) -> bool {
    let (mut found, mut ahead) = (BTreeSet::new(), vec![id]);
    while let Some(from) = ahead.pop() {
        let fed = fed_by(from, pairs).map(|pair| pair.1);
        ahead.extend(fed.filter(|to| left.contains_key(to) && found.insert(*to)));
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
