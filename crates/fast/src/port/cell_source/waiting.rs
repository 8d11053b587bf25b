//! Cells of sources that wait at a port, kept as bursts.

use std::collections::VecDeque;

/// Cells of one source that left their own port one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaitingBurst {
    /// When the first of them left its own port; the others a spacing apart.
    pub(crate) left: u64,
    pub(crate) cells: u64,
    /// Index of the source at the port.
    pub(crate) cell_source: u32,
}

/// The cells, in order.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// Spacing of the cells of a burst.
    spacing: u64,
    bursts: VecDeque<WaitingBurst>,
    cells: u64,
}

impl Waiting {
    /// No cells; those that leave their own ports `spacing` apart will be one burst.
    pub(crate) fn new(spacing: u64) -> Self {
        Waiting {
            spacing,
            ..Waiting::default()
        }
    }

    /// How many cells there are.
    pub(crate) fn cells(&self) -> u64 {
        self.cells
    }

    /// More cells, behind the others.
    pub(crate) fn push(&mut self, more: WaitingBurst) {
        self.cells += more.cells;
        if let Some(last) = self.bursts.back_mut()
            && last.cell_source == more.cell_source
            && last.left + last.cells * self.spacing == more.left
        {
            last.cells += more.cells;
            return;
        }
        self.bursts.push_back(more);
    }

    /// The first cells, of one burst and at most `cells` of them; there must be cells.
    pub(crate) fn pop(&mut self, cells: u64) -> WaitingBurst {
        let first = self.bursts.front_mut().expect("cells are waiting");
        let popped = WaitingBurst {
            cells: cells.min(first.cells),
            ..*first
        };
        first.left += popped.cells * self.spacing;
        first.cells -= popped.cells;
        if first.cells == 0 {
            self.bursts.pop_front();
        }
        self.cells -= popped.cells;
        popped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_out_as_they_went_in_and_neighbours_together() {
        let burst = |left, cells, cell_source| WaitingBurst {
            left,
            cells,
            cell_source,
        };
        let mut waiting = Waiting::new(10);
        waiting.push(burst(100, 3, 0));
        waiting.push(burst(130, 2, 0)); // goes on
        waiting.push(burst(150, 1, 1)); // another source
        waiting.push(burst(170, 1, 1)); // after a pause
        assert_eq!(waiting.cells(), 7);
        assert_eq!(waiting.pop(4), burst(100, 4, 0));
        assert_eq!(waiting.pop(4), burst(140, 1, 0));
        assert_eq!(waiting.pop(1), burst(150, 1, 1));
        assert_eq!(waiting.pop(9), burst(170, 1, 1));
        assert_eq!(waiting.cells(), 0);
    }
}
