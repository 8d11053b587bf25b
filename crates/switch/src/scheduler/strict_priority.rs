//! Strict priority.

use serde::{Deserialize, Serialize};
use skycell_declare::Declare;

/// The first queue that has cells, in the order of the file, the default queue last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(serves = "queues")]
pub struct StrictPrioritySpec {}
