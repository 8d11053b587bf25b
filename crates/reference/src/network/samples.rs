//! The samples of queues.

use super::Network;
use skycell_des::Key;
use skycell_spec::TraceKind;
use skycell_traffic::rank;
use skycell_units::SimTime;

impl Network<'_> {
    /// The queues of ports are sampled.
    pub(super) fn on_sample(&mut self, now: SimTime) {
        let records = &self.spec.records;
        let traces = &mut self.out.traces;
        for &id in &records.sampled_ports {
            let port = &mut self.ports[id as usize];
            let cells = port.queued();
            port.samples.add(cells);
            if records.traces.contains(&TraceKind::Queue) {
                traces.queue.push(id, now.0, cells, port.octets());
            }
            if port.queues.len() > 1 {
                for (queue, index) in port.queues.iter_mut().zip(0u32..) {
                    queue.samples.add(queue.queued());
                    if records.traces.contains(&TraceKind::Service) {
                        let (sent, held) = (queue.departed, queue.queued());
                        traces.service.push(id, index, now.0, sent, held);
                    }
                }
            }
        }
        for &id in &records.vc_sampled_ports {
            for vc in &mut self.ports[id as usize].vcs {
                vc.samples.add(vc.queued);
                if records.traces.contains(&TraceKind::VcQueue) {
                    traces.vc_queue.push(id, vc.vc, now.0, vc.queued);
                }
            }
        }
        let next = now + SimTime(records.sample_every_ps);
        self.events.push(Key::new(next, rank::SAMPLE, 0));
    }
}
