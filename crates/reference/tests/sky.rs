//! Packets that nodes forward by label, by hand and against networks of links. Times in picoseconds.

mod network;

use network::{MBIT, MS, dumbbell};
use serde_json::{Value, json};
use skycell_records::{DelayStatistics, RunRecords, SkyNodes};
use skycell_sky::{ByHand, HandLink, file::digest};
use skycell_spec::NetworkSpec;

/// Two way links between nodes, each with a port of its own.
fn both(ends: (u32, u32), delays_ps: &[Option<u64>]) -> [HandLink; 2] {
    [ends, (ends.1, ends.0)].map(|(from, to)| HandLink {
        from,
        to,
        port: to,
        kind: 0,
        delays_ps: delays_ps.to_vec(),
    })
}

/// A kind of port of packets, at a rate and with what `change` says.
fn kind(rate_millibps: u64, queue: &Value, waiting: &str) -> Value {
    let link = &dumbbell(queue.clone(), MS)["links"][1];
    let mut kind = json!({
        "name": "kind", "framing": link["framing"], "port": link["port"], "waiting": waiting,
    });
    kind["framing"]["rate_millibps"] = json!(rate_millibps);
    kind
}

/// The network of a spec with a sky.
fn run(spec: &Value, by_hand: &ByHand) -> RunRecords {
    let octets = by_hand.columns().unwrap().to_octets();
    let mut spec = spec.clone();
    spec["sky"]["columns"] = json!(digest(&octets));
    let mut spec = NetworkSpec::read(&spec.to_string()).unwrap();
    spec.attach(&octets).unwrap();
    skycell_reference::run(&spec, &mut |_| true).unwrap()
}

/// Nodes 0 (a host) to 3 (a host) over routers 1 and 2, in two epochs; a source of packets of 1 000 octets
/// at 0, one each 5 ms, from 0 to 3, where the only label ends. A kind sends 1 000 octets in 10 ms.
fn two_paths(waiting: &str, loses_in_flight: bool) -> Value {
    let mut spec = dumbbell(json!({}), 200 * MS);
    let nodes = [
        ("a", "host"),
        ("b", "router"),
        ("c", "router"),
        ("d", "host"),
    ];
    spec["nodes"] = json!(nodes.map(|(name, kind)| json!({"name": name, "kind": kind})));
    spec["links"] = json!([]);
    spec["flows"] = json!([]);
    spec["records"]["sampled_ports"] = json!([]);
    spec["vcs"] = json!([{
        "name": "a>d", "path": [], "by_label": {"from": 0, "label": 0}, "class": "ubr", "policing": [],
        "gfr": null,
    }]);
    spec["sources"] = json!([{
        "name": "s", "vc": 0, "datagram_route": [0], "cell_interval_ps": 5 * MS, "frame_cells": 22,
        "datagram_octets": 1_000, "pattern": {"kind": "bursts", "begins_ps": [0], "lengths_ps": [45 * MS + 1]},
        "start": {"kind": "at", "time_ps": 0},
    }]);
    let slow = kind(8 * MBIT / 10, &json!({}), waiting);
    let mut quick = kind(800 * MBIT, &json!({}), "sent");
    quick["name"] = json!("quick");
    spec["sky"] = json!({
        "columns": "", "kinds": [slow, quick], "hop_limit": 64, "loses_in_flight": loses_in_flight,
    });
    spec
}

/// 0 to 1 takes 12 ms until 50 ms, 0 to 2 takes 20 ms from then on; 1 and 2 to 3 take 5 ms. The port of 0 is
/// one, of kind 0.
fn handover() -> ByHand {
    let link = |(from, to): (u32, u32), kind: u8, delays_ps: [Option<u64>; 2]| HandLink {
        from,
        to,
        port: 0,
        kind,
        delays_ps: delays_ps.to_vec(),
    };
    let always = [Some(5 * MS); 2];
    let to_three = |first: u32| vec![vec![Some(first)], vec![Some(3)], vec![Some(3)], vec![None]];
    ByHand {
        epoch_ps: vec![7, 50 * MS + 7],
        nodes: 4,
        links: vec![
            link((0, 1), 0, [Some(12 * MS), None]),
            link((0, 2), 0, [None, Some(20 * MS)]),
            link((1, 3), 1, always),
            link((2, 3), 1, always),
        ],
        label_node: vec![3],
        next: vec![to_three(1), to_three(2)],
    }
}

