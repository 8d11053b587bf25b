//! A part of a network that is stepped event by event, while the rest of its run happens elsewhere: whole frames come to the
//! beginnings of its VCs and are taken at their ends.

use super::{Finished, Network};
use crate::frames::Content;
use crate::port::Port;
use skycell_des::Key;
use skycell_records::DiscardTrace;
use skycell_spec::NetworkSpec;
use skycell_units::{Ecn, FrameId, SimTime};
use std::collections::BTreeMap;

/// A frame that comes from outside.
#[derive(Clone, Copy, Debug)]
pub struct Outside {
    /// Frame number that identifies it there.
    pub frame: FrameId,
    /// Its flow as the trace of discards names it.
    pub flow: u32,
    /// The number of its flow for queues by flow.
    pub number: u32,
    /// The ECN field of its packet.
    pub ecn: Ecn,
    /// Its length in cells.
    pub cells: u32,
    /// CLP of these.
    pub clp: bool,
}

/// All ports that the VCs of a part cross, which no other VC does, with all that happens there.
#[derive(Debug)]
pub struct NetworkPart<'a> {
    network: Network<'a>,
    /// Frames that are offered, with their VCs: by event, and in one event by number.
    offers: BTreeMap<(Key, u64), (u32, Outside)>,
    /// Frames that have come from outside.
    accepted: u64,
}

impl<'a> NetworkPart<'a> {
    /// The part of `spec` that consists of the VCs that it `has`.
    pub fn new(spec: &'a NetworkSpec, has: impl Fn(u32) -> bool) -> Self {
        let mut network = Network::of(spec, &[], &has);
        // Datagrams come from outside.
        network.begin_sources(|source| source.datagram_route.is_empty() && has(source.vc));
        NetworkPart {
            network,
            offers: BTreeMap::new(),
            accepted: 0,
        }
    }

    /// The event that is next.
    pub fn first(&self) -> Option<Key> {
        let offer = self.offers.first_key_value().map(|((key, _), _)| *key);
        let event = self.network.events.first();
        offer.into_iter().chain(event).min()
    }

    /// A frame is offered to VC `vc` in the event with that `key`, which has not happened here; of those of one event in the
    /// order of `number`.
    pub fn offer(&mut self, key: Key, number: u64, vc: u32, frame: Outside) {
        self.offers.insert((key, number), (vc, frame));
    }

    /// Executes the events before `until`, at most so many, up to the first with news for the
    /// outside; returns its key and, if a frame was offered, its number.
    pub fn advance(&mut self, until: Key, most: u32) -> Option<(Key, Option<u64>)> {
        for _ in 0..most {
            let event = self.network.events.first();
            let offer = self.offers.first_key_value().map(|(offer, _)| *offer);
            let happened = match offer.filter(|(key, _)| event.is_none_or(|event| *key <= event)) {
                Some((key, number)) if key < until => {
                    let (_, (vc, frame)) = self.offers.pop_first()?;
                    self.accepted += 1;
                    self.network.offer_outside(key.time(), vc, frame);
                    (key, Some(number))
                }
                _ => {
                    event.filter(|event| *event < until)?;
                    let event = self.network.events.pop_before(SimTime::NEVER)?;
                    self.network.on_event(event);
                    (event, None)
                }
            };
            if self.network.has_news() {
                return Some(happened);
            }
        }
        None
    }

    /// The frame that has come whole to the end of its VC in the last event, and the ECN field of its packet.
    pub fn take_whole(&mut self) -> Option<(FrameId, Ecn)> {
        self.network.out_of_part.take()
    }

    /// Frames that have ended on their way.
    pub fn take_ended(&mut self) -> std::vec::Drain<'_, FrameId> {
        self.network.frames.ended_outside.drain(..)
    }

    /// Discards, as far as they are traced.
    pub fn take_discards(&mut self) -> DiscardTrace {
        std::mem::take(&mut self.network.out.traces.discards)
    }

    /// The port with id `id`.
    pub fn port_mut(&mut self, id: u32) -> &mut Port {
        &mut self.network.ports[id as usize]
    }

    /// Ends the run.
    pub fn finish(self) -> Finished {
        let finished = self.network.finish();
        Finished {
            frames: finished.frames - self.accepted,
            ..finished
        }
    }
}

impl Network<'_> {
    fn offer_outside(&mut self, now: SimTime, vc: u32, frame: Outside) {
        let id = self
            .frames
            .add(Content::Outside(frame), 0, frame.cells, now);
        self.frames.set_clp(id, frame.clp);
        self.offer_frame(now, id, vc);
    }

    fn has_news(&self) -> bool {
        self.out_of_part.is_some()
            || !self.frames.ended_outside.is_empty()
            || !self.out.traces.discards.time_ps.is_empty()
    }
}
