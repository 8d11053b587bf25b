//! Queues of frames at an output port, one for each VC or several for classes: whose cell leaves when.
//!
//! When cells leave does not depend on whose they are, so the port's counts are those of one queue in
//! the order of arrival. Whose cell it is, is chosen here, cell by cell in a loop without events: a
//! choice needs to know who has cells then, so arrivals before it must be known, and no more. The cells of a VC
//! wait as bursts, and a frame's end is told when its last cell has been chosen. In a queue for a class
//! the VC goes first whose next cell came first.

use crate::burst::Burst;
use crate::burst::input_burst::{InputBurst, Moment};
use orders::{Order, Sent, Serves};
use skycell_spec::LinkSpec;
use skycell_units::{FrameId, PortVc, SimTime};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

mod orders;

/// Cells of a VC that have not been served.
#[derive(Clone, Copy, Debug)]
struct QueuedBurst {
    cells: Burst,
    /// How many were accepted before, of whichever VC.
    nth: u64,
}

/// The last cell of a frame, in the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    pub(crate) frame: FrameId,
    /// Cells of the reassembly that it ends downstream.
    pub(crate) cells: u32,
    /// True if all of them are the frame's.
    pub(crate) of_one: bool,
}

/// One VC.
#[derive(Debug)]
struct Waiting {
    vc: u32,
    weight: u64,
    /// The queue, where classes have queues.
    queue: usize,
    /// The link over which its cells come.
    link: u32,
    bursts: VecDeque<QueuedBurst>,
    served: u64,
    /// Last cells, each with how many cells of the VC have been served with it.
    tails: VecDeque<(u64, Tail)>,
}

impl Waiting {
    /// When its next cell came or comes, and in which order among those that come together by one link.
    fn next(&self) -> Option<(Moment, u64)> {
        let burst = self.bursts.front()?;
        let (time, link) = (burst.cells.first, self.link);
        Some((Moment { time, link }, burst.nth))
    }

    /// Its next cell is served; returns the frame that ends with it.
    fn serve(&mut self) -> Option<Tail> {
        let burst = self.bursts.front_mut().expect("it has cells");
        burst.cells.first += burst.cells.spacing;
        burst.cells.count -= 1;
        if burst.cells.count == 0 {
            self.bursts.pop_front();
        }
        self.served += 1;
        let is_tail = self.tails.front().is_some_and(|tail| tail.0 == self.served);
        is_tail.then(|| self.tails.pop_front().map(|(_, tail)| tail))?
    }
}

/// The VCs' lines, whoever is next.
#[derive(Debug)]
struct Lines {
    cell_time: u64,
    waiting: Vec<Waiting>,
    /// By queue: VCs with cells that have not been served, and the sum of their weights.
    unserved: Vec<(u32, u64)>,
    /// VCs without cells now whose next cell is known: when it comes, in which order, and the index.
    arriving: BinaryHeap<Reverse<(Moment, u64, PortVc)>>,
    /// When the cell chosen last leaves, and its VC's index.
    free: u64,
    serving: PortVc,
    /// Places of cells served, in order, and how many of the first are forgotten.
    served: VecDeque<PortVc>,
    forgotten: u64,
    ended: VecDeque<(SimTime, PortVc, Tail)>,
}

/// The queues.
#[derive(Debug)]
pub(crate) struct VcQueues {
    order: Order,
    lines: Lines,
    /// Bursts accepted.
    bursts: u64,
    /// By queue: cells accepted.
    accepted: Vec<u64>,
}

impl VcQueues {
    /// For the port, with a queue for each VC, or with queues for classes if frames join several of them; none for one
    /// where they join one queue in the order of arrival.
    pub(crate) fn new(link: &LinkSpec, has_classes: bool, end: SimTime) -> Option<Self> {
        let queues = link.port.queues.len();
        let lines = Lines {
            cell_time: link.cell_time_ps,
            waiting: Vec::new(),
            unserved: vec![(0, 0); queues],
            arriving: BinaryHeap::new(),
            free: 0,
            serving: PortVc(0),
            served: VecDeque::new(),
            forgotten: 0,
            ended: VecDeque::new(),
        };
        Some(VcQueues {
            order: Order::new(link, has_classes, end.0)?,
            lines,
            bursts: 0,
            accepted: vec![0; queues],
        })
    }

