//! What VCs, or flows, have in a buffer.

use crate::frames::Cell;
use std::collections::BTreeMap;

/// The occupancy of a VC, or a flow, in a buffer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Share {
    /// Cells, or packets.
    queued: u32,
    /// Of what the buffer counts.
    pub(crate) held: u32,
}

/// The occupancy of each of them.
#[derive(Clone, Debug)]
pub(crate) enum Shares {
    /// By their index at the port.
    OfVcs(Vec<Share>),
    /// Of those flows alone that have any: users have numbers for millions of connections, of which few are open.
    OfFlows(BTreeMap<u32, Share>),
}

impl Shares {
    /// Of an empty buffer.
    pub(crate) fn new(by_flow: bool) -> Self {
        match by_flow {
            true => Shares::OfFlows(BTreeMap::new()),
            false => Shares::OfVcs(Vec::new()),
        }
    }

    /// That of the VC or flow of `cell`.
    pub(crate) fn get(&self, cell: &Cell) -> Share {
        let share = match self {
            Shares::OfVcs(shares) => shares.get(cell.port_vc.index()),
            Shares::OfFlows(shares) => shares.get(&cell.flow),
        };
        share.copied().unwrap_or_default()
    }

    /// Adds `cell`, which takes `amount`; returns whether nothing of its VC or flow was there before.
    pub(crate) fn add(&mut self, cell: &Cell, amount: u32) -> bool {
        let share = match self {
            Shares::OfVcs(shares) => {
                let at = cell.port_vc.index();
                if shares.len() <= at {
                    shares.resize(at + 1, Share::default());
                }
                &mut shares[at]
            }
            Shares::OfFlows(shares) => shares.entry(cell.flow).or_default(),
        };
        share.held += amount;
        share.queued += 1;
        share.queued == 1
    }

    /// Takes `cell` out; returns whether nothing of its VC or flow is left.
    pub(crate) fn take(&mut self, cell: &Cell, amount: u32) -> bool {
        let share = match self {
            Shares::OfVcs(shares) => shares.get_mut(cell.port_vc.index()),
            Shares::OfFlows(shares) => shares.get_mut(&cell.flow),
        };
        let share = share.expect("what is queued has been counted");
        share.held -= amount;
        share.queued -= 1;
        let is_gone = share.queued == 0;
        if let Shares::OfFlows(shares) = self
            && is_gone
        {
            shares.remove(&cell.flow);
        }
        is_gone
    }
}
