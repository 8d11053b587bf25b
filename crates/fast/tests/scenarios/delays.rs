//! Links whose delay varies from packet to packet.

use super::{Dice, MICROSECOND, MILLISECOND, packets};
use skycell_des::Stream;
use skycell_spec::*;

/// A scenario of packets in which the delays of some links vary, one at least where a link keeps its delay otherwise.
pub fn varying(seed: u64) -> NetworkSpec {
    let mut dice = Dice(Stream::new(seed, "delays"));
    let mut spec = packets(seed);
    let links = spec.links.iter_mut();
    let links = links.filter(|link| link.framing.is_some() && link.schedule.is_none());
    for (at, link) in links.enumerate() {
        if at == 0 || dice.one_in(2) {
            link.delay_variation = Some(variation(&mut dice));
        }
    }
    spec
}

fn variation(dice: &mut Dice) -> DelayVariationSpec {
    let part = VariationPart {
        correlation: dice.pick(&[0.0, 0.0, 0.3, 0.99]),
        reorder: dice.one_in(2),
    };
    let spread_ps = dice.pick(&[1, 50 * MICROSECOND, MILLISECOND, 20 * MILLISECOND]);
    match dice.below(4) {
        0 => DelayVariationSpec::Uniform(UniformDelaySpec { spread_ps, part }),
        1 => DelayVariationSpec::Normal(NormalDelaySpec { spread_ps, part }),
        2 => DelayVariationSpec::Pareto(ParetoDelaySpec { spread_ps, part }),
        _ => DelayVariationSpec::Table(TableDelaySpec {
            values_ps: vec![0, spread_ps, spread_ps, 3 * spread_ps],
            part,
        }),
    }
}
