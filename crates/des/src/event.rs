//! Events ordered by (time, rank, subject): the order is part of the model.

use skycell_units::SimTime;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An event, wholly described by its place in the order.
///
/// Two events that are equal are the same event; there is no insertion order to fall back on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(u128);

impl Key {
    /// An event of kind `rank` (lower first at one instant) about `subject` (lower first).
    pub const fn new(time: SimTime, rank: u8, subject: u32) -> Self {
        Key::in_order(time, rank as u32, subject)
    }

    /// An event about `subject` (lower first) of those that at one instant come in the given order (lower first).
    pub const fn in_order(time: SimTime, order: u32, subject: u32) -> Self {
        Key((time.0 as u128) << 64 | (order as u128) << 32 | subject as u128)
    }

    /// Its place in that order.
    pub const fn order(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// When it happens.
    pub const fn time(self) -> SimTime {
        SimTime((self.0 >> 64) as u64)
    }

    /// Returns the rank of the event's kind.
    pub const fn rank(self) -> u8 {
        self.order() as u8
    }

    /// Whom it concerns.
    pub const fn subject(self) -> u32 {
        self.0 as u32
    }
}

/// Pending events, earliest first.
#[derive(Debug, Default)]
pub struct EventQueue {
    heap: BinaryHeap<Reverse<Key>>,
    popped: u64,
}

impl EventQueue {
    /// Adds an event.
    pub fn push(&mut self, key: Key) {
        self.heap.push(Reverse(key));
    }

    /// The next event.
    pub fn first(&self) -> Option<Key> {
        self.heap.peek().map(|first| first.0)
    }

    /// Takes the next event if it happens before `end`.
    pub fn pop_before(&mut self, end: SimTime) -> Option<Key> {
        if self.heap.peek()?.0.time() >= end {
            return None;
        }
        self.popped += 1;
        self.heap.pop().map(|Reverse(key)| key)
    }

    /// Events taken so far.
    pub fn popped(&self) -> u64 {
        self.popped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_then_rank_then_subject_whatever_the_order_of_insertion() {
        let key = |time, rank, subject| Key::new(SimTime(time), rank, subject);
        let sorted = [
            key(1, 9, 9),
            key(2, 0, 7),
            key(2, 1, 0),
            key(2, 1, u32::MAX),
            key(3, 0, 0),
        ];
        for rotation in 0..sorted.len() {
            let mut queue = EventQueue::default();
            let mut shuffled = sorted;
            shuffled.rotate_left(rotation);
            shuffled.reverse();
            shuffled.into_iter().for_each(|k| queue.push(k));
            let popped: Vec<Key> =
                std::iter::from_fn(|| queue.pop_before(SimTime::NEVER)).collect();
            assert_eq!(popped, sorted);
        }
    }

    #[test]
    fn a_key_gives_back_its_parts() {
        let key = Key::new(SimTime(u64::MAX - 1), 200, u32::MAX);
        assert_eq!(
            (key.time(), key.rank(), key.subject()),
            (SimTime(u64::MAX - 1), 200, u32::MAX)
        );
    }

    #[test]
    fn nothing_is_taken_at_or_after_the_end() {
        let mut queue = EventQueue::default();
        queue.push(Key::new(SimTime(5), 0, 0));
        assert_eq!(queue.pop_before(SimTime(5)), None);
        assert!(queue.pop_before(SimTime(6)).is_some());
        assert_eq!(queue.popped(), 1);
    }
}
