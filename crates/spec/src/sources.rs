//! Cell sources: what sends cells at its own pace, whatever becomes of them.

use crate::{DistributionSpec, StartSpec};
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, is_default};
use skycell_units::Octets;

/// A source of cells at the host where its VC begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct SourceSpec {
    /// Name in the scenario, unique among the sources.
    pub name: String,
    /// VC that carries its cells, and nobody else's; the first of `datagram_route` where it has one.
    pub vc: u32,
    /// VCs that carry its frames one after the other, joined by routers, which may be those of
    /// TCP connections: each frame is handed over whole, as a UDP datagram is. Empty for cells.
    pub datagram_route: Vec<u32>,
    /// Time from one cell to the next while it sends, the reciprocal of its peak cell rate,
    /// picoseconds, above zero.
    pub cell_interval_ps: u64,
    /// Cells of an AAL5 frame, above zero; 1 for cells without frames. The last frame of a burst is
    /// as long as the burst leaves it; a datagram is never cut.
    pub frame_cells: u32,
    /// Octets of the IP packet that each datagram is; then `cell_interval_ps` is the time from one datagram to the
    /// next. Above zero where a VC of its route carries packets; the key is left out where it is 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub datagram_octets: Octets,
    /// When it sends.
    pub pattern: SourcePattern,
    /// When it begins.
    pub start: StartSpec,
}

/// When a source sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum SourcePattern {
    /// Always: constant bit rate.
    Constant,
    /// In bursts: a cell as an on time begins, and one after each interval that ends within it.
    OnOff {
        /// Length of a burst, drawn from the stream `source/<name>/on`.
        on: DistributionSpec,
        /// Time from the end of a burst to the next, drawn from the stream `source/<name>/off`.
        off: DistributionSpec,
        /// How far the source is into its first cycle, on time first, when it begins.
        phase: PhaseSpec,
    },
}

/// A place in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum PhaseSpec {
    /// A given one.
    At {
        /// Picoseconds from the begin of the cycle.
        offset_ps: u64,
    },
    /// Uniform over [0, below), drawn from the stream `source/<name>/phase`.
    Drawn {
        /// Picoseconds, above zero.
        below_ps: u64,
    },
}
