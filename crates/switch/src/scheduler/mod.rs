//! Schedulers: which queue of an output port sends the next cell.
//!
//! A port asks each time its link becomes free, and whenever a cell arrives at an idle port. It says
//! which queues have cells; the scheduler never leaves the link idle while one of them has. A cell
//! whose transmission has begun is finished.

mod credit_round_robin;
mod deficit_round_robin;
mod fifo;
mod flow_queueing;
mod guaranteed_rate;
mod period;
mod queue_order;
mod strict_priority;
mod time_shifted;
mod vc_round_robin;
mod virtual_spacing;
mod weighted_round_robin;

pub use credit_round_robin::CreditRoundRobin;
pub use deficit_round_robin::{DeficitRoundRobin, DeficitRoundRobinSpec};
pub use fifo::FifoSpec;
pub use flow_queueing::FlowQueueing;
pub use guaranteed_rate::{GuaranteedRate, GuaranteedRateSpec};
pub use period::Period;
pub use queue_order::{Head, QueueOrder};
pub use strict_priority::StrictPrioritySpec;
pub use time_shifted::TimeShifted;
pub use vc_round_robin::{VcRoundRobin, VcRoundRobinSpec, VcWeightedRoundRobin};
pub use virtual_spacing::{VirtualSpacing, VirtualSpacingSpec};
pub use weighted_round_robin::{WeightedRoundRobin, WeightedRoundRobinSpec};

/// The specs of a scheduler.
pub mod specs {
    pub use super::{
        DeficitRoundRobinSpec, FifoSpec, GuaranteedRateSpec, SchedulerSpec, StrictPrioritySpec,
        VcRoundRobinSpec, VirtualSpacingSpec, WeightedRoundRobinSpec,
    };
}

use serde::{Deserialize, Serialize};
use skycell_declare::{Context, Declare, Refusal, Rule};

/// How a port chooses the next cell, each time the link becomes free.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum SchedulerSpec {
    /// See [`FifoSpec`].
    Fifo(FifoSpec),
    /// See [`StrictPrioritySpec`].
    StrictPriority(StrictPrioritySpec),
    /// See [`GuaranteedRateSpec`].
    GuaranteedRate(GuaranteedRateSpec),
    /// See [`WeightedRoundRobinSpec`].
    WeightedRoundRobin(WeightedRoundRobinSpec),
    /// See [`VirtualSpacingSpec`].
    VirtualSpacing(VirtualSpacingSpec),
    /// See [`VcRoundRobinSpec`].
    VcRoundRobin(VcRoundRobinSpec),
    /// See [`DeficitRoundRobinSpec`].
    DeficitRoundRobin(DeficitRoundRobinSpec),
}

impl SchedulerSpec {
    /// Returns whether it orders the cells of VCs within one queue, at a switch.
    pub fn serves_vcs(&self) -> bool {
        matches!(
            self,
            SchedulerSpec::VirtualSpacing(_) | SchedulerSpec::VcRoundRobin(_)
        )
    }

    /// How it orders packets within one queue, if it does.
    pub fn order(&self) -> Option<QueueOrder> {
        match self {
            SchedulerSpec::DeficitRoundRobin(spec) => Some(QueueOrder::Deficit(
                DeficitRoundRobin::new(spec.quantum_octets),
            )),
            _ => None,
        }
    }
}

impl Rule for SchedulerSpec {
    fn check(&self, context: &Context) -> Result<(), Refusal> {
        match self {
            SchedulerSpec::Fifo(spec) => spec.check(context),
            SchedulerSpec::StrictPriority(spec) => spec.check(context),
            SchedulerSpec::GuaranteedRate(spec) => spec.check(context),
            SchedulerSpec::WeightedRoundRobin(spec) => spec.check(context),
            SchedulerSpec::VirtualSpacing(spec) => spec.check(context),
            SchedulerSpec::VcRoundRobin(spec) => spec.check(context),
            SchedulerSpec::DeficitRoundRobin(spec) => spec.check(context),
        }
    }
}

/// The queues of a port that have cells: bit q stands for queue q.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog(pub u32);

impl Backlog {
    /// Returns whether queue `q` has cells.
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
            // What serves VCs or flows has one queue here, too: it orders what is within (`VirtualSpacing`,
            // `VcRoundRobin`, `QueueOrder`).
            SchedulerSpec::Fifo(_)
            | SchedulerSpec::StrictPriority(_)
            | SchedulerSpec::VcRoundRobin(_)
            | SchedulerSpec::DeficitRoundRobin(_)
            | SchedulerSpec::VirtualSpacing(_) => Scheduler::First,
            SchedulerSpec::GuaranteedRate(spec) => {
                Scheduler::GuaranteedRate(GuaranteedRate::new(&spec.shares_ppb))
            }
            SchedulerSpec::WeightedRoundRobin(spec) => {
                Scheduler::WeightedRoundRobin(WeightedRoundRobin::new(&spec.weights))
            }
        }
    }
}

impl Scheduler {
    /// The services of `queue` from the next choice on, as long as `backlog` lasts; none where choices do not
    /// repeat within [`Period::LONGEST`] from here. The next choice must be made with this backlog.
    pub fn period(&mut self, backlog: Backlog, queue: usize) -> Option<Period> {
        match self {
            Scheduler::First if backlog.first() == queue => Some(Period::EACH),
            Scheduler::First => Some(Period::NONE),
            Scheduler::GuaranteedRate(scheduler) => scheduler.period(backlog, queue),
            Scheduler::WeightedRoundRobin(scheduler) => scheduler.period(backlog, queue),
        }
    }

