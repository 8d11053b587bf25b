//! The sky as a network: links with delays over time, and routes by label, as columns.
//!
//! The crate knows no constellation, no queue and no engine. A builder fills [`Columns`]; engines and
//! tables follow them through time: [`Rows`] say over which link a node forwards a label, [`Courses`]
//! what the delay of a link is, and [`walk`] where a packet would get to that waits nowhere.

pub mod by_hand;
pub mod columns;
pub mod course;
pub mod file;
pub mod forward;
pub mod routes;

pub use by_hand::{ByHand, HandLink};
pub use columns::{Columns, ColumnsError, NO_LINK};
pub use course::Courses;
pub use forward::{Departing, Forward, HOP_LIMIT, LossReason, Waiting, Walk, forward, leave, walk};
pub use routes::{Rows, first_linked, first_routed, last_routed};
