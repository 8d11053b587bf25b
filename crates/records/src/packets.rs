//! What a port that carries packets counts in octets and in time, beside its packets.

use crate::{CellDelays, QueueIntegral};
use serde::Serialize;

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
}

impl PacketMeter {
    /// Of a port that is empty.
    pub fn new() -> Self {
        PacketMeter {
            sojourn: CellDelays::new(0),
            ..PacketMeter::default()
        }
    }

    /// A packet of `octets` octets has arrived at `now_ps`, and is taken in or else discarded.
    pub fn on_arrival(&mut self, now_ps: u64, octets: u32, is_accepted: bool) {
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

    /// A packet of `octets` octets that came at `came_ps` has left at `now_ps`.
    pub fn on_departure(&mut self, now_ps: u64, octets: u32, came_ps: u64) {
        let octets = u64::from(octets);
        self.departed += octets;
        self.queued -= octets;
        let sum = u128::from(now_ps) * u128::from(octets);
        self.integral.departed(sum);
        self.sojourn.add(now_ps - came_ps);
    }

    /// What there is when the run ends at `end_ps`.
    pub fn record(&self, end_ps: u64) -> PacketRecord {
        PacketRecord {
            arrived: self.arrived,
            departed: self.departed,
            queued: self.queued,
            discarded: self.discarded,
            mean: self.integral.mean(self.queued, end_ps),
            max: self.max,
            sojourn: self.sojourn(),
        }
    }

    fn sojourn(&self) -> SojournRecord {
        let found = self.sojourn.record(0).delay;
        SojournRecord {
            packets: found.cells,
            mean_ps: found.mean_ps,
            min_ps: found.min_ps,
            max_ps: found.max_ps,
            p50_ps: found.p50_ps,
            p90_ps: found.p90_ps,
            p95_ps: self.sojourn.quantile(950),
            p99_ps: found.p99_ps,
            p999_ps: found.p999_ps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_are_weighted_by_their_stay_and_discarded_ones_stay_for_no_time() {
        let mut meter = PacketMeter::new();
        meter.on_arrival(10, 1_500, true);
        meter.on_arrival(20, 40, true);
        meter.on_arrival(20, 600, false);
        meter.on_departure(30, 1_500, 10);
        let record = meter.record(50);
        assert_eq!((record.arrived, record.discarded), (2_140, 600));
        assert_eq!(
            (record.departed, record.queued, record.max),
            (1_500, 40, 1_540)
        );
        // 1500 octets for 20 ps and 40 for 30 ps, of 50.
        assert_eq!(record.mean, (1_500.0 * 20.0 + 40.0 * 30.0) / 50.0);
        assert_eq!((record.sojourn.packets, record.sojourn.max_ps), (1, 20));
    }
}
