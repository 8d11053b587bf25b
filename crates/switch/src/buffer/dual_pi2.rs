//! DualPI2: two queues with coupled signals, for scalable senders beside classic ones.

use super::{BufferPolicy, BufferView, Draws, Needs, PolicyRule};
use crate::scheduler::{QueueOrder, TimeShifted};
use crate::{Decision, DiscardReason};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{Coupling, Interval},
};
use skycell_units::Ecn;

/// Two queues with coupled signals: a short one for scalable senders beside the classic one.
///
/// See [`DualPi2`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "SA-ST",
    threshold = "dynamic",
    discards = "deterministic",
    source = "De Schepper, Briscoe, White: RFC 9332",
    chosen = "wait of the packet sent last of either queue; shift of the scheduler",
    needs = "packets",
    label = "DualPI2"
)]
pub struct DualPi2Spec {
    /// Wait of classic packets that the controller aims at.
    #[param(
        key = "target",
        default = "15 ms",
        symbol = "target",
        source = "RFC 9332, appendix A.1"
    )]
    pub target_ps: Interval,
    /// Longest round trip that the controller is to be stable with.
    #[param(
        key = "rtt_max",
        default = "100 ms",
        symbol = "RTT_max",
        source = "RFC 9332, appendix A.1"
    )]
    pub rtt_max_ps: Interval,
    /// Ratio of the probability of marks of scalable senders to the root of that of classic ones.
    #[param(default = 2, symbol = "k", source = "RFC 9332, appendix A.1")]
    pub coupling: Coupling,
    /// Wait above which packets of scalable senders are marked for the sake of their own queue.
    #[param(
        key = "ramp_from",
        default = "800 us",
        symbol = "minTh",
        below = "ramp_to_ps",
        source = "RFC 9332, appendix A.1"
    )]
    pub ramp_from_ps: Interval,
    /// Wait from which all of them are.
    #[param(
        key = "ramp_to",
        default = "1200 us",
        symbol = "maxTh",
        source = "RFC 9332, appendix A.1: minTh and a range of 400 us"
    )]
    pub ramp_to_ps: Interval,
    /// By how much longer a classic packet has to have waited to go before one of a scalable sender.
    #[param(
        key = "shift",
        default = "30 ms",
        symbol = "tshift",
        source = "choice: twice the target"
    )]
    pub shift_ps: Interval,
}

/// The classic queue, and that of scalable senders.
const CLASSIC: u32 = 0;
const SCALABLE: u32 = 1;

impl PolicyRule for DualPi2Spec {
    type Policy = Box<DualPi2>;

    fn policy(&self, _draws: &Draws) -> Box<DualPi2> {
        Box::new(DualPi2::new(self))
    }

    fn order(&self) -> Option<QueueOrder> {
        Some(QueueOrder::TimeShifted(TimeShifted::new(self.shift_ps)))
    }
}

/// Least number of packets behind one, in its queue, for its own wait to count, less one (Th_len).
const ALONE: u32 = 1;

/// DualPI2 at work.
///
/// A controller moves p' by alpha (wait - target) + beta (wait - wait before) at every update, where wait is that of the
/// queue whose packets wait longer. A classic packet is hit with p_C = p'^2: marked if it knows ECN, else discarded. A packet
/// of a scalable sender, which has ECT(1) or CE, is marked with the larger of p_CL = k p' and of a ramp over its own wait.
/// Under overload, p_CL of 1 and more, both kinds are discarded with p_C, marks or not.
///
/// Source: RFC 9332, appendix A.1, and A.2 for the overload. Updates are made up for as in [`Pie`](super::pie::Pie).
#[derive(Clone, Debug)]
pub struct DualPi2 {
    spec: DualPi2Spec,
    /// Tupdate, picoseconds.
    update_ps: u64,
    /// Per second.
    alpha: f64,
    beta: f64,
    /// p'.
    base: f64,
    /// Of the packet sent last, 0 once it left nothing behind; picoseconds, by queue.
    waits_ps: [u64; 2],
    old_wait_ps: u64,
    due_ps: u64,
    /// Sums of probabilities since the last hit, by queue.
    counts: [f64; 2],
}

impl DualPi2 {
    fn new(spec: &DualPi2Spec) -> Self {
        let update_ps = spec.target_ps.min(spec.rtt_max_ps / 3).max(1);
        let rtt_max = seconds(spec.rtt_max_ps);
        DualPi2 {
            spec: *spec,
            update_ps,
            alpha: 0.1 * seconds(update_ps) / (rtt_max * rtt_max),
            beta: 0.3 / rtt_max,
            base: 0.0,
            waits_ps: [0; 2],
            old_wait_ps: 0,
            due_ps: update_ps,
            counts: [0.0; 2],
        }
    }

