//! A burst: units at equal distances, the currency of the data path.

use skycell_units::SimTime;

pub(crate) mod fragment;
pub(crate) mod input_burst;

/// Units, the first at `first` and the others `spacing` apart, which is above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Burst {
    pub(crate) first: SimTime,
    pub(crate) spacing: SimTime,
    pub(crate) count: u64,
}

impl Burst {
    pub(crate) const fn new(first: SimTime, spacing: SimTime, count: u64) -> Self {
        Burst {
            first,
            spacing,
            count,
        }
    }

    /// Units by `time`, that instant included.
    pub(crate) fn count_by(&self, time: SimTime) -> u64 {
        match time.0.checked_sub(self.first.0) {
            Some(later) => (later / self.spacing.0 + 1).min(self.count),
            None => 0,
        }
    }

    /// Units before `time`.
    pub(crate) fn count_before(&self, time: SimTime) -> u64 {
        match time.0.checked_sub(1) {
            Some(last) => self.count_by(SimTime(last)),
            None => 0,
        }
    }

    /// The time of a unit, the first being 0.
    pub(crate) fn nth(&self, n: u64) -> SimTime {
        self.first + SimTime(n * self.spacing.0)
    }

    /// The time of the last unit; there is one.
    pub(crate) fn last(&self) -> SimTime {
        self.nth(self.count - 1)
    }

    /// The first `n` units, at most as many as there are, and the others.
    pub(crate) fn split(self, n: u64) -> (Burst, Burst) {
        let others = Burst {
            first: self.nth(n),
            count: self.count - n,
            ..self
        };
        (Burst { count: n, ..self }, others)
    }

    /// The same units, all of them `by` later.
    pub(crate) fn shift(self, by: SimTime) -> Burst {
        Burst {
            first: self.first + by,
            ..self
        }
    }

    /// These units and `more`, as one burst if they are one; none of `more` is before the last of these.
    pub(crate) fn followed_by(self, more: Burst) -> Option<Burst> {
        let spacing = match (self.count, more.count) {
            (1, 1) => more.first - self.first,
            (1, _) => more.spacing,
            _ => self.spacing,
        };
        let is_one = spacing > SimTime::ZERO
            && more.first == self.last() + spacing
            && (more.count == 1 || more.spacing == spacing);
        is_one.then_some(Burst {
            spacing,
            count: self.count + more.count,
            ..self
        })
    }

    /// The sum of the times of all units, picoseconds.
    pub(crate) fn sum(&self) -> u128 {
        let count = u128::from(self.count);
        let steps = count * count.saturating_sub(1) / 2;
        count * u128::from(self.first.0) + steps * u128::from(self.spacing.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn times(burst: Burst) -> Vec<u64> {
        (0..burst.count).map(|n| burst.nth(n).0).collect()
    }

    proptest! {
        /// Against the list of its times.
        #[test]
        fn a_burst_is_the_list_of_its_times(
            first in 0u64..50, spacing in 1u64..9, count in 0u64..12, at in 0u64..150, n in 0u64..12,
        ) {
            let burst = Burst::new(SimTime(first), SimTime(spacing), count);
            let list: Vec<u64> = (0..count).map(|n| first + n * spacing).collect();
            prop_assert_eq!(&times(burst), &list);
            let by = list.iter().filter(|&&time| time <= at).count() as u64;
            let before = list.iter().filter(|&&time| time < at).count() as u64;
            let at_time = SimTime(at);
            prop_assert_eq!((burst.count_by(at_time), burst.count_before(at_time)), (by, before));
            prop_assert_eq!(burst.sum(), list.iter().map(|&time| u128::from(time)).sum::<u128>());
            if let Some(&last) = list.last() {
                prop_assert_eq!(burst.last().0, last);
            }
            let (head, tail) = burst.split(n.min(count));
            prop_assert_eq!([times(head), times(tail)].concat(), list.clone());
            // Two parts are one again.
            if head.count > 0 && tail.count > 0 {
                prop_assert_eq!(head.followed_by(tail), Some(burst));
                prop_assert_eq!(head.followed_by(tail.shift(SimTime(1))).is_some(), count == 2);
            }
            let later: Vec<u64> = list.iter().map(|time| time + at).collect();
            prop_assert_eq!(times(burst.shift(at_time)), later);
        }
    }
}
