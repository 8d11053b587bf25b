//! A network in regions, in one thread or in several, leaves the records and traces that it leaves in one piece, whatever
//! nodes are in which region.
//!
//! `SKYCELL_SCENARIOS=N` sets how many; `SKYCELL_FIRST_SCENARIO=S` where to begin.

#[allow(dead_code, unused_imports)] // other tests draw the rest
mod scenarios;

#[allow(dead_code)]
mod measured;

use measured::measured_later;
use scenarios::{
    abr, bursty, call_in_overload, calls, lossy_classes, many_flows, networks_with_users, overload,
    packets, rerouted, scenario, several_classes, skies, split, time_varying, uplinks, varying,
    varying_parking_lots, with_clp, with_jitter, with_stepping,
};
use skycell_des::Stream;
use skycell_fast::{Regions, Tuning, regions_of};
use skycell_records::RunRecords;
use skycell_spec::{
    AppSpec, BulkSpec, DistributionSpec, LinkSpec, NetworkSpec, NodeKind, ScheduleSpec, StartSpec,
    UserGroupSpec, UserRouteSpec, UsersSpec,
};

/// Scenarios run by default.
const SCENARIOS: u64 = 20;
/// Turns that a run may take, about: nodes between which a link is shorter stay together.
const TURNS: u64 = 2_000;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a whole number"))
}

/// A map from nodes to regions, `count` at most.
fn drawn_map(spec: &NetworkSpec, count: u64, stream: &mut Stream) -> Vec<u32> {
    let mut together: Vec<usize> = (0..spec.nodes.len()).collect();
    for link in &spec.links {
        if link.delay_ps * TURNS < spec.duration_ps {
            let [one, other] = [link.from, link.to].map(|node| together[node as usize]);
            let joined = together.iter_mut().filter(|own| **own == other);
            joined.for_each(|own| *own = one);
        }
    }
    let regions = together.iter().map(|_| stream.uniform(0, count) as u32);
    let regions: Vec<u32> = regions.collect();
    together.iter().map(|&own| regions[own]).collect()
}

fn run(spec: &NetworkSpec, regions: Option<Regions>) -> RunRecords {
    let tuning = match spec.seed.is_multiple_of(2) {
        true => Tuning::USE,
        false => Tuning::SMALL,
    };
    let tuning = Tuning {
        regions,
        warms_up_beside: spec.seed.is_multiple_of(3),
        ..tuning
    };
    skycell_fast::run_tuned(spec, &tuning, &mut |_| true).expect("it runs")
}

/// Runs the network in regions, with the records and traces of `one` that it leaves in one piece. Returns whether it was
/// divided.
fn leaves_the_same(one: &RunRecords, spec: &NetworkSpec, regions: Regions, name: &str) -> bool {
    let several = run(spec, Some(regions));
    let stats = several.engine_stats.regions.as_ref();
    let is_divided = stats.is_some_and(|stats| stats.regions > 1);
    assert_eq!(one.traces, several.traces, "{name}");
    let several = RunRecords {
        engine_stats: one.engine_stats.clone(),
        ..several
    };
    assert_eq!(one.to_json(), several.to_json(), "{name}");
    is_divided
}

/// Networks of which some nodes have to stay together, or all.
fn with_atoms(seed: u64) -> Vec<(&'static str, NetworkSpec)> {
    let drawn = [
        ("crowd", many_flows(seed)),
        ("moving", time_varying(seed)),
        ("uplinks", uplinks(seed)),
        ("lossy", lossy_classes(seed)),
        ("abr", abr(seed)),
        ("bursty", Some(bursty(seed))),
        ("delays", Some(varying(seed))),
        ("skies", Some(skies(seed))),
        ("rerouted", rerouted(seed)),
        ("clp", with_clp(seed)),
        ("overload", overload(seed)),
        ("calls", calls(seed)),
        ("lots", varying_parking_lots(seed)),
        ("classes", Some(several_classes(seed))),
        ("measured", Some(measured_later(packets(seed), seed))),
    ];
    let drawn = drawn.into_iter();
    let drawn = drawn.filter_map(|(name, spec)| Some((name, spec?)));
    let drawn = drawn.chain(networks_with_users(seed));
    // A quarter of them each time.
    let drawn = drawn.zip(seed..).filter(|(_, nth)| nth % 4 == 0);
    drawn.map(|(own, _)| own).collect()
}

