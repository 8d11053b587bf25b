//! Calls: connections that come and go, as they were decided on before the run.

use crate::check::{RUN_MAX_PS, range, structure};
use crate::{NetworkSpec, SpecError};
use serde::{Deserialize, Serialize};
use skycell_declare::Declare;

/// The calls of a class: when each is asked for, and whether all its links have room for it.
///
/// Those that are put through are in the [bursts](crate::SourcePattern::Bursts) of sources; an engine only counts them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct CallsSpec {
    /// Name in the scenario, unique among the calls.
    pub name: String,
    /// When each is asked for, picoseconds, not descending.
    pub begins_ps: Vec<u64>,
    /// How long each lasts, or would have lasted, picoseconds.
    pub lengths_ps: Vec<u64>,
    /// Of each the first link of its path that had no room for it; none for one that was put through.
    pub blocked_at: Vec<Option<u32>>,
    /// Of each whether it is made again, after one that was blocked; the key is left out where nobody calls again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub are_again: Vec<bool>,
}

impl NetworkSpec {
    /// Refuses calls that cannot be counted.
    pub(crate) fn validate_calls(&self) -> Result<(), SpecError> {
        for (i, calls) in self.calls.iter().enumerate() {
            let at = |key: &str| format!("calls[{i}].{key}");
            if self.calls[..i].iter().any(|one| one.name == calls.name) {
                return Err(structure(at("name"), "is taken"));
            }
            let count = calls.begins_ps.len();
            if calls.lengths_ps.len() != count || calls.blocked_at.len() != count {
                let problem = "needs as many lengths_ps and blocked_at";
                return Err(structure(at("begins_ps"), problem));
            }
            if !calls.are_again.is_empty() && calls.are_again.len() != count {
                return Err(structure(at("are_again"), "needs as many as begins_ps"));
            }
            if !calls.begins_ps.is_sorted() {
                return Err(structure(at("begins_ps"), "must not descend"));
            }
            for (key, times) in [
                ("begins_ps", &calls.begins_ps),
                ("lengths_ps", &calls.lengths_ps),
            ] {
                if let Some(time) = times.iter().find(|&&time| time > RUN_MAX_PS) {
                    return Err(range(at(key), time, "at most 100 days"));
                }
            }
            let mut links = calls.blocked_at.iter().flatten();
            if links.any(|&link| link as usize >= self.links.len()) {
                return Err(structure(at("blocked_at"), "needs links that exist"));
            }
        }
        Ok(())
    }
}
