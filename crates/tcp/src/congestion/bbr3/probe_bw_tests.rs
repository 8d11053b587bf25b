//! The behaviour of the cycle that probes for bandwidth, and the effects of losses on it. Round
//! trips of 100 ms, segments of 1 000 octets; tests of a case in the draft's appendix A name it.

use super::tests::{On, RTT, SECOND};
use super::{Phase, RateSample, State, UNBOUNDED};
use crate::congestion::path_model::BW_UNIT;

#[test]
fn a_probe_lasts_until_three_rounds_have_brought_no_quarter_more() {
    // A.5
    let mut on = On::probing();
    on.expect_rate(1.25 * 0.99, 100);
    // 2.25 times the product, two segments more; what came at once beside.
    let extra = on.bbr.aggregation.extra.greatest();
    on.round(100).expect_phase(Phase::Up);
    on.round(100).expect_phase(Phase::Up);
    assert!(
        on.path.cwnd <= 225 + extra + 2 && on.path.cwnd > 200,
        "{}",
        on.path.cwnd
    );
    on.path.in_flight = 125;
    on.round(100).expect_phase(Phase::Down);
    on.expect_rate(0.9 * 0.99, 100);
    // A.8: until the queue is gone.
    on.path.now += 10_000;
    on.ack(10, RTT / 10).expect_phase(Phase::Down);
    on.path.in_flight = 100;
    on.path.now += 10_000;
    on.ack(10, RTT / 10).expect_phase(Phase::Cruise);
}

#[test]
fn a_probe_goes_on_while_the_bandwidth_grows() {
    let mut on = On::probing();
    for delivered in [125, 157, 197, 247, 309] {
        on.round(delivered).expect_phase(Phase::Up);
        on.expect_rate(1.25 * 0.99, delivered);
    }
}

#[test]
fn down_goes_on_to_refill_where_the_time_is_over_before_the_queue_is_gone() {
    // A.9
    let mut on = On::probing();
    on.path.in_flight = 125;
    on.round(100).round(100).round(100);
    on.expect_phase(Phase::Down);
    on.refill();
}

#[test]
fn it_probes_after_two_to_three_seconds_or_as_many_rounds_as_the_path_holds_segments() {
    let mut on = On::cruising();
    let wait = on.bbr.probe.wait;
    assert!((2 * SECOND..3 * SECOND).contains(&wait), "{wait}");
    on.path.now = on.bbr.probe.began + wait;
    on.ack(1, RTT / 100).expect_phase(Phase::Cruise);
    on.path.now += 1;
    on.ack(1, RTT / 100).expect_phase(Phase::Refill);
    // Ten segments, cut off and rounded up, in the path.
    let mut on = On::cruising();
    on.bbr.cycles = [BW_UNIT * 10 / RTT; 2];
    on.path.in_flight = 6;
    on.bbr.probe.rounds = 0;
    for _ in 0..9 {
        on.path.now += 1;
        on.ack(1, RTT).expect_phase(Phase::Cruise);
    }
    on.ack(1, RTT).expect_phase(Phase::Refill);
    // The bound of 63 rounds, with 100 in the path.
    let mut on = On::cruising();
    on.bbr.probe.rounds = 62;
    on.path.now += 1;
    on.ack(1, RTT / 100).expect_phase(Phase::Refill);
}

#[test]
fn a_probe_that_loses_more_than_two_percent_ends_and_bounds_what_is_in_flight() {
    let longterm = |in_flight, losses| {
        let mut on = On::probing();
        on.path.in_flight = in_flight;
        on.losing(losses, 1, in_flight);
        (on.bbr.state, on.bbr.inflight_longterm)
    };
    let up = State::ProbeBw(Phase::Up);
    let down = State::ProbeBw(Phase::Down);
    assert_eq!(longterm(150, 3), (up, UNBOUNDED)); // 2 % of 150
    assert_eq!(longterm(149, 3), (down, 148)); // without the one with which they were too many
    // No less than seven tenths of what it wants in flight, 100.
    assert_eq!(longterm(60, 3), (down, 70));
    // Only the first answer counts.
    assert_eq!(longterm(149, 9), (down, 148));
}

#[test]
fn losses_of_what_the_application_limits_end_a_probe_and_bound_nothing() {
    // A.6
    let mut on = On::probing();
    on.sample.is_app_limited = true;
    on.losing(3, 1, 100);
    on.expect_phase(Phase::Down);
    assert_eq!(on.bbr.inflight_longterm, UNBOUNDED);
}

/// After a probe that has found that 148 are too many, cruising.
fn bounded() -> On {
    let mut on = On::probing();
    on.path.in_flight = 149;
    on.losing(3, 1, 149);
    on.expect_phase(Phase::Down);
    on.path.in_flight = 100;
    on.round(100);
    on.expect_phase(Phase::Cruise);
    on
}

#[test]
fn while_it_cruises_it_leaves_headroom_of_15_percent() {
    let mut on = bounded();
    assert_eq!(on.path.cwnd, 148 - 23); // 22.2, rounded up
    // And goes down until there is some.
    on.bbr.state = State::ProbeBw(Phase::Down);
    on.bbr.inflight_longterm = 100;
    on.path.in_flight = 86;
    on.path.now += 1;
    on.ack(1, RTT / 100).expect_phase(Phase::Down);
    on.path.in_flight = 85;
    on.ack(1, RTT / 100).expect_phase(Phase::Cruise);
}

