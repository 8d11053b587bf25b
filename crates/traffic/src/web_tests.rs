//! Web users over a wire, without a network.

use crate::tests::{DELAY, MSS, run, run_with_losses, spec};
use crate::web::{count, draw};
use skycell_des::Stream;
use skycell_records::{FlowRecord, ResponseTimes, Traces};
use skycell_spec::{
    CountSpec, DelayedAckSpec, DistributionSpec, FileClassSpec, OutsideLimits, PageMoment,
    StartSpec, TrafficSpec, WebSpec,
};
use skycell_tcp::SegmentKind;
use skycell_units::SimTime;

const REQUEST: u64 = 128;

/// Exactly `n`: every other value is held to it.
fn exactly(n: u32) -> CountSpec {
    CountSpec {
        mean: f64::from(n),
        low: n,
        high: n,
        outside: OutsideLimits::Clamp,
    }
}

fn every(millis: u64) -> DistributionSpec {
    DistributionSpec::Constant {
        value_ps: SimTime::from_millis(millis).0,
    }
}

/// Two requests a page, one second apart, a page every ten seconds, each for one file of `octets`.
pub(crate) fn web(octets: u64) -> WebSpec {
    WebSpec {
        page_interval: every(10_000),
        page_interval_from: PageMoment::FirstRequest,
        pages: None,
        requests: exactly(2),
        gap: every(1_000),
        request_octets: REQUEST,
        classes: vec![FileClassSpec {
            weight: 1.0,
            sizes_octets: vec![octets],
        }],
        index_first: false,
        size: exactly(1),
    }
}

fn run_web(web: WebSpec, handshake: bool, seconds: u64) -> (FlowRecord, Traces) {
    let spec = spec(TrafficSpec::Web(web), handshake);
    run(&spec, SimTime::from_millis(1_000 * seconds))
}

fn millis(column: &[u64]) -> Vec<u64> {
    column.iter().map(|ps| ps / 1_000_000_000).collect()
}

#[test]
fn a_file_takes_a_round_trip_and_one_more_for_each_doubling_of_the_window() {
    // 3.5 segments: a request takes 50 ms to the server. cwnd 1, 2, 4: the file's last octet leaves
    // with the third window, 200 ms after the first segment, and takes 50 ms more.
    let (record, traces) = run_web(web(3 * MSS + 500), false, 10);
    let files = &traces.files;
    assert_eq!(millis(&files.requested_ps), [0, 1_000]);
    // The window has grown to five segments: the second file needs no second window.
    assert_eq!(millis(&files.received_ps), [300, 1_100]);
    assert_eq!(files.octets, [3_500, 3_500]);
    let web = record.web.expect("web traffic leaves a record");
    assert_eq!(web.octets_scheduled, 7_000);
    assert_eq!(
        web.file_times_ps,
        [300, 100].map(|t| SimTime::from_millis(t).0)
    );
    // The page is whole when its second file is.
    assert_eq!(web.page_times_ps, [SimTime::from_millis(1_100).0]);
    assert_eq!(
        web.page_response,
        ResponseTimes::of(web.page_times_ps.clone())
    );
    assert_eq!(record.octets_delivered, 7_000);
}

#[test]
fn a_page_may_begin_with_its_index_page_and_have_images_after_it() {
    let class = |weight, octets| FileClassSpec {
        weight,
        sizes_octets: vec![octets],
    };
    let asked = |index_first| {
        let page = WebSpec {
            requests: exactly(5),
            gap: every(1_000),
            pages: Some(4),
            classes: vec![class(1.0, 100), class(3.0, 2_000), class(1.0, 5_000)],
            index_first,
            ..web(100)
        };
        run_web(page, false, 40).1.files.octets
    };
    // Files of the page in the order of their requests: the first has 100 octets, the four others never.
    let files = asked(true);
    assert_eq!(files.len(), 20);
    for page in files.chunks(5) {
        assert_eq!(page[0], 100);
        assert!(
            page[1..]
                .iter()
                .all(|octets| [2_000, 5_000].contains(octets)),
            "{page:?}"
        );
    }
    // 16 images, three quarters of 2 000 octets: 12, standard deviation 1.7.
    let small = files.iter().filter(|octets| **octets == 2_000).count();
    assert!((7..=16).contains(&small), "{small}");
    assert!(files.contains(&5_000));
    // Drawn alike, a file of the first class stands anywhere.
    let alike = asked(false);
    assert!(
        alike
            .chunks(5)
            .any(|page| page[0] != 100 || page[1..].contains(&100))
    );
}

