//! What every discrete-event engine of ours needs and no network: an order of events that owes
//! nothing to who was inserted first, and random streams that are found by name.

mod calendar;
mod discrete;
mod event;
mod heap;
mod random;

pub use calendar::Calendar;
pub use discrete::Discrete;
pub use event::{EventQueue, Key};
pub use heap::KeyHeap;
pub use random::Stream;
