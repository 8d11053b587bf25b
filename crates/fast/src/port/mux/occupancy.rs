//! What VCs have at a multiplexing port, and what of it has left.

use super::arrivals::ArrivalLog;
use crate::burst::Burst;
use crate::burst::train::{Moment, Train};
use skycell_records::{DiscardReason, Discards, QueueSamples};

/// Cells of one VC that were taken in.
#[derive(Clone, Copy, Debug)]
struct Run {
    cells: Burst,
    link: u32,
    /// Cells of the VC taken in before it.
    before: u64,
}

/// One VC as the port sees it at every frame.
#[derive(Clone, Debug)]
pub(crate) struct MuxVc {
    /// VC id.
    pub(crate) vc: u32,
    /// Which of the port's queues of frames its cells join.
    pub(crate) queue: u32,
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
    /// VC `vc`, before its first cell; its cells join `queue`.
    pub(crate) fn new(vc: u32, queue: u32) -> Self {
        MuxVc {
            vc,
            queue,
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

/// What few frames need of a VC.
#[derive(Clone, Debug, Default)]
pub(crate) struct RestOfVc {
    /// Cells discarded here.
    pub(crate) discarded: Discards,
    pub(crate) samples: QueueSamples,
}

/// How many cells of each VC have left a port at which cells leave in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct VcDepartures {
    /// The first train of the port's log of whose piece cells are left.
    train: u64,
    /// By place: cells of the pieces before it.
    of: Vec<u64>,
    /// Cells of that piece that have left, and the places of their VCs.
    begun: Vec<(u32, u64)>,
}

impl VcDepartures {
    /// Lets one more VC cross the port.
    pub(crate) fn add_vc(&mut self) {
        self.of.push(0);
    }

    /// `departed` cells of `log` have left, no fewer than before. All that was taken in since the last call is
    /// still there.
    pub(crate) fn settle(&mut self, log: &ArrivalLog, departed: u64) {
        let (of, begun) = (&mut self.of, &mut self.begun);
        self.train = log.each_departed(self.train, departed, |place, cells| {
            of[place as usize] += cells;
        });
        begun.clear();
        log.each_begun(self.train, departed, |place, cells| {
            begun.push((place, cells))
        });
    }

    /// Cells of the VC at `place` that had left at the last call of `settle`.
    pub(crate) fn of(&self, place: u32) -> u64 {
        let begun = self.begun.iter().filter(|(of, _)| *of == place);
        self.of[place as usize] + begun.map(|(_, count)| count).sum::<u64>()
    }
}

/// When the last cells of one VC came, after the end of a run.
#[derive(Clone, Debug)]
pub(crate) struct VcRuns {
    runs: Vec<Run>,
    /// Cells taken in before them.
    before: u64,
    /// Those and the cells of the runs.
    noted: u64,
}

impl VcRuns {
    /// Before the last cells of a VC `before` were taken in.
    pub(crate) fn new(before: u64) -> Self {
        VcRuns {
            runs: Vec::new(),
            before,
            noted: before,
        }
    }

    /// `count` cells of `train` are taken in.
    pub(crate) fn note(&mut self, train: &Train, count: u64) {
        if count == 0 {
            return;
        }
        let more = train.burst(count);
        let before = self.noted;
        self.noted += count;
        if let Some(Run { cells, link, .. }) = self.runs.last_mut()
            && *link == train.link
            && let Some(both) = cells.followed_by(more)
        {
            *cells = both;
            return;
        }
        self.runs.push(Run {
            cells: more,
            link: train.link,
            before,
        });
    }

    /// Cells taken in up to `moment`, that moment included; for none, those of which is not known when.
    pub(crate) fn taken_in_by(&self, moment: Option<Moment>) -> u64 {
        let Some(moment) = moment else {
            return self.before;
        };
        let at = self
            .runs
            .partition_point(|run| (run.cells.first, run.link) <= (moment.time, moment.link));
        let Some(run) = at.checked_sub(1).map(|last| self.runs[last]) else {
            return self.before;
        };
        // Of one at the moment itself the link decides.
        let cells = match run.link > moment.link {
            true => run.cells.count_before(moment.time),
            false => run.cells.count_by(moment.time),
        };
        run.before + cells
    }
}
