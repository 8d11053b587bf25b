//! Paths over time: what each pair's path and delay are, step by step.
//!
//! Stations choose their satellites first, each station on its own through all of time, because a
//! held satellite is a matter of history. Then steps are independent, and threads share them. At last
//! the changes between steps are looked for, where a precision is asked for. The result does not
//! depend on the number of threads.

use crate::OrbitError;
use crate::changes::{Change, Search, Turn};
use crate::path::{NoPath, Path};
use crate::sky::World;
use crate::spec::AccessRule;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Delay where there is no path.
pub const NO_PATH_PS: u64 = u64::MAX;
/// A station that sees no satellite.
pub(crate) const NONE: u32 = u32::MAX;
/// Steps that a thread takes at a time.
const CHUNK: usize = 64;
/// Changes of path that a thread looks for at a time.
const CHANGES: usize = 8;
/// Between two looks at the caller.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Which moments, and what is kept of them.
#[derive(Clone, Copy, Debug)]
pub struct SeriesRequest {
    /// The first moment.
    pub start_ps: u64,
    /// From one to the next.
    pub step_ps: u64,
    /// How many.
    pub steps: usize,
    /// Threads that work, above 0.
    pub threads: usize,
    /// True if the delay of every link of every path is recorded.
    pub with_links: bool,
    /// How exactly the moments of changes of path are looked for, picoseconds above 0; if not
    /// given, they are known to within a step.
    pub precision_ps: Option<u64>,
}

impl SeriesRequest {
    /// The moment of a step.
    pub fn at_ps(&self, step: usize) -> u64 {
        self.start_ps + self.step_ps * step as u64
    }
}

/// The same path over some steps, or none for the same reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathSpan {
    /// Which pair of the spec.
    pub pair: u32,
    /// Its first step.
    pub first_step: u32,
    /// Number of steps.
    pub steps: u32,
    /// The satellites, or why there is no path.
    pub route: Result<Vec<u32>, NoPath>,
}

/// Paths and delays of all pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Series {
    /// Delay of each pair at each step, pair after pair; `NO_PATH_PS` for none.
    pub delays_ps: Vec<u64>,
    /// Paths taken, pair after pair, in the order of time.
    pub path_spans: Vec<PathSpan>,
    /// With links: the delay of each link of each path, stretch after stretch, step after step, up
    /// link first. Empty otherwise.
    pub links_ps: Vec<u64>,
    /// With a precision: when paths change, pair after pair, in the order of time.
    pub changes: Vec<Change>,
}

/// The satellites of a station: the one at each step, and where it holds them or is given them in
/// slots, when it takes which.
#[derive(Clone, Debug, Default)]
pub(crate) struct Access {
    by_step: Vec<u32>,
    pub(crate) turns: Vec<Turn>,
}

impl Access {
    /// The satellite at a step; `NONE` for none.
    pub(crate) fn at(&self, step: usize) -> u32 {
        self.by_step[step]
    }

    /// Has each step follow the turns, the first of which is at the first step or before.
    pub(crate) fn follow_turns(&mut self, request: &SeriesRequest) {
        self.by_step = (0..request.steps)
            .map(|step| {
                let at_ps = request.at_ps(step);
                let later = self.turns.partition_point(|turn| turn.at_ps <= at_ps);
                let known = later
                    .checked_sub(1)
                    .and_then(|last| self.turns[last].satellite);
                known.unwrap_or(NONE)
            })
            .collect();
    }
}

/// How far the work is: steps of all steps, counting both passes.
pub type Progress<'a> = &'a mut dyn FnMut(f64) -> bool;

