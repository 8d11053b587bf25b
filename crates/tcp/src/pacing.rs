//! Pacing: segments leave in short bursts at a rate, and not as soon as an acknowledgement lets them.
//!
//! As Linux's TCP paces itself, by a timer of its own: tcp_update_skb_after_send, tcp_pacing_check (tcp_output.c). With
//! the queueing discipline `fq` the times of departure are the same.

use crate::kinds::kinds;
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Context, Declare, Refusal, Rule,
    types::{AtLeastOne, SegmentCount, TimeOrNone},
};
use skycell_units::SimTime;

/// The specs of pacing.
pub mod specs {
    pub use super::{NoPacingSpec, PacedSpec, PacingSpec};
}

kinds! {
    /// off sends segments as acknowledgements release them; on spreads them over a round trip.
    PacingSpec {
        /// See [`NoPacingSpec`].
        Off(NoPacingSpec),
        /// See [`PacedSpec`].
        On(PacedSpec),
    }
}

impl PacingSpec {
    /// Returns whether segments are spread.
    pub fn is_on(&self) -> bool {
        matches!(self, PacingSpec::On(_))
    }
}

impl Default for PacingSpec {
    fn default() -> Self {
        PacingSpec::Off(NoPacingSpec {})
    }
}

/// Segments leave as soon as the window lets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule]
pub struct NoPacingSpec {}

/// Segments leave in bursts, at a rate that is a multiple of cwnd in a round trip.
///
/// Source: Linux `tcp_update_pacing_rate` (tcp_input.c), `tcp_update_skb_after_send` and `tcp_tso_autosize`
/// (tcp_output.c).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct PacedSpec {
    /// The multiple while cwnd is below half of ssthresh.
    #[param(default = 2.0, source = "Linux tcp_pacing_ss_ratio: 200 %")]
    pub slow_start_ratio: AtLeastOne,
    /// The multiple otherwise.
    #[param(default = 1.2, source = "Linux tcp_pacing_ca_ratio: 120 %")]
    pub avoidance_ratio: AtLeastOne,
    /// Segments of data that leave at once at the begin of a connection.
    #[param(
        default = 10,
        source = "Linux tcp_update_skb_after_send: data_segs_out"
    )]
    pub unpaced_segments: SegmentCount,
    /// Least segments of a burst, where there are so many to send.
    #[param(default = 2, source = "Linux tcp_min_tso_segs")]
    pub burst_segments: SegmentCount,
    /// A burst has what the rate sends in this time, if that is more; 64 KiB at most. TSO makes bursts so long.
    #[param(
        key = "burst_time",
        default = "976.5625 us",
        source = "Linux sk_pacing_shift: 1 / 1024 s, tcp_tso_autosize"
    )]
    pub burst_time_ps: TimeOrNone,
}

/// sk_gso_max_size, where no device lowers it: 64 KiB less MAX_TCP_HEADER.
const LARGEST_BURST: u64 = 65_536 - 1 - 320;

/// Octets that a burst may have, and segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BurstSize {
    pub(crate) least_segments: u64,
    pub(crate) time_ps: u64,
}

impl BurstSize {
    /// sk_pacing_shift: a burst has what the rate sends in 1 / 1024 s.
    pub(crate) const OF_TSO_PS: u64 = SECOND_PS >> 10;

    /// tcp_tso_autosize, in segments of `mss`, at `rate` octets a second. Differs: what is added below a round trip of
    /// 16 ms (tcp_tso_rtt_log) is left out.
    pub(crate) fn segments(&self, rate: u64, mss: u64) -> u64 {
        let octets = u128::from(rate) * u128::from(self.time_ps) / u128::from(SECOND_PS);
        let octets = octets.min(u128::from(LARGEST_BURST)) as u64;
        (octets / mss).max(self.least_segments)
    }
}

const SECOND_PS: u64 = SimTime::from_millis(1_000).0;

/// When the segments of a connection leave.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    /// sk_pacing_rate, octets a second; none before it is known.
    rate: Option<u64>,
    unpaced: u64,
    /// data_segs_out: segments of data sent so far.
    sent: u64,
    /// When the sender does what it is doing.
    now: SimTime,
    /// tcp_wstamp_ns: no burst leaves before.
    next: SimTime,
    /// Of the burst that leaves now: octets so far, segments that may follow.
    octets: u64,
    left: u64,
    /// True if something may be waiting for the next burst (pacing_timer runs).
    waits: bool,
    /// When the sender's other timer runs out; the one that the engine knows is the earlier of both.
    pub(crate) timer: SimTime,
}

impl Pacer {
    pub(crate) fn new(unpaced: u64) -> Self {
        Pacer {
            rate: None,
            unpaced,
            sent: 0,
            now: SimTime::ZERO,
            next: SimTime::ZERO,
            octets: 0,
            left: 0,
            waits: false,
            timer: SimTime::NEVER,
        }
    }