fn nodes(records: &RunRecords) -> &SkyNodes {
    &records.sky.as_ref().unwrap().nodes
}

#[test]
fn a_chain_of_routers_is_the_same_chain_written_as_links() {
    compare_chains(&[100 * MBIT, 10 * MBIT], false);
}

#[test]
fn each_port_of_a_chain_filters_acknowledgements() {
    compare_chains(&[MBIT / 100, MBIT / 10], true);
}

/// A connection over routers by label and over links; acknowledgements go to the router and on from
/// there at the second and the first of two rates.
fn compare_chains(back_millibps: &[u64; 2], filters_acks: bool) {
    let queue = json!({"capacity_cells": 6});
    let mut graph = dumbbell(queue.clone(), 30_000 * MS);
    for (name, rate) in ["r>a", "b>r"].into_iter().zip(back_millibps) {
        let links = graph["links"].as_array_mut().unwrap();
        let link = links.iter_mut().find(|link| link["name"] == name).unwrap();
        link["framing"]["rate_millibps"] = json!(rate);
        if filters_acks {
            link["port"]["ack_filter"] = json!(true);
            if name == "b>r" {
                link["port"]["queues"][0]["capacity_cells"] = json!(2);
            }
        }
    }
    graph["flows"][0]["tcp"]["max_cwnd"] = json!(1_000_000);
    graph["flows"][0]["tcp"]["rwnd"] = json!(60_000);
    // All four ports, which are links here and ports of the sky there.
    graph["records"]["sampled_ports"] = json!([0, 1, 2, 3]);
    graph["records"]["flow_ports"] = json!([0, 1, 2, 3]);
    // The same rates, delays and buffers by kind: 0 and 1 onwards, 2 and 3 back.
    let mut sky = graph.clone();
    sky["links"] = json!([]);
    let vc = |name: &str, from: u32, label: u32| {
        json!({"name": name, "path": [], "by_label": {"from": from, "label": label}, "class": "ubr",
            "policing": [], "gfr": null})
    };
    sky["vcs"] = json!([vc("a>b", 0, 0), vc("b>a", 2, 1)]);
    sky["flows"][0]["forward"] = json!([0]);
    sky["flows"][0]["reverse"] = json!([1]);
    let mut kinds = [
        kind(100 * MBIT, &json!({}), "sent"),
        kind(10 * MBIT, &queue, "sent"),
        kind(back_millibps[1], &json!({}), "sent"),
        kind(back_millibps[0], &json!({}), "sent"),
    ];
    if filters_acks {
        kinds[2]["port"]["queues"][0]["capacity_cells"] = json!(2);
        for back in &mut kinds[2..] {
            back["port"]["ack_filter"] = json!(true);
        }
    }
    sky["sky"] = json!({"columns": "", "kinds": kinds, "hop_limit": 64, "loses_in_flight": false});
    let link = |from: u32, to: u32, kind: u8, delay_ps: u64| HandLink {
        from,
        to,
        port: to,
        kind,
        delays_ps: vec![Some(delay_ps)],
    };
    let by_hand = ByHand {
        epoch_ps: vec![0],
        nodes: 3,
        links: vec![
            link(0, 1, 0, 0),
            link(1, 2, 1, 10 * MS),
            link(2, 1, 2, 10 * MS),
            link(1, 0, 3, 0),
        ],
        label_node: vec![2, 0],
        next: vec![vec![
            vec![Some(1), None],
            vec![Some(2), Some(0)],
            vec![None, Some(1)],
        ]],
    };
    let (graph, sky) = (network::run(&graph), run(&sky, &by_hand));
    let lost = |port: &str| {
        let found = graph.ports.iter().find(|own| own.name == port);
        found.unwrap().discarded.total()
    };
    if filters_acks {
        assert!(lost("b>r") > 0 && lost("r>a") > 0, "both ports filter");
    } else {
        assert!(lost("r>b") > 0, "the buffer overflows");
    }
    assert_eq!(graph.flows, sky.flows);
    assert_eq!(graph.traces.sequence, sky.traces.sequence);
    let of_router = |records: &RunRecords| records.ports[1].discarded.total();
    assert_eq!(of_router(&graph), sky.vcs[0].cells_discarded.total());
    let ports = &sky.sky.as_ref().unwrap().ports;
    let row = |port: &str| graph.ports.iter().find(|own| own.name == port).unwrap();
    for (index, name) in ["a>r", "r>a", "r>b", "b>r"].into_iter().enumerate() {
        let own = row(name);
        assert_eq!(&sky.ports[index], own, "{name}");
        assert!(own.queue.p99.is_some() && !own.octets.as_ref().unwrap().flows.is_empty());
        assert_eq!(ports.arrived[index], own.arrived, "{name}");
        assert_eq!(ports.discarded[index], own.discarded.total(), "{name}");
        assert_eq!(ports.busy_ps[index], own.busy_ps, "{name}");
        assert_eq!(ports.queue_mean[index], own.queue.mean, "{name}");
        assert_eq!(
            ports.octets[index],
            own.octets.as_ref().unwrap().departed,
            "{name}"
        );
    }
}

