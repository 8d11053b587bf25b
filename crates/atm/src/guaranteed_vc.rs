//! A VC with a GFR contract: what it sends is held against it, and what it gets is counted.

use crate::{GfrPolicer, Judged};
use skycell_records::{RunGuarantee, VcRecord, WindowMeter};
use skycell_spec::{GfrSpec, Nonconforming};
use skycell_units::SimTime;

/// The policer of a VC and the counts of its record.
#[derive(Clone, Debug)]
pub struct GuaranteedVc {
    policer: GfrPolicer,
    discards_inconsistent: bool,
    under_way: Option<UnderWay>,
    meter: WindowMeter,
    /// Cells due in a window, and in the run.
    due_cells: u64,
    run_due_cells: u64,
    from: SimTime,
    end: SimTime,
    frames_eligible: u64,
    cells_eligible: u64,
    frames_tagged: u64,
    frames_oversized: u64,
    frames_inconsistent: u64,
    frames_refused: u64,
    cells_refused: u64,
}

/// A cell of a VC with a contract where it enters the first switch.
#[derive(Clone, Copy, Debug)]
pub struct EdgeCell {
    /// Number of its frame in the run.
    pub serial: u64,
    /// Place in its frame, from 0.
    pub index: u32,
    /// Length of its frame, cells.
    pub cells: u32,
    /// True if the end system's adapter has tagged the frame.
    pub by_adapter: bool,
    /// True if a policer of cells has tagged the cell.
    pub by_policer: bool,
}

/// A frame of which some cell has come to the first switch.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    serial: u64,
    judged: Judged,
    /// CLP of its first cell.
    first_clp: bool,
    is_inconsistent: bool,
}

impl GuaranteedVc {
    /// For a VC with the contract `spec`, in a run that ends at `end` and counts from `from` on.
    pub fn new(spec: &GfrSpec, from: SimTime, end: SimTime) -> Self {
        // A stretch of time sees whole frames, the one under way at its end not.
        let due = |time: u64| {
            let cells = time / spec.mcr_interval_ps;
            cells.saturating_sub(u64::from(spec.mfs_cells))
        };
        GuaranteedVc {
            policer: GfrPolicer::new(spec),
            discards_inconsistent: spec.nonconforming == Nonconforming::Discard,
            under_way: None,
            meter: WindowMeter::new(spec.window_ps, spec.window_step_ps),
            due_cells: due(spec.window_ps),
            run_due_cells: due(end.0 - from.0),
            from,
            end,
            frames_eligible: 0,
            cells_eligible: 0,
            frames_tagged: 0,
            frames_oversized: 0,
            frames_inconsistent: 0,
            frames_refused: 0,
            cells_refused: 0,
        }
    }

    /// The adapter begins to send a frame of `cells` cells at `start`: whether it tags it.
    pub fn on_sending(&mut self, start: SimTime, cells: u32) -> bool {
        self.policer.on_sending(start, cells)
    }

    /// A cell comes to the first switch at `at`, within the run: none if the network discards it,
    /// else its CLP bit.
    pub fn on_cell(&mut self, at: SimTime, cell: EdgeCell) -> Option<bool> {
        let clp = cell.by_adapter || cell.by_policer;
        let known = self.under_way.filter(|frame| frame.serial == cell.serial);
        let mut frame = known.unwrap_or_else(|| {
            let judged = match cell.index {
                0 => self.policer.on_network(at, cell.cells, clp),
                _ => self.policer.on_headless(cell.cells, clp),
            };
            self.count(&judged, cell.cells);
            UnderWay {
                serial: cell.serial,
                judged,
                first_clp: clp,
                is_inconsistent: false,
            }
        });
        if clp != frame.first_clp && !frame.is_inconsistent {
            frame.is_inconsistent = true;
            self.frames_inconsistent += 1;
            // What is discarded whole counts as refused already.
            let is_first_refused = self.discards_inconsistent && !frame.judged.is_refused;
            self.frames_refused += u64::from(is_first_refused);
        }
        self.under_way = Some(frame);
        let eom = cell.index + 1 == cell.cells;
        let is_cut_off = self.discards_inconsistent && frame.is_inconsistent && !eom;
        if frame.judged.is_refused || is_cut_off {
            self.cells_refused += 1;
            return None;
        }
        Some(cell.by_policer || frame.judged.clp)
    }

