//! Stretches in which the same queues have cells, and the scheduler's choices repeat: the cells of frames
//! alone, those of a source alone, or both.

use super::Server;
use crate::burst::Burst;
use crate::port::cell_stream::Run;
use skycell_switch::{Backlog, Cycle};
use skycell_units::SimTime;

/// Choices in a stretch, at least; fewer are made one by one.
const FEWEST: u64 = 4;

/// A stretch. Up to its end the frames' queue has cells, or has none at all; what is known beforehand is
/// that the source's has.
#[derive(Debug)]
pub(super) struct Turns {
    /// The first choice.
    start: u64,
    /// Choices.
    slots: u64,
    backlog: Backlog,
    /// Which choices are those of the frames' queue.
    own: Cycle,
    /// Choices of the frames' queue, and those that have been made.
    own_turns: u64,
    own_made: u64,
    /// The source's queue, if it has cells.
    place: Option<usize>,
    /// Whether a cell of the source comes before each choice but the first, or at each.
    is_in_step: bool,
}

/// When cells of frames leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Departures {
    pub(crate) first: u64,
    pub(crate) spacing: u64,
    pub(crate) cells: u64,
}

impl Server {
    /// At a choice: begins a stretch, if one begins here. The choice must be made with these queues' cells.
    pub(super) fn begin_turns(&mut self, own_has_cells: bool) -> bool {
        let others = self.backlog();
        if self.draws.is_some() || others != 0 && self.served < self.no_cycle_before {
            return false;
        }
        let mut turns = Turns {
            start: self.free,
            slots: u64::MAX,
            backlog: Backlog(others | u32::from(own_has_cells) << self.own),
            own: Cycle::EACH,
            own_turns: u64::MAX,
            own_made: 0,
            place: None,
            is_in_step: false,
        };
        let next = self.next.map(|(arrival, _)| arrival.time.0 - self.free);
        if others != 0 {
            let [stream] = &self.streams[..] else {
                return false;
            };
            let steady = stream.steady(self.cell_time);
            turns.place = Some(stream.plan.queue);
            turns.is_in_step = steady > 0 && next.is_some_and(|wait| wait < self.cell_time);
            turns.slots = steady;
        }
        if !turns.is_in_step {
            // What comes at the very moment of a choice is not there yet.
            turns.slots = next.map_or(u64::MAX, |wait| wait / self.cell_time + 1);
        }
        if turns.slots < FEWEST {
            return false;
        }
        let Some(own) = self.scheduler.cycle(turns.backlog, self.own) else {
            // In vain as many choices were looked at.
            self.no_cycle_before = self.served + u64::from(Cycle::LONGEST);
            return false;
        };
        if let Some(place) = turns
            .place
            .filter(|_| !turns.is_in_step && !own.is_always())
        {
            let last = self.queues[place].waiting.cells() - 1;
            turns.slots = turns.slots.min(own.others().slot_of(last) + 1);
        }
        turns.own = own;
        turns.own_turns = own.turns_in(turns.slots);
        let begins = turns.slots >= FEWEST;
        self.turns = begins.then_some(turns);
        begins
    }

    /// Serves up to `cells` cells of frames that came before the next choice, of the stretch that there is,
    /// or tells why not: it is over.
    pub(super) fn take_turns(&mut self, cells: u64) -> Option<Departures> {
        let cell_time = self.cell_time;
        let turns = self.turns.as_mut()?;
        let left = turns.own_turns - turns.own_made;
        if left == 0 {
            // The choices that the stretch ends with are those of the other queue.
            self.free = turns.start + turns.slots * cell_time;
            return None;
        }
        let slot = turns.own.slot_of(turns.own_made);
        let mut cells = cells.min(left);
        let mut spacing = turns.own.length() * cell_time;
        if turns.own.is_always() {
            spacing = cell_time;
        } else if turns.own.turns() > 1 {
            let in_a_row = (1..cells).take_while(|k| turns.own.has(slot + k));
            cells = in_a_row.count() as u64 + 1;
            spacing = cell_time;
            self.served += cells;
        }
        turns.own_made += cells;
        let first = turns.start + (slot + 1) * cell_time;
        self.free = first + (cells - 1) * spacing;
        Some(Departures {
            first,
            spacing,
            cells,
        })
    }

    /// The link is idle, and the source's next cell begins at once: so may those after it, each when the one
    /// before has left. Lets those go that come before `moment`, unless they are few.
    pub(super) fn pass_in_time(&mut self, moment: u64) -> bool {
        let [stream] = &self.streams[..] else {
            return false;
        };
        if self.draws.is_some() {
            return false;
        }
        let place = stream.plan.queue;
        let before = (moment - self.free).div_ceil(self.cell_time);
        let slots = stream.steady(self.cell_time).min(before);
        if slots < FEWEST {
            return false;
        }
        let backlog = Backlog(1 << place);
        let Some(own) = self.scheduler.cycle(backlog, self.own) else {
            return false;
        };
        self.turns = Some(Turns {
            start: self.free,
            slots,
            backlog,
            own,
            own_turns: 0,
            own_made: 0,
            place: Some(place),
            is_in_step: true,
        });
        self.free += slots * self.cell_time;
        self.end_turns();
        true
    }

    /// Makes the choices up to `moment`, that moment included, of a stretch in which no cell of a frame is
    /// there.
    pub(super) fn pass_turns(&mut self, moment: u64) {
        let Some(turns) = &self.turns else {
            return;
        };
        let choices = (moment - turns.start) / self.cell_time + 1;
        self.free = turns.start + choices.min(turns.slots) * self.cell_time;
        self.end_turns();
    }

    /// Ends the stretch that there is before the next choice: books what its choices so far mean to the
    /// scheduler and to the source's cells.
    pub(super) fn end_turns(&mut self) {
        let Some(turns) = self.turns.take() else {
            return;
        };
        let spacing = self.cell_time;
        let slots = (self.free - turns.start) / spacing;
        self.scheduler.pass(turns.backlog, turns.own, slots);
        let Some(place) = turns.place.filter(|_| slots > 0) else {
            return;
        };
        let (stream, queue) = (&mut self.streams[0], &mut self.queues[place]);
        let cycle = turns.own.others();
        if turns.is_in_step {
            let next = stream.next.expect("a cell is on its way");
            // A cell comes before the one under transmission has left.
            let length = queue.waiting.cells() + slots - cycle.turns_in(slots - 1);
            queue.max = queue.max.max(length as u32);
            let coming = Burst::new(SimTime(next.arrival), SimTime(spacing), slots);
            queue.integral.arrived(coming.sum());
            queue.waiting.push(Run {
                left: next.left,
                cells: slots,
                stream: 0,
            });
            stream.bring_steadily(slots);
        }
        let before_end = (self.end - 1).saturating_sub(turns.start) / spacing;
        let departed = cycle.turns_in(slots.min(before_end));
        let departures = u128::from(departed) * u128::from(turns.start + spacing)
            + cycle.sum_of_slots(departed) * u128::from(spacing);
        queue.integral.departed(departures);
        stream.on_turns(turns.start, spacing, cycle, slots, &mut queue.waiting);
        self.serving = cycle.has(slots - 1).then_some(place);
        queue.length = queue.waiting.cells() as u32 + u32::from(self.serving.is_some());
        if turns.is_in_step {
            self.find_next();
        }
    }
}
