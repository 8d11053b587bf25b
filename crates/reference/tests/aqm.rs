//! Active queue management on links of packets, against exchanges worked out by hand.

mod network;

use network::{MBIT, MS, dumbbell, run};
use serde_json::{Value, json};
use skycell_records::{DiscardReason, RunRecords};

/// A source of 1500-octet datagrams every `interval_ps` from 0 on, over a router whose link sends one in a
/// millisecond, behind a queue such as `queue`.
fn datagrams(interval_ps: u64, queue: Value, duration_ps: u64) -> Value {
    let mut spec = dumbbell(queue, duration_ps);
    spec["links"][1]["framing"]["rate_millibps"] = json!(12 * MBIT);
    spec["flows"] = json!([]);
    spec["sources"] = json!([{
        "name": "s", "vc": 0, "datagram_route": [0, 1], "cell_interval_ps": interval_ps, "frame_cells": 1,
        "datagram_octets": 1_500, "pattern": {"kind": "constant"}, "start": {"kind": "at", "time_ps": 0},
    }]);
    spec["records"]["traces"] = json!(["discards"]);
    spec
}

/// Returns the discards at the port of the router: when, in microseconds since the first packet
/// came there, and why.
fn discards(records: &RunRecords) -> Vec<(u64, u8)> {
    let trace = &records.traces.discards;
    let first = 120_000_000; // 1500 octets at 100 Mbit/s
    let times = trace.time_ps.iter().map(|time| (time - first) / 1_000_000);
    times.zip(trace.reason.iter().copied()).collect()
}

#[test]
fn codel_discards_from_the_head_when_its_control_law_says() {
    // A packet comes every 0.5 ms and 1 ms is needed for each, so the k-th waits for k / 2 ms: the tenth, at 10 ms,
    // for 5 ms. The first discard is due an interval of 20 ms later, and the state entered; then after 20 ms, and
    // 20 / sqrt 2 = 14.142, 20 / sqrt 3 = 11.547 and 20 / sqrt 4 = 10 ms from when the one before was due: 50, 64.142,
    // 75.689 and 85.689 ms, each at the next whole millisecond, when the port chooses.
    let codel = json!({"policy": {"kind": "codel", "target_ps": 5 * MS, "interval_ps": 20 * MS}});
    let records = run(&datagrams(MS / 2, codel, 90 * MS));
    let delayed = DiscardReason::Delayed as u8;
    let expected = [30_000, 50_000, 65_000, 76_000, 86_000].map(|time| (time, delayed));
    assert_eq!(discards(&records), expected);

    let port = &records.ports[1];
    assert_eq!((port.discarded.delayed, port.discarded.total()), (5, 5));
    assert_eq!(port.frames_discarded, port.discarded);
    // The port sends on without a pause: 89 packets from 0.12 ms to 90 ms, and one is under way.
    assert_eq!((port.departed, port.busy_ps), (89, 89_880_000_000));
    let octets = port.octets.as_ref().unwrap();
    assert_eq!(octets.discarded, 5 * 1_500);
    assert_eq!(octets.queued, port.queued * 1_500);
    let vc = &records.vcs[1];
    assert_eq!(
        (vc.cells_discarded.delayed, vc.cells_offered),
        (5, port.arrived)
    );
    // A packet that is discarded as it is about to be sent was in the queue until then, with its octets.
    assert!((port.queue.mean - octets.mean / 1_500.0).abs() < 1e-9);
}

#[test]
fn head_drop_loses_the_packets_that_have_waited_longest() {
    // Packets come at 0.12 ms and every 0.5 ms from then on, and take 1 ms each. The buffer has four: the one under
    // way and three that wait. From the eighth on, at 3.5 ms, every second one pushes one out.
    let queue = json!({"capacity_cells": 4, "policy": {"kind": "head_drop"}});
    let records = run(&datagrams(MS / 2, queue, 7 * MS));
    let pushed_out = DiscardReason::PushedOut as u8;
    let expected = [3_500, 4_500, 5_500, 6_500].map(|time| (time, pushed_out));
    assert_eq!(discards(&records), expected);
    // The three that wait are those that came last, half a millisecond apart: the next to be sent came 1.5 ms ago at
    // most. Tail drop would let it wait for three services.
    let sojourn = &records.ports[1].octets.as_ref().unwrap().sojourn;
    assert_eq!(sojourn.max_ps, 2_500_000_000);
}

