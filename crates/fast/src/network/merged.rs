//! Regions of a network become one again when their run has ended, and its records are those of any network.

use super::Network;
use crate::merged_rows::{History, merged_rows};
use crate::port::Slot;
use crate::vcs::Vcs;
use skycell_traffic::{Flow, rank};
use skycell_units::FlowId;
use std::mem::take;

/// Flows, each with its destination's half where the other region has that.
pub(super) type Halves = Vec<(FlowId, Flow)>;

impl<'a> Network<'a> {
    /// The network of regions that have ended.
    ///
    /// # Panics
    /// There are none, or something has not crossed that comes before the end.
    pub(crate) fn merged(regions: Vec<Network<'a>>) -> Network<'a> {
        let mut regions = regions;
        for region in &mut regions {
            region.limit = region.end;
            region.finish();
            let here = region.here.as_ref().expect("it is a region");
            assert!(here.has_given_all(region.end), "it has not crossed");
            region.mark_rows();
        }
        let histories = regions.iter_mut().map(|region| {
            let history = region.here.as_mut().map(|here| take(&mut here.history));
            (take(&mut region.out.traces), history.unwrap_or_default())
        });
        let traces = merged_rows(&histories.collect::<Vec<History>>());
        let mut regions = regions.into_iter();
        let mut whole = regions.next().expect("a network has a region");
        for region in regions {
            whole.absorb(region);
        }
        whole.out.traces = traces;
        whole.here = None;
        whole
    }

    fn absorb(&mut self, region: Network<'a>) {
        let mut region = region;
        let there = region.here.take().expect("it is a region");
        let spec = self.spec;
        for (slot, other) in self.ports.slots.iter_mut().zip(&mut region.ports.slots) {
            if matches!(other, Slot::Elsewhere | Slot::Pass(_)) {
                continue;
            }
            std::mem::swap(slot, other);
            if let Slot::Source(index) = *slot {
                let (ports, others) = (&mut self.ports.sources, &mut region.ports.sources);
                std::mem::swap(&mut ports[index as usize], &mut others[index as usize]);
            }
        }
        for (flow, id) in take(&mut region.flows).into_iter().zip(FlowId::all()) {
            let ends = &spec.flows[id.index()];
            if there.has(spec.vc_source(ends.forward[0] as usize)) {
                let own = std::mem::replace(&mut self.flows[id.index()], flow);
                if self.has(spec.vc_source(ends.reverse[0] as usize)) {
                    self.halves.push((id, own));
                }
            } else if there.has(spec.vc_source(ends.reverse[0] as usize)) {
                self.halves.push((id, flow));
            }
        }
        self.halves.append(&mut region.halves);
        for (id, mut source, frame) in take(&mut region.sources) {
            let begins_there = there.has(spec.vc_source(spec.sources[id as usize].vc as usize));
            match self.sources.binary_search_by_key(&id, |own| own.0) {
                Err(at) => self.sources.insert(at, (id, source, frame)),
                Ok(at) if begins_there => {
                    let mut sink = std::mem::replace(&mut self.sources[at], (id, source, frame));
                    self.sources[at].1.take_delivered(&mut sink.1);
                }
                Ok(at) => self.sources[at].1.take_delivered(&mut source),
            }
        }
        let begins = |vc: u32| there.has(spec.vc_source(vc as usize));
        let ends = |vc: u32| there.has(spec.vc_destination(vc as usize));
        self.vcs.absorb(region.vcs, begins, ends);
        if let (Some(users), Some(others)) = (&mut self.users, region.users) {
            users.absorb(others);
        }
        self.coupled = self.coupled.take().or(region.coupled);
        self.frames.add_made(region.frames.made());
        self.events_elsewhere += region.events.popped() - region.continued;
        if let (Some(rows), Some(others)) = (&mut self.discard_rows, region.discard_rows) {
            rows.extend(others);
        }
    }

    /// Of a timer that both ends of a flow have, what the source does is first.
    fn mark_rows(&mut self) {
        let Some(mut rows) = self.discard_rows.take() else {
            return;
        };
        for row in &mut rows {
            let is_timer = (rank::RETRANSMISSION..=rank::APPLICATION).contains(&row.order.rank());
            let flow = self.spec.flows.get(row.order.subject() as usize);
            row.is_later = is_timer
                && flow.is_some_and(|flow| {
                    let source = self.spec.vc_source(flow.forward[0] as usize);
                    !self.has(source)
                });
        }
        self.discard_rows = Some(rows);
    }
}

impl Vcs {
    /// Takes over what another region has counted of each VC: where VCs begin and end, and what was on its way between.
    fn absorb(
        &mut self,
        region: Vcs,
        begins_there: impl Fn(u32) -> bool,
        ends_there: impl Fn(u32) -> bool,
    ) {
        let mut region = region;
        for vc in 0..self.rest.len() as u32 {
            let other = region.begin_mut(vc);
            let counts = (other.cells_offered, other.frames_offered);
            let begin = self.begin_mut(vc);
            begin.cells_offered += counts.0;
            begin.frames_offered += counts.1;
            let other = region.end_and_path_mut(vc).0;
            let counts = (other.frames_delivered, other.cells_whole);
            let end = self.end_and_path_mut(vc).0;
            end.frames_delivered += counts.0;
            end.cells_whole += counts.1;
        }
        for ((own, other), vc) in self.rest.iter_mut().zip(region.rest).zip(0u32..) {
            own.delivered += other.delivered;
            own.frames_corrupt += other.frames_corrupt;
            own.frames_crc += other.frames_crc;
            own.cells_corrupt += other.cells_corrupt;
            own.discarded_at_source = own.discarded_at_source.and(&other.discarded_at_source);
            // Where they are measured, and nowhere else, they are counted.
            if other
                .delays
                .as_ref()
                .is_some_and(|delays| !delays.is_empty())
            {
                own.delays = other.delays;
            }
            let mut edge = other.edge;
            match (begins_there(vc), ends_there(vc)) {
                (true, true) => own.edge = edge,
                (true, false) => {
                    std::mem::swap(&mut own.edge, &mut edge);
                    own.edge.take_end(edge);
                }
                (false, true) => own.edge.take_end(edge),
                (false, false) => {}
            }
        }
    }
}
