//! Deficit round robin.

use super::queue_order::{Head, entry};
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, types::PacketOctets};
use std::collections::VecDeque;

/// Serves the flows, or VCs, of a buffer of packets one after the other, each by octets.
///
/// See [`DeficitRoundRobin`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(serves = "packets")]
pub struct DeficitRoundRobinSpec {
    /// Octets that each may send in a round; a longer packet takes several.
    #[param(
        key = "quantum",
        default = "1500 B",
        symbol = "Q_i",
        source = "Shreedhar and Varghese, section III: of the longest packet at least"
    )]
    pub quantum_octets: PacketOctets,
}

/// Visits queues that have packets in turn. At each visit a queue's deficit counter grows by the quantum, and packets
/// go as long as it covers them; what is left counts at the next visit, unless the queue has run dry.
///
/// Source: M. Shreedhar, G. Varghese, "Efficient Fair Queuing Using Deficit Round-Robin", IEEE/ACM Transactions on
/// Networking 4 (3), 1996, Figure 2.
#[derive(Clone, Debug)]
pub struct DeficitRoundRobin {
    quantum: u64,
    /// ActiveList: queues with packets, the one being visited first.
    active: VecDeque<u32>,
    /// True if the visit of the first has begun.
    is_visiting: bool,
    /// By queue: DC_i, octets, and whether it is in the list.
    queues: Vec<(u64, bool)>,
}

impl DeficitRoundRobin {
    /// With so many octets a round for each queue.
    pub fn new(quantum: u32) -> Self {
        DeficitRoundRobin {
            quantum: u64::from(quantum),
            active: VecDeque::new(),
            is_visiting: false,
            queues: Vec::new(),
        }
    }

    pub(super) fn on_enqueue(&mut self, queue: u32) {
        let (_, is_active) = entry(&mut self.queues, queue);
        if !std::mem::replace(is_active, true) {
            self.active.push_back(queue);
        }
    }

    pub(super) fn select(&mut self, head: impl Fn(u32) -> Option<Head>) -> u32 {
        loop {
            let queue = *self.active.front().expect("a queue has packets");
            let Some(packet) = head(queue) else {
                self.leave(); // what it had was discarded
                continue;
            };
            let (deficit, _) = &mut self.queues[queue as usize];
            if !std::mem::replace(&mut self.is_visiting, true) {
                *deficit += self.quantum;
            }
            if u64::from(packet.octets) <= *deficit {
                return queue;
            }
            self.active.rotate_left(1);
            self.is_visiting = false;
        }
    }

    pub(super) fn on_sending(&mut self, queue: u32, octets: u32, is_last: bool) {
        self.queues[queue as usize].0 -= u64::from(octets);
        if is_last {
            self.leave();
        }
    }

    pub(super) fn on_empty(&mut self) {
        while !self.active.is_empty() {
            self.leave();
        }
    }

    /// The queue being visited has no packets.
    fn leave(&mut self) {
        if let Some(queue) = self.active.pop_front() {
            self.queues[queue as usize] = (0, false);
        }
        self.is_visiting = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Serves `count` packets of queues with these lengths, in turn and without end; queues in order of service.
    fn services(quantum: u32, sizes: &[Vec<u32>], count: usize) -> Vec<(u32, u32)> {
        let mut drr = DeficitRoundRobin::new(quantum);
        let mut next = vec![0; sizes.len()];
        (0..sizes.len() as u32).for_each(|queue| drr.on_enqueue(queue));
        let services = (0..count).map(|_| {
            let size = |queue: u32, next: &[usize]| {
                let own = &sizes[queue as usize];
                own[next[queue as usize] % own.len()]
            };
            let queue = drr.select(|queue| {
                let octets = size(queue, &next);
                Some(Head { octets, came_ps: 0 })
            });
            let octets = size(queue, &next);
            next[queue as usize] += 1;
            drr.on_sending(queue, octets, false);
            (queue, octets)
        });
        services.collect()
    }

    #[test]
    fn what_a_packet_leaves_of_the_quantum_counts_in_the_next_round() {
        // Figure 3 of the paper: quantum 500; the first queue's 200, 750 and 20 octets. 200 go, 300 are left; 800
        // cover 750, and the rest 20.
        let sizes = [vec![200, 750, 20, 500], vec![500]];
        let expected = [(0, 200), (1, 500), (0, 750), (0, 20), (1, 500)];
        assert_eq!(services(500, &sizes, 5), expected);
    }

    #[test]
    fn a_queue_that_runs_dry_begins_at_the_end_of_the_round_and_without_credit() {
        let mut drr = DeficitRoundRobin::new(1_000);
        let head = |octets| Some(Head { octets, came_ps: 0 });
        drr.on_enqueue(0);
        drr.on_enqueue(1);
        assert_eq!(drr.select(|_| head(400)), 0);
        drr.on_sending(0, 400, true);
        drr.on_enqueue(0); // again, while that packet goes
        assert_eq!(drr.select(|_| head(400)), 1);
        drr.on_sending(1, 400, true);
        // 600 octets of the first visit are gone: 1000 do not cover 1001.
        drr.on_enqueue(1);
        let sizes = |queue| head(if queue == 0 { 1_001 } else { 1_000 });
        assert_eq!(drr.select(sizes), 1);
    }

    proptest! {
        #[test]
        fn queues_that_always_have_packets_differ_by_less_than_a_quantum_and_two_packets(
            sizes in prop::collection::vec(prop::collection::vec(40u32..1_501, 1..6), 2..6),
            quantum in 1_500u32..3_000,
            count in 1usize..300,
        ) {
            // Theorem 1 and 2 of the paper: for any two flows and any time, |sent_i - sent_j| <= Q + 2 Max.
            let mut sent = vec![0u64; sizes.len()];
            for (queue, octets) in services(quantum, &sizes, count) {
                sent[queue as usize] += u64::from(octets);
                let (least, most) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
                prop_assert!(most - least <= u64::from(quantum) + 2 * 1_500);
            }
        }
    }
}
