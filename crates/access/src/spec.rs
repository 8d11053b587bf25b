//! The spec of an uplink: its terminals, slots, protocol, and impairments.

use crate::requests::RequestCategory;
use crate::slotted_aloha::SlottedAlohaSpec;
use crate::splitting::SplittingSpec;
use crate::tree::TreeSpec;
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Context, Declare, Refusal, Rule, is_default,
    types::{Flag, FrameCount, FrameSlots, FromZeroToOne, SlotCount, SlotCountOrNone, TimeOrNone},
};

/// An uplink that terminals share: the ports of several links, which send in its slots only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct UplinkSpec {
    /// Name in the scenario, unique among the uplinks.
    pub name: String,
    /// Links of its terminals, in the terminals' order; ids.
    pub links: Vec<u32>,
    /// Length of a slot, picoseconds: its cells and what is lost beside them.
    pub slot_ps: u64,
    /// Cells of one terminal that a slot carries, 1 to 4.
    pub slot_cells: u32,
    /// From the end of a slot until the terminals know what was heard of it, picoseconds.
    pub feedback_ps: u64,
    /// From the end of a request until the grants that it led to hold, picoseconds: to the controller and back.
    pub response_ps: u64,
    /// How its terminals come to slots.
    pub access: AccessSpec,
    /// Impairments of the uplink; the key is left out if there are none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub impairments: AccessImpairments,
}

/// How terminals come to slots.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum AccessSpec {
    /// See [`SlottedAlohaSpec`].
    SlottedAloha(SlottedAlohaSpec),
    /// See [`TreeSpec`].
    Tree(TreeSpec),
    /// See [`SplittingSpec`].
    Splitting(SplittingSpec),
    /// See [`FixedAssignmentSpec`].
    FixedAssignment(FixedAssignmentSpec),
    /// See [`DamaSpec`].
    Dama(DamaSpec),
    /// See [`HybridSpec`].
    Hybrid(HybridSpec),
}

impl Rule for AccessSpec {
    fn check(&self, context: &Context) -> Result<(), Refusal> {
        match self {
            AccessSpec::SlottedAloha(spec) => spec.check(context),
            AccessSpec::Tree(spec) => spec.check(context),
            AccessSpec::Splitting(spec) => spec.check(context),
            AccessSpec::FixedAssignment(spec) => spec.check(context),
            AccessSpec::Dama(spec) => spec.check(context),
            AccessSpec::Hybrid(spec) => spec.check(context),
        }
    }
}

/// Fixed assignment (TDMA): each terminal has its own slots in each frame, used or not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct FixedAssignmentSpec {
    /// Slots of each terminal in a frame; terminals take turns.
    #[param(default = 1, source = "choice")]
    pub constant_slots: SlotCount,
}

/// DAMA: terminals ask for slots, and a controller grants them frame by frame.
///
/// ETSI EN 301 790: capacity request categories. Requests ride in slots at the beginning of each frame, in which the
/// terminals have turns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct DamaSpec {
    /// Slots of a frame.
    #[param(default = 64, source = "choice")]
    pub frame_slots: FrameSlots,
    /// Slots at its beginning that carry requests.
    #[param(default = 4, source = "choice")]
    pub request_slots: SlotCount,
    /// Requests, each of one terminal, that such a slot carries.
    #[param(
        default = 4,
        source = "choice: bursts of EN 301 790's request channel are shorter"
    )]
    pub requests_per_slot: SlotCount,
    /// Category of the terminals' requests.
    #[param(word, default = "volume", source = "EN 301 790: VBDC")]
    pub request: RequestCategory,
    /// CRA: slots a frame that each terminal has without asking.
    #[param(default = 0, source = "choice: none")]
    pub constant_slots: SlotCountOrNone,
    /// Frames for which a requested rate holds.
    #[param(default = 16, source = "choice", when(request = ["rate"]))]
    pub rate_timeout: FrameCount,
    /// FCA: slots that nobody has asked for are given to all in turn.
    #[param(default = false, source = "choice")]
    pub free_capacity: Flag,
}

/// Hybrid access: the first burst of a message contends and asks for the slots of the rest.
///
/// Reservation ALOHA (Crowther and others 1973; Bertsekas and Gallager 1992, section 4.5.3): slots that are not reserved are
/// open to slotted ALOHA, and each burst carries a request of its terminal by volume.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct HybridSpec {
    /// Slots of a frame.
    #[param(default = 64, source = "choice")]
    pub frame_slots: FrameSlots,
    /// Slots of it that are never reserved, the last ones.
    #[param(default = 4, source = "choice")]
    pub contention_slots: SlotCount,
    /// Arrivals in a slot of contention that the estimate of the backlog takes for granted.
    #[param(
        default = 0.367_879_441_171_442_33,
        symbol = "lambda",
        source = "as slotted_aloha"
    )]
    pub arrivals: skycell_declare::types::PartOfOne,
}

/// The impairments of an uplink.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule]
pub struct AccessImpairments {
    /// Part of the bursts that are not understood: in contention heard as a collision, of a request lost, in a slot of
    /// one's own sent again when that is known.
    #[param(default = 0.0, source = "none")]
    pub burst_errors: FromZeroToOne,
    /// Part of the idle slots of contention that are heard as collisions.
    #[param(default = 0.0, source = "none")]
    pub false_collisions: FromZeroToOne,
    /// Part of the slots in which a failed terminal sends, whosever they are.
    #[param(default = 0.0, source = "none")]
    pub jammed: FromZeroToOne,
    /// When it fails.
    #[param(key = "jammed_from", default = "0 s", source = "at once")]
    pub jammed_from_ps: TimeOrNone,
    /// When it is off again; 0 for never.
    #[param(key = "jammed_until", default = "0 s", source = "never")]
    pub jammed_until_ps: TimeOrNone,
}