/// A connection whose frames go in cells over two switches, by a path and by labels; the second switch has
/// early packet discard. `change` changes both specs.
fn chains_of_switches(change: impl Fn(&mut Value)) -> [RunRecords; 2] {
    let mut graph = dumbbell(json!({}), 20_000 * MS);
    let nodes = [
        ("a", "host"),
        ("s", "switch"),
        ("t", "switch"),
        ("b", "host"),
    ];
    graph["nodes"] = json!(nodes.map(|(name, kind)| json!({"name": name, "kind": kind})));
    // One hundred cells at most behind t; a cell takes 4, 4 and 40 us, and 8 us on the way back.
    let discards = json!({"kind": "epd", "threshold_cells": 60, "partial_discard": true});
    let queue = json!({"class": null, "capacity_cells": 100, "policy": discards});
    let plain = json!({"class": null, "capacity_cells": null, "policy": {"kind": "tail_drop"}});
    let port = |queue: &Value| json!({"queues": [queue], "scheduler": {"kind": "fifo"}, "frame_gap_ps": 0});
    let us = MS / 1_000;
    let hops = [
        ("a>s", 0, 1, 4 * us, MS, &plain),
        ("s>t", 1, 2, 4 * us, 20 * MS, &plain),
        ("t>b", 2, 3, 40 * us, 5 * MS, &queue),
        ("b>t", 3, 2, 8 * us, 5 * MS, &plain),
        ("t>s", 2, 1, 8 * us, 20 * MS, &plain),
        ("s>a", 1, 0, 8 * us, MS, &plain),
    ];
    let links = hops.map(|(name, from, to, cell_time_ps, delay_ps, queue)| {
        json!({"name": name, "from": from, "to": to, "cell_time_ps": cell_time_ps, "delay_ps": delay_ps,
            "schedule": null, "port": port(queue)})
    });
    graph["links"] = json!(links);
    let vc =
        |name: &str| json!({"name": name, "path": [], "class": "ubr", "policing": [], "gfr": null});
    let (mut there, mut back) = (vc("a>b"), vc("b>a"));
    let mut sky = graph.clone();
    (there["path"], back["path"]) = (json!([0, 1, 2]), json!([3, 4, 5]));
    graph["vcs"] = json!([there, back]);
    for spec in [&mut graph, &mut sky] {
        spec["flows"][0]["forward"] = json!([0]);
        spec["flows"][0]["reverse"] = json!([1]);
        spec["flows"][0]["tcp"]["max_cwnd"] = json!(1_000_000);
        spec["flows"][0]["tcp"]["rwnd"] = json!(60_000);
        spec["records"]["sampled_ports"] = json!([]);
    }
    let (mut there, mut back) = (vc("a>b"), vc("b>a"));
    there["by_label"] = json!({"from": 0, "label": 0});
    back["by_label"] = json!({"from": 3, "label": 1});
    sky["vcs"] = json!([there, back]);
    sky["links"] = json!([]);
    let kinds = hops.map(|(name, _, _, cell_time_ps, _, queue)| {
        json!({"name": name, "cell_time_ps": cell_time_ps, "port": port(queue), "waiting": "sent"})
    });
    sky["sky"] = json!({"columns": "", "kinds": kinds, "hop_limit": 64, "loses_in_flight": false});
    let links = (0u8..)
        .zip(&hops)
        .map(|(kind, &(_, from, to, _, delay_ps, _))| HandLink {
            from,
            to,
            port: to,
            kind,
            delays_ps: vec![Some(delay_ps)],
        });
    let by_hand = ByHand {
        epoch_ps: vec![0],
        nodes: 4,
        links: links.collect(),
        label_node: vec![3, 0],
        next: vec![vec![
            vec![Some(1), None],
            vec![Some(2), Some(0)],
            vec![Some(3), Some(1)],
            vec![None, Some(2)],
        ]],
    };
    for spec in [&mut graph, &mut sky] {
        change(spec);
    }
    [network::run(&graph), run(&sky, &by_hand)]
}

