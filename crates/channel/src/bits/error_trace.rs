//! Errors as they were recorded.

use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, types::WrongBits};

/// Bits are wrong that a list names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct ErrorTraceSpec {
    /// Wrong bits of the line, ascending, counted from 0 at the start of the run.
    #[param(key = "errors")]
    pub errors: WrongBits,
}

/// See [`ErrorTraceSpec`].
#[derive(Debug)]
pub(super) struct ErrorTrace {
    errors: Vec<u64>,
    next: usize,
}

impl ErrorTrace {
    pub(super) fn new(spec: &ErrorTraceSpec) -> Self {
        ErrorTrace {
            errors: spec.errors.clone(),
            next: 0,
        }
    }

    pub(super) fn first_from(&mut self, bit: u64) -> u64 {
        let later = &self.errors[self.next..];
        self.next += later.partition_point(|&error| error < bit);
        self.errors.get(self.next).copied().unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_those_of_the_list() {
        let mut trace = ErrorTrace::new(&ErrorTraceSpec {
            errors: vec![3, 4, 90],
        });
        let found = [0, 3, 4, 5, 90, 91].map(|bit| trace.first_from(bit));
        assert_eq!(found, [3, 3, 4, 90, 90, u64::MAX]);
    }
}
