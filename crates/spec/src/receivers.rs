//! Receivers of one carrier, each with the rate that it can receive: adaptive coding and modulation (EN 302 307-1).

use crate::check::{range, structure};
use crate::{LinkSpec, NetworkSpec, SpecError};
use serde::{Deserialize, Serialize};
use skycell_declare::Declare;
use std::collections::BTreeSet;

/// A receiver of the packets of some VCs, which go at its own rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct ReceiverSpec {
    /// VC ids of what it receives, at least one.
    pub vcs: Vec<u32>,
    /// When each step begins, picoseconds from the start of the run, ascending, the first at 0.
    pub times_ps: Vec<u64>,
    /// Rate of the line in each step, thousandths of a bit a second, never above that of the link's `framing`; none where
    /// the receiver understands nothing. A packet whose transmission begins then is lost, and takes the rate of the last
    /// step that has one, or else of the first.
    pub rates_millibps: Vec<Option<u64>>,
}

impl ReceiverSpec {
    /// The rate at which a packet goes whose transmission begins at a time, picoseconds, and whether it is received.
    pub fn at(&self, time_ps: u64) -> (u64, bool) {
        let step = self.times_ps.partition_point(|&begin| begin <= time_ps) - 1;
        let rate = self.rates_millibps[step];
        let mut known = self.rates_millibps[..step].iter().rev();
        let last = || known.find_map(|&rate| rate);
        let first = || self.rates_millibps.iter().find_map(|&rate| rate);
        let sent = rate
            .or_else(last)
            .or_else(first)
            .expect("one step has a rate");
        (sent, rate.is_some())
    }
}

impl LinkSpec {
    /// Refuses receivers that cannot be simulated, but for their VCs.
    pub(crate) fn validate_receivers(&self, path: &str) -> Result<(), SpecError> {
        let Some(framing) = &self.framing else {
            let problem = "belong to a link that carries packets";
            return match self.receivers.is_empty() {
                true => Ok(()),
                false => Err(structure(path.into(), problem)),
            };
        };
        for (i, receiver) in self.receivers.iter().enumerate() {
            let at = |key: &str| format!("{path}[{i}].{key}");
            let ascends = receiver.times_ps.windows(2).all(|pair| pair[0] < pair[1]);
            if receiver.times_ps.first() != Some(&0) || !ascends {
                return Err(structure(at("times_ps"), "must ascend from 0"));
            }
            if receiver.rates_millibps.len() != receiver.times_ps.len()
                || receiver.rates_millibps.iter().all(Option::is_none)
            {
                let problem = "needs one for each step, and a rate in one of them";
                return Err(structure(at("rates_millibps"), problem));
            }
            for &rate in receiver.rates_millibps.iter().flatten() {
                framing.validate_rate(rate, &at("rates_millibps"))?;
                if rate > framing.rate_millibps {
                    let text = "at most the link's own rate";
                    return Err(range(at("rates_millibps"), rate, text));
                }
            }
        }
        let schedule = self.schedule.as_ref();
        if !self.receivers.is_empty() && schedule.is_some_and(|own| !own.rates_millibps.is_empty())
        {
            let problem = "have their own rates, and so does the schedule of the link";
            return Err(structure(path.into(), problem));
        }
        Ok(())
    }
}

impl NetworkSpec {
    /// Refuses receivers of VCs that do not cross the link, or that another one receives.
    pub(crate) fn validate_received_vcs(&self) -> Result<(), SpecError> {
        for (l, link) in self.links.iter().enumerate() {
            let mut taken = BTreeSet::new();
            for (i, receiver) in link.receivers.iter().enumerate() {
                let crosses = |vc: &u32| {
                    let vc = self.vcs.get(*vc as usize);
                    vc.is_some_and(|vc| vc.path.contains(&(l as u32)))
                };
                if receiver.vcs.is_empty() || !receiver.vcs.iter().all(crosses) {
                    let problem = "needs a VC, and all have to cross the link";
                    return Err(structure(format!("links[{l}].receivers[{i}].vcs"), problem));
                }
                if !receiver.vcs.iter().all(|vc| taken.insert(*vc)) {
                    let problem = "has a VC that was named before";
                    return Err(structure(format!("links[{l}].receivers[{i}].vcs"), problem));
                }
            }
        }
        Ok(())
    }
}
