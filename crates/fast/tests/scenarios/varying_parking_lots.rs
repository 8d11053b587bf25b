//! Several time-varying links, one after the other, with times on a grid or not, and queues of VCs and classes between them.

use super::{Builder, Dice, MICROSECOND, MILLISECOND, classes, hosts, records, schedules, spacing};
use skycell_des::Stream;
use skycell_spec::*;

/// A scenario in which links between switches move, nearly all or few of them; none where none does.
pub fn varying_parking_lots(seed: u64) -> Option<NetworkSpec> {
    let mut dice = Dice(Stream::new(seed, "moving rows"));
    let kind = dice.below(10);
    let mut builder = Builder::new(&mut dice);
    match kind {
        0..=3 => builder.parking_lot(),
        4..=6 => builder.ring(),
        7..=8 => builder.n_source(),
        _ => builder.routers(),
    }
    let (unit, mut spec) = (builder.cell_time, builder.spec);
    spec.seed = dice.below(1 << 40);
    spec.duration_ps = MILLISECOND * (1 + dice.below(12)) + dice.below(1_000);
    if dice.one_in(2) {
        put_on_grid(&mut spec, unit, &mut dice);
    }
    spec.records = records(&spec, &mut dice);
    if dice.one_in(2) {
        record_all(&mut spec.records, unit, spec.links.len(), &mut dice);
    }
    if dice.one_in(5) {
        classes::add(&mut spec, &mut dice);
    } else if dice.one_in(5) {
        classes::add_among_frames(&mut spec, &mut dice);
    }
    if dice.one_in(4) {
        classes::add_datagrams(&mut spec, &mut dice);
    }
    if dice.one_in(4) {
        hosts::limit(&mut spec, &mut dice);
    }
    set_in_motion(&mut spec, unit, &mut dice);
    if dice.one_in(3) {
        schedules::lose_frames(&mut spec, &mut dice);
    }
    let schedule_of = |link: &LinkSpec| {
        let schedule = link.schedule.as_ref();
        schedule.is_some_and(|schedule| schedule.times_ps.len() > 1)
    };
    spec.links.iter().any(schedule_of).then_some(spec)
}

/// Makes delays and times of cells whole numbers of `unit`, so that much happens at one moment.
fn put_on_grid(spec: &mut NetworkSpec, unit: u64, dice: &mut Dice) {
    for link in &mut spec.links {
        link.delay_ps = unit * dice.pick(&[0, 0, 1, 2, 5, 17, 100, 700]);
        link.cell_time_ps = unit * dice.pick(&[1, 1, 1, 2, 3]);
        link.port.frame_gap_ps = 0;
    }
    for flow in &mut spec.flows {
        if dice.one_in(2) {
            flow.start = StartSpec::At { time_ps: 0 };
        }
    }
    if dice.one_in(2) {
        spec.duration_ps -= spec.duration_ps % unit;
    }
}

fn record_all(records: &mut RecordSpec, unit: u64, links: usize, dice: &mut Dice) {
    let all: Vec<u32> = (0..links as u32).collect();
    records.sampled_ports.clone_from(&all);
    records.vc_sampled_ports = all;
    records.sample_every_ps = dice.pick(&[97 * MICROSECOND, 20 * unit, MILLISECOND]);
    records.traces = vec![
        TraceKind::Cwnd,
        TraceKind::Sequence,
        TraceKind::Queue,
        TraceKind::VcQueue,
        TraceKind::Discards,
    ];
}

/// Gives links a schedule that lead from switch to switch, and gives others queues for VCs or classes.
fn set_in_motion(spec: &mut NetworkSpec, unit: u64, dice: &mut Dice) {
    let often = dice.pick(&[2, 3, 5]);
    let has_queues = dice.one_in(2);
    let vcs = spec.vcs.len();
    for at in 0..spec.links.len() {
        let link = &spec.links[at];
        let is_at_switch = spec.nodes[link.from as usize].kind == NodeKind::Switch;
        if !is_at_switch || link.port.queues.len() > 1 {
            continue;
        }
        let is_end = spec
            .vcs
            .iter()
            .any(|vc| vc.path.last() == Some(&(at as u32)));
        let (duration_ps, link) = (spec.duration_ps, &mut spec.links[at]);
        if has_queues && dice.one_in(3) {
            link.port.scheduler = spacing::any(vcs, dice);
        } else if !is_end && !dice.one_in(often) {
            let schedule = steps(link.delay_ps, unit, duration_ps, dice);
            schedules::set(link, schedule);
        }
    }
}

fn steps(delay: u64, unit: u64, duration: u64, dice: &mut Dice) -> ScheduleSpec {
    let most = dice.pick(&[3, 10, 60, 300]);
    let steps = 2 + dice.below(most);
    let step = dice.pick(&[1, unit / 2, unit, unit, 5 * unit, 50 * unit, 400 * unit]);
    let range = dice.pick(&[2, 3, 12, 40]);
    let every = dice.pick(&[
        duration / steps,
        unit,
        3 * unit,
        7 * unit,
        20 * unit,
        100 * unit,
        unit + 1,
    ]);
    let jitter = dice.pick(&[1, 1, 2, every.max(2)]);
    let mut time = dice.pick(&[0, unit, 10 * unit, duration / 3, duration / 2]);
    let mut next_time = |dice: &mut Dice| {
        time += (every + dice.below(jitter)).max(1);
        time
    };
    let is_falling = dice.one_in(3);
    let paths = dice.pick(&[1, 2, 5, 1000]);
    let is_steady = dice.one_in(2);
    let mut path = 0;
    let mut next_path = |dice: &mut Dice| {
        if !is_steady || dice.one_in(5) {
            path = dice.below(paths) as u32;
        }
        path
    };
    let has_losses = dice.one_in(3);
    let delay_at = |n: u64, dice: &mut Dice| {
        let at = if is_falling {
            range - 1 - n % range
        } else {
            dice.below(range)
        };
        Some(delay + step * at)
    };
    ScheduleSpec {
        times_ps: std::iter::once(0)
            .chain((1..steps).map(|_| next_time(dice)))
            .collect(),
        delays_ps: (0..steps).map(|n| delay_at(n, dice)).collect(),
        paths: (0..steps).map(|_| next_path(dice)).collect(),
        cell_times_ps: Vec::new(),
        rates_millibps: Vec::new(),
        losses_ppb: match has_losses {
            true => (0..steps)
                .map(|_| dice.pick(&[0, 0, 10_000_000, 300_000_000]))
                .collect(),
            false => Vec::new(),
        },
        to: Vec::new(),
        interruption_ps: if paths == 1 { dice.pick(&[0, 0, 5]) } else { 0 },
        handover_loses_cells: dice.one_in(3),
    }
}
