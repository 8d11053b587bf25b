//! The greatest of the last rounds, as Linux's win_minmax.c finds it, after Nichols.

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

    /// minmax_running_max: a value of `round`, which counts for so many `rounds`.
    pub(super) fn add(&mut self, rounds: u64, round: u64, value: u64) {
        let new = (round, value);
        if value >= self.best[0].1 || round - self.best[2].0 > rounds {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].1 {
            self.best[1] = new;
            self.best[2] = new;
        } else if value >= self.best[2].1 {
            self.best[2] = new;
        }
        self.age(rounds, new);
    }

    /// minmax_subwin_update: the first is gone with its window; later ones are of later quarters of it.
    fn age(&mut self, rounds: u64, new: (u64, u64)) {
        let age = new.0 - self.best[0].0;
        if age > rounds {
            self.best = [self.best[1], self.best[2], new];
            if new.0 - self.best[0].0 > rounds {
                self.best = [self.best[1], self.best[2], new];
            }
        } else if self.best[1].0 == self.best[0].0 && age > rounds / 4 {
            self.best[1] = new;
            self.best[2] = new;
        } else if self.best[2].0 == self.best[1].0 && age > rounds / 2 {
            self.best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_of_ten_rounds_is_forgotten_after_them() {
        let mut filter = MaxOverRounds::default();
        filter.add(10, 1, 100);
        for round in 2..=11 {
            filter.add(10, round, 60 - round);
            assert_eq!(filter.greatest(), 100, "{round}");
        }
        // The best of a later part of the window is next: round 4, the first after a quarter of it.
        filter.add(10, 12, 40);
        assert_eq!(filter.greatest(), 56);
        filter.add(10, 13, 70);
        assert_eq!(filter.greatest(), 70);
    }

    #[test]
    fn with_a_window_of_one_round_the_one_before_still_counts() {
        let mut filter = MaxOverRounds::default();
        filter.add(1, 1, 9);
        filter.add(1, 2, 5);
        assert_eq!(filter.greatest(), 9);
        filter.add(1, 3, 4);
        assert_eq!(filter.greatest(), 5);
    }
}
