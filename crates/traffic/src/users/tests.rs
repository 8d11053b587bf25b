//! Users and a wire, without a network: every segment arrives after a fixed time.

use super::*;
use crate::tests::spec;
use serde_json::{Value, json};
use skycell_records::UserGroupRecord;
use skycell_spec::{NetworkSpec, TrafficSpec};
use std::collections::BTreeMap;

/// One-way delay of the wire.
const DELAY: SimTime = SimTime::from_millis(50);
const MSS: u64 = 1_000;

/// A run of one group with this application, `count` users on one route, and an initial window of so many segments.
fn network(app: &Value, count: u32, window: u64) -> NetworkSpec {
    let mut tcp =
        serde_json::to_value(spec(TrafficSpec::Persistent, true).tcp).expect("plain data");
    tcp["initial_cwnd"] = json!(window * MSS);
    let port = json!({"queues": [{"class": null, "capacity_cells": null, "policy": {"kind": "tail_drop"}}],
        "scheduler": {"kind": "fifo"}, "frame_gap_ps": 0});
    let link = |from: u32, to: u32| {
        json!({"name": format!("{from}>{to}"), "from": from, "to": to, "cell_time_ps": 1_000_000,
            "delay_ps": 0, "schedule": null, "port": port})
    };
    let vc = |id: u32| json!({"name": format!("vc{id}"), "path": [id], "class": "ubr", "policing": [], "gfr": null});
    let text = json!({
        "version": 2, "seed": 1, "duration_ps": 100_000_000_000_000u64,
        "nodes": [{"name": "s", "kind": "host"}, {"name": "u", "kind": "host"}],
        "links": [link(0, 1), link(1, 0)], "vcs": [vc(0), vc(1)], "flows": [],
        "users": {
            "routes": [{"forward": [0], "reverse": [1]}],
            "groups": [{"name": "g", "count": count, "first_route": 0, "tcp": tcp, "app": app,
                "start": {"kind": "at", "time_ps": 0}}],
        },
        "sources": [],
        "records": {"sample_every_ps": 1_000_000_000u64, "sampled_ports": [], "vc_sampled_ports": [],
            "delay_vcs": [], "traces": []},
    });
    serde_json::from_value(text).expect("a spec")
}

/// Runs the users of a spec over the wire until `end`; `loses` says of a segment and whether it goes to the user if it is lost.
fn run(
    spec: &NetworkSpec,
    end: SimTime,
    mut loses: impl FnMut(SimTime, bool, &Segment) -> bool,
) -> (UserGroupRecord, Users) {
    run_over(spec, end, &[DELAY], |now, sent| {
        loses(now, sent.is_forward, &sent.segment)
    })
}

/// The same over a wire with the delay of each section, of which datagrams take all.
fn run_over(
    spec: &NetworkSpec,
    end: SimTime,
    delays: &[SimTime],
    loses: impl FnMut(SimTime, &UserSegment) -> bool,
) -> (UserGroupRecord, Users) {
    let users = Users::of(spec).expect("there are users");
    let users = run_in_regions(vec![users], end, delays, loses).remove(0);
    (users.records().remove(0), users)
}

/// Runs users in regions, the last of which has the users and the first the servers.
fn run_in_regions(
    mut regions: Vec<Users>,
    end: SimTime,
    delays: &[SimTime],
    mut loses: impl FnMut(SimTime, &UserSegment) -> bool,
) -> Vec<Users> {
    let (mut events, mut wire, mut number) = (Vec::new(), BTreeMap::new(), 0u64);
    let mut outs: Vec<_> = regions.iter().map(|_| UsersOutbox::default()).collect();
    for (users, out) in regions.iter_mut().zip(&mut outs) {
        users.begin(out);
    }
    let mut now = SimTime::ZERO;
    loop {
        for (out, region) in outs.iter_mut().zip(0..) {
            events.extend(out.wakes.drain(..).map(|key| (key, region)));
            for (to, letter) in out.letters.drain(..) {
                regions[to as usize].on_letter(letter);
            }
            for sent in out.sent.drain(..) {
                number += 1;
                let who = regions[region].who(sent.flow);
                let is_datagram = sent.segment.kind == SegmentKind::Datagram;
                assert_eq!(who.is_of_datagrams, is_datagram && delays.len() > 1);
                let delay = match is_datagram {
                    true => delays.iter().fold(SimTime::ZERO, |sum, delay| sum + *delay),
                    false => delays[who.section],
                };
                if !loses(now, &sent) {
                    wire.insert((now + delay, number), sent);
                }
            }
        }
        events.sort();
        let arrival = wire
            .first_key_value()
            .map_or(SimTime::NEVER, |(key, _)| key.0);
        let timer = events.first().map_or(SimTime::NEVER, |(key, _)| key.time());
        now = arrival.min(timer);
        if now >= end {
            regions.iter_mut().for_each(|users| users.finish(end));
            return regions;
        }
        if arrival == now {
            let (_, sent) = wire.pop_first().expect("it was there");
            let to = if sent.is_forward {
                regions.len() - 1
            } else {
                0
            };
            let (flow, is_forward) = (sent.flow, sent.is_forward);
            regions[to].on_segment(now, flow, is_forward, &sent.segment, &mut outs[to]);
        } else {
            let (key, at) = events.remove(0);
            regions[at].on_event(now, key.rank(), key.subject(), &mut outs[at]);
        }
    }
}

