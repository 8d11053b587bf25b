//! Real hosts over the path of a spec, for Python; on Linux only.

use pyo3::prelude::*;

/// Runs the flows of a spec on this machine's kernel, over the spec's path.
///
/// `congestion` is the kernel's name of a congestion control; `settings` are files below
/// /proc/sys/net/ipv4 with what is written to them in the hosts' namespaces. Returns the recording
/// as JSON.
#[pyfunction]
#[cfg(target_os = "linux")]
pub fn record(
    py: Python<'_>,
    spec_json: &str,
    congestion: String,
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
    _congestion: String,
    _settings: Vec<(String, String)>,
) -> PyResult<String> {
    Err(crate::errors::EmulateError::new_err(
        "real hosts need Linux: network namespaces and TUN devices",
    ))
}
