//! Ports that are stepped unit by unit: what comes to them, and where it goes from there.

use super::{DiscardRow, Network, Offer};
use crate::burst::fragment::DueFragment;
use crate::port::Slot;
use crate::port::stepped::{Departed, Next};
use skycell_atm::{EdgeCell, Reassembled};
use skycell_des::Key;
use skycell_reference::{Cell, pure_ack};
use skycell_switch::PureAck;
use skycell_traffic::{SourceCell, rank};
use skycell_units::{Ecn, FlowId, FrameId, InputId, PortVc, SimTime};

impl Network<'_> {
    /// Advances the stepped port up to `limit`, before which all its arrivals are known.
    #[inline(never)]
    pub(super) fn run_stepped(&mut self, id: u32, limit: SimTime) {
        let mut gone = std::mem::take(&mut self.gone);
        let port = self.ports.stepped(id);
        port.step(limit, &mut self.frames, &mut self.vcs);
        port.take_gone(limit, &mut gone);
        self.moved += gone.len() as u64;
        for unit in gone.drain(..) {
            self.on_gone(id, unit);
        }
        self.gone = gone;
        self.note_stepped_losses(id);
        self.forget_order(id);
        if let Some(mut forwarding) = self.ports.stepped(id).forwarding.take() {
            forwarding.take(|_, next_hop, fragment| {
                // All of its cells were under way one by one.
                self.frames
                    .forget_some(fragment.frame, u32::from(fragment.cells) - 1);
                self.push_fragment(next_hop.port, next_hop.input, fragment);
            });
            self.ports.stepped(id).forwarding = Some(forwarding);
        }
    }

    /// A unit comes to the end of the link of the port with id `id`.
    fn on_gone(&mut self, id: u32, (arrival, unit): Departed) {
        let mut unit = unit;
        let port = self.ports.stepped(id);
        let port_vc = unit.port_vc;
        let vc = &mut self.vcs.rest[unit.vc as usize];
        let next = port.vcs[port_vc.index()].next;
        if unit.hop == 0 {
            let frame = self.frames.get(unit.frame);
            let cell = EdgeCell {
                serial: self.frames.serial(unit.frame),
                index: unit.index,
                cells: frame.cells(),
                by_adapter: frame.clp(),
                by_policer: false,
            };
            let is_forwarded = !matches!(next, Next::End);
            match vc.edge.on_cell(arrival, cell, is_forwarded) {
                Some(clp) => unit.clp = clp,
                None => return self.frames.forget(unit.frame),
            }
        }
        match next {
            Next::End => self.on_unit_at_end(arrival, id, &unit),
            Next::Bursts(next_hop) => {
                let serial = self.frames.serial(unit.frame);
                let fragment = port.burst_of(port_vc, &unit, arrival, serial);
                if let Some(forwarding) = &mut port.forwarding {
                    return forwarding.send_one(port_vc, &fragment);
                }
                port.note_entry(port_vc);
                let fragment = DueFragment {
                    port_vc: next_hop.port_vc,
                    ..fragment
                };
                self.push_fragment(next_hop.port, next_hop.input, fragment);
            }
            Next::Stepped(to) => {
                unit.hop = 1;
                let entered = port.note_entry(port_vc);
                let key = Key::new(arrival, rank::ARRIVAL, id);
                if matches!(self.ports.slots[to as usize], Slot::Elsewhere) {
                    let serial = self.frames.serial(unit.frame);
                    let part = self.ports.stepped(id).part_of(port_vc, &unit, serial);
                    return self.send_unit(to, key, unit, entered, part);
                }
                self.push_unit(to, key, unit, Some(entered));
            }
        }
    }

    /// A burst is on its way to a stepped port.
    #[inline(never)]
    pub(super) fn push_to_stepped(&mut self, to: u32, input: InputId, fragment: &DueFragment) {
        if matches!(self.ports.slots[to as usize], Slot::Elsewhere) {
            return self.send_to_port(to, input, *fragment);
        }
        let (vc, left_at) = {
            let frame = self.frames.get(fragment.frame);
            (frame.vc, frame.enqueued_at)
        };
        let port = self.ports.stepped(to);
        port.push_burst(input, fragment, vc, left_at);
        self.plan_soon(to, fragment.head);
    }

    /// A unit is on its way to a stepped port.
    pub(super) fn push_unit(&mut self, to: u32, key: Key, unit: Cell, entered: Option<SimTime>) {
        let port = self.ports.stepped(to);
        let port_vc = port.port_vc(unit.vc);
        port.push_unit(key, Cell { port_vc, ..unit }, entered);
        self.plan_soon(to, key.time());
    }

    /// A unit comes to the end of its VC over `link`.
    fn on_unit_at_end(&mut self, arrival: SimTime, link: u32, unit: &Cell) {
        let vc = &mut self.vcs.rest[unit.vc as usize];
        vc.delivered += 1;
        if unit.octets > 0 {
            self.frames.get_mut(unit.frame).set_ecn(unit.ecn);
        }
        let vc = &mut self.vcs.rest[unit.vc as usize];
        if let Some(delays) = vc.delays.as_mut().filter(|_| vc.measures_units) {
            delays.add((arrival - unit.left_at).0);
        }
        if !self.is_whole(unit.frame, unit.index, unit.eom) {
            return;
        }
        if self.leaves(unit.vc) {
            return self.send_to_end(arrival, link, unit.frame, true);
        }
        if self.vcs.end(unit.vc).1.arrives_at_once {
            let key = Key::new(arrival, rank::ARRIVAL, link);
            self.arriving.push_back((key, unit.frame));
            return self.take_arriving();
        }
        self.push_delivery(link, arrival, unit.frame);
    }

    /// Returns whether a unit that has come to the end of its VC completes a frame; a frame that it
    /// does not complete is no longer under way with it.
    fn is_whole(&mut self, frame: FrameId, index: u32, eom: bool) -> bool {
        let (vc, is_errored) = {
            let frame = self.frames.get(frame);
            (frame.vc, frame.is_errored())
        };
        let vc = &mut self.vcs.rest[vc as usize];
        let serial = self.frames.serial(frame);
        let reassembled = vc.reassembly.on_cell(serial, index, eom, is_errored);
        if let Some(Reassembled::Corrupt { cells, is_crc }) = reassembled {
            vc.frames_corrupt += 1;
            vc.frames_crc += u64::from(is_crc);
            vc.cells_corrupt += u64::from(cells);
        }
        let is_whole = reassembled == Some(Reassembled::Whole);
        if !is_whole {
            self.frames.forget(frame);
        }
        is_whole
    }

    /// Schedules the stepped port no later than the first effect of an arrival at `time`.
    fn plan_soon(&mut self, id: u32, time: SimTime) {
        let acts_at = self.ports.waiting(id).arrives_after(time);
        self.wake(id, acts_at);
    }

    /// Returns the acknowledgement of a packet that does nothing else, if the filter of `port` may
    /// look at it.
    fn pure_ack(&self, port: u32, frame: FrameId) -> Option<PureAck> {
        let flow = self.frames.get(frame).flow;
        let is_filtered = self.spec.links[port as usize].port.ack_filter;
        let is_hidden = || {
            let flows = &self.spec.flows;
            flows.get(flow.index()).is_some_and(|flow| flow.ipsec)
        };
        let is_read = is_filtered && flow != FlowId::NONE && !is_hidden();
        is_read.then(|| pure_ack(&self.frames.segment(frame)))?
    }

    /// Offers a whole frame, or a cell of a source, to the stepped port at which its VC begins.
    #[inline(never)]
    pub(super) fn offer_to_stepped(&mut self, now: SimTime, offer: Offer) {
        let (begin, path) = self.vcs.begin(offer.vc);
        let Some(port) = path.output else {
            return self.offer_to_part(now, offer);
        };
        let carries_packets = path.carries_packets;
        let octets = if carries_packets {
            self.frames.get(offer.frame).octets()
        } else {
            0
        };
        let units = if carries_packets { 1 } else { offer.cells };
        let ack = self.pure_ack(port, offer.frame);
        debug_assert_eq!(begin.source, u32::MAX);
        let begin = self.vcs.begin_mut(offer.vc);
        begin.frames_offered += 1;
        begin.cells_offered += u64::from(units);
        let unit = Cell {
            rm: None,
            efci: false,
            ack,
            frame: offer.frame,
            index: 0,
            octets,
            vc: offer.vc,
            port_vc: begin.output_port_vc,
            flow: self
                .frames
                .get(offer.frame)
                .flow_number(self.spec.flows.len()),
            hop: 0,
            sky_link: 0,
            eom: units == 1,
            clp: false,
            is_paced: offer.is_paced,
            ecn: self.frames.get(offer.frame).ecn(),
            came_at: now,
            left_at: now,
            entry: 0,
        };
        let key = self.current;
        debug_assert_eq!(key.time(), now);
        if offer.is_paced {
            return self.push_unit(port, key, unit, None);
        }
        let offered_at = self.offered_at();
        self.ports
            .stepped(port)
            .push_frame(key, unit, units, offered_at);
        self.plan_soon(port, now);
    }

    /// The source with index `at` sends a cell of a frame of several, whose VC begins at a stepped port.
    #[inline(never)]
    pub(super) fn send_cell(&mut self, now: SimTime, at: usize, sent: SourceCell) {
        let (id, _, under_way) = &mut self.sources[at];
        let vc = self.spec.sources[*id as usize].vc;
        let begin = self.vcs.begin_mut(vc);
        begin.cells_offered += 1;
        if sent.index == 0 {
            begin.frames_offered += 1;
            let size = (sent.frame_cells, 0);
            *under_way = self.frames.add_of_source(*id, vc, size, now);
        }
        let frame = *under_way;
        let eom = sent.index + 1 == sent.frame_cells;
        if !eom {
            self.frames.hold(frame);
        }
        let unit = Cell {
            rm: None,
            efci: false,
            ack: None,
            frame,
            index: sent.index,
            octets: 0,
            vc,
            port_vc: PortVc(0),
            flow: 0,
            hop: 0,
            sky_link: 0,
            eom,
            clp: false,
            is_paced: true,
            ecn: Ecn::NotEct,
            came_at: now,
            left_at: now,
            entry: 0,
        };
        let port = self.vcs.begin(vc).1.output;
        let port = port.expect("the VC begins at a stepped port");
        self.push_unit(port, self.current, unit, None);
    }

    /// Takes the losses that the stepped port has found since it was last asked.
    fn note_stepped_losses(&mut self, id: u32) {
        let Some(rows) = &mut self.discard_rows else {
            return;
        };
        let Some(mut losses) = self.ports.stepped(id).losses.take() else {
            return;
        };
        for loss in losses.drain(..) {
            let by_link = loss.key.rank() == rank::ARRIVAL;
            let entered = loss.entered.or_else(|| {
                let link = Some(loss.key.subject()).filter(|_| by_link)?;
                self.ports.entry(link, loss.vc, loss.nth)
            });
            rows.push(DiscardRow {
                order: loss.key,
                port: id,
                vc: loss.vc,
                flow: loss.flow,
                reason: loss.reason as u8,
                entered,
                is_later: false,
            });
        }
        self.ports.stepped(id).losses = Some(losses);
    }

    /// Of the order in which units left the stepped port nobody will ask for what has been processed.
    fn forget_order(&mut self, id: u32) {
        let Some(mut order) = self.ports.stepped(id).order.take() else {
            return;
        };
        let Slot::Stepped(port) = &self.ports.slots[id as usize] else {
            return;
        };
        order.forget(|port_vc| match port.vcs[port_vc.index()].next {
            Next::Bursts(next_hop) => {
                let to = self.ports.waiting(next_hop.port);
                to.processed(next_hop.port_vc)
            }
            _ => u64::MAX,
        });
        self.ports.stepped(id).order = Some(order);
    }
}
