//! A network under real packets does with them what a run does with its own.

mod network;

use network::{MS, dumbbell, run};
use serde_json::{Value, json};
use skycell_records::PortRecord;
use skycell_reference::{LiveNetwork, RealPacket};
use skycell_spec::NetworkSpec;
use skycell_units::{Ecn, SimTime};

fn read(spec: &Value) -> NetworkSpec {
    NetworkSpec::from_json(&spec.to_string()).unwrap()
}

/// A packet of a to b, or of b to a.
fn packet(is_forward: bool, octets: usize, mark: u8) -> RealPacket {
    RealPacket {
        flow: 0,
        is_forward,
        route_index: 0,
        number: u32::from(!is_forward),
        ecn: Ecn::NotEct,
        octets: octets as u32,
        data: vec![mark],
    }
}

/// When packets arrive, in ps, and the first octet of each.
fn arrivals(network: &mut LiveNetwork) -> Vec<(u64, u8)> {
    let delivered = network.delivered();
    delivered
        .map(|delivery| (delivery.at.0, delivery.packet.data[0]))
        .collect()
}

#[test]
fn a_packet_arrives_when_it_is_due_however_late_the_caller_is() {
    let spec = read(&dumbbell(json!({"capacity_cells": 2}), 1_000 * MS));
    let mut network = LiveNetwork::new(&spec).unwrap();
    // Four of 1500 octets at once: 120 us each to the router, 1.2 ms each over the link behind it, 10 ms on
    // the way. Two fit there: the third and the fourth find the first still being sent and the second.
    for mark in 0..4 {
        network.offer(SimTime::ZERO, packet(true, 1_500, mark));
    }
    // One of 40 octets the other way at 1 ms: 32 us, 10 ms, 3.2 us.
    network.advance(SimTime(MS));
    network.offer(SimTime(MS), packet(false, 40, 9));
    assert_eq!(network.next_event(), Some(SimTime(1_032_000_000)));
    network.advance(SimTime(500 * MS));
    let first = 120_000_000 + 1_200_000_000 + 10 * MS;
    let back = MS + 32_000_000 + 10 * MS + 3_200_000;
    let second = first + 1_200_000_000;
    assert_eq!(arrivals(&mut network), [(back, 9), (first, 0), (second, 1)]);
    assert_eq!(network.ports(SimTime(500 * MS))[1].discarded.total(), 2);
    assert_eq!(arrivals(&mut network), []);
}

#[test]
fn a_packet_that_a_queue_marks_leaves_with_the_mark() {
    let policy = json!({"kind": "codel", "target_ps": MS, "interval_ps": 10 * MS});
    let spec = read(&dumbbell(json!({"policy": policy}), 1_000 * MS));
    let mut network = LiveNetwork::new(&spec).unwrap();
    for mark in 0..60 {
        let offered = RealPacket {
            ecn: Ecn::Ect0,
            ..packet(true, 1_500, mark)
        };
        network.offer(SimTime::ZERO, offered);
    }
    network.advance(SimTime(500 * MS));
    let marked = network.delivered().filter(|d| d.packet.ecn == Ecn::Ce);
    assert!(marked.count() > 0);
    let ports = network.ports(SimTime(500 * MS));
    assert_eq!(ports[1].discarded.total(), 0);
}

/// The records of the ports on the way of data, as text.
fn on_the_way(ports: &[PortRecord]) -> String {
    serde_json::to_string(&ports[..2]).unwrap()
}

#[test]
fn ports_count_what_they_count_in_a_run_with_the_same_packets() {
    let queues = [
        json!({"capacity_cells": 20}),
        json!({"capacity_cells": 9_000, "counts_octets": true}),
        json!({"capacity_cells": 60, "policy": {"kind": "codel", "target_ps": 5 * MS, "interval_ps": 100 * MS}}),
        json!({"capacity_cells": 20, "policy": {"kind": "head_drop"}}),
    ];
    for queue in queues {
        let mut spec = dumbbell(queue.clone(), 5_000 * MS);
        spec["flows"][0]["tcp"]["rwnd"] = json!(64_000);
        spec["flows"][0]["tcp"]["max_cwnd"] = json!(64_000);
        let simulated = run(&spec);
        let spec = read(&spec);
        let mut network = LiveNetwork::new(&spec).unwrap();
        let sent = &simulated.traces.sequence;
        for (row, &time) in sent.time_ps.iter().enumerate() {
            let octets = sent.length[row] as usize;
            if octets > 0 {
                network.advance(SimTime(time));
                network.offer(SimTime(time), packet(true, octets + 40, 0));
            }
        }
        let end = SimTime(5_000 * MS);
        network.advance(SimTime(end.0 - 1));
        let live = network.ports(end);
        assert_eq!(on_the_way(&live), on_the_way(&simulated.ports), "{queue}");
        assert!(live[1].discarded.total() > 0, "{queue}");
        assert!(network.delivered().count() > 1_000);
    }
}
