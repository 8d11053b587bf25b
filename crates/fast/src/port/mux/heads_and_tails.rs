//! What happens at a multiplexing port when the first or the last cell of a frame comes, and what
//! becomes of the frame.

use super::{Arriving, MuxPort, Refused};
use crate::burst::due::Due;
use crate::burst::train::{Moment, Train};
use crate::port::inputs::Next;
use crate::port::vc_queues::Tail;
use skycell_traffic::ask_for;
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
    /// Its last cell was taken in and leaves then.
    Ends {
        departure: SimTime,
        /// Cells of the reassembly that it ends.
        cells: u32,
        /// Whether all of them are the frame's.
        of_one: bool,
    },
    /// The last cell that was taken in waits in its VC's queue, and nothing is to be told now.
    Waits,
    /// Its last cell was discarded, or this was a part without it.
    Over,
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
            self.look_ahead();
            let fate = match next {
                Next::Tail => self.on_tail(moment, &due),
                Next::Head => {
                    let spacing = due.spacing(self.inputs.spacing(lane));
                    if self.on_head(moment, &due, spacing) {
                        self.inputs.await_tail(lane, &due);
                        continue;
                    }
                    Fate::Over
                }
                Next::Whole => {
                    let spacing = self.inputs.spacing(lane);
                    let tail = due.tail(spacing);
                    self.on_frame(moment, tail, due.spacing(spacing), &due)
                }
            };
            self.inputs.pop();
            if let Some(vc) = self.in_parts.get_mut(due.place as usize) {
                vc.in_frame = !due.part.ends();
            }
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
    #[inline(always)]
    fn look_ahead(&self) {
        if let Some(place) = self.inputs.place_ahead() {
            ask_for(&self.vcs[place as usize]);
        }
    }

    /// A frame whose last cell has been chosen among those of all VCs.
    fn next_served(&mut self) -> Option<Ended> {
        let (departure, place, tail) = self.vc_queues.as_mut()?.next_ended()?;
        let fate = if self.goes_on(place) {
            Fate::Over
        } else {
            Fate::Ends {
                departure,
                cells: tail.cells,
                of_one: tail.of_one,
            }
        };
        Some(Ended {
            frame: tail.frame,
            vc: self.vcs[place as usize].vc,
            fate,
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
        let queued = self.begin(moment, due);
        let tail = Moment {
            time: tail,
            link: moment.link,
        };
        let vc = &self.vcs[due.place as usize];
        let is_alone = self.arriving.is_empty() && self.refused.is_empty();
        let comes_at_once = is_alone && !self.draws_at_choices() && !self.has_classes();
        let cells = u64::from(due.cells);
        let has_room = queued + cells <= self.queues.first.capacity;
        if vc.discarding.is_none() && comes_at_once {
            let train = Train {
                next: moment.time.0,
                spacing: spacing.0,
                link: moment.link,
                place: due.place,
            };
            let goes_through = self.goes_through(&train);
            if goes_through || has_room && spacing.0 <= self.cell_time {
                self.take_in_frame(train, queued, tail, due, goes_through);
                return self.after_part(due, due.cells.into(), due.part.ends());
            }
        }
        if due.cells == 1 {
            let ends = due.part.ends();
            let taken_in = self.offer(moment, queued, due.frame, due.place, ends);
            return self.after_part(due, u32::from(taken_in), taken_in && ends);
        }
        if self.take_in_head(moment, queued, due, spacing) {
            self.on_tail(tail, due)
        } else {
            Fate::Over
        }
    }

    /// A frame or a part of one begins to come at `moment`; if the VC is not in the midst of a frame, the
    /// policy decides. Returns X.
    #[inline(always)]
    fn begin(&mut self, moment: Moment, due: &Due) -> u64 {
        if let Some(onward) = &mut self.onward {
            onward.begin(due);
        }
        if let Some(lossy) = &mut self.lossy {
            lossy.begin(due.place, due.frame, due.part.is_new());
        }
        if let Some(vc) = self.in_parts.get_mut(due.place as usize) {
            if due.part.is_new() && vc.open_frame == Some(due.frame) {
                vc.open_frame = None; // it had the number before, and has gone
            }
            if vc.in_frame {
                self.advance(moment);
                return self.queued(moment.time);
            }
        }
        self.begin_frame(moment, due)
    }

    /// The only train there is comes in a stretch to the only queue, and all of it is taken in.
    fn take_in_frame(
        &mut self,
        train: Train,
        queued: u64,
        tail: Moment,
        due: &Due,
        goes_through: bool,
    ) {
        let cells = u64::from(due.cells);
        self.now = tail;
        self.queues.first.arrived += cells;
        let before = self.log.taken_in();
        if goes_through {
            self.log.take_in_slow(train, cells);
            self.queues.first.queue_max = self.queues.first.queue_max.max(1);
        } else {
            self.log.close_piece();
            if queued == 0 {
                self.log.begin_busy(SimTime(train.next));
            }
            let trains = std::iter::once(train);
            let taken_in = trains.clone().map(|train| (train, due.cells.into()));
            self.log.take_in_trains(cells, taken_in, tail.time);
            self.log.close_piece();
            if queued + cells > self.queues.first.queue_max {
                let peak = self.peak(before, tail, trains);
                self.queues.first.queue_max = self.queues.first.queue_max.max(peak);
            }
        }
        let queue = &mut self.queues.first;
        queue.integral.arrived(train.burst(cells).sum());
        let vc = &mut self.vcs[due.place as usize];
        vc.take_in(&train, cells);
        if let Some(queues) = &mut self.vc_queues {
            queues.take_in(&train, cells);
        }
        queue.policy.on_taken_in(vc.vc, cells as u32);
        self.note_boundary(due.place, due.part.ends());
        if goes_through {
            self.send_through(&train, due.cells.into(), due.part.ends());
        } else {
            self.send(due.place, before, 1, due.cells.into(), due.part.ends());
        }
    }

    /// The first of several cells of a frame comes at `moment`. False when nothing of the frame can be taken in,
    /// so that its last cell is of no interest.
    fn on_head(&mut self, moment: Moment, due: &Due, spacing: SimTime) -> bool {
        let queued = self.begin(moment, due);
        self.take_in_head(moment, queued, due, spacing)
    }

    /// The first of several cells of a frame on which the policy has decided.
    fn take_in_head(&mut self, moment: Moment, queued: u64, due: &Due, spacing: SimTime) -> bool {
        let (frame, place, ends) = (due.frame, due.place, due.part.ends());
        let cells = u32::from(due.cells);
        let taken_in = self.offer(moment, queued, frame, place, false);
        let vc = &self.vcs[place as usize];
        if vc.discarding.is_some() {
            let policy = &self.queues.get(vc.queue).policy;
            let keeps_end = vc.awaits_boundary || policy.keeps_last_cells();
            let has_end = ends && keeps_end;
            let middle = cells - 1 - u32::from(has_end);
            self.discard_middle(moment, place, middle, spacing);
            if has_end {
                self.refused.push(Refused {
                    place,
                    taken_in: u32::from(taken_in),
                    ends,
                });
            }
            return has_end;
        }
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
            ends,
        });
        true
    }

    /// The last of several cells of a frame, or of a part, comes at `moment`.
    fn on_tail(&mut self, moment: Moment, due: &Due) -> Fate {
        self.advance(moment);
        let (taken_in, has_last) = self.end_arriving(moment, due);
        self.after_part(due, taken_in, has_last && due.part.ends())
    }

    /// Of what came, up to just now, `taken_in` cells were taken in, and the frame's last one if `has_end`.
    #[inline(always)]
    fn after_part(&mut self, due: &Due, taken_in: u32, has_end: bool) -> Fate {
        let place = due.place;
        if self
            .lossy
            .as_ref()
            .is_some_and(|lossy| lossy.has_lost(place))
        {
            return self.after_lost_part(place, has_end);
        }
        let vc = &mut self.vcs[place as usize];
        if let Some(parts) = self
            .in_parts
            .get_mut(place as usize)
            .filter(|_| taken_in > 0)
        {
            let open = parts.open_frame.replace(due.frame);
            let is_other = vc.open_cells > 0 && open != Some(due.frame);
            parts.is_mixed |= is_other || u32::from(due.nth) != vc.open_cells;
        }
        if !has_end {
            vc.open_cells += taken_in;
            let queues = self.vc_queues.as_ref();
            let onward = queues.and(self.onward.as_mut()).filter(|_| taken_in > 0);
            let waits = onward.is_some_and(|onward| onward.end_without_last(place));
            return if waits { Fate::Waits } else { Fate::Over };
        }
        let reassembly = vc.open_cells + taken_in;
        let of_one = match self.in_parts.get_mut(place as usize) {
            Some(vc) => !std::mem::take(&mut vc.is_mixed),
            None => vc.open_cells == 0,
        };
        vc.open_cells = 0;
        if let Some(queues) = &mut self.vc_queues {
            let tail = Tail {
                frame: due.frame,
                cells: reassembly,
                of_one,
            };
            queues.take_in_tail(place, vc.taken_in, tail);
            return Fate::Waits;
        }
        let departure = self.log.last_departure();
        if self.queues.first.counts_vcs {
            self.active.take_in_tail(departure, place);
        }
        if self.goes_on(place) {
            return Fate::Over;
        }
        Fate::Ends {
            departure,
            cells: reassembly,
            of_one,
        }
    }

    /// The same of a frame that the link behind the port loses: nothing of it is open downstream.
    fn after_lost_part(&mut self, place: u32, has_end: bool) -> Fate {
        if has_end && self.queues.first.counts_vcs {
            self.active.take_in_tail(self.log.last_departure(), place);
        }
        Fate::Over
    }

    /// Ends the train; returns how many of its cells were taken in, and whether the last one was.
    fn end_arriving(&mut self, moment: Moment, due: &Due) -> (u32, bool) {
        let place = due.place;
        let of_vc = |arriving: &Arriving| arriving.train.place == place;
        if let Some(at) = self.arriving.iter().position(of_vc) {
            let ended = self.arriving.swap_remove(at);
            debug_assert_eq!(ended.left, 0);
            self.slower -= u32::from(ended.train.spacing > self.cell_time);
            self.log.close_piece();
            return (
                ended.taken_in,
                self.vcs[place as usize].taken_in_last(moment),
            );
        }
        let at = self
            .refused
            .iter()
            .position(|refused| refused.place == place);
        let refused = self
            .refused
            .swap_remove(at.expect("the frame was under discard"));
        if !refused.ends {
            return (refused.taken_in, false);
        }
        let queued = self.queued(moment.time);
        let has_end = self.offer(moment, queued, due.frame, place, true);
        (refused.taken_in + u32::from(has_end), has_end)
    }
}
