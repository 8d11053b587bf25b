//! When what enters a link arrives at the earliest.

use skycell_spec::LinkSpec;
use skycell_units::SimTime;

/// The delays of a link, as far as that goes.
#[derive(Debug)]
pub(super) struct Earliest {
    /// The least delay of all.
    pub(super) least: SimTime,
    /// When each step begins, its delay, and when what enters in a later one arrives at the earliest.
    steps: Vec<(SimTime, SimTime, SimTime)>,
}

impl Earliest {
    pub(super) fn new(link: &LinkSpec) -> Self {
        let mut steps = Vec::new();
        if let Some(schedule) = &link.schedule {
            // What enters as a path ends still takes its delay.
            let mut known = schedule.delays_ps.iter().flatten().next().copied();
            for (&time, &delay) in schedule.times_ps.iter().zip(&schedule.delays_ps) {
                known = delay.or(known);
                let delay = SimTime(known.unwrap_or(link.delay_ps));
                steps.push((SimTime(time), delay, SimTime::NEVER));
            }
            let mut later = SimTime::NEVER;
            for step in steps.iter_mut().rev() {
                step.2 = later;
                later = later.min(step.0 + step.1);
            }
        }
        Earliest {
            least: SimTime(link.delay_ps),
            steps,
        }
    }

    /// Before when nothing arrives that enters at `time` or later.
    pub(super) fn arrival(&self, time: SimTime) -> SimTime {
        let begun = self.steps.partition_point(|step| step.0 <= time);
        match begun.checked_sub(1).map(|step| self.steps[step]) {
            Some((_, delay, later)) => (time + delay).min(later),
            None => time + self.least,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shorter_path_to_come_is_the_earliest_and_one_that_has_ended_keeps_its_delay() {
        let step =
            |time: u64, delay: u64, later: u64| (SimTime(time), SimTime(delay), SimTime(later));
        let earliest = Earliest {
            least: SimTime(5),
            steps: vec![
                step(0, 300, 105),
                step(100, 5, 550),
                step(500, 50, u64::MAX),
            ],
        };
        let arrivals = [0, 99, 100, 499, 500, 900].map(|time| earliest.arrival(SimTime(time)).0);
        assert_eq!(arrivals, [105, 105, 105, 504, 550, 950]);
    }
}
