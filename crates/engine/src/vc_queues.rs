//! A queue for each VC at a multiplexing port: whose cell leaves when.
//!
//! When cells leave does not depend on whose they are, so the port's counts are those of one queue in
//! the order of arrival. Whose cell it is, is chosen here, cell by cell in a loop without events: a
//! choice needs to know who has cells then, so arrivals before it must be known, and no more. Cells
//! wait as runs of equal spacing, and a frame's end is told when its last cell has been chosen.

use crate::train::{Moment, Train};
use skycell_spec::SchedulerSpec;
use skycell_switch::{VcRoundRobin, VirtualSpacing};
use skycell_units::SimTime;
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

/// Cells of a VC that have not been served, `spacing` apart.
#[derive(Clone, Copy, Debug)]
struct Run {
    next: u64,
    spacing: u64,
    left: u64,
    /// How many were taken in before, of whichever VC.
    nth: u64,
}

/// The last cell of a frame, in the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    pub(crate) frame: u32,
    /// Cells of the reassembly that it ends downstream.
    pub(crate) cells: u32,
    /// Whether all of them are the frame's.
    pub(crate) of_one: bool,
}

/// One VC.
#[derive(Debug)]
struct Waiting {
    vc: u32,
    weight: u64,
    /// The link over which its cells come.
    link: u32,
    runs: VecDeque<Run>,
    served: u64,
    /// Last cells, each with how many cells of the VC have been served with it.
    tails: VecDeque<(u64, Tail)>,
}

impl Waiting {
    /// When its next cell came or comes, and in which order among those that come together by one link.
    fn next(&self) -> Option<(Moment, u64)> {
        let run = self.runs.front()?;
        let (time, link) = (SimTime(run.next), self.link);
        Some((Moment { time, link }, run.nth))
    }

    /// Its next cell is served; returns the frame that ends with it.
    fn serve(&mut self) -> Option<Tail> {
        let run = self.runs.front_mut().expect("it has cells");
        run.next += run.spacing;
        run.left -= 1;
        if run.left == 0 {
            self.runs.pop_front();
        }
        self.served += 1;
        let is_tail = self.tails.front().is_some_and(|tail| tail.0 == self.served);
        is_tail.then(|| self.tails.pop_front().map(|(_, tail)| tail))?
    }
}

/// Who of the VCs with cells is next.
#[derive(Debug)]
enum Order {
    Spacing {
        spacing: VirtualSpacing,
        /// Stamp of the first cell of each VC with cells, and the VC's id.
        first: BinaryHeap<Reverse<(u128, u32)>>,
    },
    Rounds {
        robin: VcRoundRobin,
        with_cells: u32,
    },
}

/// The queues.
#[derive(Debug)]
pub(crate) struct VcQueues {
    cell_time: u64,
    order: Order,
    waiting: Vec<Waiting>,
    /// VCs with cells that have not been served, and the sum of their weights.
    unserved: (u32, u64),
    /// Place by VC id.
    places: Vec<u32>,
    /// VCs without cells now whose next cell is known: when it comes, in which order, and the place.
    coming: BinaryHeap<Reverse<(Moment, u64, u32)>>,
    /// Runs taken in.
    runs: u64,
    /// When the cell chosen last leaves, and its VC's place.
    free: u64,
    serving: u32,
    /// Places of cells served, in order, and how many of the first are forgotten.
    served: VecDeque<u32>,
    forgotten: u64,
    ended: VecDeque<(SimTime, u32, Tail)>,
}

