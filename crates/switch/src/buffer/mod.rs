//! Buffer policies: which frames the buffer of an output port takes in.
//!
//! A policy decides once a frame, at its first cell. What happens to single cells is common to all
//! policies and is the port's part (`docs/reference/policies`):
//!
//! * a cell that finds the buffer full is discarded, and with it the rest of its frame where the
//!   policy has partial discard;
//! * of a frame under discard, the last cell is still taken in, if there is room, when the VC's
//!   last cell that went into the buffer was not a last cell: downstream waits for a frame
//!   boundary, and without it the next frame would be lost as well. A policy may keep every last
//!   cell ([`Policy::keeps_last_cells`]).
//!
//! Tail drop has no partial discard, and discards at no other time.

mod dfba;
mod epd;
mod fair_buffer_allocation;
mod fred;
mod pme_ered;
mod priority_drop;
mod red;
mod selective_drop;
mod single_drop;
mod vc_priority_drop;
mod virtual_queueing;

pub use dfba::Dfba;
pub use epd::Epd;
pub use fair_buffer_allocation::FairBufferAllocation;
pub use fred::Fred;
pub use pme_ered::PmeEred;
pub use priority_drop::PriorityDrop;
pub use red::Red;
pub use selective_drop::SelectiveDrop;
pub use single_drop::SingleDrop;
pub use vc_priority_drop::VcPriorityDrop;
pub use virtual_queueing::VirtualQueueing;

use skycell_des::Stream;
use skycell_records::DiscardReason;
use skycell_spec::PolicySpec;

/// What a policy may look at when a frame begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferView {
    /// X: cells in the buffer, the one under transmission included, the arriving one not.
    pub queued: u32,
    /// Y_i or X_i: of those, cells of the arriving cell's VC.
    pub vc_queued: u32,
    /// N_a: VCs with at least one cell in the buffer.
    pub active_vcs: u32,
    /// W: sum of the policy's weights ([`Policy::weight`]) of those VCs.
    pub active_weight: u64,
    /// K: the buffer's capacity; `u32::MAX` for an unlimited one.
    pub capacity: u32,
    /// The time, picoseconds.
    pub now_ps: u64,
    /// Cells that have left the buffer since the run began.
    pub departed: u64,
    /// When the buffer's last cell left, picoseconds, if the buffer is empty and was not always so.
    pub idle_since_ps: Option<u64>,
    /// Whether the arriving frame is tagged: its first cell has CLP = 1.
    pub is_tagged: bool,
}

/// Decides, frame by frame, what the buffer of an output port takes in.
pub trait BufferPolicy {
    /// The first cell of a frame of the VC with spec id `vc` has arrived and is not yet queued.
    /// A reason discards the whole frame.
    fn on_frame(&mut self, vc: u32, view: &BufferView) -> Option<DiscardReason>;
}

/// A policy of any kind, built from its spec.
///
/// Whether partial discard belongs to a policy is its paper's matter: with it the rest of a frame
/// that has lost a cell no longer takes up the buffer and the link for nothing.
#[derive(Debug)]
pub struct Policy {
    kind: Kind,
    has_partial_discard: bool,
}

#[derive(Debug)]
enum Kind {
    /// Tail drop and PPD.
    TakeAll,
    Epd(Epd),
    SelectiveDrop(SelectiveDrop),
    FairBufferAllocation(FairBufferAllocation),
    SingleDrop(SingleDrop),
    Dfba(Box<Dfba>),
    PriorityDrop(PriorityDrop),
    VcPriorityDrop(VcPriorityDrop),
    Red(Box<Red>),
    Fred(Box<Fred>),
    VirtualQueueing(Box<VirtualQueueing>),
    PmeEred(Box<PmeEred>),
}

