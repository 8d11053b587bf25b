//! Guaranteed Frame Rate: which frames of a VC are eligible for its guarantee, and which are tagged.
//!
//! All is decided once a frame: a frame's cells have one CLP bit. Sources: ATM Forum Traffic
//! Management 4.1 (GFR.1, GFR.2, F-GCRA); O. Bonaventure, "A simulation study of TCP with the GFR
//! service category", sections 2 and 4.

use skycell_spec::{Excess, GfrSpec, Nonconforming, Tagging};
use skycell_units::SimTime;

/// F-GCRA(T, f): the Generic Cell Rate Algorithm at the first cell of a frame.
///
/// A frame whose first cell comes at t with t >= TAT - f is eligible; then TAT becomes
/// max(t, TAT) + T, and T later with each further cell of the frame. A frame that is not leaves
/// TAT as it is.
#[derive(Clone, Debug)]
pub struct FrameGcra {
    increment: u64,
    limit: u64,
    /// Theoretical arrival time of the next frame's first cell, picoseconds.
    tat: u64,
}

impl FrameGcra {
    /// With T and f in picoseconds.
    pub fn new(increment: u64, limit: u64) -> Self {
        FrameGcra {
            increment,
            limit,
            tat: 0,
        }
    }

    /// Returns whether the frame of `cells` cells whose first cell arrives at `at` is eligible.
    pub fn on_frame(&mut self, at: SimTime, cells: u32) -> bool {
        let is_eligible = at.0 + self.limit >= self.tat;
        if is_eligible {
            // The cells of one frame only raise TAT, so it can be raised for all of them at once.
            self.tat = self.tat.max(at.0) + u64::from(cells) * self.increment;
        }
        is_eligible
    }
}

/// Tagging in the end system's adapter, which knows how long a frame is before it sends it at PCR.
///
/// A frame of n cells that starts at t is sent with CLP = 0 if
/// t + (n - 1) T_PCR >= max(t, TAT) + (n - 1) T_MCR - tau; then TAT becomes max(t, TAT) + n T_MCR.
///
/// Source: Bonaventure, Figure 3.
#[derive(Clone, Debug)]
struct Adapter {
    mcr_interval: u64,
    pcr_interval: u64,
    tau: u64,
    tat: u64,
}

impl Adapter {
    /// Returns whether the frame of `cells` cells that starts at `at` is tagged.
    fn tags(&mut self, at: SimTime, cells: u32) -> bool {
        let steps = u64::from(cells - 1);
        let from = self.tat.max(at.0);
        let is_in_time =
            at.0 + steps * self.pcr_interval + self.tau >= from + steps * self.mcr_interval;
        if is_in_time {
            self.tat = from + u64::from(cells) * self.mcr_interval;
        }
        !is_in_time
    }
}

/// One VC's frames held against its contract, from its adapter to the first switch.
#[derive(Clone, Debug)]
pub struct GfrPolicer {
    adapter: Option<Adapter>,
    gcra: FrameGcra,
    mfs_cells: u32,
    network_tags: bool,
    discards_excess: bool,
    discards_oversized: bool,
}

/// The network's decision on a frame at its first switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// True if the frame passed F-GCRA.
    pub is_eligible: bool,
    /// True if it continues with CLP = 1.
    pub clp: bool,
    /// True if it is longer than MFS.
    pub is_oversized: bool,
    /// True if the network discards it.
    pub is_refused: bool,
}

impl GfrPolicer {
    /// For a VC with the contract `spec`.
    pub fn new(spec: &GfrSpec) -> Self {
        let slower = spec.mcr_interval_ps.saturating_sub(spec.pcr_interval_ps);
        // With this tau the adapter tags no full frame that F-GCRA would find eligible.
        let adapter = Adapter {
            mcr_interval: spec.mcr_interval_ps,
            pcr_interval: spec.pcr_interval_ps,
            tau: spec.burst_tolerance_ps + u64::from(spec.mfs_cells - 1) * slower,
            tat: 0,
        };
        GfrPolicer {
            adapter: (spec.tagging == Tagging::Adapter).then_some(adapter),
            gcra: FrameGcra::new(spec.mcr_interval_ps, spec.burst_tolerance_ps),
            mfs_cells: spec.mfs_cells,
            network_tags: spec.tagging == Tagging::Network,
            discards_excess: spec.excess == Excess::Discard,
            discards_oversized: spec.nonconforming == Nonconforming::Discard,
        }
    }

    /// The adapter begins to send a frame of `cells` cells at `start`: whether it tags it.
    pub fn on_sending(&mut self, start: SimTime, cells: u32) -> bool {
        self.adapter
            .as_mut()
            .is_some_and(|adapter| adapter.tags(start, cells))
    }

    /// The first cell of a frame of `cells` cells comes to the first switch at `at`.
    pub fn on_network(&mut self, at: SimTime, cells: u32, clp: bool) -> Judged {
        let is_oversized = cells > self.mfs_cells;
        let is_eligible = !clp && !is_oversized && self.gcra.on_frame(at, cells);
        self.judge(is_eligible, clp, is_oversized)
    }

    /// A frame comes whose first cell a policer of cells has discarded: it is not eligible, and
    /// F-GCRA, which looks at first cells, knows nothing of it.
    pub fn on_headless(&mut self, cells: u32, clp: bool) -> Judged {
        self.judge(false, clp, cells > self.mfs_cells)
    }