fn bulk(segments: u64, count: u32) -> Value {
    json!({"kind": "bulk", "size_octets": segments * MSS, "count": count,
        "pause": {"kind": "constant", "value_ps": 0}, "request_octets": 500})
}

fn column(record: &UserGroupRecord, name: &str) -> Vec<Option<u64>> {
    let mut columns = record.rows.columns.iter();
    columns
        .find(|column| column.0 == name)
        .expect(name)
        .1
        .clone()
}

fn ms(times: &[u64]) -> Vec<Option<u64>> {
    times
        .iter()
        .map(|time| Some(time * 1_000_000_000))
        .collect()
}

const END: SimTime = SimTime::from_millis(90_000);

#[test]
fn a_download_takes_a_handshake_a_request_and_the_rounds_of_slow_start() {
    // SYN at 0, request at 100, answer at 150: its first octet comes at 200; 7 segments go in three rounds, 1 + 2 + 4.
    let (record, _) = run(&network(&bulk(7, 1), 1, 1), END, |_, _, _| false);
    assert_eq!(column(&record, "first_octet_ps"), ms(&[200]));
    assert_eq!(column(&record, "end_ps"), ms(&[400]));
    // n segments with 10 at first: ceil(lg2(n / 10 + 1)) rounds.
    for (segments, end) in [(10, 200), (11, 300), (30, 300), (31, 400), (60, 400)] {
        let (record, _) = run(&network(&bulk(segments, 1), 1, 10), END, |_, _, _| false);
        assert_eq!(column(&record, "end_ps"), ms(&[end]), "{segments}");
    }
}

#[test]
fn the_next_connection_opens_when_the_last_is_closed_and_has_a_number_of_its_own() {
    let (record, users) = run(&network(&bulk(1, 3), 1, 1), END, |_, _, _| false);
    // FIN at 200, its answer at 300.
    assert_eq!(
        record.rows.begin_ps,
        [0, 300, 600].map(|ms| ms * 1_000_000_000)
    );
    assert_eq!(column(&record, "end_ps"), ms(&[200, 500, 800]));
    assert_eq!((record.connections, record.segments_late), (3, 0));
    assert_eq!(users.users[0].slots[0].number, 3);
    assert_eq!((users.connections.len(), users.free.len()), (1, 1));
}

#[test]
fn a_fin_is_answered_though_the_server_has_forgotten_the_connection() {
    let mut lost = 0;
    let (record, users) = run(
        &network(&bulk(1, 1), 1, 1),
        END,
        |_, is_forward, segment| {
            let is_lost = is_forward && segment.kind == SegmentKind::FinAck && lost < 2;
            lost += u32::from(is_lost);
            is_lost
        },
    );
    assert_eq!(column(&record, "end_ps"), ms(&[200]));
    // The FIN is sent three times.
    assert_eq!((record.connections, record.segments_late), (1, 2));
    assert!(users.connections[0].is_none());
}

