//! Passes: when satellites rise above places, stand highest and set.

use crate::OrbitError;
use crate::motion::is_left_out;
use crate::series::{Progress, shared};
use crate::sky::{World, seconds};
use crate::station::Look;

/// Between looks, seconds. A pass that begins and ends between two looks is found where the satellite
/// is highest then.
const LOOK_EVERY_S: f64 = 10.0;
/// To which moments are found, seconds.
const PRECISION_S: f64 = 1e-6;
/// To which the moment of the highest elevation is found, seconds; at its top it hardly changes.
const TOP_PRECISION_S: f64 = 1e-3;
/// Satellites that a thread takes at a time.
const PIECE: usize = 16;

/// Where a satellite stands at a moment of its pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Since time 0, ps.
    pub at_ps: u64,
    /// Where it stands.
    pub look: Look,
}

/// A time in which a place may use a satellite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// Which place.
    pub station: u32,
    /// Which satellite.
    pub satellite: u32,
    /// The first moment; none where it had begun before.
    pub rise: Option<Event>,
    /// When it stands highest.
    pub top: Event,
    /// The last moment; none where it goes on after.
    pub set: Option<Event>,
}

impl World {
    /// The passes between two moments, station after station, in the order of their beginnings.
    pub fn passes(
        &self,
        between_ps: [u64; 2],
        threads: usize,
        go_on: Progress,
    ) -> Result<Vec<Pass>, OrbitError> {
        let pieces = self.fleet.len().div_ceil(PIECE);
        let found = shared(threads, pieces, (0.0, 1.0), go_on, |piece| {
            let end = self.fleet.len().min((piece + 1) * PIECE);
            let satellites = (piece * PIECE) as u32..end as u32;
            satellites
                .flat_map(|satellite| self.passes_of(satellite, between_ps.map(seconds)))
                .collect::<Vec<_>>()
        })?;
        let mut passes: Vec<Pass> = found.into_iter().flatten().collect();
        passes.sort_by_key(|pass| {
            let begin_ps = pass.rise.map_or(0, |rise| rise.at_ps);
            (pass.station, begin_ps, pass.satellite)
        });
        Ok(passes)
    }

    fn passes_of(&self, satellite: u32, [first, last]: [f64; 2]) -> Vec<Pass> {
        let steps = ((last - first) / LOOK_EVERY_S).ceil().max(1.0) as usize;
        let at = |step: usize| (first + LOOK_EVERY_S * step as f64).min(last);
        let mut watches: Vec<Watch> = (0..self.stations.len() as u32)
            .map(|station| Watch::new(self, station, satellite))
            .collect();
        for step in 0..=steps {
            let position = self.fleet.position_km(satellite, at(step));
            for (watch, station) in watches.iter_mut().zip(&self.stations) {
                let sine = if is_left_out(position) {
                    f64::NAN
                } else {
                    station.rises(position).0
                };
                watch.look(at(step), sine, station.sees(position));
            }
        }
        watches.into_iter().flat_map(Watch::finished).collect()
    }
}

/// One place watching one satellite.
struct Watch<'a> {
    world: &'a World,
    station: u32,
    satellite: u32,
    /// The last two looks: moment, sine of elevation, and whether it may be used.
    looks: Vec<(f64, f64, bool)>,
    /// Since when it may be used: the moment, and whether it rose then.
    since: Option<(f64, bool)>,
    /// The highest look of the pass.
    best: (f64, f64),
    passes: Vec<Pass>,
}

impl<'a> Watch<'a> {
    fn new(world: &'a World, station: u32, satellite: u32) -> Self {
        Watch {
            world,
            station,
            satellite,
            looks: Vec::new(),
            since: None,
            best: (0.0, f64::NEG_INFINITY),
            passes: Vec::new(),
        }
    }

    fn look(&mut self, at: f64, sine: f64, sees: bool) {
        match self.looks.last().copied() {
            None if sees => self.begin(at, false),
            Some((before, _, false)) if sees => {
                self.begin(self.bound(before, at), true);
            }
            Some((before, _, true)) if !sees => {
                let end = self.bound(at, before);
                self.end(end, true);
            }
            Some((_, middle, false)) if self.looks.len() == 2 => {
                let (start, early, _) = self.looks[0];
                if middle >= early && middle >= sine {
                    self.look_between(start, at);
                }
            }
            _ => {}
        }
        if sees && sine > self.best.1 {
            self.best = (at, sine);
        }
        if self.looks.len() == 2 {
            self.looks.remove(0);
        }
        self.looks.push((at, sine, sees));
    }

    /// A pass that begins and ends between looks, about the moment when the satellite is highest.
    fn look_between(&mut self, start: f64, end: f64) {
        let top = self.highest(start, end);
        if self.sees(top) {
            self.begin(self.bound(start, top), true);
            self.best = (top, self.sine(top));
            self.end(self.bound(end, top), true);
        }
    }

    fn begin(&mut self, at: f64, rises: bool) {
        self.since = Some((at, rises));
        self.best = (at, self.sine(at));
    }

    fn end(&mut self, at: f64, sets: bool) {
        let Some((since, rises)) = self.since.take() else {
            return;
        };
        let (near, _) = self.best;
        let top = self.highest(
            (near - LOOK_EVERY_S).max(since),
            (near + LOOK_EVERY_S).min(at),
        );
        self.passes.push(Pass {
            station: self.station,
            satellite: self.satellite,
            rise: rises.then(|| self.event(since)),
            top: self.event(top),
            set: sets.then(|| self.event(at)),
        });
    }

    fn finished(mut self) -> Vec<Pass> {
        if let Some(&(last, ..)) = self.looks.last() {
            self.end(last, false);
        }
        self.passes
    }

    fn sees(&self, at: f64) -> bool {
        let position = self.world.fleet.position_km(self.satellite, at);
        self.world.stations[self.station as usize].sees(position)
    }

    fn sine(&self, at: f64) -> f64 {
        let position = self.world.fleet.position_km(self.satellite, at);
        self.world.stations[self.station as usize].rises(position).0
    }

    fn event(&self, at: f64) -> Event {
        let position = self.world.fleet.position_km(self.satellite, at);
        Event {
            at_ps: (at * 1e12).round() as u64,
            look: self.world.stations[self.station as usize].look(position),
        }
    }

    /// The moment nearest to `out` at which it may be used, between one at which it may not and one at
    /// which it may.
    fn bound(&self, mut out: f64, mut within: f64) -> f64 {
        while (within - out).abs() > PRECISION_S {
            let middle = f64::midpoint(out, within);
            if self.sees(middle) {
                within = middle;
            } else {
                out = middle;
            }
        }
        within
    }

    /// When it stands highest between two moments around its only top there, by the golden section.
    fn highest(&self, mut low: f64, mut high: f64) -> f64 {
        const PART: f64 = 0.618_033_988_749_894_9;
        while high - low > TOP_PRECISION_S {
            let (left, right) = (high - PART * (high - low), low + PART * (high - low));
            if self.sine(left) < self.sine(right) {
                low = left;
            } else {
                high = right;
            }
        }
        f64::midpoint(low, high)
    }
}
