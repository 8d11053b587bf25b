//! The switch's decisions: what a buffer takes in, and which queue sends the next cell. Ports,
//! queues and counts belong to the engines.

pub mod buffer;
pub mod scheduler;

pub use buffer::{BufferPolicy, BufferView, Policy};
pub use scheduler::{
    Backlog, Cycle, Scheduler, Schedules, VcRoundRobin, VirtualSpacing, WeightedRoundRobin,
};
