//! Videos: a client asks for one segment after the other at a rate of its choice, and plays what it has.

use crate::rates::{History, choose};
use crate::{Act, Ask, Draw, Event, Part, Row};
use skycell_des::Stream;
use skycell_spec::{AppSpec, VideoSpec};
use skycell_units::{Octets, SimTime};
use std::sync::Arc;

/// Names of the values of a video's row.
pub(crate) const COLUMNS: [&str; 8] = [
    "playing_ps",
    "end_ps",
    "stalls",
    "stalled_for_ps",
    "played_for_ps",
    "segments",
    "octets",
    "switches",
];

/// A user who watches videos.
#[derive(Debug)]
pub struct Video {
    app: Arc<AppSpec>,
    lengths: Stream,
    pauses: Stream,
    due: SimTime,
    begun: u32,
    session: Option<Session>,
    is_connected: bool,
    /// True if the next video waits for the connection of the last to be closed.
    waits: bool,
}

/// A video under way.
#[derive(Clone, Debug)]
struct Session {
    begin: SimTime,
    /// Segments of it in all.
    segments: u64,
    /// Segments that have come, and their octets.
    come: u64,
    octets: Octets,
    /// The segment under way: its rung, and since when.
    asked: Option<(usize, SimTime)>,
    last: Option<usize>,
    switches: u64,
    history: History,
    /// Video that is there and not played, at `known_at`.
    buffer: SimTime,
    known_at: SimTime,
    is_playing: bool,
    playing_since: Option<SimTime>,
    played: SimTime,
    stalls: u64,
    stalled: SimTime,
    stall_since: Option<SimTime>,
}

impl Session {
    fn new(now: SimTime, segments: u64) -> Self {
        Session {
            begin: now,
            segments,
            come: 0,
            octets: 0,
            asked: None,
            last: None,
            switches: 0,
            history: History::default(),
            buffer: SimTime::ZERO,
            known_at: now,
            is_playing: false,
            playing_since: None,
            played: SimTime::ZERO,
            stalls: 0,
            stalled: SimTime::ZERO,
            stall_since: None,
        }
    }

    /// Plays on to `now`; the buffer may run out before.
    fn play(&mut self, now: SimTime) {
        let passed = now - self.known_at;
        self.known_at = now;
        if !self.is_playing {
            return;
        }
        let played = passed.min(self.buffer);
        self.played += played;
        self.buffer = self.buffer - played;
        let is_over = self.come == self.segments;
        if passed > played && !is_over {
            self.is_playing = false;
            self.stalls += 1;
            self.stall_since = Some(now - (passed - played));
        }
    }

    /// A segment has come: it may play, or play on.
    fn on_segment(&mut self, now: SimTime, spec: &VideoSpec) {
        self.play(now);
        let (rung, since) = self.asked.take().expect("what comes was asked for");
        let octets = segment_octets(spec, rung);
        self.history.add(octets, now - since, spec);
        (self.come, self.octets) = (self.come + 1, self.octets + octets);
        self.switches += u64::from(self.last.is_some_and(|last| last != rung));
        self.last = Some(rung);
        self.buffer += SimTime(spec.segment_ps);
        if self.is_playing {
            return;
        }
        let needed = match self.playing_since {
            None => spec.start_segments,
            Some(_) => spec.resume_segments,
        };
        let has_enough = self.buffer.0 >= u64::from(needed) * spec.segment_ps;
        if has_enough || self.come == self.segments {
            self.is_playing = true;
            self.playing_since.get_or_insert(now);
            if let Some(since) = self.stall_since.take() {
                self.stalled += now - since;
            }
        }
    }

    fn row(&self, end: Option<SimTime>) -> Row {
        let values = [
            self.playing_since.map(|time| time.0),
            end.map(|time| time.0),
            Some(self.stalls),
            Some(self.stalled.0),
            Some(self.played.0),
            Some(self.come),
            Some(self.octets),
            Some(self.switches),
        ];
        Row::new(self.begin, values)
    }
}

/// Octets of a segment at a rung, at least one.
fn segment_octets(spec: &VideoSpec, rung: usize) -> Octets {
    let millibits = u128::from(spec.ladder_millibps[rung]) * u128::from(spec.segment_ps);
    (millibits / 8_000_000_000_000_000) as Octets
}

impl Video {
    pub(crate) fn new(app: Arc<AppSpec>, start: SimTime, stream: impl Fn(&str) -> Stream) -> Self {
        Video {
            app,
            lengths: stream("length"),
            pauses: stream("pause"),
            due: start,
            begun: 0,
            session: None,
            is_connected: false,
            waits: false,
        }
    }

    pub(crate) fn due(&self) -> SimTime {
        self.due
    }

    pub(crate) fn on(&mut self, now: SimTime, event: Event, acts: &mut Vec<Act>) {
        let app = self.app.clone();
        let AppSpec::Video(spec) = &*app else {
            unreachable!("no videos: {app:?}")
        };
        match event {
            Event::Timer => {
                self.due = SimTime::NEVER;
                let Some(session) = &mut self.session else {
                    return self.begin(now, spec, acts);
                };
                session.play(now);
                match session.come == session.segments {
                    true => self.end(now, spec, acts),
                    false => self.ask(now, spec, acts),
                }
            }
            Event::Read {
                part: Part::Last, ..
            } => self.on_segment(now, spec, acts),
            Event::Read { .. } | Event::Datagram { .. } => {}
            Event::Closed(_) => {
                self.is_connected = false;
                if std::mem::take(&mut self.waits) {
                    self.begin(now, spec, acts);
                }
            }
        }
    }

