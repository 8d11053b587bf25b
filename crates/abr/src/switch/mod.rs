//! By what an output port tells the sources of the ABR VCs that cross it a rate, or that it is congested.
//!
//! A port counts cells over an averaging interval, which ends by time or by the ABR cells that have come,
//! whichever is first. At its end the algorithm looks at what came; between two ends it answers with the
//! backward RM cells that pass. Measured in the direction of the data, told in the other.

mod becn;
mod efci;
mod erica;
mod erica_plus;
mod interval;
mod queue_control;
mod relative_rate;
mod weighted;

pub use efci::{Efci, EfciSpec};
pub use erica::{CcrFrom, Erica, EricaSpec};
pub use erica_plus::EricaPlusSpec;
pub use interval::{Interval, Measured};
pub use queue_control::{QueueControlSpec, QueueCurve};
pub use relative_rate::{MarkedRmCells, RelativeRate, RelativeRateSpec};
pub use weighted::{WeightedEricaPlusSpec, WeightedShares};

use crate::rm::{RmCell, cells_per_second};
use crate::spec::AbrSpec;
use becn::Becn;
use serde::{Deserialize, Serialize};
use skycell_declare::{Context, Declare, Refusal, Rule};
use skycell_units::SimTime;

/// The specs of a port's rate algorithm.
pub mod specs {
    pub use super::{
        CcrFrom, EfciSpec, EricaPlusSpec, EricaSpec, MarkedRmCells, QueueControlSpec, QueueCurve,
        RateAlgorithmSpec, RelativeRateSpec, WeightedEricaPlusSpec,
    };
}

/// The algorithm by which a port controls the rates of ABR VCs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum RateAlgorithmSpec {
    /// See [`EfciSpec`].
    Efci(EfciSpec),
    /// See [`RelativeRateSpec`].
    RelativeRate(RelativeRateSpec),
    /// See [`EricaSpec`].
    Erica(EricaSpec),
    /// See [`EricaPlusSpec`].
    EricaPlus(EricaPlusSpec),
    /// See [`WeightedEricaPlusSpec`].
    WeightedEricaPlus(WeightedEricaPlusSpec),
}

impl Rule for RateAlgorithmSpec {
    fn check(&self, context: &Context) -> Result<(), Refusal> {
        match self {
            RateAlgorithmSpec::Efci(spec) => spec.check(context),
            RateAlgorithmSpec::RelativeRate(spec) => spec.check(context),
            RateAlgorithmSpec::Erica(spec) => spec.check(context),
            RateAlgorithmSpec::EricaPlus(spec) => spec.check(context),
            RateAlgorithmSpec::WeightedEricaPlus(spec) => spec.check(context),
        }
    }
}

/// A VC as a rate algorithm knows it, rates in cells a second.
#[derive(Clone, Copy, Debug)]
pub struct VcShare {
    /// PCR.
    pub pcr: f64,
    /// MCR.
    pub mcr: f64,
    /// Weight of its part of what is beyond the MCRs.
    pub weight: f64,
}

impl VcShare {
    /// As the VC's contract says.
    pub fn of(spec: &AbrSpec) -> Self {
        VcShare {
            pcr: cells_per_second(spec.pcr_millicells),
            mcr: cells_per_second(spec.mcr_millicells),
            weight: spec.weight,
        }
    }
}

/// A rate algorithm; VCs are indices at the port.
pub trait RateAlgorithm {
    /// An averaging interval has ended.
    fn on_interval(&mut self, _measured: &Measured<'_>) {}
    /// A forward RM cell of a VC comes.
    fn on_forward(&mut self, _vc: usize, _cell: &RmCell) {}
    /// A backward RM cell of a VC passes: its ER may fall, and it may be marked.
    fn on_backward(&mut self, _vc: usize, _cell: &mut RmCell) {}
    /// How a cell that comes is marked; `queued` ABR cells are before it.
    fn marks(&mut self, _queued: u32) -> Marks {
        Marks::default()
    }
    /// Returns whether the port is congested. If it makes a backward RM cell for a VC itself, the
    /// contents are written into `cell`, which asks for PCR.
    fn warns(&mut self, vc: usize, cell: &mut RmCell) -> bool;
    /// Returns the state that a trace records.
    fn state(&self) -> RateState {
        RateState::default()
    }
}

/// How a cell of an ABR VC is marked as it comes to a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// EFCI, if it is a data cell.
    pub efci: bool,
    /// CI, if it is a forward RM cell.
    pub ci: bool,
    /// NI, if it is a forward RM cell.
    pub ni: bool,
}

