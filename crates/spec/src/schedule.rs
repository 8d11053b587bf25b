//! Links that change while the run goes on: moving satellites, handovers, outages, rates and losses.

use crate::check::{range, structure};
use crate::{LinkSpec, SpecError, WHOLE_PPB};
use serde::{Deserialize, Serialize};
use skycell_declare::Declare;

/// The delay of a link over time, in steps, and perhaps its rate and what it loses.
///
/// A cell enters the link when its last bit leaves the port, and takes the delay of the step in
/// force at that instant. Cells on one path keep their order: none arrives before the one ahead of
/// it. A change of path is a handover: cells under way arrive by the old path, whatever overtakes
/// them on the new one, and buffered cells go on by the new path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct ScheduleSpec {
    /// When each step begins, picoseconds from the start of the run, ascending, the first at 0. The
    /// last one lasts to the end of the run.
    pub times_ps: Vec<u64>,
    /// Delay in each step, picoseconds; none while there is no path. Then the port begins no
    /// transmission; a cell that is under transmission when the path ends still takes it.
    pub delays_ps: Vec<Option<u64>>,
    /// Which path each step is; steps with equal numbers are one path only while they follow each
    /// other.
    pub paths: Vec<u32>,
    /// Time of a cell whose transmission begins in each step, picoseconds, never below the link's
    /// `cell_time_ps`; empty where it is the link's in all of them.
    pub cell_times_ps: Vec<u64>,
    /// Rate of the line in each step, thousandths of a bit a second, never above that of the link's `framing`;
    /// only where the link carries packets, and left out where the rate is the link's in all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates_millibps: Vec<u64>,
    /// Part of a thousand million of the frames whose first cell enters in each step that is lost, drawn as the
    /// link's `loss_ppb` is, which is 0 then; empty where it is the link's in all of them.
    pub losses_ppb: Vec<u32>,
    /// The node that the link leads to in each step; empty where it is always the link's `to`, which
    /// else is that of the first step. A cell arrives where the link led when it entered.
    pub to: Vec<u32>,
    /// After a handover no transmission begins for this long, picoseconds.
    pub interruption_ps: u64,
    /// True if the cells that are under way at a handover are lost (held by the old satellite).
    pub handover_loses_cells: bool,
}

impl ScheduleSpec {
    /// Refuses what cannot be simulated on `link`.
    pub(crate) fn validate(&self, link: &LinkSpec, path: &str) -> Result<(), SpecError> {
        let at = |key: &str| format!("{path}.{key}");
        let steps = self.times_ps.len();
        if steps == 0 || self.delays_ps.len() != steps || self.paths.len() != steps {
            return Err(structure(
                path.to_string(),
                "needs as many times as delays and paths, and at least one",
            ));
        }
        let ascends = self.times_ps.windows(2).all(|pair| pair[0] < pair[1]);
        if self.times_ps[0] != 0 || !ascends {
            return Err(structure(at("times_ps"), "must ascend from 0"));
        }
        let delays = self.delays_ps.iter().flatten().copied();
        if delays
            .clone()
            .any(|delay| delay > crate::check::DELAY_MAX_PS)
        {
            return Err(range(at("delays_ps"), "a delay above it", "at most 1 day"));
        }
        if delays.min() != Some(link.delay_ps) {
            return Err(structure(
                path.to_string(),
                "needs a step with a delay, and delay_ps is the least of them",
            ));
        }
        self.validate_rates(link, path)?;
        if self.interruption_ps > crate::check::DELAY_MAX_PS {
            return Err(range(
                at("interruption_ps"),
                self.interruption_ps,
                "at most 1 day",
            ));
        }
        Ok(())
    }

    fn validate_rates(&self, link: &LinkSpec, path: &str) -> Result<(), SpecError> {
        let at = |key: &str| format!("{path}.{key}");
        for (key, values) in [
            ("cell_times_ps", self.cell_times_ps.len()),
            ("rates_millibps", self.rates_millibps.len()),
            ("losses_ppb", self.losses_ppb.len()),
            ("to", self.to.len()),
        ] {
            if values != 0 && values != self.times_ps.len() {
                return Err(structure(at(key), "needs one for each step, or none"));
            }
        }
        let other_unit = match link.framing {
            None => ("rates_millibps", self.rates_millibps.len()),
            Some(_) => ("cell_times_ps", self.cell_times_ps.len()),
        };
        if other_unit.1 > 0 {
            let problem = "of a link that carries packets are rates_millibps, else cell_times_ps";
            return Err(structure(at(other_unit.0), problem));
        }
        if let Some(framing) = &link.framing {
            for &rate in &self.rates_millibps {
                framing.validate_rate(rate, &at("rates_millibps"))?;
                if rate > framing.rate_millibps {
                    let text = "at most the link's own rate";
                    return Err(range(at("rates_millibps"), rate, text));
                }
            }
        }
        let allowed = link.cell_time_ps..=crate::check::CELL_TIME_MAX_PS;
        if let Some(other) = self.cell_times_ps.iter().find(|t| !allowed.contains(t)) {
            let text = "from the link's cell_time_ps to 1 s";
            return Err(range(at("cell_times_ps"), other, text));
        }
        if let Some(other) = self.losses_ppb.iter().find(|&&part| part > WHOLE_PPB) {
            return Err(range(at("losses_ppb"), other, "at most 1000000000"));
        }
        if link.loss_ppb > 0 && !self.losses_ppb.is_empty() {
            let problem = "needs a loss_ppb of 0 beside it";
            return Err(structure(at("losses_ppb"), problem));
        }
        Ok(())
    }
}