#[test]
fn regions_leave_the_records_and_traces_of_one_network() {
    let first = number("SKYCELL_FIRST_SCENARIO", 0);
    let (mut runs, mut divided) = (0, 0);
    for seed in first..first + number("SKYCELL_SCENARIOS", SCENARIOS) {
        let mut all = vec![
            ("scenario", with_jitter(scenario(seed), seed)),
            ("packets", packets(seed)),
            ("stepping", with_stepping(scenario(seed + 1), seed)),
        ];
        all.extend(split(packets(seed), seed).map(|spec| ("split", spec)));
        all.extend(with_atoms(seed));
        let mut stream = Stream::new(seed, "regions");
        for (name, spec) in all {
            let one = run(&spec, None);
            for count in [2, 3, 5] {
                let of_node = drawn_map(&spec, count, &mut stream);
                let in_threads = stream.uniform(0, 4) == 0;
                let regions = Regions {
                    of_node: of_node.clone(),
                    in_threads,
                };
                let name = format!("{name} {seed}: {of_node:?}, in threads: {in_threads}");
                runs += 1;
                divided += u64::from(leaves_the_same(&one, &spec, regions, &name));
            }
        }
    }
    println!("{divided} of {runs} runs were divided");
    assert!(divided * 5 > runs, "{divided} of {runs}");
}

/// A delay that is `delay_ps` and so much longer in turns, on a path of its own each time.
fn back_and_forth(duration_ps: u64, delay_ps: u64, longer_ps: u64) -> ScheduleSpec {
    let steps = 0..400;
    let delay = |step| delay_ps + longer_ps * (step % 2);
    ScheduleSpec {
        times_ps: steps.clone().map(|step| step * duration_ps / 400).collect(),
        delays_ps: steps.clone().map(|step| Some(delay(step))).collect(),
        paths: steps.map(|step| step as u32).collect(),
        cell_times_ps: Vec::new(),
        rates_millibps: Vec::new(),
        losses_ppb: Vec::new(),
        to: Vec::new(),
        interruption_ps: 0,
        handover_loses_cells: false,
    }
}

/// Frames go from switch to switch in parts, or in single cells between ports that are stepped.
#[test]
fn parts_of_frames_cross_from_switch_to_switch() {
    let mut divided = [0; 4];
    for seed in 0..20 * number("SKYCELL_SCENARIOS", SCENARIOS) {
        let kind = seed % 4;
        let drawn = match kind {
            0 => Some(scenario(seed)),
            1 => Some(with_stepping(scenario(seed), seed)),
            2 => Some(bursty(seed)),
            _ => varying_parking_lots(seed),
        };
        let Some(mut spec) = drawn else {
            continue;
        };
        let kinds: Vec<NodeKind> = spec.nodes.iter().map(|node| node.kind).collect();
        let is_switch = |node: u32| kinds[node as usize] == NodeKind::Switch;
        let between = |link: &LinkSpec| is_switch(link.from) && is_switch(link.to);
        let switches = (0..kinds.len() as u32)
            .filter(|&node| is_switch(node))
            .count() as u32;
        let far_ps = spec.duration_ps / TURNS * 4;
        if kind == 3 {
            // Cells of several frames are mixed on the first links, and go on over links at rest.
            for link in spec.links.iter_mut().filter(|link| between(link)) {
                link.schedule = (link.from.min(link.to) == 0)
                    .then(|| back_and_forth(spec.duration_ps, far_ps, 100 * link.cell_time_ps));
                link.delay_ps = far_ps;
            }
        }
        let far = spec.links.iter_mut().filter(|link| between(link));
        for link in far.filter(|link| link.schedule.is_none()) {
            // A region may know all that comes before the run ends long before that, and what it sends last need not
            // come to the end of its VC.
            let is_far = seed % 3 == 0 && (link.from > link.to || link.to + 1 == switches);
            link.delay_ps = link.delay_ps.max(far_ps) * if is_far { 50 } else { 1 };
        }
        let is_long = |path: &[u32]| {
            let links = path.iter().map(|&id| &spec.links[id as usize]);
            links.filter(|link| between(link)).count() > 1
        };
        if !spec.vcs.iter().any(|vc| is_long(&vc.path)) {
            continue;
        }
        // Every second switch is in the other region, or half of them.
        let region = |node: u32| match seed / 4 % 2 {
            0 => node % 2,
            _ => u32::from(node >= switches / 2),
        };
        let mut of_node: Vec<u32> = (0..spec.nodes.len() as u32).map(region).collect();
        for link in spec.links.iter().filter(|link| !is_switch(link.from)) {
            of_node[link.from as usize] = of_node[link.to as usize];
        }
        let one = run(&spec, None);
        let regions = Regions {
            of_node,
            in_threads: seed.is_multiple_of(5),
        };
        let is_divided = leaves_the_same(&one, &spec, regions, &format!("{seed}"));
        divided[kind as usize] += u64::from(is_divided);
    }
    println!("{divided:?} runs were divided");
    assert!(divided.iter().all(|&runs| runs > 2), "{divided:?}");
}

