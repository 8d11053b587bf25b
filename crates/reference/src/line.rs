//! The cells of a queue in the order in which they are served.

use crate::abr::Pacer;
use crate::frames::Cell;
use skycell_spec::{SchedulerSpec, VcRoundRobinSpec, VirtualSpacingSpec};
use skycell_switch::{Head, QueueOrder, VcRoundRobin, VirtualSpacing};
use skycell_units::{PortVc, SimTime};
use std::collections::{BTreeMap, VecDeque};

/// Cells that wait; the first may be under transmission.
#[derive(Debug)]
pub(crate) enum Line {
    /// In the order of arrival.
    Fifo(VecDeque<Cell>),
    /// By stamp, and of equal stamps by VC.
    Spaced {
        spacing: VirtualSpacing,
        cells: BTreeMap<(u128, u32), Cell>,
    },
    /// VC after VC.
    Rounds(Rounds),
    /// When the rate of their VC allows.
    Paced(Pacer),
    /// Packets, in queues of flows or VCs or of kinds of them.
    Queues(Queues),
}

/// Queues of packets, and how they take turns.
#[derive(Debug)]
pub(crate) struct Queues {
    order: QueueOrder,
    /// Packets, and their octets.
    queues: Vec<(VecDeque<Cell>, u64)>,
    /// The queue whose first packet is under transmission, or was last.
    serving: usize,
    length: usize,
}

/// A queue for each VC, and whose turn it is.
#[derive(Debug)]
pub(crate) struct Rounds {
    robin: VcRoundRobin,
    /// By VC id.
    queues: Vec<VecDeque<Cell>>,
    /// The VC whose first cell is under transmission, or was last.
    serving: u32,
    length: usize,
}

