//! What a source port tells: samples during the run, what has left when it ends, and its record.

use super::packets::Packets;
use super::{Sending, SourcePort};
use skycell_records::{PortRecord, QueueRecord, VcQueueRecord};
use skycell_units::{CELL_OCTETS, PortVc, SimTime};

impl SourcePort {
    /// X at `now`, departures done, and the octets of these units; it is sampled.
    pub(crate) fn sample(&mut self, now: SimTime) -> (u32, u64) {
        self.settle(now);
        let queued = self.queued(now);
        self.rest.samples.add(queued);
        let of_cells = u64::from(queued) * CELL_OCTETS;
        let packets = self.rest.packets.as_ref();
        (queued, packets.map_or(of_cells, Packets::octets))
    }

    /// Samples every VC's units at `now`, and reports them.
    pub(crate) fn sample_each_vc(&mut self, now: SimTime, report: &mut dyn FnMut(u32, u32)) {
        self.settle(now);
        for port_vc in PortVc::all().take(self.rest.vcs.len()) {
            let sent = self.sent_of(now, port_vc);
            let vc = &mut self.rest.vcs[port_vc.index()];
            vc.samples.add(vc.queued - sent);
            report(vc.vc, vc.queued - sent);
        }
    }

    /// Ends the run: takes back what does not leave before `end`.
    pub(crate) fn finish(&mut self, end: SimTime) {
        let last = SimTime(end.0 - 1);
        self.settle(last);
        self.rest.integral.stayed(self.stayed);
        for at in self.left..self.remembered {
            let Some(&frame) = self.frame(at) else {
                continue;
            };
            let done = self.departed_of(&frame, last);
            let here = u64::from(self.units(&frame) - done);
            let departures = match self.kind.carries_packets {
                true => u128::from(frame.end.0),
                false => {
                    u128::from(self.start(&frame).0) * u128::from(here)
                        + self.sending(frame.size.into())
                        - self.sending(done.into())
                }
            };
            self.rest.integral.not_departed(departures);
            self.rest.vcs[frame.port_vc.index()].remaining += here;
        }
        self.rest.departed = self.departed(self.queued(last));
    }

    /// Time during which the link is busy before `end`; after `finish`.
    fn busy(&self, end: SimTime) -> SimTime {
        let packets = self.rest.packets.as_ref();
        let of_cells = || SimTime(self.departed(0) * self.kind.cell_time);
        let all = packets.map_or_else(of_cells, Packets::sending);
        let beyond = |frame: &Sending| (frame.end - self.start(frame).max(end)).0;
        all - SimTime(self.under_way().map(beyond).sum())
    }

    /// Units of the VC at `port_vc` that are in the port as the run ends, after `finish`.
    pub(crate) fn queued_at_end(&self, port_vc: PortVc) -> u64 {
        self.rest.vcs[port_vc.index()].remaining
    }

    /// Units of the VC at `port_vc` that leave at `from` or later, among the frames remembered.
    pub(crate) fn not_departed_before(&self, from: SimTime, port_vc: PortVc) -> u64 {
        self.frames()
            .filter(|frame| frame.port_vc == port_vc)
            .map(|frame| {
                let last = from.0.checked_sub(1).map(SimTime);
                let done = last.map_or(0, |last| self.departed_of(frame, last));
                u64::from(self.units(frame) - done)
            })
            .sum()
    }

    /// The last departure of a cell before `before` of a VC whose index `belongs`, and that index.
    pub(crate) fn last_departure(
        &self,
        before: SimTime,
        belongs: impl Fn(PortVc) -> bool,
    ) -> Option<(SimTime, PortVc)> {
        let last = SimTime(before.0.checked_sub(1)?);
        self.frames()
            .rev()
            .filter(|frame| belongs(frame.port_vc))
            .find_map(|frame| {
                let done = self.departed_of(frame, last);
                let departure = self.start(frame) + SimTime(u64::from(done) * self.kind.cell_time);
                (done > 0).then_some((departure, frame.port_vc))
            })
    }

    /// Its record in a run that ends at `end`, after `finish`.
    pub(crate) fn record(&self, name: &str, end: SimTime, has_vc_samples: bool) -> PortRecord {
        let rest = &self.rest;
        let queued = self.departed(0) - rest.departed;
        let mean = rest.integral.mean(queued, end.0);
        let vcs = rest.vcs.iter().filter(|_| has_vc_samples);
        PortRecord {
            name: name.into(),
            arrived: self.arrived,
            departed: rest.departed,
            queued,
            discarded: rest.discarded,
            frames_discarded: rest.frames_discarded,
            busy_ps: self.busy(end).0,
            queue: QueueRecord::new(mean, self.queue_max, &rest.samples),
            vc_queues: vcs
                .map(|vc| VcQueueRecord::new(vc.vc, &vc.samples))
                .collect(),
            octets: rest.packets.as_ref().map(|packets| packets.record(end)),
            ..PortRecord::default()
        }
    }
}
