//! The cells of a queue in the order in which they are served.

use crate::frames::Cell;
use skycell_spec::{SchedulerSpec, VcRoundRobinSpec, VirtualSpacingSpec};
use skycell_switch::{VcRoundRobin, VirtualSpacing};
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
        }
    }

    /// The cell that is under transmission; where there is one order only, the one that would be next.
    pub(crate) fn front(&self) -> Option<&Cell> {
        match self {
            Line::Fifo(cells) => cells.front(),
            Line::Spaced { cells, .. } => cells.values().next(),
            Line::Rounds(rounds) => rounds.queues[rounds.serving as usize].front(),
        }
    }

    /// Takes out the cell that has waited longest and is not under transmission, if there is one.
    pub(crate) fn pop_waiting(&mut self, is_sending: bool) -> Option<Cell> {
        match self {
            Line::Fifo(cells) => cells.remove(usize::from(is_sending)),
            Line::Spaced { .. } | Line::Rounds(_) => None, // of cells only
        }
    }

    /// The same, to change it.
    pub(crate) fn front_mut(&mut self) -> Option<&mut Cell> {
        match self {
            Line::Fifo(cells) => cells.front_mut(),
            Line::Spaced { cells, .. } => cells.values_mut().next(),
            Line::Rounds(rounds) => rounds.queues[rounds.serving as usize].front_mut(),
        }
    }

    /// The transmission of the next cell begins: there is one, and from here on none comes before it.
    pub(crate) fn begin_service(&mut self) {
        match self {
            Line::Fifo(_) => {}
            Line::Spaced { spacing, cells } => {
                if let Some(&(stamp, _)) = cells.keys().next() {
                    spacing.on_service(stamp);
                }
            }
            Line::Rounds(rounds) => rounds.serving = rounds.robin.select(),
        }
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
        }
    }
}
