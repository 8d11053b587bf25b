//! What a run leaves.

use super::Sky;
use super::ports::Slot;
use skycell_des::Key;
use skycell_records::{
    EngineStats, FragmentedPackets, PortRecord, RunRecords, SkyRecord, VcRecord,
};
use skycell_reference::{Finished, records_of};

impl Sky<'_> {
    pub(super) fn into_records(mut self) -> RunRecords {
        self.settle_ports();
        for link in &self.links.all {
            for entry in &link.ring {
                self.vcs[entry.vc as usize].record.cells_in_transit += 1;
            }
        }
        let sampled = self.sampled();
        let flows = self.flow_records();
        let mut record = self.sky_record();
        record.round_trips = self.round_trips.into_times();
        let units = record.ports.arrived.iter().sum();
        let is_stepped = |&&id: &&u32| matches!(self.ports[id as usize], Slot::Stepped(_));
        let ports = record.ports.port.iter().zip(&record.ports.arrived);
        let stepped = ports.filter(|(id, _)| is_stepped(id));
        let cells_stepped = stepped.map(|(_, arrived)| arrived).sum();
        let vcs = self.vcs.into_iter().map(|vc| VcRecord {
            cells_open: vc.reassembly.open_cells().into(),
            ..vc.record
        });
        let finished = Finished {
            ports: Vec::new(),
            sampled,
            sky: Some(record),
            vcs: vcs.collect(),
            flows,
            users: None,
            sources: self.sources,
            uplinks: Vec::new(),
            delays: Vec::new(),
            traces: self.traces.into_rows(),
            fragmented: FragmentedPackets::default(),
            frames: self.frames.made(),
            events: self.moved,
        };
        let mut records = records_of(self.spec, finished);
        records.engine = "fast";
        records.engine_stats = EngineStats {
            events: self.moved,
            cells: units,
            cells_stepped,
            stepped_ports: crate::run::stepped_ports(self.spec),
            regions: None,
        };
        records
    }

    /// The records of the ports that are sampled.
    fn sampled(&self) -> Vec<PortRecord> {
        let sampled = self.spec.records.sampled_ports.iter();
        sampled
            .map(|&id| match &self.ports[id as usize] {
                Slot::Stepped(own) => {
                    let name = &self.port_names[id as usize];
                    own.port.record(name, self.end, false)
                }
                _ => unreachable!("a sampled port is stepped"),
            })
            .collect()
    }

    /// Settles the ports up to the end of the run, and counts what is left in them.
    fn settle_ports(&mut self) {
        let end = Key::new(self.end, 0, 0);
        for (slot, id) in self.ports.iter_mut().zip(0u32..) {
            let vcs = &mut self.vcs;
            let mut count = |(vc, queued): (u32, u32)| {
                vcs[vc as usize].record.cells_queued += u64::from(queued);
            };
            match slot {
                Slot::Unused => {}
                Slot::Closed(port) => {
                    port.settle(end, id);
                    port.vcs_of_packets().for_each(|vc| count((vc, 1)));
                }
                Slot::Stepped(own) => own.port.queued_by_vc().for_each(&mut count),
            }
        }
    }

    fn sky_record(&self) -> SkyRecord {
        let mut record = SkyRecord::default();
        for (slot, id) in self.ports.iter().zip(0u32..) {
            match slot {
                Slot::Unused => {}
                Slot::Stepped(own) => {
                    let counts = own.port.record("", self.end, false);
                    if counts.arrived > 0 {
                        record.add_port(id, &counts, &own.meter);
                    }
                }
                Slot::Closed(port) if port.arrived > 0 => {
                    let (departed, octets) = port.meter.departed();
                    record.ports.push(
                        id,
                        port.arrived,
                        departed,
                        port.discarded,
                        port.queued().into(),
                        0,
                        octets,
                        port.busy.0,
                        port.stays_ps as f64 / self.end.0 as f64,
                        port.queue_max(),
                    );
                    port.meter.write(id, &mut record.seconds);
                }
                Slot::Closed(_) => {}
            }
        }
        let nodes = self.nodes.iter().zip(&self.counts).zip(0u32..);
        for ((own, node), id) in nodes {
            if own.arrived + node.handed_over == 0 {
                continue;
            }
            record.nodes.push(
                id,
                own.arrived,
                node.handed_over,
                own.delivered,
                own.offered,
                node.rerouted,
                node.turned_back,
                node.no_route,
                node.hop_limit,
                node.gone,
                0, // VCs with policers are left to `reference`
            );
        }
        record
    }
}
