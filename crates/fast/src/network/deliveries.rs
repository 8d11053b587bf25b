//! Whole frames on their way to the ends of their VCs.

use skycell_units::{FrameId, SimTime};
use std::collections::VecDeque;

/// By link: the whole frames that come to its end, in order of time.
#[derive(Debug)]
pub(crate) struct Deliveries {
    due: Vec<VecDeque<(SimTime, FrameId)>>,
    /// True for a link with deliveries: read for each acknowledgement, and so small that all are in
    /// the cache.
    has_any: Vec<bool>,
}

impl Deliveries {
    /// None yet at the ends of so many links.
    pub(crate) fn at(links: usize) -> Self {
        Deliveries {
            due: vec![VecDeque::new(); links],
            has_any: vec![false; links],
        }
    }

    /// Returns whether a frame is on its way to the end of `link`.
    pub(crate) fn has_any(&self, link: u32) -> bool {
        self.has_any[link as usize]
    }

    /// `frame` comes to the end of `link` at `time`, after all others there.
    pub(crate) fn push(&mut self, link: u32, time: SimTime, frame: FrameId) {
        let due = &mut self.due[link as usize];
        debug_assert!(due.back().is_none_or(|last| last.0 <= time));
        due.push_back((time, frame));
        self.has_any[link as usize] = true;
    }

    /// When the next frame comes to the end of `link`.
    pub(crate) fn next(&self, link: u32) -> Option<SimTime> {
        self.due[link as usize].front().map(|next| next.0)
    }

    /// The frame that comes to the end of `link` so many after the next.
    #[inline(always)]
    pub(crate) fn later(&self, link: u32, nth: usize) -> Option<FrameId> {
        self.due[link as usize].get(nth).map(|later| later.1)
    }

    /// Removes and returns the next frame at the end of `link`, which has arrived.
    ///
    /// # Panics
    /// None is on its way.
    pub(crate) fn pop(&mut self, link: u32) -> FrameId {
        let due = &mut self.due[link as usize];
        let (_, frame) = due.pop_front().expect("an arrival is due");
        self.has_any[link as usize] = !due.is_empty();
        frame
    }
}
