//! Service classes: the queues of an output port, how it chooses between them, and what a VC's cells
//! must keep to.

use crate::{
    FifoSpec, PacketPolicerSpec, PolicySpec, RateAlgorithmSpec, SchedulerSpec, TokenBucketSpec,
};
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, is_default};

/// The service class of a VC (ATM Forum Traffic Management 4.0, section 2).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Declare,
)]
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

/// An output port: its queues and how it serves them.
///
/// The cell under transmission counts as queued until it has left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
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
    /// By what it controls the rates of the ABR VCs that cross it; the key is left out for a port that
    /// does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_algorithm: Option<RateAlgorithmSpec>,
    /// Shaper of the packets that the scheduler has chosen; the key is left out if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shaper: Option<TokenBucketSpec>,
    /// To what the packets that come have to conform, before the buffer sees them; the key is left out where they have to
    /// conform to nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policer: Option<PacketPolicerSpec>,
    /// If true, a newer acknowledgement of a connection takes the place of an older one that waits
    /// in its queue; the key is left out if false.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ack_filter: bool,
}

/// A queue of an output port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct QueueSpec {
    /// The class whose cells it holds; none for all classes without a queue of their own.
    pub class: Option<ServiceClass>,
    /// K, above zero; none for an unlimited buffer. Cells, or packets on a link that carries those, or
    /// octets if `counts_octets`; so are the thresholds of the policy.
    pub capacity_cells: Option<u32>,
    /// If true, the buffer counts the octets of IP packets; the key is left out if it counts units.
    #[serde(default, skip_serializing_if = "is_default")]
    pub counts_octets: bool,
    /// If true, policy and scheduler see flows instead of VCs, where each direction of a connection
    /// and each source of datagrams is a flow; the key is left out if they see VCs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub by_flow: bool,
    /// Buffer policy.
    pub policy: PolicySpec,
}

/// A bucket of the Generic Cell Rate Algorithm, which polices a VC at the first switch.
///
/// ATM Forum Traffic Management 4.0, section 4.4; I.371.
///
/// A cell conforms when it conforms to every bucket of its VC that counts it, and only then do these change.
/// A cell that does not meets the action of the first bucket that it offends; one that a bucket of CLP = 0 tags goes on
/// as a cell with CLP = 1, which the buckets of both count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct GcraSpec {
    /// T, the reciprocal of the rate, picoseconds, above zero.
    pub increment_ps: u64,
    /// tau, the tolerance, picoseconds.
    pub limit_ps: u64,
    /// Action on a cell that does not conform.
    pub action: PolicingAction,
    /// If true, it counts only cells with CLP = 0, as the SCR of VBR.2 and VBR.3 does; the key is
    /// left out if it counts all.
    #[serde(default, skip_serializing_if = "is_default")]
    pub clp0_only: bool,
}

/// A policer's action on a cell that does not conform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
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
                by_flow: false,
                policy,
            }],
            scheduler: SchedulerSpec::Fifo(FifoSpec {}),
            frame_gap_ps,
            rate_algorithm: None,
            shaper: None,
            policer: None,
            ack_filter: false,
        }
    }

    /// Place of the queue that holds the cells of `class`; none when there is no such queue.
    pub fn queue_of(&self, class: ServiceClass) -> Option<usize> {
        let holds = |wanted| self.queues.iter().position(|queue| queue.class == wanted);
        holds(Some(class)).or_else(|| holds(None))
    }

    /// Returns the name of the streams of the queue's policy at the port of the link `link`: the
    /// link, and the class as well if the port has several queues.
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
