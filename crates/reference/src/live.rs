//! A network under real packets: what hosts outside of the run hand over goes its simulated way, at
//! the times at which it comes.
//!
//! Time is handed in, and may come late: what would have happened before happens at the moment at
//! which it was due, so that a caller that is late is late in bringing packets and in nothing else.

use crate::network::Network;
use skycell_records::PortRecord;
use skycell_spec::{NetworkSpec, SpecError};
use skycell_units::{Ecn, SimTime};

/// A packet of a real host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealPacket {
    /// Place in the spec of the flow whose route it takes.
    pub flow: u32,
    /// True in the direction from the flow's source to its destination.
    pub is_forward: bool,
    /// Which VC of the route it is on.
    pub route_index: u32,
    /// The number of its flow for queues by flow.
    pub number: u32,
    /// The ECN field that it comes with, and leaves with.
    pub ecn: Ecn,
    /// Octets of the IP packet.
    pub octets: u32,
    /// The packet, with what a caller needs beside it.
    pub data: Vec<u8>,
}

/// A real packet that has come to the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// When it was due.
    pub at: SimTime,
    /// As it arrives.
    pub packet: RealPacket,
}

/// A network whose flows are routes of real packets. Cell sources of its spec send as they would in a run.
#[derive(Debug)]
pub struct LiveNetwork<'a> {
    network: Network<'a>,
    spec: &'a NetworkSpec,
}

impl<'a> LiveNetwork<'a> {
    /// The network of a spec, whose duration bounds the time that may be handed in.
    ///
    /// # Errors
    /// The spec is not valid.
    pub fn new(spec: &'a NetworkSpec) -> Result<Self, SpecError> {
        spec.validate()?;
        refuse_peps(spec)?;
        refuse_fragments(spec)?;
        refuse_ack_filters(spec)?;
        let network = Network::without_flows(spec);
        Ok(LiveNetwork { network, spec })
    }

    /// When the next thing happens in it.
    pub fn next_event(&self) -> Option<SimTime> {
        self.network.events.first().map(|event| event.time())
    }

    /// When the next packet arrives at the end of a link; only what arrives can be delivered.
    pub fn next_arrival(&self) -> Option<SimTime> {
        let links = self.network.ports.iter().map(|port| &port.link);
        links.filter_map(|link| link.next_arrival()).min()
    }

    /// Executes everything that is due by `now`.
    pub fn advance(&mut self, now: SimTime) {
        while let Some(event) = self.network.events.pop_before(now + SimTime(1)) {
            self.network.on_event(event);
        }
    }

    /// A host hands a packet over at `now`, to which the network has advanced.
    pub fn offer(&mut self, now: SimTime, packet: RealPacket) {
        self.network.offer_real(now, packet);
    }

    /// Packets that have arrived, in order.
    pub fn delivered(&mut self) -> std::vec::Drain<'_, Delivery> {
        self.network.delivered()
    }

    /// Returns the counters of the ports at `end`, to which the network has advanced.
    pub fn ports(&self, end: SimTime) -> Vec<PortRecord> {
        let ports = self.network.ports.iter().zip(&self.spec.links).zip(0u32..);
        ports
            .map(|((port, link), id)| {
                let has_vc_samples = self.spec.records.vc_sampled_ports.contains(&id);
                port.record(&link.name, end, has_vc_samples)
            })
            .collect()
    }
}

/// Real packets go whole.
fn refuse_fragments(spec: &NetworkSpec) -> Result<(), SpecError> {
    let cuts = |link: &skycell_spec::LinkSpec| {
        let framing = link.framing.as_ref();
        framing.is_some_and(|framing| framing.fragment_octets.is_some())
    };
    match spec.links.iter().position(cuts) {
        None => Ok(()),
        Some(i) => Err(SpecError::Structure {
            path: format!("links[{i}].framing.fragment_octets"),
            problem: "belongs to a run: packets of real hosts go whole".into(),
        }),
    }
}

/// Acknowledgements of real hosts are not read.
fn refuse_ack_filters(spec: &NetworkSpec) -> Result<(), SpecError> {
    match spec.links.iter().position(|link| link.port.ack_filter) {
        None => Ok(()),
        Some(i) => Err(SpecError::Structure {
            path: format!("links[{i}].port.ack_filter"),
            problem: "belongs to a run: acknowledgements of real hosts are not read".into(),
        }),
    }
}

/// Real hosts bring their own connections, which no proxy of a run can end.
fn refuse_peps(spec: &NetworkSpec) -> Result<(), SpecError> {
    let of_flows = spec.flows.iter().map(|flow| &flow.peps).zip(0..);
    let routes = spec.users.iter().flat_map(|users| &users.routes);
    let of_users = routes.map(|route| &route.peps).zip(0..);
    let of_flows = of_flows.map(|(peps, i)| (peps, format!("flows[{i}].peps")));
    let of_users = of_users.map(|(peps, i)| (peps, format!("users.routes[{i}].peps")));
    match of_flows.chain(of_users).find(|(peps, _)| !peps.is_empty()) {
        None => Ok(()),
        Some((_, path)) => Err(SpecError::Structure {
            path,
            problem: "belongs to a run: real hosts have connections of their own".into(),
        }),
    }
}
