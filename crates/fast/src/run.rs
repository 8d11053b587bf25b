//! A run of the fast engine.

use crate::cut;
use crate::network::Network;
use crate::plan::{self, Plan};
use crate::sky::{self, Sky};
use crate::tuning::{Regions, Tuning};
use crate::turns::{self, Edge, Finished, Region};
use skycell_records::{RegionStats, RunRecords, SteppedPort, SteppedReason, joined};
use skycell_reference::{RunError, measured};
use skycell_spec::{
    Connections, FlowSpec, NetworkSpec, SkySpec, SourceSpec, TrafficSpec, UsersSpec,
};
use skycell_tcp::Segment;
use skycell_units::{Octets, SimTime};

/// Units that are moved between two calls of the progress function, events among them: some milliseconds, whatever an
/// event sets going. No clock is read for it.
const UNITS_PER_CALL: u64 = 1 << 14;

/// Runs `spec` over [0, duration) and counts from [`NetworkSpec::measure_from_ps`] on, as [`skycell_reference::run`]
/// does and with the same records; only `engine` and `engine_stats` differ. A port that has no closed form here is
/// stepped as there, and `engine_stats.stepped_ports` says which and why; where a resequencer puts cells in order, sources
/// set CLP, or packets may go in fragments, all of them.
///
/// # Errors
/// The spec is not valid, `progress` cancelled, or the ledger did not balance.
pub fn run(
    spec: &NetworkSpec,
    progress: &mut dyn FnMut(SimTime) -> bool,
) -> Result<RunRecords, RunError> {
    run_tuned(spec, &Tuning::USE, progress)
}

/// The same in up to `threads` threads, where the network has so much to do at once that it pays to divide it
/// ([`skycell_records::EngineStats::regions`]). Nothing but `engine_stats` depends on them.
///
/// # Errors
/// As [`run`].
pub fn run_on(
    spec: &NetworkSpec,
    threads: u32,
    progress: &mut dyn FnMut(SimTime) -> bool,
) -> Result<RunRecords, RunError> {
    spec.validate()?;
    let regions = regions_of(spec, threads);
    let tuning = Tuning {
        warms_up_beside: threads > 1 && regions.is_none(),
        regions,
        ..Tuning::USE
    };
    run_valid(spec, &tuning, progress)
}

/// The regions into which a valid spec is divided for so many threads, if it is.
pub fn regions_of(spec: &NetworkSpec, threads: u32) -> Option<Regions> {
    if reason_to_step_everywhere(spec).is_some() {
        return None;
    }
    let load = match &spec.sky {
        _ if threads < 2 => return None,
        Some(sky) => sky::load(spec, sky),
        None => plan::regions::load(&Connections::of(spec).spec),
    };
    let of_node = cut::cut(&load, spec.duration_ps, threads)?;
    Some(Regions {
        of_node,
        in_threads: true,
    })
}

/// So many regions of a network by label, whether dividing it pays or not, for measurements.
pub fn regions_forced(spec: &NetworkSpec, count: u32) -> Option<Regions> {
    Some(Regions {
        of_node: cut::cut_into(&sky::load(spec, spec.sky.as_ref()?), count)?,
        in_threads: false,
    })
}

/// The same with other numbers than those of [`Tuning::USE`].
///
/// # Errors
/// As [`run`].
pub fn run_tuned(
    spec: &NetworkSpec,
    tuning: &Tuning,
    progress: &mut dyn FnMut(SimTime) -> bool,
) -> Result<RunRecords, RunError> {
    spec.validate()?;
    run_valid(spec, tuning, progress)
}

fn run_valid(
    spec: &NetworkSpec,
    tuning: &Tuning,
    progress: &mut dyn FnMut(SimTime) -> bool,
) -> Result<RunRecords, RunError> {
    measured(spec, tuning.warms_up_beside, progress, &|spec, progress| {
        run_whole(spec, tuning, progress)
    })
}

