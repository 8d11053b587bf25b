//! The segments that a pacer holds back, and the engine's one timer that stands for two: the
//! sender's and the pacer's.

use super::RackTlp;
use crate::congestion::model_burst_size;
use crate::pacing::{BurstSize, Pacer};
use crate::spec::{PacingSpec, TcpSpec};
use crate::transmit::Transmitter;
use skycell_units::SimTime;

/// The pacer of a sender, if it paces.
pub(super) fn pacer(tcp: &TcpSpec) -> Option<Box<Pacer>> {
    let unpaced = match (&tcp.pacing, &tcp.congestion) {
        (PacingSpec::On(paced), _) => paced.unpaced_segments.into(),
        (PacingSpec::Off(_), congestion) if congestion.has_model() => UNPACED_BY_BBR,
        (PacingSpec::Off(_), _) => return None,
    };
    Some(Box::new(Pacer::new(unpaced)))
}

/// tcp_pacing_ss_ratio and tcp_pacing_ca_ratio.
const SLOW_START_RATIO: f64 = 2.0;
const AVOIDANCE_RATIO: f64 = 1.2;

/// tcp_update_skb_after_send.
const UNPACED_BY_BBR: u64 = 10;

/// Bursts that TSO makes without a pace (tcp_min_tso_segs, sk_pacing_shift).
const OF_TSO: BurstSize = BurstSize {
    least_segments: 2,
    time_ps: BurstSize::OF_TSO_PS,
};

/// The bursts of a sender at a rate.
fn burst_size(tcp: &TcpSpec, rate: u64) -> BurstSize {
    match &tcp.pacing {
        PacingSpec::On(paced) => BurstSize {
            least_segments: paced.burst_segments.into(),
            time_ps: paced.burst_time_ps,
        },
        PacingSpec::Off(_) if tcp.congestion.has_model() => model_burst_size(&tcp.congestion, rate),
        PacingSpec::Off(_) => OF_TSO,
    }
}

impl RackTlp {
    /// Begins every action of the sender: its own timer becomes the timer that is read and set.
    pub(super) fn take_timer(&mut self, tx: &mut Transmitter, now: SimTime) {
        if let Some(pacer) = &mut self.pacer {
            tx.deadline = pacer.timer;
            pacer.begin(now);
        }
    }

    /// Ends the action: the engine gets the earlier timer.
    pub(super) fn give_timer(&mut self, tx: &mut Transmitter) {
        if let Some(pacer) = &mut self.pacer {
            pacer.end_burst();
            pacer.timer = tx.deadline;
            if let Some(due) = pacer.due() {
                tx.deadline = tx.deadline.min(due);
            }
            self.note_unsent(tx);
        }
    }

    /// Returns whether a segment may leave now.
    pub(super) fn may_send(&mut self, tx: &Transmitter) -> bool {
        if self.pacer.is_none() {
            return true;
        }
        let size = self.burst_segments(tx);
        self.pacer.as_mut().is_none_or(|pacer| pacer.may_send(size))
    }

    /// Segments of a burst; none before the rate is known.
    pub(super) fn burst_segments(&self, tx: &Transmitter) -> Option<u64> {
        let rate = self.pace(tx)?;
        Some(burst_size(&tx.tcp, rate).segments(rate, tx.tcp.mss))
    }

    /// A segment of `octets` of data has left.
    pub(super) fn note_sent(&mut self, tx: &Transmitter, octets: u64) {
        self.last_sent = tx.ticks;
        if let Some(pacer) = &mut self.pacer {
            pacer.on_sent(octets);
        }
    }

    /// Ticks when the last segment left, or, where there is a pace, when the next one may (tcp_wstamp_ns).
    pub(super) fn departed(&self, tx: &Transmitter) -> u64 {
        match &self.pacer {
            Some(pacer) => tx.clock.ticks(pacer.next()),
            None => self.last_sent,
        }
    }

    /// Returns whether something waits that may leave now.
    pub(super) fn is_departure(&self, now: SimTime) -> bool {
        let due = self.pacer.as_ref().and_then(|pacer| pacer.due());
        due.is_some_and(|due| due <= now)
    }

    /// tcp_tsq_write, which tcp_pace_kick asks for. What leaves is stamped with this time, whatever a tick does first.
    pub(super) fn on_departure(&mut self, tx: &mut Transmitter) {
        let is_before_tick = std::mem::take(&mut tx.is_before_tick);
        self.resend_lost(tx);
        self.send_new(tx);
        tx.is_before_tick = is_before_tick;
    }

    /// tcp_pacing_delay, in ticks of the host's clock.
    pub(super) fn ticks_to_departure(&self, tx: &Transmitter) -> u64 {
        let delay = self.pacer.as_ref().map(|pacer| pacer.delay());
        delay.map_or(0, |delay| delay.0.div_ceil(tx.tcp.tick_ps))
    }

    /// tcp_update_pacing_rate: a multiple of cwnd, or of what is outstanding, in a smoothed round trip.
    pub(super) fn update_rate(&mut self, tx: &Transmitter) {
        let PacingSpec::On(paced) = &tx.tcp.pacing else {
            return;
        };
        let rate = self.rate_of_window(tx, paced.slow_start_ratio, paced.avoidance_ratio);
        if let (Some(pacer), Some(rate)) = (&mut self.pacer, rate) {
            pacer.set_rate(rate);
        }
    }

    /// sk_pacing_rate, octets a second, which Linux keeps also where nothing waits for it; none before it is known.
    fn pace(&self, tx: &Transmitter) -> Option<u64> {
        match &self.pacer {
            Some(pacer) => pacer.rate(),
            None => self.rate_of_window(tx, SLOW_START_RATIO, AVOIDANCE_RATIO),
        }
    }

    /// A multiple of cwnd, or of what is outstanding, in a smoothed round trip, octets a second; none before the first.
    fn rate_of_window(&self, tx: &Transmitter, slow_start: f64, avoidance: f64) -> Option<u64> {
        let srtt_eighths = tx.rto.srtt_eighths();
        if srtt_eighths == 0 {
            return None;
        }
        let ratio = if tx.window.cwnd() < tx.window.ssthresh() / 2.0 {
            slow_start
        } else {
            avoidance
        };
        let window = tx.cwnd_segments().max(self.flight.len()) * tx.tcp.mss;
        let srtt_s = srtt_eighths as f64 / 8.0 * tx.tcp.tick_ps as f64 / 1e12;
        Some((ratio * window as f64 / srtt_s) as u64)
    }
}
