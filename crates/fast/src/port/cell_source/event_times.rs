//! Times of events of one kind, in order, kept as patterns of equal spacing, or of one spacing with gaps that
//! repeat.

use skycell_switch::Period;
use std::collections::VecDeque;

/// Events at the ends of slots `spacing` long, the first of which begins at `start`: of those slots that
/// are services of the period.
#[derive(Clone, Copy, Debug)]
struct EventPattern {
    start: u64,
    spacing: u64,
    period: Period,
    /// Events before it.
    seq: u64,
}

impl EventPattern {
    fn continues(&self, spacing: u64) -> bool {
        self.spacing == spacing && self.period == Period::EACH
    }
}

/// The times.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventTimes {
    patterns: VecDeque<EventPattern>,
    count: u64,
    last: u64,
}

impl EventTimes {
    /// One more, at `time`, later than all before and than 0.
    pub(crate) fn push(&mut self, time: u64) {
        let spacing = time - self.last;
        if !self
            .patterns
            .back()
            .is_some_and(|pattern| pattern.continues(spacing))
        {
            self.patterns.push_back(EventPattern {
                start: self.last,
                spacing,
                period: Period::EACH,
                seq: self.count,
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
                || !self
                    .patterns
                    .back()
                    .is_some_and(|pattern| pattern.continues(spacing)))
        {
            self.push(time);
            time += spacing;
            count -= 1;
        }
        self.count += count;
        self.last += count * spacing;
    }

    /// `count` more, in services of `period` among slots `spacing` long, the first of which begins at `start`,
    /// not before the last event.
    pub(crate) fn push_pattern(&mut self, start: u64, spacing: u64, period: Period, count: u64) {
        if count == 0 {
            return;
        }
        if period.is_always() {
            return self.push_many(start + spacing, spacing, count);
        }
        self.patterns.push_back(EventPattern {
            start,
            spacing,
            period,
            seq: self.count,
        });
        self.count += count;
        self.last = start + (period.slot_of(count - 1) + 1) * spacing;
    }

    /// Events up to `time`, that instant included.
    pub(crate) fn up_to(&self, time: u64) -> u64 {
        let at = self
            .patterns
            .partition_point(|pattern| pattern.start <= time);
        let Some(pattern) = at.checked_sub(1).map(|i| self.patterns[i]) else {
            return self.patterns.front().map_or(0, |first| first.seq);
        };
        let end = self.patterns.get(at).map_or(self.count, |next| next.seq);
        let slots = (time - pattern.start) / pattern.spacing;
        (pattern.seq + pattern.period.services_in(slots)).min(end)
    }

    /// Events before `time`.
    pub(crate) fn before(&self, time: u64) -> u64 {
        time.checked_sub(1).map_or(0, |last| self.up_to(last))
    }

    /// The first event at `time` or after it.
    pub(crate) fn first_from(&self, time: u64) -> Option<u64> {
        let seq = self.before(time);
        if seq == self.count {
            return None;
        }
        let at = self.patterns.partition_point(|pattern| pattern.seq <= seq);
        let pattern = self.patterns[at.checked_sub(1)?];
        Some(pattern.start + (pattern.period.slot_of(seq - pattern.seq) + 1) * pattern.spacing)
    }

    /// Forgets events before `time`, as far as whole patterns go.
    pub(crate) fn forget_before(&mut self, time: u64) {
        while self
            .patterns
            .get(1)
            .is_some_and(|second| second.start < time)
        {
            self.patterns.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that two tell the same of every instant before `end`.
    fn assert_alike(one: &EventTimes, other: &EventTimes, end: u64) {
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
        let (mut coupled, mut one_by_one) = (EventTimes::default(), EventTimes::default());
        for (time, spacing, count) in pushes {
            coupled.push_many(time, spacing, count);
            (0..count).for_each(|k| one_by_one.push(time + k * spacing));
            assert_alike(&coupled, &one_by_one, 120);
        }
    }

    #[test]
    fn events_in_turns_are_those_one_after_the_other() {
        let third = Period::new(0b0100, 4);
        let three = Period::new(0b1101, 4);
        let patterns = [
            (0, third, 3),
            (100, three, 8),
            (182, Period::NONE, 0),
            (240, three.others(), 2),
            (297, Period::EACH, 3),
            (360, third, 1),
        ];
        let (mut coupled, mut one_by_one) = (EventTimes::default(), EventTimes::default());
        for (start, period, count) in patterns {
            coupled.push_pattern(start, 5, period, count);
            (0..count)
                .for_each(|service| one_by_one.push(start + (period.slot_of(service) + 1) * 5));
            coupled.push(start + 57);
            one_by_one.push(start + 57);
            assert_alike(&coupled, &one_by_one, 450);
        }
    }

    #[test]
    fn events_are_counted_as_a_list_of_them_would_be() {
        let times = [10, 20, 30, 35, 40, 41, 100, 200, 300];
        let mut patterns = EventTimes::default();
        times.iter().for_each(|&time| patterns.push(time));
        for now in 0..320 {
            let up_to = times.iter().filter(|&&time| time <= now).count() as u64;
            let before = times.iter().filter(|&&time| time < now).count() as u64;
            let first = times.iter().copied().find(|&time| time >= now);
            assert_eq!(
                (patterns.up_to(now), patterns.before(now)),
                (up_to, before),
                "{now}"
            );
            assert_eq!(patterns.first_from(now), first, "{now}");
        }
        patterns.forget_before(40);
        assert_eq!((patterns.up_to(40), patterns.up_to(250)), (5, 8));
    }
}
