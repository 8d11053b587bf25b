//! Parts of every discrete-event engine that do not depend on a network: an order of events that
//! does not depend on the order of insertion, and random streams that are found by name.

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
