//! DualPI2 as Linux has it.

use super::{BufferPolicy, BufferView, Draws, Needs, PolicyRule};
use crate::scheduler::{CreditRoundRobin, QueueOrder};
use crate::{Decision, DiscardReason};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{Coupling, Flag, FromZeroToOne, Interval, PerSecond},
};
use skycell_des::Stream;
use skycell_units::Ecn;
use std::collections::VecDeque;

/// DualPI2 by Linux's rules: random marks, a step, weighted round robin of both queues.
///
/// See [`LinuxDualPi2`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "SA-ST",
    threshold = "dynamic",
    discards = "probabilistic",
    source = "Linux 6.17, net/sched/sch_dualpi2.c; De Schepper, Briscoe, White: RFC 9332",
    chosen = "real numbers for the kernel's fixed point; first update one period after the start",
    needs = "packets",
    label = "DualPI2 (Linux)"
)]
pub struct LinuxDualPi2Spec {
    /// Wait that the controller aims at.
    #[param(
        key = "target",
        default = "15 ms",
        symbol = "target",
        source = "Linux 6.17, dualpi2_reset_default"
    )]
    pub target_ps: Interval,
    /// Time between two updates of the probability.
    #[param(
        key = "update",
        default = "16 ms",
        symbol = "tupdate",
        source = "Linux 6.17, dualpi2_reset_default"
    )]
    pub update_ps: Interval,
    /// Gain of the difference between wait and target, per second.
    #[param(
        default = 0.160_156_25,
        symbol = "alpha",
        source = "Linux 6.17, dualpi2_reset_default: 41 / 256; 10 dB of margin at a round trip of 100 ms"
    )]
    pub alpha: PerSecond,
    /// Gain of the growth of the wait since the last update, per second.
    #[param(
        default = 3.199_218_75,
        symbol = "beta",
        source = "Linux 6.17, dualpi2_reset_default: 819 / 256"
    )]
    pub beta: PerSecond,
    /// Ratio of the probability of marks of scalable senders to the root of that of classic ones.
    #[param(
        default = 2,
        symbol = "coupling_factor",
        source = "Linux 6.17, dualpi2_reset_default"
    )]
    pub coupling: Coupling,
    /// Wait above which every packet of a scalable sender is marked.
    #[param(
        key = "step",
        default = "1 ms",
        symbol = "step_thresh",
        source = "Linux 6.17, dualpi2_reset_default"
    )]
    pub step_ps: Interval,
    /// Part of the link that the classic queue gets while both queues have packets.
    #[param(
        default = 0.1,
        symbol = "c_protection",
        source = "Linux 6.17, dualpi2_reset_default: 10 %"
    )]
    pub classic_part: FromZeroToOne,
    /// If true, packets are discarded under overload, marks or not, instead of being marked until
    /// the buffer is full.
    #[param(
        default = true,
        symbol = "drop_overload",
        source = "Linux 6.17, dualpi2_reset_default"
    )]
    pub drop_overload: Flag,
}

/// The classic queue, and that of scalable senders.
const CLASSIC: u32 = 0;
const SCALABLE: u32 = 1;

/// Octets of the longest packet of an Ethernet device, which stand for the MTU until a longer packet comes.
const MTU: u32 = 1_500;

impl PolicyRule for LinuxDualPi2Spec {
    type Policy = Box<LinuxDualPi2>;

    fn policy(&self, draws: &Draws) -> Box<LinuxDualPi2> {
        Box::new(LinuxDualPi2::new(self, draws.stream("linux_dual_pi2")))
    }

    fn order(&self) -> Option<QueueOrder> {
        Some(QueueOrder::Credit(CreditRoundRobin::new(
            self.classic_part,
            MTU,
        )))
    }
}

