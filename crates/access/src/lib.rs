//! Access of terminals to a satellite uplink that they share: who sends in which slot.
//!
//! The protocols are state machines that are handed slots and what was heard of them: slotted ALOHA, tree collision
//! resolution and splitting for contention, a controller of grants and the requests of terminals for reservation. An
//! [`Uplink`] puts them into slots and frames; engines ask it, slot by slot, which terminal's port may send.

mod contention;
mod controller;
mod counts;
mod requests;
mod slotted_aloha;
mod spec;
mod splitting;
mod tree;
mod uplink;

pub use contention::{Contender, Contention, Feedback};
pub use controller::{Category, Controller, Grant, Request};
pub use counts::UplinkCounts;
pub use requests::{RequestCategory, Requester};
pub use slotted_aloha::{AlohaBackoff, SlottedAloha, SlottedAlohaSpec};
pub use spec::{
    AccessImpairments, AccessSpec, DamaSpec, FixedAssignmentSpec, HybridSpec, UplinkSpec,
};
pub use splitting::{Splitting, SplittingSpec};
pub use tree::{Tree, TreeSpec};
pub use uplink::{Transmission, Uplink, Waiting};