    /// Makes the updates that are due by `now`.
    fn catch_up(&mut self, now_ps: u64) {
        while self.due_ps <= now_ps {
            let before = (self.base, self.old_wait_ps);
            self.update();
            self.due_ps += self.update_ps;
            if before == (self.base, self.old_wait_ps) {
                // So would be all others.
                let others = (now_ps + self.update_ps - self.due_ps) / self.update_ps;
                self.due_ps += others * self.update_ps;
            }
        }
    }

    /// Appendix A.2, `dualpi2_update`.
    fn update(&mut self) {
        let wait_ps = self.waits_ps[0].max(self.waits_ps[1]);
        let (wait, old) = (seconds(wait_ps), seconds(self.old_wait_ps));
        self.base += self.alpha * (wait - seconds(self.spec.target_ps)) + self.beta * (wait - old);
        self.base = self.base.clamp(0.0, 1.0);
        self.old_wait_ps = wait_ps;
    }

    /// Appendix A.1, `laqm`: the probability that a wait of a scalable sender's packet asks for of itself, before
    /// `behind` packets.
    fn ramp(&self, wait_ps: u64, behind: u32) -> f64 {
        if behind <= ALONE {
            return 0.0;
        }
        let range = (self.spec.ramp_to_ps - self.spec.ramp_from_ps) as f64;
        let above = wait_ps.saturating_sub(self.spec.ramp_from_ps) as f64;
        (above / range).min(1.0)
    }

    /// Appendix A.1, `recur`: whether the next packet of `queue` is hit, as evenly as the probability allows.
    fn recurs(&mut self, queue: u32, probability: f64) -> bool {
        let count = &mut self.counts[queue as usize];
        *count += probability;
        let is_hit = *count > 1.0;
        if is_hit {
            *count -= 1.0;
        }
        is_hit
    }

    /// Appendix A.2, `dualpi2_dequeue`, of a classic packet.
    fn on_classic(&mut self, view: &BufferView) -> Decision {
        let squared = self.base * self.base;
        let most = 1.0 / f64::from(self.spec.coupling * self.spec.coupling); // p_Cmax
        match self.recurs(CLASSIC, squared) {
            false => Decision::Accept,
            true if squared >= most => Decision::Discard(DiscardReason::Drawn),
            true => view.signal(DiscardReason::Drawn),
        }
    }

    /// The same, of a scalable sender's packet.
    fn on_scalable(&mut self, wait_ps: u64, view: &BufferView) -> Decision {
        let coupled = f64::from(self.spec.coupling) * self.base;
        let probability = if coupled < 1.0 {
            self.ramp(wait_ps, view.queue_packets).max(coupled)
        } else {
            if self.recurs(SCALABLE, self.base * self.base) {
                return Decision::Discard(DiscardReason::Drawn);
            }
            1.0 // p_CL, which is a probability
        };
        match self.recurs(SCALABLE, probability) {
            true => view.signal(DiscardReason::Drawn),
            false => Decision::Accept,
        }
    }
}

fn seconds(ps: u64) -> f64 {
    ps as f64 * 1e-12
}

impl BufferPolicy for DualPi2 {
    const NEEDS: Needs = Needs::PACKETS;

    fn on_enqueue(&mut self, _flow: u32, view: &BufferView) -> Decision {
        self.catch_up(view.now_ps);
        Decision::Accept
    }

