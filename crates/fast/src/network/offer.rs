//! A frame is handed over at the first port of a VC, and on its way to the next.

use super::{DiscardRow, Network, Offer};
use crate::burst::fragment::DueFragment;
use crate::port::lookahead::Waiting;
use crate::port::source::Handed;
use skycell_des::Key;
use skycell_records::DiscardReason;
use skycell_traffic::rank;
use skycell_units::{Ecn, InputId, SimTime};

/// Bits of the number of all that is offered in a run.
pub(super) const OFFERED_BITS: u32 = 41;

impl Network<'_> {
    /// Offers a whole frame to the first port of its VC.
    pub(super) fn offer_frame(&mut self, now: SimTime, offer: Offer) {
        self.offered += 1;
        let path = self.vcs.begin(offer.vc).1;
        if path.is_stepped {
            return self.offer_to_stepped(now, offer);
        }
        // Each kind known, which the compiler makes two functions of.
        match path.carries_packets {
            true => self.offer_to_source(now, offer, true),
            false => self.offer_to_source(now, offer, false),
        }
    }

    /// Offers a packet, or a frame of cells, to the port where its VC begins.
    #[inline(always)]
    fn offer_to_source(&mut self, now: SimTime, offer: Offer, is_packet: bool) {
        let (frame, vc_id, cells) = (offer.frame, offer.vc, offer.cells);
        let path = *self.vcs.begin(vc_id).1;
        let (units, handed) = match is_packet {
            true => {
                let packet = self.frames.get(frame);
                let (octets, ecn) = (packet.octets(), packet.ecn());
                let flow = packet.flow_number(self.spec.flows.len());
                (1, Handed::Packet { octets, ecn, flow })
            }
            false => {
                let is_paced = offer.is_paced;
                (cells, Handed::Cells { cells, is_paced })
            }
        };
        let begin = self.vcs.begin_mut(vc_id);
        begin.frames_offered += 1;
        begin.cells_offered += u64::from(units);
        let (source, source_port_vc) = (begin.source, begin.source_port_vc);
        let (input, output_port_vc, link) = (begin.input, begin.output_port_vc, begin.first_link);
        let source = &mut self.ports.sources[source as usize];
        let sent = match source.offer(now, source_port_vc, handed) {
            Ok(sent) => sent,
            Err(reason) => {
                let vc = &mut self.vcs.rest[vc_id as usize];
                vc.discarded_at_source.add(reason, u64::from(units));
                let port = vc.route.source;
                self.note_discard(port, offer, reason);
                return self.frames.forget(frame);
            }
        };
        let (start, spacing) = (sent.start, SimTime(source.cell_time()));
        if path.is_lossy && source.loses(sent, source_port_vc, units) {
            if path.is_watched {
                self.vcs.rest[vc_id as usize].edge.on_sending(start, cells);
            }
            return self.frames.forget(frame);
        }
        if is_packet && sent.is_marked {
            self.frames.get_mut(frame).set_ecn(Ecn::Ce);
        }
        if !is_packet && offer.is_paced {
            self.frames.get_mut(frame).enqueued_at = start + spacing;
        }
        let mut clp = false;
        if !is_packet && path.is_watched {
            let vc = &mut self.vcs.rest[vc_id as usize];
            let link = &self.spec.links[vc.route.source as usize];
            let across = spacing + SimTime(link.delay_ps);
            let judged = vc.edge.on_frame(start, across, spacing, cells);
            if judged.is_some_and(|judged| judged.is_refused) {
                return self.frames.forget(frame);
            }
            clp = judged.is_some_and(|judged| judged.clp);
        }
        if let Some(output) = path.output
            && !is_packet
        {
            let first = start + spacing + path.first_delay;
            let fragment = DueFragment::new(first, frame, output_port_vc, cells, clp);
            return self.push_fragment(output, input, fragment);
        }
        let arrival = sent.end + path.first_delay;
        if self.leaves(vc_id) {
            return self.send_to_end(arrival, link, frame, is_packet);
        }
        if !(is_packet && path.arrives_at_once) {
            return self.push_delivery(link, arrival, frame);
        }
        if arrival >= self.end {
            return self.frames.forget(frame);
        }
        let key = Key::new(arrival, rank::ARRIVAL, link);
        self.arriving.push_back((key, frame));
    }

    /// Packets arrive that are accepted at once, in the order in which they were sent: to be called whenever frames
    /// have been offered.
    pub(super) fn take_arriving(&mut self) {
        while let Some((key, frame)) = self.arriving.pop_front() {
            // What happens there has its place in the order of events.
            let current = std::mem::replace(&mut self.current, key);
            self.on_whole(key.time(), frame);
            self.current = current;
        }
    }

    /// The place of what is being offered among all that its event lets be sent, as if it were a time.
    pub(super) fn offered_at(&self) -> SimTime {
        SimTime(self.order_of_users << OFFERED_BITS | self.offered)
    }

    /// A frame has been refused whole by the port at which its VC begins.
    fn note_discard(&mut self, port: u32, offer: Offer, reason: DiscardReason) {
        let entered = Some(self.offered_at());
        if let Some(rows) = &mut self.discard_rows {
            rows.push(DiscardRow {
                order: self.current,
                port,
                vc: offer.vc,
                flow: offer.flow,
                reason: reason as u8,
                entered,
                is_later: false,
            });
        }
    }

    /// A frame, or a part of one, is on its way to a port at which it may wait.
    #[inline(always)]
    pub(super) fn push_fragment(&mut self, output: u32, input: InputId, fragment: DueFragment) {
        let Some(port) = self.ports.as_output(output) else {
            // A copy: else the fragment would be in memory for all, and read there right after it was written.
            let copy = fragment;
            return self.push_to_stepped(output, input, &copy);
        };
        debug_assert!(
            fragment.head >= port.lookahead.local_clock,
            "it comes to what has been dealt with"
        );
        port.inputs.push(input, fragment);
        // Only what comes before all else makes it act earlier.
        let latest = port.arrives_after(fragment.head);
        let wakes_at = port.lookahead.wakes_at;
        if wakes_at.is_none_or(|wakes_at| latest < wakes_at) {
            self.plan_port(output);
        }
    }
}