impl VcQueues {
    /// For a port with this scheduler; none where it does not serve VCs.
    pub(crate) fn new(scheduler: &SchedulerSpec, cell_time: u64) -> Option<Self> {
        let (order, vcs) = match scheduler {
            SchedulerSpec::VirtualSpacing { intervals_ps } => {
                let order = Order::Spacing {
                    spacing: VirtualSpacing::new(intervals_ps),
                    first: BinaryHeap::new(),
                };
                (order, intervals_ps.len())
            }
            SchedulerSpec::VcRoundRobin { weights } => {
                let order = Order::Rounds {
                    robin: VcRoundRobin::new(weights),
                    with_cells: 0,
                };
                (order, weights.len())
            }
            _ => return None,
        };
        Some(VcQueues {
            cell_time,
            order,
            waiting: Vec::new(),
            unserved: (0, 0),
            places: vec![u32::MAX; vcs],
            coming: BinaryHeap::new(),
            runs: 0,
            free: 0,
            serving: 0,
            served: VecDeque::new(),
            forgotten: 0,
            ended: VecDeque::new(),
        })
    }

    /// Lets VC `vc`, which has that weight for the port's policy, cross the port, at the next place.
    pub(crate) fn add_vc(&mut self, vc: u32, weight: u64) {
        self.places[vc as usize] = self.waiting.len() as u32;
        self.waiting.push(Waiting {
            vc,
            weight,
            link: 0,
            runs: VecDeque::new(),
            served: 0,
            tails: VecDeque::new(),
        });
    }

    /// The next `count` cells of a train were taken in.
    pub(crate) fn take_in(&mut self, train: &Train, count: u64) {
        let (link, place) = (train.link, train.place);
        let here = &mut self.waiting[place as usize];
        let nth = self.runs;
        self.runs += 1;
        if here.runs.is_empty() {
            here.link = link;
            self.unserved.0 += 1;
            self.unserved.1 += here.weight;
            let time = SimTime(train.next);
            self.coming
                .push(Reverse((Moment { time, link }, nth, place)));
        }
        here.runs.push_back(Run {
            next: train.next,
            spacing: train.spacing,
            left: count,
            nth,
        });
    }

    /// The cell of the VC at `place` that was taken in last ends a frame there; it is the `rank`-th
    /// cell of the VC that was taken in.
    pub(crate) fn take_in_tail(&mut self, place: u32, rank: u64, tail: Tail) {
        let tails = &mut self.waiting[place as usize].tails;
        tails.push_back((rank, tail));
    }

    /// Makes all choices up to `limit`, that instant included; arrivals before it are known.
    pub(crate) fn serve_until(&mut self, limit: u64) {
        loop {
            // What came while the last cell was being sent sees that cell's stamp.
            while let Some(&Reverse((moment, _, place))) = self.coming.peek()
                && moment.time.0 < self.free
            {
                self.coming.pop();
                self.activate(place);
            }
            let (start, place) = if self.has_cells() {
                if self.free > limit {
                    return;
                }
                (self.free, self.select())
            } else {
                // The link is idle until the next cell, which begins at once.
                let Some(&Reverse((moment, _, place))) = self.coming.peek() else {
                    return;
                };
                if moment.time.0 > limit {
                    return;
                }
                self.coming.pop();
                self.activate(place);
                let chosen = self.select();
                debug_assert_eq!(chosen, place);
                (moment.time.0, place)
            };
            self.send(start, place);
        }
    }

    /// The cell at the front of the queue of `place`, which was selected, goes at `start`.
    fn send(&mut self, start: u64, place: u32) {
        self.free = start + self.cell_time;
        self.serving = place;
        self.served.push_back(place);
        let here = &mut self.waiting[place as usize];
        if let Some(tail) = here.serve() {
            self.ended.push_back((SimTime(self.free), place, tail));
        }
        let next = here.next();
        if next.is_none() {
            self.unserved.0 -= 1;
            self.unserved.1 -= here.weight;
        }
        let vc = here.vc;
        let stays = next.is_some_and(|(next, _)| next.time.0 < self.free);
        match &mut self.order {
            Order::Spacing { spacing, first } => {
                let top = first.peek_mut().expect("it was selected");
                if stays {
                    let mut top = top;
                    top.0.0 = spacing.stamp(vc);
                } else {
                    PeekMut::pop(top);
                }
            }
            Order::Rounds { robin, with_cells } => {
                if !stays {
                    robin.set_backlog(vc, false);
                    *with_cells -= 1;
                }
            }
        }
        if let Some((next, nth)) = next.filter(|_| !stays) {
            self.coming.push(Reverse((next, nth, place)));
        }
    }

