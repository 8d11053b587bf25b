//! What a thread leaves of some epochs: links over time, and next hops that change.

/// A link between two nodes over epochs without a gap.
#[derive(Debug)]
pub(super) struct Interval {
    pub(super) ends: [u32; 2],
    pub(super) first_epoch: u32,
    pub(super) first_ps: u64,
    pub(super) last_ps: u64,
    pub(super) diffs_ps: Vec<i32>,
}

impl Interval {
    pub(super) fn end(&self) -> u32 {
        self.first_epoch + self.diffs_ps.len() as u32 + 1
    }

    /// Takes the delay of the next epoch; false where the difference does not fit, so that a new
    /// interval begins.
    pub(super) fn extend(&mut self, delay_ps: u64) -> bool {
        let difference = delay_ps.wrapping_sub(self.last_ps) as i64;
        i32::try_from(difference).is_ok_and(|difference| {
            self.diffs_ps.push(difference);
            self.last_ps = delay_ps;
            true
        })
    }
}

/// A next hop that differs from that of the epoch before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    pub(super) node: u32,
    pub(super) epoch: u32,
    pub(super) label: u16,
    pub(super) next: u32,
}

/// The result of some epochs.
#[derive(Default)]
pub(super) struct Chunk {
    pub(super) intervals: Vec<Interval>,
    /// Next nodes at the first epoch, by label, then node; in the first chunk only.
    pub(super) first: Vec<u32>,
    pub(super) turns: Vec<Turn>,
}
