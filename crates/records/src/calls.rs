//! Calls that were asked for, and those that found no room.

use serde::Serialize;
use skycell_spec::{CallsSpec, NetworkSpec};
use std::collections::BTreeMap;

/// The calls of a class that were asked for while the run counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CallRecord {
    /// Name in the spec.
    pub name: String,
    /// Calls that were asked for.
    pub offered: u64,
    /// Of those, calls that some link had no room for.
    pub blocked: u64,
    /// The same by the first such link of their path, by its name; links without any are left out.
    pub blocked_at: BTreeMap<String, u64>,
    /// Of those asked for, calls that are made again after they were blocked; left out where nobody calls again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<u64>,
    /// Calls under way in the mean over time.
    pub carried: f64,
    /// Most that were under way at once.
    pub most: u64,
}

impl CallRecord {
    /// Those of a run, from [`NetworkSpec::measure_from_ps`] to its end.
    pub fn of_run(spec: &NetworkSpec) -> Vec<CallRecord> {
        spec.calls.iter().map(|calls| record(calls, spec)).collect()
    }
}

fn record(calls: &CallsSpec, spec: &NetworkSpec) -> CallRecord {
    let (from, end) = (spec.measure_from_ps, spec.duration_ps);
    let mut record = CallRecord {
        name: calls.name.clone(),
        ..CallRecord::default()
    };
    let mut time_ps = 0u128;
    // Changes of the number under way; at one moment calls end before others begin.
    let mut changes = Vec::new();
    record.again = (!calls.are_again.is_empty()).then(|| {
        let again = calls.begins_ps.iter().zip(&calls.are_again);
        again
            .filter(|(begin, is_again)| **is_again && (from..end).contains(*begin))
            .count() as u64
    });
    let times = calls.begins_ps.iter().zip(&calls.lengths_ps);
    for ((&begin, &length), blocked_at) in times.zip(&calls.blocked_at) {
        if (from..end).contains(&begin) {
            record.offered += 1;
            if let Some(link) = blocked_at {
                record.blocked += 1;
                let name = spec.links[*link as usize].name.clone();
                *record.blocked_at.entry(name).or_default() += 1;
            }
        }
        let (begin, over) = (begin.max(from), (begin + length).min(end));
        if blocked_at.is_none() && begin < over {
            time_ps += u128::from(over - begin);
            changes.extend([(begin, 1), (over, -1)]);
        }
    }
    changes.sort_unstable();
    let mut under_way = 0i64;
    for (_, change) in changes {
        under_way += change;
        record.most = record.most.max(under_way as u64);
    }
    record.carried = time_ps as f64 / (end - from) as f64;
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_from_when_the_run_counts() {
        // Counted over [100, 200): one call under way from before until 150, one from there on for 100, one that was
        // blocked, and one beyond the end.
        let spec: NetworkSpec = serde_json::from_value(serde_json::json!({
            "version": 2, "seed": 1, "duration_ps": 200, "measure_from_ps": 100,
            "nodes": [{"name": "a", "kind": "host"}, {"name": "b", "kind": "host"}],
            "links": [{
                "name": "a>b", "from": 0, "to": 1, "cell_time_ps": 10, "delay_ps": 0, "loss_ppb": 0,
                "schedule": null,
                "port": {"queues": [], "scheduler": {"kind": "fifo"}, "frame_gap_ps": 0},
            }],
            "vcs": [], "flows": [], "sources": [],
            "calls": [{
                "name": "voice", "begins_ps": [50, 150, 160, 200], "lengths_ps": [100, 100, 5, 5],
                "blocked_at": [null, null, 0, 0], "are_again": [false, false, true, true],
            }],
            "records": {
                "sample_every_ps": 1, "sampled_ports": [], "vc_sampled_ports": [], "delay_vcs": [], "traces": [],
            },
        }))
        .expect("a spec");
        let expected = CallRecord {
            name: "voice".into(),
            offered: 2,
            blocked: 1,
            blocked_at: BTreeMap::from([("a>b".into(), 1)]),
            again: Some(1),
            carried: 1.0,
            most: 1,
        };
        assert_eq!(CallRecord::of_run(&spec), [expected]);
    }
}