    fn has_cells(&self) -> bool {
        match &self.order {
            Order::Spacing { first, .. } => !first.is_empty(),
            Order::Rounds { with_cells, .. } => *with_cells > 0,
        }
    }

    /// The VC at `place`, which had no cells, has one.
    fn activate(&mut self, place: u32) {
        let vc = self.waiting[place as usize].vc;
        match &mut self.order {
            Order::Spacing { spacing, first } => first.push(Reverse((spacing.stamp(vc), vc))),
            Order::Rounds { robin, with_cells } => {
                robin.set_backlog(vc, true);
                *with_cells += 1;
            }
        }
    }

    /// The place of the VC that is served now.
    fn select(&mut self) -> u32 {
        let vc = match &mut self.order {
            Order::Spacing { spacing, first } => {
                let Reverse((stamp, vc)) = *first.peek().expect("somebody has cells");
                spacing.on_service(stamp);
                vc
            }
            Order::Rounds { robin, .. } => robin.select(),
        };
        self.places[vc as usize]
    }

    /// The next frame of which the last cell has been chosen: when that cell leaves, and its VC's place.
    pub(crate) fn next_ended(&mut self) -> Option<(SimTime, u32, Tail)> {
        self.ended.pop_front()
    }

    /// Before when no frame that is here ends: the earliest choice of a last cell.
    pub(crate) fn no_end_before(&self) -> Option<SimTime> {
        let ahead = self.waiting.iter().filter_map(|here| {
            let (rank, _) = here.tails.front()?;
            Some(rank - here.served - 1)
        });
        Some(SimTime(self.free + ahead.min()? * self.cell_time))
    }

    /// Of the cells taken in at `place`, `taken_in` in all, those that are in the port at `now`, to
    /// which choices have been made, its departures done.
    pub(crate) fn queued(&self, place: u32, taken_in: u64, now: SimTime) -> u32 {
        let is_leaving = self.leaving(now) == Some(place);
        (taken_in - self.waiting[place as usize].served + u64::from(is_leaving)) as u32
    }

    /// VCs with cells in the port at `now`, and the sum of their weights, under the same conditions.
    pub(crate) fn active(&self, now: SimTime) -> (u32, u64) {
        let leaving = self.leaving(now).map(|place| &self.waiting[place as usize]);
        let alone = leaving.filter(|here| here.runs.is_empty());
        let (count, weight) = self.unserved;
        alone.map_or((count, weight), |here| (count + 1, weight + here.weight))
    }

    /// Whose cell is being sent at `now`, its place.
    fn leaving(&self, now: SimTime) -> Option<u32> {
        (self.free > now.0 && !self.served.is_empty()).then_some(self.serving)
    }

    /// Place of the cell that left as the `rank`-th (from 0), not yet forgotten.
    pub(crate) fn place_of(&self, rank: u64) -> u32 {
        self.served[(rank - self.forgotten) as usize]
    }

    /// Cells at `place` among the first `departed` that left, of which none is forgotten that a
    /// later count than this one's does not have.
    pub(crate) fn departed_of(&self, place: u32, departed: u64) -> u64 {
        let later = self.served.range((departed - self.forgotten) as usize..);
        let later = later.filter(|&&other| other == place).count() as u64;
        self.waiting[place as usize].served - later
    }

    /// Cells served.
    pub(crate) fn count(&self) -> u64 {
        self.forgotten + self.served.len() as u64
    }

