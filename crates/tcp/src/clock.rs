//! The host clock that timers and round-trip times are counted in.

use skycell_units::SimTime;

/// A clock that ticks every `tick`, first at `phase`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TickClock {
    tick: u64,
    phase: u64,
}

impl TickClock {
    /// A clock with the given granularity (above zero) and time of its first tick, picoseconds.
    pub fn new(tick_ps: u64, phase_ps: u64) -> Self {
        TickClock {
            tick: tick_ps,
            phase: phase_ps,
        }
    }

    /// Ticks up to and including `now`.
    pub fn ticks(&self, now: SimTime) -> u64 {
        now.0
            .checked_sub(self.phase)
            .map_or(0, |since_first| since_first / self.tick + 1)
    }

    /// When the `nth` tick falls, from 1: a timer of `count` ticks that starts after so many ticks runs out at
    /// tick `ticks + count`.
    ///
    /// A timer of n ticks runs for more than n - 1 and at most n ticks, as in 4.4BSD.
    pub fn at(&self, nth: u64) -> SimTime {
        SimTime(self.phase + (nth - 1) * self.tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_of_n_ticks_runs_out_at_the_nth_tick_to_come() {
        let clock = TickClock::new(100, 30); // ticks at 30, 130, 230 …
        assert_eq!(clock.ticks(SimTime(29)), 0);
        assert_eq!(clock.ticks(SimTime(30)), 1);
        assert_eq!(clock.ticks(SimTime(229)), 2);
        let after = |now, count| clock.at(clock.ticks(SimTime(now)) + count);
        assert_eq!(after(0, 1), SimTime(30));
        assert_eq!(after(30, 1), SimTime(130));
        assert_eq!(after(129, 2), SimTime(230));
    }
}