#[test]
fn what_comes_late_for_a_connection_is_dropped() {
    // The first acknowledgement of data is lost, and the repetition is under way when the connection closes.
    let mut lost = false;
    let (record, _) = run(
        &network(&bulk(1, 2), 1, 1),
        END,
        |_, is_forward, segment| {
            let is_lost = !is_forward && segment.kind == SegmentKind::Ack && !lost;
            lost |= is_lost;
            is_lost
        },
    );
    assert_eq!(record.rows.begin_ps, [0, 300].map(|ms| ms * 1_000_000_000));
    assert_eq!(record.forward.octets_delivered, 2 * MSS);
    // The FIN says that all has come: the server sends nothing again.
    assert_eq!(record.forward.octets_outstanding, MSS);
    assert_eq!(record.forward.segments_retransmitted, 0);
}

#[test]
fn users_have_state_of_connections_only_while_these_are_open() {
    let (record, users) = run(&network(&bulk(5, 1), 20, 1), END, |_, _, _| false);
    assert_eq!(record.rows.user, (0..20).collect::<Vec<u32>>());
    assert_eq!(record.connections, 20);
    assert!(users.connections.iter().all(Option::is_none));
    assert_eq!(record.forward.octets_delivered, 20 * 5 * MSS);
    assert_eq!(record.reverse.octets_delivered, 20 * 500);
}

#[test]
fn ends_in_two_regions_do_as_in_one_and_forget_connections() {
    for (app, drops) in [
        (bulk(5, 3), 0),
        (bulk(5, 3), 7),
        (pages(4, "http1", "none"), 0),
    ] {
        let spec = network(&app, 20, 1);
        let loses = |now: SimTime, sent: &UserSegment| {
            drops > 0 && (now.0 / 1_000 + u64::from(sent.flow)).is_multiple_of(drops)
        };
        let (one, _) = run_over(&spec, END, &[DELAY], loses);
        let regions = [0, 1]
            .map(|region| Users::in_region(&spec, region, vec![[0, 1]]).expect("there are users"));
        let regions = run_in_regions(regions.into(), END, &[DELAY], loses);
        for users in &regions {
            assert!(users.connections.iter().all(Option::is_none));
        }
        let [mut servers, users] = <[Users; 2]>::try_from(regions).expect("they are two");
        servers.absorb(users);
        assert_eq!(servers.records(), [one]);
    }
}

/// Pages of `files` files of one segment each from one server that takes 20 ms for the page, by HTTP/1.1 or HTTP/2.
fn pages(files: u64, protocol: &str, dns: &str) -> Value {
    let constant = |ms: u64| json!({"kind": "constant", "value_ps": ms * 1_000_000_000});
    json!({
        "kind": "pages", "requests": vec![files; 5], "page_octets": vec![files * MSS; 5],
        "parts": [{"requests": 1.0, "octets": 1.0, "sigma": 0.0, "wave": 1, "urgency": 1}],
        "origins": 1, "first_part": 1.0, "protocol": protocol, "http1_part": 0.0, "connections": 6,
        "dns": dns, "dns_ask_octets": 60, "dns_answer_octets": 200,
        "dns_again_ps": 5_000_000_000_000u64, "hello_octets": 500, "flight_octets": 1_000,
        "resumed_octets": 300, "finished_octets": 100, "resumed_part": 0.0, "early_part": 0.0,
        "request_octets": 500, "page_wait": constant(20), "file_wait": constant(0),
        "reading": constant(1_000_000), "count": 1,
    })
}

#[test]
fn the_first_octet_takes_a_name_three_round_trips_and_the_servers_time() {
    let mut app = pages(1, "http2", "server");
    let (record, _) = run(&network(&app, 1, 10), END, |_, _, _| false);
    assert_eq!(column(&record, "first_octet_ps"), ms(&[100 + 300 + 20]));
    assert_eq!(column(&record, "loaded_ps"), ms(&[420]));
    assert_eq!(record.datagrams, [1, 1]);
    // A session that is resumed takes as long, one with 0-RTT a round trip less.
    app["resumed_part"] = json!(1.0);
    let (record, _) = run(&network(&app, 1, 10), END, |_, _, _| false);
    assert_eq!(column(&record, "first_octet_ps"), ms(&[420]));
    app["early_part"] = json!(1.0);
    let (record, _) = run(&network(&app, 1, 10), END, |_, _, _| false);
    assert_eq!(column(&record, "first_octet_ps"), ms(&[320]));
}

