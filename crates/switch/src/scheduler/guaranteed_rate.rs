//! Guaranteed rate: a share of the cells for each queue that asks for one, the rest by priority.

use super::{Backlog, Period, Schedules, period_of};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{ClassShares, WHOLE_PPB},
};

/// Each class's share of the cells while it has cells to send; the rest goes by priority.
///
/// See [`GuaranteedRate`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(serves = "queues")]
pub struct GuaranteedRateSpec {
    /// Guaranteed parts of the classes; a class without its own queue stands for the default queue.
    #[param(key = "rates", symbol = "GR")]
    pub shares_ppb: ClassShares,
}

/// Of every N cells sent while a queue has cells, at least its share of N is its own, within one cell
/// for each queue with a share; what nobody claims goes to the first queue that has cells.
///
/// A queue with cells earns its share of a cell with each cell that the port sends. Once it has
/// earned a whole cell it is due, and of the queues that are due the one with the most credit is
/// served (of equals the first) and pays one cell. While none is due, the first queue with cells is
/// served; it pays what it has earned. A queue without cells earns nothing and keeps nothing.
///
/// The bound: of N cells sent in a row while queue i has cells, more than g_i N - n are its own, n
/// being the number of queues with a share; with one such queue at least the whole part of g N.
/// Proof: a queue pays at most one cell for each that it sends, and its credit is never negative, so
/// it has sent at least g_i N less its credit at the end. As long as queues are due one of them is
/// served, shares add up to at most 1, and each queue begins with less than a cell, so all together
/// never have more than n - 1 whole cells of credit: none has n cells.
///
/// Source: ATM Forum 97-0424, section 5.1.1, asks for such a service between VBR and UBR and leaves
/// the scheduler to a later contribution; this one is our choice. Without shares it is strict
/// priority, as there.
#[derive(Clone, Debug)]
pub struct GuaranteedRate {
    /// Of each queue, in parts of [`WHOLE_PPB`].
    shares: Vec<u64>,
    /// Of each queue, see [`repeats_soon`].
    repeats_soon: Vec<bool>,
    /// Credit that each queue has earned and not spent, in the same parts of a cell.
    credits: Vec<u64>,
    /// The credits from which a cycle was sought last.
    sought_from: Vec<u64>,
}

impl GuaranteedRate {
    /// Shares by queue, in parts of [`WHOLE_PPB`]; together at most the whole.
    pub fn new(shares_ppb: &[u32]) -> Self {
        let shares = || shares_ppb.iter().map(|&share| u64::from(share));
        GuaranteedRate {
            repeats_soon: shares().map(repeats_soon).collect(),
            shares: shares().collect(),
            credits: vec![0; shares_ppb.len()],
            sought_from: Vec::new(),
        }
    }
}

impl GuaranteedRate {
    /// See [`Scheduler::period`](super::Scheduler::period).
    pub(crate) fn period(&mut self, backlog: Backlog, queue: usize) -> Option<Period> {
        let first = backlog.first();
        let (mut others_earn, mut come_back) = (false, true);
        for (q, credit) in self.credits.iter_mut().enumerate() {
            if !backlog.has(q) {
                *credit = 0; // as the next choice would
            }
            let earns = q != first && backlog.has(q) && self.shares[q] > 0;
            others_earn |= *credit > 0 || earns;
            come_back &= !earns || self.repeats_soon[q];
        }
        if !others_earn && self.shares[first] < u64::from(WHOLE_PPB) {
            // What the first earns is gone when it is served, which nobody comes before.
            let is_first = queue == first;
            return Some(if is_first { Period::EACH } else { Period::NONE });
        }
        if !come_back {
            return None;
        }
        let mut start = std::mem::take(&mut self.sought_from);
        start.clone_from(&self.credits);
        let found = period_of(self, backlog, queue, |now| now.credits == start);
        self.credits.clone_from(&start);
        self.sought_from = start;
        found
    }
}

/// Returns whether the credit of a queue, less what it has spent, may come back within
/// [`Period::LONGEST`] choices: so many times its share is a number of whole cells.
fn repeats_soon(share: u64) -> bool {
    let (mut divisor, mut rest) = (u64::from(WHOLE_PPB), share);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    u64::from(WHOLE_PPB) / divisor <= u64::from(Period::LONGEST)
}

