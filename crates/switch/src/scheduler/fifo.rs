//! Fifo.

use serde::{Deserialize, Serialize};
use skycell_declare::Declare;

/// One queue, served in the order of arrival.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(serves = "one queue")]
pub struct FifoSpec {}
