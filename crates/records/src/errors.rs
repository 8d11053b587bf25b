//! The effects of bit errors on a link.

use serde::Serialize;

/// Cells, or packets, that left a port and met bit errors on its link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ErrorRecord {
    /// Cells whose header had one wrong bit, which the HEC corrected.
    pub headers_corrected: u64,
    /// Cells lost because the HEC saw errors of their header.
    pub headers_lost: u64,
    /// Cells lost because errors of their header were not seen: they have another VC's header.
    pub misinserted: u64,
    /// Cells that went on with wrong bits in their payload.
    pub payloads: u64,
    /// Packets lost because a bit of theirs was wrong, and RM cells whose CRC-10 saw it.
    pub checks_failed: u64,
}
