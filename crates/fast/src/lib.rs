//! The fast engine: the records of `reference`, bit for bit, at the price of a frame.
//!
//! A frame travels as a burst: the time of its first cell, the spacing, the number. A host's port is a closed form of the
//! frames handed to it ([`port::source`], [`port::packets`]); where cells of several bursts are multiplexed, counts between two frame
//! events come from divisions ([`port::output`]); a port that never makes a cell wait only shifts times. From one such port to the next
//! a frame goes as several bursts ([`link::forwarding`]), over a link that loses frames ([`link::lossy`]) or whose delay changes
//! ([`link::time_varying`]). A port without a closed form is stepped unit by unit, alone ([`port::stepped`], [`plan::stepping`]). Each acts as far ahead
//! as nothing unknown can come to it ([`port::lookahead`]).
//!
//! `docs/explanation/reading-the-fast-engine.md` says in which order to read.

mod burst;
mod cut;
mod edge;
mod frames;
mod link;
mod merged_rows;
mod network;
mod plan;
mod port;
mod run;
mod sky;
mod tuning;
mod turns;
mod vcs;

pub use run::{regions_forced, regions_of, run, run_on, run_tuned, stepped_ports};
pub use tuning::{Regions, Tuning};
