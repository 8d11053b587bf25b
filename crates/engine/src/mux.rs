//! A switch port at which cells of several trains are multiplexed.
//!
//! Between two frame events the set of arriving trains is constant, so counts come from divisions.
//! Where a buffer may overflow within the interval, or a train is slower than the port (so that the
//! port may fall idle between its cells), the interval is stepped cell by cell.

use crate::arrivals::{ArrivalLog, Moment, Train};
use crate::inputs::{Due, Inputs, Next};
use crate::occupancy::MuxVc;
use skycell_records::{DiscardReason, Discards, QueueIntegral, QueueSamples};
use skycell_spec::LinkSpec;
use skycell_switch::{BufferPolicy, BufferView, Policy};
use skycell_units::SimTime;
use std::collections::VecDeque;

/// Events between two clean-ups of the logs.
const EVENTS_PER_TRIM: usize = 64;

/// A frame whose cells are arriving and may be taken in.
#[derive(Clone, Copy, Debug)]
struct Arriving {
    train: Train,
    /// Cells still to come.
    left: u32,
    frame: u32,
    /// Cells taken in.
    taken_in: u32,
}

/// A frame of which no more will come, and what became of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) frame: u32,
    /// VC id.
    pub(crate) vc: u32,
    pub(crate) fate: Fate,
}

/// What became of a frame when its last cell came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Its last cell was taken in and leaves then; `whole` if downstream reassembles the frame.
    Ends {
        departure: SimTime,
        /// Cells of the reassembly that it ends.
        cells: u32,
        whole: bool,
    },
    /// Its last cell was discarded.
    Lost,
}

/// A cell that was discarded, for the trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstLoss {
    pub(crate) moment: Moment,
    pub(crate) frame: u32,
    pub(crate) reason: DiscardReason,
}

/// The port.
#[derive(Debug)]
pub(crate) struct MuxPort {
    cell_time: u64,
    end: SimTime,
    capacity: u64,
    policy: Policy,
    counts_vcs: bool,
    pub(crate) vcs: Vec<MuxVc>,
    pub(crate) log: ArrivalLog,
    pub(crate) inputs: Inputs,
    arriving: Vec<Arriving>,
    /// Trains among them that are slower than the port.
    slower: u32,
    /// Frames of which only the last cell may still be taken in, by link.
    refused: Vec<(u32, u32)>,
    /// Arrivals up to here have been dealt with.
    now: Moment,
    /// How long after a cell's departure somebody may ask for it.
    horizon: SimTime,
    until_trim: usize,
    /// Tails by the time at which they leave, for the count of active VCs.
    tails: VecDeque<(SimTime, u32)>,
    /// Places of the VCs that wait for a boundary.
    open: Vec<u32>,
    /// By place: tails in the port.
    tails_of: Vec<u32>,
    with_tails: u32,
    /// Sum of the policy's weights of the VCs with tails.
    weight_with_tails: u64,
    pub(crate) arrived: u64,
    /// Cells that left, after `finish`.
    pub(crate) departed: u64,
    pub(crate) discarded: Discards,
    pub(crate) frames_discarded: Discards,
    pub(crate) integral: QueueIntegral,
    pub(crate) queue_max: u64,
    pub(crate) samples: QueueSamples,
    pub(crate) stepped: u64,
    /// First losses of frames since they were last taken, in order; none where nobody asks for them.
    pub(crate) losses: Option<Vec<FirstLoss>>,
    /// Least time from a frame's hand-over at its source to its head's coming here.
    pub(crate) lead: SimTime,
    /// Least time from a cell's coming here to its arrival at the end of its VC.
    pub(crate) slack: SimTime,
    /// Least time from a frame's arrival at the end of its VC to a hand-over of another that comes here
    /// and that the first one may have led to.
    pub(crate) returns: SimTime,
    /// When the port is to act next.
    pub(crate) wakes_at: Option<SimTime>,
}

