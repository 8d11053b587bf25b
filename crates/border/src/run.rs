//! One run for Python: the engine works without the interpreter's lock, its records become JSON and
//! its traces NumPy arrays.

use crate::errors::{run_error, spec_error};
use numpy::{Element, IntoPyArray, get_array_module};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use skycell_records::{Column, Columns, RunRecords, SkyRecord};
use skycell_spec::{NetworkSpec, SkySpec};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Wall time between two looks at Python: its signals and the caller's `on_progress`.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Simulates one run.
///
/// `engine` is `"fast"` or `"reference"`. `on_progress` is called with the simulated time in
/// picoseconds about every 0.1 s; a false answer cancels the run. `columns` is the file of the
/// spec's sky, if it has one. `threads` is how many threads the fast engine may use; the records are the same but for
/// `engine_stats`. Returns the records as JSON and the traces that the spec asked for,
/// name -> column -> array, and beside them the tables of the sky.
#[pyfunction]
#[pyo3(signature = (spec_json, engine, on_progress = None, columns = None, threads = 1))]
pub fn run<'py>(
    py: Python<'py>,
    spec_json: &str,
    engine: &str,
    on_progress: Option<Py<PyAny>>,
    columns: Option<PathBuf>,
    threads: u32,
) -> PyResult<(String, Bound<'py, PyDict>)> {
    let (spec, mut records) = simulated(py, spec_json, (engine, threads), on_progress, columns)?;
    let traces = std::mem::take(&mut records.traces).into_tables(&spec.records.traces);
    let sky = records.sky.take().map(SkyRecord::into_tables);
    let mut tables: Vec<_> = traces
        .into_iter()
        .chain(sky.into_iter().flatten())
        .collect();
    if let Some(sky) = &spec.sky {
        let ports = tables.iter_mut().filter(|(name, _)| *name == "sky_ports");
        ports.for_each(|(_, columns)| add_ends(sky, columns));
    }
    let traces = arrays(py, tables.into_iter())?;
    // Of thousands of flows each of these takes as much as the text.
    drop(spec);
    let text = records.to_json();
    drop(records);
    Ok((text, traces))
}

/// Simulates one run and returns the part of its records that a study keeps, as JSON; see
/// [`RunRecords::summary_json`].
#[pyfunction]
#[pyo3(signature = (spec_json, engine, on_progress = None, columns = None, threads = 1))]
pub fn run_summary(
    py: Python<'_>,
    spec_json: &str,
    engine: &str,
    on_progress: Option<Py<PyAny>>,
    columns: Option<PathBuf>,
    threads: u32,
) -> PyResult<String> {
    let (spec, records) = simulated(py, spec_json, (engine, threads), on_progress, columns)?;
    Ok(records.summary_json(&spec))
}

fn simulated(
    py: Python<'_>,
    spec_json: &str,
    (engine, threads): (&str, u32),
    on_progress: Option<Py<PyAny>>,
    columns: Option<PathBuf>,
) -> PyResult<(NetworkSpec, RunRecords)> {
    if threads == 0 {
        return Err(PyValueError::new_err("threads: 0, allowed is 1 or more"));
    }
    let spec = valid(spec_json, columns)?;
    let is_fast = match engine {
        "fast" => true,
        "reference" => false,
        other => {
            return Err(PyValueError::new_err(format!(
                "no engine is called {other:?}; there are \"fast\" and \"reference\""
            )));
        }
    };
    let (outcome, failure) = py.detach(|| {
        let mut watch = Watch::new(on_progress);
        let outcome = match is_fast {
            true => skycell_fast::run_on(&spec, threads, &mut |now| watch.goes_on(now.0)),
            false => skycell_reference::run(&spec, &mut |now| watch.goes_on(now.0)),
        };
        (outcome, watch.failure)
    });
    // An exception of Python's also cancels the run, and says more.
    if let Some(failure) = failure {
        return Err(failure);
    }
    Ok((spec, outcome.map_err(run_error)?))
}

