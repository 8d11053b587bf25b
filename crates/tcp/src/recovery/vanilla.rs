//! Vanilla TCP: losses are found by timeout only.

use super::{LossRecovery, TimerAfterAck};
use crate::transmit::Transmitter;
use serde::{Deserialize, Serialize};
use skycell_declare::Declare;
use skycell_units::Octets;

/// Slow start and congestion avoidance alone: losses are found by timeout only.
///
/// Source: ICCCN'97 section 2.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule]
pub struct VanillaSpec {}

#[derive(Clone, Debug)]
pub(crate) struct Vanilla;

impl LossRecovery for Vanilla {
    fn on_dup_ack(&mut self, _tx: &mut Transmitter, _count: u32) {}

    fn on_new_ack(&mut self, tx: &mut Transmitter, acked: Octets) -> TimerAfterAck {
        tx.grow(acked);
        tx.send_as_allowed();
        TimerAfterAck::Restart
    }

    fn on_timeout(&mut self, _tx: &mut Transmitter) {}
}
