//! Service patterns: the same queues have cells, and the scheduler's choices repeat: the cells of frames
//! alone, those of a source alone, or both.

use super::Server;
use crate::burst::Burst;
use crate::port::cell_source::WaitingBurst;
use skycell_switch::{Backlog, Period};
use skycell_units::SimTime;

/// Choices in a pattern, at least; fewer are made one by one.
const FEWEST: u64 = 4;

/// A pattern. Up to its end the frames' queue has cells, or has none at all; what is known beforehand is
/// that the source's has.
#[derive(Debug)]
pub(super) struct ServicePattern {
    /// The first choice.
    start: u64,
    /// Choices.
    slots: u64,
    backlog: Backlog,
    /// Which choices are those of the frames' queue.
    frames: Period,
    /// Choices of the frames' queue, and those that have been made.
    frame_services: u64,
    frame_services_made: u64,
    /// The source's queue, if it has cells.
    queue_index: Option<usize>,
    /// True if a cell of the source comes before each choice but the first, or at each.
    is_in_step: bool,
}

impl Server {
    /// At a choice: begins a pattern, if one begins here. The choice must be made with these queues' cells.
    pub(super) fn begin_pattern(&mut self, frames_wait: bool) -> bool {
        let others = self.backlog();
        if self.draws.is_some() || others != 0 && self.served < self.no_period_before {
            return false;
        }
        let mut pattern = ServicePattern {
            start: self.free,
            slots: u64::MAX,
            backlog: Backlog(others | u32::from(frames_wait) << self.frame_queue),
            frames: Period::EACH,
            frame_services: u64::MAX,
            frame_services_made: 0,
            queue_index: None,
            is_in_step: false,
        };
        let next = self.next.map(|(arrival, _)| arrival.time.0 - self.free);
        if others != 0 {
            let [cell_source] = &self.cell_sources[..] else {
                return false;
            };
            let steady = cell_source.steady(self.cell_time);
            pattern.queue_index = Some(cell_source.plan.queue);
            pattern.is_in_step = steady > 0 && next.is_some_and(|wait| wait < self.cell_time);
            pattern.slots = steady;
        }
        if !pattern.is_in_step {
            // What comes at the very moment of a choice is not there yet.
            pattern.slots = next.map_or(u64::MAX, |wait| wait / self.cell_time + 1);
        }
        if pattern.slots < FEWEST {
            return false;
        }
        let Some(frames) = self.scheduler.period(pattern.backlog, self.frame_queue) else {
            // In vain as many choices were looked at.
            self.no_period_before = self.served + u64::from(Period::LONGEST);
            return false;
        };
        if let Some(queue_index) = pattern
            .queue_index
            .filter(|_| !pattern.is_in_step && !frames.is_always())
        {
            let last = self.queues[queue_index].waiting.cells() - 1;
            pattern.slots = pattern.slots.min(frames.others().slot_of(last) + 1);
        }
        pattern.frames = frames;
        pattern.frame_services = frames.services_in(pattern.slots);
        let begins = pattern.slots >= FEWEST;
        self.pattern = begins.then_some(pattern);
        begins
    }

    /// Serves up to `cells` cells of frames that came before the next choice, of the pattern that there is: when they
    /// leave, or nothing where it is over.
    pub(super) fn serve_pattern(&mut self, cells: u64) -> Option<Burst> {
        let cell_time = self.cell_time;
        let pattern = self.pattern.as_mut()?;
        let left = pattern.frame_services - pattern.frame_services_made;
        if left == 0 {
            // The choices that the pattern ends with are those of the other queue.
            self.free = pattern.start + pattern.slots * cell_time;
            return None;
        }
        let slot = pattern.frames.slot_of(pattern.frame_services_made);
        let mut cells = cells.min(left);
        let mut spacing = pattern.frames.length() * cell_time;
        if pattern.frames.is_always() {
            spacing = cell_time;
        } else if pattern.frames.services() > 1 {
            let in_a_row = (1..cells).take_while(|k| pattern.frames.has(slot + k));
            cells = in_a_row.count() as u64 + 1;
            spacing = cell_time;
            self.served += cells;
        }
        pattern.frame_services_made += cells;
        let first = pattern.start + (slot + 1) * cell_time;
        self.free = first + (cells - 1) * spacing;
        Some(Burst::new(SimTime(first), SimTime(spacing), cells))
    }

    /// The link is idle, and the source's next cell begins at once: so may those after it, each when the one
    /// before has left. Lets those go that come before `moment`, unless they are few.
    pub(super) fn pass_in_time(&mut self, moment: u64) -> bool {
        let [cell_source] = &self.cell_sources[..] else {
            return false;
        };
        if self.draws.is_some() {
            return false;
        }
        let queue_index = cell_source.plan.queue;
        let before = (moment - self.free).div_ceil(self.cell_time);
        let slots = cell_source.steady(self.cell_time).min(before);
        if slots < FEWEST {
            return false;
        }
        let backlog = Backlog(1 << queue_index);
        let Some(frames) = self.scheduler.period(backlog, self.frame_queue) else {
            return false;
        };
        self.pattern = Some(ServicePattern {
            start: self.free,
            slots,
            backlog,
            frames,
            frame_services: 0,
            frame_services_made: 0,
            queue_index: Some(queue_index),
            is_in_step: true,
        });
        self.free += slots * self.cell_time;
        self.end_pattern();
        true
    }

    /// Makes the choices up to `moment`, that moment included, of a pattern in which no cell of a frame is
    /// there.
    pub(super) fn pass_pattern(&mut self, moment: u64) {
        let Some(pattern) = &self.pattern else {
            return;
        };
        let choices = (moment - pattern.start) / self.cell_time + 1;
        self.free = pattern.start + choices.min(pattern.slots) * self.cell_time;
        self.end_pattern();
    }

    /// Ends the pattern that there is before the next choice: books what its choices so far mean to the
    /// scheduler and to the source's cells.
    pub(super) fn end_pattern(&mut self) {
        let Some(pattern) = self.pattern.take() else {
            return;
        };
        let spacing = self.cell_time;
        let slots = (self.free - pattern.start) / spacing;
        self.scheduler.pass(pattern.backlog, pattern.frames, slots);
        let Some(queue_index) = pattern.queue_index.filter(|_| slots > 0) else {
            return;
        };
        let (cell_source, queue) = (&mut self.cell_sources[0], &mut self.queues[queue_index]);
        let period = pattern.frames.others();
        if pattern.is_in_step {
            let next = cell_source.next.expect("a cell is on its way");
            // A cell comes before the one under transmission has left.
            let length = queue.waiting.cells() + slots - period.services_in(slots - 1);
            queue.max = queue.max.max(length as u32);
            let arrivals = Burst::new(SimTime(next.arrival), SimTime(spacing), slots);
            queue.integral.arrived(arrivals.sum());
            queue.waiting.push(WaitingBurst {
                left: next.left,
                cells: slots,
                cell_source: 0,
            });
            cell_source.bring_steadily(slots);
        }
        let before_end = (self.end - 1).saturating_sub(pattern.start) / spacing;
        let departed = period.services_in(slots.min(before_end));
        let departures = u128::from(departed) * u128::from(pattern.start + spacing)
            + period.sum_of_slots(departed) * u128::from(spacing);
        queue.integral.departed(departures);
        cell_source.on_pattern(pattern.start, spacing, period, slots, &mut queue.waiting);
        self.serving = period.has(slots - 1).then_some(queue_index);
        queue.length = queue.waiting.cells() as u32 + u32::from(self.serving.is_some());
        if pattern.is_in_step {
            self.find_next();
        }
    }
}
