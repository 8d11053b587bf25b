//! What is to happen: events in their order, and an alarm for each flow.
//!
//! A flow's timers are put off by nearly every acknowledgement, and hardly ever run out. So alarms wait
//! in boxes, each for a short stretch of time, and only come into order with the other events when
//! their box is opened: until then, putting one off is a note in a table, which is all that is looked at.

use skycell_des::{EventQueue, Key};
use skycell_traffic::ask_for;
use skycell_traffic::rank;
use skycell_units::SimTime;

/// A box's stretch of time is 2 to this power, picoseconds: 8.6 ms, below the tick of any host clock
/// of the studies.
const STRETCH_LOG2: u32 = 33;
/// Boxes, for alarms up to 2.2 s ahead. Later ones wait in the last and move on from there.
const BOXES: u64 = 256;

const NEVER: Key = Key::new(SimTime::NEVER, u8::MAX, u32::MAX);

/// Which of all stretches of time `time` lies in.
const fn stretch(time: SimTime) -> u64 {
    time.0 >> STRETCH_LOG2
}

/// A flow's alarm, never across two lines of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Alarm {
    /// When it goes off; [`NEVER`] if it does not.
    due: Key,
    /// Where it is found: in the box of that time if that is closed, else as that event. Not after `due`.
    found_at: Key,
}

/// All events to come.
#[derive(Debug)]
pub(crate) struct Agenda {
    /// Those in order: all of the stretches that are open.
    events: EventQueue,
    alarms: Vec<Alarm>,
    /// By stretch, modulo [`BOXES`]: the flows whose alarms are found there.
    boxes: Vec<Vec<u32>>,
    in_boxes: usize,
    /// The first stretch whose box is closed.
    closed: u64,
    /// Alarms that were no longer due when found.
    idle: u64,
}

impl Agenda {
    /// No events, and `flows` flows without an alarm.
    pub(crate) fn new(flows: usize) -> Self {
        let alarm = Alarm {
            due: NEVER,
            found_at: NEVER,
        };
        Agenda {
            events: EventQueue::default(),
            alarms: vec![alarm; flows],
            boxes: vec![Vec::new(); BOXES as usize],
            in_boxes: 0,
            closed: 0,
            idle: 0,
        }
    }

    /// Adds an event that is no alarm.
    pub(crate) fn push(&mut self, key: Key) {
        self.events.push(key);
    }

    /// Sets the flow's alarm to `due`, or puts it off; none: it does not go off.
    pub(crate) fn set_alarm(&mut self, flow: u32, due: Option<Key>) {
        let alarm = &mut self.alarms[flow as usize];
        alarm.due = due.unwrap_or(NEVER);
        if alarm.due < alarm.found_at {
            self.file(flow);
        }
    }

    /// When the flow's alarm goes off; [`SimTime::NEVER`] if it does not.
    pub(crate) fn alarm(&self, flow: u32) -> SimTime {
        self.alarms[flow as usize].due.time()
    }

    /// Asks for the flow's alarm's line of the cache.
    pub(crate) fn ask_for_alarm(&self, flow: u32) {
        ask_for(&self.alarms[flow as usize]);
    }

    /// Puts the flow's alarm where it will be found.
    fn file(&mut self, flow: u32) {
        let alarm = &mut self.alarms[flow as usize];
        let (before, due) = (alarm.found_at, alarm.due);
        alarm.found_at = due;
        let of_due = stretch(due.time());
        if of_due < self.closed {
            return self.events.push(due);
        }
        // One box is being emptied.
        let last = self.closed + BOXES - 2;
        let into = of_due.min(last);
        if of_due > last {
            alarm.found_at = Key::new(SimTime(last << STRETCH_LOG2), 0, 0);
        }
        if stretch(before.time()) != into {
            self.boxes[(into % BOXES) as usize].push(flow);
            self.in_boxes += 1;
        }
    }

    /// Opens the first box that is closed.
    fn open(&mut self) {
        let opened = self.closed;
        self.closed += 1;
        let at = (opened % BOXES) as usize;
        let mut flows = std::mem::take(&mut self.boxes[at]);
        self.in_boxes -= flows.len();
        for flow in flows.drain(..) {
            self.find(flow, |found_at| stretch(found_at.time()) == opened);
        }
        self.boxes[at] = flows;
    }

