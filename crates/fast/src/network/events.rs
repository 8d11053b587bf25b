//! The pending events in their order, and a timer for each flow.
//!
//! A flow's timers are put off by nearly every acknowledgement, and hardly ever run out. So timers wait
//! in buckets, each for a short span of time, and only come into order with the other events when
//! their bucket is opened: until then, putting one off is a note in a table, which is all that is looked at.

use skycell_des::{EventQueue, Key};
use skycell_traffic::prefetch;
use skycell_traffic::rank;
use skycell_units::{FlowId, SimTime};

/// A bucket's span of time is 2 to this power, picoseconds: 8.6 ms, below the tick of any host clock
/// of the studies.
const BUCKET_LOG2: u32 = 33;
/// Buckets, for timers up to 2.2 s ahead. Later ones wait in the last and move on from there.
const BUCKETS: u64 = 256;

const NEVER: Key = Key::new(SimTime::NEVER, u8::MAX, u32::MAX);

/// Which of all spans of time `time` lies in.
const fn bucket_of(time: SimTime) -> u64 {
    time.0 >> BUCKET_LOG2
}

/// A flow's timer, never across two lines of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Timer {
    /// When it goes off; [`NEVER`] if it does not.
    due: Key,
    /// Where it is found: in the bucket of that time if that is closed, else as that event. Not after `due`.
    found_at: Key,
}

/// All events to come.
#[derive(Debug)]
pub(crate) struct Events {
    /// Those in order: all of the spans that are open.
    events: EventQueue,
    timers: Vec<Timer>,
    /// By span, modulo [`BUCKETS`]: the flows whose timers are found there.
    buckets: Vec<Vec<FlowId>>,
    in_buckets: usize,
    /// The first span whose bucket is closed.
    closed: u64,
    /// Timers that were no longer due when found.
    idle: u64,
}

impl Events {
    /// No events, and `flows` flows without a timer.
    pub(crate) fn new(flows: usize) -> Self {
        let timer = Timer {
            due: NEVER,
            found_at: NEVER,
        };
        Events {
            events: EventQueue::default(),
            timers: vec![timer; flows],
            buckets: vec![Vec::new(); BUCKETS as usize],
            in_buckets: 0,
            closed: 0,
            idle: 0,
        }
    }

    /// Adds an event that is no timer.
    pub(crate) fn push(&mut self, key: Key) {
        self.events.push(key);
    }

    /// Sets the flow's timer to `due`, or puts it off; none: it does not go off.
    pub(crate) fn set_timer(&mut self, flow: FlowId, due: Option<Key>) {
        let timer = &mut self.timers[flow.index()];
        timer.due = due.unwrap_or(NEVER);
        if timer.due < timer.found_at {
            self.file(flow);
        }
    }

    /// When the flow's timer goes off; [`SimTime::NEVER`] if it does not.
    pub(crate) fn timer(&self, flow: FlowId) -> SimTime {
        self.timers[flow.index()].due.time()
    }

    /// Asks for the flow's timer's line of the cache.
    pub(crate) fn prefetch_timer(&self, flow: FlowId) {
        prefetch(&self.timers[flow.index()]);
    }

    /// Puts the flow's timer where it will be found.
    fn file(&mut self, flow: FlowId) {
        let timer = &mut self.timers[flow.index()];
        let (before, due) = (timer.found_at, timer.due);
        timer.found_at = due;
        let of_due = bucket_of(due.time());
        if of_due < self.closed {
            return self.events.push(due);
        }
        // One bucket is being emptied.
        let last = self.closed + BUCKETS - 2;
        let into = of_due.min(last);
        if of_due > last {
            timer.found_at = Key::new(SimTime(last << BUCKET_LOG2), 0, 0);
        }
        if bucket_of(before.time()) != into {
            self.buckets[(into % BUCKETS) as usize].push(flow);
            self.in_buckets += 1;
        }
    }

    /// Opens the first bucket that is closed.
    fn open(&mut self) {
        let opened = self.closed;
        self.closed += 1;
        let at = (opened % BUCKETS) as usize;
        let mut flows = std::mem::take(&mut self.buckets[at]);
        self.in_buckets -= flows.len();
        for flow in flows.drain(..) {
            self.find(flow, |found_at| bucket_of(found_at.time()) == opened);
        }
        self.buckets[at] = flows;
    }

