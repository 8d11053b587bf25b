//! The cells of a queue in the order in which they are served.

use crate::abr::Pacer;
use crate::frames::Cell;
use skycell_spec::{SchedulerSpec, VcRoundRobinSpec, VirtualSpacingSpec};
use skycell_switch::{VcRoundRobin, VirtualSpacing};
use skycell_units::SimTime;
use std::collections::{BTreeMap, VecDeque};

/// Cells that wait; the first may be under transmission.
#[derive(Debug)]
pub(crate) enum Line {
    /// In the order of arrival.
    Fifo(VecDeque<Cell>),
    /// By stamp, and of equal stamps by VC.
    Spaced {
        spacing: VirtualSpacing,
        cells: BTreeMap<(u128, u32), Cell>,
    },
    /// VC after VC.
    Rounds(Rounds),
    /// When the rate of their VC allows.
    Paced(Pacer),
}

/// A queue for each VC, and whose turn it is.
#[derive(Debug)]
pub(crate) struct Rounds {
    robin: VcRoundRobin,
    /// By VC id.
    queues: Vec<VecDeque<Cell>>,
    /// The VC whose first cell is under transmission, or was last.
    serving: u32,
    length: usize,
}

impl Line {
    /// The order that a port's scheduler asks for.
    pub(crate) fn new(scheduler: &SchedulerSpec) -> Self {
        match scheduler {
            SchedulerSpec::VirtualSpacing(VirtualSpacingSpec { intervals_ps }) => Line::Spaced {
                spacing: VirtualSpacing::new(intervals_ps),
                cells: BTreeMap::new(),
            },
            SchedulerSpec::VcRoundRobin(VcRoundRobinSpec { weights }) => Line::Rounds(Rounds {
                robin: VcRoundRobin::new(weights),
                queues: vec![VecDeque::new(); weights.len()],
                serving: 0,
                length: 0,
            }),
            _ => Line::Fifo(VecDeque::new()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Line::Fifo(cells) => cells.len(),
            Line::Spaced { cells, .. } => cells.len(),
            Line::Rounds(rounds) => rounds.length,
            Line::Paced(pacer) => pacer.len(),
        }
    }

    /// Whether a cell may be sent now.
    pub(crate) fn is_ready(&self, now: SimTime) -> bool {
        match self {
            Line::Paced(pacer) => pacer.wake(now).is_some_and(|at| at <= now),
            _ => !self.is_empty(),
        }
    }

    /// What paces its cells, if anything does.
    pub(crate) fn pacer(&self) -> Option<&Pacer> {
        match self {
            Line::Paced(pacer) => Some(pacer),
            _ => None,
        }
    }

    /// Lets it pace cells from now on, while it is empty.
    pub(crate) fn pace(&mut self) -> &mut Pacer {
        if !matches!(self, Line::Paced(_)) {
            *self = Line::Paced(Pacer::default());
        }
        match self {
            Line::Paced(pacer) => pacer,
            _ => unreachable!("it was made just now"),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A cell of the VC with spec id `vc` joins.
    pub(crate) fn push(&mut self, vc: u32, cell: Cell) {
        match self {
            Line::Fifo(cells) => cells.push_back(cell),
            Line::Spaced { spacing, cells } => {
                cells.insert((spacing.stamp(vc), vc), cell);
            }
            Line::Rounds(rounds) => {
                rounds.queues[vc as usize].push_back(cell);
                rounds.robin.set_backlog(vc, true);
                rounds.length += 1;
            }
            Line::Paced(pacer) => pacer.push(vc, cell),
        }
    }

    /// The cell that is under transmission; where there is one order only, the one that would be next.
    pub(crate) fn front(&self) -> Option<&Cell> {
        match self {
            Line::Fifo(cells) => cells.front(),
            Line::Spaced { cells, .. } => cells.values().next(),
            Line::Rounds(rounds) => rounds.queues[rounds.serving as usize].front(),
            Line::Paced(pacer) => pacer.sending(),
        }
    }

    /// The transmission of the next cell begins: there is one, and from here on none comes before it. The
    /// cell, and its VC's place at the port, if it is made for the moment.
    pub(crate) fn begin_service(&mut self, now: SimTime) -> Option<(Cell, u32)> {
        match self {
            Line::Fifo(_) => {}
            Line::Spaced { spacing, cells } => {
                if let Some(&(stamp, _)) = cells.keys().next() {
                    spacing.on_service(stamp);
                }
            }
            Line::Rounds(rounds) => rounds.serving = rounds.robin.select(),
            Line::Paced(pacer) => return pacer.begin_service(now),
        }
        None
    }

    /// The cell under transmission leaves.
    pub(crate) fn pop(&mut self) {
        match self {
            Line::Fifo(cells) => _ = cells.pop_front(),
            Line::Spaced { cells, .. } => _ = cells.pop_first(),
            Line::Rounds(rounds) => {
                let queue = &mut rounds.queues[rounds.serving as usize];
                queue.pop_front();
                if queue.is_empty() {
                    rounds.robin.set_backlog(rounds.serving, false);
                }
                rounds.length -= 1;
            }
            Line::Paced(pacer) => pacer.pop(),
        }
    }
}
