//! The end of a run: what its network has left.

use super::Network;
use crate::port::Port;
use skycell_records::{
    CellDelayRecord, ClassDelayRecord, Traces, UplinkRecord, VcRecord, delay_records,
};
use skycell_traffic::{CellSource, Flow};

impl Network<'_> {
    /// Ends the run: hands out the flows, the VCs' records and the traces.
    pub(crate) fn finish(mut self) -> Finished {
        self.finish_abr();
        for (port, link) in self.ports.iter().zip(0u32..) {
            for vc in &port.vcs {
                self.vcs[vc.vc as usize].record.cells_queued += u64::from(vc.queued);
            }
            for cell in port.link.cells() {
                let vc = &mut self.vcs[cell.vc as usize];
                debug_assert_eq!(vc.vc_paths.hop(cell.hop).0, link);
                vc.record.cells_in_transit += 1;
            }
        }
        let measured = self.vcs.iter().zip(0u32..);
        let measured = measured.filter_map(|(vc, id)| Some((id, vc.delays.as_ref()?)));
        let (cell_delays, class_delays) = delay_records(measured, self.spec);
        let vcs = self.vcs.into_iter().map(|vc| {
            let mut record = vc.record;
            record.cells_open = u64::from(vc.reassembly.open_cells());
            if let Some(guaranteed) = &vc.guaranteed {
                guaranteed.write(&mut record);
            }
            record
        });
        Finished {
            uplinks: self.access.records(self.spec),
            ports: self.ports,
            vcs: vcs.collect(),
            sources: self.sources,
            cell_delays,
            class_delays,
            flows: self.flows.into_iter().map(|f| f.flow).collect(),
            traces: self.out.traces,
            frames: self.frames.made(),
            events: self.events.popped(),
        }
    }
}

/// What is left of a network when its run has ended.
pub(crate) struct Finished {
    pub(crate) ports: Vec<Port>,
    pub(crate) vcs: Vec<VcRecord>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) sources: Vec<CellSource>,
    pub(crate) uplinks: Vec<UplinkRecord>,
    pub(crate) cell_delays: Vec<CellDelayRecord>,
    pub(crate) class_delays: Vec<ClassDelayRecord>,
    pub(crate) traces: Traces,
    /// Frames handed to ports by end points.
    pub(crate) frames: u64,
    pub(crate) events: u64,
}
