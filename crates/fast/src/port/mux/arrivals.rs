//! The order in which cells were taken in at a multiplexing port, kept as pieces between frame
//! events where somebody asks for it, and the times at which the port was busy.
//!
//! Cells leave in the order in which they came. So what has left by a time is found from how many
//! have left (a division) and where in the order of arrival that many lie (a piece, and a division).

use super::server::{Departures, Server};
use crate::burst::Burst;
use crate::burst::train::{Moment, Train, nth_arrival};
use skycell_units::SimTime;
use std::collections::VecDeque;
use std::ops::Range;

/// Cells of one train that were taken in while one set of trains was arriving. Those of the others of
/// the set lie beside it: together they are a piece.
#[derive(Clone, Copy, Debug)]
struct Logged {
    /// Cells taken in before the piece.
    rank: u64,
    /// As it stood before.
    train: Train,
    cells: u32,
}

/// A stretch of time over which the port sent without a break.
#[derive(Clone, Copy, Debug)]
struct Busy {
    start: SimTime,
    /// Cells taken in before it.
    rank: u64,
    /// From one departure to the next: the cell time, but where queues share the link, or cells come slower than they
    /// leave; then `start` is so long before the first departure.
    spacing: u64,
}

impl Busy {
    /// When its first `cells` cells have left.
    fn end(&self, cells: u64) -> SimTime {
        self.start + SimTime(cells * self.spacing)
    }

    /// Cells that have left by `now`, not before its start, those before it included, if it goes on.
    fn departed(&self, now: SimTime) -> u64 {
        self.rank + (now - self.start).0 / self.spacing
    }

    /// Sum of the times at which they leave.
    fn departures(&self, cells: u64) -> u128 {
        let spacing = SimTime(self.spacing);
        Burst::new(self.start + spacing, spacing, cells).sum()
    }
}

/// The log of one port.
#[derive(Debug)]
pub(crate) struct ArrivalLog {
    cell_time: u64,
    /// The order of cells is kept that leave at this time or later.
    kept_from: SimTime,
    /// So are stretches that end then.
    busy_kept_from: SimTime,
    /// Piece by piece.
    logged: Vec<Logged>,
    /// Trains dropped from the front.
    dropped: u64,
    /// The last stretch that has begun, and those before it, in order.
    present: Busy,
    earlier: VecDeque<Busy>,
    /// Sum of the departure times of the cells of those that were not kept.
    not_kept: u128,
    /// Who decides when cells leave, where queues share the link.
    pub(crate) server: Option<Box<Server>>,
    /// The last departure that it has decided.
    served_until: SimTime,
    /// Cells taken in so far.
    taken_in: u64,
    /// Trains of the last piece, if those are still arriving.
    open: usize,
}

impl ArrivalLog {
    pub(crate) fn new(cell_time: u64) -> Self {
        ArrivalLog {
            cell_time,
            kept_from: SimTime::ZERO,
            busy_kept_from: SimTime::ZERO,
            logged: Vec::new(),
            dropped: 0,
            present: Busy {
                start: SimTime::ZERO,
                rank: 0,
                spacing: cell_time,
            },
            earlier: VecDeque::new(),
            not_kept: 0,
            server: None,
            served_until: SimTime::ZERO,
            taken_in: 0,
            open: 0,
        }
    }

    /// Nobody asks for the order of cells that leave before `order`, nor when those left that left before
    /// `departures`.
    pub(crate) fn keep_from(&mut self, order: SimTime, departures: SimTime) {
        (self.kept_from, self.busy_kept_from) = (order, departures);
    }

    /// Cells taken in so far.
    pub(crate) fn taken_in(&self) -> u64 {
        self.taken_in
    }

    /// The set of arriving trains changes.
    pub(crate) fn close_piece(&mut self) {
        self.open = 0;
    }

    /// `count` cells were taken in by `until`: so many from each of `trains`, which stand as they were before, and
    /// in the same order while the piece is not closed.
    pub(crate) fn take_in_trains(
        &mut self,
        count: u64,
        trains: impl Iterator<Item = (Train, u32)>,
        until: SimTime,
    ) {
        if self.open > 0 {
            let first = self.logged.len() - self.open;
            let open = &mut self.logged[first..];
            open.iter_mut()
                .zip(trains)
                .for_each(|(logged, (_, cells))| logged.cells += cells);
        } else if self.keeps_next(count) {
            let (rank, before) = (self.taken_in, self.logged.len());
            let trains = trains.map(|(train, cells)| Logged { rank, train, cells });
            self.logged.extend(trains);
            self.open = self.logged.len() - before;
        }
        self.taken_in += count;
        if self.server.is_some() {
            self.serve(count, until);
        }
    }

