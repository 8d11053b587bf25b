//! A set of octets as disjoint ranges: the sender's SACK scoreboard, the receiver's queue of early
//! data.

/// Disjoint, non-touching ranges [start, end), ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges {
    ranges: Vec<(u64, u64)>,
}

impl Ranges {
    /// Adds [start, end), `start` below `end`, and returns the range that now holds it.
    pub fn add(&mut self, start: u64, end: u64) -> (u64, u64) {
        // What comes in order joins the highest range, or comes above it.
        if let Some(last) = self.ranges.last_mut()
            && last.0 <= start
            && start <= last.1
        {
            last.1 = last.1.max(end);
            return *last;
        }
        // The ranges that overlap or touch the new one: from the first that ends at or after `start`
        // to the last that starts at or before `end`.
        let first = self.ranges.partition_point(|r| r.1 < start);
        let past = first + self.ranges[first..].partition_point(|r| r.0 <= end);
        if first == past {
            self.ranges.insert(first, (start, end));
            return (start, end);
        }
        let merged = (
            start.min(self.ranges[first].0),
            end.max(self.ranges[past - 1].1),
        );
        self.ranges[first] = merged;
        self.ranges.drain(first + 1..past);
        merged
    }

    /// Forgets every octet below `limit`.
    pub fn forget_below(&mut self, limit: u64) {
        let gone = self.ranges.partition_point(|r| r.1 <= limit);
        self.ranges.drain(..gone);
        if let Some(first) = self.ranges.first_mut() {
            first.0 = first.0.max(limit);
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }

    /// Returns whether the set holds no octet.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Octet after the highest in the set; 0 of none.
    pub fn end(&self) -> u64 {
        self.ranges.last().map_or(0, |r| r.1)
    }

    /// Octet after the last that follows without a gap, where all octets below `end` are there.
    pub fn reached_from(&self, end: u64) -> u64 {
        let mut reached = end;
        for &(start, stop) in &self.ranges {
            if start > reached {
                break;
            }
            reached = reached.max(stop);
        }
        reached
    }

    /// Returns whether [start, end) is wholly in the set.
    pub fn holds(&self, start: u64, end: u64) -> bool {
        let at = self.ranges.partition_point(|r| r.1 <= start);
        self.ranges
            .get(at)
            .is_some_and(|r| r.0 <= start && end <= r.1)
    }

    /// The lowest stretch of [from, end) that is not in the set.
    pub fn missing(&self, from: u64, end: u64) -> Option<(u64, u64)> {
        let at = self.ranges.partition_point(|r| r.1 <= from);
        let start = match self.ranges.get(at) {
            Some(range) if range.0 <= from => range.1,
            _ => from,
        };
        let next = self.ranges[at..].iter().find(|r| r.0 > start);
        let stop = next.map_or(end, |range| range.0.min(end));
        (start < stop).then_some((start, stop))
    }

    /// The lowest stretch at or above `from` that is not in the set but has an octet of the set
    /// above it.
    pub fn hole_from(&self, from: u64) -> Option<(u64, u64)> {
        let at = self.ranges.partition_point(|r| r.1 <= from);
        let next = self.ranges.get(at)?;
        if from < next.0 {
            return Some((from, next.0));
        }
        let after = self.ranges.get(at + 1)?;
        Some((next.1, after.0))
    }

    /// Octets in the set at or above `from`.
    pub fn octets_above(&self, from: u64) -> u64 {
        if self.ranges.is_empty() {
            return 0;
        }
        let at = self.ranges.partition_point(|r| r.1 <= from);
        self.ranges[at..].iter().map(|r| r.1 - r.0.max(from)).sum()
    }

    /// Returns whether the set has `octets` octets or more at or above `from`.
    pub fn has_above(&self, from: u64, octets: u64) -> bool {
        let at = self.ranges.partition_point(|r| r.1 <= from);
        let mut missing = octets;
        self.ranges[at..].iter().any(|r| {
            missing = missing.saturating_sub(r.1 - r.0.max(from));
            missing == 0
        }) || missing == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn touching_ranges_become_one() {
        let mut ranges = Ranges::default();
        ranges.add(10, 20);
        ranges.add(30, 40);
        assert_eq!(ranges.add(20, 30), (10, 40));
        assert_eq!(ranges.reached_from(9), 9);
        assert_eq!(ranges.reached_from(10), 40);
    }

    #[test]
    fn holes_lie_below_the_highest_octet_only() {
        let mut ranges = Ranges::default();
        ranges.add(10, 20);
        ranges.add(30, 40);
        assert_eq!(ranges.hole_from(0), Some((0, 10)));
        assert_eq!(ranges.hole_from(10), Some((20, 30)));
        assert_eq!(ranges.hole_from(25), Some((25, 30)));
        assert_eq!(ranges.hole_from(30), None);
    }

    const SPAN: usize = 60;

    proptest! {
        /// Against the plainest set there is: one flag an octet.
        #[test]
        fn ranges_are_a_set_of_octets(
            additions in prop::collection::vec((0..SPAN as u64, 1..12u64), 0..20),
            limit in 0..SPAN as u64,
            from in 0..SPAN as u64,
            asked in 0..SPAN as u64,
        ) {
            let mut ranges = Ranges::default();
            let mut flags = [false; SPAN + 12];
            for (start, length) in additions {
                let held = ranges.add(start, start + length);
                flags[start as usize..(start + length) as usize].fill(true);
                prop_assert!(held.0 <= start && start + length <= held.1);
                prop_assert!(flags[held.0 as usize..held.1 as usize].iter().all(|&f| f));
            }
            let high = flags.iter().rposition(|&f| f);
            let hole_start = (from as usize..flags.len())
                .find(|&i| !flags[i] && high.is_some_and(|h| i < h));
            let hole = hole_start.map(|s| {
                (s as u64, (s..flags.len()).find(|&i| flags[i]).unwrap() as u64)
            });
            prop_assert_eq!(ranges.hole_from(from), hole);
            prop_assert_eq!(ranges.end(), high.map_or(0, |h| h as u64 + 1));
            let above = flags[from as usize..].iter().filter(|&&f| f).count() as u64;
            prop_assert_eq!(ranges.octets_above(from), above);
            prop_assert!(ranges.has_above(from, above) && !ranges.has_above(from, above + 1));
            prop_assert_eq!(ranges.has_above(from, asked), asked <= above);
            let until = (from + asked).min(SPAN as u64 + 12);
            let first = (from..until).find(|&i| !flags[i as usize]);
            let missing = first.map(|s| (s, (s..until).find(|&i| flags[i as usize]).unwrap_or(until)));
            prop_assert_eq!(ranges.missing(from, until), missing);
            let reached = (limit as usize..).find(|&i| !flags.get(i).copied().unwrap_or(false));
            prop_assert_eq!(ranges.reached_from(limit) as usize, reached.unwrap());
            ranges.forget_below(limit);
            flags[..limit as usize].fill(false);
            for (i, &flag) in (0u64..).zip(&flags[..SPAN]) {
                prop_assert_eq!(ranges.holds(i, i + 1), flag);
            }
        }
    }
}
