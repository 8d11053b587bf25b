//! Pings between two hosts, and the answers to them.

use crate::{SojournRecord, SourceRecord};
use serde::Serialize;
use skycell_spec::NetworkSpec;

/// The pings of a source that an echo answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ProbeRecord {
    /// Name of the source in the spec.
    pub name: String,
    /// Pings sent.
    pub sent: u64,
    /// Answers that came back.
    pub answered: u64,
    /// Round-trip times, each from the sending of a ping to the arrival of its answer; left out without an answer, and
    /// where the spec does not ask for the times of answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt: Option<SojournRecord>,
}

impl ProbeRecord {
    /// Those of a run, in the order of the answers, from the records of its sources.
    pub fn of_run(spec: &NetworkSpec, sources: &[SourceRecord]) -> Vec<ProbeRecord> {
        let pairs = sources.iter().zip(spec.echoes());
        pairs
            .filter_map(|(pings, echo)| {
                let answers = &sources[echo? as usize];
                Some(ProbeRecord {
                    name: pings.name.clone(),
                    sent: pings.frames,
                    answered: answers.datagrams_delivered,
                    rtt: answers.delay.clone().filter(|rtt| rtt.packets > 0),
                })
            })
            .collect()
    }
}
