//! `NetworkSpec`: one run, complete and explicit, in SI integers. Everything left of it knows
//! people's words; everything right of it knows only this.
//!
//! The JSON form is the border between the scenario model and the engines. Unknown keys are refused,
//! every key must be present, and [`NetworkSpec::validate`] refuses what cannot be simulated.

mod abr;
mod access;
mod apps;
mod calls;
mod check;
mod check_classes;
mod classes;
mod form;
mod framing;
mod gfr;
mod receivers;
mod rerouting;
mod schedule;
mod sky;
mod sources;
mod split;
mod users;
mod web;

pub use apps::{
    AppSpec, AsksSpec, BulkSpec, CallSpec, Dns, FilePartSpec, PagesSpec, Protocol, SizeSpec,
    VideoChoice, VideoSpec,
};
pub use calls::CallsSpec;
pub use check::SpecError;
pub use classes::{GcraSpec, PolicingAction, PortSpec, QueueSpec, ServiceClass};
pub use framing::{IP_HEADER, PacketFraming, fragments};
pub use gfr::{Excess, GfrSpec, Nonconforming, Tagging};
pub use receivers::ReceiverSpec;
pub use rerouting::ReroutingSpec;
pub use schedule::ScheduleSpec;
pub use sky::{ByLabelSpec, MOST_HOPS, PortKindSpec, SkySpec, Waiting};
pub use skycell_abr::spec::AbrSpec;
pub use skycell_abr::switch::specs::*;
pub use skycell_abr::vs_vd::{LoopCoupling, VsVdSpec};
pub use skycell_access::{
    AccessImpairments, AccessSpec, AlohaBackoff, DamaSpec, FixedAssignmentSpec, HybridSpec,
    RequestCategory, SlottedAlohaSpec, SplittingSpec, TreeSpec, UplinkSpec,
};
pub use skycell_channel::{
    BitErrorsSpec, BurstLengths, ChannelSpec, DelayVariationSpec, ErrorBurstsSpec, ErrorTraceSpec,
    GilbertElliottBitsSpec, GilbertElliottSpec, LossBurstsSpec, NormalDelaySpec, ParetoDelaySpec,
    PeriodicLossesSpec, TableDelaySpec, UniformDelaySpec, VariationPart,
};
pub use skycell_declare::types::WHOLE_PPB;
pub use skycell_switch::buffer::specs::*;
pub use skycell_switch::scheduler::specs::*;
pub use skycell_switch::{ExcessAction, PacketPolicerSpec, TokenBucketSpec};
pub use skycell_tcp::spec::*;
pub use sources::{ClpSpec, PhaseSpec, SourcePattern, SourceSpec};
pub use split::{Connections, PepSpec, Proxy};
pub use users::{UserGroupSpec, UserRouteSpec, UsersSpec};
pub use web::{CountSpec, FileClassSpec, OutsideLimits, PageMoment, Web, WebSpec};

use serde::{Deserialize, Serialize};
use skycell_declare::types::{Flag, Repetitions, TransferOctets};
use skycell_declare::{Declare, is_default};
use skycell_units::Octets;

/// Version of the JSON form this crate reads.
pub const SPEC_VERSION: u32 = 2;

/// One run: nodes, links with their output ports, VCs, flows, and what to record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct NetworkSpec {
    /// Version of this form; see [`SPEC_VERSION`].
    #[fixed(SPEC_VERSION)]
    pub version: u32,
    /// Seed of every random stream of the run; a replication changes it and nothing else.
    pub seed: u64,
    /// Simulated time, picoseconds, above zero.
    pub duration_ps: u64,
    /// From when on the run counts, picoseconds, below its duration; the key is left out where that is its beginning.
    #[serde(default, skip_serializing_if = "is_default")]
    pub measure_from_ps: u64,
    /// Hosts, routers and switches; a node's index is its id.
    pub nodes: Vec<NodeSpec>,
    /// One entry per direction; a link's index is its id and its output port's id, and, at the node
    /// it leads to, its place in the order of input ports.
    pub links: Vec<LinkSpec>,
    /// Unidirectional virtual channels between two AAL5 end points (hosts or routers).
    pub vcs: Vec<VcSpec>,
    /// TCP connections.
    pub flows: Vec<FlowSpec>,
    /// Groups of users with applications; the key is left out where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<UsersSpec>,
    /// Cell sources.
    pub sources: Vec<SourceSpec>,
    /// Uplinks that terminals share; the key is left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uplinks: Vec<UplinkSpec>,
    /// Calls that were asked for; the key is left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallsSpec>,
    /// Nodes that forward packets by label; the key is left out where none do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sky: Option<SkySpec>,
    /// Records of the run beyond its counters.
    pub records: RecordSpec,
}

/// A node and what it does with what arrives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct NodeSpec {
    /// Name in the scenario, unique among the nodes.
    pub name: String,
    /// Kind of the node.
    pub kind: NodeKind,
    /// A switch that cuts the control loops of the ABR VCs that cross it; the key is left out where none
    /// does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vs_vd: Option<VsVdSpec>,
}

