//! Sending of sources, one datagram or cell at a time.

use super::{Network, Offer};
use skycell_des::Key;
use skycell_traffic::rank;
use skycell_units::{FlowId, SimTime};

impl Network<'_> {
    /// A source hands over a datagram, or sends a cell.
    pub(super) fn on_source(&mut self, now: SimTime, id: u32) {
        let at = self.sources.binary_search_by_key(&id, |source| source.0);
        let at = at.expect("it is a source of this network");
        let (_, source, _) = &mut self.sources[at];
        let sent = source.send();
        let cells = sent.frame_cells;
        let next = Key::new(source.due(), rank::SOURCE, id);
        self.events.push(next);
        let source = &self.spec.sources[id as usize];
        let (vc, is_paced) = (source.vc, source.datagram_route.is_empty());
        if is_paced && cells > 1 {
            return self.send_cell(now, at, sent);
        }
        let size = (cells, sent.octets);
        let frame = self.frames.add_of_source(id, vc, size, now);
        if sent.clp {
            self.frames.get_mut(frame).tag();
        }
        let flow = FlowId::NONE;
        self.offer_frame(
            now,
            Offer {
                frame,
                flow,
                vc,
                cells,
                is_paced,
            },
        );
        self.take_arriving();
    }

    /// A frame of a source, with an IP packet of so many octets, has come to the end of its last VC, `delay` after it was
    /// sent; a cell is no datagram.
    pub(super) fn on_datagram_at_end(&mut self, id: u32, octets: u32, delay: SimTime) {
        if self.spec.sources[id as usize].datagram_route.is_empty() {
            return;
        }
        let at = self.sources.binary_search_by_key(&id, |(id, ..)| *id);
        let (_, source, _) = &mut self.sources[at.expect("a source of datagrams is no stream")];
        source.on_delivered(octets, delay);
    }
}