#[test]
fn pages_follow_each_other_by_their_interval_up_to_their_number() {
    let (_, traces) = run_web(web(100), false, 25);
    let asked = millis(&traces.files.requested_ps);
    assert_eq!(asked, [0, 1_000, 10_000, 11_000, 20_000, 21_000]);
    assert_eq!(traces.files.page, [0, 0, 1, 1, 2, 2]);
    let two = WebSpec {
        pages: Some(2),
        ..web(100)
    };
    let (record, _) = run_web(two, false, 25);
    let counts = record
        .web
        .map(|web| (web.pages, web.requests, web.requests_answered));
    assert_eq!(counts, Some((2, 4, 4)));
}

#[test]
fn a_page_that_takes_longer_than_the_interval_puts_the_next_one_off() {
    let hasty = WebSpec {
        page_interval: every(300),
        ..web(100)
    };
    let (_, traces) = run_web(hasty, false, 3);
    // The second request of a page and the first of the next go together.
    assert_eq!(
        millis(&traces.files.requested_ps),
        [0, 1_000, 1_000, 2_000, 2_000]
    );
}

#[test]
fn the_interval_may_run_from_the_last_request_or_from_the_last_answer() {
    let asked = |page_interval_from| {
        let (record, traces) = run_web(
            WebSpec {
                page_interval: every(5_000),
                page_interval_from,
                pages: Some(3),
                ..web(3 * MSS + 500)
            },
            false,
            30,
        );
        assert_eq!(record.web.expect("web traffic").pages, 3);
        millis(&traces.files.requested_ps)
    };
    assert_eq!(
        asked(PageMoment::LastRequest),
        [0, 1_000, 6_000, 7_000, 12_000, 13_000]
    );
    // A request takes 50 ms, and its file, which the window of the first page's end holds whole, as long.
    assert_eq!(
        asked(PageMoment::LastAnswer),
        [0, 1_000, 6_100, 7_100, 12_200, 13_200]
    );
}

#[test]
fn an_interval_may_be_drawn_and_moves_no_other_draw() {
    let drawn = WebSpec {
        page_interval: DistributionSpec::Uniform {
            low_ps: SimTime::from_millis(2_000).0,
            high_ps: SimTime::from_millis(4_000).0,
        },
        requests: CountSpec {
            high: 5,
            ..exactly(2)
        },
        size: CountSpec {
            high: 2,
            ..exactly(1)
        },
        classes: vec![FileClassSpec {
            weight: 1.0,
            sizes_octets: vec![100, 300],
        }],
        pages: Some(4),
        ..web(100)
    };
    let steady = WebSpec {
        page_interval: every(3_000),
        ..drawn.clone()
    };
    let [(_, drawn), (_, steady)] = [drawn, steady].map(|web| run_web(web, false, 60));
    assert_eq!(drawn.files.octets, steady.files.octets);
    assert_eq!(drawn.files.page, steady.files.page);
    assert_ne!(drawn.files.requested_ps, steady.files.requested_ps);
}

#[test]
fn requests_are_tcp_data_of_their_own_with_acknowledgements_of_their_own() {
    let (record, _) = run_web(web(100), false, 5);
    let requests = record.web.expect("web traffic").request_stream;
    assert_eq!(
        (requests.octets_sent, requests.segments_sent),
        (2 * REQUEST, 2)
    );
    assert_eq!(
        (requests.octets_acked, requests.acks_sent),
        (2 * REQUEST, 2)
    );
    assert_eq!((record.segments_sent, record.acks_sent), (2, 2));
}

#[test]
fn a_window_full_of_requests_holds_the_next_back() {
    // cwnd is one segment of 1000 octets: 7 requests of 128, and 104 octets of the eighth.
    let burst = WebSpec {
        requests: exactly(9),
        gap: DistributionSpec::Constant { value_ps: 0 },
        ..web(100)
    };
    let (record, traces) = run_web(burst, false, 5);
    assert_eq!(millis(&traces.files.received_ps[..7]), [100; 7]);
    // The other two wait for the first acknowledgement, a round trip.
    assert_eq!(millis(&traces.files.received_ps[7..]), [200; 2]);
    assert_eq!(record.web.expect("web traffic").requests_answered, 9);
}

#[test]
fn the_client_opens_the_connection() {
    let (record, traces) = run_web(web(100), true, 5);
    // SYN and its answer take a round trip; the request goes out with the answer's arrival.
    assert_eq!(millis(&traces.files.received_ps), [200, 1_100]);
    let requests = record.web.expect("web traffic").request_stream;
    // SYN, SYN-ACK, and its acknowledgement; the answers' half opens with them.
    assert_eq!((requests.control_segments, record.control_segments), (3, 0));
}

