//! Users with applications, whose connections come and go.

use super::offer::OFFERED_BITS;
use super::{Network, Offer};
use crate::frames::Frame;
use skycell_tcp::Segment;
use skycell_traffic::{UserSegment, rank};
use skycell_units::{FlowId, SimTime};

/// The bits of a connection's number that its order needs. Connections of a slot that are open have numbers close together.
const CONNECTIONS: u32 = (1 << (63 - OFFERED_BITS)) - 1;

impl Network<'_> {
    /// Lets the users of the spec begin.
    pub(super) fn begin_users(&mut self) {
        if let Some(users) = &mut self.users {
            users.begin(&mut self.of_users);
            self.after_users(SimTime::ZERO);
        }
    }

    /// Returns whether an id of a flow is that of a user's connection.
    #[inline(always)]
    pub(super) fn is_user(&self, id: u32) -> bool {
        self.users.as_ref().is_some_and(|users| users.has(id))
    }

    /// The VC on which a packet of a user goes on; none at the end of its route.
    pub(super) fn after_on_route_of_user(&self, frame: &Frame) -> Option<u32> {
        let users = self.users.as_ref()?;
        let route = users.route(frame.flow.0, frame.is_forward);
        route.get(usize::from(frame.route_index) + 1).copied()
    }

    /// A time of a user's connection has come.
    pub(super) fn on_user_event(&mut self, now: SimTime, kind: u8, id: u32) {
        self.of_users.order = Some(self.current);
        if let Some(users) = &mut self.users {
            users.on_event(now, kind, id, &mut self.of_users);
        }
        self.after_users(now);
    }

    /// A segment has come to an end of a user's connection.
    pub(super) fn on_user_segment(&mut self, now: SimTime, frame: &Frame, segment: &Segment) {
        self.of_users.order = Some(self.current);
        if let Some(users) = &mut self.users {
            let (id, is_forward) = (frame.flow.0, frame.is_forward);
            users.on_segment(now, id, is_forward, segment, &mut self.of_users);
        }
        self.after_users(now);
    }

    /// Sends what users want sent, and plans their events.
    fn after_users(&mut self, now: SimTime) {
        let mut out = std::mem::take(&mut self.of_users);
        out.wakes.drain(..).for_each(|key| self.events.push(key));
        for (to, letter) in out.letters.drain(..) {
            self.send_letter(to, letter);
        }
        for sent in out.sent.drain(..) {
            self.order_of_users = self.order_of(&sent);
            let users = self.users.as_ref().expect("who sends is there");
            let vc = users.route(sent.flow, sent.is_forward)[0];
            let (flow, size) = (FlowId(sent.flow), (sent.cells, sent.octets as u32));
            let frame = self
                .frames
                .add(&sent.segment, flow, sent.is_forward, vc, size, now);
            let offer = Offer {
                frame,
                flow,
                vc,
                cells: sent.cells,
                is_paced: false,
            };
            self.offer_frame(now, offer);
        }
        self.order_of_users = 0;
        self.of_users = out;
        self.take_arriving();
    }

    /// In a region, where a segment stands among all that a timer lets the ends of a slot's connections send: the newest
    /// connection is first, and the user before the server.
    fn order_of(&self, sent: &UserSegment) -> u64 {
        let newest = u64::from(!sent.segment.connection & CONNECTIONS) << 1;
        match (&self.here, self.current.rank()) {
            (None, _) | (_, rank::ARRIVAL) => 0,
            (_, rank::APPLICATION) => u64::from(sent.is_forward),
            _ => newest | u64::from(sent.is_forward),
        }
    }
}
