//! What a packet and hop costs over a whole constellation, in both engines.
//!
//! `cargo bench -p skycell-fast --bench by_label FILE`, with columns that
//! `skycell orbit routes kuiper-like --places PLACES.csv --duration '20 s' --columns FILE` has written. Every station
//! exchanges packets with that half of their number further: datagrams of 1 500 octets at a part of the line rate, or a
//! TCP connection each way. All ports have one rate and hold 100 packets; those of stations reroute. Both engines
//! leave the same records, or the measurement ends. Numbers are in `benches/NOTES.md`.

use serde_json::{Value, json};
use skycell_records::RunRecords;
use skycell_sky::{Columns, Courses, file::digest};
use skycell_spec::NetworkSpec;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

const PS_PER_SECOND: u64 = 1_000_000_000_000;
/// Kinds of ports as `skycell orbit` numbers them.
const KINDS: [(&str, &str); 3] = [("between", "sent"), ("up", "rerouted"), ("down", "sent")];

/// What the stations send.
#[derive(Clone, Copy)]
enum Traffic {
    /// Datagrams at so many percent of the line rate.
    Datagrams(u64),
    /// TCP NewReno, a connection each way.
    Tcp,
}

impl Traffic {
    fn name(self) -> String {
        match self {
            Traffic::Datagrams(percent) => format!("datagrams {percent} %"),
            Traffic::Tcp => "tcp".into(),
        }
    }
}

/// Runs of the faster engine, of which the best counts.
const FAST_RUNS: usize = 5;

fn main() {
    let mut files = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"));
    let Some(file) = files.next_back() else {
        println!("by_label: no file of columns was named, so nothing was measured");
        return;
    };
    let octets = std::fs::read(&file).expect("a readable file of columns");
    let columns = Arc::new(Columns::from_octets(&octets).expect("columns"));
    let least = least_delay_ps(&columns) as f64 / 1e9;
    println!(
        "{} nodes, {} labels, {} links, least delay at first {least:.3} ms",
        columns.nodes(),
        columns.labels(),
        columns.link_to.len(),
    );
    let cases = [
        (10, Traffic::Datagrams(30), 10),
        (10, Traffic::Datagrams(100), 10),
        (10, Traffic::Tcp, 10),
        (100, Traffic::Datagrams(100), 2),
        (100, Traffic::Tcp, 2),
    ];
    let digest = digest(&octets);
    let spec = |(mbit, traffic, seconds)| spec(&columns, &digest, mbit, traffic, seconds);
    // Memory first: what `reference` takes and gives back would hide it.
    let memory_mb = cases.map(|case| {
        let spec = spec(case);
        forget_most_memory();
        skycell_fast::run(&spec, &mut |_| true).expect("the run succeeds");
        memory_mb()
    });
    println!(
        "rate       traffic           s      hops reference ns      fast ns  ratio  s a s, fast    MB"
    );
    for (case @ (mbit, traffic, seconds), mb) in cases.into_iter().zip(memory_mb) {
        measure(&spec(case), mbit, traffic, (seconds, mb));
    }
    println!(
        "with one link between satellites of {} us, so with shorter windows:",
        SHORT_PS / 1_000_000
    );
    let columns = Arc::new(with_short_link((*columns).clone()));
    for (mbit, traffic, seconds) in [cases[0], cases[2]] {
        let spec = self::spec(&columns, &digest, mbit, traffic, seconds);
        measure(&spec, mbit, traffic, (seconds, 0.0));
    }
}

/// Delay of the shortest link over Hypatia's Kuiper, where every second plane is half a place ahead.
const SHORT_PS: u64 = 530_000_000;

/// The same columns with one short link, which is there all the time.
fn with_short_link(mut columns: Columns) -> Columns {
    let course = columns.link_course[0] as usize;
    let interval = columns.course_interval[course] as usize;
    columns.interval_first_ps[interval] = SHORT_PS;
    let steps = columns.interval_diff[interval]..columns.interval_diff[interval + 1];
    columns.diff_ps[steps.start as usize..steps.end as usize].fill(0);
    columns.check().expect("columns");
    columns
}

fn least_delay_ps(columns: &Columns) -> u64 {
    let mut courses = Courses::new(columns);
    let links = 0..columns.link_to.len() as u32;
    let delays = links.filter_map(|link| courses.delay_ps(link, 0));
    delays.min().expect("there are links")
}

