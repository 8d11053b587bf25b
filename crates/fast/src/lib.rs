//! The fast engine: the records of `reference`, bit for bit, at the price of a frame.
//!
//! A frame travels as a train: the time of its first cell, the spacing, the number. A host's port is a closed form of the
//! frames handed to it ([`source`], [`packets`]); where cells of several trains are multiplexed, counts between two frame
//! events come from divisions ([`mux`]); a port that never makes a cell wait only shifts times. From one such port to the next
//! a frame goes as several trains ([`onward`]), over a link that loses frames ([`lossy`]) or whose delay changes
//! ([`moving`]). A port without a closed form is stepped unit by unit, alone ([`stepped`], [`stepping`]). Each acts as far ahead
//! as nothing unknown can come to it ([`lookahead`]).
//!
//! `docs/explanation/reading-the-fast-engine.md` says in which order to read.

mod agenda;
mod burst;
mod cell_stream;
mod deliveries;
mod edge;
mod ends;
mod finish;
mod frames;
mod inputs;
mod legs;
mod lookahead;
mod lossy;
mod moving;
mod mux;
mod network;
mod onward;
mod packets;
mod plan;
mod route;
mod run;
mod source;
mod stations;
mod stepped;
mod stepping;
mod streams;
mod train;
mod tuning;
mod vc_queues;
mod vcs;

pub use run::{run, run_tuned};
pub use tuning::Tuning;