    /// All cells of a frame, `spacing` apart, come to the first switch, the first of them at `at`;
    /// the frame counts as far as that is within the run. `clp` is that of all of them.
    pub fn on_frame(&mut self, at: SimTime, spacing: SimTime, cells: u32, clp: bool) -> Judged {
        let judged = self.policer.on_network(at, cells, clp);
        if at < self.end {
            self.count(&judged, cells);
            if judged.is_refused {
                let later = (self.end.0 - 1 - at.0) / spacing.0;
                self.cells_refused += 1 + later.min(u64::from(cells - 1));
            }
        }
        judged
    }

    fn count(&mut self, judged: &Judged, cells: u32) {
        self.frames_eligible += u64::from(judged.is_eligible);
        self.cells_eligible += u64::from(judged.is_eligible) * u64::from(cells);
        self.frames_tagged += u64::from(judged.clp && !judged.is_refused);
        self.frames_oversized += u64::from(judged.is_oversized);
        self.frames_refused += u64::from(judged.is_refused);
    }

    /// A whole frame of `cells` cells has come to the VC's end at `at`.
    pub fn on_delivered(&mut self, at: SimTime, cells: u32) {
        self.meter.on_delivered(at.0, cells);
    }

    /// Takes over what was counted at the VC's end, in another region of the network.
    pub fn take_end(&mut self, end: GuaranteedVc) {
        self.meter = end.meter;
    }

    /// Cells that the network has discarded at the first switch.
    pub fn cells_refused(&self) -> u64 {
        self.cells_refused
    }