#[test]
fn a_name_is_asked_for_again() {
    let app = pages(1, "http2", "server");
    let mut first = true;
    let (record, _) = run(&network(&app, 1, 10), END, |_, is_forward, segment| {
        let is_lost = segment.kind == SegmentKind::Datagram && is_forward && first;
        first &= !is_lost;
        is_lost
    });
    assert_eq!(column(&record, "first_octet_ps"), ms(&[5_420]));
    assert_eq!(record.datagrams, [2, 2]);
}

#[test]
fn files_go_at_once_over_http2_and_six_at_a_time_over_http1() {
    // The page comes at 320. Over HTTP/2 12 files are asked for at once; the window has 12 segments.
    let (record, _) = run(
        &network(&pages(13, "http2", "none"), 1, 10),
        END,
        |_, _, _| false,
    );
    assert_eq!(column(&record, "loaded_ps"), ms(&[420]));
    assert_eq!(column(&record, "connections"), [Some(1)]);
    // Over HTTP/1.1 five connections more are opened at 320, over which requests go at 520. The first has had two answers by then:
    // eight files by 620, fourteen by 720.
    let (record, _) = run(
        &network(&pages(13, "http1", "none"), 1, 10),
        END,
        |_, _, _| false,
    );
    assert_eq!(column(&record, "loaded_ps"), ms(&[720]));
    assert_eq!(column(&record, "connections"), [Some(6)]);
    let (record, _) = run(
        &network(&pages(9, "http1", "none"), 1, 10),
        END,
        |_, _, _| false,
    );
    assert_eq!(column(&record, "loaded_ps"), ms(&[620]));
}

#[test]
fn a_lost_segment_holds_up_all_answers_of_a_connection() {
    let app = pages(13, "http2", "none");
    let mut data = 0;
    let (record, _) = run(&network(&app, 1, 10), END, |_, is_forward, segment| {
        data += u32::from(is_forward && segment.kind == SegmentKind::Data);
        // Behind the flight and the page: the first of the twelve.
        is_forward && segment.kind == SegmentKind::Data && data == 3
    });
    // The third acknowledgement of a later one is at the server a round trip behind it, and what it resends takes half of one.
    assert_eq!(column(&record, "loaded_ps"), ms(&[520]));
}

#[test]
fn requests_are_answered_in_a_round_trip_and_again_after_twice_the_time() {
    let app = json!({"kind": "asks", "interval": {"kind": "constant", "value_ps": 1_000_000_000_000_000u64},
        "ask": {"kind": "constant", "octets": 60}, "answer": {"kind": "constant", "octets": 90},
        "again_ps": 1_000_000_000_000u64, "repeats": 3});
    let (record, _) = run(&network(&app, 1, 1), END, |_, _, _| false);
    let responses = record.responses.expect("they ask");
    assert_eq!(
        (responses.asked, responses.answered, responses.sum_ps),
        (1, 1, 100_000_000_000)
    );
    // Sent at 0, 1 and 3 s, the first two lost.
    let mut sent = Vec::new();
    let (record, _) = run(&network(&app, 1, 1), END, |now, is_forward, segment| {
        if !is_forward {
            sent.push((now, segment.length));
        }
        !is_forward && sent.len() < 3
    });
    assert_eq!(
        sent,
        [0, 1_000, 3_000].map(|ms| (SimTime::from_millis(ms), 60))
    );
    let responses = record.responses.expect("they ask");
    assert_eq!(
        (responses.answered, responses.sum_ps),
        (1, 3_100_000_000_000)
    );
}

#[test]
fn both_sides_of_a_call_talk_as_long() {
    let app = json!({"kind": "call", "packet_octets": 200, "interval_ps": 20_000_000_000u64,
        "playout_ps": 60_000_000_000u64, "ie": 0.0, "bpl": 25.1,
        "length": {"kind": "constant", "value_ps": 1_000_000_000_000u64},
        "pause": {"kind": "constant", "value_ps": 0}, "count": 1});
    let mut lost = 0;
    let (record, _) = run(&network(&app, 1, 1), END, |_, is_forward, segment| {
        // Packets 7 and 8 of the caller.
        let is_lost = !is_forward && (7..9).contains(&(segment.sequence & 0x00ff_ffff));
        lost += u32::from(is_lost);
        is_lost
    });
    assert_eq!(lost, 2);
    assert_eq!(record.datagrams, [50, 50]);
    assert_eq!(column(&record, "packets"), [Some(50), Some(50)]);
    // Rows begin together; the caller hears what comes down.
    let lost: Vec<_> = column(&record, "is_down")
        .into_iter()
        .zip(column(&record, "lost"))
        .collect();
    assert!(lost.contains(&(Some(1), Some(0))) && lost.contains(&(Some(0), Some(2))));
    assert_eq!(column(&record, "least_delay_ps"), ms(&[50, 50]));
    assert_eq!(record.rows.begin_ps, [0, 0]);
}

