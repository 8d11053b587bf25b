//! HyStart as Linux's CUBIC has it: slow start that ends as ACKs come in a long train, or as round trips get longer.

use super::SlowStart;
use crate::congestion::{Ack, Sample};
use crate::spec::TcpSpec;
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, types::SegmentCount};
use skycell_units::SimTime;

/// An ACK adds what it acknowledges, until a long train of ACKs or longer round trips.
///
/// Source: Linux `hystart_update`, `cubictcp_acked` (tcp_cubic.c) and `tcp_slow_start` (tcp_cong.c); Ha and Rhee,
/// Taming the elephants, 2011.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct HyStartSpec {
    /// Events that end slow start beside a loss: a long train of ACKs, longer round trips, either,
    /// or nothing.
    #[param(
        word,
        default = "both",
        source = "Linux tcp_cubic.c: hystart_detect = 3"
    )]
    pub detect: HyStartDetect,
    /// Segments of cwnd from which on it looks.
    #[param(
        when(detect = ["both", "train", "delay"]),
        default = 16,
        source = "Linux tcp_cubic.c: hystart_low_window"
    )]
    pub low_window: SegmentCount,
}

/// The event for which HyStart ends slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum HyStartDetect {
    /// A train or a delay.
    Both,
    /// ACKs, none more than 2 ms after the last, that have lasted for half of the least round trip.
    Train,
    /// Round trips an eighth longer than the least.
    Delay,
    /// Neither: slow start ends at ssthresh.
    None,
}

impl HyStartDetect {
    fn has_train(self) -> bool {
        matches!(self, HyStartDetect::Both | HyStartDetect::Train)
    }

    fn has_delay(self) -> bool {
        matches!(self, HyStartDetect::Both | HyStartDetect::Delay)
    }
}

/// Longest gap in a train: hystart_ack_delta_us.
const ACK_DELTA_PS: u64 = SimTime::from_millis(2).0;
/// HYSTART_DELAY_MIN and HYSTART_DELAY_MAX.
const DELAY_PS: (u64, u64) = (SimTime::from_millis(4).0, SimTime::from_millis(16).0);
/// HYSTART_MIN_SAMPLES: round trips of a round that are waited for.
const MIN_SAMPLES: u32 = 8;
/// hystart_ack_delay: most that is allowed for segments that leave and arrive in batches.
const MAX_BATCH_PS: f64 = SimTime::from_millis(1).0 as f64;
/// hystart_ack_delay: four batches of sk_gso_max_size octets, where nothing lowers it.
const BATCHES: f64 = 4.0 * 65_536.0;
/// tcp_update_pacing_rate: cwnd a round trip, times tcp_pacing_ss_ratio.
const PACING_RATIO: f64 = 2.0;

/// The state of HyStart. Times in picoseconds of the host's clock.
#[derive(Clone, Debug)]
pub(crate) struct HyStart {
    spec: HyStartSpec,
    /// delay_min: the least round trip; none before the first.
    delay_min: Option<u64>,
    /// found.
    is_found: bool,
    /// None before the first that it looks at.
    round: Option<Round>,
}

/// The time from one ACK of all that had been sent to the next.
#[derive(Clone, Debug)]
struct Round {
    /// end_seq: it lasts until more is acknowledged.
    end: u64,
    /// round_start.
    began: u64,
    /// last_ack: the last of its train.
    last_ack: u64,
    /// curr_rtt; none before the first.
    rtt: Option<u64>,
    /// sample_cnt.
    samples: u32,
}

impl HyStart {
    pub(super) fn new(spec: &HyStartSpec) -> Self {
        HyStart {
            spec: *spec,
            delay_min: None,
            is_found: false,
            round: None,
        }
    }

    /// hystart_update, with a window of low_window or more. Rounds go on in a smaller one too, since 6.14.
    fn finds(&mut self, tcp: &TcpSpec, cwnd: f64, delay_min: u64, sample: &Sample) -> bool {
        let detect = self.spec.detect;
        let least = (u64::from(self.spec.low_window) * tcp.mss) as f64;
        let is_paced = tcp.pacing.is_on();
        if self.round.as_ref().is_none_or(|r| sample.reached > r.end) {
            self.round = None;
        }
        let now = sample.now_ps;
        let round = self.round.get_or_insert(Round {
            end: sample.next,
            began: now,
            last_ack: now,
            rtt: None,
            samples: 0,
        });
        if cwnd < least {
            return false;
        }
        let mut is_found = false;
        if detect.has_train() && now - round.last_ack <= ACK_DELTA_PS {
            round.last_ack = now;
            // Half of it where nothing is paced: what is may come that much later.
            let batch = (BATCHES * sample.srtt_ps as f64 / (PACING_RATIO * cwnd)).min(MAX_BATCH_PS);
            let whole = delay_min + batch as u64;
            let threshold = if is_paced { whole } else { whole / 2 };
            is_found = now - round.began > threshold;
        }
        if detect.has_delay() {
            let rtt = round
                .rtt
                .map_or(sample.rtt_ps, |rtt| rtt.min(sample.rtt_ps));
            round.rtt = Some(rtt);
            if round.samples < MIN_SAMPLES {
                round.samples += 1;
            } else {
                is_found |= rtt > delay_min + (delay_min / 8).clamp(DELAY_PS.0, DELAY_PS.1);
            }
        }
        is_found
    }
}

impl SlowStart for HyStart {
    fn on_sample(&mut self, tcp: &TcpSpec, cwnd: f64, is_running: bool, sample: &Sample) -> bool {
        let delay_min = self
            .delay_min
            .map_or(sample.rtt_ps, |min| min.min(sample.rtt_ps));
        self.delay_min = Some(delay_min);
        if is_running && !self.is_found {
            self.is_found = self.finds(tcp, cwnd, delay_min, sample);
            return self.is_found;
        }
        false
    }

    fn on_ack(&mut self, _tcp: &TcpSpec, ack: &Ack) -> f64 {
        ack.octets as f64
    }

    fn stops_at_ssthresh(&self) -> bool {
        true
    }

    fn on_end(&mut self) {}

    /// bictcp_reset and bictcp_hystart_reset.
    fn on_rto(&mut self) {
        *self = HyStart::new(&self.spec);
    }
}

#[cfg(test)]
#[path = "hystart_tests.rs"]
mod tests;
