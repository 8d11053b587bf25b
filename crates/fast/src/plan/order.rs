//! In which order ports at which units wait act for each other.

use std::collections::{BTreeMap, BTreeSet};

/// The ports, each after those from which units go on to it, but for one or more of each ring; `pairs` tell which go on
/// to which.
pub(crate) fn upstream_first(
    ports: impl Iterator<Item = u32>,
    pairs: impl Iterator<Item = (u32, u32)>,
) -> Vec<u32> {
    let pairs: BTreeSet<(u32, u32)> = pairs.collect();
    let mut feeding: BTreeMap<u32, usize> = ports.map(|id| (id, 0)).collect();
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
    order
}

/// The pairs in which `id` feeds another port.
fn fed_by(id: u32, pairs: &BTreeSet<(u32, u32)>) -> impl Iterator<Item = &(u32, u32)> {
    pairs.range((id, 0)..=(id, u32::MAX))
}

/// Returns whether a path leads from `id` back to it among the ports that are `left`.
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

    /// VCs that cross the given ports, among five.
    fn order(routes: &[&[u32]]) -> Vec<u32> {
        let pairs = routes.iter().flat_map(|route| route.windows(2));
        upstream_first(0..5, pairs.map(|pair| (pair[0], pair[1])))
    }

    #[test]
    fn ports_come_after_those_that_feed_them() {
        assert_eq!(order(&[]), [0, 1, 2, 3, 4]);
        assert_eq!(order(&[&[4, 2, 1], &[3, 1], &[0]]), [0, 3, 4, 2, 1]);
    }

    #[test]
    fn a_ring_begins_somewhere_and_what_it_feeds_comes_later() {
        let ring: &[&[u32]] = &[&[2, 3], &[3, 1], &[1, 2], &[3, 0], &[4, 2]];
        assert_eq!(order(ring), [4, 1, 2, 3, 0]);
    }
}
