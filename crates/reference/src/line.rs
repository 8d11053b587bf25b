//! The cells of a queue in the order in which they are served.

use crate::frames::Cell;
use skycell_spec::SchedulerSpec;
use skycell_switch::VirtualSpacing;
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
}

impl Line {
    /// The order that a port's scheduler asks for.
    pub(crate) fn new(scheduler: &SchedulerSpec) -> Self {
        match scheduler {
            SchedulerSpec::VirtualSpacing { intervals_ps } => Line::Spaced {
                spacing: VirtualSpacing::new(intervals_ps),
                cells: BTreeMap::new(),
            },
            _ => Line::Fifo(VecDeque::new()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Line::Fifo(cells) => cells.len(),
            Line::Spaced { cells, .. } => cells.len(),
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
        }
    }

    /// The cell that is under transmission, or would be next.
    pub(crate) fn front(&self) -> Option<&Cell> {
        match self {
            Line::Fifo(cells) => cells.front(),
            Line::Spaced { cells, .. } => cells.values().next(),
        }
    }

    /// The transmission of the first cell begins; from here on no cell comes before it.
    pub(crate) fn begin_service(&mut self) {
        if let Line::Spaced { spacing, cells } = self
            && let Some(&(stamp, _)) = cells.keys().next()
        {
            spacing.on_service(stamp);
        }
    }

    /// The first cell leaves.
    pub(crate) fn pop(&mut self) {
        match self {
            Line::Fifo(cells) => _ = cells.pop_front(),
            Line::Spaced { cells, .. } => _ = cells.pop_first(),
        }
    }
}
