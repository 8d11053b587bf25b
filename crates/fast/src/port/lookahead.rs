//! How far a port may go ahead of the run's events, and how far it has gone.
//!
//! A port processes what comes before its safe time: the earliest at which any of its inputs may still bring
//! something that is not known (Chandy and Misra's conservative lookahead). A frame that is handed over needs its `source_lookahead`
//! to come here; what another port sends needs the time across.

use skycell_units::{PortVc, SimTime};

/// A port at which units may wait for others: how far it may go ahead, and what others ask of it meanwhile.
pub(crate) trait Waiting {
    /// How far it may go ahead, and has.
    fn lookahead(&self) -> &Lookahead;

    /// When the earliest of what comes at `time` or later may arrive at the end of its VC, as far as is known.
    fn arrives_after(&self, time: SimTime) -> SimTime {
        time + self.lookahead().end_lookahead
    }

    /// When it is to act before anything that it does arrives at the end of a VC, if it has anything to do.
    fn acts_at(&self) -> Option<SimTime>;

    /// Before when nothing more arrives at the end of a VC, all that comes before the local clock being processed.
    fn sends_after(&self) -> SimTime;

    /// How many units of the VC at `port_vc` have come and been processed: accepted or discarded.
    fn processed(&self, port_vc: PortVc) -> u64;

    /// Of units of `vc` that come together by the link behind the port, if they may come to several ports: which place
    /// the `nth` had that went over it, from 0.
    fn entry(&self, vc: u32, nth: u64) -> Option<SimTime>;
}

/// Of a port at which units may wait for others.
#[derive(Debug)]
pub(crate) struct Lookahead {
    /// Least time from a frame's hand-over at its source to its first unit's coming here.
    pub(crate) source_lookahead: SimTime,
    /// Least time from a unit's coming here to its arrival at the end of its VC.
    pub(crate) end_lookahead: SimTime,
    /// When a frame's arrival at the end of its VC may lead to another that comes here, or to a port upstream.
    pub(crate) reply_lookahead: ReplyLookahead,
    /// The local clock: before which time all that comes has been processed.
    pub(crate) local_clock: SimTime,
    /// Earliest departure time of arrivals at the local clock or later; everything that leaves
    /// earlier has been forwarded.
    pub(crate) sends_from: SimTime,
    /// The ports from which VCs go on to this one, and the least time from a unit's coming there to its coming here.
    pub(crate) fed_by: Vec<(u32, SimTime)>,
    /// Those, and the ones that feed them: in that order, each after those that feed it.
    pub(crate) upstream: Vec<u32>,
    /// True if there is a ring among them, so that they act in turns.
    pub(crate) has_ring: bool,
    /// When the port is to act next.
    pub(crate) wakes_at: Option<SimTime>,
}

/// When a frame's arrival may lead to a hand-over of another.
#[derive(Debug, Default)]
pub(crate) struct ReplyLookahead {
    /// The least time, but by way of those ports.
    pub(crate) after: SimTime,
    /// First ports of the VCs that begin there at which units may wait, as far as they are few.
    pub(crate) via_ports: Vec<u32>,
}

impl Default for Lookahead {
    fn default() -> Self {
        Lookahead {
            source_lookahead: SimTime::NEVER,
            end_lookahead: SimTime::NEVER,
            reply_lookahead: ReplyLookahead::default(),
            local_clock: SimTime::ZERO,
            sends_from: SimTime::ZERO,
            fed_by: Vec::new(),
            upstream: Vec::new(),
            has_ring: false,
            wakes_at: None,
        }
    }
}

impl Lookahead {
    /// All that comes before `time` has been processed, and what is still here leaves as if it had come at
    /// `sends_from` or later.
    pub(crate) fn advance_clock(&mut self, time: SimTime, sends_from: SimTime) {
        self.local_clock = self.local_clock.max(time);
        self.sends_from = self.sends_from.max(sends_from);
    }
}
