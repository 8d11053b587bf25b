//! Flow queueing: deficit round robin that lets new flows go first.

use super::queue_order::entry;
use std::collections::VecDeque;

/// Two lists of queues, those of flows that have just begun before those of others, each served by a quantum.
///
/// Source: RFC 8290, section 4.2. A queue's credits may go below zero, and it waits until a round has made up for it.
#[derive(Clone, Debug)]
pub struct FlowQueueing {
    quantum: i64,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    /// By queue.
    queues: Vec<Flow>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// Octets.
    credits: i64,
    /// True if it is in a list.
    is_active: bool,
}

impl FlowQueueing {
    /// With so many octets a round for each queue.
    pub fn new(quantum: u32) -> Self {
        FlowQueueing {
            quantum: i64::from(quantum),
            new: VecDeque::new(),
            old: VecDeque::new(),
            queues: Vec::new(),
        }
    }

    pub(super) fn on_enqueue(&mut self, queue: u32) {
        let quantum = self.quantum;
        let flow = entry(&mut self.queues, queue);
        if !flow.is_active {
            *flow = Flow {
                credits: quantum,
                is_active: true,
            };
            self.new.push_back(queue);
        }
    }

    pub(super) fn select(&mut self, has_packets: impl Fn(u32) -> bool) -> u32 {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let queue = *list.front().expect("a queue has packets");
            let flow = &mut self.queues[queue as usize];
            if flow.credits <= 0 {
                flow.credits += self.quantum;
            } else if has_packets(queue) {
                return queue;
            } else if !is_new {
                flow.is_active = false;
                list.pop_front();
                continue;
            }
            // An empty queue goes from the new ones to the old, so that a flow does not stay new by sending now and
            // then.
            list.pop_front();
            self.old.push_back(queue);
        }
    }

    pub(super) fn on_sending(&mut self, queue: u32, octets: u32) {
        self.queues[queue as usize].credits -= i64::from(octets);
    }

    /// Each list is gone through, and each queue found empty (section 4.2).
    pub(super) fn on_empty(&mut self) {
        for queue in self.new.drain(..).chain(self.old.drain(..)) {
            self.queues[queue as usize].is_active = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_flow_goes_first_by_its_quantum_and_takes_its_place_among_the_old_then() {
        let mut order = FlowQueueing::new(1_000);
        let serve = |order: &mut FlowQueueing| {
            let queue = order.select(|_| true);
            order.on_sending(queue, 600);
            queue
        };
        order.on_enqueue(0);
        // 600 and 1200 octets of 1000: two packets, credits -200, then 800 among the old.
        assert_eq!(
            [serve(&mut order), serve(&mut order), serve(&mut order)],
            [0; 3]
        );
        order.on_enqueue(1);
        order.on_enqueue(2);
        // Credits of 0: 200 now; the new ones have two packets each.
        let served: Vec<_> = (0..5).map(|_| serve(&mut order)).collect();
        assert_eq!(served, [1, 1, 2, 2, 0]);
        // Credits -400, -200, -200: all get a quantum, in the order in which they joined the old ones.
        let served: Vec<_> = (0..4).map(|_| serve(&mut order)).collect();
        assert_eq!(served, [1, 1, 2, 2]);
    }

    #[test]
    fn a_queue_that_runs_dry_is_no_new_flow_before_it_was_passed_over() {
        let mut order = FlowQueueing::new(1_000);
        order.on_enqueue(0);
        order.on_enqueue(1);
        assert_eq!(order.select(|_| true), 0);
        order.on_sending(0, 100);
        // Empty: among the old ones, and active there.
        assert_eq!(order.select(|queue| queue != 0), 1);
        order.on_sending(1, 100);
        order.on_enqueue(0);
        assert_eq!(order.select(|_| true), 1, "still new, with credits");
        order.on_sending(1, 2_000);
        assert_eq!(order.select(|_| true), 0);
        // Passed over twice while empty: forgotten, and new again.
        assert_eq!(order.select(|queue| queue != 0), 1);
        order.on_enqueue(0);
        assert_eq!(order.select(|_| true), 0);
    }

    #[test]
    fn where_nothing_is_left_to_send_every_flow_begins_anew() {
        let mut order = FlowQueueing::new(1_000);
        order.on_enqueue(0);
        assert_eq!(order.select(|_| true), 0);
        order.on_sending(0, 1_000); // no credits are left
        order.on_empty();
        order.on_enqueue(0);
        order.on_enqueue(1);
        assert_eq!(order.select(|_| true), 0);
    }
}
