//! The turns of a queue in choices that repeat.

/// Choices in a row, in slots from 0 on, that repeat after some of them, and which of them are turns of a
/// certain queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// Bit k stands for slot k of a cycle.
    turns: u128,
    length: u32,
    count: u32,
}

impl Cycle {
    /// Slots after which choices repeat, at most: those of any share in whole hundredths do.
    pub const LONGEST: u32 = 128;
    /// Each slot is a turn.
    pub const EACH: Cycle = Cycle {
        turns: 1,
        length: 1,
        count: 1,
    };
    /// No slot is.
    pub const NONE: Cycle = Cycle {
        turns: 0,
        length: 1,
        count: 0,
    };

    /// Of the slots from 0 to `length`, 1 to 128, those are turns of which the bit is set in `turns`.
    pub fn new(turns: u128, length: u32) -> Self {
        debug_assert!((1..=Self::LONGEST).contains(&length));
        debug_assert_eq!(turns, turns & up_to(length));
        Cycle {
            turns,
            length,
            count: turns.count_ones(),
        }
    }

    /// Slots after which choices repeat, 1 to 128.
    pub fn length(self) -> u64 {
        u64::from(self.length)
    }

    /// Turns in that many slots.
    pub fn turns(self) -> u64 {
        u64::from(self.count)
    }

    /// Whether all slots are its turns.
    pub fn is_always(self) -> bool {
        self.count == self.length
    }

    /// The slots that are not its turns.
    #[must_use]
    pub fn others(self) -> Self {
        Cycle::new(!self.turns & up_to(self.length), self.length)
    }

    /// Whether `slot` is a turn.
    pub fn has(self, slot: u64) -> bool {
        self.turns & (1 << (slot % self.length())) != 0
    }

    /// Turns among the first `slots` slots.
    pub fn turns_in(self, slots: u64) -> u64 {
        if self.length == 1 {
            return self.turns() * slots;
        }
        let rest = self.turns & up_to((slots % self.length()) as u32);
        slots / self.length() * self.turns() + u64::from(rest.count_ones())
    }

    /// Slot of turn `turn`, from 0; there must be turns.
    pub fn slot_of(self, turn: u64) -> u64 {
        if self.count == 1 {
            return turn * self.length() + u64::from(self.turns.trailing_zeros());
        }
        turn / self.turns() * self.length() + self.place_of(turn % self.turns())
    }

    /// Sum of the slots of the first `turns` turns.
    pub fn sum_of_slots(self, turns: u64) -> u128 {
        if turns == 0 {
            return 0;
        }
        let (cycles, rest) = (turns / self.turns(), turns % self.turns());
        let places =
            |turns: u64| u128::from((0..turns).map(|turn| self.place_of(turn)).sum::<u64>());
        let begins = |cycles: u64| u128::from(cycles) * u128::from(self.length());
        // Of the whole cycles where they begin and the places within; the same of the last.
        let pairs = u128::from(cycles) * u128::from(cycles.saturating_sub(1)) / 2;
        pairs * u128::from(self.length() * self.turns())
            + u128::from(cycles) * places(self.turns())
            + u128::from(rest) * begins(cycles)
            + places(rest)
    }

    /// Slot of one of the turns of the first cycle.
    fn place_of(self, turn: u64) -> u64 {
        let later = (0..turn).fold(self.turns, |turns, _| turns & (turns - 1));
        u64::from(later.trailing_zeros())
    }
}

/// The bits of slots before `slot`, which is at most 128.
fn up_to(slot: u32) -> u128 {
    match slot {
        128.. => u128::MAX,
        _ => (1 << slot) - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_tenth_and_the_rest_worked_out_by_hand() {
        let tenth = Cycle::new(1 << 9, 10);
        assert_eq!((tenth.slot_of(0), tenth.slot_of(3)), (9, 39));
        assert_eq!(
            (tenth.turns_in(9), tenth.turns_in(10), tenth.turns_in(40)),
            (0, 1, 4)
        );
        assert_eq!(tenth.sum_of_slots(3), 9 + 19 + 29);
        let rest = tenth.others();
        assert_eq!((rest.turns(), rest.slot_of(8), rest.slot_of(9)), (9, 8, 10));
        assert_eq!(rest.sum_of_slots(11), 36 + 10 + 11);
        assert_eq!(Cycle::EACH.others(), Cycle::NONE);
        assert_eq!((Cycle::EACH.slot_of(7), Cycle::NONE.turns_in(7)), (7, 0));
    }

    proptest! {
        #[test]
        fn turns_are_counted_as_a_list_of_slots_would_be(bits in 1u128.., length in 1u32..=128) {
            let turns = bits & up_to(length);
            let cycle = Cycle::new(turns, length);
            let slots: Vec<u64> = (0..300).filter(|&slot| cycle.has(slot)).collect();
            for slot in 0..300 {
                prop_assert_eq!(cycle.has(slot), turns >> (slot % u64::from(length)) & 1 == 1);
                let before = slots.iter().filter(|&&turn| turn < slot).count() as u64;
                prop_assert_eq!(cycle.turns_in(slot), before);
                prop_assert_eq!(cycle.others().turns_in(slot), slot - before);
            }
            let mut sum = 0;
            for (turn, &slot) in (0u64..).zip(&slots) {
                prop_assert_eq!(cycle.slot_of(turn), slot);
                prop_assert_eq!(cycle.sum_of_slots(turn), sum);
                sum += u128::from(slot);
            }
        }
    }
}
