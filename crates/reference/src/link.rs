//! A link: the cells under way on it, and how long they take.

use crate::bit_errors::Struck;
use crate::frames::Cell;
use crate::impairments::Impairments;
use crate::receivers::Receivers;
use skycell_channel::DelayVariation;
use skycell_records::{ErrorRecord, LossReason};
use skycell_spec::{LinkSpec, PacketFraming, ScheduleSpec};
use skycell_units::SimTime;
use std::collections::VecDeque;

/// One direction of a link.
#[derive(Debug)]
pub struct Link {
    delay: SimTime,
    cell_time: SimTime,
    /// How it carries packets, if it does.
    framing: Option<PacketFraming>,
    schedule: Option<Schedule>,
    receivers: Receivers,
    /// None for a link whose delay does not vary from packet to packet.
    variation: Option<Variation>,
    impairments: Impairments,
    /// The node that it leads to; the first one, if it leads to several.
    pub to: u32,
    /// In order of arrival: when and at which node.
    cells: VecDeque<(SimTime, u32, Cell)>,
    end_of_run: SimTime,
}

/// How the delay varies.
#[derive(Debug)]
struct Variation {
    delays: DelayVariation,
    /// When the last packet arrives of those so far.
    last_arrival: SimTime,
}

/// Where a link with a schedule stands.
#[derive(Debug)]
struct Schedule {
    spec: ScheduleSpec,
    /// By step: when its path was taken up by a handover, if it was.
    taken_up: Vec<Option<u64>>,
    /// By step: when its path is given up.
    given_up: Vec<SimTime>,
    /// By step: the step whose delay and loss hold in it, for a cell that enters as the path ends:
    /// itself or the last one with a path.
    known: Vec<usize>,
    /// The step in force when the last cell entered.
    step: usize,
    /// When the last cell on the present path arrives.
    last_arrival: SimTime,
}

impl Link {
    pub(crate) fn new(spec: &LinkSpec, seed: u64, end_of_run: SimTime) -> Self {
        let schedule = spec.schedule.as_ref();
        Link {
            delay: SimTime(spec.delay_ps),
            cell_time: SimTime(spec.cell_time_ps),
            framing: spec.framing,
            schedule: schedule.map(Schedule::new),
            receivers: Receivers::new(spec),
            variation: spec.delay_variation.as_ref().map(|variation| Variation {
                delays: DelayVariation::new(variation, seed, &spec.name),
                last_arrival: SimTime::ZERO,
            }),
            impairments: Impairments::new(spec, seed),
            to: spec.to,
            cells: VecDeque::new(),
            end_of_run,
        }
    }

    /// When a transmission that could begin at `time` may begin.
    pub(crate) fn may_send_from(&self, time: SimTime) -> SimTime {
        match &self.schedule {
            Some(schedule) => schedule.may_send_from(time),
            None => time,
        }
    }

    /// Time of a cell, or of a packet of `octets` octets, of the VC `vc`, whose transmission begins at `time`.
    pub(crate) fn unit_time(&self, time: SimTime, octets: u32, vc: u32) -> SimTime {
        let schedule = self.schedule.as_ref();
        let in_force = |steps: fn(&ScheduleSpec) -> &Vec<u64>| {
            let at =
                |schedule: &Schedule| steps(&schedule.spec).get(schedule.step_at(time)).copied();
            schedule.and_then(at)
        };
        let Some(framing) = &self.framing else {
            return in_force(|spec| &spec.cell_times_ps).map_or(self.cell_time, SimTime);
        };
        let own = self.receivers.at(vc, time).map(|(rate, _)| rate);
        let rate = own.or_else(|| in_force(|spec| &spec.rates_millibps));
        let rate = rate.unwrap_or(framing.rate_millibps);
        SimTime(framing.time_at_ps(octets.into(), rate))
    }

    /// A cell of the frame with number `serial` of the run, whose transmission began at `since`, enters at `now` on its way
    /// to a node. The reason when it will be lost on the way, and whether its payload has bit errors.
    pub(crate) fn enter(
        &mut self,
        (since, now): (SimTime, SimTime),
        to: u32,
        cell: Cell,
        serial: u64,
    ) -> (Option<LossReason>, bool) {
        let arrival = match (&mut self.schedule, &mut self.variation) {
            (Some(schedule), _) => schedule.arrival(now),
            (None, Some(variation)) => variation.arrival(now + self.delay),
            (None, None) => now + self.delay,
        };
        let schedule = self.schedule.as_ref();
        // The draw comes first, so that handovers shift nobody's draws.
        let loss_ppb = schedule.and_then(Schedule::loss_ppb);
        let struck = (self.impairments).on_cell((since, now), loss_ppb, &cell, serial);
        if let Struck::Lost(reason) = struck {
            return (Some(reason), false);
        }
        let is_errored = struck == Struck::Payload;
        if schedule.is_some_and(|schedule| schedule.loses(arrival, self.end_of_run)) {
            return (Some(LossReason::Handover), is_errored);
        }
        let own = self.receivers.at(cell.vc, since);
        if own.is_some_and(|(_, is_received)| !is_received) {
            return (Some(LossReason::OutOfRange), is_errored);
        }
        // Behind the others, but where it overtakes some, on an older path or by a shorter delay.
        let goes_last = self.cells.back().is_none_or(|last| last.0 <= arrival);
        let index = match goes_last {
            true => self.cells.len(),
            false => self.cells.partition_point(|ahead| ahead.0 <= arrival),
        };
        self.cells.insert(index, (arrival, to, cell));
        (None, is_errored)
    }

