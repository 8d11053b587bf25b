//! Links that carry packets, against exchanges and rates worked out by hand.

mod network;

use network::{MBIT, MS, dumbbell, run};
use serde_json::{Value, json};
use skycell_spec::NetworkSpec;

/// A change of a spec.
type Change = fn(&mut Value);

#[test]
fn a_packet_is_stored_and_forwarded_whole_and_its_acknowledgement_comes_back() {
    let records = run(&dumbbell(json!({}), 60 * MS));
    // 1500 octets: 120 us at 100 Mbit/s, 1.2 ms at 10, 10 ms on the way; 40 octets back: 32 us, 10 ms, 3.2 us.
    let there = 120_000_000 + 1_200_000_000 + 10 * MS;
    let back = 32_000_000 + 10 * MS + 3_200_000;
    let sequence = &records.traces.sequence;
    assert_eq!(&sequence.time_ps[..2], &[0, there + back]);
}

#[test]
fn a_window_and_a_round_trip_give_the_rate() {
    // Ten segments, no queue worth the name: the round trip of above, 21.36 ms, plus nothing.
    let records = run(&dumbbell(json!({}), 30_000 * MS));
    let flow = &records.flows[0];
    let rate = flow.octets_delivered as f64 * 8.0 / 30.0;
    let round_trip = 21.355_2e-3;
    // 10 segments take 12 ms to leave, less than the round trip.
    let expected = 14_600.0 * 8.0 / round_trip;
    assert!((rate / expected - 1.0).abs() < 0.01, "{rate} {expected}");
    let port = records.ports[1].octets.as_ref().unwrap();
    assert_eq!(port.arrived, records.ports[1].arrived * 1_500);
    assert_eq!(port.discarded, 0);
    let octets = records.ledger.accounts.iter();
    let octets: Vec<_> = octets
        .filter(|account| account.name.starts_with("octets, port"))
        .collect();
    assert_eq!(octets.len(), 4);
    assert!(
        octets
            .iter()
            .all(|account| account.is_balanced() && account.put_in > 0)
    );
    // Little: octets in the port are their rate times their stay.
    let stay = port.sojourn.mean_ps * 1e-12;
    let little = port.departed as f64 / 30.0 * stay;
    assert!(
        (port.mean / little - 1.0).abs() < 1e-3,
        "{} {little}",
        port.mean
    );
}

#[test]
fn a_buffer_holds_so_many_packets_or_so_many_octets_and_no_more() {
    for (queue, most, most_octets) in [
        (json!({"capacity_cells": 5}), 5, 7_500),
        (
            json!({"capacity_cells": 7_600, "counts_octets": true}),
            5,
            7_500,
        ),
        (
            json!({"capacity_cells": 7_500, "counts_octets": true}),
            5,
            7_500,
        ),
        (
            json!({"capacity_cells": 7_499, "counts_octets": true}),
            4,
            6_000,
        ),
    ] {
        let mut spec = dumbbell(queue, 2_000 * MS);
        for key in ["rwnd", "max_cwnd"] {
            spec["flows"][0]["tcp"][key] = json!(200_000);
        }
        let records = run(&spec);
        let port = &records.ports[1];
        assert_eq!(port.queue.max, most);
        assert_eq!(port.octets.as_ref().unwrap().max, most_octets);
        assert!(port.discarded.overflow > 0);
        assert_eq!(port.discarded, port.frames_discarded);
    }
}

#[test]
fn a_rate_that_falls_to_half_makes_packets_take_twice_as_long() {
    let mut spec = dumbbell(json!({}), 60 * MS);
    spec["links"][1]["schedule"] = json!({
        "times_ps": [0], "delays_ps": [10 * MS], "paths": [0], "cell_times_ps": [],
        "rates_millibps": [5 * MBIT], "losses_ppb": [], "to": [], "interruption_ps": 0,
        "handover_loses_cells": false,
    });
    let there = 120_000_000 + 2_400_000_000 + 10 * MS;
    let back = 32_000_000 + 10 * MS + 3_200_000;
    assert_eq!(run(&spec).traces.sequence.time_ps[1], there + back);
}

#[test]
fn what_is_made_of_cells_is_refused_on_links_of_packets() {
    let refused = |change: Change| {
        let mut spec = dumbbell(json!({}), MS);
        change(&mut spec);
        NetworkSpec::from_json(&spec.to_string())
            .unwrap_err()
            .to_string()
    };
    let cases: [(Change, &str); 7] = [
        (
            |s| s["nodes"][1]["kind"] = json!("switch"),
            "switches forward cells",
        ),
        (|s| s["links"][0]["cell_time_ps"] = json!(1), "0 on a link"),
        (|s| s["records"]["delay_vcs"] = json!([1]), "measures cells"),
        (
            |s| {
                s["links"][0]["port"]["scheduler"] =
                    json!({"kind": "guaranteed_rate", "shares_ppb": [1]})
            },
            "counts cells",
        ),
        (
            |s| {
                s["links"][0].as_object_mut().unwrap().remove("framing");
                s["links"][0]["cell_time_ps"] = json!(7);
                s["links"][0]["port"]["queues"][0]["counts_octets"] = json!(true);
            },
            "counts cells",
        ),
        (
            |s| {
                s["links"][0].as_object_mut().unwrap().remove("framing");
                s["links"][0]["cell_time_ps"] = json!(7);
                s["links"][0]["port"]["queues"][0]["policy"] =
                    json!({"kind": "codel", "target_ps": 1, "interval_ps": 2});
            },
            "is a policy of packets",
        ),
        (
            |s| {
                s["links"][1]["schedule"] = json!({
                    "times_ps": [0], "delays_ps": [10 * MS], "paths": [0], "cell_times_ps": [5],
                    "losses_ppb": [], "to": [], "interruption_ps": 0, "handover_loses_cells": false,
                })
            },
            "rates_millibps",
        ),
    ];
    for (change, words) in cases {
        let message = refused(change);
        assert!(message.contains(words), "{message}");
    }
}
