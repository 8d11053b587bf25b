//! Queues of packets within one buffer: a flow's, a VC's, or a kind of flow's; and which of them sends next.

use super::{CreditRoundRobin, DeficitRoundRobin, FlowQueueing, TimeShifted};

/// The packet at the head of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its octets.
    pub octets: u32,
    /// When it came, picoseconds.
    pub came_ps: u64,
}

/// How queues of packets within one buffer take turns.
#[derive(Clone, Debug)]
pub enum QueueOrder {
    /// See [`DeficitRoundRobin`].
    Deficit(DeficitRoundRobin),
    /// See [`FlowQueueing`].
    Flows(FlowQueueing),
    /// See [`TimeShifted`].
    TimeShifted(TimeShifted),
    /// See [`CreditRoundRobin`].
    Credit(CreditRoundRobin),
}

impl QueueOrder {
    /// A packet has joined `queue`.
    pub fn on_enqueue(&mut self, queue: u32) {
        match self {
            QueueOrder::Deficit(order) => order.on_enqueue(queue),
            QueueOrder::Flows(order) => order.on_enqueue(queue),
            QueueOrder::TimeShifted(_) | QueueOrder::Credit(_) => {}
        }
    }

    /// The queue whose head goes next; some queue has one.
    pub fn select(&mut self, head: impl Fn(u32) -> Option<Head>) -> u32 {
        match self {
            QueueOrder::Deficit(order) => order.select(head),
            QueueOrder::Flows(order) => order.select(|queue| head(queue).is_some()),
            QueueOrder::TimeShifted(order) => order.select(head),
            QueueOrder::Credit(order) => order.select(head),
        }
    }

    /// The packet of `octets` octets at the head of the queue selected last is sent, and the queue has no other if
    /// `is_last`.
    pub fn on_sending(&mut self, queue: u32, octets: u32, is_last: bool) {
        match self {
            QueueOrder::Deficit(order) => order.on_sending(queue, octets, is_last),
            QueueOrder::Flows(order) => order.on_sending(queue, octets),
            QueueOrder::Credit(order) => order.on_sending(queue, octets),
            QueueOrder::TimeShifted(_) => {}
        }
    }

    /// The last packet of all has left: whoever is asked now finds every queue empty, and forgets them.
    pub fn on_empty(&mut self) {
        match self {
            QueueOrder::Deficit(order) => order.on_empty(),
            QueueOrder::Flows(order) => order.on_empty(),
            QueueOrder::Credit(order) => order.on_empty(),
            QueueOrder::TimeShifted(_) => {}
        }
    }
}

/// The entry of `queue`, which may be the first that is asked for.
pub(super) fn entry<T: Clone + Default>(entries: &mut Vec<T>, queue: u32) -> &mut T {
    let queue = queue as usize;
    if entries.len() <= queue {
        entries.resize(queue + 1, T::default());
    }
    &mut entries[queue]
}
