//! FlowQueue-CoDel.

use super::codel::{Control, marked_above};
use super::{BufferPolicy, BufferView, CodelSpec, Draws, Needs, PolicyRule};
use crate::Decision;
use crate::scheduler::{FlowQueueing, QueueOrder};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare, is_default,
    types::{Interval, PacketOctets, QueueCount, TimeOrNone},
};
use skycell_units::Ecn;

/// A queue under CoDel for each flow, served in turn, flows that have just begun first.
///
/// Source: RFC 8290. See [`FlowQueueing`] for the turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "MA-ST",
    threshold = "dynamic",
    discards = "deterministic",
    source = "Hoeiland-Joergensen, McKenney, Taht, Gettys, Dumazet: RFC 8290",
    chosen = "one packet at a time from the fattest queue",
    needs = "packets",
    label = "FQ-CoDel"
)]
pub struct FqCodelSpec {
    /// Wait in a queue that may stand for longer than an interval.
    #[param(
        key = "target",
        default = "5 ms",
        symbol = "TARGET",
        below = "interval_ps",
        source = "RFC 8290, section 5.2.2"
    )]
    pub target_ps: Interval,
    /// For how long the wait may stand above target; of the order of the longest round trip.
    #[param(
        key = "interval",
        default = "100 ms",
        symbol = "INTERVAL",
        source = "RFC 8290, section 5.2.1; over GEO satellites more is better"
    )]
    pub interval_ps: Interval,
    /// Octets that a queue may send in a round.
    #[param(
        key = "quantum",
        default = "1514 B",
        source = "RFC 8290, section 5.2.4: the MTU of Ethernet with its header"
    )]
    pub quantum_octets: PacketOctets,
    /// Queues over which a hash spreads the flows; 0 for one of its own for each flow.
    #[param(default = 1024, source = "RFC 8290, section 5.2.5")]
    pub queues: QueueCount,
    /// Wait above which every packet that knows ECN is marked, whatever the control loop does; 0 s for none.
    #[param(
        key = "ce_threshold",
        default = "0 s",
        symbol = "ce_threshold",
        source = "Linux 6.18, sch_fq_codel.c: off unless set"
    )]
    #[serde(default, skip_serializing_if = "is_default")]
    pub ce_threshold_ps: TimeOrNone,
    /// The same for packets with ECT(1) alone, which scalable senders (L4S) send; 0 s for none.
    #[param(
        key = "ce_threshold_ect1",
        default = "0 s",
        source = "Linux 6.18, sch_fq_codel.c: ce_threshold with ce_threshold_selector 0x01/0x03"
    )]
    #[serde(default, skip_serializing_if = "is_default")]
    pub ce_threshold_ect1_ps: TimeOrNone,
}

impl PolicyRule for FqCodelSpec {
    type Policy = Box<FqCodel>;

    fn policy(&self, draws: &Draws) -> Box<FqCodel> {
        let mut stream = draws.stream("fq_codel");
        Box::new(FqCodel {
            spec: CodelSpec {
                target_ps: self.target_ps,
                interval_ps: self.interval_ps,
                ce_threshold_ps: self.ce_threshold_ps,
            },
            ce_threshold_ect1_ps: self.ce_threshold_ect1_ps,
            queues: self.queues,
            salt: stream.uniform(0, 1 << 62),
            max_packet: 0,
            controls: Vec::new(),
        })
    }

    fn pushes_out(&self) -> bool {
        true
    }

    fn order(&self) -> Option<QueueOrder> {
        Some(QueueOrder::Flows(FlowQueueing::new(self.quantum_octets)))
    }
}

/// FQ-CoDel at work.
#[derive(Debug)]
pub struct FqCodel {
    spec: CodelSpec,
    /// 0 for none.
    ce_threshold_ect1_ps: u64,
    /// Queues that flows are spread over, if they are.
    queues: u32,
    /// Salt of the hash of flows (RFC 8290, section 4.1.1: a random number of the start).
    salt: u64,
    /// Largest packet so far, octets.
    max_packet: u32,
    /// By queue.
    controls: Vec<Control>,
}

impl BufferPolicy for FqCodel {
    const NEEDS: Needs = Needs::PACKETS;

