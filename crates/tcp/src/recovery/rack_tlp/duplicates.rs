//! Segments that came twice, as the receiver reports with D-SACK (RFC 2883; Linux tcp_check_dsack,
//! tcp_dsack_seen).

use super::RackTlp;
use super::ack_summary::AckSummary;
use crate::segment::Segment;
use crate::transmit::Transmitter;

/// Repetitions of a connection, and what came twice.
#[derive(Clone, Debug, Default)]
pub(super) struct Duplicates {
    /// total_retrans.
    repeated: u64,
    /// dsack_dups.
    reported: u64,
}

impl Duplicates {
    /// A segment is sent again.
    pub(super) fn on_repeated(&mut self) {
        self.repeated += 1;
    }
}

/// The block of an acknowledgement that is of octets which came twice: it lies below what is acknowledged, or within the
/// block that follows (RFC 2883 section 4).
fn duplicate_of(segment: &Segment) -> Option<(u64, u64)> {
    let blocks = segment.sack.as_slice();
    let &(start, end) = blocks.first()?;
    let is_within = |next: &(u64, u64)| next.0 <= start && end <= next.1;
    let is_duplicate = start < segment.acknowledgement || blocks.get(1).is_some_and(is_within);
    is_duplicate.then_some((start, end))
}

impl RackTlp {
    /// An acknowledgement has come, and nothing of it has been looked at. What came twice counts as delivered; more of it than
    /// was repeated the network has made.
    pub(super) fn note_duplicates(
        &mut self,
        tx: &Transmitter,
        segment: &Segment,
        summary: &mut AckSummary,
    ) {
        let Some((start, end)) = duplicate_of(segment) else {
            return;
        };
        let count = (end - start).div_ceil(tx.tcp.mss);
        self.duplicates.reported += count;
        if self.duplicates.reported > self.duplicates.repeated {
            return;
        }
        summary.has_repetition = true;
        summary.has_probe = count == 1 && self.is_probe_end(end);
        summary.delivered += count as u32;
        if let Some(model) = &mut self.model {
            model.rates.on_duplicates(count);
        }
        if !summary.has_probe {
            self.rack
                .on_duplicates(tx.snd_una.max(segment.acknowledgement), tx.snd_max);
        }
        if let Some(undo) = &mut self.undo {
            let count = match end <= tx.snd_una {
                true => count,
                false => self.flight.repeated_within(start, end),
            };
            undo.on_duplicates(end, count);
        }
    }
}

#[cfg(test)]
#[path = "duplicates_tests.rs"]
mod tests;
