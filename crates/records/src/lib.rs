//! Rows, counters and traces that a run leaves. Engines fill them; nothing here simulates.

mod abr;
mod access;
mod calls;
mod delay;
mod errors;
mod guarantee;
mod ledger;
mod packets;
mod pep;
mod probes;
mod queue;
mod regions;
mod sky;
mod summary;
mod traces;
mod users;
mod warm_up;
mod web;

pub use abr::AbrRecord;
pub use access::UplinkRecord;
pub use calls::CallRecord;
pub use delay::{
    CellDelayRecord, CellDelays, CellStayRecord, ClassDelayRecord, DelayStatistics, delay_records,
};
pub use errors::ErrorRecord;
pub use guarantee::{RunGuarantee, WindowMeter, WindowRecord};
pub use ledger::{Account, FragmentedPackets, Ledger};
pub use packets::{EcnRecord, FlowSojournRecord, PacketMeter, PacketRecord, SojournRecord};
pub use pep::{PepRecord, joined};
pub use probes::ProbeRecord;
pub use queue::{QueueIntegral, QueueRecord, QueueSamples};
pub use sky::{SkyMeter, SkyNodes, SkyPorts, SkyRecord, SkyRoundTrips, SkySeconds};
pub use traces::*;
pub use users::{Responses, UserGroupRecord, UserRows, UserSectionRecord};
pub use web::{RelayedRequests, ResponseTimes, StreamRecord, WebRecord, WebTotals};

use serde::Serialize;
use skycell_declare::is_default;
pub use skycell_switch::DiscardReason;

/// Counts by reason of discard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Discards {
    /// See [`DiscardReason::Overflow`].
    pub overflow: u64,
    /// See [`DiscardReason::RestOfFrame`].
    pub rest_of_frame: u64,
    /// See [`DiscardReason::AboveThreshold`].
    pub above_threshold: u64,
    /// See [`DiscardReason::OverFairShare`].
    pub over_fair_share: u64,
    /// See [`DiscardReason::VcThreshold`].
    pub vc_threshold: u64,
    /// See [`DiscardReason::Drawn`].
    pub drawn: u64,
    /// See [`DiscardReason::Tagged`].
    pub tagged: u64,
    /// See [`DiscardReason::Delayed`].
    pub delayed: u64,
    /// See [`DiscardReason::PushedOut`].
    pub pushed_out: u64,
    /// See [`DiscardReason::Policed`].
    pub policed: u64,
    /// See [`DiscardReason::Filtered`]; left out where there are none.
    #[serde(skip_serializing_if = "is_default")]
    pub filtered: u64,
}

impl Discards {
    /// Adds `count` discards for `reason`.
    pub fn add(&mut self, reason: DiscardReason, count: u64) {
        *match reason {
            DiscardReason::Overflow => &mut self.overflow,
            DiscardReason::RestOfFrame => &mut self.rest_of_frame,
            DiscardReason::AboveThreshold => &mut self.above_threshold,
            DiscardReason::OverFairShare => &mut self.over_fair_share,
            DiscardReason::VcThreshold => &mut self.vc_threshold,
            DiscardReason::Drawn => &mut self.drawn,
            DiscardReason::Tagged => &mut self.tagged,
            DiscardReason::Delayed => &mut self.delayed,
            DiscardReason::PushedOut => &mut self.pushed_out,
            DiscardReason::Policed => &mut self.policed,
            DiscardReason::Filtered => &mut self.filtered,
        } += count;
    }

    /// These and those, reason by reason.
    #[must_use]
    pub fn and(mut self, those: &Discards) -> Discards {
        for reason in DiscardReason::ALL {
            self.add(reason, those.of(reason));
        }
        self
    }

    /// Discards for `reason`.
    pub fn of(&self, reason: DiscardReason) -> u64 {
        match reason {
            DiscardReason::Overflow => self.overflow,
            DiscardReason::RestOfFrame => self.rest_of_frame,
            DiscardReason::AboveThreshold => self.above_threshold,
            DiscardReason::OverFairShare => self.over_fair_share,
            DiscardReason::VcThreshold => self.vc_threshold,
            DiscardReason::Drawn => self.drawn,
            DiscardReason::Tagged => self.tagged,
            DiscardReason::Delayed => self.delayed,
            DiscardReason::PushedOut => self.pushed_out,
            DiscardReason::Policed => self.policed,
            DiscardReason::Filtered => self.filtered,
        }
    }

