//! Keys in order of which most lie ahead for a while, and that also show some that come after the first.

use crate::Key;
use crate::heap::KeyHeap;
use skycell_units::SimTime;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Buckets, each for a span of time.
const BUCKETS: u64 = 256;

/// Keys, least first.
///
/// A key waits unsorted in the bucket of its span of time, and comes into order with the others when that bucket is
/// opened: that costs less than a heap of all, whose every step is a guess.
#[derive(Debug)]
pub struct Calendar {
    /// Keys that came after their bucket had been opened.
    late: KeyHeap,
    /// Keys of the open buckets that were there when they were opened, ascending from `next` on.
    opened: Vec<Key>,
    next: usize,
    /// So many of those there are at least, or all keys.
    in_order: usize,
    /// A span is 2 to this power, picoseconds.
    width_log2: u32,
    /// The first span whose bucket is closed.
    closed: u64,
    /// By span, modulo [`BUCKETS`].
    buckets: Vec<Vec<Key>>,
    /// A bit for each bucket that has keys.
    filled: [u64; BUCKETS as usize / 64],
    /// Keys beyond the last bucket.
    far: BinaryHeap<Reverse<Key>>,
}

impl Calendar {
    /// No keys yet; `width` is about the time that a bucket is for. Of the keys that come next so many are kept in
    /// order as [`ahead`](Self::ahead) is to show.
    ///
    /// # Panics
    /// Those are less than two.
    pub fn new(width: SimTime, in_order: usize) -> Self {
        assert!(in_order >= 2, "the second key must be known");
        Calendar {
            late: KeyHeap::default(),
            opened: Vec::new(),
            next: 0,
            in_order,
            width_log2: width.0.max(1).ilog2(),
            closed: 0,
            buckets: vec![Vec::new(); BUCKETS as usize],
            filled: [0; BUCKETS as usize / 64],
            far: BinaryHeap::new(),
        }
    }

    /// The least key.
    #[inline(always)]
    pub fn first(&self) -> Option<Key> {
        match (self.opened.get(self.next), self.late.first()) {
            (Some(&opened), Some(late)) => Some(late.min(opened)),
            (opened, late) => opened.copied().or(late),
        }
    }

    /// The least key but one.
    #[inline(always)]
    pub fn second(&self) -> Option<Key> {
        let mut opened = self.opened[self.next..].iter().copied();
        let Some(first) = opened.next() else {
            return self.late.second();
        };
        let (late, others) = match self.late.first() {
            Some(late) if late < first => (self.late.second(), Some(first)),
            late => (late, opened.next()),
        };
        late.into_iter().chain(others).min()
    }

    /// About the key that comes so many after the first: of those whose buckets had not been opened yet when they were
    /// added.
    #[inline(always)]
    pub fn ahead(&self, count: usize) -> Option<Key> {
        self.opened.get(self.next + count).copied()
    }

    /// Adds a key.
    #[inline(always)]
    pub fn push(&mut self, key: Key) {
        let bucket = self.bucket_of(key);
        if bucket < self.closed {
            return self.late.push(key);
        }
        if bucket - self.closed < BUCKETS {
            let at = bucket % BUCKETS;
            self.buckets[at as usize].push(key);
            self.filled[at as usize / 64] |= 1 << (at % 64);
        } else {
            self.far.push(Reverse(key));
        }
        self.open();
    }

    /// Takes the least key away.
    ///
    /// # Panics
    /// There is none.
    #[inline(always)]
    pub fn pop(&mut self) {
        let (late, opened) = (self.late.first(), self.opened.get(self.next));
        if opened.is_some_and(|&opened| late.is_none_or(|late| opened < late)) {
            self.next += 1;
            self.open();
        } else {
            self.late.pop();
        }
    }

    /// Puts `key` into the place of the least one.
    ///
    /// # Panics
    /// There is none.
    #[inline(always)]
    pub fn replace_first(&mut self, key: Key) {
        self.pop();
        self.push(key);
    }

    fn bucket_of(&self, key: Key) -> u64 {
        key.time().0 >> self.width_log2
    }

    /// The first closed bucket that has keys.
    fn next_filled(&self) -> Option<u64> {
        const WORDS: u64 = BUCKETS / 64;
        let first = self.closed % BUCKETS;
        // The word of the first bucket comes twice: its later buckets, and at the end its earlier ones.
        let word_at = |nth: u64| {
            let word = (first / 64 + nth) % WORDS;
            let later = u64::MAX << (first % 64);
            let asked = match nth {
                0 => later,
                WORDS => !later,
                _ => u64::MAX,
            };
            (word, self.filled[word as usize] & asked)
        };
        let mut words = (0..=WORDS).map(word_at);
        let (word, buckets) = words.find(|(_, buckets)| *buckets > 0)?;
        Some(word * 64 + u64::from(buckets.trailing_zeros()))
    }

    /// Sees to it that enough keys are in order.
    #[inline(always)]
    fn open(&mut self) {
        if self.opened.len() - self.next < self.in_order {
            self.open_buckets();
        }
    }

    fn open_buckets(&mut self) {
        while self.opened.len() - self.next < self.in_order {
            let filled = self.next_filled();
            let near =
                filled.map(|at| self.closed + (at + BUCKETS - self.closed % BUCKETS) % BUCKETS);
            let far = self.far.peek().map(|far| self.bucket_of(far.0));
            let Some(bucket) = near.into_iter().chain(far).min() else {
                return;
            };
            self.closed = bucket + 1;
            self.opened.drain(..self.next);
            self.next = 0;
            let before = self.opened.len();
            if near == Some(bucket) {
                let at = bucket % BUCKETS;
                self.opened.append(&mut self.buckets[at as usize]);
                self.filled[at as usize / 64] &= !(1 << (at % 64));
            }
            while let Some(&Reverse(far)) = self.far.peek()
                && self.bucket_of(far) == bucket
            {
                self.opened.push(far);
                self.far.pop();
            }
            self.opened[before..].sort_unstable();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a sorted list: keys of the same bucket, of the next ones, and beyond the last.
        #[test]
        fn keys_come_in_order(
            in_order in 2usize..9,
            steps in prop::collection::vec((0u8..3, 0u64..50, 0u32..12), 0..300),
        ) {
            let (mut calendar, mut sorted) = (Calendar::new(SimTime(16), in_order), Vec::new());
            let mut now = 0;
            for (step, after, log2) in steps {
                let key = Key::new(SimTime(now + (after << log2) / 4), 0, 0);
                match step {
                    1 if !sorted.is_empty() => {
                        calendar.pop();
                        sorted.remove(0);
                    }
                    2 if !sorted.is_empty() => {
                        calendar.replace_first(key);
                        sorted[0] = key;
                    }
                    _ => {
                        calendar.push(key);
                        sorted.push(key);
                    }
                }
                sorted.sort();
                now = sorted.first().map_or(now, |first| first.time().0);
                prop_assert_eq!(calendar.first(), sorted.first().copied());
                prop_assert_eq!(calendar.second(), sorted.get(1).copied());
                let ahead: Vec<_> = (0..in_order).map_while(|nth| calendar.ahead(nth)).collect();
                prop_assert!(ahead.is_sorted() && ahead.iter().all(|key| sorted.contains(key)));
                let all_are_open = calendar.next_filled().is_none() && calendar.far.is_empty();
                prop_assert!(ahead.len() == in_order || all_are_open);
            }
        }
    }
}
