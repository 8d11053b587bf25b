//! A source: CBR, on/off VBR, or a list of packets, which sends at its own pace, whatever becomes of its cells; or an echo,
//! which answers what another one sends.

use crate::packet_trace::PacketTrace;
use skycell_apps::Draw;
use skycell_des::Stream;
use skycell_records::{CellDelays, SojournRecord, SourceRecord};
use skycell_spec::{
    ClpSpec, DistributionSpec, NetworkSpec, PhaseSpec, SourcePattern, SourceSpec, StartSpec,
    WHOLE_PPB,
};
use skycell_units::{Cells, Octets, SimTime};

/// A cell that a source sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceCell {
    /// Place in its frame, from 0.
    pub index: u32,
    /// Cells of its frame.
    pub frame_cells: u32,
    /// Octets of the IP packet that it is part of; 0 for cells without.
    pub octets: u32,
    /// CLP of it and of all cells of its frame.
    pub clp: bool,
}

/// One source of the spec.
#[derive(Debug)]
pub struct CellSource {
    name: String,
    interval: SimTime,
    frame_cells: u32,
    /// Cells that it sends at once: all of a datagram, else one.
    unit: u32,
    /// Octets of each datagram.
    octets: Octets,
    /// The packets that it sends, where it has a list of them.
    trace: Option<PacketTrace>,
    /// Its bursts; none for a source without end.
    bursts: Option<Bursts>,
    /// When the next cell is sent.
    due: SimTime,
    /// Cells of the burst still to be sent, the next one included.
    burst_left: u64,
    /// Cells of the frame under way that were sent, and its length.
    in_frame: u32,
    frame: u32,
    /// CLP of the frame under way, and of those after it.
    frame_clp: bool,
    clp: Option<Clp>,
    record: SourceRecord,
    /// Delays of its datagrams, if they are recorded.
    delays: Option<CellDelays>,
}

/// Which frames have CLP = 1.
#[derive(Debug)]
enum Clp {
    Drawn { part_ppb: u32, stream: Stream },
    Pattern { bits: Vec<bool>, next: usize },
}

impl Clp {
    /// CLP of the next frame.
    fn next(&mut self) -> bool {
        match self {
            Clp::Drawn { part_ppb, stream } => {
                stream.uniform(0, u64::from(WHOLE_PPB)) < u64::from(*part_ppb)
            }
            Clp::Pattern { bits, next } => {
                let bit = bits[*next];
                *next = (*next + 1) % bits.len();
                bit
            }
        }
    }
}

/// When bursts begin, and how long they last.
#[derive(Debug)]
enum Bursts {
    Drawn(Cycle),
    /// Begins and lengths, ps.
    Listed(std::vec::IntoIter<(u64, u64)>),
}

impl Bursts {
    /// The next burst with a cell in it, ps.
    fn next(&mut self) -> Option<(u64, u64)> {
        match self {
            Bursts::Drawn(cycle) => Some(cycle.next()),
            Bursts::Listed(bursts) => bursts.next(),
        }
    }
}

/// On and off times, the streams they are drawn from, and how far they have come.
#[derive(Debug)]
struct Cycle {
    on: (DistributionSpec, Stream),
    off: (DistributionSpec, Stream),
    /// When the next cycle begins, ps, and how much of it was over by then.
    at: u64,
    into: u64,
}

impl Cycle {
    /// The first burst from now on that has something left.
    fn next(&mut self) -> (u64, u64) {
        loop {
            let (on, off) = (
                self.on.0.draw(&mut self.on.1),
                self.off.0.draw(&mut self.off.1),
            );
            let begin = self.at;
            let left = on.saturating_sub(self.into);
            self.at += (on + off).saturating_sub(self.into);
            self.into = self.into.saturating_sub(on + off);
            if left > 0 {
                return (begin, left);
            }
        }
    }
}

impl CellSource {
    /// The source of `spec` with this id; it tells how long its datagrams take from end to end if its run is to.
    pub fn of(spec: &NetworkSpec, id: u32) -> Self {
        let source = &spec.sources[id as usize];
        let reports_delays = spec.records.delay_sources.contains(&id);
        // What an echo's take begins with what it answers.
        let answered = match source.pattern {
            SourcePattern::Echo { of } => &spec.sources[of as usize].datagram_route[..],
            _ => &[],
        };
        let vcs = source.datagram_route.iter().chain(answered);
        let least_ps = vcs.map(|&vc| spec.vc_fixed_delay_ps(vc as usize)).sum();
        CellSource {
            delays: reports_delays.then(|| CellDelays::new(least_ps)),
            ..CellSource::new(source, spec.seed)
        }
    }

