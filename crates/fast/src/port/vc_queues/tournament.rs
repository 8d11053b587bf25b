//! A tournament of stamps: which is least.

use std::hint::select_unpredictable;

/// Stamps by index. The least is known, and with a comparison a round again when one of them changes, without a branch
/// that depends on who wins.
///
/// Source: D. Knuth, *The Art of Computer Programming*, volume 3, section 5.4.1 (trees of winners).
#[derive(Debug, Default)]
pub(super) struct Tournament {
    /// As many as a power of two.
    stamps: Vec<u128>,
    /// The indices that have won: 2 i and 2 i + 1 meet in match i, match 1 is the final, and what an index comes from
    /// is itself.
    winners: Vec<u32>,
}

/// Of an index without a stamp.
const NONE: u128 = u128::MAX;

impl Tournament {
    /// The index with the least stamp, of equal ones the lowest, and the stamp; none if no index has any.
    pub(super) fn first(&self) -> Option<(u32, u128)> {
        let index = *self.winners.get(1)?;
        let stamp = self.stamps[index as usize];
        (stamp != NONE).then_some((index, stamp))
    }

    /// Gives `index` a stamp, below 2^128 - 1, instead of the one that it has.
    pub(super) fn set(&mut self, index: u32, stamp: u128) {
        if index as usize >= self.stamps.len() {
            self.grow(index as usize + 1);
        }
        self.play(index, stamp);
    }

    /// Takes the stamp of `index` away.
    pub(super) fn remove(&mut self, index: u32) {
        self.play(index, NONE);
    }

    fn play(&mut self, index: u32, stamp: u128) {
        self.stamps[index as usize] = stamp;
        let (mut winner, mut least) = (index, stamp);
        let mut at = self.stamps.len() + index as usize;
        while at > 1 {
            let other = self.winners[at ^ 1];
            let of_other = self.stamps[other as usize];
            let loses = (of_other < least) | (of_other == least) & (other < winner);
            winner = select_unpredictable(loses, other, winner);
            least = select_unpredictable(loses, of_other, least);
            at /= 2;
            self.winners[at] = winner;
        }
    }

    /// Makes room for so many.
    #[cold]
    fn grow(&mut self, count: usize) {
        let room = count.next_power_of_two();
        self.stamps.resize(room, NONE);
        self.winners = vec![0; 2 * room];
        for index in 0..room {
            self.winners[room + index] = index as u32;
        }
        for at in (1..room).rev() {
            let (left, right) = (self.winners[2 * at], self.winners[2 * at + 1]);
            let is_right = self.stamps[right as usize] < self.stamps[left as usize];
            self.winners[at] = if is_right { right } else { left };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a search through all of them.
        #[test]
        fn the_least_stamp_is_first_and_of_equal_ones_that_of_the_lowest_index(
            steps in prop::collection::vec((0u32..20, prop::option::of(0u128..30)), 0..200)
        ) {
            let (mut tournament, mut stamps) = (Tournament::default(), [None; 20]);
            prop_assert_eq!(tournament.first(), None);
            for (index, stamp) in steps {
                match stamp {
                    Some(stamp) => tournament.set(index, stamp),
                    None if stamps[index as usize].is_some() => tournament.remove(index),
                    None => continue,
                }
                stamps[index as usize] = stamp;
                let present = stamps.iter().zip(0u32..).filter_map(|(s, i)| Some((i, (*s)?)));
                let first = present.min_by_key(|&(index, stamp)| (stamp, index));
                prop_assert_eq!(tournament.first(), first);
            }
        }
    }
}
