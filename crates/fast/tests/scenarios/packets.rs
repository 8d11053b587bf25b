//! Links that carry packets, alone and beside links of cells.

use super::{Builder, Dice, classes, scenario, some_datagrams};
use skycell_des::Stream;
use skycell_spec::*;
use skycell_tcp::spec::EcnUse;

/// A scenario in which some or all switches are routers, and links between hosts and routers carry packets.
pub fn packets(seed: u64) -> NetworkSpec {
    let mut spec = scenario(seed);
    let mut dice = Dice(Stream::new(seed, "packets"));
    leave_out_what_is_made_of_cells(&mut spec);
    let all = dice.one_in(2);
    let mut is_new = vec![false; spec.nodes.len()];
    for (node, is_new) in spec.nodes.iter_mut().zip(&mut is_new) {
        if node.kind == NodeKind::Switch && (all || dice.one_in(2)) {
            (node.kind, *is_new) = (NodeKind::Router, true);
        }
    }
    split_vcs(&mut spec, &is_new);
    let is_switch: Vec<bool> = spec
        .nodes
        .iter()
        .map(|n| n.kind == NodeKind::Switch)
        .collect();
    let rate = dice.pick(&[
        1_000_000_000,
        100_000_000_000,
        155_520_000_000,
        7_777_777_777,
    ]);
    for link in &mut spec.links {
        let is_at_router = is_new[link.from as usize];
        if is_at_router {
            let queue = &link.port.queues[0];
            link.port = PortSpec::fifo(queue.capacity_cells, queue.policy.clone(), 0);
        }
        let to = link.schedule.iter().flat_map(|schedule| &schedule.to);
        let mut ends = [link.from, link.to].into_iter().chain(to.copied());
        if ends.all(|node| !is_switch[node as usize]) && !dice.one_in(6) {
            carry_packets(link, rate, &mut dice);
        }
    }
    let is_alike = |source: &&mut SourceSpec| source.cell_interval_ps > 0;
    for source in spec.sources.iter_mut().filter(is_alike) {
        source.datagram_octets = dice.pick(&[1, 40, 200, 1_500, 9_000]);
    }
    classes::fit_echoes(&mut spec);
    let mut dice = Dice(Stream::new(seed, "fragments"));
    if dice.one_in(24) {
        for framing in spec
            .links
            .iter_mut()
            .filter_map(|link| link.framing.as_mut())
        {
            framing.fragment_octets = dice.pick(&[None, Some(68), Some(576), Some(1_006)]);
        }
    }
    weigh_vcs(&mut spec);
    let mut dice = Dice(Stream::new(seed, "flows at ports"));
    let of_packets = (0u32..)
        .zip(&spec.links)
        .filter(|(_, link)| link.framing.is_some());
    let asked = of_packets.filter(|_| dice.one_in(4)).map(|(id, _)| id);
    spec.records.flow_ports = asked.collect();
    let mut dice = Dice(Stream::new(seed, "delays of datagrams"));
    spec.records.delay_sources = some_datagrams(&spec, &mut dice);
    let mut dice = Dice(Stream::new(seed, "policies of packets"));
    if dice.one_in(4) {
        manage_queues(&mut spec, &mut dice);
        for flow in &mut spec.flows {
            if !flow.tcp.congestion.is_scalable() {
                flow.tcp.ecn = dice.pick(&[EcnUse::Off, EcnUse::Classic, EcnUse::Classic]);
                if matches!(flow.tcp.congestion, CongestionSpec::Bbr3(_)) {
                    flow.tcp.ecn = EcnUse::Off;
                }
            }
        }
    }
    let mut dice = Dice(Stream::new(seed, "receivers"));
    if dice.one_in(6) {
        receive_apart(&mut spec, &mut dice);
    }
    let mut dice = Dice(Stream::new(seed, "acknowledgement filters"));
    if dice.one_in(6) {
        for link in spec.links.iter_mut().filter(|link| link.framing.is_some()) {
            link.port.ack_filter = dice.one_in(2);
        }
        for flow in &mut spec.flows {
            flow.ipsec = dice.one_in(4);
        }
    }
    spec
}