impl MuxPort {
    pub(crate) fn new(link: &LinkSpec, seed: u64, end: SimTime, notes_losses: bool) -> Self {
        let queue = &link.port.queues[0];
        let policy = Policy::new(&queue.policy, seed, &link.name);
        MuxPort {
            cell_time: link.cell_time_ps,
            end,
            capacity: u64::from(queue.capacity_cells.unwrap_or(u32::MAX)),
            counts_vcs: policy.counts_vcs(),
            policy,
            vcs: Vec::new(),
            log: ArrivalLog::new(link.cell_time_ps),
            inputs: Inputs::default(),
            arriving: Vec::new(),
            slower: 0,
            refused: Vec::new(),
            now: Moment {
                time: SimTime::ZERO,
                link: 0,
            },
            horizon: SimTime::ZERO,
            until_trim: EVENTS_PER_TRIM,
            tails: VecDeque::new(),
            open: Vec::new(),
            tails_of: Vec::new(),
            with_tails: 0,
            weight_with_tails: 0,
            arrived: 0,
            departed: 0,
            discarded: Discards::default(),
            frames_discarded: Discards::default(),
            integral: QueueIntegral::default(),
            queue_max: 0,
            samples: QueueSamples::default(),
            stepped: 0,
            losses: notes_losses.then(Vec::new),
            lead: SimTime::NEVER,
            slack: SimTime::NEVER,
            returns: SimTime::NEVER,
            wakes_at: None,
        }
    }

    /// Lets VC `vc` cross the port. `lead` after its hand-over a frame's first cell comes at the
    /// earliest; `horizon` after they have left its cells are at the end of their VC.
    pub(crate) fn add_vc(&mut self, vc: u32, lead: SimTime, horizon: SimTime) -> u32 {
        self.vcs.push(MuxVc::new(vc));
        self.tails_of.push(0);
        self.horizon = self.horizon.max(horizon);
        self.lead = self.lead.min(lead);
        self.slack = self.slack.min(horizon + SimTime(self.cell_time));
        self.vcs.len() as u32 - 1
    }

    /// X at `time`, its departures done; arrivals up to there must have been dealt with.
    pub(crate) fn queued(&self, time: SimTime) -> u64 {
        self.log.taken_in() - self.log.departed(time)
    }

    /// Deals with heads and tails before `limit` until a frame has ended.
    pub(crate) fn next_end(&mut self, limit: SimTime) -> Option<Ended> {
        loop {
            let (next, lane, moment, due) = self.inputs.next_before(limit)?;
            let fate = match next {
                Next::Tail => self.on_tail(moment, &due),
                Next::Head => {
                    let spacing = self.inputs.lane(lane).spacing;
                    if self.on_head(moment, &due, spacing) {
                        self.inputs.await_tail(lane);
                        continue;
                    }
                    Fate::Lost
                }
                Next::Whole => {
                    let lane = self.inputs.lane(lane);
                    self.on_frame(moment, lane.tail(&due), lane.spacing, &due)
                }
            };
            self.inputs.pop(lane);
            return Some(Ended {
                frame: due.frame,
                vc: self.vcs[due.place as usize].vc,
                fate,
            });
        }
    }

    /// A frame comes, from its head at `moment` to its tail; no other head or tail comes meanwhile.
    fn on_frame(&mut self, moment: Moment, tail: SimTime, spacing: SimTime, due: &Due) -> Fate {
        let queued = self.begin_frame(moment, due.place, due.cells == 1);
        let tail = Moment {
            time: tail,
            link: moment.link,
        };
        let vc = &self.vcs[due.place as usize];
        let is_alone = self.arriving.is_empty() && self.refused.is_empty();
        let cells = u64::from(due.cells);
        let has_room = queued + cells <= self.capacity;
        if vc.discarding.is_none() && is_alone && has_room && spacing.0 <= self.cell_time {
            self.take_in_frame(moment, queued, tail, spacing, due);
            return self.end_of_reassembly(due.place, due.cells, due.cells);
        }
        if self.take_in_head(moment, queued, due, spacing) {
            self.on_tail(tail, due)
        } else {
            Fate::Lost
        }
    }

