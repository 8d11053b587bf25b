//! Packet Marking Engine with Enhanced RED.

use super::red::{AverageQueue, EarlyDrop};
use super::{BufferPolicy, BufferView, Draws, PolicyRule, RedPart};
use crate::{Decision, DiscardReason};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{FromZeroToOne, Interval, McrByVc, PartOfOne},
};
use skycell_des::Stream;

/// Marks frames of VCs below their MCR, and spares marked frames in RED.
///
/// MCRs are given in `[[gfr]]`. See [`PmeEred`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "MA-MT",
    threshold = "static",
    discards = "probabilistic",
    sees_tags = true,
    fairness = "MCR guarantee",
    source = "Feng, Kandlur, Saha, Shin: CSE-TR-349-97, 1997; as described in Goyal, Jain, Fahmy, \
              Vandalore: Buffer Management for TCP over the ATM GFR Service, 1999",
    chosen = "interval, step in proportion to the shortfall, marked frames lost only to a full buffer",
    label = "PME + ERED"
)]
pub struct PmeEredSpec {
    /// RED for frames that are not marked.
    #[param(parts)]
    pub red: RedPart,
    /// Time over which the rate of a VC is measured.
    #[param(
        key = "interval",
        default = "10 ms",
        source = "choice: hundreds of frames, and no longer than a round trip"
    )]
    pub interval_ps: Interval,
    /// Change of the marking probability in an interval without any frame.
    #[param(
        default = 0.1,
        source = "choice: from never to always in ten intervals"
    )]
    pub step: PartOfOne,
    /// Fraction of RED's probability with which marked frames are discarded.
    #[param(
        default = 0.0,
        source = "choice: the guarantee first; marked frames are lost only to a full buffer"
    )]
    pub marked_part: FromZeroToOne,
    /// Target rates.
    #[param(unwritten)]
    pub mcr_millicells: McrByVc,
}

impl PolicyRule for PmeEredSpec {
    type Policy = Box<PmeEred>;

    fn policy(&self, draws: &Draws) -> Box<PmeEred> {
        Box::new(PmeEred::new(self, draws.stream("pme_ered")))
    }
}

/// Marks the frames of VCs below their target rate with a probability that follows the shortfall,
/// and spares marked frames in RED.
///
/// At the end of each interval a VC's marking probability grows by `step` (1 - rate / target) when
/// its rate, of the cells taken in, was below the target, and falls likewise above it. A frame that is
/// not marked is treated as by RED; a marked one is drawn for with a part of the probability, and
/// taken in above the upper threshold.
///
/// Source: W. Feng, D. Kandlur, D. Saha, K. Shin, "Techniques for Eliminating Packet Loss in Congested
/// TCP/IP Networks", University of Michigan CSE-TR-349-97, 1997, as told in "Buffer Management for TCP
/// over the ATM GFR Service", section 7. Chosen by us: the step in proportion to the shortfall, as the
/// authors have it in their later "Adaptive packet marking for maintaining end-to-end throughput"
/// (1999); that marks live in the policy, as one node both marks and discards.
#[derive(Debug)]
pub struct PmeEred {
    average: AverageQueue,
    drop: EarlyDrop,
    interval_ps: u64,
    step: f64,
    marked_part: f64,
    intervals: u64,
    vcs: Vec<Marking>,
    stream: Stream,
}

/// A VC as the marking engine sees it.
#[derive(Clone, Debug)]
struct Marking {
    /// Cells due in an interval; 0 for a VC without a target, which is never marked.
    target: f64,
    /// Cells taken in since the interval began.
    cells: u64,
    probability: f64,
}

impl Marking {
    /// `count` intervals have ended, all cells having come in the first.
    fn update(&mut self, count: u64, step: f64) {
        if self.target > 0.0 {
            let mut rate = self.cells as f64;
            // After 1 / step empty intervals the probability is at its end.
            for _ in 0..count.min((1.0 / step) as u64 + 2) {
                let change = step * (1.0 - rate / self.target);
                self.probability = (self.probability + change).clamp(0.0, 1.0);
                rate = 0.0;
            }
        }
        self.cells = 0;
    }
}

impl PmeEred {
    /// With its parameters and the stream of its draws.
    fn new(spec: &PmeEredSpec, stream: Stream) -> Self {
        // Thousandths of a cell a second, over an interval.
        let per_interval = spec.interval_ps as f64 / 1e15;
        let vcs = spec.mcr_millicells.iter().map(|&mcr| Marking {
            target: mcr as f64 * per_interval,
            cells: 0,
            probability: 0.0,
        });
        PmeEred {
            average: AverageQueue::new(&spec.red),
            drop: EarlyDrop::new(&spec.red),
            interval_ps: spec.interval_ps,
            step: spec.step,
            marked_part: spec.marked_part,
            intervals: 0,
            vcs: vcs.collect(),
            stream,
        }
    }
}

