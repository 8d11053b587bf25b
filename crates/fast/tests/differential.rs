//! Both engines leave the same records and traces, on generated scenarios.
//!
//! `SKYCELL_SCENARIOS=N` sets how many; `SKYCELL_FIRST_SCENARIO=S` where to begin. Some numbers have a crowd, too.

mod measured;
mod regions;
mod scenarios;
mod tables;
mod words;

use measured::measured_later;
use scenarios::{
    abr, bursty, by_label, call_in_overload, calls, lossy_classes, many_flows, networks_with_users,
    overload, packets, rerouted, scenario, several_classes, skies, split, time_varying, uplinks,
    varying, varying_parking_lots, with_clp, with_jitter, with_stepping, with_users,
};
use serde_json::Value;
use skycell_fast::Tuning;
use skycell_records::{ClassQueueRecord, PortRecord, RunRecords, SteppedPort, VcRecord};
use skycell_reference::RunError;
use skycell_spec::{NetworkSpec, ReroutingSpec, ScheduleSpec, SourceSpec};
use skycell_tcp::spec::EcnUse;
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tables::{first_sky_difference, first_trace_difference};
use words::Words;

/// Numbers run by default, each with some six scenarios; `make soak` goes on from there.
const SCENARIOS: u64 = 400;
/// Numbers among the scenarios of which is everything that a spec can say.
const DRAWN: u64 = 2_000;

/// Returns the first difference, if there is one: the record or trace, and both its values.
fn difference(spec: &NetworkSpec) -> Option<String> {
    let reference = skycell_reference::run(spec, &mut |_| true);
    // Half of the scenarios take the ways of crowds.
    let tuning = if spec.seed.is_multiple_of(2) {
        Tuning::USE
    } else {
        Tuning::SMALL
    };
    let fast = || skycell_fast::run_tuned(spec, &tuning, &mut |_| true);
    let fast = std::panic::catch_unwind(fast);
    let Ok(fast) = fast else {
        return Some("the fast engine panicked".into());
    };
    let (reference, fast) = match (reference, fast) {
        (Ok(reference), Ok(fast)) => (reference, fast),
        // A spec from which shrinking has taken too much.
        (Err(RunError::Spec(_)), Err(RunError::Spec(_))) => return None,
        (reference, fast) => {
            return Some(format!(
                "reference: {:?}\nfast: {:?}",
                reference.err(),
                fast.err()
            ));
        }
    };
    first_difference_of(&reference, fast)
}

/// The first difference between the records of two runs, but for what their engines report of themselves.
fn first_difference_of(reference: &RunRecords, fast: RunRecords) -> Option<String> {
    if reference.traces != fast.traces {
        return Some(first_trace_difference(reference, &fast));
    }
    // The JSON leaves the sky out.
    if reference.sky != fast.sky {
        return Some(first_sky_difference(reference, &fast));
    }
    let reported = RunRecords {
        engine: reference.engine,
        engine_stats: reference.engine_stats.clone(),
        ..fast
    };
    let (reference, fast) = (reference.to_json(), reported.to_json());
    if reference == fast {
        return None;
    }
    let value = |json: &str| -> Value { serde_json::from_str(json).expect("JSON") };
    first_difference("", &value(&reference), &value(&fast))
}

fn first_difference(path: &str, reference: &Value, fast: &Value) -> Option<String> {
    match (reference, fast) {
        (Value::Object(a), Value::Object(b)) => a
            .iter()
            .find_map(|(key, value)| first_difference(&format!("{path}.{key}"), value, &b[key])),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            (0..a.len()).find_map(|i| first_difference(&format!("{path}[{i}]"), &a[i], &b[i]))
        }
        (a, b) => (a != b).then(|| format!("{path}: reference {a}, fast {b}")),
    }
}

/// A smaller scenario that still differs: fewer flows, a shorter run.
fn shrink(mut spec: NetworkSpec) -> (NetworkSpec, String) {
    let mut found = difference(&spec).expect("it differs");
    loop {
        let next = smaller(&spec).find_map(|s| difference(&s).map(|d| (s, d)));
        match next {
            Some((next, what)) => (spec, found) = (next, what),
            None => return (spec, found),
        }
    }
}

