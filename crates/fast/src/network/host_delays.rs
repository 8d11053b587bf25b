//! End points whose hosts take a time to hand over what TCP sends.

use super::{Network, Offer};
use skycell_des::Key;
use skycell_spec::NetworkSpec;
use skycell_traffic::{HostDelay, rank};
use skycell_units::{FlowId, SimTime};

/// The ends of all flows, by [`HostDelay::index`]; none where none of them takes a time.
pub(super) fn host_delays(spec: &NetworkSpec) -> Vec<HostDelay> {
    let flows = || spec.flows.iter();
    let has_jitter = flows().any(|flow| flow.jitter.data_ps > 0 || flow.jitter.acks_ps > 0);
    let ends = flows().filter(|_| has_jitter);
    ends.flat_map(|flow| HostDelay::of_ends(flow, spec.seed))
        .collect()
}

impl Network<'_> {
    /// Sends what the flow wants sent, in a run in which some hosts take a time.
    #[inline(never)]
    pub(super) fn send_with_times(&mut self, now: SimTime, id: FlowId) {
        for is_forward in [true, false] {
            self.send_each(now, id, is_forward, |network, offer| {
                network.send(now, offer, is_forward);
            });
        }
        self.take_arriving();
    }

    /// The source of the flow, or else its destination, sends a frame, which comes to its port after the
    /// host's processing time.
    fn send(&mut self, now: SimTime, offer: Offer, is_forward: bool) {
        let subject = HostDelay::index(offer.flow.0, is_forward);
        let end = &mut self.host_delays[subject as usize];
        if end.is_immediate() {
            return self.offer_frame(now, offer);
        }
        let at = end.draw(now);
        self.frames.get_mut(offer.frame).enqueued_at = at;
        let event = Key::new(at, rank::TRANSMIT, subject);
        if !self.end_points.hands_over_at_once[subject as usize] {
            if end.wait(at, offer.frame) {
                self.events.push(event);
            }
        } else if at < self.end {
            // What the port refuses has its place there.
            let current = std::mem::replace(&mut self.current, event);
            self.offer_frame(at, offer);
            self.current = current;
        } else {
            self.frames.forget(offer.frame);
        }
    }

    /// The end of a flow hands over what is due, in order.
    #[inline(never)]
    pub(super) fn on_transmit(&mut self, now: SimTime, subject: u32) {
        while let Some(frame) = self.host_delays[subject as usize].take(now) {
            let sent = self.frames.get(frame);
            let offer = Offer {
                frame,
                flow: sent.flow,
                vc: sent.vc,
                cells: sent.cells(),
                is_paced: false,
            };
            self.offer_frame(now, offer);
            self.take_arriving();
        }
        if let Some(next) = self.host_delays[subject as usize].next() {
            self.events.push(Key::new(next, rank::TRANSMIT, subject));
        }
    }
}
