//! The cells of VCs at an output port, and those that have left.

use super::arrivals::ArrivalLog;
use crate::burst::Burst;
use crate::burst::input_burst::{InputBurst, Moment};
use skycell_records::{DiscardReason, Discards, QueueSamples};
use skycell_units::PortVc;

/// Cells of one VC that were accepted.
#[derive(Clone, Copy, Debug)]
struct CountedBurst {
    cells: Burst,
    link: u32,
    /// Cells of the VC accepted before it.
    before: u64,
}

/// One VC as the port sees it at every frame.
#[derive(Clone, Debug)]
pub(crate) struct OutputVc {
    /// VC id.
    pub(crate) vc: u32,
    /// Which of the port's queues of frames its cells join.
    pub(crate) queue: u32,
    /// Cells of a reassembly downstream that no last cell has ended yet.
    pub(crate) open_cells: u32,
    /// Cells accepted.
    pub(crate) accepted: u64,
    /// When the last of them came, and over which link.
    last: u64,
    last_link: u32,
    /// Why the frame that is arriving is being discarded.
    pub(crate) discarding: Option<DiscardReason>,
    /// True if the last accepted cell was not a last cell: downstream waits for one.
    pub(crate) awaits_eom: bool,
    /// True if the arriving frame has lost a cell here.
    pub(crate) has_lost: bool,
}

impl OutputVc {
    /// VC `vc`, before its first cell; its cells join `queue`.
    pub(crate) fn new(vc: u32, queue: u32) -> Self {
        OutputVc {
            vc,
            queue,
            open_cells: 0,
            accepted: 0,
            last: 0,
            last_link: 0,
            discarding: None,
            awaits_eom: false,
            has_lost: false,
        }
    }

    /// `count` cells of `burst` are accepted.
    pub(crate) fn accept(&mut self, burst: &InputBurst, count: u64) {
        self.accepted += count;
        self.last = burst.next + (count - 1) * burst.spacing;
        self.last_link = burst.link;
    }

    /// Returns whether the last accepted cell came at `moment`.
    pub(crate) fn accepted_last(&self, moment: Moment) -> bool {
        self.accepted > 0 && (self.last, self.last_link) == (moment.time.0, moment.link)
    }
}

/// The state of a VC that few frames need.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColdVc {
    /// Cells discarded here.
    pub(crate) discarded: Discards,
    pub(crate) samples: QueueSamples,
}

/// How many cells of each VC have left a port at which cells leave in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct VcDepartures {
    /// The first burst of the port's log of whose piece cells are left.
    burst: u64,
    /// By index at the port: cells of the pieces before it.
    of: Vec<u64>,
    /// Cells of that piece that have left, and the indices of their VCs.
    begun: Vec<(PortVc, u64)>,
}

impl VcDepartures {
    /// Adds one more VC.
    pub(crate) fn add_vc(&mut self) {
        self.of.push(0);
    }

    /// `departed` cells of `log` have left, no fewer than before. All that was accepted since the last call is
    /// still there.
    pub(crate) fn settle(&mut self, log: &ArrivalLog, departed: u64) {
        let (of, begun) = (&mut self.of, &mut self.begun);
        self.burst = log.each_departed(self.burst, departed, |port_vc, cells| {
            of[port_vc.index()] += cells;
        });
        begun.clear();
        log.each_begun(self.burst, departed, |port_vc, cells| {
            begun.push((port_vc, cells))
        });
    }

    /// Cells of the VC at `port_vc` that had left at the last call of `settle`.
    pub(crate) fn of(&self, port_vc: PortVc) -> u64 {
        let begun = self.begun.iter().filter(|(of, _)| *of == port_vc);
        self.of[port_vc.index()] + begun.map(|(_, count)| count).sum::<u64>()
    }
}

/// When the last cells of one VC came, after the end of a run.
#[derive(Clone, Debug)]
pub(crate) struct VcBursts {
    bursts: Vec<CountedBurst>,
    /// Cells accepted before them.
    before: u64,
    /// Those and the cells of the bursts.
    noted: u64,
}

impl VcBursts {
    /// Before the last cells of a VC `before` were accepted.
    pub(crate) fn new(before: u64) -> Self {
        VcBursts {
            bursts: Vec::new(),
            before,
            noted: before,
        }
    }

    /// `count` cells of `burst` are accepted.
    pub(crate) fn note(&mut self, burst: &InputBurst, count: u64) {
        if count == 0 {
            return;
        }
        let more = burst.next_cells(count);
        let before = self.noted;
        self.noted += count;
        if let Some(CountedBurst { cells, link, .. }) = self.bursts.last_mut()
            && *link == burst.link
            && let Some(both) = cells.followed_by(more)
        {
            *cells = both;
            return;
        }
        self.bursts.push(CountedBurst {
            cells: more,
            link: burst.link,
            before,
        });
    }

    /// Cells accepted up to `moment`, that moment included; for none, those of which is not known when.
    pub(crate) fn accepted_by(&self, moment: Option<Moment>) -> u64 {
        let Some(moment) = moment else {
            return self.before;
        };
        let at = self
            .bursts
            .partition_point(|burst| (burst.cells.first, burst.link) <= (moment.time, moment.link));
        let Some(burst) = at.checked_sub(1).map(|last| self.bursts[last]) else {
            return self.before;
        };
        // Of one at the moment itself the link decides.
        let cells = match burst.link > moment.link {
            true => burst.cells.count_before(moment.time),
            false => burst.cells.count_by(moment.time),
        };
        burst.before + cells
    }
}