    /// Adds VC `vc`, whose cells join `queue` and which has that weight for the queue's policy, at
    /// the next index.
    pub(crate) fn add_vc(&mut self, vc: u32, queue: usize, weight: u64) {
        self.lines.waiting.push(Waiting {
            vc,
            weight,
            queue,
            link: 0,
            bursts: VecDeque::new(),
            served: 0,
            tails: VecDeque::new(),
        });
    }

    /// The next `count` cells of a burst were accepted.
    pub(crate) fn accept(&mut self, burst: &InputBurst, count: u64) {
        let (link, port_vc) = (burst.link, burst.port_vc);
        let here = &mut self.lines.waiting[port_vc.index()];
        let nth = self.bursts;
        self.bursts += 1;
        self.accepted[here.queue] += count;
        if here.bursts.is_empty() {
            here.link = link;
            let unserved = &mut self.lines.unserved[here.queue];
            unserved.0 += 1;
            unserved.1 += here.weight;
            let time = SimTime(burst.next);
            let arriving = Reverse((Moment { time, link }, nth, port_vc));
            self.lines.arriving.push(arriving);
        }
        let cells = burst.next_cells(count);
        here.bursts.push_back(QueuedBurst { cells, nth });
    }

    /// The cell of the VC at `port_vc` that was accepted last ends a frame there; it is the `seq`-th
    /// cell of the VC that was accepted.
    pub(crate) fn accept_tail(&mut self, port_vc: PortVc, seq: u64, tail: Tail) {
        let tails = &mut self.lines.waiting[port_vc.index()].tails;
        tails.push_back((seq, tail));
    }

    /// Makes all choices up to `limit`, that instant included; arrivals before it are known.
    pub(crate) fn serve_until(&mut self, limit: u64) {
        match &mut self.order {
            Order::Spacing(order) => self.lines.serve_until(order, limit),
            Order::Rounds(order) => self.lines.serve_until(order, limit),
            Order::Classes(order) => self.lines.serve_until(order, limit),
        }
    }

    /// The next frame of which the last cell has been chosen: when that cell leaves, and its VC's index.
    pub(crate) fn next_ended(&mut self) -> Option<(SimTime, PortVc, Tail)> {
        self.lines.ended.pop_front()
    }

    /// Before when no frame that is here ends: the earliest choice of a last cell.
    pub(crate) fn no_end_before(&self) -> Option<SimTime> {
        let ahead = self.lines.waiting.iter().filter_map(|here| {
            let (seq, _) = here.tails.front()?;
            Some(seq - here.served - 1)
        });
        Some(SimTime(
            self.lines.free + ahead.min()? * self.lines.cell_time,
        ))
    }

    /// Of the cells accepted at `port_vc`, `accepted` in all, those that are in the port at `now`, to
    /// which choices have been made, its departures done.
    pub(crate) fn queued(&self, port_vc: PortVc, accepted: u64, now: SimTime) -> u32 {
        let is_leaving = self.leaving(now) == Some(port_vc);
        (accepted - self.lines.waiting[port_vc.index()].served + u64::from(is_leaving)) as u32
    }

    /// VCs with cells in `queue` at `now`, and the sum of their weights, under the same conditions.
    pub(crate) fn active(&self, queue: usize, now: SimTime) -> (u32, u64) {
        let leaving = self.leaving_from(queue, now);
        let alone = leaving.filter(|here| here.bursts.is_empty());
        let (count, weight) = self.lines.unserved[queue];
        alone.map_or((count, weight), |here| (count + 1, weight + here.weight))
    }

    /// The VC whose cell is being sent from `queue` at `now`.
    fn leaving_from(&self, queue: usize, now: SimTime) -> Option<&Waiting> {
        let leaving = self.leaving(now);
        let leaving = leaving.map(|port_vc| &self.lines.waiting[port_vc.index()]);
        leaving.filter(|here| here.queue == queue)
    }

    /// Returns what the queue of a class has sent.
    fn sent(&self, queue: usize) -> Sent {
        match &self.order {
            Order::Classes(classes) => classes.sent(queue),
            Order::Spacing(_) | Order::Rounds(_) => unreachable!("classes have queues"),
        }
    }

