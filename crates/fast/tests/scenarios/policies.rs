//! Buffer policies with thresholds that tiny buffers cross.

use super::{Builder, MICROSECOND, MILLISECOND};
use skycell_spec::*;

impl Builder<'_> {
    pub(super) fn policy(&mut self, capacity: u32) -> PolicySpec {
        let threshold_cells = self.dice.below(u64::from(capacity) + 1) as u32;
        let fairness_threshold = self.dice.pick(&[0.8, 1.0, 0.3]);
        let partial_discard = !self.dice.one_in(3);
        match self.dice.below(17) {
            0 | 1 => PolicySpec::TailDrop,
            2 => PolicySpec::Ppd,
            3 => PolicySpec::Epd {
                threshold_cells,
                partial_discard,
            },
            4 => PolicySpec::SelectiveDrop {
                threshold_cells,
                fairness_threshold,
                partial_discard,
            },
            5 => PolicySpec::FairBufferAllocation {
                threshold_cells,
                fairness_threshold,
                partial_discard,
            },
            6 => PolicySpec::SingleDrop {
                thresholds_cells: (0..8)
                    .map(|_| (!self.dice.one_in(3)).then(|| self.dice.below(80) as u32))
                    .collect(),
                rearm_below_cells: self.dice.below(20) as u32,
            },
            9 => PolicySpec::PriorityDrop {
                tagged_cells: match self.dice.one_in(4) {
                    true => 0,
                    false => self.dice.below(u64::from(threshold_cells) + 1) as u32,
                },
                threshold_cells,
            },
            16 => PolicySpec::VcPriorityDrop {
                tagged_cells: self.dice.below(u64::from(threshold_cells) + 1) as u32,
                threshold_cells,
                vc_thresholds_cells: (0..8).map(|_| self.dice.below(60) as u32).collect(),
            },
            10 => PolicySpec::Red(self.red(capacity)),
            11 => PolicySpec::Fred(FredSpec {
                red: self.red(capacity),
                min_queue_cells: self.dice.below(60) as u32,
                frame_cells: 1 + self.dice.below(30) as u32,
            }),
            12 => PolicySpec::VirtualQueueing {
                threshold_cells: threshold_cells / 2,
            },
            13 => PolicySpec::DynamicEpd { threshold_cells },
            14 => PolicySpec::McrScheduling(McrSchedulingSpec {
                threshold_cells: threshold_cells / 2,
                interval_ps: self.dice.pick(&[MILLISECOND, 10 * MICROSECOND]),
                mcr_millicells: self.mcrs(),
            }),
            15 => PolicySpec::PmeEred(PmeEredSpec {
                red: self.red(capacity),
                interval_ps: self.dice.pick(&[MILLISECOND, 100 * MICROSECOND]),
                step: self.dice.pick(&[0.1, 1.0]),
                marked_part: self.dice.pick(&[0.0, 0.5]),
                mcr_millicells: self.mcrs(),
            }),
            _ => {
                let high_cells = 1 + self.dice.below(u64::from(capacity)) as u32;
                PolicySpec::Dfba {
                    low_cells: self.dice.below(u64::from(high_cells)) as u32,
                    high_cells,
                    alpha: self.dice.pick(&[0.5, 0.0, 1.0]),
                    mcr_millicells: self.mcrs(),
                    z: self.dice.pick(&[
                        DfbaZ::Fixed { value: 1.0 },
                        DfbaZ::Complement,
                        DfbaZ::ComplementSquared,
                    ]),
                    keeps_last_cells: self.dice.one_in(2),
                }
            }
        }
    }

    /// MCRs of the first VCs, thousandths of a cell a second.
    fn mcrs(&mut self) -> Vec<u64> {
        (0..8)
            .map(|_| self.dice.pick(&[0, 20_000_000, 40_000_000, 40_000_000]))
            .collect()
    }

    fn red(&mut self, capacity: u32) -> RedSpec {
        let min_cells = self.dice.below(u64::from(capacity)) as u32;
        RedSpec {
            min_cells,
            max_cells: min_cells + 1 + self.dice.below(u64::from(capacity)) as u32,
            max_p: self.dice.pick(&[0.02, 0.1, 1.0]),
            weight: self.dice.pick(&[0.002, 0.1, 1.0]),
            frame_ps: self.cell_time * 12,
        }
    }
}
