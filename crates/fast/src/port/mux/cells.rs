//! Cells that a multiplexing port deals with one by one.

use super::{FirstLoss, MuxPort, Refused};
use crate::burst::train::{Moment, Train};
use skycell_records::DiscardReason;
use skycell_units::SimTime;

impl MuxPort {
    /// Deals with arrivals up to `moment` one by one.
    pub(super) fn step(&mut self, moment: Moment) {
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
            let ends = self.arriving[i].ends;
            let taken_in = self.offer(at, queued, frame, place, left == 0 && ends);
            self.arriving[i].taken_in += u32::from(taken_in);
            if self.vcs[place as usize].discarding.is_some() && left > 0 {
                // The rest is under discard, but its last cell, which ends what was taken in.
                let taken_in = self.arriving.swap_remove(i).taken_in;
                self.slower -= u32::from(spacing > self.cell_time);
                self.log.close_piece();
                self.discard_middle(at, place, left - u32::from(ends), SimTime(spacing));
                self.refused.push(Refused {
                    place,
                    taken_in,
                    ends,
                });
            }
        }
    }

    /// One cell comes at `moment` and finds `queued` cells in all queues.
    pub(super) fn offer(
        &mut self,
        moment: Moment,
        queued: u64,
        frame: u32,
        place: u32,
        is_last: bool,
    ) -> bool {
        let held = self.queued_with(place, moment.time, queued);
        let vc = &mut self.vcs[place as usize];
        let queue = self.queues.get_mut(vc.queue);
        queue.arrived += 1;
        let has_room = held < queue.capacity;
        let keeps_last = queue.policy.keeps_last_cells();
        let reason = match vc.discarding {
            Some(_) if is_last && has_room && (vc.awaits_boundary || keeps_last) => None,
            Some(reason) => Some(reason),
            None if has_room => None,
            None => {
                if queue.policy.has_partial_discard() {
                    vc.discarding = Some(DiscardReason::RestOfFrame);
                }
                Some(DiscardReason::Overflow)
            }
        };
        if let Some(reason) = reason {
            queue.discarded.add(reason, 1);
            let discarded = &mut self.rest_of_vcs[place as usize].discarded;
            let nth = vc.taken_in + discarded.total();
            discarded.add(reason, 1);
            if !std::mem::replace(&mut vc.has_lost, true) {
                queue.frames_discarded.add(reason, 1);
                if let Some(losses) = &mut self.losses {
                    losses.push(FirstLoss {
                        moment,
                        nth,
                        frame,
                        reason,
                    });
                }
            }
            return false;
        }
        let train = Train::of_cell(moment, place);
        vc.take_in(&train, 1);
        if let Some(queues) = &mut self.vc_queues {
            queues.take_in(&train, 1);
        }
        queue.policy.on_taken_in(vc.vc, 1);
        queue.integral.arrived(u128::from(moment.time.0));
        queue.queue_max = queue.queue_max.max(held + 1);
        self.note_boundary(place, is_last);
        if queued == 0 {
            self.log.begin_busy(moment.time);
        }
        self.log.take_in_cell(moment, place);
        self.send(place, self.log.taken_in() - 1, 1, 1, is_last);
        true
    }

    /// A cell of the VC at `place` was taken in: does downstream wait for a boundary now?
    pub(super) fn note_boundary(&mut self, place: u32, is_last: bool) {
        let vc = &mut self.vcs[place as usize];
        if vc.awaits_boundary != is_last {
            return;
        }
        vc.awaits_boundary = !is_last;
        self.active.note_boundary(place, !is_last);
    }

    /// `cells` cells after the one at `moment` are under discard; those that come before the run
    /// ends are counted.
    pub(super) fn discard_middle(
        &mut self,
        moment: Moment,
        place: u32,
        cells: u32,
        spacing: SimTime,
    ) {
        let time_left = self.end.0 - 1 - moment.time.0;
        let count = u64::from(cells).min(time_left / spacing.0);
        let vc = &self.vcs[place as usize];
        let reason = vc.discarding.expect("the frame is under discard");
        let queue = self.queues.get_mut(vc.queue);
        queue.arrived += count;
        queue.discarded.add(reason, count);
        self.rest_of_vcs[place as usize]
            .discarded
            .add(reason, count);
    }
}
