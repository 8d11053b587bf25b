//! Uplinks whose slots terminals share, with every way of coming to them.

use super::{Dice, MICROSECOND, MILLISECOND, scenario, schedules};
use skycell_des::Stream;
use skycell_spec::*;

/// A scenario in which some links of cells that lead to one node, one at least, are those of an uplink; none where no link
/// can be.
pub fn uplinks(seed: u64) -> Option<NetworkSpec> {
    let mut dice = Dice(Stream::new(seed, "uplinks"));
    let mut spec = scenario(seed);
    let fits = |link: &LinkSpec| link.framing.is_none();
    let to: Vec<u32> = (spec.links.iter().filter(|link| fits(link)))
        .map(|link| link.to)
        .collect();
    if to.is_empty() {
        return None;
    }
    let node = dice.pick(&to);
    let all = (0u32..).zip(&spec.links);
    let mut links: Vec<u32> = all
        .filter(|(_, link)| link.to == node && fits(link))
        .map(|(id, _)| id)
        .collect();
    if dice.one_in(3) {
        links.truncate(1 + dice.below(2) as usize);
    }
    let mut moves = Dice(Stream::new(seed, "uplinks that move"));
    if moves.one_in(2) {
        for &id in &links {
            let link = &mut spec.links[id as usize];
            if moves.one_in(2) {
                link.loss_ppb = 0;
                schedules::set_in_motion(link, spec.duration_ps, &mut moves);
            }
        }
    }
    let cell_times = links.iter().flat_map(|&id| {
        let link = &spec.links[id as usize];
        let schedule = link.schedule.iter();
        let others = schedule.flat_map(|schedule| schedule.cell_times_ps.clone());
        others.chain([link.cell_time_ps]).collect::<Vec<u64>>()
    });
    let cell_time_ps = cell_times.max().expect("there is one");
    let slot_cells = 1 + dice.below(4) as u32;
    let terminals = links.len() as u32;
    spec.uplinks = vec![UplinkSpec {
        name: "hub".into(),
        slot_ps: cell_time_ps * u64::from(slot_cells) + dice.pick(&[0, 0, 1, 5 * MICROSECOND]),
        slot_cells,
        feedback_ps: dice.pick(&[0, 1, 20 * MICROSECOND, MILLISECOND]),
        response_ps: dice.pick(&[0, 50 * MICROSECOND, MILLISECOND, 4 * MILLISECOND]),
        access: access(&mut dice, terminals),
        impairments: impairments(&mut dice),
        links,
    }];
    Some(spec)
}

fn access(dice: &mut Dice, terminals: u32) -> AccessSpec {
    match dice.below(6) {
        0 => AccessSpec::SlottedAloha(SlottedAlohaSpec {
            backoff: dice.pick(&[
                AlohaBackoff::Fixed,
                AlohaBackoff::BinaryExponential,
                AlohaBackoff::PseudoBayesian,
            ]),
            probability: dice.pick(&[0.05, 0.4, 1.0]),
            max_exponent: dice.pick(&[0, 3, 10]),
            arrivals: dice.pick(&[0.1, 0.37, 1.0]),
        }),
        1 => AccessSpec::Tree(TreeSpec {
            window_ps: dice.pick(&[0, 30 * MICROSECOND, MILLISECOND]),
            skips_certain_collisions: dice.one_in(2),
        }),
        2 => AccessSpec::Splitting(SplittingSpec {
            window_ps: dice.pick(&[10 * MICROSECOND, MILLISECOND]),
        }),
        3 => AccessSpec::FixedAssignment(FixedAssignmentSpec {
            constant_slots: dice.pick(&[1, 2, 7]),
        }),
        4 => AccessSpec::Dama(DamaSpec {
            frame_slots: 3 + terminals + dice.below(20) as u32,
            request_slots: dice.pick(&[1, 2]),
            requests_per_slot: dice.pick(&[1, 4]),
            request: dice.pick(&[
                RequestCategory::None,
                RequestCategory::Rate,
                RequestCategory::Volume,
                RequestCategory::AbsoluteVolume,
            ]),
            constant_slots: dice.pick(&[0, 1]),
            rate_timeout: dice.pick(&[1, 16]),
            free_capacity: dice.one_in(2),
        }),
        _ => AccessSpec::Hybrid(HybridSpec {
            frame_slots: 4 + dice.below(20) as u32,
            contention_slots: dice.pick(&[1, 3]),
            arrivals: dice.pick(&[0.1, 0.37]),
        }),
    }
}

/// Often none.
fn impairments(dice: &mut Dice) -> AccessImpairments {
    if !dice.one_in(3) {
        return AccessImpairments::default();
    }
    AccessImpairments {
        burst_errors: dice.pick(&[0.0, 0.1]),
        false_collisions: dice.pick(&[0.0, 0.2]),
        jammed: dice.pick(&[0.0, 0.3]),
        jammed_from_ps: dice.pick(&[0, MILLISECOND]),
        jammed_until_ps: dice.pick(&[0, 3 * MILLISECOND]),
    }
}
