//! Appropriate byte counting: slow start by what was acknowledged, not by how many ACKs said so.

use super::SlowStart;
use crate::congestion::Ack;
use crate::spec::TcpSpec;
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, types::SegmentCount};

/// An ACK adds what it acknowledges, so that delayed or thinned ACKs slow nothing down.
///
/// Source: RFC 3465 sections 2.2 and 2.3; with limit = 1 RFC 5681 section 3.1 equation 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct ByteCountingSlowStartSpec {
    /// Segments that an ACK makes cwnd grow by at most; one in a slow start that follows a timeout.
    #[param(default = 2, symbol = "L", source = "RFC 3465 section 2.2")]
    pub limit: SegmentCount,
}

/// Byte counting, and what it keeps.
#[derive(Clone, Debug)]
pub(crate) struct ByteCounting {
    limit: u32,
    /// True if this slow start follows a timeout.
    is_after_timeout: bool,
}

impl ByteCounting {
    pub(super) fn new(spec: &ByteCountingSlowStartSpec) -> Self {
        ByteCounting {
            limit: spec.limit,
            is_after_timeout: false,
        }
    }
}

impl SlowStart for ByteCounting {
    /// min(N, L * SMSS) (section 2.2). After a timeout L = 1: an ACK may then cover what had arrived before
    /// (section 2.3).
    fn on_ack(&mut self, tcp: &TcpSpec, ack: &Ack) -> f64 {
        let limit = if self.is_after_timeout { 1 } else { self.limit };
        ack.octets.min(u64::from(limit) * tcp.mss) as f64
    }

    fn on_end(&mut self) {
        self.is_after_timeout = false;
    }

    fn on_rto(&mut self) {
        self.is_after_timeout = true;
    }
}

#[cfg(test)]
mod tests {
    use crate::sender::tests::{MSS, Script, VANILLA, recovering};
    use crate::spec::*;

    fn counting(limit: u32) -> TcpSpec {
        TcpSpec {
            slow_start: SlowStartSpec::ByteCounting(ByteCountingSlowStartSpec { limit }),
            ..recovering(RecoverySpec::Vanilla(VANILLA))
        }
    }

    #[test]
    fn an_ack_of_several_segments_opens_the_window_by_them_up_to_the_limit() {
        // Four segments under way; one ACK covers `acked` of them: min(N, L).
        for (limit, acked, cwnd) in [
            (1, 1, 5.0),
            (1, 4, 5.0),
            (2, 1, 5.0),
            (2, 2, 6.0),
            (2, 3, 6.0),
            (8, 3, 7.0),
            (8, 4, 8.0),
        ] {
            let mut s = Script::limited(counting(limit), 4, 4);
            s.acked(acked).expect_window(cwnd, 1_000.0);
        }
    }

    #[test]
    fn a_piece_of_a_segment_opens_the_window_by_that_piece() {
        let mut s = Script::limited(counting(2), 4, 4);
        let ack = crate::Segment {
            acknowledgement: MSS / 4,
            window: crate::sender::tests::WINDOW,
            ..crate::Segment::bare(crate::SegmentKind::Ack, 0)
        };
        let now = s.now;
        s.sender.on_segment(now, &ack, &mut Vec::new());
        s.expect_window(4.25, 1_000.0);
    }

    #[test]
    fn slow_start_after_a_timeout_counts_a_segment_an_ack_until_it_ends() {
        let mut s = Script::limited(counting(2), 12, 100);
        s.timeout().expect_window(1.0, 6.0);
        s.acked(4).expect_window(2.0, 6.0); // not 3
        s.acked(6).expect_window(3.0, 6.0);
        s.acked(7).acked(8).acked(9).expect_window(6.0, 6.0);
        s.acked(12).expect_window(6.0 + 1.0 / 6.0, 6.0); // congestion avoidance
    }
}
