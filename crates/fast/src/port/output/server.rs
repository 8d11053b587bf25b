//! The server of a port whose queues share the link: who is sent when.
//!
//! One queue holds the cells of frames; of the others every cell is known beforehand, for cell
//! sources react to nothing, but for whether it finds its queue full: the choices before it say so. So a frame's cell has its departure as soon as it has been accepted:
//! until then its queue has cells, and nothing that comes later changes what is served before. The
//! server serves cell by cell, in one loop without events, and many at once where the scheduler's
//! choices repeat ([`pattern`]).

use crate::burst::Burst;
use crate::burst::input_burst::Moment;
use crate::link::lossy::{Draws, LossyLink};
use crate::port::cell_source::{OpenLoopSource, Waiting, WaitingBurst};
use skycell_records::{ClassQueueRecord, Discards, QueueIntegral, QueueRecord, QueueSamples};
use skycell_spec::PortSpec;
use skycell_switch::{Backlog, Scheduler, Schedules};
use skycell_units::SimTime;

mod pattern;

use pattern::ServicePattern;

/// A queue of cell sources.
#[derive(Debug, Default)]
struct CellQueue {
    class: Option<&'static str>,
    waiting: Waiting,
    /// Cells in the queue, the one under transmission included.
    length: u32,
    max: u32,
    integral: QueueIntegral,
    samples: QueueSamples,
}

/// The server.
#[derive(Debug)]
pub(crate) struct Server {
    cell_time: u64,
    end: u64,
    scheduler: Scheduler,
    /// Index of the queue that holds the cells of frames.
    frame_queue: usize,
    queues: Vec<CellQueue>,
    pub(crate) cell_sources: Vec<OpenLoopSource>,
    /// The next arrival of a cell of a source, and its source.
    next: Option<(Moment, u32)>,
    /// When the link becomes free: the next choice.
    free: u64,
    /// The queue of a source whose cell leaves then.
    serving: Option<usize>,
    /// The pattern that there is, and whose choices before `free` have not been booked.
    pattern: Option<ServicePattern>,
    /// Cells served one by one.
    pub(crate) served: u64,
    /// How many of them before choices that repeat are sought again.
    no_period_before: u64,
    /// Cells that sources lost in full queues, since they were last taken: when, and the VC; none where nobody asks
    /// for them.
    pub(crate) losses: Option<Vec<(Moment, u32)>>,
    /// Of a link that loses frames and carries cells of sources; none where nobody's draws are among those of frames.
    pub(crate) draws: Option<Draws>,
}

impl Server {
    /// The server of a port that cells of these sources cross; frames use the queue `frame_queue`.
    pub(crate) fn new(
        port: &PortSpec,
        cell_time: u64,
        frame_queue: usize,
        cell_sources: Vec<OpenLoopSource>,
        end: SimTime,
        notes_losses: bool,
    ) -> Self {
        let queues = port.queues.iter().map(|queue| CellQueue {
            class: queue.class.map(|class| class.name()),
            waiting: Waiting::new(cell_time),
            ..CellQueue::default()
        });
        let mut server = Server {
            cell_time,
            end: end.0,
            scheduler: Scheduler::new(&port.scheduler),
            frame_queue,
            queues: queues.collect(),
            cell_sources,
            next: None,
            free: 0,
            serving: None,
            pattern: None,
            served: 0,
            no_period_before: 0,
            losses: notes_losses.then(Vec::new),
            draws: None,
        };
        server.find_next();
        server
    }

    /// The link loses frames: where cells of sources have draws, all of them are made here, choice by choice.
    pub(crate) fn lose_frames(&mut self, lossy: &mut LossyLink) {
        if !self.cell_sources.is_empty() {
            self.draws = lossy.take_draws();
            self.cell_sources
                .iter_mut()
                .for_each(OpenLoopSource::lose_cells);
        }
    }

    /// Returns whether a cell that came by `time` came before the next choice.
    pub(crate) fn is_busy_beyond(&self, time: SimTime) -> bool {
        self.free > time.0
    }