    /// The only train there is comes in a stretch, and all of it is taken in.
    fn take_in_frame(
        &mut self,
        head: Moment,
        queued: u64,
        tail: Moment,
        spacing: SimTime,
        due: &Due,
    ) {
        let train = Train {
            next: head.time.0,
            spacing: spacing.0,
            link: head.link,
            place: due.place,
        };
        let cells = u64::from(due.cells);
        self.log.close_piece();
        if queued == 0 {
            self.log.begin_busy(head.time);
        }
        if queued + cells > self.queue_max {
            let peak = self.peak(tail, std::iter::once(train));
            self.queue_max = self.queue_max.max(peak);
        }
        self.now = tail;
        self.arrived += cells;
        self.log.take_in_trains(cells, std::iter::once(train));
        self.log.close_piece();
        self.integral.arrived(arrival_times(&train, cells));
        let vc = &mut self.vcs[due.place as usize];
        vc.take_in(train.next, train.spacing, cells, train.link);
        self.note_boundary(due.place, true);
    }

    /// The first cell of a frame comes at `moment`. False when nothing of the frame can be taken in,
    /// so that its last cell is of no interest.
    fn on_head(&mut self, moment: Moment, due: &Due, spacing: SimTime) -> bool {
        let queued = self.begin_frame(moment, due.place, due.cells == 1);
        self.take_in_head(moment, queued, due, spacing)
    }

    /// The first cell of a frame on which the policy has decided.
    fn take_in_head(&mut self, moment: Moment, queued: u64, due: &Due, spacing: SimTime) -> bool {
        let (frame, place, cells) = (due.frame, due.place, due.cells);
        let taken_in = self.offer(moment, queued, frame, place, cells == 1);
        let vc = &self.vcs[place as usize];
        if vc.discarding.is_some() {
            if cells > 1 {
                let has_end = vc.awaits_boundary || self.policy.keeps_last_cells();
                let middle = cells - 1 - u32::from(has_end);
                self.discard_middle(moment, place, middle, spacing);
                if has_end {
                    self.refused.push((moment.link, u32::from(taken_in)));
                    return true;
                }
            }
            return cells == 1;
        }
        if cells > 1 {
            self.log.close_piece();
            self.slower += u32::from(spacing.0 > self.cell_time);
            self.arriving.push(Arriving {
                train: Train {
                    next: moment.time.0 + spacing.0,
                    spacing: spacing.0,
                    link: moment.link,
                    place,
                },
                left: cells - 1,
                frame,
                taken_in: u32::from(taken_in),
            });
        }
        true
    }

    /// The last cell of a frame comes at `moment`; a frame of one cell has its head and tail at once.
    fn on_tail(&mut self, moment: Moment, due: &Due) -> Fate {
        let (frame, place, cells) = (due.frame, due.place, due.cells);
        let (taken_in, has_end) = if cells == 1 {
            let has_end = self.vcs[place as usize].taken_in_last(moment);
            (u32::from(has_end), has_end)
        } else {
            self.advance(moment);
            self.end_arriving(moment, frame, place)
        };
        if has_end {
            return self.end_of_reassembly(place, taken_in, cells);
        }
        self.vcs[place as usize].open_cells += taken_in;
        Fate::Lost
    }

    /// The last cell of a frame was taken in just now, as were `taken_in` of its `cells` cells.
    fn end_of_reassembly(&mut self, place: u32, taken_in: u32, cells: u32) -> Fate {
        let vc = &mut self.vcs[place as usize];
        let reassembly = vc.open_cells + taken_in;
        let whole = vc.open_cells == 0 && taken_in == cells;
        vc.open_cells = 0;
        let departure = self.log.last_departure();
        if self.counts_vcs {
            self.tails.push_back((departure, place));
            if self.tails_of[place as usize] == 0 {
                self.with_tails += 1;
                self.weight_with_tails += self.policy.weight(vc.vc);
            }
            self.tails_of[place as usize] += 1;
        }
        Fate::Ends {
            departure,
            cells: reassembly,
            whole,
        }
    }

    /// Ends the train on the link; returns how many of its cells were taken in, and whether the last
    /// one was.
    fn end_arriving(&mut self, moment: Moment, frame: u32, place: u32) -> (u32, bool) {
        let at = self
            .arriving
            .iter()
            .position(|a| a.train.link == moment.link);
        if let Some(at) = at {
            let ended = self.arriving.swap_remove(at);
            debug_assert_eq!(ended.left, 0);
            self.slower -= u32::from(ended.train.spacing > self.cell_time);
            self.log.close_piece();
            let vc = &self.vcs[place as usize];
            return (
                ended.taken_in,
                !vc.awaits_boundary && vc.taken_in_last(moment),
            );
        }
        let at = self.refused.iter().position(|r| r.0 == moment.link);
        let (_, before) = self
            .refused
            .swap_remove(at.expect("the frame was under discard"));
        let queued = self.queued(moment.time);
        let has_end = self.offer(moment, queued, frame, place, true);
        (before + u32::from(has_end), has_end)
    }

