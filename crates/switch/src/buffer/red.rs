//! Random Early Detection.

use super::{BufferPolicy, BufferView, Draws, PolicyRule};
use crate::{Decision, DiscardReason};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{AverageThreshold, FrameTime, PartOfOne},
};
use skycell_des::Stream;

/// Random Early Detection: discards frames at random while the average queue is long.
///
/// Source: as for [`AverageQueue`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "SA-ST",
    threshold = "static",
    discards = "probabilistic",
    fairness = "equal allocation in limited cases",
    source = "Floyd, Jacobson: Random Early Detection Gateways for Congestion Avoidance, 1993",
    chosen = "thresholds; queue in cells, averaged once a frame",
    label = "RED"
)]
pub struct RedPart {
    /// Average queue below which nothing is discarded.
    #[param(
        key = "min_threshold",
        default = 0.2,
        symbol = "min_th",
        below = "max_cells",
        source = CHOICE
    )]
    pub min_cells: AverageThreshold,
    /// Average queue from which every frame is discarded; above min_threshold.
    #[param(
        key = "max_threshold",
        default = 0.6,
        symbol = "max_th",
        source = CHOICE
    )]
    pub max_cells: AverageThreshold,
    /// Probability of discard just below max_threshold.
    #[param(key = "max_probability", default = 0.02, symbol = "max_p", source = GATEWAYS)]
    pub max_p: PartOfOne,
    /// Weight of a new queue length in the average.
    #[param(default = 0.002, symbol = "w_q", source = GATEWAYS)]
    pub weight: PartOfOne,
    /// s: time that a typical frame takes on the link.
    #[param(unwritten)]
    pub frame_ps: FrameTime,
}

const GATEWAYS: &str = "S. Floyd, V. Jacobson, Random Early Detection Gateways, 1993";
const CHOICE: &str =
    "choice: max_th should be at least twice min_th (Floyd and Jacobson, section 6)";

impl PolicyRule for RedPart {
    type Policy = Box<Red>;

    fn policy(&self, draws: &Draws) -> Box<Red> {
        Box::new(Red::new(self, draws.stream("red")))
    }
}

/// The average queue of RED: an exponentially weighted mean over frames that begin, which decays
/// over idle times as if small frames had come.
///
/// Source: S. Floyd, V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance",
/// IEEE/ACM Transactions on Networking 1 (4), 1993, Figure 2.
#[derive(Clone, Debug)]
pub(super) struct AverageQueue {
    /// w_q.
    weight: f64,
    /// s, time that a typical frame takes, picoseconds.
    frame_ps: u64,
    cells: f64,
}

impl AverageQueue {
    pub(super) fn new(spec: &RedPart) -> Self {
        AverageQueue {
            weight: spec.weight,
            frame_ps: spec.frame_ps,
            cells: 0.0,
        }
    }

    /// The average after a frame has begun.
    pub(super) fn on_frame(&mut self, view: &BufferView) -> f64 {
        match view.idle_since_ps {
            Some(since) => {
                let frames = (view.now_ps - since) as f64 / self.frame_ps as f64;
                self.cells *= libm::pow(1.0 - self.weight, frames);
            }
            None => self.cells += self.weight * (f64::from(view.queued) - self.cells),
        }
        self.cells
    }
}

/// Between the thresholds, discards with a probability that grows with the average queue and with
/// the frames taken in since the last discard, so that discards come at even distances.
///
/// Source: as for [`AverageQueue`], section 4 (method 2).
#[derive(Clone, Debug)]
pub(super) struct EarlyDrop {
    min: f64,
    max: f64,
    max_p: f64,
    /// Frames since the last discard that began with the average between the thresholds; none after
    /// the average was below them.
    count: Option<u32>,
}

impl EarlyDrop {
    pub(super) fn new(spec: &RedPart) -> Self {
        EarlyDrop::between(spec.min_cells, spec.max_cells, spec.max_p)
    }

