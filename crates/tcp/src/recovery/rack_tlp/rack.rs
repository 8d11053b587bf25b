//! Which segments are lost: those sent some time before another that has arrived (RFC 8985 section 6.2; Linux
//! tcp_recovery.c).

use super::flight::{Covered, Flight, Losses, SentAt};

/// Largest degree of reordering that is learnt, segments (Linux tcp_max_reordering).
const MAX_REORDERING: u64 = 300;

/// Recoveries for which a wider window is kept (RFC 8985 section 6.2 step 4; Linux TCP_RACK_RECOVERY_THRESH).
const PERSISTENCE: u32 = 16;

/// Largest multiple of a quarter of the least round trip (Linux tcp_rack_update_reo_wnd).
const MAX_STEPS: u64 = 255;

/// The state of the network's order. Times in ticks.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// RACK.xmit_ts: of what has arrived, the segment that was sent last.
    latest: SentAt,
    /// RACK.rtt: its round trip.
    rtt: u64,
    /// True if `latest` has moved since losses were looked for.
    has_news: bool,
    /// RACK.min_RTT; none before the first.
    min_rtt: Option<u64>,
    /// Degree of reordering, segments.
    reordering: u64,
    /// The degree that is taken for none.
    none: u64,
    /// True if any reordering has been seen (Linux's reord_seen).
    has_reordered: bool,
    /// reo_wnd_mult: quarters of the least round trip that the window has.
    steps: u64,
    /// reo_wnd_persist: recoveries to come that keep them.
    persist: u32,
    /// dsack_round: the window has been widened in the round trip that ends with the acknowledgement of this octet.
    round: Option<u64>,
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
            steps: 1,
            persist: 0,
            round: None,
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

    /// Returns whether the network reorders by more than the tolerance.
    pub(super) fn has_reordered(&self) -> bool {
        self.reordering > self.none
    }

    /// An ACK has measured a round trip.
    pub(super) fn on_round_trip(&mut self, rtt: u64) {
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
    }

    /// Steps 2 and 3: a segment has arrived (tcp_rack_advance), as an ACK says that echoes the timestamp `echo`; none where a
    /// block says so: while an earlier segment is missing, the receiver echoes a timestamp from before the hole (RFC 7323
    /// section 4.3), also for a repetition that arrives (tcp_sacktag_one, tcp_clean_rtx_queue).
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

    /// Something came twice, perhaps as it had been taken for lost too soon, with `acked` acknowledged and data sent up to
    /// `sent`: once in a round trip the window is widened (step 4).
    pub(super) fn on_duplicates(&mut self, acked: u64, sent: u64) {
        if self.has_reordered && self.round.is_none_or(|round| acked >= round) {
            self.round = Some(sent);
            self.steps = (self.steps + 1).min(MAX_STEPS);
            self.persist = PERSISTENCE;
        }
    }

    /// A recovery has ended and nothing was taken back (tcp_try_undo_recovery).
    pub(super) fn on_recovery_end(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// A cut is taken back because all that was repeated came twice (tcp_try_undo_dsack).
    pub(super) fn on_undo(&mut self) {
        self.persist = (self.persist + 1).min(PERSISTENCE);
    }

    /// A cut has been taken back: losses are looked for again, whatever arrives (rack.advanced).
    pub(super) fn look_again(&mut self) {
        self.has_news = true;
    }

    /// Returns whether something has arrived since the last call.
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

    /// RACK_update_reo_wnd: a quarter of the least round trip or more of them, no more than the smoothed one; nothing where there is
    /// recovery, or as many are SACKed as begin one, as long as no reordering has been seen.
    fn reordering_window(&self, flight: &Flight, srtt: u64, is_recovering: bool) -> u64 {
        let is_sure = is_recovering || u64::from(flight.sacked()) >= self.reordering;
        if !self.has_reordered && is_sure {
            return 0;
        }
        let quarter = self.min_rtt.unwrap_or(u64::MAX) / 4;
        quarter.saturating_mul(self.steps).min(srtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_twice_widens_the_window_once_a_round_trip_for_sixteen_recoveries() {
        let mut rack = Rack::new(3);
        let window = |rack: &Rack| rack.reordering_window(&Flight::default(), 100, true);
        rack.on_round_trip(80);
        rack.on_duplicates(0, 1_000); // nothing has been out of order
        assert_eq!(window(&rack), 0);
        rack.on_reordering(0, 1_000, 1_000);
        assert_eq!(window(&rack), 20);
        for (acked, sent, quarters) in [(0, 1_000, 2), (999, 2_000, 2), (1_000, 2_000, 3)] {
            rack.on_duplicates(acked, sent);
            assert_eq!(window(&rack), 20 * quarters);
        }
        rack.on_duplicates(2_000, 3_000);
        rack.on_duplicates(3_000, 4_000);
        assert_eq!(window(&rack), 100); // srtt
        (0..15).for_each(|_| rack.on_recovery_end());
        assert_eq!(window(&rack), 100);
        rack.on_recovery_end();
        assert_eq!(window(&rack), 20);
    }
}
