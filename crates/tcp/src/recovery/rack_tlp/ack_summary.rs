//! The contents of one acknowledgement (FLAG_* of tcp_ack, tcp_sacktag_state).

use super::flight::{Covered, Losses};

/// The contents of an acknowledgement beyond its number. Times in ticks.
#[derive(Debug, Default)]
pub(super) struct AckSummary {
    /// Segments that it covers and none before did.
    pub(super) delivered: u32,
    /// `snd_una` has moved.
    pub(super) has_advanced: bool,
    /// Blocks cover more than they did.
    pub(super) has_sacked: bool,
    /// Of what it covers, something was sent once, before the state began (FLAG_ORIG_SACK_ACKED).
    pub(super) has_original: bool,
    /// It says nothing new.
    pub(super) is_duplicate: bool,
    /// It says that something came twice (FLAG_DSACKING_ACK).
    pub(super) has_repetition: bool,
    /// That is the probe that is under way (FLAG_DSACK_TLP).
    pub(super) has_probe: bool,
    /// The receiver's window has got larger.
    pub(super) has_opened: bool,
    /// It acknowledges a segment that was repeated: no round trip can be told from it (FLAG_RETRANS_DATA_ACKED).
    pub(super) has_repeated: bool,
    /// When the first and the last segment were sent that it acknowledges and that were sent once.
    pub(super) acked: Option<(u64, u64)>,
    /// The same of those that its blocks are the first to cover.
    pub(super) sacked: Option<(u64, u64)>,
    /// Lowest octet of these all.
    pub(super) lowest: Option<u64>,
    /// Segments found lost.
    pub(super) losses: Losses,
    /// Round trip of the segment that was sent last of those it covers (rate_sample.rtt_us); none where none was sent once.
    pub(super) rtt: Option<u64>,
    /// It acknowledges one short segment and nothing is SACKed (FLAG_ACK_MAYBE_DELAYED).
    pub(super) is_lone_runt: bool,
}

impl AckSummary {
    fn note(span: &mut Option<(u64, u64)>, ticks: u64) {
        *span = Some((span.map_or(ticks, |span| span.0), ticks));
    }

    pub(super) fn on_sacked(&mut self, covered: &Covered, highest: u64, high_seq: u64) {
        self.delivered += 1;
        self.has_sacked = true;
        if !covered.is_repeated {
            AckSummary::note(&mut self.sacked, covered.sent_at.0);
            self.on_original(covered.start, highest, high_seq);
        }
    }

    pub(super) fn on_acked(&mut self, covered: &Covered, high_seq: u64) {
        self.has_repeated |= covered.is_repeated;
        if covered.was_sacked {
            return;
        }
        self.delivered += 1;
        if !covered.is_repeated {
            AckSummary::note(&mut self.acked, covered.sent_at.0);
            self.on_original(covered.start, u64::MAX, high_seq);
        }
    }

    /// A segment sent once has arrived: below others that had, the network has changed their order.
    fn on_original(&mut self, start: u64, below: u64, high_seq: u64) {
        self.has_original |= start < high_seq;
        if start < below {
            self.lowest = Some(self.lowest.map_or(start, |lowest| lowest.min(start)));
        }
    }
}
