//! Buffer policies: which frames the buffer of an output port takes in, and which packets leave it.
//!
//! A policy decides once a frame, at its first cell, and where it asks for that once more as a packet is
//! about to be sent ([`Needs::packets`]). What happens to single cells is common to all
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
//!
//! A policy is its file, which declares its parameters and carries it out, and its line in the list of
//! kinds below.

#[macro_use]
mod kinds;

mod codel;
mod dfba;
mod drop_precedence;
mod dual_pi2;
mod epd;
mod fair_buffer_allocation;
mod fq_codel;
mod fred;
mod head_drop;
mod linux_dual_pi2;
mod pie;
mod pme_ered;
mod ppd;
mod priority_drop;
mod red;
mod red_ecn;
mod selective_drop;
mod single_drop;
mod static_threshold;
mod tail_drop;
mod vc_priority_drop;
mod virtual_queueing;

pub use codel::CodelSpec;
pub use dfba::{DfbaDropFunction, DfbaSpec, DfbaZ};
pub use drop_precedence::DropPrecedenceSpec;
pub use dual_pi2::DualPi2Spec;
pub use epd::EpdSpec;
pub use fair_buffer_allocation::FairBufferAllocationSpec;
pub use fq_codel::FqCodelSpec;
pub use fred::FredSpec;
pub use head_drop::HeadDropSpec;
pub use linux_dual_pi2::LinuxDualPi2Spec;
pub use pie::PieSpec;
pub use pme_ered::PmeEredSpec;
pub use ppd::PpdSpec;
pub use priority_drop::PriorityDropSpec;
pub use red::RedPart;
pub use red_ecn::RedEcnSpec;
pub use selective_drop::SelectiveDropSpec;
pub use single_drop::SingleDropSpec;
pub use static_threshold::StaticThresholdSpec;
pub use tail_drop::TailDropSpec;
pub use vc_priority_drop::VcPriorityDropSpec;
pub use virtual_queueing::{DynamicEpdSpec, McrSchedulingSpec, VirtualQueueingSpec};

use crate::scheduler::QueueOrder;
use crate::{Decision, DiscardReason};
use serde::{Deserialize, Serialize};
use skycell_declare::{Context, Declare, Refusal, Rule};
use skycell_des::Stream;
use skycell_units::Ecn;

policies! {
    TailDrop(TailDropSpec),
    Ppd(PpdSpec),
    Epd(EpdSpec),
    SelectiveDrop(SelectiveDropSpec),
    FairBufferAllocation(FairBufferAllocationSpec),
    SingleDrop(SingleDropSpec),
    Dfba(DfbaSpec),
    PriorityDrop(PriorityDropSpec),
    VcPriorityDrop(VcPriorityDropSpec),
    Red(RedPart),
    Fred(FredSpec),
    VirtualQueueing(VirtualQueueingSpec),
    DynamicEpd(DynamicEpdSpec),
    McrScheduling(McrSchedulingSpec),
    PmeEred(PmeEredSpec),
    StaticThreshold(StaticThresholdSpec),
    DropPrecedence(DropPrecedenceSpec),
    Codel(CodelSpec),
    HeadDrop(HeadDropSpec),
    RedEcn(RedEcnSpec),
    Pie(PieSpec),
    FqCodel(FqCodelSpec),
    DualPi2(DualPi2Spec),
    LinuxDualPi2(LinuxDualPi2Spec),
}

/// The view of a policy when a frame begins, or a packet is about to be sent: that packet is not in
/// the buffer then.
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
    /// True if the arriving frame is tagged: its first cell has CLP = 1.
    pub clp: bool,
    /// Octets of the packets in the buffer; 0 where it holds cells.
    pub octets: u64,
    /// Of those octets, what is in the packet's own queue where the buffer has several.
    pub queue_octets: u64,
    /// Packets in the packet's own queue, likewise.
    pub queue_packets: u32,
    /// Octets of the packet that the decision is on; 0 of a frame in cells.
    pub packet_octets: u32,
    /// Its ECN field.
    pub ecn: Ecn,
    /// When a packet that is about to be sent came, picoseconds.
    pub came_ps: u64,
}

