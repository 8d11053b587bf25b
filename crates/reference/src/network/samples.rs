//! The samples of queues.

use super::Network;
use skycell_des::Key;
use skycell_traffic::rank;
use skycell_units::SimTime;

impl Network<'_> {
    /// The queues of ports are sampled.
    pub(super) fn on_sample(&mut self, now: SimTime) {
        let records = &self.spec.records;
        let traces = &mut self.out.traces;
        for &id in &records.sampled_ports {
            self.ports[id as usize].sample(id, now, records, traces);
        }
        for &id in &records.vc_sampled_ports {
            self.ports[id as usize].sample_vcs(id, now, records, traces);
        }
        let next = now + SimTime(records.sample_every_ps);
        self.events.push(Key::new(next, rank::SAMPLE, 0));
    }
}