#[test]
fn a_chain_of_switches_is_the_same_chain_written_as_links() {
    let [graph, sky] = chains_of_switches(|_| {});
    assert!(graph.ports[2].discarded.total() > 0, "the buffer overflows");
    assert!(graph.vcs[0].frames_corrupt > 0 || graph.ports[2].discarded.total() > 30);
    assert_eq!(graph.flows, sky.flows);
    assert_eq!(graph.traces.sequence, sky.traces.sequence);
    let ports = &sky.sky.as_ref().unwrap().ports;
    // By node: a>s, s>a, s>t, t>s, t>b, b>t.
    for (row, name) in ["a>s", "s>a", "s>t", "t>s", "t>b", "b>t"]
        .into_iter()
        .enumerate()
    {
        let own = graph.ports.iter().find(|own| own.name == name).unwrap();
        assert_eq!(ports.arrived[row], own.arrived, "{name}");
        assert_eq!(ports.discarded[row], own.discarded.total(), "{name}");
        assert_eq!(ports.octets[row], 53 * own.departed, "{name}");
        assert_eq!(ports.queue_mean[row], own.queue.mean, "{name}");
    }
    for (by_path, by_label) in graph.vcs.iter().zip(&sky.vcs) {
        assert_eq!(by_path.frames_corrupt, by_label.frames_corrupt);
        assert_eq!(by_path.cells_whole, by_label.cells_whole);
    }
}

/// The policer lets a cell in 60 us pass, with a tolerance of 200 us; cells come every 4 us, frame by frame.
#[test]
fn a_vc_is_policed_ordered_and_measured_by_label_as_by_a_path() {
    let us = MS / 1_000;
    for (action, clp0_only) in [
        ("count", false),
        ("tag", false),
        ("discard", false),
        ("tag", true),
    ] {
        let [graph, sky] = chains_of_switches(|spec| {
            let mut bucket =
                json!({"increment_ps": 60 * us, "limit_ps": 200 * us, "action": action});
            if clp0_only {
                bucket["clp0_only"] = json!(true);
            }
            spec["duration_ps"] = json!(4_000 * MS);
            spec["vcs"][0]["policing"] = json!([bucket]);
            spec["vcs"][0]["resequencer"] = json!({"hold_ps": 3 * MS, "capacity_cells": 100});
            spec["records"]["delay_vcs"] = json!([0]);
        });
        let [by_path, by_label] = [&graph.vcs[0], &sky.vcs[0]];
        assert!(by_path.cells_nonconforming > 20);
        // The sky names what is under way when the run ends in the same words.
        assert_eq!(by_path, by_label);
        assert_eq!(graph.flows, sky.flows);
        let policed = nodes(&sky).policed.iter().sum::<u64>();
        assert_eq!(
            (policed > 0, policed),
            (action == "discard", by_path.cells_policed)
        );
        let [by_path, by_label] = [&graph, &sky].map(|run| &run.cell_delays[0].delay);
        assert!(by_path.cells > 10);
        let exact =
            |delay: &DelayStatistics| (delay.cells, delay.mean_ps, delay.min_ps, delay.max_ps);
        assert_eq!(exact(by_path), exact(by_label));
    }
}