    fn judge(&self, is_eligible: bool, clp: bool, is_oversized: bool) -> Judged {
        let is_excess = !clp && !is_eligible;
        Judged {
            is_eligible,
            clp: clp || (self.network_tags && is_excess),
            is_oversized,
            is_refused: (is_oversized && self.discards_oversized)
                || (is_excess && self.discards_excess),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MCR 100 cells/s, PCR 1000 cells/s, MFS 10: intervals of 10 and 1 ms.
    fn contract(tagging: Tagging) -> GfrSpec {
        const MS: u64 = 1_000_000_000;
        GfrSpec {
            mcr_interval_ps: 10 * MS,
            pcr_interval_ps: MS,
            // (MBS - 1) (1/MCR - 1/PCR) with MBS = 11.
            burst_tolerance_ps: 10 * 9 * MS,
            mfs_cells: 10,
            tagging,
            excess: Excess::Pass,
            nonconforming: Nonconforming::Count,
            window_ps: 1,
            window_step_ps: 1,
        }
    }

    fn ms(ms: u64) -> SimTime {
        SimTime::from_millis(ms)
    }

    #[test]
    fn frames_at_pcr_are_eligible_until_the_burst_is_used_up() {
        // TAT after frame k of 10 cells sent from 0 on: 100 k ms; frame k comes at 10 k ms, so
        // eligible while 10 k >= 100 k - 90: k <= 1. At 100 ms TAT is 200: 100 >= 110 fails; at 110
        // it holds.
        let mut gcra = FrameGcra::new(ms(10).0, ms(90).0);
        let eligible: Vec<bool> = [0, 10, 20, 100, 110, 120]
            .map(|t| gcra.on_frame(ms(t), 10))
            .into();
        assert_eq!(eligible, [true, true, false, false, true, false]);
    }

    #[test]
    fn the_adapter_tags_what_the_network_would_not_find_eligible() {
        let mut adapter = GfrPolicer::new(&contract(Tagging::Adapter));
        let mut network = GfrPolicer::new(&contract(Tagging::None));
        for t in [0, 10, 20, 35, 100, 110, 120, 205, 215, 400, 410, 420] {
            let tagged = adapter.on_sending(ms(t), 10);
            let judged = network.on_network(ms(t), 10, false);
            assert_eq!(tagged, !judged.is_eligible, "at {t} ms");
            assert!(!judged.clp, "GFR.1 leaves CLP alone");
        }
    }

    #[test]
    fn short_frames_find_more_tolerance_in_the_adapter() {
        // tau = 90 + 9 x 9 = 171 ms. After two full frames TAT is 200. At 20 ms a full frame needs
        // 20 + 9 + 171 >= 200 + 90, a frame of one cell 20 + 171 >= 200; at 29 ms the latter holds.
        let mut policer = GfrPolicer::new(&contract(Tagging::Adapter));
        assert!(!policer.on_sending(ms(0), 10));
        assert!(!policer.on_sending(ms(10), 10));
        assert!(policer.on_sending(ms(20), 1));
        assert!(!policer.on_sending(ms(29), 1));
    }

    #[test]
    fn the_network_tags_frames_that_are_not_eligible_and_those_longer_than_mfs() {
        let mut policer = GfrPolicer::new(&contract(Tagging::Network));
        let judged = |is_eligible, clp, is_oversized| Judged {
            is_eligible,
            clp,
            is_oversized,
            is_refused: false,
        };
        assert_eq!(
            policer.on_network(ms(0), 11, false),
            judged(false, true, true)
        );
        assert_eq!(
            policer.on_network(ms(11), 10, false),
            judged(true, false, false)
        );
        // The sender tagged it: CLP = 1 frames have no part in the guarantee and use nothing up.
        assert_eq!(
            policer.on_network(ms(21), 10, true),
            judged(false, true, false)
        );
        assert_eq!(
            policer.on_network(ms(31), 10, false),
            judged(true, false, false)
        );
        assert_eq!(
            policer.on_network(ms(41), 10, false),
            judged(false, true, false)
        );
    }

    #[test]
    fn the_network_discards_excess_and_frames_longer_than_mfs_where_it_is_told_so() {
        let of = |excess, nonconforming| {
            let mut policer = GfrPolicer::new(&GfrSpec {
                excess,
                nonconforming,
                ..contract(Tagging::None)
            });
            let frames = [
                (0, 11, false),
                (11, 10, false),
                (21, 10, true),
                (22, 10, false),
                (32, 10, false),
            ];
            frames.map(|(t, cells, clp)| {
                let judged = policer.on_network(ms(t), cells, clp);
                (judged.is_eligible, judged.is_refused)
            })
        };
        // As above: too long; eligible; tagged by the sender; eligible; beyond the guarantee.
        let eligible = [false, true, false, true, false];
        let refused = |refused: [bool; 5]| std::array::from_fn(|i| (eligible[i], refused[i]));
        let none = of(Excess::Pass, Nonconforming::Count);
        assert_eq!(none, refused([false; 5]));
        let long = of(Excess::Pass, Nonconforming::Discard);
        assert_eq!(long, refused([true, false, false, false, false]));
        let excess = of(Excess::Discard, Nonconforming::Count);
        assert_eq!(excess, refused([true, false, false, false, true]));
    }

    #[test]
    fn a_frame_without_its_first_cell_is_not_eligible_and_uses_nothing_up() {
        let mut policer = GfrPolicer::new(&contract(Tagging::Network));
        for t in [0, 1, 2] {
            let judged = policer.on_headless(10, false);
            assert!(!judged.is_oversized, "MFS is ten cells");
            assert!(!judged.is_eligible && judged.clp, "at {t} ms");
        }
        assert!(policer.on_network(ms(3), 10, false).is_eligible);
        assert!(policer.on_network(ms(13), 10, false).is_eligible);
    }
}
