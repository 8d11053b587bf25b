//! Real hosts over the path of a spec, for Python; on Linux only.

use pyo3::prelude::*;

/// The system that this needs.
#[cfg(not(target_os = "linux"))]
const NEEDED: &str = "real hosts need Linux: network namespaces and TUN devices";

/// Runs the flows of a spec on this machine's kernel, over the spec's path.
///
/// `congestion` has the kernel's name of each flow's congestion control; `settings` are files below
/// /proc/sys/net/ipv4 with what is written to them in the hosts' namespaces. Returns the recording
/// as JSON.
#[pyfunction]
#[cfg(target_os = "linux")]
pub fn record(
    py: Python<'_>,
    spec_json: &str,
    congestion: Vec<String>,
    settings: Vec<(String, String)>,
) -> PyResult<String> {
    use crate::errors::{emulate_error, spec_error};
    use crate::run::Watch;
    use skycell_emulate::Sockets;
    use skycell_spec::NetworkSpec;

    let spec = NetworkSpec::from_json(spec_json).map_err(spec_error)?;
    let sockets = Sockets {
        congestion,
        settings,
    };
    let (recorded, failure) = py.detach(|| {
        let mut watch = Watch::new(None);
        let recorded = skycell_emulate::record(&spec, &sockets, &mut || watch.goes_on(0u64));
        (recorded, watch.failure)
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    let recording = recorded.map_err(emulate_error)?;
    Ok(serde_json::to_string(&recording).expect("a recording is plain data"))
}

/// As on Linux, which this is not.
#[pyfunction]
#[cfg(not(target_os = "linux"))]
pub fn record(
    _spec_json: &str,
    _congestion: Vec<String>,
    _settings: Vec<(String, String)>,
) -> PyResult<String> {
    Err(crate::errors::EmulateError::new_err(NEEDED))
}

/// Puts hosts onto the path of a spec and runs `commands`, (host, line) each, until the last one has
/// ended, for the duration of the spec, or until an interrupt, which is a way to end it.
///
/// `at` says of hosts that there are already, (host, namespace file or interface), where they are. `on_ready` is
/// called with (name, address or none, namespace file or interface) of each host before any command begins.
/// With `prints_to_error` commands print to standard error only. Returns what it left as JSON.
#[pyfunction]
#[cfg(target_os = "linux")]
pub fn emulate(
    py: Python<'_>,
    spec_json: &str,
    at: Vec<(String, String)>,
    commands: Vec<(String, String)>,
    prints_to_error: bool,
    on_ready: Py<PyAny>,
) -> PyResult<String> {
    use crate::errors::{emulate_error, spec_error};
    use crate::run::Watch;
    use pyo3::exceptions::PyKeyboardInterrupt;
    use skycell_emulate::{HostAt, HostCommand};
    use skycell_spec::NetworkSpec;
    use std::cell::RefCell;

    let spec = NetworkSpec::from_json(spec_json).map_err(spec_error)?;
    let commands: Vec<HostCommand> = commands
        .into_iter()
        .map(|(host, line)| HostCommand { host, line })
        .collect();
    let at = at.into_iter().map(|(host, at)| HostAt { host, at });
    let at: Vec<HostAt> = at.collect();
    let (emulated, failures) = py.detach(|| {
        let mut watch = Watch::new(None);
        let unsaid = RefCell::new(None);
        let emulated = skycell_emulate::emulate(
            &spec,
            &at,
            &commands,
            prints_to_error,
            &mut |hosts| {
                let hosts = hosts.iter();
                let hosts: Vec<_> = hosts
                    .map(|host| (&host.name, host.address.map(|ip| ip.to_string()), &host.at))
                    .collect();
                let said = Python::attach(|py| on_ready.call1(py, (hosts,)));
                *unsaid.borrow_mut() = said.err();
            },
            &mut || unsaid.borrow().is_none() && watch.goes_on(0u64),
        );
        (emulated, [unsaid.into_inner(), watch.failure])
    });
    for failure in failures.into_iter().flatten() {
        if !failure.is_instance_of::<PyKeyboardInterrupt>(py) {
            return Err(failure);
        }
    }
    let emulation = emulated.map_err(emulate_error)?;
    Ok(serde_json::to_string(&emulation).expect("an emulation is plain data"))
}

/// As on Linux, which this is not.
#[pyfunction]
#[cfg(not(target_os = "linux"))]
pub fn emulate(
    _spec_json: &str,
    _at: Vec<(String, String)>,
    _commands: Vec<(String, String)>,
    _prints_to_error: bool,
    _on_ready: Py<PyAny>,
) -> PyResult<String> {
    Err(crate::errors::EmulateError::new_err(NEEDED))
}
