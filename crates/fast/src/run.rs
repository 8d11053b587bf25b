//! A run of the fast engine.

use crate::network::Network;
use crate::plan::Plan;
use crate::tuning::Tuning;
use skycell_records::{RunRecords, SteppedPort, SteppedReason};
use skycell_reference::RunError;
use skycell_spec::NetworkSpec;
use skycell_units::SimTime;

/// Events between two calls of the progress function.
const EVENTS_PER_CALL: u32 = 1 << 14;

/// Runs `spec` over [0, duration), as [`skycell_reference::run`] does and with the same records;
/// only `engine` and `engine_stats` differ. A port that has no closed form here is stepped as there, and
/// `engine_stats.stepped_ports` says which and why; where the rate of a VC is controlled, or terminals
/// share an uplink, all of them.
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
    if spec.vcs.iter().any(|vc| vc.abr.is_some()) {
        return stepped_everywhere(spec, SteppedReason::RateControl, progress);
    }
    if !spec.uplinks.is_empty() {
        return stepped_everywhere(spec, SteppedReason::SharedUplink, progress);
    }
    let plan = Plan::new(spec);
    let mut network = Network::new(spec, plan, tuning);
    let end = network.end;
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
    let records = network.records();
    match records.ledger.first_unbalanced() {
        None => Ok(records),
        Some(account) => Err(RunError::Unbalanced {
            account: account.clone(),
        }),
    }
}

/// A run in which no port has a closed form: RM cells turn at the ends of VCs, and the rates that they
/// carry space the cells; or the slots of an uplink do.
fn stepped_everywhere(
    spec: &NetworkSpec,
    reason: SteppedReason,
    progress: &mut dyn FnMut(SimTime) -> bool,
) -> Result<RunRecords, RunError> {
    let mut records = skycell_reference::run(spec, progress)?;
    records.engine = "fast";
    let ports = spec.links.iter().map(|link| SteppedPort {
        port: link.name.clone(),
        reason,
    });
    records.engine_stats.stepped_ports = ports.collect();
    Ok(records)
}
