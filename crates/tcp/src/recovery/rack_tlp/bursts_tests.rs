//! Exchanges of a sender that waits for whole bursts. Round trips of 20 ms, a clock of 1 ms, a window of 20 segments: 1.2 MB a
//! second, so that bursts have two segments.

use super::exchange_tests::tcp as eager;
use crate::sender::tests::{MSS, RACK_TLP, RENO_CONGESTION, Script};
use crate::spec::{
    CongestionSpec, RackTlpSpec, RecoverySpec, RenoCongestionSpec, RenoGrowth, TcpSpec,
};

/// A sender that has sent 20 segments at 10 ms, whose first two are acknowledged at 30 ms.
fn script() -> Script {
    let tcp = TcpSpec {
        recovery: RecoverySpec::RackTlp(RackTlpSpec {
            tso_defer: true,
            ..RACK_TLP
        }),
        congestion: CongestionSpec::Reno(RenoCongestionSpec {
            growth: RenoGrowth::SegmentCounting,
            ..RENO_CONGESTION
        }),
        ..eager()
    };
    let mut s = Script::established(tcp, 20);
    s.at_millis(30).acked(2).expect_sent(&[20, 21]);
    s
}

#[test]
fn a_segment_waits_for_the_next_ack_where_that_is_near() {
    let mut s = script();
    s.acked(3).expect_sent(&[]);
    s.acked(4).expect_sent(&[22, 23]);
    // 15 are let out, 14 leave.
    s.acked(19).expect_sent(&(24..38).collect::<Vec<_>>());
}

#[test]
fn nothing_waits_a_millisecond_after_the_last_segment_or_before_the_next_ack() {
    let mut s = script();
    // 31 ms is a moment after 30 ms, 33 ms none after 31.
    s.at_millis(31).acked(3).expect_sent(&[]);
    s.acked(4).expect_sent(&[22, 23]);
    s.at_millis(33).acked(5).expect_sent(&[24]);
    // 15 segments and the one that growth adds. What is first now was sent at 30 ms, and its ACK is to come at 50.
    s.at_millis(34)
        .acked(20)
        .expect_sent(&(25..41).collect::<Vec<_>>());
    s.acked(21).expect_sent(&[41]);
}

#[test]
fn a_window_of_which_a_burst_waits_grows() {
    let mut s = script();
    for ack in (3..19).step_by(2) {
        s.acked(ack);
    }
    // 17 of the 20 are acknowledged; one segment has waited after every ACK of them.
    assert_eq!(s.sender.outstanding(), 19 * MSS);
    s.acked(20).expect_window(21.0, 20.0);
}

#[test]
fn nothing_waits_in_recovery() {
    let mut s = script();
    // Proportional rate reduction lets out one for two that arrive; one of new data fills the pipe.
    s.acked_with(2, &[(3, 6)]).expect_sent(&[2, 22]);
}
