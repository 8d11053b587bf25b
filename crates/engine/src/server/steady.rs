//! Stretches in which nothing but the choices matters: one queue alone sends, cell after cell, or the one
//! stream that there is brings its cells in step with the link.

use super::Server;
use crate::cell_stream::sum;
use skycell_switch::{Backlog, Schedules};

/// Cells of a stream that may wait at the port while it sends steadily.
const WAITING: usize = 4;

impl Server {
    /// Serves up to `cells` cells of frames that have come before the next choice, as far as nobody
    /// else has a cell meanwhile; returns how many. They leave one cell time apart.
    pub(crate) fn serve_alone(&mut self, cells: u64) -> u64 {
        self.come_to_choice();
        let own = Backlog(1 << self.own);
        if self.backlog() != 0 || self.scheduler.steady_choice(own) != Some(self.own) {
            return 0;
        }
        // What comes at the very moment of a choice is not there yet.
        let choices = self.next.map_or(u64::MAX, |(arrival, _)| {
            (arrival.time.0 - self.free) / self.cell_time + 1
        });
        let cells = cells.min(choices);
        self.free += cells * self.cell_time;
        cells
    }

    /// With `backlog` at a choice: lets the one stream that there is send as long as each of its cells
    /// takes the place of the one before, and choices are made before `limit`.
    pub(super) fn send_steadily(&mut self, backlog: Backlog, limit: u64) {
        let [stream] = &mut self.streams[..] else {
            return;
        };
        let spacing = self.cell_time;
        let Some(next) = stream.next else {
            return;
        };
        let queue = &mut self.queues[stream.plan.queue];
        let steady = stream.steady(spacing);
        if steady < 2 || queue.waiting.is_empty() || queue.waiting.len() > WAITING {
            return;
        }
        let is_next = (self.free..self.free + spacing).contains(&next.arrival);
        let waiting = queue.waiting.iter().map(|&(left, _)| left);
        let followers = waiting.clone().skip(1).chain([next.left]);
        let is_regular = waiting
            .zip(followers)
            .all(|(one, other)| one + spacing == other);
        if !is_next
            || !is_regular
            || self.scheduler.steady_choice(backlog) != Some(stream.plan.queue)
        {
            return;
        }
        // The choice after the last of them is made before the limit, too.
        let choices = limit.min(self.end).saturating_sub(self.free + 1) / spacing;
        let cells = steady.min(choices);
        if cells < 2 {
            return;
        }
        // A cell comes before the one under transmission has left.
        queue.max = queue.max.max(queue.length + 1);
        let departure = self.free + spacing;
        queue.integral.arrived(sum(next.arrival, spacing, cells));
        queue.integral.departed(sum(departure, spacing, cells));
        let left = queue.waiting[0].0;
        for (left, _) in &mut queue.waiting {
            *left += cells * spacing;
        }
        stream.on_departures(left, departure, cells);
        stream.bring_steadily(cells);
        self.free += cells * spacing;
        self.find_next();
    }

    /// Serves up to `cells` cells of frames that have come before the next choice, among those of the one
    /// stream that there is, as long as it has cells and brings them steadily; tells when each leaves.
    pub(crate) fn serve_among_others(&mut self, cells: u64, mut tell: impl FnMut(u64)) {
        let [stream] = &mut self.streams[..] else {
            return;
        };
        let (place, spacing) = (stream.plan.queue, self.cell_time);
        let backlog = Backlog((1 << self.own) | (1 << place));
        if self.scheduler.steady_choice(backlog).is_some() {
            return; // all at once, by `send_steadily` or `serve_alone`
        }
        let queue = &mut self.queues[place];
        let steady = stream.steady(spacing);
        let (first, first_left) = stream.next.map_or((u64::MAX, 0), |c| (c.arrival, c.left));
        let (mut free, mut taken_in, mut served, mut departures) = (self.free, 0, 0, 0);
        while served < cells && free < self.end {
            while taken_in < steady && first + taken_in * spacing < free {
                queue
                    .waiting
                    .push_back((first_left + taken_in * spacing, 0));
                queue.length += 1;
                queue.max = queue.max.max(queue.length);
                taken_in += 1;
            }
            if taken_in == steady && first.saturating_add(taken_in * spacing) < free {
                break;
            }
            queue.length -= u32::from(self.serving.take().is_some());
            if queue.waiting.is_empty() {
                break;
            }
            let chosen = self.scheduler.select(backlog);
            free += spacing;
            self.served += 1;
            if chosen == self.own {
                served += 1;
                tell(free);
                continue;
            }
            self.serving = Some(place);
            let (left, _) = queue.waiting.pop_front().expect("the queue has cells");
            if free < self.end {
                departures += u128::from(free);
            }
            stream.on_departure(left, free);
        }
        self.free = free;
        queue.integral.departed(departures);
        if taken_in > 0 {
            queue.integral.arrived(sum(first, spacing, taken_in));
            stream.bring_steadily(taken_in);
            self.find_next();
        }
    }
}
