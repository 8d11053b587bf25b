//! Congestion controls with a model of the path: what they look at and set, what an ACK tells them, and which there are.

use super::CongestionSpec;
use super::bbr::{Bbr, burst_size as bbr_burst_size};
use super::bbr3::{Bbr3, burst_size as bbr3_burst_size};
use crate::pacing::BurstSize;
use skycell_des::Stream;

/// BW_UNIT: bandwidths are segments a microsecond in 2^24ths.
pub(super) const BW_UNIT: u64 = 1 << 24;
/// USEC_PER_MSEC.
pub(super) const US_PER_MS: u64 = 1_000;
/// bbr_cwnd_min_target, BBR.MinPipeCwnd: segments.
pub(super) const LEAST_CWND: u64 = 4;

/// The values of the connection that the model reads and sets (struct tcp_sock). Windows in
/// segments, times in microseconds of the host's clock.
#[derive(Debug)]
pub(crate) struct Path {
    /// snd_cwnd, which it sets.
    pub(crate) cwnd: u64,
    /// snd_cwnd_clamp.
    pub(crate) cwnd_max: u64,
    /// snd_ssthresh, if it sets one.
    pub(crate) ssthresh: Option<u64>,
    /// sk_pacing_rate, octets a second, which it sets.
    pub(crate) rate: u64,
    /// True if the application keeps the sender from sending more (app_limited).
    pub(crate) is_app_limited: bool,
    /// Set where the rates that are found say nothing of the path, as if the application did.
    pub(crate) limits_itself: bool,
    /// tcp_packets_in_flight.
    pub(crate) in_flight: u64,
    /// True if cwnd was full at any time of the last round trip.
    pub(crate) is_cwnd_limited: bool,
    /// tp->delivered, tp->lost: segments so far.
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
    /// delivered_mstamp: when something was delivered last.
    pub(crate) delivered_at: u64,
    /// tcp_mstamp.
    pub(crate) now: u64,
    /// How long the pacer holds the next burst back.
    pub(crate) until_departure: u64,
    /// The smoothed round trip; 0 before the first.
    pub(crate) srtt: u64,
    pub(crate) mss: u64,
    pub(crate) is_recovering: bool,
    pub(crate) is_after_timeout: bool,
}

impl Path {
    /// tcp_jiffies32, with HZ = 1000.
    pub(super) fn jiffies(&self) -> u64 {
        self.now / US_PER_MS
    }

    /// Returns whether a round trip is known, and the smoothed one; until then 1 ms.
    pub(super) fn assumed_rtt(&self) -> (bool, u64) {
        match self.srtt {
            0 => (false, US_PER_MS),
            srtt => (true, srtt),
        }
    }
}

/// An ACK's sample of the delivery rate (struct rate_sample; [`crate::recovery`] computes it).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RateSample {
    /// tp->delivered as the segment was sent that the sample is of.
    pub(crate) prior_delivered: u64,
    /// Segments delivered since; none where no segment has a time.
    pub(crate) delivered: Option<u64>,
    /// The time it took, microseconds; none where that is too short to be true.
    pub(crate) interval: Option<u64>,
    pub(crate) is_app_limited: bool,
    /// Round trip of the segment that was sent last of those that the ACK covers, microseconds.
    pub(crate) rtt: Option<u64>,
    /// True if the receiver may have held the ACK back.
    pub(crate) is_ack_delayed: bool,
    /// Segments found lost by the ACK.
    pub(crate) losses: u64,
    /// Segments that it is the first to cover.
    pub(crate) acked: u64,
    /// In flight before it.
    pub(crate) prior_in_flight: u64,
    /// In flight as the segment was sent that the sample is of, itself included (tx_in_flight).
    pub(crate) sent_in_flight: u64,
    /// Segments found lost since.
    pub(crate) lost: u64,
}

impl RateSample {
    /// The interval, if it is above 0.
    pub(super) fn positive_interval(&self) -> Option<u64> {
        self.interval.filter(|&interval| interval > 0)
    }
}

