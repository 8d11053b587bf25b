//! Stretches in which one queue alone sends, cell after cell, and nothing else changes: many cells at
//! once.

use super::Server;
use crate::cell_stream::sum;
use skycell_switch::Backlog;

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
        stream.send_steadily(cells, left, departure);
        self.free += cells * spacing;
        self.find_next();
    }
}