/// Specs with fewer flows, the fewest first, and with a shorter run.
fn smaller(spec: &NetworkSpec) -> impl Iterator<Item = NetworkSpec> {
    let is_by_label = spec.sky.is_some();
    // Nothing but a sky has sources without which all else stays what it is.
    let sources = (0..spec.sources.len()).filter(move |_| is_by_label);
    let fewer_sources = sources.rev().map(|at| {
        let mut fewer = spec.clone();
        fewer.sources.truncate(at);
        fewer.records.delay_sources.clear();
        fewer
    });
    let flows = spec.flows.len();
    let halves = |size: &usize| (*size > 1).then(|| size.div_ceil(2));
    let sizes = std::iter::successors((flows > 0).then(|| flows.div_ceil(2)), halves);
    let parts = sizes.flat_map(move |size| (0..flows).step_by(size).map(move |at| (at, size)));
    let fewer = parts.map(move |(at, size)| {
        let mut fewer = spec.clone();
        fewer.flows.drain(at..flows.min(at + size));
        fewer
    });
    // Down to a microsecond; a step that changes nothing would be tried for ever.
    let cuts = [2, 4, 8, 16, 64].map(|part| spec.duration_ps / part);
    let cuts = cuts
        .into_iter()
        .filter(|cut| spec.duration_ps - cut > 1_000_000);
    let shorter = cuts.map(|cut| {
        let mut shorter = spec.clone();
        shorter.duration_ps -= cut;
        shorter
    });
    fewer.chain(fewer_sources).chain(shorter)
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a whole number"))
}

/// `SKYCELL_SPEC=FILE`: one spec, such as a failure printed, again.
#[test]
fn a_given_spec_leaves_the_same_records_and_traces() {
    if let Ok(file) = std::env::var("SKYCELL_SPEC") {
        let text = std::fs::read_to_string(file).expect("a readable file");
        let spec = NetworkSpec::from_json(&text).expect("a valid spec");
        assert_eq!(difference(&spec), None);
    }
}

/// `pinned/`: specs that generated scenarios were shrunk to when the engines differed, and what such
/// scenarios seldom meet, as cells of two kinds that come to an idle link at one moment.
#[test]
fn pinned_specs_leave_the_same_records_and_traces() {
    let pinned = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pinned");
    let files = std::fs::read_dir(pinned).expect("the folder");
    let paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    assert!(!paths.is_empty());
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let spec = NetworkSpec::from_json(&text).expect("a valid spec");
        assert_eq!(difference(&spec), None, "{}", path.display());
    }
}

#[test]
fn a_link_whose_delay_never_changes_is_a_link_at_rest() {
    for seed in 0..200 {
        let at_rest = scenario(seed);
        let mut still = at_rest.clone();
        for link in still
            .links
            .iter_mut()
            .filter(|link| link.schedule.is_none() && link.loss_ppb == 0)
        {
            link.schedule = Some(ScheduleSpec {
                times_ps: vec![0, at_rest.duration_ps / 3, at_rest.duration_ps / 2 + 1],
                delays_ps: vec![Some(link.delay_ps); 3],
                paths: vec![7; 3],
                cell_times_ps: vec![link.cell_time_ps; 3],
                rates_millibps: Vec::new(),
                losses_ppb: vec![0; 3],
                to: Vec::new(),
                interruption_ps: 1,
                handover_loses_cells: true,
            });
        }
        let run = |spec| skycell_reference::run(spec, &mut |_| true).expect("it runs");
        assert_eq!(run(&at_rest), run(&still), "scenario {seed}");
    }
}

#[test]
fn a_vc_that_is_rerouted_loses_no_cell_unseen() {
    let mut used = 0;
    for spec in (0..200).filter_map(rerouted) {
        let records = skycell_reference::run(&spec, &mut |_| true).expect("the ledger balances");
        let beside = records
            .ports
            .iter()
            .filter(|port| port.name.ends_with("beside"));
        used += beside.map(|port| port.departed).sum::<u64>();
        assert!(records.vcs.iter().all(|vc| vc.cells_lost.off_path == 0));
    }
    assert!(used > 10_000, "{used}");
}