#[test]
fn draws_do_not_depend_on_the_network_or_on_each_other() {
    let drawn = |mean, gap_ps| {
        let web = WebSpec {
            requests: CountSpec {
                mean,
                low: 1,
                high: 9,
                outside: OutsideLimits::Redraw,
            },
            gap: DistributionSpec::Uniform {
                low_ps: gap_ps,
                high_ps: 3 * gap_ps,
            },
            classes: [100, 10_000]
                .map(|octets| FileClassSpec {
                    weight: 1.0,
                    sizes_octets: vec![octets],
                })
                .into(),
            ..web(1)
        };
        run_web(web, false, 60).1.files.octets
    };
    let files = drawn(5.0, 1_000_000);
    assert!(files.len() > 15 && files.contains(&100) && files.contains(&10_000));
    assert_eq!(
        files,
        drawn(5.0, 7_000_000),
        "gaps have a stream of their own"
    );
}

#[test]
fn a_lost_answer_is_sent_again_and_holds_the_later_ones_back() {
    // Losses by script take the flow's own data, so the first answer is lost; the second one's
    // arrival shows the hole, and the timer resends it.
    let mut spec = spec(TrafficSpec::Web(web(100)), false);
    spec.loss_script.transmissions = vec![0];
    spec.start = StartSpec::At { time_ps: 0 };
    let (record, traces) = run(&spec, SimTime::from_millis(20_000));
    assert!(record.segments_lost_by_script == 1 && record.timeouts >= 1);
    // Files come in order: both are whole when the first has been sent again.
    assert_eq!(traces.files.received_ps[0], traces.files.received_ps[1]);
    assert!(traces.files.received_ps[0] > SimTime::from_millis(1_000).0 + 2 * DELAY.0);
}

#[test]
fn a_page_takes_from_its_own_first_request_to_its_last_file() {
    let (record, _) = run_web(web(MSS), false, 20);
    let web = record.web.expect("web traffic leaves a record");
    // Files a second apart that take one round trip each.
    assert_eq!(millis(&web.page_times_ps), [1_100; 2]);
}

#[test]
fn a_request_that_is_lost_is_sent_again_by_the_client_and_acknowledged_when_its_hold_is_over() {
    let mut spec = spec(TrafficSpec::Web(web(MSS)), false);
    spec.tcp.delayed_ack = Some(DelayedAckSpec {
        timeout_ps: SimTime::from_millis(200).0,
        every_segments: 2,
        max_timeout_ps: 0,
        quick_segments: 0,
        sack_timeout_ps: 0,
        sack_segments: 0,
    });
    let mut lost = 0;
    let (record, _) = run_with_losses(&spec, SimTime::from_millis(9_000), |segment| {
        let is_request = segment.kind == SegmentKind::Data && segment.length == REQUEST as u32;
        lost += u64::from(is_request);
        is_request && lost == 1
    });
    let web = record.web.expect("web traffic leaves a record");
    let stream = &web.request_stream;
    // The second request rides behind the first, which the client sends again after 3 s.
    assert_eq!((stream.timeouts, stream.segments_retransmitted), (1, 1));
    assert_eq!((web.requests, web.requests_answered), (2, 2));
    assert_eq!(stream.octets_outstanding, 0);
}

#[test]
fn a_count_beyond_its_limits_is_held_to_them_or_drawn_again() {
    // Mean 0.1 between 2 and 3: held, 3 or more has 1.5e-4; cut off, P(3) / P(2) = 0.1 / 3.
    let threes = |outside| {
        let spec = CountSpec {
            mean: 0.1,
            low: 2,
            high: 3,
            outside,
        };
        let mut stream = Stream::new(1, "test");
        let counts = count(&spec);
        let drawn = (0..10_000).filter(|_| draw(&counts, &spec, &mut stream) == 3);
        drawn.count()
    };
    assert!(threes(OutsideLimits::Clamp) < 20);
    assert!((220..420).contains(&threes(OutsideLimits::Redraw)));
}

#[test]
fn the_server_acknowledges_a_request_when_its_hold_is_over() {
    let mut spec = spec(TrafficSpec::Web(web(MSS)), false);
    spec.tcp.delayed_ack = Some(DelayedAckSpec {
        timeout_ps: SimTime::from_millis(200).0,
        every_segments: 2,
        max_timeout_ps: 0,
        quick_segments: 0,
        sack_timeout_ps: 0,
        sack_segments: 0,
    });
    let (record, _) = run(&spec, SimTime::from_millis(9_000));
    let stream = record
        .web
        .expect("web traffic leaves a record")
        .request_stream;
    // A second lies between the two, and the client's timer runs for three.
    assert_eq!((stream.acks_sent, stream.timeouts), (2, 0));
}
