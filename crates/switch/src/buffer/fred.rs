//! Flow Random Early Drop.

use super::red::{AverageQueue, EarlyDrop};
use super::{BufferPolicy, BufferView, Draws, Needs, PolicyRule, RedPart};
use crate::{Decision, DiscardReason};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{CellsOfFrames, FrameCells},
};
use skycell_des::Stream;

/// Flow Random Early Drop: RED that spares VCs with little in the queue.
///
/// See [`Fred`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "MA-ST",
    threshold = "dynamic",
    discards = "probabilistic",
    fairness = "equal allocation",
    source = "Lin, Morris: Dynamics of Random Early Detection, 1997",
    chosen = "thresholds; average updated only at frames that begin",
    label = "FRED"
)]
pub struct FredSpec {
    /// Parameters shared with RED.
    #[param(parts)]
    pub red: RedPart,
    /// Full frames that a VC may have in the buffer before its frames are discarded at random.
    #[param(
        key = "protected_frames",
        default = 4,
        symbol = "minq",
        source = "D. Lin, R. Morris, Dynamics of Random Early Detection, 1997: 4, small buffers 2"
    )]
    pub min_queue_cells: CellsOfFrames,
    /// A typical frame.
    #[param(unwritten)]
    pub frame_cells: FrameCells,
}

impl PolicyRule for FredSpec {
    type Policy = Box<Fred>;

    fn policy(&self, draws: &Draws) -> Box<Fred> {
        Box::new(Fred::new(self, draws.stream("fred")))
    }

    fn discards_when_empty(&self) -> bool {
        self.red.min_cells == 0
    }
}

/// RED that protects VCs with little in the queue, and holds down those that have too much.
///
/// avgcq is the average queue per active VC. With X_i what the VC has in the buffer, a frame is
/// discarded if X_i >= maxq; or X_i > 2 avgcq while the average is above the upper threshold; or
/// X_i >= avgcq after more than one strike, a discard by these rules. Otherwise it is drawn for as in
/// RED, but only with X_i >= max(minq, avgcq); the frames that are spared count towards the next
/// discard as those that are drawn for do. maxq is the lower threshold, and two frames while the
/// average is above the upper one. A VC without cells has no strikes.
///
/// Source: D. Lin, R. Morris, "Dynamics of Random Early Detection", SIGCOMM'97, section 4.
/// Differs: the average is taken at frames that begin and not also at departures, lengths are in
/// cells, and a VC's strikes are forgotten when it begins a frame without cells in the buffer.
#[derive(Debug)]
pub struct Fred {
    average: AverageQueue,
    drop: EarlyDrop,
    /// Lower threshold, cells.
    min: f64,
    /// minq, cells.
    min_queue: f64,
    /// maxq above the upper threshold, cells.
    two_frames: f64,
    /// By VC id.
    strikes: Vec<u32>,
    stream: Stream,
}

impl Fred {
    /// With its parameters and the stream of its draws.
    fn new(spec: &FredSpec, stream: Stream) -> Self {
        Fred {
            average: AverageQueue::new(&spec.red),
            drop: EarlyDrop::new(&spec.red),
            min: f64::from(spec.red.min_cells),
            min_queue: f64::from(spec.min_queue_cells),
            two_frames: 2.0 * f64::from(spec.frame_cells),
            strikes: Vec::new(),
            stream,
        }
    }
}

impl BufferPolicy for Fred {
    const NEEDS: Needs = Needs::VCS;

