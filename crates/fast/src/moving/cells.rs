//! Cells under way on a link that moves.

/// Cells of one frame that come at equal distances.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells {
    /// The first of them.
    pub(super) arrival: u64,
    pub(super) entry: u64,
    pub(super) count: u32,
    pub(super) distance: u64,
    pub(super) stride: u16,
    /// Place of the VC before the link and behind it.
    pub(super) place: u32,
    pub(super) next_place: u32,
    pub(super) frame: u32,
    /// Whether the last of them is the frame's.
    pub(super) ends: bool,
    /// Which cell of the frame the first is, from 0, if none has been lost.
    pub(super) nth: u32,
    pub(super) is_tagged: bool,
}

impl Cells {
    /// When the last of them comes.
    pub(super) fn last(&self) -> u64 {
        self.arrival + u64::from(self.count - 1) * self.distance
    }

    /// The first `count` of them, and the others.
    pub(super) fn split(self, count: u32) -> (Cells, Cells) {
        let later = u64::from(count) * self.distance;
        let first = Cells {
            count,
            ends: self.ends && count == self.count,
            ..self
        };
        let others = Cells {
            arrival: self.arrival + later,
            entry: self.entry + later,
            nth: self.nth + count,
            count: self.count - count,
            ..self
        };
        (first, others)
    }

    /// The cells one by one.
    pub(super) fn one_by_one(self) -> impl Iterator<Item = Cells> {
        (0..self.count).map(move |at| Cells {
            arrival: self.arrival + u64::from(at) * self.distance,
            entry: self.entry + u64::from(at) * self.distance,
            nth: self.nth + at,
            count: 1,
            stride: 1,
            ends: self.ends && at + 1 == self.count,
            ..self
        })
    }
}

/// Of `count` cells, the first at `first` and the others `distance` apart, those before `time`.
pub(super) fn cells_before(time: u64, first: u64, distance: u64, count: u32) -> u32 {
    match time.checked_sub(first + 1) {
        Some(later) => (later / distance + 1).min(u64::from(count)) as u32,
        None => 0,
    }
}
