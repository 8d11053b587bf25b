//! BBR, a round at a time: an ACK tells of what a round trip of 100 ms has delivered. Segments have 1 000 octets.

use super::*;
use crate::congestion::path_model::tests::expect_rate;

const MSS: u64 = 1_000;
const RTT: u64 = 100_000;

/// BBR on a path of which a test says everything.
struct On {
    bbr: Bbr,
    path: Path,
    sample: RateSample,
}

impl On {
    fn new() -> Self {
        let mut path = Path {
            cwnd: 10,
            cwnd_max: 100_000,
            ssthresh: None,
            rate: 0,
            is_app_limited: false,
            limits_itself: false,
            in_flight: 10,
            is_cwnd_limited: true,
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
        let bbr = Bbr::new(Stream::new(1, "test"), &mut path, Some(RTT));
        On {
            bbr,
            path,
            sample: RateSample::default(),
        }
    }

    /// In the steady state of 100 segments a round trip, in a phase of the cycle, with all that in flight.
    fn steady(cycle: usize) -> Self {
        let mut on = On::new();
        for delivered in [25, 50, 100, 100, 100, 100] {
            on.round(delivered);
        }
        on.path.in_flight = 100;
        on.round(100);
        assert_eq!(on.bbr.mode, Mode::ProbeBw);
        on.bbr.cycle = cycle;
        on.bbr.cycle_began = on.path.delivered_at;
        on.bbr.update_gains();
        on.path.in_flight = 104;
        on
    }

    /// A round trip has passed that delivered `segments` of what was sent as it began.
    fn round(&mut self, segments: u64) -> &mut Self {
        self.path.now += RTT;
        self.ack(segments, RTT)
    }

    /// An ACK of `segments`, of which the last was sent as everything before them had arrived, `interval` ago.
    fn ack(&mut self, segments: u64, interval: u64) -> &mut Self {
        self.sample = RateSample {
            prior_delivered: self.path.delivered,
            delivered: Some(segments),
            interval: Some(interval),
            rtt: Some(RTT),
            acked: segments,
            prior_in_flight: self.path.in_flight,
            ..self.sample
        };
        self.path.delivered += segments;
        self.path.delivered_at = self.path.now;
        self.path.lost += self.sample.losses;
        self.bbr.on_ack(&mut self.path, &self.sample);
        self.sample.losses = 0;
        self
    }

    fn losing(&mut self, losses: u64) -> &mut Self {
        self.sample.losses = losses;
        self
    }

    /// Octets a second as a multiple of `segments` a round trip.
    fn expect_rate(&mut self, multiple: f64, segments: u64) -> &mut Self {
        expect_rate(&self.path, multiple, segments as f64 / RTT as f64);
        self
    }
}

#[test]
fn it_begins_with_the_initial_window_in_a_round_trip_times_2_89_less_one_percent() {
    let mut on = On::new();
    on.expect_rate(739.0 / 256.0 * 0.99, 10);
    // No round trip yet: 1 ms is taken for it, until the first is known.
    on.path.srtt = 0;
    let mut early = Bbr::new(Stream::new(1, "test"), &mut on.path, None);
    on.expect_rate(739.0 / 256.0 * 0.99 * 100.0, 10);
    on.path.srtt = RTT;
    early.set_rate(&mut on.path, 0, UNIT);
    on.expect_rate(739.0 / 256.0 * 0.99, 10);
}

#[test]
fn startup_doubles_and_ends_after_three_rounds_that_have_grown_by_less_than_a_quarter() {
    let mut on = On::new();
    for delivered in [25, 50, 100] {
        on.round(delivered)
            .expect_rate(739.0 / 256.0 * 0.99, delivered);
    }
    // cwnd has grown by what was acknowledged, up to 2.89 * 100 and a budget.
    assert_eq!(on.path.cwnd, 10 + 25 + 50 + 100);
    for delivered in [124, 124] {
        on.round(delivered);
        assert_eq!(on.bbr.mode, Mode::Startup);
    }
    on.path.in_flight = 300;
    on.round(124);
    assert_eq!(on.bbr.mode, Mode::Drain);
    on.expect_rate(88.0 / 256.0 * 0.99, 124);
    // ssthresh says what the path holds: 124, three bursts, an even number. At the pace of startup, 3.5 MB/s, a burst has
    // three segments, then two.
    assert_eq!(on.path.ssthresh, Some(134));
    on.path.in_flight = 131;
    on.round(124);
    assert_eq!(on.bbr.mode, Mode::Drain);
    on.path.in_flight = 130;
    on.round(124);
    assert_eq!(on.bbr.mode, Mode::ProbeBw);
    assert_ne!(on.bbr.cycle, 1); // the phase that drains is none to begin with
    // Twice the bandwidth-delay product, and six; what came at once with each round, 100 ms of it at most, beside.
    on.round(124);
    let aggregated = on.bbr.aggregation_cwnd();
    let even = (248 + aggregated + 6).next_multiple_of(2);
    let probes = 2 * u64::from(on.bbr.cycle == 0);
    assert_eq!(on.path.cwnd, even + probes);
}

#[test]
fn what_the_application_limits_says_nothing_unless_it_is_more_than_is_known() {
    let mut on = On::new();
    on.round(100);
    on.sample.is_app_limited = true;
    for _ in 0..5 {
        on.round(10);
    }
    assert_eq!(on.bbr.mode, Mode::Startup);
    on.expect_rate(739.0 / 256.0 * 0.99, 100);
    on.round(200).expect_rate(739.0 / 256.0 * 0.99, 200);
}

#[test]
fn a_phase_that_probes_lasts_until_a_quarter_more_is_in_flight_or_something_is_lost() {
    // 125, a burst, three bursts of budget and two for the phase: 134 with what departs next.
    let phase_after = |in_flight, losses| {
        let mut on = On::steady(0);
        on.expect_rate(0.99, 100); // the rate follows with the next ACK
        on.path.in_flight = in_flight;
        on.losing(losses).round(100);
        on.path.in_flight = in_flight;
        on.losing(losses).round(100);
        on.bbr.cycle
    };
    assert_eq!(phase_after(131, 0), 0);
    assert_eq!(phase_after(132, 0), 1);
    assert_eq!(phase_after(100, 1), 1);
}

#[test]
fn a_phase_that_drains_ends_as_the_queue_is_gone() {
    let mut on = On::steady(1);
    on.path.in_flight = 107;
    on.path.now += 10_000;
    on.ack(10, RTT).expect_rate(0.75 * 0.99, 100);
    assert_eq!(on.bbr.cycle, 1);
    on.path.in_flight = 106; // 100 and three bursts
    on.path.now += 10_000;
    on.ack(10, RTT);
    assert_eq!(on.bbr.cycle, 2);
    on.expect_rate(0.99, 100);
}

#[test]
fn six_phases_cruise_for_a_round_trip_each() {
    let mut on = On::steady(2);
    for cycle in [3, 4, 5, 6, 7, 0] {
        on.bbr.cycle_began = on.path.delivered_at;
        on.path.now += RTT;
        on.ack(100, RTT);
        assert_ne!(on.bbr.cycle, cycle);
        on.path.now += 1;
        on.ack(1, RTT);
        assert_eq!(on.bbr.cycle, cycle);
    }
    on.expect_rate(1.25 * 0.99, 100);
}

#[test]
fn after_ten_seconds_without_the_least_round_trip_it_probes_for_it() {
    let mut on = On::steady(2);
    let cwnd = on.path.cwnd;
    on.path.now = on.bbr.min_rtt_jiffies * 1_000 + 10_000_000;
    on.ack(1, RTT);
    assert_eq!(on.bbr.mode, Mode::ProbeBw);
    on.path.now += 1_000;
    on.ack(1, RTT);
    assert_eq!((on.bbr.mode, on.path.cwnd), (Mode::ProbeRtt, LEAST_CWND));
    assert!(on.path.limits_itself);
    // 200 ms from when no more than four are in flight, and a round.
    on.path.in_flight = 4;
    on.path.now += 50_000;
    on.ack(4, RTT);
    on.path.now += 200_000;
    on.ack(4, RTT);
    assert_eq!((on.bbr.mode, on.path.cwnd), (Mode::ProbeRtt, 4));
    on.path.now += 1_000;
    on.ack(4, RTT);
    assert_eq!(on.bbr.mode, Mode::ProbeBw);
    assert!(on.path.cwnd >= cwnd - 4, "{} of {cwnd}", on.path.cwnd);
}

#[test]
fn a_loss_conserves_for_a_round_and_cwnd_is_as_before_when_recovery_ends() {
    let mut on = On::steady(2);
    let cwnd = on.path.cwnd;
    on.bbr.save_cwnd(&on.path);
    on.path.is_recovering = true;
    on.path.in_flight = 90;
    on.path.now += 1_000;
    on.losing(3).ack(2, RTT);
    assert_eq!(on.path.cwnd, 92); // as much leaves as arrives
    on.path.in_flight = 91;
    on.sample.prior_delivered = 0;
    on.path.delivered += 2;
    on.bbr.is_round_start = false;
    // An ACK of the same round; then one of the next, which grows by what it acknowledges.
    let same = RateSample {
        acked: 2,
        ..RateSample::default()
    };
    on.bbr.on_ack(&mut on.path, &same);
    assert_eq!(on.path.cwnd, 93);
    on.round(20);
    assert_eq!(on.path.cwnd, 113);
    on.path.is_recovering = false;
    on.round(100);
    assert!(on.path.cwnd >= cwnd, "{} of {cwnd}", on.path.cwnd);
}

#[test]
fn a_timeout_leaves_the_window_to_grow_back_and_restores_it() {
    let mut on = On::steady(2);
    let cwnd = on.path.cwnd;
    on.bbr.save_cwnd(&on.path);
    on.path.cwnd = 1;
    on.path.in_flight = 1;
    on.path.lost += 100;
    on.bbr.on_rto(&on.path);
    on.path.is_after_timeout = true;
    on.round(1);
    assert_eq!(on.path.cwnd, LEAST_CWND);
    on.round(4);
    assert_eq!(on.path.cwnd, 8);
    on.path.is_after_timeout = false;
    on.round(8);
    assert!(on.path.cwnd >= cwnd, "{} of {cwnd}", on.path.cwnd);
}

#[test]
fn two_intervals_that_lose_a_fifth_at_about_one_bandwidth_are_a_policers() {
    let mut on = On::steady(2);
    // The first loss begins an interval; after four rounds another that makes a fifth of what was delivered ends it.
    on.losing(25).round(100);
    for _ in 0..2 {
        for _ in 0..3 {
            on.round(60);
        }
        assert!(!on.bbr.long_term.is_used());
        on.losing(80).round(60);
    }
    assert!(on.bbr.long_term.is_used());
    // 240 and 240 segments in 400 ms: 60 a round trip, though 100 have been seen in this.
    on.expect_rate(0.99, 60);
    assert_eq!(on.bbr.bandwidth.greatest() * RTT / BW_UNIT, 99);
    for _ in 0..47 {
        on.round(60);
    }
    assert!(on.bbr.long_term.is_used());
    on.round(60);
    assert!(!on.bbr.long_term.is_used());
}

#[test]
fn what_arrives_in_clusters_gives_cwnd_room_for_the_gap() {
    let mut on = On::steady(2);
    on.bbr.aggregation = Aggregation::from(on.path.delivered_at);
    // 40 at once after 20 ms, in which 20 were due.
    on.bbr.aggregation.epoch_acked = 1;
    on.path.now += 20_000;
    on.ack(40, RTT);
    // The epoch began anew, as 1 is fewer than were due: all 40 are more than expected.
    assert_eq!(on.bbr.aggregation.extra[0], 40);
    // 50 more after 30 ms: 90 where 29 were due (100 segments a round trip are cut to 29.99).
    on.path.now += 30_000;
    on.ack(50, RTT);
    assert_eq!(on.bbr.aggregation.extra[0], 61);
    on.round(1);
    assert_eq!(on.bbr.aggregation_cwnd(), 61);
}

#[test]
fn the_first_segment_after_idling_is_paced_at_the_bandwidth() {
    let mut on = On::steady(0);
    on.round(100).expect_rate(1.25 * 0.99, 100);
    on.bbr.on_restart(&mut on.path);
    on.expect_rate(1.25 * 0.99, 100); // not limited by the application
    on.path.is_app_limited = true;
    on.bbr.on_restart(&mut on.path);
    on.expect_rate(0.99, 100);
    // No probing for the round trip just because nothing was sent.
    on.path.now += 11_000_000;
    on.ack(1, RTT);
    assert_ne!(on.bbr.mode, Mode::ProbeRtt);
}
