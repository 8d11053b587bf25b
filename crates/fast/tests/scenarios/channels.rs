//! Links whose losses come in bursts.

use super::{Dice, MILLISECOND, packets, scenario};
use skycell_des::Stream;
use skycell_spec::*;

/// A scenario of cells or packets in which some links, one at least, lose frames in bursts.
pub fn bursty(seed: u64) -> NetworkSpec {
    let mut dice = Dice(Stream::new(seed, "channels"));
    let mut spec = match dice.one_in(2) {
        true => scenario(seed),
        false => packets(seed),
    };
    let certain = dice.below(spec.links.len() as u64) as usize;
    for (at, link) in spec.links.iter_mut().enumerate() {
        if at != certain && !dice.one_in(4) {
            continue;
        }
        link.loss_ppb = 0;
        if let Some(schedule) = &mut link.schedule {
            schedule.losses_ppb = Vec::new();
        }
        link.channel = Some(channel(&mut dice));
    }
    spec
}

fn channel(dice: &mut Dice) -> ChannelSpec {
    match dice.below(3) {
        0 => ChannelSpec::GilbertElliott(GilbertElliottSpec {
            good_to_bad: dice.pick(&[0.01, 0.2, 1.0]),
            bad_to_good: dice.pick(&[0.1, 0.5, 1.0]),
            loss_in_good: dice.pick(&[0.0, 0.02]),
            loss_in_bad: dice.pick(&[0.5, 1.0]),
        }),
        1 => ChannelSpec::LossBursts(LossBurstsSpec {
            gap_ps: dice.pick(&[MILLISECOND / 10, MILLISECOND, 5 * MILLISECOND]),
            length_ps: dice.pick(&[MILLISECOND / 10, MILLISECOND / 3]),
            loss: dice.pick(&[0.3, 1.0]),
        }),
        _ => ChannelSpec::PeriodicLosses(PeriodicLossesSpec {
            period_ps: MILLISECOND,
            length_ps: dice.pick(&[1, MILLISECOND / 20, MILLISECOND]),
            phase_ps: dice.pick(&[0, MILLISECOND / 2, 3 * MILLISECOND]),
            loss: dice.pick(&[0.4, 1.0]),
        }),
    }
}