#[test]
fn a_vc_that_is_rerouted_over_its_own_path_keeps_it() {
    for seed in 0..200 {
        let kept = scenario(seed);
        let mut anew = kept.clone();
        for vc in anew.vcs.iter_mut().filter(|vc| vc.rerouting.is_none()) {
            vc.rerouting = Some(ReroutingSpec {
                times_ps: vec![1, kept.duration_ps / 2 + 1],
                paths: vec![vc.path.clone(); 2],
                loses_cells: true,
            });
        }
        let run = |spec| {
            let mut records = skycell_reference::run(spec, &mut |_| true).expect("it runs");
            // What a delay has at least is known less well of a VC that is rerouted.
            records.cell_delays.clear();
            records.class_delays.clear();
            for source in &mut records.sources {
                source.delay = None;
            }
            for probe in &mut records.probes {
                probe.rtt = None;
            }
            records
        };
        assert_eq!(run(&kept), run(&anew), "scenario {seed}");
    }
}

#[test]
fn some_scenarios_are_of_cell_sources_alone() {
    let alone = (0..DRAWN)
        .map(scenario)
        .filter(|spec| spec.flows.is_empty());
    let with_cells = alone
        .map(|spec| skycell_fast::run(&spec, &mut |_| true).expect("the ledger balances"))
        .filter(|records| records.vcs.iter().any(|vc| vc.cells_delivered > 0))
        .count();
    assert!(with_cells > 40, "{with_cells}");
}

#[test]
fn both_engines_leave_the_same_records_and_traces() {
    compare_all(&scenarios_of);
}

#[test]
fn both_engines_forward_alike_by_label() {
    compare_all(&|seed| vec![(format!("by label {seed}"), by_label(seed))]);
}

#[test]
fn both_engines_serve_users_alike() {
    compare_all(&|seed| {
        if !seed.is_multiple_of(4) {
            return Vec::new();
        }
        let seed = seed / 4;
        let later = |spec, seed: u64| match seed % 8 {
            5 => measured_later(spec, seed),
            _ => spec,
        };
        let call = call_in_overload(seed).map(|spec| ("call in overload", spec));
        let drawn = networks_with_users(seed).into_iter().chain(call);
        let drawn = drawn.map(|(kind, spec)| (format!("{kind} {seed}"), later(spec, seed)));
        drawn.collect()
    });
}

/// Compares the scenarios of as many numbers as the environment says.
fn compare_all(scenarios_of: &(dyn Fn(u64) -> Vec<(String, NetworkSpec)> + Sync)) {
    let first = number("SKYCELL_FIRST_SCENARIO", 0);
    let count = number("SKYCELL_SCENARIOS", SCENARIOS);
    let next = AtomicU64::new(first);
    let compared = AtomicUsize::new(0);
    let compare = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + count {
                return;
            }
            let scenarios = scenarios_of(seed);
            compared.fetch_add(scenarios.len(), Ordering::Relaxed);
            for (name, spec) in scenarios {
                assert_identity(&name, spec);
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(compare);
        }
    });
    println!("both engines alike: {} scenarios", compared.into_inner());
}