impl Line {
    /// The order that a port's scheduler asks for, or a policy with an order of its own.
    pub(crate) fn new(scheduler: &SchedulerSpec, order: Option<QueueOrder>) -> Self {
        if let Some(order) = order.or(scheduler.order()) {
            return Line::Queues(Queues {
                order,
                queues: Vec::new(),
                serving: 0,
                length: 0,
            });
        }
        match scheduler {
            SchedulerSpec::VirtualSpacing(VirtualSpacingSpec { intervals_ps }) => Line::Spaced {
                spacing: VirtualSpacing::new(intervals_ps),
                cells: BTreeMap::new(),
            },
            SchedulerSpec::VcRoundRobin(VcRoundRobinSpec { weights }) => Line::Rounds(Rounds {
                robin: VcRoundRobin::new(weights),
                queues: vec![VecDeque::new(); weights.len()],
                serving: 0,
                length: 0,
            }),
            _ => Line::Fifo(VecDeque::new()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Line::Fifo(cells) => cells.len(),
            Line::Spaced { cells, .. } => cells.len(),
            Line::Rounds(rounds) => rounds.length,
            Line::Queues(queues) => queues.length,
            Line::Paced(pacer) => pacer.len(),
        }
    }

    /// Returns whether a cell may be sent now.
    pub(crate) fn is_ready(&self, now: SimTime) -> bool {
        match self {
            Line::Paced(pacer) => pacer.wake(now).is_some_and(|at| at <= now),
            _ => !self.is_empty(),
        }
    }

    /// Returns the pacer of its cells, if there is one.
    pub(crate) fn pacer(&self) -> Option<&Pacer> {
        match self {
            Line::Paced(pacer) => Some(pacer),
            _ => None,
        }
    }

    /// Makes it pace cells from now on, while it is empty.
    pub(crate) fn pace(&mut self) -> &mut Pacer {
        if !matches!(self, Line::Paced(_)) {
            *self = Line::Paced(Pacer::default());
        }
        match self {
            Line::Paced(pacer) => pacer,
            _ => unreachable!("it was made just now"),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A cell of the VC with spec id `vc` joins; where packets have queues of their own, that with the number `vc`.
    pub(crate) fn push(&mut self, vc: u32, cell: Cell) {
        match self {
            Line::Queues(queues) => queues.push(vc, cell),
            Line::Fifo(cells) => cells.push_back(cell),
            Line::Spaced { spacing, cells } => {
                cells.insert((spacing.stamp(vc), vc), cell);
            }
            Line::Rounds(rounds) => {
                rounds.queues[vc as usize].push_back(cell);
                rounds.robin.set_backlog(vc, true);
                rounds.length += 1;
            }
            Line::Paced(pacer) => pacer.push(cell), // at the rate of its VC, whatever the policy counts
        }
    }

    /// All packets, in no order that means something; the port carries packets.
    pub(crate) fn packets(&self) -> Box<dyn Iterator<Item = &Cell> + '_> {
        match self {
            Line::Fifo(packets) => Box::new(packets.iter()),
            Line::Queues(queues) => Box::new(queues.queues.iter().flat_map(|queue| &queue.0)),
            Line::Spaced { .. } | Line::Rounds(_) | Line::Paced(_) => {
                unreachable!("an order of cells, and the port carries packets")
            }
        }
    }

    /// The cell that is under transmission; where there is one order only, the one that would be next.
    pub(crate) fn front(&self) -> Option<&Cell> {
        match self {
            Line::Fifo(cells) => cells.front(),
            Line::Spaced { cells, .. } => cells.values().next(),
            Line::Rounds(rounds) => rounds.queues[rounds.serving as usize].front(),
            Line::Paced(pacer) => pacer.sending(),
            Line::Queues(queues) => queues.queues.get(queues.serving)?.0.front(),
        }
    }

    /// Takes out the cell that has waited longest and is not under transmission, if there is one; where packets have
    /// queues of their own, from that with most octets, those of `arriving` included, which is to join the queue `of`.
    pub(crate) fn pop_waiting(
        &mut self,
        is_sending: bool,
        arriving: &Cell,
        of: u32,
    ) -> Option<Cell> {
        match self {
            Line::Fifo(cells) => cells.remove(usize::from(is_sending)),
            Line::Queues(queues) => queues.pop_fattest(is_sending, arriving, of as usize),
            Line::Spaced { .. } | Line::Rounds(_) | Line::Paced(_) => None, // of cells only
        }
    }

    /// The packet of the flow with number `flow` that came last and is not under transmission, of those in the queue
    /// `of` where there are several, to change what it is but not its octets.
    pub(crate) fn last_waiting(
        &mut self,
        is_sending: bool,
        of: u32,
        flow: u32,
    ) -> Option<&mut Cell> {
        let (cells, first) = match self {
            Line::Fifo(cells) => (cells, usize::from(is_sending)),
            Line::Queues(queues) => {
                let first = usize::from(is_sending && queues.serving == of as usize);
                (&mut queues.queues.get_mut(of as usize)?.0, first)
            }
            Line::Spaced { .. } | Line::Rounds(_) | Line::Paced(_) => return None, // of cells only
        };
        let waiting = cells.range_mut(first.min(cells.len())..);
        waiting.rev().find(|cell| cell.flow == flow)
    }

    /// The same, to change it.
    pub(crate) fn front_mut(&mut self) -> Option<&mut Cell> {
        match self {
            Line::Fifo(cells) => cells.front_mut(),
            Line::Spaced { cells, .. } => cells.values_mut().next(),
            Line::Rounds(rounds) => rounds.queues[rounds.serving as usize].front_mut(),
            Line::Queues(queues) => queues.queues.get_mut(queues.serving)?.0.front_mut(),
            Line::Paced(_) => None, // of cells only
        }
    }

    /// The transmission of the next cell begins: there is one, and from here on none comes before it. The
    /// cell, and its VC's index at the port, if it is made for the moment.
    pub(crate) fn begin_service(&mut self, now: SimTime) -> Option<(Cell, PortVc)> {
        match self {
            Line::Fifo(_) => {}
            Line::Spaced { spacing, cells } => {
                if let Some(&(stamp, _)) = cells.keys().next() {
                    spacing.on_service(stamp);
                }
            }
            Line::Rounds(rounds) => rounds.serving = rounds.robin.select(),
            Line::Paced(pacer) => return pacer.begin_service(now),
            Line::Queues(queues) => queues.select(),
        }
        None
    }

    /// The cell whose transmission begins is sent: no policy has discarded it.
    pub(crate) fn on_sending(&mut self) {
        if let Line::Queues(queues) = self {
            queues.on_sending();
        }
    }

    /// Packets behind the one at the front, and their octets, in its own queue, where there are several.
    pub(crate) fn behind(&self) -> Option<(u32, u64)> {
        let Line::Queues(queues) = self else {
            return None;
        };
        let (packets, octets) = &queues.queues[queues.serving];
        let first = packets.front()?;
        Some((packets.len() as u32 - 1, octets - u64::from(first.octets)))
    }

    /// The cell under transmission leaves.
    pub(crate) fn pop(&mut self) {
        match self {
            Line::Fifo(cells) => _ = cells.pop_front(),
            Line::Spaced { cells, .. } => _ = cells.pop_first(),
            Line::Rounds(rounds) => {
                let queue = &mut rounds.queues[rounds.serving as usize];
                queue.pop_front();
                if queue.is_empty() {
                    rounds.robin.set_backlog(rounds.serving, false);
                }
                rounds.length -= 1;
            }
            Line::Paced(pacer) => pacer.pop(),
            Line::Queues(queues) => _ = queues.take(queues.serving, 0),
        }
    }
}

impl Queues {
    fn push(&mut self, queue: u32, packet: Cell) {
        let at = queue as usize;
        if self.queues.len() <= at {
            self.queues.resize_with(at + 1, Default::default);
        }
        let (packets, octets) = &mut self.queues[at];
        packets.push_back(packet);
        *octets += u64::from(packet.octets);
        self.length += 1;
        self.order.on_enqueue(queue);
    }

    fn select(&mut self) {
        let queues = &self.queues;
        let serving = self.order.select(|queue| {
            let first = queues.get(queue as usize)?.0.front()?;
            Some(Head {
                octets: first.octets,
                came_ps: first.came_at.0,
            })
        });
        self.serving = serving as usize;
    }

    fn on_sending(&mut self) {
        let packets = &self.queues[self.serving].0;
        let octets = packets.front().map_or(0, |first| first.octets);
        let is_only = packets.len() == 1;
        self.order.on_sending(self.serving as u32, octets, is_only);
    }

    /// Takes out the packet at a place of a queue.
    fn take(&mut self, queue: usize, index: usize) -> Option<Cell> {
        let (packets, octets) = &mut self.queues[queue];
        let packet = match index {
            0 => packets.pop_front()?,
            _ => packets.remove(index)?,
        };
        *octets -= u64::from(packet.octets);
        self.length -= 1;
        if self.length == 0 {
            self.order.on_empty();
        }
        Some(packet)
    }

    fn pop_fattest(&mut self, is_sending: bool, arriving: &Cell, of: usize) -> Option<Cell> {
        // What is under transmission has left its queue.
        let sending = self.queues.get(self.serving).and_then(|own| own.0.front());
        let sent = sending
            .filter(|_| is_sending)
            .map_or(0, |packet| packet.octets);
        let waiting = |queue: usize| {
            let octets = self.queues.get(queue).map_or(0, |own| own.1);
            let gone = if queue == self.serving {
                u64::from(sent)
            } else {
                0
            };
            let more = if queue == of {
                u64::from(arriving.octets)
            } else {
                0
            };
            octets - gone + more
        };
        let queues = 0..self.queues.len().max(of + 1);
        // The first of several.
        let fattest = queues.rev().max_by_key(|&queue| waiting(queue))?;
        let index = usize::from(is_sending && fattest == self.serving);
        self.queues.get(fattest)?.0.get(index)?;
        self.take(fattest, index)
    }
}