impl World {
    /// Paths and delays of the pairs of the spec.
    ///
    /// `go_on` is told the share that is done about every 0.1 s; a false answer ends the work.
    pub fn series(&self, request: &SeriesRequest, go_on: Progress) -> Result<Series, OrbitError> {
        let access = if self.spec.access.rule == AccessRule::Any {
            Vec::new()
        } else if let Some(slots) = &self.spec.access.slots {
            self.slots_over_time(slots, request, go_on)?
        } else {
            let mut used: Vec<u32> = self.spec.pairs.iter().flatten().copied().collect();
            used.sort_unstable();
            used.dedup();
            self.access_over_time(&used, request, go_on)?
        };
        let chunks = request.steps.div_ceil(CHUNK);
        let end = if request.precision_ps.is_some() {
            0.8
        } else {
            1.0
        };
        let done = shared(request.threads, chunks, (0.5, end), go_on, |chunk| {
            self.chunk(request, chunk, &access)
        })?;
        let mut series = joined(self.spec.pairs.len(), request, done);
        if let Some(precision_ps) = request.precision_ps {
            series.changes = self.changes(request, precision_ps, &series, &access, go_on)?;
        }
        Ok(series)
    }

    /// When the paths change that differ from one step to the next.
    fn changes(
        &self,
        request: &SeriesRequest,
        precision_ps: u64,
        series: &Series,
        access: &[Access],
        go_on: Progress,
    ) -> Result<Vec<Change>, OrbitError> {
        let begins: Vec<(u32, usize)> = series
            .path_spans
            .iter()
            .filter(|path_span| path_span.first_step > 0)
            .map(|path_span| (path_span.pair, path_span.first_step as usize))
            .collect();
        let pieces = begins.len().div_ceil(CHANGES);
        let found = shared(request.threads, pieces, (0.8, 1.0), go_on, |piece| {
            let mut sky = self.sky(request.start_ps);
            let mut search = Search {
                sky: &mut sky,
                precision_ps,
            };
            let mut found = Vec::new();
            for &(number, step) in begins.chunks(CHANGES).nth(piece).unwrap_or_default() {
                let pair = self.spec.pairs[number as usize];
                let turns = pair.map(|station| {
                    let own = access.get(station as usize);
                    own.map_or(&[] as &[Turn], |access| &access.turns)
                });
                let between = (request.at_ps(step - 1), request.at_ps(step));
                found.extend(search.changes(number, pair, turns, between));
            }
            found
        })?;
        Ok(found.into_iter().flatten().collect())
    }

    /// The satellites at each step of some stations; the other stations have none.
    pub(crate) fn access_over_time(
        &self,
        wanted: &[u32],
        request: &SeriesRequest,
        go_on: Progress,
    ) -> Result<Vec<Access>, OrbitError> {
        // One sky serves a group of stations, as positions are what costs.
        let size = wanted.len().div_ceil(request.threads).max(1);
        let groups: Vec<&[u32]> = wanted.chunks(size).collect();
        let done = shared(request.threads, groups.len(), (0.0, 0.5), go_on, |group| {
            let mut sky = self.sky(request.start_ps);
            let mut held = vec![None; groups[group].len()];
            let mut chosen = vec![Access::default(); held.len()];
            for step in 0..request.steps {
                let at_ps = request.at_ps(step);
                sky.turn_to(at_ps);
                for (index, &station) in groups[group].iter().enumerate() {
                    let (before, own) = (held[index], &mut chosen[index]);
                    held[index] = sky.access(station, before);
                    if self.holds()
                        && let Some(precision_ps) = request.precision_ps
                    {
                        if step == 0 {
                            let satellite = held[index];
                            own.turns.push(Turn { at_ps, satellite });
                        } else if held[index] != before {
                            let mut search = Search {
                                sky: &mut sky,
                                precision_ps,
                            };
                            let between = (request.at_ps(step - 1), at_ps);
                            own.turns.extend(search.turns(station, before, between));
                            held[index] = own.turns.last().and_then(|turn| turn.satellite);
                            sky.turn_to(at_ps);
                        }
                    }
                    own.by_step.push(held[index].unwrap_or(NONE));
                }
            }
            chosen
        })?;
        let mut access = vec![Access::default(); self.stations.len()];
        for (group, chosen) in groups.iter().zip(done) {
            for (&station, satellites) in group.iter().zip(chosen) {
                access[station as usize] = satellites;
            }
        }
        Ok(access)
    }