/// Runs both engines, the faster one several times, and compares what they leave.
fn measure(spec: &NetworkSpec, mbit: u64, traffic: Traffic, (seconds, mb): (u64, f64)) {
    let mut fast_s = f64::INFINITY;
    let mut kept: Option<RunRecords> = None;
    for _ in 0..FAST_RUNS {
        let begin = cpu_s();
        let records = skycell_fast::run(spec, &mut |_| true).expect("the run succeeds");
        fast_s = fast_s.min(cpu_s() - begin);
        kept = Some(records);
    }
    let fast = kept.expect("it has run");
    let begin = cpu_s();
    let reference = skycell_reference::run(spec, &mut |_| true).expect("the run succeeds");
    let reference_s = cpu_s() - begin;
    assert_eq!(fast.sky, reference.sky);
    assert_eq!(fast.flows, reference.flows);
    let sky = fast.sky.expect("a sky leaves records");
    let hops: u64 = sky.ports.arrived.iter().sum();
    let ns = |seconds: f64| seconds * 1e9 / hops as f64;
    println!(
        "{mbit:>3} Mbit/s {:15} {seconds:>3} {hops:>9} {:>12.0} {:>12.1} {:>6.1} {:>12.1} {mb:>5.0}",
        traffic.name(),
        ns(reference_s),
        ns(fast_s),
        reference_s / fast_s,
        seconds as f64 / fast_s,
    );
}

/// Seconds that the process has computed, which others on its cores do not prolong; where the system does not say,
/// seconds on the clock.
fn cpu_s() -> f64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let ns = text
        .split(' ')
        .next()
        .and_then(|first| first.parse::<f64>().ok());
    ns.map_or_else(
        || BEGIN.get_or_init(Instant::now).elapsed().as_secs_f64(),
        |ns| ns * 1e-9,
    )
}

/// Has the greatest memory of the process count from now on.
fn forget_most_memory() {
    // A system without it says 0 below.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The greatest memory of the process, columns included, in 10^6 octets; 0 where the system does not say.
fn memory_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok());
    kib.unwrap_or(0.0) * 1.024e-3
}

fn spec(
    columns: &Arc<Columns>,
    digest: &str,
    mbit: u64,
    traffic: Traffic,
    seconds: u64,
) -> NetworkSpec {
    let labels = columns.labels() as u64;
    let is_end = |node: u32| columns.label_node.contains(&node);
    let nodes = (0..columns.nodes() as u32).map(|node| {
        let kind = if is_end(node) { "host" } else { "router" };
        json!({"name": format!("n{node}"), "kind": kind})
    });
    let vc = |from: u64, to: u64| {
        json!({"name": format!("{from}>{to}"), "path": [], "policing": [], "gfr": null, "class": "ubr",
            "by_label": {"from": columns.label_node[from as usize], "label": to}})
    };
    let partner = |end: u64| (end + labels / 2) % labels;
    let mut spec: Value =
        serde_json::from_str(include_str!("../tests/one-flow.json")).expect("JSON");
    let mut tcp = spec["flows"][0]["tcp"].clone();
    tcp["recovery"] = json!({"kind": "new_reno", "dup_ack_threshold": 3, "flywheel": false,
        "partial_ack_window": "deflate", "partial_ack_restarts": "first",
        "avoid_multiple_fast_retransmits": true});
    tcp["delayed_ack"] = Value::Null;
    let flow = |end: u64| {
        let mut flow = spec["flows"][0].clone();
        flow["name"] = json!(format!("f{end}"));
        flow["forward"] = json!([end]);
        flow["reverse"] = json!([partner(end)]);
        flow["tcp"] = tcp.clone();
        flow
    };
    let packet_ps = 1_500 * 8 * PS_PER_SECOND / (mbit * 1_000_000);
    let source = |(end, percent): (u64, u64)| {
        let every_ps = packet_ps * 100 / percent;
        json!({"name": format!("s{end}"), "vc": end, "datagram_route": [end],
            "cell_interval_ps": every_ps, "frame_cells": 1, "datagram_octets": 1_500,
            "pattern": {"kind": "constant"},
            "start": {"kind": "drawn", "from_ps": 0, "to_ps": every_ps}})
    };
    let (flows, sources): (Vec<Value>, Vec<Value>) = match traffic {
        Traffic::Tcp => ((0..labels).map(flow).collect(), Vec::new()),
        Traffic::Datagrams(percent) => {
            let all = (0..labels).map(|end| source((end, percent)));
            (Vec::new(), all.collect())
        }
    };
    let kinds = KINDS.map(|(name, waiting)| {
        let mut link = spec["links"][2].clone();
        link["framing"]["rate_millibps"] = json!(mbit * 1_000_000_000);
        link["port"]["queues"][0]["capacity_cells"] = json!(100);
        json!({"name": name, "framing": link["framing"], "port": link["port"], "waiting": waiting})
    });
    spec["duration_ps"] = json!(seconds * PS_PER_SECOND);
    spec["nodes"] = nodes.collect();
    spec["links"] = json!([]);
    spec["vcs"] = (0..labels).map(|end| vc(end, partner(end))).collect();
    spec["flows"] = json!(flows);
    spec["sources"] = json!(sources);
    spec["sky"] =
        json!({"columns": digest, "kinds": kinds, "hop_limit": 64, "loses_in_flight": false});
    spec["records"]["sampled_ports"] = json!([]);
    spec["records"]["vc_sampled_ports"] = json!([]);
    spec["records"]["traces"] = json!([]);
    let mut spec = NetworkSpec::read(&spec.to_string()).expect("a spec");
    spec.sky.as_mut().expect("it has a sky").read = Some(columns.clone());
    spec.validate().expect("a valid spec");
    spec
}
