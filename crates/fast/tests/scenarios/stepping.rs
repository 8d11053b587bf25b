//! Links whose ports have no closed form, among others that have one.

use super::{Dice, MILLISECOND, schedules};
use skycell_des::Stream;
use skycell_spec::*;

/// The scenario `spec` in which about a third of the links, or one, changes its rate, breaks off, or is interrupted: some
/// in the midst of the run and some as it ends, so that they are what they were.
pub fn with_stepping(spec: NetworkSpec, seed: u64) -> NetworkSpec {
    let mut spec = spec;
    let mut dice = Dice(Stream::new(seed, "stepping"));
    let one = dice.below(spec.links.len() as u64) as usize;
    let is_one = dice.one_in(3);
    let duration = spec.duration_ps;
    for (at, link) in spec.links.iter_mut().enumerate() {
        let is_chosen = if is_one { at == one } else { dice.one_in(3) };
        if is_chosen && link.schedule.is_none() {
            let schedule = breaks(link, duration, &mut dice);
            schedules::set(link, schedule);
        }
    }
    let mut dice = Dice(Stream::new(seed, "stays"));
    let of_cells = (0u32..)
        .zip(&spec.links)
        .filter(|(_, link)| link.framing.is_none());
    let asked = of_cells.filter(|_| dice.one_in(4)).map(|(id, _)| id);
    spec.records.stay_ports = asked.collect();
    spec
}

/// Two or three steps of one delay, or of two.
fn breaks(link: &LinkSpec, duration: u64, dice: &mut Dice) -> ScheduleSpec {
    let begin = dice
        .pick(&[duration - 1, duration / 3, duration / 2, duration / 7])
        .max(1);
    let end = begin + dice.pick(&[1, MILLISECOND / 16, MILLISECOND, duration]);
    let other = link.delay_ps + dice.pick(&[0, 0, link.cell_time_ps, MILLISECOND / 2]);
    let is_out = dice.one_in(2);
    let slower = |time: u64, dice: &mut Dice| match dice.below(3) {
        0 => vec![time; 3],
        _ => vec![time, time * (1 + dice.below(5)) + dice.below(2), time],
    };
    let has_rates = !is_out || dice.one_in(3);
    let (mut cell_times_ps, mut rates_millibps) = (Vec::new(), Vec::new());
    match &link.framing {
        _ if !has_rates => {}
        Some(framing) => {
            let rate = framing.rate_millibps;
            rates_millibps = vec![rate, rate / (1 + dice.below(5)), rate];
        }
        None => cell_times_ps = slower(link.cell_time_ps, dice),
    }
    let is_handover = dice.one_in(2);
    ScheduleSpec {
        times_ps: vec![0, begin, end],
        delays_ps: vec![
            Some(link.delay_ps),
            (!is_out).then_some(other),
            Some(dice.pick(&[link.delay_ps, other])),
        ],
        paths: if is_handover {
            vec![0, 0, 1]
        } else {
            vec![0; 3]
        },
        cell_times_ps,
        rates_millibps,
        losses_ppb: dice.pick(&[Vec::new(), Vec::new(), vec![0, 300_000_000, 50_000_000]]),
        to: Vec::new(),
        interruption_ps: dice.pick(&[0, 1, 7, MILLISECOND / 8]),
        handover_loses_cells: dice.one_in(2),
    }
}
