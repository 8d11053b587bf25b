//! Users of the web.

use super::{Dice, MILLISECOND};
use skycell_spec::*;

/// A web user in a hurry: pages every few milliseconds.
pub(super) fn user(dice: &mut Dice) -> WebSpec {
    let count = |dice: &mut Dice, low: u32, high: u32| CountSpec {
        mean: dice.pick(&[0.5, 2.0, 5.0]),
        low,
        high,
        outside: dice.pick(&[OutsideLimits::Clamp, OutsideLimits::Redraw]),
    };
    let largest = dice.pick(&[200, 3_000, 30_000]);
    WebSpec {
        page_interval: dice.pick(&[
            DistributionSpec::Constant {
                value_ps: MILLISECOND / 2,
            },
            DistributionSpec::Uniform {
                low_ps: 1,
                high_ps: 8 * MILLISECOND,
            },
            DistributionSpec::Exponential {
                mean_ps: 3 * MILLISECOND,
            },
        ]),
        page_interval_from: dice.pick(&[
            PageMoment::FirstRequest,
            PageMoment::LastRequest,
            PageMoment::LastAnswer,
        ]),
        pages: dice.pick(&[None, Some(2)]),
        requests: count(dice, 1, 9),
        gap: dice.pick(&[
            DistributionSpec::Constant { value_ps: 0 },
            DistributionSpec::Uniform {
                low_ps: 5,
                high_ps: MILLISECOND,
            },
            DistributionSpec::Exponential {
                mean_ps: MILLISECOND,
            },
        ]),
        request_octets: dice.pick(&[1, 128, 2_000]),
        classes: (0..2)
            .map(|i| FileClassSpec {
                weight: f64::from(1 + 3 * i),
                sizes_octets: (0..3).map(|_| 1 + dice.below(largest)).collect(),
            })
            .collect(),
        index_first: dice.one_in(3),
        size: count(dice, 1, 3),
    }
}
