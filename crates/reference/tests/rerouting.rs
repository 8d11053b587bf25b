//! VCs whose path changes while the run goes on: their routes by label, and what becomes of cells, by hand.

use serde_json::{Value, json};
use skycell_records::RunRecords;
use skycell_sky::{Columns, Rows};
use skycell_spec::NetworkSpec;

const MS: u64 = 1_000_000_000;

/// A link whose port holds whatever comes, and sends a cell in 1 ms.
fn link(from: usize, to: usize, delay_ms: u64) -> Value {
    json!({
        "name": format!("{from}>{to}"), "from": from, "to": to, "cell_time_ps": MS, "delay_ps": delay_ms * MS,
        "schedule": null,
        "port": {
            "queues": [{"class": null, "capacity_cells": null, "policy": {"kind": "tail_drop"}}],
            "scheduler": {"kind": "fifo"}, "frame_gap_ps": 0,
        },
    })
}

/// Links of a network of a host, switches, and another host, with a VC whose paths follow one another at these times.
fn network(links: Vec<Value>, paths: &[(u64, &[u32])], loses_cells: bool) -> Value {
    let ends = links.iter().flat_map(|link| [&link["from"], &link["to"]]);
    let last = ends.map(|node| node.as_u64().unwrap()).max().unwrap();
    let kind = |node: u64| {
        if node == 0 || node == last {
            "host"
        } else {
            "switch"
        }
    };
    let nodes: Vec<Value> = (0..=last)
        .map(|node| json!({"name": format!("n{node}"), "kind": kind(node)}))
        .collect();
    let later = &paths[1..];
    json!({
        "version": 2, "seed": 1, "duration_ps": 1_000 * MS, "nodes": nodes, "links": links,
        "vcs": [{
            "name": "v", "path": paths[0].1, "class": "ubr", "policing": [], "gfr": null,
            "rerouting": {
                "times_ps": later.iter().map(|path| path.0 * MS).collect::<Vec<u64>>(),
                "paths": later.iter().map(|path| path.1).collect::<Vec<_>>(),
                "loses_cells": loses_cells,
            },
        }],
        "flows": [], "sources": [],
        "records": {
            "sample_every_ps": 1_000 * MS, "sampled_ports": [], "vc_sampled_ports": [], "delay_vcs": [], "traces": [],
        },
    })
}

/// The link of a host turns: these steps, each with its time, delay and end.
fn turn(link: &mut Value, steps: &[(u64, Option<u64>, u32)]) {
    let mut path = 0;
    let paths = steps.iter().enumerate().map(|(i, step)| {
        path += u32::from(i > 0 && steps[i - 1].2 != step.2);
        path
    });
    let least = steps.iter().filter_map(|step| step.1).min();
    link["delay_ps"] = json!(least.unwrap() * MS);
    link["schedule"] = json!({
        "paths": paths.collect::<Vec<u32>>(),
        "times_ps": steps.iter().map(|step| step.0 * MS).collect::<Vec<u64>>(),
        "delays_ps": steps.iter().map(|step| step.1.map(|ms| ms * MS)).collect::<Vec<_>>(),
        "to": steps.iter().map(|step| step.2).collect::<Vec<u32>>(),
        "cell_times_ps": [], "losses_ppb": [], "interruption_ps": 0, "handover_loses_cells": false,
    });
}

fn read(spec: &Value) -> NetworkSpec {
    let spec = NetworkSpec::from_json(&spec.to_string()).unwrap();
    spec.validate().unwrap();
    spec
}

/// The port over which a node sends the label 0 on at a time, and the node that it leads to.
fn route(columns: &Columns, at_ms: u64, node: u32) -> Option<(u32, u32)> {
    let begun = columns
        .epoch_ps
        .iter()
        .filter(|&&since| since <= at_ms * MS);
    let mut rows = Rows::new(columns);
    rows.bring(node, begun.count() as u32 - 1);
    let link = rows.next(node, 0)? as usize;
    Some((columns.link_port[link], columns.link_to[link]))
}

/// From host 0 over 1, 2 and 5, then over 3, 2 and 5, then over 2, 4 and 5; port 0 turns with the paths.
fn over_five_nodes(loses_cells: bool) -> Columns {
    let ends = [(0, 1), (1, 2), (2, 5), (3, 2), (2, 4), (4, 5)];
    let mut links = ends.map(|(from, to)| link(from, to, 1)).to_vec();
    turn(
        &mut links[0],
        &[(0, Some(1), 1), (100, Some(1), 3), (200, Some(1), 2)],
    );
    links.insert(0, link(6, 0, 1)); // a host before, as the first link of a path leads to one node
    for link in &mut links {
        for end in ["from", "to"] {
            let node = link[end].as_u64().unwrap();
            link[end] = json!((node + 1) % 7);
        }
        if let Some(ends) = link["schedule"].get_mut("to") {
            *ends = json!([2, 4, 3]);
        }
    }
    let paths: [(u64, &[u32]); 3] = [
        (0, &[0, 1, 2, 3]),
        (100, &[0, 1, 4, 3]),
        (200, &[0, 1, 5, 6]),
    ];
    let spec = read(&network(links, &paths, loses_cells));
    let columns = spec.rows_of_paths().expect("its path changes");
    columns.check().unwrap();
    columns
}

