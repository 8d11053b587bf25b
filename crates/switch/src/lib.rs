//! The switch's decisions: what a buffer takes in. Ports, queues and counts belong to the engines.

pub mod buffer;

pub use buffer::{BufferPolicy, BufferView, Policy};