    /// From now on `rate` octets a second, above 0.
    pub(crate) fn set_rate(&mut self, rate: u64) {
        self.rate = Some(rate.max(1));
    }

    /// Octets a second; none before it is known.
    pub(crate) fn rate(&self) -> Option<u64> {
        self.rate
    }

    /// tcp_pacing_check: whether a segment may leave, one of the burst that does so now or the first of the next one, which
    /// has `size` segments, or all there are without a rate.
    pub(crate) fn may_send(&mut self, size: Option<u64>) -> bool {
        if self.left > 0 {
            return true;
        }
        self.end_burst();
        self.waits = self.next > self.now;
        if !self.waits {
            self.left = size.unwrap_or(u64::MAX);
        }
        !self.waits
    }

    /// A segment of `octets` has left.
    pub(crate) fn on_sent(&mut self, octets: u64) {
        self.sent += 1;
        self.octets += octets;
        self.left = self.left.saturating_sub(1);
    }

    /// The burst has left.
    pub(crate) fn end_burst(&mut self) {
        self.next = self.next_after();
        (self.octets, self.left) = (0, 0);
    }

    /// When the next burst may leave, once this one has: as its octets take at the rate (tcp_update_skb_after_send). What
    /// it left late is taken off, up to half of that.
    fn next_after(&self) -> SimTime {
        if self.octets == 0 {
            return self.next;
        }
        let late = self.now.0.saturating_sub(self.next.0);
        let mut next = self.next.max(self.now);
        if let Some(rate) = self.rate.filter(|_| self.sent >= self.unpaced) {
            let takes = u128::from(self.octets) * u128::from(SECOND_PS) / u128::from(rate);
            next.0 += takes as u64 - late.min(takes as u64 / 2);
        }
        next
    }

    /// When the next burst may leave, once this one has.
    pub(crate) fn next(&self) -> SimTime {
        self.next_after()
    }

    /// When what waits may leave.
    pub(crate) fn due(&self) -> Option<SimTime> {
        self.waits.then_some(self.next)
    }

    /// The sender does something at `now`: nothing waits until something asks again.
    pub(crate) fn begin(&mut self, now: SimTime) {
        self.now = now;
        self.waits = false;
    }

    /// tcp_pacing_delay: how long until the next burst may leave.
    pub(crate) fn delay(&self) -> SimTime {
        SimTime(self.next_after().0.saturating_sub(self.now.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: BurstSize = BurstSize {
        least_segments: 2,
        time_ps: BurstSize::OF_TSO_PS,
    };

    fn at(micros: u64) -> SimTime {
        SimTime(micros * 1_000_000)
    }

    /// Segments of 1 000 octets that leave at once at a time.
    fn burst(pacer: &mut Pacer, micros: u64) -> u64 {
        let mut sent = 0;
        pacer.begin(at(micros));
        let size = pacer.rate().map(|rate| SIZE.segments(rate, 1_000));
        while sent < 100 && pacer.may_send(size) {
            pacer.on_sent(1_000);
            sent += 1;
        }
        pacer.end_burst();
        sent
    }

    #[test]
    fn two_segments_leave_at_a_time_after_the_first_ten() {
        // 1 MB/s: 2 ms for two segments. 976 octets in a burst's time are less than two.
        let mut pacer = Pacer::new(10);
        pacer.set_rate(1_000_000);
        // The fifth burst is of segments 9 and 10.
        assert_eq!(burst(&mut pacer, 5_000), 10);
        assert_eq!(pacer.due(), Some(at(7_000)));
        assert_eq!(burst(&mut pacer, 6_999), 0);
        assert_eq!(burst(&mut pacer, 7_000), 2);
        assert_eq!(pacer.due(), Some(at(9_000)));
        // 0.3 ms late: so much earlier is the next.
        assert_eq!(burst(&mut pacer, 9_300), 2);
        assert_eq!(pacer.due(), Some(at(11_000)));
        pacer.begin(at(10_400));
        assert_eq!(pacer.delay(), at(600));
        // Half a burst at most.
        assert_eq!(burst(&mut pacer, 20_000), 2);
        assert_eq!(pacer.due(), Some(at(21_000)));
    }

    #[test]
    fn a_burst_has_what_the_rate_sends_in_its_time_but_64_kib_at_most() {
        let size = |rate| SIZE.segments(rate, 1_448);
        assert_eq!(size(1_250_000), 2); // 1 220 octets
        assert_eq!(size(12_500_000), 8); // 12 207
        assert_eq!(size(1_250_000_000), 45); // 65 215
    }

    #[test]
    fn without_a_rate_nothing_waits() {
        let mut pacer = Pacer::new(10);
        assert_eq!(burst(&mut pacer, 0), 100);
        assert_eq!(pacer.due(), None);
    }
}
