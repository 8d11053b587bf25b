//! Uplinks that terminals share: whether their links fit their slots and frames.

use crate::check::{range, structure};
use crate::check_classes::refused;
use crate::{AccessSpec, NetworkSpec, SpecError, UplinkSpec};
use skycell_declare::{Context, Rule};
use std::collections::BTreeSet;

/// Longest slot, and longest time until terminals know something: 10 s, picoseconds.
const LONGEST_PS: u64 = 10_000_000_000_000;

impl NetworkSpec {
    /// Refuses uplinks that cannot be simulated.
    pub(crate) fn validate_uplinks(&self) -> Result<(), SpecError> {
        let mut taken = BTreeSet::new();
        for (i, uplink) in self.uplinks.iter().enumerate() {
            let at = |key: &str| format!("uplinks[{i}].{key}");
            if self.uplinks[..i].iter().any(|one| one.name == uplink.name) {
                return Err(structure(at("name"), "is taken"));
            }
            if uplink.links.is_empty() {
                return Err(structure(at("links"), "needs a terminal"));
            }
            for (k, &link) in uplink.links.iter().enumerate() {
                let at = format!("uplinks[{i}].links[{k}]");
                if !taken.insert(link) {
                    return Err(structure(at, "is a terminal of an uplink once"));
                }
                self.validate_terminal(uplink, link, at)?;
            }
            if !(1..=4).contains(&uplink.slot_cells) {
                return Err(range(at("slot_cells"), uplink.slot_cells, "1 to 4"));
            }
            for (key, ps) in [
                ("slot_ps", uplink.slot_ps),
                ("feedback_ps", uplink.feedback_ps),
                ("response_ps", uplink.response_ps),
            ] {
                if ps > LONGEST_PS {
                    return Err(range(at(key), ps, "at most 10 s"));
                }
            }
            let access = uplink.access.check(&Context::default());
            access.map_err(|refusal| refused(refusal, &at("access")))?;
            let impairments = uplink.impairments.check(&Context::default());
            impairments.map_err(|refusal| refused(refusal, &at("impairments")))?;
            validate_frame(uplink, &at("access"))?;
        }
        Ok(())
    }

    fn validate_terminal(
        &self,
        uplink: &UplinkSpec,
        link: u32,
        at: String,
    ) -> Result<(), SpecError> {
        let Some(spec) = self.links.get(link as usize) else {
            return Err(structure(at, "no such link"));
        };
        let paced = |vc: &crate::VcSpec| vc.abr.is_some() && vc.path.contains(&link);
        let schedule = spec.schedule.as_ref();
        let cell_times = schedule.iter().flat_map(|own| &own.cell_times_ps);
        let longest_ps = cell_times.copied().max().unwrap_or(spec.cell_time_ps);
        let problem = if spec.framing.is_some() {
            "carries packets, and slots carry cells"
        } else if schedule.is_some_and(|own| !own.to.is_empty()) {
            "leads to several nodes, and an uplink leads to one"
        } else if spec.port.shaper.is_some() {
            "has a shaper, and slots say when it sends"
        } else if self.vcs.iter().any(paced) {
            "carries a VC whose rate is controlled"
        } else if uplink.slot_ps < longest_ps * u64::from(uplink.slot_cells) {
            "has cells that are longer than a slot"
        } else {
            return Ok(());
        };
        Err(structure(at, problem))
    }
}

/// Checks that a frame has room for its contents.
fn validate_frame(uplink: &UplinkSpec, at: &str) -> Result<(), SpecError> {
    let terminals = uplink.links.len() as u64;
    let constant = |slots: u32| u64::from(slots) * terminals;
    let (key, needed, room) = match &uplink.access {
        AccessSpec::Dama(own) if own.request_slots >= own.frame_slots => (
            "request_slots",
            own.request_slots.into(),
            own.frame_slots - 1,
        ),
        AccessSpec::Dama(own) => (
            "constant_slots",
            constant(own.constant_slots),
            own.frame_slots - own.request_slots,
        ),
        AccessSpec::Hybrid(own) => (
            "contention_slots",
            own.contention_slots.into(),
            own.frame_slots - 1,
        ),
        AccessSpec::FixedAssignment(own) => {
            ("constant_slots", constant(own.constant_slots), 65_536)
        }
        _ => return Ok(()),
    };
    if needed > u64::from(room) {
        let allowed = format!("at most {room} slots of a frame, of all terminals together");
        return Err(range(format!("{at}.{key}"), needed, &allowed));
    }
    Ok(())
}
