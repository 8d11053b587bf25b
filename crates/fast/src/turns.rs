//! Regions of a network, which act in turns: each in a thread of its own, or all in one loop.
//!
//! A region sends each of its readers one parcel a turn: what crosses the border, and the time before which all has
//! been sent. Turn k of a region takes parcel k - 1 of *each* region that sends to it, in the order of their numbers, and
//! then acts up to the least time promised. Processes that read first-in-first-out channels in a fixed order have one
//! result, however they are scheduled (G. Kahn, "The semantics of a simple language for parallel programming", IFIP
//! Congress 1974), so a run does not depend on timing. A parcel without content is the null message of Chandy and Misra.
//! Turn k needs turns k - 1 only, and a channel holds [`PENDING`] parcels, so no two regions wait for each other.

#[cfg(test)]
use shuttle::{
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
    thread,
};
use skycell_units::SimTime;
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};
#[cfg(not(test))]
use std::{
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
    thread,
};

/// Parcels that a channel holds. A region is at most so many turns and one ahead of a reader.
const PENDING: usize = 2;
/// Wall time after which a region of the caller that waits asks whether the run goes on.
const ASK_EVERY: Duration = Duration::from_millis(50);

/// A region of a network.
pub(crate) trait Region: Send {
    /// What crosses a border in a turn.
    type Batch: Send;

    /// Takes what a region has sent. Nothing in it is due before the time up to which this one has acted; a region
    /// checks that, in release builds too, for a promise too high would show nowhere else.
    fn take(&mut self, from: u32, batch: Self::Batch);

    /// Has what is due before `limit` happen, or less of it to end the turn early. Returns the time before which all has
    /// happened, [`SimTime::NEVER`] if nothing happens any more, and the units moved so far in the run.
    fn act(&mut self, limit: SimTime) -> (SimTime, u64);

    /// What the turn leaves for a region, and the time before which nothing more will come to that; not asked at the end.
    fn give(&mut self, to: u32) -> (Self::Batch, SimTime);
}

/// A region sends to another, nothing of which arrives before `lookahead` when the run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) lookahead: SimTime,
}

/// Work, in units that are moved and in wall time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) units: u64,
    pub(crate) ns: u64,
}

impl Work {
    fn add(&mut self, more: Work) {
        self.units += more.units;
        self.ns += more.ns;
    }

    /// The greater of both, each measure by itself.
    fn max(self, other: Work) -> Work {
        Work {
            units: self.units.max(other.units),
            ns: self.ns.max(other.ns),
        }
    }
}

/// Regions after their run, and what they had to do.
#[derive(Debug)]
pub(crate) struct Finished<R> {
    pub(crate) regions: Vec<R>,
    /// By region.
    pub(crate) work: Vec<Work>,
    /// The longest chain of turns of which each needs the one before: the run takes so long, however many cores there are.
    pub(crate) path: Work,
    /// Turns of the region that had most.
    pub(crate) turns: u64,
}

/// What a region sends another in a turn.
struct Parcel<B> {
    /// All that comes before it has been sent; [`SimTime::NEVER`]: nothing comes any more.
    safe: SimTime,
    /// When the turn was over, in work.
    finish: Work,
    batch: B,
}

/// A region and what it knows of its neighbours.
struct Actor<R> {
    region: R,
    /// Regions that send to it, ascending, with the time that each has promised.
    senders: Vec<(u32, SimTime)>,
    /// Regions to which it sends, ascending.
    readers: Vec<u32>,
    /// The time before which it has acted.
    clock: SimTime,
    units: u64,
    work: Work,
    finish: Work,
    turns: u64,
}

impl<R: Region> Actor<R> {
    fn all(regions: Vec<R>, edges: &[Edge]) -> Vec<Self> {
        let mut edges = edges.to_vec();
        edges.sort_by_key(|edge| (edge.from, edge.to));
        let pairs = edges.windows(2);
        assert!(
            pairs
                .into_iter()
                .all(|two| (two[0].from, two[0].to) != (two[1].from, two[1].to)),
            "one edge from a region to another"
        );
        assert!(
            edges.iter().all(|edge| edge.lookahead > SimTime::ZERO),
            "what crosses a border takes time"
        );
        let actor = |(region, id): (R, u32)| {
            let to = edges.iter().filter(|edge| edge.to == id);
            let from = edges.iter().filter(|edge| edge.from == id);
            Actor {
                region,
                senders: to.map(|edge| (edge.from, edge.lookahead)).collect(),
                readers: from.map(|edge| edge.to).collect(),
                clock: SimTime::ZERO,
                units: 0,
                work: Work::default(),
                finish: Work::default(),
                turns: 0,
            }
        };
        regions.into_iter().zip(0u32..).map(actor).collect()
    }

    /// Returns whether a sender has more to come.
    fn awaits(&self, nth: usize) -> bool {
        self.senders[nth].1 != SimTime::NEVER
    }

    fn is_over(&self) -> bool {
        self.clock == SimTime::NEVER
    }

