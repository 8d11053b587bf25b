//! The effects of links, and the forwarding from port to port over them.

pub(crate) mod forwarding;
pub(crate) mod lossy;
pub(crate) mod time_varying;
