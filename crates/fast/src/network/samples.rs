//! Samples of ports during the run.

use super::Network;
use crate::port::{Port, PortMut};
use skycell_des::Key;
use skycell_spec::TraceKind;
use skycell_traffic::rank;
use skycell_units::{CELL_OCTETS, SimTime};

impl Network<'_> {
    /// All queues and VCs are sampled that are to be, departures of the instant done and arrivals not.
    pub(super) fn on_sample(&mut self, now: SimTime) {
        self.run_ports(now);
        for at in 0..self.waiting.len() {
            let id = self.waiting[at];
            if let PortMut::Output(port) = self.ports.get_mut(id) {
                port.advance_before(now);
                self.note_losses(id);
            }
        }
        self.sample_ports(now);
        self.sample_vcs(now);
        self.next_sample = now + SimTime(self.spec.records.sample_every_ps);
        self.events
            .push(Key::new(self.next_sample, rank::SAMPLE, 0));
    }

    /// Samples the queues of ports, and of each class of theirs.
    fn sample_ports(&mut self, now: SimTime) {
        let records = &self.spec.records;
        let traces = &mut self.out.traces;
        for &id in &records.sampled_ports {
            let (cells, samples) = match self.ports.get_mut(id) {
                PortMut::Stepped(port) => {
                    port.port.sample(id, now, records, traces);
                    continue;
                }
                PortMut::Coupled => {
                    let part = self.coupled.as_mut().expect("it has ports");
                    part.port_mut(id).sample(id, now, records, traces);
                    continue;
                }
                PortMut::Source(port) => (port.settled_queue(now), &mut port.rest.samples),
                PortMut::Packets(port) => (port.settled_queue(now), &mut port.samples),
                PortMut::Pass(_) => unreachable!("none is sampled"),
                PortMut::Output(port) => {
                    let beside = port.queued_beside(now);
                    (port.queued(now) as u32 + beside, &mut port.samples)
                }
            };
            samples.add(cells);
            if records.traces.contains(&TraceKind::Queue) {
                let octets = match self.ports.get(id) {
                    Port::Packets(port) => port.queued_octets(),
                    _ => u64::from(cells) * CELL_OCTETS,
                };
                traces.queue.push(id, now.0, cells, octets);
            }
            if let PortMut::Output(port) = self.ports.get_mut(id) {
                let mut note = |queue: u32, departed: u64, cells: u32| {
                    if records.traces.contains(&TraceKind::Service) {
                        traces.service.push(id, queue, now.0, departed, cells);
                    }
                };
                let own = (port.log.departed(now), port.queued(now) as u32);
                if let Some(server) = &mut port.log.server {
                    server.sample(now, own, &mut note);
                }
                port.sample_classes(now, &mut note);
            }
        }
    }

    /// Samples the occupancy of each VC at ports.
    fn sample_vcs(&mut self, now: SimTime) {
        let records = &self.spec.records;
        let traces = &mut self.out.traces;
        for &id in &records.vc_sampled_ports {
            let stepped = match self.ports.get_mut(id) {
                PortMut::Stepped(port) => Some(&mut port.port),
                PortMut::Coupled => self.coupled.as_mut().map(|part| part.port_mut(id)),
                _ => None,
            };
            if let Some(port) = stepped {
                port.sample_vcs(id, now, records, traces);
                continue;
            }
            let mut note = |vc: u32, cells: u32| {
                if records.traces.contains(&TraceKind::VcQueue) {
                    traces.vc_queue.push(id, vc, now.0, cells);
                }
            };
            if let PortMut::Output(port) = self.ports.get_mut(id) {
                port.queued_beside(now);
            }
            match self.ports.get_mut(id) {
                PortMut::Source(port) => port.sample_vcs(now, &mut note),
                PortMut::Packets(port) => port.sample_vcs(now, &mut note),
                PortMut::Output(port) => port.sample_vcs(now, &mut note),
                PortMut::Stepped(_) | PortMut::Coupled => unreachable!("they have been"),
                PortMut::Pass(_) => unreachable!("none is sampled"),
            }
        }
    }
}
