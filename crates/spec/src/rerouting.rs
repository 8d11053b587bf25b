//! VCs whose path changes while the run goes on.

use crate::check::structure;
use crate::{LinkSpec, NetworkSpec, SpecError, VcSpec};
use serde::{Deserialize, Serialize};
use skycell_declare::Declare;

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

impl VcSpec {
    /// All paths of the VC, the first one first.
    pub fn paths(&self) -> impl Iterator<Item = &[u32]> {
        let later = self.rerouting.iter().flat_map(|rerouting| &rerouting.paths);
        std::iter::once(self.path.as_slice()).chain(later.map(Vec::as_slice))
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
