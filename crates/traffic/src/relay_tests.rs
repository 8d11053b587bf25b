//! Two connections with a proxy between, each on a wire of its own without a limit of rate.

use super::*;
use crate::tests::{MSS, spec};
use crate::web_tests::web;
use crate::{Hosts, SharedTcp};
use skycell_records::FlowRecord;
use skycell_spec::{DistributionSpec, FlowSpec, TrafficSpec};
use skycell_tcp::{Segment, SegmentKind};
use std::collections::BTreeMap;

const HOSTS: Hosts<'_> = Hosts {
    source: "h",
    destination: "g",
};

/// The request for a run.
struct Asked {
    flows: [FlowSpec; 2],
    buffer: u64,
    /// One-way delays of both wires.
    delays: [SimTime; 2],
    end: SimTime,
}

impl Asked {
    fn of(traffic: TrafficSpec, handshake: bool, buffer: u64) -> Self {
        Asked {
            flows: [
                spec(traffic, handshake),
                spec(TrafficSpec::Persistent, handshake),
            ],
            buffer,
            delays: [SimTime::from_millis(1), SimTime::from_millis(250)],
            end: SimTime::from_millis(20_000),
        }
    }

    /// Both rows; `loses` says of a segment (connection 0 or 1, whether forward) if the wire loses it.
    fn run(&self, mut loses: impl FnMut(usize, bool, &Segment) -> bool) -> [FlowRecord; 2] {
        let mut tcp = SharedTcp::default();
        let mut flows: Vec<Flow> = (0u32..)
            .zip(&self.flows)
            .map(|(id, own)| Flow::new(id, own, &mut tcp, 1, HOSTS, &[]))
            .collect();
        let proxy = Proxy {
            before: 0,
            behind: 1,
            buffer: self.buffer,
        };
        let proxies = Proxies::join(&mut flows.iter_mut().collect::<Vec<_>>(), &[proxy]);
        let mut out = Outbox::default();
        // By time and number: connection, whether forward, segment, when it was sent.
        let mut wire: BTreeMap<(SimTime, u64), (usize, bool, Segment, SimTime)> = BTreeMap::new();
        let mut number = 0;
        loop {
            let timers = (0u32..).zip(&flows);
            let timer = timers.filter_map(|(id, flow)| flow.next_timer(id)).min();
            let arrival = wire.first_key_value().map(|(key, _)| key.0);
            let due = crate::earlier(arrival, timer.map(|timer| timer.time()));
            let Some(now) = due.filter(|&due| due < self.end) else {
                return [0, 1].map(|at: usize| flows[at].record(self.end));
            };
            let mut sent: Vec<(usize, bool, Segment)> = Vec::new();
            let mut take = |at: usize, out: &mut Outbox| {
                sent.extend(out.forward.drain(..).map(|segment| (at, true, segment)));
                sent.extend(out.reverse.drain(..).map(|segment| (at, false, segment)));
            };
            if arrival == Some(now) {
                let (_, (at, forward, segment, since)) = wire.pop_first().expect("it was there");
                match forward {
                    true => flows[at].on_segment_at_destination(now, &segment, since, &mut out),
                    false => flows[at].on_segment_at_source(now, &segment, &mut out),
                }
                take(at, &mut out);
                if let Some(beyond) = proxies.beyond(at as u32, forward) {
                    let pair = flows.get_disjoint_mut([at, beyond as usize]);
                    let [one, other] = pair.expect("two connections");
                    other.on_beyond(now, forward, one, &mut out);
                    take(beyond as usize, &mut out);
                }
            } else {
                let timer = timer.expect("it was the first");
                let at = timer.subject() as usize;
                flows[at].on_timer(now, timer.rank(), &mut out);
                take(at, &mut out);
            }
            for (at, forward, segment) in sent {
                number += 1;
                if !loses(at, forward, &segment) {
                    let key = (now + self.delays[at], number);
                    wire.insert(key, (at, forward, segment, now));
                }
            }
        }
    }
}

fn transfers(size_octets: u64, count: u32, new_connection: bool) -> TrafficSpec {
    TrafficSpec::Transfers {
        size_octets,
        count: Some(count),
        idle: DistributionSpec::Constant { value_ps: 0 },
        new_connection,
    }
}

