//! Runs of which a beginning does not count.

use crate::scenarios::{
    abr, many_flows, packets, scenario, several_classes, split, with_clp, with_stepping,
};
use serde_json::Value;
use skycell_records::RunRecords;
use skycell_spec::NetworkSpec;
use std::collections::BTreeSet;

/// Whole numbers of records that are not counts of what happened: what is there at the end of a run, the largest and
/// the least, files and pages that are whole of those asked for from a moment on (`count`), percentiles, identities, windows of a guarantee, what a spec says; and flows, of which a port tells those that it
/// saw.
const STATES: [&str; 34] = [
    "acr_millicells",
    "backward_waiting",
    "cells_in_transit",
    "cells_open",
    "cells_queued",
    "count",
    "cwnd_max",
    "delay_max_ps",
    "delay_min_ps",
    "due_cells",
    "flow",
    "flows",
    "least_cells",
    "max",
    "max_ps",
    "met",
    "min_ps",
    "octets_held",
    "octets_held_max",
    "octets_outstanding",
    "octets_unsent",
    "octets_waiting",
    "p50",
    "p50_ps",
    "p90",
    "p90_ps",
    "p95_ps",
    "p99",
    "p999_ps",
    "p99_ps",
    "queued",
    "start_ps",
    "vc",
    "windows",
];

/// The scenario `spec`, of which a beginning does not count.
pub fn measured_later(spec: NetworkSpec, seed: u64) -> NetworkSpec {
    let measure_from_ps = spec.duration_ps * (1 + seed % 7) / 8;
    NetworkSpec {
        measure_from_ps,
        ..spec
    }
}

/// The ledger at the end of a run, less its beginning, finds what went in from then on and what was
/// there.
#[test]
fn what_counts_from_a_moment_on_and_what_counted_before_are_the_whole_run() {
    for seed in 0..60 {
        let whole = scenario(seed);
        let later = measured_later(whole.clone(), seed);
        let beginning = NetworkSpec {
            duration_ps: later.measure_from_ps,
            ..whole.clone()
        };
        let run = |spec| skycell_fast::run(spec, &mut |_| true).expect("the ledger balances");
        let (whole, later, beginning) = (run(&whole), run(&later), run(&beginning));
        assert_eq!(later.ledger, whole.ledger);
        assert_eq!(later.duration_ps, whole.duration_ps - beginning.duration_ps);
        for ((port, before), all) in later.ports.iter().zip(&beginning.ports).zip(&whole.ports) {
            assert_eq!(port.arrived + before.arrived, all.arrived);
            assert_eq!(port.busy_ps + before.busy_ps, all.busy_ps);
            let gone = port.departed + port.discarded.total();
            assert_eq!(port.arrived + before.queued, gone + port.queued);
            let areas = [&port.queue, &before.queue, &all.queue].map(|queue| queue.mean);
            let [later_area, before_area, area] = [
                areas[0] * later.duration_ps as f64,
                areas[1] * beginning.duration_ps as f64,
                areas[2] * whole.duration_ps as f64,
            ];
            let is_close = (later_area + before_area - area).abs() <= 1e-9 * area;
            assert!(is_close, "{seed}: {later_area} + {before_area}, {area}");
        }
        for ((flow, before), all) in later.flows.iter().zip(&beginning.flows).zip(&whole.flows) {
            let delivered = flow.octets_delivered + before.octets_delivered;
            assert_eq!(delivered, all.octets_delivered);
            assert!(flow.connected_ps <= later.duration_ps);
        }
    }
}

