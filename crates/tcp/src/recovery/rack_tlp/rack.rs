//! Which segments are lost: those sent some time before another that has arrived (RFC 8985 section 6.2; Linux
//! tcp_recovery.c).

use super::flight::{Covered, Flight, Losses, SentAt};

/// Largest degree of reordering that is learnt, segments (Linux tcp_max_reordering).
const MAX_REORDERING: u64 = 300;

/// What is known of the network's order. Times in ticks.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// RACK.xmit_ts: of what has arrived, the segment that was sent last.
    latest: SentAt,
    /// RACK.rtt: its round trip.
    rtt: u64,
    /// Whether `latest` has moved since losses were looked for.
    has_news: bool,
    /// RACK.min_RTT; none before the first.
    min_rtt: Option<u64>,
    /// Degree of reordering, segments.
    reordering: u64,
    /// The degree that is taken for none.
    none: u64,
    /// Whether any has been seen (Linux's reord_seen).
    has_reordered: bool,
}

impl Rack {
    pub(super) fn new(dup_ack_threshold: u32) -> Self {
        Rack {
            latest: (0, 0),
            rtt: 0,
            has_news: false,
            min_rtt: None,
            reordering: dup_ack_threshold.into(),
            none: dup_ack_threshold.into(),
            has_reordered: false,
        }
    }

    /// The round trip of the segment that was sent last of those that have arrived, ticks.
    pub(super) fn rtt(&self) -> u64 {
        self.rtt
    }

    /// The least round trip, ticks; none before the first.
    pub(super) fn min_rtt(&self) -> Option<u64> {
        self.min_rtt
    }

    /// Whether the network is known to reorder by more than is taken for none.
    pub(super) fn has_reordered(&self) -> bool {
        self.reordering > self.none
    }

    /// An ACK has measured a round trip.
    pub(super) fn on_round_trip(&mut self, rtt: u64) {
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
    }

    /// Steps 2 and 3: a segment has arrived, as an ACK says that echoes the timestamp `echo`.
    pub(super) fn on_delivered(&mut self, covered: &Covered, echo: Option<u64>, now: u64) {
        let sent = covered.sent_at.0;
        let rtt = now - sent;
        // An answer to what was sent before the repetition, by its timestamp or because it came too soon.
        let is_early =
            echo.is_some_and(|echo| echo < sent) || self.min_rtt.is_some_and(|min| rtt < min);
        if covered.is_repeated && is_early {
            return;
        }
        self.has_news = true;
        self.rtt = rtt;
        self.latest = self.latest.max(covered.sent_at);
    }

    /// A segment that had been sent once, from octet `lowest` on, arrived after one that ends at `highest`
    /// (tcp_check_sack_reordering).
    pub(super) fn on_reordering(&mut self, lowest: u64, highest: u64, mss: u64) {
        if lowest < highest {
            let distance = (highest - lowest).div_ceil(mss);
            if distance > self.reordering {
                self.reordering = distance.min(MAX_REORDERING);
            }
            self.has_reordered = true;
        }
    }

    /// A cut has been taken back: losses are looked for again, whatever arrives (rack.advanced).
    pub(super) fn look_again(&mut self) {
        self.has_news = true;
    }

    /// Whether something has arrived since this was asked last.
    pub(super) fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }

    /// Steps 4 and 5: marks what is lost by `now`.
    pub(super) fn find_lost(
        &self,
        flight: &mut Flight,
        now: u64,
        srtt: u64,
        is_recovering: bool,
    ) -> Losses {
        let window = self.reordering_window(flight, srtt, is_recovering);
        flight.find_lost(self.latest, self.rtt + window, now)
    }

    /// RACK_update_reo_wnd: a quarter of the least round trip, no more than the smoothed one; nothing where there is
    /// recovery, or as many are SACKed as begin one, as long as no reordering has been seen.
    fn reordering_window(&self, flight: &Flight, srtt: u64, is_recovering: bool) -> u64 {
        let is_sure = is_recovering || u64::from(flight.sacked()) >= self.reordering;
        if !self.has_reordered && is_sure {
            return 0;
        }
        (self.min_rtt.unwrap_or(u64::MAX) / 4).min(srtt)
    }
}
