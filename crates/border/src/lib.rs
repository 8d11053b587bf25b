//! The border between Rust and Python: `skycell._core`. A spec goes in, records come out, and
//! scenario text is read with the position of every value. No model code lives here.
//!
//! `python/skycell/_core.pyi` declares everything that Python sees.

mod apart;
mod emulate;
mod errors;
mod orbit;
mod run;
mod scenario_text;
mod sky;

use pyo3::prelude::*;
use skycell_framing::FramingSpec;
use skycell_spec::NetworkSpec;
use std::path::PathBuf;

/// Refuses a spec, given as its JSON form and perhaps the file of its sky's columns, that no engine could
/// run.
#[pyfunction]
#[pyo3(signature = (spec_json, columns = None))]
fn validate(spec_json: &str, columns: Option<PathBuf>) -> PyResult<()> {
    run::valid(spec_json, columns).map(drop)
}

/// The spec as Rust has read it, sense or none, written again as JSON.
#[pyfunction]
fn reread(spec_json: &str) -> PyResult<String> {
    NetworkSpec::read(spec_json)
        .map(|spec| spec.to_json())
        .map_err(errors::spec_error)
}

/// The ports of a spec that the fast engine steps, as a JSON list of `port` and `reason`.
#[pyfunction]
#[pyo3(signature = (spec_json, columns = None))]
fn stepped_ports(spec_json: &str, columns: Option<PathBuf>) -> PyResult<String> {
    let spec = run::valid(spec_json, columns)?;
    let ports = skycell_fast::stepped_ports(&spec);
    Ok(serde_json::to_string(&ports).expect("ports are plain data"))
}

/// Returns a framing's overhead on a link, as JSON: `Ok` with the overhead, or `Err` with a
/// refusal.
#[pyfunction]
fn framing_overhead(framing_json: &str) -> PyResult<String> {
    let framing: FramingSpec = serde_json::from_str(framing_json)
        .map_err(|error| errors::SpecError::new_err(error.to_string()))?;
    Ok(serde_json::to_string(&framing.overhead()).expect("an overhead is plain data"))
}

/// The compiled part of skycell.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::emulate::{emulate, record};
    #[pymodule_export]
    use super::errors::{EmulateError, OrbitError, RunCancelled, RunError, SpecError, TomlError};
    #[pymodule_export]
    use super::orbit::{
        orbit_absent_links, orbit_hidden, orbit_judged, orbit_left_out, orbit_moment, orbit_passes,
        orbit_positions, orbit_series, orbit_sights, read_tle,
    };
    #[pymodule_export]
    use super::run::{run, run_summary};
    #[pymodule_export]
    use super::scenario_text::parse_toml;
    #[pymodule_export]
    use super::sky::orbit_routes;
    #[pymodule_export]
    use super::{framing_overhead, reread, stepped_ports, validate};

    /// Version of the package, from the workspace's Cargo.toml.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
