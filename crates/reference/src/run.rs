//! A run: the event loop, and what it leaves.

use crate::network::{Finished, Network};
use skycell_records::{
    Account, CallRecord, EngineStats, Ledger, ProbeRecord, RunRecords, WebTotals, delay_records,
    joined,
};
use skycell_spec::{Connections, NetworkSpec, SpecError};
use skycell_traffic::CellSource;
use skycell_units::SimTime;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Events between two calls of the progress function: some milliseconds.
const EVENTS_PER_CALL: u32 = 1 << 13;

/// Why a run left no records.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The spec cannot be simulated.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The progress function asked for an end.
    #[error("the run was cancelled at {at}")]
    Cancelled {
        /// Simulated time reached.
        at: SimTime,
    },
    /// Something was lost count of: a defect of the engine.
    #[error("the ledger does not balance: {account:?}")]
    Unbalanced {
        /// The account that does not balance.
        account: Account,
    },
}

/// Runs `spec` over [0, duration) and counts from [`NetworkSpec::measure_from_ps`] on. `progress` is told
/// the simulated time now and then and returns false to cancel.
///
/// # Errors
/// The spec is not valid, `progress` cancelled, or the ledger did not balance.
pub fn run(
    spec: &NetworkSpec,
    progress: &mut dyn FnMut(SimTime) -> bool,
) -> Result<RunRecords, RunError> {
    spec.validate()?;
    measured(spec, false, progress, &|spec, progress| {
        run_whole(spec, progress)
    })
}

/// Simulates a valid spec.
pub type RunValid<'a> = &'a (
        dyn Fn(&NetworkSpec, &mut dyn FnMut(SimTime) -> bool) -> Result<RunRecords, RunError> + Sync
    );

/// Returns the results of `run` of `spec`, counted from [`NetworkSpec::measure_from_ps`] on: the
/// run up to there is a separate run, `at_once` with the other in a thread of its own.
///
/// # Errors
/// As `run`.
pub fn measured(
    spec: &NetworkSpec,
    at_once: bool,
    progress: &mut dyn FnMut(SimTime) -> bool,
    run: RunValid<'_>,
) -> Result<RunRecords, RunError> {
    let mut records = from_there_on(spec, at_once, progress, run)?;
    records.calls = CallRecord::of_run(spec);
    records.probes = ProbeRecord::of_run(spec, &records.sources);
    Ok(records)
}

/// The same, the calls not counted.
fn from_there_on(
    spec: &NetworkSpec,
    at_once: bool,
    progress: &mut dyn FnMut(SimTime) -> bool,
    run: RunValid<'_>,
) -> Result<RunRecords, RunError> {
    let (from, end) = (spec.measure_from_ps, spec.duration_ps);
    if from == 0 {
        return run(spec, progress);
    }
    // Of both runs together the share that is done, as a time of the whole one.
    let mut share_done = |done: u64| {
        let time = u128::from(end) * u128::from(done) / u128::from(from + end);
        progress(SimTime(time as u64))
    };
    let mut beginning = NetworkSpec {
        duration_ps: from,
        measure_from_ps: 0,
        ..spec.clone()
    };
    beginning.records.traces.clear();
    if at_once {
        let done = &mut |whole: SimTime, start: SimTime| share_done(whole.0 + start.0);
        let (whole, start) = both((spec, &beginning), done, run);
        return Ok(whole?.since(&start?, spec));
    }
    let start = run(&beginning, &mut |now| share_done(now.0))?;
    let whole = run(spec, &mut |now| share_done(from + now.0))?;
    Ok(whole.since(&start, spec))
}

type Outcome = Result<RunRecords, RunError>;

/// Runs two valid specs at once, the second in a thread of its own. `progress` gets the times that both have reached.
fn both(
    (first, second): (&NetworkSpec, &NetworkSpec),
    progress: &mut dyn FnMut(SimTime, SimTime) -> bool,
    run: RunValid<'_>,
) -> (Outcome, Outcome) {
    // Relaxed: no other memory is read because of them.
    let (second_is_at, is_cancelled) = (&AtomicU64::new(0), &AtomicBool::new(false));
    std::thread::scope(|scope| {
        let beside = scope.spawn(move || {
            run(second, &mut |now| {
                second_is_at.store(now.0, Relaxed);
                !is_cancelled.load(Relaxed)
            })
        });
        let first = run(first, &mut |now| {
            progress(now, SimTime(second_is_at.load(Relaxed)))
        });
        is_cancelled.store(first.is_err(), Relaxed);
        let second = beside.join();
        (
            first,
            second.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        )
    })
}

/// Simulates a valid spec and counts from its beginning on, but for the windows and the dues of guarantees.
///
/// # Errors
/// `progress` cancelled, or the ledger did not balance.
pub fn run_whole(
    spec: &NetworkSpec,
    progress: &mut dyn FnMut(SimTime) -> bool,
) -> Result<RunRecords, RunError> {
    let end = SimTime(spec.duration_ps);
    let connections = Connections::of(spec);
    let mut network = Network::new(&connections.spec, &connections.proxies);
    let mut until_call = EVENTS_PER_CALL;
    while let Some(event) = network.events.pop_before(end) {
        network.on_event(event);
        until_call -= 1;
        if until_call == 0 {
            until_call = EVENTS_PER_CALL;
            if !progress(event.time()) {
                return Err(RunError::Cancelled { at: event.time() });
            }
        }
    }
    let mut records = records_of(&connections.spec, network.finish());
    records.flows = joined(records.flows, spec.flows.len(), &connections.proxies);
    match records.ledger.first_unbalanced() {
        None => Ok(records),
        Some(account) => Err(RunError::Unbalanced {
            account: account.clone(),
        }),
    }
}

/// Returns the records of the run of a valid spec whose network has ended.
pub fn records_of(spec: &NetworkSpec, finished: Finished) -> RunRecords {
    let end = SimTime(spec.duration_ps);
    let flows = finished.flows;
    let ports: Vec<_> = finished
        .ports
        .iter()
        .zip(&spec.links)
        .zip(0u32..)
        .map(|((port, link), id)| {
            let has_vc_samples = spec.records.vc_sampled_ports.contains(&id);
            port.record(&link.name, end, has_vc_samples)
        })
        .collect();
    let sources: Vec<_> = finished.sources.iter().map(CellSource::record).collect();
    let measured = finished.delays.iter().map(|(vc, delays)| (*vc, delays));
    let (cell_delays, class_delays) = delay_records(measured, spec);
    let cells = ports.iter().map(|p| p.arrived - p.discarded.total()).sum();
    let users = finished.users.map_or_else(Vec::new, |mut users| {
        users.finish(end);
        users.records()
    });
    let others = (&sources[..], &users[..]);
    let mut ledger = Ledger::of(&flows, &finished.vcs, &ports, others, finished.frames);
    ledger.add_fragmented(&finished.fragmented);
    if let Some(sky) = &finished.sky {
        sky.add_to(&mut ledger);
    }
    let ports: Vec<_> = ports.into_iter().chain(finished.sampled).collect();
    RunRecords {
        engine: "reference",
        duration_ps: spec.duration_ps,
        measured_from_ps: 0,
        ledger,
        web: WebTotals::of(&flows),
        flows,
        vcs: finished.vcs,
        ports,
        users,
        sources,
        probes: Vec::new(),
        uplinks: finished.uplinks,
        calls: Vec::new(),
        cell_delays,
        class_delays,
        engine_stats: EngineStats {
            events: finished.events,
            cells,
            cells_stepped: cells,
            ..EngineStats::default()
        },
        sky: finished.sky,
        traces: finished.traces,
    }
}
