//! Where a VC enters the network: its policer and its contract. A contract alone decides about a frame at once; where a
//! policer looks at the cells of frames they come one by one, from a port that is stepped.

use skycell_atm::{EdgeCell, GuaranteedVc, Judged, Policer};
use skycell_records::VcRecord;
use skycell_spec::{PolicingAction, VcSpec};
use skycell_units::SimTime;

/// The contract and policer that watch the frames of a VC.
#[derive(Debug)]
pub(crate) struct Edge {
    policer: Option<Policer>,
    /// Its contract, if it has one.
    guaranteed: Option<GuaranteedVc>,
    cells_nonconforming: u64,
    cells_tagged: u64,
    cells_policed: u64,
}

impl Edge {
    /// Of the VC with this spec, in a run that ends at `end` and counts from `from` on.
    pub(crate) fn new(vc: &VcSpec, from: SimTime, end: SimTime) -> Self {
        Edge {
            policer: (!vc.policing.is_empty()).then(|| Policer::new(&vc.policing)),
            guaranteed: vc.gfr.map(|gfr| GuaranteedVc::new(&gfr, from, end)),
            cells_nonconforming: 0,
            cells_tagged: 0,
            cells_policed: 0,
        }
    }

    /// Of a VC that is watched elsewhere, or not at all.
    pub(crate) fn none() -> Self {
        Edge {
            policer: None,
            guaranteed: None,
            cells_nonconforming: 0,
            cells_tagged: 0,
            cells_policed: 0,
        }
    }

    /// Returns whether anything watches the frames.
    pub(crate) fn is_watching(&self) -> bool {
        self.policer.is_some() || self.guaranteed.is_some()
    }

    /// A frame of `cells` cells, `spacing` apart, begins to leave the end system at `start`; its first
    /// cell comes to the first switch `across` later. What the contract makes of it, if there is one and no policer.
    pub(crate) fn on_frame(
        &mut self,
        start: SimTime,
        across: SimTime,
        spacing: SimTime,
        cells: u32,
    ) -> Option<Judged> {
        debug_assert!(self.policer.is_none(), "it looks at single cells");
        let by_adapter = self.on_sending(start, cells);
        let guaranteed = self.guaranteed.as_mut()?;
        Some(guaranteed.on_frame(start + across, spacing, cells, by_adapter))
    }

    /// A frame of `cells` cells begins to leave the end system at `start`: whether its adapter tags it.
    pub(crate) fn on_sending(&mut self, start: SimTime, cells: u32) -> bool {
        let guaranteed = self.guaranteed.as_mut();
        guaranteed.is_some_and(|vc| vc.on_sending(start, cells))
    }

    /// A cell comes at `at` to where its VC enters, and from there to a switch if it `is_forwarded`: its CLP, unless it is
    /// discarded.
    pub(crate) fn on_cell(
        &mut self,
        at: SimTime,
        cell: EdgeCell,
        is_forwarded: bool,
    ) -> Option<bool> {
        let action = self.police_cell(at);
        let by_policer = action == Some(PolicingAction::Tag);
        if action == Some(PolicingAction::Discard) {
            return None;
        }
        match &mut self.guaranteed {
            Some(guaranteed) if is_forwarded => {
                guaranteed.on_cell(at, EdgeCell { by_policer, ..cell })
            }
            _ => Some(by_policer),
        }
    }

    /// A cell of a source whose VC has no contract comes at `at`: whether it goes on.
    pub(crate) fn passes(&mut self, at: SimTime) -> bool {
        self.police_cell(at) != Some(PolicingAction::Discard)
    }

    /// A cell with CLP = 0, as all are in front of a policer here, comes to it at `at`, if there is one: what becomes of it if
    /// it does not conform.
    fn police_cell(&mut self, at: SimTime) -> Option<PolicingAction> {
        let action = self.policer.as_mut()?.on_cell(at, false)?;
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

    /// Takes over what was counted at the VC's end, in another region of the network.
    pub(crate) fn take_end(&mut self, end: Edge) {
        if let (Some(guaranteed), Some(end)) = (&mut self.guaranteed, end.guaranteed) {
            guaranteed.take_end(end);
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
    use skycell_spec::{Excess, GcraSpec, GfrSpec, Nonconforming, ServiceClass, Tagging};

    const MS: u64 = 1_000_000_000;

    /// A VC whose policer lets a cell pass every 2 ms, five at once, and does `action` to the others.
    fn edge(action: PolicingAction, gfr: Option<GfrSpec>) -> Edge {
        let bucket = GcraSpec {
            increment_ps: 2 * MS,
            limit_ps: 4 * MS,
            action,
            clp0_only: false,
        };
        let vc = VcSpec {
            resequencer: None,
            by_label: None,
            name: "vc".into(),
            path: vec![0, 1],
            rerouting: None,
            class: ServiceClass::Ubr,
            gfr,
            abr: None,
            policing: vec![bucket],
        };
        Edge::new(&vc, SimTime::ZERO, SimTime(1_000 * MS))
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
    fn cells(edge: &mut Edge) -> Vec<(u32, bool)> {
        let by_adapter = edge.on_sending(SimTime(0), 8);
        let on_cell = |index: u32| {
            let cell = EdgeCell {
                serial: 1,
                index,
                cells: 8,
                by_adapter,
                by_policer: false,
            };
            let at = SimTime(u64::from(index + 1) * MS);
            Some((index, edge.on_cell(at, cell, true)?))
        };
        (0..8).filter_map(on_cell).collect()
    }

    fn record(edge: &Edge) -> VcRecord {
        let mut record = VcRecord::default();
        edge.write(&mut record);
        record
    }

    #[test]
    fn a_policer_that_discards_lets_every_second_cell_pass_once_its_bucket_is_full() {
        let mut edge = edge(PolicingAction::Discard, None);
        let passed: Vec<u32> = cells(&mut edge).into_iter().map(|cell| cell.0).collect();
        assert_eq!(passed, [0, 1, 2, 3, 4, 6]);
        let record = record(&edge);
        assert_eq!((record.cells_policed, record.cells_nonconforming), (2, 2));
    }

    #[test]
    fn a_contract_cuts_off_what_follows_a_tag_but_for_the_last_cell() {
        let mut edge = edge(PolicingAction::Tag, Some(gfr(Nonconforming::Discard)));
        // The sixth is tagged and cut off with the seventh; the last one ends what went before.
        let whole = (0..5).map(|index| (index, false));
        let expected: Vec<(u32, bool)> = whole.chain([(7, true)]).collect();
        assert_eq!(cells(&mut edge), expected);
        assert_eq!(record(&edge).cells_refused, 2);
    }
}
