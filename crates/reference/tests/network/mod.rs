//! A small network of packets.

use serde_json::{Value, json};
use skycell_records::RunRecords;
use skycell_spec::NetworkSpec;

pub const MS: u64 = 1_000_000_000;
pub const MBIT: u64 = 1_000_000_000;

fn framing(rate_millibps: u64) -> Value {
    json!({
        "rate_millibps": rate_millibps, "overhead_octets": 0, "least_octets": 0, "unit_octets": 1,
        "line_octets": 1,
    })
}

/// A link of packets, in one direction, whose port has a buffer of so much.
fn link(name: &str, ends: (u32, u32), rate: u64, delay_ps: u64, queue: Value) -> Value {
    let mut full = json!({"class": null, "capacity_cells": null, "policy": {"kind": "tail_drop"}});
    for (key, value) in queue.as_object().unwrap() {
        full[key] = value.clone();
    }
    json!({
        "name": name, "from": ends.0, "to": ends.1, "cell_time_ps": 0, "framing": framing(rate),
        "delay_ps": delay_ps, "schedule": null,
        "port": {"queues": [full], "scheduler": {"kind": "fifo"}, "frame_gap_ps": 0},
    })
}

/// Hosts a and b, a router between them; 10 Mbit/s and 10 ms behind the router, 100 Mbit/s before it.
pub fn dumbbell(queue: Value, duration_ps: u64) -> Value {
    let wan: Value = serde_json::from_str(include_str!("../../../fast/tests/wan.json")).unwrap();
    let mut flow = wan["flows"][0].clone();
    flow["forward"] = json!([0, 1]);
    flow["reverse"] = json!([2, 3]);
    flow["start"] = json!({"kind": "at", "time_ps": 0});
    flow["tcp"]["mss"] = json!(1_460);
    flow["tcp"]["initial_cwnd"] = json!(1_460);
    flow["tcp"]["rwnd"] = json!(14_600);
    flow["tcp"]["max_cwnd"] = json!(14_600);
    let nodes = [("a", "host"), ("r", "router"), ("b", "host")];
    let vc = |id: u32| json!({"name": format!("vc{id}"), "path": [id], "class": "ubr", "policing": [], "gfr": null});
    json!({
        "version": 2, "seed": 1, "duration_ps": duration_ps,
        "nodes": nodes.map(|(name, kind)| json!({"name": name, "kind": kind})),
        "links": [
            link("a>r", (0, 1), 100 * MBIT, 0, json!({})),
            link("r>b", (1, 2), 10 * MBIT, 10 * MS, queue),
            link("b>r", (2, 1), 10 * MBIT, 10 * MS, json!({})),
            link("r>a", (1, 0), 100 * MBIT, 0, json!({})),
        ],
        "vcs": [vc(0), vc(1), vc(2), vc(3)],
        "flows": [flow],
        "sources": [],
        "records": {
            "sample_every_ps": MS, "sampled_ports": [1], "vc_sampled_ports": [], "delay_vcs": [],
            "traces": ["sequence"],
        },
    })
}

pub fn run(spec: &Value) -> RunRecords {
    let spec = NetworkSpec::from_json(&spec.to_string()).unwrap();
    skycell_reference::run(&spec, &mut |_| true).unwrap()
}
