//! The cells that the sources of ABR VCs send at a port, each when the rate of its VC allows.

use crate::frames::Cell;
use skycell_abr::{Destination, NextCell, RmCell, Sent, Source, Turned, Waiting, cells_per_second};
use skycell_spec::AbrSpec;
use skycell_units::{Ecn, FrameId, PortVc, SimTime};
use std::collections::VecDeque;

/// The queue of a port at which ABR VCs, or control loops of them, begin: a source for each, and what waits
/// there.
///
/// Of the cells that may be sent now the one is next that has been allowed to for longest, and of equal
/// ones that of the VC that comes first at the port; after them those beside the rates. Cells of other
/// VCs are allowed to when they come. An RM cell is made at the moment in which it is sent.
#[derive(Debug, Default)]
pub(crate) struct Pacer {
    vcs: Vec<PacedVc>,
    /// Cells of VCs without a source here, in the order of arrival.
    others: VecDeque<Cell>,
    /// Cells that wait, the one under transmission included.
    length: usize,
    /// The cell under transmission.
    sending: Option<Cell>,
}

/// An ABR VC at the port where it, or a control loop of it, begins.
#[derive(Debug)]
pub(crate) struct PacedVc {
    vc: u32,
    /// Its index at the port.
    port_vc: PortVc,
    /// The port's place on its path.
    hop: u16,
    /// Paces it.
    source: Source,
    /// The end of the connection the other way, whose backward RM cells go over this VC.
    pub(crate) destination: Destination,
    data: VecDeque<Cell>,
    /// Backward RM cells that go beside the rate.
    beside: VecDeque<RmCell>,
    /// ER of the last backward RM cell, cells a second.
    er: f64,
    /// ACR and ER as last traced.
    traced: Option<(f64, f64)>,
}

/// An RM cell of VC `vc` that is made at a port of its hop `hop`, where it has the index `port_vc`.
pub(crate) fn rm_cell(now: SimTime, vc: u32, hop: u16, port_vc: PortVc, content: RmCell) -> Cell {
    Cell {
        frame: FrameId::NONE,
        rm: Some(content),
        efci: false,
        ack: None,
        index: 0,
        octets: 0,
        vc,
        port_vc,
        flow: 0,
        ecn: Ecn::NotEct,
        hop,
        sky_link: 0,
        eom: false,
        clp: content.is_out_of_rate,
        is_paced: true,
        came_at: now,
        left_at: now,
        entry: 0,
    }
}

/// Which cell may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Of(usize, NextCell),
    /// A backward RM cell beside the rate, of this VC.
    Beside(usize),
    Other,
}

impl PacedVc {
    fn waiting(&self) -> Waiting {
        Waiting {
            data: !self.data.is_empty(),
            backward: self.destination.waiting().is_some(),
        }
    }

    /// A forward RM cell of the connection the other way has come; whether the one that waited is
    /// dropped.
    pub(crate) fn turn(&mut self, cell: &RmCell) -> bool {
        match self.destination.on_forward(cell) {
            Turned::Waits => false,
            Turned::Replaced => true,
            Turned::OutOfRate(first) => {
                self.beside.push_back(first);
                false
            }
        }
    }

    /// ACR: cells a second that its source may send.
    pub(crate) fn acr(&self) -> f64 {
        self.source.acr()
    }

    /// A backward RM cell of its connection has come.
    pub(crate) fn on_backward(&mut self, cell: &RmCell) {
        self.source.on_backward(cell);
        self.er = cell.er;
    }

    /// ACR and the ER last received, if one has changed since this was asked for.
    pub(crate) fn changed_rates(&mut self) -> Option<(f64, f64)> {
        let rates = (self.source.acr(), self.er);
        let is_new = self.traced != Some(rates);
        self.traced = Some(rates);
        is_new.then_some(rates)
    }

    /// Backward RM cells that wait, of those that were turned around.
    pub(crate) fn turned(&self) -> u64 {
        let beside = self.beside.iter().filter(|cell| !cell.is_becn);
        beside.count() as u64 + u64::from(self.destination.waiting().is_some())
    }

