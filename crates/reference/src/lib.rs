//! The plain engine: one event for each cell at each hop, written from the sources and easy to check
//! by eye. It is the definition of the right answer, and slow.
//!
//! Order is meaning. At one instant: cells leave ports (by port), queues are sampled, cells arrive
//! (by input link), retransmission timers run out (by flow), held acknowledgements go out (by flow),
//! applications act (by flow), cell sources send (by source). Nothing depends on who was inserted
//! first into a queue.
//!
//! Its ports, links and ways of VCs are there for engines that step some ports as this one does, and so are whole parts of
//! its networks.

mod abr;
mod bit_errors;
mod frames;
mod impairments;
mod line;
mod link;
mod live;
mod network;
mod paths;
mod port;
mod queue;
mod receivers;
mod resequencer;
mod run;
mod shares;
mod timers;

pub use bit_errors::Struck;
pub use frames::{Cell, pure_ack};
pub use impairments::Impairments;
pub use link::Link;
pub use live::{Delivery, LiveNetwork, RealPacket};
pub use network::{Finished, NetworkPart, Outside};
pub use port::{Departure, Port, Verdict};
pub use queue::{Queue, VcAtPort};
pub use run::{RunError, measured, records_of, run, run_whole};