/// The handling of cells that arrive at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// Holds TCP end points; reassembles frames; its ports send frames back to back.
    Host,
    /// Joins IP to ATM: reassembles frames and queues whole frames on the next VC of the flow.
    Router,
    /// Forwards cell by cell, without waiting for the frame.
    Switch,
}

/// One direction of a link, with the output port that feeds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Name in the scenario, unique among the links; by custom `from>to`.
    pub name: String,
    /// Node whose output port feeds the link.
    pub from: u32,
    /// Node the link leads to.
    pub to: u32,
    /// Time one 53-octet cell takes at the link's cell payload rate, picoseconds, above zero. Where
    /// the rate changes, at the greatest that it may have. 0 on a link that carries packets.
    pub cell_time_ps: u64,
    /// How it carries packets; the key is left out for a link that carries cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<PacketFraming>,
    /// Propagation delay, picoseconds; a cell arrives this long after its last bit left. Of a link
    /// with a schedule the least of its delays.
    pub delay_ps: u64,
    /// Part of a thousand million of the frames that the link loses, all cells of a frame together; the key is
    /// left out for a link that loses none. Drawn from the stream `link/<name>/loss`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub loss_ppb: u32,
    /// How its losses come in bursts, or its bit errors, where it has some; the key is left out for another link, and
    /// beside `loss_ppb` or a schedule with losses there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<ChannelSpec>,
    /// How its delay varies from packet to packet, beyond `delay_ps`, which is the least then; the key is left out for a
    /// link on which it does not. Links of packets without a schedule only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_variation: Option<DelayVariationSpec>,
    /// How the link changes during the run; none for a link that does not.
    pub schedule: Option<ScheduleSpec>,
    /// Receivers with rates of their own; the key is left out where all packets go at the link's rate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receivers: Vec<ReceiverSpec>,
    /// The output port that feeds it.
    pub port: PortSpec,
}

/// A virtual channel: one direction, over given links, from one AAL5 end point to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct VcSpec {
    /// Name in the scenario, unique among the VCs.
    pub name: String,
    /// Link ids in order; inner nodes are switches, the two ends are hosts or routers. Empty for a VC by label.
    pub path: Vec<u32>,
    /// Label by which nodes of the sky send its packets on; the key is left out for a VC with a path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_label: Option<ByLabelSpec>,
    /// Which queue of a port its cells join.
    pub class: ServiceClass,
    /// Policing of its cells where they enter the first switch; empty for none.
    pub policing: Vec<GcraSpec>,
    /// Guarantee; none for a VC without a guarantee.
    pub gfr: Option<GfrSpec>,
    /// How its rate is controlled; the key is left out for a VC that is not of class abr.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abr: Option<AbrSpec>,
    /// Paths that it takes later; the key is left out for a VC that keeps its path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerouting: Option<ReroutingSpec>,
    /// Resequencer at its end; the key is left out for a VC without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resequencer: Option<ResequencerSpec>,
}

/// A resequencer at the end of a VC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct ResequencerSpec {
    /// How long a cell waits for earlier ones.
    pub hold_ps: u64,
    /// Cells that may wait; one more lets the first go.
    pub capacity_cells: u32,
}

/// A TCP connection between two hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// Name in the scenario, unique among the flows.
    pub name: String,
    /// VC ids that carry the data, end to end; routers join one to the next.
    pub forward: Vec<u32>,
    /// VC ids that carry the acknowledgements back.
    pub reverse: Vec<u32>,
    /// Both end points' protocol parameters.
    pub tcp: TcpSpec,
    /// Traffic of the application.
    pub traffic: TrafficSpec,
    /// When the application begins.
    pub start: StartSpec,
    /// Losses that the scenario prescribes, made before the sender's port.
    pub loss_script: LossScript,
    /// Processing times of its end points; the key is left out where there are none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub jitter: JitterSpec,
    /// Proxies on its path, in order, each of which ends the connection and begins another; the key is left out where there
    /// are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peps: Vec<PepSpec>,
    /// If true, its TCP header is encrypted from end to end, so no queue on the path can filter its
    /// acknowledgements; the key is left out if it is not, or if no queue would.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ipsec: bool,
}

/// How long a flow's ends take at most to hand a segment to the network interface.
///
/// Floyd and Jacobson: On Traffic Phase Effects in Packet-Switched Gateways, 1992.
///
/// A segment that TCP sends at t is handed over at t plus a time uniform over [0, this), picoseconds,
/// and not before the one that the same end sent last; 0 for t itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct JitterSpec {
    /// Of what the source sends, at most 1 hour; drawn from the stream `flow/<name>/jitter/data`.
    pub data_ps: u64,
    /// Of what the destination sends, at most 1 hour; drawn from the stream `flow/<name>/jitter/acks`.
    pub acks_ps: u64,
}