    /// The source that `spec` describes, in a run with `seed`.
    pub fn new(spec: &SourceSpec, seed: u64) -> Self {
        let stream = |purpose: &str| Stream::new(seed, &format!("source/{}/{purpose}", spec.name));
        let start = match spec.start {
            StartSpec::At { time_ps } => time_ps,
            StartSpec::Drawn { from_ps, to_ps } => stream("start").uniform(from_ps, to_ps),
        };
        // A datagram takes the place of as many cells.
        let (frame_cells, unit) = match spec.datagram_route.is_empty() {
            true => (spec.frame_cells, 1),
            false => (1, spec.frame_cells),
        };
        let mut source = CellSource {
            name: spec.name.clone(),
            interval: SimTime(match spec.datagram_octets {
                0 => spec.cell_interval_ps * u64::from(unit),
                _ => spec.cell_interval_ps,
            }),
            frame_cells,
            unit,
            octets: spec.datagram_octets,
            trace: None,
            bursts: None,
            due: SimTime(start),
            burst_left: u64::MAX,
            in_frame: 0,
            frame: 0,
            frame_clp: false,
            clp: spec.clp.as_ref().map(|clp| match clp {
                ClpSpec::Drawn { part_ppb } => Clp::Drawn {
                    part_ppb: *part_ppb,
                    stream: stream("clp"),
                },
                ClpSpec::Pattern { bits } => Clp::Pattern {
                    bits: bits.clone(),
                    next: 0,
                },
            }),
            record: SourceRecord::default(),
            delays: None,
        };
        match &spec.pattern {
            SourcePattern::Constant => {}
            SourcePattern::OnOff { on, off, phase } => {
                let phase = match *phase {
                    PhaseSpec::At { offset_ps } => offset_ps,
                    PhaseSpec::Drawn { below_ps } => stream("phase").uniform(0, below_ps),
                };
                source.bursts = Some(Bursts::Drawn(Cycle {
                    on: (*on, stream("on")),
                    off: (*off, stream("off")),
                    at: start,
                    into: phase,
                }));
                source.begin();
            }
            SourcePattern::Bursts {
                begins_ps,
                lengths_ps,
            } => {
                let begins = begins_ps.iter().map(|begin| start + begin);
                let bursts: Vec<_> = begins.zip(lengths_ps.iter().copied()).collect();
                source.bursts = Some(Bursts::Listed(bursts.into_iter()));
                source.begin();
            }
            SourcePattern::Trace {
                times_ps,
                octets,
                period_ps,
            } => {
                let trace = PacketTrace::new(times_ps, octets, *period_ps, SimTime(start));
                source.due = trace.due();
                source.trace = Some(trace);
            }
            SourcePattern::Echo { .. } => source.due = SimTime::NEVER,
        }
        source
    }

    /// When the next cell, or the next datagram, is sent; never, if it has sent all of its list.
    pub fn due(&self) -> SimTime {
        self.due
    }

    /// The time has come: sends a cell, or a datagram of which it is the first.
    pub fn send(&mut self) -> SourceCell {
        if let Some(trace) = &mut self.trace {
            let octets = trace.send();
            self.due = trace.due();
            let frame_cells = Cells::for_ip_packet(octets, true).0;
            self.record.frames += 1;
            self.record.cells += u64::from(frame_cells);
            self.record.octets += octets;
            return SourceCell {
                index: 0,
                frame_cells,
                octets: octets as u32,
                clp: self.clp.as_mut().is_some_and(Clp::next),
            };
        }
        if self.in_frame == self.frame {
            self.frame = self.burst_left.min(u64::from(self.frame_cells)) as u32;
            self.in_frame = 0;
            self.frame_clp = self.clp.as_mut().is_some_and(Clp::next);
            self.record.frames += 1;
        }
        let cell = SourceCell {
            index: self.in_frame,
            frame_cells: self.frame * self.unit,
            octets: self.octets as u32,
            clp: self.frame_clp,
        };
        self.in_frame += 1;
        self.record.cells += u64::from(self.unit);
        self.record.octets += self.octets;
        if self.bursts.is_some() {
            self.burst_left -= 1;
        }
        if self.burst_left > 0 {
            self.due += self.interval;
        } else {
            self.begin();
        }
        cell
    }