    /// Writes the counts into the VC's record, whose cells are told.
    pub fn write(&self, record: &mut VcRecord) {
        record.frames_eligible = self.frames_eligible;
        record.cells_eligible = self.cells_eligible;
        record.frames_tagged = self.frames_tagged;
        record.frames_oversized = self.frames_oversized;
        record.frames_inconsistent = self.frames_inconsistent;
        record.frames_refused = self.frames_refused;
        record.cells_refused = self.cells_refused;
        record.guarantee = (self.meter).record(self.from.0, self.end.0, self.due_cells);
        let under_way = record.cells_queued + record.cells_in_transit + record.cells_open;
        record.run_guarantee = RunGuarantee {
            due_cells: self.run_due_cells,
            is_met: record.cells_whole >= self.run_due_cells,
            is_eligible_met: record.cells_whole + under_way >= self.cells_eligible,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skycell_spec::{Excess, Tagging};

    const MS: u64 = 1_000_000_000;

    /// MCR 100 cells/s, PCR 1000 cells/s, MFS 10, MBS 11; a run of 2 s.
    fn contract(excess: Excess, nonconforming: Nonconforming) -> GfrSpec {
        GfrSpec {
            mcr_interval_ps: 10 * MS,
            pcr_interval_ps: MS,
            burst_tolerance_ps: 10 * 9 * MS,
            mfs_cells: 10,
            tagging: Tagging::None,
            excess,
            nonconforming,
            window_ps: 1_000 * MS,
            window_step_ps: 1_000 * MS,
        }
    }

    fn vc(excess: Excess, nonconforming: Nonconforming) -> GuaranteedVc {
        GuaranteedVc::new(
            &contract(excess, nonconforming),
            SimTime::ZERO,
            SimTime(2_000 * MS),
        )
    }

    fn cell(serial: u64, index: u32, cells: u32, by_policer: bool) -> EdgeCell {
        EdgeCell {
            serial,
            index,
            cells,
            by_adapter: false,
            by_policer,
        }
    }

    fn counts(vc: &GuaranteedVc) -> VcRecord {
        let mut record = VcRecord::default();
        vc.write(&mut record);
        record
    }

    #[test]
    fn frames_beyond_the_guarantee_are_discarded_whole() {
        let mut vc = vc(Excess::Discard, Nonconforming::Count);
        // Two frames of ten cells at once are eligible, the third is not, its last cell included.
        for serial in 0..3 {
            for index in 0..10 {
                let at = SimTime::from_millis(10 * serial + u64::from(index));
                let clp = vc.on_cell(at, cell(serial, index, 10, false));
                assert_eq!(clp, (serial < 2).then_some(false));
            }
        }
        let record = counts(&vc);
        assert_eq!((record.frames_eligible, record.cells_eligible), (2, 20));
        assert_eq!((record.frames_refused, record.cells_refused), (1, 10));
        assert_eq!(record.frames_tagged, 0);
    }

    #[test]
    fn a_frame_is_inconsistent_from_the_cell_whose_clp_is_not_that_of_the_first() {
        let clps = [false, false, true, false, true];
        let of = |nonconforming| {
            let mut vc = vc(Excess::Pass, nonconforming);
            let passes = (0..5).map(|index| {
                let by_policer = clps[index as usize];
                vc.on_cell(SimTime(0), cell(7, index, 5, by_policer))
            });
            let passes: Vec<_> = passes.collect();
            let record = counts(&vc);
            let refused = (record.frames_refused, record.cells_refused);
            (passes, record.frames_inconsistent, refused)
        };
        let counted: Vec<_> = clps.iter().map(|&clp| Some(clp)).collect();
        assert_eq!(of(Nonconforming::Count), (counted, 1, (0, 0)));
        // The third and fourth cell go; the last one ends what went before.
        let cut = vec![Some(false), Some(false), None, None, Some(true)];
        assert_eq!(of(Nonconforming::Discard), (cut, 1, (1, 2)));
    }

    #[test]
    fn a_frame_at_once_counts_as_its_cells_would_as_far_as_the_run_goes() {
        let spacing = SimTime(MS);
        let (mut whole, mut single) = (
            vc(Excess::Discard, Nonconforming::Discard),
            vc(Excess::Discard, Nonconforming::Discard),
        );
        // The fifth cell of the last frame but one comes a picosecond before the end, the last frame at it.
        let frames = [
            (0, 10),
            (10 * MS, 10),
            (20 * MS, 10),
            (31 * MS, 12),
            (1_996 * MS - 1, 12),
            (2_000 * MS, 12),
        ];
        for (serial, (at, cells)) in frames.into_iter().enumerate() {
            let at = SimTime(at);
            whole.on_frame(at, spacing, cells, false);
            for index in 0..cells {
                let at = at + SimTime(u64::from(index) * spacing.0);
                if at < SimTime(2_000 * MS) {
                    single.on_cell(at, cell(serial as u64, index, cells, false));
                }
            }
        }
        assert_eq!(counts(&whole), counts(&single));
        // The third, the fourth, and five cells of the fifth.
        assert_eq!(counts(&whole).cells_refused, 10 + 12 + 5);
        assert_eq!(counts(&whole).frames_oversized, 2);
    }

    #[test]
    fn the_guarantee_over_the_run_is_mcr_less_a_frame_and_what_was_eligible() {
        let mut vc = vc(Excess::Pass, Nonconforming::Count);
        vc.on_frame(SimTime(0), SimTime(MS), 10, false);
        let at = |cells_whole, [cells_queued, cells_in_transit, cells_open]: [u64; 3]| {
            let mut record = VcRecord {
                cells_whole,
                cells_queued,
                cells_in_transit,
                cells_open,
                ..VcRecord::default()
            };
            vc.write(&mut record);
            record.run_guarantee
        };
        // 2 s at 100 cells/s, less 10.
        let met = |is_met, is_eligible_met| RunGuarantee {
            due_cells: 190,
            is_met,
            is_eligible_met,
        };
        assert_eq!(at(190, [0; 3]), met(true, true));
        assert_eq!(at(189, [0; 3]), met(false, true));
        assert_eq!(at(7, [1, 1, 1]), met(false, true));
        for missing in [[0, 1, 1], [1, 0, 1], [1, 1, 0]] {
            assert_eq!(at(7, missing), met(false, false));
        }
    }

    #[test]
    fn tagged_frames_are_counted_unless_they_are_discarded() {
        let tagged = |excess| {
            let mut spec = contract(excess, Nonconforming::Count);
            spec.tagging = Tagging::Network;
            let mut vc = GuaranteedVc::new(&spec, SimTime::ZERO, SimTime(2_000 * MS));
            // Two are eligible, three are not.
            for k in 0..5 {
                vc.on_frame(SimTime(10 * k * MS), SimTime(MS), 10, false);
            }
            let record = counts(&vc);
            (record.frames_tagged, record.frames_refused)
        };
        assert_eq!(tagged(Excess::Pass), (3, 0));
        assert_eq!(tagged(Excess::Discard), (0, 3));
    }

    #[test]
    fn a_window_is_met_that_gets_its_mcr_less_a_frame_in_whole_frames() {
        // Two windows of 1 s at 100 cells/s, less 10: 90 cells are due in each.
        let mut vc = vc(Excess::Pass, Nonconforming::Count);
        for (at, cells) in [(100, 50), (900, 40), (1_500, 89)] {
            vc.on_delivered(SimTime(at * MS), cells);
        }
        let guarantee = counts(&vc).guarantee;
        assert_eq!((guarantee.windows, guarantee.met), (2, 1));
        assert_eq!((guarantee.due_cells, guarantee.least_cells), (90, 89));
    }
}
