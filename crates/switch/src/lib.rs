//! The rules of an output port, each declared and carried out in its own file: what a buffer takes in, and
//! which queue sends the next cell. Ports, queues and counts belong to the engines.

pub mod buffer;
mod discard;
pub mod scheduler;
mod shaper;

pub use buffer::{BufferPolicy, BufferView, Policy, PolicySpec};
pub use discard::{Decision, DiscardReason};
pub use scheduler::{
    Backlog, Cycle, Head, QueueOrder, Scheduler, SchedulerSpec, Schedules, VcRoundRobin,
    VirtualSpacing, WeightedRoundRobin,
};
pub use shaper::{TokenBucket, TokenBucketSpec};
