//! The greatest of the last rounds, as Linux's win_minmax.c finds it, after Nichols.

/// bbr_bw_rtts: rounds over which the greatest bandwidth counts.
const BANDWIDTH_ROUNDS: u64 = 10;

/// The greatest of a number of rounds, kept as the best three candidates.
#[derive(Clone, Debug, Default)]
pub(super) struct MaxOverRounds {
    /// Round and value; each later than the one before and no greater.
    best: [(u64, u64); 3],
}

impl MaxOverRounds {
    pub(super) fn greatest(&self) -> u64 {
        self.best[0].1
    }

    /// minmax_running_max.
    pub(super) fn add(&mut self, round: u64, value: u64) {
        let new = (round, value);
        if value >= self.best[0].1 || round - self.best[2].0 > BANDWIDTH_ROUNDS {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].1 {
            self.best[1] = new;
            self.best[2] = new;
        } else if value >= self.best[2].1 {
            self.best[2] = new;
        }
        self.age(new);
    }

    /// minmax_subwin_update: the first is gone with its window; later ones are of later quarters of it.
    fn age(&mut self, new: (u64, u64)) {
        let age = new.0 - self.best[0].0;
        if age > BANDWIDTH_ROUNDS {
            self.best = [self.best[1], self.best[2], new];
            if new.0 - self.best[0].0 > BANDWIDTH_ROUNDS {
                self.best = [self.best[1], self.best[2], new];
            }
        } else if self.best[1].0 == self.best[0].0 && age > BANDWIDTH_ROUNDS / 4 {
            self.best[1] = new;
            self.best[2] = new;
        } else if self.best[2].0 == self.best[1].0 && age > BANDWIDTH_ROUNDS / 2 {
            self.best[2] = new;
        }
    }
}
