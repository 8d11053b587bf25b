//! The routes of packets, VC by VC.

use super::Network;
use crate::frames::Content;

impl Network<'_> {
    /// The VC on which a packet goes on behind the one that it is on; none at the end of its route.
    pub(super) fn next_on_route(&self, content: &Content) -> Option<u32> {
        let (route, index) = self.route_of(content)?;
        route.get(index as usize + 1).copied()
    }

    /// The VCs of what has a route, and which of them it is on.
    fn route_of(&self, content: &Content) -> Option<(&[u32], u32)> {
        match content {
            Content::Segment {
                flow,
                is_forward,
                route_index,
                ..
            } => {
                let route = match self.flows.get(*flow as usize) {
                    Some(own) => own.route(*is_forward),
                    None => self.users.as_ref()?.route(*flow, *is_forward),
                };
                Some((route, *route_index))
            }
            Content::Datagram {
                source,
                route_index,
                ..
            } => {
                let route = &self.spec.sources[*source as usize].datagram_route;
                Some((route, *route_index))
            }
            Content::Real(packet) => {
                let route = self.flows[packet.flow as usize].route(packet.is_forward);
                Some((route, packet.route_index))
            }
            Content::Fragment(fragment) => {
                let whole = &self.frames.get(fragment.whole).content;
                let (route, _) = self.route_of(whole)?;
                Some((route, fragment.route_index))
            }
            Content::InFragments(whole) => self.route_of(&whole.content),
            Content::Outside(_) | Content::Cells => None,
        }
    }
}