/// Adds to the table of the ports of a sky the node of each, the node that its only link leads to (the largest
/// number for several), and its kind.
fn add_ends(sky: &SkySpec, table: &mut Columns) {
    let Some((_, Column::U32(ports))) = table.first() else {
        return;
    };
    let columns = sky.columns();
    let (first, from) = (columns.first_links(), columns.link_from());
    let mut links = vec![0u32; columns.ports()];
    for &port in &columns.link_port {
        links[port as usize] += 1;
    }
    let each = |of: &dyn Fn(usize) -> u32| -> Vec<u32> {
        ports.iter().map(|&port| of(port as usize)).collect()
    };
    let ends = [
        ("from", each(&|port| from[first[port] as usize])),
        (
            "to",
            each(&|port| match links[port] {
                1 => columns.link_to[first[port] as usize],
                _ => u32::MAX,
            }),
        ),
        ("kind", each(&|port| u32::from(columns.port_kind[port]))),
    ];
    table.extend(ends.map(|(name, numbers)| (name, Column::U32(numbers))));
}

/// The spec of a form, with the columns of its sky from a file, and no spec that no engine could run.
pub fn valid(spec_json: &str, columns: Option<PathBuf>) -> PyResult<NetworkSpec> {
    let mut spec = NetworkSpec::read(spec_json).map_err(spec_error)?;
    if let Some(columns) = columns {
        spec.attach(&std::fs::read(columns)?).map_err(spec_error)?;
    }
    spec.validate().map_err(spec_error)?;
    Ok(spec)
}

/// Looks at Python now and then while the engine works.
pub struct Watch {
    on_progress: Option<Py<PyAny>>,
    last_look: Instant,
    /// Error raised at the last check.
    pub failure: Option<PyErr>,
}

impl Watch {
    /// A watch that has just looked.
    pub fn new(on_progress: Option<Py<PyAny>>) -> Self {
        Watch {
            on_progress,
            last_look: Instant::now(),
            failure: None,
        }
    }

    /// Returns whether the work may continue beyond `now`, a number for `on_progress`. The engine
    /// asks once in thousands of events.
    pub fn goes_on<T>(&mut self, now: T) -> bool
    where
        T: for<'py> IntoPyObject<'py>,
    {
        if self.last_look.elapsed() < LOOK_EVERY {
            return true;
        }
        let answer = Python::attach(|py| self.look(py, now));
        self.last_look = Instant::now();
        answer.unwrap_or_else(|failure| {
            self.failure = Some(failure);
            false
        })
    }

    /// Handles signals and calls `on_progress`.
    fn look<T>(&self, py: Python<'_>, now: T) -> PyResult<bool>
    where
        T: for<'py> IntoPyObject<'py>,
    {
        py.check_signals()?;
        match &self.on_progress {
            Some(callback) => callback.call1(py, (now,))?.is_truthy(py),
            None => Ok(true),
        }
    }
}

/// Tables as name -> column -> array.
fn arrays(
    py: Python<'_>,
    tables: impl Iterator<Item = (&'static str, Columns)>,
) -> PyResult<Bound<'_, PyDict>> {
    let by_name = PyDict::new(py);
    for (name, columns) in tables {
        let table = PyDict::new(py);
        for (column, values) in columns {
            table.set_item(column, array(py, values)?)?;
        }
        by_name.set_item(name, table)?;
    }
    Ok(by_name)
}

/// The column's own memory as a NumPy array; nothing is copied.
pub fn array(py: Python<'_>, column: Column) -> PyResult<Bound<'_, PyAny>> {
    match column {
        Column::U8(values) => array_of(py, values),
        Column::U32(values) => array_of(py, values),
        Column::U64(values) => array_of(py, values),
        Column::F64(values) => array_of(py, values),
    }
}

/// The values' own memory as a NumPy array; nothing is copied.
///
/// The first array imports NumPy, which an interrupt may end: that is told here, where `numpy` would
/// panic.
pub fn array_of<T: Element>(py: Python<'_>, values: Vec<T>) -> PyResult<Bound<'_, PyAny>> {
    get_array_module(py)?;
    Ok(values.into_pyarray(py).into_any())
}