    fn chunk(&self, request: &SeriesRequest, chunk: usize, access: &[Access]) -> Chunk {
        let mut sky = self.sky(request.start_ps);
        let mut series = vec![PairSeries::default(); self.spec.pairs.len()];
        for step in chunk * CHUNK..request.steps.min((chunk + 1) * CHUNK) {
            sky.turn_to(request.at_ps(step));
            sky.find_links();
            for (&pair, series) in self.spec.pairs.iter().zip(&mut series) {
                let used = pair.map(|station| {
                    let satellites = access.get(station as usize)?;
                    Some(satellites.by_step[step]).filter(|&satellite| satellite != NONE)
                });
                series.add(sky.path(pair, used), request.with_links);
            }
        }
        series
    }
}

/// The result of a chunk of steps for each pair.
type Chunk = Vec<PairSeries>;

#[derive(Clone, Default)]
struct PairSeries {
    delays_ps: Vec<u64>,
    routes: Vec<(u32, Result<Vec<u32>, NoPath>)>,
    links_ps: Vec<u64>,
}

impl PairSeries {
    fn add(&mut self, path: Result<Path, NoPath>, with_links: bool) {
        let delay_ps = path.as_ref().map_or(NO_PATH_PS, Path::delay_ps);
        self.delays_ps.push(delay_ps);
        if with_links && let Ok(path) = &path {
            self.links_ps.extend(&path.links_ps);
        }
        let route = path.map(|path| path.satellites);
        self.lengthen(1, route);
    }

    fn lengthen(&mut self, steps: u32, route: Result<Vec<u32>, NoPath>) {
        match self.routes.last_mut() {
            Some((known, same)) if *same == route => *known += steps,
            _ => self.routes.push((steps, route)),
        }
    }
}

fn joined(pairs: usize, request: &SeriesRequest, chunks: Vec<Chunk>) -> Series {
    let mut whole = vec![PairSeries::default(); pairs];
    for chunk in chunks {
        for (pair, part) in whole.iter_mut().zip(chunk) {
            pair.delays_ps.extend(part.delays_ps);
            pair.links_ps.extend(part.links_ps);
            for (steps, route) in part.routes {
                pair.lengthen(steps, route);
            }
        }
    }
    let mut series = Series::default();
    series.delays_ps.reserve_exact(pairs * request.steps);
    for (number, pair) in whole.into_iter().enumerate() {
        series.delays_ps.extend(pair.delays_ps);
        series.links_ps.extend(pair.links_ps);
        let mut first_step = 0;
        for (steps, route) in pair.routes {
            series.path_spans.push(PathSpan {
                pair: number as u32,
                first_step,
                steps,
                route,
            });
            first_step += steps;
        }
    }
    series
}

/// Does numbered pieces of work in threads; their results, in the order of the numbers.
pub(crate) fn shared<T: Send>(
    threads: usize,
    pieces: usize,
    share: (f64, f64),
    go_on: Progress,
    work: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>, OrbitError> {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, pieces.max(1)) {
            let sender: Sender<(usize, T)> = sender.clone();
            let (next, stop, work) = (&next, &stop, &work);
            scope.spawn(move || {
                loop {
                    let piece = next.fetch_add(1, Ordering::Relaxed);
                    if piece >= pieces || stop.load(Ordering::Relaxed) {
                        return;
                    }
                    if sender.send((piece, work(piece))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let gathered = gather(pieces, share, go_on, &receiver);
        stop.store(true, Ordering::Relaxed);
        gathered
    })
}

fn gather<T>(
    pieces: usize,
    share: (f64, f64),
    go_on: Progress,
    receiver: &Receiver<(usize, T)>,
) -> Result<Vec<T>, OrbitError> {
    let mut results: Vec<Option<T>> = (0..pieces).map(|_| None).collect();
    let mut done = 0;
    while done < pieces {
        match receiver.recv_timeout(LOOK_EVERY) {
            Ok((piece, result)) => {
                results[piece] = Some(result);
                done += 1;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                unreachable!("a thread ends only when no piece is left")
            }
        }
        let part = done as f64 / pieces as f64;
        if !go_on(share.0 + (share.1 - share.0) * part) {
            return Err(OrbitError::Cancelled);
        }
    }
    Ok(results.into_iter().flatten().collect())
}
