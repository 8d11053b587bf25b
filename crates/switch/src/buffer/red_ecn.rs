//! Random Early Detection for packets, which marks those that know ECN.

use super::red::{AverageQueue, EarlyDrop};
use super::{BufferPolicy, BufferView, Draws, Needs, PolicyRule, RedPart};
use crate::{Decision, DiscardReason};
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, is_default, types::Flag};
use skycell_des::Stream;

/// RED that marks packets whose transport knows ECN where it would draw for a discard.
///
/// See [`RedEcn`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "SA-ST",
    threshold = "static",
    discards = "probabilistic",
    source = "Floyd, Jacobson: Random Early Detection Gateways for Congestion Avoidance, 1993; Ramakrishnan, Floyd, \
              Black: RFC 3168",
    chosen = "thresholds",
    needs = "packets",
    label = "RED with ECN"
)]
pub struct RedEcnSpec {
    /// Parameters shared with RED.
    #[param(parts)]
    pub red: RedPart,
    /// If true, the probability grows on from max_threshold to twice that, instead of jumping to 1.
    #[param(
        default = true,
        source = "S. Floyd, Recommendation on using the gentle_ variant of RED, 2000"
    )]
    pub gentle: Flag,
    /// If true, packets that use ECN are marked where all others are discarded, above the
    /// thresholds.
    #[param(
        default = false,
        source = "RFC 3168, section 7: a router may drop them. Linux's RED marks them unless it has `harddrop`"
    )]
    #[serde(default, skip_serializing_if = "is_default")]
    pub mark_above: Flag,
}

impl PolicyRule for RedEcnSpec {
    type Policy = Box<RedEcn>;

    fn policy(&self, draws: &Draws) -> Box<RedEcn> {
        Box::new(RedEcn::new(self, draws.stream("red_ecn")))
    }
}

/// Marks, or discards, packets at random while the average queue is long. While it is very long every packet is
/// discarded, as RFC 3168 allows where marks do not hold the queue down, or, with `mark_above`, marked if it knows ECN.
#[derive(Debug)]
pub struct RedEcn {
    average: AverageQueue,
    drop: EarlyDrop,
    is_gentle: bool,
    marks_above: bool,
    stream: Stream,
}

impl RedEcn {
    fn new(spec: &RedEcnSpec, stream: Stream) -> Self {
        RedEcn {
            average: AverageQueue::new(&spec.red),
            drop: EarlyDrop::new(&spec.red),
            is_gentle: spec.gentle,
            marks_above: spec.mark_above,
            stream,
        }
    }
}

impl BufferPolicy for RedEcn {
    const NEEDS: Needs = Needs::ARRIVING_PACKETS;

    fn on_enqueue(&mut self, _vc: u32, view: &BufferView) -> Decision {
        let average = self.average.on_frame(view);
        let is_above = self.drop.is_above(average);
        let is_full = is_above && (!self.is_gentle || self.drop.is_far_above(average));
        if is_full || self.drop.is_below(average) {
            self.drop.forget(average);
            return match is_full {
                true if self.marks_above => view.signal(DiscardReason::AboveThreshold),
                _ => is_full.then_some(DiscardReason::AboveThreshold).into(),
            };
        }
        let is_drawn = match is_above {
            true => self.drop.draws_gently(average, &mut self.stream),
            false => self.drop.draws_against(average, 1.0, &mut self.stream),
        };
        match is_drawn {
            true => view.signal(DiscardReason::Drawn),
            false => Decision::Accept,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::red::tests::spec;
    use super::*;
    use skycell_units::Ecn;

    /// RED whose average is the queue that a packet finds; from 100 to 300, max_p 0.1.
    fn of_the_queue(gentle: bool) -> RedEcn {
        let red = RedPart {
            weight: 1.0,
            ..spec()
        };
        let spec = RedEcnSpec {
            red,
            gentle,
            mark_above: false,
        };
        RedEcn::new(&spec, Stream::new(1, "test"))
    }

    fn packet(queued: u32, ecn: Ecn) -> BufferView {
        BufferView {
            queued,
            ecn,
            capacity: 1_000,
            ..BufferView::default()
        }
    }

    /// How many of 10 000 packets are marked, and how many discarded.
    fn signals(queued: u32, ecn: Ecn, gentle: bool) -> (usize, usize) {
        let mut red = of_the_queue(gentle);
        let decisions: Vec<_> = (0..10_000)
            .map(|_| red.on_enqueue(0, &packet(queued, ecn)))
            .collect();
        let count = |wanted: fn(&&Decision) -> bool| decisions.iter().filter(wanted).count();
        (
            count(|d| **d == Decision::Mark),
            count(|d| matches!(d, Decision::Discard(_))),
        )
    }

    #[test]
    fn packets_that_know_ecn_are_marked_and_the_others_discarded_by_the_same_draws() {
        let (marked, none) = signals(200, Ecn::Ect0, true);
        assert_eq!((none, signals(200, Ecn::NotEct, true)), (0, (0, marked)));
        // p = 0.05: distances uniform over 1 to 19, as in RED.
        assert!((960..1_040).contains(&marked), "{marked}");
        assert_eq!(signals(200, Ecn::Ce, true).0, marked);
        assert_eq!(signals(99, Ecn::Ect1, true), (0, 0));
    }

    #[test]
    fn above_the_upper_threshold_it_is_gentle_if_asked_and_then_discards_all() {
        assert_eq!(signals(300, Ecn::Ect0, false), (0, 10_000));
        // Gentle, at 330: p = 0.1 + 0.9 x 30 / 300 = 0.19. Distances 1 to 4 have p / (1 - p) = 0.235 each, and 5 the
        // rest: 2.66 on the average.
        let (marked, discarded) = signals(330, Ecn::Ect0, true);
        assert_eq!(discarded, 0);
        assert!((3_600..3_930).contains(&marked), "{marked}");
        assert_eq!(signals(600, Ecn::Ect0, true), (0, 10_000));
    }

    #[test]
    fn above_the_upper_threshold_packets_that_know_ecn_are_marked_if_asked() {
        // Without `gentle` every packet from 300 on: the step of DCTCP (RFC 8257, section 3.1).
        let mut red = of_the_queue(false);
        red.marks_above = true;
        let above = Decision::Discard(DiscardReason::AboveThreshold);
        for (queued, ecn, decision) in [
            (99, Ecn::Ect0, Decision::Accept),
            (300, Ecn::Ect0, Decision::Mark),
            (999, Ecn::Ect1, Decision::Mark),
            (300, Ecn::NotEct, above),
        ] {
            assert_eq!(red.on_enqueue(0, &packet(queued, ecn)), decision);
        }
    }
}
