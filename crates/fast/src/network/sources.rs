//! Sending of sources, one datagram or cell at a time.

use super::{Network, Offer};
use crate::frames::Frame;
use skycell_des::Key;
use skycell_spec::SourcePattern;
use skycell_traffic::{CellSource, SourceCell, rank};
use skycell_units::{FlowId, FrameId, SimTime};

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
        let is_paced = self.spec.sources[id as usize].datagram_route.is_empty();
        if is_paced && cells > 1 {
            return self.send_cell(now, at, sent);
        }
        self.send_of_source(now, id, sent, is_paced, None);
    }

    /// A source hands over a datagram, or a cell that is a frame; `since` is when what it answers was sent.
    fn send_of_source(
        &mut self,
        now: SimTime,
        id: u32,
        sent: SourceCell,
        is_paced: bool,
        since: Option<SimTime>,
    ) {
        let (vc, cells) = (self.spec.sources[id as usize].vc, sent.frame_cells);
        let frame = (self.frames).add_of_source(id, vc, (cells, sent.octets), now);
        if sent.clp {
            self.frames.get_mut(frame).tag();
        }
        if let Some(since) = since {
            self.asked_at.insert(frame, since);
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

    /// A frame of a source has come to the end of its last VC; a cell is no datagram.
    pub(super) fn on_datagram_at_end(&mut self, now: SimTime, id: FrameId, frame: &Frame) {
        let source_id = frame.sent_by().expect("a source has sent it");
        let spec = &self.spec.sources[source_id as usize];
        if spec.datagram_route.is_empty() {
            return;
        }
        let since = match spec.pattern {
            SourcePattern::Echo { .. } => self.asked_at.remove(&id).expect("it answers something"),
            _ => frame.enqueued_at,
        };
        self.source_mut(source_id)
            .on_delivered(frame.octets(), now - since);
        if let Some(echo) = self.echoes[source_id as usize] {
            let answer = self.source_mut(echo).answer(frame.octets(), frame.cells());
            self.send_of_source(now, echo, answer, false, Some(since));
        }
    }

    fn source_mut(&mut self, id: u32) -> &mut CellSource {
        let at = self.sources.binary_search_by_key(&id, |(id, ..)| *id);
        &mut self.sources[at.expect("a source of datagrams is no stream")].1
    }
}