/// The scenarios of one number, with their names.
fn scenarios_of(seed: u64) -> Vec<(String, NetworkSpec)> {
    let mut all = vec![("scenario", scenario(seed)), ("packets", packets(seed))];
    for (kind, spec) in [
        ("split cells", scenario(seed)),
        ("split packets", packets(seed)),
    ] {
        all.extend(split(spec, seed).map(|split| (kind, split)));
    }
    let stepping = if seed.is_multiple_of(3) {
        packets(seed)
    } else {
        scenario(seed)
    };
    all.push(("stepping", with_stepping(stepping, seed)));
    let shared = uplinks(seed).map(|spec| match seed % 8 {
        3 => measured_later(spec, seed),
        _ => spec,
    });
    let some = [
        ("crowd", many_flows(seed)),
        (
            "moving",
            time_varying(seed).filter(|_| seed.is_multiple_of(4)),
        ),
        (
            "lossy classes",
            lossy_classes(seed).filter(|_| seed % 4 == 1),
        ),
        ("abr", abr(seed).filter(|_| seed.is_multiple_of(2))),
        ("bursty", (seed % 8 == 5).then(|| bursty(seed))),
        ("delays", (seed % 8 == 1).then(|| varying(seed))),
        ("uplinks", shared.filter(|_| seed % 2 == 1)),
        ("skies", seed.is_multiple_of(2).then(|| skies(seed))),
        ("clp", with_clp(seed)),
        ("overload", overload(seed).filter(|_| seed % 4 == 3)),
        ("calls", calls(seed).filter(|_| seed.is_multiple_of(2))),
        (
            "moving rows",
            varying_parking_lots(seed).filter(|_| seed % 4 == 3),
        ),
    ];
    let drawn = some
        .into_iter()
        .filter_map(|(name, spec)| Some((name, spec?)));
    all.extend(drawn.map(|(name, spec)| (name, with_jitter(spec, seed))));
    if seed % 4 == 2 {
        let classes = with_jitter(several_classes(seed), seed);
        all.push(("several classes", classes.clone()));
        all.push(("stepping classes", with_stepping(classes, seed)));
    }
    if seed % 4 == 3 {
        let base = if seed % 8 == 3 {
            packets(seed)
        } else {
            scenario(seed)
        };
        all.push(("measured", measured_later(base, seed)));
    }
    all.into_iter()
        .map(|(name, spec)| (format!("{name} {seed}"), spec))
        .collect()
}

fn assert_identity(name: &str, spec: NetworkSpec) {
    assert_eq!(spec.validate(), Ok(()), "{name}");
    if difference(&spec).is_some() {
        let (spec, what) = shrink(spec);
        let spec = serde_json::to_string(&spec).expect("JSON");
        panic!("{name}: {what}\n{spec}");
    }
}

/// The scenarios have to contain everything that a spec can say: a rule that no scenario has would
/// not be compared at all.
#[test]
fn every_word_of_a_spec_is_in_some_scenario() {
    let mut words = Words::default();
    for seed in 0..DRAWN {
        words.read(&scenario(seed));
        words.read(&packets(seed));
    }
    (0..DRAWN / 4)
        .filter_map(abr)
        .for_each(|spec| words.read(&spec));
    (0..DRAWN / 8)
        .filter_map(uplinks)
        .for_each(|spec| words.read(&spec));
    (0..DRAWN / 8)
        .filter_map(with_clp)
        .for_each(|spec| words.read(&spec));
    (0..DRAWN / 4)
        .filter_map(calls)
        .for_each(|spec| words.read(&spec));
    (0..DRAWN / 4)
        .filter_map(|seed| with_users(packets(seed), seed))
        .for_each(|spec| words.read(&spec));
    assert_eq!(words.missing(), [""; 0]);
}

/// Ports of a run of the fast engine that are stepped, and all that send anything.
fn stepped_of(records: &RunRecords) -> (usize, usize) {
    let sends = |port: &&PortRecord| port.departed > 0;
    let stepped = &records.engine_stats.stepped_ports;
    let is_stepped = |port: &&PortRecord| stepped.iter().any(|other| other.port == port.name);
    let ports = records.ports.iter().filter(sends);
    (ports.clone().filter(is_stepped).count(), ports.count())
}

/// Runs in which all ports that send have closed forms, and those in which such are beside stepped ones.
fn forms(specs: impl Iterator<Item = NetworkSpec>) -> [usize; 2] {
    let mut forms = [0; 2];
    for spec in specs {
        let records = skycell_fast::run(&spec, &mut |_| true).expect("it runs");
        match stepped_of(&records) {
            (0, _) => forms[0] += 1,
            (stepped, all) => forms[1] += usize::from(stepped < all),
        }
    }
    forms
}

