//! Links whose losses come in bursts, or whose bits go wrong.

use super::{Dice, MILLISECOND, packets, scenario};
use skycell_des::Stream;
use skycell_spec::*;

/// A scenario of cells or packets in which some links, one at least, lose frames in bursts or have bit errors.
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
    // Drawn last, so that what was drawn before stays what it was.
    for link in &mut spec.links {
        let strikes_bits = (link.channel.as_ref()).is_some_and(ChannelSpec::strikes_bits);
        if let Some(framing) = link.framing.as_mut().filter(|_| strikes_bits)
            && dice.one_in(4)
        {
            framing.checked_octets = Some(framing.overhead_octets + dice.pick(&[20, 40, 300]));
        }
    }
    spec
}

pub(super) fn channel(dice: &mut Dice) -> ChannelSpec {
    match dice.below(7) {
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
        2 => ChannelSpec::BitErrors(BitErrorsSpec {
            ber: dice.pick(&[1e-6, 3e-5, 1e-3, 0.03]),
        }),
        3 => ChannelSpec::GilbertElliottBits(GilbertElliottBitsSpec {
            good_to_bad: dice.pick(&[1e-5, 1e-3, 1.0]),
            bad_to_good: dice.pick(&[1e-3, 0.05, 1.0]),
            errors_in_good: dice.pick(&[0.0, 1e-5]),
            errors_in_bad: dice.pick(&[0.01, 0.5]),
        }),
        4 => ChannelSpec::ErrorBursts(ErrorBurstsSpec {
            ber: dice.pick(&[1e-6, 1e-4, 0.1]),
            length_bits: dice.pick(&[1, 20, 600, 40_000]),
            density: dice.pick(&[0.5, 1.0]),
            lengths: dice.pick(&[BurstLengths::Fixed, BurstLengths::Geometric]),
        }),
        5 => {
            let gap = dice.pick(&[30, 5_000, 200_000]);
            let errors = (0..200).scan(0, |bit, _| {
                *bit += 1 + dice.below(gap);
                Some(*bit)
            });
            ChannelSpec::ErrorTrace(ErrorTraceSpec {
                errors: errors.collect(),
            })
        }
        _ => ChannelSpec::PeriodicLosses(PeriodicLossesSpec {
            period_ps: MILLISECOND,
            length_ps: dice.pick(&[1, MILLISECOND / 20, MILLISECOND]),
            phase_ps: dice.pick(&[0, MILLISECOND / 2, 3 * MILLISECOND]),
            loss: dice.pick(&[0.4, 1.0]),
        }),
    }
}
