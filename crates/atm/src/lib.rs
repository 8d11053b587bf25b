//! The parts of a virtual channel: reassembly of its frames, the policer that watches its cells,
//! and the check of their headers.

mod gcra;
mod gfr;
mod guaranteed_vc;
mod hec;
mod reassembly;

pub use gcra::{Gcra, Policer};
pub use gfr::{FrameGcra, GfrPolicer, Judged};
pub use guaranteed_vc::{EdgeCell, GuaranteedVc};
pub use hec::{HEADER_BITS, Header, Hec};
pub use reassembly::{Reassembled, Reassembly};