/// The comparison is useful if the fast engine has closed forms, and has some of them beside
/// stepped ports.
#[test]
fn scenarios_have_closed_forms_and_some_beside_stepped_ports() {
    let [closed, both] = forms(
        (0..300)
            .map(scenario)
            .chain((0..300).filter_map(many_flows)),
    );
    assert!(closed > 4 * both, "{closed} {both}");
    let [_, both] = forms((0..200).map(|seed| with_stepping(scenario(seed), seed)));
    assert!(both > 120, "{both}");
    let [closed, _] = forms((0..200).map(packets));
    assert!(closed > 100, "{closed}");
    let [_, both] = forms((0..200).map(|seed| with_stepping(packets(seed), seed)));
    assert!(both > 100, "{both}");
}

/// Cells with CLP = 0 are worth counting apart where some are lost, others have CLP = 1, and the VCs that share no port with
/// theirs have closed forms.
#[test]
fn scenarios_of_clp_lose_cells_of_both_kinds_and_some_have_closed_forms_beside() {
    let (mut lost, mut spared, mut beside) = (0, 0, 0);
    for spec in (0..400).filter_map(with_clp) {
        let records = skycell_fast::run(&spec, &mut |_| true).expect("the ledger balances");
        for vc in &records.vcs {
            let Some(clp0) = &vc.clp0 else { continue };
            let discarded = vc.cells_discarded.total();
            let all = vc.cells_policed + vc.cells_refused + discarded + vc.cells_lost.total();
            assert!(clp0.cells_offered <= vc.cells_offered && clp0.cells_lost <= all);
            lost += usize::from(clp0.cells_lost > 0);
            spared += usize::from(clp0.cells_lost < all);
        }
        let (stepped, all) = stepped_of(&records);
        beside += usize::from(stepped < all);
    }
    assert!(
        lost > 20 && spared > 20 && beside > 5,
        "{lost} {spared} {beside}"
    );
}

/// Uplinks are worth comparing where terminals send in slots beside ports that have closed forms.
#[test]
fn scenarios_of_uplinks_send_in_slots_and_some_beside_closed_forms() {
    let (mut used, mut beside) = (0, 0);
    for spec in (0..200).filter_map(uplinks) {
        let records = skycell_fast::run(&spec, &mut |_| true).expect("the ledger balances");
        let uplink = &records.uplinks[0].counts;
        used += usize::from(uplink.successes + uplink.used > 20);
        let (stepped, all) = stepped_of(&records);
        beside += usize::from(stepped < all);
    }
    assert!(used > 60 && beside > 20, "{used} {beside}");
}

/// Rates are worth comparing where feedback changes them and losses happen beside closed forms.
#[test]
fn rates_of_scenarios_change_beside_closed_forms() {
    let specs: Vec<_> = (0..500).filter_map(abr).collect();
    assert!(specs.len() > 200, "{}", specs.len());
    let mut fed_back = 0;
    for spec in &specs {
        let records = skycell_fast::run(spec, &mut |_| true).expect("it runs");
        let answers = |vc: &VcRecord| vc.abr.as_ref().is_some_and(|abr| abr.backward_received > 3);
        fed_back += usize::from(records.vcs.iter().any(answers));
    }
    let [_, both] = forms(specs.into_iter());
    assert!(fed_back > 100 && both > 60, "{fed_back} {both}");
}

/// Rates over satellites that switch on board are worth comparing where feedback comes in spite of changes of the path.
#[test]
fn rates_of_vcs_that_change_their_paths_are_fed_back() {
    let (mut fed_back, mut cut) = (0, 0);
    for spec in (0..800).filter_map(abr) {
        let moves = |vc: usize| spec.vcs[vc].rerouting.is_some() && spec.vcs[vc].abr.is_some();
        if !(0..spec.vcs.len()).any(moves) {
            continue;
        }
        let records = skycell_fast::run(&spec, &mut |_| true).expect("the ledger balances");
        let answers = |vc: &VcRecord| vc.abr.as_ref().is_some_and(|abr| abr.backward_received > 3);
        let has_answers = (0..spec.vcs.len()).any(|vc| moves(vc) && answers(&records.vcs[vc]));
        fed_back += u32::from(has_answers);
        let is_cut =
            |node: &skycell_spec::NodeSpec| node.vs_vd.is_some() && node.name.starts_with("sat");
        cut += u32::from(has_answers && spec.nodes.iter().any(is_cut));
    }
    assert!(fed_back > 40 && cut > 20, "{fed_back} {cut}");
}