impl Schedules for GuaranteedRate {
    fn select(&mut self, backlog: Backlog) -> usize {
        let whole = u64::from(WHOLE_PPB);
        let mut due = None;
        let mut most = whole - 1;
        for (q, credit) in self.credits.iter_mut().enumerate() {
            if !backlog.has(q) {
                *credit = 0;
                continue;
            }
            *credit += self.shares[q];
            if *credit > most {
                most = *credit;
                due = Some(q);
            }
        }
        match due {
            Some(q) => {
                self.credits[q] -= whole;
                q
            }
            None => {
                let q = backlog.first();
                self.credits[q] = 0;
                q
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn services(shares: &[u32], backlogs: &[u32]) -> Vec<usize> {
        let mut scheduler = GuaranteedRate::new(shares);
        backlogs
            .iter()
            .map(|&b| scheduler.select(Backlog(b)))
            .collect()
    }

    #[test]
    fn a_tenth_is_every_tenth_cell_and_a_half_every_other() {
        let tenth = services(&[0, 100_000_000], &[0b11; 30]);
        let own: Vec<usize> = (0..30).filter(|&k| tenth[k] == 1).collect();
        assert_eq!(own, [9, 19, 29]);
        assert_eq!(services(&[0, 500_000_000], &[0b11; 6]), [0, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn without_a_share_the_first_queue_has_priority() {
        assert_eq!(services(&[0, 0], &[0b11, 0b11, 0b10, 0b11]), [0, 0, 1, 0]);
    }

    #[test]
    fn a_queue_earns_nothing_while_it_has_no_cells() {
        // Alone for nine cells, then both: the tenth is not due at once, the other queue's turn is.
        let backlogs = [&[0b01; 9][..], &[0b11; 10][..]].concat();
        let served = services(&[0, 100_000_000], &backlogs);
        assert_eq!(served.iter().position(|&q| q == 1), Some(18));
    }

    #[test]
    fn what_a_queue_sends_beyond_its_share_is_not_held_against_it() {
        // Alone for 50 cells; then it has to wait no longer than for its tenth.
        let backlogs = [&[0b10; 50][..], &[0b11; 10][..]].concat();
        let served = services(&[0, 100_000_000], &backlogs);
        assert_eq!(served[50..].iter().position(|&q| q == 1), Some(9));
    }

    /// Shares that add up to at most the whole, and queues that come and go.
    fn any_case() -> impl Strategy<Value = (Vec<u32>, Vec<u32>)> {
        (1usize..5).prop_flat_map(|queues| {
            let shares = prop::collection::vec(0u32..=WHOLE_PPB / queues as u32, queues);
            // Runs of one backlog, so that windows of some length come about.
            let run = (1u32..1 << queues, 1usize..200);
            let backlogs = prop::collection::vec(run, 1..12).prop_map(|runs| {
                let repeated = runs.iter().flat_map(|&(b, n)| std::iter::repeat_n(b, n));
                repeated.collect::<Vec<u32>>()
            });
            (shares, backlogs)
        })
    }

    proptest! {
        #[test]
        fn every_window_in_which_a_queue_has_cells_holds_its_share((shares, backlogs) in any_case()) {
            let served = services(&shares, &backlogs);
            let with_share = shares.iter().filter(|&&share| share > 0).count() as u64;
            for (q, &share) in shares.iter().enumerate().filter(|&(_, &share)| share > 0) {
                for begin in 0..served.len() {
                    let mut own = 0u64;
                    for (n, k) in (begin..served.len()).enumerate() {
                        if backlogs[k] & (1 << q) == 0 {
                            break;
                        }
                        own += u64::from(served[k] == q);
                        let earned = u64::from(share) * (n as u64 + 1);
                        prop_assert!(earned < (own + with_share) * u64::from(WHOLE_PPB));
                    }
                }
            }
        }

        #[test]
        fn the_link_is_never_idle_and_nobody_without_cells_is_served((shares, backlogs) in any_case()) {
            for (q, b) in services(&shares, &backlogs).into_iter().zip(backlogs) {
                prop_assert!(Backlog(b).has(q));
            }
        }
    }

    #[test]
    fn a_queue_is_due_once_it_has_earned_a_whole_cell_and_not_a_part_in_10_9_before() {
        let third = services(&[0, 333_333_333], &[0b11; 8]);
        let own: Vec<usize> = (0..8).filter(|&k| third[k] == 1).collect();
        assert_eq!(own, [3, 6]);
    }

    #[test]
    fn a_queue_that_runs_dry_keeps_nothing_of_what_it_earned() {
        // Nine tenths of a cell, a cell time without cells, and ten more to wait.
        let backlogs = [&[0b11; 9][..], &[0b01], &[0b11; 10]].concat();
        let served = services(&[0, 100_000_000], &backlogs);
        assert_eq!(served.iter().position(|&q| q == 1), Some(19));
    }

    #[test]
    fn of_queues_that_are_due_the_most_credit_is_served_and_of_equals_the_first() {
        // Six tenths and three: 1.4 and 1.2 cells at the fourth choice, 1.0 and 1.5 at the fifth.
        let served = services(&[0, 600_000_000, 300_000_000], &[0b111; 5]);
        assert_eq!(served, [0, 1, 0, 1, 2]);
        let equal = services(&[0, 250_000_000, 250_000_000], &[0b111; 5]);
        assert_eq!(equal, [0, 0, 0, 1, 2]);
    }
}