    /// Cells that have left the `queue` of a class by `now`, and those that it holds, under the same conditions.
    pub(crate) fn sent_and_held(&self, queue: usize, now: SimTime) -> (u64, u64) {
        let is_leaving = self.leaving_from(queue, now).is_some();
        let departed = self.sent(queue).cells - u64::from(is_leaving);
        (departed, self.accepted[queue] - departed)
    }

    /// Since when the `queue` of a class has been empty, if it is and was not always, under the same conditions.
    pub(crate) fn idle_since(&self, queue: usize, now: SimTime) -> Option<u64> {
        let (departed, held) = self.sent_and_held(queue, now);
        (held == 0 && departed > 0).then_some(self.sent(queue).last)
    }

    /// Cells that the `queue` of a class has accepted, those of them that leave before the end of the run, and the sum of
    /// the times at which they do.
    pub(crate) fn totals(&self, queue: usize) -> (u64, u64, u128) {
        let sent = self.sent(queue);
        (self.accepted[queue], sent.in_time, sent.departures)
    }

    /// Returns the index of the VC whose cell is being sent at `now`.
    fn leaving(&self, now: SimTime) -> Option<PortVc> {
        (self.lines.free > now.0 && !self.lines.served.is_empty()).then_some(self.lines.serving)
    }

    /// Index of the cell that left as the `seq`-th (from 0), not yet forgotten.
    pub(crate) fn port_vc_of(&self, seq: u64) -> PortVc {
        self.lines.served[(seq - self.lines.forgotten) as usize]
    }

    /// Cells at `port_vc` among the first `departed` that left, of which none is forgotten that a
    /// later count than this one's does not have.
    pub(crate) fn departed_of(&self, port_vc: PortVc, departed: u64) -> u64 {
        let later = self
            .lines
            .served
            .range((departed - self.lines.forgotten) as usize..);
        let later = later.filter(|&&other| other == port_vc).count() as u64;
        self.lines.waiting[port_vc.index()].served - later
    }

    /// Cells served.
    pub(crate) fn count(&self) -> u64 {
        self.lines.forgotten + self.lines.served.len() as u64
    }

    /// Forgets who the first `departed` cells belonged to, but for the last of them.
    pub(crate) fn forget(&mut self, departed: u64) {
        let count = departed
            .saturating_sub(1)
            .saturating_sub(self.lines.forgotten);
        self.lines.served.drain(..count as usize);
        self.lines.forgotten += count;
    }
}

impl Lines {
    /// Makes all choices up to `limit`, in this order.
    fn serve_until(&mut self, order: &mut impl Serves, limit: u64) {
        loop {
            // What came while the last cell was being sent sees that cell's stamp.
            while let Some(&Reverse((moment, _, port_vc))) = self.arriving.peek()
                && moment.time.0 < self.free
            {
                self.arriving.pop();
                order.activate(&self.waiting[port_vc.index()], port_vc);
            }
            let (start, port_vc) = if order.has_cells() {
                if self.free > limit {
                    return;
                }
                (self.free, order.select())
            } else {
                // The link is idle until the next cell, which begins at once.
                let Some(&Reverse((moment, _, port_vc))) = self.arriving.peek() else {
                    return;
                };
                if moment.time.0 > limit {
                    return;
                }
                self.arriving.pop();
                order.activate(&self.waiting[port_vc.index()], port_vc);
                let chosen = order.select();
                debug_assert_eq!(chosen, port_vc);
                (moment.time.0, port_vc)
            };
            self.send(order, start, port_vc);
        }
    }

