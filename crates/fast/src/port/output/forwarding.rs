//! Cells that an output port accepts and that go on to another such port, or are lost on the way.

use super::OutputPort;
use crate::burst::Burst;
use crate::burst::fragment::NextHop;
use crate::burst::input_burst::{InputBurst, Moment, interleave};
use crate::link::forwarding::Forwarding;
use skycell_units::{PortVc, SimTime};

impl OutputPort {
    /// Forwards the VC at `port_vc` to another such port, once all VCs are there.
    pub(crate) fn forward_vc(&mut self, port_vc: PortVc, next_hop: NextHop) {
        let (cell_time, vcs) = (self.cell_time, self.vcs.len());
        let forwarding = self
            .forwarding
            .get_or_insert_with(|| Box::new(Forwarding::new(cell_time, vcs)));
        forwarding.add(port_vc, next_hop);
        if let Some(time_varying) = &mut self.time_varying {
            time_varying.add(port_vc, next_hop);
        }
    }

    /// Returns whether the VC at `port_vc` is forwarded to another such port.
    pub(super) fn forwards(&self, port_vc: PortVc) -> bool {
        self.forwarding
            .as_ref()
            .is_some_and(|forwarding| forwarding.has(port_vc))
    }

    /// Returns whether the departure times of the cells of the VC at `port_vc` matter.
    fn needs_departures(&self, port_vc: PortVc) -> bool {
        self.lossy.is_some() || self.forwards(port_vc)
    }

    /// Sends the cells on that have been chosen among the queues of VCs.
    pub(crate) fn send_chosen(&mut self) {
        if let (Some(forwarding), Some(queues)) = (&mut self.forwarding, &self.vc_queues) {
            forwarding.send_chosen(queues.count(), |nth| {
                let departure = self.log.departure(nth);
                (
                    queues.port_vc_of(nth),
                    departure.expect("it has been chosen"),
                )
            });
        }
    }

    /// The cells that the arriving bursts have just brought go on, as far as they go on to another port, or are
    /// lost; `accepted` had been accepted before.
    pub(super) fn send_bursts(&mut self, accepted: u64) {
        self.draw_in_order();
        // Where cells wait to be chosen, nobody asks which of them came first.
        let in_order =
            self.vc_queues.is_some() || interleave(self.arriving.iter().map(|a| a.burst));
        let count = self.arriving.len() as u64;
        for at in 0..self.arriving.len() {
            let arriving = self.arriving[at];
            let (burst, cells) = (arriving.burst, arriving.arrivals);
            if cells == 0 || !self.needs_departures(burst.port_vc) {
                continue;
            }
            let eom = arriving.eom && arriving.left == cells;
            let bursts = self.arriving.iter().map(|a| a.burst);
            if in_order {
                let order = |burst: &InputBurst| (burst.next, burst.link);
                let earlier = bursts.filter(|other| order(other) < order(&burst));
                let first = accepted + earlier.count() as u64;
                self.send(burst.port_vc, first, count, cells, eom);
                continue;
            }
            for nth in 0..cells {
                let moment = Moment {
                    time: SimTime(burst.next + u64::from(nth) * burst.spacing),
                    link: burst.link,
                };
                let bursts = self.arriving.iter().map(|a| a.burst);
                let by: u64 = bursts.map(|burst| burst.count(moment)).sum();
                let is_end = eom && nth + 1 == cells;
                self.send(burst.port_vc, accepted + by - 1, 1, 1, is_end);
            }
        }
    }

    /// Draws for those of the arriving frames of which the first cells have just been accepted, in the order of these.
    fn draw_in_order(&mut self) {
        let Some(lossy) = &self.lossy else {
            return;
        };
        let begun = self.arriving.iter().filter(|a| a.arrivals > 0);
        let begun = begun.map(|a| (a.burst.next, a.burst.link, a.burst.port_vc));
        let mut begun: Vec<_> = begun
            .filter(|&(_, _, port_vc)| lossy.is_open(port_vc))
            .collect();
        begun.sort_unstable();
        for (_, _, port_vc) in begun {
            self.is_lost(port_vc);
        }
    }