#[test]
fn nodes_send_on_by_the_newest_path_that_comes_by() {
    let columns = over_five_nodes(false);
    let at = |time, node| route(&columns, time, node).map(|own| own.0);
    assert_eq!([at(0, 2), at(99, 3)], [Some(2), Some(3)]);
    // Node 4 knows the VC from 100 on; 2 keeps to its old way, 3 changes at 200.
    assert_eq!(
        [at(99, 4), at(100, 4), at(100, 2)],
        [None, Some(4), Some(2)]
    );
    assert_eq!([at(199, 3), at(200, 3)], [Some(3), Some(5)]);
    assert_eq!([at(200, 4), at(500, 2)], [Some(4), Some(2)]);
    let up = [0, 99, 100, 199, 200].map(|time| route(&columns, time, 1));
    assert_eq!(up, [(1, 2), (1, 2), (1, 4), (1, 4), (1, 3)].map(Some));
}

#[test]
fn nodes_off_the_path_may_forget_the_vc() {
    let columns = over_five_nodes(true);
    let at = |time, node| route(&columns, time, node).map(|own| own.0);
    assert_eq!(
        [at(99, 2), at(100, 2), at(100, 4)],
        [Some(2), None, Some(4)]
    );
    assert_eq!(
        [at(199, 4), at(200, 4), at(200, 1)],
        [Some(4), None, Some(1)]
    );
}

#[test]
fn a_spec_without_such_vcs_has_no_routes() {
    let mut spec = network(vec![link(0, 1, 1), link(1, 2, 1)], &[(0, &[0, 1])], false);
    spec["vcs"][0].as_object_mut().unwrap().remove("rerouting");
    assert_eq!(read(&spec).rows_of_paths(), None);
}

/// Cells that the host hands over at these times, each on a VC of its own, and what becomes of them.
fn run(mut spec: Value, times_ms: &[u64]) -> RunRecords {
    let sources = times_ms.iter().enumerate().map(|(i, ms)| {
        json!({
            "name": format!("s{i}"), "vc": i, "cell_interval_ps": 2_000 * MS, "frame_cells": 1, "datagram_route": [],
            "pattern": {"kind": "constant"}, "start": {"kind": "at", "time_ps": ms * MS},
        })
    });
    spec["sources"] = json!(sources.collect::<Vec<Value>>());
    let vcs = (0..times_ms.len()).map(|i| {
        let mut vc = spec["vcs"][0].clone();
        vc["name"] = json!(format!("v{i}"));
        vc
    });
    spec["vcs"] = json!(vcs.collect::<Vec<Value>>());
    skycell_reference::run(&read(&spec), &mut |_| true).unwrap()
}

#[test]
fn a_cell_arrives_where_the_link_led_when_the_cell_entered() {
    // Node 1 sends to 2, from 50 on to 3, and from 60 on to nobody. Each cell is 1 ms with node 1's port.
    let mut links = [(0, 1), (1, 2), (2, 4), (3, 4)]
        .map(|(from, to)| link(from, to, 0))
        .to_vec();
    turn(
        &mut links[1],
        &[(0, Some(30), 2), (50, Some(5), 3), (60, None, 2)],
    );
    let spec = network(links, &[(0, &[0, 1, 2]), (50, &[0, 1, 3])], false);
    // They enter the link up at 49, 50, and 60, when the path has just ended; the last comes later.
    let records = run(spec, &[47, 48, 58, 70]);
    let arrived = [1, 2, 3].map(|port| records.ports[port].arrived);
    assert_eq!(arrived, [4, 1, 2]);
    let fates = records
        .vcs
        .iter()
        .map(|vc| (vc.cells_delivered, vc.cells_queued));
    assert_eq!(fates.collect::<Vec<_>>(), [(1, 0), (1, 0), (1, 0), (0, 1)]);
}

#[test]
fn a_cell_that_waits_where_the_vc_does_not_come_by_any_more_goes_to_the_port_of_its_route() {
    // Two links of node 1 turn; the VC is on one, and from 50 ms on on the other.
    let ends = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4)];
    let mut links = ends.map(|(from, to)| link(from, to, 0)).to_vec();
    turn(&mut links[1], &[(0, Some(5), 2)]);
    turn(&mut links[2], &[(0, Some(5), 3)]);
    links[1]["cell_time_ps"] = json!(20 * MS);
    let spec = network(links, &[(0, &[0, 1, 3]), (50, &[0, 2, 4])], false);
    // They come to the port at 11, 12 and 13 ms; it sends one until 31 and another until 51 ms, too late for its path, and
    // until 71 ms.
    let records = run(spec, &[10, 11, 12]);
    let counts = [1, 2, 3, 4].map(|port| records.ports[port].arrived);
    assert_eq!(counts, [3, 2, 1, 2]);
    assert!(records.vcs.iter().all(|vc| vc.cells_delivered == 1));
}
