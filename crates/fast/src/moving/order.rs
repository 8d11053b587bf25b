//! Which of the cells that come together by a link that moves entered it first, where they go on to several ports.

use super::cells::Cells;
use skycell_units::SimTime;
use std::collections::VecDeque;

/// Between two looks at what will still be asked for, at least so much more is kept.
const MORE: usize = if cfg!(debug_assertions) { 4 } else { 1024 };

/// Cells of a VC that have been sent on: when they entered.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// Cells of the VC sent on before.
    before: u64,
    entry: u64,
    distance: u64,
    count: u32,
}

impl Sent {
    /// Cells of the VC sent on with these.
    fn with(&self) -> u64 {
        self.before + u64::from(self.count)
    }
}

/// What has been sent on and may be asked for.
#[derive(Debug)]
pub(super) struct EntryOrder {
    /// By place at the port before the link.
    sent: Vec<VecDeque<Sent>>,
    /// How many of all VCs, and with how many it is seen which will be asked for.
    kept: usize,
    most: usize,
}

impl EntryOrder {
    pub(super) fn new(vcs: usize) -> Self {
        EntryOrder {
            sent: vec![VecDeque::new(); vcs],
            kept: 0,
            most: MORE,
        }
    }

    /// Cells are sent on, after all others of their VC that have been.
    pub(super) fn note(&mut self, cells: &Cells) {
        let sent = &mut self.sent[cells.place as usize];
        sent.push_back(Sent {
            before: sent.back().map_or(0, Sent::with),
            entry: cells.entry,
            distance: cells.distance,
            count: cells.count,
        });
        self.kept += 1;
    }

    /// When the `nth` cell of the VC at `place` that was sent on, from 0, entered.
    pub(super) fn entry(&self, place: usize, nth: u64) -> Option<SimTime> {
        let sent = &self.sent[place];
        let at = sent.partition_point(|sent| sent.before <= nth);
        let sent = sent.get(at.checked_sub(1)?)?;
        Some(SimTime(sent.entry + (nth - sent.before) * sent.distance))
    }

    /// Of the VC at a place nobody will ask for so many of the first cells as `dealt_with` tells. What was sent on
    /// last stays.
    pub(super) fn forget(&mut self, dealt_with: impl Fn(usize) -> u64) {
        if self.kept < self.most {
            return;
        }
        for (sent, place) in self.sent.iter_mut().zip(0..) {
            let count = dealt_with(place);
            while sent.len() > 1 && sent[0].with() <= count {
                sent.pop_front();
            }
        }
        self.kept = self.sent.iter().map(VecDeque::len).sum();
        self.most = 2 * self.kept + MORE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_been_dealt_with_is_forgotten() {
        let mut order = EntryOrder::new(2);
        let cells = |place: u32, entry: u64, count: u32| Cells {
            arrival: entry + 100,
            entry,
            count,
            distance: 10,
            stride: 1,
            place,
            next_place: 5,
            frame: 0,
            ends: false,
            nth: 0,
            is_tagged: false,
        };
        order.note(&cells(0, 500, 3));
        order.note(&cells(1, 510, 1));
        order.note(&cells(0, 560, 2));
        let asked = |order: &EntryOrder| {
            let of_first = (0..5).map(|nth| order.entry(0, nth).map(|time| time.0));
            of_first.collect::<Vec<_>>()
        };
        let all = [500, 510, 520, 560, 570].map(Some);
        assert_eq!(asked(&order), all);
        let dealt_with = |place: usize| [4, 1][place];
        order.forget(dealt_with);
        assert_eq!(asked(&order), all, "few are kept");
        order.note(&cells(0, 600, 1));
        order.forget(dealt_with);
        assert_eq!(asked(&order), [None, None, None, Some(560), Some(570)]);
        assert_eq!(order.entry(0, 5), Some(SimTime(600)));
        assert_eq!(order.entry(1, 0), Some(SimTime(510)), "it was the last");
        order.note(&cells(1, 620, 1));
        assert_eq!(order.entry(1, 1), Some(SimTime(620)));
    }
}