    /// Choices from the next one on that are made before any other cell comes, if the link is idle; the
    /// first is that of a cell that is there.
    pub(crate) fn undisturbed(&self) -> u64 {
        self.next.map_or(u64::MAX, |(arrival, _)| {
            let wait = arrival.time.0 - self.free;
            wait.saturating_sub(1) / self.cell_time + 1
        })
    }

    /// Serves one or more of `cells` cells of frames that are there at the next choice, or become so as
    /// soon as any of them can be chosen: when they leave.
    pub(crate) fn serve(&mut self, cells: u64) -> Burst {
        loop {
            if let Some(departures) = self.serve_pattern(cells) {
                return departures;
            }
            self.end_pattern();
            self.come_to_choice();
            if self.begin_pattern(true) {
                continue;
            }
            let backlog = self.backlog() | 1 << self.frame_queue;
            let chosen = self.scheduler.select(Backlog(backlog));
            if chosen == self.frame_queue {
                self.free += self.cell_time;
                self.served += 1;
                return Burst::new(SimTime(self.free), SimTime(self.cell_time), 1);
            }
            self.send(chosen);
        }
    }

    /// Makes all choices before `moment`, at which a cell of a frame comes or the state is looked
    /// at; all cells of frames that came before have been served.
    pub(crate) fn serve_others_until(&mut self, moment: Moment) {
        self.end_pattern();
        while moment.time.0 >= self.free {
            self.come_to_choice();
            let backlog = self.backlog();
            if backlog != 0 {
                if self.begin_pattern(false) {
                    self.pass_pattern(moment.time.0);
                    continue;
                }
                let chosen = self.scheduler.select(Backlog(backlog));
                self.send(chosen);
                continue;
            }
            // The link falls idle, until somebody's next cell begins at once.
            match self.next {
                Some((arrival, _)) if arrival < moment => {
                    self.free = arrival.time.0;
                    if self.pass_in_time(moment.time.0) {
                        continue;
                    }
                    self.accept_next();
                    let chosen = self.scheduler.select(Backlog(self.backlog()));
                    self.send(chosen);
                }
                _ => {
                    self.free = moment.time.0;
                    return;
                }
            }
        }
    }

    /// Brings everything but cells of frames up to `time`: departures up to it, arrivals before it.
    pub(crate) fn advance(&mut self, time: SimTime) {
        self.serve_others_until(Moment { time, link: 0 });
        self.accept_before(time.0);
    }

    /// Ends the run: what can happen before its end has happened.
    pub(crate) fn finish(&mut self) {
        self.advance(SimTime(self.end));
        self.cell_sources
            .iter_mut()
            .for_each(OpenLoopSource::finish);
    }

    /// The link becomes free: what came before is in the queues, and the cell sent has left.
    fn come_to_choice(&mut self) {
        self.accept_before(self.free);
        if let Some(queue) = self.serving.take() {
            self.queues[queue].length -= 1;
        }
    }

    fn backlog(&self) -> u32 {
        let has_cells = self.queues.iter().zip(0u32..);
        has_cells.fold(0, |bits, (queue, q)| {
            bits | u32::from(queue.waiting.cells() > 0) << q
        })
    }

    fn send(&mut self, queue: usize) {
        self.free += self.cell_time;
        self.served += 1;
        self.serving = Some(queue);
        let here = &mut self.queues[queue];
        let WaitingBurst {
            left, cell_source, ..
        } = here.waiting.pop(1);
        if self.free < self.end {
            here.integral.departed(u128::from(self.free));
        }
        let cell_source = &mut self.cell_sources[cell_source as usize];
        if self.draws.as_mut().is_some_and(Draws::next_is_lost) {
            cell_source.on_loss(self.free);
        } else {
            cell_source.on_departure(left, self.free);
        }
    }

    fn accept_before(&mut self, time: u64) {
        while self.next.is_some_and(|(arrival, _)| arrival.time.0 < time) {
            self.accept_next();
        }
    }