/// Marks are worth comparing where they come to senders that slow down.
#[test]
fn queues_of_packets_mark_and_senders_slow_down() {
    let uses_ecn = |spec: &NetworkSpec| {
        let mut flows = spec.flows.iter();
        flows.any(|flow| flow.tcp.ecn != EcnUse::Off)
    };
    let using = (0..DRAWN).map(packets).filter(uses_ecn);
    let slowed = using.filter(|spec| {
        let records = skycell_fast::run(spec, &mut |_| true).expect("it runs");
        records.flows.iter().any(|flow| flow.ecn_reductions > 0)
    });
    let slowed = slowed.count();
    assert!(slowed > 5, "{slowed}");
}

/// Links that lose frames are worth comparing where some arrive all the same.
#[test]
fn links_of_scenarios_lose_frames() {
    let loses = |vc: &VcRecord| vc.cells_lost.drawn > 0 && vc.cells_delivered > 0;
    let runs = (0..300)
        .map(scenario)
        .map(|spec| skycell_fast::run(&spec, &mut |_| true));
    let lossy = runs.filter(|records| {
        let records = records.as_ref().expect("it runs");
        records.vcs.iter().any(loses)
    });
    assert!(lossy.count() > 20);
}

/// Satellites that switch on board are worth comparing where links between them lose frames of VCs that change their paths, and
/// others arrive.
#[test]
fn links_that_satellites_feed_lose_frames_and_have_bit_errors() {
    let (mut drawn, mut struck) = (0, 0);
    for spec in (0..300).map(skies) {
        let records = skycell_fast::run(&spec, &mut |_| true).expect("the ledger balances");
        let is_rerouted = |vc: &&VcRecord| {
            let own = spec.vcs.iter().find(|own| own.name == vc.name);
            own.is_some_and(|own| own.rerouting.is_some()) && vc.frames_delivered > 0
        };
        let any = |of: fn(&VcRecord) -> u64| {
            let mut vcs = records.vcs.iter().filter(is_rerouted);
            u32::from(vcs.any(|vc| of(vc) > 0))
        };
        drawn += any(|vc| vc.cells_lost.drawn);
        struck += any(|vc| vc.cells_lost.header + vc.frames_crc);
    }
    assert!(drawn > 40 && struck > 20, "{drawn} {struck}");
}

/// Networks by label are worth comparing where packets meet each of their fates, and others arrive.
#[test]
fn networks_by_label_reroute_turn_back_and_lose_packets_for_every_reason() {
    let mut met = [0; 9];
    for spec in (0..300).map(by_label) {
        let records = skycell_fast::run(&spec, &mut |_| true).expect("the ledger balances");
        let sky = records.sky.expect("a sky leaves records");
        let nodes = |column: &[u64]| column.iter().sum::<u64>();
        let lost = |of: fn(&VcRecord) -> u64| records.vcs.iter().map(of).sum::<u64>();
        let counts = [
            nodes(&sky.nodes.delivered),
            nodes(&sky.nodes.rerouted),
            nodes(&sky.nodes.turned_back),
            lost(|vc| vc.cells_lost.no_route),
            lost(|vc| vc.cells_lost.hop_limit),
            lost(|vc| vc.cells_lost.out_of_range),
            lost(|vc| vc.cells_lost.handover),
            lost(|vc| vc.cells_lost.drawn + vc.cells_lost.check),
            lost(|vc| vc.cells_discarded.total()),
        ];
        for (met, count) in met.iter_mut().zip(counts) {
            *met += u32::from(count > 0);
        }
    }
    assert!(met.iter().all(|&runs| runs > 20), "{met:?}");
    let cells = (0..300).map(by_label).filter(|spec| {
        let carries_cells = spec
            .sky
            .as_ref()
            .is_some_and(skycell_spec::SkySpec::carries_cells);
        carries_cells && !spec.vcs.is_empty()
    });
    let [mut corrupt, mut whole, mut policed, mut held, mut measured] = [0; 5];
    for spec in cells {
        let records = skycell_fast::run(&spec, &mut |_| true).expect("the ledger balances");
        let of = |count: fn(&VcRecord) -> u64| records.vcs.iter().map(count).sum::<u64>();
        corrupt += u32::from(of(|vc| vc.frames_corrupt) > 0);
        whole += u32::from(of(|vc| vc.frames_delivered) > 0);
        policed += u32::from(of(|vc| vc.cells_nonconforming) > 0);
        held += u32::from(of(|vc| vc.resequencer.as_ref().map_or(0, |own| own.cells_held)) > 0);
        measured += u32::from(records.cell_delays.iter().any(|vc| vc.delay.cells > 0));
    }
    assert!(corrupt > 10 && whole > 20, "{corrupt} {whole}");
    assert!(
        policed > 2 && held > 0 && measured > 4,
        "{policed} {held} {measured}"
    );
}

