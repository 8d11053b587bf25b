//! The JSON form, held to the letter: no key beyond it and none left out.
//!
//! serde alone is laxer than that. It takes an absent key for `None`, and it takes unknown keys in
//! the variants of a tagged enum that hold nothing else, `deny_unknown_fields` or not.

mod keys;

use crate::{NetworkSpec, SpecError};
use keys::Keys;
use serde_json::Value;

/// Reads the form; does not judge what it describes.
pub(crate) fn read(text: &str) -> Result<NetworkSpec, SpecError> {
    let unreadable = |e: serde_json::Error| SpecError::Form(e.to_string());
    let spec: NetworkSpec = serde_json::from_str(text).map_err(unreadable)?;
    let keys = |text: &str| serde_json::from_str::<Keys>(text).map_err(unreadable);
    if keys(text)? != keys(&spec.to_json())? {
        find_fault(text, &spec)?;
    }
    Ok(spec)
}

/// Tells which key is too many or missing.
fn find_fault(text: &str, spec: &NetworkSpec) -> Result<(), SpecError> {
    let given: Value = serde_json::from_str(text).expect("it was read before");
    let expected = serde_json::to_value(spec).expect("a spec is plain data");
    same_keys(&given, &expected, &mut String::new())
}

/// Refuses the first object of `given` whose keys are not those of its counterpart in `expected`.
fn same_keys(given: &Value, expected: &Value, path: &mut String) -> Result<(), SpecError> {
    let above = path.len();
    match (given, expected) {
        (Value::Object(given), Value::Object(expected)) => {
            let fault = |key: &String, problem: &str| SpecError::Structure {
                path: format!("{path}.{key}").trim_start_matches('.').to_owned(),
                problem: problem.to_owned(),
            };
            if let Some(key) = given.keys().find(|key| !expected.contains_key(*key)) {
                return Err(fault(key, "no such key"));
            }
            if let Some(key) = expected.keys().find(|key| !given.contains_key(*key)) {
                return Err(fault(key, "the key is missing"));
            }
            for (key, value) in given {
                if above > 0 {
                    path.push('.');
                }
                path.push_str(key);
                same_keys(value, &expected[key], path)?;
                path.truncate(above);
            }
        }
        (Value::Array(given), Value::Array(expected)) => {
            for (i, (given, expected)) in given.iter().zip(expected).enumerate() {
                path.push_str(&format!("[{i}]"));
                same_keys(given, expected, path)?;
                path.truncate(above);
            }
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: &str = r#"{"name": "a>b", "from": 0, "to": 1, "cell_time_ps": 1, "delay_ps": 0, "schedule": null,
        "port": {"queues": [{"class": null, "capacity_cells": null, "policy": {"kind": "tail_drop"}}],
        "scheduler": {"kind": "fifo"}, "frame_gap_ps": 0}}"#;

    fn spec_with(link: &str) -> String {
        format!(
            r#"{{"version": 2, "seed": 0, "duration_ps": 1,
            "nodes": [{{"name": "a", "kind": "host"}}, {{"name": "b", "kind": "host"}}],
            "links": [{link}], "vcs": [], "flows": [], "sources": [], "records": {{"sample_every_ps": 1,
            "sampled_ports": [], "vc_sampled_ports": [], "delay_vcs": [], "traces": []}}}}"#
        )
    }

    fn refusal(link: &str) -> String {
        read(&spec_with(link)).unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        let spec = read(&spec_with(LINK)).unwrap();
        assert_eq!(read(&spec.to_json()), Ok(spec));
    }

    #[test]
    fn an_unknown_key_is_refused_even_beside_nothing_but_a_kind() {
        let faulty = LINK.replace(r#""tail_drop""#, r#""tail_drop", "threshold_cells": 3"#);
        assert!(refusal(&faulty).contains("unknown field `threshold_cells`, there are no fields"));
        let sourced = spec_with(LINK).replace(
            r#""sources": []"#,
            r#""sources": [{"name": "s", "vc": 0, "datagram_route": [], "cell_interval_ps": 1,
            "frame_cells": 1, "pattern": {"kind": "constant", "on": 1},
            "start": {"kind": "at", "time_ps": 0}}]"#,
        );
        assert_eq!(
            read(&sourced).unwrap_err().to_string(),
            "sources[0].pattern.on: no such key"
        );
    }

    #[test]
    fn a_missing_key_is_refused_even_where_none_would_do() {
        let faulty = LINK.replace(r#""capacity_cells": null, "#, "");
        assert_eq!(
            refusal(&faulty),
            "links[0].port.queues[0].capacity_cells: the key is missing"
        );
    }

    #[test]
    fn numbers_are_read_to_the_last_bit() {
        // A value that a reader without correct rounding takes for its neighbour.
        let z = 0.235_827_325_778_478_27;
        let policy = format!(
            r#""selective_drop", "threshold_cells": 3, "partial_discard": true,
               "fairness_threshold": {z}"#
        );
        let link = LINK.replace(r#""capacity_cells": null"#, r#""capacity_cells": 10"#);
        let link = link.replace(r#""tail_drop""#, &policy);
        let spec = read(&spec_with(&link)).unwrap();
        assert!(spec.to_json().contains(&z.to_string()));
    }
}