    fn accept_next(&mut self) {
        let (arrival, at) = self.next.expect("a cell is coming");
        let cell_source = &mut self.cell_sources[at as usize];
        let arriving = cell_source.next.expect("it is the stream's next");
        let queue = &mut self.queues[cell_source.plan.queue];
        if let Err(is_in_time) = cell_source.offer(queue.length) {
            if let Some(losses) = self.losses.as_mut().filter(|_| is_in_time) {
                losses.push((arrival, cell_source.plan.vc));
            }
            cell_source.send();
            return self.find_next();
        }
        cell_source.arrivals.push(arrival.time.0);
        queue.waiting.push(WaitingBurst {
            left: arriving.left,
            cells: 1,
            cell_source: at,
        });
        queue.length += 1;
        if arrival.time.0 < self.end {
            queue.integral.arrived(u128::from(arrival.time.0));
            queue.max = queue.max.max(queue.length);
        }
        cell_source.send();
        self.find_next();
    }

    fn find_next(&mut self) {
        let arriving = self
            .cell_sources
            .iter()
            .zip(0u32..)
            .filter_map(|(cell_source, at)| {
                let arriving = cell_source.next?;
                let moment = Moment {
                    time: SimTime(arriving.arrival),
                    link: cell_source.plan.own_port,
                };
                Some((moment, at))
            });
        self.next = arriving.min();
    }

    fn sources_of(&self, queue: usize) -> impl Iterator<Item = &OpenLoopSource> {
        let cell_sources = self.cell_sources.iter();
        cell_sources.filter(move |cell_source| cell_source.plan.queue == queue)
    }

    /// Cells of sources in the port at `now`, after [`Server::advance`] to it.
    pub(crate) fn queued(&self, now: SimTime) -> u32 {
        self.cell_sources
            .iter()
            .map(|cell_source| cell_source.queued(now.0))
            .sum()
    }

    /// Samples the length of each queue at `now`, of which the frames' has departed and holds
    /// `frame_queue` cells; reports queue, cells departed and length.
    pub(crate) fn sample(
        &mut self,
        now: SimTime,
        frame_queue: (u64, u32),
        report: &mut dyn FnMut(u32, u64, u32),
    ) {
        for q in 0..self.queues.len() {
            let (departed, length) = if q == self.frame_queue {
                frame_queue
            } else {
                let departed = self.sources_of(q).map(|s| s.departures.up_to(now.0)).sum();
                (departed, self.sources_of(q).map(|s| s.queued(now.0)).sum())
            };
            self.queues[q].samples.add(length);
            report(q as u32, departed, length);
        }
        self.cell_sources
            .iter_mut()
            .for_each(|cell_source| cell_source.forget_before(now.0));
    }

    /// The first departure of a cell of a source at the end of the run or after it.
    pub(crate) fn first_departure_after_end(&self) -> Option<u64> {
        let cell_sources = self.cell_sources.iter();
        cell_sources
            .filter_map(|s| s.departures.first_from(self.end))
            .min()
    }

    /// The records of all queues, given that of the frames' but for its class and samples, and the
    /// integral of all but that.
    pub(crate) fn records(
        &self,
        mut frame_queue: ClassQueueRecord,
    ) -> (Vec<ClassQueueRecord>, QueueIntegral) {
        let mut records = Vec::new();
        let mut integral = QueueIntegral::default();
        for (q, queue) in self.queues.iter().enumerate() {
            if q == self.frame_queue {
                frame_queue.class = queue.class;
                frame_queue.queue = QueueRecord::new(
                    frame_queue.queue.mean,
                    frame_queue.queue.max,
                    &queue.samples,
                );
                records.push(frame_queue.clone());
                continue;
            }
            let arrived: u64 = self.sources_of(q).map(OpenLoopSource::arrived).sum();
            let discarded = self.sources_of(q).map(|cell_source| cell_source.discarded);
            let discarded = discarded.fold(Discards::default(), |all, more| all.and(&more));
            let departed: u64 = self
                .sources_of(q)
                .map(|s| s.departures.before(self.end))
                .sum();
            integral = integral.and(queue.integral);
            let queued = arrived - discarded.total() - departed;
            let mean = queue.integral.mean(queued, self.end);
            records.push(ClassQueueRecord {
                class: queue.class,
                arrived,
                departed,
                queued,
                discarded,
                frames_discarded: discarded,
                queue: QueueRecord::new(mean, queue.max, &queue.samples),
                octets: None,
            });
        }
        (records, integral)
    }
}
