//! The steps of a time-varying link, and what follows from them.

use crate::burst::Burst;
use skycell_spec::ScheduleSpec;
use skycell_units::SimTime;

/// The steps of a link, and what follows from them.
#[derive(Debug)]
pub(super) struct Steps {
    /// When each begins, from 0.
    times: Vec<u64>,
    pub(super) delays: Vec<u64>,
    /// The first step of the path that each belongs to.
    pub(super) path: Vec<u32>,
    /// When the path of each is given up, as far as a handover of the run does so.
    pub(super) given_up: Vec<Option<u64>>,
    /// When a cell that enters on a later path than that of each comes, at the earliest.
    pub(super) later: Vec<u64>,
    /// The least of the delays.
    pub(super) least: u64,
}

impl Steps {
    pub(super) fn new(schedule: &ScheduleSpec, least: u64, end: SimTime) -> Self {
        let steps = schedule.times_ps.len();
        let times = schedule.times_ps.clone();
        let delays: Vec<u64> = schedule.delays_ps.iter().map(|d| d.unwrap_or(0)).collect();
        let mut path = vec![0; steps];
        for step in 1..steps {
            let is_same_path = schedule.paths[step] == schedule.paths[step - 1];
            path[step] = if is_same_path {
                path[step - 1]
            } else {
                step as u32
            };
        }
        let (mut given_up, mut later) = (vec![None; steps], vec![u64::MAX; steps]);
        let mut earliest = u64::MAX; // of all steps behind
        for step in (0..steps).rev() {
            match path.get(step + 1) {
                Some(next) if *next == path[step] => {
                    (given_up[step], later[step]) = (given_up[step + 1], later[step + 1]);
                }
                Some(_) => {
                    given_up[step] = Some(times[step + 1]).filter(|&handover| handover < end.0);
                    later[step] = earliest;
                }
                None => {}
            }
            earliest = earliest.min(times[step].saturating_add(delays[step]));
        }
        Steps {
            least,
            times,
            delays,
            path,
            given_up,
            later,
        }
    }

    /// The step in force at `time`; most likely `near` or one soon after it.
    pub(super) fn at(&self, time: u64, near: usize) -> usize {
        let is_in = |step: usize| self.end(step) > time;
        if self.times[near] <= time && is_in(near) {
            return near;
        }
        self.times.partition_point(|&begin| begin <= time) - 1
    }

    /// Of cells that enter, the step of the first, and how many do so in it.
    pub(super) fn entering(&self, cells: Burst, near: usize) -> (usize, u64) {
        let step = self.at(cells.first.0, near);
        (step, cells.count_before(SimTime(self.end(step))))
    }

    /// When the step ends.
    fn end(&self, step: usize) -> u64 {
        self.times.get(step + 1).copied().unwrap_or(u64::MAX)
    }
}
