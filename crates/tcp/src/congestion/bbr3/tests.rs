//! BBR version 3, a round at a time: an ACK tells of what a round trip of 100 ms has delivered. Segments have 1 000 octets. The
//! cases of the draft's appendix A are named where one is of them.

use super::*;
use crate::congestion::Lost;
use crate::congestion::path_model::tests::expect_rate;

const MSS: u64 = 1_000;
pub(super) const RTT: u64 = 100_000;
pub(super) const SECOND: u64 = 1_000_000;

/// BBR on a path of which a test says everything.
pub(super) struct On {
    pub(super) bbr: Bbr3,
    pub(super) path: Path,
    pub(super) sample: RateSample,
    /// The next segment that is lost.
    index: u64,
}

impl On {
    pub(super) fn new() -> Self {
        let mut path = Path {
            cwnd: 10,
            cwnd_max: 100_000,
            ssthresh: None,
            rate: 0,
            is_app_limited: false,
            limits_itself: false,
            in_flight: 10,
            is_cwnd_limited: false,
            delivered: 1,
            lost: 0,
            delivered_at: RTT,
            now: RTT,
            until_departure: 0,
            srtt: RTT,
            mss: MSS,
            is_recovering: false,
            is_after_timeout: false,
        };
        let bbr = Bbr3::new(Stream::new(1, "test"), &mut path, Some(RTT));
        On {
            bbr,
            path,
            sample: RateSample::default(),
            index: 0,
        }
    }

    /// At the end of startup with 100 segments a round trip, in Drain.
    pub(super) fn draining() -> Self {
        let mut on = On::new();
        on.path.in_flight = 200;
        for delivered in [25, 50, 100, 100, 100, 100] {
            on.round(delivered);
        }
        assert_eq!(on.bbr.state, State::Drain);
        on
    }

    /// In the steady state of 100 segments a round trip, cruising with all that in flight.
    pub(super) fn cruising() -> Self {
        let mut on = On::draining();
        on.path.in_flight = 100;
        on.round(100).round(100);
        on.expect_phase(Phase::Cruise);
        on
    }

    /// Where the same begins to send faster, at a time that rounds have not yet come to.
    pub(super) fn probing() -> Self {
        let mut on = On::cruising();
        on.refill().round(100);
        on.expect_phase(Phase::Up);
        on
    }

    /// Until the time that was drawn is over: it refills.
    pub(super) fn refill(&mut self) -> &mut Self {
        self.refill_at(100)
    }

    /// The same with an ACK that finds so many segments in a round trip.
    pub(super) fn refill_at(&mut self, segments: u64) -> &mut Self {
        self.path.now = self.bbr.probe.began + self.bbr.probe.wait + 1;
        self.bbr.probe_rtt.least_at = self.path.now;
        self.ack(1, RTT / segments);
        self.expect_phase(Phase::Refill)
    }

    /// A round trip has passed that delivered `segments` of what was sent as it began.
    pub(super) fn round(&mut self, segments: u64) -> &mut Self {
        self.path.now += RTT;
        self.ack(segments, RTT)
    }

    /// An ACK of `segments`, of which the last was sent as everything before them had arrived, `interval` ago.
    pub(super) fn ack(&mut self, segments: u64, interval: u64) -> &mut Self {
        self.sample = RateSample {
            prior_delivered: self.path.delivered,
            delivered: Some(segments),
            interval: Some(interval),
            rtt: self.sample.rtt.or(Some(RTT)),
            acked: segments,
            sent_in_flight: self.path.in_flight,
            ..self.sample
        };
        self.path.delivered += segments;
        self.path.delivered_at = self.path.now;
        self.bbr.on_ack(&mut self.path, &self.sample);
        self.sample.lost = 0;
        self
    }

    /// So many of a flight of `in_flight` are found lost, in so many ranges.
    pub(super) fn losing(&mut self, losses: u64, ranges: u64, in_flight: u64) -> &mut Self {
        for lost in 1..=losses {
            self.index += if lost <= ranges { 2 } else { 1 };
            let lost = Lost {
                index: self.index,
                sent_in_flight: in_flight,
                lost,
                is_app_limited: self.sample.is_app_limited,
            };
            self.bbr.on_lost(&self.path, &lost);
        }
        self.sample.lost = losses;
        self
    }

    pub(super) fn expect_phase(&mut self, phase: Phase) -> &mut Self {
        assert_eq!(self.bbr.state, State::ProbeBw(phase));
        self
    }

