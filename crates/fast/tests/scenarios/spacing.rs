//! Queues of VCs that Virtual Spacing or round robin serves.

use super::Dice;
use skycell_spec::*;
use std::collections::BTreeSet;

/// Makes a switch's port with one queue serve VCs; leaves a spec without such a port unchanged.
pub fn set(spec: &mut NetworkSpec, dice: &mut Dice) {
    let vcs = spec.vcs.len();
    let is_switch = |node: u32| spec.nodes[node as usize].kind == NodeKind::Switch;
    let port = spec
        .links
        .iter()
        .position(|link| is_switch(link.from) && link.port.queues.len() == 1);
    if let Some(port) = port {
        spec.links[port].port.scheduler = any(vcs, dice);
    }
}

/// Makes about half of the ports with one queue behind time-varying links serve VCs.
pub fn set_behind_time_varying(spec: &mut NetworkSpec, dice: &mut Dice) {
    let vcs = spec.vcs.len();
    let schedule_of = |link: u32| spec.links[link as usize].schedule.is_some();
    let pairs = spec.vcs.iter().flat_map(|vc| vc.path.windows(2));
    let behind = pairs.filter(|pair| schedule_of(pair[0]) && !schedule_of(pair[1]));
    let behind: BTreeSet<u32> = behind.map(|pair| pair[1]).collect();
    for link in behind {
        let port = &mut spec.links[link as usize].port;
        if port.queues.len() == 1 && dice.one_in(2) {
            port.scheduler = any(vcs, dice);
        }
    }
}

/// A scheduler that serves `vcs` VCs.
pub fn any(vcs: usize, dice: &mut Dice) -> SchedulerSpec {
    match dice.below(4) {
        0 => SchedulerSpec::VcRoundRobin(VcRoundRobinSpec {
            weights: vec![1; vcs],
        }),
        1 => SchedulerSpec::VcRoundRobin(VcRoundRobinSpec {
            weights: (0..vcs).map(|_| dice.pick(&[1, 2, 3, 40])).collect(),
        }),
        _ => SchedulerSpec::VirtualSpacing(VirtualSpacingSpec {
            intervals_ps: (0..vcs)
                .map(|_| dice.pick(&[1, 5_000_000, 10_000_000, 10_000_000, 100_000_000]))
                .collect(),
        }),
    }
}