/// Few networks by label are left to `reference`; the others have ports in closed form, stepped ones, and both.
#[test]
fn networks_by_label_have_closed_forms_and_stepped_ports() {
    let (mut closed, mut stepped, mut both, mut whole) = (0, 0, 0, 0);
    for spec in (0..300).map(by_label) {
        let records = skycell_fast::run(&spec, &mut |_| true).expect("the ledger balances");
        let stats = records.engine_stats;
        let is_whole = |port: &SteppedPort| {
            let reason = serde_json::to_string(&port.reason).expect("a word");
            reason.starts_with("\"sky_")
        };
        match (stats.cells_stepped, stats.cells) {
            _ if stats.stepped_ports.iter().any(is_whole) => whole += 1,
            (_, 0) => {}
            (0, _) => closed += 1,
            (some, all) if some == all => stepped += 1,
            _ => both += 1,
        }
    }
    assert!(
        closed > 40 && stepped > 20 && both > 10 && whole < 60,
        "{closed} {stepped} {both} {whole}"
    );
}

/// Bit errors are worth comparing where headers are corrected and lost, frames fail their CRC, and others arrive.
#[test]
fn bit_errors_of_scenarios_strike_headers_and_payloads() {
    let (mut corrected, mut lost, mut failed, mut packets) = (0, 0, 0, 0);
    for spec in (0..300).map(bursty) {
        let records = skycell_fast::run(&spec, &mut |_| true).expect("it runs");
        let arrives = |vc: &&VcRecord| vc.frames_delivered > 0;
        let any = |of: fn(&VcRecord) -> u64| {
            let mut vcs = records.vcs.iter().filter(arrives);
            u32::from(vcs.any(|vc| of(vc) > 0))
        };
        let errors = records.ports.iter().filter_map(|port| port.errors);
        corrected += u32::from(errors.map(|errors| errors.headers_corrected).sum::<u64>() > 0);
        lost += any(|vc| vc.cells_lost.header);
        failed += any(|vc| vc.frames_crc);
        packets += any(|vc| vc.cells_lost.check);
    }
    let counts = [corrected, lost, failed, packets];
    assert!(counts.iter().all(|&count| count > 15), "{counts:?}");
}

/// Packets beside cells are worth comparing where both are sent and some packets find no room.
#[test]
fn packets_of_scenarios_are_beside_cells_and_find_full_buffers() {
    let (mut dropped, mut mixed) = (0, 0);
    for spec in (0..300).map(packets) {
        let records = skycell_fast::run(&spec, &mut |_| true).expect("it runs");
        let drops = |port: &PortRecord| {
            let octets = port.octets.as_ref();
            octets.is_some_and(|octets| octets.discarded > 0)
        };
        dropped += u32::from(records.ports.iter().any(drops));
        let sends = |packets: bool| {
            let is_so = |port: &PortRecord| port.octets.is_some() == packets && port.departed > 0;
            records.ports.iter().any(is_so)
        };
        mixed += u32::from(sends(true) && sends(false));
    }
    assert!(dropped > 100 && mixed > 50, "{dropped} {mixed}");
}