    /// Returns the effects of bit errors, if the link has some.
    pub(crate) fn errors(&self) -> Option<ErrorRecord> {
        self.impairments.errors()
    }

    /// When the next cell arrives.
    pub fn next_arrival(&self) -> Option<SimTime> {
        self.cells.front().map(|first| first.0)
    }

    /// The cell that arrives at `now`, if one does, and the node that it arrives at.
    pub fn take(&mut self, now: SimTime) -> Option<(u32, Cell)> {
        self.cells.front().filter(|first| first.0 == now)?;
        self.cells.pop_front().map(|(_, to, cell)| (to, cell))
    }

    /// Cells under way.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter().map(|(_, _, cell)| cell)
    }
}

impl Variation {
    /// When the next packet arrives, at `least` at the earliest.
    fn arrival(&mut self, least: SimTime) -> SimTime {
        let own = least + SimTime(self.delays.next_ps());
        self.last_arrival = self.last_arrival.max(own);
        match self.delays.reorders() {
            true => own,
            false => self.last_arrival,
        }
    }
}

impl Schedule {
    fn new(spec: &ScheduleSpec) -> Self {
        let steps = spec.paths.len();
        let (mut taken_up, mut given_up) = (vec![None; steps], vec![SimTime::NEVER; steps]);
        for step in 1..steps {
            let is_handover = spec.paths[step] != spec.paths[step - 1];
            taken_up[step] = if is_handover {
                Some(spec.times_ps[step])
            } else {
                taken_up[step - 1]
            };
        }
        for step in (1..steps).rev() {
            let is_handover = spec.paths[step] != spec.paths[step - 1];
            given_up[step - 1] = if is_handover {
                SimTime(spec.times_ps[step])
            } else {
                given_up[step]
            };
        }
        let has_path = |step: &usize| spec.delays_ps[*step].is_some();
        let first = (0..steps).find(has_path).unwrap_or(0);
        let known = (0..steps).scan(first, |last, step| {
            *last = if has_path(&step) { step } else { *last };
            Some(*last)
        });
        Schedule {
            known: known.collect(),
            step: 0,
            last_arrival: SimTime::ZERO,
            taken_up,
            given_up,
            spec: spec.clone(),
        }
    }

    /// The step in force at `time`, which is not before the present one.
    fn step_at(&self, time: SimTime) -> usize {
        let later = &self.spec.times_ps[self.step + 1..];
        if later.first().is_none_or(|&begin| time.0 < begin) {
            return self.step;
        }
        self.step + later.partition_point(|&begin| begin <= time.0)
    }

    fn may_send_from(&self, time: SimTime) -> SimTime {
        let mut time = time;
        // What is found may lie in another step, without a path or just after a handover.
        loop {
            let step = self.step_at(time);
            let delays = &self.spec.delays_ps;
            if delays[step].is_none() {
                let Some(back) = (step..delays.len()).find(|&s| delays[s].is_some()) else {
                    return SimTime::NEVER;
                };
                time = SimTime(self.spec.times_ps[back]);
            }
            let step = self.step_at(time);
            let ready = self.taken_up[step].map_or(0, |since| since + self.spec.interruption_ps);
            if time.0 >= ready {
                return time;
            }
            time = SimTime(ready);
        }
    }

    fn arrival(&mut self, now: SimTime) -> SimTime {
        let step = self.step_at(now);
        if self.taken_up[step] != self.taken_up[self.step] {
            self.last_arrival = SimTime::ZERO;
        }
        self.step = step;
        let delay = self.spec.delays_ps[self.known[step]].unwrap_or(0);
        self.last_arrival = self.last_arrival.max(now + SimTime(delay));
        self.last_arrival
    }

    /// Returns the loss of the link where the last cell entered, if the loss changes.
    fn loss_ppb(&self) -> Option<u32> {
        self.spec.losses_ppb.get(self.known[self.step]).copied()
    }

    /// Returns whether a handover of the run catches the cell that has just entered and arrives at
    /// `arrival`.
    fn loses(&self, arrival: SimTime, end_of_run: SimTime) -> bool {
        let handover = self.given_up[self.step];
        self.spec.handover_loses_cells && handover < arrival && handover < end_of_run
    }
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
