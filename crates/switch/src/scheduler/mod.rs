//! Schedulers: which queue of an output port sends the next cell.
//!
//! A port asks each time its link becomes free, and whenever a cell arrives at an idle port. It says
//! which queues have cells; the scheduler never leaves the link idle while one of them has. A cell
//! whose transmission has begun is finished.

mod guaranteed_rate;
mod vc_round_robin;
mod virtual_spacing;
mod weighted_round_robin;

pub use guaranteed_rate::GuaranteedRate;
pub use vc_round_robin::VcRoundRobin;
pub use virtual_spacing::VirtualSpacing;
pub use weighted_round_robin::WeightedRoundRobin;

use skycell_spec::SchedulerSpec;

/// The queues of a port that have cells: bit q stands for queue q.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog(pub u32);

impl Backlog {
    /// Whether queue `q` has cells.
    pub fn has(self, q: usize) -> bool {
        self.0 & (1 << q) != 0
    }

    /// The first queue with cells; there must be one.
    pub fn first(self) -> usize {
        debug_assert_ne!(self.0, 0, "somebody has cells");
        self.0.trailing_zeros() as usize
    }
}

/// Chooses between the queues of a port.
pub trait Schedules {
    /// The queue that sends the next cell; one of `backlog`, which is not empty.
    fn select(&mut self, backlog: Backlog) -> usize;
}

/// A scheduler of any kind, built from its spec.
#[derive(Clone, Debug)]
pub enum Scheduler {
    /// Schedulers of one queue, and strict priority: the first queue that has cells.
    First,
    /// Shares.
    GuaranteedRate(GuaranteedRate),
    /// Weights.
    WeightedRoundRobin(WeightedRoundRobin),
}

impl Scheduler {
    /// The scheduler that `spec` describes.
    pub fn new(spec: &SchedulerSpec) -> Self {
        match spec {
            // What serves VCs has one queue here, too: it orders the cells within (`VirtualSpacing`,
            // `VcRoundRobin`).
            SchedulerSpec::Fifo
            | SchedulerSpec::StrictPriority
            | SchedulerSpec::VcRoundRobin { .. }
            | SchedulerSpec::VirtualSpacing { .. } => Scheduler::First,
            SchedulerSpec::GuaranteedRate { shares_ppb } => {
                Scheduler::GuaranteedRate(GuaranteedRate::new(shares_ppb))
            }
            SchedulerSpec::WeightedRoundRobin { weights } => {
                Scheduler::WeightedRoundRobin(WeightedRoundRobin::new(weights))
            }
        }
    }
}

impl Scheduler {
    /// The queue that sends this cell and all to come as long as `backlog` lasts, where the choice leaves
    /// the scheduler as it is; none where the next choice may be another.
    pub fn steady_choice(&self, backlog: Backlog) -> Option<usize> {
        match self {
            Scheduler::First => Some(backlog.first()),
            Scheduler::GuaranteedRate(scheduler) => scheduler.steady_choice(backlog),
            Scheduler::WeightedRoundRobin(_) => None,
        }
    }
}

impl Schedules for Scheduler {
    fn select(&mut self, backlog: Backlog) -> usize {
        match self {
            Scheduler::First => backlog.first(),
            Scheduler::GuaranteedRate(scheduler) => scheduler.select(backlog),
            Scheduler::WeightedRoundRobin(scheduler) => scheduler.select(backlog),
        }
    }
}
