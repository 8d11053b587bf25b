//! Where a VC enters the network: its policer and its contract, a frame at a time where frames stay whole.

use skycell_atm::{EdgeCell, GuaranteedVc, Policer};
use skycell_records::VcRecord;
use skycell_spec::{Excess, Nonconforming, PolicingAction, VcSpec};
use skycell_units::SimTime;

/// What watches the frames of a VC.
#[derive(Debug)]
pub(crate) struct Edge {
    policer: Option<Policer>,
    /// Its contract, if it has one.
    guaranteed: Option<GuaranteedVc>,
    end: SimTime,
    frames: u64,
    cells_nonconforming: u64,
    cells_tagged: u64,
    cells_policed: u64,
}

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entered {
    /// CLP of its first cell.
    pub(crate) is_tagged: bool,
    /// Whether all of it is discarded.
    pub(crate) is_refused: bool,
}

/// What a policer of cells has made of a frame.
#[derive(Clone, Copy, Debug, Default)]
struct Policed {
    first_is_tagged: bool,
    /// Whether another cell's CLP differs, as far as the run goes.
    is_mixed: bool,
}

/// Whether the edge of `vc` discards anything, frames or single cells.
pub(crate) fn may_discard(vc: &VcSpec) -> bool {
    let refuses = vc.gfr.is_some_and(|gfr| {
        gfr.excess == Excess::Discard || gfr.nonconforming == Nonconforming::Discard
    });
    refuses || has_action(vc, PolicingAction::Discard)
}

/// Whether frames may leave the edge of `vc` with cells missing, or, where tags matter, with CLP bits that
/// differ.
pub(crate) fn may_cut(vc: &VcSpec, tags_matter: bool) -> bool {
    let tags = has_action(vc, PolicingAction::Tag);
    let cuts = |nonconforming: Nonconforming| nonconforming == Nonconforming::Discard;
    // A tag in its midst lets the contract cut a frame off.
    let is_cut_off = tags && vc.gfr.is_some_and(|gfr| cuts(gfr.nonconforming));
    has_action(vc, PolicingAction::Discard) || is_cut_off || tags && tags_matter
}

fn has_action(vc: &VcSpec, action: PolicingAction) -> bool {
    vc.policing.iter().any(|bucket| bucket.action == action)
}

impl Edge {
    /// Of the VC with this spec, in a run that ends at `end`.
    pub(crate) fn new(vc: &VcSpec, end: SimTime) -> Self {
        Edge {
            policer: (!vc.policing.is_empty()).then(|| Policer::new(&vc.policing)),
            guaranteed: vc.gfr.map(|gfr| GuaranteedVc::new(&gfr, end)),
            end,
            frames: 0,
            cells_nonconforming: 0,
            cells_tagged: 0,
            cells_policed: 0,
        }
    }

    /// Whether anything watches the frames.
    pub(crate) fn is_watching(&self) -> bool {
        self.policer.is_some() || self.guaranteed.is_some()
    }

    /// A frame of `cells` cells, `spacing` apart, begins to leave the end system at `start`; its first
    /// cell comes to the first switch `across` later.
    pub(crate) fn on_frame(
        &mut self,
        start: SimTime,
        across: SimTime,
        spacing: SimTime,
        cells: u32,
    ) -> Entered {
        let at = start + across;
        let policed = self.police(at, spacing, cells);
        let Some(guaranteed) = &mut self.guaranteed else {
            return Entered {
                is_tagged: policed.first_is_tagged,
                is_refused: false,
            };
        };
        let by_adapter = guaranteed.on_sending(start, cells);
        let clp = by_adapter || policed.first_is_tagged;
        let is_inconsistent = policed.is_mixed && !by_adapter;
        let judged = guaranteed.on_frame(at, spacing, cells, clp, is_inconsistent);
        Entered {
            is_tagged: judged.is_tagged,
            is_refused: judged.is_refused,
        }
    }

    /// The same where single cells may be discarded or tagged: tells of those that go on, in order, place in
    /// the frame and CLP.
    pub(crate) fn on_cells(
        &mut self,
        start: SimTime,
        across: SimTime,
        spacing: SimTime,
        cells: u32,
        mut tell: impl FnMut(u32, bool),
    ) {
        self.frames += 1;
        let by_adapter = self.on_sending(start, cells);
        for index in 0..cells {
            let at = start + across + SimTime(u64::from(index) * spacing.0);
            if at >= self.end {
                return;
            }
            let cell = EdgeCell {
                serial: self.frames,
                index,
                cells,
                by_adapter,
                by_policer: false,
            };
            if let Some(clp) = self.on_cell(at, cell, true) {
                tell(index, clp);
            }
        }
    }

    /// A frame of `cells` cells begins to leave the end system at `start`: whether its adapter tags it.
    pub(crate) fn on_sending(&mut self, start: SimTime, cells: u32) -> bool {
        let guaranteed = self.guaranteed.as_mut();
        guaranteed.is_some_and(|vc| vc.on_sending(start, cells))
    }

    /// A cell comes at `at` to where its VC enters, and from there to a switch if it `goes_on`: its CLP, unless it is
    /// discarded.
    pub(crate) fn on_cell(&mut self, at: SimTime, cell: EdgeCell, goes_on: bool) -> Option<bool> {
        let action = self.police_cell(at);
        let by_policer = action == Some(PolicingAction::Tag);
        if action == Some(PolicingAction::Discard) {
            return None;
        }
        match &mut self.guaranteed {
            Some(guaranteed) if goes_on => guaranteed.on_cell(at, EdgeCell { by_policer, ..cell }),
            _ => Some(by_policer),
        }
    }

