//! The rules of an output port, each declared and carried out in its own file: what a buffer takes in, and
//! which queue sends the next cell. Ports, queues and counts belong to the engines.

mod ack_filter;
pub mod buffer;
mod discard;
mod policer;
pub mod scheduler;
mod token_bucket;

pub use ack_filter::{AckFilter, PureAck};
pub use buffer::{BufferPolicy, BufferView, Departures, Policy, PolicySpec};
pub use discard::{Decision, DiscardReason};
pub use policer::{ExcessAction, PacketPolicer, PacketPolicerSpec};
pub use scheduler::{
    Backlog, Head, Period, QueueOrder, Scheduler, SchedulerSpec, Schedules, VcRoundRobin,
    VirtualSpacing, WeightedRoundRobin,
};
pub use token_bucket::{TokenBucket, TokenBucketSpec};
