//! First-come first-serve splitting: intervals of arrival times split until each holds one burst at most, and what is not
//! known to hold several goes back to what is still to come.
//!
//! Source: R. G. Gallager, 1978, and B. S. Tsybakov, V. A. Mikhailov, 1980, as D. Bertsekas, R. Gallager, Data Networks, 2nd
//! edition, section 4.3.2 give it, equations 4.15 to 4.18.

use crate::contention::{Contender, Contention, Feedback};
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, types::Interval};
use skycell_units::SimTime;
use std::collections::VecDeque;

/// First-come first-serve splitting of intervals of arrival times.
///
/// Bertsekas and Gallager: Data Networks, 1992, section 4.3.2, after Gallager 1978 and Tsybakov and Mikhailov 1980.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct SplittingSpec {
    /// Longest interval of arrival times that is sent at first.
    #[param(key = "window", symbol = "alpha_0")]
    pub window_ps: Interval,
}

/// Bits of an instant that tell terminals apart that came at the same time.
const TERMINAL_BITS: u32 = 20;

/// Arrival times from `from` to before `to`, with the terminal in their last bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Arrivals {
    from: u128,
    to: u128,
}

/// Disjoint intervals in order of time: what several resolutions that take turns leave is not one interval.
type Intervals = VecDeque<Arrivals>;

/// Cuts off the first `length` of `intervals`, or all if they are shorter.
fn cut(intervals: &mut Intervals, length: u128) -> Intervals {
    let mut first = Intervals::new();
    let mut left = length;
    while left > 0
        && let Some(next) = intervals.pop_front()
    {
        let middle = next.to.min(next.from + left);
        left -= middle - next.from;
        first.push_back(Arrivals { to: middle, ..next });
        if middle < next.to {
            intervals.push_front(Arrivals {
                from: middle,
                ..next
            });
        }
    }
    first
}

fn key(since: SimTime, terminal: u32) -> u128 {
    u128::from(since.0) << TERMINAL_BITS | u128::from(terminal)
}

/// The intervals that are being resolved.
#[derive(Clone, Debug)]
struct Resolution {
    sent: Intervals,
    /// sigma = L: the other half of what collided; none for sigma = R.
    right: Option<Intervals>,
}

impl Resolution {
    /// alpha is halved: the left half is sent, of a single instant all of it.
    fn split(mut whole: Intervals) -> Self {
        let length: u128 = whole.iter().map(|own| own.to - own.from).sum();
        Resolution {
            sent: cut(&mut whole, length.div_ceil(2)),
            right: Some(whole),
        }
    }
}

/// The terminals of an uplink, as splitting lets them send.
#[derive(Debug)]
pub struct Splitting {
    window: u128,
    /// Resolutions that take turns, as many as there are slots until a slot is known.
    resolutions: Vec<Option<Resolution>>,
    /// Arrivals that went back to those that wait.
    returned: Intervals,
    /// Arrivals from here on have not been sent.
    waiting_from: u128,
}

impl Splitting {
    /// With `resolutions` that take turns.
    pub fn new(spec: &SplittingSpec, resolutions: u32) -> Self {
        Splitting {
            window: u128::from(spec.window_ps) << TERMINAL_BITS,
            resolutions: vec![None; resolutions as usize],
            returned: Intervals::new(),
            waiting_from: 0,
        }
    }

    /// The oldest arrivals that wait: alpha = min(alpha_0, k - T(k)), equation 4.18.
    fn oldest(&mut self, now: SimTime) -> Intervals {
        let since = Arrivals {
            from: self.waiting_from,
            to: key(now, 0),
        };
        self.returned.push_back(since);
        let oldest = cut(&mut self.returned, self.window);
        // What has come since, or its rest, comes last and goes on to grow.
        let is_left = self.returned.back().is_some_and(|last| last.to == since.to);
        self.waiting_from = match is_left {
            true => self.returned.pop_back().map_or(since.to, |rest| rest.from),
            false => since.to,
        };
        oldest
    }

    fn give_back(&mut self, intervals: Intervals) {
        self.returned.extend(intervals);
        self.returned
            .make_contiguous()
            .sort_unstable_by_key(|own| own.from);
    }
}

impl Contention for Splitting {
    fn choose(
        &mut self,
        now: SimTime,
        slot: u64,
        contenders: &[Contender],
        senders: &mut Vec<u32>,
    ) {
        let turn = (slot % self.resolutions.len() as u64) as usize;
        if self.resolutions[turn].is_none() {
            let sent = self.oldest(now);
            self.resolutions[turn] = Some(Resolution { sent, right: None });
        }
        let resolution = self.resolutions[turn].as_ref().expect("made just now");
        let is_sent = |own: u128| {
            let sent = &resolution.sent;
            sent.iter().any(|part| (part.from..part.to).contains(&own))
        };
        let sends = |c: &&Contender| is_sent(key(c.since, c.terminal));
        senders.extend(contenders.iter().filter(sends).map(|c| c.terminal));
    }

    fn on_feedback(&mut self, slot: u64, feedback: Feedback, _senders: &[u32]) {
        let turn = (slot % self.resolutions.len() as u64) as usize;
        let Some(Resolution { sent, right }) = self.resolutions[turn].take() else {
            return;
        };
        self.resolutions[turn] = match (feedback, right) {
            // 4.15: what was to the right is not known to hold anything and goes back.
            (Feedback::Collision, right) => {
                self.give_back(right.unwrap_or_default());
                Some(Resolution::split(sent))
            }
            // 4.16
            (Feedback::Success, Some(right)) => Some(Resolution {
                sent: right,
                right: None,
            }),
            // 4.17: the right half must collide, and splits at once.
            (Feedback::Idle, Some(right)) => Some(Resolution::split(right)),
            // 4.18
            (Feedback::Idle | Feedback::Success, None) => None,
        };
    }

    /// For each resolution that takes its turn: T, alpha and sigma; and T of what waits.
    fn state_size(&self) -> u32 {
        3 * self.resolutions.len() as u32 + 1
    }
}