impl Policy {
    /// The policy that `spec` describes, at the port `port` of a run with `seed`; a policy that draws
    /// does so from the stream `port/<port>/<kind>`.
    pub fn new(spec: &PolicySpec, seed: u64, port: &str) -> Self {
        let stream = |kind: &str| Stream::new(seed, &format!("port/{port}/{kind}"));
        let (kind, has_partial_discard) = match *spec {
            PolicySpec::TailDrop => (Kind::TakeAll, false),
            PolicySpec::Ppd => (Kind::TakeAll, true),
            PolicySpec::Epd {
                threshold_cells,
                partial_discard,
            } => (Kind::Epd(Epd::new(threshold_cells)), partial_discard),
            PolicySpec::SelectiveDrop {
                threshold_cells,
                fairness_threshold,
                partial_discard,
            } => {
                let policy = SelectiveDrop::new(threshold_cells, fairness_threshold);
                (Kind::SelectiveDrop(policy), partial_discard)
            }
            PolicySpec::FairBufferAllocation {
                threshold_cells,
                fairness_threshold,
                partial_discard,
            } => {
                let policy = FairBufferAllocation::new(threshold_cells, fairness_threshold);
                (Kind::FairBufferAllocation(policy), partial_discard)
            }
            PolicySpec::SingleDrop {
                ref thresholds_cells,
                rearm_below_cells,
            } => {
                let policy = SingleDrop::new(thresholds_cells.clone(), rearm_below_cells);
                (Kind::SingleDrop(policy), true)
            }
            PolicySpec::Dfba { .. } => {
                let policy = Dfba::new(spec, stream("dfba"));
                (Kind::Dfba(Box::new(policy)), true)
            }
            PolicySpec::PriorityDrop {
                tagged_cells,
                threshold_cells,
            } => {
                let policy = PriorityDrop::new(tagged_cells, threshold_cells);
                (Kind::PriorityDrop(policy), true)
            }
            PolicySpec::VcPriorityDrop {
                tagged_cells,
                threshold_cells,
                ref vc_thresholds_cells,
            } => {
                let own = vc_thresholds_cells.clone();
                let policy = VcPriorityDrop::new(tagged_cells, threshold_cells, own);
                (Kind::VcPriorityDrop(policy), true)
            }
            PolicySpec::Red(ref red) => {
                let policy = Red::new(red, stream("red"));
                (Kind::Red(Box::new(policy)), true)
            }
            PolicySpec::Fred(ref fred) => {
                let policy = Fred::new(fred, stream("fred"));
                (Kind::Fred(Box::new(policy)), true)
            }
            PolicySpec::VirtualQueueing { threshold_cells } => {
                let policy = VirtualQueueing::fixed(threshold_cells);
                (Kind::VirtualQueueing(Box::new(policy)), true)
            }
            PolicySpec::DynamicEpd { threshold_cells } => {
                let policy = VirtualQueueing::dynamic_epd(threshold_cells);
                (Kind::VirtualQueueing(Box::new(policy)), true)
            }
            PolicySpec::McrScheduling(ref mcr) => {
                let policy = VirtualQueueing::mcr_scheduling(mcr);
                (Kind::VirtualQueueing(Box::new(policy)), true)
            }
            PolicySpec::PmeEred(ref pme) => {
                let policy = PmeEred::new(pme, stream("pme_ered"));
                (Kind::PmeEred(Box::new(policy)), true)
            }
        };
        Policy {
            kind,
            has_partial_discard,
        }
    }

    /// Whether the decision on a frame that finds `queued` cells depends on the VCs' occupancy; where
    /// it does not, `vc_queued` and `active_vcs` of the view may be anything.
    pub fn looks_at_vcs(&self, queued: u32) -> bool {
        match &self.kind {
            Kind::TakeAll
            | Kind::Epd(_)
            | Kind::PriorityDrop(_)
            | Kind::Red(_)
            | Kind::VirtualQueueing(_)
            | Kind::PmeEred(_) => false,
            Kind::SelectiveDrop(policy) => queued > policy.threshold(),
            Kind::FairBufferAllocation(policy) => queued > policy.threshold(),
            Kind::SingleDrop(_) | Kind::Fred(_) => true,
            Kind::VcPriorityDrop(policy) => queued >= policy.threshold(),
            Kind::Dfba(policy) => policy.looks_at_vcs(queued),
        }
    }

    /// Whether it discards no frame of itself, so that it need not be asked.
    pub fn takes_all(&self) -> bool {
        matches!(self.kind, Kind::TakeAll)
    }

    /// Whether it ever looks at the VCs' occupancy.
    pub fn counts_vcs(&self) -> bool {
        match &self.kind {
            Kind::SelectiveDrop(_)
            | Kind::FairBufferAllocation(_)
            | Kind::SingleDrop(_)
            | Kind::Fred(_)
            | Kind::VcPriorityDrop(_)
            | Kind::Dfba(_) => true,
            Kind::TakeAll
            | Kind::Epd(_)
            | Kind::PriorityDrop(_)
            | Kind::Red(_)
            | Kind::VirtualQueueing(_)
            | Kind::PmeEred(_) => false,
        }
    }