/// A segment that has been found lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    /// Which of the connection.
    pub(crate) index: u64,
    /// In flight as it was sent, itself included.
    pub(crate) sent_in_flight: u64,
    /// Segments found lost since then, itself included.
    pub(crate) lost: u64,
    /// True if the application limited the sender then.
    pub(crate) is_app_limited: bool,
}

/// The state of either version of BBR.
#[derive(Clone, Debug)]
pub(crate) enum PathModel {
    Bbr(Bbr),
    Bbr3(Bbr3),
}

/// Asks the model, whichever it is.
macro_rules! of_any {
    ($model:expr, $rule:ident => $asked:expr) => {
        match $model {
            PathModel::Bbr($rule) => $asked,
            PathModel::Bbr3($rule) => $asked,
        }
    };
}

impl PathModel {
    /// As the connection opens; `min_rtt` is what its SYN has measured. None where `spec` has no model.
    pub(crate) fn new(
        spec: &CongestionSpec,
        draws: Stream,
        path: &mut Path,
        min_rtt: Option<u64>,
    ) -> Option<Self> {
        match spec {
            CongestionSpec::Bbr(_) => Some(PathModel::Bbr(Bbr::new(draws, path, min_rtt))),
            CongestionSpec::Bbr3(_) => Some(PathModel::Bbr3(Bbr3::new(draws, path, min_rtt))),
            _ => None,
        }
    }

    /// An ACK has come.
    pub(crate) fn on_ack(&mut self, path: &mut Path, sample: &RateSample) {
        of_any!(self, rule => rule.on_ack(path, sample));
    }

    /// A segment has been found lost; comes before the ACK that has shown it.
    pub(crate) fn on_lost(&mut self, path: &Path, lost: &Lost) {
        if let PathModel::Bbr3(bbr) = self {
            bbr.on_lost(path, lost);
        }
    }

    /// Where others cut cwnd: a recovery begins, or a timeout.
    pub(crate) fn on_recovery(&mut self, path: &Path) {
        match self {
            PathModel::Bbr(bbr) => bbr.save_cwnd(path),
            PathModel::Bbr3(bbr) => bbr.on_recovery(path),
        }
    }

    /// A segment is about to leave with none in flight.
    pub(crate) fn on_restart(&mut self, path: &mut Path) {
        of_any!(self, rule => rule.on_restart(path));
    }

    /// The retransmission timer has run out.
    pub(crate) fn on_rto(&mut self, path: &Path) {
        match self {
            PathModel::Bbr(bbr) => bbr.on_rto(path),
            PathModel::Bbr3(bbr) => bbr.on_rto(),
        }
    }

    /// Handles segments that seemed lost and were late.
    pub(crate) fn on_undo(&mut self, path: &mut Path) {
        of_any!(self, rule => rule.on_undo(path));
    }

    /// Its state, by name.
    #[cfg(test)]
    pub(crate) fn state(&self) -> String {
        of_any!(self, rule => rule.state())
    }

    /// The stream that it draws from, for the connection after this one.
    pub(crate) fn into_draws(self) -> Stream {
        of_any!(self, rule => rule.draws)
    }
}

/// The bursts in which a sender with such a congestion control sends, at `rate` octets a second.
pub(crate) fn burst_size(spec: &CongestionSpec, rate: u64) -> BurstSize {
    match spec {
        CongestionSpec::Bbr3(_) => bbr3_burst_size(),
        _ => bbr_burst_size(rate),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Asserts a pace, as a multiple of so many segments a microsecond.
    pub(in crate::congestion) fn expect_rate(path: &Path, multiple: f64, segments: f64) {
        let found = path.rate as f64 / (segments * path.mss as f64 * 1e6);
        // Bandwidths are cut to 2^-24 of a segment a microsecond, a 1 677th of ten segments in 100 ms.
        assert!(
            (found / multiple - 1.0).abs() < 6e-4,
            "{found} of {multiple}"
        );
    }
}
