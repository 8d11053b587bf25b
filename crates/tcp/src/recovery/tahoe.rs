//! Tahoe: fast retransmit, and no recovery.

use super::{LossRecovery, RecoveryPoint, RecoverySpec, TimerAfterAck};
use crate::transmit::Transmitter;
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{Flag, SegmentCount},
};
use skycell_units::Octets;

/// Fast retransmit, from where slow start goes on as after a timeout.
///
/// Source: Fall and Floyd 1996 section 2; ns-2's Agent/TCP; 4.3BSD-Tahoe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct TahoeSpec {
    /// Duplicate ACKs that start fast retransmit.
    #[param(default = 3, source = "RFC 5681 section 3.2")]
    pub dup_ack_threshold: SegmentCount,
    /// No second fast retransmit for data sent before the last one or the last timeout.
    #[param(
        default = false,
        source = "4.3BSD-Tahoe has no such rule; ns-2 has it as bugFix"
    )]
    pub avoid_multiple_fast_retransmits: Flag,
}

/// The third duplicate ACK does what the timer would do, but for its backoff: half of cwnd is ssthresh, one segment is
/// cwnd, and all from the first segment on is sent again. Further duplicates do nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tahoe {
    point: RecoveryPoint,
}

impl LossRecovery for Tahoe {
    fn on_dup_ack(&mut self, tx: &mut Transmitter, count: u32) {
        let RecoverySpec::Tahoe(spec) = tx.tcp.recovery else {
            return;
        };
        let avoid_multiple = spec.avoid_multiple_fast_retransmits;
        if count == spec.dup_ack_threshold && self.point.may_begin(tx, avoid_multiple) {
            self.point.recover = Some(tx.snd_max);
            tx.counters.fast_retransmits += 1;
            tx.start_over();
        }
    }

    fn on_new_ack(&mut self, tx: &mut Transmitter, acked: Octets) -> TimerAfterAck {
        tx.grow(acked);
        tx.send_as_allowed();
        TimerAfterAck::Restart
    }

    fn on_timeout(&mut self, tx: &mut Transmitter) {
        self.point.on_timeout(tx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::tests::{Script, TAHOE, recovering};
    use skycell_units::SimTime;

    #[test]
    fn the_third_duplicate_starts_over_from_one_segment() {
        let mut s = Script::established(recovering(RecoverySpec::Tahoe(TAHOE)), 8);
        s.dup_acks(0, 2).expect_window(8.0, 8.0).expect_sent(&[]);
        s.dup_acks(0, 1).expect_window(1.0, 4.0).expect_sent(&[0]);
        // No inflation, and nothing for further duplicates.
        s.dup_acks(0, 4).expect_window(1.0, 4.0).expect_sent(&[]);
        // The hole was the only loss: slow start goes on beyond what arrived.
        s.acked(8).expect_window(2.0, 4.0).expect_sent(&[8, 9]);
        assert_eq!(s.sender.counters().fast_retransmits, 1);
        assert_eq!(s.sender.counters().timeouts, 0);
    }

    #[test]
    fn what_had_arrived_is_sent_again_where_the_window_says_so() {
        // 0 and 2 of 8 are lost. The ACK of 0's repetition says 2: go back N sends 2 and, needlessly, 3.
        let mut s = Script::established(recovering(RecoverySpec::Tahoe(TAHOE)), 8);
        s.dup_acks(0, 3).expect_sent(&[0]);
        s.acked(2).expect_window(2.0, 4.0).expect_sent(&[2, 3]);
        // Everything up to 8 had arrived by then.
        s.acked(8).expect_window(3.0, 4.0).expect_sent(&[8, 9, 10]);
    }

    #[test]
    fn duplicates_of_what_was_repeated_start_over_once_more_unless_that_is_avoided() {
        for (avoid_multiple_fast_retransmits, count) in [(false, 2), (true, 1)] {
            let tahoe = TahoeSpec {
                avoid_multiple_fast_retransmits,
                ..TAHOE
            };
            let mut s = Script::established(recovering(RecoverySpec::Tahoe(tahoe)), 8);
            s.dup_acks(0, 3);
            s.acked(2);
            s.dup_acks(2, 3);
            assert_eq!(s.sender.counters().fast_retransmits, count);
        }
    }

    #[test]
    fn the_timer_starts_anew_with_the_fast_retransmit_and_does_not_back_off() {
        let mut s = Script::established(recovering(RecoverySpec::Tahoe(TAHOE)), 8);
        let before = s.sender.deadline().expect("it runs");
        s.now += SimTime::from_millis(500);
        s.dup_acks(0, 3);
        let after = s.sender.deadline().expect("it runs");
        assert_eq!(after, before + SimTime::from_millis(500));
    }
}
