//! The fates of the slots of an uplink that terminals share.

use crate::delay::{CellDelays, DelayStatistics};
use serde::Serialize;
use skycell_access::UplinkCounts;

/// An uplink over the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct UplinkRecord {
    /// Name in the spec.
    pub name: String,
    /// Slots, bursts and requests.
    #[serde(flatten)]
    pub counts: UplinkCounts,
    /// Slots given without being asked for and constant (CRA).
    pub given_constant: u64,
    /// Slots given for a rate (RBDC).
    pub given_rate: u64,
    /// Slots given for a volume (VBDC, AVBDC).
    pub given_volume: u64,
    /// Slots given as nobody else wanted them (FCA).
    pub given_free: u64,
    /// Mean of the cells that wait at all terminals when a slot begins, first half of the run.
    pub backlog_first_half: f64,
    /// The same, second half.
    pub backlog_second_half: f64,
    /// Backlog drift: cells by which the backlog grows in a slot, from the one mean to the other.
    pub backlog_drift: f64,
    /// Numbers that a terminal keeps to follow the protocol.
    pub terminal_state: u32,
    /// Numbers that the controller keeps.
    pub controller_state: u32,
    /// Access delay of messages: from the arrival of a frame's first cell at its terminal's port to the beginning of its
    /// successful transmission. Its cells are the messages.
    pub access_delay: DelayStatistics,
    /// The delays that it is of.
    #[serde(skip)]
    pub delays: CellDelays,
}

impl UplinkRecord {
    /// From what the uplink `name` has counted, the numbers that a terminal and the controller keep, and the access
    /// delays.
    pub fn new(
        name: &str,
        counts: &UplinkCounts,
        state_sizes: (u32, u32),
        delays: &CellDelays,
    ) -> Self {
        let [backlog_first_half, backlog_second_half] = counts.mean_backlog();
        let [given_constant, given_rate, given_volume, given_free] = counts.given;
        UplinkRecord {
            name: name.to_owned(),
            counts: *counts,
            given_constant,
            given_rate,
            given_volume,
            given_free,
            backlog_first_half,
            backlog_second_half,
            backlog_drift: counts.drift(),
            terminal_state: state_sizes.0,
            controller_state: state_sizes.1,
            access_delay: delays.record(0).delay,
            delays: delays.clone(),
        }
    }

    /// Returns its record from the end of its beginning on; the halves of its backlog are those of
    /// the whole run.
    #[must_use]
    pub fn since(&self, start: &UplinkRecord) -> Self {
        let sizes = (self.terminal_state, self.controller_state);
        let counts = self.counts.since(&start.counts);
        UplinkRecord::new(
            &self.name,
            &counts,
            sizes,
            &self.delays.since(&start.delays),
        )
    }
}
