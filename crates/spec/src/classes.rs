//! Service classes: the queues of an output port, how it chooses between them, and what a VC's cells
//! must keep to.

use crate::{PolicySpec, is_default};
use serde::{Deserialize, Serialize};

/// The service class of a VC (ATM Forum Traffic Management 4.0, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceClass {
    /// Constant bit rate.
    Cbr,
    /// Variable bit rate, real time.
    RtVbr,
    /// Variable bit rate, not real time.
    NrtVbr,
    /// Available bit rate.
    Abr,
    /// Unspecified bit rate.
    Ubr,
    /// Guaranteed frame rate.
    Gfr,
}

/// An output port: its queues and how it serves them. The cell under transmission counts as queued
/// until it has left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortSpec {
    /// At least one; a scheduler with priorities prefers the first. Each has its own buffer.
    pub queues: Vec<QueueSpec>,
    /// Which queue sends the next cell.
    pub scheduler: SchedulerSpec,
    /// Before each frame of a TCP connection the port of a host or router waits for a time uniform
    /// over [0, this), picoseconds, drawn from the stream `port/<link name>/gap`; 0 for no wait.
    /// Without it frames stay in step with the bottleneck's cells, and one input always wins a full
    /// buffer's place.
    pub frame_gap_ps: u64,
}

/// A queue of an output port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueSpec {
    /// The class whose cells it holds; none for all classes without a queue of their own.
    pub class: Option<ServiceClass>,
    /// K, above zero; none for an unlimited buffer. Cells, or packets on a link that carries those, or
    /// octets if `counts_octets`; so are the thresholds of the policy.
    pub capacity_cells: Option<u32>,
    /// Whether the buffer counts the octets of IP packets; the key is left out where it counts units.
    #[serde(default, skip_serializing_if = "is_default")]
    pub counts_octets: bool,
    /// What the buffer takes in.
    pub policy: PolicySpec,
}

/// Whole in parts of [`SchedulerSpec::GuaranteedRate`].
pub const WHOLE_PPB: u32 = 1_000_000_000;

/// How a port with several queues chooses the next cell, each time the link becomes free.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum SchedulerSpec {
    /// One queue, in the order of arrival.
    Fifo,
    /// The first queue that has cells.
    StrictPriority,
    /// Of every N cells sent while a queue has cells, at least its share is its own, within one cell
    /// for each queue with a share; what is left goes by priority.
    GuaranteedRate {
        /// Share of each queue, in parts of [`WHOLE_PPB`]; together at most the whole.
        shares_ppb: Vec<u32>,
    },
    /// A queue for each VC, in one buffer, VC after VC, each up to its weight in cells; only at a
    /// switch. With weights of 1 this is plain round robin.
    VcRoundRobin {
        /// Weight by VC id, cells, above zero; for every VC of the run.
        weights: Vec<u32>,
    },
    /// A queue for each VC, in one buffer, served by Virtual Spacing; only at a switch.
    VirtualSpacing {
        /// 1/r_i by VC id, picoseconds, above zero, at most 1 day; for every VC of the run.
        intervals_ps: Vec<u64>,
    },
    /// Queue after queue, each up to its weight in cells.
    WeightedRoundRobin {
        /// Weight of each queue, cells, above zero.
        weights: Vec<u32>,
    },
}

/// Generic Cell Rate Algorithm with which the network polices a VC where it enters the first
/// switch (ATM Forum Traffic Management 4.0, section 4.4; I.371).
///
/// A cell conforms when it conforms to every bucket of its VC, and only then do the buckets change.
/// A cell that does not meets the action of the first bucket that it offends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GcraSpec {
    /// T, the reciprocal of the rate, picoseconds, above zero.
    pub increment_ps: u64,
    /// tau, the tolerance, picoseconds.
    pub limit_ps: u64,
    /// What becomes of a cell that does not conform.
    pub action: PolicingAction,
}

/// What a policer does with a cell that does not conform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicingAction {
    /// Counts it.
    Count,
    /// Sets its CLP bit.
    Tag,
    /// Discards it.
    Discard,
}

impl PortSpec {
    /// A port with one queue for everything.
    pub fn fifo(capacity_cells: Option<u32>, policy: PolicySpec, frame_gap_ps: u64) -> Self {
        PortSpec {
            queues: vec![QueueSpec {
                class: None,
                capacity_cells,
                counts_octets: false,
                policy,
            }],
            scheduler: SchedulerSpec::Fifo,
            frame_gap_ps,
        }
    }

    /// Place of the queue that holds the cells of `class`; none when there is no such queue.
    pub fn queue_of(&self, class: ServiceClass) -> Option<usize> {
        let holds = |wanted| self.queues.iter().position(|queue| queue.class == wanted);
        holds(Some(class)).or_else(|| holds(None))
    }

    /// What the streams of the queue's policy are named after at the port of the link `link`: the
    /// link, and where the port has several queues the class as well.
    pub fn name_of(&self, queue: &QueueSpec, link: &str) -> String {
        match queue.class {
            Some(class) if self.queues.len() > 1 => format!("{link}/{}", class.name()),
            _ => link.to_owned(),
        }
    }
}

impl ServiceClass {
    /// The name that the form uses.
    pub fn name(self) -> &'static str {
        match self {
            ServiceClass::Cbr => "cbr",
            ServiceClass::RtVbr => "rt_vbr",
            ServiceClass::NrtVbr => "nrt_vbr",
            ServiceClass::Abr => "abr",
            ServiceClass::Ubr => "ubr",
            ServiceClass::Gfr => "gfr",
        }
    }
}
