//! Quantities the whole simulator counts in. Depends on nothing of ours.

mod ids;

pub use ids::{FlowId, FrameId, InputId, PortVc};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// Octets of an ATM cell's payload (I.361).
pub const CELL_PAYLOAD_OCTETS: u64 = 48;
/// Octets of the AAL5 trailer (I.363.5).
pub const AAL5_TRAILER_OCTETS: u64 = 8;

/// The ECN field of an IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ecn {
    /// Its transport does not know ECN: a queue discards it where it would mark others.
    #[default]
    NotEct,
    /// Of a scalable sender (L4S, RFC 9331 section 4.1).
    Ect1,
    /// Of an ECN-capable transport (RFC 3168).
    Ect0,
    /// Marked by a queue on its way.
    Ce,
}

impl Ecn {
    /// Returns whether a queue may mark it, or has.
    pub fn is_capable(self) -> bool {
        self != Ecn::NotEct
    }
}

/// Simulated time since the start of the run, in whole picoseconds (`u64` reaches 213 days).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct SimTime(pub u64);

impl SimTime {
    /// The start of every run.
    pub const ZERO: SimTime = SimTime(0);
    /// Later than anything that happens in a run.
    pub const NEVER: SimTime = SimTime(u64::MAX);
    /// Picoseconds in a second.
    pub const PER_SECOND: u64 = 1_000_000_000_000;

    /// Whole milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        SimTime(ms * 1_000_000_000)
    }

    /// Seconds, for people and for rates; exact integers stay inside the engine.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / Self::PER_SECOND as f64
    }

    /// Time from `earlier` to `self`; zero when `earlier` is later.
    pub const fn since(self, earlier: SimTime) -> SimTime {
        SimTime(self.0.saturating_sub(earlier.0))
    }
}

impl Add for SimTime {
    type Output = SimTime;
    fn add(self, other: SimTime) -> SimTime {
        SimTime(self.0.saturating_add(other.0))
    }
}

impl AddAssign for SimTime {
    fn add_assign(&mut self, other: SimTime) {
        *self = *self + other;
    }
}

impl Sub for SimTime {
    type Output = SimTime;
    fn sub(self, other: SimTime) -> SimTime {
        SimTime(self.0 - other.0)
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9} s", self.as_secs_f64())
    }
}

/// A count of octets: a segment, a window, a transfer.
pub type Octets = u64;

/// Octets of an ATM cell, header included.
pub const CELL_OCTETS: Octets = 53;

/// Octets of the LLC/SNAP header before a packet in an AAL5 frame (RFC 2684 section 5).
const LLC_SNAP_OCTETS: Octets = 8;

/// A count of 53-octet ATM cells: a queue length, a threshold, a frame.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Cells(pub u32);

impl Cells {
    /// Cells that carry one AAL5 frame of `sdu` octets, trailer and padding included.
    ///
    /// A 512-octet TCP segment with 40 octets of TCP/IP header and 8 of LLC/SNAP is 560 octets: 12
    /// cells.
    pub const fn for_aal5_frame(sdu: Octets) -> Self {
        // I.363.5: SDU, 0..=47 octets of padding and an 8-octet trailer fill whole 48-octet payloads.
        Self((sdu + AAL5_TRAILER_OCTETS).div_ceil(CELL_PAYLOAD_OCTETS) as u32)
    }

    /// Cells of the AAL5 frame that carries an IP packet of so many octets, behind LLC/SNAP or alone (RFC 2684 sections 5 and 6).
    pub const fn for_ip_packet(octets: Octets, llc_snap: bool) -> Self {
        Self::for_aal5_frame(octets + if llc_snap { LLC_SNAP_OCTETS } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells of a TCP segment with 40 octets of TCP/IP and 8 octets of LLC/SNAP header.
    fn segment(mss: Octets) -> Cells {
        Cells::for_aal5_frame(mss + 48)
    }

    #[test]
    fn the_studies_segments_fill_the_cells_their_ceilings_are_computed_from() {
        // NASA/CR-1999-209158 prints 10229 octets = 193 cells for MSS 9180; 512 and 1024 follow.
        assert_eq!(segment(512), Cells(12));
        assert_eq!(segment(1024), Cells(23));
        assert_eq!(segment(9180), Cells(193));
        assert_eq!(segment(0), Cells(2)); // a bare ACK
    }

    #[test]
    fn a_frame_that_just_fits_needs_no_further_cell() {
        assert_eq!(Cells::for_aal5_frame(40), Cells(1)); // 40 + 8 = 48
        assert_eq!(Cells::for_aal5_frame(41), Cells(2));
    }

    #[test]
    fn time_never_goes_below_zero() {
        assert_eq!(SimTime(3).since(SimTime(5)), SimTime::ZERO);
    }
}
