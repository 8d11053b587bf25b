//! One network again, of its regions after the run: each part of the state is that of the region in which it acted.

use super::Sky;
use super::flows::{Over, Stage};
use super::ports::Slot;
use skycell_records::FlowRecord;

impl Sky<'_> {
    /// The network whose regions these are, by number.
    pub(crate) fn merged(mut regions: Vec<Self>) -> Self {
        let flows = merged_flows(&mut regions);
        let mut regions = regions.into_iter();
        let mut whole = regions.next().expect("a network has a region");
        let mut traces = vec![std::mem::take(&mut whole.traces)];
        whole.drop_rings_of_others();
        for mut region in regions {
            region.drop_rings_of_others();
            traces.push(std::mem::take(&mut region.traces));
            whole.add(region);
        }
        whole.flows = flows;
        whole.traces = super::traces::merged(traces);
        whole
    }

    /// Drops what was kept of links to other regions.
    fn drop_rings_of_others(&mut self) {
        for id in 0..self.links.all.len() {
            if self.links.all[id].crosses {
                self.links.all[id].ring.clear();
            }
        }
    }

    fn add(&mut self, other: Self) {
        for (own, other) in self.ports.iter_mut().zip(other.ports) {
            if !matches!(other, Slot::Unused) {
                *own = other;
            }
        }
        // A node that is of another region counts nothing.
        for (own, other) in self.nodes.iter_mut().zip(&other.nodes) {
            own.arrived += other.arrived;
            own.delivered += other.delivered;
            own.offered += other.offered;
        }
        for (own, other) in self.counts.iter_mut().zip(&other.counts) {
            own.add(other);
        }
        for (own, other) in self.links.all.iter_mut().zip(other.links.all) {
            if !other.ring.is_empty() {
                own.ring = other.ring;
            }
        }
        for (own, other) in self.vcs.iter_mut().zip(other.vcs) {
            own.record.add_cells(&other.record);
            if other.reassembly.open_cells() > 0 {
                own.reassembly = other.reassembly;
            }
        }
        let border = self.border.as_ref().expect("a region has a border");
        let of_node = border.of_node.clone();
        let region = other.border.as_ref().map(|border| border.id);
        for (id, (own, mut other)) in self.sources.iter_mut().zip(other.sources).enumerate() {
            let source = &self.spec.sources[id];
            let from = self.vcs[source.vc as usize].from;
            let last = source.datagram_route.last().copied().unwrap_or(source.vc);
            let to = self.columns.label_node[usize::from(self.vcs[last as usize].label)];
            let is_there = [from, to].map(|node| Some(of_node[node as usize]) == region);
            match is_there {
                [true, true] => *own = other,
                [true, false] => {
                    other.take_delivered(own);
                    *own = other;
                }
                [false, true] => own.take_delivered(&mut other),
                [false, false] => {}
            }
        }
        self.round_trips.take_times(other.round_trips);
        self.frames.add_made(other.frames.made());
        self.moved += other.moved;
    }
}

/// The flows of a network: of each the half of its source and that of its destination.
fn merged_flows(regions: &mut [Sky<'_>]) -> Vec<Stage> {
    let spec = regions[0].spec;
    let border = regions[0].border.as_ref().expect("a region has a border");
    let region = |vc: u32| border.of_node[spec.vc_source(vc as usize) as usize] as usize;
    let ends = (0u32..).zip(&spec.flows);
    let ends = ends.map(|(id, flow)| (id, region(flow.forward[0]), region(flow.reverse[0])));
    let ends: Vec<_> = ends.collect();
    let flow = |(id, source, destination): (u32, usize, usize)| {
        let own = std::mem::replace(&mut regions[source].flows[id as usize], Stage::Ahead);
        if source == destination {
            return own;
        }
        let other = std::mem::replace(&mut regions[destination].flows[id as usize], Stage::Ahead);
        if matches!(own, Stage::Ahead) {
            return own;
        }
        let end = regions[source].end;
        let mut record = |stage| regions[source].flow_record(id, stage);
        let (at_source, at_destination) = (record(own), record(other));
        Stage::Over(Box::new(Over::at_end(
            FlowRecord::of_ends(at_source, &at_destination),
            end,
        )))
    };
    ends.into_iter().map(flow).collect()
}
