//! Links whose delay changes while the run goes on: moving satellites, handovers, outages.

use crate::SpecError;
use crate::check::{range, structure};
use serde::{Deserialize, Serialize};

/// The delay of a link over time, in steps.
///
/// A cell enters the link when its last bit leaves the port, and takes the delay of the step in force at
/// that instant. Cells on one path keep their order: none arrives before the one ahead of it. A
/// change of path is a handover: cells under way arrive by the old path, whatever overtakes them on
/// the new one, and buffered cells go on by the new path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MotionSpec {
    /// When each step begins, picoseconds from the start of the run, ascending, the first at 0. The
    /// last one lasts to the end of the run.
    pub times_ps: Vec<u64>,
    /// Delay in each step, picoseconds; none while there is no path. Then the port begins no
    /// transmission; a cell that is under transmission when the path ends still takes it.
    pub delays_ps: Vec<Option<u64>>,
    /// Which path each step is; steps with equal numbers are one path only while they follow each
    /// other.
    pub paths: Vec<u32>,
    /// After a handover no transmission begins for this long, picoseconds.
    pub interruption_ps: u64,
    /// Whether the cells that are under way at a handover are lost (what the old satellite holds).
    pub handover_loses_cells: bool,
}

impl MotionSpec {
    /// Refuses what cannot be simulated; `delay_ps` is the link's own.
    pub(crate) fn validate(&self, delay_ps: u64, path: &str) -> Result<(), SpecError> {
        let at = |key: &str| format!("{path}.{key}");
        let steps = self.times_ps.len();
        if steps == 0 || self.delays_ps.len() != steps || self.paths.len() != steps {
            return Err(structure(
                path.to_string(),
                "needs as many times as delays and paths, and at least one",
            ));
        }
        let ascends = self.times_ps.windows(2).all(|pair| pair[0] < pair[1]);
        if self.times_ps[0] != 0 || !ascends {
            return Err(structure(at("times_ps"), "must ascend from 0"));
        }
        let delays = self.delays_ps.iter().flatten().copied();
        if delays
            .clone()
            .any(|delay| delay > crate::check::DELAY_MAX_PS)
        {
            return Err(range(at("delays_ps"), "a delay above it", "at most 1 day"));
        }
        if delays.min() != Some(delay_ps) {
            return Err(structure(
                path.to_string(),
                "needs a step with a delay, and delay_ps is the least of them",
            ));
        }
        if self.interruption_ps > crate::check::DELAY_MAX_PS {
            return Err(range(
                at("interruption_ps"),
                self.interruption_ps,
                "at most 1 day",
            ));
        }
        Ok(())
    }
}