/// Two sources over the router: 1500-octet packets of the first come every 0.5 ms, so that it could fill the link twice;
/// packets of the second, 100 octets, every 10 ms.
fn greedy_and_sparse(queue: Value, duration_ps: u64) -> Value {
    let mut spec = datagrams(MS / 2, queue, duration_ps);
    let mut sparse = spec["sources"][0].clone();
    sparse["name"] = json!("sparse");
    sparse["cell_interval_ps"] = json!(10 * MS);
    sparse["datagram_octets"] = json!(100);
    sparse["start"]["time_ps"] = json!(100 * MS + MS / 4);
    spec["sources"].as_array_mut().unwrap().push(sparse);
    spec
}

#[test]
fn a_sparse_flow_loses_nothing_beside_a_greedy_one_under_flow_queueing() {
    let fq = json!({
        "capacity_cells": 50,
        "policy": {
            "kind": "fq_codel", "target_ps": 5 * MS, "interval_ps": 100 * MS,
            "quantum_octets": 1_514, "queues": 0,
        },
    });
    // Of the sparse source's 190 packets all are sent, on the same VC; tail drop finds the buffer full for about half of
    // them, as for those of the other source.
    let records = run(&greedy_and_sparse(fq, 2_000 * MS));
    assert_eq!(
        (records.sources[1].frames, sparse_packets(&records)),
        (190, 190)
    );
    let discarded = &records.ports[1].discarded;
    assert!(discarded.pushed_out > 1_000 && discarded.delayed > 10);
    assert_eq!(discarded.total(), discarded.pushed_out + discarded.delayed);
    let tail_drop = run(&greedy_and_sparse(
        json!({"capacity_cells": 50}),
        2_000 * MS,
    ));
    assert!(sparse_packets(&tail_drop) < 150);
}

/// Packets of 100 octets that the router took in and did not discard, told from those of 1500 by the octets of all.
fn sparse_packets(records: &RunRecords) -> u64 {
    let port = &records.ports[1];
    let octets = port.octets.as_ref().unwrap();
    let (packets, all) = (port.departed + port.queued, octets.departed + octets.queued);
    (packets * 1_500 - all) / 1_400
}

#[test]
fn deficit_round_robin_gives_flows_equal_octets_whatever_the_size_of_their_packets() {
    // 1500 octets every 0.5 ms and 500 every 0.25 ms: 24 and 16 Mbit/s, over 12. Both flows are on one VC, and so get 60
    // and 40 % where VCs take turns; flows get the half each.
    for (by_flow, part) in [(true, 0.5), (false, 0.6)] {
        let mut queue = json!({});
        count_by_flow(&mut queue, by_flow);
        let mut spec = greedy_and_sparse(queue, 2_000 * MS);
        spec["sources"][1]["datagram_octets"] = json!(500);
        spec["sources"][1]["cell_interval_ps"] = json!(MS / 4);
        spec["sources"][1]["start"]["time_ps"] = json!(0);
        spec["links"][1]["port"]["scheduler"] =
            json!({"kind": "deficit_round_robin", "quantum_octets": 1_500});
        let records = run(&spec);
        let octets = records.ports[1].octets.as_ref().unwrap().departed;
        // a packets of 1500 octets and b of 500: 1500 a + 500 b octets.
        let large = (octets - 500 * records.ports[1].departed) / 1_000;
        let of_first = (1_500 * large) as f64 / octets as f64;
        assert!(
            (of_first - part).abs() < 0.002,
            "by flow {by_flow}: {of_first}"
        ); // a packet or two of 2000
    }
}

#[test]
fn a_policy_of_shares_sees_flows_where_it_is_to() {
    // Selective Drop: above 40 packets, the one VC that all are on holds all of them, more than 0.9 of its share, and
    // every packet is discarded; by flow the greedy source is over its share, and the sparse one is not.
    let sparse_of = |by_flow: bool| {
        let mut queue = json!({
            "capacity_cells": 50,
            "policy": {
                "kind": "selective_drop", "threshold_cells": 40, "fairness_threshold": 0.9, "partial_discard": true,
            },
        });
        count_by_flow(&mut queue, by_flow);
        sparse_packets(&run(&greedy_and_sparse(queue, 2_000 * MS)))
    };
    assert_eq!(sparse_of(true), 190);
    assert!(sparse_of(false) < 150);
}