    /// The policer's cells of a frame, none of which it discards.
    fn police(&mut self, at: SimTime, spacing: SimTime, cells: u32) -> Policed {
        let mut policed = Policed::default();
        if self.policer.is_none() {
            return policed;
        }
        for index in 0..cells {
            let at = at + SimTime(u64::from(index) * spacing.0);
            if at >= self.end {
                break;
            }
            let is_tagged = self.police_cell(at) == Some(PolicingAction::Tag);
            if index == 0 {
                policed.first_is_tagged = is_tagged;
            }
            policed.is_mixed |= is_tagged != policed.first_is_tagged;
        }
        policed
    }

    /// A cell of a source whose VC has no contract comes at `at`: whether it goes on.
    pub(crate) fn passes(&mut self, at: SimTime) -> bool {
        self.police_cell(at) != Some(PolicingAction::Discard)
    }

    /// A cell comes to the policer, if there is one, at `at`: what becomes of it if it does not conform.
    fn police_cell(&mut self, at: SimTime) -> Option<PolicingAction> {
        let action = self.policer.as_mut()?.on_cell(at)?;
        self.cells_nonconforming += 1;
        match action {
            PolicingAction::Count => {}
            PolicingAction::Tag => self.cells_tagged += 1,
            PolicingAction::Discard => self.cells_policed += 1,
        }
        Some(action)
    }

    /// A whole frame of `cells` cells has come to the VC's end at `at`.
    pub(crate) fn on_delivered(&mut self, at: SimTime, cells: u32) {
        if let Some(guaranteed) = &mut self.guaranteed {
            guaranteed.on_delivered(at, cells);
        }
    }

    /// Writes what was counted into the VC's record, whose cells are told.
    pub(crate) fn write(&self, record: &mut VcRecord) {
        record.cells_nonconforming = self.cells_nonconforming;
        record.cells_tagged = self.cells_tagged;
        record.cells_policed = self.cells_policed;
        if let Some(guaranteed) = &self.guaranteed {
            guaranteed.write(record);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skycell_spec::{GcraSpec, GfrSpec, ServiceClass, Tagging};

    const MS: u64 = 1_000_000_000;

    /// A VC whose policer lets a cell pass every 2 ms, five at once, and does `action` to the others.
    fn vc(action: PolicingAction, gfr: Option<GfrSpec>) -> VcSpec {
        VcSpec {
            name: "vc".into(),
            path: vec![0, 1],
            rerouting: None,
            class: ServiceClass::Ubr,
            gfr,
            abr: None,
            policing: vec![GcraSpec {
                increment_ps: 2 * MS,
                limit_ps: 4 * MS,
                action,
            }],
        }
    }

    fn gfr(nonconforming: Nonconforming) -> GfrSpec {
        GfrSpec {
            mcr_interval_ps: 10 * MS,
            pcr_interval_ps: MS,
            burst_tolerance_ps: 90 * MS,
            mfs_cells: 10,
            tagging: Tagging::None,
            excess: Excess::Pass,
            nonconforming,
            window_ps: 1_000 * MS,
            window_step_ps: 1_000 * MS,
        }
    }

    /// Place and CLP of the cells that go on of a frame of eight, a millisecond apart.
    fn cells(edge: &mut Edge, start: u64) -> Vec<(u32, bool)> {
        let mut cells = Vec::new();
        let times = (SimTime(start * MS), SimTime(MS), SimTime(MS));
        edge.on_cells(times.0, times.1, times.2, 8, |index, clp| {
            cells.push((index, clp))
        });
        cells
    }

    fn record(edge: &Edge) -> VcRecord {
        let mut record = VcRecord::default();
        edge.write(&mut record);
        record
    }

    #[test]
    fn a_policer_that_discards_lets_every_second_cell_pass_once_its_bucket_is_full() {
        let spec = vc(PolicingAction::Discard, None);
        assert!(may_discard(&spec) && may_cut(&spec, false));
        let mut edge = Edge::new(&spec, SimTime(1_000 * MS));
        let passed: Vec<u32> = cells(&mut edge, 0).into_iter().map(|cell| cell.0).collect();
        assert_eq!(passed, [0, 1, 2, 3, 4, 6]);
        let record = record(&edge);
        assert_eq!((record.cells_policed, record.cells_nonconforming), (2, 2));
    }

    #[test]
    fn a_contract_cuts_off_what_follows_a_tag_but_for_the_last_cell() {
        let spec = vc(PolicingAction::Tag, Some(gfr(Nonconforming::Discard)));
        assert!(may_discard(&spec) && may_cut(&spec, false));
        let mut edge = Edge::new(&spec, SimTime(1_000 * MS));
        // The sixth is tagged and cut off with the seventh; the last one ends what went before.
        let expected: Vec<(u32, bool)> = (0..5)
            .map(|index| (index, false))
            .chain([(7, true)])
            .collect();
        assert_eq!(cells(&mut edge, 0), expected);
        assert_eq!(record(&edge).cells_refused, 2);
    }

    #[test]
    fn cells_one_by_one_are_counted_as_whole_frames_are() {
        let spec = vc(PolicingAction::Tag, Some(gfr(Nonconforming::Count)));
        assert!(!may_discard(&spec) && !may_cut(&spec, false) && may_cut(&spec, true));
        let end = SimTime(103 * MS);
        let (mut single, mut whole) = (Edge::new(&spec, end), Edge::new(&spec, end));
        for start in [0, 9, 40, 98] {
            let passed = cells(&mut single, start);
            let at = SimTime(start * MS);
            let entered = whole.on_frame(at, SimTime(MS), SimTime(MS), 8);
            assert!(!entered.is_refused);
            assert_eq!(passed.first(), Some(&(0, entered.is_tagged)));
        }
        assert_eq!(record(&single), record(&whole));
        assert!(record(&whole).cells_tagged > 0);
    }
}
