//! ABR in the network: RM cells at the ends of their VCs and at switches, and the times of ports that pace
//! cells or measure.

use super::Network;
use crate::abr::{PacedVc, rm_cell};
use crate::frames::Cell;
use skycell_abr::RmCell;
use skycell_abr::switch::{RateControl, VcShare};
use skycell_abr::vs_vd::VsVdSpec;
use skycell_des::{EventQueue, Key};
use skycell_records::AbrRecord;
use skycell_spec::{AbrSpec, NetworkSpec, TraceKind};
use skycell_traffic::rank;
use skycell_units::{PortVc, SimTime};
use std::collections::BTreeMap;

/// A network's state of ABR beside its ports.
#[derive(Debug)]
pub(super) struct Abr {
    /// By VC.
    specs: Vec<Option<AbrSpec>>,
    /// By VC that is ABR: the hops at which a source paces it: where it begins, and where its control loop is cut.
    sources: Vec<Vec<u16>>,
    /// By node.
    vs_vd: Vec<Option<VsVdSpec>>,
    /// By port.
    controls: Vec<Option<Control>>,
    /// By port: the earliest pending event of each kind.
    pending_pace: Vec<SimTime>,
    pending_interval: Vec<SimTime>,
    traces_acr: bool,
    traces_intervals: bool,
}

/// The rate control of a port.
#[derive(Debug)]
struct Control {
    rates: RateControl,
    /// When the averaging interval ends that is under way, by time.
    due: SimTime,
    /// Places there of the ABR VCs that cross the port.
    indices: BTreeMap<u32, usize>,
}

impl Abr {
    pub(super) fn new(spec: &NetworkSpec, events: &mut EventQueue) -> Self {
        let control = |link: u32| {
            let spec_of_link = &spec.links[link as usize];
            let algorithm = spec_of_link.port.rate_algorithm.as_ref()?;
            let vcs = spec.vcs.iter().zip(0u32..);
            let crossing = vcs.filter(|(vc, _)| vc.paths().any(|path| path.contains(&link)));
            let crossing: Vec<(u32, AbrSpec)> = crossing
                .filter_map(|(vc, id)| Some((id, vc.abr?)))
                .collect();
            let shares: Vec<_> = crossing.iter().map(|(_, abr)| VcShare::of(abr)).collect();
            let rates = RateControl::new(algorithm, spec_of_link.cell_time_ps, &shares);
            Some(Control {
                due: rates.due(),
                rates,
                indices: crossing.iter().map(|(id, _)| *id).zip(0..).collect(),
            })
        };
        let ports = spec.links.len();
        let mut abr = Abr {
            specs: spec.vcs.iter().map(|vc| vc.abr).collect(),
            sources: vec![Vec::new(); spec.vcs.len()],
            vs_vd: spec.nodes.iter().map(|node| node.vs_vd).collect(),
            controls: (0..ports as u32).map(control).collect(),
            pending_pace: vec![SimTime::NEVER; ports],
            pending_interval: vec![SimTime::NEVER; ports],
            traces_acr: spec.records.traces.contains(&TraceKind::Acr),
            traces_intervals: spec.records.traces.contains(&TraceKind::RateControl),
        };
        (0..ports as u32).for_each(|port| abr.plan_interval(port, events));
        abr
    }

    /// Puts the end of the port's averaging interval into the queue. One that has been put off keeps its
    /// earlier event, which finds nothing due.
    fn plan_interval(&mut self, port: u32, events: &mut EventQueue) {
        let Some(control) = &self.controls[port as usize] else {
            return;
        };
        let pending = &mut self.pending_interval[port as usize];
        let due = control.rates.due();
        if due < *pending {
            *pending = due;
            events.push(Key::new(due, rank::INTERVAL, port));
        }
    }

    /// Returns whether the VC's rate is controlled.
    pub(super) fn paces(&self, vc: u32) -> bool {
        self.specs[vc as usize].is_some()
    }
}