/// A network as above with a proxy between the hosts, whose connections to users have an initial window of 10 segments.
fn with_proxy(app: &Value, window: u64, buffer: u64) -> NetworkSpec {
    let mut text = serde_json::to_value(network(app, 1, window)).expect("plain data");
    text["nodes"] = json!([{"name": "s", "kind": "host"}, {"name": "g", "kind": "router"},
        {"name": "u", "kind": "host"}]);
    let ends = [(0, 1), (1, 2), (2, 1), (1, 0)];
    let links = ends.iter().map(|(from, to)| {
        let mut link = text["links"][0].clone();
        (link["name"], link["from"], link["to"]) =
            (json!(format!("{from}>{to}")), json!(from), json!(to));
        link
    });
    text["links"] = links.collect();
    let vcs = (0..4).map(|id| {
        let mut vc = text["vcs"][0].clone();
        (vc["name"], vc["path"]) = (json!(format!("vc{id}")), json!([id]));
        vc
    });
    text["vcs"] = vcs.collect();
    let mut tcp = text["users"]["groups"][0]["tcp"].clone();
    tcp["initial_cwnd"] = json!(10 * MSS);
    text["users"]["routes"] = json!([{"forward": [0, 1], "reverse": [2, 3],
        "peps": [{"node": 1, "buffer_octets": buffer, "tcp": tcp}]}]);
    serde_json::from_value(text).expect("a spec")
}

/// Sections of 10 and 270 ms: the proxy is at the gateway of a satellite.
const AT_GATEWAY: [SimTime; 2] = [SimTime::from_millis(10), SimTime::from_millis(270)];

#[test]
fn a_proxy_answers_each_side_by_itself() {
    // SYN at 0: the proxy answers it at 270, and its own is answered at 290. The request comes to the proxy at 810 and to the
    // server at 820. 7 segments in three rounds of 20 ms, which go on as they come: 830, 850, 870. From end to end rounds of
    // 560 ms: 1120, 1680, 2240.
    let spec = with_proxy(&bulk(7, 1), 1, 64_000);
    let (record, users) = run_over(&spec, END, &AT_GATEWAY, |_, _| false);
    assert_eq!(column(&record, "first_octet_ps"), ms(&[1_100]));
    assert_eq!(column(&record, "end_ps"), ms(&[1_140]));
    assert_eq!((record.connections, record.segments_late), (1, 0));
    assert!(users.connections.iter().all(Option::is_none));
    let [before, behind] = &record.sections[..] else {
        panic!("two sections");
    };
    assert_eq!([before.connections, behind.connections], [1, 1]);
    for section in [before, behind] {
        assert_eq!(section.forward.octets_delivered, 7 * MSS);
        assert_eq!(section.reverse.octets_delivered, 500);
    }
    // Each side opens and closes by six segments: SYN, FIN, the answers and what acknowledges these.
    for stream in [&before.reverse, &behind.reverse] {
        assert_eq!(stream.control_segments, 6);
    }
    let pep = behind.pep.as_ref().expect("a proxy");
    assert_eq!((pep.octets_accepted, pep.octets_unsent), (7 * MSS, 0));
    assert_eq!(record.forward.segments_sent, 7);
}

#[test]
fn a_proxy_repeats_what_is_lost_behind_it() {
    // Ten segments come to the proxy at 830, and all but the third to the user at 1100. The third acknowledgement in a row that
    // asks for it is at the proxy at 1370.
    let spec = with_proxy(&bulk(10, 1), 10, 64_000);
    let mut is_first = true;
    let (record, _) = run_over(&spec, END, &AT_GATEWAY, |now, sent| {
        let is_third = sent.segment.kind == SegmentKind::Data && sent.segment.sequence == 2 * MSS;
        let is_lost = is_third && now == SimTime::from_millis(830) && is_first;
        is_first &= !is_lost;
        is_lost
    });
    assert_eq!(column(&record, "end_ps"), ms(&[1_640]));
    let repeated = record
        .sections
        .iter()
        .map(|one| one.forward.segments_retransmitted);
    assert_eq!(repeated.collect::<Vec<_>>(), [0, 1]);
    assert_eq!(record.forward.segments_retransmitted, 0);
}

