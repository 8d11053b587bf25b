//! The counts of a packet port in octets and in time, beside its packets.

use crate::{CellDelays, QueueIntegral};
use serde::Serialize;
use skycell_units::Ecn;

/// Octets of IP packets at a port, without what the link adds to them, and how long packets stayed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PacketRecord {
    /// Octets that arrived.
    pub arrived: u64,
    /// Octets whose last bit has left.
    pub departed: u64,
    /// Octets in the port at the end of the run, the packet under transmission included.
    pub queued: u64,
    /// Octets discarded.
    pub discarded: u64,
    /// Mean over time of the octets in the port, exact.
    pub mean: f64,
    /// Largest number of octets in the port, exact.
    pub max: u64,
    /// How long packets that left stayed.
    pub sojourn: SojournRecord,
    /// The same of each flow that sent any, where the spec asks for it; of all flows together in the queues of a port.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowSojournRecord>,
    /// Packets whose transport knows ECN; none where no such packet came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnRecord>,
}

/// The fates, at a port, of packets whose transport uses ECN (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EcnRecord {
    /// Packets that came with ECT(0) or ECT(1).
    pub ect: EcnCounts,
    /// Of those, packets that the port marked: they go on as CE.
    pub marked: u64,
    /// Packets that came with CE, and those that the port marked.
    pub ce: EcnCounts,
}

/// The fates of some packets at a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EcnCounts {
    /// Packets that arrived so.
    pub arrived: u64,
    /// Packets that left so.
    pub departed: u64,
    /// Packets discarded.
    pub discarded: u64,
    /// Packets in the port at the end of the run.
    pub queued: u64,
}

impl EcnRecord {
    /// The packets with such a field; none for those whose transport does not know ECN.
    fn of(&mut self, ecn: Ecn) -> Option<&mut EcnCounts> {
        match ecn {
            Ecn::NotEct => None,
            Ecn::Ect0 | Ecn::Ect1 => Some(&mut self.ect),
            Ecn::Ce => Some(&mut self.ce),
        }
    }
}

/// How long packets stayed in a port: from a packet's arrival to the departure of its last bit.
///
/// Percentiles are from a histogram: not below the exact ones, and above them by at most 1/128.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SojournRecord {
    /// Packets that left.
    pub packets: u64,
    /// Mean, picoseconds, exact.
    pub mean_ps: f64,
    /// Least, picoseconds, exact.
    pub min_ps: u64,
    /// Largest, picoseconds, exact.
    pub max_ps: u64,
    /// Median, picoseconds.
    pub p50_ps: u64,
    /// 90th percentile, picoseconds.
    pub p90_ps: u64,
    /// 95th percentile, picoseconds.
    pub p95_ps: u64,
    /// 99th percentile, picoseconds.
    pub p99_ps: u64,
    /// 99.9th percentile, picoseconds.
    pub p999_ps: u64,
    /// The stays.
    #[serde(skip)]
    pub stays: CellDelays,
}

/// How long a flow's packets stayed in a port.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FlowSojournRecord {
    /// The flow's number: two for each connection, its data first, then one for each source.
    pub flow: u32,
    /// The stays of its packets.
    #[serde(flatten)]
    pub sojourn: SojournRecord,
}

/// Counts for a [`PacketRecord`].
#[derive(Clone, Debug, Default)]
pub struct PacketMeter {
    arrived: u64,
    departed: u64,
    discarded: u64,
    queued: u64,
    max: u64,
    integral: QueueIntegral,
    sojourn: CellDelays,
    /// By the number of the flow, if they are asked for.
    flows: Option<Vec<CellDelays>>,
    ecn: EcnRecord,
}

impl PacketMeter {
    /// Of a port that is empty, and whether it tells stays flow by flow.
    pub fn new(is_by_flow: bool) -> Self {
        PacketMeter {
            sojourn: CellDelays::new(0),
            flows: is_by_flow.then(Vec::new),
            ..PacketMeter::default()
        }
    }

    /// Octets in the port.
    pub fn queued(&self) -> u64 {
        self.queued
    }