    /// `cells` cells of the VC with spec id `vc` were taken in; told before the next frame begins.
    #[inline]
    pub fn on_taken_in(&mut self, vc: u32, cells: u32) {
        match &mut self.kind {
            Kind::VirtualQueueing(policy) => policy.on_taken_in(vc, cells),
            Kind::PmeEred(policy) => policy.on_taken_in(vc, cells),
            _ => {}
        }
    }

    /// Whether it matters which VC's cell was taken in first, of those that [`Policy::on_taken_in`] tells of
    /// between two frames.
    pub fn minds_order(&self) -> bool {
        matches!(self.kind, Kind::VirtualQueueing(_))
    }

    /// What the VC with spec id `vc` adds to [`BufferView::active_weight`] while it is active.
    pub fn weight(&self, vc: u32) -> u64 {
        match &self.kind {
            Kind::Dfba(policy) => policy.weight(vc),
            _ => 0,
        }
    }

    /// Whether the last cell of a frame is taken in whenever there is room. A frame of one cell is
    /// then never put before the policy.
    pub fn keeps_last_cells(&self) -> bool {
        matches!(&self.kind, Kind::Dfba(policy) if policy.keeps_last_cells())
    }

    /// Whether a cell lost to a full buffer takes the rest of its frame with it.
    pub fn has_partial_discard(&self) -> bool {
        self.has_partial_discard
    }
}

impl BufferPolicy for Policy {
    fn on_frame(&mut self, vc: u32, view: &BufferView) -> Option<DiscardReason> {
        match &mut self.kind {
            Kind::TakeAll => None,
            Kind::Epd(policy) => policy.on_frame(vc, view),
            Kind::SelectiveDrop(policy) => policy.on_frame(vc, view),
            Kind::FairBufferAllocation(policy) => policy.on_frame(vc, view),
            Kind::SingleDrop(policy) => policy.on_frame(vc, view),
            Kind::Dfba(policy) => policy.on_frame(vc, view),
            Kind::PriorityDrop(policy) => policy.on_frame(vc, view),
            Kind::VcPriorityDrop(policy) => policy.on_frame(vc, view),
            Kind::Red(policy) => policy.on_frame(vc, view),
            Kind::Fred(policy) => policy.on_frame(vc, view),
            Kind::VirtualQueueing(policy) => policy.on_frame(vc, view),
            Kind::PmeEred(policy) => policy.on_frame(vc, view),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skycell_spec::{DfbaZ, FredSpec, McrSchedulingSpec, PmeEredSpec};

    #[test]
    fn every_policy_but_tail_drop_discards_the_rest_of_a_frame_or_is_told_whether() {
        // docs/reference/policies: the rest of a frame is useless once a cell of it is lost.
        let red = red::tests::spec();
        let mcr_millicells = vec![1_000];
        let specs = [
            PolicySpec::Ppd,
            PolicySpec::SingleDrop {
                thresholds_cells: vec![],
                rearm_below_cells: 0,
            },
            PolicySpec::Dfba {
                low_cells: 1,
                high_cells: 2,
                alpha: 0.5,
                mcr_millicells: mcr_millicells.clone(),
                z: DfbaZ::Complement,
                keeps_last_cells: false,
            },
            PolicySpec::PriorityDrop {
                tagged_cells: 1,
                threshold_cells: 2,
            },
            PolicySpec::VcPriorityDrop {
                tagged_cells: 1,
                threshold_cells: 2,
                vc_thresholds_cells: vec![],
            },
            PolicySpec::Red(red),
            PolicySpec::Fred(FredSpec {
                red,
                min_queue_cells: 1,
                frame_cells: 1,
            }),
            PolicySpec::VirtualQueueing { threshold_cells: 1 },
            PolicySpec::DynamicEpd { threshold_cells: 1 },
            PolicySpec::McrScheduling(McrSchedulingSpec {
                threshold_cells: 1,
                interval_ps: 1,
                mcr_millicells: mcr_millicells.clone(),
            }),
            PolicySpec::PmeEred(PmeEredSpec {
                red,
                interval_ps: 1,
                step: 1.0,
                marked_part: 0.0,
                mcr_millicells,
            }),
        ];
        for spec in specs {
            assert!(Policy::new(&spec, 1, "p").has_partial_discard(), "{spec:?}");
        }
        assert!(!Policy::new(&PolicySpec::TailDrop, 1, "p").has_partial_discard());
        for partial_discard in [false, true] {
            let epd = PolicySpec::Epd {
                threshold_cells: 1,
                partial_discard,
            };
            let has = Policy::new(&epd, 1, "p").has_partial_discard();
            assert_eq!(has, partial_discard);
        }
    }
}
