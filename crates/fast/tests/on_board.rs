//! Satellites that switch on board, as VCs that change their paths and as a network by label: both leave the same.

#[allow(dead_code, unused_imports)] // other tests draw the rest
mod scenarios;

use skycell_records::RunRecords;
use skycell_sky::{ByHand, Columns, HandLink, file::digest};
use skycell_spec::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A network whose VCs change their paths and have no contracts, by paths and by label; none where it has others, or
/// what labels cannot say: a time for which nothing is sent after a turn, and times without a path at which a link
/// loses nothing that it would lose at a turn.
fn both(mut spec: NetworkSpec) -> Option<[NetworkSpec; 2]> {
    let sends_cells = |source: &SourceSpec| source.datagram_route.is_empty();
    let is_bound = |vc: &VcSpec| vc.gfr.is_some() || vc.abr.is_some() || !vc.policing.is_empty();
    let has_classes = |link: &LinkSpec| link.port.queues.len() > 1;
    let has_rest = spec.sources.iter().any(sends_cells)
        || spec.vcs.iter().any(is_bound)
        || spec.links.iter().any(has_classes);
    let ups: Vec<ScheduleSpec> = (spec.links.iter())
        .filter_map(|link| link.schedule.clone())
        .collect();
    let loses = ups.iter().any(|own| own.handover_loses_cells);
    let stops = |own: &ScheduleSpec| own.interruption_ps > 0 && own.paths.last() > Some(&0);
    let pauses = ups.iter().any(|own| own.delays_ps.contains(&None));
    if has_rest || ups.iter().any(stops) || loses && pauses {
        return None;
    }
    for link in &mut spec.links {
        // Cells in flight are lost on all links that end, or on none.
        let schedule = link.schedule.iter_mut();
        schedule.for_each(|own| own.handover_loses_cells = loses);
    }
    spec.records.sampled_ports.clear();
    spec.records.vc_sampled_ports.clear();
    spec.records.traces.clear();
    let columns = columns(&mut spec)?;
    let kind = |(id, link): (usize, &LinkSpec)| PortKindSpec {
        name: format!("kind{id}"),
        framing: None,
        cell_time_ps: link.cell_time_ps,
        loss_ppb: link.loss_ppb,
        channel: link.channel.clone(),
        port: link.port.clone(),
        waiting: match link.schedule {
            Some(_) => Waiting::Turned,
            None => Waiting::SentIfRouted,
        },
        waits_for_route: false,
    };
    let mut by_label = spec.clone();
    by_label.sky = Some(SkySpec {
        columns: digest(&columns.to_octets()),
        kinds: spec.links.iter().enumerate().map(kind).collect(),
        hop_limit: MOST_HOPS,
        loses_in_flight: loses,
        read: Some(Arc::new(columns)),
    });
    for (vc, label) in by_label.vcs.iter_mut().zip(0u32..) {
        let from = spec.links[vc.path[0] as usize].from;
        vc.by_label = Some(ByLabelSpec { from, label });
        vc.path.clear();
        vc.rerouting = None;
    }
    by_label.links.clear();
    Some([spec, by_label])
}

/// The step of a schedule in force at a time.
fn step_at(schedule: &ScheduleSpec, time: u64) -> usize {
    schedule.times_ps.partition_point(|&since| since <= time) - 1
}

/// Where a link leads at a time.
fn leads_to(link: &LinkSpec, time: u64) -> u32 {
    let schedule = link.schedule.as_ref();
    let to = schedule.and_then(|own| own.to.get(step_at(own, time)));
    to.copied().unwrap_or(link.to)
}

