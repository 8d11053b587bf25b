//! Users with applications, whose connections come and go.

use super::Network;
use crate::frames::Content;
use skycell_tcp::Segment;
use skycell_traffic::Users;
use skycell_units::{FrameId, SimTime};

impl Network<'_> {
    /// Lets the users of the spec begin.
    pub(super) fn begin_users(&mut self) {
        self.users = Users::of(self.spec);
        if let Some(users) = &mut self.users {
            users.begin(&mut self.of_users);
            self.after_users(SimTime::ZERO);
        }
    }

    /// Returns whether an id of a flow is that of a user's connection.
    pub(super) fn is_user(&self, id: u32) -> bool {
        self.users.as_ref().is_some_and(|users| users.has(id))
    }

    /// A time of a user's connection has come.
    pub(super) fn on_user_event(&mut self, now: SimTime, kind: u8, id: u32) {
        if let Some(users) = &mut self.users {
            users.on_event(now, kind, id, &mut self.of_users);
        }
        self.after_users(now);
    }

    /// The frame of a segment has come to an end of a user's connection.
    pub(super) fn on_user_segment(&mut self, now: SimTime, id: FrameId) {
        let frame = self.frames.get(id);
        let ecn = frame.ecn;
        let Content::Segment {
            segment,
            flow,
            is_forward,
            ..
        } = frame.content
        else {
            unreachable!("the frame of a user");
        };
        self.frames.settle(id, 1);
        let segment = Segment { ecn, ..segment };
        if let Some(users) = &mut self.users {
            users.on_segment(now, flow, is_forward, &segment, &mut self.of_users);
        }
        self.after_users(now);
    }

    /// Sends what users want sent, and plans their events.
    fn after_users(&mut self, now: SimTime) {
        let mut out = std::mem::take(&mut self.of_users);
        out.wakes.drain(..).for_each(|key| self.events.push(key));
        for sent in out.sent.drain(..) {
            let content = Content::Segment {
                segment: sent.segment,
                flow: sent.flow,
                is_forward: sent.is_forward,
                route_index: 0,
            };
            let id = self
                .frames
                .add(content, sent.octets as u32, sent.cells, now);
            let users = self.users.as_ref().expect("who sends is there");
            let first = users.route(sent.flow, sent.is_forward)[0];
            self.offer_frame(now, id, first);
        }
        self.of_users = out;
    }
}
