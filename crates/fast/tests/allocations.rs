//! The warm path does not allocate by the frame: twice the simulated time makes hardly any more
//! allocations, namely for the growth of what is kept.

use serde_json::{Value, json};
use skycell_sky::{ByHand, HandLink};
use skycell_spec::NetworkSpec;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: hands everything to the system's allocator, which upholds the contract.
#[allow(unsafe_code)] // a global allocator cannot be written without
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(spec: &NetworkSpec, seconds: u64) -> (u64, u64) {
    let spec = NetworkSpec {
        duration_ps: seconds * 1_000_000_000_000,
        ..spec.clone()
    };
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let records = skycell_fast::run(&spec, &mut |_| true).expect("the run succeeds");
    let count = ALLOCATIONS.load(Ordering::Relaxed) - before;
    (count, records.flows.iter().map(|f| f.segments_sent).sum())
}

fn makes_hardly_more_when_longer(mut spec: NetworkSpec) {
    // Samples are kept by their value, and new values come up for ever.
    spec.records.sampled_ports.clear();
    spec.records.vc_sampled_ports.clear();
    let (short, few) = allocations(&spec, 10);
    let (long, many) = allocations(&spec, 20);
    assert!(many - few > 200_000, "the second half has work to do");
    let extra = long.saturating_sub(short);
    // Rings and sets of holes still grow at a new peak, to twice their size.
    assert!(extra < 200, "{extra} allocations in the second half");
}

#[test]
fn a_longer_run_makes_hardly_more_allocations() {
    // 15 SACK sources over a WAN with EPD: `skycell run examples/ubr-wan.toml` has the like.
    makes_hardly_more_when_longer(read(include_str!("wan.json")));
    // SACK over three congested links, MSS 1460, one VC policed cell by cell: frames go in parts.
    makes_hardly_more_when_longer(read(include_str!("lot.json")));
    // Packets by label, over routes and delays that change each second.
    makes_hardly_more_when_longer(by_label());
}

fn read(text: &str) -> NetworkSpec {
    NetworkSpec::from_json(text).expect("a valid spec")
}

/// Two stations with two satellites between them, which take turns; a TCP connection, which loses packets, and
/// datagrams beside it.
fn by_label() -> NetworkSpec {
    const MILLISECOND: u64 = 1_000_000_000;
    let epochs = 0..20u64;
    let link = |(from, to): (u32, u32)| HandLink {
        from,
        to,
        port: u32::from(from > 1) * to,
        kind: u8::from(from > 1),
        delays_ps: (epochs.clone())
            .map(|epoch| Some((5 + u64::from(from + to)) * MILLISECOND + epoch * 1_000))
            .collect(),
    };
    let pairs = [(0, 2), (0, 3), (1, 2), (1, 3)];
    let by_hand = ByHand {
        epoch_ps: epochs
            .clone()
            .map(|epoch| epoch * 1_000 * MILLISECOND)
            .collect(),
        nodes: 4,
        links: pairs
            .iter()
            .flat_map(|&(a, b)| [link((a, b)), link((b, a))])
            .collect(),
        label_node: vec![0, 1],
        next: (epochs.clone())
            .map(|epoch| {
                let by = Some(2 + (epoch % 2) as u32);
                vec![
                    vec![None, by],
                    vec![by, None],
                    vec![Some(0), Some(1)],
                    vec![Some(0), Some(1)],
                ]
            })
            .collect(),
    };
    let mut spec: Value = serde_json::from_str(include_str!("one-flow.json")).expect("JSON");
    let vc = |from: u32, label: u32| {
        json!({"name": format!("vc{from}"), "path": [], "policing": [], "gfr": null, "class": "ubr",
            "by_label": {"from": from, "label": label}})
    };
    let kind = |mbit: u64, waiting: &str| {
        let mut link = spec["links"][0].clone();
        link["framing"]["rate_millibps"] = json!(mbit * 1_000_000_000);
        link["port"]["queues"][0]["capacity_cells"] = json!(1_000);
        json!({"name": waiting, "framing": link["framing"], "port": link["port"], "waiting": waiting})
    };
    let kinds = [kind(900, "rerouted"), kind(600, "sent")];
    spec["sky"] = json!({"columns": "", "kinds": kinds, "hop_limit": 64, "loses_in_flight": true});
    let node = |(at, kind): (usize, &str)| json!({"name": format!("n{at}"), "kind": kind});
    let nodes = ["host", "host", "router", "router"].into_iter().enumerate();
    spec["nodes"] = nodes.map(node).collect();
    spec["links"] = json!([]);
    spec["vcs"] = json!([vc(0, 1), vc(1, 0)]);
    spec["flows"][0]["forward"] = json!([0]);
    spec["flows"][0]["reverse"] = json!([1]);
    spec["sources"] = json!([{"name": "s", "vc": 0, "datagram_route": [0], "cell_interval_ps": MILLISECOND,
        "frame_cells": 1, "datagram_octets": 1_500, "pattern": {"kind": "constant"},
        "start": {"kind": "at", "time_ps": 0}}]);
    let mut spec = NetworkSpec::read(&spec.to_string()).expect("a spec");
    let sky = spec.sky.as_mut().expect("it has a sky");
    sky.read = Some(Arc::new(by_hand.columns().expect("columns")));
    spec
}