/// Cells of 1 ms from 0 every 5 ms: 1 takes them on for 12 + 40 ms until 30 ms, and 2 for 12 + 5 ms from then on.
#[test]
fn cells_that_overtake_others_on_a_shorter_path_wait_for_these() {
    let link = |(from, to): (u32, u32), delays_ps: [Option<u64>; 2]| HandLink {
        from,
        to,
        port: if from == 0 { 0 } else { to },
        kind: 0,
        delays_ps: delays_ps.map(|delay| delay.map(|ms| ms * MS)).to_vec(),
    };
    let by_hand = ByHand {
        epoch_ps: vec![0, 30 * MS],
        nodes: 4,
        links: vec![
            link((0, 1), [Some(12), None]),
            link((0, 2), [None, Some(12)]),
            link((1, 3), [Some(40); 2]),
            link((2, 3), [Some(5); 2]),
        ],
        label_node: vec![3],
        next: vec![
            vec![vec![Some(1)], vec![Some(3)], vec![Some(3)], vec![None]],
            vec![vec![Some(2)], vec![Some(3)], vec![Some(3)], vec![None]],
        ],
    };
    let mut spec = two_paths("rerouted", false);
    for node in [1, 2] {
        spec["nodes"][node]["kind"] = json!("switch");
    }
    let port = spec["sky"]["kinds"][0]["port"].clone();
    let kind = json!({"name": "kind", "cell_time_ps": MS, "port": port, "waiting": "rerouted"});
    spec["sky"]["kinds"] = json!([kind]);
    spec["sources"][0]["frame_cells"] = json!(1);
    spec["sources"][0]["datagram_octets"] = json!(40);
    spec["vcs"][0]["resequencer"] = json!({"hold_ps": 100 * MS, "capacity_cells": 100});
    spec["records"]["delay_vcs"] = json!([0]);
    let records = run(&spec, &by_hand);
    assert_eq!(records.vcs[0].cells_delivered, 10);
    let found = records.vcs[0].resequencer.as_ref().unwrap();
    // Cell n leaves 0 at 5 n + 1: those up to 5, at 26, arrive at 5 n + 54, the last at 79. Those from 6 on, at 31,
    // arrive at 5 n + 19: at 49, 54, 59 and 64, and wait until 79 for 30, 25, 20 and 15 ms.
    assert_eq!((found.cells_held, found.cells_most), (4, 4));
    assert_eq!(
        (found.wait_max_ps, found.wait_mean_ps),
        (30 * MS, 22 * MS + MS / 2)
    );
    // From 5 n + 1 to 5 n + 54, and to 79: 53 six times, 48, 43, 38 and 33.
    let delay = &records.cell_delays[0];
    assert_eq!((delay.fixed_ps, delay.delay.cells), (0, 10));
    assert_eq!((delay.delay.min_ps, delay.delay.max_ps), (33 * MS, 53 * MS));
    assert_eq!(delay.delay.mean_ps, 48.0 * MS as f64);
}

#[test]
fn packets_that_wait_at_a_handover_take_the_new_route_the_old_link_or_none() {
    // Ten packets leave node 0 at 10, 20 ... 100 ms. The epoch changes at 50 ms: the fifth leaves in the new one.
    let by = |waiting: &str| run(&two_paths(waiting, false), &handover());
    let rerouted = by("rerouted");
    assert_eq!(nodes(&rerouted).node, [0, 1, 2, 3]);
    assert_eq!(nodes(&rerouted).arrived, [0, 4, 6, 10]);
    assert_eq!(nodes(&rerouted).rerouted, [0; 4]);
    assert_eq!(rerouted.vcs[0].cells_delivered, 10);
    // Those that came before 50 ms, all of them, take the old link.
    let sent = by("sent");
    assert_eq!(nodes(&sent).arrived, [0, 10, 10]);
    let lost = by("lost");
    assert_eq!(nodes(&lost).arrived, [0, 4, 4]);
    assert_eq!(
        (lost.vcs[0].cells_lost.out_of_range, nodes(&lost).gone[0]),
        (6, 6)
    );
}

#[test]
fn a_packet_enters_with_the_delay_of_the_moment_at_which_it_leaves() {
    let mut spec = two_paths("rerouted", false);
    spec["records"]["delay_sources"] = json!([0]);
    let delay = run(&spec, &handover()).sources[0].delay.clone().unwrap();
    // The first is sent at 0, leaves at 10, and takes 12 ms, 10 us of transmission at node 1, and 5 ms. The last
    // is sent at 45, leaves at 100, and takes 20 ms, 10 us and 5 ms.
    let hop = MS / 100;
    assert_eq!(delay.min_ps, 10 * MS + 12 * MS + hop + 5 * MS);
    assert_eq!(delay.max_ps, 55 * MS + 20 * MS + hop + 5 * MS);
}