    /// Takes the next parcel of a sender.
    fn take(&mut self, nth: usize, parcel: Parcel<R::Batch>) {
        let begin = Instant::now();
        let (from, safe) = self.senders[nth];
        self.region.take(from, parcel.batch);
        // A promise holds for ever.
        self.senders[nth].1 = safe.max(parcel.safe);
        self.finish = self.finish.max(parcel.finish);
        self.count(begin, 0);
    }

    /// Acts, and returns what goes to each of the readers.
    fn act(&mut self) -> Vec<Parcel<R::Batch>> {
        let begin = Instant::now();
        let safe = self.senders.iter().map(|sender| sender.1);
        let limit = safe.min().unwrap_or(SimTime::NEVER);
        let (clock, units) = self.region.act(limit);
        assert!(clock >= self.clock, "time does not run back");
        self.clock = clock;
        self.turns += 1;
        let region = &mut self.region;
        let given: Vec<_> = self.readers.iter().map(|&to| region.give(to)).collect();
        self.count(begin, units - self.units);
        self.units = units;
        let parcel = |(batch, safe)| Parcel {
            safe: if clock == SimTime::NEVER { clock } else { safe },
            finish: self.finish,
            batch,
        };
        given.into_iter().map(parcel).collect()
    }

    fn count(&mut self, begin: Instant, units: u64) {
        let ns = begin.elapsed().as_nanos() as u64;
        let work = Work { units, ns };
        self.work.add(work);
        self.finish.add(work);
    }
}

fn finished<R: Region>(actors: Vec<Actor<R>>) -> Finished<R> {
    let path = actors.iter().map(|actor| actor.finish);
    Finished {
        path: path.fold(Work::default(), Work::max),
        turns: actors.iter().map(|actor| actor.turns).max().unwrap_or(0),
        work: actors.iter().map(|actor| actor.work).collect(),
        regions: actors.into_iter().map(|actor| actor.region).collect(),
    }
}

/// Runs regions in one thread, each turn of one after the other. `progress` is called with the time before which all has
/// happened, and returns false to cancel.
///
/// # Errors
/// The run was cancelled, at the time given.
pub(crate) fn run_in_loop<R: Region>(
    regions: Vec<R>,
    edges: &[Edge],
    progress: &mut dyn FnMut(SimTime) -> bool,
) -> Result<Finished<R>, SimTime> {
    let mut actors = Actor::all(regions, edges);
    // By reader, then sender as the reader counts them.
    let of_reader = |actor: &Actor<R>| actor.senders.iter().map(|_| VecDeque::new()).collect();
    let mut mail: Vec<Vec<VecDeque<Parcel<R::Batch>>>> = actors.iter().map(of_reader).collect();
    let slots: Vec<Vec<(usize, usize)>> = slots(&actors);
    while actors.iter().any(|actor| !actor.is_over()) {
        for id in 0..actors.len() {
            let actor = &mut actors[id];
            if actor.is_over() {
                continue;
            }
            for (nth, mail) in mail[id].iter_mut().enumerate() {
                if actor.turns > 0 && actor.awaits(nth) {
                    actor.take(nth, mail.pop_front().expect("a parcel of each turn"));
                }
            }
            for (parcel, &(reader, nth)) in actor.act().into_iter().zip(&slots[id]) {
                mail[reader][nth].push_back(parcel);
            }
        }
        let clock = actors.iter().map(|actor| actor.clock).min();
        let clock = clock.unwrap_or(SimTime::NEVER);
        if clock != SimTime::NEVER && !progress(clock) {
            return Err(clock);
        }
    }
    Ok(finished(actors))
}

/// By region, for each of its readers: the reader, and which of its senders the region is there.
fn slots<R>(actors: &[Actor<R>]) -> Vec<Vec<(usize, usize)>> {
    let of_sender = |(actor, id): (&Actor<R>, u32)| {
        let slot = |&reader: &u32| {
            let senders = &actors[reader as usize].senders;
            let nth = senders.iter().position(|sender| sender.0 == id);
            (reader as usize, nth.expect("an edge has two ends"))
        };
        actor.readers.iter().map(slot).collect()
    };
    actors.iter().zip(0u32..).map(of_sender).collect()
}

/// Channels of a region: from each sender, and to each reader.
struct Channels<B> {
    from: Vec<mpsc::Receiver<Parcel<B>>>,
    to: Vec<mpsc::SyncSender<Parcel<B>>>,
}

/// What threads know of one another beside what parcels say. Nothing is put in order by it.
struct Common {
    is_cancelled: AtomicBool,
    /// By region.
    clocks: Vec<AtomicU64>,
}

impl Common {
    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// The time before which all has happened.
    fn clock(&self) -> SimTime {
        let clocks = self.clocks.iter();
        let clocks = clocks.map(|clock| SimTime(clock.load(Ordering::Relaxed)));
        clocks.min().unwrap_or(SimTime::NEVER)
    }

    /// Asks the caller whether the run goes on.
    fn ask(&self, progress: &mut dyn FnMut(SimTime) -> bool) {
        let clock = self.clock();
        if clock != SimTime::NEVER && !progress(clock) {
            self.is_cancelled.store(true, Ordering::Relaxed);
        }
    }
}

