//! A run: the event loop, and what it leaves.

use crate::network::{Finished, Network};
use crate::port::Port;
use skycell_records::{
    Account, EngineStats, Ledger, PortRecord, QueueRecord, RunRecords, VcQueueRecord, WebTotals,
};
use skycell_spec::{NetworkSpec, SpecError};
use skycell_units::SimTime;

/// Events between two calls of the progress function.
const EVENTS_PER_CALL: u32 = 1 << 16;

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

/// Runs `spec` over [0, duration). `progress` is told the simulated time now and then and returns
/// false to cancel.
///
/// # Errors
/// The spec is not valid, `progress` cancelled, or the ledger did not balance.
pub fn run(
    spec: &NetworkSpec,
    progress: &mut dyn FnMut(SimTime) -> bool,
) -> Result<RunRecords, RunError> {
    spec.validate()?;
    refuse_what_is_not_served(spec)?;
    let end = SimTime(spec.duration_ps);
    let mut network = Network::new(spec);
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
    let records = records(spec, network.finish());
    match records.ledger.first_unbalanced() {
        None => Ok(records),
        Some(account) => Err(RunError::Unbalanced {
            account: account.clone(),
        }),
    }
}

/// Classes, cell sources and policers have their form; what serves them follows.
fn refuse_what_is_not_served(spec: &NetworkSpec) -> Result<(), SpecError> {
    let has_classes = spec.links.iter().any(|link| link.port.queues.len() > 1);
    let has_policers = spec.vcs.iter().any(|vc| !vc.policing.is_empty());
    if has_classes || has_policers || !spec.sources.is_empty() {
        return Err(SpecError::Structure {
            path: "links, vcs, sources".into(),
            problem: "no engine serves several queues, policers or cell sources yet".into(),
        });
    }
    Ok(())
}

fn records(spec: &NetworkSpec, finished: Finished) -> RunRecords {
    let end = SimTime(spec.duration_ps);
    let flows: Vec<_> = finished.flows.iter().map(|f| f.record(end)).collect();
    let ports: Vec<_> = finished
        .ports
        .iter()
        .zip(&spec.links)
        .zip(0u32..)
        .map(|((port, link), id)| {
            let has_vc_samples = spec.records.vc_sampled_ports.contains(&id);
            port_record(port, &link.name, end, has_vc_samples)
        })
        .collect();
    let cells = ports.iter().map(|p| p.arrived - p.discarded.total()).sum();
    RunRecords {
        engine: "reference",
        duration_ps: spec.duration_ps,
        ledger: Ledger::of(&flows, &finished.vcs, &ports, finished.frames),
        web: WebTotals::of(&flows),
        flows,
        vcs: finished.vcs,
        ports,
        engine_stats: EngineStats {
            events: finished.events,
            cells,
            cells_stepped: cells,
        },
        traces: finished.traces,
    }
}

fn port_record(port: &Port, name: &str, end: SimTime, has_vc_samples: bool) -> PortRecord {
    let mean = port.integral.mean(u64::from(port.queued()), end.0);
    let sampled = port.vcs.iter().filter(|_| has_vc_samples);
    PortRecord {
        name: name.to_string(),
        arrived: port.arrived,
        departed: port.departed,
        queued: u64::from(port.queued()),
        discarded: port.discarded,
        frames_discarded: port.frames_discarded,
        busy_ps: port.busy(end).0,
        queue: QueueRecord::new(mean, port.queue_max, &port.samples),
        vc_queues: sampled
            .map(|vc| VcQueueRecord::new(vc.vc, &vc.samples))
            .collect(),
    }
}
