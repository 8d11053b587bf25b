//! Links to the ground that a station has just turned to: they carry nothing for a time.

use std::collections::VecDeque;

/// Satellites of each station, ascending, with the delay of light.
pub(crate) type OnGround = Vec<Vec<(u32, u64)>>;

/// The satellites that stations have used for a while, at epochs one after another.
#[derive(Debug)]
pub(crate) struct Acquired {
    interruption_ps: u64,
    /// Satellites of each station at epochs before, with the times of these.
    before: VecDeque<(u64, Vec<Vec<u32>>)>,
}

impl Acquired {
    /// Links carry nothing until they have been used for `interruption_ps`.
    pub(crate) fn new(interruption_ps: u64) -> Self {
        Acquired {
            interruption_ps,
            before: VecDeque::new(),
        }
    }

    /// The times before the last one of some, ascending, that matter to it.
    pub(crate) fn before<'a>(&self, times_ps: &'a [u64]) -> &'a [u64] {
        let Some((last_ps, before)) = times_ps.split_last() else {
            return times_ps;
        };
        if self.interruption_ps == 0 {
            return &[];
        }
        let is_old = |&time: &u64| time + self.interruption_ps <= *last_ps;
        &before[before.partition_point(is_old).saturating_sub(1)..]
    }

    /// Leaves those satellites of each station that have been used since the last epoch that is
    /// `interruption_ps` or more before `now_ps`; what was used at the first epoch seen counts as used since
    /// long before.
    pub(crate) fn keep(&mut self, now_ps: u64, ground: &mut OnGround) {
        if self.interruption_ps == 0 {
            return;
        }
        let is_old = |time: u64| time + self.interruption_ps <= now_ps;
        while self.before.get(1).is_some_and(|second| is_old(second.0)) {
            self.before.pop_front();
        }
        let used = |own: &Vec<(u32, u64)>| own.iter().map(|&(satellite, _)| satellite).collect();
        let used: Vec<Vec<u32>> = ground.iter().map(used).collect();
        for (station, own) in ground.iter_mut().enumerate() {
            own.retain(|(satellite, _)| {
                let mut before = self.before.iter();
                before.all(|(_, used)| used[station].binary_search(satellite).is_ok())
            });
        }
        self.before.push_back((now_ps, used));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_carries_nothing_before_it_has_been_used_for_the_time() {
        let mut acquired = Acquired::new(20);
        let mut at = |now_ps: u64, satellites: &[u32]| {
            let own = satellites.iter().map(|&satellite| (satellite, 7)).collect();
            let mut ground = vec![own];
            acquired.keep(now_ps, &mut ground);
            let left = ground[0].iter().map(|&(satellite, _)| satellite);
            left.collect::<Vec<u32>>()
        };
        assert_eq!(at(0, &[1, 2]), [1, 2]);
        assert_eq!(at(10, &[2, 3]), [2]);
        assert_eq!(at(20, &[1, 2, 3]), [2]);
        // Used since 10, so from 30 on.
        assert_eq!(at(29, &[1, 2, 3]), [2]);
        assert_eq!(at(30, &[1, 2, 3]), [2, 3]);
        assert_eq!(at(40, &[1, 3]), [1, 3]);
        assert_eq!(at(41, &[2, 3]), [3]);
    }
}
