//! One VC at a multiplexing port: what it has there, and when its cells came.

use crate::arrivals::{Moment, Train};
use skycell_records::{DiscardReason, Discards, QueueSamples};
use skycell_units::SimTime;
use std::collections::VecDeque;

/// Cells of one VC that were taken in, `spacing` apart.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u64,
    spacing: u64,
    count: u64,
    link: u32,
    /// Cells of the VC taken in before it.
    before: u64,
}

/// One VC as the port sees it at every frame.
#[derive(Clone, Debug)]
pub(crate) struct MuxVc {
    /// VC id.
    pub(crate) vc: u32,
    /// Cells of a reassembly downstream that no last cell has ended yet.
    pub(crate) open_cells: u32,
    /// Cells taken in.
    pub(crate) taken_in: u64,
    /// When the last of them came, and over which link.
    last: u64,
    last_link: u32,
    /// Why the frame that is arriving is being discarded.
    pub(crate) discarding: Option<DiscardReason>,
    /// Whether the last cell that was taken in was not a last cell: downstream waits for one.
    pub(crate) awaits_boundary: bool,
    /// Whether the frame that is arriving has lost a cell here.
    pub(crate) has_lost: bool,
}

impl MuxVc {
    /// VC `vc`, before its first cell.
    pub(crate) fn new(vc: u32) -> Self {
        MuxVc {
            vc,
            open_cells: 0,
            taken_in: 0,
            last: 0,
            last_link: 0,
            discarding: None,
            awaits_boundary: false,
            has_lost: false,
        }
    }

    /// `count` cells of `train` are taken in.
    pub(crate) fn take_in(&mut self, train: &Train, count: u64) {
        self.taken_in += count;
        self.last = train.next + (count - 1) * train.spacing;
        self.last_link = train.link;
    }

    /// Whether the last cell taken in came at `moment`.
    pub(crate) fn taken_in_last(&self, moment: Moment) -> bool {
        self.taken_in > 0 && (self.last, self.last_link) == (moment.time.0, moment.link)
    }
}

/// When the cells of one VC came, for policies and samples that look at its occupancy, and what few
/// frames need.
#[derive(Clone, Debug, Default)]
pub(crate) struct VcRuns {
    runs: VecDeque<Run>,
    /// Cells taken in before them.
    forgotten: u64,
    /// Those and the cells of the runs.
    noted: u64,
    /// Cells discarded here.
    pub(crate) discarded: Discards,
    pub(crate) samples: QueueSamples,
}

impl VcRuns {
    /// Begins to note the last cells of a VC, before which `forgotten` were taken in.
    pub(crate) fn begin(&mut self, forgotten: u64) {
        (self.forgotten, self.noted) = (forgotten, forgotten);
    }

    /// `count` cells of `train` are taken in. Forgets cells that came before `needed`, as far as whole
    /// runs go.
    pub(crate) fn note(&mut self, train: &Train, count: u64, needed: Option<Moment>) {
        if let Some(needed) = needed {
            self.forget(needed);
        }
        let (first, spacing, link) = (train.next, train.spacing, train.link);
        let before = self.noted;
        self.noted += count;
        if let Some(run) = self.runs.back_mut() {
            let step = if run.count == 1 && count == 1 {
                first - run.first
            } else if run.count == 1 {
                spacing
            } else {
                run.spacing
            };
            let continues = first == run.first + run.count * step
                && (count == 1 || step == spacing)
                && link == run.link;
            if continues {
                run.spacing = step;
                run.count += count;
                return;
            }
        }
        self.runs.push_back(Run {
            first,
            spacing,
            count,
            link,
            before,
        });
    }

    /// Cells taken in up to `moment`, that moment included.
    pub(crate) fn taken_in_by(&self, moment: Moment) -> u64 {
        let at = self
            .runs
            .partition_point(|run| (SimTime(run.first), run.link) <= (moment.time, moment.link));
        let Some(run) = at.checked_sub(1).map(|last| self.runs[last]) else {
            return self.forgotten;
        };
        let train = Train {
            next: run.first,
            spacing: run.spacing,
            link: run.link,
            place: 0,
        };
        run.before + train.count(moment).min(run.count)
    }

    /// Cells taken in after `last`; all of them for none.
    pub(crate) fn queued_after(&self, last: Option<Moment>) -> u32 {
        (self.noted - last.map_or(0, |last| self.taken_in_by(last))) as u32
    }

    fn forget(&mut self, needed: Moment) {
        while let Some(run) = self.runs.front() {
            let last = run.first + (run.count - 1) * run.spacing;
            if (SimTime(last), run.link) >= (needed.time, needed.link) || self.runs.len() == 1 {
                break;
            }
            self.forgotten += run.count;
            self.runs.pop_front();
        }
    }
}
