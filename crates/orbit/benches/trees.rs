//! What trees of routes cost that are kept from moment to moment, against trees made anew.
//!
//! `cargo bench -p skycell-orbit --bench trees`. Hypatia's Kuiper with 100 drawn stations, 2 000 steps of
//! 100 ms. Shown are medians over the steps, because machines have other things to do, and their sums.
//! Numbers are in `benches/NOTES.md`.

use skycell_orbit::tree::{Mesh, NextHop, Search, Tree, UNREACHED};
use skycell_orbit::{OrbitSpec, World};
use std::time::Instant;

const STEPS: u64 = 2000;
const STEP_PS: u64 = 100_000_000_000;
const STATIONS: u32 = 100;
/// Steps between two at which trees are made anew too.
const ANEW_EVERY: u64 = 50;

/// Kuiper's first shell as Hypatia has it: every second plane half a place ahead; links to the ground
/// are no longer than 1 260 km.
fn spec() -> OrbitSpec {
    let mut draw = 1u64;
    let mut drawn = |low: f64, high: f64| {
        // Knuth's linear congruential generator; its upper bits are good enough for places.
        draw = draw
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        low + (high - low) * (draw >> 11) as f64 / (1u64 << 53) as f64
    };
    let stations: Vec<String> = (0..STATIONS)
        .map(|number| {
            let (latitude, longitude) = (drawn(-35.0, 55.0), drawn(-180.0, 180.0));
            format!(
                r#"{{"name": "{number}", "latitude_deg": {latitude}, "longitude_deg": {longitude},
                "height_km": 0.0, "mask_deg": 0.0, "horizon_deg": [], "longest_km": 1260.0,
                "gso_exclusion_deg": 0.0}}"#
            )
        })
        .collect();
    let text = format!(
        r#"{{"shells": [{{"from": "pattern", "pattern": {{"kind": "delta", "planes": 34,
            "satellites_per_plane": 34, "altitude_km": 630.0, "inclination_deg": 51.9, "phasing": 17,
            "alternating": true}}, "links": {{"kind": "grid", "seam": "closed",
            "cross_plane_below_deg": 90.0}}}}],
        "rotation": {{"kind": "uniform", "angle_at_start_deg": 0.0}}, "shape": "wgs84",
        "light_km_s": 299792.458, "limits": {{"max_length_km": null, "clearance_km": 80.0}},
        "given_links": [], "stations": [{}], "pairs": [],
        "access": {{"rule": "any", "hold": false, "slots": null}}, "route": "shortest",
        "extra": {{"satellite_ps": 0, "ground_ps": 0}}}}"#,
        stations.join(",")
    );
    OrbitSpec::from_json(&text).expect("a spec as it should be")
}

/// Times of a part of the work, a number a step.
struct Part {
    name: &'static str,
    times_us: Vec<f64>,
}

impl Part {
    fn new(name: &'static str) -> Self {
        let times_us = Vec::new();
        Part { name, times_us }
    }

    fn take(&mut self, work: impl FnOnce()) {
        let began = Instant::now();
        work();
        self.times_us.push(began.elapsed().as_nanos() as f64 / 1e3);
    }

    fn show(&mut self) {
        self.times_us.sort_by(f64::total_cmp);
        let median_us = self.times_us[self.times_us.len() / 2];
        let all_s = median_us * STEPS as f64 / 1e6;
        println!(
            "{}: {median_us:.1} us a step, {all_s:.2} s for {STEPS}",
            self.name
        );
    }
}

fn main() {
    let world = World::new(spec(), [0, STEPS * STEP_PS]).expect("a world as it should be");
    let satellites = world.fleet.len() as u32;
    let mut sky = world.sky(0);
    let (mut mesh, mut search) = (Mesh::default(), Search::default());
    let mut trees = vec![Tree::default(); STATIONS as usize];
    let mut parts = [
        "positions",
        "links",
        "visibility",
        "mesh",
        "trees, kept",
        "trees, anew",
    ]
    .map(Part::new);
    let mut gateways: Vec<Vec<(u32, u64)>> = vec![Vec::new(); STATIONS as usize];
    let mut rows: Vec<Option<NextHop>> = vec![None; (STATIONS * satellites) as usize];
    let (mut changed, mut without) = (0u64, 0u64);
    for step in 0..STEPS {
        let [positions, links, visibility, meshes, kept, anew] = &mut parts;
        positions.take(|| sky.turn_to(step * STEP_PS));
        links.take(|| sky.find_links());
        visibility.take(|| {
            for (station, own) in gateways.iter_mut().enumerate() {
                own.clear();
                own.extend(sky.downlinks(station as u32));
            }
        });
        meshes.take(|| mesh.take(sky.graph(), |delay_ps| delay_ps));
        kept.take(|| {
            for (tree, own) in trees.iter_mut().zip(&gateways) {
                tree.follow(&mesh, own, &mut search);
            }
        });
        if step % ANEW_EVERY == 0 {
            let mut others = vec![Tree::default(); STATIONS as usize];
            anew.take(|| {
                for (tree, own) in others.iter_mut().zip(&gateways) {
                    tree.follow(&mesh, own, &mut search);
                }
            });
            for (tree, other) in trees.iter().zip(&others) {
                assert_eq!(tree.costs(), other.costs(), "a kept tree is exact");
            }
        }
        for (tree, row) in trees.iter().zip(rows.chunks_mut(satellites as usize)) {
            for satellite in 0..satellites {
                let next = tree.next(&mesh, satellite);
                let known = &mut row[satellite as usize];
                changed += u64::from(step > 0 && *known != next);
                *known = next;
            }
            without += u64::from(tree.costs().iter().all(|&cost| cost == UNREACHED));
        }
    }
    println!("{satellites} satellites, {STATIONS} stations");
    parts.iter_mut().for_each(Part::show);
    let each = changed as f64 / (STEPS - 1) as f64;
    println!(
        "entries of satellites that change: {each:.1} a step; trees without a path: {without}"
    );
}
