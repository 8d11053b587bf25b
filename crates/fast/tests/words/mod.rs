//! The words that specs have and could have, key by key.

use serde_json::{Value, json};
use skycell_spec::NetworkSpec;
use std::collections::{BTreeMap, BTreeSet};

/// Words by the place where they stand, such as `flows.tcp.recovery.kind`.
#[derive(Default)]
pub struct Words(BTreeMap<String, AtPath>);

#[derive(Default)]
struct AtPath {
    /// Words that may stand there.
    allowed: BTreeSet<String>,
    /// Words that were found.
    found: BTreeSet<String>,
}

impl Words {
    /// Reads the words of a spec.
    pub fn read(&mut self, spec: &NetworkSpec) {
        let whole = serde_json::to_value(spec).expect("a spec is plain data");
        let mut at = Vec::new();
        self.look(&whole, &whole, &mut at);
    }

    /// Words that could stand somewhere and have nowhere.
    pub fn missing(&self) -> Vec<String> {
        let of = |(path, words): (&String, &AtPath)| {
            let missing: Vec<_> = words.allowed.difference(&words.found).collect();
            missing
                .iter()
                .map(|word| format!("{path}: {word}"))
                .collect::<Vec<_>>()
        };
        // Classes name queues: which name it is matters to nobody.
        let is_rule = |(path, _): &(&String, &AtPath)| !path.ends_with(".class");
        self.0.iter().filter(is_rule).flat_map(of).collect()
    }

    fn look(&mut self, part: &Value, whole: &Value, at: &mut Vec<String>) {
        match part {
            Value::Object(keys) => {
                for (key, value) in keys {
                    at.push(key.clone());
                    self.look(value, whole, at);
                    at.pop();
                }
            }
            Value::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    at.push(i.to_string());
                    self.look(item, whole, at);
                    at.pop();
                }
            }
            Value::String(word) => {
                let is_key = |step: &&String| step.parse::<usize>().is_err();
                let path: Vec<_> = at.iter().filter(is_key).map(String::as_str).collect();
                let path = self.0.entry(path.join(".")).or_insert_with(|| {
                    let allowed = allowed(whole, at);
                    let found = allowed.iter().filter(|word| is_left_out(whole, at, word));
                    AtPath {
                        found: found.cloned().collect(),
                        allowed,
                    }
                });
                path.found.insert(word.clone());
            }
            _ => {}
        }
    }
}

/// A spec with another word at a place.
fn with_word(spec: &Value, at: &[String], word: &str) -> serde_json::Result<NetworkSpec> {
    let mut spec = spec.clone();
    *word_at(&mut spec, at).expect("a word stands there") = word.into();
    serde_json::from_value(spec)
}

/// The same with nothing beside it in its table: a kind that has no keys.
fn with_word_alone(spec: &Value, at: &[String], word: &str) -> serde_json::Result<NetworkSpec> {
    let mut spec = spec.clone();
    let (key, table) = at.split_last().expect("a word stands somewhere");
    *word_at(&mut spec, table).expect("a table stands there") = json!({ key: word });
    serde_json::from_value(spec)
}

fn word_at<'a>(spec: &'a mut Value, at: &[String]) -> Option<&'a mut Value> {
    spec.pointer_mut(&format!("/{}", at.join("/")))
}

/// Returns whether the form leaves the key out at this word: then specs without the key have the
/// word.
fn is_left_out(spec: &Value, at: &[String], word: &str) -> bool {
    let Ok(spec) = with_word(spec, at, word).or_else(|_| with_word_alone(spec, at, word)) else {
        return false; // it comes with keys of its own
    };
    let mut written = serde_json::to_value(spec).expect("a spec is plain data");
    word_at(&mut written, at).is_none()
}

/// The words that a spec could have at a place, none where any text is one: what the reader says of a word that is
/// none.
fn allowed(spec: &Value, at: &[String]) -> BTreeSet<String> {
    let Err(refused) = with_word(spec, at, "?") else {
        return BTreeSet::new();
    };
    let said = refused.to_string();
    let (unknown, words) = said
        .split_once(", expected ")
        .expect("words that are allowed");
    assert!(unknown.starts_with("unknown variant `?`"), "{said}");
    words
        .split('`')
        .skip(1)
        .step_by(2)
        .map(String::from)
        .collect()
}