    fn on_enqueue(&mut self, vc: u32, view: &BufferView) -> Decision {
        let vc = vc as usize;
        if self.strikes.len() <= vc {
            self.strikes.resize(vc + 1, 0);
        }
        if view.vc_queued == 0 {
            self.strikes[vc] = 0;
        }
        let average = self.average.on_frame(view);
        let per_vc = (average / f64::from(view.active_vcs.max(1))).max(1.0);
        let is_above = self.drop.is_above(average);
        let max_queue = if is_above { self.two_frames } else { self.min };
        let held = f64::from(view.vc_queued);
        if held >= max_queue
            || (is_above && held > 2.0 * per_vc)
            || (held >= per_vc && self.strikes[vc] > 1)
        {
            self.strikes[vc] += 1;
            return Decision::Discard(DiscardReason::OverFairShare);
        }
        if is_above || self.drop.is_below(average) {
            self.drop.forget(average);
            return is_above.then_some(DiscardReason::AboveThreshold).into();
        }
        if held < self.min_queue.max(per_vc) {
            self.drop.counted();
            return Decision::Accept;
        }
        self.drop
            .draws_against(average, 1.0, &mut self.stream)
            .then_some(DiscardReason::Drawn)
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::red::tests::{count, spec};
    use super::*;

    fn fred() -> Fred {
        let spec = FredSpec {
            red: spec(),
            min_queue_cells: 44,
            frame_cells: 22,
        };
        Fred::new(&spec, Stream::new(1, "test"))
    }

    fn view(queued: u32, vc_queued: u32, active_vcs: u32) -> BufferView {
        BufferView {
            queued,
            vc_queued,
            active_vcs,
            capacity: 1_000,
            ..BufferView::default()
        }
    }

    #[test]
    fn a_vc_with_little_in_the_queue_is_never_drawn_for() {
        let mut policy = fred();
        policy.on_enqueue(0, &view(400, 10, 4)); // average 200
        for _ in 0..1_000 {
            assert_eq!(policy.on_enqueue(0, &view(200, 43, 4)), Decision::Accept); // minq 44, avgcq 50
        }
        let drawn =
            (0..1_000).filter(|_| policy.on_enqueue(1, &view(200, 50, 4)) != Decision::Accept);
        // One in 10, as in RED.
        assert!((60..140).contains(&drawn.count()));
    }

    #[test]
    fn frames_that_are_spared_bring_the_next_discard_nearer() {
        // Average 200, halfway between the thresholds: p = 0.05, and 1 after 20 frames.
        let mut policy = of_the_queue();
        for _ in 0..21 {
            assert_eq!(policy.on_enqueue(0, &view(200, 43, 4)), Decision::Accept);
        }
        let drawn = Decision::Discard(DiscardReason::Drawn);
        assert_eq!(policy.on_enqueue(1, &view(200, 50, 4)), drawn);
        assert_eq!(*count(&mut policy.drop), Some(0));
    }

    #[test]
    fn a_vc_with_strikes_is_held_to_its_part_of_the_average() {
        let mut policy = fred();
        let over = Decision::Discard(DiscardReason::OverFairShare);
        // Average 50 to 100, below the thresholds; maxq is 100.
        assert_eq!(policy.on_enqueue(0, &view(100, 100, 4)), over);
        assert_eq!(policy.on_enqueue(0, &view(100, 90, 4)), Decision::Accept); // one strike is none
        assert_eq!(policy.on_enqueue(0, &view(100, 100, 4)), over);
        assert_eq!(policy.on_enqueue(0, &view(100, 90, 4)), over); // avgcq is below 25
        assert_eq!(policy.on_enqueue(1, &view(100, 90, 4)), Decision::Accept); // another VC
        assert_eq!(policy.on_enqueue(0, &view(100, 0, 4)), Decision::Accept);
        assert_eq!(policy.on_enqueue(0, &view(100, 90, 4)), Decision::Accept); // forgotten
    }

    #[test]
    fn above_the_thresholds_everything_is_discarded() {
        let mut policy = fred();
        policy.on_enqueue(0, &view(1_000, 0, 4)); // average 500
        let above = Decision::Discard(DiscardReason::AboveThreshold);
        assert_eq!(policy.on_enqueue(0, &view(1_000, 10, 4)), above);
        let over = Decision::Discard(DiscardReason::OverFairShare);
        assert_eq!(policy.on_enqueue(0, &view(1_000, 44, 4)), over); // maxq is two frames
    }

    /// FRED whose average is the queue that the frame finds.
    fn of_the_queue() -> Fred {
        let red = RedPart {
            weight: 1.0,
            ..spec()
        };
        let spec = FredSpec {
            red,
            min_queue_cells: 44,
            frame_cells: 22,
        };
        Fred::new(&spec, Stream::new(1, "test"))
    }

    #[test]
    fn above_the_thresholds_twice_the_part_of_the_average_is_a_strike() {
        // 300 cells of 20 VCs: avgcq 15.
        let mut policy = of_the_queue();
        policy.on_enqueue(0, &view(300, 30, 20));
        assert_eq!(policy.strikes[0], 0);
        policy.on_enqueue(0, &view(300, 31, 20));
        assert_eq!(policy.strikes[0], 1);
    }

    #[test]
    fn a_vc_with_strikes_is_discarded_from_its_part_of_the_average_on_but_for_a_cell() {
        let over = Decision::Discard(DiscardReason::OverFairShare);
        let mut policy = of_the_queue();
        (0..2).for_each(|_| {
            policy.on_enqueue(0, &view(99, 100, 4));
        });
        // avgcq = 80 / 4, and one where it would be less.
        assert_eq!(policy.on_enqueue(0, &view(80, 19, 4)), Decision::Accept);
        assert_eq!(policy.on_enqueue(0, &view(80, 20, 4)), over);
        assert_eq!(policy.on_enqueue(0, &view(2, 1, 4)), over);
    }

    #[test]
    fn a_vc_below_its_part_of_the_average_is_not_drawn_for_with_more_than_minq() {
        let mut policy = of_the_queue();
        for _ in 0..1_000 {
            assert_eq!(policy.on_enqueue(0, &view(200, 49, 4)), Decision::Accept); // minq 44, avgcq 50
        }
    }

    #[test]
    fn frames_count_anew_once_the_average_was_below_the_thresholds() {
        let mut policy = of_the_queue();
        *count(&mut policy.drop) = Some(7);
        policy.on_enqueue(0, &view(99, 0, 4));
        assert_eq!(*count(&mut policy.drop), None);
    }
}
