//! Times of events of one kind, in order, kept as runs of equal spacing, or of one spacing with gaps that
//! repeat.

use skycell_switch::Cycle;
use std::collections::VecDeque;

/// Events at the ends of slots `spacing` long, the first of which begins at `start`: of those slots that
/// are turns of the cycle.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: u64,
    spacing: u64,
    cycle: Cycle,
    /// Events before it.
    rank: u64,
}

impl Run {
    fn goes_on(&self, spacing: u64) -> bool {
        self.spacing == spacing && self.cycle == Cycle::EACH
    }
}

/// The times.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    runs: VecDeque<Run>,
    count: u64,
    last: u64,
}

impl Runs {
    /// One more, at `time`, later than all before and than 0.
    pub(crate) fn push(&mut self, time: u64) {
        let spacing = time - self.last;
        if !self.runs.back().is_some_and(|run| run.goes_on(spacing)) {
            self.runs.push_back(Run {
                start: self.last,
                spacing,
                cycle: Cycle::EACH,
                rank: self.count,
            });
        }
        self.count += 1;
        self.last = time;
    }

    /// `count` more, the first at `time` and the others `spacing` apart.
    pub(crate) fn push_many(&mut self, time: u64, spacing: u64, count: u64) {
        let mut count = count;
        let mut time = time;
        // The first may be at another distance from the last one before.
        while count > 0
            && (time != self.last + spacing
                || !self.runs.back().is_some_and(|run| run.goes_on(spacing)))
        {
            self.push(time);
            time += spacing;
            count -= 1;
        }
        self.count += count;
        self.last += count * spacing;
    }

    /// `count` more, in turns of `cycle` among slots `spacing` long, the first of which begins at `start`,
    /// not before the last event.
    pub(crate) fn push_turns(&mut self, start: u64, spacing: u64, cycle: Cycle, count: u64) {
        if count == 0 {
            return;
        }
        if cycle.is_always() {
            return self.push_many(start + spacing, spacing, count);
        }
        self.runs.push_back(Run {
            start,
            spacing,
            cycle,
            rank: self.count,
        });
        self.count += count;
        self.last = start + (cycle.slot_of(count - 1) + 1) * spacing;
    }

    /// Events up to `time`, that instant included.
    pub(crate) fn up_to(&self, time: u64) -> u64 {
        let at = self.runs.partition_point(|run| run.start <= time);
        let Some(run) = at.checked_sub(1).map(|i| self.runs[i]) else {
            return self.runs.front().map_or(0, |first| first.rank);
        };
        let end = self.runs.get(at).map_or(self.count, |next| next.rank);
        let slots = (time - run.start) / run.spacing;
        (run.rank + run.cycle.turns_in(slots)).min(end)
    }

    /// Events before `time`.
    pub(crate) fn before(&self, time: u64) -> u64 {
        time.checked_sub(1).map_or(0, |last| self.up_to(last))
    }

    /// The first event at `time` or after it.
    pub(crate) fn first_from(&self, time: u64) -> Option<u64> {
        let rank = self.before(time);
        if rank == self.count {
            return None;
        }
        let at = self.runs.partition_point(|run| run.rank <= rank);
        let run = self.runs[at.checked_sub(1)?];
        Some(run.start + (run.cycle.slot_of(rank - run.rank) + 1) * run.spacing)
    }

    /// Forgets events before `time`, as far as whole runs go.
    pub(crate) fn forget_before(&mut self, time: u64) {
        while self.runs.get(1).is_some_and(|second| second.start < time) {
            self.runs.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that two tell the same of every instant before `end`.
    fn assert_alike(one: &Runs, other: &Runs, end: u64) {
        for now in 0..end {
            assert_eq!(one.up_to(now), other.up_to(now), "{now}");
            assert_eq!(one.first_from(now), other.first_from(now), "{now}");
        }
    }

    #[test]
    fn many_events_at_once_are_those_one_after_the_other() {
        let pushes = [
            (10, 10, 3),
            (40, 10, 2),
            (57, 5, 1),
            (62, 5, 4),
            (90, 7, 0),
            (90, 7, 3),
        ];
        let (mut together, mut one_by_one) = (Runs::default(), Runs::default());
        for (time, spacing, count) in pushes {
            together.push_many(time, spacing, count);
            (0..count).for_each(|k| one_by_one.push(time + k * spacing));
            assert_alike(&together, &one_by_one, 120);
        }
    }

    #[test]
    fn events_in_turns_are_those_one_after_the_other() {
        let third = Cycle::new(0b0100, 4);
        let three = Cycle::new(0b1101, 4);
        let stretches = [
            (0, third, 3),
            (100, three, 8),
            (182, Cycle::NONE, 0),
            (240, three.others(), 2),
            (297, Cycle::EACH, 3),
            (360, third, 1),
        ];
        let (mut together, mut one_by_one) = (Runs::default(), Runs::default());
        for (start, cycle, count) in stretches {
            together.push_turns(start, 5, cycle, count);
            (0..count).for_each(|turn| one_by_one.push(start + (cycle.slot_of(turn) + 1) * 5));
            together.push(start + 57);
            one_by_one.push(start + 57);
            assert_alike(&together, &one_by_one, 450);
        }
    }

    #[test]
    fn events_are_counted_as_a_list_of_them_would_be() {
        let times = [10, 20, 30, 35, 40, 41, 100, 200, 300];
        let mut runs = Runs::default();
        times.iter().for_each(|&time| runs.push(time));
        for now in 0..320 {
            let up_to = times.iter().filter(|&&time| time <= now).count() as u64;
            let before = times.iter().filter(|&&time| time < now).count() as u64;
            let first = times.iter().copied().find(|&time| time >= now);
            assert_eq!(
                (runs.up_to(now), runs.before(now)),
                (up_to, before),
                "{now}"
            );
            assert_eq!(runs.first_from(now), first, "{now}");
        }
        runs.forget_before(40);
        assert_eq!((runs.up_to(40), runs.up_to(250)), (5, 8));
    }
}