    /// A packet of `octets` octets has arrived at `now_ps` with `ecn`, and is taken in or else discarded.
    pub fn on_arrival(&mut self, now_ps: u64, octets: u32, ecn: Ecn, is_accepted: bool) {
        if let Some(packets) = self.ecn.of(ecn) {
            packets.arrived += 1;
            packets.queued += u64::from(is_accepted);
            packets.discarded += u64::from(!is_accepted);
        }
        let octets = u64::from(octets);
        self.arrived += octets;
        if !is_accepted {
            self.discarded += octets;
            return;
        }
        self.queued += octets;
        self.max = self.max.max(self.queued);
        let sum = u128::from(now_ps) * u128::from(octets);
        self.integral.arrived(sum);
    }

    /// A packet in the port that had come with ECT goes on as CE.
    pub fn on_mark(&mut self) {
        self.ecn.ect.queued -= 1;
        self.ecn.marked += 1;
        self.ecn.ce.queued += 1;
    }

    /// A packet of `octets` octets with `ecn` that was taken in is discarded at `now_ps`.
    pub fn on_discard(&mut self, now_ps: u64, octets: u32, ecn: Ecn) {
        if let Some(packets) = self.ecn.of(ecn) {
            packets.queued -= 1;
            packets.discarded += 1;
        }
        self.discarded += u64::from(octets);
        self.leaves(now_ps, octets);
    }

    /// A packet of `octets` octets with `ecn` of the flow with that number, which came at `came_ps`, has left at `now_ps`.
    pub fn on_departure(&mut self, now_ps: u64, octets: u32, ecn: Ecn, flow: u32, came_ps: u64) {
        if let Some(packets) = self.ecn.of(ecn) {
            packets.queued -= 1;
            packets.departed += 1;
        }
        self.departed += u64::from(octets);
        self.leaves(now_ps, octets);
        self.sojourn.add(now_ps - came_ps);
        if let Some(flows) = &mut self.flows {
            add_of_flow(flows, flow, now_ps - came_ps);
        }
    }

    /// A packet of `octets` octets with `ecn` of the flow with that number arrives at `came_ps`, is taken in, and will have
    /// left at `left_ps`: for who knows that already. It is never among [`PacketMeter::queued`].
    pub fn on_passage(&mut self, came_ps: u64, left_ps: u64, octets: u32, ecn: Ecn, flow: u32) {
        if let Some(packets) = self.ecn.of(ecn) {
            packets.arrived += 1;
            packets.departed += 1;
        }
        let stay_ps = left_ps - came_ps;
        self.arrived += u64::from(octets);
        self.departed += u64::from(octets);
        self.integral
            .stayed(u128::from(stay_ps) * u128::from(octets));
        self.sojourn.add(stay_ps);
        if let Some(flows) = &mut self.flows {
            add_of_flow(flows, flow, stay_ps);
        }
    }

    fn leaves(&mut self, now_ps: u64, octets: u32) {
        self.queued -= u64::from(octets);
        let sum = u128::from(now_ps) * u128::from(octets);
        self.integral.departed(sum);
    }

    /// Returns the record when the run ends at `end_ps`.
    pub fn record(&self, end_ps: u64) -> PacketRecord {
        PacketRecord {
            arrived: self.arrived,
            departed: self.departed,
            queued: self.queued,
            discarded: self.discarded,
            mean: self.integral.mean(self.queued, end_ps),
            max: self.max,
            sojourn: SojournRecord::of(&self.sojourn),
            flows: self
                .flows
                .iter()
                .flatten()
                .zip(0u32..)
                .filter_map(FlowSojournRecord::of)
                .collect(),
            ecn: (self.ecn != EcnRecord::default()).then_some(self.ecn),
        }
    }
}

/// A packet of `flow` has stayed for `stay_ps`.
#[inline(never)] // few ports tell flows apart
fn add_of_flow(flows: &mut Vec<CellDelays>, flow: u32, stay_ps: u64) {
    let flow = flow as usize;
    if flows.len() <= flow {
        flows.resize(flow + 1, CellDelays::new(0));
    }
    flows[flow].add(stay_ps);
}

impl FlowSojournRecord {
    /// Of the flow with number `flow`, if packets of it have left.
    fn of((stays, flow): (&CellDelays, u32)) -> Option<Self> {
        let sojourn = SojournRecord::of(stays);
        (sojourn.packets > 0).then_some(FlowSojournRecord { flow, sojourn })
    }
}

