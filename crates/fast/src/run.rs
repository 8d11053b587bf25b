//! A run of the fast engine.

use crate::network::Network;
use crate::plan::Plan;
use crate::tuning::Tuning;
use skycell_records::{RunRecords, SteppedPort, SteppedReason, joined};
use skycell_reference::RunError;
use skycell_spec::{Connections, NetworkSpec};
use skycell_units::SimTime;

/// Events between two calls of the progress function.
const EVENTS_PER_CALL: u32 = 1 << 14;

/// Runs `spec` over [0, duration), as [`skycell_reference::run`] does and with the same records;
/// only `engine` and `engine_stats` differ. A port that has no closed form here is stepped as there, and
/// `engine_stats.stepped_ports` says which and why; where terminals share an uplink, all of them.
///
/// # Errors
/// The spec is not valid, `progress` cancelled, or the ledger did not balance.
pub fn run(
    spec: &NetworkSpec,
    progress: &mut dyn FnMut(SimTime) -> bool,
) -> Result<RunRecords, RunError> {
    run_tuned(spec, &Tuning::USE, progress)
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
    if !spec.uplinks.is_empty() {
        return stepped_everywhere(spec, progress);
    }
    let connections = Connections::of(spec);
    let plan = Plan::new(&connections.spec);
    let mut network = Network::new(&connections.spec, &connections.proxies, plan, tuning);
    let mut until_call = EVENTS_PER_CALL;
    while let Some(now) = network.advance() {
        until_call -= 1;
        if until_call == 0 {
            until_call = EVENTS_PER_CALL;
            if !progress(now) {
                return Err(RunError::Cancelled { at: now });
            }
        }
    }
    let mut records = network.records();
    records.flows = joined(records.flows, spec.flows.len(), &connections.proxies);
    match records.ledger.first_unbalanced() {
        None => Ok(records),
        Some(account) => Err(RunError::Unbalanced {
            account: account.clone(),
        }),
    }
}

/// The ports of a valid spec that [`run`] steps, and why.
pub fn stepped_ports(spec: &NetworkSpec) -> Vec<SteppedPort> {
    if spec.uplinks.is_empty() {
        let connections = Connections::of(spec);
        return Plan::new(&connections.spec).stepped_ports(spec);
    }
    let ports = spec.links.iter().map(|link| SteppedPort {
        port: link.name.clone(),
        reason: SteppedReason::SharedUplink,
    });
    ports.collect()
}

/// A run in which no port has a closed form: the slots of an uplink space the cells.
fn stepped_everywhere(
    spec: &NetworkSpec,
    progress: &mut dyn FnMut(SimTime) -> bool,
) -> Result<RunRecords, RunError> {
    let mut records = skycell_reference::run(spec, progress)?;
    records.engine = "fast";
    records.engine_stats.stepped_ports = stepped_ports(spec);
    Ok(records)
}