    /// All reasons together.
    pub fn total(&self) -> u64 {
        DiscardReason::ALL
            .map(|reason| self.of(reason))
            .iter()
            .sum()
    }
}

/// Counts of cells that left a port and were lost on its link or behind it, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LinkLosses {
    /// A handover that loses what is under way.
    pub handover: u64,
    /// A draw against the frame, on a link that loses some.
    pub drawn: u64,
    /// A node that the path in force does not come by any more, and that has forgotten the VC.
    pub off_path: u64,
    /// Bit errors in the header, seen by the HEC; left out where there are none, as those below.
    #[serde(skip_serializing_if = "is_default")]
    pub header: u64,
    /// Bit errors in the header that made it another VC's.
    #[serde(skip_serializing_if = "is_default")]
    pub misinserted: u64,
    /// Bit errors seen by the check sequence of a packet, or of an RM cell.
    #[serde(skip_serializing_if = "is_default")]
    pub check: u64,
    /// A node of the sky without a route for the packet's label.
    #[serde(skip_serializing_if = "is_default")]
    pub no_route: u64,
    /// A link of the sky that was gone when the packet's turn came.
    #[serde(skip_serializing_if = "is_default")]
    pub out_of_range: u64,
    /// A packet that had taken as many links of the sky as it may.
    #[serde(skip_serializing_if = "is_default")]
    pub hop_limit: u64,
}

impl LinkLosses {
    /// Adds a cell lost for `reason`.
    pub fn add(&mut self, reason: LossReason) {
        *match reason {
            LossReason::Handover => &mut self.handover,
            LossReason::Drawn => &mut self.drawn,
            LossReason::OffPath => &mut self.off_path,
            LossReason::Header => &mut self.header,
            LossReason::Misinserted => &mut self.misinserted,
            LossReason::Check => &mut self.check,
            LossReason::NoRoute => &mut self.no_route,
            LossReason::OutOfRange => &mut self.out_of_range,
            LossReason::HopLimit => &mut self.hop_limit,
        } += 1;
    }

    /// Adds those of another port.
    pub fn add_all(&mut self, others: &LinkLosses) {
        self.handover += others.handover;
        self.drawn += others.drawn;
        self.off_path += others.off_path;
        self.header += others.header;
        self.misinserted += others.misinserted;
        self.check += others.check;
        self.no_route += others.no_route;
        self.out_of_range += others.out_of_range;
        self.hop_limit += others.hop_limit;
    }

    /// All reasons together.
    pub fn total(&self) -> u64 {
        let by_bit_errors = self.header + self.misinserted + self.check;
        let in_the_sky = self.no_route + self.out_of_range + self.hop_limit;
        self.handover + self.drawn + self.off_path + by_bit_errors + in_the_sky
    }
}

/// Why a link lost a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossReason {
    /// See [`LinkLosses::handover`].
    Handover,
    /// See [`LinkLosses::drawn`].
    Drawn,
    /// See [`LinkLosses::off_path`].
    OffPath,
    /// See [`LinkLosses::header`].
    Header,
    /// See [`LinkLosses::misinserted`].
    Misinserted,
    /// See [`LinkLosses::check`].
    Check,
    /// See [`LinkLosses::no_route`].
    NoRoute,
    /// See [`LinkLosses::out_of_range`].
    OutOfRange,
    /// See [`LinkLosses::hop_limit`].
    HopLimit,
}

impl From<skycell_sky::LossReason> for LossReason {
    fn from(reason: skycell_sky::LossReason) -> Self {
        match reason {
            skycell_sky::LossReason::NoRoute => LossReason::NoRoute,
            skycell_sky::LossReason::OutOfRange => LossReason::OutOfRange,
            skycell_sky::LossReason::HopLimit => LossReason::HopLimit,
        }
    }
}