/// The results of an algorithm, rates in cells a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RateState {
    /// z: ABR input rate by the rate that is aimed at.
    pub overload: f64,
    /// Equal part of what is aimed at; of a VC of weight 1 beyond its MCR where shares are weighted.
    pub fair_share: f64,
    /// Target rate of the port.
    pub target: f64,
}

/// The rate control of a port: its averaging interval and its algorithm.
#[derive(Debug)]
pub struct RateControl {
    algorithm: Algorithm,
    /// None for an algorithm that measures nothing.
    interval: Option<Interval>,
    becn: Becn,
}

#[derive(Debug)]
enum Algorithm {
    Efci(Efci),
    RelativeRate(RelativeRate),
    Erica(Erica),
    Weighted(WeightedShares),
}

impl Algorithm {
    fn rule(&mut self) -> &mut dyn RateAlgorithm {
        match self {
            Algorithm::Efci(rule) => rule,
            Algorithm::RelativeRate(rule) => rule,
            Algorithm::Erica(rule) => rule,
            Algorithm::Weighted(rule) => rule,
        }
    }
}

impl RateControl {
    /// The control of a port whose link takes `cell_time_ps` for a cell, picoseconds, and which `vcs`
    /// cross in the order of their places.
    pub fn new(spec: &RateAlgorithmSpec, cell_time_ps: u64, vcs: &[VcShare]) -> Self {
        let link = SimTime::PER_SECOND as f64 / cell_time_ps as f64;
        let every = |ps, cells| Some(Interval::new(ps, cells, link, vcs.len()));
        let (algorithm, interval, becn) = match spec {
            RateAlgorithmSpec::Efci(spec) => {
                (Algorithm::Efci(Efci::new(spec)), None, spec.becn_millicells)
            }
            RateAlgorithmSpec::RelativeRate(spec) => (
                Algorithm::RelativeRate(RelativeRate::new(spec)),
                None,
                spec.becn_millicells,
            ),
            RateAlgorithmSpec::Erica(spec) => (
                Algorithm::Erica(Erica::new(spec, link, vcs.len())),
                every(spec.interval_ps, spec.interval_cells),
                spec.becn_millicells,
            ),
            RateAlgorithmSpec::EricaPlus(spec) => (
                Algorithm::Erica(Erica::plus(spec, link, vcs.len())),
                every(spec.interval_ps, spec.interval_cells),
                spec.becn_millicells,
            ),
            RateAlgorithmSpec::WeightedEricaPlus(spec) => (
                Algorithm::Weighted(WeightedShares::new(spec, link, vcs)),
                every(spec.interval_ps, spec.interval_cells),
                spec.becn_millicells,
            ),
        };
        RateControl {
            algorithm,
            interval,
            becn: Becn::new(becn, vcs),
        }
    }

    /// When the averaging interval ends by time; [`SimTime::NEVER`] without one.
    pub fn due(&self) -> SimTime {
        self.interval.as_ref().map_or(SimTime::NEVER, Interval::due)
    }

    /// The interval ends at `now`, if its time has come, with `queued` cells in the port's ABR queue.
    pub fn on_time(&mut self, now: SimTime, queued: u32) {
        if self.due() <= now {
            self.end(now, queued);
        }
    }

    /// A cell of the ABR VC at place `vc` comes, an RM cell in the direction of the data as `forward`;
    /// `queued` ABR cells are before it. How it is marked.
    pub fn on_cell(
        &mut self,
        now: SimTime,
        vc: usize,
        forward: Option<&RmCell>,
        queued: u32,
    ) -> Marks {
        if let Some(cell) = forward {
            self.algorithm.rule().on_forward(vc, cell);
        }
        if let Some(interval) = &mut self.interval
            && interval.on_cell(vc)
        {
            self.end(now, queued);
        }
        self.algorithm.rule().marks(queued)
    }

    /// The backward RM cell (BECN) that the port makes of the VC at place `vc`, of which a cell has just come, if it does.
    pub fn becn(&mut self, now: SimTime, vc: usize) -> Option<RmCell> {
        self.becn.make(now, vc, self.algorithm.rule())
    }

    /// A cell of another class comes to the port.
    pub fn on_other_cell(&mut self) {
        if let Some(interval) = &mut self.interval {
            interval.on_other_cell();
        }
    }

    /// A backward RM cell of the VC at place `vc` passes the switch.
    pub fn on_backward(&mut self, vc: usize, cell: &mut RmCell) {
        self.algorithm.rule().on_backward(vc, cell);
    }

    /// Returns the results of the algorithm.
    pub fn state(&mut self) -> RateState {
        self.algorithm.rule().state()
    }

    fn end(&mut self, now: SimTime, queued: u32) {
        let interval = self.interval.as_mut().expect("it has just ended");
        self.algorithm
            .rule()
            .on_interval(&interval.measured(now, queued));
        interval.begin(now);
    }
}