/// The octets that an application hands to TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum TrafficSpec {
    /// Always has more to send.
    Persistent,
    /// Transfers of one size with idle times between them.
    Transfers {
        /// Octets of a transfer.
        #[param(key = "size")]
        size_octets: TransferOctets,
        /// Number of transfers; without it as many as the run has time for.
        #[param(optional, source = "no end")]
        count: Option<Repetitions>,
        /// Time from the end of a transfer (its last octet acknowledged, with tcp.handshake its own connection
        /// closed) to the next.
        ///
        /// Drawn from the stream `flow/<name>/idle`.
        #[param(default = "0 s", source = "back to back")]
        idle: Times,
        /// Each transfer opens its own connection with fresh TCP state.
        #[param(
            default = true,
            source = "Bonaventure, simulation study of TCP with GFR: closed after each transfer"
        )]
        new_connection: Flag,
    },
    /// Pages of files, each asked for by a request; drawn from the stream `flow/<name>/web`.
    Web(WebSpec),
}

/// When a flow begins, picoseconds from the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum StartSpec {
    /// At a given time.
    At {
        /// Picoseconds.
        time_ps: u64,
    },
    /// Uniform over [from, to), drawn from the stream `flow/<name>/start`.
    Drawn {
        /// Earliest, picoseconds.
        from_ps: u64,
        /// End of the range, picoseconds, above `from_ps`.
        to_ps: u64,
    },
}

/// Times as a parameter of traffic or of a source.
pub type Times = DistributionSpec;

/// A named distribution of times, picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum DistributionSpec {
    /// Always the same.
    Constant {
        /// Picoseconds.
        value_ps: u64,
    },
    /// Uniform over [low, high).
    Uniform {
        /// Least, picoseconds.
        low_ps: u64,
        /// End of the range, picoseconds, above `low_ps`.
        high_ps: u64,
    },
    /// Exponential.
    Exponential {
        /// Mean, picoseconds, above zero.
        mean_ps: u64,
    },
}

/// Losses that the scenario prescribes for a flow's data segments: they never reach the port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct LossScript {
    /// Ordinals, from 0, of the transmissions (new or repeated) to lose, ascending.
    pub transmissions: Vec<u64>,
    /// Lose the first new segment sent each time cwnd reaches this many octets from below.
    pub at_cwnd_octets: Option<Octets>,
}

/// The records of a run beyond its counters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct RecordSpec {
    /// Interval between samples of the queues, picoseconds, above zero. A sample is taken after the
    /// departures and before the arrivals of its instant; the first one falls at one interval.
    pub sample_every_ps: u64,
    /// Ports (link ids, ascending) whose queue length is sampled, for percentiles and traces. Ports of a sky are
    /// numbered behind all links, and have a record only if they are sampled.
    pub sampled_ports: Vec<u32>,
    /// Ports (link ids, ascending) whose occupancy is sampled VC by VC.
    pub vc_sampled_ports: Vec<u32>,
    /// Ports of packets (link ids, ascending) for which it is recorded flow by flow how long packets stayed; the key
    /// is left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow_ports: Vec<u32>,
    /// Ports of cells (link ids, ascending) for which it is recorded VC by VC how long cells stayed; the key is left out
    /// where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stay_ports: Vec<u32>,
    /// VCs (ids, ascending) whose cell transfer delay is measured.
    pub delay_vcs: Vec<u32>,
    /// Sources of datagrams (ids, ascending) for which it is recorded how long these take from end to end; the key is left
    /// out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delay_sources: Vec<u32>,
    /// Traces to keep.
    pub traces: Vec<TraceKind>,
}

impl RecordSpec {
    /// Returns whether the queue of a port is sampled.
    pub fn has_sampled(&self, port: u32) -> bool {
        self.sampled_ports.binary_search(&port).is_ok()
    }
}

/// A trace that a run can keep, by what a row of it is; `skycell_records` has the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum TraceKind {
    /// The start of a flow, and each event that changes cwnd or ssthresh, with their new values.
    Cwnd,
    /// A data segment sent or an ACK received, at the sender.
    Sequence,
    /// A sample of a port in `ports`.
    Queue,
    /// A sample of one VC at a port in `vc_ports`.
    VcQueue,
    /// A frame that lost a cell at a port, at the first cell it lost.
    Discards,
    /// A finished transfer.
    Transfers,
    /// A transfer of which all has come to the application at the destination, behind the last proxy of a split flow.
    Deliveries,
    /// A sample of a queue, at a port in `ports` with several.
    Service,
    /// A file of a web page that has arrived whole.
    Files,
    /// The start of an ABR VC, and each change of its ACR or of the ER last received, at its source.
    Acr,
    /// The end of an averaging interval at a port with a rate algorithm.
    RateControl,
}

impl NetworkSpec {
    /// Reads the JSON form and refuses what cannot be simulated.
    ///
    /// # Errors
    /// The text is not the JSON form, or what it describes breaks a rule of [`SpecError`].
    pub fn from_json(text: &str) -> Result<Self, SpecError> {
        let spec = Self::read(text)?;
        spec.validate()?;
        Ok(spec)
    }

    /// Reads the JSON form, whether or not what it describes can be simulated.
    ///
    /// # Errors
    /// The text is not the JSON form.
    pub fn read(text: &str) -> Result<Self, SpecError> {
        form::read(text)
    }

    /// The JSON form, keys in the order of declaration.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a spec is plain data")
    }
}
