//! What belongs to a virtual channel: reassembly of its frames, and the policer that watches its cells.

mod gcra;
mod gfr;
mod guaranteed_vc;
mod reassembly;

pub use gcra::{Gcra, Policer};
pub use gfr::{FrameGcra, GfrPolicer, Judged};
pub use guaranteed_vc::{EdgeCell, GuaranteedVc};
pub use reassembly::{Reassembled, Reassembly};