#[test]
fn what_flies_over_a_link_that_ends_is_lost_if_the_spec_says_so() {
    // The fourth packet leaves at 40 ms, and would arrive at 52, after the end of its link at 50 ms.
    let records = run(&two_paths("rerouted", true), &handover());
    assert_eq!(nodes(&records).arrived, [0, 3, 6, 9]);
    assert_eq!(records.vcs[0].cells_lost.handover, 1);
}

#[test]
fn a_packet_that_waits_goes_to_another_port_if_its_route_does() {
    let mut by_hand = handover();
    by_hand.links[1].port = 1;
    let records = run(&two_paths("rerouted", false), &by_hand);
    // The fifth to the tenth leave the first port from 50 ms on, and wait for the second one then.
    assert_eq!(nodes(&records).rerouted, [6, 0, 0, 0]);
    assert_eq!(nodes(&records).offered[0], 16);
    assert_eq!(records.vcs[0].cells_delivered, 10);
}

#[test]
fn a_loop_ends_at_the_hop_limit_and_what_turns_back_is_counted() {
    let mut by_hand = handover();
    by_hand.links = [(0, 1), (1, 2), (2, 3)]
        .into_iter()
        .flat_map(|ends| both(ends, &[Some(MS); 2]))
        .collect();
    let next =
        |one: u32, two: u32| vec![vec![Some(1)], vec![Some(one)], vec![Some(two)], vec![None]];
    // Node 2 sends back to 1 until 50 ms.
    by_hand.next = vec![next(2, 1), next(2, 3)];
    let mut spec = two_paths("sent", false);
    spec["sky"]["hop_limit"] = json!(8);
    spec["sky"]["kinds"][0]["framing"]["rate_millibps"] = json!(80 * MBIT);
    let records = run(&spec, &by_hand);
    // A packet takes 0.1 ms at each of 8 ports and 1 ms on each of 8 links: 8.8 ms. Those of 0 to 40 ms go round.
    // That of 45 ms is at node 2 at 47.2 and 49.4, at node 1 at 50.5, then at 2 at 51.6, which sends it on to 3.
    assert_eq!(records.vcs[0].cells_lost.hop_limit, 9);
    assert_eq!(records.vcs[0].cells_delivered, 1);
    // Of eight links six after the first two lead back; the last packet turned at 2, at 1, at 2 and at 1.
    assert_eq!(nodes(&records).turned_back.iter().sum::<u64>(), 9 * 6 + 4);
}

#[test]
fn a_node_without_a_route_loses_what_comes() {
    let mut by_hand = handover();
    by_hand.next[1][1][0] = None;
    by_hand.next[1][0][0] = None;
    let records = run(&two_paths("rerouted", false), &by_hand);
    // From 50 ms on node 0 has no route for what leaves its port, six packets, and node 1 none for that of 40 ms,
    // which comes at 52 ms.
    assert_eq!(records.vcs[0].cells_lost.no_route, 7);
    assert_eq!(
        (nodes(&records).gone[0], nodes(&records).no_route[1]),
        (6, 1)
    );
    assert_eq!(records.vcs[0].cells_delivered, 3);
}