impl BufferPolicy for PmeEred {
    fn on_enqueue(&mut self, vc: u32, view: &BufferView) -> Decision {
        let ended = view.now_ps / self.interval_ps;
        if ended > self.intervals {
            let (count, step) = (ended - self.intervals, self.step);
            self.vcs.iter_mut().for_each(|vc| vc.update(count, step));
            self.intervals = ended;
        }
        let probability = self.vcs.get(vc as usize).map_or(0.0, |vc| vc.probability);
        let is_marked = probability > 0.0 && self.stream.unit() <= probability;
        let average = self.average.on_frame(view);
        if self.drop.is_below(average) {
            self.drop.forget(average);
            return Decision::Accept;
        }
        if self.drop.is_above(average) {
            self.drop.forget(average);
            return (!is_marked).then_some(DiscardReason::AboveThreshold).into();
        }
        let part = if is_marked { self.marked_part } else { 1.0 };
        self.drop
            .draws_against(average, part, &mut self.stream)
            .then_some(DiscardReason::Drawn)
            .into()
    }

    /// Out of line: other policies are told as well, for nothing.
    #[inline(never)]
    fn on_accepted(&mut self, vc: u32, cells: u32) {
        if let Some(vc) = self.vcs.get_mut(vc as usize) {
            vc.cells += u64::from(cells);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::red::tests::{count, spec as red};
    use super::*;

    const MS: u64 = 1_000_000_000;

    fn policy() -> PmeEred {
        let spec = PmeEredSpec {
            red: red(),
            interval_ps: MS,
            step: 0.5,
            marked_part: 0.0,
            // 100 cells a millisecond; the second VC has no target.
            mcr_millicells: vec![100_000_000, 0],
        };
        PmeEred::new(&spec, Stream::new(1, "test"))
    }

    #[test]
    fn the_probability_of_a_mark_follows_the_shortfall() {
        let mut pme = policy();
        let at = |now_ps| BufferView {
            now_ps,
            ..BufferView::default()
        };
        pme.on_accepted(0, 50);
        pme.on_enqueue(0, &at(MS));
        assert_eq!(pme.vcs[0].probability, 0.25); // 0.5 x (1 - 50 / 100)
        pme.on_accepted(0, 120);
        pme.on_enqueue(0, &at(2 * MS));
        assert!((pme.vcs[0].probability - 0.15).abs() < 1e-12);
        pme.on_enqueue(0, &at(9 * MS)); // seven empty intervals
        assert_eq!(pme.vcs[0].probability, 1.0);
        assert_eq!(pme.vcs[1].probability, 0.0);
    }

    #[test]
    fn above_the_thresholds_marked_frames_only_are_taken_in() {
        let mut pme = policy();
        let full = BufferView {
            queued: 1_000,
            now_ps: 9 * MS,
            ..BufferView::default()
        };
        // Average 500 and more. VC0 has had nothing for nine intervals, and all its frames are marked.
        assert_eq!(pme.on_enqueue(0, &full), Decision::Accept);
        assert_eq!(
            pme.on_enqueue(1, &full),
            Decision::Discard(DiscardReason::AboveThreshold)
        );
    }

    #[test]
    fn what_came_in_an_interval_counts_in_it_and_no_interval_after() {
        let mut pme = policy();
        let at = |now_ps| BufferView {
            now_ps,
            ..BufferView::default()
        };
        pme.on_accepted(0, 30);
        pme.on_enqueue(0, &at(MS / 2)); // a frame within it
        pme.on_accepted(0, 20);
        pme.on_enqueue(0, &at(2 * MS));
        assert_eq!(pme.vcs[0].probability, 0.25 + 0.5);
    }

    #[test]
    fn between_the_thresholds_marked_frames_are_spared_and_others_drawn_for_as_in_red() {
        let mut pme = policy();
        let at = |queued| BufferView {
            queued,
            now_ps: 9 * MS,
            ..BufferView::default()
        };
        pme.on_enqueue(0, &at(400)); // average 200 from here on; all frames of VC0 are marked
        for _ in 0..1_000 {
            assert_eq!(pme.on_enqueue(0, &at(200)), Decision::Accept);
        }
        // A VC that the spec does not name has no target either. Distances of 10 as in RED.
        let drawn = Decision::Discard(DiscardReason::Drawn);
        for vc in [1, 2] {
            let discarded = (0..10_000).filter(|_| pme.on_enqueue(vc, &at(200)) == drawn);
            assert!((880..1_120).contains(&discarded.count()));
        }
    }

    #[test]
    fn frames_count_as_in_red_where_the_average_leaves_the_thresholds() {
        let mut pme = policy();
        let at = |queued| BufferView {
            queued,
            ..BufferView::default()
        };
        *count(&mut pme.drop) = Some(7);
        pme.on_enqueue(1, &at(0));
        assert_eq!(*count(&mut pme.drop), None);
        pme.on_enqueue(1, &at(1_000));
        assert_eq!(*count(&mut pme.drop), Some(0));
    }

    #[test]
    fn a_frame_is_marked_with_the_probability_of_its_vc() {
        let mut pme = policy();
        let full = BufferView {
            queued: 1_000,
            now_ps: MS,
            ..BufferView::default()
        };
        pme.on_accepted(0, 50); // 0.5 x (1 - 50 / 100) = 0.25
        let accepted = (0..10_000).filter(|_| pme.on_enqueue(0, &full) == Decision::Accept);
        assert!((2_240..2_760).contains(&accepted.count())); // standard error 43, six of them
    }
}