/// Everything a run leaves.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunRecords {
    /// Which engine ran: `reference` or `fast`.
    pub engine: &'static str,
    /// Simulated time that is counted, picoseconds: from `measured_from_ps` to the end of the run.
    pub duration_ps: u64,
    /// When counting began, picoseconds; left out where that is the beginning of the run.
    #[serde(skip_serializing_if = "is_default")]
    pub measured_from_ps: u64,
    /// One row per flow of the spec, in its order.
    pub flows: Vec<FlowRecord>,
    /// One row per VC of the spec, in its order.
    pub vcs: Vec<VcRecord>,
    /// One row per link (its output port) of the spec, in its order; then one per port of the sky that is sampled, in the
    /// order of its number.
    pub ports: Vec<PortRecord>,
    /// Requests and responses of all web users together; only in runs with web traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web: Option<WebTotals>,
    /// One row per group of users of the spec, in its order; of runs with users only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<UserGroupRecord>,
    /// One row per cell source of the spec, in its order.
    pub sources: Vec<SourceRecord>,
    /// One row per source that an echo answers; of runs with echoes only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<ProbeRecord>,
    /// One row per uplink of the spec, in its order; of runs with uplinks only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uplinks: Vec<UplinkRecord>,
    /// One row per class of calls of the spec, in its order; of runs with calls only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallRecord>,
    /// One row per VC whose cell transfer delay the spec asks for, in its order.
    pub cell_delays: Vec<CellDelayRecord>,
    /// One row per service class of those VCs.
    pub class_delays: Vec<ClassDelayRecord>,
    /// Where every cell and octet went.
    pub ledger: Ledger,
    /// How the engine worked; differs between engines.
    pub engine_stats: EngineStats,
    /// Ports and nodes of the sky, as columns; of runs with a sky only.
    #[serde(skip)]
    pub sky: Option<SkyRecord>,
    /// Traces that the spec asked for.
    #[serde(skip)]
    pub traces: Traces,
}

/// How much work an engine did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EngineStats {
    /// Events taken from the event queue.
    pub events: u64,
    /// Cells that ports took in, all ports together.
    pub cells: u64,
    /// Cells handled one by one where a closed form did not hold; all of them in `reference`.
    pub cells_stepped: u64,
    /// Ports of the `fast` engine that have no closed form and are stepped unit by unit, as all are in `reference`.
    pub stepped_ports: Vec<SteppedPort>,
    /// The regions of a network that was divided; left out of a run in one thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regions: Option<RegionStats>,
}

/// Regions of a network, which acted beside one another. A function of the spec and of the regions, as all records are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RegionStats {
    /// How many there were.
    pub regions: u32,
    /// Least time from what happens in a region to what that leads to in another, picoseconds.
    pub lookahead_ps: u64,
    /// Exchanges of a region with its neighbours.
    pub turns: u64,
    /// Packets, frames of cells, or parts of these that went from a region to another.
    pub crossings: u64,
    /// Events of all regions.
    pub events: u64,
    /// Events of the region with most.
    pub largest_events: u64,
    /// Events on the critical path: each of its turns needs the one before, in the same region or in a neighbour. `events`
    /// by it is how many times as fast a run may be, however many cores there are.
    pub path_events: u64,
}

/// A port that is stepped unit by unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SteppedPort {
    /// Name of its link.
    pub port: String,
    /// Why.
    pub reason: SteppedReason,
}