/// Of those that could be lost no more are; of files and pages asked for no more are whole.
#[test]
fn what_is_a_part_of_something_is_no_more_than_that() {
    let (mut vcs, mut files, mut late) = (0, 0, 0);
    for seed in 0..120 {
        let spec = if seed % 2 == 0 {
            scenario(seed)
        } else {
            packets(seed)
        };
        let [whole, later, _] = parts(&spec, seed);
        for (vc, all) in later.vcs.iter().zip(&whole.vcs) {
            let lost = vc.cells_discarded.total()
                + vc.cells_policed
                + vc.cells_refused
                + vc.cells_lost.total();
            let counted = vc.cells_offered + vc.earlier_cells;
            let settled = vc.cells_delivered + lost;
            assert_eq!(counted, settled + all.cells_unsettled(), "{seed}");
            vcs += u64::from(vc.earlier_cells > 0);
        }
        for web in later.flows.iter().filter_map(|flow| flow.web.as_ref()) {
            assert!(web.file_response.count <= web.requests, "{seed}");
            assert!(web.page_response.count <= web.pages, "{seed}");
            files += web.file_response.count;
            late += web.requests - web.file_response.count;
        }
    }
    assert!(
        vcs > 50 && files > 10 && late > 10,
        "{vcs}, {files}, {late}"
    );
}

/// A run, what counts of it, and its beginning.
fn parts(spec: &NetworkSpec, seed: u64) -> [RunRecords; 3] {
    let later = measured_later(spec.clone(), seed);
    let beginning = NetworkSpec {
        duration_ps: later.measure_from_ps,
        ..spec.clone()
    };
    [spec, &later, &beginning]
        .map(|spec| skycell_fast::run(spec, &mut |_| true).expect("the ledger balances"))
}

/// Each whole number of three records of the same form that is not what the other two come to, by its key.
fn not_sums<'a>(
    key: &str,
    [whole, later, beginning]: [&'a Value; 3],
    found: &mut BTreeSet<String>,
) {
    match (whole, later, beginning) {
        (Value::Object(all), Value::Object(of_later), Value::Object(of_beginning)) => {
            for (key, value) in all {
                let of = |part: &'a serde_json::Map<String, Value>| {
                    part.get(key).unwrap_or(&Value::Null)
                };
                not_sums(key, [value, of(of_later), of(of_beginning)], found);
            }
        }
        (Value::Array(all), Value::Array(of_later), Value::Array(of_beginning))
            if all.len() == of_later.len() && all.len() == of_beginning.len() =>
        {
            for ((all, later), beginning) in all.iter().zip(of_later).zip(of_beginning) {
                not_sums(key, [all, later, beginning], found);
            }
        }
        (Value::Array(all), Value::Array(of_later), Value::Array(of_beginning))
            if all.len() != of_later.len() + of_beginning.len() =>
        {
            found.insert(key.into());
        }
        (Value::Number(all), later, beginning) if all.is_u64() => {
            let of = |value: &Value| value.as_u64().unwrap_or(0);
            if Some(of(later) + of(beginning)) != all.as_u64() {
                found.insert(key.into());
            }
        }
        _ => {}
    }
}

/// A counter that is new is taken off, too, or is a state by its name.
#[test]
fn every_count_is_what_counts_and_what_counted_before() {
    let mut found = BTreeSet::new();
    for seed in 0..50 {
        let stepping = with_stepping(scenario(seed), seed);
        let some = [
            scenario(seed),
            packets(seed),
            several_classes(seed),
            stepping,
        ];
        let others = [
            split(scenario(seed), seed),
            abr(seed),
            many_flows(seed),
            with_clp(seed),
        ];
        for spec in some.into_iter().chain(others.into_iter().flatten()) {
            let records = parts(&spec, seed).map(|run| {
                let mut all: Value = serde_json::from_str(&run.to_json()).expect("JSON");
                let kept = ["flows", "vcs", "ports", "sources", "uplinks", "web"];
                let fields = all.as_object_mut().expect("an object");
                fields.retain(|key, _| kept.contains(&key.as_str()));
                all
            });
            not_sums("", [&records[0], &records[1], &records[2]], &mut found);
        }
    }
    let states: BTreeSet<_> = STATES.into_iter().map(String::from).collect();
    assert_eq!(found, states);
}
