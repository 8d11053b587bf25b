//! A fingerprint of the keys of a JSON text, read without keeping the text's tree: a spec of ten
//! thousand flows has a million keys.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Equal for two texts whose objects have the same keys, in any order; different, but for an accident
/// of one in 2^64, for any others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Keys(u64);

/// Of a value that is neither object nor array.
const SCALAR: Keys = Keys(1);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KeysVisitor)
    }
}

struct KeysVisitor;

impl<'de> Visitor<'de> for KeysVisitor {
    type Value = Keys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
        // A sum, as the order of keys does not matter.
        let mut sum = 2_u64;
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            sum = sum.wrapping_add(fingerprint(&(key, map.next_value::<Keys>()?)));
        }
        Ok(Keys(sum))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Keys, A::Error> {
        let mut all = 3_u64;
        while let Some(keys) = seq.next_element::<Keys>()? {
            all = fingerprint(&(all, keys));
        }
        Ok(Keys(all))
    }

    fn visit_unit<E>(self) -> Result<Keys, E> {
        Ok(SCALAR)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Keys, E> {
        Ok(SCALAR)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Keys, E> {
        Ok(SCALAR)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Keys, E> {
        Ok(SCALAR)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Keys, E> {
        Ok(SCALAR)
    }

    fn visit_str<E>(self, _: &str) -> Result<Keys, E> {
        Ok(SCALAR)
    }
}

fn fingerprint(part: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    part.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Keys {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn order_and_values_do_not_matter() {
        let one = keys(r#"{"a": 1, "b": [{"c": null}, -2, "x"], "d": {"e": 1.5}}"#);
        let other = keys(r#"{"d": {"e": true}, "b": [{"c": "y"}, 0, 0], "a": 2}"#);
        assert_eq!(one, other);
    }

    #[test]
    fn every_key_and_its_place_matter() {
        let texts = [
            r#"{"a": 1}"#,
            r#"{"b": 1}"#,
            r#"{"a": 1, "b": 1}"#,
            r#"{"a": {"b": 1}}"#,
            r#"{"a": [1]}"#,
            r#"{"a": []}"#,
            r#"{"a": [{"b": 1}, {"c": 1}]}"#,
            r#"{"a": [{"c": 1}, {"b": 1}]}"#,
        ];
        let all: std::collections::HashSet<Keys> = texts.iter().map(|t| keys(t)).collect();
        assert_eq!(all.len(), texts.len());
    }
}