/// DualPI2 of Linux at work.
///
/// Every `update` the probability p moves by alpha (wait - target) + beta (wait - wait before), where wait is that of the
/// packet at the head of the queue whose head has waited longer. As a packet is sent, and while the buffer holds at least
/// two full packets beside it, a classic packet is hit with p twice over: marked if it knows ECN, else discarded. A packet
/// of a scalable sender, which has ECT(1) or CE, is marked with coupling x p, and also if it has waited for more than the
/// step. Under overload, coupling x p above 1, a hit classic packet is discarded whatever it knows, and a scalable one is
/// discarded with p twice over, else marked.
///
/// Source: Linux 6.17, net/sched/sch_dualpi2.c: `calculate_probability`, `must_drop`, `dualpi2_classic_marking`,
/// `dualpi2_scalable_marking`, `do_step_aqm`.
#[derive(Debug)]
pub struct LinuxDualPi2 {
    spec: LinuxDualPi2Spec,
    /// pi2_prob, from 0 to 1.
    probability: f64,
    /// last_qdelay, picoseconds.
    last_wait_ps: u64,
    due_ps: u64,
    /// When each packet that waits came, picoseconds, by queue.
    came_ps: [VecDeque<u64>; 2],
    /// Queue and arrival of the packet that was decided on last, until the buffer takes it.
    arriving: Option<(u32, u64)>,
    /// Octets of the largest packet so far.
    max_packet: u32,
    stream: Stream,
}

impl LinuxDualPi2 {
    fn new(spec: &LinuxDualPi2Spec, stream: Stream) -> Self {
        LinuxDualPi2 {
            spec: *spec,
            probability: 0.0,
            last_wait_ps: 0,
            due_ps: spec.update_ps,
            came_ps: [VecDeque::new(), VecDeque::new()],
            arriving: None,
            max_packet: MTU,
            stream,
        }
    }

    /// Makes the updates that are due by `now`; the heads have not changed since the last one.
    fn catch_up(&mut self, now_ps: u64) {
        while self.due_ps <= now_ps {
            let is_settled = self.is_empty() && self.probability == 0.0 && self.last_wait_ps == 0;
            if is_settled {
                // So are all others.
                let others = (now_ps - self.due_ps) / self.spec.update_ps;
                self.due_ps += others * self.spec.update_ps;
            } else {
                self.update();
            }
            self.due_ps += self.spec.update_ps;
        }
    }

    fn is_empty(&self) -> bool {
        self.came_ps.iter().all(VecDeque::is_empty)
    }

    /// `calculate_probability`.
    fn update(&mut self) {
        let heads = self.came_ps.iter().filter_map(VecDeque::front);
        let wait_ps = heads.map(|came| self.due_ps - came).max().unwrap_or(0);
        let (wait, last) = (seconds(wait_ps), seconds(self.last_wait_ps));
        let growth = self.spec.alpha * (wait - seconds(self.spec.target_ps))
            + self.spec.beta * (wait - last);
        let most = match self.spec.drop_overload {
            true => 1.0,
            false => 1.0 / f64::from(self.spec.coupling),
        };
        self.probability = (self.probability + growth).clamp(0.0, most);
        self.last_wait_ps = wait_ps;
    }

    /// `dualpi2_roll`.
    fn rolls(&mut self, probability: f64) -> bool {
        self.stream.unit() < probability
    }

    /// `must_drop`, with marks.
    fn on_probability(&mut self, queue: u32, view: &BufferView) -> Decision {
        if view.octets < 2 * u64::from(self.max_packet) {
            return Decision::Accept;
        }
        let p = self.probability;
        let coupled = f64::from(self.spec.coupling) * p;
        let is_overload = coupled > 1.0;
        if queue == CLASSIC {
            let is_hit = self.rolls(p) && self.rolls(p);
            return match is_hit {
                false => Decision::Accept,
                true if is_overload => Decision::Discard(DiscardReason::Drawn),
                true => view.signal(DiscardReason::Drawn),
            };
        }
        if is_overload {
            return match self.rolls(p) && self.rolls(p) {
                true => Decision::Discard(DiscardReason::Drawn),
                false => Decision::Mark,
            };
        }
        match self.rolls(coupled) {
            true => Decision::Mark,
            false => Decision::Accept,
        }
    }
}

fn seconds(ps: u64) -> f64 {
    ps as f64 * 1e-12
}

impl BufferPolicy for LinuxDualPi2 {
    const NEEDS: Needs = Needs::PACKETS;

