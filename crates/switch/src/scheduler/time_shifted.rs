//! A first-in-first-out order of two queues, one of which is ahead by a time.

use super::queue_order::Head;

/// Serves the packet that has waited longest, where those of queue 1 count as having waited for longer by a shift.
///
/// Source: RFC 9332, section 4.1 and appendix A: the time-shifted FIFO scheduler.
#[derive(Clone, Copy, Debug)]
pub struct TimeShifted {
    shift_ps: u64,
}

impl TimeShifted {
    /// With so many picoseconds for queue 1.
    pub fn new(shift_ps: u64) -> Self {
        TimeShifted { shift_ps }
    }

    pub(super) fn select(self, head: impl Fn(u32) -> Option<Head>) -> u32 {
        match (head(0), head(1)) {
            (Some(other), Some(ahead)) => u32::from(ahead.came_ps <= other.came_ps + self.shift_ps),
            (_, ahead) => u32::from(ahead.is_some()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queue_one_goes_first_unless_the_other_has_waited_for_longer_by_the_shift() {
        let order = TimeShifted::new(50);
        let select = |other: Option<u64>, ahead: Option<u64>| {
            let head = |came_ps| Head { octets: 1, came_ps };
            order.select(|queue| if queue == 0 { other } else { ahead }.map(head))
        };
        assert_eq!(select(Some(100), Some(150)), 1);
        assert_eq!(select(Some(100), Some(151)), 0);
        assert_eq!(select(Some(100), None), 0);
        assert_eq!(select(None, Some(900)), 1);
    }
}