#[test]
fn a_port_may_hold_what_its_node_has_no_route_for() {
    let mut by_hand = handover();
    by_hand.epoch_ps = vec![7, 50 * MS + 7, 80 * MS + 7];
    by_hand.links[0].delays_ps = vec![Some(12 * MS), None, None];
    by_hand.links[1].delays_ps = vec![None, None, Some(20 * MS)];
    (by_hand.links[2..].iter_mut()).for_each(|link| link.delays_ps = vec![Some(5 * MS); 3]);
    let mut without = by_hand.next[1].clone();
    without[0] = vec![None];
    by_hand.next = vec![by_hand.next[0].clone(), without, by_hand.next[1].clone()];
    let mut spec = two_paths("rerouted", false);
    // From 0 to 45 ms and from 60 to 75 ms; a packet takes 10 ms.
    spec["sources"][0]["pattern"] = json!({"kind": "bursts", "begins_ps": [0, 60 * MS], "lengths_ps": [45 * MS + 1, 15 * MS + 1]});
    spec["records"]["delay_sources"] = json!([0]);
    let lost = run(&spec, &by_hand);
    // Those of 60 to 75 ms come without a route; at 50 ms the fifth is leaving, at 60 ms the sixth ... the eighth.
    spec["sky"]["kinds"][0]["waits_for_route"] = json!(true);
    let held = run(&spec, &by_hand);
    // Ten and four are sent. The fifth leaves at 50 ms, when the route is gone already, and is lost; the sixth
    // waits at the head of the queue for 80 ms and leaves at 90; so do eight behind it, the last at 170.
    assert_eq!(held.vcs[0].cells_lost.no_route, 1);
    assert_eq!(held.vcs[0].cells_delivered, 13);
    let delay = held.sources[0].delay.clone().unwrap();
    let rest = 20 * MS + MS / 100 + 5 * MS;
    assert_eq!(delay.max_ps, (170 - 75) * MS + rest);
    assert_eq!(nodes(&held).no_route[0], 0);
    // Without it four are lost as they come, and the sixth to the eighth as they leave, at 60 to 80 ms.
    assert_eq!(nodes(&lost).no_route[0], 4);
    assert_eq!(lost.vcs[0].cells_lost.no_route, 4 + 3);
    // A port that turns sends the fifth over the link to 1, with its last delay, and the others to 2.
    spec["sky"]["kinds"][0]["waiting"] = json!("turned");
    let turned = run(&spec, &by_hand);
    assert_eq!(nodes(&turned).arrived, [0, 5, 9, 14]);
    let delay = turned.sources[0].delay.clone().unwrap();
    assert_eq!(delay.max_ps, (170 - 75) * MS + rest);
    // It holds what it has, and not what comes without a route.
    let kinds = &mut spec["sky"]["kinds"];
    kinds[0].as_object_mut().unwrap().remove("waits_for_route");
    let turned = run(&spec, &by_hand);
    assert_eq!(nodes(&turned).no_route[0], 4);
    assert_eq!(nodes(&turned).arrived, [0, 5, 5, 10]);
    // A port that sends only what has a route loses what leaves at 50 to 70 ms, and sends the last three over the old link.
    spec["sky"]["kinds"][0]["waiting"] = json!("sent_if_routed");
    let sent = run(&spec, &by_hand);
    assert_eq!((nodes(&sent).no_route[0], nodes(&sent).gone[0]), (4, 3));
    assert_eq!(nodes(&sent).arrived, [0, 7, 7]);
    // The row names the link to 1 throughout, which is gone from 50 to 80 ms: the port waits for that, too.
    by_hand.links[0].delays_ps = vec![Some(12 * MS), None, Some(12 * MS)];
    by_hand.next = vec![by_hand.next[0].clone(); 3];
    spec["sky"]["kinds"][0]["waiting"] = json!("turned");
    let turned = run(&spec, &by_hand);
    assert_eq!(nodes(&turned).arrived, [0, 14, 14]);
    let delay = turned.sources[0].delay.clone().unwrap();
    assert_eq!(delay.max_ps, (170 - 75) * MS + rest - 8 * MS);
}

#[test]
fn seconds_and_ports_tell_the_same() {
    let records = run(&two_paths("rerouted", false), &handover());
    let sky = records.sky.unwrap();
    for (row, &port) in sky.ports.port.iter().enumerate() {
        let own = |column: &[u64]| -> u64 {
            let rows = column.iter().zip(&sky.seconds.port);
            rows.filter(|(_, of)| **of == port)
                .map(|(value, _)| value)
                .sum()
        };
        assert_eq!(own(&sky.seconds.octets), sky.ports.octets[row]);
    }
    assert_eq!(sky.seconds.queue_max[0], sky.ports.queue_max[0]);
}

#[test]
fn a_sky_without_its_columns_or_with_others_is_refused() {
    let spec = two_paths("sent", false);
    let mut read = NetworkSpec::read(&spec.to_string()).unwrap();
    let path = |error: skycell_spec::SpecError| error.to_string();
    assert!(path(read.validate().unwrap_err()).contains("sky.columns"));
    let octets = handover().columns().unwrap().to_octets();
    assert!(path(read.attach(&octets).unwrap_err()).contains("sky.columns"));
}