    fn on_enqueue(&mut self, flow: u32, view: &BufferView) -> Decision {
        self.catch_up(view.now_ps);
        self.max_packet = self.max_packet.max(view.packet_octets);
        self.arriving = Some((self.queue_of(flow, view.ecn), view.now_ps));
        Decision::Accept
    }

    fn on_accepted(&mut self, _flow: u32, _amount: u32) {
        if let Some((queue, now_ps)) = self.arriving.take() {
            self.came_ps[queue as usize].push_back(now_ps);
        }
    }

    fn on_dequeue(&mut self, flow: u32, view: &BufferView) -> Decision {
        self.catch_up(view.now_ps);
        let queue = self.queue_of(flow, view.ecn);
        self.came_ps[queue as usize].pop_front();
        let decision = self.on_probability(queue, view);
        // `do_step_aqm`, of what goes on.
        let is_above = view.now_ps - view.came_ps > self.spec.step_ps;
        match decision {
            Decision::Accept if queue == SCALABLE && is_above => Decision::Mark,
            other => other,
        }
    }

    fn queue_of(&self, _flow: u32, ecn: Ecn) -> u32 {
        match ecn {
            Ecn::Ect1 | Ecn::Ce => SCALABLE,
            Ecn::Ect0 | Ecn::NotEct => CLASSIC,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;
    const DRAWN: Decision = Decision::Discard(DiscardReason::Drawn);

    fn with(change: impl FnOnce(&mut LinuxDualPi2Spec)) -> LinuxDualPi2 {
        let mut spec = LinuxDualPi2Spec {
            target_ps: 15 * MS,
            update_ps: 16 * MS,
            alpha: 0.16,
            beta: 3.2,
            coupling: 2,
            step_ps: MS,
            classic_part: 0.1,
            drop_overload: true,
        };
        change(&mut spec);
        LinuxDualPi2::new(&spec, Stream::new(1, "test"))
    }

    fn dual_pi2() -> LinuxDualPi2 {
        with(|_| {})
    }

    fn packet(now_ps: u64, wait_ps: u64, ecn: Ecn) -> BufferView {
        BufferView {
            now_ps,
            came_ps: now_ps - wait_ps,
            octets: 9_000,
            packet_octets: 1_500,
            ecn,
            ..BufferView::default()
        }
    }

    /// A packet comes at `now` and is taken in.
    fn comes(policy: &mut LinuxDualPi2, now_ps: u64, ecn: Ecn) {
        assert_eq!(
            policy.on_enqueue(0, &packet(now_ps, 0, ecn)),
            Decision::Accept
        );
        policy.on_accepted(0, 1);
    }

    #[test]
    fn the_wait_is_that_of_the_head_that_came_first_and_moves_the_probability_by_both_gains() {
        let mut policy = dual_pi2();
        comes(&mut policy, 0, Ecn::NotEct);
        comes(&mut policy, 4 * MS, Ecn::Ect1);
        comes(&mut policy, 6 * MS, Ecn::NotEct);
        // At 16 ms: 0.16 x (0.016 - 0.015) + 3.2 x 0.016.
        policy.catch_up(16 * MS);
        assert!((policy.probability - (0.16 * 0.001 + 3.2 * 0.016)).abs() < 1e-12);
        // The first leaves: at 32 ms the scalable head, of 4 ms, has waited longest, for 28 ms.
        policy.on_dequeue(0, &packet(17 * MS, 17 * MS, Ecn::NotEct));
        let before = policy.probability;
        policy.catch_up(32 * MS);
        let growth = 0.16 * (0.028 - 0.015) + 3.2 * (0.028 - 0.016);
        assert!((policy.probability - before - growth).abs() < 1e-12);
    }

    #[test]
    fn a_packet_that_the_full_buffer_refuses_is_no_head() {
        let mut policy = dual_pi2();
        policy.on_enqueue(0, &packet(0, 0, Ecn::NotEct)); // and no `on_accepted`
        comes(&mut policy, 10 * MS, Ecn::NotEct);
        policy.catch_up(16 * MS);
        assert_eq!(policy.last_wait_ps, 6 * MS);
    }

    #[test]
    fn an_idle_time_lets_the_probability_run_out_and_costs_no_work() {
        let mut policy = dual_pi2();
        policy.probability = 0.01;
        // 0.16 x 0.015 = 0.0024 an update: 0 after the fifth.
        policy.catch_up(4 * 16 * MS);
        assert!((policy.probability - 0.0004).abs() < 1e-12);
        policy.catch_up(86_400_000 * MS);
        assert_eq!(policy.probability, 0.0);
        assert_eq!(policy.due_ps, 86_400_000 * MS + 16 * MS);
    }

    /// Of 100 000 packets, the parts that are marked and discarded.
    fn parts(policy: &mut LinuxDualPi2, wait_ps: u64, ecn: Ecn) -> (f64, f64) {
        let packet = packet(10 * MS, wait_ps, ecn);
        let decisions: Vec<_> = (0..100_000)
            .map(|_| policy.on_dequeue(0, &packet))
            .collect();
        let part = |wanted: Decision| {
            decisions.iter().filter(|d| **d == wanted).count() as f64 / 100_000.0
        };
        (part(Decision::Mark), part(DRAWN))
    }

    #[test]
    fn scalable_packets_are_marked_with_twice_the_probability_and_classic_ones_hit_with_its_square()
    {
        let mut policy = dual_pi2();
        policy.probability = 0.1;
        // Three standard deviations of 100 000 draws: 0.0038 of 0.2, 0.001 of 0.01.
        let near = |(marked, discarded): (f64, f64), expected: (f64, f64), sigma: f64| {
            assert!((marked - expected.0).abs() < sigma, "{marked}");
            assert!((discarded - expected.1).abs() < sigma, "{discarded}");
        };
        near(parts(&mut policy, MS, Ecn::Ect1), (0.2, 0.0), 0.0038);
        near(parts(&mut policy, MS, Ecn::Ce), (0.2, 0.0), 0.0038);
        near(parts(&mut policy, 9 * MS, Ecn::Ect0), (0.01, 0.0), 0.001);
        near(parts(&mut policy, 9 * MS, Ecn::NotEct), (0.0, 0.01), 0.001);
        // Above the step all scalable packets are marked, and no classic one for it.
        assert_eq!(parts(&mut policy, MS + 1, Ecn::Ect1), (1.0, 0.0));
    }

    #[test]
    fn under_overload_the_square_is_discarded_and_scalable_packets_that_are_left_are_marked() {
        let mut policy = dual_pi2();
        policy.probability = 0.6;
        let (marked, discarded) = parts(&mut policy, 0, Ecn::Ect1);
        assert_eq!(marked + discarded, 1.0);
        assert!((discarded - 0.36).abs() < 0.0046);
        let (marked, discarded) = parts(&mut policy, 0, Ecn::Ect0);
        assert_eq!(marked, 0.0);
        assert!((discarded - 0.36).abs() < 0.0046);
    }

    #[test]
    fn without_drop_overload_the_probability_stays_where_all_scalable_packets_are_marked() {
        let mut policy = with(|spec| spec.drop_overload = false);
        comes(&mut policy, 0, Ecn::NotEct);
        policy.catch_up(1_600 * MS);
        assert_eq!(policy.probability, 0.5);
        assert_eq!(parts(&mut policy, 0, Ecn::Ect1), (1.0, 0.0));
    }

    #[test]
    fn below_two_full_packets_in_the_buffer_only_the_step_marks() {
        let mut policy = dual_pi2();
        policy.probability = 1.0;
        let mut after = |octets, wait_ps, ecn| {
            let view = packet(10 * MS, wait_ps, ecn);
            policy.on_dequeue(0, &BufferView { octets, ..view })
        };
        assert_eq!(after(2_999, 0, Ecn::NotEct), Decision::Accept);
        assert_eq!(after(3_000, 0, Ecn::NotEct), DRAWN);
        assert_eq!(after(0, MS, Ecn::Ect1), Decision::Accept);
        assert_eq!(after(0, MS + 1, Ecn::Ect1), Decision::Mark);
    }
}