/// All octets are somewhere.
fn check(rows: &[FlowRecord; 2]) {
    let pep = rows[1].pep.as_ref().expect("it begins at a proxy");
    assert_eq!(pep.octets_accepted, rows[0].octets_delivered);
    let behind = rows[1].octets_acked + rows[1].octets_outstanding + pep.octets_unsent;
    assert_eq!(pep.octets_accepted, behind);
    assert!(rows[0].octets_acked <= pep.octets_accepted);
    assert!(rows[1].octets_delivered <= pep.octets_accepted);
}

#[test]
fn requests_are_passed_on_and_answers_go_by_the_windows_of_each_connection() {
    let (handshake, end) = (false, SimTime::from_millis(9_000));
    let own = || spec(TrafficSpec::Web(web(3 * MSS + 500)), handshake);
    let asked = Asked {
        flows: [own(), own()],
        end,
        ..Asked::of(TrafficSpec::Persistent, handshake, 64_000)
    };
    let rows = asked.run(|_, _, _| false);
    check(&rows);
    let [server, user] = rows
        .each_ref()
        .map(|row| row.web.as_ref().expect("web traffic"));
    // A request comes to the server in 251 ms, and the first segment to the proxy a millisecond later; from there on cwnd is
    // 1, 2, 4: the file's last octet leaves the proxy 500 + 500 ms later. The second file needs no second window.
    let millis = [252 + 1_000 + 250, 252 + 250];
    assert_eq!(
        user.file_times_ps,
        millis.map(|t| SimTime::from_millis(t).0)
    );
    assert_eq!(
        (user.pages, user.requests, user.requests_answered),
        (1, 2, 0)
    );
    assert_eq!((server.requests, server.requests_answered), (0, 2));
    assert_eq!(server.octets_scheduled, 7_000);
    // Every request is data of both connections, and the proxy acknowledges it.
    let relayed = server.relayed.expect("the proxy passes them on");
    assert_eq!((relayed.octets_accepted, relayed.octets_unsent), (256, 0));
    let streams = [server, user].map(|web| {
        (
            web.request_stream.octets_acked,
            web.request_stream.acks_sent,
        )
    });
    assert_eq!(streams, [(256, 2); 2]);
    assert_eq!(user.relayed, None);
}

#[test]
fn a_request_that_is_lost_before_the_server_is_sent_again_by_the_proxy() {
    let own = || spec(TrafficSpec::Web(web(MSS)), true);
    let asked = Asked {
        flows: [own(), own()],
        end: SimTime::from_millis(9_000),
        ..Asked::of(TrafficSpec::Persistent, true, 64_000)
    };
    let mut lost = 0;
    let rows = asked.run(|at, is_forward, segment| {
        let is_request = at == 0 && !is_forward && segment.kind == SegmentKind::Data;
        lost += u32::from(is_request);
        is_request && lost == 1
    });
    check(&rows);
    let [server, user] = rows
        .each_ref()
        .map(|row| row.web.as_ref().expect("web traffic"));
    let repeated = [server, user].map(|web| web.request_stream.segments_retransmitted);
    assert_eq!(repeated, [1, 0]);
    assert_eq!(server.requests_answered, 2);
    // The user opens its connection, and with the SYN that comes the proxy opens the other: by the time a request
    // comes, it is open.
    assert_eq!(user.request_stream.control_segments, 3);
    assert_eq!(server.request_stream.control_segments, 3);
}

#[test]
fn a_fin_that_comes_again_when_all_is_passed_on_passes_nothing_on_again() {
    let asked = Asked {
        delays: [SimTime::from_millis(50), SimTime::from_millis(1)],
        ..Asked::of(transfers(3 * MSS, 2, true), true, 20 * MSS)
    };
    let mut answers = 0;
    let rows = asked.run(|at, is_forward, segment| {
        let is_answer = at == 0 && !is_forward && segment.kind == SegmentKind::FinAck;
        answers += u32::from(is_answer);
        // The first answer to each of both FINs.
        is_answer && answers % 2 == 1
    });
    assert_eq!(answers, 4);
    check(&rows);
    assert_eq!(rows[1].octets_delivered, 6 * MSS);
}

