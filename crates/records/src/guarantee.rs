//! A VC's guarantee over the run and over sliding windows.

use serde::Serialize;

/// The results of a run's windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WindowRecord {
    /// Windows that lie within the run.
    pub windows: u64,
    /// Of those, windows in which the VC got what it is due.
    pub met: u64,
    /// Fewest cells of whole frames that a window delivered.
    pub least_cells: u64,
    /// Cells that it is due in a window: MCR x length, less MFS.
    pub due_cells: u64,
}

/// The result of the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunGuarantee {
    /// Cells that the VC is due over the run: MCR x duration, less MFS.
    pub due_cells: u64,
    /// True if the VC got its cells, in whole frames.
    pub is_met: bool,
    /// True if the VC got, in whole frames, as many cells as were eligible; what is under way at
    /// the end counts as delivered.
    pub is_eligible_met: bool,
}

/// Counts the cells of whole frames that a VC delivers, step by step.
#[derive(Clone, Debug)]
pub struct WindowMeter {
    step_ps: u64,
    steps_per_window: usize,
    delivered: Vec<u64>,
}

impl WindowMeter {
    /// Windows of `window_ps`, each beginning `step_ps` after the one before; a window is a whole
    /// number of steps.
    pub fn new(window_ps: u64, step_ps: u64) -> Self {
        WindowMeter {
            step_ps,
            steps_per_window: (window_ps / step_ps) as usize,
            delivered: Vec::new(),
        }
    }

    /// A frame of `cells` cells was delivered whole at `time_ps`.
    pub fn on_delivered(&mut self, time_ps: u64, cells: u32) {
        let step = (time_ps / self.step_ps) as usize;
        if self.delivered.len() <= step {
            self.delivered.resize(step + 1, 0);
        }
        self.delivered[step] += u64::from(cells);
    }

    /// The windows that begin at `from_ps` or later and end by `end_ps`, where `due_cells` are due in each.
    pub fn record(&self, from_ps: u64, end_ps: u64, due_cells: u64) -> WindowRecord {
        let first = from_ps.div_ceil(self.step_ps) as usize;
        let steps = (end_ps / self.step_ps) as usize;
        let at = |step: usize| self.delivered.get(step).copied().unwrap_or(0);
        let mut record = WindowRecord {
            due_cells,
            ..WindowRecord::default()
        };
        let end_of_first = first + self.steps_per_window;
        let mut cells: u64 = (first..end_of_first.min(steps)).map(at).sum();
        for end in end_of_first..=steps {
            record.met += u64::from(cells >= due_cells);
            record.least_cells = if record.windows == 0 {
                cells
            } else {
                record.least_cells.min(cells)
            };
            record.windows += 1;
            cells += at(end);
            cells -= at(end - self.steps_per_window);
        }
        record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_window_within_the_run_counts_and_no_other() {
        // Steps of 10, windows of 20: 0-20, 10-30, 20-40 within a run of 45.
        let mut meter = WindowMeter::new(20, 10);
        for (time, cells) in [(0, 5), (19, 1), (20, 7), (39, 2), (40, 100)] {
            meter.on_delivered(time, cells);
        }
        let record = meter.record(0, 45, 9);
        // 6, 8 and 9 cells.
        assert_eq!((record.windows, record.met, record.least_cells), (3, 1, 6));
        // From 1 on those that begin at 10 and at 20.
        let later = meter.record(1, 45, 9);
        assert_eq!((later.windows, later.met, later.least_cells), (2, 1, 8));
    }

    #[test]
    fn a_window_longer_than_the_run_is_none() {
        let mut meter = WindowMeter::new(100, 10);
        meter.on_delivered(5, 5);
        let none = WindowRecord {
            due_cells: 1,
            ..WindowRecord::default()
        };
        assert_eq!(meter.record(0, 99, 1), none);
    }
}
