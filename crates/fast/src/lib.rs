//! The fast engine: the records of `reference`, bit for bit, at the price of a frame.
//!
//! A frame travels as a train: the time of its first cell, their spacing, their number. A host's port
//! is a closed form of the frames handed to it; where cells of several trains are multiplexed, counts
//! between two frame events come from divisions ([`mux`]); a port that never makes a cell wait only
//! shifts times. From one multiplexing port to the next a frame goes as several trains ([`onward`]), over a link
//! whose delay changes as one or more for each of its steps ([`moving`]). Where
//! queues share a link, a loop over cells says who is sent when ([`server`]). What a link that stands still
//! loses at random is drawn as its frames are taken in, or as the server chooses ([`lossy`]). Links that move
//! otherwise, and classes beyond those of [`shared`], are run by `reference` itself.

mod active;
mod agenda;
mod arrivals;
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
mod occupancy;
mod onward;
mod order;
mod packets;
mod plan;
mod run;
mod runs;
mod server;
mod shared;
mod source;
mod stations;
mod stepped;
mod train;
mod vc_queues;
mod vcs;

pub use run::run;