    /// The first cell of a frame comes at `moment`: the policy decides. Returns X.
    fn begin_frame(&mut self, moment: Moment, place: u32, is_last: bool) -> u64 {
        self.advance(moment);
        self.trim(moment.time);
        let queued = self.queued(moment.time);
        let vc = &mut self.vcs[place as usize];
        vc.has_lost = false;
        if self.policy.takes_all() || is_last && self.policy.keeps_last_cells() {
            vc.discarding = None;
            return queued;
        }
        let mut view = BufferView {
            queued: queued as u32,
            vc_queued: 0,
            active_vcs: 0,
            active_weight: 0,
            capacity: self.capacity as u32,
            is_tagged: false,
        };
        if self.counts_vcs && self.policy.looks_at_vcs(view.queued) {
            self.count_vcs(moment.time, place, &mut view);
        }
        let vc = &mut self.vcs[place as usize];
        vc.discarding = self.policy.on_frame(vc.vc, &view);
        queued
    }

    fn count_vcs(&mut self, time: SimTime, place: u32, view: &mut BufferView) {
        while let Some(&(departure, place)) = self.tails.front()
            && departure <= time
        {
            self.tails.pop_front();
            self.tails_of[place as usize] -= 1;
            if self.tails_of[place as usize] == 0 {
                self.with_tails -= 1;
                self.weight_with_tails -= self.policy.weight(self.vcs[place as usize].vc);
            }
        }
        let last = self.last_departed(time);
        view.vc_queued = self.vc_queued_after(last, place);
        // VCs with a tail in the port have cells in it; of the others, those that are in the midst
        // of a frame, or whose frame lost its last cell.
        let others = self
            .open
            .iter()
            .filter(|&&p| self.tails_of[p as usize] == 0)
            .filter(|&&p| self.vc_queued_after(last, p) > 0);
        (view.active_vcs, view.active_weight) = others.fold(
            (self.with_tails, self.weight_with_tails),
            |(vcs, weight), &p| {
                (
                    vcs + 1,
                    weight + self.policy.weight(self.vcs[p as usize].vc),
                )
            },
        );
    }

    /// Where in the order of arrival the last cell lies that has left by `time`.
    fn last_departed(&self, time: SimTime) -> Option<Moment> {
        let departed = self.log.departed(time);
        Some(self.log.arrival(departed.checked_sub(1)?).0)
    }

    /// Cells of the VC that came after `last`.
    fn vc_queued_after(&self, last: Option<Moment>, place: u32) -> u32 {
        let vc = &self.vcs[place as usize];
        (vc.taken_in - last.map_or(0, |last| vc.taken_in_by(last))) as u32
    }

    /// Cells of the VC at `place` that left before `time`.
    pub(crate) fn departed_before(&self, time: SimTime, place: u32) -> u64 {
        let Some(last) = time.0.checked_sub(1) else {
            return 0;
        };
        let last = self.last_departed(SimTime(last));
        last.map_or(0, |last| self.vcs[place as usize].taken_in_by(last))
    }

    /// The last departure before `time`, and its VC's place.
    pub(crate) fn last_departure_before(&self, time: SimTime) -> Option<(SimTime, u32)> {
        let departed = self.log.departed(SimTime(time.0.checked_sub(1)?));
        let rank = departed.checked_sub(1)?;
        Some((self.log.departure(rank)?, self.log.arrival(rank).1))
    }

