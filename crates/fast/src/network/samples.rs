//! Samples of ports during the run.

use super::Network;
use crate::port::form::Form;
use crate::port::{Ports, Slot};
use skycell_des::Key;
use skycell_reference::NetworkPart;
use skycell_traffic::rank;
use skycell_units::SimTime;

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
        let (records, traces) = (&self.spec.records, &mut self.out.traces);
        for &id in &records.sampled_ports {
            let port = form(&mut self.ports, &mut self.coupled, id);
            port.sample(id, now, records, traces);
        }
        for &id in &records.vc_sampled_ports {
            let port = form(&mut self.ports, &mut self.coupled, id);
            port.sample_vcs(id, now, records, traces);
        }
        self.next_sample = now + SimTime(records.sample_every_ps);
        self.events
            .push(Key::new(self.next_sample, rank::SAMPLE, 0));
    }
}

/// The port with id `id`, which may be one of those that are stepped together.
fn form<'a>(
    ports: &'a mut Ports,
    coupled: &'a mut Option<Box<NetworkPart<'_>>>,
    id: u32,
) -> &'a mut dyn Form {
    let together = coupled
        .as_mut()
        .filter(|_| matches!(ports.slots[id as usize], Slot::Coupled));
    match together {
        Some(part) => part.port_mut(id),
        None => ports.form_mut(id).expect("a sampled port has a queue"),
    }
}
