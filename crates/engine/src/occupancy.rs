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

/// One VC as the port sees it.
#[derive(Clone, Debug, Default)]
pub(crate) struct MuxVc {
    /// VC id.
    pub(crate) vc: u32,
    /// Why the frame that is arriving is being discarded.
    pub(crate) discarding: Option<DiscardReason>,
    /// Whether the last cell that was taken in was not a last cell: downstream waits for one.
    pub(crate) awaits_boundary: bool,
    /// Whether the frame that is arriving has lost a cell here.
    pub(crate) has_lost: bool,
    /// Cells taken in.
    pub(crate) taken_in: u64,
    runs: VecDeque<Run>,
    /// Cells of a reassembly downstream that no last cell has ended yet.
    pub(crate) open_cells: u32,
    /// Cells discarded here.
    pub(crate) discarded: Discards,
    pub(crate) samples: QueueSamples,
}

impl MuxVc {
    /// VC `vc`, before its first cell.
    pub(crate) fn new(vc: u32) -> Self {
        MuxVc {
            vc,
            ..MuxVc::default()
        }
    }

    pub(crate) fn take_in(&mut self, first: u64, spacing: u64, count: u64, link: u32) {
        let before = self.taken_in;
        self.taken_in += count;
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

    /// Whether the last cell taken in came at `moment`.
    pub(crate) fn taken_in_last(&self, moment: Moment) -> bool {
        self.runs.back().is_some_and(|run| {
            run.link == moment.link && run.first + (run.count - 1) * run.spacing == moment.time.0
        })
    }

    /// Cells taken in up to `moment`, that moment included.
    pub(crate) fn taken_in_by(&self, moment: Moment) -> u64 {
        let at = self
            .runs
            .partition_point(|run| (SimTime(run.first), run.link) <= (moment.time, moment.link));
        let Some(run) = at.checked_sub(1).map(|last| self.runs[last]) else {
            return self.runs.front().map_or(0, |first| first.before);
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
        (self.taken_in - last.map_or(0, |last| self.taken_in_by(last))) as u32
    }

    pub(crate) fn forget(&mut self, needed: Moment) {
        while let Some(run) = self.runs.front() {
            let last = run.first + (run.count - 1) * run.spacing;
            if (SimTime(last), run.link) >= (needed.time, needed.link) || self.runs.len() == 1 {
                break;
            }
            self.runs.pop_front();
        }
    }
}