    /// Octets a second as a multiple of `segments` a round trip.
    pub(super) fn expect_rate(&mut self, multiple: f64, segments: u64) -> &mut Self {
        expect_rate(&self.path, multiple, segments as f64 / RTT as f64);
        self
    }
}

#[test]
fn it_begins_with_the_initial_window_in_a_round_trip_times_2_77() {
    let mut on = On::new();
    on.expect_rate(2.77, 10);
    // No round trip yet: 1 ms is taken for it, until the first is known.
    on.path.srtt = 0;
    let mut early = Bbr3::new(Stream::new(1, "test"), &mut on.path, None);
    on.expect_rate(277.0, 10);
    on.path.srtt = RTT;
    early.set_rate(&mut on.path, 100);
    on.expect_rate(2.77, 10);
}

#[test]
fn startup_doubles_and_ends_after_three_rounds_that_have_grown_by_less_than_a_quarter() {
    // A.1
    let mut on = On::new();
    for delivered in [25, 50, 100] {
        on.round(delivered).expect_rate(2.77 * 0.99, delivered);
    }
    // cwnd has grown by what was acknowledged, up to twice the product.
    assert_eq!(on.path.cwnd, 10 + 25 + 50 + 100);
    on.path.in_flight = 200;
    for delivered in [124, 124] {
        on.round(delivered);
        assert_eq!(on.bbr.state, State::Startup);
    }
    on.round(124).expect_rate(0.5 * 0.99, 124);
    assert_eq!((on.bbr.state, on.bbr.full.is_now), (State::Drain, true));
}

#[test]
fn drain_ends_as_no_more_is_in_flight_than_the_path_holds() {
    // A.3: 99 segments a microsecond, cut off, in 100 000 us are 100, rounded up.
    let mut on = On::draining();
    on.path.in_flight = 101;
    on.round(100);
    assert_eq!(on.bbr.state, State::Drain);
    on.path.in_flight = 100;
    on.path.now += 1_000;
    on.ack(1, RTT / 100);
    // What is in flight lets it cruise with the same ACK.
    on.expect_phase(Phase::Cruise).expect_rate(0.99, 100);
}

#[test]
fn drain_ends_after_three_rounds_in_any_case() {
    // A.4
    let mut on = On::draining();
    on.path.in_flight = 150;
    for _ in 0..3 {
        on.round(90);
        assert_eq!(on.bbr.state, State::Drain);
    }
    on.round(90).expect_phase(Phase::Down);
    on.expect_rate(0.9 * 0.99, 100);
}

#[test]
fn a_round_of_recovery_with_six_ranges_and_more_than_two_percent_lost_ends_startup() {
    // A.2: although the application limits it. 100 in flight, six lost, in so many ranges.
    let outcome = |ranges: u64, losses: u64, in_flight: u64| {
        let mut on = On::new();
        on.round(25).round(50);
        on.sample.is_app_limited = true;
        on.path.in_flight = in_flight;
        on.path.is_recovering = true;
        on.losing(losses, ranges, in_flight);
        on.bbr.on_recovery(&on.path);
        // The ACK that has shown them is of the round before.
        on.path.now += 1_000;
        on.sample.prior_delivered = 0;
        let sample = RateSample {
            delivered: Some(2),
            acked: 2,
            is_app_limited: true,
            ..RateSample::default()
        };
        on.path.delivered += 2;
        on.bbr.on_ack(&mut on.path, &sample);
        assert_eq!(on.bbr.state, State::Startup);
        on.sample.lost = losses;
        on.round(60);
        (on.bbr.state, on.bbr.inflight_longterm)
    };
    // What is safe is what the round has delivered, 60, above the product of 50.
    assert_eq!(outcome(6, 6, 100), (State::Drain, 60));
    assert_eq!(outcome(5, 6, 100), (State::Startup, UNBOUNDED));
    assert_eq!(outcome(6, 6, 300), (State::Startup, UNBOUNDED)); // 2 % are not more than that
    assert_eq!(outcome(6, 6, 299), (State::Drain, 60));
}

#[test]
fn what_the_application_limits_ends_neither_startup_nor_a_probe() {
    // A.7
    let mut on = On::new();
    on.round(100);
    on.sample.is_app_limited = true;
    for _ in 0..9 {
        on.round(10);
    }
    assert_eq!(on.bbr.state, State::Startup);
    on.expect_rate(2.77 * 0.99, 100);
    on.round(200).expect_rate(2.77 * 0.99, 200);
    let mut on = On::probing();
    on.sample.is_app_limited = true;
    for _ in 0..9 {
        on.round(10).expect_phase(Phase::Up);
    }
}

