//! What links do to what they carry, and what goes on over them from port to port.

pub(crate) mod forwarding;
pub(crate) mod lossy;
pub(crate) mod time_varying;
