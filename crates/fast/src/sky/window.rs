//! Windows of time, each with the nodes that act in it.

use skycell_units::SimTime;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Windows from the present one on that have a list of their own.
const LISTS: u64 = 4096;
/// The end of a list.
const NONE: u32 = u32::MAX;

/// The windows of a run, all of one length, from 0 on.
pub(super) struct Windows {
    width_ps: u64,
    /// The present window.
    now: u64,
    /// By window, modulo [`LISTS`]: the first entry.
    heads: Vec<u32>,
    /// A bit for each list that has entries.
    filled: [u64; LISTS as usize / 64],
    /// Nodes, each with the entry that comes next in its list.
    entries: Vec<(u32, u32)>,
    /// The first of the entries that are free.
    free: u32,
    /// Windows and nodes beyond the last list.
    far: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Windows {
    pub(super) fn new(width_ps: u64) -> Self {
        Windows {
            width_ps,
            now: 0,
            heads: vec![NONE; LISTS as usize],
            filled: [0; LISTS as usize / 64],
            entries: Vec::new(),
            free: NONE,
            far: BinaryHeap::new(),
        }
    }

    /// The window of a time.
    #[inline(always)]
    pub(super) fn of(&self, time: SimTime) -> u64 {
        time.0 / self.width_ps
    }

    /// The present window.
    #[inline(always)]
    pub(super) fn now(&self) -> u64 {
        self.now
    }

    /// Beginning and end of a window.
    #[inline(always)]
    pub(super) fn span(&self, window: u64) -> (SimTime, SimTime) {
        let begin = window * self.width_ps;
        (SimTime(begin), SimTime(begin.saturating_add(self.width_ps)))
    }

    /// Puts a node into a window, which is not over; more than once is of no harm.
    #[inline(always)]
    pub(super) fn put(&mut self, window: u64, node: u32) {
        if window - self.now >= LISTS {
            return self.far.push(Reverse((window, node)));
        }
        let at = (window % LISTS) as usize;
        let next = self.heads[at];
        self.heads[at] = match self.free {
            NONE => {
                self.entries.push((node, next));
                self.entries.len() as u32 - 1
            }
            free => {
                self.free = self.entries[free as usize].1;
                self.entries[free as usize] = (node, next);
                free
            }
        };
        self.filled[at / 64] |= 1 << (at % 64);
    }

    /// Goes to the next window in which a node acts, if it begins before `limit`, when the present one has none left.
    pub(super) fn next_before(&mut self, limit: SimTime) -> Option<u64> {
        let listed = self.next_listed();
        let far = self.far.peek().map(|&Reverse((window, _))| window);
        let next = listed.into_iter().chain(far).min()?;
        if self.span(next).0 >= limit {
            return None;
        }
        self.now = next;
        while let Some(&Reverse((window, node))) = self.far.peek()
            && window == self.now
        {
            self.far.pop();
            self.put(window, node);
        }
        Some(self.now)
    }

    /// The first window from the present one on whose list has entries.
    fn next_listed(&self) -> Option<u64> {
        const WORDS: u64 = LISTS / 64;
        let first = self.now % LISTS;
        // The word of the first list comes twice: its later lists, and at the end its earlier ones.
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
        let (word, lists) = words.find(|(_, lists)| *lists > 0)?;
        let at = word * 64 + u64::from(lists.trailing_zeros());
        Some(self.now + (at + LISTS - first) % LISTS)
    }

    /// Takes a node out of the present window.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<u32> {
        let at = (self.now % LISTS) as usize;
        let entry = self.heads[at];
        if entry == NONE {
            self.filled[at / 64] &= !(1 << (at % 64));
            return None;
        }
        let (node, next) = self.entries[entry as usize];
        self.heads[at] = next;
        self.entries[entry as usize].1 = self.free;
        self.free = entry;
        Some(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Against a sorted set: windows near and far, and such as are put in while others are taken out.
        #[test]
        fn windows_come_in_order_and_have_all_their_nodes(
            steps in prop::collection::vec((0u64..4, 0u64..20_000, 0u32..9), 0..200),
        ) {
            let (mut windows, mut sorted) = (Windows::new(10), BTreeSet::new());
            for (takes, ahead, node) in steps {
                let window = windows.now + 1 + ahead;
                windows.put(window, node);
                sorted.insert((window, node));
                if takes > 0 {
                    continue;
                }
                let first = sorted.first().map(|first: &(u64, u32)| first.0);
                prop_assert_eq!(windows.next_before(SimTime::NEVER), first);
                let mut found = BTreeSet::new();
                while let Some(node) = windows.pop() {
                    found.insert((windows.now, node));
                }
                let later = sorted.split_off(&(windows.now + 1, 0));
                prop_assert_eq!(std::mem::replace(&mut sorted, later), found);
            }
        }
    }

    #[test]
    fn a_window_has_its_beginning_and_not_its_end() {
        let windows = Windows::new(10);
        assert_eq!([9, 10, 19].map(|time| windows.of(SimTime(time))), [0, 1, 1]);
        assert_eq!(windows.span(1), (SimTime(10), SimTime(20)));
    }
}
