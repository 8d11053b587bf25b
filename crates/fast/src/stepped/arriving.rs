//! Units on their way to a port that is stepped, in the order of events.

use skycell_des::Key;
use skycell_reference::Cell;
use skycell_units::SimTime;
use std::cmp::Ordering;

/// Units of one frame at equal distances.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arriving {
    /// The event in which the first of them comes.
    pub(super) key: Key,
    /// Which of those that came to the port it is: in one event the first that did so is first.
    pub(super) nth: u64,
    pub(super) unit: Cell,
    pub(super) count: u32,
    pub(super) spacing: SimTime,
    /// Whether all come at once.
    pub(super) is_whole: bool,
    /// Whether the last of them is the frame's.
    pub(super) ends: bool,
    /// Which of those that come together by one link was first, if several ports may ask.
    pub(super) entered: Option<SimTime>,
}

impl Arriving {
    /// The `unit` alone.
    pub(super) fn of_unit(key: Key, unit: Cell) -> Self {
        Arriving {
            key,
            nth: 0,
            unit,
            count: 1,
            spacing: SimTime::ZERO,
            is_whole: false,
            ends: unit.is_last,
            entered: None,
        }
    }

    /// The others, after the first has come.
    pub(super) fn after_one(self) -> Self {
        let time = self.key.time() + self.spacing;
        Arriving {
            key: Key::in_order(time, self.key.order(), self.key.subject()),
            unit: Cell {
                index: self.unit.index + 1,
                ..self.unit
            },
            count: self.count - 1,
            ..self
        }
    }

    fn order(&self) -> (Key, u64) {
        (self.key, self.nth)
    }
}

impl Ord for Arriving {
    /// The first is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.order().cmp(&self.order())
    }
}

impl PartialOrd for Arriving {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Arriving {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Arriving {}