#[test]
fn a_full_proxy_closes_the_window_before_it() {
    // Four segments have room. They come to the user at 1100, and room for two and two more is at the server at 1380: 560 ms
    // for each four of twenty.
    let mut spec = with_proxy(&bulk(20, 1), 10, 4 * MSS);
    if let Some(users) = &mut spec.users {
        users.groups[0].tcp.rwnd = 4 * MSS;
        users.groups[0].tcp.initial_cwnd = 4 * MSS;
    }
    let (record, _) = run_over(&spec, END, &AT_GATEWAY, |_, _| false);
    assert_eq!(column(&record, "end_ps"), ms(&[1_100 + 4 * 560]));
    let pep = record.sections[1].pep.as_ref().expect("a proxy");
    assert_eq!((pep.octets_held_max, pep.segments_refused), (4 * MSS, 0));
}

#[test]
fn a_proxy_closes_one_connection_while_the_next_is_open() {
    // The proxy is at the user's terminal, 1 ms away. A download: SYN 0 to 1, the proxy's to 271 and its answer to 541, the
    // request to 811, the answer to 1081 and 1082. The user's FIN is answered at 1084, the proxy's of 1083 at 1623.
    let delays = [SimTime::from_millis(270), SimTime::from_millis(1)];
    let spec = with_proxy(&bulk(1, 3), 1, 64_000);
    let (record, users) = run_over(&spec, END, &delays, |_, _| false);
    assert_eq!(
        record.rows.begin_ps,
        [0, 1_084, 2_168].map(|ms| ms * 1_000_000_000)
    );
    assert_eq!(column(&record, "end_ps"), ms(&[1_082, 2_166, 3_250]));
    let opened = record.sections.iter().map(|section| section.connections);
    assert_eq!(opened.collect::<Vec<_>>(), [3, 3]);
    assert_eq!(record.segments_late, 0);
    // Two at once, and none in the end.
    assert_eq!((users.connections.len(), users.free.len()), (2, 2));
    assert!(users.users[0].slots[0].at.is_none());
}

#[test]
fn the_answer_to_a_proxys_fin_may_be_lost() {
    let spec = with_proxy(&bulk(1, 1), 1, 64_000);
    let mut lost = 0;
    let (record, users) = run_over(&spec, END, &AT_GATEWAY, |_, sent| {
        let is_fin_ack = sent.segment.kind == SegmentKind::FinAck;
        let is_lost = is_fin_ack && sent.is_forward && lost < 4;
        lost += u32::from(is_lost);
        is_lost
    });
    assert_eq!(lost, 4);
    assert_eq!(record.segments_late, 4);
    assert!(users.connections.iter().all(Option::is_none));
}

#[test]
fn a_page_over_a_proxy_has_a_name_and_tls_from_end_to_end() {
    // The name takes 560 ms, the connection to the proxy 540, TLS and the request 560 each, the server 20.
    let spec = with_proxy(&pages(1, "http2", "server"), 10, 64_000);
    let (record, _) = run_over(&spec, END, &AT_GATEWAY, |_, _| false);
    assert_eq!(
        column(&record, "first_octet_ps"),
        ms(&[560 + 540 + 560 + 560 + 20])
    );
    assert_eq!(record.datagrams, [1, 1]);
}

#[test]
fn proxies_that_cannot_split_the_connections_of_users_are_refused() {
    let refused = |change: fn(&mut skycell_spec::PepSpec)| {
        let mut spec = with_proxy(&bulk(1, 1), 1, 64_000);
        assert_eq!(spec.validate(), Ok(()));
        let users = spec.users.as_mut().expect("there are users");
        change(&mut users.routes[0].peps[0]);
        spec.validate().is_err()
    };
    assert!(refused(|pep| pep.buffer_octets = 63_999));
    assert!(refused(|pep| pep.node = 0));
    assert!(refused(|pep| pep.tcp.handshake = false));
}
