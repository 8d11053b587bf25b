//! The ports that are stepped together, as a part of the network of `reference`: what is offered to them, and what comes
//! from there.

use super::{DiscardRow, Network, Offer};
use crate::plan::route::PortKind;
use skycell_des::Key;
use skycell_reference::{NetworkPart, Outside};
use skycell_spec::NetworkSpec;
use skycell_units::{FlowId, SimTime};

/// Events of the part that happen one after the other.
const AT_ONCE: u32 = 64;

/// The part of `spec` whose ports are stepped together, if there are any.
pub(super) fn part<'a>(spec: &'a NetworkSpec, kinds: &[PortKind]) -> Option<Box<NetworkPart<'a>>> {
    let is_there = |port: u32| kinds[port as usize] == PortKind::Coupled;
    let has = |vc: u32| is_there(spec.vcs[vc as usize].path[0]);
    kinds
        .contains(&PortKind::Coupled)
        .then(|| Box::new(NetworkPart::new(spec, has)))
}

impl Network<'_> {
    /// Executes the events of the part that come before all others; returns the time of the last,
    /// if there were some.
    #[inline(never)]
    pub(super) fn advance_coupled(&mut self) -> Option<SimTime> {
        let end = Key::new(self.limit, 0, 0);
        let until = self.events.first().map_or(end, |first| first.min(end));
        let part = self.coupled.as_mut()?;
        let first = part.first().filter(|first| *first < until)?;
        self.moved += u64::from(AT_ONCE);
        let Some((key, offered)) = part.advance(until, AT_ONCE) else {
            return Some(first.time());
        };
        let discards = part.take_discards();
        if let Some(rows) = &mut self.discard_rows {
            let all = discards.port.iter().zip(&discards.vc).zip(&discards.flow);
            for (((&port, &vc), &flow), &reason) in all.zip(&discards.reason) {
                rows.push(DiscardRow {
                    order: key,
                    port,
                    vc,
                    flow: FlowId(flow),
                    reason,
                    entered: offered.map(SimTime),
                    is_later: false,
                });
            }
        }
        for frame in part.take_ended() {
            self.frames.forget(frame);
        }
        if let Some((frame, ecn)) = part.take_whole() {
            self.frames.get_mut(frame).set_ecn(ecn);
            self.current = key;
            self.on_whole(key.time(), frame);
            self.note_rows(key);
        }
        Some(key.time())
    }

    /// Offers a whole frame to the part.
    pub(super) fn offer_to_part(&mut self, now: SimTime, offer: Offer) {
        debug_assert_eq!(self.current.time(), now);
        let frame = self.frames.get(offer.frame);
        let outside = Outside {
            frame: offer.frame,
            flow: offer.flow.0,
            number: frame.flow_number(self.spec.flows.len()),
            ecn: frame.ecn(),
            cells: offer.cells,
            clp: frame.clp(),
        };
        let offered_at = self.offered_at().0;
        let part = self.coupled.as_mut().expect("the VC begins there");
        part.offer(self.current, offered_at, offer.vc, outside);
    }
}
