//! Tail drop.

use super::{BufferPolicy, BufferView, Draws, PolicyRule};
use crate::Decision;
use serde::{Deserialize, Serialize};
use skycell_declare::Declare;

/// Discards the cells that find the buffer full, whatever frame they belong to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "–",
    threshold = "–",
    discards = "deterministic",
    source = "plain UBR",
    label = "tail drop"
)]
pub struct TailDropSpec {}

impl PolicyRule for TailDropSpec {
    type Policy = Self;

    const TAKES_ALL: bool = true;

    fn policy(&self, _draws: &Draws) -> Self {
        self.clone()
    }

    fn has_partial_discard(&self) -> bool {
        false
    }
}

impl BufferPolicy for TailDropSpec {
    fn on_enqueue(&mut self, _vc: u32, _view: &BufferView) -> Decision {
        Decision::Accept
    }
}