#[test]
fn after_five_seconds_without_the_least_round_trip_it_probes_for_it_with_half_the_product() {
    // A.10
    let mut on = On::cruising();
    let cwnd = on.path.cwnd;
    on.sample.rtt = Some(RTT + 1);
    on.bbr.probe.wait = 9 * SECOND;
    on.path.now = on.bbr.probe_rtt.least_at + 5 * SECOND;
    on.ack(1, RTT / 100).expect_phase(Phase::Cruise);
    on.path.now += 1;
    on.ack(1, RTT / 100);
    assert_eq!((on.bbr.state, on.path.cwnd), (State::ProbeRtt, 50));
    on.expect_rate(0.99, 100);
    assert!(on.path.limits_itself);
    // 200 ms from when no more than that is in flight, and a round.
    on.path.in_flight = 50;
    on.path.now += 50_000;
    on.ack(4, RTT / 25);
    on.path.now += 200_000;
    on.ack(4, RTT / 25);
    assert_eq!((on.bbr.state, on.path.cwnd), (State::ProbeRtt, 50));
    on.path.now += 1;
    on.ack(4, RTT / 25).expect_phase(Phase::Cruise);
    assert!(on.path.cwnd + 4 >= cwnd, "{} of {cwnd}", on.path.cwnd);
}

#[test]
fn the_least_round_trip_is_of_ten_seconds_two_probes_for_it() {
    let mut on = On::cruising();
    let began = on.bbr.min_rtt_at;
    on.sample.rtt = Some(2 * RTT);
    on.path.now = began + 10 * SECOND;
    on.ack(1, RTT / 100);
    assert_eq!(on.bbr.min_rtt, Some(RTT));
    on.path.now += 1;
    on.ack(1, RTT / 100);
    assert_eq!(on.bbr.min_rtt, Some(2 * RTT));
    on.sample.rtt = Some(RTT / 2);
    on.ack(1, RTT / 100);
    assert_eq!(on.bbr.min_rtt, Some(RTT / 2));
}

#[test]
fn before_the_pipe_is_full_a_probe_for_the_round_trip_leads_back_to_startup() {
    // A.20
    let mut on = On::new();
    on.round(25);
    on.sample.rtt = Some(RTT + 1);
    on.path.now += 6 * SECOND;
    on.ack(1, RTT);
    assert_eq!(on.bbr.state, State::ProbeRtt);
    // What is sent then is marked as limited.
    on.sample.is_app_limited = true;
    on.path.in_flight = 4;
    for _ in 0..4 {
        on.path.now += RTT;
        on.ack(4, RTT);
    }
    assert_eq!(on.bbr.state, State::Startup);
}

#[test]
fn after_idling_it_sends_at_the_bandwidth_and_does_not_probe_for_the_round_trip() {
    // A.11
    let mut on = On::probing();
    on.expect_rate(1.25 * 0.99, 100);
    on.bbr.on_restart(&mut on.path);
    on.expect_rate(1.25 * 0.99, 100); // not limited by the application
    on.path.is_app_limited = true;
    on.path.now += 6 * SECOND;
    on.bbr.on_restart(&mut on.path);
    on.expect_rate(0.99, 100);
    on.sample.rtt = Some(RTT + 1);
    on.path.now += RTT;
    on.ack(1, RTT / 100);
    assert_ne!(on.bbr.state, State::ProbeRtt);
}

#[test]
fn what_arrives_in_clusters_gives_cwnd_room_for_the_gap() {
    // A.13
    let mut on = On::cruising();
    on.bbr.aggregation = Aggregation {
        began: on.path.now,
        delivered: 1,
        extra: MaxOverRounds::default(),
    };
    // 40 at once after 20 ms, in which 20 were due and 1 had come: a new interval, and all 40 are more than expected.
    on.path.now += 20_000;
    on.ack(40, RTT);
    assert_eq!(on.bbr.aggregation.extra.greatest(), 40);
    // 50 more after 30 ms: 90 where 29 were due (100 segments a round trip are cut to 29.99).
    on.path.now += 30_000;
    on.ack(50, RTT);
    assert_eq!(on.bbr.aggregation.extra.greatest(), 61);
    on.round(100);
    assert_eq!(on.path.cwnd, 200 + on.bbr.aggregation.extra.greatest());
}

