//! The ends of a flow in two regions of a network. Each region has the whole flow, one end of which does nothing there:
//! nothing comes to it, and it has no timer.

use crate::{AtSource, Flow};
use skycell_units::SimTime;

impl Flow {
    /// Leaves it the source alone. A server opens its connection at the start: the first request does so at the user.
    pub fn keep_source(&mut self) {
        if let Some(web) = &mut self.web {
            web.leave_user();
        }
    }

    /// Leaves it the destination alone.
    pub fn keep_destination(&mut self) {
        let has_user = self.web.as_mut().is_some_and(|web| web.leave_server());
        if !has_user {
            self.application_due = SimTime::NEVER;
        }
        self.at_source = AtSource {
            has_web: self.at_source.has_web,
            holds_acks: self.at_source.holds_acks,
            has_losses: false,
            has_transfers: false,
            traces_sender: false,
            traces_sequence: false,
            // So that nobody but a proxy opens it, and there is none.
            has_relay: true,
            asks_for_window: false,
        };
        (self.application.relay, self.application.losses) = (None, None);
    }

    /// Leaves it nothing.
    pub fn keep_nothing(&mut self) {
        self.keep_source();
        self.keep_destination();
        self.application_due = SimTime::NEVER;
    }
}
