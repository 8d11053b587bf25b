//! The order in which cells were accepted at an output port, kept as pieces between frame
//! events where somebody asks for it, and the times at which the port was busy.
//!
//! Cells leave in the order in which they came. So what has left by a time is found from how many
//! have left (a division) and where in the order of arrival that many lie (a piece, and a division).

use super::server::Server;
use crate::burst::Burst;
use crate::burst::input_burst::{InputBurst, Moment, nth_arrival};
use skycell_units::{PortVc, SimTime};
use std::collections::VecDeque;
use std::ops::Range;

/// Cells of one burst that were accepted while one set of bursts was arriving. Those of the others of
/// the set lie beside it: together they are a piece.
#[derive(Clone, Copy, Debug)]
struct LoggedBurst {
    /// Cells accepted before the piece.
    seq: u64,
    /// As it stood before.
    burst: InputBurst,
    cells: u32,
}

/// A time over which the port sent without a break.
#[derive(Clone, Copy, Debug)]
struct BusyPeriod {
    start: SimTime,
    /// Cells accepted before it.
    seq: u64,
    /// From one departure to the next: the cell time, but where queues share the link, or cells come slower than they
    /// leave; then `start` is so long before the first departure.
    spacing: u64,
}

impl BusyPeriod {
    /// When its first `cells` cells have left.
    fn end(&self, cells: u64) -> SimTime {
        self.start + SimTime(cells * self.spacing)
    }

