//! TCP as the studies of 1996-1999 define it: state machines that are handed the time and hand back
//! the segments to send. No clock, no queue and no I/O inside.

mod ack_delay;
mod auto_tuning;
mod clock;
mod congestion;
mod ecn;
mod kinds;
mod pacing;
mod ranges;
mod receive_buffer;
mod receive_window;
mod receiver;
mod recent;
mod recovery;
mod rto;
mod segment;
mod sender;
mod slow_start;
pub mod spec;
mod transmit;
mod validation;
mod window;

pub use clock::TickClock;
pub use receive_buffer::Accepted;
pub use receiver::{Receiver, ReceiverCounters};
pub use segment::{SackBlocks, Segment, SegmentKind};
pub use sender::{Sender, SenderCounters};

#[cfg(test)]
mod bsd_tests;
#[cfg(test)]
mod connection_tests;
#[cfg(test)]
mod exchange_tests;
#[cfg(test)]
mod invariants_tests;
