//! Which early ranges a receiver tells of first.

use crate::segment::SackBlocks;

/// The ranges of what came early, by when they last changed (RFC 2018 section 4).
#[derive(Clone, Debug, Default)]
pub(crate) struct RecentRanges {
    /// The most recently changed last. Some are no longer ranges of their own: a later one holds them, or
    /// they have been delivered. They go when they are come upon.
    ranges: Vec<(u64, u64)>,
}

impl RecentRanges {
    /// The range [start, end) has changed; it holds those that it touches.
    pub(crate) fn note(&mut self, range: (u64, u64)) {
        while self.ranges.last().is_some_and(|&last| holds(range, last)) {
            self.ranges.pop();
        }
        self.ranges.push(range);
    }

    /// The ranges above `delivered` that changed last, at most `most` (at most four), newest first.
    pub(crate) fn newest(&mut self, delivered: u64, most: usize) -> SackBlocks {
        let mut found = SackBlocks::default();
        let mut at = self.ranges.len();
        while at > 0 && found.as_slice().len() < most {
            at -= 1;
            let range = self.ranges[at];
            let is_part = found.as_slice().iter().any(|&newer| holds(newer, range));
            if range.0 > delivered && !is_part {
                found.push(range);
            } else {
                self.ranges.remove(at);
            }
        }
        found
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
    }
}

fn holds(outer: (u64, u64), inner: (u64, u64)) -> bool {
    outer.0 <= inner.0 && inner.1 <= outer.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranges::Ranges;
    use proptest::prelude::*;

    proptest! {
        /// Against a list from which each change takes what it holds, and what has been delivered.
        #[test]
        fn the_newest_ranges_come_first(
            arrivals in prop::collection::vec((0u64..40, 1u64..4), 1..80),
            most in 1usize..5,
        ) {
            let (mut early, mut rcv_nxt) = (Ranges::default(), 0);
            let (mut recent, mut plain) = (RecentRanges::default(), Vec::new());
            for (start, length) in arrivals {
                let end = start + length;
                if start > rcv_nxt {
                    let range = early.add(start, end);
                    recent.note(range);
                    plain.retain(|&r| !holds(range, r));
                    plain.insert(0, range);
                } else if end > rcv_nxt {
                    rcv_nxt = early.reached_from(end);
                    early.forget_below(rcv_nxt);
                    plain.retain(|r| r.0 > rcv_nxt);
                }
                let expected: Vec<_> = plain.iter().copied().take(most).collect();
                let found = recent.newest(rcv_nxt, most);
                prop_assert_eq!(found.as_slice(), &expected);
            }
        }
    }
}