/// Links that move are worth comparing where cells come by them, together, in another order, or not at all.
#[test]
fn links_that_move_have_closed_forms() {
    let (mut own, mut corrupt, mut lost, mut drawn, mut others) = (0, 0, 0, 0, 0);
    for spec in (0..400).filter_map(time_varying) {
        let records = skycell_fast::run(&spec, &mut |_| true).expect("it runs");
        if !records.engine_stats.stepped_ports.is_empty() {
            others += 1;
            continue;
        }
        let any = |of: &dyn Fn(&VcRecord) -> bool| u32::from(records.vcs.iter().any(of));
        let delivers = |vc: &VcRecord| vc.frames_delivered > 1;
        own += any(&delivers);
        corrupt += any(&|vc| delivers(vc) && vc.frames_corrupt > 0);
        lost += any(&|vc| delivers(vc) && vc.cells_lost.handover > 0);
        drawn += any(&|vc| delivers(vc) && vc.cells_lost.drawn > 0);
    }
    let counts = [own, corrupt, lost, drawn, others];
    assert!(
        own > 150 && corrupt > 50 && lost > 10 && drawn > 40,
        "{counts:?}"
    );
    assert!(others < 50, "{counts:?}");
}

/// Links that lose frames beside cells of sources are worth comparing where both lose some.
#[test]
fn links_that_lose_frames_of_several_classes_have_closed_forms() {
    let (mut both, mut others) = (0, 0);
    for spec in (0..500).filter_map(lossy_classes) {
        let records = skycell_fast::run(&spec, &mut |_| true).expect("it runs");
        if !records.engine_stats.stepped_ports.is_empty() {
            others += 1;
            continue;
        }
        let loses = |id: usize| records.vcs[id].cells_lost.drawn > 0;
        let of_source = |source: &SourceSpec| loses(source.vc as usize);
        let is_source = |id: usize| spec.sources.iter().any(|source| source.vc as usize == id);
        let flows_lose = (0..spec.vcs.len()).any(|id| !is_source(id) && loses(id));
        both += u32::from(flows_lose && spec.sources.iter().any(of_source));
    }
    assert!(both > 40 && others < 150, "{both} {others}");
}

/// Ports at which frames join several queues are worth comparing where several are in use and some are full.
#[test]
fn frames_in_several_queues_of_a_port_have_closed_forms() {
    let (mut own, mut full, mut others) = (0, 0, 0);
    for spec in (0..400).map(several_classes) {
        let records = skycell_fast::run(&spec, &mut |_| true).expect("it runs");
        if !records.engine_stats.stepped_ports.is_empty() {
            others += 1;
            continue;
        }
        let is_used = |queue: &&ClassQueueRecord| queue.arrived > 200;
        let is_shared = |port: &PortRecord| port.queues.iter().filter(is_used).count() > 1;
        own += u32::from(records.ports.iter().any(is_shared));
        let discards = |port: &PortRecord| is_shared(port) && port.discarded.total() > 0;
        full += u32::from(records.ports.iter().any(discards));
    }
    let counts = [own, full, others];
    assert!(own > 60 && full > 40 && others < 80, "{counts:?}");
}

/// Tuned as it is for use, only crowds make the fast engine keep buckets and read ahead.
#[test]
fn many_flows_have_inputs_for_buckets_and_flows_for_reading_ahead() {
    let many: Vec<_> = (0..600).filter_map(many_flows).collect();
    let has_inputs = |spec: &&NetworkSpec| {
        let links_to = |node: u32| spec.links.iter().filter(|link| link.to == node).count();
        (0..spec.nodes.len() as u32).any(|node| links_to(node) > 64)
    };
    let with_inputs = many.iter().filter(has_inputs).count();
    let with_flows = many.iter().filter(|spec| spec.flows.len() >= 200).count();
    let of = many.len();
    assert!(
        of > 50 && 3 * with_inputs > 2 * of && 3 * with_flows > of,
        "{with_inputs} and {with_flows} of {of}"
    );
}