    /// Cells that have left by `now`, not before its start, those before it included, if it goes on.
    fn departed(&self, now: SimTime) -> u64 {
        self.seq + (now - self.start).0 / self.spacing
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
    /// So are busy periods that end then.
    busy_kept_from: SimTime,
    /// Piece by piece.
    logged: Vec<LoggedBurst>,
    /// Bursts dropped from the front.
    dropped: u64,
    /// The last busy period that has begun, and those before it, in order.
    present: BusyPeriod,
    earlier: VecDeque<BusyPeriod>,
    /// Sum of the departure times of the cells of those that were not kept.
    not_kept: u128,
    /// Who decides when cells leave, where queues share the link.
    pub(crate) server: Option<Box<Server>>,
    /// The last departure that it has decided.
    served_until: SimTime,
    /// Cells accepted so far.
    accepted: u64,
    /// Bursts of the last piece, if those are still arriving.
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
            present: BusyPeriod {
                start: SimTime::ZERO,
                seq: 0,
                spacing: cell_time,
            },
            earlier: VecDeque::new(),
            not_kept: 0,
            server: None,
            served_until: SimTime::ZERO,
            accepted: 0,
            open: 0,
        }
    }

    /// Nobody asks for the order of cells that leave before `order`, nor when those left that left before
    /// `departures`.
    pub(crate) fn keep_from(&mut self, order: SimTime, departures: SimTime) {
        (self.kept_from, self.busy_kept_from) = (order, departures);
    }

    /// Cells accepted so far.
    pub(crate) fn accepted(&self) -> u64 {
        self.accepted
    }

    /// The set of arriving bursts changes.
    pub(crate) fn close_piece(&mut self) {
        self.open = 0;
    }

    /// `count` cells were accepted by `until`: so many from each of `bursts`, which stand as they were before, and
    /// in the same order while the piece is not closed.
    pub(crate) fn accept_bursts(
        &mut self,
        count: u64,
        bursts: impl Iterator<Item = (InputBurst, u32)>,
        until: SimTime,
    ) {
        if self.open > 0 {
            let first = self.logged.len() - self.open;
            let open = &mut self.logged[first..];
            open.iter_mut()
                .zip(bursts)
                .for_each(|(logged, (_, cells))| logged.cells += cells);
        } else if self.keeps_next(count) {
            let (seq, before) = (self.accepted, self.logged.len());
            let bursts = bursts.map(|(burst, cells)| LoggedBurst { seq, burst, cells });
            self.logged.extend(bursts);
            self.open = self.logged.len() - before;
        }
        self.accepted += count;
        if self.server.is_some() {
            self.serve(count, until);
        }
    }

    /// `count` cells of a burst were accepted that is slower than the port, and has it for itself: each leaves before the
    /// next comes.
    pub(crate) fn accept_slow(&mut self, burst: InputBurst, count: u64) {
        let seq = self.accepted;
        let last = SimTime(burst.next + (count - 1) * burst.spacing);
        self.open = 0;
        if self.kept_from == SimTime::ZERO || last + SimTime(self.cell_time) >= self.kept_from {
            let cells = count as u32;
            self.logged.push(LoggedBurst { seq, burst, cells });
        }
        if count > 1 {
            self.begin(BusyPeriod {
                start: SimTime(burst.next + self.cell_time - burst.spacing),
                seq,
                spacing: burst.spacing,
            });
        }
        self.begin(BusyPeriod {
            start: last,
            seq: seq + count - 1,
            spacing: self.cell_time,
        });
        self.accepted += count;
    }

    /// Returns whether the order of the next `count` cells is recorded.
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
            let seq = self.accepted - left;
            // If the first is there before its choice, so are those after it, which come as fast as any
            // can leave.
            let mut known = left;
            if !server.is_busy_beyond(until) {
                let (arrival, _) = self.arrival(seq).expect("servers ask for every cell");
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
            self.note_departures(seq, departures);
            left -= departures.count;
        }
        self.server = Some(server);
    }

    /// Returns whether the cells that come now are those of one burst, a cell time apart.
    fn comes_in_step(&self) -> bool {
        let piece = self.piece_of(self.logged.len() - 1);
        piece.len() == 1 && self.logged[piece.start].burst.spacing == self.cell_time
    }

    /// Cells from `seq` on leave.
    fn note_departures(&mut self, seq: u64, departures: Burst) {
        let between = (departures.first - self.served_until).0;
        if self.present.spacing != between {
            self.begin(BusyPeriod {
                start: self.served_until,
                seq,
                spacing: between,
            });
        }
        if departures.count > 1 && departures.spacing.0 != between {
            self.begin(BusyPeriod {
                start: departures.first,
                seq: seq + 1,
                spacing: departures.spacing.0,
            });
        }
        self.served_until = departures.last();
    }

    /// One cell was accepted at `moment`.
    pub(crate) fn accept_cell(&mut self, moment: Moment, port_vc: PortVc) {
        self.open = 0;
        if self.keeps_next(1) {
            self.logged.push(LoggedBurst {
                seq: self.accepted,
                burst: InputBurst::of_cell(moment, port_vc),
                cells: 1,
            });
        }
        self.accepted += 1;
        if self.server.is_some() {
            self.serve(1, moment.time);
        }
    }

    /// The next cell finds the port idle.
    pub(crate) fn begin_busy(&mut self, start: SimTime) {
        if self.server.is_none() {
            self.begin(BusyPeriod {
                start,
                seq: self.accepted,
                spacing: self.cell_time,
            });
        }
    }

    fn begin(&mut self, busy: BusyPeriod) {
        // Before the first there is one without cells.
        if self.present.seq < busy.seq {
            let cells = busy.seq - self.present.seq;
            if self.present.end(cells) < self.busy_kept_from {
                self.not_kept += self.present.departures(cells);
            } else {
                self.earlier.push_back(self.present);
            }
        }
        self.present = busy;
    }

    /// When the last cell accepted will have left.
    pub(crate) fn last_departure(&self) -> SimTime {
        self.present.end(self.accepted - self.present.seq)
    }

    /// Cells that have left by `now`, that instant included.
    #[inline(always)]
    pub(crate) fn departed(&self, now: SimTime) -> u64 {
        // The present busy period answers nearly always.
        if self.present.start <= now {
            self.present.departed(now).min(self.accepted)
        } else {
            self.departed_earlier(now)
        }
    }

    fn departed_earlier(&self, now: SimTime) -> u64 {
        let after = self.earlier.partition_point(|busy| busy.end(1) <= now);
        let end = self.seq_at(after);
        let busy = after.checked_sub(1).map(|at| &self.earlier[at]);
        busy.map_or(end, |busy| busy.departed(now).min(end))
    }

    /// Rank of the first cell of the `at`-th busy period that is remembered.
    fn seq_at(&self, at: usize) -> u64 {
        self.earlier
            .get(at)
            .map_or(self.present.seq, |busy| busy.seq)
    }

    /// Where queues share the link, what is known: cells accepted that will have left by `now`, and
    /// when the last of them does. Else of the present busy period, if it goes on: the cells that
    /// will have left by `now` (with all those of earlier periods), and when the last of them does,
    /// if any has.
    pub(crate) fn departed_if_busy(&self, now: SimTime) -> (u64, Option<SimTime>) {
        if self.server.is_some() {
            let departed = self.departed(now);
            let last = departed.checked_sub(1).and_then(|seq| self.departure(seq));
            return (departed, last);
        }
        let busy = &self.present;
        let count = now.since(busy.start).0 / self.cell_time;
        let last = busy.start + SimTime(count * self.cell_time);
        (busy.seq + count, (count > 0).then_some(last))
    }

    /// When the cell of `seq` (from 0) leaves; none if its busy period is forgotten.
    pub(crate) fn departure(&self, seq: u64) -> Option<SimTime> {
        let busy = if self.present.seq <= seq {
            &self.present
        } else {
            let after = self.earlier.partition_point(|busy| busy.seq <= seq);
            &self.earlier[after.checked_sub(1)?]
        };
        Some(busy.start + SimTime((seq + 1 - busy.seq) * busy.spacing))
    }

    /// Sum of the departure times of all cells that have left by `now`; all busy periods from the
    /// run's start must have been handed to `settled`, see [`ArrivalLog::trim`].
    pub(crate) fn departures_since(&self, seq: u64, now: SimTime) -> u128 {
        let departed = self.departed(now);
        let mut sum = 0;
        let all = self.earlier.iter().chain([&self.present]);
        for (busy, at) in all.zip(1..) {
            let end = if at > self.earlier.len() {
                self.accepted
            } else {
                self.seq_at(at)
            };
            let (from, to) = (busy.seq.max(seq), end.min(departed));
            if from < to {
                let count = u128::from(to - from);
                let first = u128::from(from - busy.seq + 1);
                let last = u128::from(to - busy.seq);
                sum += count * u128::from(busy.start.0)
                    + (first + last) * count / 2 * u128::from(busy.spacing);
            }
        }
        sum
    }

    /// When the cell of `seq` (from 0, accepted) came, and its VC's index; none if it was not kept.
    pub(crate) fn arrival(&self, seq: u64) -> Option<(Moment, PortVc)> {
        let after = self.logged.partition_point(|logged| logged.seq <= seq);
        let piece = self.piece_of(after.checked_sub(1)?);
        Some(self.arrival_in(piece, seq))
    }

    /// The same of a cell of that piece.
    fn arrival_in(&self, piece: Range<usize>, seq: u64) -> (Moment, PortVc) {
        let nth = seq - self.logged[piece.start].seq;
        let count = piece.len();
        let bursts = self.logged[piece].iter().map(|logged| logged.burst);
        nth_arrival(bursts, count, nth)
    }

    /// The piece that the burst at `at` belongs to.
    fn piece_of(&self, at: usize) -> Range<usize> {
        let seq = self.logged[at].seq;
        let (mut first, mut end) = (at, at + 1);
        while first > 0 && self.logged[first - 1].seq == seq {
            first -= 1;
        }
        while self.logged.get(end).is_some_and(|next| next.seq == seq) {
            end += 1;
        }
        first..end
    }

    /// Tells what is kept, in order: each burst of a piece, and how many of its cells were accepted there.
    pub(crate) fn each_burst(&self, mut report: impl FnMut(&InputBurst, u64)) {
        for logged in &self.logged {
            report(&logged.burst, logged.cells.into());
        }
    }

    /// Tells of the pieces that have wholly left when `departed` cells have, from the burst `first` on, counted
    /// among all ever kept: the indices of their VCs, and how many cells of each. The last piece stays. Returns
    /// the first burst of which cells may be left.
    pub(crate) fn each_departed(
        &self,
        first: u64,
        departed: u64,
        mut report: impl FnMut(PortVc, u64),
    ) -> u64 {
        let from = (first - self.dropped) as usize;
        let mut begin = from;
        let begun = self.logged[from..].iter().zip(from..);
        for (logged, at) in begun.take_while(|(logged, _)| logged.seq <= departed) {
            if logged.seq != self.logged[begin].seq {
                for logged in &self.logged[begin..at] {
                    report(logged.burst.port_vc, logged.cells.into());
                }
                begin = at;
            }
        }
        first + (begin - from) as u64
    }

    /// Tells the same of the piece that begins with the burst `first`, of which not all cells have left when
    /// `departed` have: how many of each VC have.
    pub(crate) fn each_begun(
        &self,
        first: u64,
        departed: u64,
        mut report: impl FnMut(PortVc, u64),
    ) {
        let at = (first - self.dropped) as usize;
        let Some(logged) = self.logged.get(at).filter(|first| first.seq < departed) else {
            return;
        };
        let piece = self.piece_of(at);
        if piece.len() == 1 {
            return report(logged.burst.port_vc, departed - logged.seq);
        }
        let (until, _) = self.arrival_in(piece.clone(), departed - 1);
        for logged in &self.logged[piece] {
            report(logged.burst.port_vc, logged.burst.count(until));
        }
    }

    /// Forgets what is needed for cells that left before `before` only.
    pub(crate) fn trim(&mut self, before: SimTime) {
        let departed = self.departed(before);
        let begun = self.logged.partition_point(|logged| logged.seq < departed);
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
            let cells = self.seq_at(1) - busy.seq;
            if busy.end(cells) >= before {
                break;
            }
            sum += busy.departures(cells);
            self.earlier.pop_front();
        }
        sum
    }

    /// Rank of the first cell whose busy period is remembered.
    pub(crate) fn first_busy_seq(&self) -> u64 {
        self.seq_at(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: u64 = 10;

    fn burst(next: u64, spacing: u64) -> InputBurst {
        InputBurst {
            next,
            spacing,
            link: 2,
            port_vc: PortVc(1),
        }
    }

    fn one_by_one(log: &mut ArrivalLog, burst: InputBurst, count: u64) {
        for nth in 0..count {
            let time = burst.next + nth * burst.spacing;
            let cell = std::iter::once((self::burst(time, CELL), 1));
            log.close_piece();
            log.begin_busy(SimTime(time));
            log.accept_bursts(1, cell, SimTime(time));
        }
    }

    #[test]
    fn a_train_slower_than_the_port_leaves_the_log_of_its_cells_one_by_one() {
        let (mut log, mut cells) = (ArrivalLog::new(CELL), ArrivalLog::new(CELL));
        for (next, spacing, count) in [(100, 25, 3), (160, 11, 1), (170, 11, 4), (300, 40, 2)] {
            log.accept_slow(burst(next, spacing), count);
            one_by_one(&mut cells, burst(next, spacing), count);
            assert_eq!(log.last_departure(), cells.last_departure());
        }
        let all = |log: &ArrivalLog| {
            let counts: Vec<u64> = (100..360).map(|at| log.departed(SimTime(at))).collect();
            let of_cells: Vec<_> = (0..log.accepted())
                .map(|seq| (log.departure(seq), log.arrival(seq)))
                .collect();
            let sums: Vec<u128> = (0..log.accepted())
                .map(|seq| log.departures_since(seq, SimTime(329)))
                .collect();
            (counts, of_cells, sums)
        };
        assert_eq!(all(&log), all(&cells));
        let ends = [110, 135, 160, 170, 180, 191, 202, 213, 310, 350];
        let departures: Vec<u64> = (0..10)
            .filter_map(|seq| Some(log.departure(seq)?.0))
            .collect();
        assert_eq!(departures, ends);
        let before =
            |log: &mut ArrivalLog| (log.trim_busy(SimTime(203)), log.departed(SimTime(213)));
        assert_eq!(before(&mut log), before(&mut cells));
    }
}