    /// Deals with all arrivals up to `moment`, that moment included, of frames whose head has come.
    pub(crate) fn advance(&mut self, moment: Moment) {
        let from = self.now.time;
        self.now = moment;
        if self.arriving.is_empty() {
            return;
        }
        // With room for one cell only, the port falls idle while a train goes on.
        if self.slower > 0 || self.capacity == 1 {
            return self.step(moment);
        }
        let count: u64 = self.arriving.iter().map(|a| a.train.count(moment)).sum();
        if count == 0 {
            return;
        }
        let before = self.queued(from);
        if before + count > self.queue_max {
            let peak = self.peak(moment, self.arriving.iter().map(|a| a.train));
            if peak > self.capacity {
                return self.step(moment);
            }
            self.queue_max = self.queue_max.max(peak);
        }
        self.arrived += count;
        self.log
            .take_in_trains(count, self.arriving.iter().map(|a| a.train));
        for arriving in &mut self.arriving {
            let count = arriving.train.count(moment);
            if count > 0 {
                let train = &mut arriving.train;
                let vc = &mut self.vcs[train.place as usize];
                vc.take_in(train.next, train.spacing, count, train.link);
                self.integral.arrived(arrival_times(train, count));
                train.next += count * train.spacing;
                arriving.left -= count as u32;
                arriving.taken_in += count as u32;
                if arriving.left == 0 {
                    vc.awaits_boundary = false;
                    self.open.retain(|&open| open != train.place);
                } else if !vc.awaits_boundary {
                    vc.awaits_boundary = true;
                    self.open.push(train.place);
                }
            }
        }
    }

    /// The longest queue on the way to `moment`, if nothing overflows.
    ///
    /// Trains no slower than the port bring at least one cell in each cell time, so the queue just
    /// before a departure never shrinks: the peak is before the last departure or at the end.
    fn peak(&self, moment: Moment, trains: impl Iterator<Item = Train> + Clone) -> u64 {
        let taken_in_by = |moment: Moment| -> u64 {
            let counts = trains.clone().map(|train| train.count(moment));
            self.log.taken_in() + counts.sum::<u64>()
        };
        // The trains keep the port busy, so departures go on at the present rhythm.
        let (departed, last) = self.log.departed_if_busy(moment.time);
        let at_end = taken_in_by(moment) - departed;
        let Some(before) = last.and_then(|last| last.0.checked_sub(1)) else {
            return at_end;
        };
        let moment = Moment {
            time: SimTime(before),
            link: u32::MAX,
        };
        at_end.max(taken_in_by(moment) + 1 - departed)
    }

    /// Deals with arrivals up to `moment` one by one.
    fn step(&mut self, moment: Moment) {
        // A cell that is lost here breaks the rhythm of the trains.
        self.log.close_piece();
        loop {
            let next = self.arriving.iter().enumerate().map(|(i, a)| {
                let at = Moment {
                    time: SimTime(a.train.next),
                    link: a.train.link,
                };
                (at, i)
            });
            let Some((at, i)) = next
                .filter(|(_, i)| self.arriving[*i].left > 0)
                .min()
                .filter(|(at, _)| *at <= moment)
            else {
                return;
            };
            let arriving = &mut self.arriving[i];
            arriving.left -= 1;
            arriving.train.next += arriving.train.spacing;
            let (frame, place) = (arriving.frame, arriving.train.place);
            let (left, spacing) = (arriving.left, arriving.train.spacing);
            self.stepped += 1;
            let queued = self.queued(at.time);
            let taken_in = self.offer(at, queued, frame, place, left == 0);
            self.arriving[i].taken_in += u32::from(taken_in);
            if self.vcs[place as usize].discarding.is_some() && left > 0 {
                // The rest is under discard, but its last cell, which ends what was taken in.
                let refused = self.arriving.swap_remove(i);
                self.slower -= u32::from(spacing > self.cell_time);
                self.log.close_piece();
                self.discard_middle(at, place, left - 1, SimTime(spacing));
                self.refused.push((at.link, refused.taken_in));
            }
        }
    }