    fn on_dequeue(&mut self, flow: u32, view: &BufferView) -> Decision {
        self.catch_up(view.now_ps);
        let wait_ps = view.now_ps - view.came_ps;
        let queue = self.queue_of(flow, view.ecn);
        self.waits_ps[queue as usize] = if view.queue_packets == 0 { 0 } else { wait_ps };
        match queue {
            CLASSIC => self.on_classic(view),
            _ => self.on_scalable(wait_ps, view),
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

    fn dual_pi2() -> DualPi2 {
        DualPi2::new(&DualPi2Spec {
            target_ps: 15 * MS,
            rtt_max_ps: 100 * MS,
            coupling: 2,
            ramp_from_ps: MS * 8 / 10,
            ramp_to_ps: MS * 12 / 10,
            shift_ps: 30 * MS,
        })
    }

    fn packet(now_ps: u64, wait_ps: u64, ecn: Ecn) -> BufferView {
        BufferView {
            now_ps,
            came_ps: now_ps - wait_ps,
            queue_packets: 6,
            ecn,
            ..BufferView::default()
        }
    }

    #[test]
    fn the_controller_is_that_of_the_rfc_with_its_defaults() {
        // Tupdate = min(15, 100 / 3) ms; alpha = 0.1 x 0.015 / 0.1^2 = 0.15, beta = 0.3 / 0.1 = 3 a second.
        let mut policy = dual_pi2();
        policy.on_dequeue(0, &packet(1_000, 0, Ecn::NotEct));
        policy.waits_ps = [40 * MS, 39 * MS];
        policy.catch_up(15 * MS);
        assert!((policy.base - (0.15 * 0.025 + 3.0 * 0.04)).abs() < 1e-12);
        policy.catch_up(30 * MS);
        assert!((policy.base - (2.0 * 0.15 * 0.025 + 3.0 * 0.04)).abs() < 1e-12);
        policy.waits_ps = [0, 1_000 * MS]; // of whichever queue it is
        policy.catch_up(45 * MS);
        assert_eq!(policy.base, 1.0);
    }

    /// Of 1000 packets, how many are hit.
    fn hits(policy: &mut DualPi2, wait: u64, ecn: Ecn) -> usize {
        let hit = |_: &u32| policy.on_dequeue(0, &packet(10 * MS, wait, ecn)) != Decision::Accept;
        (0..1_000).filter(hit).count()
    }

    #[test]
    fn scalable_senders_are_hit_by_twice_the_root_of_what_classic_ones_are() {
        let mut policy = dual_pi2();
        policy.base = 0.1;
        // 1 % and 20 %; the sum has to pass 1.
        assert!((9..=10).contains(&hits(&mut policy, MS / 2, Ecn::NotEct)));
        assert!((9..=10).contains(&hits(&mut policy, MS / 2, Ecn::Ect0)));
        assert!((199..=200).contains(&hits(&mut policy, MS / 2, Ecn::Ect1)));
        assert!((199..=200).contains(&hits(&mut policy, MS / 2, Ecn::Ce)));
        let hit = (0..200).map(|_| policy.on_dequeue(0, &packet(10 * MS, 0, Ecn::NotEct)));
        let drawn = Decision::Discard(DiscardReason::Drawn);
        assert!(hit.into_iter().any(|decision| decision == drawn));
    }

    #[test]
    fn their_own_queue_asks_for_marks_along_a_ramp() {
        let mut policy = dual_pi2();
        assert_eq!(hits(&mut policy, MS * 8 / 10, Ecn::Ect1), 0);
        assert!((249..=250).contains(&hits(&mut policy, MS * 9 / 10, Ecn::Ect1)));
        assert!((999..=1_000).contains(&hits(&mut policy, MS * 12 / 10, Ecn::Ect1)));
        assert_eq!(hits(&mut policy, MS, Ecn::NotEct), 0);
        // Th_len: where a packet takes longer than the threshold, one that waits behind another is no queue.
        let mut nearly_alone = packet(10 * MS, 9 * MS, Ecn::Ect1);
        nearly_alone.queue_packets = 1;
        assert_eq!(policy.on_dequeue(0, &nearly_alone), Decision::Accept);
        assert_eq!(policy.on_dequeue(0, &nearly_alone), Decision::Accept);
    }

    #[test]
    fn under_overload_both_kinds_are_discarded_alike_and_what_is_left_of_the_scalable_is_marked() {
        // p' = 0.6: p_CL = 1.2, p_C = 0.36. The sum of the scalable queue grows by 0.36 a packet: 0.36, 0.72, 1.08, of
        // which 0.08 stays, 0.44, 0.8, 1.16 ... and each packet that is left takes 1 more to be marked.
        let mut policy = dual_pi2();
        policy.base = 0.6;
        let mut decisions = |ecn| -> Vec<Decision> {
            let packets = (0..6).map(|_| policy.on_dequeue(0, &packet(10 * MS, MS / 2, ecn)));
            packets.collect()
        };
        let drawn = Decision::Discard(DiscardReason::Drawn);
        let (mark, none) = (Decision::Mark, Decision::Accept);
        assert_eq!(decisions(Ecn::Ect1), [mark, mark, drawn, mark, mark, drawn]);
        // ECN is of no help to a classic packet from p_C = 1/4 on.
        assert_eq!(decisions(Ecn::Ect0), [none, none, drawn, none, none, drawn]);
        policy.base = 0.49;
        assert_eq!(hits(&mut policy, MS / 2, Ecn::Ect0), 240);
        let mut classic = (0..9).map(|_| policy.on_dequeue(0, &packet(10 * MS, 0, Ecn::Ect0)));
        assert!(classic.any(|decision| decision == mark));
    }
}
