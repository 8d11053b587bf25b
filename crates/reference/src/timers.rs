//! A flow's times in the event queue.

use skycell_des::{EventQueue, Key};
use skycell_traffic::{Flow, Outbox, rank};
use skycell_units::SimTime;

/// The events that are pending for one flow's timers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timers {
    /// By kind: the time of the earliest event in the queue; [`SimTime::NEVER`] for none.
    pending: [SimTime; 3],
}

impl Default for Timers {
    fn default() -> Self {
        Timers {
            pending: [SimTime::NEVER; 3],
        }
    }
}

impl Timers {
    /// An event of `kind` has come: lets the flow act if its time is now.
    pub(crate) fn on_event(&mut self, now: SimTime, kind: u8, flow: &mut Flow, out: &mut Outbox) {
        self.pending[usize::from(kind - rank::RETRANSMISSION)] = SimTime::NEVER;
        flow.on_timer(now, kind, out);
    }

    /// Puts the next times of the flow with id `id` into the queue. Times that have been put off
    /// keep their earlier event, which finds nothing due and is followed by another plan.
    pub(crate) fn plan(&mut self, id: u32, flow: &Flow, events: &mut EventQueue) {
        let due = [
            flow.retransmission_due(),
            flow.held_ack_due(),
            flow.application_due(),
        ];
        for (kind, due) in (rank::RETRANSMISSION..).zip(due) {
            let pending = &mut self.pending[usize::from(kind - rank::RETRANSMISSION)];
            if let Some(due) = due
                && due < *pending
            {
                *pending = due;
                events.push(Key::new(due, kind, id));
            }
        }
    }
}