    /// Answers a datagram of so many octets that goes in `frame_cells` cells.
    pub fn answer(&mut self, octets: u32, frame_cells: u32) -> SourceCell {
        self.record.frames += 1;
        self.record.cells += u64::from(frame_cells);
        self.record.octets += Octets::from(octets);
        SourceCell {
            index: 0,
            frame_cells,
            octets,
            clp: self.clp.as_mut().is_some_and(Clp::next),
        }
    }

    /// How many cells, frames of their own, it is going to send one interval apart, the next one and
    /// the one after the last included; and that interval.
    pub fn regular(&self) -> (u64, SimTime) {
        let is_each_a_frame = self.frame_cells == 1 && self.unit == 1;
        (
            if is_each_a_frame { self.burst_left } else { 0 },
            self.interval,
        )
    }

    /// Sends `cells` cells, fewer than are [regular](CellSource::regular).
    pub fn send_regular(&mut self, cells: u64) {
        debug_assert!(cells < self.regular().0);
        (self.frame, self.in_frame) = (1, 1);
        self.record.frames += cells;
        self.record.cells += cells;
        self.due += SimTime(cells * self.interval.0);
        if self.bursts.is_some() {
            self.burst_left -= cells;
        }
    }

    /// A datagram of so many octets has come to the end of its route, `delay` after it was sent; of an echo, after what it
    /// answers was.
    pub fn on_delivered(&mut self, octets: u32, delay: SimTime) {
        self.record.datagrams_delivered += 1;
        self.record.octets_delivered += u64::from(octets);
        if let Some(delays) = &mut self.delays {
            delays.add(delay.0);
        }
    }

    /// Has what came to the end of the route of the source be what another, of the same source, has counted there.
    pub fn take_delivered(&mut self, other: &mut CellSource) {
        self.record.datagrams_delivered = other.record.datagrams_delivered;
        self.record.octets_delivered = other.record.octets_delivered;
        self.delays = other.delays.take();
    }

    /// Returns the counters of the source.
    pub fn record(&self) -> SourceRecord {
        SourceRecord {
            name: self.name.clone(),
            delay: self.delays.as_ref().map(SojournRecord::of),
            ..self.record.clone()
        }
    }

