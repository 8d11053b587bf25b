//! The Available Bit Rate service: the rules of the source and destination end systems, and the
//! algorithms by which switches tell sources a rate. State machines that are handed the time and hand
//! back what they want sent. No clock, no queue and no I/O inside.

mod destination;
mod rm;
mod source;
pub mod spec;
pub mod switch;
pub mod vs_vd;

pub use destination::{Destination, Turned};
pub use rm::{RmCell, cells_per_second, interval};
pub use source::{NextCell, Sent, Source, Waiting};

#[cfg(test)]
mod loop_tests;
