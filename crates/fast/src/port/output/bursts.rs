//! The cells of the bursts that are arriving at an output port, between two frame events: counts
//! from divisions, or cell by cell if these do not hold.

use super::{ArrivingFragment, OutputPort};
use crate::burst::input_burst::{InputBurst, Moment};
use skycell_units::SimTime;

impl OutputPort {
    /// Processes all arrivals up to `moment`, that moment included, of frames whose head has come.
    #[inline(always)]
    pub(crate) fn advance(&mut self, moment: Moment) {
        let from = std::mem::replace(&mut self.now, moment);
        if !self.arriving.is_empty() {
            self.accept_arriving(from.time);
        }
    }

    /// Accepts everything that has arrived after `from`, the current instant included.
    fn accept_arriving(&mut self, from: SimTime) {
        let moment = self.now;
        if let [arriving] = &self.arriving[..]
            && self.passes_idle(&arriving.burst)
        {
            return self.pass_idle(moment);
        }
        // With room for one cell only, the port falls idle while a burst goes on.
        if self.queues.least_capacity == 1 || self.awaits_draws() {
            return self.step(moment);
        }
        let mut count = 0;
        for arriving in &mut self.arriving {
            let arrivals = arriving.burst.count(moment);
            arriving.arrivals = arrivals as u32;
            count += arrivals;
        }
        if count == 0 {
            return;
        }
        let accepted = self.log.accepted();
        if self.slower > 0 && !self.is_busy_anyway(from, moment, count) {
            return self.step(moment);
        }
        if self.has_classes() && !self.have_room(from) {
            return self.step(moment);
        }
        if self.queues.mind_order {
            // What is told of each burst below is told in the order of their next cells.
            self.log.close_piece();
            let order = |a: &ArrivingFragment| (a.burst.next, a.burst.link);
            self.arriving.sort_unstable_by_key(order);
        }
        let bursts = self.arriving.iter().map(|a| a.burst);
        // Departures at `from` are counted only where those known before leave it open.
        let longest = self.queues.first.queue_max;
        let may_be_longest = !self.has_classes()
            && accepted - self.departed_before + count > longest
            && self.queued(from) + count > longest;
        if may_be_longest {
            let peak = self.peak(accepted, moment, bursts.clone());
            let queue = &mut self.queues.first;
            if peak > queue.capacity {
                return self.step(moment);
            }
            // Where queues share the link and this one runs dry on the way, departures of the
            // cells that come are not known yet, and the peak is too large.
            if self.log.server.is_none() {
                queue.queue_max = queue.queue_max.max(peak);
            }
        }
        let arrivals = self.arriving.iter().map(|a| (a.burst, a.arrivals));
        self.log.accept_bursts(count, arrivals, moment.time);
        if self.forwarding.is_some() || self.lossy.is_some() {
            self.send_bursts(accepted);
        }
        if may_be_longest && self.log.server.is_some() {
            let bursts = self.arriving.iter().map(|a| a.burst);
            let peak = self.peak(accepted, moment, bursts);
            self.queues.first.queue_max = self.queues.first.queue_max.max(peak);
        }
        self.note_accepted();
    }

    /// The only burst there is comes up to `moment` while the port is idle but for its cells.
    #[inline(never)]
    fn pass_idle(&mut self, moment: Moment) {
        let arriving = &mut self.arriving[0];
        let (burst, count) = (arriving.burst, arriving.burst.count(moment));
        if count == 0 {
            return;
        }
        arriving.arrivals = count as u32;
        let eom = arriving.eom && arriving.left == arriving.arrivals;
        self.log.accept_slow(burst, count);
        self.queues.first.queue_max = self.queues.first.queue_max.max(1);
        self.send_passing(&burst, count as u32, eom);
        self.note_accepted();
    }