/// Why a port has no closed form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SteppedReason {
    /// Its link changes its rate, its path or its destination, or its delay where frames begin or end or have several queues.
    TimeVaryingLink,
    /// A VC that may cross it changes its path.
    ReroutedVc,
    /// A host's or router's port has several queues or another order than that of arrival.
    QueuesBesideSwitches,
    /// Its link loses frames at random, and its queues decide which frame is the next to have a draw.
    LossesOutOfOrder,
    /// Its link loses frames in bursts.
    LossesInBursts,
    /// The delay of its link varies from packet to packet.
    DelayVariation,
    /// Packets go over its link at the rates of their receivers.
    Receivers,
    /// Its link, or one before it on the way of a VC, has bit errors.
    BitErrors,
    /// A source sends cells of longer frames over it, one by one.
    SourceFrames,
    /// Delays of single cells of frames are measured.
    UnitDelays,
    /// Frames that a contract refuses where a VC enters have no port behind it.
    EdgeDiscards,
    /// Behind it a policer looks at the cells of frames one by one.
    Policer,
    /// An ABR VC crosses it, whose rate is controlled cell by cell, or a VC that shares a port with one, and so on; or
    /// the trace of its rate algorithm is asked for.
    RateControl,
    /// It is of an uplink whose slots go from terminal to terminal, or of a VC that crosses one or shares a port with such
    /// a VC, and so on.
    SharedUplink,
    /// The run has a VC whose cells are put in order at its end.
    Resequencer,
    /// It is of a VC whose cells with CLP = 0 are counted apart, or of one that shares a port with such a VC, and so on.
    Clp0,
    /// It carries cells that nodes forward by label.
    CellsByLabel,
    /// The run has links beside those over which nodes forward packets by label.
    SkyBesideLinks,
    /// The run has users of the web whose packets nodes forward by label.
    SkyWeb,
    /// The run has proxies between which nodes forward packets by label.
    SkyProxies,
    /// The run has a VC by label with a policer or a resequencer, or delays of its cells are measured.
    SkyContracts,
    /// A packet that nodes forward by label may come to the next one without a delay.
    SkyLookahead,
    /// It is of the sky, and the spec asks for its record.
    SampledInSky,
    /// The run has a link over which packets go in fragments that may come to it.
    Fragmentation,
    /// The run has a link from which packets go on with bit errors.
    DamagedPackets,
    /// Its policy decides as packets leave, what it sees is flows, or a shaper delays what it sends.
    QueueManagement,
}

/// The counters of one TCP connection (or a row of connections, for transfers). Octets are TCP
/// payload.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FlowRecord {
    /// Name in the spec.
    pub name: String,
    /// When the application began, picoseconds.
    pub start_ps: u64,
    /// Time during which a connection was open, picoseconds.
    pub connected_ps: u64,
    /// Connections that were closed.
    pub closings: u64,
    /// Of the time connected, what those took to close, picoseconds: from the acknowledgement of the last
    /// octet, which ends a transfer, to the answer to the FIN.
    pub closing_ps: u64,
    /// Octets given to the network, repetitions included.
    pub octets_sent: u64,
    /// Of those, octets that had been sent before.
    pub octets_retransmitted: u64,
    /// Octets acknowledged.
    pub octets_acked: u64,
    /// Octets that reached the destination's application, in order.
    pub octets_delivered: u64,
    /// Different octets that reached the destination, in order or not.
    pub octets_received: u64,
    /// Highest octet that reached the destination (all connections of the flow together).
    pub octets_highest: u64,
    /// Data segments given to the network.
    pub segments_sent: u64,
    /// Of those, segments that had been sent before.
    pub segments_retransmitted: u64,
    /// Data segments that the loss script took before the port.
    pub segments_lost_by_script: u64,
    /// Data segments that arrived.
    pub segments_received: u64,
    /// Of those, segments with nothing new in them.
    pub segments_duplicate: u64,
    /// Acknowledgements sent by the receiver.
    pub acks_sent: u64,
    /// Acknowledgements that arrived at the sender.
    pub acks_received: u64,
    /// Of those, duplicates.
    pub dup_acks_received: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Entries into fast retransmit.
    pub fast_retransmits: u64,
    /// Cuts of cwnd taken back, as what was thought lost had been late; of flows only whose recovery has `undo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undos: Option<u64>,
    /// Of the data segments that arrived, those that a queue had marked (ECN).
    pub segments_marked: u64,
    /// Reductions of cwnd because of marks.
    pub ecn_reductions: u64,
    /// Segments without data that open or close connections, both ways.
    pub control_segments: u64,
    /// Octets sent and not acknowledged at the end of the run.
    pub octets_outstanding: u64,
    /// Octets that wait at the receiver for earlier ones at the end of the run.
    pub octets_waiting: u64,
    /// Largest cwnd, octets, whole.
    pub cwnd_max: u64,
    /// Finished transfers.
    pub transfers: u64,
    /// From the moment the sender hands a data segment to its port until its last cell has arrived;
    /// mean over the segments that arrived, picoseconds.
    pub delay_mean_ps: f64,
    /// Smallest such delay, picoseconds.
    pub delay_min_ps: u64,
    /// Largest such delay, picoseconds.
    pub delay_max_ps: u64,
    /// Requests and responses of the client; only in flows with web traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web: Option<WebRecord>,
    /// The proxy at which it begins; of connections of split flows only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pep: Option<PepRecord>,
    /// The connections that it is split into, in the order of the path; of split flows only. What the row itself says of the
    /// source is that of the first, what it says of the destination that of the last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<FlowRecord>,
    /// Octets sent for the first time before counting began.
    #[serde(skip)]
    pub earlier_octets: u64,
    /// Transfers finished before counting began.
    #[serde(skip)]
    pub earlier_transfers: u64,
}