    /// The next cell of the VC at `port_vc`, which was selected, goes at `start`.
    fn send(&mut self, order: &mut impl Serves, start: u64, port_vc: PortVc) {
        self.free = start + self.cell_time;
        self.serving = port_vc;
        self.served.push_back(port_vc);
        let here = &mut self.waiting[port_vc.index()];
        if let Some(tail) = here.serve() {
            self.ended.push_back((SimTime(self.free), port_vc, tail));
        }
        let next = here.next();
        if next.is_none() {
            let unserved = &mut self.unserved[here.queue];
            unserved.0 -= 1;
            unserved.1 -= here.weight;
        }
        let has_come = |(came, _): &(Moment, u64)| came.time.0 < self.free;
        order.on_departure(here, self.free, next.filter(has_come));
        if let Some((came, nth)) = next.filter(|next| !has_come(next)) {
            self.arriving.push(Reverse((came, nth, port_vc)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skycell_spec::{
        PolicySpec, PortSpec, QueueSpec, SchedulerSpec, ServiceClass, StrictPrioritySpec,
        TailDropSpec, VcRoundRobinSpec, VirtualSpacingSpec,
    };

    fn served(queues: &VcQueues) -> Vec<u32> {
        queues.lines.served.iter().map(|served| served.0).collect()
    }

    fn burst(port_vc: PortVc, next: u64, spacing: u64, link: u32) -> InputBurst {
        InputBurst {
            next,
            spacing,
            link,
            port_vc,
        }
    }

    fn queues(scheduler: SchedulerSpec) -> VcQueues {
        let queue = |class| QueueSpec {
            class,
            capacity_cells: None,
            counts_octets: false,
            by_flow: false,
            policy: PolicySpec::TailDrop(TailDropSpec {}),
        };
        let has_classes = scheduler == SchedulerSpec::StrictPriority(StrictPrioritySpec {});
        let named = has_classes.then(|| queue(Some(ServiceClass::Gfr)));
        let link = LinkSpec {
            name: "a>b".into(),
            from: 0,
            to: 1,
            cell_time_ps: 10,
            framing: None,
            delay_ps: 0,
            loss_ppb: 0,
            channel: None,
            delay_variation: None,
            schedule: None,
            receivers: Vec::new(),
            port: PortSpec {
                queues: named.into_iter().chain([queue(None)]).collect(),
                scheduler,
                frame_gap_ps: 0,
                rate_algorithm: None,
                shaper: None,
                policer: None,
                ack_filter: false,
            },
        };
        let mut queues = VcQueues::new(&link, has_classes, SimTime(100)).expect("it serves VCs");
        queues.add_vc(0, 0, 3);
        queues.add_vc(1, usize::from(has_classes), 5);
        queues
    }

    #[test]
    fn runs_are_served_by_stamps_in_the_order_of_single_cells() {
        let mut queues = queues(SchedulerSpec::VirtualSpacing(VirtualSpacingSpec {
            intervals_ps: vec![10, 20],
        }));
        // VC 1 comes first and is sent at once: spacing time 20. VC 0 then has stamps 30, 40, ...
        queues.accept(&burst(PortVc(1), 5, 1, 0), 4);
        queues.accept(&burst(PortVc(0), 6, 1, 1), 5);
        let tail = |frame| Tail {
            frame,
            cells: 4,
            of_one: true,
        };
        queues.accept_tail(PortVc(1), 4, tail(FrameId(7)));
        assert_eq!(queues.no_end_before(), Some(SimTime(30)));
        queues.serve_until(14);
        assert_eq!(served(&queues), [1]);
        assert_eq!(
            (
                queues.queued(PortVc(0), 5, SimTime(14)),
                queues.queued(PortVc(1), 4, SimTime(14))
            ),
            (5, 4)
        );
        assert_eq!(queues.queued(PortVc(1), 4, SimTime(15)), 3);
        queues.serve_until(1_000);
        assert_eq!(served(&queues), [1, 0, 0, 1, 0, 0, 1, 0, 1]);
        let (departure, port_vc, ended) = queues.next_ended().expect("the frame has ended");
        assert_eq!(
            (departure, port_vc, ended.frame),
            (SimTime(95), PortVc(1), FrameId(7))
        );
        assert_eq!(
            (
                queues.departed_of(PortVc(0), 4),
                queues.departed_of(PortVc(1), 4)
            ),
            (2, 2)
        );
        queues.forget(4);
        assert_eq!(
            (
                queues.departed_of(PortVc(0), 4),
                queues.port_vc_of(3),
                queues.count()
            ),
            (2, PortVc(1), 9)
        );
    }

    #[test]
    fn an_idle_link_takes_the_first_that_comes_and_a_busy_one_asks_who_came_before() {
        let mut queues = queues(SchedulerSpec::VcRoundRobin(VcRoundRobinSpec {
            weights: vec![1, 1],
        }));
        // Both at 5, VC 1 over the lower link. At 15 the second cell of VC 1 is not there yet.
        queues.accept(&burst(PortVc(0), 5, 1, 3), 1);
        queues.accept(&burst(PortVc(1), 5, 10, 2), 2);
        queues.serve_until(15);
        assert_eq!(served(&queues), [1, 0]);
        // The only cell of VC 0 is being sent, the second of VC 1 waits.
        assert_eq!(queues.active(0, SimTime(15)), (2, 3 + 5));
        assert_eq!(queues.active(0, SimTime(25)), (1, 5));
        queues.serve_until(100);
        assert_eq!(served(&queues), [1, 0, 1]);
        // Idle from 35 on.
        queues.accept(&burst(PortVc(0), 50, 1, 3), 1);
        queues.serve_until(49);
        assert_eq!(queues.count(), 3);
        queues.serve_until(50);
        assert_eq!(queues.count(), 4);
        assert_eq!(queues.queued(PortVc(0), 2, SimTime(59)), 1);
        assert_eq!(queues.active(0, SimTime(59)), (1, 3));
        assert_eq!(queues.queued(PortVc(0), 2, SimTime(60)), 0);
        assert_eq!(queues.active(0, SimTime(60)), (0, 0));
    }

    #[test]
    fn cells_that_come_together_by_one_link_go_in_the_order_in_which_they_were_taken_in() {
        let mut queues = queues(SchedulerSpec::VcRoundRobin(VcRoundRobinSpec {
            weights: vec![1, 1],
        }));
        queues.accept(&burst(PortVc(1), 5, 1, 2), 1);
        queues.accept(&burst(PortVc(0), 5, 1, 2), 1);
        // The second cell of VC 1 waits for its first, and comes before that of VC 0.
        queues.accept(&burst(PortVc(1), 40, 1, 2), 1);
        queues.accept(&burst(PortVc(0), 40, 1, 2), 1);
        queues.serve_until(100);
        assert_eq!(served(&queues), [1, 0, 1, 0]);
    }

    #[test]
    fn classes_go_by_the_scheduler_and_within_a_class_who_came_first() {
        // VCs 0 and 2 in the queue that is preferred, VC 1 in the other.
        let mut queues = queues(SchedulerSpec::StrictPriority(StrictPrioritySpec {}));
        queues.add_vc(2, 0, 7);
        queues.accept(&burst(PortVc(1), 5, 1, 2), 3);
        queues.accept(&burst(PortVc(2), 12, 10, 3), 2); // at 12 and 22
        queues.accept(&burst(PortVc(0), 13, 1, 4), 2); // at 13 and 14
        queues.serve_until(14);
        assert_eq!(served(&queues), [1]);
        assert_eq!(queues.sent_and_held(1, SimTime(14)), (0, 3));
        assert_eq!(queues.idle_since(0, SimTime(14)), None); // it never had a cell that has left
        queues.serve_until(1_000);
        assert_eq!(served(&queues), [1, 2, 0, 0, 2, 1, 1]);
        assert_eq!(queues.active(0, SimTime(1_000)), (0, 0));
        assert_eq!(queues.sent_and_held(0, SimTime(1_000)), (4, 0));
        assert_eq!(queues.idle_since(0, SimTime(1_000)), Some(55));
        // Within the run, which ends at 100, all leave: at 15, 65 and 75 those of the second queue.
        assert_eq!(queues.totals(1), (3, 3, 15 + 65 + 75));
        queues.accept(&burst(PortVc(1), 90, 1, 2), 1);
        queues.serve_until(90);
        assert_eq!(queues.totals(1), (4, 3, 15 + 65 + 75));
        assert_eq!(queues.active(1, SimTime(99)), (1, 5));
        assert_eq!(queues.active(0, SimTime(99)), (0, 0));
    }

    #[test]
    fn in_a_class_cells_that_come_together_by_one_link_go_in_the_order_in_which_they_were_taken_in()
    {
        let mut queues = queues(SchedulerSpec::StrictPriority(StrictPrioritySpec {}));
        queues.add_vc(2, 0, 7);
        queues.accept(&burst(PortVc(2), 35, 1, 2), 1);
        queues.accept(&burst(PortVc(0), 40, 1, 2), 1);
        queues.accept(&burst(PortVc(2), 40, 1, 2), 1);
        queues.serve_until(1_000);
        assert_eq!(served(&queues), [2, 0, 2]);
    }
}
