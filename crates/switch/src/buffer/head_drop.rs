//! Head drop.

use super::{BufferPolicy, BufferView, Draws, Needs, PolicyRule};
use crate::Decision;
use serde::{Deserialize, Serialize};
use skycell_declare::Declare;

/// Gives a packet that finds the buffer full the place of the one that has waited longest.
///
/// The sender learns of the loss a queue earlier. Source: T. V. Lakshman, A. Neidhardt, T. J. Ott, "The Drop from
/// Front Strategy in TCP and in TCP over ATM", INFOCOM 1996.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "SA-ST",
    threshold = "static",
    discards = "deterministic",
    source = "Lakshman, Neidhardt, Ott: The Drop from Front Strategy in TCP and in TCP over ATM, 1996",
    chosen = "the packet under transmission stays",
    needs = "packets",
    label = "head drop"
)]
pub struct HeadDropSpec {}

impl PolicyRule for HeadDropSpec {
    type Policy = Self;

    fn policy(&self, _draws: &Draws) -> Self {
        *self
    }

    fn pushes_out(&self) -> bool {
        true
    }
}

impl BufferPolicy for HeadDropSpec {
    const NEEDS: Needs = Needs::ARRIVING_PACKETS;

    fn on_enqueue(&mut self, _vc: u32, _view: &BufferView) -> Decision {
        Decision::Accept
    }
}
