//! VCs whose path changes while the run goes on: the paths as they are written, and the routes that they are.

use crate::check::structure;
use crate::{LinkSpec, NetworkSpec, SpecError, VcSpec};
use serde::{Deserialize, Serialize};
use skycell_declare::Declare;
use skycell_sky::{Columns, NO_LINK};
use std::collections::{BTreeMap, BTreeSet};

/// The paths that a VC takes after its first one.
///
/// A cell is sent on by the node where it has arrived, over the link by which the newest path in
/// force leaves that node. Where the newest path does not come by, an older one does; if
/// `loses_cells`, the node has forgotten the VC and loses its cells, those that arrive and those that
/// it still holds when their turn comes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct ReroutingSpec {
    /// When each path comes into force, picoseconds from the start of the run, above 0, ascending.
    pub times_ps: Vec<u64>,
    /// Link ids of each path in order. All begin with the VC's first link and end at its end.
    pub paths: Vec<Vec<u32>>,
    /// True if nodes that are not on the current path lose the VC's cells.
    pub loses_cells: bool,
}

impl LinkSpec {
    /// Returns whether the link leads to `node` at any time.
    pub fn leads_to(&self, node: u32) -> bool {
        let leads_elsewhere = self.schedule.as_ref().map(|schedule| &schedule.to);
        self.to == node || leads_elsewhere.is_some_and(|to| to.contains(&node))
    }
}

impl LinkSpec {
    /// Where the link leads at `time`; where it led last, or will lead first, while it has no path.
    fn end_at(&self, time: u64) -> u32 {
        let Some(schedule) = self.schedule.as_ref().filter(|own| !own.to.is_empty()) else {
            return self.to;
        };
        let begun = schedule.times_ps.partition_point(|&since| since <= time);
        let has_path = |step: &usize| schedule.delays_ps[*step].is_some();
        let known = (0..begun).rev().find(has_path);
        let known = known.or_else(|| (begun..schedule.to.len()).find(has_path));
        schedule.to[known.unwrap_or(0)]
    }
}

impl VcSpec {
    /// All paths of the VC, the first one first.
    pub fn paths(&self) -> impl Iterator<Item = &[u32]> {
        let later = self.rerouting.iter().flat_map(|rerouting| &rerouting.paths);
        std::iter::once(self.path.as_slice()).chain(later.map(Vec::as_slice))
    }

    /// The paths by which nodes know the VC at `time`, the newest one last.
    fn known_paths(&self, time: u64) -> impl Iterator<Item = &[u32]> {
        let times = self.rerouting.iter().flat_map(|own| &own.times_ps);
        let later = times.filter(|&&since| since <= time).count();
        let forgets = self.rerouting.as_ref().is_some_and(|own| own.loses_cells);
        let oldest = if forgets { later } else { 0 };
        self.paths().take(later + 1).skip(oldest)
    }
}

impl ReroutingSpec {
    /// Refuses what cannot be simulated, but for the paths themselves.
    pub(crate) fn validate(&self, path: &str) -> Result<(), SpecError> {
        if self.times_ps.is_empty() || self.paths.len() != self.times_ps.len() {
            let problem = "needs as many times as paths, and at least one";
            return Err(structure(path.to_string(), problem));
        }
        let ascends = self.times_ps.windows(2).all(|pair| pair[0] < pair[1]);
        if self.times_ps[0] == 0 || !ascends {
            let problem = "must ascend from above 0";
            return Err(structure(format!("{path}.times_ps"), problem));
        }
        Ok(())
    }
}

