//! How far a network goes when it is divided.
//!
//! `cargo bench -p skycell-fast --bench regions SPEC SECONDS [COLUMNS]`, with the `spec.json` of a run and, of a
//! constellation, the file of its columns.
//! Regions of one thread take turns in a loop: work over critical path says how much faster a run may be with a core for
//! each. Then two threads run in turns with one, and the ratio of wall times counts. Numbers are in `benches/NOTES.md`.

use skycell_fast::{Tuning, regions_forced, regions_of, run, run_tuned};
use skycell_spec::NetworkSpec;
use std::time::Instant;

/// Numbers of regions.
const COUNTS: [u32; 5] = [2, 4, 8, 16, 32];
/// Pairs of runs with one thread and two.
const ROUNDS: usize = 3;

fn main() {
    let arguments = std::env::args().skip(1);
    let names: Vec<String> = arguments.filter(|name| !name.starts_with("--")).collect();
    let [spec, seconds, columns @ ..] = &names[..] else {
        println!("regions: no spec and seconds were named, so nothing was measured");
        return;
    };
    let text = std::fs::read_to_string(spec).expect("a readable spec");
    let mut spec = NetworkSpec::read(&text).expect("a spec");
    if let [columns] = columns {
        spec.attach(&std::fs::read(columns).expect("a readable file of columns"))
            .expect("the columns of the spec");
    }
    let seconds: u64 = seconds.parse().expect("a whole number of seconds");
    spec.duration_ps = seconds * 1_000_000_000_000;
    let timed = |tuning: &Tuning| {
        let begin = Instant::now();
        let records = run_tuned(&spec, tuning, &mut |_| true).expect("the run succeeds");
        (begin.elapsed().as_secs_f64(), records)
    };
    let (one_s, one) = timed(&Tuning::USE);
    println!(
        "one region: {one_s:.2} s, {} events",
        one.engine_stats.events
    );
    for count in COUNTS {
        let begin = Instant::now();
        let Some(regions) = regions_forced(&spec, count) else {
            println!("{count:>2}: a node has too much to do");
            continue;
        };
        let cut_s = begin.elapsed().as_secs_f64();
        let (loop_s, records) = timed(&Tuning {
            regions: Some(regions),
            ..Tuning::USE
        });
        let stats = records.engine_stats.regions.expect("it was divided");
        println!(
            "{count:>2}: {} regions, cut in {cut_s:.2} s, lookahead {:.2} ms, {} turns, crossings {:.1} % of events, \
             largest share {:.1} %, work over path {:.2} in events; loop {loop_s:.2} s",
            stats.regions,
            stats.lookahead_ps as f64 * 1e-9,
            stats.turns,
            stats.crossings as f64 * 100.0 / stats.events as f64,
            stats.largest_events as f64 * 100.0 / stats.events as f64,
            stats.events as f64 / stats.path_events as f64,
        );
    }
    let Some(regions) = regions_of(&spec, 2) else {
        println!("two threads: not worth it");
        return;
    };
    let two = Tuning {
        regions: Some(regions),
        ..Tuning::USE
    };
    let mut ratios: Vec<f64> = Vec::new();
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        run(&spec, &mut |_| true).expect("the run succeeds");
        let one_s = begin.elapsed().as_secs_f64();
        let (two_s, _) = timed(&two);
        ratios.push(one_s / two_s);
    }
    ratios.sort_by(f64::total_cmp);
    println!("two threads: {ratios:.2?} times as fast as one");
}