    fn on_enqueue(&mut self, _flow: u32, view: &BufferView) -> Decision {
        self.max_packet = self.max_packet.max(view.packet_octets);
        Decision::Accept
    }

    fn on_dequeue(&mut self, flow: u32, view: &BufferView) -> Decision {
        let queue = self.queue_of(flow, view.ecn) as usize;
        if self.controls.len() <= queue {
            self.controls.resize(queue + 1, Control::default());
        }
        let is_small = view.queue_octets <= u64::from(self.max_packet);
        let decision = self.controls[queue].on_dequeue(&self.spec, view, is_small);
        let decision = marked_above(decision, self.spec.ce_threshold_ps, view);
        match view.ecn {
            Ecn::Ect1 => marked_above(decision, self.ce_threshold_ect1_ps, view),
            _ => decision,
        }
    }

    fn queue_of(&self, flow: u32, _ecn: Ecn) -> u32 {
        match self.queues {
            0 => flow,
            queues => (mixed(u64::from(flow) ^ self.salt) % u64::from(queues)) as u32,
        }
    }
}

/// The finalizer of SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", 2014): each
/// bit of the argument changes half of the bits.
fn mixed(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiscardReason;

    fn policy(queues: u32, seed: u64) -> Box<FqCodel> {
        let spec = FqCodelSpec {
            target_ps: 5,
            interval_ps: 100,
            quantum_octets: 1_514,
            queues,
            ce_threshold_ps: 0,
            ce_threshold_ect1_ps: 0,
        };
        spec.policy(&Draws { seed, port: "p" })
    }

    #[test]
    fn flows_have_queues_of_their_own_or_are_spread_over_some_by_a_hash_of_the_run() {
        let exact = policy(0, 1);
        assert_eq!(
            [0, 7, 900].map(|f| exact.queue_of(f, Ecn::NotEct)),
            [0, 7, 900]
        );
        let hashed = |seed| -> Vec<u32> {
            let policy = policy(8, seed);
            (0..8_000)
                .map(|f| policy.queue_of(f, Ecn::NotEct))
                .collect()
        };
        let queues = hashed(1);
        for queue in 0..8 {
            let flows = queues.iter().filter(|&&q| q == queue).count();
            assert!((880..1_120).contains(&flows), "{flows}"); // standard deviation 30
        }
        assert_ne!(queues, hashed(2));
        assert_eq!(queues, hashed(1));
    }

    #[test]
    fn each_queue_has_its_own_control() {
        let mut fq = policy(0, 1);
        let packet = |now_ps, wait| BufferView {
            now_ps,
            came_ps: now_ps - wait,
            octets: 90_000,
            queue_octets: 9_000,
            packet_octets: 1_500,
            ..BufferView::default()
        };
        fq.on_enqueue(0, &packet(10, 0));
        for now in [100, 199] {
            assert_eq!(fq.on_dequeue(0, &packet(now, 50)), Decision::Accept);
            assert_eq!(fq.on_dequeue(1, &packet(now, 1)), Decision::Accept);
        }
        assert_eq!(fq.on_dequeue(1, &packet(200, 50)), Decision::Accept);
        let delayed = Decision::Discard(DiscardReason::Delayed);
        assert_eq!(fq.on_dequeue(0, &packet(200, 50)), delayed);
    }

    #[test]
    fn one_threshold_marks_all_that_know_ecn_and_the_other_those_with_ect1() {
        let after = |ce, ce_ect1, ecn| {
            let mut fq = policy(0, 1);
            fq.spec.ce_threshold_ps = ce;
            fq.ce_threshold_ect1_ps = ce_ect1;
            let packet = BufferView {
                now_ps: 100,
                came_ps: 97,
                ecn,
                ..BufferView::default()
            };
            fq.on_dequeue(0, &packet)
        };
        let (mark, none) = (Decision::Mark, Decision::Accept);
        let every = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1];
        assert_eq!(every.map(|ecn| after(2, 0, ecn)), [none, mark, mark]);
        assert_eq!(every.map(|ecn| after(0, 2, ecn)), [none, none, mark]);
        assert_eq!(every.map(|ecn| after(3, 3, ecn)), [none; 3]);
    }
}