    /// The flow's alarm was to be found somewhere; if it is, puts it where it is due.
    fn find(&mut self, flow: u32, is_here: impl FnOnce(Key) -> bool) {
        let alarm = &mut self.alarms[flow as usize];
        if is_here(alarm.found_at) {
            alarm.found_at = NEVER;
            if alarm.due < NEVER {
                self.file(flow);
            }
        }
    }

    /// The next event.
    pub(crate) fn first(&mut self) -> Option<Key> {
        loop {
            let first = self.events.first();
            let is_open = |first: Key| stretch(first.time()) < self.closed;
            if self.in_boxes > 0 && !first.is_some_and(is_open) {
                self.open();
                continue;
            }
            let first = first?;
            if self.is_idle(first) {
                self.events.pop_before(SimTime::NEVER);
                self.idle += 1;
                self.find(first.subject(), |found_at| found_at == first);
                continue;
            }
            return Some(first);
        }
    }

    /// Whether `event` is an alarm that is not due.
    fn is_idle(&self, event: Key) -> bool {
        let is_alarm = (rank::RETRANSMISSION..=rank::APPLICATION).contains(&event.rank());
        is_alarm && self.alarms[event.subject() as usize].due != event
    }

    /// Takes the next event if it happens before `end`.
    pub(crate) fn pop_before(&mut self, end: SimTime) -> Option<Key> {
        self.first()?;
        let event = self.events.pop_before(end)?;
        if let Some(alarm) = self.alarms.get_mut(event.subject() as usize)
            && alarm.found_at == event
        {
            (alarm.due, alarm.found_at) = (NEVER, NEVER);
        }
        Some(event)
    }

    /// Events taken so far.
    pub(crate) fn popped(&self) -> u64 {
        self.events.popped() - self.idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An alarm of `flow` at `time`.
    fn alarm(time: u64, flow: u32) -> Key {
        Key::new(SimTime(time), rank::RETRANSMISSION, flow)
    }

    #[test]
    fn an_alarm_that_was_put_off_goes_off_once_and_in_time() {
        let mut agenda = Agenda::new(2);
        let box_of = |n: u64| (n << STRETCH_LOG2) + 5;
        agenda.set_alarm(0, Some(alarm(box_of(3), 0)));
        agenda.set_alarm(0, Some(alarm(box_of(900), 0))); // beyond the last box
        agenda.set_alarm(1, Some(alarm(box_of(4), 1)));
        agenda.set_alarm(1, None);
        agenda.push(Key::new(SimTime(box_of(600)), rank::ARRIVAL, 7));
        assert_eq!(agenda.alarm(1), SimTime::NEVER);
        let events: Vec<_> = std::iter::from_fn(|| agenda.pop_before(SimTime::NEVER)).collect();
        let arrival = Key::new(SimTime(box_of(600)), rank::ARRIVAL, 7);
        assert_eq!(events, [arrival, alarm(box_of(900), 0)]);
        assert_eq!(agenda.popped(), 2);
    }

    proptest! {
        /// Against a list that is searched for its least entry.
        #[test]
        fn events_come_in_order(
            steps in prop::collection::vec((0u8..4, 0u32..4, 0u64..400, 0u64..3), 0..200),
        ) {
            let mut agenda = Agenda::new(4);
            let (mut alarms, mut others) = ([None; 4], Vec::new());
            let mut now = 0;
            for (step, flow, boxes, beside) in steps {
                // Times that are equal, in one box, and many boxes apart.
                let time = now + ((boxes * boxes / 40) << (STRETCH_LOG2 - 1)) + beside;
                match step {
                    0 => {
                        let key = Key::new(SimTime(time), rank::ARRIVAL, flow);
                        if !others.contains(&key) {
                            others.push(key);
                            agenda.push(key);
                        }
                    }
                    1 => {
                        alarms[flow as usize] = (boxes > 20).then(|| alarm(time, flow));
                        agenda.set_alarm(flow, alarms[flow as usize]);
                    }
                    _ => {
                        let least = others.iter().copied().chain(alarms.into_iter().flatten()).min();
                        prop_assert_eq!(agenda.first(), least);
                        prop_assert_eq!(agenda.pop_before(SimTime::NEVER), least);
                        if let Some(least) = least {
                            now = least.time().0;
                            others.retain(|&other| other != least);
                            for alarm in &mut alarms {
                                *alarm = alarm.filter(|&alarm| alarm != least);
                            }
                        }
                    }
                }
            }
        }
    }
}