    /// `count` cells of a train were taken in that is slower than the port, and has it for itself: each leaves before the
    /// next comes.
    pub(crate) fn take_in_slow(&mut self, train: Train, count: u64) {
        let rank = self.taken_in;
        let last = SimTime(train.next + (count - 1) * train.spacing);
        self.open = 0;
        if self.kept_from == SimTime::ZERO || last + SimTime(self.cell_time) >= self.kept_from {
            let cells = count as u32;
            self.logged.push(Logged { rank, train, cells });
        }
        if count > 1 {
            self.begin(Busy {
                start: SimTime(train.next + self.cell_time - train.spacing),
                rank,
                spacing: train.spacing,
            });
        }
        self.begin(Busy {
            start: last,
            rank: rank + count - 1,
            spacing: self.cell_time,
        });
        self.taken_in += count;
    }

    /// Whether the order of the next `count` cells is kept.
    fn keeps_next(&self, count: u64) -> bool {
        self.kept_from == SimTime::ZERO
            || self.last_departure() + SimTime(count * self.cell_time) >= self.kept_from
    }

    /// Where queues share the link: decides when the last `count` cells leave, which came by `until`, each
    /// at most a cell time after the one before.
    fn serve(&mut self, count: u64, until: SimTime) {
        let mut server = self.server.take().expect("queues share the link");
        let mut left = count;
        while left > 0 {
            let rank = self.taken_in - left;
            // If the first is there before its choice, so are those after it, which come as fast as any
            // can leave.
            let mut known = left;
            if !server.is_busy_beyond(until) {
                let (arrival, _) = self.arrival(rank).expect("servers ask for every cell");
                if !server.is_busy_beyond(arrival.time) {
                    server.serve_others_until(arrival);
                    if !server.is_busy_beyond(arrival.time) {
                        // It goes at once, and the others when the one before has left if they come then.
                        let is_in_step = self.comes_in_step();
                        known = if is_in_step {
                            left.min(server.undisturbed())
                        } else {
                            1
                        };
                    }
                }
            }
            let departures = server.serve(known);
            self.note_departures(rank, departures);
            left -= departures.cells;
        }
        self.server = Some(server);
    }

    /// Whether the cells that come now are those of one train, a cell time apart.
    fn comes_in_step(&self) -> bool {
        let piece = self.piece_of(self.logged.len() - 1);
        piece.len() == 1 && self.logged[piece.start].train.spacing == self.cell_time
    }

    /// Cells from `rank` on leave.
    fn note_departures(&mut self, rank: u64, departures: Departures) {
        let first = SimTime(departures.first);
        let between = (first - self.served_until).0;
        if self.present.spacing != between {
            self.begin(Busy {
                start: self.served_until,
                rank,
                spacing: between,
            });
        }
        self.served_until = first;
        if departures.cells == 1 {
            return;
        }
        if departures.spacing != between {
            self.begin(Busy {
                start: first,
                rank: rank + 1,
                spacing: departures.spacing,
            });
        }
        self.served_until += SimTime((departures.cells - 1) * departures.spacing);
    }

    /// One cell was taken in at `moment`.
    pub(crate) fn take_in_cell(&mut self, moment: Moment, place: u32) {
        self.open = 0;
        if self.keeps_next(1) {
            self.logged.push(Logged {
                rank: self.taken_in,
                train: Train::of_cell(moment, place),
                cells: 1,
            });
        }
        self.taken_in += 1;
        if self.server.is_some() {
            self.serve(1, moment.time);
        }
    }

    /// The next cell finds the port idle.
    pub(crate) fn begin_busy(&mut self, start: SimTime) {
        if self.server.is_none() {
            self.begin(Busy {
                start,
                rank: self.taken_in,
                spacing: self.cell_time,
            });
        }
    }

    fn begin(&mut self, busy: Busy) {
        // Before the first there is one without cells.
        if self.present.rank < busy.rank {
            let cells = busy.rank - self.present.rank;
            if self.present.end(cells) < self.busy_kept_from {
                self.not_kept += self.present.departures(cells);
            } else {
                self.earlier.push_back(self.present);
            }
        }
        self.present = busy;
    }

    /// When the last cell taken in will have left.
    pub(crate) fn last_departure(&self) -> SimTime {
        self.present.end(self.taken_in - self.present.rank)
    }

