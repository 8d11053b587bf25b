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
