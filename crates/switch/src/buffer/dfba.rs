//! Differential Fair Buffer Allocation.

use super::red::EarlyDrop;
use super::{BufferPolicy, BufferView, Draws, Needs, PolicyRule};
use crate::{Decision, DiscardReason};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare, Refusal, is_default,
    types::{Flag, FromZeroToOne, McrByVc, Threshold},
};
use skycell_des::Stream;

/// Differential FBA: between two thresholds, discards frames of VCs above their share.
///
/// A VC's share of the queue is that of its MCR among the active VCs; MCRs are given in `[[gfr]]`.
///
/// With X the queue and X_i the VC's part of it, a frame that begins is
///
/// * accepted while X <= L;
/// * discarded while X >= H;
/// * between them, discarded if tagged; else accepted while X_i < X W_i / W, and while
///   X_i > X W_i / W discarded with the probability of its [`DfbaDropFunction`].
///
/// W counts the VCs that have cells in the buffer. At X_i = X W_i / W the appendix's conditions accept
/// no frame; so it is for a VC that has the buffer to itself, and for one without MCR or cells.
///
/// Source: NASA/CR-1999-209158, "Buffer Management for TCP over the ATM GFR Service", section 4 and
/// appendix (Figures 11 to 13).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "MA-MT",
    threshold = "dynamic",
    discards = "probabilistic",
    sees_tags = true,
    fairness = "MCR guarantee",
    source = "Goyal, Jain, Fahmy, Vandalore: Buffer Management for TCP over the ATM GFR Service, 1999",
    label = "DFBA"
)]
pub struct DfbaSpec {
    /// Occupancy up to which every frame is accepted.
    #[param(
        key = "low_threshold",
        default = 0.5,
        symbol = "L",
        below = "high_cells",
        source = "Buffer Management for TCP over the ATM GFR Service, section 5"
    )]
    pub low_cells: Threshold,
    /// Occupancy from which every frame is discarded; above low_threshold.
    #[param(
        key = "high_threshold",
        default = 0.9,
        symbol = "H",
        source = "Buffer Management for TCP over the ATM GFR Service, section 5"
    )]
    pub high_cells: Threshold,
    /// Weight, in the probability of discard, of the VC's excess over its share; the queue's length has
    /// the remaining weight.
    #[param(
        default = 0.5,
        when(drop_function = ["linear"]),
        source = "Buffer Management for TCP over the ATM GFR Service, section 5"
    )]
    pub alpha: FromZeroToOne,
    /// Function of the probability of discard between the thresholds.
    #[param(
        word,
        default = "linear",
        source = "Buffer Management for TCP over the ATM GFR Service, section 4.2"
    )]
    #[serde(default, skip_serializing_if = "is_default")]
    pub drop_function: DfbaDropFunction,
    /// Only their ratios count.
    #[param(unwritten)]
    pub mcr_millicells: McrByVc,
    /// Scales the probability of discard; W_i / W is the VC's share. In a table by VC, a VC that is not
    /// named has 1.
    #[param(
        default = 1.0,
        symbol = "Z_i",
        check = DfbaZ::check,
        source = "Buffer Management for TCP over the ATM GFR Service, section 5 (in most cases)"
    )]
    pub z: DfbaZ,
    /// The last cell of a frame is accepted whenever there is room, even if its frame is lost.
    #[param(
        key = "keep_last_cells",
        default = true,
        source = "Buffer Management for TCP over the ATM GFR Service, appendix, Figure 13"
    )]
    pub keeps_last_cells: Flag,
}

/// The probability of discard of a VC above its share, between L and H.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum DfbaDropFunction {
    /// Z_i (alpha (X_i - X W_i/W) / (X (1 - W_i/W)) + (1 - alpha) (X - L) / (H - L)).
    #[default]
    Linear,
    /// p / (1 - n p) with p = Z_i (X - L) / (H - L), where n counts the frames that are drawn for since the
    /// last discard (RED's method 2).
    Red,
}

/// Z_i of DFBA, by which a VC's probability of discard is scaled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum DfbaZ {
    /// The same for all VCs.
    Fixed {
        /// 0 to 1.
        value: f64,
    },
    /// 1 - W_i / W.
    Complement,
    /// (1 - W_i / W)^2.
    ComplementSquared,
    /// Of each VC.
    ByVc {
        /// 0 to 1, by VC id; 1 for a VC beyond the list.
        values: Vec<f64>,
    },
}