    /// One cell comes at `moment` and finds `queued` cells.
    fn offer(
        &mut self,
        moment: Moment,
        queued: u64,
        frame: u32,
        place: u32,
        is_last: bool,
    ) -> bool {
        self.arrived += 1;
        let has_room = queued < self.capacity;
        let keeps_last = self.policy.keeps_last_cells();
        let vc = &mut self.vcs[place as usize];
        let reason = match vc.discarding {
            Some(_) if is_last && has_room && (vc.awaits_boundary || keeps_last) => None,
            Some(reason) => Some(reason),
            None if has_room => None,
            None => {
                if self.policy.has_partial_discard() {
                    vc.discarding = Some(DiscardReason::RestOfFrame);
                }
                Some(DiscardReason::Overflow)
            }
        };
        if let Some(reason) = reason {
            self.discarded.add(reason, 1);
            vc.discarded.add(reason, 1);
            if !std::mem::replace(&mut vc.has_lost, true) {
                self.frames_discarded.add(reason, 1);
                if let Some(losses) = &mut self.losses {
                    losses.push(FirstLoss {
                        moment,
                        frame,
                        reason,
                    });
                }
            }
            return false;
        }
        vc.take_in(moment.time.0, 1, 1, moment.link);
        self.note_boundary(place, is_last);
        self.integral.arrived(u128::from(moment.time.0));
        if queued == 0 {
            self.log.begin_busy(moment.time);
        }
        self.log.take_in_cell(moment, place);
        self.queue_max = self.queue_max.max(queued + 1);
        true
    }

    /// A cell of the VC at `place` was taken in: does downstream wait for a boundary now?
    fn note_boundary(&mut self, place: u32, is_last: bool) {
        let vc = &mut self.vcs[place as usize];
        if vc.awaits_boundary != is_last {
            return;
        }
        vc.awaits_boundary = !is_last;
        if is_last {
            self.open.retain(|&open| open != place);
        } else {
            self.open.push(place);
        }
    }

    /// `cells` cells after the one at `moment` are under discard; those that come before the run
    /// ends are counted.
    fn discard_middle(&mut self, moment: Moment, place: u32, cells: u32, spacing: SimTime) {
        let time_left = self.end.0 - 1 - moment.time.0;
        let count = u64::from(cells).min(time_left / spacing.0);
        let vc = &mut self.vcs[place as usize];
        let reason = vc.discarding.expect("the frame is under discard");
        self.arrived += count;
        self.discarded.add(reason, count);
        vc.discarded.add(reason, count);
    }

    /// Forgets what nobody will ask for.
    fn trim(&mut self, now: SimTime) {
        self.until_trim -= 1;
        if self.until_trim > 0 {
            return;
        }
        self.until_trim = EVENTS_PER_TRIM.max(self.vcs.len());
        let before = SimTime(now.0.saturating_sub(self.horizon.0 + self.cell_time));
        self.integral.departed(self.log.trim_busy(before));
        if let Some(needed) = self.log.trim(before) {
            for vc in &mut self.vcs {
                vc.forget(needed);
            }
        }
    }

    /// Deals with all arrivals before `time`.
    pub(crate) fn advance_before(&mut self, time: SimTime) {
        if let Some(last) = time.0.checked_sub(1) {
            self.advance(Moment {
                time: SimTime(last),
                link: u32::MAX,
            });
        }
    }

    /// Samples every VC's occupancy at `now`, and tells it; arrivals before `now` are dealt with.
    pub(crate) fn sample_vcs(&mut self, now: SimTime, tell: &mut dyn FnMut(u32, u32)) {
        let last = self.last_departed(now);
        for place in 0..self.vcs.len() as u32 {
            let cells = self.vc_queued_after(last, place);
            let vc = &mut self.vcs[place as usize];
            vc.samples.add(cells);
            tell(vc.vc, cells);
        }
    }

    /// Ends the run: books what leaves before its end.
    pub(crate) fn finish(&mut self) {
        self.advance_before(self.end);
        let last = SimTime(self.end.0 - 1);
        self.departed = self.log.departed(last);
        let from = self.log.first_busy_rank();
        self.integral
            .departed(self.log.departures_since(from, last));
    }

    /// Time during which a cell was under transmission, after `finish`, with `queued` cells left.
    pub(crate) fn busy(&self, queued: u64) -> SimTime {
        let whole = SimTime(self.departed * self.cell_time);
        if queued == 0 {
            return whole;
        }
        let departure = self.log.departure(self.departed);
        let departure = departure.expect("a queued cell's busy period is the present one");
        whole + (self.end + SimTime(self.cell_time) - departure)
    }
}

/// Sum of the times at which the first `count` cells of `train` come.
fn arrival_times(train: &Train, count: u64) -> u128 {
    let first = u128::from(train.next) * u128::from(count);
    let steps = u128::from(count * count.saturating_sub(1) / 2);
    first + steps * u128::from(train.spacing)
}