/// Gives VCs of some links rates of their own, which change, and times at which nobody hears them.
fn receive_apart(spec: &mut NetworkSpec, dice: &mut Dice) {
    for (link, id) in spec.links.iter_mut().zip(0..) {
        let Some(framing) = link.framing else {
            continue;
        };
        let changes = |schedule: &ScheduleSpec| !schedule.rates_millibps.is_empty();
        if link.schedule.as_ref().is_some_and(changes) || dice.one_in(3) {
            continue;
        }
        let crossing = (0u32..).zip(&spec.vcs);
        let crossing = crossing.filter(|(_, vc)| vc.path.contains(&id));
        for (vc, _) in crossing.filter(|_| !dice.one_in(3)).collect::<Vec<_>>() {
            let steps = 1 + dice.below(4);
            let mut rate = || {
                let own = framing.rate_millibps / dice.pick(&[1, 2, 3, 7]);
                (!dice.one_in(5)).then_some(own.max(1_000_000))
            };
            let mut rates: Vec<_> = (0..steps).map(|_| rate()).collect();
            rates[0] = rates[0].or(Some(framing.rate_millibps));
            link.receivers.push(ReceiverSpec {
                vcs: vec![vc],
                times_ps: (0..steps).map(|k| k * spec.duration_ps / steps).collect(),
                rates_millibps: rates,
            });
        }
    }
}

/// Gives some ports of packets policies that only such ports can have.
pub(super) fn manage_queues(spec: &mut NetworkSpec, dice: &mut Dice) {
    for link in spec.links.iter_mut() {
        let queue = &mut link.port.queues[0];
        let is_at_switch = spec.nodes[link.from as usize].kind == NodeKind::Switch;
        if link.framing.is_none() {
            // Frames of cells, whose router has seen the packets in them.
            queue.by_flow = !is_at_switch && dice.one_in(2);
            continue;
        }
        if dice.one_in(2) {
            let capacity = queue.capacity_cells.unwrap_or(20);
            queue.policy = Builder::new(dice).policy_of_packets(capacity);
        }
        queue.by_flow = dice.one_in(3);
        if dice.one_in(3) && queue.policy.order().is_none() {
            let quantum_octets = dice.pick(&[1_500, 100, 9_000]);
            let spec = DeficitRoundRobinSpec { quantum_octets };
            link.port.scheduler = SchedulerSpec::DeficitRoundRobin(spec);
        }
        let rate = link.framing.map_or(1, |framing| framing.rate_millibps);
        let mut bucket = || {
            let rate_millibps = rate / dice.pick(&[1, 2, 5]);
            TokenBucketSpec {
                rate_millibps,
                burst_octets: dice.pick(&[40, 1_500, 20_000]),
                peak_millibps: dice.pick(&[None, None, Some(rate_millibps * 2)]),
            }
        };
        let (shaper, policer) = (bucket(), bucket());
        if dice.one_in(4) {
            link.port.shaper = Some(shaper);
        }
        if dice.one_in(6) {
            link.port.policer = Some(PacketPolicerSpec {
                rate_millibps: policer.rate_millibps,
                burst_octets: policer.burst_octets,
                peak_millibps: policer.peak_millibps,
                excess: dice.pick(&[ExcessAction::Discard, ExcessAction::Mark]),
            });
        }
    }
}

/// Contracts, policers, sources of cells, and delays of cells.
fn leave_out_what_is_made_of_cells(spec: &mut NetworkSpec) {
    for vc in &mut spec.vcs {
        (vc.gfr, vc.rerouting, vc.class) = (None, None, ServiceClass::Ubr);
        vc.policing.clear();
    }
    spec.sources
        .retain(|source| !source.datagram_route.is_empty());
    spec.records.delay_vcs.clear();
    for link in &mut spec.links {
        let queue = link.port.queues.iter().find(|queue| queue.class.is_none());
        let (capacity, policy) = queue
            .map_or((None, PolicySpec::TailDrop(TailDropSpec {})), |queue| {
                (queue.capacity_cells, queue.policy.clone())
            });
        let scheduler = match &link.port.scheduler {
            kind @ (SchedulerSpec::VcRoundRobin(_) | SchedulerSpec::VirtualSpacing(_)) => {
                kind.clone()
            }
            _ => SchedulerSpec::Fifo(FifoSpec {}),
        };
        link.port = PortSpec {
            scheduler,
            ..PortSpec::fifo(capacity, policy, link.port.frame_gap_ps)
        };
    }
}

