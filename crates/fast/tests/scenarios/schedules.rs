//! Links that change during the run, and VCs that change their path.

use super::{Dice, MILLISECOND, scenario, spacing};
use skycell_des::Stream;
use skycell_spec::*;

/// A scenario with a VC that is rerouted; none where no VC can be.
pub fn rerouted(seed: u64) -> Option<NetworkSpec> {
    let mut spec = scenario(seed);
    let mut dice = Dice(Stream::new(seed, "rerouted"));
    reroute(&mut spec, &mut dice).then_some(spec)
}

/// A scenario in which links between switches move, and nothing else does; none where there are no such links.
pub fn time_varying(seed: u64) -> Option<NetworkSpec> {
    let mut spec = scenario(seed);
    keep_all(&mut spec);
    let mut dice = Dice(Stream::new(seed, "all that moves"));
    move_on(&mut spec, &mut dice);
    let schedule_of = spec.links.iter().any(|link| link.schedule.is_some());
    if dice.one_in(4) {
        lose_frames(&mut spec, &mut dice);
    }
    if dice.one_in(4) {
        spacing::set_behind_time_varying(&mut spec, &mut dice);
    }
    schedule_of.then_some(spec)
}

/// A scenario in which links lose frames whose ports have queues for classes, and nothing moves; none where there are
/// no such ports.
pub fn lossy_classes(seed: u64) -> Option<NetworkSpec> {
    let mut spec = scenario(seed);
    keep_all(&mut spec);
    let mut dice = Dice(Stream::new(seed, "lossy classes"));
    let mut loses = false;
    for link in &mut spec.links {
        if link.port.queues.len() > 1 {
            let loss_ppb = dice.pick(&[10_000_000, 50_000_000, 300_000_000, 700_000_000]);
            link.loss_ppb = loss_ppb;
            if dice.one_in(2) {
                fill(&mut link.port, &mut dice);
            }
            loses = true;
        }
    }
    loses.then_some(spec)
}

/// Keeps links without losses or changes, and VCs on their paths.
pub fn keep_all(spec: &mut NetworkSpec) {
    for link in &mut spec.links {
        (link.schedule, link.loss_ppb) = (None, 0);
    }
    spec.vcs.iter_mut().for_each(|vc| vc.rerouting = None);
}

/// Gives the link the schedule; losses of its steps take the place of its own.
pub fn set(link: &mut LinkSpec, schedule: ScheduleSpec) {
    let delays = schedule.delays_ps.iter().flatten();
    link.delay_ps = delays.copied().min().expect("it has steps");
    if !schedule.losses_ppb.is_empty() {
        link.loss_ppb = 0;
    }
    if !schedule.rates_millibps.is_empty() {
        link.receivers.clear(); // these have rates of their own
    }
    link.schedule = Some(schedule);
}

/// Makes frames lose single cells, their first cells among them, in the port's default queue.
fn fill(port: &mut PortSpec, dice: &mut Dice) {
    for queue in port.queues.iter_mut().filter(|queue| queue.class.is_none()) {
        queue.policy = PolicySpec::TailDrop(TailDropSpec {});
        queue.capacity_cells = Some(dice.pick(&[3, 10, 30, 60]));
    }
}

/// Gives the link a few steps of delay, some without a path, with handovers; to some of them rates
/// and losses, or one loss for all steps.
pub fn set_in_motion(link: &mut LinkSpec, duration_ps: u64, dice: &mut Dice) {
    let steps = 1 + dice.below(6);
    let delay = |dice: &mut Dice| link.delay_ps + dice.below(link.delay_ps + MILLISECOND);
    let delays_ps: Vec<Option<u64>> = (0..steps)
        .map(|step| (step == 0 || !dice.one_in(5)).then(|| delay(dice)))
        .collect();
    let schedule = ScheduleSpec {
        times_ps: (0..steps)
            .map(|step| step * (duration_ps / steps))
            .collect(),
        delays_ps,
        paths: (0..steps).map(|_| dice.below(3) as u32).collect(),
        cell_times_ps: some(steps, dice, |dice| {
            link.cell_time_ps * (1 + dice.below(4)) + dice.below(3)
        }),
        rates_millibps: Vec::new(),
        losses_ppb: some(steps, dice, |dice| {
            dice.pick(&[0, 0, 10_000_000, 300_000_000, WHOLE_PPB])
        }),
        to: Vec::new(),
        interruption_ps: dice.pick(&[0, 0, MILLISECOND, 3]),
        handover_loses_cells: dice.one_in(2),
    };
    set(link, schedule);
    lose_in_all_steps(link, dice);
}

/// Makes one in four of the links whose steps lose nothing lose frames in all of them.
fn lose_in_all_steps(link: &mut LinkSpec, dice: &mut Dice) {
    let loses = |schedule: &ScheduleSpec| !schedule.losses_ppb.is_empty();
    if !link.schedule.as_ref().is_some_and(loses) && dice.one_in(4) {
        link.loss_ppb = dice.pick(&[10_000_000, 300_000_000]);
    }
}

