//! What belongs to a virtual channel: reassembly of its frames, and the policer that watches its cells.

mod gcra;
mod reassembly;

pub use gcra::{Gcra, Policer};
pub use reassembly::{Reassembled, Reassembly};
