//! Sources that are faster than links on their way, and than the first of them.

use super::{Dice, hosts, packets, scenario, several_classes};
use skycell_des::Stream;
use skycell_spec::*;

/// A scenario in which each source that sends at a pace does so up to ten times as fast, without its policer; half have
/// limits at the ports of hosts, too. None where a scenario has no such source.
pub fn overload(seed: u64) -> Option<NetworkSpec> {
    let mut dice = Dice(Stream::new(seed, "overload"));
    let mut spec = match seed % 3 {
        0 => several_classes(seed),
        1 => packets(seed),
        _ => scenario(seed),
    };
    let mut is_there = false;
    let times = dice.pick(&[2, 3, 10]);
    let paced = spec
        .sources
        .iter_mut()
        .filter(|source| source.cell_interval_ps > 0);
    for source in paced {
        source.cell_interval_ps = (source.cell_interval_ps / times).max(1);
        spec.vcs[source.vc as usize].policing.clear();
        is_there = true;
    }
    if dice.one_in(2) {
        hosts::limit(&mut spec, &mut dice);
    }
    is_there.then_some(spec)
}

#[test]
fn some_sources_are_faster_than_the_first_link_on_their_way_and_some_than_a_later_one() {
    let (mut than_first, mut than_later) = (0, 0);
    for spec in (0..250).filter_map(overload) {
        for source in spec.sources.iter().filter(|of| of.cell_interval_ps > 0) {
            let path = &spec.vcs[source.vc as usize].path;
            let is_faster = |link: &&u32| {
                let link = &spec.links[**link as usize];
                link.framing.is_none() && source.cell_interval_ps < link.cell_time_ps
            };
            than_first += u64::from(path.iter().take(1).any(|link| is_faster(&link)));
            than_later += u64::from(path.iter().skip(1).any(|link| is_faster(&link)));
        }
    }
    assert!(than_first > 20, "{than_first}");
    assert!(than_later > 20, "{than_later}");
}
