//! Sources of cells and datagrams, which send at times of their own.

use super::Network;
use crate::frames::{Cell, Content};
use skycell_des::Key;
use skycell_spec::SourceSpec;
use skycell_traffic::{SourceCell, rank};
use skycell_units::{Ecn, PortVc, SimTime};

impl Network<'_> {
    /// Starts the sources that `sends` selects.
    pub(super) fn begin_sources(&mut self, sends: impl Fn(&SourceSpec) -> bool) {
        let sources = self.sources.iter().zip(&self.spec.sources).zip(0u32..);
        for ((source, _), id) in sources.filter(|((_, spec), _)| sends(spec)) {
            let due = Key::new(source.due(), rank::SOURCE, id);
            self.events.push(due);
        }
    }

    /// A source sends a cell, or hands over a datagram.
    pub(super) fn on_source(&mut self, now: SimTime, id: u32) {
        let source = &mut self.sources[id as usize];
        let sent = source.send();
        let next = Key::new(source.due(), rank::SOURCE, id);
        self.events.push(next);
        if !self.spec.sources[id as usize].datagram_route.is_empty() {
            return self.send_datagram(now, id, sent, now);
        }
        let vc_id = self.spec.sources[id as usize].vc;
        if sent.index == 0 {
            let frame = self.frames.add(Content::Cells, 0, sent.frame_cells, now);
            self.vcs[vc_id as usize].frame_under_way = frame;
            self.vcs[vc_id as usize].record.frames_offered += 1;
        }
        let vc = &mut self.vcs[vc_id as usize];
        vc.record.cells_offered += 1;
        vc.offer_clp0(sent.clp, 1);
        let cell = Cell {
            frame: vc.frame_under_way,
            rm: None,
            efci: false,
            ack: None,
            index: sent.index,
            octets: 0,
            vc: vc_id,
            port_vc: PortVc(0),
            flow: 0,
            hop: 0,
            sky_link: 0,
            eom: sent.index + 1 == sent.frame_cells,
            clp: sent.clp,
            is_paced: true,
            ecn: Ecn::NotEct,
            came_at: now,
            left_at: now,
            entry: 0,
        };
        self.offer_cell(now, cell);
    }

    /// A source hands over a datagram, of which it counts since when that is under way.
    pub(super) fn send_datagram(
        &mut self,
        now: SimTime,
        id: u32,
        sent: SourceCell,
        since: SimTime,
    ) {
        let content = Content::Datagram {
            source: id,
            route_index: 0,
            since,
        };
        let frame = (self.frames).add(content, sent.octets, sent.frame_cells, now);
        self.frames.set_clp(frame, sent.clp);
        self.offer_frame(now, frame, self.spec.sources[id as usize].vc);
    }
}