#[test]
fn the_probe_after_one_that_went_too_high_ends_at_its_bound_and_the_next_follows_at_once() {
    // Section 5.3.3.6.
    let mut on = bounded();
    on.refill().round(100).expect_phase(Phase::Up);
    assert_eq!(on.path.cwnd, 148);
    on.path.in_flight = 147;
    on.path.now += 1_000;
    on.ack(1, RTT / 100).expect_phase(Phase::Up);
    on.path.in_flight = 148;
    on.path.now += 1_000;
    on.ack(1, RTT / 100).expect_phase(Phase::Down);
    // A round later nothing has been lost: no cruising.
    on.round(100).expect_phase(Phase::Refill);
    on.round(100).expect_phase(Phase::Up);
    // And this time it stays there.
    on.path.in_flight = 148;
    on.path.now += 1_000;
    on.ack(1, RTT / 100).expect_phase(Phase::Up);
}

#[test]
fn a_probe_that_loses_lowers_the_bound_that_there_is() {
    // A.21
    let mut on = bounded();
    on.refill().round(100).expect_phase(Phase::Up);
    assert_eq!(on.bbr.inflight_longterm, 148);
    // Before three rounds without growth, and below the bound: 59 is what was in flight then, but 70 is 0.7 of what it wants.
    on.path.in_flight = 60;
    on.losing(3, 1, 60).expect_phase(Phase::Down);
    assert_eq!(on.bbr.inflight_longterm, 70);
    assert!(on.bbr.probe.was_too_high);
}

#[test]
fn tokens_that_are_gone_bound_it_to_their_rate() {
    // A.17: a policer lets 80 segments through in a round trip and has no buffer.
    let mut on = On::cruising();
    on.losing(20, 1, 100).round(80);
    on.losing(20, 1, 100).round(80).expect_rate(0.99, 80);
    assert!(on.bbr.inflight_shortterm < UNBOUNDED);
    // What is sent at that rate passes: nothing more is lost, and nothing changes while it cruises.
    let bound = on.bbr.inflight_shortterm;
    on.path.in_flight = 80;
    for _ in 0..5 {
        on.round(80)
            .expect_rate(0.99, 80)
            .expect_phase(Phase::Cruise);
        assert_eq!(on.bbr.inflight_shortterm, bound);
    }
    // The next probe loses in its first round, with 99 in flight as the third is lost: that is the bound from then on.
    on.refill();
    on.path.in_flight = 100;
    on.round(80).expect_phase(Phase::Up);
    on.losing(3, 1, 100).expect_phase(Phase::Down);
    assert_eq!(on.bbr.inflight_longterm, 99);
}

#[test]
fn a_bound_that_a_probe_meets_grows_by_1_2_and_4_segments_in_a_round() {
    // A.15
    let mut on = bounded();
    on.refill().round(100);
    on.bbr.probe.was_too_high = false;
    on.path.in_flight = 148;
    on.path.is_cwnd_limited = true;
    for more in [1, 2, 4] {
        let before = on.bbr.inflight_longterm;
        // A window of ACKs, of which the last begins the next round, and with it the next slope.
        for part in 1..=4 {
            let acked = on.path.cwnd.div_ceil(4);
            let sample = RateSample {
                prior_delivered: if part == 4 { on.path.delivered } else { 0 },
                delivered: Some(100),
                interval: Some(RTT),
                rtt: Some(RTT),
                acked,
                sent_in_flight: 148,
                ..RateSample::default()
            };
            on.path.now += RTT / 4;
            on.path.delivered += acked;
            on.bbr.on_ack(&mut on.path, &sample);
        }
        // What was acknowledged towards a segment more counts for the next, which asks for half of it.
        let grown = on.bbr.inflight_longterm - before;
        assert!((more..=more + 2).contains(&grown), "{grown} for {more}");
    }
    on.expect_phase(Phase::Up);
}

#[test]
fn a_round_with_losses_lowers_rate_and_window_to_what_it_has_delivered() {
    let mut on = On::cruising();
    let cwnd = on.path.cwnd;
    let shortterm = |on: &On| {
        (
            on.bbr.bandwidth_shortterm * RTT / BW_UNIT,
            on.bbr.inflight_shortterm,
        )
    };
    // The round that ends with the ACK after the loss has seen all that the path had; the next one delivers 80.
    on.losing(1, 1, 100).round(80);
    assert_eq!((cwnd, shortterm(&on)), (301, (99, 210)));
    on.losing(1, 1, 100).round(80);
    assert_eq!(shortterm(&on), (79, 147));
    on.expect_rate(0.99, 80);
    assert_eq!(on.path.cwnd, 147);
    // Down to seven tenths at most.
    on.losing(20, 1, 80).round(20);
    on.losing(20, 1, 80).round(20);
    assert_eq!(shortterm(&on), (55, 71)); // 0.7 of 79.9 and, twice, of 147, each cut off
    // Refilling forgets it.
    on.refill().expect_rate(0.99, 100);
    assert_eq!(on.bbr.inflight_shortterm, UNBOUNDED);
}

#[test]
fn losses_of_a_probe_that_are_few_change_nothing() {
    let mut on = On::probing();
    on.losing(1, 1, 100);
    on.round(100).round(100);
    assert_eq!(on.bbr.bandwidth_shortterm, UNBOUNDED);
    assert_eq!(on.bbr.inflight_longterm, UNBOUNDED);
}

#[test]
fn a_bandwidth_is_forgotten_with_the_second_cycle_after_it() {
    // A.16: a tenth of the bandwidth.
    let mut on = On::cruising();
    let greatest = |on: &On| on.bbr.max_bandwidth() * RTT / BW_UNIT;
    let mut seen = Vec::new();
    for _ in 0..2 {
        on.path.in_flight = 10;
        on.refill_at(10).round(10).round(10).round(10).round(10);
        on.expect_phase(Phase::Down);
        // The round after it is the last of the probe.
        on.round(10);
        seen.push(greatest(&on));
        on.round(10).expect_phase(Phase::Cruise);
    }
    assert_eq!(seen, [99, 9]);
}
