//! Samples of ports during the run.

use super::Network;
use crate::port::Slot;
use crate::port::form::Form;
use skycell_des::Key;
use skycell_records::Traces;
use skycell_spec::RecordSpec;
use skycell_traffic::rank;
use skycell_units::SimTime;

/// How a port is sampled.
type Sample = fn(&mut dyn Form, u32, SimTime, &RecordSpec, &mut Traces);

impl Network<'_> {
    /// All queues and VCs are sampled that are to be, departures of the instant done and arrivals not.
    pub(super) fn on_sample(&mut self, now: SimTime) {
        self.run_ports(now);
        for at in 0..self.waiting.len() {
            let id = self.waiting[at];
            if let Some(port) = self.ports.as_output(id) {
                port.advance_before(now);
                self.note_losses(id);
            }
        }
        // Rows stand in the order of the ports, wherever these are.
        let indices = self.spec.records.sampled_ports.len() as u32;
        for at in 0..indices {
            self.sample(
                now,
                at,
                self.spec.records.sampled_ports[at as usize],
                |port, id, now, records, traces| {
                    port.sample(id, now, records, traces);
                },
            );
        }
        for (at, id) in (indices..).zip(&self.spec.records.vc_sampled_ports) {
            self.sample(now, at, *id, |port, id, now, records, traces| {
                port.sample_vcs(id, now, records, traces);
            });
        }
        self.next_sample = now + SimTime(self.spec.records.sample_every_ps);
        self.events
            .push(Key::new(self.next_sample, rank::SAMPLE, 0));
    }

    /// Samples the port with id `id`, if it is here, as the one `at` a place among those that are sampled.
    fn sample(&mut self, now: SimTime, at: u32, id: u32, sample: Sample) {
        let form = match (&self.ports.slots[id as usize], &mut self.coupled) {
            (Slot::Coupled, Some(part)) => Some(part.port_mut(id) as &mut dyn Form),
            _ => self.ports.form_mut(id),
        };
        if let Some(port) = form {
            let (records, traces) = (&self.spec.records, &mut self.out.traces);
            sample(port, id, now, records, traces);
            self.note_rows(Key::new(now, rank::SAMPLE, at));
        }
    }
}
