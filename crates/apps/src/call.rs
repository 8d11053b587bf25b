//! Calls: packets at equal times both ways, and a playout buffer at each end.

use crate::{Act, Draw, Event, Row};
use skycell_des::Stream;
use skycell_spec::{AppSpec, CallSpec};
use skycell_units::SimTime;
use std::sync::Arc;

/// Names of the values of a call's rows, of which it has one each way.
pub(crate) const COLUMNS: [&str; 8] = [
    "is_down",
    "end_ps",
    "packets",
    "lost",
    "late",
    "runs",
    "least_delay_ps",
    "mean_delay_ps",
];

/// How long packets are waited for after the last has been sent.
const GRACE: SimTime = SimTime::from_millis(2_000);

/// Bits of a packet's number, and of the number of packets of its call.
const NUMBER_BITS: u32 = 24;
/// Most packets of a call.
const MOST_PACKETS: u64 = (1 << NUMBER_BITS) - 1;

/// The tag of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tag {
    call: u16,
    /// Packets of the call.
    count: u32,
    number: u32,
}

impl Tag {
    fn of(tag: u64) -> Self {
        Tag {
            call: (tag >> (2 * NUMBER_BITS)) as u16,
            count: (tag >> NUMBER_BITS) as u32 & MOST_PACKETS as u32,
            number: tag as u32 & MOST_PACKETS as u32,
        }
    }

    fn as_u64(self) -> u64 {
        u64::from(self.call) << (2 * NUMBER_BITS)
            | u64::from(self.count) << NUMBER_BITS
            | u64::from(self.number)
    }
}

/// What sends the packets of a call.
#[derive(Clone, Copy, Debug)]
struct Talker {
    tag: Tag,
    begin: SimTime,
    /// When the next packet is sent; [`SimTime::NEVER`] behind the last.
    next: SimTime,
}

impl Talker {
    fn send(&mut self, spec: &CallSpec, acts: &mut Vec<Act>) {
        acts.push(Act::Datagram {
            octets: spec.packet_octets,
            tag: self.tag.as_u64(),
        });
        self.tag.number += 1;
        self.next = match self.tag.number == self.tag.count {
            true => SimTime::NEVER,
            false => self.next + SimTime(spec.interval_ps),
        };
    }
}

/// What has come of the other side's packets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Playout {
    /// The number after the highest that has come.
    expected: u32,
    lost: u64,
    late: u64,
    /// Runs of packets that were lost or late.
    runs: u64,
    in_run: bool,
    came: u64,
    least: Option<SimTime>,
    delays_ps: u128,
}

impl Playout {
    fn on_packet(&mut self, number: u32, delay: SimTime, playout: SimTime) {
        self.came += 1;
        self.delays_ps += u128::from(delay.0);
        let least = self.least.map_or(delay, |least| least.min(delay));
        self.least = Some(least);
        if number < self.expected {
            // It was taken for lost, and its turn is over.
            (self.lost, self.late) = (self.lost - 1, self.late + 1);
            return;
        }
        self.miss(number);
        self.expected = number + 1;
        let is_late = delay > least + playout;
        self.late += u64::from(is_late);
        self.runs += u64::from(is_late && !self.in_run);
        self.in_run = is_late;
    }

    /// Packets up to `number` have not come.
    fn miss(&mut self, number: u32) {
        if number > self.expected {
            self.lost += u64::from(number - self.expected);
            self.runs += u64::from(!self.in_run);
            self.in_run = true;
            self.expected = number;
        }
    }

    fn row(&self, begin: SimTime, is_down: bool, end: Option<SimTime>) -> Row {
        let mean = self.delays_ps.checked_div(u128::from(self.came));
        let values = [
            Some(u64::from(is_down)),
            end.map(|end| end.0),
            Some(u64::from(self.expected)),
            Some(self.lost),
            Some(self.late),
            Some(self.runs),
            self.least.map(|least| least.0),
            mean.map(|mean| mean as u64),
        ];
        Row::new(begin, values)
    }
}

/// One end of calls: it talks, listens, and reports what it has heard.
#[derive(Debug)]
pub(crate) struct End {
    is_caller: bool,
    talker: Option<Talker>,
    heard: Playout,
    /// When it stops to wait for packets.
    over: SimTime,
}

impl End {
    fn new(is_caller: bool) -> Self {
        End {
            is_caller,
            talker: None,
            heard: Playout::default(),
            over: SimTime::NEVER,
        }
    }

    fn due(&self) -> SimTime {
        let next = self.talker.map_or(SimTime::NEVER, |talker| talker.next);
        next.min(self.over)
    }

    fn begin(&mut self, now: SimTime, begin: SimTime, (call, count): (u16, u32), spec: &CallSpec) {
        let (number, next) = (0, now);
        let tag = Tag {
            call,
            count,
            number,
        };
        self.talker = Some(Talker { tag, begin, next });
        self.heard = Playout::default();
        self.over = now + SimTime(u64::from(count) * spec.interval_ps) + GRACE;
    }

    /// Its time has come; returns whether a call is over with it.
    fn on_due(&mut self, now: SimTime, spec: &CallSpec, acts: &mut Vec<Act>) -> bool {
        if let Some(talker) = &mut self.talker
            && talker.next <= now
        {
            talker.send(spec, acts);
        }
        if self.over > now {
            return false;
        }
        self.end(now, acts);
        true
    }

    fn end(&mut self, now: SimTime, acts: &mut Vec<Act>) {
        self.over = SimTime::NEVER;
        if let Some(talker) = self.talker.take() {
            self.heard.miss(talker.tag.count);
            acts.push(Act::Report(self.heard.row(
                talker.begin,
                self.is_caller,
                Some(now),
            )));
        }
    }