/// Makes links between switches vary, one or about half of them: many steps of delay, some of a few
/// cell times and some large, on few paths or many, without a break.
pub fn move_on(spec: &mut NetworkSpec, dice: &mut Dice) {
    let nodes = spec.nodes.clone();
    let is_switch = |node: u32| nodes[node as usize].kind == NodeKind::Switch;
    let is_end = |at: usize| {
        spec.vcs
            .iter()
            .any(|vc| vc.path.last() == Some(&(at as u32)))
    };
    let between: Vec<usize> = (0..spec.links.len())
        .filter(|&at| is_switch(spec.links[at].from) && !is_end(at))
        .collect();
    if between.is_empty() {
        return;
    }
    let one = dice.one_in(2).then(|| dice.pick(&between));
    for &at in &between {
        let (link, duration_ps) = (&mut spec.links[at], spec.duration_ps);
        let is_simple = link.port.scheduler == SchedulerSpec::Fifo(FifoSpec {});
        let is_chosen = one.map_or(dice.one_in(2), |one| one == at);
        if is_chosen && (is_simple || dice.one_in(16)) {
            let schedule = steps(link.delay_ps, link.cell_time_ps, duration_ps, dice);
            set(link, schedule);
            lose_in_all_steps(link, dice);
        }
    }
}

fn steps(delay: u64, cell_time: u64, duration: u64, dice: &mut Dice) -> ScheduleSpec {
    let most_steps = dice.pick(&[4, 40]);
    let steps = 2 + dice.below(most_steps);
    let unit = dice.pick(&[1, cell_time / 2, cell_time, MILLISECOND / 8]);
    let most = dice.pick(&[3, 12, 40]);
    let every = dice.pick(&[duration / steps, 7 * cell_time, 20 * cell_time]);
    let paths = dice.pick(&[1, 2, 5]);
    let is_steady = dice.one_in(3);
    let mut path = 0;
    let mut next_path = |dice: &mut Dice| {
        if !is_steady || dice.one_in(4) {
            path = dice.below(paths) as u32;
        }
        path
    };
    ScheduleSpec {
        times_ps: (0..steps).map(|step| step * every.max(1)).collect(),
        delays_ps: (0..steps)
            .map(|_| Some(delay + unit * dice.below(most)))
            .collect(),
        paths: (0..steps).map(|_| next_path(dice)).collect(),
        cell_times_ps: Vec::new(),
        rates_millibps: Vec::new(),
        losses_ppb: some(steps, dice, |dice| {
            dice.pick(&[0, 0, 10_000_000, 300_000_000])
        }),
        to: Vec::new(),
        interruption_ps: 0,
        handover_loses_cells: dice.one_in(2),
    }
}

/// Makes one link, or about half of all, lose frames; seldom a link whose port has a queue for each
/// VC.
pub fn lose_frames(spec: &mut NetworkSpec, dice: &mut Dice) {
    let one = dice.below(spec.links.len() as u64) as usize;
    let is_one = dice.one_in(2);
    for (at, link) in spec.links.iter_mut().enumerate() {
        let is_chosen = if is_one { at == one } else { dice.one_in(2) };
        let is_simple =
            link.port.queues.len() > 1 || link.port.scheduler == SchedulerSpec::Fifo(FifoSpec {});
        if link.schedule.is_none() && is_chosen && (is_simple || dice.one_in(16)) {
            let loss_ppb = dice.pick(&[0, 10_000_000, 50_000_000, 300_000_000, WHOLE_PPB]);
            link.loss_ppb = loss_ppb;
        }
    }
}

/// A value for each step, or for one link in two none at all.
fn some<T>(steps: u64, dice: &mut Dice, value: impl Fn(&mut Dice) -> T) -> Vec<T> {
    if dice.one_in(2) {
        return Vec::new();
    }
    (0..steps).map(|_| value(dice)).collect()
}

/// Makes a VC change between a link after its first link and a parallel link, with its own port and
/// delay; false if no VC has such a link.
pub fn reroute(spec: &mut NetworkSpec, dice: &mut Dice) -> bool {
    let long: Vec<usize> = (0..spec.vcs.len())
        .filter(|&vc| spec.vcs[vc].path.len() > 1)
        .collect();
    if long.is_empty() {
        return false;
    }
    let vc = dice.pick(&long);
    let path = spec.vcs[vc].path.clone();
    let index = 1 + dice.below(path.len() as u64 - 1) as usize;
    let mut beside = spec.links[path[index] as usize].clone();
    beside.name = format!("{} beside", beside.name);
    beside.schedule = None;
    beside.delay_ps = dice.below(3 * MILLISECOND);
    let mut other = path.clone();
    other[index] = spec.links.len() as u32;
    spec.links.push(beside);
    let every = 1 + dice.below(spec.duration_ps / 2);
    let count = 1 + dice.below(4);
    spec.vcs[vc].rerouting = Some(ReroutingSpec {
        times_ps: (1..=count).map(|n| n * every).collect(),
        paths: (0..count)
            .map(|n| {
                if n % 2 == 0 {
                    other.clone()
                } else {
                    path.clone()
                }
            })
            .collect(),
        loses_cells: dice.one_in(2),
    });
    true
}
