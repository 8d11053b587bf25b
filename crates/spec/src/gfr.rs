//! The promise of the Guaranteed Frame Rate service to a VC, and the tagging of its frames.

use crate::check::{range, structure};
use crate::{SpecError, VcSpec};
use serde::{Deserialize, Serialize};
use skycell_declare::Declare;

/// GFR contract of a VC, rates as intervals between cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct GfrSpec {
    /// T = 1 / MCR, picoseconds, above zero, at most 1 day.
    pub mcr_interval_ps: u64,
    /// 1 / PCR, picoseconds, above zero, at most 1 / MCR.
    pub pcr_interval_ps: u64,
    /// f of F-GCRA(T, f), picoseconds, at most 1 day.
    pub burst_tolerance_ps: u64,
    /// MFS, cells, above zero.
    pub mfs_cells: u32,
    /// Who sets CLP = 1 in frames beyond the guarantee.
    pub tagging: Tagging,
    /// Action on frames with CLP = 0 beyond the guarantee where the VC enters its first switch.
    pub excess: Excess,
    /// Action there on frames that break the rules of the contract.
    pub nonconforming: Nonconforming,
    /// Length of the windows over which the guarantee is looked at, picoseconds, a multiple of the
    /// step.
    pub window_ps: u64,
    /// From the start of one window to the next, picoseconds, above zero.
    pub window_step_ps: u64,
}

/// Who tags the frames of a GFR VC that are not eligible for its guarantee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum Tagging {
    /// Nobody: GFR.1 with all frames sent as CLP = 0.
    None,
    /// The network, where the VC enters its first switch: GFR.2.
    Network,
    /// The end system's adapter, before it sends a frame.
    Adapter,
}

/// The network's action, at the VC's first switch, on a frame with CLP = 0 that F-GCRA does not
/// find eligible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum Excess {
    /// The frame passes, tagged if the network tags.
    Pass,
    /// Discards it, whole.
    Discard,
}

/// The network's action, at the VC's first switch, on a frame longer than MFS, and on a frame whose
/// cells differ in their CLP bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum Nonconforming {
    /// Counts it.
    Count,
    /// Discards the one whole, and the other from the first cell with another CLP bit on, but for its
    /// last cell.
    Discard,
}

/// Longest interval and tolerance: 1 day, picoseconds.
const LONGEST_PS: u64 = 86_400 * 1_000_000_000_000;

/// Most steps of windows in a run.
const MOST_STEPS: u64 = 10_000_000;

/// Refuses a contract that cannot be held to.
pub(crate) fn validate_gfr(i: usize, vc: &VcSpec, duration_ps: u64) -> Result<(), SpecError> {
    let Some(gfr) = &vc.gfr else {
        return Ok(());
    };
    let at = |key: &str| format!("vcs[{i}].gfr.{key}");
    if vc.path.len() == 1 {
        let problem = "frames are held against a contract at the first switch; the VC crosses none";
        return Err(structure(format!("vcs[{i}].gfr"), problem));
    }
    let interval = |key: &str, value: u64, most: u64, allowed: &str| {
        if value == 0 || value > most {
            Err(range(at(key), value, allowed))
        } else {
            Ok(())
        }
    };
    let (mcr, pcr) = (gfr.mcr_interval_ps, gfr.pcr_interval_ps);
    interval("mcr_interval_ps", mcr, LONGEST_PS, "above 0, at most 1 day")?;
    let below_mcr = format!("above 0, at most mcr_interval_ps, {mcr}");
    interval("pcr_interval_ps", pcr, mcr, &below_mcr)?;
    if gfr.burst_tolerance_ps > LONGEST_PS {
        let path = at("burst_tolerance_ps");
        return Err(range(path, gfr.burst_tolerance_ps, "at most 1 day"));
    }
    if gfr.tagging == Tagging::Network && gfr.excess == Excess::Discard {
        let problem = "the network tags frames beyond the guarantee or discards them, not both";
        return Err(structure(at("excess"), problem));
    }
    let mfs = gfr.mfs_cells;
    // I.363.5: an SDU of 65 535 octets and its trailer fill 1 366 cells.
    interval("mfs_cells", u64::from(mfs), 1_366, "1 to 1366")?;
    let (step, window) = (gfr.window_step_ps, gfr.window_ps);
    if step == 0 || duration_ps / step > MOST_STEPS {
        let allowed = format!("above 0, at most {MOST_STEPS} steps in a run");
        return Err(range(at("window_step_ps"), step, &allowed));
    }
    if window == 0 || !window.is_multiple_of(step) {
        let allowed = format!("a multiple of window_step_ps, {step}");
        return Err(range(at("window_ps"), window, &allowed));
    }
    Ok(())
}