/// The fates of one VC's cells and frames.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VcRecord {
    /// Name in the spec.
    pub name: String,
    /// True if it carries packets; then all "cells" here are packets, and each is a frame.
    #[serde(skip)]
    pub carries_packets: bool,
    /// Cells handed to the VC's first port.
    pub cells_offered: u64,
    /// Cells that reached the VC's end.
    pub cells_delivered: u64,
    /// Cells discarded at any port on the way.
    pub cells_discarded: Discards,
    /// Cells that did not conform to the VC's policer.
    pub cells_nonconforming: u64,
    /// Of those, cells that it tagged.
    pub cells_tagged: u64,
    /// Of those, cells that it discarded.
    pub cells_policed: u64,
    /// Cells waiting in ports at the end of the run.
    pub cells_queued: u64,
    /// Cells on links at the end of the run.
    pub cells_in_transit: u64,
    /// Cells lost on links, by reason.
    pub cells_lost: LinkLosses,
    /// Frames handed to the VC's first port.
    pub frames_offered: u64,
    /// Frames reassembled whole.
    pub frames_delivered: u64,
    /// Cells of the frames reassembled whole.
    pub cells_whole: u64,
    /// Reassemblies that failed, each ended by a last-cell mark.
    pub frames_corrupt: u64,
    /// Of those, frames whose cells all came, some with bit errors: their CRC-32 failed. Left out where there are none.
    #[serde(skip_serializing_if = "is_default")]
    pub frames_crc: u64,
    /// Cells in the reassemblies that failed.
    pub cells_corrupt: u64,
    /// Cells of a reassembly that was open at the end of the run.
    pub cells_open: u64,
    /// Frames that F-GCRA found eligible where they entered the first switch; 0 without a contract.
    pub frames_eligible: u64,
    /// Cells of those frames.
    pub cells_eligible: u64,
    /// Frames that went on from there with CLP = 1 on their first cell.
    pub frames_tagged: u64,
    /// Frames that came there and were longer than MFS.
    pub frames_oversized: u64,
    /// Frames whose cells came there with different CLP bits.
    pub frames_inconsistent: u64,
    /// Frames that the contract discarded there, whole or in part.
    pub frames_refused: u64,
    /// Cells that it discarded there.
    pub cells_refused: u64,
    /// The guarantee over sliding windows; all zero without a contract.
    pub guarantee: WindowRecord,
    /// The guarantee over the run; nothing is due or met without a contract.
    pub run_guarantee: RunGuarantee,
    /// Counters of its rate control; only for ABR VCs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abr: Option<AbrRecord>,
    /// Its cells with CLP = 0 alone; only of VCs whose source sends others too, or whose policer counts those apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clp0: Option<Clp0Record>,
    /// Counters of the resequencer at its end; only for VCs with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resequencer: Option<ResequencerRecord>,
    /// Cells under way when counting began: offered before, and neither delivered nor lost by then. With those offered
    /// they are all cells that can be delivered or lost in the time that counts. Left out where there were none.
    #[serde(skip_serializing_if = "is_default")]
    pub earlier_cells: u64,
}

/// The fates of a VC's cells with CLP = 0. Cells that its policer tags are among them only up to
/// there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Clp0Record {
    /// Cells that its source sent with CLP = 0.
    pub cells_offered: u64,
    /// Cells that had CLP = 0 when they were lost: policed, discarded, or lost on links.
    pub cells_lost: u64,
}