#[test]
fn acknowledgements_in_clusters_leave_startup_room_to_double_its_rate() {
    // A.12: a round's ACKs come all at once. (That none of them makes a rate faster than what was sent, rate.rs has.)
    let mut on = On::new();
    on.path.in_flight = 200;
    let extra = |on: &On| on.bbr.aggregation.extra.greatest();
    // All of the first cluster is more than was expected of a bandwidth of 0, but only cwnd counts: 10.
    on.round(25).expect_rate(2.77 * 0.99, 25);
    assert_eq!((extra(&on), on.path.cwnd), (10, 35));
    // 75 so far, and 24 expected in this round: 51 more, of which cwnd allows 35.
    on.round(50).expect_rate(2.77 * 0.99, 50);
    assert_eq!((extra(&on), on.path.cwnd), (35, 85));
    // No more than expected had come: the interval begins with these 100.
    on.round(100).expect_rate(2.77 * 0.99, 100);
    assert_eq!((extra(&on), on.path.cwnd), (85, 185));
    // 200 in two rounds of which one, 99 cut off, was expected: the whole bandwidth is found, with more than twice its product.
    on.round(100).expect_rate(2.77 * 0.99, 100);
    assert_eq!(on.bbr.state, State::Startup);
    assert_eq!((extra(&on), on.path.cwnd), (101, 285));
}

#[test]
fn four_segments_may_be_in_flight_where_the_path_holds_less() {
    // A.14: a segment in ten round trips.
    let mut on = On::new();
    on.path.in_flight = 4;
    for _ in 0..9 {
        on.path.now += 10 * RTT;
        on.ack(1, 10 * RTT);
    }
    assert!(on.bbr.full.is_reached);
    // Three bursts of two segments.
    assert!((4..=6 + on.bbr.aggregation.extra.greatest()).contains(&on.path.cwnd));
    assert!(on.path.rate > 0);
}

#[test]
fn a_recovery_that_was_not_needed_leads_back_to_the_probe_it_has_ended() {
    // A.18
    let mut on = On::probing();
    let cwnd = on.path.cwnd;
    on.bbr.on_recovery(&on.path);
    on.path.in_flight = 120;
    on.losing(5, 1, 120);
    on.expect_phase(Phase::Down);
    assert_eq!(on.bbr.inflight_longterm, 119);
    on.path.cwnd = 50;
    on.bbr.on_undo(&mut on.path);
    on.expect_phase(Phase::Refill);
    assert_eq!((on.path.cwnd, on.bbr.inflight_longterm), (cwnd, UNBOUNDED));
    // And in a probe for the round trip what is bounded is not, but it goes on.
    let mut on = On::probing();
    on.bbr.on_recovery(&on.path);
    on.losing(5, 1, 120);
    on.bbr.state = State::ProbeRtt;
    on.bbr.on_undo(&mut on.path);
    assert_eq!(on.bbr.state, State::ProbeRtt);
    assert_eq!(on.bbr.inflight_longterm, UNBOUNDED);
}

#[test]
fn a_recovery_that_was_not_needed_leads_back_to_startup() {
    let mut on = On::new();
    on.round(25).round(50);
    on.bbr.on_recovery(&on.path);
    on.path.is_recovering = true;
    on.path.in_flight = 100;
    on.losing(6, 6, 100);
    on.bbr.signals.has_loss = true;
    on.sample.lost = 6;
    on.round(10);
    assert_eq!(on.bbr.state, State::Drain);
    on.bbr.on_undo(&mut on.path);
    assert_eq!(
        (on.bbr.state, on.bbr.full.is_reached),
        (State::Startup, false)
    );
    assert_eq!(on.bbr.inflight_longterm, UNBOUNDED);
}

#[test]
fn a_timeout_leaves_the_window_to_grow_back_and_restores_it() {
    // A.19, without the undo.
    let mut on = On::cruising();
    let cwnd = on.path.cwnd;
    on.bbr.on_recovery(&on.path);
    on.path.cwnd = 1;
    on.path.in_flight = 1;
    on.bbr.on_rto();
    on.path.is_after_timeout = true;
    on.round(1);
    assert_eq!(on.path.cwnd, LEAST_CWND);
    on.round(4);
    assert_eq!(on.path.cwnd, 8);
    on.path.is_after_timeout = false;
    on.round(8);
    assert!(on.path.cwnd >= cwnd, "{} of {cwnd}", on.path.cwnd);
}
