//! Requests and answers in datagrams, at times of the client's own.

use crate::{Act, Draw, Event, echo_tag};
use skycell_des::Stream;
use skycell_spec::{AppSpec, AsksSpec};
use skycell_units::SimTime;
use std::collections::VecDeque;
use std::sync::Arc;

/// A request that has no answer.
#[derive(Clone, Copy, Debug)]
struct Open {
    number: u32,
    begin: SimTime,
    octets: u32,
    answer: u32,
    /// How often it has been sent again, and when it is sent again.
    repeated: u32,
    again: SimTime,
}

/// A user who asks.
#[derive(Debug)]
pub struct Asks {
    app: Arc<AppSpec>,
    intervals: Stream,
    sizes: Stream,
    next: SimTime,
    asked: u32,
    open: VecDeque<Open>,
}

impl Asks {
    pub(crate) fn new(app: Arc<AppSpec>, start: SimTime, stream: impl Fn(&str) -> Stream) -> Self {
        Asks {
            app,
            intervals: stream("interval"),
            sizes: stream("size"),
            next: start,
            asked: 0,
            open: VecDeque::new(),
        }
    }

    pub(crate) fn due(&self) -> SimTime {
        let AppSpec::Asks(spec) = &*self.app else {
            return SimTime::NEVER;
        };
        if spec.again_ps.is_none() {
            return self.next;
        }
        let again = self.open.iter().map(|open| open.again).min();
        self.next.min(again.unwrap_or(SimTime::NEVER))
    }

    pub(crate) fn on(&mut self, now: SimTime, event: Event, acts: &mut Vec<Act>) {
        let app = self.app.clone();
        let AppSpec::Asks(spec) = &*app else {
            unreachable!("nothing is asked: {app:?}")
        };
        match event {
            Event::Timer => {
                for open in self.open.iter_mut().filter(|open| open.again <= now) {
                    open.repeated += 1;
                    open.again = again(spec, open.repeated, now);
                    acts.push(open.act());
                }
                if self.next <= now {
                    self.ask(now, spec, acts);
                }
            }
            Event::Datagram { tag, .. } => {
                let number = tag as u32;
                let at = self.open.iter().position(|open| open.number == number);
                // A second answer is none.
                if let Some(open) = at.and_then(|at| self.open.remove(at)) {
                    acts.push(Act::Answered {
                        begin: open.begin,
                        took: now - open.begin,
                    });
                }
            }
            Event::Read { .. } | Event::Closed(_) => {}
        }
    }

    fn ask(&mut self, now: SimTime, spec: &AsksSpec, acts: &mut Vec<Act>) {
        let open = Open {
            number: self.asked,
            begin: now,
            octets: spec.ask.draw(&mut self.sizes) as u32,
            answer: spec.answer.draw(&mut self.sizes) as u32,
            repeated: 0,
            again: again(spec, 0, now),
        };
        self.asked += 1;
        self.open.push_back(open);
        acts.push(Act::Asked { begin: now });
        acts.push(open.act());
        // Not at once again, or time would stand still.
        self.next = now + SimTime(spec.interval.draw(&mut self.intervals).max(1));
    }
}

/// When a request is sent again that has been so often.
fn again(spec: &AsksSpec, repeated: u32, now: SimTime) -> SimTime {
    match spec.again_ps {
        // Behind a day, ten times doubled, no run of 100 days comes to another.
        Some(ps) if repeated < spec.repeats => now + SimTime(ps << repeated.min(10)),
        _ => SimTime::NEVER,
    }
}

impl Open {
    fn act(&self) -> Act {
        Act::Datagram {
            octets: self.octets,
            tag: echo_tag(self.number, self.answer),
        }
    }
}