impl BufferView {
    /// The signal that the queue grows, to the sender of the packet: a mark if it knows ECN, else a discard (RFC
    /// 3168, section 5).
    pub(crate) fn signal(&self, reason: DiscardReason) -> Decision {
        match self.ecn.is_capable() {
            true => Decision::Mark,
            false => Decision::Discard(reason),
        }
    }
}

/// The declared parameters of a policy, from which it is built.
pub trait PolicyRule: Rule {
    /// The policy with its state; large ones in a box.
    type Policy: BufferPolicy;

    /// True if it accepts every frame, so that it need not be asked.
    const TAKES_ALL: bool = false;

    /// The policy as the run begins; one that draws does so from a stream of `draws`.
    fn policy(&self, draws: &Draws) -> Self::Policy;

    /// Returns whether a cell lost to a full buffer takes the rest of its frame with it. The
    /// policy's paper decides this: then the rest of a frame no longer takes up the buffer and the
    /// link for nothing.
    fn has_partial_discard(&self) -> bool {
        true
    }

    /// Returns whether it may discard a frame that finds the buffer empty.
    fn discards_when_empty(&self) -> bool {
        false
    }

    /// Returns whether a packet that finds the buffer full gets the place of the packets that have
    /// waited longest. Packet links only.
    fn pushes_out(&self) -> bool {
        false
    }

    /// The order of packets in queues within the buffer, to which [`BufferPolicy::queue_of`] assigns them; none for one
    /// queue, or those that a scheduler orders.
    fn order(&self) -> Option<QueueOrder> {
        None
    }
}

/// Decides, frame by frame, what the buffer of an output port takes in, and packet by packet what leaves it.
pub trait BufferPolicy {
    /// Inputs that it needs.
    const NEEDS: Needs = Needs::NOTHING;

    /// The first cell of a frame of the VC with spec id `vc` has arrived and is not yet queued.
    fn on_enqueue(&mut self, vc: u32, view: &BufferView) -> Decision;

    /// A packet of the VC with spec id `vc` is about to be sent. If it is discarded, the next one is asked
    /// about at once.
    fn on_dequeue(&mut self, _vc: u32, _view: &BufferView) -> Decision {
        Decision::Accept
    }

    /// Returns whether the decision on a frame that finds `queued` cells depends on the VCs'
    /// occupancy; if not, `vc_queued` and `active_vcs` of the view may be anything.
    fn looks_at_vcs(&self, _queued: u32) -> bool {
        Self::NEEDS.vcs
    }

    /// Which queue within the buffer a packet of a flow joins, where the policy orders them
    /// ([`PolicyRule::order`]).
    fn queue_of(&self, flow: u32, _ecn: Ecn) -> u32 {
        flow
    }

    /// `cells` cells of the VC with spec id `vc` were taken in; told before the next frame begins.
    fn on_accepted(&mut self, _vc: u32, _cells: u32) {}

    /// Returns the amount that the VC with spec id `vc` adds to [`BufferView::active_weight`] while
    /// it is active.
    fn weight(&self, _vc: u32) -> u64 {
        0
    }

    /// Returns whether the last cell of a frame is accepted whenever there is room. A frame of one
    /// cell is then never shown to the policy.
    fn keeps_last_cells(&self) -> bool {
        false
    }
}

/// The inputs that a policy needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// True if it needs the occupancy of each VC.
    pub vcs: bool,
    /// Which VC's cell was taken in first, of those that [`BufferPolicy::on_accepted`] tells of between two
    /// frames.
    pub order: bool,
    /// Packets one by one, with their octets and ECN fields. Links of packets only.
    pub packets: bool,
    /// What it has to do with packets that are about to be sent.
    pub departures: Departures,
}

/// What a policy has to do with packets that are about to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departures {
    /// Nothing.
    Unseen,
    /// It observes them: [`BufferPolicy::on_dequeue`] accepts all.
    Observed,
    /// The answer of [`BufferPolicy::on_dequeue`] counts.
    Decided,
}

