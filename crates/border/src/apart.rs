//! Work that does not look at Python: beside the thread that waits for signals.

use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Between two looks at signals.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Runs the work in a separate thread and returns its result. A signal ends the wait at once: the
/// thread then runs to its end, or to the end of the process, and its result is lost.
pub fn apart<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = channel();
    let worker = thread::spawn(move || {
        let _ = sender.send(work());
    });
    loop {
        let (again, found) = py.detach(move || {
            let found = receiver.recv_timeout(LOOK_EVERY);
            (receiver, found)
        });
        receiver = again;
        match found {
            Ok(found) => return Ok(found),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => unreachable!("the work has ended without a result"),
            },
        }
    }
}
