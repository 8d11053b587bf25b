//! The end of a run: what its network has left.

use super::Network;
use crate::port::Port;
use skycell_records::{
    CellDelays, FlowRecord, FragmentedPackets, PortRecord, SkyRecord, Traces, UplinkRecord,
    VcRecord,
};
use skycell_traffic::{CellSource, Users};
use skycell_units::SimTime;

impl Network<'_> {
    /// Ends the run: hands out the flows, the VCs' records and the traces.
    pub(crate) fn finish(mut self) -> Finished {
        self.finish_abr();
        let end = SimTime(self.spec.duration_ps);
        if let Some(sky) = &self.sky {
            let own = &self.ports[self.spec.links.len()..];
            for (vc, queued) in own.iter().flat_map(Port::queued_by_vc) {
                self.vcs[vc as usize].record.cells_queued += u64::from(queued);
            }
            for vc in sky.vcs_on_links() {
                self.vcs[vc as usize].record.cells_in_transit += 1;
            }
        }
        let of_links = &self.ports[..self.spec.links.len()];
        for (port, link) in of_links.iter().zip(0u32..) {
            for vc in &port.vcs {
                self.vcs[vc.vc as usize].record.cells_queued += u64::from(vc.queued);
            }
            for cell in port.link.cells() {
                let vc = &mut self.vcs[cell.vc as usize];
                debug_assert_eq!(vc.vc_paths.hop(cell.hop).0, link);
                vc.record.cells_in_transit += 1;
            }
        }
        let mut delays = Vec::new();
        let vcs = self.vcs.into_iter().zip(0u32..).map(|(vc, id)| {
            delays.extend(vc.delays.map(|of_vc| (id, of_vc)));
            let mut record = vc.record;
            record.resequencer = vc.resequencer.as_ref().map(|own| own.record());
            record.cells_open = u64::from(vc.reassembly.open_cells());
            if let Some(guaranteed) = &vc.guaranteed {
                guaranteed.write(&mut record);
            }
            record
        });
        Finished {
            uplinks: self.access.records(self.spec),
            sampled: self
                .sky
                .as_ref()
                .map_or_else(Vec::new, |sky| sky.sampled(self.spec, &self.ports)),
            sky: self.sky.map(|sky| sky.record(&self.ports)),
            ports: self.ports,
            vcs: vcs.collect(),
            sources: self.sources,
            delays,
            flows: self.flows.iter().map(|f| f.flow.record(end)).collect(),
            users: self.users,
            traces: self.out.traces,
            fragmented: self.frames.fragmented,
            frames: self.frames.made(),
            events: self.events.popped(),
        }
    }
}

/// The state of a network when its run has ended.
#[derive(Debug)]
pub struct Finished {
    /// By link, and then those of the sky.
    pub ports: Vec<Port>,
    /// Of the ports of the sky those that are sampled.
    pub sampled: Vec<PortRecord>,
    /// What the sky leaves, if there is one.
    pub sky: Option<SkyRecord>,
    /// By VC.
    pub vcs: Vec<VcRecord>,
    /// By flow.
    pub flows: Vec<FlowRecord>,
    /// Users, if there are any.
    pub users: Option<Users>,
    /// By source.
    pub sources: Vec<CellSource>,
    /// By uplink.
    pub uplinks: Vec<UplinkRecord>,
    /// Of the VCs where delays are measured, ids ascending.
    pub delays: Vec<(u32, CellDelays)>,
    /// Rows that have not been taken.
    pub traces: Traces,
    /// Fates of fragmented packets.
    pub fragmented: FragmentedPackets,
    /// Frames handed to ports by end points, as far as those belong to it.
    pub frames: u64,
    /// Events that have happened.
    pub events: u64,
}
