//! Packets that are too long for a link: they go over it, and on from there, in fragments (RFC 791, section 3.2), and are put
//! together at the end of their route. One that has lost a fragment never is.

use super::Network;
use crate::frames::Content;
use skycell_units::{Cells, FrameId, SimTime};

impl Network<'_> {
    /// Returns the longest packet of VC `vc_id`, if frame `id` is longer.
    pub(super) fn needs_fragments(&self, id: FrameId, vc_id: u32) -> Option<u32> {
        let first = *self.spec.vcs[vc_id as usize].path.first()?;
        let mtu = self.spec.links[first as usize].framing?.fragment_octets?;
        (self.frames.get(id).octets > mtu).then_some(mtu)
    }

    /// Offers the fragments of a packet, or of a fragment, to the first port of VC `vc_id`.
    pub(super) fn offer_fragments(&mut self, now: SimTime, id: FrameId, vc_id: u32, mtu: u32) {
        let content = &self.frames.get(id).content;
        let of_flow = (content.flow_number(self.flows.len()), content.flow());
        let llc_snap = self.has_llc_snap(content);
        let cells = |octets: u32| Cells::for_ip_packet(octets.into(), llc_snap).0;
        for fragment in self.frames.cut(id, of_flow, mtu, cells) {
            self.offer_frame(now, fragment, vc_id);
        }
    }

    /// Returns whether the packet has LLC and SNAP where it travels in cells.
    fn has_llc_snap(&self, content: &Content) -> bool {
        let id = content.flow();
        match (self.spec.flows.get(id as usize), &self.users) {
            (Some(flow), _) => flow.tcp.llc_snap,
            (None, Some(users)) if users.has(id) => users.has_llc_snap(id),
            (None, _) => true,
        }
    }

    /// A whole fragment has reached the end of its route.
    pub(super) fn on_fragment_at_end(&mut self, now: SimTime, id: FrameId) {
        if let Some(whole) = self.frames.put_together(id) {
            self.on_frame_at_end(now, whole);
        }
    }
}
