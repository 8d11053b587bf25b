//! A region of a network that forwards by label: some nodes, with the ports of these, the links that lead to them and
//! the ends of flows and sources that are there.
//!
//! Links take time, so what crosses the border goes in batches ([`crate::turns`]). Each link has two sides: its course, its
//! losses and the arrival of the last packet are its first node's, the packets on it its last node's. A flow whose
//! ends are in two regions is two halves, each a whole flow of which one end never acts.

use super::Sky;
use super::links::Entry;
use crate::frames::Frame;
use crate::turns::{Edge, Region};
use skycell_des::Key;
use skycell_spec::{NetworkSpec, SkySpec};
use skycell_tcp::SackBlocks;
use skycell_traffic::rank;
use skycell_units::SimTime;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Turns of a region at least, so that one that nobody sends to does not run away from those to which it sends.
const LEAST_TURNS: u64 = 1 << 8;

/// What lies between a region and the others.
pub(super) struct Border {
    pub(super) id: u32,
    /// By node: its region.
    pub(super) of_node: Arc<[u32]>,
    /// By region: what it is given next, and the least time from what happens here to what that leads to there; none for
    /// a region to which no link leads.
    readers: Vec<Option<(SimTime, Batch)>>,
    /// The time before which all has happened.
    acted: SimTime,
    crossed: u64,
}

/// What crosses a border in a turn.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    packets: Vec<Crossing>,
    /// SACK blocks of the packets that have some, in order.
    sacks: Vec<SackBlocks>,
}

/// A packet, or a cell, on a link to another region.
#[derive(Debug)]
struct Crossing {
    link: u32,
    has_sack: bool,
    entry: Entry,
    serial: u64,
    frame: Frame,
}

impl Border {
    fn new(id: u32, of_node: &Arc<[u32]>, regions: u32, edges: &[Edge]) -> Self {
        let reader = |to: u32| {
            let mut edges = edges.iter();
            let edge = edges.find(|edge| (edge.from, edge.to) == (id, to))?;
            Some((edge.lookahead, Batch::default()))
        };
        Border {
            id,
            of_node: of_node.clone(),
            readers: (0..regions).map(reader).collect(),
            acted: SimTime::ZERO,
            crossed: 0,
        }
    }

    /// Returns whether a link between two nodes leads from this region to another.
    pub(super) fn is_crossed(&self, from: u32, to: u32) -> bool {
        let [from, to] = [from, to].map(|node| self.of_node[node as usize]);
        from == self.id && to != self.id
    }
}

impl<'a> Sky<'a> {
    /// The regions of a valid spec, of nodes that have a region each, and where these send to each other.
    pub(crate) fn regions(
        spec: &'a NetworkSpec,
        sky: &'a SkySpec,
        of_node: &[u32],
    ) -> (Vec<Self>, Vec<Edge>) {
        let columns = sky.columns();
        let count = of_node.iter().max().map_or(1, |last| last + 1);
        // By pair of regions; within one it is how long its windows may be.
        let mut least = BTreeMap::new();
        let links = columns.link_from().into_iter().zip(&columns.link_to);
        for ((from, &to), lookahead) in links.zip(super::lookaheads_ps(spec, sky)) {
            let pair = [from, to].map(|node| of_node[node as usize]);
            let known = least.entry(pair).or_insert(u64::MAX);
            *known = lookahead.unwrap_or(u64::MAX).min(*known);
        }
        let edges = least.iter().map(|(&[from, to], &lookahead)| Edge {
            from,
            to,
            lookahead: SimTime(lookahead),
        });
        let crossing = |edge: &Edge| edge.from != edge.to && edge.lookahead != SimTime::NEVER;
        let edges: Vec<Edge> = edges.filter(crossing).collect();
        let of_node: Arc<[u32]> = of_node.into();
        let region = |id: u32| {
            let within = least.get(&[id, id]).copied().unwrap_or(u64::MAX);
            let border = Border::new(id, &of_node, count, &edges);
            Sky::of_region(
                spec,
                sky,
                within.min(spec.duration_ps),
                Some(Box::new(border)),
            )
        };
        ((0..count).map(region).collect(), edges)
    }
}

impl Sky<'_> {
    /// Returns whether a node is of this region.
    pub(super) fn has_node(&self, node: u32) -> bool {
        let border = self.border.as_ref();
        border.is_none_or(|border| border.of_node[node as usize] == border.id)
    }

    /// The last packet on a link goes on in another region. Of the link nothing but that packet's arrival is needed here.
    #[inline(never)] // a small part of all packets
    pub(super) fn cross(&mut self, link: u32) {
        let own = &mut self.links.all[link as usize];
        let entry = *own.ring.back().expect("a packet has entered");
        if own.ring.len() > 1 {
            own.ring.pop_front();
        }
        if entry.arrival < self.end {
            let border = self.border.as_mut().expect("a link crosses a border");
            let to = border.of_node[own.to as usize];
            let reader = border.readers[to as usize].as_mut();
            let (_, batch) = reader.expect("regions that links lead to are readers");
            let (frame, sack, serial) = self.frames.leaving(entry.frame);
            batch.sacks.extend(sack);
            batch.packets.push(Crossing {
                link,
                has_sack: sack.is_some(),
                entry,
                serial,
                frame,
            });
            border.crossed += 1;
        } else {
            // It stays on the link.
            self.vcs[entry.vc as usize].record.cells_in_transit += 1;
        }
        self.forget(entry.frame);
    }
}

impl Sky<'_> {
    /// Packets that have gone to other regions.
    pub(crate) fn crossed(&self) -> u64 {
        self.border.as_ref().map_or(0, |border| border.crossed)
    }
}

impl Region for Sky<'_> {
    type Batch = Batch;

    fn take(&mut self, _: u32, batch: Batch) {
        let mut sacks = batch.sacks.iter();
        for crossing in batch.packets {
            let Crossing { link, entry, .. } = crossing;
            let acted = self.border.as_ref().map(|border| border.acted);
            assert!(
                Some(entry.arrival) >= acted,
                "a packet arrives at {} where all before {acted:?} has happened",
                entry.arrival,
            );
            let sack = if crossing.has_sack {
                sacks.next()
            } else {
                None
            };
            let frame = (self.frames).add_from_elsewhere(crossing.frame, sack, crossing.serial);
            let own = &mut self.links.all[link as usize];
            own.ring.push_back(Entry { frame, ..entry });
            if own.ring.len() == 1 {
                let to = own.to;
                self.wake(to, Key::new(entry.arrival, rank::ARRIVAL, link));
            }
        }
    }

    fn act(&mut self, limit: SimTime) -> (SimTime, u64) {
        let border = self.border.as_mut().expect("a region has a border");
        let most = border.acted + SimTime(self.end.0 / LEAST_TURNS + 1);
        let limit = limit.min(most).min(self.end);
        border.acted = limit;
        self.limit = limit;
        while self.advance().is_some() {}
        let is_over = limit == self.end;
        let clock = if is_over { SimTime::NEVER } else { limit };
        (clock, self.moved)
    }

    fn give(&mut self, to: u32) -> (Batch, SimTime) {
        let border = self.border.as_mut().expect("a region has a border");
        let reader = border.readers[to as usize].as_mut();
        let (lookahead, batch) = reader.expect("it is a reader");
        (std::mem::take(batch), border.acted + *lookahead)
    }
}
