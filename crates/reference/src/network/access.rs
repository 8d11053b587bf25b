//! Uplinks that terminals share, slot by slot.

use super::Network;
use crate::frames::Cell;
use crate::port::Port;
use skycell_access::Uplink;
use skycell_des::{EventQueue, Key};
use skycell_records::{CellDelays, UplinkRecord};
use skycell_spec::NetworkSpec;
use skycell_traffic::rank;
use skycell_units::SimTime;

/// An uplink, its terminals' ports and the access delays of their messages.
#[derive(Debug)]
struct SharedUplink {
    uplink: Uplink,
    /// By terminal.
    ports: Vec<u32>,
    delays: CellDelays,
    /// Cells in all these ports.
    backlog: u64,
    /// The port that the slot under way lets send, and whether what it sends is lost.
    sending: Option<(u32, bool)>,
}

/// The uplinks of a network.
#[derive(Debug)]
pub(super) struct Access {
    uplinks: Vec<SharedUplink>,
    /// By port: the uplink whose terminal it is, and the cells in it as last counted.
    of_port: Vec<Option<(u32, u32)>>,
}

impl Access {
    /// Makes the ports of terminals send only in slots.
    pub(super) fn new(spec: &NetworkSpec, ports: &mut [Port], events: &mut EventQueue) -> Self {
        let mut of_port = vec![None; ports.len()];
        for (uplink, id) in spec.uplinks.iter().zip(0u32..) {
            for &port in &uplink.links {
                of_port[port as usize] = Some((id, 0));
                ports[port as usize].grant(0, false);
            }
            events.push(Key::new(SimTime::ZERO, rank::SLOT, id));
        }
        let end = SimTime(spec.duration_ps);
        let uplinks = spec.uplinks.iter().map(|uplink| SharedUplink {
            uplink: Uplink::new(uplink, spec.seed, end),
            ports: uplink.links.clone(),
            delays: CellDelays::new(0),
            backlog: 0,
            sending: None,
        });
        Access {
            uplinks: uplinks.collect(),
            of_port,
        }
    }

    /// A cell begins to leave a port: where that is a terminal's, the first of a message has had its access.
    pub(super) fn on_sending(&mut self, port: u32, cell: &Cell, start: SimTime) {
        let Some((id, _)) = self.of_port[port as usize] else {
            return;
        };
        let shared = &mut self.uplinks[id as usize];
        if cell.index == 0 && shared.sending == Some((port, false)) {
            shared.delays.add((start - cell.came_at).0);
        }
    }

    /// Cells have come to a port, or left it: `queued` are in it now.
    pub(super) fn on_change(&mut self, port: u32, queued: impl FnOnce() -> u32) {
        let Some(Some((id, counted))) = self.of_port.get_mut(port as usize) else {
            return;
        };
        let backlog = &mut self.uplinks[*id as usize].backlog;
        let before = std::mem::replace(counted, queued());
        *backlog = *backlog + u64::from(*counted) - u64::from(before);
    }

    /// Returns the records of the uplinks when the run ends.
    pub(super) fn records(&self, spec: &NetworkSpec) -> Vec<UplinkRecord> {
        let uplinks = self.uplinks.iter().zip(&spec.uplinks);
        let record = |(own, spec): (&SharedUplink, &skycell_spec::UplinkSpec)| {
            let counts = own.uplink.counts();
            UplinkRecord::new(&spec.name, &counts, own.uplink.state_sizes(), &own.delays)
        };
        uplinks.map(record).collect()
    }
}

impl Network<'_> {
    /// Cells have come to a port, or left it.
    pub(super) fn note_change(&mut self, port_id: u32) {
        let ports = &self.ports;
        self.access
            .on_change(port_id, || ports[port_id as usize].queued());
    }

    /// A slot of an uplink begins: the terminal that it lets through sends.
    pub(super) fn on_slot(&mut self, now: SimTime, id: u32) {
        let shared = &mut self.access.uplinks[id as usize];
        if let Some((port, _)) = shared.sending.take() {
            self.ports[port as usize].grant(0, false);
        }
        let ports = &self.ports;
        let port_of = |terminal: u32| &ports[shared.ports[terminal as usize] as usize];
        let waiting = |terminal: u32| port_of(terminal).waiting(now);
        debug_assert_eq!(
            shared.backlog,
            (0..shared.ports.len() as u32)
                .map(|terminal| u64::from(port_of(terminal).queued()))
                .sum::<u64>()
        );
        let sent = shared.uplink.on_slot(now, shared.backlog, waiting);
        let next = shared.uplink.next_slot();
        self.events.push(Key::new(next, rank::SLOT, id));
        if let Some(sent) = sent {
            let port = shared.ports[sent.terminal as usize];
            shared.sending = Some((port, sent.is_lost));
            self.ports[port as usize].grant(sent.cells, sent.is_lost);
            self.begin_sending(now, port);
        }
    }
}
