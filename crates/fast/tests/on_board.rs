//! Satellites that switch on board, as VCs with paths and as a network by label: both leave the same.

mod scenarios;

use skycell_records::{RunRecords, VcRecord};
use skycell_sky::{ByHand, HandLink, file::digest};
use skycell_spec::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The network of a spec whose VCs change their paths, with names that a sky gives, and as a sky.
fn both(mut spec: NetworkSpec) -> Option<[NetworkSpec; 2]> {
    let no = spec
        .sources
        .iter()
        .any(|source| source.datagram_route.is_empty())
        || spec
            .vcs
            .iter()
            .any(|vc| vc.gfr.is_some() || vc.abr.is_some() || !vc.policing.is_empty())
        || spec.links.iter().any(|link| {
            link.port.queues.len() > 1 || !matches!(link.port.scheduler, SchedulerSpec::Fifo(_))
        });
    if no {
        return None;
    }
    spec.links
        .iter_mut()
        .for_each(|link| link.port.frame_gap_ps = 0);
    spec.records.sampled_ports.clear();
    spec.records.vc_sampled_ports.clear();
    spec.records.traces.clear();
    let mut times: BTreeSet<u64> = BTreeSet::from([0]);
    for link in &spec.links {
        times.extend(
            link.schedule
                .iter()
                .flat_map(|own| own.times_ps.iter().copied()),
        );
    }
    for vc in &spec.vcs {
        times.extend(
            vc.rerouting
                .iter()
                .flat_map(|own| own.times_ps.iter().copied()),
        );
    }
    let times: Vec<u64> = times.into_iter().collect();
    let mut pairs = BTreeSet::new();
    let mut links = Vec::new();
    for (id, link) in spec.links.iter_mut().enumerate() {
        let name = |node: u32| spec.nodes[node as usize].name.clone();
        let ends: BTreeSet<u32> = match &link.schedule {
            Some(own) if !own.to.is_empty() => own.to.iter().copied().collect(),
            _ => BTreeSet::from([link.to]),
        };
        link.name = match ends.len() {
            1 => format!("{}>{}", name(link.from), name(link.to)),
            _ => format!("{}>kind{id}", name(link.from)),
        };
        for &to in &ends {
            if !pairs.insert((link.from, to)) {
                return None; // two links between the same nodes
            }
            let at = |&time: &u64| match &link.schedule {
                None => Some(link.delay_ps),
                Some(own) => {
                    let step = own.times_ps.partition_point(|&since| since <= time) - 1;
                    let leads = own.to.get(step).copied().unwrap_or(link.to) == to;
                    own.delays_ps[step].filter(|_| leads)
                }
            };
            links.push(HandLink {
                from: link.from,
                to,
                port: id as u32,
                kind: id as u8,
                delays_ps: times.iter().map(at).collect(),
            });
        }
    }
    let labels = spec.vcs.len();
    let mut next = vec![vec![vec![None; labels]; spec.nodes.len()]; times.len()];
    for (label, vc) in spec.vcs.iter().enumerate() {
        let loses = vc.rerouting.as_ref().is_some_and(|own| own.loses_cells);
        for (epoch, &time) in times.iter().enumerate() {
            let paths: Vec<&[u32]> = vc.paths().collect();
            let since = |n: usize| match n {
                0 => 0,
                n => vc.rerouting.as_ref().unwrap().times_ps[n - 1],
            };
            let known = (0..paths.len()).filter(|&n| since(n) <= time).count();
            for path in &paths[if loses { known - 1 } else { 0 }..known] {
                for &link in *path {
                    let link = &spec.links[link as usize];
                    let (exists, to) = match &link.schedule {
                        None => (true, link.to),
                        Some(own) => {
                            let step = own.times_ps.partition_point(|&since| since <= time) - 1;
                            (
                                own.delays_ps[step].is_some(),
                                own.to.get(step).copied().unwrap_or(link.to),
                            )
                        }
                    };
                    next[epoch][link.from as usize][label] = exists.then_some(to);
                }
            }
        }
    }
    let by_hand = ByHand {
        epoch_ps: times,
        nodes: spec.nodes.len() as u32,
        links,
        label_node: (0..labels).map(|vc| spec.vc_destination(vc)).collect(),
        next,
    };
    let columns = by_hand.columns().expect("columns");
    let kind = |(id, link): (usize, &LinkSpec)| {
        let turns = link.schedule.is_some();
        PortKindSpec {
            name: format!("kind{id}"),
            framing: None,
            cell_time_ps: link.cell_time_ps,
            loss_ppb: link.loss_ppb,
            channel: link.channel.clone(),
            port: link.port.clone(),
            waiting: if turns {
                Waiting::Rerouted
            } else {
                Waiting::Sent
            },
            waits_for_route: false,
        }
    };
    let mut sky = spec.clone();
    sky.sky = Some(SkySpec {
        columns: digest(&columns.to_octets()),
        kinds: spec.links.iter().enumerate().map(kind).collect(),
        hop_limit: 255,
        loses_in_flight: spec.links.iter().any(|link| {
            link.schedule
                .as_ref()
                .is_some_and(|own| own.handover_loses_cells)
        }),
        read: Some(Arc::new(columns)),
    });
    for (id, vc) in sky.vcs.iter_mut().enumerate() {
        vc.by_label = Some(ByLabelSpec {
            from: spec.links[vc.path[0] as usize].from,
            label: id as u32,
        });
        vc.path.clear();
        vc.rerouting = None;
    }
    sky.links.clear();
    Some([spec, sky])
}