    /// Returns whether a packet is of the call under way.
    fn hears(&mut self, now: SimTime, tag: Tag, sent: SimTime, spec: &CallSpec) -> bool {
        let is_own = self
            .talker
            .is_some_and(|talker| talker.tag.call == tag.call);
        if is_own {
            let playout = SimTime(spec.playout_ps);
            self.heard.on_packet(tag.number, now - sent, playout);
        }
        is_own
    }

    fn unfinished(&self) -> Option<Row> {
        let talker = self.talker?;
        Some(self.heard.row(talker.begin, self.is_caller, None))
    }
}

/// A user who calls.
#[derive(Debug)]
pub struct Call {
    app: Arc<AppSpec>,
    lengths: Stream,
    pauses: Stream,
    next: SimTime,
    calls: u32,
    end: End,
}

impl Call {
    pub(crate) fn new(app: Arc<AppSpec>, start: SimTime, stream: impl Fn(&str) -> Stream) -> Self {
        Call {
            app,
            lengths: stream("length"),
            pauses: stream("pause"),
            next: start,
            calls: 0,
            end: End::new(true),
        }
    }

    pub(crate) fn due(&self) -> SimTime {
        self.next.min(self.end.due())
    }

    pub(crate) fn on(&mut self, now: SimTime, event: Event, acts: &mut Vec<Act>) {
        let app = self.app.clone();
        let spec = of(&app);
        match event {
            Event::Timer => {
                if self.next <= now {
                    self.next = SimTime::NEVER;
                    self.calls += 1;
                    let length = spec.length.draw(&mut self.lengths);
                    let count = length.div_ceil(spec.interval_ps).clamp(1, MOST_PACKETS);
                    let call = (self.calls as u16, count as u32);
                    self.end.begin(now, now, call, spec);
                }
                if self.end.on_due(now, spec, acts)
                    && spec.count.is_none_or(|count| self.calls < count)
                {
                    let pause = SimTime(spec.pause.draw(&mut self.pauses));
                    self.next = now + pause;
                }
            }
            Event::Datagram { tag, sent } => {
                self.end.hears(now, Tag::of(tag), sent, spec);
            }
            Event::Read { .. } | Event::Closed(_) => {}
        }
    }

    pub(crate) fn unfinished(&self) -> Option<Row> {
        self.end.unfinished()
    }
}

/// The side that is called: it talks as long, from the first packet that it hears on.
#[derive(Debug)]
pub struct Callee {
    app: Arc<AppSpec>,
    /// Number of the call that it has heard last; 0 for none.
    last: u16,
    end: End,
}

impl Callee {
    pub(crate) fn new(app: Arc<AppSpec>) -> Self {
        Callee {
            app,
            last: 0,
            end: End::new(false),
        }
    }

    pub(crate) fn due(&self) -> SimTime {
        self.end.due()
    }

    pub(crate) fn on_due(&mut self, now: SimTime, acts: &mut Vec<Act>) {
        let app = self.app.clone();
        self.end.on_due(now, of(&app), acts);
    }

    pub(crate) fn on_datagram(
        &mut self,
        now: SimTime,
        tag: u64,
        sent: SimTime,
        acts: &mut Vec<Act>,
    ) {
        let (app, tag) = (self.app.clone(), Tag::of(tag));
        let spec = of(&app);
        if self.end.hears(now, tag, sent, spec) {
            return;
        }
        // The next call, if it is not what is left of the one before.
        if (1..1 << 15).contains(&tag.call.wrapping_sub(self.last)) {
            self.last = tag.call;
            self.end.end(now, acts);
            let begin = sent.since(SimTime(u64::from(tag.number) * spec.interval_ps));
            self.end.begin(now, begin, (tag.call, tag.count), spec);
            self.end.hears(now, tag, sent, spec);
            self.end.on_due(now, spec, acts);
        }
    }

    pub(crate) fn unfinished(&self) -> Option<Row> {
        self.end.unfinished()
    }
}

fn of(app: &AppSpec) -> &CallSpec {
    match app {
        AppSpec::Call(spec) => spec,
        other => unreachable!("no calls: {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(packets: &[(u32, u64)]) -> Playout {
        let mut heard = Playout::default();
        for &(number, ms) in packets {
            heard.on_packet(number, SimTime::from_millis(ms), SimTime::from_millis(60));
        }
        heard
    }

    #[test]
    fn a_tag_says_call_length_and_number() {
        let tag = Tag {
            call: 65_535,
            count: 16_777_215,
            number: 3,
        };
        assert_eq!(Tag::of(tag.as_u64()), tag);
    }

    #[test]
    fn packets_are_late_that_come_behind_the_least_delay_and_the_buffer() {
        let own = heard(&[(0, 100), (1, 160), (2, 161), (3, 90), (4, 151), (5, 150)]);
        assert_eq!((own.late, own.lost, own.runs), (2, 0, 2));
        assert_eq!(own.least, Some(SimTime::from_millis(90)));
    }

    #[test]
    fn lost_and_late_packets_in_a_row_are_one_run() {
        // Packets 1 and 2 are lost, 3 is late, 4 in time, 5 lost.
        let mut own = heard(&[(0, 100), (3, 170), (4, 100)]);
        own.miss(6);
        assert_eq!((own.lost, own.late, own.runs), (3, 1, 2));
        assert_eq!(own.expected, 6);
    }

    #[test]
    fn a_packet_that_comes_behind_a_later_one_is_late_and_no_longer_lost() {
        let own = heard(&[(0, 100), (2, 100), (1, 130)]);
        assert_eq!((own.lost, own.late, own.runs), (0, 1, 1));
    }
}