/// Cuts VCs where they come by a new router.
fn split_vcs(spec: &mut NetworkSpec, is_new: &[bool]) {
    let mut parts: Vec<Vec<u32>> = Vec::new();
    let mut vcs: Vec<VcSpec> = Vec::new();
    for vc in &spec.vcs {
        let mut own = Vec::new();
        let begins = |link: &u32| is_new[spec.links[*link as usize].from as usize];
        for path in vc.path.chunk_by(|_, next| !begins(next)) {
            own.push(vcs.len() as u32);
            vcs.push(VcSpec {
                resequencer: None,
                by_label: None,
                name: format!("vc{}", vcs.len()),
                path: path.to_vec(),
                ..vc.clone()
            });
        }
        parts.push(own);
    }
    spec.vcs = vcs;
    let cut = |route: &mut Vec<u32>| {
        *route = route
            .iter()
            .flat_map(|vc| parts[*vc as usize].clone())
            .collect();
    };
    for flow in &mut spec.flows {
        cut(&mut flow.forward);
        cut(&mut flow.reverse);
    }
    for source in &mut spec.sources {
        cut(&mut source.datagram_route);
        source.vc = source.datagram_route[0];
    }
}

/// Makes the link carry packets, at about `rate`.
fn carry_packets(link: &mut LinkSpec, rate: u64, dice: &mut Dice) {
    let framing = |overhead_octets, least_octets, unit_octets, line_octets| PacketFraming {
        rate_millibps: rate,
        overhead_octets,
        least_octets,
        unit_octets,
        line_octets,
        fragment_octets: None,
        checked_octets: None,
    };
    let framing = dice.pick(&[
        framing(0, 0, 1, 1),
        framing(38, 46, 1, 1),
        framing(16, 0, 48, 53),
    ]);
    let rate = dice.pick(&[rate, rate, rate / 2, rate / 10, rate * 3]);
    link.framing = Some(PacketFraming {
        rate_millibps: rate,
        ..framing
    });
    link.cell_time_ps = 0;
    if let Some(schedule) = &mut link.schedule {
        schedule.rates_millibps = schedule
            .cell_times_ps
            .iter()
            .map(|_| rate - rate / 4 * dice.below(3))
            .collect();
        schedule.cell_times_ps.clear();
    }
    let mut builder = Builder::new(dice);
    let queue = &mut link.port.queues[0];
    let Some(cells) = queue.capacity_cells else {
        return;
    };
    queue.counts_octets = builder.dice.one_in(2);
    let capacity = match queue.counts_octets {
        true => (cells * 48).max(60),
        false => cells.div_ceil(builder.dice.pick(&[1, 10, 30])),
    };
    queue.capacity_cells = Some(capacity);
    queue.policy = match builder.dice.one_in(3) {
        true => PolicySpec::TailDrop(TailDropSpec {}),
        false => builder.policy(capacity),
    };
}

/// Gives schedulers that serve VCs as many weights as there are VCs now.
fn weigh_vcs(spec: &mut NetworkSpec) {
    let count = spec.vcs.len();
    for link in &mut spec.links {
        match &mut link.port.scheduler {
            SchedulerSpec::VcRoundRobin(VcRoundRobinSpec { weights }) => {
                *weights = weights.iter().copied().cycle().take(count).collect();
            }
            SchedulerSpec::VirtualSpacing(VirtualSpacingSpec { intervals_ps }) => {
                *intervals_ps = intervals_ps.iter().copied().cycle().take(count).collect();
            }
            _ => {}
        }
    }
}
