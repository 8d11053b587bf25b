//! What happens at a multiplexing port when the first or the last cell of a frame comes, and what
//! becomes of the frame.

use super::{Arriving, MuxPort, arrival_times};
use crate::arrivals::{Moment, Train};
use crate::inputs::{Due, Next, tail};
use crate::vc_queues::Tail;
use skycell_units::SimTime;

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
    /// Its last cell was taken in and waits in its VC's queue.
    Waits,
    /// Its last cell was discarded.
    Lost,
}

impl MuxPort {
    /// Deals with heads and tails before `limit` until a frame has ended.
    pub(crate) fn next_end(&mut self, limit: SimTime) -> Option<Ended> {
        loop {
            if let Some(ended) = self.next_served() {
                return Some(ended);
            }
            let Some((next, lane, moment, due)) = self.inputs.next_before(limit) else {
                return self.serve_before(limit);
            };
            let fate = match next {
                Next::Tail => self.on_tail(moment, &due),
                Next::Head => {
                    let spacing = self.inputs.spacing(lane);
                    if self.on_head(moment, &due, spacing) {
                        self.inputs.await_tail(lane);
                        continue;
                    }
                    Fate::Lost
                }
                Next::Whole => {
                    let spacing = self.inputs.spacing(lane);
                    self.on_frame(moment, tail(&due, spacing), spacing, &due)
                }
            };
            self.inputs.pop(lane);
            if fate == Fate::Waits {
                continue;
            }
            return Some(Ended {
                frame: due.frame,
                vc: self.vcs[due.place as usize].vc,
                fate,
            });
        }
    }

    /// Reads a little of what the next `frames` frames will need: all reads are under way at once.
    pub(crate) fn look_ahead(&self, frames: usize) {
        let places = self.inputs.places_ahead(3 * frames);
        let seen = places.fold(0, |seen, place| seen ^ self.vcs[place as usize].taken_in);
        std::hint::black_box(seen);
    }

    /// A frame whose last cell has been chosen among those of all VCs.
    fn next_served(&mut self) -> Option<Ended> {
        let (departure, vc, tail) = self.vc_queues.as_mut()?.next_ended()?;
        Some(Ended {
            frame: tail.frame,
            vc,
            fate: Fate::Ends {
                departure,
                cells: tail.cells,
                whole: tail.whole,
            },
        })
    }

    /// No head or tail comes before `limit`: where VCs have queues, serves them up to there.
    fn serve_before(&mut self, limit: SimTime) -> Option<Ended> {
        self.vc_queues.as_ref()?;
        self.advance_before(limit);
        self.vc_queues.as_mut()?.serve_until(limit.0);
        self.next_served()
    }

    /// A frame comes, from its head at `moment` to its tail; no other head or tail comes meanwhile.
    fn on_frame(&mut self, moment: Moment, tail: SimTime, spacing: SimTime, due: &Due) -> Fate {
        let queued = self.begin_frame(moment, due);
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
            return self.end_of_reassembly(due.frame, due.place, due.cells, due.cells);
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
        self.now = tail;
        self.arrived += cells;
        let before = self.log.taken_in();
        let trains = std::iter::once(train);
        self.log.take_in_trains(cells, trains.clone(), tail.time);
        self.log.close_piece();
        if queued + cells > self.queue_max {
            let peak = self.peak(before, tail, trains);
            self.queue_max = self.queue_max.max(peak);
        }
        self.integral.arrived(arrival_times(&train, cells));
        let vc = &mut self.vcs[due.place as usize];
        vc.take_in(&train, cells);
        if self.keeps_runs {
            self.runs[due.place as usize].note(&train, cells, self.needed);
        }
        if let Some(queues) = &mut self.vc_queues {
            queues.take_in(&train, cells);
        }
        self.policy.on_taken_in(vc.vc, cells as u32);
        self.note_boundary(due.place, true);
    }

    /// The first cell of a frame comes at `moment`. False when nothing of the frame can be taken in,
    /// so that its last cell is of no interest.
    fn on_head(&mut self, moment: Moment, due: &Due, spacing: SimTime) -> bool {
        let queued = self.begin_frame(moment, due);
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
                coming: 0,
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
            return self.end_of_reassembly(frame, place, taken_in, cells);
        }
        self.vcs[place as usize].open_cells += taken_in;
        Fate::Lost
    }

    /// The last cell of a frame was taken in just now, as were `taken_in` of its `cells` cells.
    fn end_of_reassembly(&mut self, frame: u32, place: u32, taken_in: u32, cells: u32) -> Fate {
        let vc = &mut self.vcs[place as usize];
        let reassembly = vc.open_cells + taken_in;
        let whole = vc.open_cells == 0 && taken_in == cells;
        vc.open_cells = 0;
        if let Some(queues) = &mut self.vc_queues {
            let tail = Tail {
                frame,
                cells: reassembly,
                whole,
            };
            queues.take_in_tail(place, vc.taken_in, tail);
            return Fate::Waits;
        }
        let departure = self.log.last_departure();
        if self.counts_vcs {
            self.active.take_in_tail(departure, place);
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
}