/// The region to its end, or only to where a neighbour or the caller has ended the run; or what a panic says.
type Ended<R> = Result<Actor<R>, Box<dyn Any + Send>>;

/// Runs regions, each in its thread; the first has the thread of the caller, who is asked as by [`run_in_loop`].
///
/// # Errors
/// The run was cancelled, at the time given.
///
/// # Panics
/// As a region does.
pub(crate) fn run_in_threads<R: Region>(
    regions: Vec<R>,
    edges: &[Edge],
    progress: &mut dyn FnMut(SimTime) -> bool,
) -> Result<Finished<R>, SimTime> {
    let actors = Actor::all(regions, edges);
    let common = Common {
        is_cancelled: AtomicBool::new(false),
        clocks: actors.iter().map(|_| AtomicU64::new(0)).collect(),
    };
    let channels = channels(&actors);
    let ended: Vec<Ended<R>> = thread::scope(|scope| {
        let mut slots = actors.into_iter().zip(channels).zip(0usize..);
        let own = slots.next();
        // Its senders are in the threads: it is closed once all have ended.
        let (running, ends) = mpsc::sync_channel::<()>(0);
        let others: Vec<_> = slots
            .map(|((actor, channels), id)| {
                let (common, running) = (&common, running.clone());
                scope.spawn(move || {
                    let ended = caught(|| {
                        act_to_end(actor, channels, (common, id), &mut |from| from.recv().ok())
                    });
                    drop(running);
                    ended
                })
            })
            .collect();
        drop(running);
        let mut ended = Vec::new();
        if let Some(((actor, channels), id)) = own {
            let mut receive = |from: &mpsc::Receiver<_>| wait_for(from, &common, progress);
            ended.push(caught(|| {
                act_to_end(actor, channels, (&common, id), &mut receive)
            }));
        }
        wait_for(&ends, &common, progress);
        let join = |thread: thread::ScopedJoinHandle<'_, Ended<R>>| thread.join();
        ended.extend(
            others
                .into_iter()
                .map(|thread| join(thread).and_then(|own| own)),
        );
        ended
    });
    let mut actors = Vec::new();
    for own in ended {
        actors.push(own.unwrap_or_else(|panic| resume_unwind(panic)));
    }
    if actors.iter().any(|actor| !actor.is_over()) {
        return Err(common.clock());
    }
    Ok(finished(actors))
}

fn caught<R>(act: impl FnOnce() -> Actor<R>) -> Ended<R> {
    catch_unwind(AssertUnwindSafe(act))
}

/// Channels by region.
fn channels<R: Region>(actors: &[Actor<R>]) -> Vec<Channels<R::Batch>> {
    let mut ends: Vec<Vec<Option<mpsc::Receiver<_>>>> = (actors.iter())
        .map(|actor| actor.senders.iter().map(|_| None).collect())
        .collect();
    let to: Vec<Vec<_>> = (slots(actors).iter())
        .map(|readers| {
            let open = |&(reader, nth): &(usize, usize)| {
                let (sender, receiver) = mpsc::sync_channel(PENDING);
                ends[reader][nth] = Some(receiver);
                sender
            };
            readers.iter().map(open).collect()
        })
        .collect();
    let all = to.into_iter().zip(ends).map(|(to, from)| {
        let from = from
            .into_iter()
            .map(|end| end.expect("an edge has two ends"));
        Channels {
            from: from.collect(),
            to,
        }
    });
    all.collect()
}

/// Waits for the next of what a channel brings; none of a closed one.
type Receive<'a, T> = dyn FnMut(&mpsc::Receiver<T>) -> Option<T> + 'a;

/// The next of what a channel brings to the region of the caller, who is asked while it waits; none of a closed one.
fn wait_for<T>(
    from: &mpsc::Receiver<T>,
    common: &Common,
    progress: &mut dyn FnMut(SimTime) -> bool,
) -> Option<T> {
    loop {
        if !common.is_cancelled() {
            common.ask(progress);
        }
        match from.recv_timeout(ASK_EVERY) {
            Ok(next) => return Some(next),
            Err(mpsc::RecvTimeoutError::Disconnected) => return None,
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Has a region act to its end, or until a sender has ended before its own, or the caller has.
fn act_to_end<R: Region>(
    mut actor: Actor<R>,
    channels: Channels<R::Batch>,
    (common, id): (&Common, usize),
    receive: &mut Receive<'_, Parcel<R::Batch>>,
) -> Actor<R> {
    while !common.is_cancelled() {
        for (nth, from) in channels.from.iter().enumerate() {
            if actor.turns > 0 && actor.awaits(nth) {
                let Some(parcel) = receive(from) else {
                    return actor;
                };
                actor.take(nth, parcel);
            }
        }
        for (parcel, to) in actor.act().into_iter().zip(&channels.to) {
            // A reader that is gone needs nothing any more.
            let _ = to.send(parcel);
        }
        common.clocks[id].store(actor.clock.0, Ordering::Relaxed);
        if actor.is_over() {
            break;
        }
    }
    actor
}

#[cfg(test)]
mod tests;