    /// Returns whether the link behind the port, which loses frames, loses the frame that comes on
    /// the VC at `port_vc`.
    fn is_lost(&mut self, port_vc: PortVc) -> bool {
        let lossy = self.lossy.as_mut().expect("the link loses frames");
        let server = self.log.server.as_mut();
        lossy.loses(port_vc, server.and_then(|server| server.draws.as_mut()))
    }

    /// Returns whether the server also draws for cells of sources, so that the first cell of a
    /// frame is processed alone.
    pub(super) fn draws_at_choices(&self) -> bool {
        let server = self.log.server.as_ref();
        server.is_some_and(|server| server.draws.is_some())
    }

    /// Returns whether it does, and the first cell of an arriving frame has not been accepted.
    pub(super) fn awaits_draws(&self) -> bool {
        let Some(lossy) = self.lossy.as_ref().filter(|_| self.draws_at_choices()) else {
            return false;
        };
        let mut port_vcs = self.arriving.iter().map(|a| a.burst.port_vc);
        port_vcs.any(|port_vc| lossy.is_open(port_vc))
    }

    /// `cells` cells of the VC at `port_vc` go on, if it does, or are lost, which have just been accepted: the first
    /// after `seq` others, and each `step` after the one before. The last of them is the frame's last if `eom`.
    #[inline(always)]
    pub(super) fn send(&mut self, port_vc: PortVc, seq: u64, step: u64, cells: u32, eom: bool) {
        if self.lossy.is_some() && self.loses(port_vc, seq, step, cells) {
            return;
        }
        if self.forwards(port_vc) {
            self.send_on(port_vc, seq, step, cells, eom);
        }
    }

    /// The same of cells of `burst`, each of which leaves before the next comes.
    pub(super) fn send_passing(&mut self, burst: &InputBurst, cells: u32, eom: bool) {
        let (port_vc, distance) = (burst.port_vc, burst.spacing);
        let first = burst.next + self.cell_time;
        if self.lossy.is_some() && self.is_lost(port_vc) {
            let lost = Burst::new(SimTime(first), SimTime(distance), cells.into());
            return self.note_lost(port_vc, lost);
        }
        if let Some(forwarding) = self
            .forwarding
            .as_mut()
            .filter(|forwarding| forwarding.has(port_vc))
        {
            forwarding.send(port_vc, first, distance, cells, eom);
        }
    }

    /// Returns whether the link behind the port loses the frame of these cells.
    fn loses(&mut self, port_vc: PortVc, seq: u64, step: u64, cells: u32) -> bool {
        if !self.is_lost(port_vc) {
            return false;
        }
        let coupled = if self.log.server.is_none() { cells } else { 1 };
        for nth in (0..cells).step_by(coupled as usize) {
            let first = self.log.departure(seq + u64::from(nth) * step);
            let first = first.expect("it has just been taken in");
            let distance = SimTime(step * self.cell_time);
            self.note_lost(port_vc, Burst::new(first, distance, coupled.into()));
        }
        true
    }

    fn note_lost(&mut self, port_vc: PortVc, cells: Burst) {
        let lossy = self.lossy.as_mut().expect("the link loses frames");
        lossy.note(port_vc, cells);
    }

    fn send_on(&mut self, port_vc: PortVc, seq: u64, step: u64, cells: u32, eom: bool) {
        let forwarding = self.forwarding.as_mut().expect("the VC goes on");
        if self.vc_queues.is_some() {
            return forwarding.wait(port_vc, cells, eom);
        }
        let departure = |nth: u32| {
            let departure = self.log.departure(seq + u64::from(nth) * step);
            departure.expect("it has just been taken in").0
        };
        if self.log.server.is_none() {
            return forwarding.send(port_vc, departure(0), step * self.cell_time, cells, eom);
        }
        for nth in 0..cells {
            let is_end = eom && nth + 1 == cells;
            forwarding.send(port_vc, departure(nth), self.cell_time, 1, is_end);
        }
    }
}