impl Needs {
    /// Nothing beyond the length of the queue.
    pub const NOTHING: Needs = Needs {
        vcs: false,
        order: false,
        packets: false,
        departures: Departures::Unseen,
    };
    /// Y_i and N_a.
    pub const VCS: Needs = Needs {
        vcs: true,
        ..Needs::NOTHING
    };
    /// Cells taken in, in their order.
    pub const ORDER: Needs = Needs {
        order: true,
        ..Needs::NOTHING
    };
    /// Packets that come, and those that go.
    pub const PACKETS: Needs = Needs {
        packets: true,
        departures: Departures::Decided,
        ..Needs::NOTHING
    };
    /// Packets that come; it observes those that go.
    pub const OBSERVED_PACKETS: Needs = Needs {
        departures: Departures::Observed,
        ..Needs::PACKETS
    };
    /// Packets that come.
    pub const ARRIVING_PACKETS: Needs = Needs {
        departures: Departures::Unseen,
        ..Needs::PACKETS
    };
}

impl<P: BufferPolicy> BufferPolicy for Box<P> {
    const NEEDS: Needs = P::NEEDS;

    #[inline]
    fn on_enqueue(&mut self, vc: u32, view: &BufferView) -> Decision {
        (**self).on_enqueue(vc, view)
    }

    #[inline]
    fn on_dequeue(&mut self, vc: u32, view: &BufferView) -> Decision {
        (**self).on_dequeue(vc, view)
    }

    #[inline]
    fn queue_of(&self, flow: u32, ecn: Ecn) -> u32 {
        (**self).queue_of(flow, ecn)
    }

    #[inline]
    fn looks_at_vcs(&self, queued: u32) -> bool {
        (**self).looks_at_vcs(queued)
    }

    #[inline]
    fn on_accepted(&mut self, vc: u32, cells: u32) {
        (**self).on_accepted(vc, cells);
    }

    #[inline]
    fn weight(&self, vc: u32) -> u64 {
        (**self).weight(vc)
    }

    #[inline]
    fn keeps_last_cells(&self) -> bool {
        (**self).keeps_last_cells()
    }
}

/// Where the draws of a port's policy come from.
#[derive(Clone, Copy, Debug)]
pub struct Draws<'a> {
    seed: u64,
    port: &'a str,
}

impl Draws<'_> {
    /// The stream `port/<port>/<kind>`.
    pub fn stream(&self, kind: &str) -> Stream {
        Stream::new(self.seed, &format!("port/{}/{kind}", self.port))
    }
}

/// A policy of any kind, built from its spec.
#[derive(Debug)]
pub struct Policy {
    kind: PolicyKind,
    has_partial_discard: bool,
    pushes_out: bool,
}

impl Policy {
    /// The policy that `spec` describes, at the port `port` of a run with `seed`.
    pub fn new(spec: &PolicySpec, seed: u64, port: &str) -> Self {
        Policy {
            kind: PolicyKind::of(spec, &Draws { seed, port }),
            has_partial_discard: spec.has_partial_discard(),
            pushes_out: spec.pushes_out(),
        }
    }

    /// See [`PolicyRule::pushes_out`].
    pub fn pushes_out(&self) -> bool {
        self.pushes_out
    }

    /// Returns whether a cell lost to a full buffer takes the rest of its frame with it.
    pub fn has_partial_discard(&self) -> bool {
        self.has_partial_discard
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_but_tail_drop_discards_the_rest_of_a_frame_or_is_told_whether() {
        // docs/reference/policies: the rest of a frame is useless once a cell of it is lost.
        let policy = |json: &str| {
            let spec: PolicySpec = skycell_declare::serde_json::from_str(json).unwrap();
            Policy::new(&spec, 1, "p").has_partial_discard()
        };
        assert!(!policy(r#"{"kind": "tail_drop"}"#));
        assert!(policy(r#"{"kind": "ppd"}"#));
        assert!(policy(
            r#"{"kind": "virtual_queueing", "threshold_cells": 1}"#
        ));
        for partial_discard in [false, true] {
            let epd = format!(
                r#"{{"kind": "epd", "threshold_cells": 1, "partial_discard": {partial_discard}}}"#
            );
            assert_eq!(policy(&epd), partial_discard);
        }
    }
}
