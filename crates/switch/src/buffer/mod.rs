//! Buffer policies: which frames the buffer of an output port takes in.
//!
//! A policy decides once a frame, at its first cell. What happens to single cells is common to all
//! frame-aware policies and is the port's part (`docs/reference/policies`):
//!
//! * a cell that finds the buffer full is discarded, and with it the rest of its frame;
//! * of a frame under discard, the last cell is still taken in, if there is room, when the VC's
//!   last cell that went into the buffer was not a last cell: downstream waits for a frame
//!   boundary, and without it the next frame would be lost as well.
//!
//! Tail drop alone knows no frames: it discards the cells that find the buffer full, and no others.

mod epd;
mod fair_buffer_allocation;
mod selective_drop;
mod single_drop;

pub use epd::Epd;
pub use fair_buffer_allocation::FairBufferAllocation;
pub use selective_drop::SelectiveDrop;
pub use single_drop::SingleDrop;

use skycell_records::DiscardReason;
use skycell_spec::PolicySpec;

/// What a policy may look at when a frame begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferView {
    /// X: cells in the buffer, the one under transmission included, the arriving one not.
    pub queued: u32,
    /// Y_i or X_i: of those, cells of the arriving cell's VC.
    pub vc_queued: u32,
    /// N_a: VCs with at least one cell in the buffer.
    pub active_vcs: u32,
    /// K: the buffer's capacity; `u32::MAX` for an unlimited one.
    pub capacity: u32,
}

/// Decides, frame by frame, what the buffer of an output port takes in.
pub trait BufferPolicy {
    /// The first cell of a frame of the VC with spec id `vc` has arrived and is not yet queued.
    /// A reason discards the whole frame.
    fn on_frame(&mut self, vc: u32, view: &BufferView) -> Option<DiscardReason>;
}

/// A policy of any kind, built from its spec.
#[derive(Clone, Debug)]
pub enum Policy {
    /// See [`PolicySpec::TailDrop`].
    TailDrop,
    /// See [`PolicySpec::Ppd`].
    Ppd,
    /// See [`Epd`].
    Epd(Epd),
    /// See [`SelectiveDrop`].
    SelectiveDrop(SelectiveDrop),
    /// See [`FairBufferAllocation`].
    FairBufferAllocation(FairBufferAllocation),
    /// See [`SingleDrop`].
    SingleDrop(SingleDrop),
}

impl Policy {
    /// The policy that `spec` describes.
    pub fn new(spec: &PolicySpec) -> Self {
        match *spec {
            PolicySpec::TailDrop => Policy::TailDrop,
            PolicySpec::Ppd => Policy::Ppd,
            PolicySpec::Epd { threshold_cells } => Policy::Epd(Epd::new(threshold_cells)),
            PolicySpec::SelectiveDrop {
                threshold_cells,
                fairness_threshold,
            } => Policy::SelectiveDrop(SelectiveDrop::new(threshold_cells, fairness_threshold)),
            PolicySpec::FairBufferAllocation {
                threshold_cells,
                fairness_threshold,
            } => Policy::FairBufferAllocation(FairBufferAllocation::new(
                threshold_cells,
                fairness_threshold,
            )),
            PolicySpec::SingleDrop {
                ref thresholds_cells,
                rearm_below_cells,
            } => Policy::SingleDrop(SingleDrop::new(thresholds_cells.clone(), rearm_below_cells)),
        }
    }

    /// Whether the decision on a frame that finds `queued` cells depends on the VCs' occupancy; where
    /// it does not, `vc_queued` and `active_vcs` of the view may be anything.
    pub fn looks_at_vcs(&self, queued: u32) -> bool {
        match self {
            Policy::TailDrop | Policy::Ppd | Policy::Epd(_) => false,
            Policy::SelectiveDrop(policy) => queued > policy.threshold(),
            Policy::FairBufferAllocation(policy) => queued > policy.threshold(),
            Policy::SingleDrop(_) => true,
        }
    }

    /// Whether a cell lost to a full buffer takes the rest of its frame with it.
    pub fn is_frame_aware(&self) -> bool {
        !matches!(self, Policy::TailDrop)
    }
}

impl BufferPolicy for Policy {
    fn on_frame(&mut self, vc: u32, view: &BufferView) -> Option<DiscardReason> {
        match self {
            Policy::TailDrop | Policy::Ppd => None,
            Policy::Epd(policy) => policy.on_frame(vc, view),
            Policy::SelectiveDrop(policy) => policy.on_frame(vc, view),
            Policy::FairBufferAllocation(policy) => policy.on_frame(vc, view),
            Policy::SingleDrop(policy) => policy.on_frame(vc, view),
        }
    }
}