    /// Makes `choices` choices with this backlog, from where [`Scheduler::period`] has found `period`.
    pub fn pass(&mut self, backlog: Backlog, period: Period, choices: u64) {
        // The last of whole periods is made: where it ends is where it began only as long as the backlog
        // lasts.
        let beyond_periods = match choices {
            0 => 0,
            _ => (choices - 1) % period.length() + 1,
        };
        (0..beyond_periods).for_each(|_| _ = self.select(backlog));
    }
}

/// The services of `queue` in the choices of `scheduler`, which makes them until it is where it began; none,
/// and it stands anywhere, where it does not come back within [`Period::LONGEST`] choices.
fn period_of<S: Schedules>(
    scheduler: &mut S,
    backlog: Backlog,
    queue: usize,
    mut is_back: impl FnMut(&mut S) -> bool,
) -> Option<Period> {
    let mut services = 0;
    for slot in 0..Period::LONGEST {
        services |= u128::from(scheduler.select(backlog) == queue) << slot;
        if is_back(scheduler) {
            return Some(Period::new(services, slot + 1));
        }
    }
    None
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use skycell_declare::types::WHOLE_PPB;

    /// Schedulers of two to four queues, of which many have choices that repeat soon.
    fn any_scheduler() -> impl Strategy<Value = (SchedulerSpec, usize)> {
        (2usize..5).prop_flat_map(|queues| {
            let part = WHOLE_PPB / queues as u32;
            let share = prop_oneof![
                Just(0),
                Just(part / 10 * 10),
                Just(part / 5),
                Just(50_000_000),
                Just(70_000_000),
                0..part
            ];
            let shares = prop::collection::vec(share, queues).prop_map(|shares_ppb| {
                SchedulerSpec::GuaranteedRate(GuaranteedRateSpec { shares_ppb })
            });
            let weights = prop::collection::vec(1u32..9, queues).prop_map(|weights| {
                SchedulerSpec::WeightedRoundRobin(WeightedRoundRobinSpec { weights })
            });
            let spec = prop_oneof![
                shares,
                weights,
                Just(SchedulerSpec::StrictPriority(StrictPrioritySpec {}))
            ];
            (spec, Just(queues))
        })
    }

    proptest! {
        #[test]
        fn a_period_is_what_the_scheduler_goes_on_to_choose(
            (spec, queues) in any_scheduler(),
            episodes in prop::collection::vec((1u32..16, 1u64..150), 1..8),
            whose in 0usize..4,
        ) {
            let mut scheduler = Scheduler::new(&spec);
            let mut plain = scheduler.clone();
            let whose = whose % queues;
            for (backlog, choices) in episodes {
                let Some(backlog) = Some(backlog % (1 << queues)).filter(|&bits| bits != 0) else {
                    continue;
                };
                let backlog = Backlog(backlog);
                let period = scheduler.period(backlog, whose);
                for slot in 0..choices {
                    let chosen = plain.select(backlog);
                    if let Some(period) = period {
                        prop_assert_eq!(period.has(slot), chosen == whose, "slot {}", slot);
                    }
                }
                // Whether or not there is one, the scheduler is where it was.
                match period {
                    Some(period) => scheduler.pass(backlog, period, choices),
                    None => (0..choices).for_each(|_| _ = scheduler.select(backlog)),
                }
            }
        }
    }

    #[test]
    fn shares_that_divide_the_whole_repeat_soon_and_thirds_do_not() {
        let period = |shares: &[u32]| {
            let mut scheduler = GuaranteedRate::new(shares);
            scheduler.period(Backlog(0b11), 1)
        };
        assert_eq!(period(&[0, 100_000_000]), Some(Period::new(1 << 9, 10)));
        assert_eq!(period(&[0, 500_000_000]), Some(Period::new(0b10, 2)));
        assert_eq!(period(&[0, 333_333_333]), None);
        assert_eq!(period(&[0, 0]), Some(Period::NONE));
        // After its first cell alone, a queue of which the credit is gone is where it always is.
        let mut scheduler = GuaranteedRate::new(&[0, 100_000_000]);
        (0..4).for_each(|_| _ = scheduler.select(Backlog(0b11)));
        assert_eq!(
            scheduler.period(Backlog(0b11), 1),
            Some(Period::new(1 << 5, 10))
        );
        assert_eq!(scheduler.period(Backlog(0b01), 1), Some(Period::NONE));
        assert_eq!(
            scheduler.period(Backlog(0b11), 1),
            Some(Period::new(1 << 9, 10))
        );
        let mut rounds = WeightedRoundRobin::new(&[2, 3]);
        assert_eq!(rounds.period(Backlog(0b11), 0), Some(Period::new(0b11, 5)));
        rounds.select(Backlog(0b11));
        assert_eq!(
            rounds.period(Backlog(0b11), 0),
            Some(Period::new(0b1_0001, 5))
        );
        assert_eq!(rounds.period(Backlog(0b10), 0), Some(Period::new(0, 3)));
    }
}