/// The counters of the resequencer at the end of a VC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ResequencerRecord {
    /// Cells that had to wait for an earlier one.
    pub cells_held: u64,
    /// Cells for which it no longer waited: lost, or late.
    pub cells_given_up: u64,
    /// Of those, cells that came after others had been let go before them.
    pub cells_late: u64,
    /// Most cells in it at a time.
    pub cells_most: u64,
    /// Cells in it at the end of the run.
    pub cells_waiting: u64,
    /// Mean wait of the cells that had to wait, rounded down; 0 without any.
    pub wait_mean_ps: u64,
    /// Longest wait.
    pub wait_max_ps: u64,
}

/// The record of an output port.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PortRecord {
    /// Name of the link the port feeds.
    pub name: String,
    /// Cells that arrived.
    pub arrived: u64,
    /// Cells whose last bit has left.
    pub departed: u64,
    /// Cells in the port at the end of the run, the one under transmission included.
    pub queued: u64,
    /// Cells discarded, by reason.
    pub discarded: Discards,
    /// Frames that lost at least one cell here, by the reason of the first.
    pub frames_discarded: Discards,
    /// Time during which a cell was under transmission, picoseconds.
    pub busy_ps: u64,
    /// Queue length.
    pub queue: QueueRecord,
    /// Each queue, where the port has several; the rest of this record is all of them together.
    pub queues: Vec<ClassQueueRecord>,
    /// Sampled occupancy of each VC that crosses the port, where the spec asks for it.
    pub vc_queues: Vec<VcQueueRecord>,
    /// In octets and time, where the port carries packets; then all that is called cells above is packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub octets: Option<PacketRecord>,
    /// Effects of bit errors on the link; left out for a link without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<ErrorRecord>,
    /// How long the cells of each VC stayed, where the spec asks for it; left out where it does not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stays: Vec<CellStayRecord>,
}

/// The record of one queue of an output port.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ClassQueueRecord {
    /// The class that it holds; none for all without a queue of their own.
    pub class: Option<&'static str>,
    /// Cells that arrived.
    pub arrived: u64,
    /// Cells whose last bit has left.
    pub departed: u64,
    /// Cells in the queue at the end of the run, the one under transmission included.
    pub queued: u64,
    /// Cells discarded, by reason.
    pub discarded: Discards,
    /// Frames that lost at least one cell here, by the reason of the first.
    pub frames_discarded: Discards,
    /// Queue length.
    pub queue: QueueRecord,
    /// In octets and time, where the port carries packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub octets: Option<PacketRecord>,
}

/// The counters of a cell source.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SourceRecord {
    /// Name in the spec.
    pub name: String,
    /// Cells.
    pub cells: u64,
    /// Frames begun.
    pub frames: u64,
    /// Octets of IP packets; 0 where it sends cells that no packet is in.
    pub octets: u64,
    /// Datagrams that came to the end of their route; 0 where it sends cells.
    pub datagrams_delivered: u64,
    /// Octets of the IP packets that they are.
    pub octets_delivered: u64,
    /// How long they took, each from its source to the end of its route, where the spec asks for it; else left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<SojournRecord>,
}

/// Sampled occupancy of one VC at one port.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VcQueueRecord {
    /// VC id.
    pub vc: u32,
    /// Mean of the samples, cells.
    pub mean: f64,
    /// Largest sample, cells.
    pub max: u32,
    /// Median, 90th and 99th percentile of the samples, cells.
    pub p50: u32,
    /// 90th percentile.
    pub p90: u32,
    /// 99th percentile.
    pub p99: u32,
    /// The samples.
    #[serde(skip)]
    pub samples: QueueSamples,
}

impl VcQueueRecord {
    /// From the samples of VC `vc`.
    pub fn new(vc: u32, samples: &QueueSamples) -> Self {
        let percentile = |percent| samples.percentile(percent).unwrap_or(0);
        VcQueueRecord {
            vc,
            mean: samples.mean(),
            max: samples.max(),
            p50: percentile(50),
            p90: percentile(90),
            p99: percentile(99),
            samples: samples.clone(),
        }
    }
}

impl RunRecords {
    /// The summary (all but the traces) as one JSON object.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("records are plain data")
    }
}
