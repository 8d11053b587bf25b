//! ABR in the network: RM cells at the ends of their VCs and at switches, and the times of ports that pace
//! cells or measure.

use super::Network;
use crate::abr::PacedVc;
use crate::frames::Cell;
use skycell_abr::switch::{RateControl, VcShare};
use skycell_des::{EventQueue, Key};
use skycell_records::AbrRecord;
use skycell_spec::{AbrSpec, NetworkSpec, TraceKind};
use skycell_traffic::rank;
use skycell_units::SimTime;
use std::collections::BTreeMap;

/// What a network knows of ABR beside its ports.
#[derive(Debug)]
pub(super) struct Abr {
    /// By VC.
    specs: Vec<Option<AbrSpec>>,
    /// By VC that is ABR: the port by which it leaves each node.
    leaving: Vec<BTreeMap<u32, u32>>,
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
    places: BTreeMap<u32, usize>,
}

impl Abr {
    pub(super) fn new(spec: &NetworkSpec, events: &mut EventQueue) -> Self {
        let leaving = spec.vcs.iter().map(|vc| {
            let path = vc.path.iter().filter(|_| vc.abr.is_some());
            path.map(|&link| (spec.links[link as usize].from, link))
                .collect()
        });
        let control = |link: u32| {
            let spec_of_link = &spec.links[link as usize];
            let algorithm = spec_of_link.port.rate_algorithm.as_ref()?;
            let vcs = spec.vcs.iter().zip(0u32..);
            let crossing = vcs.filter(|(vc, _)| vc.path.contains(&link));
            let crossing: Vec<(u32, AbrSpec)> = crossing
                .filter_map(|(vc, id)| Some((id, vc.abr?)))
                .collect();
            let shares: Vec<_> = crossing.iter().map(|(_, abr)| VcShare::of(abr)).collect();
            let rates = RateControl::new(algorithm, spec_of_link.cell_time_ps, &shares);
            Some(Control {
                due: rates.due(),
                rates,
                places: crossing.iter().map(|(id, _)| *id).zip(0..).collect(),
            })
        };
        let ports = spec.links.len();
        let mut abr = Abr {
            specs: spec.vcs.iter().map(|vc| vc.abr).collect(),
            leaving: leaving.collect(),
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

    /// Whether the VC's rate is controlled.
    pub(super) fn paces(&self, vc: u32) -> bool {
        self.specs[vc as usize].is_some()
    }
}

impl Network<'_> {
    /// Lets the ports where ABR VCs begin pace them.
    pub(super) fn add_pacers(&mut self) {
        for (vc, id) in self.spec.vcs.iter().zip(0u32..) {
            if let Some(abr) = &vc.abr {
                let back = self.spec.vcs[abr.return_vc as usize].abr;
                let back = back.expect("an ABR VC has an ABR VC the other way");
                let (port, place) = self.vcs[id as usize].ways.hop(0);
                let pacer = self.ports[port as usize].pacer_of(place);
                pacer.add(id, place, abr, &back);
                self.vcs[id as usize].record.abr = Some(AbrRecord::default());
                self.trace_acr(SimTime::ZERO, id);
            }
        }
    }

    /// Traces ACR and ER of a VC, if one of them has changed.
    fn trace_acr(&mut self, now: SimTime, vc: u32) {
        if !self.abr.traces_acr {
            return;
        }
        let (port, _) = self.vcs[vc as usize].ways.hop(0);
        if let Some((acr, er)) = self.paced(vc).changed_rates() {
            self.out.traces.acr.push(port, vc, now.0, acr, er);
        }
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

    /// An ABR VC at the port where it begins.
    fn paced(&mut self, vc: u32) -> &mut PacedVc {
        let (port, place) = self.vcs[vc as usize].ways.hop(0);
        let paced = self.ports[port as usize].pacer_of(place).vc_mut(vc);
        paced.expect("an ABR VC is paced where it begins")
    }

    /// The port begins to send if it is idle and may.
    fn kick(&mut self, now: SimTime, port: u32) {
        if !self.ports[port as usize].is_busy() {
            self.begin_sending(now, port);
        }
    }

    /// An idle port had nothing to send: it looks again when a cell may be sent that waits for its pace.
    pub(super) fn plan_pace(&mut self, now: SimTime, port: u32) {
        let pending = &mut self.abr.pending_pace[port as usize];
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

    /// An RM cell that its source has made begins to leave the VC's first port.
    pub(super) fn count_rm_cell(&mut self, now: SimTime, cell: &Cell) {
        let Some(rm) = cell.rm else { return };
        let record = &mut self.vcs[cell.vc as usize].record;
        record.cells_offered += 1;
        let connection = self.connection(cell);
        let record = self.abr_record(connection);
        if rm.is_backward {
            record.backward_sent += 1;
        } else {
            record.forward_sent += 1;
            record.forward_out_of_rate += u64::from(rm.is_out_of_rate);
            self.trace_acr(now, connection);
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
        let Some(&place) = control.places.get(&cell.vc) else {
            return control.rates.on_other_cell();
        };
        let forward = cell.rm.as_ref().filter(|rm| !rm.is_backward);
        let marks = control.rates.on_cell(now, place, forward, queued);
        cell.efci |= marks && cell.rm.is_none();
        self.after_control(now, port, queued);
    }

    /// A backward RM cell comes to a switch: the port by which its connection leaves tells it a rate.
    pub(super) fn lower_er(&mut self, node: u32, cell: &mut Cell) {
        if !cell.rm.is_some_and(|rm| rm.is_backward) {
            return;
        }
        let connection = self.connection(cell);
        let leaving = self.abr.leaving[connection as usize].get(&node);
        let control = leaving.and_then(|&port| self.abr.controls[port as usize].as_mut());
        if let (Some(control), Some(rm)) = (control, &mut cell.rm) {
            control.rates.on_backward(control.places[&connection], rm);
        }
    }

    /// An RM cell has come to the end of its VC.
    pub(super) fn on_rm_cell_at_end(&mut self, now: SimTime, cell: Cell) {
        let Some(rm) = cell.rm else { return };
        let connection = self.connection(&cell);
        self.abr_record(cell.vc).rm_cells_delivered += 1;
        // A backward one moves the rate of its connection; a forward one waits to go back over the VC the
        // other way. Both at the port of this node where the other VC begins.
        let other = self.abr.specs[cell.vc as usize]
            .expect("of an ABR VC")
            .return_vc;
        let paced = self.paced(other);
        if rm.is_backward {
            paced.on_backward(&rm);
            self.abr_record(connection).backward_received += 1;
            self.trace_acr(now, connection);
        } else {
            let is_replaced = paced.turn(&rm);
            let record = self.abr_record(connection);
            record.forward_received += 1;
            record.backward_replaced += u64::from(is_replaced);
        }
        let (port, _) = self.vcs[other as usize].ways.hop(0);
        self.kick(now, port);
    }

    /// A data cell has come to the end of its VC.
    pub(super) fn see_efci(&mut self, cell: &Cell) {
        if let Some(abr) = self.abr.specs[cell.vc as usize] {
            self.paced(abr.return_vc).destination.on_data(cell.efci);
        }
    }

    /// What is left of an ABR VC when the run ends.
    pub(super) fn finish_abr(&mut self) {
        for vc in 0..self.vcs.len() as u32 {
            let Some(abr) = self.abr.specs[vc as usize] else {
                continue;
            };
            let acr = self.paced(vc).acr();
            let waiting = self.paced(abr.return_vc).turned();
            let record = self.abr_record(vc);
            record.acr_millicells = (acr * 1e3).round() as u64;
            record.backward_waiting = waiting;
        }
    }
}