impl DfbaZ {
    fn check(&self) -> Result<(), Refusal> {
        let (field, values) = match self {
            DfbaZ::Fixed { value } => ("value", std::slice::from_ref(value)),
            DfbaZ::ByVc { values } => ("values", values.as_slice()),
            DfbaZ::Complement | DfbaZ::ComplementSquared => return Ok(()),
        };
        match values.iter().find(|value| !(0.0..=1.0).contains(*value)) {
            Some(value) => Err(Refusal::new(field, value, "0 to 1")),
            None => Ok(()),
        }
    }

    /// Z_i of the VC with spec id `vc`, whose share is `part`.
    fn of(&self, vc: u32, part: f64) -> f64 {
        match self {
            DfbaZ::Fixed { value } => *value,
            DfbaZ::Complement => 1.0 - part,
            DfbaZ::ComplementSquared => (1.0 - part) * (1.0 - part),
            DfbaZ::ByVc { values } => values.get(vc as usize).copied().unwrap_or(1.0),
        }
    }
}

impl PolicyRule for DfbaSpec {
    type Policy = Box<Dfba>;

    fn policy(&self, draws: &Draws) -> Box<Dfba> {
        Box::new(Dfba {
            spec: self.clone(),
            stream: draws.stream("dfba"),
            red: self.red(),
        })
    }
}

impl DfbaSpec {
    /// RED's drops with L and H for its thresholds; Z_i stands for its largest probability.
    fn red(&self) -> EarlyDrop {
        EarlyDrop::between(self.low_cells, self.high_cells, 1.0)
    }
}

/// See [`DfbaSpec`].
#[derive(Debug)]
pub struct Dfba {
    spec: DfbaSpec,
    stream: Stream,
    /// n of [`DfbaDropFunction::Red`].
    red: EarlyDrop,
}

impl Dfba {
    /// Draws for a frame of a VC above its share, between L and H. Returns whether it is discarded.
    fn draws_against(&mut self, vc: u32, part: f64, view: &BufferView) -> bool {
        let z = self.spec.z.of(vc, part);
        match self.spec.drop_function {
            DfbaDropFunction::Linear => self.stream.unit() <= z * self.linear(part, view),
            // Differs: RED has the average queue. DFBA's X is the queue as the frame finds it, and no
            // weight of an average is stated.
            DfbaDropFunction::Red => {
                let queued = f64::from(view.queued);
                self.red.draws_against(queued, z, &mut self.stream)
            }
        }
    }

    /// P{drop} / Z_i of [`DfbaDropFunction::Linear`] (section 4.2).
    fn linear(&self, part: f64, view: &BufferView) -> f64 {
        let queued = f64::from(view.queued);
        let fairness = (f64::from(view.vc_queued) - queued * part) / (queued * (1.0 - part));
        let efficiency = f64::from(view.queued - self.spec.low_cells)
            / f64::from(self.spec.high_cells - self.spec.low_cells);
        self.spec.alpha * fairness + (1.0 - self.spec.alpha) * efficiency
    }
}

impl BufferPolicy for Dfba {
    const NEEDS: Needs = Needs::VCS;

    fn on_enqueue(&mut self, vc: u32, view: &BufferView) -> Decision {
        if view.queued <= self.spec.low_cells {
            self.red.restart();
            return Decision::Accept;
        }
        if view.queued >= self.spec.high_cells {
            self.red.forget(f64::from(view.queued));
            return Decision::Discard(DiscardReason::AboveThreshold);
        }
        if view.clp {
            return Decision::Discard(DiscardReason::Tagged);
        }
        // X_i against X W_i / W, multiplied out by W: an equality of whole numbers is exact.
        let weight = self.weight(vc);
        let held = u128::from(view.vc_queued) * u128::from(view.active_weight);
        let share = u128::from(view.queued) * u128::from(weight);
        if held < share {
            return Decision::Accept;
        }
        if held == share {
            return Decision::Discard(DiscardReason::OverFairShare);
        }
        // A VC above its share has cells, so its weight is a part of W.
        let part = weight as f64 / view.active_weight as f64;
        self.draws_against(vc, part, view)
            .then_some(DiscardReason::Drawn)
            .into()
    }

    /// X_i and W matter between L and H.
    fn looks_at_vcs(&self, queued: u32) -> bool {
        self.spec.low_cells < queued && queued < self.spec.high_cells
    }