#[test]
fn a_router_sees_the_flows_in_what_it_sends_as_cells() {
    // As above, behind the router a link of cells: 32 for 1500 octets with LLC/SNAP and trailer, 3 for 100.
    let sparse_of = |by_flow: bool| {
        let mut queue = json!({
            "capacity_cells": 1_600,
            "policy": {
                "kind": "selective_drop", "threshold_cells": 1_280, "fairness_threshold": 0.9, "partial_discard": true,
            },
        });
        count_by_flow(&mut queue, by_flow);
        let mut spec = greedy_and_sparse(queue, 2_000 * MS);
        let link = spec["links"][1].as_object_mut().unwrap();
        link.remove("framing");
        spec["links"][1]["cell_time_ps"] = json!(MS / 32);
        for (source, cells) in [(0, 32), (1, 3)] {
            spec["sources"][source]["frame_cells"] = json!(cells);
        }
        let records = run(&spec);
        let vc = &records.vcs[1];
        let cells = vc.cells_offered - vc.cells_discarded.total();
        let frames = vc.frames_offered - records.ports[1].frames_discarded.total();
        (frames * 32 - cells) / 29
    };
    assert_eq!(sparse_of(true), 190);
    assert!(sparse_of(false) < 150);
}

/// The key is left out where it is false.
fn count_by_flow(queue: &mut Value, by_flow: bool) {
    if by_flow {
        queue["by_flow"] = json!(true);
    }
}

#[test]
fn a_shaper_holds_a_link_to_its_rate_behind_a_burst() {
    // 6 Mbit/s and ten packets, before a link of 12: the first twenty packets come at twice that rate. The bucket fills
    // at 0.75 octets a microsecond: the link has sent 15000 + 750 octets a millisecond by then.
    let mut spec = datagrams(MS / 2, json!({}), 1_000 * MS);
    spec["links"][1]["port"]["shaper"] = json!({"rate_millibps": 6 * MBIT, "burst_octets": 15_000});
    let records = run(&spec);
    // From 0.12 ms on, the last bit of each a packet time, 1 ms, after its tokens.
    let expected = (15_000.0 + 750.0 * 998.88) / 1_500.0;
    let departed = records.ports[1].departed as f64;
    assert!((departed - expected).abs() <= 1.0, "{departed} {expected}");
}

#[test]
fn queues_of_flows_and_shapers_are_of_packets() {
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut spec = datagrams(MS, json!({}), MS);
        change(&mut spec["links"][1]["port"]);
        let text = spec.to_string();
        skycell_spec::NetworkSpec::from_json(&text)
            .unwrap_err()
            .to_string()
    };
    let drr = json!({"kind": "deficit_round_robin", "quantum_octets": 1_500});
    let fq = json!({
        "kind": "fq_codel", "target_ps": 5, "interval_ps": 9, "quantum_octets": 1, "queues": 0,
    });
    let both = refused(&|port| {
        port["scheduler"] = drr.clone();
        port["queues"][0]["policy"] = fq.clone();
    });
    assert!(both.contains("orders packets itself"), "{both}");
    let empty = refused(&|port| {
        port["shaper"] = json!({"rate_millibps": MBIT, "burst_octets": 0});
    });
    assert!(empty.contains("burst_octets"), "{empty}");
    let slow = refused(&|port| port["shaper"] = json!({"rate_millibps": 1, "burst_octets": 1}));
    assert!(slow.contains("at most an hour"), "{slow}");
}

#[test]
fn red_with_a_weight_of_one_discards_what_finds_the_upper_threshold() {
    // The average is the queue that a packet finds: 4 at 3.5 and 4 ms, where the probability is max_p times 0, and 5 at
    // 4.5 ms and each millisecond from then on.
    let policy = json!({
        "kind": "red_ecn", "gentle": false,
        "red": {"min_cells": 4, "max_cells": 5, "max_p": 0.1, "weight": 1.0, "frame_ps": MS},
    });
    let records = run(&datagrams(MS / 2, json!({"policy": policy}), 8 * MS));
    let above = DiscardReason::AboveThreshold as u8;
    let expected = [4_500, 5_500, 6_500, 7_500].map(|time| (time, above));
    assert_eq!(discards(&records), expected);
}

