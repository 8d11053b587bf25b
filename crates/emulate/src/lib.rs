//! Real hosts over a modelled path: network namespaces of Linux whose packets go through the ports and
//! links of a spec, the ones that `reference` simulates with.
//!
//! Nothing here outlives the process: a namespace is held by a thread and the sockets in it, a TUN device by
//! its file, and neither has a name outside of it. Namespaces and interfaces that were there before stay as they were.

#![cfg(target_os = "linux")]

mod device;
mod emulator;
mod error;
mod forwarder;
mod interface;
mod os;
mod packet;
mod recorder;

pub use emulator::{Emulation, EndedCommand, HostAt, HostCommand, ReadyHost, emulate};
pub use error::EmulateError;
pub use recorder::{FlowRecording, Recording, Sockets, record};
