//! Cells that an output port processes one by one.

use super::{FirstLoss, OutputPort, Refused};
use crate::burst::input_burst::{InputBurst, Moment};
use skycell_records::DiscardReason;
use skycell_units::{FrameId, PortVc, SimTime};

impl OutputPort {
    /// Processes arrivals up to `moment` one by one.
    pub(super) fn step(&mut self, moment: Moment) {
        // A cell that is lost here breaks the rhythm of the bursts.
        self.log.close_piece();
        loop {
            let next = self.arriving.iter().enumerate().map(|(i, a)| {
                let at = Moment {
                    time: SimTime(a.burst.next),
                    link: a.burst.link,
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
            arriving.burst.next += arriving.burst.spacing;
            let (frame, port_vc) = (arriving.frame, arriving.burst.port_vc);
            let (left, spacing) = (arriving.left, arriving.burst.spacing);
            self.stepped += 1;
            let queued = self.queued(at.time);
            let eom = self.arriving[i].eom;
            let accepted = self.offer(at, queued, frame, port_vc, left == 0 && eom);
            self.arriving[i].accepted += u32::from(accepted);
            if self.vcs[port_vc.index()].discarding.is_some() && left > 0 {
                // The rest is under discard, but its last cell, which ends what was accepted.
                let accepted = self.arriving.swap_remove(i).accepted;
                self.slower -= u32::from(spacing > self.cell_time);
                self.log.close_piece();
                self.discard_middle(at, port_vc, left - u32::from(eom), SimTime(spacing));
                self.refused.push(Refused {
                    port_vc,
                    accepted,
                    eom,
                });
            }
        }
    }

    /// One cell comes at `moment` and finds `queued` cells in all queues.
    pub(super) fn offer(
        &mut self,
        moment: Moment,
        queued: u64,
        frame: FrameId,
        port_vc: PortVc,
        eom: bool,
    ) -> bool {
        let held = self.queued_with(port_vc, moment.time, queued);
        let vc = &mut self.vcs[port_vc.index()];
        let queue = self.queues.get_mut(vc.queue);
        queue.arrived += 1;
        let has_room = held < queue.capacity;
        let keeps_last = queue.policy.keeps_last_cells();
        let reason = match vc.discarding {
            Some(_) if eom && has_room && (vc.awaits_eom || keeps_last) => None,
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
            let discarded = &mut self.rest_of_vcs[port_vc.index()].discarded;
            let nth = vc.accepted + discarded.total();
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
        let burst = InputBurst::of_cell(moment, port_vc);
        vc.accept(&burst, 1);
        if let Some(queues) = &mut self.vc_queues {
            queues.accept(&burst, 1);
        }
        queue.policy.on_accepted(vc.vc, 1);
        queue.integral.arrived(u128::from(moment.time.0));
        queue.queue_max = queue.queue_max.max(held + 1);
        self.note_eom(port_vc, eom);
        if queued == 0 {
            self.log.begin_busy(moment.time);
        }
        self.log.accept_cell(moment, port_vc);
        self.send(port_vc, self.log.accepted() - 1, 1, 1, eom);
        true
    }

    /// A cell of the VC at `port_vc` was accepted: does downstream wait for a boundary now?
    pub(super) fn note_eom(&mut self, port_vc: PortVc, eom: bool) {
        let vc = &mut self.vcs[port_vc.index()];
        if vc.awaits_eom != eom {
            return;
        }
        vc.awaits_eom = !eom;
        self.active.note_eom(port_vc, !eom);
    }

    /// `cells` cells after the one at `moment` are under discard; those that come before the run
    /// ends are counted.
    pub(super) fn discard_middle(
        &mut self,
        moment: Moment,
        port_vc: PortVc,
        cells: u32,
        spacing: SimTime,
    ) {
        let time_left = self.end.0 - 1 - moment.time.0;
        let count = u64::from(cells).min(time_left / spacing.0);
        let vc = &self.vcs[port_vc.index()];
        let reason = vc.discarding.expect("the frame is under discard");
        let queue = self.queues.get_mut(vc.queue);
        queue.arrived += count;
        queue.discarded.add(reason, count);
        self.rest_of_vcs[port_vc.index()]
            .discarded
            .add(reason, count);
    }
}
