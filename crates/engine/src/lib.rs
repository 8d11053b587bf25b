//! The fast engine: the records of `reference`, bit for bit, at the price of a frame.
//!
//! A frame travels as a train: the time of its first cell, their spacing, their number. A host's port
//! is a closed form of the frames handed to it; where cells of several trains are multiplexed, counts
//! between two frame events come from divisions ([`mux`]); a port that never makes a cell wait only
//! shifts times. A network in which a VC is multiplexed twice is run by `reference` itself.

mod active;
mod arrivals;
mod ends;
mod finish;
mod frames;
mod inputs;
mod mux;
mod network;
mod occupancy;
mod plan;
mod run;
mod source;
mod stations;

pub use run::run;
