//! Declarations of rules. Each rule is declared once, in its own file: its fields with type, range,
//! default, symbol, source and meaning. `make generate` writes everything that follows from a
//! declaration: Python's classes, the JSON Schema, the reference tables.
//!
//! ```text
//! /// Discards frames that begin while the queue is above a threshold.
//! #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
//! #[serde(deny_unknown_fields)]
//! #[rule(class = "SA-ST", source = "Romanow, Floyd: Dynamics of TCP Traffic over ATM Networks, 1995")]
//! pub struct EpdSpec {
//!     /// Occupancy above which EPD discards frames that begin.
//!     #[param(key = "drop_threshold", default = 0.9, symbol = "R", source = "...")]
//!     pub threshold_cells: Threshold,
//! }
//! ```
//!
//! The field is what an engine reads, the key what people write. The type of a parameter ([`types`])
//! says how one becomes the other, and what both may be: a part of a buffer becomes cells, the MCRs of
//! the contracts become a list by VC.

mod form;
pub mod types;
pub mod written;

pub use form::{Field, Form, Forms, Item, Kind, Param, Relation, Shape, Type, When, Word};
pub use skycell_declare_derive::Declare;

use serde::Serialize;
use std::fmt;

#[doc(hidden)]
pub use serde_json;

/// The network around a rule, which its parameters must fit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context {
    /// K of the buffer, cells; none for an unlimited one.
    pub capacity_cells: Option<u32>,
    /// Queues of the port.
    pub queues: usize,
    /// VCs of the run.
    pub vcs: usize,
}

/// A rule whose parameters are declared.
pub trait Rule: Form {
    /// Refuses what the rule cannot run with.
    ///
    /// # Errors
    /// The first parameter at fault.
    fn check(&self, context: &Context) -> Result<(), Refusal>;
}

/// A parameter that a rule cannot run with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The field, below the rule; a dot leads into a field that has fields.
    pub field: String,
    /// Value found.
    pub got: String,
    /// Values allowed.
    pub allowed: String,
}

impl Refusal {
    /// A value outside its range.
    pub fn new(field: &str, got: impl fmt::Display, allowed: impl Into<String>) -> Self {
        Refusal {
            field: field.to_owned(),
            got: got.to_string(),
            allowed: allowed.into(),
        }
    }

    /// The same, of a field of `outer`.
    #[must_use]
    pub fn within(mut self, outer: &str) -> Self {
        self.field = format!("{outer}.{}", self.field);
        self
    }
}

/// Returns whether a value is its type's default. Such a key, if it is younger than the form, is
/// left out of the form, so that older specs keep their hashes.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
