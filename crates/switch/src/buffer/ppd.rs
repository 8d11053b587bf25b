//! Partial Packet Discard.

use super::{BufferPolicy, BufferView, Draws, PolicyRule};
use crate::Decision;
use serde::{Deserialize, Serialize};
use skycell_declare::Declare;

/// Partial Packet Discard: once a cell of a frame is discarded, so is the rest of the frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "SA-ST",
    threshold = "static",
    discards = "deterministic",
    fairness = "none",
    source = "Romanow, Floyd: Dynamics of TCP Traffic over ATM Networks, 1995",
    label = "PPD"
)]
pub struct PpdSpec {}

impl PolicyRule for PpdSpec {
    type Policy = Self;

    const TAKES_ALL: bool = true;

    fn policy(&self, _draws: &Draws) -> Self {
        self.clone()
    }
}

impl BufferPolicy for PpdSpec {
    fn on_enqueue(&mut self, _vc: u32, _view: &BufferView) -> Decision {
        Decision::Accept
    }
}