    /// Cells that have left by `now`, that instant included.
    #[inline(always)]
    pub(crate) fn departed(&self, now: SimTime) -> u64 {
        // The present busy period answers nearly always.
        if self.present.start <= now {
            self.present.departed(now).min(self.taken_in)
        } else {
            self.departed_earlier(now)
        }
    }

    fn departed_earlier(&self, now: SimTime) -> u64 {
        let after = self.earlier.partition_point(|busy| busy.end(1) <= now);
        let end = self.rank_at(after);
        let busy = after.checked_sub(1).map(|at| &self.earlier[at]);
        busy.map_or(end, |busy| busy.departed(now).min(end))
    }

    /// Rank of the first cell of the `at`-th busy period that is remembered.
    fn rank_at(&self, at: usize) -> u64 {
        self.earlier
            .get(at)
            .map_or(self.present.rank, |busy| busy.rank)
    }

    /// Where queues share the link, what is known: cells taken in that will have left by `now`, and
    /// when the last of them does. Else of the present busy period, if it goes on: the cells that
    /// will have left by `now` (with all those of earlier periods), and when the last of them does,
    /// if any has.
    pub(crate) fn departed_if_busy(&self, now: SimTime) -> (u64, Option<SimTime>) {
        if self.server.is_some() {
            let departed = self.departed(now);
            let last = departed
                .checked_sub(1)
                .and_then(|rank| self.departure(rank));
            return (departed, last);
        }
        let busy = &self.present;
        let count = now.since(busy.start).0 / self.cell_time;
        let last = busy.start + SimTime(count * self.cell_time);
        (busy.rank + count, (count > 0).then_some(last))
    }

    /// When the cell of `rank` (from 0) leaves; none if its busy period is forgotten.
    pub(crate) fn departure(&self, rank: u64) -> Option<SimTime> {
        let busy = if self.present.rank <= rank {
            &self.present
        } else {
            let after = self.earlier.partition_point(|busy| busy.rank <= rank);
            &self.earlier[after.checked_sub(1)?]
        };
        Some(busy.start + SimTime((rank + 1 - busy.rank) * busy.spacing))
    }

    /// Sum of the departure times of all cells that have left by `now`; all busy periods from the
    /// run's start must have been handed to `settled`, see [`ArrivalLog::trim`].
    pub(crate) fn departures_since(&self, rank: u64, now: SimTime) -> u128 {
        let departed = self.departed(now);
        let mut sum = 0;
        let all = self.earlier.iter().chain([&self.present]);
        for (busy, at) in all.zip(1..) {
            let end = if at > self.earlier.len() {
                self.taken_in
            } else {
                self.rank_at(at)
            };
            let (from, to) = (busy.rank.max(rank), end.min(departed));
            if from < to {
                let count = u128::from(to - from);
                let first = u128::from(from - busy.rank + 1);
                let last = u128::from(to - busy.rank);
                sum += count * u128::from(busy.start.0)
                    + (first + last) * count / 2 * u128::from(busy.spacing);
            }
        }
        sum
    }

    /// When the cell of `rank` (from 0, taken in) came, and its VC's place; none if it was not kept.
    pub(crate) fn arrival(&self, rank: u64) -> Option<(Moment, u32)> {
        let after = self.logged.partition_point(|logged| logged.rank <= rank);
        let piece = self.piece_of(after.checked_sub(1)?);
        Some(self.arrival_in(piece, rank))
    }

    /// The same of a cell of that piece.
    fn arrival_in(&self, piece: Range<usize>, rank: u64) -> (Moment, u32) {
        let nth = rank - self.logged[piece.start].rank;
        let count = piece.len();
        let trains = self.logged[piece].iter().map(|logged| logged.train);
        nth_arrival(trains, count, nth)
    }

    /// The piece that the train at `at` belongs to.
    fn piece_of(&self, at: usize) -> Range<usize> {
        let rank = self.logged[at].rank;
        let (mut first, mut end) = (at, at + 1);
        while first > 0 && self.logged[first - 1].rank == rank {
            first -= 1;
        }
        while self.logged.get(end).is_some_and(|next| next.rank == rank) {
            end += 1;
        }
        first..end
    }

    /// Tells what is kept, in order: each train of a piece, and how many of its cells were taken in there.
    pub(crate) fn each_train(&self, mut tell: impl FnMut(&Train, u64)) {
        for logged in &self.logged {
            tell(&logged.train, logged.cells.into());
        }
    }

