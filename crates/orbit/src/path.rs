//! A way from one place on the earth to another, and why there may be none.

use serde::Serialize;

/// A way from a station up, through satellites, and down to another station.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Path {
    /// At least one.
    pub satellites: Vec<u32>,
    /// Delay of each link in ps: up, between satellites, down; one more than satellites.
    pub links_ps: Vec<u64>,
}

impl Path {
    /// One-way delay in ps.
    pub fn delay_ps(&self) -> u64 {
        self.links_ps.iter().sum()
    }
}

/// Why there is no path at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum NoPath {
    /// A station sees no satellite.
    NothingVisible {
        /// Which one.
        station: u32,
    },
    /// The satellites at both ends are not connected, or the greedy way ends nowhere.
    NoRoute,
}
