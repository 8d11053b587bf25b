//! Frames that an output port has finished arrive at the ends of their VCs.

use super::Network;
use crate::port::Slot;
use crate::port::output::{Ended, FrameEnd};
use skycell_des::Key;
use skycell_traffic::rank;
use skycell_units::{FrameId, SimTime};

/// Frames that are processed together.
const TOGETHER: usize = 64;
/// So many frames before one is processed, what it needs of its flow is asked for.
const ASKED: usize = 12;

impl Network<'_> {
    /// Advances the port up to `limit`, before which all its arrivals are known.
    #[inline(always)]
    pub(super) fn run_port(&mut self, id: u32, limit: SimTime) {
        match self.ports.slots[id as usize] {
            Slot::Stepped(_) => self.run_stepped(id, limit),
            _ => self.run_output(id, limit),
        }
    }

    /// Processes the frames of the output port whose heads and tails come before `limit`.
    ///
    /// The effects of the frames come to the port after `limit`, so several frames may be processed
    /// there before the first arrives.
    fn run_output(&mut self, id: u32, limit: SimTime) {
        let mut ended = std::mem::take(&mut self.ended);
        let has_many = self.has_many;
        let mut may_be_more = true;
        while may_be_more {
            let output = self.ports.output(id);
            while ended.len() < TOGETHER
                && let Some(next) = output.next_end(limit)
            {
                self.frames.prefetch(next.frame);
                if has_many {
                    self.vcs.prefetch_end(next.vc);
                }
                ended.push(next);
            }
            self.moved += ended.len() as u64;
            may_be_more = ended.len() == TOGETHER;
            let is_forwarded = output.forwarding.is_some();
            if is_forwarded && !may_be_more {
                output.advance_before(limit);
            }
            self.note_losses(id);
            if is_forwarded {
                self.pass_on(id, if may_be_more { SimTime::ZERO } else { limit });
            }
            if has_many {
                for frame in ended.iter().take(ASKED) {
                    self.prefetch_flow(frame);
                }
            }
            for at in 0..ended.len() {
                if has_many && let Some(later) = ended.get(at + ASKED) {
                    self.prefetch_flow(later);
                }
                self.on_ended(ended[at]);
            }
            ended.clear();
        }
        self.ended = ended;
        self.ports.output(id).advance_clock(limit);
    }

    /// Parts of frames that the output port has sent are on their way to the next ones; what comes to it
    /// before `limit` has been processed.
    fn pass_on(&mut self, id: u32, limit: SimTime) {
        let output = self.ports.output(id);
        output.send_chosen();
        let mut forwarding = output
            .forwarding
            .take()
            .expect("something goes on from the port");
        if let Some(mut time_varying) = output.time_varying.take() {
            let (cell_time, last) = (SimTime(output.cell_time()), output.log.last_departure());
            forwarding.take(|port_vc, _, fragment| time_varying.enter(port_vc, fragment));
            time_varying.carry(limit.max(last) + cell_time, &mut self.frames);
            time_varying.take(|port, input, fragment| self.push_fragment(port, input, fragment));
            time_varying.forget(|port, port_vc| self.ports.waiting(port).processed(port_vc));
            let keeps_some = time_varying.first_kept().is_some();
            self.ports.output(id).time_varying = Some(time_varying);
            if keeps_some {
                self.plan_port(id);
            }
        } else {
            forwarding.take(|_, next_hop, fragment| {
                self.frames.hold(fragment.frame);
                self.push_fragment(next_hop.port, next_hop.input, fragment);
            });
        }
        for frame in forwarding.take_over() {
            self.frames.forget(frame);
        }
        self.ports.output(id).forwarding = Some(forwarding);
    }

    fn on_ended(&mut self, ended: Ended) {
        if let FrameEnd::Sent {
            departure,
            cells,
            of_one,
        } = ended.fate
        {
            let (end, path) = self.vcs.end(ended.vc);
            let (arrival, link) = (departure + path.last_delay, end.last_link);
            if arrival < self.end {
                let whole = of_one && cells == self.frames.get(ended.frame).cells();
                if !whole {
                    let vc = &mut self.vcs.rest[ended.vc as usize];
                    vc.frames_corrupt += 1;
                    vc.cells_corrupt += u64::from(cells);
                } else if self.leaves(ended.vc) {
                    return self.send_to_end(arrival, link, ended.frame, true);
                } else if path.receives_at_once
                    || path.is_sender_alone && self.is_next(ended.frame, arrival, link)
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

    /// Returns whether nothing else happens to a sender before a frame that comes to it over `link`
    /// at `arrival`.
    pub(super) fn is_next(&self, frame: FrameId, arrival: SimTime, link: u32) -> bool {
        let flow = self.frames.get(frame).flow;
        // Arrivals come before timers of the same instant.
        self.events.timer(flow) >= arrival && !self.deliveries.has_any(link)
    }

    /// Asks for what an ended frame will need, once its own line and its VC's are there.
    fn prefetch_flow(&self, ended: &Ended) {
        let frame = self.frames.get(ended.frame);
        if frame.sent_by().is_some() || self.is_user(frame.flow.0) {
            return;
        }
        // Nearly all receivers have no timer.
        if !frame.is_forward {
            self.events.prefetch_timer(frame.flow);
        }
        self.flows[frame.flow.index()].prefetch(frame.is_forward);
        let (begin, path) = self.vcs.begin(self.vcs.next_vc(ended.vc));
        if !path.carries_packets && !path.is_stepped {
            self.ports.sources[begin.source as usize].prefetch();
        }
    }
}