fn run_whole(
    spec: &NetworkSpec,
    tuning: &Tuning,
    progress: &mut dyn FnMut(SimTime) -> bool,
) -> Result<RunRecords, RunError> {
    if reason_to_step_everywhere(spec).is_some() {
        return stepped_everywhere(spec, progress);
    }
    if let Some(sky) = &spec.sky {
        return match &tuning.regions {
            None => by_label(Sky::new(spec, sky), progress),
            Some(regions) => {
                let (parts, edges) = Sky::regions(spec, sky, &regions.of_node);
                let finished = in_turns(parts, &edges, regions.in_threads, progress)?;
                let crossings = finished.regions.iter().map(Sky::crossed).sum();
                let stats = stats_of(&finished, &edges, crossings);
                let mut records = Sky::merged(finished.regions).records();
                records.engine_stats.regions = Some(stats);
                balanced(records)
            }
        };
    }
    let connections = Connections::of(spec);
    let plan = Plan::new(&connections.spec);
    let (network, stats) = match &tuning.regions {
        None => {
            let network = Network::new(&connections.spec, &connections.proxies, plan, tuning);
            (run_alone(network, progress)?, None)
        }
        Some(regions) => {
            let of_node = &regions.of_node;
            let whole = (&*connections.spec, &connections.proxies[..], &plan);
            let (parts, edges) = Network::regions(whole, tuning, of_node);
            let finished = in_turns(parts, &edges, regions.in_threads, progress)?;
            let crossings = finished.regions.iter().map(Network::crossed).sum();
            let stats = stats_of(&finished, &edges, crossings);
            (Network::merged(finished.regions), Some(stats))
        }
    };
    let mut records = network.records();
    records.engine_stats.regions = stats;
    records.flows = joined(records.flows, spec.flows.len(), &connections.proxies);
    balanced(records)
}

/// Runs a network in one piece.
fn run_alone<'a>(
    mut network: Network<'a>,
    progress: &mut dyn FnMut(SimTime) -> bool,
) -> Result<Network<'a>, RunError> {
    let mut next_call = UNITS_PER_CALL;
    while let Some(now) = network.advance() {
        if network.moved >= next_call {
            next_call = network.moved + UNITS_PER_CALL;
            if !progress(now) {
                return Err(RunError::Cancelled { at: now });
            }
        }
    }
    network.finish();
    Ok(network)
}

/// A run in which nodes forward packets by label.
fn by_label(
    mut sky: Sky<'_>,
    progress: &mut dyn FnMut(SimTime) -> bool,
) -> Result<RunRecords, RunError> {
    let mut next_call = UNITS_PER_CALL;
    while let Some(now) = sky.advance() {
        if sky.moved >= next_call {
            next_call = sky.moved + UNITS_PER_CALL;
            if !progress(now) {
                return Err(RunError::Cancelled { at: now });
            }
        }
    }
    balanced(sky.records())
}

/// Runs the regions of a network.
fn in_turns<R: Region>(
    regions: Vec<R>,
    edges: &[Edge],
    in_threads: bool,
    progress: &mut dyn FnMut(SimTime) -> bool,
) -> Result<Finished<R>, RunError> {
    let run = match in_threads {
        true => turns::run_in_threads,
        false => turns::run_in_loop,
    };
    run(regions, edges, progress).map_err(|at| RunError::Cancelled { at })
}

fn stats_of<R>(finished: &Finished<R>, edges: &[Edge], crossings: u64) -> RegionStats {
    let events = || finished.work.iter().map(|work| work.units);
    let lookaheads = edges.iter().map(|edge| edge.lookahead.0);
    RegionStats {
        regions: finished.regions.len() as u32,
        lookahead_ps: lookaheads.min().unwrap_or(0),
        turns: finished.turns,
        crossings,
        events: events().sum(),
        largest_events: events().max().unwrap_or(0),
        path_events: finished.path.units,
    }
}

fn balanced(records: RunRecords) -> Result<RunRecords, RunError> {
    match records.ledger.first_unbalanced() {
        None => Ok(records),
        Some(account) => Err(RunError::Unbalanced {
            account: account.clone(),
        }),
    }
}