impl Network<'_> {
    /// Adds pacers to the ports where ABR VCs, or control loops of them, begin.
    pub(super) fn add_pacers(&mut self) {
        for (vc, id) in self.spec.vcs.iter().zip(0u32..) {
            let Some(abr) = &vc.abr else { continue };
            let back = self.spec.vcs[abr.return_vc as usize].abr;
            let back = back.expect("an ABR VC has an ABR VC the other way");
            let vc_paths = &self.vcs[id as usize].vc_paths;
            let vs_vd = &self.abr.vs_vd;
            let paced = vc_paths
                .hops()
                .filter(|&(hop, node)| hop == 0 || vs_vd[node as usize].is_some());
            let paced: Vec<u16> = paced.map(|(hop, _)| hop).collect();
            for &hop in &paced {
                let (port, port_vc) = self.vcs[id as usize].vc_paths.hop(hop);
                let pacer = self.ports[port as usize].pacer_of(port_vc);
                pacer.add(id, port_vc, hop, abr, &back);
                self.trace_acr(SimTime::ZERO, id, (port, port_vc));
            }
            self.abr.sources[id as usize] = paced;
            self.vcs[id as usize].record.abr = Some(AbrRecord::default());
        }
    }

    /// Traces ACR and ER of a VC's source at `port`, if one of them has changed.
    fn trace_acr(&mut self, now: SimTime, vc: u32, (port, port_vc): (u32, PortVc)) {
        if !self.abr.traces_acr {
            return;
        }
        if let Some((acr, er)) = self.paced_at(vc, (port, port_vc)).changed_rates() {
            self.out.traces.acr.push(port, vc, now.0, acr, er);
        }
    }

    /// Port by which an ABR VC leaves `node`, where a source paces it, and the VC's index there.
    fn source_of(&mut self, now: SimTime, vc: u32, node: u32) -> (u32, PortVc) {
        let vc_paths = &self.vcs[vc as usize].vc_paths;
        let hop = vc_paths.leaving(&mut self.path_rows, now, node);
        vc_paths.hop(hop.expect("a VC and the VC the other way pass the same nodes"))
    }

    /// Returns whether a source paces the VC at `node`.
    fn has_source(&self, vc: u32, node: u32) -> bool {
        let begins = self.spec.vc_source(vc as usize) == node;
        begins || self.is_cut(vc, node)
    }

    /// The averaging interval of a port may have ended, with `queued` ABR cells in it: what came of it is
    /// traced, and the end of the next one planned.
    fn after_control(&mut self, now: SimTime, port: u32, queued: u32) {
        if let Some(control) = &mut self.abr.controls[port as usize]
            && control.due != control.rates.due()
        {
            control.due = control.rates.due();
            if self.abr.traces_intervals {
                let state = control.rates.state();
                let trace = &mut self.out.traces.rate_control;
                let (overload, fair_share) = (state.overload, state.fair_share);
                trace.push(port, now.0, overload, fair_share, state.target, queued);
            }
        }
        self.abr.plan_interval(port, &mut self.events);
    }

    /// An ABR VC at the port of `node` where it, or a control loop of it, begins.
    fn paced(&mut self, now: SimTime, vc: u32, node: u32) -> &mut PacedVc {
        let source = self.source_of(now, vc, node);
        self.paced_at(vc, source)
    }

    /// An ABR VC at a port where it, or a control loop of it, begins.
    fn paced_at(&mut self, vc: u32, (port, port_vc): (u32, PortVc)) -> &mut PacedVc {
        let paced = self.ports[port as usize].pacer_of(port_vc).vc_mut(vc);
        paced.expect("an ABR VC is paced where a loop begins")
    }

    /// The port begins to send if it is idle and may.
    fn kick(&mut self, now: SimTime, port: u32) {
        if !self.ports[port as usize].is_busy() {
            self.begin_sending(now, port);
        }
    }

    /// An idle port had nothing to send: it looks again when a cell may be sent that waits for its pace.
    pub(super) fn plan_pace(&mut self, now: SimTime, port: u32) {
        let Some(pending) = self.abr.pending_pace.get_mut(port as usize) else {
            return; // a port of the sky, where no cell waits for a pace
        };
        if let Some(wake) = self.ports[port as usize].wake(now)
            && wake < *pending
        {
            *pending = wake;
            self.events.push(Key::new(wake, rank::PACE, port));
        }
    }

    pub(super) fn on_pace(&mut self, now: SimTime, port: u32) {
        self.abr.pending_pace[port as usize] = SimTime::NEVER;
        self.kick(now, port);
    }

    /// An averaging interval of a port may end.
    pub(super) fn on_interval(&mut self, now: SimTime, port: u32) {
        self.abr.pending_interval[port as usize] = SimTime::NEVER;
        let queued = self.ports[port as usize].abr_queued();
        if let Some(control) = &mut self.abr.controls[port as usize] {
            control.rates.on_time(now, queued);
        }
        self.after_control(now, port, queued);
    }

    /// A cell begins to leave a port: an RM cell that a source there has made is counted.
    pub(super) fn count_rm_cell(&mut self, now: SimTime, port: u32, cell: &Cell) {
        let Some(rm) = cell.rm else { return };
        let node = self.spec.links[port as usize].from;
        if !self.has_source(cell.vc, node) {
            return;
        }
        let record = &mut self.vcs[cell.vc as usize].record;
        record.cells_offered += 1;
        let connection = self.connection(cell);
        let record = self.abr_record(connection);
        if rm.is_becn {
            record.becn_sent += 1;
        } else if rm.is_backward {
            record.backward_sent += 1;
        } else {
            record.forward_sent += 1;
            record.forward_out_of_rate += u64::from(rm.is_out_of_rate);
            self.trace_acr(now, connection, (port, cell.port_vc));
        }
    }

    /// The VC whose rate an RM cell is about.
    fn connection(&self, cell: &Cell) -> u32 {
        let abr = self.abr.specs[cell.vc as usize].expect("an RM cell is of an ABR VC");
        match cell.rm {
            Some(rm) if rm.is_backward => abr.return_vc,
            _ => cell.vc,
        }
    }

    fn abr_record(&mut self, vc: u32) -> &mut AbrRecord {
        let record = &mut self.vcs[vc as usize].record.abr;
        record.as_mut().expect("an ABR VC has such a record")
    }

    /// A cell comes to a port: the port's rate control counts it, and may mark it.
    pub(super) fn meet_control(&mut self, now: SimTime, port: u32, cell: &mut Cell) {
        let queued = self.ports[port as usize].abr_queued();
        let Some(control) = &mut self.abr.controls[port as usize] else {
            return;
        };
        let Some(&index) = control.indices.get(&cell.vc) else {
            return control.rates.on_other_cell();
        };
        let forward = cell.rm.as_ref().filter(|rm| !rm.is_backward);
        let marks = control.rates.on_cell(now, index, forward, queued);
        match &mut cell.rm {
            None => cell.efci |= marks.efci,
            Some(rm) if !rm.is_backward => {
                rm.ci |= marks.ci;
                rm.ni |= marks.ni;
            }
            Some(_) => {}
        }
        let becn = control.rates.becn(now, index);
        self.after_control(now, port, queued);
        if let Some(becn) = becn {
            self.send_becn(now, port, cell.vc, becn);
        }
    }

    /// A port has made a backward RM cell of `connection`: it goes back from this node over the VC the other way,
    /// beside the rate. Where a source of that VC is here (a loop is cut, and the virtual destination makes the cell),
    /// that sends it.
    fn send_becn(&mut self, now: SimTime, port: u32, connection: u32, content: RmCell) {
        let node = self.spec.links[port as usize].from;
        let abr = self.abr.specs[connection as usize].expect("an ABR VC");
        let back = abr.return_vc;
        let (port, port_vc) = self.source_of(now, back, node);
        if self.has_source(back, node) {
            self.paced_at(back, (port, port_vc)).add_becn(content);
            return self.kick(now, port);
        }
        let vc_paths = &self.vcs[back as usize].vc_paths;
        let hop = vc_paths.leaving(&mut self.path_rows, now, node);
        let hop = hop.expect("the VC the other way passes the node");
        self.vcs[back as usize].record.cells_offered += 1;
        self.abr_record(connection).becn_sent += 1;
        self.offer_cell(now, rm_cell(now, back, hop, port_vc, content));
    }

    /// A backward RM cell comes to a switch: the port by which its connection leaves tells it a rate.
    pub(super) fn lower_er(&mut self, now: SimTime, node: u32, cell: &mut Cell) {
        if !cell.rm.is_some_and(|rm| rm.is_backward) {
            return;
        }
        let connection = self.connection(cell);
        let vc_paths = &self.vcs[connection as usize].vc_paths;
        let leaving = vc_paths
            .leaving(&mut self.path_rows, now, node)
            .map(|hop| vc_paths.hop(hop).0 as usize);
        let control = leaving.and_then(|port| self.abr.controls[port].as_mut());
        if let (Some(control), Some(rm)) = (control, &mut cell.rm) {
            control.rates.on_backward(control.indices[&connection], rm);
        }
    }

    /// Returns whether a control loop of the VC ends at a node that its cells pass, and another
    /// begins.
    pub(super) fn is_cut(&self, vc: u32, node: u32) -> bool {
        let begins = self.abr.specs[vc as usize].is_some();
        begins && self.abr.vs_vd[node as usize].is_some()
    }

    /// A cell comes to a switch that cuts the control loop of its VC: what is told to the loop before it is
    /// what its port measures of that loop.
    pub(super) fn on_cell_at_cut(&mut self, now: SimTime, node: u32, mut cell: Cell) {
        let (port, _) = self.vcs[cell.vc as usize].vc_paths.hop(cell.hop);
        self.meet_control(now, port, &mut cell);
        if cell.rm.is_some() {
            self.vcs[cell.vc as usize].record.cells_delivered += 1;
            return self.on_rm_cell_at_end(now, node, cell);
        }
        self.see_efci(now, node, &cell);
        cell.efci = false; // source behaviour 12
        self.enqueue_cell(now, cell);
    }

    /// An RM cell has come to the end of its VC, or of a control loop of it, at `node`.
    pub(super) fn on_rm_cell_at_end(&mut self, now: SimTime, node: u32, cell: Cell) {
        let Some(mut rm) = cell.rm else { return };
        let connection = self.connection(&cell);
        self.abr_record(cell.vc).rm_cells_delivered += 1;
        self.couple(now, connection, node, &mut rm);
        // A backward one moves the rate of its connection; a forward one waits to go back over the VC the
        // other way. Both at the port of this node where the other VC, or a loop of it, begins.
        let other = self.abr.specs[cell.vc as usize]
            .expect("of an ABR VC")
            .return_vc;
        let (port, port_vc) = self.source_of(now, other, node);
        let paced = self.paced_at(other, (port, port_vc));
        if rm.is_backward {
            paced.on_backward(&rm);
            let record = self.abr_record(connection);
            record.backward_received += 1;
            record.becn_received += u64::from(rm.is_becn);
            self.trace_acr(now, connection, (port, port_vc));
        } else {
            let is_replaced = paced.turn(&rm);
            let record = self.abr_record(connection);
            record.forward_received += 1;
            record.backward_replaced += u64::from(is_replaced);
        }
        self.kick(now, port);
    }

    /// Where loops of a connection meet: what the virtual destination tells the loop before, or the virtual
    /// source takes from the one behind. At a real end nothing changes.
    fn couple(&mut self, now: SimTime, connection: u32, node: u32, rm: &mut RmCell) {
        let Some(vs_vd) = self.abr.vs_vd[node as usize] else {
            return;
        };
        let (port, port_vc) = self.source_of(now, connection, node);
        let mut allocated = RmCell {
            er: f64::INFINITY,
            ..*rm
        };
        if let Some(control) = &mut self.abr.controls[port as usize] {
            let index = control.indices[&connection];
            control.rates.on_backward(index, &mut allocated);
        }
        rm.er = if rm.is_backward {
            vs_vd.taken(rm.er, allocated.er)
        } else {
            let queued = self.ports[port as usize].vcs[port_vc.index()].queued;
            let acr = self.paced_at(connection, (port, port_vc)).acr();
            vs_vd.reported(rm.er, allocated.er, acr, queued)
        };
    }

    /// A data cell has come to the end of its VC, or of a control loop of it, at `node`.
    pub(super) fn see_efci(&mut self, now: SimTime, node: u32, cell: &Cell) {
        if let Some(abr) = self.abr.specs[cell.vc as usize] {
            let destination = &mut self.paced(now, abr.return_vc, node).destination;
            destination.on_data(cell.efci);
        }
    }

    /// Counts the rest of an ABR VC when the run ends.
    pub(super) fn finish_abr(&mut self) {
        for vc in 0..self.vcs.len() as u32 {
            let Some(abr) = self.abr.specs[vc as usize] else {
                continue;
            };
            let first = self.vcs[vc as usize].vc_paths.hop(0);
            let acr = self.paced_at(vc, first).acr();
            let back = abr.return_vc;
            let mut waiting = 0;
            for hop in self.abr.sources[back as usize].clone() {
                let end = self.vcs[back as usize].vc_paths.hop(hop);
                waiting += self.paced_at(back, end).turned();
            }
            let record = self.abr_record(vc);
            record.acr_millicells = (acr * 1e3).round() as u64;
            record.backward_waiting = waiting;
        }
    }
}
