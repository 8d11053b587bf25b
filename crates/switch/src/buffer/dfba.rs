//! Differential Fair Buffer Allocation.

use super::{BufferPolicy, BufferView};
use skycell_des::Stream;
use skycell_records::DiscardReason;
use skycell_spec::{DfbaZ, PolicySpec};

/// Divides the queue between the VCs in proportion to their MCRs, by losing frames of those above
/// their share W_i / W of it with some probability.
///
/// With X the queue and X_i the VC's part of it, a frame that begins is
///
/// * accepted while X <= L;
/// * discarded while X >= H;
/// * between them, discarded if tagged; else accepted while X_i < X W_i / W, and while
///   X_i > X W_i / W discarded with the probability of [`Dfba::probability`].
///
/// W counts the VCs that have cells in the buffer. At X_i = X W_i / W the appendix's conditions accept
/// no frame; so it is for a VC that has the buffer to itself, and for one without MCR or cells.
///
/// Source: NASA/CR-1999-209158, "Buffer Management for TCP over the ATM GFR Service", section 4 and
/// appendix (Figures 11 to 13).
#[derive(Debug)]
pub struct Dfba {
    /// L, cells.
    low: u32,
    /// H, cells.
    high: u32,
    alpha: f64,
    /// MCR by VC id, any unit.
    weights: Vec<u64>,
    z: DfbaZ,
    keeps_last_cells: bool,
    stream: Stream,
}

impl Dfba {
    /// The policy of a DFBA spec, with the stream of its draws.
    ///
    /// # Panics
    /// The spec is of another kind.
    pub fn new(spec: &PolicySpec, stream: Stream) -> Self {
        let PolicySpec::Dfba {
            low_cells,
            high_cells,
            alpha,
            ref mcr_millicells,
            z,
            keeps_last_cells,
        } = *spec
        else {
            panic!("not the spec of DFBA: {spec:?}");
        };
        Dfba {
            low: low_cells,
            high: high_cells,
            alpha,
            weights: mcr_millicells.clone(),
            z,
            keeps_last_cells,
            stream,
        }
    }

    /// MCR of a VC by spec id, 0 for one that has none.
    pub fn weight(&self, vc: u32) -> u64 {
        self.weights.get(vc as usize).copied().unwrap_or(0)
    }

    /// Whether X_i and W matter at X = `queued`.
    pub fn looks_at_vcs(&self, queued: u32) -> bool {
        self.low < queued && queued < self.high
    }

    /// Whether every last cell is taken in if there is room (Figure 13).
    pub fn keeps_last_cells(&self) -> bool {
        self.keeps_last_cells
    }

    /// P{drop} between L and H for a VC above its share (section 4.2):
    /// Z_i (alpha (X_i - X W_i/W) / (X (1 - W_i/W)) + (1 - alpha) (X - L) / (H - L)).
    fn probability(&self, part: f64, view: &BufferView) -> f64 {
        let queued = f64::from(view.queued);
        let fairness = (f64::from(view.vc_queued) - queued * part) / (queued * (1.0 - part));
        let efficiency = f64::from(view.queued - self.low) / f64::from(self.high - self.low);
        let z = match self.z {
            DfbaZ::Fixed { value } => value,
            DfbaZ::Complement => 1.0 - part,
            DfbaZ::ComplementSquared => (1.0 - part) * (1.0 - part),
        };
        z * (self.alpha * fairness + (1.0 - self.alpha) * efficiency)
    }
}

impl BufferPolicy for Dfba {
    fn on_frame(&mut self, vc: u32, view: &BufferView) -> Option<DiscardReason> {
        if view.queued <= self.low {
            return None;
        }
        if view.queued >= self.high {
            return Some(DiscardReason::AboveThreshold);
        }
        if view.is_tagged {
            return Some(DiscardReason::Tagged);
        }
        // X_i against X W_i / W, multiplied out by W: an equality of whole numbers is exact.
        let weight = self.weight(vc);
        let held = u128::from(view.vc_queued) * u128::from(view.active_weight);
        let share = u128::from(view.queued) * u128::from(weight);
        if held < share {
            return None;
        }
        if held == share {
            return Some(DiscardReason::OverFairShare);
        }
        // A VC above its share has cells, so its weight is a part of W.
        let part = weight as f64 / view.active_weight as f64;
        let is_spared = self.stream.unit() > self.probability(part, view);
        (!is_spared).then_some(DiscardReason::Drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(z: DfbaZ) -> PolicySpec {
        PolicySpec::Dfba {
            low_cells: 60,
            high_cells: 90,
            alpha: 0.5,
            mcr_millicells: vec![500, 250, 250],
            z,
            keeps_last_cells: true,
        }
    }

    fn dfba(z: DfbaZ) -> Dfba {
        Dfba::new(&spec(z), Stream::new(1, "port/a>b/dfba"))
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
        let lost = (0..frames).filter(|_| policy.on_frame(vc, view).is_some());
        lost.count() as f64 / f64::from(frames)
    }

    #[test]
    fn shares_follow_the_vcs_that_are_active() {
        // The paper's example (section 4.3): 100 cells, shares 1/2, 1/4, 1/4, L = 60, VC1 idle. At
        // 61 cells VC3 with 25 of them is below its share of 61 * 250 / 500 = 30.5, though it has
        // reached a quarter of the buffer; VC2 with 36 is above it.
        let mut policy = dfba(ONE);
        assert_eq!(policy.on_frame(2, &view(61, 25, 500)), None);
        // P = 0.5 * (36 - 30.5) / 30.5 + 0.5 * 1 / 30 = 0.1068.
        let part = discarded(&mut policy, 1, &view(61, 36, 500));
        assert!((part - 0.1068).abs() < 0.01, "{part}"); // standard error 0.0022
        // With all three active the share is 61 / 4 = 15.25, and VC3 is above it.
        assert!(discarded(&mut policy, 2, &view(61, 25, 1_000)) > 0.05);
    }

    #[test]
    fn nothing_is_discarded_up_to_l_and_everything_from_h_on() {
        let mut policy = dfba(ONE);
        assert_eq!(policy.on_frame(0, &view(60, 60, 500)), None);
        let above = Some(DiscardReason::AboveThreshold);
        assert_eq!(policy.on_frame(0, &view(90, 0, 500)), above);
        assert_ne!(policy.on_frame(0, &view(89, 1, 1_000)), above);
    }

    #[test]
    fn between_the_thresholds_a_tagged_frame_is_discarded_whatever_its_vc_holds() {
        let mut policy = dfba(ONE);
        let tagged = |queued| BufferView {
            is_tagged: true,
            ..view(queued, 1, 1_000)
        };
        assert_eq!(policy.on_frame(0, &tagged(60)), None);
        assert_eq!(policy.on_frame(0, &tagged(61)), Some(DiscardReason::Tagged));
    }

    #[test]
    fn at_its_share_exactly_a_vc_is_discarded() {
        let mut policy = dfba(ONE);
        let over = Some(DiscardReason::OverFairShare);
        // 80 * 250 / 1000 = 20.
        assert_eq!(policy.on_frame(1, &view(80, 20, 1_000)), over);
        assert_eq!(policy.on_frame(1, &view(80, 19, 1_000)), None);
        // Alone in the buffer.
        assert_eq!(policy.on_frame(1, &view(80, 80, 250)), over);
        // Without MCR and without cells.
        assert_eq!(policy.on_frame(7, &view(80, 0, 1_000)), over);
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
            let part = discarded(&mut dfba(z), 0, &view);
            assert!((part - expected).abs() < 0.02, "{z:?}: {part}");
        }
    }
}