#[test]
fn a_proxy_acknowledges_at_once_and_passes_on_what_it_has_acknowledged() {
    let asked = Asked {
        end: SimTime::from_millis(200),
        ..Asked::of(transfers(4 * MSS, 1, true), false, 64_000)
    };
    let rows = asked.run(|_, _, _| false);
    check(&rows);
    // All is acknowledged over the short wire, and nothing has come over the long one.
    assert_eq!((rows[0].octets_acked, rows[0].transfers), (4 * MSS, 1));
    let pep = rows[1].pep.as_ref().unwrap();
    assert_eq!((pep.octets_held, rows[1].octets_delivered), (4 * MSS, 0));
    // One segment is in the first window behind it.
    assert_eq!(pep.octets_unsent, 3 * MSS);
}

#[test]
fn a_full_buffer_closes_the_window_and_the_sender_goes_on_when_it_opens() {
    // The long wire takes a window of 64 segments in 500 ms at most: 128 a second.
    let rows = Asked::of(TrafficSpec::Persistent, false, 64_000).run(|_, _, _| false);
    check(&rows);
    let pep = rows[1].pep.as_ref().unwrap();
    assert_eq!((pep.octets_held_max, pep.segments_refused), (64_000, 0));
    assert_eq!((rows[0].timeouts, rows[0].segments_retransmitted), (0, 0));
    // Slow start from one segment takes six round trips; then 64 segments in each of 34.
    let delivered = rows[1].octets_delivered / MSS;
    assert!(
        (33 * 64 + 63..35 * 64 + 63).contains(&delivered),
        "{delivered}"
    );
}

#[test]
fn an_update_of_the_window_that_is_lost_is_asked_for() {
    let mut updates = 0;
    let rows = Asked::of(TrafficSpec::Persistent, false, 64_000).run(|at, forward, segment| {
        // Whatever the proxy sends while the window is closed, except in answer to a question.
        let is_update = at == 0 && !forward && segment.acknowledgement >= 64 * MSS;
        updates += u64::from(is_update);
        is_update && updates % 2 == 1
    });
    check(&rows);
    assert!(rows[0].control_segments > 0 && rows[1].octets_delivered > 500 * MSS);
}

#[test]
fn losses_behind_a_proxy_are_its_own_business() {
    let mut seen = 0;
    let rows =
        Asked::of(transfers(200 * MSS, 1, true), false, 400_000).run(|at, forward, segment| {
            let is_data = at == 1 && forward && segment.kind == SegmentKind::Data;
            seen += u64::from(is_data);
            is_data && seen % 40 == 10
        });
    check(&rows);
    assert_eq!((rows[0].segments_retransmitted, rows[0].transfers), (0, 1));
    assert!(rows[1].segments_retransmitted >= 5);
    assert_eq!(rows[1].octets_delivered, 200 * MSS);
}

#[test]
fn connections_in_a_row_are_opened_and_closed_on_both_sides() {
    for handshake in [false, true] {
        let rows = Asked::of(transfers(10 * MSS, 3, true), handshake, 64_000).run(|_, _, _| false);
        check(&rows);
        assert_eq!((rows[0].transfers, rows[0].closings), (3, 3));
        assert_eq!(rows[1].octets_delivered, 30 * MSS);
        // Without a FIN nobody knows that the last one has ended.
        assert_eq!(rows[1].closings, if handshake { 3 } else { 2 });
    }
}

#[test]
fn a_connection_that_finds_no_room_waits_for_it_and_loses_nothing() {
    let asked = Asked::of(transfers(60 * MSS, 4, true), true, 64_000);
    let rows = asked.run(|_, _, _| false);
    check(&rows);
    assert_eq!(
        (rows[0].transfers, rows[1].octets_delivered),
        (4, 240 * MSS)
    );
    assert_eq!(
        (
            rows[0].timeouts,
            rows[1].pep.as_ref().unwrap().segments_refused
        ),
        (0, 0)
    );
}
