//! A short fingerprint of a JSON value, for noticing that two are the same.
//!
//! Canonical: the order of keys does not matter, nor whether a whole number was written `1` or
//! `1.0`. Stable: the same on every machine and in every run. Fast: many bytes at a time, no
//! allocation. It is no defence against somebody who wants two values to collide.

use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::{Map, Number, Value};

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
const STEP: u64 = 0xD6E8_FEB8_6659_FD93;

/// The fingerprint of a value.
pub fn digest(value: &Value) -> u64 {
    match value {
        Value::Null => tagged(1, 0),
        Value::Bool(false) => tagged(2, 0),
        Value::Bool(true) => tagged(2, 1),
        Value::Number(number) => digest_number(number),
        Value::String(text) => tagged(4, digest_text(text)),
        Value::Array(items) => {
            let start = tagged(5, items.len() as u64);
            items.iter().fold(start, |state, item| digest_pair(state, digest(item)))
        }
        Value::Object(fields) => digest_fields(fields),
    }
}

/// The fingerprint of an object.
pub(crate) fn digest_fields(fields: &Map<String, Value>) -> u64 {
    // A sum does not care about order; each field is well mixed before it is added.
    let pair = |(name, field): (&String, &Value)| digest_pair(digest_text(name), digest(field));
    tagged(6, fields.iter().map(pair).fold(fields.len() as u64, u64::wrapping_add))
}

/// The fingerprint of a text.
pub fn digest_text(text: &str) -> u64 {
    digest_bytes(text.as_bytes())
}

/// The fingerprint of bytes.
pub fn digest_bytes(bytes: &[u8]) -> u64 {
    let (blocks, rest) = bytes.as_chunks::<32>();
    // Two lanes that do not wait for each other.
    let (mut one, mut two) = (SEED ^ bytes.len() as u64, STEP);
    for block in blocks {
        if let ([a, b, c, d], _) = block.as_chunks::<8>() {
            one = fold(one ^ u64::from_le_bytes(*a), STEP ^ u64::from_le_bytes(*b));
            two = fold(two ^ u64::from_le_bytes(*c), SEED ^ u64::from_le_bytes(*d));
        }
    }
    let (words, rest) = rest.as_chunks::<8>();
    let state = words.iter().fold(one ^ two, |state, word| fold(state ^ u64::from_le_bytes(*word), STEP));
    let tail = rest.iter().fold(0_u64, |tail, byte| tail << 8 | u64::from(*byte));
    digest_pair(state, tail)
}

/// The fingerprint of two fingerprints, in this order.
pub fn digest_pair(first: u64, second: u64) -> u64 {
    fold(fold(first ^ SEED, STEP) ^ second, SEED)
}

fn digest_number(number: &Number) -> u64 {
    /// Whole numbers up to here are exact as floats.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if let Some(whole) = number.as_u64() {
        return tagged(3, whole);
    }
    let float = number.as_f64().unwrap_or(f64::NAN);
    #[expect(clippy::cast_possible_truncation, reason = "whole and within the exact range")]
    let whole = (float.fract() == 0.0 && float.abs() <= EXACT).then_some(float as i64);
    match number.as_i64().or(whole) {
        Some(negative @ ..0) => tagged(8, negative.unsigned_abs()),
        Some(whole) => tagged(3, whole.unsigned_abs()),
        None => tagged(7, float.to_bits()),
    }
}

fn tagged(kind: u64, content: u64) -> u64 {
    digest_pair(kind, content)
}

/// Multiplies to 128 bits and folds the halves together: every bit reaches every other. The
/// addition keeps a zero from swallowing what comes after it.
fn fold(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    #[expect(clippy::cast_possible_truncation, reason = "the two halves are what is wanted")]
    let (low, high) = (wide as u64, (wide >> 64) as u64);
    (low ^ high).wrapping_add(a.rotate_left(29))
}

/// Hashes words for tables that live inside the program. Quicker than the hasher of the standard
/// library, which defends against an enemy who picks the keys.
#[derive(Default)]
pub(crate) struct WordHasher(u64);

/// Values by name: found by hash, and gone through in order once `sort_keys` has put them there.
pub(crate) type ByName<V> = IndexMap<Arc<str>, V, BuildHasherDefault<WordHasher>>;

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        let start = self.0 ^ bytes.len() as u64;
        let state = words.iter().fold(start, |state, word| fold(state ^ u64::from_le_bytes(*word), STEP));
        let tail = match bytes.last_chunk() {
            // Some of it was seen already, but that is quicker than going byte by byte.
            Some(last) => u64::from_le_bytes(*last),
            None => rest.iter().fold(0, |tail, byte| tail << 8 | u64::from(*byte)),
        };
        self.0 = digest_pair(state, tail);
    }

    /// The end of a text.
    fn write_u8(&mut self, byte: u8) {
        self.0 = fold(self.0 ^ u64::from(byte), STEP);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn the_order_of_keys_and_the_spelling_of_whole_numbers_do_not_matter() {
        assert_eq!(
            digest(&json!({ "a": 1, "b": [2, { "c": 3, "d": 4 }] })),
            digest(&json!({ "b": [2.0, { "d": 4, "c": 3 }], "a": 1 }))
        );
        assert_eq!(digest(&json!(-0.0)), digest(&json!(0)));
    }

    #[test]
    fn values_that_differ_have_different_fingerprints() {
        let values = [
            json!(null),
            json!(false),
            json!(true),
            json!(0),
            json!(1),
            json!(-1),
            json!(u64::MAX),
            json!(0.5),
            json!(""),
            json!("a"),
            json!("\0"),
            json!("1"),
            json!("12345678"),
            json!("123456780"),
            json!("12345678\0"),
            json!([]),
            json!([[]]),
            json!([1, 2]),
            json!([2, 1]),
            json!([[1], 2]),
            json!([1, [2]]),
            json!({}),
            json!({ "a": null }),
            json!({ "a": "b" }),
            json!({ "b": "a" }),
            json!({ "a": { "b": 1 } }),
            json!({ "a": 1, "b": 2 }),
            json!({ "a": 2, "b": 1 }),
            json!(9_007_199_254_740_992_u64),
            json!(9_007_199_254_740_993_u64),
        ];

        let distinct: HashSet<u64> = values.iter().map(digest).collect();

        assert_eq!(distinct.len(), values.len());
    }

    #[test]
    fn a_fingerprint_is_the_same_in_every_run() {
        assert_eq!(format!("{:016x}", digest(&json!({ "path": "a.txt", "limit": 5 }))), "1f5dc5d85cf482fc");
    }

    #[test]
    fn many_similar_texts_do_not_collide() {
        let distinct: HashSet<u64> = (0..200_000).map(|n| digest_text(&format!("file_{n}.txt"))).collect();

        assert_eq!(distinct.len(), 200_000);
    }

    proptest! {
        #[test]
        fn shuffled_objects_are_the_same(fields in prop::collection::btree_map(".{0,12}", any::<i32>(), 0..12)) {
            let forward: Map<String, Value> = fields.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            let backward: Map<String, Value> = fields.iter().rev().map(|(name, value)| (name.clone(), json!(value))).collect();
            prop_assert_eq!(digest(&Value::Object(forward)), digest(&Value::Object(backward)));
        }

        #[test]
        fn a_changed_text_is_noticed(a in any::<String>(), b in any::<String>()) {
            prop_assert_eq!(a == b, digest_text(&a) == digest_text(&b));
        }
    }
}