    /// Forgets who the first `departed` cells belonged to, but for the last of them.
    pub(crate) fn forget(&mut self, departed: u64) {
        let count = departed.saturating_sub(1).saturating_sub(self.forgotten);
        self.served.drain(..count as usize);
        self.forgotten += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(queues: &VcQueues) -> Vec<u32> {
        queues.served.iter().copied().collect()
    }

    fn train(place: u32, next: u64, spacing: u64, link: u32) -> Train {
        Train {
            next,
            spacing,
            link,
            place,
        }
    }

    fn queues(scheduler: &SchedulerSpec) -> VcQueues {
        let mut queues = VcQueues::new(scheduler, 10).expect("it serves VCs");
        queues.add_vc(0, 3);
        queues.add_vc(1, 5);
        queues
    }

    #[test]
    fn runs_are_served_by_stamps_in_the_order_of_single_cells() {
        let mut queues = queues(&SchedulerSpec::VirtualSpacing {
            intervals_ps: vec![10, 20],
        });
        // VC 1 comes first and is sent at once: spacing time 20. VC 0 then has stamps 30, 40, ...
        queues.take_in(&train(1, 5, 1, 0), 4);
        queues.take_in(&train(0, 6, 1, 1), 5);
        let tail = |frame| Tail {
            frame,
            cells: 4,
            of_one: true,
        };
        queues.take_in_tail(1, 4, tail(7));
        assert_eq!(queues.no_end_before(), Some(SimTime(30)));
        queues.serve_until(14);
        assert_eq!(served(&queues), [1]);
        assert_eq!(
            (
                queues.queued(0, 5, SimTime(14)),
                queues.queued(1, 4, SimTime(14))
            ),
            (5, 4)
        );
        assert_eq!(queues.queued(1, 4, SimTime(15)), 3);
        queues.serve_until(1_000);
        assert_eq!(served(&queues), [1, 0, 0, 1, 0, 0, 1, 0, 1]);
        let (departure, place, ended) = queues.next_ended().expect("the frame has ended");
        assert_eq!((departure, place, ended.frame), (SimTime(95), 1, 7));
        assert_eq!((queues.departed_of(0, 4), queues.departed_of(1, 4)), (2, 2));
        queues.forget(4);
        assert_eq!(
            (queues.departed_of(0, 4), queues.place_of(3), queues.count()),
            (2, 1, 9)
        );
    }

    #[test]
    fn an_idle_link_takes_the_first_that_comes_and_a_busy_one_asks_who_came_before() {
        let mut queues = queues(&SchedulerSpec::VcRoundRobin {
            weights: vec![1, 1],
        });
        // Both at 5, VC 1 over the lower link. At 15 the second cell of VC 1 is not there yet.
        queues.take_in(&train(0, 5, 1, 3), 1);
        queues.take_in(&train(1, 5, 10, 2), 2);
        queues.serve_until(15);
        assert_eq!(served(&queues), [1, 0]);
        // The only cell of VC 0 is being sent, the second of VC 1 waits.
        assert_eq!(queues.active(SimTime(15)), (2, 3 + 5));
        assert_eq!(queues.active(SimTime(25)), (1, 5));
        queues.serve_until(100);
        assert_eq!(served(&queues), [1, 0, 1]);
        // Idle from 35 on.
        queues.take_in(&train(0, 50, 1, 3), 1);
        queues.serve_until(49);
        assert_eq!(queues.count(), 3);
        queues.serve_until(50);
        assert_eq!(queues.count(), 4);
        assert_eq!(queues.queued(0, 2, SimTime(59)), 1);
        assert_eq!(queues.active(SimTime(59)), (1, 3));
        assert_eq!(queues.queued(0, 2, SimTime(60)), 0);
        assert_eq!(queues.active(SimTime(60)), (0, 0));
    }

    #[test]
    fn cells_that_come_together_by_one_link_go_in_the_order_in_which_they_were_taken_in() {
        let mut queues = queues(&SchedulerSpec::VcRoundRobin {
            weights: vec![1, 1],
        });
        queues.take_in(&train(1, 5, 1, 2), 1);
        queues.take_in(&train(0, 5, 1, 2), 1);
        // The second cell of VC 1 waits for its first, and comes before that of VC 0.
        queues.take_in(&train(1, 40, 1, 2), 1);
        queues.take_in(&train(0, 40, 1, 2), 1);
        queues.serve_until(100);
        assert_eq!(served(&queues), [1, 0, 1, 0]);
    }
}
