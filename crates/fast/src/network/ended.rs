//! What follows when a multiplexing port is done with frames: they arrive at the ends of their VCs.

use super::Network;
use crate::port::Port;
use crate::port::mux::{Ended, Fate};
use skycell_des::Key;
use skycell_traffic::rank;
use skycell_units::SimTime;

/// Frames that are dealt with together.
const TOGETHER: usize = 64;
/// So many frames before one is dealt with, what it needs of its flow is asked for.
const ASKED: usize = 12;

impl Network<'_> {
    /// Lets the port act up to `limit`, before which all is known that comes to it.
    #[inline(always)]
    pub(super) fn run_port(&mut self, id: u32, limit: SimTime) {
        match self.ports.get(id) {
            Port::Stepped(_) => self.run_stepped(id, limit),
            _ => self.run_mux(id, limit),
        }
    }

    /// Lets the multiplexing port deal with the frames whose heads and tails come before `limit`.
    ///
    /// What the frames lead to comes to the port after `limit`, so several may be dealt with there before
    /// the first arrives.
    fn run_mux(&mut self, id: u32, limit: SimTime) {
        let mut ended = std::mem::take(&mut self.ended);
        let has_many = self.has_many;
        let mut may_be_more = true;
        while may_be_more {
            let mux = self.ports.mux_mut(id);
            while ended.len() < TOGETHER
                && let Some(next) = mux.next_end(limit)
            {
                self.frames.ask(next.frame);
                if has_many {
                    self.vcs.ask_for_end(next.vc);
                }
                ended.push(next);
            }
            may_be_more = ended.len() == TOGETHER;
            let goes_on = mux.onward.is_some();
            if goes_on && !may_be_more {
                mux.advance_before(limit);
            }
            self.note_losses(id);
            if goes_on {
                self.pass_on(id, if may_be_more { SimTime::ZERO } else { limit });
            }
            if has_many {
                for frame in ended.iter().take(ASKED) {
                    self.ask_for_flow(frame);
                }
            }
            for at in 0..ended.len() {
                if has_many && let Some(later) = ended.get(at + ASKED) {
                    self.ask_for_flow(later);
                }
                self.on_ended(ended[at]);
            }
            ended.clear();
        }
        self.ended = ended;
        self.mux(id).reach(limit);
    }

    /// Parts of frames that the multiplexing port has sent are on their way to the next ones; what comes to it
    /// before `limit` has been dealt with.
    fn pass_on(&mut self, id: u32, limit: SimTime) {
        let mux = self.mux(id);
        mux.send_chosen();
        let mut onward = mux.onward.take().expect("something goes on from the port");
        if let Some(mut moving) = mux.moving.take() {
            let (cell_time, last) = (SimTime(mux.cell_time()), mux.log.last_departure());
            onward.take(|place, _, due| moving.enter(place, due));
            moving.carry(limit.max(last) + cell_time, &mut self.frames);
            moving.take(|port, lane, due| self.push_due(port, lane, due));
            moving.forget(|port, place| self.ports.dealt_with(port, place));
            let keeps_some = moving.first_kept().is_some();
            self.mux(id).moving = Some(moving);
            if keeps_some {
                self.plan_port(id);
            }
        } else {
            onward.take(|_, onto, due| {
                self.frames.hold(due.frame);
                self.push_due(onto.port, onto.lane, due);
            });
        }
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
                let whole = of_one && cells == self.frames.get(ended.frame).cells();
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

    /// Asks for what an ended frame will need, once its own line and its VC's are there.
    fn ask_for_flow(&self, ended: &Ended) {
        let frame = self.frames.get(ended.frame);
        if frame.sent_by().is_some() {
            return;
        }
        // Nearly all receivers have no alarm.
        if !frame.is_forward {
            self.events.ask_for_alarm(frame.flow);
        }
        self.flows[frame.flow as usize].ask(frame.is_forward);
        let (begin, way) = self.vcs.begin(self.vcs.follower(ended.vc));
        if !way.carries_packets && !way.is_stepped {
            self.ports.sources[begin.source as usize].ask();
        }
    }
}
