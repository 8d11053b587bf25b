//! Parameters of the buffer policies that share some of them.

use serde::{Deserialize, Serialize};

/// Random Early Detection, lengths in cells.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedSpec {
    /// min_th: average queue below which nothing is discarded, cells.
    pub min_cells: u32,
    /// max_th: average queue from which every frame is discarded, cells, above min_th.
    pub max_cells: u32,
    /// max_p: probability of discard just below max_th, above 0, at most 1.
    pub max_p: f64,
    /// w_q: weight of a new length in the average, above 0, at most 1.
    pub weight: f64,
    /// s: time that a typical frame takes on the link, picoseconds, above 0.
    pub frame_ps: u64,
}

/// Flow Random Early Drop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FredSpec {
    /// What it shares with RED.
    pub red: RedSpec,
    /// minq: what a VC may have in the buffer without being drawn for, cells.
    pub min_queue_cells: u32,
    /// A typical frame, cells, above 0.
    pub frame_cells: u32,
}

/// Virtual Queueing with MCR scheduling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McrSchedulingSpec {
    /// Virtual queue above which a VC's frames are discarded, cells.
    pub threshold_cells: u32,
    /// T: time after which MCRs are served, picoseconds, above 0.
    pub interval_ps: u64,
    /// MCR by VC id, thousandths of a cell a second; a VC beyond the list has none.
    pub mcr_millicells: Vec<u64>,
}

/// Packet Marking Engine and Enhanced RED.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PmeEredSpec {
    /// RED for frames that are not marked.
    pub red: RedSpec,
    /// Time over which rates are measured, picoseconds, above 0.
    pub interval_ps: u64,
    /// Largest change of a marking probability in an interval, above 0, at most 1.
    pub step: f64,
    /// Part of RED's probability with which marked frames are discarded, 0 to 1.
    pub marked_part: f64,
    /// Target rate by VC id, thousandths of a cell a second; a VC beyond the list has none.
    pub mcr_millicells: Vec<u64>,
}