    /// MCR of a VC by spec id, 0 for one that has none.
    fn weight(&self, vc: u32) -> u64 {
        self.spec
            .mcr_millicells
            .get(vc as usize)
            .copied()
            .unwrap_or(0)
    }

    /// Figure 13.
    fn keeps_last_cells(&self) -> bool {
        self.spec.keeps_last_cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(z: DfbaZ) -> DfbaSpec {
        DfbaSpec {
            low_cells: 60,
            high_cells: 90,
            alpha: 0.5,
            drop_function: DfbaDropFunction::Linear,
            mcr_millicells: vec![500, 250, 250],
            z,
            keeps_last_cells: true,
        }
    }

    fn dfba(z: DfbaZ) -> Dfba {
        let spec = spec(z);
        Dfba {
            stream: Stream::new(1, "port/a>b/dfba"),
            red: spec.red(),
            spec,
        }
    }

    fn red_like(z: DfbaZ) -> Dfba {
        let mut policy = dfba(z);
        policy.spec.drop_function = DfbaDropFunction::Red;
        policy
    }

    const ONE: DfbaZ = DfbaZ::Fixed { value: 1.0 };

    fn view(queued: u32, vc_queued: u32, active_weight: u64) -> BufferView {
        BufferView {
            queued,
            vc_queued,
            active_vcs: 2,
            active_weight,
            capacity: 100,
            ..BufferView::default()
        }
    }

    /// Part of 20 000 frames that are discarded.
    fn discarded(policy: &mut Dfba, vc: u32, view: &BufferView) -> f64 {
        let frames = 20_000;
        let lost = (0..frames).filter(|_| policy.on_enqueue(vc, view) != Decision::Accept);
        lost.count() as f64 / f64::from(frames)
    }

    #[test]
    fn shares_follow_the_vcs_that_are_active() {
        // The paper's example (section 4.3): 100 cells, shares 1/2, 1/4, 1/4, L = 60, VC1 idle. At
        // 61 cells VC3 with 25 of them is below its share of 61 * 250 / 500 = 30.5, though it has
        // reached a quarter of the buffer; VC2 with 36 is above it.
        let mut policy = dfba(ONE);
        assert_eq!(policy.on_enqueue(2, &view(61, 25, 500)), Decision::Accept);
        // P = 0.5 * (36 - 30.5) / 30.5 + 0.5 * 1 / 30 = 0.1068.
        let part = discarded(&mut policy, 1, &view(61, 36, 500));
        assert!((part - 0.1068).abs() < 0.01, "{part}"); // standard error 0.0022
        // With all three active the share is 61 / 4 = 15.25, and VC3 is above it.
        assert!(discarded(&mut policy, 2, &view(61, 25, 1_000)) > 0.05);
    }

    #[test]
    fn nothing_is_discarded_up_to_l_and_everything_from_h_on() {
        let mut policy = dfba(ONE);
        assert_eq!(policy.on_enqueue(0, &view(60, 60, 500)), Decision::Accept);
        let above = Decision::Discard(DiscardReason::AboveThreshold);
        assert_eq!(policy.on_enqueue(0, &view(90, 0, 500)), above);
        assert_ne!(policy.on_enqueue(0, &view(89, 1, 1_000)), above);
    }

    #[test]
    fn between_the_thresholds_a_tagged_frame_is_discarded_whatever_its_vc_holds() {
        let mut policy = dfba(ONE);
        let tagged = |queued| BufferView {
            clp: true,
            ..view(queued, 1, 1_000)
        };
        assert_eq!(policy.on_enqueue(0, &tagged(60)), Decision::Accept);
        assert_eq!(
            policy.on_enqueue(0, &tagged(61)),
            Decision::Discard(DiscardReason::Tagged)
        );
    }

    #[test]
    fn at_its_share_exactly_a_vc_is_discarded() {
        let mut policy = dfba(ONE);
        let over = Decision::Discard(DiscardReason::OverFairShare);
        // 80 * 250 / 1000 = 20.
        assert_eq!(policy.on_enqueue(1, &view(80, 20, 1_000)), over);
        assert_eq!(policy.on_enqueue(1, &view(80, 19, 1_000)), Decision::Accept);
        // Alone in the buffer.
        assert_eq!(policy.on_enqueue(1, &view(80, 80, 250)), over);
        // Without MCR and without cells.
        assert_eq!(policy.on_enqueue(7, &view(80, 0, 1_000)), over);
    }

    #[test]
    fn z_scales_the_probability_down_for_large_shares() {
        // VC1 of all three: part 1/2, X = 80, X_i = 60.
        // P = 0.5 * (60 - 40) / 40 + 0.5 * 20 / 30 = 0.5833; times 1/2; times 1/4.
        let view = view(80, 60, 1_000);
        for (z, expected) in [
            (ONE, 0.5833),
            (DfbaZ::Complement, 0.2917),
            (DfbaZ::ComplementSquared, 0.1458),
            (DfbaZ::Fixed { value: 0.0 }, 0.0),
        ] {
            let part = discarded(&mut dfba(z.clone()), 0, &view);
            assert!((part - expected).abs() < 0.02, "{z:?}: {part}");
        }
    }

    #[test]
    fn z_by_vc_scales_the_probability_of_its_vc() {
        let z = || DfbaZ::ByVc {
            values: vec![0.25, 0.0],
        };
        // As above P is 0.5833 times Z_i for VC1 with a part of 1/2. For VC2 and VC3 with parts of 1/4:
        // (0.5 * (60 - 20) / 60 + 0.5 * 20 / 30) = 0.6667. VC3 is beyond the list: 1.
        let view = view(80, 60, 1_000);
        for (vc, expected) in [(0, 0.1458), (1, 0.0), (2, 0.6667)] {
            let part = discarded(&mut dfba(z()), vc, &view);
            assert!((part - expected).abs() < 0.02, "VC {vc}: {part}");
        }
        let refused = DfbaZ::ByVc {
            values: vec![1.0, 1.5],
        };
        assert_eq!(refused.check(), Err(Refusal::new("values", 1.5, "0 to 1")));
    }

    /// Lengths of the runs of frames that are accepted before a discard, of 200 discards.
    fn spared_before_discards(policy: &mut Dfba, vc: u32, view: &BufferView) -> Vec<u32> {
        let mut spared = vec![];
        while spared.len() < 200 {
            let mut run = 0;
            while policy.on_enqueue(vc, view) == Decision::Accept {
                run += 1;
            }
            spared.push(run);
        }
        spared
    }

    #[test]
    fn red_like_drops_have_gaps_up_to_one_over_p_and_do_not_depend_on_the_excess() {
        // X = 65: p = 5 / 30 = 1/6. The n-th frame after a discard is discarded with 1/6 / (1 - n/6), which is 1/5, 1/4,
        // 1/3, 1/2, 1 for n from 1 to 5: 0 to 4 frames are spared, each number with a chance of 1/5.
        for held in [34, 64] {
            let view = view(65, held, 1_000);
            let mut policy = red_like(ONE);
            let spared = &spared_before_discards(&mut policy, 0, &view)[1..];
            assert_eq!(spared.iter().max(), Some(&4), "{spared:?}");
            let mean = f64::from(spared.iter().sum::<u32>()) / spared.len() as f64;
            assert!((mean - 2.0).abs() < 0.4, "{mean}"); // standard error 0.1
        }
    }

    #[test]
    fn red_like_drops_have_z_for_the_largest_probability() {
        // p = 1/2 * 5 / 30 = 1/12: 0 to 10 frames are spared.
        let view = view(65, 60, 1_000);
        let mut policy = red_like(DfbaZ::Complement);
        let spared = &spared_before_discards(&mut policy, 0, &view)[1..];
        assert_eq!(spared.iter().max(), Some(&10), "{spared:?}");
    }

    #[test]
    fn red_like_drops_count_anew_once_the_queue_was_not_above_l() {
        let view_of = |queued| view(queued, queued - 1, 1_000);
        let spared_twice_around = |between: u32| {
            let mut policy = red_like(ONE);
            let mut spared_twice = 0;
            for _ in 0..2_000 {
                policy.on_enqueue(0, &view_of(60));
                if policy.on_enqueue(0, &view_of(75)) == Decision::Accept {
                    policy.on_enqueue(0, &view_of(between));
                    spared_twice +=
                        u32::from(policy.on_enqueue(0, &view_of(75)) == Decision::Accept);
                }
            }
            spared_twice
        };
        // p = 1/2 at X = 75. With n = 1 the probability is p / (1 - p) = 1. A frame that finds X >= H is a discard, so
        // that the next frame has n = 1. The first frame after X <= L has n = 0, and is spared with 1/2.
        assert_eq!(spared_twice_around(90), 0);
        assert!(spared_twice_around(60) > 300);
    }
}
