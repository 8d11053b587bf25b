//! Hosts that take a time to hand over what their end points send.

use super::{Dice, MICROSECOND};
use skycell_des::Stream;
use skycell_spec::{JitterSpec, NetworkSpec};

/// In some scenarios gives all end points processing times, or some of them.
pub fn with_jitter(mut spec: NetworkSpec, seed: u64) -> NetworkSpec {
    let mut dice = Dice(Stream::new(seed, "jitter"));
    if !dice.one_in(3) {
        return spec;
    }
    let (for_all, is_same) = (dice.one_in(2), dice.one_in(2));
    let time = |dice: &mut Dice| match for_all || dice.one_in(2) {
        true => dice.pick(&[1, 1_000, 2_726_337, 50 * MICROSECOND, 400 * MICROSECOND]),
        false => 0,
    };
    let of_all = [time(&mut dice), time(&mut dice)];
    for flow in &mut spec.flows {
        let [data_ps, acks_ps] = match is_same {
            true => of_all,
            false => [time(&mut dice), time(&mut dice)],
        };
        flow.jitter = JitterSpec { data_ps, acks_ps };
    }
    spec
}
