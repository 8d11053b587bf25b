//! Each error of the Rust side and the Python exception it becomes.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    skycell._core,
    TomlError,
    PyException,
    "The text is not TOML. `errors` lists every error found as (line, column, message), from 1."
);
create_exception!(
    skycell._core,
    SpecError,
    PyException,
    "The spec cannot be run; the message names the part of it that is at fault."
);
create_exception!(
    skycell._core,
    RunError,
    PyException,
    "A run failed although its spec was sound, for instance because its ledger did not balance."
);
create_exception!(
    skycell._core,
    RunCancelled,
    RunError,
    "A run was given up because `on_progress` answered with something false."
);
create_exception!(
    skycell._core,
    OrbitError,
    PyException,
    "A constellation cannot be computed; the message says which satellite, or what has no meaning."
);

create_exception!(
    skycell._core,
    EmulateError,
    PyException,
    "Real hosts cannot be put onto a path; the message says what is missing, or does not fit."
);

/// One error in a scenario text: line and column, both from 1, and what is wrong.
pub type TextError = (usize, usize, String);

/// A `TomlError` that carries `errors`, in the order of the text.
pub fn toml_error(py: Python<'_>, errors: Vec<TextError>) -> PyErr {
    let lines: Vec<String> = errors
        .iter()
        .map(|(line, column, message)| format!("line {line}, column {column}: {message}"))
        .collect();
    let error = TomlError::new_err(lines.join("\n"));
    match error.value(py).setattr("errors", errors) {
        Ok(()) => error,
        Err(failure) => failure,
    }
}

/// The spec crate's refusal, in its own words.
pub fn spec_error(error: skycell_spec::SpecError) -> PyErr {
    SpecError::new_err(error.to_string())
}

/// The engine's word on a run that left no records.
pub fn run_error(error: skycell_reference::RunError) -> PyErr {
    use skycell_reference::RunError as Failure;
    let message = error.to_string();
    match error {
        Failure::Spec(_) => SpecError::new_err(message),
        Failure::Cancelled { .. } => RunCancelled::new_err(message),
        Failure::Unbalanced { .. } => RunError::new_err(message),
    }
}

/// The orbit crate's refusal, in its own words.
pub fn orbit_error(error: skycell_orbit::OrbitError) -> PyErr {
    match error {
        skycell_orbit::OrbitError::Cancelled => RunCancelled::new_err(error.to_string()),
        other => OrbitError::new_err(other.to_string()),
    }
}

/// The emulator's word on why it did not start, or stopped.
#[cfg(target_os = "linux")]
pub fn emulate_error(error: skycell_emulate::EmulateError) -> PyErr {
    match error {
        skycell_emulate::EmulateError::Spec(error) => spec_error(error),
        other => EmulateError::new_err(other.to_string()),
    }
}
