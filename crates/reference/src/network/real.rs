//! Real packets among the frames of a network.

use super::Network;
use crate::frames::Content;
use crate::live::{Delivery, RealPacket};
use skycell_units::{Cells, FrameId, SimTime};

impl Network<'_> {
    /// A host outside of the run hands a packet over.
    pub(crate) fn offer_real(&mut self, now: SimTime, packet: RealPacket) {
        let octets = packet.octets;
        let llc_snap = self.spec.flows[packet.flow as usize].tcp.llc_snap;
        let cells = Cells::for_ip_packet(octets.into(), llc_snap).0;
        let vc = self.flows[packet.flow as usize].route(packet.is_forward)[0];
        let content = Content::Real(Box::new(packet));
        let id = self.frames.add(content, octets, cells, now);
        self.offer_frame(now, id, vc);
    }

    /// A real packet has come to the end of its route.
    pub(super) fn on_real_at_end(&mut self, now: SimTime, id: FrameId) {
        let frame = self.frames.get(id);
        let ecn = frame.ecn;
        let mut packet = self.frames.take_real(id);
        packet.ecn = ecn;
        self.frames.settle(id, 1);
        self.delivered.push(Delivery { at: now, packet });
    }

    /// Real packets that have arrived, in order.
    pub(crate) fn delivered(&mut self) -> std::vec::Drain<'_, Delivery> {
        self.delivered.drain(..)
    }
}
