//! Weighted round robin of two queues by one credit.

use super::queue_order::Head;

/// A whole in parts of which the weights are given.
const WHOLE: i64 = 1_000_000;

/// Serves queue 1 while a credit is not above 0, else queue 0. While both queues have packets, a packet of queue 1 adds
/// its octets times the weight of queue 0 to the credit, and a packet of queue 0 takes off its octets times the weight of
/// queue 1. So each gets the part of its weight; a queue that is alone is served and moves nothing.
///
/// Source: Linux 6.17, net/sched/sch_dualpi2.c, `dequeue_packet` and `dualpi2_calculate_c_protection`.
#[derive(Clone, Copy, Debug)]
pub struct CreditRoundRobin {
    /// Of queue 0 and queue 1, in parts of [`WHOLE`].
    weights: [i64; 2],
    /// At the start, and whenever both queues are empty.
    first_credit: i64,
    credit: i64,
    /// True if both queues had packets when one of them was selected.
    is_shared: bool,
}

impl CreditRoundRobin {
    /// With `part` of the link for queue 0, the rest for queue 1, and so many octets for the longest packet: the queue
    /// with the greater weight begins, with the difference of the weights for one such packet.
    pub fn new(part: f64, mtu: u32) -> Self {
        let own = (part * WHOLE as f64).round() as i64;
        let weights = [own, WHOLE - own];
        let first_credit = i64::from(mtu) * (weights[0] - weights[1]);
        CreditRoundRobin {
            weights,
            first_credit,
            credit: first_credit,
            is_shared: false,
        }
    }

    pub(super) fn select(&mut self, head: impl Fn(u32) -> Option<Head>) -> u32 {
        let has = [0, 1].map(|queue| head(queue).is_some());
        self.is_shared = has[0] && has[1];
        u32::from(has[1] && (!has[0] || self.credit <= 0))
    }

    pub(super) fn on_sending(&mut self, queue: u32, octets: u32) {
        if self.is_shared {
            let change = i64::from(octets) * self.weights[1 - queue as usize];
            self.credit += if queue == 1 { change } else { -change };
        }
    }

    pub(super) fn on_empty(&mut self) {
        self.credit = self.first_credit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(octets: u32) -> Option<Head> {
        Some(Head { octets, came_ps: 0 })
    }

    #[test]
    fn a_tenth_of_the_octets_goes_to_queue_0_while_both_have_packets() {
        // From -0.8 MTU, 0.1 a packet of queue 1: 9 of them reach 0.1, then one of queue 0 takes 0.9.
        let mut order = CreditRoundRobin::new(0.1, 1_500);
        let mut served = Vec::new();
        for _ in 0..30 {
            let queue = order.select(|_| head(1_500));
            order.on_sending(queue, 1_500);
            served.push(queue);
        }
        let of_queue_0: Vec<_> = (0..30).filter(|&k| served[k] == 0).collect();
        assert_eq!(of_queue_0, [9, 19, 29]);
    }

    #[test]
    fn a_queue_alone_is_served_without_credit_and_an_empty_buffer_starts_anew() {
        let mut order = CreditRoundRobin::new(0.1, 1_500);
        let only = |queue: u32| move |q: u32| if q == queue { head(1_500) } else { None };
        for _ in 0..100 {
            assert_eq!(order.select(only(0)), 0);
            order.on_sending(0, 1_500);
            assert_eq!(order.select(only(1)), 1);
            order.on_sending(1, 1_500);
        }
        assert_eq!(order.credit, order.first_credit);
        order.select(|_| head(1_500));
        order.on_sending(1, 1_500);
        assert_ne!(order.credit, order.first_credit);
        order.on_empty();
        assert_eq!(order.credit, order.first_credit);
    }
}