    /// The next burst begins, or there is none.
    fn begin(&mut self) {
        let bursts = self.bursts.as_mut().expect("only bursts begin");
        let (due, length) = bursts.next().unwrap_or((SimTime::NEVER.0, 0));
        self.due = SimTime(due);
        // A cell at the begin and one after each interval that ends within the burst.
        self.burst_left = length.div_ceil(self.interval.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(value_ps: u64) -> DistributionSpec {
        DistributionSpec::Constant { value_ps }
    }

    fn spec(pattern: SourcePattern) -> SourceSpec {
        SourceSpec {
            name: "vbr".into(),
            vc: 0,
            datagram_route: Vec::new(),
            cell_interval_ps: 10,
            frame_cells: 1,
            datagram_octets: 0,
            pattern,
            start: StartSpec::At { time_ps: 5 },
            clp: None,
        }
    }

    fn on_off(on: u64, off: u64, offset_ps: u64) -> SourcePattern {
        SourcePattern::OnOff {
            on: fixed(on),
            off: fixed(off),
            phase: PhaseSpec::At { offset_ps },
        }
    }

    fn times(source: &mut CellSource, cells: usize) -> Vec<u64> {
        let mut send = || {
            let due = source.due().0;
            source.send();
            due
        };
        (0..cells).map(|_| send()).collect()
    }

    #[test]
    fn a_constant_source_sends_a_cell_every_interval() {
        let mut source = CellSource::new(&spec(SourcePattern::Constant), 1);
        assert_eq!(times(&mut source, 4), [5, 15, 25, 35]);
    }

    #[test]
    fn bursts_follow_each_other_by_on_and_off_time() {
        // 25 ps on: cells at 0, 10 and 20 of the burst; 45 ps from one burst to the next.
        let mut source = CellSource::new(&spec(on_off(25, 20, 0)), 1);
        assert_eq!(times(&mut source, 5), [5, 15, 25, 50, 60]);
    }

    #[test]
    fn regular_cells_sent_together_are_those_sent_one_by_one() {
        for pattern in [SourcePattern::Constant, on_off(45, 20, 0)] {
            let mut together = CellSource::new(&spec(pattern.clone()), 1);
            let mut one_by_one = CellSource::new(&spec(pattern), 1);
            assert!(together.regular().0 >= 5);
            together.send_regular(4);
            times(&mut one_by_one, 4);
            assert_eq!(together.record(), one_by_one.record());
            assert_eq!(together.regular(), one_by_one.regular());
            assert_eq!(times(&mut together, 4), times(&mut one_by_one, 4));
        }
    }

    #[test]
    fn bursts_of_a_list_begin_and_last_as_it_says() {
        // From 5 on: 25 ps have cells at 0, 10 and 20; 10 ps one; and then nothing.
        let listed = |begins_ps: &[u64], lengths_ps: &[u64]| SourcePattern::Bursts {
            begins_ps: begins_ps.to_vec(),
            lengths_ps: lengths_ps.to_vec(),
        };
        let mut source = CellSource::new(&spec(listed(&[100, 125], &[25, 10])), 1);
        assert_eq!(times(&mut source, 4), [105, 115, 125, 130]);
        assert_eq!((source.due(), source.regular().0), (SimTime::NEVER, 0));
        let source = CellSource::new(&spec(listed(&[], &[])), 1);
        assert_eq!(source.due(), SimTime::NEVER);
    }

    #[test]
    fn a_phase_shortens_the_first_burst_or_the_first_silence() {
        // 15 into the burst of 25: 10 left, one cell; the next burst 30 after the start.
        let mut source = CellSource::new(&spec(on_off(25, 20, 15)), 1);
        assert_eq!(times(&mut source, 2), [5, 35]);
        // 30 into the cycle: 15 of silence left.
        let mut source = CellSource::new(&spec(on_off(25, 20, 30)), 1);
        assert_eq!(times(&mut source, 2), [20, 30]);
        // A whole cycle and 15.
        let mut source = CellSource::new(&spec(on_off(25, 20, 60)), 1);
        assert_eq!(times(&mut source, 2), [5, 35]);
    }

    #[test]
    fn the_last_frame_of_a_burst_is_as_long_as_the_burst_leaves_it() {
        let mut source = CellSource::new(
            &SourceSpec {
                frame_cells: 2,
                ..spec(on_off(25, 20, 0))
            },
            1,
        );
        let frames: Vec<_> = (0..4).map(|_| source.send()).collect();
        let indices: Vec<_> = frames.iter().map(|c| (c.index, c.frame_cells)).collect();
        assert_eq!(indices, [(0, 2), (1, 2), (0, 1), (0, 2)]);
        assert_eq!((source.record().cells, source.record().frames), (4, 3));
    }

    #[test]
    fn clp_is_that_of_a_pattern_over_and_over_or_drawn_and_alike_within_a_frame() {
        let of = |clp, frame_cells| {
            let spec = SourceSpec {
                clp: Some(clp),
                frame_cells,
                ..spec(SourcePattern::Constant)
            };
            CellSource::new(&spec, 1)
        };
        let pattern = ClpSpec::Pattern {
            bits: vec![false, true, true],
        };
        let mut cells = of(pattern.clone(), 1);
        let found: Vec<_> = (0..6).map(|_| u8::from(cells.send().clp)).collect();
        assert_eq!(found, [0, 1, 1, 0, 1, 1]);
        let mut frames = of(pattern, 2);
        let found: Vec<_> = (0..6).map(|_| u8::from(frames.send().clp)).collect();
        assert_eq!(found, [0, 0, 1, 1, 1, 1]);
        // A quarter of 10 000: the standard deviation is 43.
        let part_ppb = 250_000_000;
        let mut drawn = of(ClpSpec::Drawn { part_ppb }, 1);
        let marked = (0..10_000).filter(|_| drawn.send().clp).count();
        assert!((2_330..2_670).contains(&marked), "{marked}");
    }

    #[test]
    fn each_packet_of_a_list_has_the_next_clp() {
        let spec = SourceSpec {
            datagram_route: vec![0],
            cell_interval_ps: 0,
            datagram_octets: 100,
            clp: Some(ClpSpec::Pattern {
                bits: vec![true, false],
            }),
            ..spec(SourcePattern::Trace {
                times_ps: vec![0, 10, 20],
                octets: vec![100; 3],
                period_ps: None,
            })
        };
        let mut source = CellSource::new(&spec, 1);
        let found: Vec<_> = (0..3).map(|_| source.send().clp).collect();
        assert_eq!(found, [true, false, true]);
    }

    #[test]
    fn a_list_of_packets_is_sent_once_or_over_and_over_each_with_its_octets() {
        let trace = |period_ps| SourceSpec {
            datagram_route: vec![0],
            cell_interval_ps: 0,
            datagram_octets: 1_500,
            ..spec(SourcePattern::Trace {
                times_ps: vec![0, 10, 10, 70],
                octets: vec![40, 1_500, 41, 80],
                period_ps,
            })
        };
        let mut source = CellSource::new(&trace(None), 1);
        assert_eq!(times(&mut source, 4), [5, 15, 15, 75]);
        assert_eq!(source.due(), SimTime::NEVER);
        // I.363.5 and RFC 2684: 80 octets behind 8 of LLC/SNAP and 8 of trailer are two cells, as are 40 and 41.
        let record = source.record();
        assert_eq!((record.frames, record.octets), (4, 40 + 1_500 + 41 + 80));
        assert_eq!(record.cells, 2 + 32 + 2 + 2);
        let mut source = CellSource::new(&trace(Some(100)), 1);
        assert_eq!(
            times(&mut source, 9),
            [5, 15, 15, 75, 105, 115, 115, 175, 205]
        );
        let next: Vec<_> = (0..3).map(|_| source.send().octets).collect();
        assert_eq!(next, [1_500, 41, 80]);
        // The last of a round and the first of the next may fall together.
        let mut source = CellSource::new(&trace(Some(70)), 1);
        assert_eq!(times(&mut source, 6), [5, 15, 15, 75, 75, 85]);
    }

    #[test]
    fn an_echo_sends_nothing_by_itself_and_answers_with_as_many_octets() {
        let spec = SourceSpec {
            datagram_route: vec![1],
            cell_interval_ps: 0,
            datagram_octets: 84,
            ..spec(SourcePattern::Echo { of: 0 })
        };
        let mut echo = CellSource::new(&spec, 1);
        assert_eq!(echo.due(), SimTime::NEVER);
        let answer = echo.answer(84, 3);
        assert_eq!(
            (answer.octets, answer.frame_cells, answer.index),
            (84, 3, 0)
        );
        echo.on_delivered(84, SimTime(9));
        let record = echo.record();
        assert_eq!((record.frames, record.cells, record.octets), (1, 3, 84));
        assert_eq!(
            (record.datagrams_delivered, record.octets_delivered),
            (1, 84)
        );
    }

    #[test]
    fn a_datagram_goes_whole_in_the_place_of_its_cells() {
        let of = |pattern| {
            let spec = SourceSpec {
                frame_cells: 3,
                datagram_route: vec![0],
                ..spec(pattern)
            };
            CellSource::new(&spec, 1)
        };
        let mut source = of(SourcePattern::Constant);
        assert_eq!(times(&mut source, 3), [5, 35, 65]);
        let sent = source.send();
        assert_eq!((sent.index, sent.frame_cells), (0, 3));
        assert_eq!((source.record().cells, source.record().frames), (12, 4));
        // One at the begin of a burst of 45, one after 30; the second is not cut.
        let mut source = of(on_off(45, 20, 0));
        assert_eq!(times(&mut source, 4), [5, 35, 70, 100]);
    }

    #[test]
    fn a_drawn_phase_is_spread_over_the_cycle_and_depends_on_the_seed_alone() {
        let pattern = SourcePattern::OnOff {
            on: fixed(1_000),
            off: fixed(1_000),
            phase: PhaseSpec::Drawn { below_ps: 2_000 },
        };
        let first = |seed| CellSource::new(&spec(pattern.clone()), seed).due().0;
        assert_eq!(first(3), first(3));
        let sends_at_once = (0..1_000).filter(|&seed| first(seed) == 5).count();
        // Half of 1000 phases fall into the on time; the standard deviation is 16.
        assert!((420..580).contains(&sends_at_once), "{sends_at_once}");
    }

    #[test]
    fn drawn_times_have_their_means() {
        let pattern = SourcePattern::OnOff {
            on: DistributionSpec::Exponential { mean_ps: 1_000 },
            off: DistributionSpec::Exponential { mean_ps: 3_000 },
            phase: PhaseSpec::At { offset_ps: 0 },
        };
        let mut source = CellSource::new(&spec(pattern), 7);
        let last = *times(&mut source, 100_000).last().expect("many");
        // 100.5 cells a burst, about 1000 bursts of 4000 ps: 3 % of standard error, four of them.
        let expected = 100_000.0 / 100.5 * 4_000.0;
        assert!((last as f64 / expected - 1.0).abs() < 0.13, "{last}");
    }
}
