//! The ends of flows, and sources. The source's half of a flow and the destination's have no state in common: what one
//! end does reaches the other in packets alone.

use super::Sky;
use super::flows::{Stage, route};
use super::links::Entry;
use skycell_atm::Reassembled;
use skycell_des::Key;
use skycell_tcp::Segment;
use skycell_traffic::{Flow, HostDelay, SourceCell, rank};
use skycell_units::{FlowId, FrameId, SimTime};

/// Timers of the source of a flow.
const AT_SOURCE: &[u8] = &[rank::RETRANSMISSION, rank::APPLICATION];
/// Timers of the destination.
const AT_DESTINATION: &[u8] = &[rank::HELD_ACK];

impl Sky<'_> {
    /// Plans the first times of flows and sources.
    pub(super) fn begin_ends(&mut self) {
        for (flow, id) in self.spec.flows.iter().zip(0u32..) {
            let node = self.spec.vc_source(flow.forward[0] as usize);
            if !self.has_node(node) {
                continue;
            }
            let start = Flow::start(flow, self.spec.seed);
            self.wake(node, Key::new(start, rank::APPLICATION, id));
        }
        for id in 0..self.sources.len() as u32 {
            let node = self.vcs[self.spec.sources[id as usize].vc as usize].from;
            if !self.has_node(node) {
                continue;
            }
            let due = self.sources[id as usize].due();
            self.wake(node, Key::new(due, rank::SOURCE, id));
        }
    }

    /// A timer of a flow may have run out, at one of its ends.
    pub(super) fn on_timer(&mut self, at: Key, node: u32) {
        let (now, kind, id) = (at.time(), at.rank(), at.subject());
        if matches!(self.flows[id as usize], Stage::Ahead) {
            self.begin_flow(id);
        }
        let Stage::Open(state) = &mut self.flows[id as usize] else {
            return; // a timer that was pending when the flow ended
        };
        state.pending[usize::from(kind - rank::RETRANSMISSION)] = SimTime::NEVER;
        state.flow.on_timer(now, kind, &mut self.out);
        self.after_flow(at, node, id, kind != rank::HELD_ACK);
    }

    /// Sends what an end of a flow, at a node, wants sent, and plans its timers.
    #[inline(always)]
    fn after_flow(&mut self, at: Key, node: u32, id: u32, is_source: bool) {
        let own = match is_source {
            true => &mut self.out.forward,
            false => &mut self.out.reverse,
        };
        let mut segments = std::mem::take(own);
        for segment in segments.drain(..) {
            self.send(at, node, id, is_source, segment);
        }
        match is_source {
            true => self.out.forward = segments,
            false => self.out.reverse = segments,
        }
        debug_assert!(self.out.forward.is_empty() && self.out.reverse.is_empty());
        for &kind in if is_source { AT_SOURCE } else { AT_DESTINATION } {
            if let Some(due) = self.flows[id as usize].open().due(kind) {
                self.plan(node, Key::new(due, kind, id));
            }
        }
        let state = self.flows[id as usize].open();
        if state.in_flight == 0 && state.flow.is_over() {
            self.end_flow(at.time(), id);
        }
    }

    /// The end of a flow sends a segment, which comes to its port after the host's processing time.
    fn send(&mut self, at: Key, node: u32, id: u32, is_forward: bool, segment: Segment) {
        let state = self.flows[id as usize].open();
        state.in_flight += 1;
        let cells = state.flow.cells(&segment, is_forward).0;
        let octets = state.flow.packet(&segment, is_forward) as u32;
        let vc = route(self.spec, id, is_forward)[0];
        let end = &mut state.host_delays[usize::from(!is_forward)];
        let due = end.draw(at.time());
        if is_forward {
            self.round_trips.on_sent(id, &segment, at.time());
        }
        let lengths = (cells, octets);
        let frame = (self.frames).add(&segment, FlowId(id), is_forward, vc, lengths, due);
        if end.is_immediate() {
            self.hand_over(at, frame, vc);
        } else if end.wait(due, frame) {
            let subject = HostDelay::index(id, is_forward);
            self.plan(node, Key::new(due, rank::TRANSMIT, subject));
        }
    }

    /// The end of a flow hands over what is due, in order.
    pub(super) fn on_transmit(&mut self, at: Key, node: u32) {
        let (id, is_forward) = HostDelay::end_at(at.subject());
        let end = usize::from(!is_forward);
        let vc = route(self.spec, id, is_forward)[0];
        while let Some(frame) = self.flows[id as usize].open().host_delays[end].take(at.time()) {
            self.hand_over(at, frame, vc);
        }
        if let Some(next) = self.flows[id as usize].open().host_delays[end].next() {
            self.plan(node, Key::new(next, rank::TRANSMIT, at.subject()));
        }
    }

    /// A source hands over a datagram.
    pub(super) fn on_source(&mut self, at: Key, node: u32) {
        let id = at.subject();
        let source = &mut self.sources[id as usize];
        let sent = source.send();
        let next = Key::new(source.due(), rank::SOURCE, id);
        self.plan(node, next);
        self.send_datagram(at, id, sent, at.time());
    }

    /// Hands over a datagram of a source, which counts since when that is under way.
    fn send_datagram(&mut self, at: Key, id: u32, sent: SourceCell, since: SimTime) {
        let vc = self.spec.sources[id as usize].vc;
        let lengths = (sent.frame_cells, sent.octets);
        let frame = self.frames.add_of_source(id, vc, lengths, since);
        self.hand_over(at, frame, vc);
    }

    /// A packet is handed over where a VC begins.
    fn hand_over(&mut self, at: Key, frame: FrameId, vc: u32) {
        let units = match self.carries_cells {
            true => self.frames.get(frame).cells(),
            false => 1,
        };
        let own = &mut self.vcs[vc as usize];
        own.record.frames_offered += 1;
        own.record.cells_offered += u64::from(units);
        let from = own.from;
        self.counts[from as usize].handed_over += u64::from(units);
        let entry = self.new_entry(frame, vc);
        match self.carries_cells {
            true => self.hand_over_cells(at, from, entry, units),
            false => self.forward(at, from, None, entry),
        }
    }

    /// A packet has come to the node where its label ends.
    pub(super) fn on_delivered(&mut self, at: Key, node: u32, entry: Entry) {
        let now = at.time();
        let id = entry.frame;
        let own = &mut self.vcs[entry.vc as usize];
        let record = &mut own.record;
        record.cells_delivered += 1;
        let mut units = 1;
        if let Some((index, eom)) = entry.cell() {
            let (serial, frame) = (self.frames.serial(id), self.frames.get(id));
            let found = own
                .reassembly
                .on_cell(serial, index, eom, frame.is_errored());
            if let Some(Reassembled::Corrupt { cells, is_crc }) = found {
                record.frames_corrupt += 1;
                record.frames_crc += u64::from(is_crc);
                record.cells_corrupt += u64::from(cells);
            }
            if found != Some(Reassembled::Whole) {
                return self.forget(id);
            }
            units = frame.cells();
        }
        record.frames_delivered += 1;
        record.cells_whole += u64::from(units);
        let frame = self.frames.get_mut(id);
        frame.set_ecn(entry.ecn);
        let (flow, is_forward, sent_by) = (frame.flow, frame.is_forward, frame.sent_by());
        let next = usize::from(frame.route_index) + 1;
        let since = frame.enqueued_at;
        let vcs = match sent_by {
            Some(source) => &self.spec.sources[source as usize].datagram_route[..],
            None => route(self.spec, flow.0, is_forward),
        };
        if let Some(&next) = vcs.get(next) {
            self.frames.get_mut(id).route_index += 1;
            return self.hand_over(at, id, next);
        }
        if let Some(source) = sent_by {
            let (octets, cells) = (frame.octets(), frame.cells());
            self.frames.forget(id);
            self.sources[source as usize].on_delivered(octets, now - since);
            if let Some(echo) = self.echoes[source as usize] {
                let answer = self.sources[echo as usize].answer(octets, cells);
                self.send_datagram(at, echo, answer, since);
            }
            return;
        }
        let segment = self.frames.segment(id);
        self.forget(id);
        if matches!(self.flows[flow.0 as usize], Stage::Ahead) {
            self.begin_flow(flow.0); // its other half is in another region
        }
        let own = &mut self.flows[flow.0 as usize].open().flow;
        match is_forward {
            true => own.on_segment_at_destination(now, &segment, since, &mut self.out),
            false => {
                own.on_segment_at_source(now, &segment, &mut self.out);
                let data = self.spec.flows[flow.0 as usize].forward[0];
                self.round_trips.on_answer(flow.0, data, &segment, now);
            }
        }
        self.after_flow(at, node, flow.0, !is_forward);
    }
}