fn run(spec: &NetworkSpec) -> RunRecords {
    spec.validate().expect("a valid spec");
    skycell_reference::run(spec, &mut |_| true).expect("it runs")
}

fn differs(a: &RunRecords, b: &RunRecords) -> Option<String> {
    for (one, other) in a.vcs.iter().zip(&b.vcs) {
        let (mut one, other) = (one.clone(), other.clone());
        one.cells_lost.no_route = std::mem::take(&mut one.cells_lost.off_path);
        if one != other {
            return Some(format!("{one:?}\n   {other:?}"));
        }
    }
    (a.flows != b.flows).then(|| "flows".to_string())
}

#[test]
fn measure() {
    use std::collections::BTreeMap;
    let mut found: BTreeMap<String, (u32, u32, Vec<u64>)> = BTreeMap::new();
    let mut shown = 0;
    for seed in 0..4000 {
        let spec = scenarios::skies(seed);
        let ups: Vec<&ScheduleSpec> = spec
            .links
            .iter()
            .filter_map(|link| link.schedule.as_ref())
            .collect();
        let gap = ups.iter().any(|own| own.delays_ps.contains(&None));
        let hold = ups
            .iter()
            .any(|own| own.interruption_ps > 0 && own.paths.last() > Some(&0));
        let in_flight: BTreeSet<bool> = ups.iter().map(|own| own.handover_loses_cells).collect();
        let forgets = spec
            .vcs
            .iter()
            .any(|vc| vc.rerouting.as_ref().is_some_and(|own| own.loses_cells));
        let returns = ups.iter().any(|own| {
            let mut to = own.to.clone();
            to.dedup();
            to.len() > to.iter().collect::<BTreeSet<_>>().len()
        });
        let Some([graph, sky]) = both(spec) else {
            continue;
        };
        let key = format!(
            "gap {gap} interruption {hold} in flight lost {in_flight:?} forgets {forgets} returns {returns}"
        );
        let entry = found.entry(key.clone()).or_default();
        entry.0 += 1;
        if let Some(text) = differs(&run(&graph), &run(&sky)) {
            entry.1 += 1;
            entry.2.push(seed);
            if !hold && shown < 4 {
                shown += 1;
                println!("{seed} {key}\n   {text}");
            }
        }
    }
    for (key, (all, other, seeds)) in found {
        println!(
            "{key}: {other} of {all} differ {:?}",
            &seeds[..seeds.len().min(5)]
        );
    }
}