/// Links and routes of a network as columns, with a label for each VC, and a kind for each port. Links get the names
/// that their ports have by label. None if two links join the same nodes.
fn columns(spec: &mut NetworkSpec) -> Option<Columns> {
    let of_links = spec.links.iter().filter_map(|link| link.schedule.as_ref());
    let of_links = of_links.flat_map(|own| &own.times_ps);
    let of_vcs = spec.vcs.iter().filter_map(|vc| vc.rerouting.as_ref());
    let of_vcs = of_vcs.flat_map(|own| &own.times_ps);
    let times: BTreeSet<u64> = of_links.chain(of_vcs).copied().chain([0]).collect();
    let times: Vec<u64> = times.into_iter().collect();
    let (mut pairs, mut links) = (BTreeSet::new(), Vec::new());
    for (link, id) in spec.links.iter_mut().zip(0u32..) {
        let ends: BTreeSet<u32> = times.iter().map(|&time| leads_to(link, time)).collect();
        let name = |node: u32| &spec.nodes[node as usize].name;
        link.name = match ends.len() {
            1 => format!("{}>{}", name(link.from), name(link.to)),
            _ => format!("{}>kind{id}", name(link.from)),
        };
        for &to in &ends {
            let delay = |&time: &u64| {
                let delay_ps = match &link.schedule {
                    None => Some(link.delay_ps),
                    Some(own) => own.delays_ps[step_at(own, time)],
                };
                delay_ps.filter(|_| leads_to(link, time) == to)
            };
            pairs.insert((link.from, to)).then_some(())?;
            links.push(HandLink {
                from: link.from,
                to,
                port: id,
                kind: id as u8,
                delays_ps: times.iter().map(delay).collect(),
            });
        }
    }
    let mut next = vec![vec![vec![None; spec.vcs.len()]; spec.nodes.len()]; times.len()];
    for (label, vc) in spec.vcs.iter().enumerate() {
        for (next, &time) in next.iter_mut().zip(&times) {
            let later = vc.rerouting.iter().flat_map(|own| &own.times_ps);
            let known = 1 + later.filter(|&&since| since <= time).count();
            let forgets = vc.rerouting.as_ref().is_some_and(|own| own.loses_cells);
            let oldest = if forgets { known - 1 } else { 0 };
            // A newer path takes the place of an older one at each node where it comes by.
            for &link in vc.paths().take(known).skip(oldest).flatten() {
                let link = &spec.links[link as usize];
                next[link.from as usize][label] = Some(leads_to(link, time));
            }
        }
    }
    let by_hand = ByHand {
        epoch_ps: times,
        nodes: spec.nodes.len() as u32,
        links,
        label_node: (0..spec.vcs.len())
            .map(|vc| spec.vc_destination(vc))
            .collect(),
        next,
    };
    Some(by_hand.columns().expect("columns that have a meaning"))
}

fn run(spec: &NetworkSpec) -> RunRecords {
    spec.validate().expect("a valid spec");
    skycell_reference::run(spec, &mut |_| true).expect("the ledger balances")
}

/// Compares all that both leave of VCs, flows and ports.
fn compare(seed: u64, [by_path, by_label]: &[RunRecords; 2], by_label_spec: &NetworkSpec) {
    for (own, other) in by_path.vcs.iter().zip(&by_label.vcs) {
        let mut own = own.clone();
        // A node that has forgotten a VC has no route for it.
        own.cells_lost.no_route = std::mem::take(&mut own.cells_lost.off_path);
        assert_eq!(&own, other, "seed {seed}");
    }
    assert_eq!(by_path.flows, by_label.flows, "seed {seed}");
    let sky = by_label_spec.sky.as_ref().expect("a sky");
    let names = sky.port_names(&by_label_spec.nodes);
    let ports = &by_label.sky.as_ref().expect("its record").ports;
    let row_of = |name: &str| {
        let mut rows = ports.port.iter();
        rows.position(|&port| names[port as usize] == name)
    };
    for own in &by_path.ports {
        let Some(row) = row_of(&own.name) else {
            assert_eq!(own.arrived, 0, "seed {seed}, {}", own.name);
            continue;
        };
        let counts = [ports.arrived[row], ports.departed[row], ports.queued[row]];
        let expected = [own.arrived, own.departed, own.queued];
        assert_eq!(counts, expected, "seed {seed}, {}", own.name);
        let queues = (ports.queue_mean[row], u64::from(ports.queue_max[row]));
        let expected = (own.queue.mean, u64::from(own.queue.max));
        assert_eq!(queues, expected, "seed {seed}, {}", own.name);
    }
}

#[test]
fn paths_that_change_leave_what_routes_by_label_leave() {
    let (mut drawn, mut forget, mut pause, mut lose) = (0, 0, 0, 0);
    for seed in 0..2_000 {
        let Some([by_path, by_label]) = both(scenarios::skies(seed)) else {
            continue;
        };
        let records = [run(&by_path), run(&by_label)];
        compare(seed, &records, &by_label);
        let lost = |of: fn(&skycell_records::LinkLosses) -> u64| {
            let vcs = records[0].vcs.iter();
            u32::from(vcs.map(|vc| of(&vc.cells_lost)).sum::<u64>() > 0)
        };
        drawn += u32::from(by_path.vcs.iter().any(|vc| vc.rerouting.is_some()));
        forget += lost(|lost| lost.off_path);
        lose += lost(|lost| lost.handover);
        let mut schedules = by_path
            .links
            .iter()
            .filter_map(|link| link.schedule.as_ref());
        pause += u32::from(schedules.any(|own| own.delays_ps.contains(&None)));
    }
    assert!(
        drawn > 8 && pause > 8 && forget > 0 && lose > 1,
        "{drawn} {pause} {forget} {lose}"
    );
}
