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

/// What was discarded at the port of the router: when, in microseconds since the first packet came there, and why.
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
