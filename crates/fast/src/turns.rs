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
    let places: Vec<Vec<(usize, usize)>> = places(&actors);
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
            for (parcel, &(reader, nth)) in actor.act().into_iter().zip(&places[id]) {
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
fn places<R>(actors: &[Actor<R>]) -> Vec<Vec<(usize, usize)>> {
    let of_sender = |(actor, id): (&Actor<R>, u32)| {
        let place = |&reader: &u32| {
            let senders = &actors[reader as usize].senders;
            let nth = senders.iter().position(|sender| sender.0 == id);
            (reader as usize, nth.expect("an edge has two ends"))
        };
        actor.readers.iter().map(place).collect()
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
        let mut places = actors.into_iter().zip(channels).zip(0usize..);
        let own = places.next();
        // Its senders are in the threads: it is closed once all have ended.
        let (running, ends) = mpsc::sync_channel::<()>(0);
        let others: Vec<_> = places
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
    let to: Vec<Vec<_>> = (places(actors).iter())
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
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    const END: u64 = 60;

    /// Tokens that go from region to region: each is due at a time, and goes on after the lookahead of an edge.
    #[derive(Debug)]
    struct Toy {
        id: u32,
        /// Lookahead to each region; 0 for no edge.
        edges: Vec<u64>,
        due: BinaryHeap<Reverse<(u64, u32)>>,
        leaving: Vec<Vec<(u64, u32)>>,
        acted: u64,
        /// Time and token of all that happened here.
        log: Vec<(u64, u32)>,
        most_a_turn: usize,
        promises_too_much: u64,
        panics_at: u64,
    }

    impl Toy {
        /// Where a token goes next.
        fn next(&self, at: u64, token: u32) -> Option<usize> {
            let first = (at as usize + token as usize) % self.edges.len();
            let all = (0..self.edges.len()).map(|nth| (first + nth) % self.edges.len());
            all.into_iter().find(|&to| self.edges[to] > 0)
        }
    }

    impl Region for Toy {
        type Batch = Vec<(u64, u32)>;

        fn take(&mut self, _: u32, batch: Self::Batch) {
            for (at, token) in batch {
                assert!(at >= self.acted, "{at} is before {}", self.acted);
                self.due.push(Reverse((at, token)));
            }
        }

        fn act(&mut self, limit: SimTime) -> (SimTime, u64) {
            let mut left = self.most_a_turn;
            while let Some(&Reverse((at, token))) = self.due.peek()
                && at < limit.0.min(END)
            {
                if left == 0 {
                    self.acted = at;
                    return (SimTime(at), self.log.len() as u64);
                }
                left -= 1;
                self.due.pop();
                assert!(at < self.panics_at, "as the test has it");
                self.log.push((at, token));
                if let Some(to) = self.next(at, token) {
                    let then = at + self.edges[to];
                    match to == self.id as usize {
                        true => self.due.push(Reverse((then, token))),
                        false => self.leaving[to].push((then, token)),
                    }
                }
            }
            self.acted = limit.0.min(END);
            let is_over = limit.0 >= END;
            let clock = if is_over { SimTime::NEVER } else { limit };
            (clock, self.log.len() as u64)
        }

        fn give(&mut self, to: u32) -> (Self::Batch, SimTime) {
            let lookahead = self.edges[to as usize] + self.promises_too_much;
            let batch = std::mem::take(&mut self.leaving[to as usize]);
            (batch, SimTime(self.acted + lookahead))
        }
    }

    /// Toys by their lookaheads to each other, with a token of its number at time 0 in each.
    fn toys(lookaheads: &[Vec<u64>]) -> (Vec<Toy>, Vec<Edge>) {
        let count = lookaheads.len();
        let toy = |(edges, id): (&Vec<u64>, u32)| Toy {
            id,
            edges: edges.clone(),
            due: BinaryHeap::from([Reverse((0, id))]),
            leaving: vec![Vec::new(); count],
            acted: 0,
            log: Vec::new(),
            most_a_turn: usize::MAX,
            promises_too_much: 0,
            panics_at: u64::MAX,
        };
        let toys: Vec<Toy> = lookaheads.iter().zip(0..).map(toy).collect();
        let edges = toys.iter().flat_map(|toy| {
            let own = toy.edges.iter().zip(0..);
            own.filter(|&(&lookahead, to)| lookahead > 0 && to != toy.id)
                .map(|(&lookahead, to)| Edge {
                    from: toy.id,
                    to,
                    lookahead: SimTime(lookahead),
                })
        });
        let edges = edges.collect();
        (toys, edges)
    }

    fn logs(toys: &[Toy]) -> Vec<Vec<(u64, u32)>> {
        toys.iter().map(|toy| toy.log.clone()).collect()
    }

    /// All tokens from one heap.
    fn simulated_as_one(toys: &[Toy]) -> Vec<Vec<(u64, u32)>> {
        let mut due: BinaryHeap<_> = (toys.iter())
            .map(|toy| Reverse((0, toy.id, toy.id as usize)))
            .collect();
        let mut logs = vec![Vec::new(); toys.len()];
        while let Some(Reverse((at, token, place))) = due.pop()
            && at < END
        {
            logs[place].push((at, token));
            if let Some(to) = toys[place].next(at, token) {
                due.push(Reverse((at + toys[place].edges[to], token, to)));
            }
        }
        logs
    }

    fn ring(count: usize) -> Vec<Vec<u64>> {
        let edges = |id: usize| {
            let to = |to: usize| {
                if to == (id + 1) % count {
                    3 + id as u64
                } else {
                    0
                }
            };
            (0..count).map(to).collect()
        };
        (0..count).map(edges).collect()
    }

    fn go_on(_: SimTime) -> bool {
        true
    }

    #[test]
    fn two_regions_that_pass_one_token_to_and_fro_have_all_work_on_one_path() {
        let (mut regions, edges) = toys(&[vec![0, 10], vec![20, 0]]);
        regions[1].due.clear();
        let ended = run_in_loop(regions, &edges, &mut go_on).expect("nobody cancels");
        // 0 -> 10 -> 30 -> 40; the next is due at 60, the end.
        assert_eq!(
            logs(&ended.regions),
            [[(0, 0), (30, 0)], [(10, 0), (40, 0)]]
        );
        assert_eq!(ended.work.iter().map(|work| work.units).sum::<u64>(), 4);
        assert_eq!(ended.path.units, 4);
    }

    #[test]
    fn regions_that_nobody_sends_to_share_no_path() {
        let (regions, edges) = toys(&[vec![1, 0], vec![0, 2]]);
        let ended = run_in_loop(regions, &edges, &mut go_on).expect("nobody cancels");
        let units: Vec<u64> = ended.work.iter().map(|work| work.units).collect();
        assert_eq!((units, ended.path.units), (vec![60, 30], 60));
    }

    #[test]
    #[should_panic(expected = "is before")]
    fn a_promise_too_high_ends_the_run() {
        let (mut regions, edges) = toys(&[vec![0, 3], vec![4, 0]]);
        regions[0].promises_too_much = 2;
        let _ = run_in_loop(regions, &edges, &mut go_on);
    }

    #[test]
    fn a_cancelled_loop_says_how_far_it_has_come() {
        let (regions, edges) = toys(&ring(3));
        let mut asked = 0;
        let mut progress = |_| {
            asked += 1;
            asked < 3
        };
        let ended = run_in_loop(regions, &edges, &mut progress);
        let cancelled = ended.expect_err("it was cancelled");
        assert!(
            cancelled > SimTime::ZERO && cancelled < SimTime(END),
            "{cancelled}"
        );
    }

    proptest! {
        #[test]
        fn turns_leave_what_one_list_of_events_does(
            (count, lookaheads) in (1usize..5).prop_flat_map(|count| {
                (Just(count), prop::collection::vec(prop::collection::vec(0u64..9, count), count))
            }),
            most_a_turn in 1usize..4,
        ) {
            let (mut regions, edges) = toys(&lookaheads);
            regions.iter_mut().for_each(|toy| toy.most_a_turn = most_a_turn);
            let one = simulated_as_one(&regions);
            let ended = run_in_loop(regions, &edges, &mut go_on).expect("nobody cancels");
            prop_assert_eq!(ended.regions.len(), count);
            let units: u64 = ended.work.iter().map(|work| work.units).sum();
            let largest = ended.work.iter().map(|work| work.units).max().unwrap_or(0);
            prop_assert!(largest <= ended.path.units && ended.path.units <= units);
            prop_assert_eq!(logs(&ended.regions), one);
        }
    }

    /// Tries schedules of threads, at random and by priorities that change a few times.
    fn under_many_schedules(test: impl Fn() + Send + Sync + Clone + 'static) {
        shuttle::check_random(test.clone(), 300);
        shuttle::check_pct(test, 300, 3);
    }

    type Run =
        fn(Vec<Toy>, &[Edge], &mut dyn FnMut(SimTime) -> bool) -> Result<Finished<Toy>, SimTime>;

    #[test]
    fn threads_leave_what_the_loop_does_under_any_schedule() {
        for lookaheads in [
            ring(3),
            vec![vec![0, 5, 2], vec![7, 0, 0], vec![0, 3, 0]],
            // The last region is not sent to, and the first one not waited for.
            vec![vec![2, 0, 0], vec![3, 0, 4], vec![0, 1, 0]],
        ] {
            under_many_schedules(move || {
                let run = |run: Run| {
                    let (mut regions, edges) = toys(&lookaheads);
                    regions.iter_mut().for_each(|toy| toy.most_a_turn = 2);
                    let ended = run(regions, &edges, &mut go_on);
                    let ended = ended.expect("nobody cancels");
                    let units = ended.work.iter().map(|work| work.units);
                    let work: Vec<u64> = units.chain([ended.path.units, ended.turns]).collect();
                    (logs(&ended.regions), work)
                };
                assert_eq!(run(run_in_threads), run(run_in_loop));
            });
        }
    }

    #[test]
    fn threads_end_when_the_caller_cancels_under_any_schedule() {
        for after in [0, 1, 4] {
            under_many_schedules(move || {
                let (regions, edges) = toys(&ring(3));
                let mut asked = 0;
                let mut progress = |_| {
                    asked += 1;
                    asked <= after
                };
                let ended = run_in_threads(regions, &edges, &mut progress);
                assert!(ended.expect_err("it was cancelled") < SimTime(END));
            });
        }
    }

    #[test]
    fn threads_end_when_a_region_panics_under_any_schedule() {
        for id in 0..3 {
            under_many_schedules(move || {
                let (mut regions, edges) = toys(&ring(3));
                regions[id].panics_at = 20;
                let run = || run_in_threads(regions, &edges, &mut go_on).map(|_| ());
                let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("a region panics");
                let text = panic.downcast_ref::<&str>().expect("a text");
                assert_eq!(*text, "as the test has it");
            });
        }
    }
}