impl NetworkSpec {
    /// The paths that change, as routes by label: a label for each VC that changes its path, in order of the VCs. Ports are
    /// the links of the spec, with a link of the columns to each node that they lead to at some time; these have no delay. A
    /// node sends a label on over the newest path in force that comes by there. None where no VC changes its path.
    pub fn rows_of_paths(&self) -> Option<Columns> {
        let vcs = (0..)
            .zip(&self.vcs)
            .filter(|(_, vc)| vc.rerouting.is_some());
        let vcs: Vec<(usize, &VcSpec)> = vcs.collect();
        let paths = || vcs.iter().flat_map(|(_, vc)| vc.paths());
        let ports: BTreeSet<u32> = paths().flatten().copied().collect();
        let link = |port: u32| &self.links[port as usize];
        let moves = ports
            .iter()
            .filter_map(|&port| link(port).schedule.as_ref());
        let moves = moves.filter(|own| !own.to.is_empty());
        let moves = moves.flat_map(|own| &own.times_ps);
        let changes = vcs.iter().filter_map(|(_, vc)| vc.rerouting.as_ref());
        let changes = changes.flat_map(|own| &own.times_ps);
        let times: BTreeSet<u64> = moves.chain(changes).chain([&0]).copied().collect();
        let ends = |&port: &u32| {
            let of = link(port);
            let ends = times.iter().map(move |&time| of.end_at(time));
            ends.map(move |end| (of.from, end, port))
        };
        let links: BTreeSet<(u32, u32, u32)> = ports.iter().flat_map(ends).collect();
        let moves = |link: &LinkSpec| link.schedule.as_ref().is_some_and(|own| !own.to.is_empty());
        let (nodes, labels) = (self.nodes.len(), vcs.len());
        let before = |node: u32| links.range(..(node, 0, 0)).count() as u32;
        let mut columns = Columns {
            epoch_ps: times.iter().copied().collect(),
            node_link: (0..=nodes as u32).map(before).collect(),
            link_to: links.iter().map(|own| own.1).collect(),
            link_course: vec![0; links.len()],
            link_extra_ps: vec![0; links.len()],
            link_port: links.iter().map(|own| own.2).collect(),
            port_kind: self.links.iter().map(|own| moves(own).into()).collect(),
            course_interval: vec![0, 1],
            interval_epoch: vec![0],
            interval_first_ps: vec![0],
            interval_diff: vec![0, times.len() as u32 - 1],
            diff_ps: vec![0; times.len() - 1],
            label_node: vcs.iter().map(|(vc, _)| self.vc_destination(*vc)).collect(),
            route_first: vec![NO_LINK; nodes * labels],
            ..Columns::default()
        };
        let indices: BTreeMap<(u32, u32), u32> = (links.iter().zip(0..))
            .map(|(&(_, end, port), index)| ((port, end), index))
            .collect();
        let mut changes = Vec::new();
        for ((_, vc), label) in vcs.iter().zip(0u16..) {
            let mut last = BTreeMap::new();
            for (&time, epoch) in times.iter().zip(0u32..) {
                let mut row = BTreeMap::new();
                for &port in vc.known_paths(time).flatten() {
                    let (from, end) = (link(port).from, link(port).end_at(time));
                    let index = indices[&(port, end)] - columns.node_link[from as usize];
                    row.insert(from, index as u16);
                }
                for &node in last.keys().chain(row.keys()).collect::<BTreeSet<&u32>>() {
                    let next = row.get(&node).copied().unwrap_or(NO_LINK);
                    if epoch == 0 {
                        columns.route_first[node as usize * labels + usize::from(label)] = next;
                    } else if last.get(&node) != Some(&next) {
                        changes.push((node, epoch, label, next));
                    }
                }
                last = row;
            }
        }
        changes.sort_unstable();
        let before = |node: u32| changes.partition_point(|change| change.0 < node) as u32;
        columns.node_change = (0..=nodes as u32).map(before).collect();
        columns.change_epoch = changes.iter().map(|change| change.1).collect();
        columns.change_label = changes.iter().map(|change| change.2).collect();
        columns.change_link = changes.iter().map(|change| change.3).collect();
        (labels > 0).then_some(columns)
    }

    /// Refuses paths of VC `i` that do not begin and end as its first one does.
    pub(crate) fn validate_ends(&self, i: usize, vc: &VcSpec) -> Result<(), SpecError> {
        let at = || format!("vcs[{i}].rerouting.paths");
        for path in vc.paths() {
            let last = path[path.len() - 1] as usize;
            if path[0] != vc.path[0] || self.links[last].to != self.vc_destination(i) {
                let problem = "must begin with the VC's first link and end at its end";
                return Err(structure(at(), problem));
            }
            for link in [path[0], path[path.len() - 1]] {
                if !self.links[link as usize]
                    .schedule
                    .as_ref()
                    .is_none_or(|m| m.to.is_empty())
                {
                    let problem = "the first and the last link of a VC lead to one node";
                    return Err(structure(format!("vcs[{i}].path"), problem));
                }
            }
        }
        Ok(())
    }
}