    /// Tells of the pieces that have wholly left when `departed` cells have, from the train `first` on, counted
    /// among all ever kept: the places of their VCs, and how many cells of each. The last piece stays. Returns
    /// the first train of which cells may be left.
    pub(crate) fn each_departed(
        &self,
        first: u64,
        departed: u64,
        mut tell: impl FnMut(u32, u64),
    ) -> u64 {
        let from = (first - self.dropped) as usize;
        let mut begin = from;
        let begun = self.logged[from..].iter().zip(from..);
        for (logged, at) in begun.take_while(|(logged, _)| logged.rank <= departed) {
            if logged.rank != self.logged[begin].rank {
                for logged in &self.logged[begin..at] {
                    tell(logged.train.place, logged.cells.into());
                }
                begin = at;
            }
        }
        first + (begin - from) as u64
    }

    /// Tells the same of the piece that begins with the train `first`, of which not all cells have left when
    /// `departed` have: how many of each VC have.
    pub(crate) fn each_begun(&self, first: u64, departed: u64, mut tell: impl FnMut(u32, u64)) {
        let at = (first - self.dropped) as usize;
        let Some(logged) = self.logged.get(at).filter(|first| first.rank < departed) else {
            return;
        };
        let piece = self.piece_of(at);
        if piece.len() == 1 {
            return tell(logged.train.place, departed - logged.rank);
        }
        let (until, _) = self.arrival_in(piece.clone(), departed - 1);
        for logged in &self.logged[piece] {
            tell(logged.train.place, logged.train.count(until));
        }
    }

    /// Forgets what is needed for cells that left before `before` only.
    pub(crate) fn trim(&mut self, before: SimTime) {
        let departed = self.departed(before);
        let begun = self.logged.partition_point(|logged| logged.rank < departed);
        // The piece with the last cell departed stays, for `arrival` of that cell.
        let last = begun.checked_sub(1);
        let first = last.map_or(0, |last| self.piece_of(last).start);
        // Those that stay move; so they are fewer than those that go.
        if first > self.logged.len() / 2 {
            self.logged.drain(..first);
            self.dropped += first as u64;
        }
    }

    /// Forgets busy periods that ended before `before`; hands back the sum of departure times of the cells of all
    /// that have been forgotten since the last call.
    pub(crate) fn trim_busy(&mut self, before: SimTime) -> u128 {
        let mut sum = std::mem::take(&mut self.not_kept);
        while let Some(busy) = self.earlier.front() {
            let cells = self.rank_at(1) - busy.rank;
            if busy.end(cells) >= before {
                break;
            }
            sum += busy.departures(cells);
            self.earlier.pop_front();
        }
        sum
    }

    /// Rank of the first cell whose busy period is remembered.
    pub(crate) fn first_busy_rank(&self) -> u64 {
        self.rank_at(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: u64 = 10;

    fn train(next: u64, spacing: u64) -> Train {
        Train {
            next,
            spacing,
            link: 2,
            place: 1,
        }
    }

    fn one_by_one(log: &mut ArrivalLog, train: Train, count: u64) {
        for nth in 0..count {
            let time = train.next + nth * train.spacing;
            let cell = std::iter::once((self::train(time, CELL), 1));
            log.close_piece();
            log.begin_busy(SimTime(time));
            log.take_in_trains(1, cell, SimTime(time));
        }
    }

    #[test]
    fn a_train_slower_than_the_port_leaves_the_log_of_its_cells_one_by_one() {
        let (mut log, mut cells) = (ArrivalLog::new(CELL), ArrivalLog::new(CELL));
        for (next, spacing, count) in [(100, 25, 3), (160, 11, 1), (170, 11, 4), (300, 40, 2)] {
            log.take_in_slow(train(next, spacing), count);
            one_by_one(&mut cells, train(next, spacing), count);
            assert_eq!(log.last_departure(), cells.last_departure());
        }
        let all = |log: &ArrivalLog| {
            let counts: Vec<u64> = (100..360).map(|at| log.departed(SimTime(at))).collect();
            let of_cells: Vec<_> = (0..log.taken_in())
                .map(|rank| (log.departure(rank), log.arrival(rank)))
                .collect();
            let sums: Vec<u128> = (0..log.taken_in())
                .map(|rank| log.departures_since(rank, SimTime(329)))
                .collect();
            (counts, of_cells, sums)
        };
        assert_eq!(all(&log), all(&cells));
        let ends = [110, 135, 160, 170, 180, 191, 202, 213, 310, 350];
        let departures: Vec<u64> = (0..10)
            .filter_map(|rank| Some(log.departure(rank)?.0))
            .collect();
        assert_eq!(departures, ends);
        let before =
            |log: &mut ArrivalLog| (log.trim_busy(SimTime(203)), log.departed(SimTime(213)));
        assert_eq!(before(&mut log), before(&mut cells));
    }
}
