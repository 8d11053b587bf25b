//! Downloads one after the other, each over a connection of its own.

use crate::{Act, Ask, Draw, Event, Part, Row};
use skycell_des::Stream;
use skycell_spec::{AppSpec, BulkSpec};
use skycell_units::SimTime;
use std::sync::Arc;

/// Names of the values of a download's row.
pub(crate) const COLUMNS: [&str; 3] = ["first_octet_ps", "end_ps", "octets"];

/// A user who downloads.
#[derive(Debug)]
pub struct Bulk {
    app: Arc<AppSpec>,
    pauses: Stream,
    due: SimTime,
    begun: u32,
    /// The download under way: since when, and when its first octet came.
    under_way: Option<(SimTime, Option<SimTime>)>,
    /// When the next begins, while the last connection closes.
    next: SimTime,
}

impl Bulk {
    pub(crate) fn new(app: Arc<AppSpec>, start: SimTime, stream: impl Fn(&str) -> Stream) -> Self {
        Bulk {
            app,
            pauses: stream("pause"),
            due: start,
            begun: 0,
            under_way: None,
            next: SimTime::NEVER,
        }
    }

    fn spec(&self) -> &BulkSpec {
        match &*self.app {
            AppSpec::Bulk(spec) => spec,
            other => unreachable!("no downloads: {other:?}"),
        }
    }

    pub(crate) fn due(&self) -> SimTime {
        self.due
    }

    pub(crate) fn on(&mut self, now: SimTime, event: Event, acts: &mut Vec<Act>) {
        match event {
            Event::Timer => {
                self.due = SimTime::NEVER;
                self.under_way = Some((now, None));
                self.begun += 1;
                acts.push(Act::Open {
                    slot: 0,
                    in_parts: false,
                });
                acts.push(Act::Ask {
                    slot: 0,
                    octets: self.spec().request_octets,
                    ask: Ask {
                        stream: 0,
                        octets: self.spec().size_octets,
                        wait: SimTime::ZERO,
                        urgency: 0,
                    },
                });
            }
            Event::Read { part, .. } => match (part, &mut self.under_way) {
                (Part::First, Some((_, first_octet))) => *first_octet = Some(now),
                (Part::Last, _) => self.on_end(now, acts),
                _ => {}
            },
            Event::Datagram { .. } => {}
            Event::Closed(_) => {
                if self.spec().count.is_none_or(|count| self.begun < count) {
                    self.due = self.next.max(now);
                }
            }
        }
    }

    fn on_end(&mut self, now: SimTime, acts: &mut Vec<Act>) {
        acts.extend(self.row(Some(now)).map(Act::Report));
        self.under_way = None;
        acts.push(Act::Close(0));
        let pause = match &*self.app {
            AppSpec::Bulk(spec) => spec.pause.draw(&mut self.pauses),
            other => unreachable!("no downloads: {other:?}"),
        };
        self.next = now + SimTime(pause);
    }

    fn row(&self, end: Option<SimTime>) -> Option<Row> {
        let (begin, first_octet) = self.under_way?;
        let time = |time: Option<SimTime>| time.map(|time| time.0);
        let octets = Some(self.spec().size_octets);
        Some(Row::new(begin, [time(first_octet), time(end), octets]))
    }

    pub(crate) fn unfinished(&self) -> Option<Row> {
        self.row(None)
    }
}
