//! Who is next: of VCs with queues of their own, or of the queues of classes.

use super::Waiting;
use crate::burst::input_burst::Moment;
use skycell_spec::{LinkSpec, SchedulerSpec, VcRoundRobinSpec, VirtualSpacingSpec};
use skycell_switch::{Backlog, Scheduler, Schedules, VcRoundRobin, VirtualSpacing};
use skycell_units::PortVc;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// An order of service. Indices are those of VCs at the port.
pub(super) trait Serves {
    /// Returns whether a VC has cells.
    fn has_cells(&self) -> bool;
    /// The VC at `port_vc`, which had no cells, has one.
    fn activate(&mut self, here: &Waiting, port_vc: PortVc);
    /// The index of the VC that is served now; some VC has cells.
    fn select(&mut self) -> PortVc;
    /// The cell of the VC that was selected leaves at `departure`; `next` is the VC's next one, if that has come.
    fn on_departure(&mut self, here: &Waiting, departure: u64, next: Option<(Moment, u64)>);
}

/// Virtual Spacing.
#[derive(Debug)]
pub(super) struct Spacing {
    spacing: VirtualSpacing,
    /// Of each VC with cells: stamp of its first one, its id and its index.
    first: BinaryHeap<Reverse<(u128, u32, PortVc)>>,
}

impl Serves for Spacing {
    fn has_cells(&self) -> bool {
        !self.first.is_empty()
    }

    fn activate(&mut self, here: &Waiting, port_vc: PortVc) {
        let stamp = self.spacing.stamp(here.vc);
        self.first.push(Reverse((stamp, here.vc, port_vc)));
    }

    fn select(&mut self) -> PortVc {
        let Reverse((stamp, _, port_vc)) = *self.first.peek().expect("somebody has cells");
        self.spacing.on_service(stamp);
        port_vc
    }

    fn on_departure(&mut self, here: &Waiting, _: u64, next: Option<(Moment, u64)>) {
        let mut top = self.first.peek_mut().expect("it was selected");
        if next.is_some() {
            top.0.0 = self.spacing.stamp(here.vc);
        } else {
            PeekMut::pop(top);
        }
    }
}

/// Round robin over VCs.
#[derive(Debug)]
pub(super) struct Rounds {
    robin: VcRoundRobin,
    with_cells: u32,
    /// By VC id.
    port_vcs: Vec<PortVc>,
}

impl Serves for Rounds {
    fn has_cells(&self) -> bool {
        self.with_cells > 0
    }

    fn activate(&mut self, here: &Waiting, port_vc: PortVc) {
        self.robin.set_backlog(here.vc, true);
        self.port_vcs[here.vc as usize] = port_vc;
        self.with_cells += 1;
    }

    fn select(&mut self) -> PortVc {
        self.port_vcs[self.robin.select() as usize]
    }

    fn on_departure(&mut self, here: &Waiting, _: u64, next: Option<(Moment, u64)>) {
        if next.is_none() {
            self.robin.set_backlog(here.vc, false);
            self.with_cells -= 1;
        }
    }
}

/// Queues of classes, each in the order of arrival.
#[derive(Debug)]
pub(super) struct Classes {
    scheduler: Scheduler,
    /// The queues with cells.
    backlog: Backlog,
    queues: Vec<Class>,
    end: u64,
}

/// A queue of a class.
#[derive(Clone, Debug, Default)]
struct Class {
    /// Of each VC with cells: when its first one came, in which order, and its index.
    first: BinaryHeap<Reverse<(Moment, u64, PortVc)>>,
    sent: Sent,
}

/// The cells that a queue of a class has sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sent {
    pub(super) cells: u64,
    /// When the last of them leaves.
    pub(super) last: u64,
    /// Those that leave before the end of the run, and the sum of the times at which they do.
    pub(super) in_time: u64,
    pub(super) departures: u128,
}

impl Classes {
    /// Returns what `queue` has sent.
    pub(super) fn sent(&self, queue: usize) -> Sent {
        self.queues[queue].sent
    }
}

impl Serves for Classes {
    fn has_cells(&self) -> bool {
        self.backlog.0 != 0
    }

    fn activate(&mut self, here: &Waiting, port_vc: PortVc) {
        let (came, nth) = here.next().expect("it has a cell");
        let first = &mut self.queues[here.queue].first;
        first.push(Reverse((came, nth, port_vc)));
        self.backlog.0 |= 1 << here.queue;
    }

    fn select(&mut self) -> PortVc {
        let queue = &self.queues[self.scheduler.select(self.backlog)];
        let Reverse((_, _, port_vc)) = *queue.first.peek().expect("the queue has cells");
        port_vc
    }

    fn on_departure(&mut self, here: &Waiting, departure: u64, next: Option<(Moment, u64)>) {
        let Class { first, sent } = &mut self.queues[here.queue];
        sent.cells += 1;
        sent.last = departure;
        if departure < self.end {
            sent.in_time += 1;
            sent.departures += u128::from(departure);
        }
        let mut top = first.peek_mut().expect("it was selected");
        if let Some((came, nth)) = next {
            (top.0.0, top.0.1) = (came, nth);
            return;
        }
        PeekMut::pop(top);
        if first.is_empty() {
            self.backlog.0 &= !(1 << here.queue);
        }
    }
}

/// An order of any kind.
#[derive(Debug)]
pub(super) enum Order {
    Spacing(Spacing),
    Rounds(Rounds),
    Classes(Classes),
}

impl Order {
    /// The order in which the port serves VCs, or queues of classes if it `has_classes`; none where it serves one queue
    /// in the order of arrival.
    pub(super) fn new(link: &LinkSpec, has_classes: bool, end: u64) -> Option<Self> {
        match &link.port.scheduler {
            SchedulerSpec::VirtualSpacing(VirtualSpacingSpec { intervals_ps }) => {
                Some(Order::Spacing(Spacing {
                    spacing: VirtualSpacing::new(intervals_ps),
                    first: BinaryHeap::new(),
                }))
            }
            SchedulerSpec::VcRoundRobin(VcRoundRobinSpec { weights }) => {
                Some(Order::Rounds(Rounds {
                    robin: VcRoundRobin::new(weights),
                    with_cells: 0,
                    port_vcs: vec![PortVc(u32::MAX); weights.len()],
                }))
            }
            scheduler => has_classes.then(|| {
                Order::Classes(Classes {
                    scheduler: Scheduler::new(scheduler),
                    backlog: Backlog::default(),
                    queues: vec![Class::default(); link.port.queues.len()],
                    end,
                })
            }),
        }
    }
}
