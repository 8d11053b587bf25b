//! Why real hosts cannot be put onto a path.

use skycell_spec::SpecError;
use std::io;

/// Why nothing was emulated.
#[derive(Debug, thiserror::Error)]
pub enum EmulateError {
    /// The spec cannot be simulated.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// It can be simulated, but not with real hosts.
    #[error("{0}")]
    Unfit(String),
    /// The system refused something.
    #[error("{what}: {why}{}", hint(why))]
    System {
        /// Requested operation.
        what: String,
        /// The system's answer.
        why: io::Error,
    },
    /// It was asked to end.
    #[error("cancelled")]
    Cancelled,
}

fn hint(why: &io::Error) -> &'static str {
    match why.kind() {
        io::ErrorKind::PermissionDenied => {
            "; real hosts need root, or user namespaces and a /dev/net/tun for all"
        }
        io::ErrorKind::InvalidInput => "; a process with several threads cannot make itself root",
        io::ErrorKind::NotFound => "; the kernel lacks it, or its module is not loaded",
        _ => "",
    }
}

/// Says what was asked for when the system refuses it.
pub(crate) trait Asked<T> {
    fn asked(self, what: &str) -> Result<T, EmulateError>;
}

impl<T> Asked<T> for io::Result<T> {
    fn asked(self, what: &str) -> Result<T, EmulateError> {
        self.map_err(|why| EmulateError::System {
            what: what.to_string(),
            why,
        })
    }
}
