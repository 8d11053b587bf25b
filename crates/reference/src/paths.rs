//! The paths of a VC through the network, and how nodes send its cells on.

use skycell_spec::{ReroutingSpec, VcSpec};
use skycell_units::{PortVc, SimTime};
use std::collections::BTreeMap;

/// The fate of a cell that has arrived at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It goes on over this hop.
    Hop(u16),
    /// It has reached the VC's end.
    End,
    /// The node has forgotten the VC.
    Lost,
}

/// The links that a VC's cells may take.
#[derive(Debug)]
pub struct VcPaths {
    /// For each link of its paths: the port, and the VC's index there. First the links of the first
    /// path in their order, hop 0 being the first link of all paths.
    hops: Vec<(u32, PortVc)>,
    /// The node at which each hop begins.
    nodes: Vec<u32>,
    paths: Option<Paths>,
}

/// The paths of a VC that is rerouted.
#[derive(Debug)]
struct Paths {
    /// When each comes into force.
    since: Vec<u64>,
    /// By path: the hop over which it leaves each node.
    leaving: Vec<BTreeMap<u32, u16>>,
    end: u32,
    loses_cells: bool,
}

impl VcPaths {
    /// The paths of `vc`, which ends at node `end`. `port_vc` lets it cross a port and returns its index
    /// there; `from` tells the node of a port.
    pub fn new(
        vc: &VcSpec,
        end: u32,
        mut port_vc: impl FnMut(u32) -> PortVc,
        from: impl Fn(u32) -> u32,
    ) -> Self {
        let mut hops = Vec::new();
        let mut nodes = Vec::new();
        let mut hop_of = BTreeMap::new();
        for &link in vc.paths().flatten() {
            hop_of.entry(link).or_insert_with(|| {
                hops.push((link, port_vc(link)));
                nodes.push(from(link));
                hops.len() as u16 - 1
            });
        }
        let paths = |rerouting: &ReroutingSpec| Paths {
            since: std::iter::once(0)
                .chain(rerouting.times_ps.iter().copied())
                .collect(),
            leaving: vc
                .paths()
                .map(|path| {
                    path.iter()
                        .map(|link| (from(*link), hop_of[link]))
                        .collect()
                })
                .collect(),
            end,
            loses_cells: rerouting.loses_cells,
        };
        VcPaths {
            paths: vc.rerouting.as_ref().map(paths),
            hops,
            nodes,
        }
    }

    /// Port of a hop, and the VC's index there.
    pub fn hop(&self, hop: u16) -> (u32, PortVc) {
        self.hops[usize::from(hop)]
    }

    /// All hops, each with the node at which it begins.
    pub fn hops(&self) -> impl Iterator<Item = (u16, u32)> {
        (0u16..).zip(self.nodes.iter().copied())
    }

    /// The hop over which the VC leaves `node` by the newest path that passes there, if one does.
    pub fn leaving(&self, now: SimTime, node: u32) -> Option<u16> {
        match &self.paths {
            None => self.hops().find(|hop| hop.1 == node).map(|hop| hop.0),
            Some(paths) => paths.leaving(now, node),
        }
    }

    /// Where a cell goes on that has come over `hop` to `node`.
    pub fn next(&self, now: SimTime, hop: u16, node: u32) -> Next {
        match &self.paths {
            None if usize::from(hop) + 1 < self.hops.len() => Next::Hop(hop + 1),
            None => Next::End,
            Some(paths) if paths.end == node => Next::End,
            Some(paths) => paths.leaving(now, node).map_or(Next::Lost, Next::Hop),
        }
    }

    /// Returns whether `node` has forgotten the VC, so that it loses the cells it holds.
    pub fn is_forgotten(&self, now: SimTime, node: u32) -> bool {
        let paths = self.paths.as_ref();
        paths.is_some_and(|paths| paths.leaving(now, node).is_none())
    }
}

impl Paths {
    fn leaving(&self, now: SimTime, node: u32) -> Option<u16> {
        let known = self.since.partition_point(|&since| since <= now.0);
        let oldest = if self.loses_cells { known - 1 } else { 0 };
        let newest_first = self.leaving[oldest..known].iter().rev();
        newest_first
            .filter_map(|path| path.get(&node).copied())
            .next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skycell_spec::ServiceClass;

    /// Over nodes 0 1 2 9, then 0 3 2 9, then 0 2 4 9; link 10 a + b leads from node a to node b, and
    /// link 1 from node 0 to wherever.
    fn vc_paths(loses_cells: bool) -> VcPaths {
        let vc = VcSpec {
            resequencer: None,
            by_label: None,
            name: "v".into(),
            path: vec![1, 12, 29],
            class: ServiceClass::Ubr,
            policing: Vec::new(),
            gfr: None,
            abr: None,
            rerouting: Some(ReroutingSpec {
                times_ps: vec![100, 200],
                paths: vec![vec![1, 32, 29], vec![1, 24, 49]],
                loses_cells,
            }),
        };
        VcPaths::new(&vc, 9, |port| PortVc(port + 1000), |link| link / 10)
    }

    /// The port over which a cell leaves a node at a time.
    fn port(vc_paths: &VcPaths, now: u64, node: u32) -> Option<u32> {
        match vc_paths.next(SimTime(now), 0, node) {
            Next::Hop(hop) => Some(vc_paths.hop(hop).0),
            Next::End => Some(0),
            Next::Lost => None,
        }
    }

    #[test]
    fn nodes_send_on_by_the_newest_path_that_comes_by() {
        let vc_paths = vc_paths(false);
        let at = |now, node| port(&vc_paths, now, node);
        assert_eq!([at(0, 1), at(99, 2)], [Some(12), Some(29)]);
        // Node 3 knows the VC from 100 on; 1 keeps to its old way, 2 changes at 200.
        assert_eq!(
            [at(99, 3), at(100, 3), at(100, 1)],
            [None, Some(32), Some(12)]
        );
        assert_eq!([at(199, 2), at(200, 2)], [Some(29), Some(24)]);
        assert_eq!(
            [at(200, 3), at(500, 1), at(500, 9)],
            [Some(32), Some(12), Some(0)]
        );
    }

    #[test]
    fn nodes_off_the_path_may_forget_the_vc() {
        let vc_paths = vc_paths(true);
        let at = |now, node| port(&vc_paths, now, node);
        assert_eq!(
            [at(99, 1), at(100, 1), at(100, 3)],
            [Some(12), None, Some(32)]
        );
        assert!(!vc_paths.is_forgotten(SimTime(199), 3));
        assert!(vc_paths.is_forgotten(SimTime(200), 3));
        assert!(!vc_paths.is_forgotten(SimTime(200), 0));
        assert_eq!(at(200, 9), Some(0));
    }

    #[test]
    fn a_port_that_several_paths_cross_is_crossed_once() {
        let mut port_vcs = Vec::new();
        let vc_paths = vc_paths(false);
        for hop in 0..vc_paths.hops.len() {
            port_vcs.push(vc_paths.hop(hop as u16));
        }
        let expected = [1, 12, 29, 32, 24, 49].map(|port| (port, PortVc(port + 1000)));
        assert_eq!(port_vcs, expected);
    }
}