    /// Between two thresholds in cells.
    pub(super) fn between(min: u32, max: u32, max_p: f64) -> Self {
        EarlyDrop {
            min: f64::from(min),
            max: f64::from(max),
            max_p,
            count: None,
        }
    }

    pub(super) fn is_below(&self, average: f64) -> bool {
        average < self.min
    }

    pub(super) fn is_above(&self, average: f64) -> bool {
        average >= self.max
    }

    /// A frame that is not to be drawn for: the average is outside the thresholds.
    pub(super) fn forget(&mut self, average: f64) {
        match self.is_below(average) {
            true => self.restart(),
            false => self.count = Some(0),
        }
    }

    /// A frame that begins with the average below the thresholds.
    pub(super) fn restart(&mut self) {
        self.count = None;
    }

    /// A frame that begins with the average between the thresholds: how many did since the last
    /// discard, this one included.
    pub(super) fn counted(&mut self) -> u32 {
        *self
            .count
            .insert(self.count.map_or(0, |count| count.saturating_add(1)))
    }

    /// A draw for a frame that begins with the average between the thresholds; the probability is
    /// scaled by `part`. Whether the frame is discarded.
    pub(super) fn draws_against(&mut self, average: f64, part: f64, stream: &mut Stream) -> bool {
        let p = part * self.max_p * (average - self.min) / (self.max - self.min);
        self.draws_with(p, stream)
    }

    /// From max_th on to twice that the probability grows from max_p to 1: "gentle" RED (S. Floyd, "Recommendation
    /// on using the gentle_ variant of RED", 2000).
    pub(super) fn draws_gently(&mut self, average: f64, stream: &mut Stream) -> bool {
        let p = self.max_p + (1.0 - self.max_p) * (average - self.max) / self.max;
        self.draws_with(p, stream)
    }

    /// Returns whether the average is beyond the range for which [`EarlyDrop::draws_gently`] draws.
    pub(super) fn is_far_above(&self, average: f64) -> bool {
        average >= 2.0 * self.max
    }

    /// A draw with the probability p, spread by the frames since the last discard.
    fn draws_with(&mut self, p: f64, stream: &mut Stream) -> bool {
        let count = self.counted();
        let spread = f64::from(count) * p;
        let probability = if spread < 1.0 {
            p / (1.0 - spread)
        } else {
            1.0
        };
        let is_discarded = stream.unit() <= probability;
        if is_discarded {
            self.count = Some(0);
        }
        is_discarded
    }
}

/// Discards frames at random while the average queue lies between two thresholds, and every frame
/// while it lies above them.
#[derive(Debug)]
pub struct Red {
    average: AverageQueue,
    drop: EarlyDrop,
    stream: Stream,
}

impl Red {
    /// With its thresholds and the stream of its draws.
    fn new(spec: &RedPart, stream: Stream) -> Self {
        Red {
            average: AverageQueue::new(spec),
            drop: EarlyDrop::new(spec),
            stream,
        }
    }
}