/// Ports that share an uplink are in one region, also those that nothing crosses.
#[test]
fn an_uplink_is_in_one_region() {
    let mut with_idle = 0;
    for seed in 0..20 * number("SKYCELL_SCENARIOS", SCENARIOS) {
        let users = networks_with_users(seed).into_iter().map(|(_, spec)| spec);
        for spec in users.filter(|spec| !spec.uplinks.is_empty()) {
            let of_uplinks = spec.uplinks.iter().flat_map(|uplink| &uplink.links);
            let is_idle = |link: &u32| !spec.vcs.iter().any(|vc| vc.path.contains(link));
            if !of_uplinks.clone().any(is_idle) {
                continue;
            }
            with_idle += 1;
            let one = run(&spec, None);
            let of_node = (0..spec.nodes.len() as u32).map(|node| node % 2);
            let regions = Regions {
                of_node: of_node.collect(),
                in_threads: false,
            };
            leaves_the_same(&one, &spec, regions, &format!("{seed}"));
        }
    }
    assert!(with_idle > 0);
}

/// At an event that lets both ends of a user's connection send, what the user loses is noted first.
#[test]
fn both_ends_of_a_call_may_lose_packets_at_one_event() {
    let mut both = 0;
    for seed in 0..number("SKYCELL_SCENARIOS", SCENARIOS) {
        let Some(spec) = call_in_overload(seed) else {
            continue;
        };
        let one = run(&spec, None);
        for region_of_first in [0, 1] {
            let of_node = (0..spec.nodes.len() as u32).map(|node| (node + region_of_first) % 2);
            let regions = Regions {
                of_node: of_node.collect(),
                in_threads: false,
            };
            leaves_the_same(&one, &spec, regions, &format!("{seed}"));
        }
        let rows = &one.traces.discards;
        let pairs = rows.time_ps.windows(2).zip(rows.port.windows(2));
        both += pairs
            .filter(|(times, ports)| times[0] == times[1] && ports[0] != ports[1])
            .count();
    }
    assert!(both > 0);
}

/// A WAN whose switches are 275 ms apart, with links ten times as fast.
fn over_satellite(seconds: u64) -> NetworkSpec {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wan.json");
    let text = std::fs::read_to_string(file).expect("a readable file");
    let mut spec = NetworkSpec::from_json(&text).expect("a valid spec");
    let is_switch = |node: u32| spec.nodes[node as usize].kind == NodeKind::Switch;
    let between = |link: &LinkSpec| is_switch(link.from) && is_switch(link.to);
    let far: Vec<bool> = spec.links.iter().map(between).collect();
    for (link, far) in spec.links.iter_mut().zip(far) {
        if far {
            link.delay_ps = 275_000_000_000;
        }
        link.cell_time_ps /= 10;
    }
    for flow in &mut spec.flows {
        flow.tcp.rwnd = 1 << 28;
    }
    spec.duration_ps = seconds * 1_000_000_000_000;
    spec
}

#[test]
fn users_are_cut_off_from_their_servers() {
    let mut spec = over_satellite(10_000);
    let routes = spec.flows.iter().map(|flow| UserRouteSpec {
        forward: flow.forward.clone(),
        reverse: flow.reverse.clone(),
        peps: Vec::new(),
    });
    let mut tcp = spec.flows[0].tcp.clone();
    tcp.handshake = true;
    spec.users = Some(UsersSpec {
        routes: routes.collect(),
        groups: vec![UserGroupSpec {
            name: "users".into(),
            count: 100,
            first_route: 0,
            tcp,
            app: AppSpec::Bulk(BulkSpec {
                size_octets: 100_000,
                count: None,
                pause: DistributionSpec::Constant { value_ps: 0 },
                request_octets: 500,
            }),
            start: StartSpec::At { time_ps: 0 },
            every_ps: 0,
        }],
    });
    let ends = spec.flows.iter().map(|flow| {
        let ends = [flow.forward[0], flow.reverse[0]];
        ends.map(|vc| spec.vc_source(vc as usize) as usize)
    });
    let ends: Vec<_> = ends.collect();
    spec.flows.clear();
    let regions = regions_of(&spec, 2).expect("it has much to do");
    let is_cut = |&[one, other]: &[usize; 2]| regions.of_node[one] != regions.of_node[other];
    assert!(!ends.is_empty() && ends.iter().all(is_cut));
}

#[test]
fn a_network_is_cut_where_the_delay_is_and_not_for_a_short_run() {
    let spec = over_satellite(10_000);
    let regions = regions_of(&spec, 2).expect("it has much to do");
    let far = spec
        .links
        .iter()
        .filter(|link| link.delay_ps > 200_000_000_000);
    let crosses = |link: &LinkSpec| {
        let [from, to] = [link.from, link.to].map(|node| regions.of_node[node as usize]);
        from != to
    };
    assert!(far.clone().count() > 0 && far.clone().all(crosses));
    assert_eq!(regions_of(&spec, 1), None);
    assert_eq!(regions_of(&over_satellite(1), 2), None);
}
