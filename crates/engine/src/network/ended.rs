//! What follows when a multiplexing port is done with frames: they arrive at the ends of their VCs.

use super::Network;
use crate::frames::Frame;
use crate::mux::{Ended, Fate};
use skycell_des::Key;
use skycell_traffic::rank;
use skycell_units::SimTime;

/// Frames that are dealt with together. What they need of so many flows just fits into the nearest cache.
const TOGETHER: usize = 24;
/// Flows from which on it pays to look for what a frame needs in advance: the state of fewer is in the
/// cache anyway. Tests look always.
const MANY_FLOWS: usize = if cfg!(debug_assertions) { 1 } else { 200 };

impl Network<'_> {
    /// Lets the multiplexing port deal with the frames whose heads and tails come before `limit`.
    ///
    /// What the frames lead to comes to the port after `limit`, so several may be dealt with there before
    /// the first arrives.
    pub(super) fn run_mux(&mut self, id: u32, limit: SimTime) {
        let mut ended = std::mem::take(&mut self.ended);
        let has_many = self.flows.len() >= MANY_FLOWS;
        let mut may_be_more = true;
        while may_be_more {
            let mux = self.ports.mux_mut(id);
            if has_many {
                mux.look_ahead(TOGETHER);
            }
            while ended.len() < TOGETHER
                && let Some(next) = mux.next_end(limit)
            {
                ended.push(next);
            }
            may_be_more = ended.len() == TOGETHER;
            let goes_on = mux.onward.is_some();
            if goes_on && !may_be_more {
                mux.advance_before(limit);
            }
            self.note_losses(id);
            if goes_on {
                self.pass_on(id);
            }
            self.look_at_frames(&ended);
            if has_many {
                self.look_for(&ended);
            }
            for &frame in &ended {
                self.on_ended(frame);
            }
            ended.clear();
        }
        self.ended = ended;
        self.mux(id).reach(limit);
    }

    /// Parts of frames that the multiplexing port has sent are on their way to the next ones.
    fn pass_on(&mut self, id: u32) {
        let mux = self.mux(id);
        mux.send_chosen();
        let mut onward = mux.onward.take().expect("something goes on from the port");
        onward.take(|port, lane, due| {
            self.frames.hold(due.frame);
            self.push_due(port, lane, due);
        });
        for frame in onward.take_over() {
            self.frames.forget(frame);
        }
        self.mux(id).onward = Some(onward);
    }

    fn on_ended(&mut self, ended: Ended) {
        if let Fate::Ends {
            departure,
            cells,
            of_one,
        } = ended.fate
        {
            let (end, way) = self.vcs.end(ended.vc);
            let (arrival, link) = (departure + way.last_delay, end.last_link);
            if arrival < self.end {
                let whole = of_one && cells == self.frames.get(ended.frame).cells;
                if !whole {
                    let vc = &mut self.vcs.rest[ended.vc as usize];
                    vc.frames_corrupt += 1;
                    vc.cells_corrupt += u64::from(cells);
                } else if way.receives_at_once
                    || way.is_sender_alone && self.is_next(ended.frame, arrival, link)
                {
                    // What the end point's port refuses has its place there.
                    self.current = Key::new(arrival, rank::ARRIVAL, link);
                    return self.on_whole(arrival, ended.frame);
                } else {
                    return self.push_delivery(link, arrival, ended.frame);
                }
            }
        }
        self.frames.forget(ended.frame);
    }

    /// Whether nothing else happens to a sender before a frame that comes to it over `link` at `arrival`.
    fn is_next(&self, frame: u32, arrival: SimTime, link: u32) -> bool {
        let flow = self.frames.get(frame).flow;
        // Arrivals come before timers of the same instant.
        self.events.alarm(flow) >= arrival && !self.deliveries.has_any(link)
    }

    /// Reads a little of each frame. Reads that do not wait for each other are asked for at once, so
    /// those of several frames take as long as that of one.
    fn look_at_frames(&self, ended: &[Ended]) {
        let flows = ended.iter().map(|ended| self.frames.get(ended.frame).flow);
        std::hint::black_box(flows.fold(0, |seen, flow| seen ^ flow));
    }

    /// Reads a little of all else that the frames will need.
    fn look_for(&self, ended: &[Ended]) {
        let mut seen = 0;
        let frames = ended.iter().map(|ended| self.frames.get(ended.frame));
        for (frame, ended) in frames.clone().zip(ended) {
            seen ^= self.vcs.look_at_end(ended.vc);
            // Nearly all receivers have no alarm.
            if !frame.is_forward {
                seen ^= self.events.alarm(frame.flow).0;
            }
        }
        let of_flows = |frame: &Frame| frame.sent_by().is_none();
        for (frame, ended) in frames.zip(ended).filter(|(frame, _)| of_flows(frame)) {
            seen ^= self.flows[frame.flow as usize].look(frame.is_forward);
            let (begin, way) = self.vcs.begin(self.vcs.follower(ended.vc));
            seen ^= self.ports.sources[begin.source as usize].look();
            if let Some(mux) = way.mux {
                seen ^= u64::from(self.ports.mux(mux).inputs.look(begin.lane));
            }
        }
        std::hint::black_box(seen);
    }
}
