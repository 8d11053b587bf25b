//! What the trains bring that are arriving at a multiplexing port, between two frame events: counts from
//! divisions, or cell by cell where they do not hold.

use super::{Arriving, MuxPort};
use crate::burst::train::{Moment, Train};
use skycell_units::SimTime;

impl MuxPort {
    /// Deals with all arrivals up to `moment`, that moment included, of frames whose head has come.
    #[inline(always)]
    pub(crate) fn advance(&mut self, moment: Moment) {
        let from = std::mem::replace(&mut self.now, moment);
        if !self.arriving.is_empty() {
            self.take_in_arriving(from.time);
        }
    }

    /// What has arrived after `from`, now included, is dealt with.
    fn take_in_arriving(&mut self, from: SimTime) {
        let moment = self.now;
        if let [arriving] = &self.arriving[..]
            && self.goes_through(&arriving.train)
        {
            return self.let_through(moment);
        }
        // With room for one cell only, the port falls idle while a train goes on.
        if self.queues.least_capacity == 1 || self.awaits_draws() {
            return self.step(moment);
        }
        let mut count = 0;
        for arriving in &mut self.arriving {
            let coming = arriving.train.count(moment);
            arriving.coming = coming as u32;
            count += coming;
        }
        if count == 0 {
            return;
        }
        let taken_in = self.log.taken_in();
        if self.slower > 0 && !self.is_busy_anyway(from, moment, count) {
            return self.step(moment);
        }
        if self.has_classes() && !self.have_room(from) {
            return self.step(moment);
        }
        if self.queues.mind_order {
            // What is told of each train below is told in the order of their next cells.
            self.log.close_piece();
            let order = |a: &Arriving| (a.train.next, a.train.link);
            self.arriving.sort_unstable_by_key(order);
        }
        let trains = self.arriving.iter().map(|a| a.train);
        // Departures at `from` are counted only where those known before leave it open.
        let longest = self.queues.first.queue_max;
        let may_be_longest = !self.has_classes()
            && taken_in - self.departed_before + count > longest
            && self.queued(from) + count > longest;
        if may_be_longest {
            let peak = self.peak(taken_in, moment, trains.clone());
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
        let coming = self.arriving.iter().map(|a| (a.train, a.coming));
        self.log.take_in_trains(count, coming, moment.time);
        if self.onward.is_some() || self.lossy.is_some() {
            self.send_trains(taken_in);
        }
        if may_be_longest && self.log.server.is_some() {
            let trains = self.arriving.iter().map(|a| a.train);
            let peak = self.peak(taken_in, moment, trains);
            self.queues.first.queue_max = self.queues.first.queue_max.max(peak);
        }
        self.note_taken_in();
    }

    /// The only train there is comes up to `moment` while the port is idle but for its cells.
    #[inline(never)]
    fn let_through(&mut self, moment: Moment) {
        let arriving = &mut self.arriving[0];
        let (train, count) = (arriving.train, arriving.train.count(moment));
        if count == 0 {
            return;
        }
        arriving.coming = count as u32;
        let ends = arriving.ends && arriving.left == arriving.coming;
        self.log.take_in_slow(train, count);
        self.queues.first.queue_max = self.queues.first.queue_max.max(1);
        self.send_through(&train, count as u32, ends);
        self.note_taken_in();
    }

    /// What comes of the arriving trains has been taken in.
    #[inline(always)]
    fn note_taken_in(&mut self) {
        for arriving in &mut self.arriving {
            let count = u64::from(arriving.coming);
            if count > 0 {
                let train = &mut arriving.train;
                let vc = &mut self.vcs[train.place as usize];
                vc.take_in(train, count);
                if let Some(queues) = &mut self.vc_queues {
                    queues.take_in(train, count);
                }
                let queue = self.queues.get_mut(vc.queue);
                queue.arrived += count;
                queue.policy.on_taken_in(vc.vc, count as u32);
                queue.integral.arrived(train.burst(count).sum());
                train.next += count * train.spacing;
                arriving.left -= count as u32;
                arriving.taken_in += count as u32;
                if arriving.left == 0 && arriving.ends {
                    vc.awaits_boundary = false;
                    self.active.note_boundary(train.place, false);
                } else if !vc.awaits_boundary {
                    vc.awaits_boundary = true;
                    self.active.note_boundary(train.place, true);
                }
            }
        }
    }

    /// Whether the port has cells without a break from `from` on up to `moment` even if none come, and
    /// `count` more cannot make the queue longer than it ever was.
    ///
    /// Trains slower than the port need not keep it busy; so else they are stepped.
    fn is_busy_anyway(&self, from: SimTime, moment: Moment, count: u64) -> bool {
        let (departed, _) = self.log.departed_if_busy(moment.time);
        let lasts = self.log.server.is_none() && departed < self.log.taken_in();
        if self.has_classes() {
            return lasts; // how long each queue may be is asked by itself
        }
        let queue = &self.queues.first;
        lasts && self.queued(from) + count <= queue.queue_max.min(queue.capacity)
    }

    /// Whether none of several queues becomes longer by what is coming after `from` than it ever was, or may be.
    fn have_room(&mut self, from: SimTime) -> bool {
        let sent = self.vc_queues.as_mut().expect("classes have queues");
        sent.serve_until(from.0);
        let (vcs, arriving) = (&self.vcs, &self.arriving);
        let mut queues = self.queues.iter().zip(0..);
        queues.all(|(queue, at)| {
            let of_queue = |a: &&Arriving| vcs[a.train.place as usize].queue == at;
            let coming = arriving.iter().filter(of_queue);
            let coming: u64 = coming.map(|a| u64::from(a.coming)).sum();
            let (_, held) = sent.sent_and_held(at as usize, from);
            held + coming <= queue.queue_max.min(queue.capacity)
        })
    }

    /// The longest queue on the way to `moment`, if nothing overflows; `taken_in` cells were taken in
    /// before `trains`.
    ///
    /// Trains no slower than the port bring at least one cell in each cell time, so the queue just
    /// before a departure never shrinks: the peak is before the last departure or at the end.
    pub(super) fn peak(
        &self,
        taken_in: u64,
        moment: Moment,
        trains: impl Iterator<Item = Train> + Clone,
    ) -> u64 {
        let taken_in_by = |moment: Moment| -> u64 {
            let counts = trains.clone().map(|train| train.count(moment));
            taken_in + counts.sum::<u64>()
        };
        // The trains keep the port busy, so departures go on at the present rhythm.
        let (departed, last) = self.log.departed_if_busy(moment.time);
        let at_end = taken_in_by(moment) - departed;
        let Some(before) = last.and_then(|last| last.0.checked_sub(1)) else {
            return at_end;
        };
        let moment = Moment {
            time: SimTime(before),
            link: u32::MAX,
        };
        at_end.max(taken_in_by(moment) + 1 - departed)
    }

    /// Deals with all arrivals before `time`.
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