impl SojournRecord {
    /// Of packets that stayed so long.
    pub fn of(stays: &CellDelays) -> Self {
        let found = stays.record(0).delay;
        SojournRecord {
            packets: found.cells,
            mean_ps: found.mean_ps,
            min_ps: found.min_ps,
            max_ps: found.max_ps,
            p50_ps: found.p50_ps,
            p90_ps: found.p90_ps,
            p95_ps: stays.quantile(950),
            p99_ps: found.p99_ps,
            p999_ps: found.p999_ps,
            stays: stays.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_are_weighted_by_their_stay_and_discarded_ones_stay_for_no_time() {
        let mut meter = PacketMeter::new(false);
        meter.on_arrival(10, 1_500, Ecn::NotEct, true);
        meter.on_arrival(20, 40, Ecn::NotEct, true);
        meter.on_arrival(20, 600, Ecn::NotEct, false);
        meter.on_departure(30, 1_500, Ecn::NotEct, 0, 10);
        let record = meter.record(50);
        assert_eq!((record.arrived, record.discarded), (2_140, 600));
        assert_eq!(
            (record.departed, record.queued, record.max),
            (1_500, 40, 1_540)
        );
        // 1500 octets for 20 ps and 40 for 30 ps, of 50.
        assert_eq!(record.mean, (1_500.0 * 20.0 + 40.0 * 30.0) / 50.0);
        assert_eq!((record.sojourn.packets, record.sojourn.max_ps), (1, 20));
        assert_eq!(record.flows, []);
    }

    #[test]
    fn a_passage_is_an_arrival_and_a_departure() {
        let (mut known, mut seen) = (PacketMeter::new(true), PacketMeter::new(true));
        let packets = [
            (10, 1_500, Ecn::NotEct, 30),
            (10, 40, Ecn::Ect0, 50),
            (60, 40, Ecn::Ce, 70),
        ];
        for (came, octets, ecn, left) in packets {
            known.on_passage(came, left, octets, ecn, 2);
            seen.on_arrival(came, octets, ecn, true);
            seen.on_departure(left, octets, ecn, 2, came);
        }
        for meter in [&mut known, &mut seen] {
            meter.on_arrival(80, 700, Ecn::Ect0, true);
        }
        let (known, seen) = (known.record(100), seen.record(100));
        let max = seen.max; // what was there at once is not known of a passage
        assert_eq!(PacketRecord { max, ..known }, seen);
        assert_eq!((seen.departed, seen.queued), (1_580, 700));
    }

    #[test]
    fn stays_are_told_flow_by_flow_of_those_that_sent_any() {
        let mut meter = PacketMeter::new(true);
        // Of flow 3 packets stay for 10, 20, ... 100 ps, of flow 1 one for 40.
        for stay in 1..=10 {
            meter.on_arrival(0, 40, Ecn::NotEct, true);
            meter.on_departure(10 * stay, 40, Ecn::NotEct, 3, 0);
        }
        meter.on_arrival(100, 40, Ecn::NotEct, true);
        meter.on_departure(140, 40, Ecn::NotEct, 1, 100);
        let record = meter.record(200);
        let found = record.flows.iter().map(|own| {
            let stay = &own.sojourn;
            (
                own.flow,
                stay.packets,
                stay.mean_ps,
                stay.p50_ps,
                stay.p95_ps,
                stay.max_ps,
            )
        });
        let expected = [(1, 1, 40.0, 40, 40, 40), (3, 10, 55.0, 50, 100, 100)];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        assert_eq!((record.sojourn.packets, record.sojourn.max_ps), (11, 100));
    }

    #[test]
    fn packets_that_know_ecn_are_counted_by_what_they_came_and_went_as() {
        let mut meter = PacketMeter::new(false);
        meter.on_arrival(0, 100, Ecn::NotEct, true);
        assert_eq!(meter.record(1).ecn, None);
        meter.on_arrival(0, 100, Ecn::Ect0, true);
        meter.on_arrival(0, 100, Ecn::Ect1, true);
        meter.on_arrival(0, 100, Ecn::Ect0, false);
        meter.on_arrival(0, 100, Ecn::Ce, true);
        meter.on_mark();
        meter.on_departure(1, 100, Ecn::Ce, 0, 0);
        meter.on_discard(1, 100, Ecn::Ce);
        let counts = |arrived, departed, discarded, queued| EcnCounts {
            arrived,
            departed,
            discarded,
            queued,
        };
        let expected = EcnRecord {
            ect: counts(3, 0, 1, 1),
            marked: 1,
            ce: counts(1, 1, 1, 0),
        };
        assert_eq!(meter.record(2).ecn, Some(expected));
    }
}