/// The ports of a valid spec that [`run`] steps, and why.
pub fn stepped_ports(spec: &NetworkSpec) -> Vec<SteppedPort> {
    let Some(reason) = reason_to_step_everywhere(spec) else {
        if let Some(sky) = &spec.sky {
            return stepped_ports_of_sky(spec, sky);
        }
        let connections = Connections::of(spec);
        return Plan::new(&connections.spec).stepped_ports(spec);
    };
    let of_sky = spec.sky.as_ref().map(|sky| sky.port_names(&spec.nodes));
    let links = spec.links.iter().map(|link| link.name.clone());
    let ports = links.chain(of_sky.into_iter().flatten());
    ports.map(|port| SteppedPort { port, reason }).collect()
}

/// The ports of a sky that are stepped, the others having closed forms.
fn stepped_ports_of_sky(spec: &NetworkSpec, sky: &SkySpec) -> Vec<SteppedPort> {
    let reasons = sky::reasons_of_kinds(sky);
    let names = sky.port_names(&spec.nodes).into_iter();
    let ports = names.zip(&sky.columns().port_kind).zip(0u32..);
    ports
        .filter_map(|((port, &kind), id)| {
            let is_sampled = spec.records.has_sampled(id);
            let sampled = is_sampled.then_some(SteppedReason::SampledInSky);
            let reason = reasons[usize::from(kind)].or(sampled)?;
            Some(SteppedPort { port, reason })
        })
        .collect()
}

/// Why no port of a run has a closed form here, if none has: a resequencer looks at each cell, or packets may be cut
/// on their way or go on with bit errors.
fn reason_to_step_everywhere(spec: &NetworkSpec) -> Option<SteppedReason> {
    if spec.sky.is_some() {
        return sky::reason_to_step_everywhere(spec);
    }
    let is_ordered = spec.vcs.iter().any(|vc| vc.resequencer.is_some());
    if is_ordered {
        return Some(SteppedReason::Resequencer);
    }
    let framings = || spec.links.iter().filter_map(|link| link.framing.as_ref());
    if framings().any(|framing| framing.checked_octets.is_some()) {
        return Some(SteppedReason::DamagedPackets);
    }
    cuts_packets(spec).then_some(SteppedReason::Fragmentation)
}

/// Returns whether a VC begins with a link that fragments some of the packets that it may carry.
fn cuts_packets(spec: &NetworkSpec) -> bool {
    let mtu_of = |vc: u32| {
        let first = spec.vcs[vc as usize].path[0];
        spec.links[first as usize].framing?.fragment_octets
    };
    if (0u32..).zip(&spec.vcs).all(|(vc, _)| mtu_of(vc).is_none()) {
        return false;
    }
    let is_cut = |vcs: &[u32], octets: Octets| {
        let mut mtus = vcs.iter().filter_map(|&vc| mtu_of(vc));
        mtus.any(|mtu| octets > mtu.into())
    };
    let cuts_segments = |flow: &FlowSpec| {
        let requests = matches!(flow.traffic, TrafficSpec::Web(_));
        is_cut(&flow.forward, Segment::longest_packet(&flow.tcp, true))
            || is_cut(&flow.reverse, Segment::longest_packet(&flow.tcp, requests))
    };
    let cuts_datagrams =
        |source: &SourceSpec| is_cut(&source.datagram_route, source.datagram_octets);
    let connections = Connections::of(spec);
    let cuts_users = |users: &UsersSpec| {
        let longest = users.groups.iter();
        let longest = longest
            .map(|group| {
                Segment::longest_packet(&group.tcp, true).max(group.app.longest_datagram())
            })
            .max();
        let peps = users.routes.iter().flat_map(|route| &route.peps);
        let behind = peps
            .map(|pep| Segment::longest_packet(&pep.tcp, true))
            .max();
        let longest = longest.max(behind).unwrap_or_default();
        spec.user_routes().any(|route| is_cut(route, longest))
    };
    connections.spec.flows.iter().any(cuts_segments)
        || spec.sources.iter().any(cuts_datagrams)
        || spec.users.as_ref().is_some_and(cuts_users)
}

/// A run in which no port has a closed form.
fn stepped_everywhere(
    spec: &NetworkSpec,
    progress: &mut dyn FnMut(SimTime) -> bool,
) -> Result<RunRecords, RunError> {
    let mut records = skycell_reference::run_whole(spec, progress)?;
    records.engine = "fast";
    records.engine_stats.stepped_ports = stepped_ports(spec);
    Ok(records)
}