#[test]
fn pie_lets_a_burst_through_and_then_holds_the_queue_of_an_unresponsive_source() {
    // Twice the link's rate. At the first update, 15 ms, the probability leaves 0, and the allowance is used up by ten
    // updates, at 150 ms. Without a policy 10 000 packets would wait at the end, 10 s; half of those that come have to go.
    let policy = json!({
        "kind": "pie", "target_ps": 15 * MS, "update_ps": 15 * MS, "burst_ps": 150 * MS, "mark_below": 0.1,
    });
    let records = run(&datagrams(MS / 2, json!({"policy": policy}), 10_000 * MS));
    let (first, reason) = discards(&records)[0];
    assert!(
        first >= 150_000 - 120 && reason == DiscardReason::Drawn as u8,
        "{first}"
    );
    let port = &records.ports[1];
    assert!(port.queued < 100, "{}", port.queued);
    assert!(
        (9_000..11_000).contains(&port.discarded.drawn),
        "{:?}",
        port.discarded
    );
}

#[test]
fn dual_pi2_holds_the_wait_of_classic_packets_at_the_target() {
    // A quarter more than the link's rate: a fifth of the packets has to go, p' = 0.447 and below 1 / k. In balance the
    // wait is the target, 15 ms, of all that come, since they go at the head: 1.25 x 15 wait, and one is under way. At
    // three times the rate two thirds have to go: p' = 0.816, an overload, with 3 x 15 packets.
    for (interval, goes, queued) in [(MS * 8 / 10, 0.2, 18..23), (MS / 3, 2.0 / 3.0, 43..49)] {
        let policy = json!({
            "kind": "dual_pi2", "target_ps": 15 * MS, "rtt_max_ps": 100 * MS, "coupling": 2,
            "ramp_from_ps": MS * 8 / 10, "ramp_to_ps": MS * 12 / 10, "shift_ps": 30 * MS,
        });
        let records = run(&datagrams(interval, json!({"policy": policy}), 30_000 * MS));
        let port = &records.ports[1];
        assert!(queued.contains(&port.queued), "{}", port.queued);
        let part = port.discarded.drawn as f64 / port.arrived as f64;
        assert!((part - goes).abs() < 0.01, "{part}");
    }
}

#[test]
fn a_policer_discards_or_marks_what_comes_before_its_tokens() {
    // A packet of 12 000 bits every 0.5 ms, tokens for one in 1 ms and a bucket of three: of the first five, at 0, 0.5, ...
    // 2 ms, all conform (3 + 2 tokens for 5); from then on every second one.
    let policed = |excess: &str| {
        let mut spec = datagrams(MS / 2, json!({}), 20 * MS);
        spec["links"][1]["framing"]["rate_millibps"] = json!(120 * MBIT);
        spec["links"][1]["port"]["policer"] =
            json!({"rate_millibps": 12 * MBIT, "burst_octets": 4_500, "excess": excess});
        run(&spec)
    };
    let records = policed("discard");
    let expected: Vec<_> = (0..14).map(|k| (2_500 + 1_000 * k, 9)).collect();
    let mut found = discards(&records);
    found.retain(|(time, _)| *time < 16_000);
    assert_eq!(found, expected);
    let port = &records.ports[1];
    assert_eq!(port.discarded.policed, port.discarded.total());
    // The transport of these datagrams knows no ECN: there is nothing to mark.
    assert_eq!(policed("mark").ports[1].discarded, port.discarded);
}

#[test]
fn a_shaper_with_a_peak_rate_lets_a_burst_go_at_that() {
    // More comes than can go. The bucket has 10 packets and gains half of one a millisecond, and they go a millisecond apart:
    // the n-th from 0 on begins at n ms while n + 1 <= 10 + n / 2, up to the 18th, and those after it at 20, 22, ... ms.
    let mut spec = datagrams(MS / 8, json!({}), 30 * MS);
    spec["links"][1]["framing"]["rate_millibps"] = json!(100 * MBIT);
    spec["links"][1]["port"]["shaper"] = json!({
        "rate_millibps": 6 * MBIT, "burst_octets": 15_000, "peak_millibps": 12 * MBIT,
    });
    let departed = |ms| {
        let mut spec = spec.clone();
        spec["duration_ps"] = json!(ms * MS);
        run(&spec).ports[1].departed
    };
    // 0.12 ms pass before the first packet comes, and each takes as long again.
    assert_eq!([departed(6), departed(16), departed(30)], [6, 16, 24]);
}
