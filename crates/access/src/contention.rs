//! Parts that contention protocols share: who may send, and the feedback of a slot.
//!
//! Slots of contention are numbered one after the other. What was heard of a slot is known some slots later, a round
//! trip of the satellite, and every terminal hears the same.

use skycell_units::SimTime;

/// A terminal that has something to send, and knows what has become of all that it has sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contender {
    /// Its number on the uplink.
    pub terminal: u32,
    /// Since when it contends: the arrival of what it has to send, or later, when it knew that what it had sent before
    /// was through. A collision does not change it.
    pub since: SimTime,
}

/// The feedback of a contention slot: the ternary feedback 0, 1, e.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// Nobody sent.
    Idle,
    /// One terminal sent, and was understood.
    Success,
    /// Several sent, or what was heard was not understood.
    Collision,
}

/// A protocol by which terminals contend for slots.
pub trait Contention: std::fmt::Debug + Send {
    /// Those of `contenders` (by terminal, ascending) that send in the slot of contention `slot`, which begins at `now`,
    /// join `senders`.
    fn choose(&mut self, now: SimTime, slot: u64, contenders: &[Contender], senders: &mut Vec<u32>);

    /// It is known now what was heard of slot `slot`, in which `senders` sent. Slots become known in order.
    fn on_feedback(&mut self, slot: u64, feedback: Feedback, senders: &[u32]);

    /// Numbers that describe the state which a terminal has to keep to follow the protocol.
    fn state_size(&self) -> u32;
}
