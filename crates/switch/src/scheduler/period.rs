//! The services of a queue in choices that repeat.

/// Choices in a row, in slots from 0 on, that repeat after some of them, and which of them are services of a
/// certain queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// Bit k stands for slot k of a cycle.
    services: u128,
    length: u32,
    count: u32,
}

impl Period {
    /// Slots after which choices repeat, at most: those of any share in whole hundredths do.
    pub const LONGEST: u32 = 128;
    /// Each slot is a service.
    pub const EACH: Period = Period {
        services: 1,
        length: 1,
        count: 1,
    };
    /// No slot is.
    pub const NONE: Period = Period {
        services: 0,
        length: 1,
        count: 0,
    };

    /// Of the slots from 0 to `length`, 1 to 128, those are services of which the bit is set in `services`.
    pub fn new(services: u128, length: u32) -> Self {
        debug_assert!((1..=Self::LONGEST).contains(&length));
        debug_assert_eq!(services, services & up_to(length));
        Period {
            services,
            length,
            count: services.count_ones(),
        }
    }

    /// Slots after which choices repeat, 1 to 128.
    pub fn length(self) -> u64 {
        u64::from(self.length)
    }

    /// Turns in that many slots.
    pub fn services(self) -> u64 {
        u64::from(self.count)
    }

    /// Returns whether all slots are its services.
    pub fn is_always(self) -> bool {
        self.count == self.length
    }

    /// The slots that are not its services.
    #[must_use]
    pub fn others(self) -> Self {
        Period::new(!self.services & up_to(self.length), self.length)
    }

    /// Returns whether `slot` is a service.
    pub fn has(self, slot: u64) -> bool {
        self.services & (1 << (slot % self.length())) != 0
    }

    /// Turns among the first `slots` slots.
    pub fn services_in(self, slots: u64) -> u64 {
        if self.length == 1 {
            return self.services() * slots;
        }
        let rest = self.services & up_to((slots % self.length()) as u32);
        slots / self.length() * self.services() + u64::from(rest.count_ones())
    }

    /// Slot of service `service`, from 0; there must be some.
    pub fn slot_of(self, service: u64) -> u64 {
        if self.count == 1 {
            return service * self.length() + u64::from(self.services.trailing_zeros());
        }
        service / self.services() * self.length() + self.slot_in_period(service % self.services())
    }

    /// Sum of the slots of the first `services`.
    pub fn sum_of_slots(self, services: u64) -> u128 {
        if services == 0 {
            return 0;
        }
        let (periods, rest) = (services / self.services(), services % self.services());
        let slots_of = |services: u64| {
            u128::from(
                (0..services)
                    .map(|service| self.slot_in_period(service))
                    .sum::<u64>(),
            )
        };
        let begins = |periods: u64| u128::from(periods) * u128::from(self.length());
        // Of the whole periods where they begin and the slots within; the same of the last.
        let pairs = u128::from(periods) * u128::from(periods.saturating_sub(1)) / 2;
        pairs * u128::from(self.length() * self.services())
            + u128::from(periods) * slots_of(self.services())
            + u128::from(rest) * begins(periods)
            + slots_of(rest)
    }

    /// Slot of one of the services of the first period.
    fn slot_in_period(self, service: u64) -> u64 {
        let later = (0..service).fold(self.services, |services, _| services & (services - 1));
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
        let tenth = Period::new(1 << 9, 10);
        assert_eq!((tenth.slot_of(0), tenth.slot_of(3)), (9, 39));
        assert_eq!(
            (
                tenth.services_in(9),
                tenth.services_in(10),
                tenth.services_in(40)
            ),
            (0, 1, 4)
        );
        assert_eq!(tenth.sum_of_slots(3), 9 + 19 + 29);
        let rest = tenth.others();
        assert_eq!(
            (rest.services(), rest.slot_of(8), rest.slot_of(9)),
            (9, 8, 10)
        );
        assert_eq!(rest.sum_of_slots(11), 36 + 10 + 11);
        assert_eq!(Period::EACH.others(), Period::NONE);
        assert_eq!(
            (Period::EACH.slot_of(7), Period::NONE.services_in(7)),
            (7, 0)
        );
    }

    proptest! {
        #[test]
        fn services_are_counted_as_a_list_of_slots_would_be(bits in 1u128.., length in 1u32..=128) {
            let services = bits & up_to(length);
            let period = Period::new(services, length);
            let slots: Vec<u64> = (0..300).filter(|&slot| period.has(slot)).collect();
            for slot in 0..300 {
                prop_assert_eq!(period.has(slot), services >> (slot % u64::from(length)) & 1 == 1);
                let before = slots.iter().filter(|&&service| service < slot).count() as u64;
                prop_assert_eq!(period.services_in(slot), before);
                prop_assert_eq!(period.others().services_in(slot), slot - before);
            }
            let mut sum = 0;
            for (service, &slot) in (0u64..).zip(&slots) {
                prop_assert_eq!(period.slot_of(service), slot);
                prop_assert_eq!(period.sum_of_slots(service), sum);
                sum += u128::from(slot);
            }
        }
    }
}