    /// The flow's timer was to be found somewhere; if it is, puts it where it is due.
    fn find(&mut self, flow: FlowId, is_here: impl FnOnce(Key) -> bool) {
        let timer = &mut self.timers[flow.index()];
        if is_here(timer.found_at) {
            timer.found_at = NEVER;
            if timer.due < NEVER {
                self.file(flow);
            }
        }
    }

    /// The next event.
    pub(crate) fn first(&mut self) -> Option<Key> {
        loop {
            let first = self.events.first();
            let is_open = |first: Key| bucket_of(first.time()) < self.closed;
            if self.in_buckets > 0 && !first.is_some_and(is_open) {
                self.open();
                continue;
            }
            let first = first?;
            if self.is_idle(first) {
                self.events.pop_before(SimTime::NEVER);
                self.idle += 1;
                self.find(FlowId(first.subject()), |found_at| found_at == first);
                continue;
            }
            return Some(first);
        }
    }

    /// Returns whether `event` is a timer that is not due.
    fn is_idle(&self, event: Key) -> bool {
        let is_timer = (rank::RETRANSMISSION..=rank::APPLICATION).contains(&event.rank());
        // Users plan their own.
        let timer = self.timers.get(event.subject() as usize);
        is_timer && timer.is_some_and(|timer| timer.due != event)
    }

    /// Takes the next event if it happens before `end`.
    pub(crate) fn pop_before(&mut self, end: SimTime) -> Option<Key> {
        self.first()?;
        let event = self.events.pop_before(end)?;
        if let Some(timer) = self.timers.get_mut(event.subject() as usize)
            && timer.found_at == event
        {
            (timer.due, timer.found_at) = (NEVER, NEVER);
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

    /// A timer of `flow` at `time`.
    fn timer(time: u64, flow: u32) -> Key {
        Key::new(SimTime(time), rank::RETRANSMISSION, flow)
    }

    #[test]
    fn a_timer_that_was_put_off_runs_out_once_and_in_time() {
        let mut timed = Events::new(2);
        let in_bucket = |n: u64| (n << BUCKET_LOG2) + 5;
        timed.set_timer(FlowId(0), Some(timer(in_bucket(3), 0)));
        timed.set_timer(FlowId(0), Some(timer(in_bucket(900), 0))); // beyond the last bucket
        timed.set_timer(FlowId(1), Some(timer(in_bucket(4), 1)));
        timed.set_timer(FlowId(1), None);
        timed.push(Key::new(SimTime(in_bucket(600)), rank::ARRIVAL, 7));
        assert_eq!(timed.timer(FlowId(1)), SimTime::NEVER);
        let events: Vec<_> = std::iter::from_fn(|| timed.pop_before(SimTime::NEVER)).collect();
        let arrival = Key::new(SimTime(in_bucket(600)), rank::ARRIVAL, 7);
        assert_eq!(events, [arrival, timer(in_bucket(900), 0)]);
        assert_eq!(timed.popped(), 2);
    }

    proptest! {
        /// Against a list that is searched for its least entry.
        #[test]
        fn events_come_in_order(
            steps in prop::collection::vec((0u8..4, 0u32..4, 0u64..400, 0u64..3), 0..200),
        ) {
            let mut timed = Events::new(4);
            let (mut timers, mut others) = ([None; 4], Vec::new());
            let mut now = 0;
            for (step, flow, buckets, beside) in steps {
                // Times that are equal, in one bucket, and many buckets apart.
                let time = now + ((buckets * buckets / 40) << (BUCKET_LOG2 - 1)) + beside;
                match step {
                    0 => {
                        let key = Key::new(SimTime(time), rank::ARRIVAL, flow);
                        if !others.contains(&key) {
                            others.push(key);
                            timed.push(key);
                        }
                    }
                    1 => {
                        timers[flow as usize] = (buckets > 20).then(|| timer(time, flow));
                        timed.set_timer(FlowId(flow), timers[flow as usize]);
                    }
                    _ => {
                        let least = others.iter().copied().chain(timers.into_iter().flatten()).min();
                        prop_assert_eq!(timed.first(), least);
                        prop_assert_eq!(timed.pop_before(SimTime::NEVER), least);
                        if let Some(least) = least {
                            now = least.time().0;
                            others.retain(|&other| other != least);
                            for timer in &mut timers {
                                *timer = timer.filter(|&timer| timer != least);
                            }
                        }
                    }
                }
            }
        }
    }
}