    /// Notes that the cells of the arriving bursts have been accepted.
    #[inline(always)]
    fn note_accepted(&mut self) {
        for arriving in &mut self.arriving {
            let count = u64::from(arriving.arrivals);
            if count > 0 {
                let burst = &mut arriving.burst;
                let vc = &mut self.vcs[burst.port_vc.index()];
                vc.accept(burst, count);
                if let Some(queues) = &mut self.vc_queues {
                    queues.accept(burst, count);
                }
                let queue = self.queues.get_mut(vc.queue);
                queue.arrived += count;
                queue.policy.on_accepted(vc.vc, count as u32);
                queue.integral.arrived(burst.next_cells(count).sum());
                burst.next += count * burst.spacing;
                arriving.left -= count as u32;
                arriving.accepted += count as u32;
                if arriving.left == 0 && arriving.eom {
                    vc.awaits_eom = false;
                    self.active.note_eom(burst.port_vc, false);
                } else if !vc.awaits_eom {
                    vc.awaits_eom = true;
                    self.active.note_eom(burst.port_vc, true);
                }
            }
        }
    }

    /// Returns whether the port has cells without a break from `from` up to `moment` even if none
    /// come, and `count` more cannot make the queue longer than it ever was.
    ///
    /// Bursts slower than the port need not keep it busy; so else they are stepped.
    fn is_busy_anyway(&self, from: SimTime, moment: Moment, count: u64) -> bool {
        let (departed, _) = self.log.departed_if_busy(moment.time);
        let lasts = self.log.server.is_none() && departed < self.log.accepted();
        if self.has_classes() {
            return lasts; // how long each queue may be is asked by itself
        }
        let queue = &self.queues.first;
        lasts && self.queued(from) + count <= queue.queue_max.min(queue.capacity)
    }

    /// Returns whether no queue becomes longer by the arrivals after `from` than it ever was, or
    /// may be.
    fn have_room(&mut self, from: SimTime) -> bool {
        let sent = self.vc_queues.as_mut().expect("classes have queues");
        sent.serve_until(from.0);
        let (vcs, arriving) = (&self.vcs, &self.arriving);
        let mut queues = self.queues.iter().zip(0..);
        queues.all(|(queue, at)| {
            let of_queue = |a: &&ArrivingFragment| vcs[a.burst.port_vc.index()].queue == at;
            let arrivals = arriving.iter().filter(of_queue);
            let arrivals: u64 = arrivals.map(|a| u64::from(a.arrivals)).sum();
            let (_, held) = sent.sent_and_held(at as usize, from);
            held + arrivals <= queue.queue_max.min(queue.capacity)
        })
    }

    /// The longest queue on the way to `moment`, if nothing overflows; `accepted` cells were accepted
    /// before `bursts`.
    ///
    /// Bursts no slower than the port bring at least one cell in each cell time, so the queue just
    /// before a departure never shrinks: the peak is before the last departure or at the end.
    pub(super) fn peak(
        &self,
        accepted: u64,
        moment: Moment,
        bursts: impl Iterator<Item = InputBurst> + Clone,
    ) -> u64 {
        let accepted_by = |moment: Moment| -> u64 {
            let counts = bursts.clone().map(|burst| burst.count(moment));
            accepted + counts.sum::<u64>()
        };
        // The bursts keep the port busy, so departures go on at the present rhythm.
        let (departed, last) = self.log.departed_if_busy(moment.time);
        let at_end = accepted_by(moment) - departed;
        let Some(before) = last.and_then(|last| last.0.checked_sub(1)) else {
            return at_end;
        };
        let moment = Moment {
            time: SimTime(before),
            link: u32::MAX,
        };
        at_end.max(accepted_by(moment) + 1 - departed)
    }

    /// Processes all arrivals before `time`.
    pub(crate) fn advance_before(&mut self, time: SimTime) {
        let last = time.0.checked_sub(1);
        if let Some(last) = last.filter(|&last| last >= self.now.time.0) {
            self.advance(Moment {
                time: SimTime(last),
                link: u32::MAX,
            });
        }
    }
}
