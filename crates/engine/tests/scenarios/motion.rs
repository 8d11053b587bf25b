//! Links that change during the run.

use super::{Dice, MILLISECOND};
use skycell_spec::*;

/// Gives the link a few steps of delay, some without a path, with handovers; to some of them rates
/// and losses.
pub fn set_in_motion(link: &mut LinkSpec, duration_ps: u64, dice: &mut Dice) {
    let steps = 1 + dice.below(6);
    let delay = |dice: &mut Dice| link.delay_ps + dice.below(link.delay_ps + MILLISECOND);
    let delays_ps: Vec<Option<u64>> = (0..steps)
        .map(|step| (step == 0 || !dice.one_in(5)).then(|| delay(dice)))
        .collect();
    link.delay_ps = delays_ps
        .iter()
        .flatten()
        .copied()
        .min()
        .expect("the first");
    link.motion = Some(MotionSpec {
        times_ps: (0..steps)
            .map(|step| step * (duration_ps / steps))
            .collect(),
        delays_ps,
        paths: (0..steps).map(|_| dice.below(3) as u32).collect(),
        cell_times_ps: some(steps, dice, |dice| {
            link.cell_time_ps * (1 + dice.below(4)) + dice.below(3)
        }),
        losses_ppb: some(steps, dice, |dice| {
            dice.pick(&[0, 0, 10_000_000, 300_000_000, WHOLE_PPB])
        }),
        to: Vec::new(),
        interruption_ps: dice.pick(&[0, 0, MILLISECOND, 3]),
        handover_loses_cells: dice.one_in(2),
    });
}

/// A value for each step, or for one link in two none at all.
fn some<T>(steps: u64, dice: &mut Dice, value: impl Fn(&mut Dice) -> T) -> Vec<T> {
    if dice.one_in(2) {
        return Vec::new();
    }
    (0..steps).map(|_| value(dice)).collect()
}
