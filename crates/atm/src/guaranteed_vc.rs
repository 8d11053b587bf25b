//! A VC with a GFR contract: what it sends is held against it, and what it gets is counted.

use crate::GfrPolicer;
use skycell_records::{VcRecord, WindowMeter};
use skycell_spec::GfrSpec;
use skycell_units::SimTime;

/// The policer of a VC and the counts of its record.
#[derive(Clone, Debug)]
pub struct GuaranteedVc {
    policer: GfrPolicer,
    meter: WindowMeter,
    /// Cells due in a window.
    due_cells: u64,
    end: SimTime,
    frames_eligible: u64,
    cells_eligible: u64,
    frames_tagged: u64,
    frames_oversized: u64,
}

impl GuaranteedVc {
    /// For a VC with the contract `spec`, in a run that ends at `end`.
    pub fn new(spec: &GfrSpec, end: SimTime) -> Self {
        // A window sees whole frames, the one under way at its end not.
        let cells = spec.window_ps / spec.mcr_interval_ps;
        GuaranteedVc {
            policer: GfrPolicer::new(spec),
            meter: WindowMeter::new(spec.window_ps, spec.window_step_ps),
            due_cells: cells.saturating_sub(u64::from(spec.mfs_cells)),
            end,
            frames_eligible: 0,
            cells_eligible: 0,
            frames_tagged: 0,
            frames_oversized: 0,
        }
    }

    /// The adapter begins to send a frame of `cells` cells at `start`: whether it tags it.
    pub fn on_sending(&mut self, start: SimTime, cells: u32) -> bool {
        self.policer.on_sending(start, cells)
    }

    /// The first cell of a frame comes to the first switch at `at`: whether the frame goes on
    /// tagged. Counted if that is within the run.
    pub fn on_network(&mut self, at: SimTime, cells: u32, is_tagged: bool) -> bool {
        let judged = self.policer.on_network(at, cells, is_tagged);
        if at < self.end {
            self.frames_eligible += u64::from(judged.is_eligible);
            self.cells_eligible += u64::from(judged.is_eligible) * u64::from(cells);
            self.frames_tagged += u64::from(judged.is_tagged);
            self.frames_oversized += u64::from(judged.is_oversized);
        }
        judged.is_tagged
    }

    /// A whole frame of `cells` cells has come to the VC's end at `at`.
    pub fn on_delivered(&mut self, at: SimTime, cells: u32) {
        self.meter.on_delivered(at.0, cells);
    }

    /// Writes the counts into the VC's record.
    pub fn write(&self, record: &mut VcRecord) {
        record.frames_eligible = self.frames_eligible;
        record.cells_eligible = self.cells_eligible;
        record.frames_tagged = self.frames_tagged;
        record.frames_oversized = self.frames_oversized;
        record.guarantee = self.meter.record(self.end.0, self.due_cells);
    }
}
