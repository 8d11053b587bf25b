//! Cells under way on a time-varying link.

use crate::burst::Burst;
use skycell_units::{FrameId, PortVc, SimTime};

/// Cells of one frame that come at equal distances.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fragment {
    /// When they come.
    pub(super) arrivals: Burst,
    /// When the first of them entered; the others did so at the same distances.
    pub(super) entry: SimTime,
    pub(super) stride: u16,
    /// Index of the VC before the link and behind it.
    pub(super) port_vc: PortVc,
    pub(super) next_port_vc: PortVc,
    pub(super) frame: FrameId,
    /// True if the last of them is the frame's.
    pub(super) eom: bool,
    /// Which cell of the frame the first is, from 0, if none has been lost.
    pub(super) nth: u32,
    pub(super) clp: bool,
}

impl Fragment {
    /// When they entered.
    pub(super) fn entries(&self) -> Burst {
        Burst {
            first: self.entry,
            ..self.arrivals
        }
    }

    /// Its place in the order of arrival, and of entry.
    pub(super) fn key(&self) -> (u64, u64) {
        (self.arrivals.first.0, self.entry.0)
    }

    pub(super) fn count(&self) -> u32 {
        self.arrivals.count as u32
    }

    /// The first `count` of them, and the others.
    pub(super) fn split(self, count: u64) -> (Fragment, Fragment) {
        let (first, others) = self.arrivals.split(count);
        let eom = self.eom && others.count == 0;
        let before = Fragment {
            arrivals: first,
            eom,
            ..self
        };
        let after = Fragment {
            arrivals: others,
            entry: self.entries().nth(count),
            nth: self.nth + count as u32,
            ..self
        };
        (before, after)
    }

    /// The cells one by one.
    pub(super) fn one_by_one(self) -> impl Iterator<Item = Fragment> {
        (0..self.arrivals.count).map(move |at| Fragment {
            stride: 1,
            ..self.split(at).1.split(1).0
        })
    }
}