    /// A backward RM cell that the node has made itself waits to go beside the rate.
    pub(crate) fn add_becn(&mut self, cell: RmCell) {
        self.beside.push_back(cell);
    }
}

impl Pacer {
    /// Adds VC `vc`, which has `port_vc` at the port and comes over it as `hop`, to the paced VCs;
    /// `back` is the VC in the other direction.
    pub(crate) fn add(
        &mut self,
        vc: u32,
        port_vc: PortVc,
        hop: u16,
        spec: &AbrSpec,
        back: &AbrSpec,
    ) {
        self.vcs.push(PacedVc {
            vc,
            port_vc,
            hop,
            source: Source::new(spec),
            destination: Destination::new(back),
            data: VecDeque::new(),
            beside: VecDeque::new(),
            er: cells_per_second(spec.pcr_millicells),
            traced: None,
        });
    }

    /// A VC that it paces.
    pub(crate) fn vc_mut(&mut self, vc: u32) -> Option<&mut PacedVc> {
        self.vcs.iter_mut().find(|paced| paced.vc == vc)
    }

    /// Cells that wait, the one under transmission included.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// A data cell joins.
    pub(crate) fn push(&mut self, cell: Cell) {
        self.length += 1;
        match self.vc_mut(cell.vc) {
            Some(paced) => paced.data.push_back(cell),
            None => self.others.push_back(cell),
        }
    }

    /// When the next cell may be sent, `now` or later.
    pub(crate) fn wake(&self, now: SimTime) -> Option<SimTime> {
        self.next(now).map(|(at, _)| at)
    }

    fn next(&self, now: SimTime) -> Option<(SimTime, Next)> {
        let in_rates = self.vcs.iter().enumerate().filter_map(|(i, paced)| {
            let (at, kind) = paced.source.next(now, paced.waiting())?;
            Some((at, paced.source.paced(), paced.port_vc, Next::Of(i, kind)))
        });
        let others = self.others.front();
        let others = others.map(|cell| (now, cell.came_at, PortVc(u32::MAX), Next::Other));
        let beside = self.vcs.iter().enumerate().filter_map(|(i, paced)| {
            let waits = !paced.beside.is_empty();
            waits.then_some((now, SimTime::NEVER, paced.port_vc, Next::Beside(i)))
        });
        let all = in_rates.chain(others).chain(beside);
        all.min_by_key(|&(at, since, port_vc, _)| (at, since, port_vc))
            .map(|(at, _, _, next)| (at, next))
    }

    /// The transmission begins of the cell that may be sent now. The cell and its VC's index, if it was made
    /// for the moment.
    pub(crate) fn begin_service(&mut self, now: SimTime) -> Option<(Cell, PortVc)> {
        let (_, next) = self.next(now).expect("a cell may be sent");
        let (i, made) = match next {
            Next::Other => {
                self.sending = self.others.pop_front();
                return None;
            }
            Next::Beside(i) => (i, self.vcs[i].beside.pop_front()),
            Next::Of(i, kind) => {
                let paced = &mut self.vcs[i];
                let made = match paced.source.send(now, kind) {
                    Sent::Forward(cell) => Some(cell),
                    Sent::Backward { is_out_of_rate } => {
                        Some(paced.destination.send(is_out_of_rate))
                    }
                    Sent::Data => None,
                };
                (i, made)
            }
        };
        let paced = &mut self.vcs[i];
        let Some(content) = made else {
            self.sending = paced.data.pop_front();
            return None;
        };
        let cell = rm_cell(now, paced.vc, paced.hop, paced.port_vc, content);
        self.length += 1;
        self.sending = Some(cell);
        Some((cell, paced.port_vc))
    }

    /// The cell under transmission.
    pub(crate) fn sending(&self) -> Option<&Cell> {
        self.sending.as_ref()
    }

    /// The cell under transmission leaves.
    pub(crate) fn pop(&mut self) {
        self.sending = None;
        self.length -= 1;
    }
}