impl BufferPolicy for Red {
    fn on_enqueue(&mut self, _vc: u32, view: &BufferView) -> Decision {
        let average = self.average.on_frame(view);
        if self.drop.is_above(average) || self.drop.is_below(average) {
            self.drop.forget(average);
            return self
                .drop
                .is_above(average)
                .then_some(DiscardReason::AboveThreshold)
                .into();
        }
        self.drop
            .draws_against(average, 1.0, &mut self.stream)
            .then_some(DiscardReason::Drawn)
            .into()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn spec() -> RedPart {
        RedPart {
            min_cells: 100,
            max_cells: 300,
            max_p: 0.1,
            weight: 0.5,
            frame_ps: 1_000,
        }
    }

    /// Frames counted since the last discard.
    pub(in super::super) fn count(drop: &mut EarlyDrop) -> &mut Option<u32> {
        &mut drop.count
    }

    fn stream() -> Stream {
        Stream::new(1, "test")
    }

    fn full(queued: u32) -> BufferView {
        BufferView {
            queued,
            capacity: 1_000,
            ..BufferView::default()
        }
    }

    #[test]
    fn the_average_follows_the_queue_and_decays_while_it_is_empty() {
        let mut average = AverageQueue::new(&spec());
        assert_eq!(average.on_frame(&full(400)), 200.0);
        assert_eq!(average.on_frame(&full(400)), 300.0);
        // Idle for as long as two typical frames take: 300 / 4.
        let idle = BufferView {
            now_ps: 5_000,
            idle_since_ps: Some(3_000),
            ..full(0)
        };
        assert_eq!(average.on_frame(&idle), 75.0);
    }

    #[test]
    fn below_the_thresholds_nothing_and_above_them_everything_is_discarded() {
        let mut red = Red::new(&spec(), stream());
        // Averages 99, 99, then 199.5 + ... up to at least 300.
        assert_eq!(red.on_enqueue(0, &full(198)), Decision::Accept);
        assert_eq!(red.on_enqueue(0, &full(99)), Decision::Accept);
        red.on_enqueue(0, &full(1_000)); // 549.5
        let above = Decision::Discard(DiscardReason::AboveThreshold);
        assert_eq!(red.on_enqueue(0, &full(1_000)), above);
    }

    #[test]
    fn discards_come_at_even_distances() {
        // At an average of 200, p = 0.1 / 2 = 0.05. Figure 2 counts the first frame after a discard
        // as 1, so that distances are uniform over 1 to 1 / p - 1 = 19, with a mean of 10.
        let mut drop = EarlyDrop::new(&spec());
        let mut stream = stream();
        drop.draws_against(200.0, 1.0, &mut stream);
        let mut distances = Vec::new();
        let mut since = 0;
        for _ in 0..100_000 {
            since += 1;
            if drop.draws_against(200.0, 1.0, &mut stream) {
                distances.push(since);
                since = 0;
            }
        }
        assert!(distances[1..].iter().all(|&d| d <= 20));
        let mean = f64::from(distances.iter().sum::<u32>()) / distances.len() as f64;
        assert!((mean - 10.0).abs() < 0.4, "{mean}"); // standard error 0.05
    }

    /// RED whose average is the queue that the frame finds.
    fn of_the_queue(max_p: f64) -> Red {
        let spec = RedPart {
            weight: 1.0,
            max_p,
            ..spec()
        };
        Red::new(&spec, stream())
    }

    #[test]
    fn frames_count_from_the_last_discard_and_anew_once_the_average_was_below() {
        // Figure 2: count is 0 after a discard, -1 below min_th, and grows from min_th on.
        let mut red = of_the_queue(1e-12);
        let counts = [200, 200, 300, 200, 99, 200, 100, 100].map(|queued| {
            red.on_enqueue(0, &full(queued));
            red.drop.count
        });
        let expected = [0, 1, 0, 1, u32::MAX, 0, 1, 2];
        assert_eq!(counts.map(|count| count.unwrap_or(u32::MAX)), expected);
    }

    #[test]
    fn at_the_upper_threshold_every_frame_is_discarded() {
        let above = Decision::Discard(DiscardReason::AboveThreshold);
        assert_eq!(of_the_queue(0.1).on_enqueue(0, &full(300)), above);
    }

    #[test]
    fn between_the_thresholds_one_frame_is_discarded_of_the_mean_distance() {
        // p = 0.05, a mean distance of 10 as below; the standard error of 10 000 of them is 0.05.
        let mut red = of_the_queue(0.1);
        let drawn = Decision::Discard(DiscardReason::Drawn);
        let discarded = (0..100_000).filter(|_| red.on_enqueue(0, &full(200)) == drawn);
        assert!((9_600..10_400).contains(&discarded.count()));
    }

    #[test]
    fn a_frame_is_discarded_for_certain_once_count_times_p_has_passed_one() {
        // Twenty taken in at a low average, and a jump: 20 * 0.0995 = 1.99.
        let mut drop = EarlyDrop::new(&spec());
        drop.count = Some(19);
        assert!(drop.draws_against(299.0, 1.0, &mut stream()));
    }
}