    fn begin(&mut self, now: SimTime, spec: &VideoSpec, acts: &mut Vec<Act>) {
        if self.is_connected {
            self.waits = true;
            return;
        }
        let length = spec.length.draw(&mut self.lengths);
        let segments = length.div_ceil(spec.segment_ps).max(1);
        self.begun += 1;
        self.session = Some(Session::new(now, segments));
        self.is_connected = true;
        acts.push(Act::Open {
            slot: 0,
            in_parts: false,
        });
        self.ask(now, spec, acts);
    }

    fn ask(&mut self, now: SimTime, spec: &VideoSpec, acts: &mut Vec<Act>) {
        let Some(session) = &mut self.session else {
            return;
        };
        let rung = choose(spec, session.buffer, session.last, &session.history);
        session.asked = Some((rung, now));
        acts.push(Act::Ask {
            slot: 0,
            octets: spec.request_octets,
            ask: Ask {
                stream: 0,
                octets: segment_octets(spec, rung),
                wait: SimTime::ZERO,
                urgency: 0,
            },
        });
    }

    fn on_segment(&mut self, now: SimTime, spec: &VideoSpec, acts: &mut Vec<Act>) {
        let Some(session) = &mut self.session else {
            return;
        };
        session.on_segment(now, spec);
        if session.come == session.segments {
            self.due = now + session.buffer;
            acts.push(Act::Close(0));
        } else if session.buffer.0 <= spec.buffer_ps {
            self.ask(now, spec, acts);
        } else {
            self.due = now + (session.buffer - SimTime(spec.buffer_ps));
        }
    }

    /// All of a video has been played.
    fn end(&mut self, now: SimTime, spec: &VideoSpec, acts: &mut Vec<Act>) {
        if let Some(session) = self.session.take() {
            acts.push(Act::Report(session.row(Some(now))));
        }
        if spec.count.is_none_or(|count| self.begun < count) {
            self.due = now + SimTime(spec.pause.draw(&mut self.pauses));
        }
    }

    pub(crate) fn unfinished(&self, end: SimTime) -> Option<Row> {
        let mut session = self.session.clone()?;
        session.play(end);
        if let Some(since) = session.stall_since {
            session.stalled += end - since;
        }
        Some(session.row(None))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;
    use skycell_spec::{AppSpec, VideoChoice};

    const S: u64 = 1_000_000_000_000;

    pub(crate) fn spec(choice: VideoChoice, ladder: &[u64]) -> VideoSpec {
        let text = json!({
            "ladder_millibps": ladder, "segment_ps": 2 * S, "choice": "bola", "rate_part": 0.9,
            "rate_segments": 4, "bola_least_ps": 10 * S, "bba_reservoir_ps": 5 * S,
            "bba_cushion_ps": 10 * S, "buffer_ps": 30 * S, "start_segments": 2,
            "resume_segments": 1, "length": {"kind": "constant", "value_ps": 60 * S},
            "pause": {"kind": "constant", "value_ps": S}, "count": 1, "request_octets": 500,
        });
        let spec: VideoSpec = serde_json::from_value(text).expect("a spec");
        VideoSpec { choice, ..spec }
    }

    /// The row of a video whose segments come at a constant rate, bit/s.
    fn watch(spec: VideoSpec, rate: u64) -> Row {
        let app = Arc::new(AppSpec::Video(spec));
        let mut video = Video::new(app, SimTime::ZERO, |name| Stream::new(1, name));
        let (mut acts, mut arrival) = (Vec::new(), SimTime::NEVER);
        loop {
            let now = video.due().min(arrival);
            let event = if arrival <= video.due() {
                arrival = SimTime::NEVER;
                let (slot, stream, part) = (0, 0, Part::Last);
                Event::Read { slot, stream, part }
            } else {
                Event::Timer
            };
            video.on(now, event, &mut acts);
            for act in acts.drain(..) {
                match act {
                    Act::Ask { ask, .. } => {
                        let took = u128::from(ask.octets) * 8 * u128::from(S) / u128::from(rate);
                        arrival = now + SimTime(took as u64);
                    }
                    Act::Report(row) => return row,
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn a_segment_has_its_rate_times_its_duration() {
        let spec = spec(VideoChoice::Bola, &[145_000_000]);
        assert_eq!(segment_octets(&spec, 0), 145_000 * 2 / 8);
    }

    #[test]
    fn without_a_bottleneck_nothing_stalls_and_all_but_the_first_segments_have_the_top_rate() {
        let ladder = [1_000_000_000, 2_500_000_000, 5_000_000_000];
        for choice in [VideoChoice::Rate, VideoChoice::Bola, VideoChoice::Bba] {
            let row = watch(spec(choice, &ladder), 1_000_000_000_000);
            let [_, _, stalls, stalled, played, segments, octets, _, ..] = row.values;
            assert_eq!([stalls, stalled], [Some(0), Some(0)]);
            assert_eq!([played, segments], [Some(60 * S), Some(30)]);
            // At most until there are 25.2 s in the buffer, which 13 segments fill.
            assert!(
                octets >= Some((17 * 5_000_000 + 13 * 1_000_000) * 2 / 8),
                "{choice:?}"
            );
        }
    }

    #[test]
    fn one_rung_above_the_rate_of_the_link_plays_that_part_of_the_time() {
        // A segment of 2 s takes 4 s. It plays from 8 s on, 4 s long; each further one comes 2 s after the buffer has run
        // out: the third at 12 s in time, the fourth at 16 s after a stall of 2 s.
        let spec = spec(VideoChoice::Rate, &[2_000_000_000]);
        let row = watch(spec, 1_000_000);
        let [playing, end, stalls, stalled, played, ..] = row.values;
        assert_eq!(playing, Some(8 * S));
        assert_eq!([stalls, stalled], [Some(27), Some(27 * 2 * S)]);
        assert_eq!([played, end], [Some(60 * S), Some(122 * S)]);
    }
}
