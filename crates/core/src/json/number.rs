//! Numbers without rounding: reading them from text, comparing them, dividing them.
//!
//! A float can hold every whole number only up to 2^53. Whatever lies beyond is handled as an
//! integer or not at all.

use std::cmp::Ordering;

use serde_json::Number;

/// The largest magnitude up to which a float and the integer it stands for are the same thing.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Beyond this magnitude `serde_json` has read an integer literal as a float.
const WIDE: f64 = 9_223_372_036_854_775_808.0;

/// Two to the 127th: floats below it fit an `i128`.
const HUGE: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;

/// Whether this number may be an integer literal that lost digits when it was read.
pub(super) fn may_have_lost_digits(number: &Number) -> bool {
    number.is_f64() && number.as_f64().is_some_and(|float| float.abs() >= WIDE)
}

/// Whether the number is whole; `5.0` is.
pub(super) fn is_whole(number: &Number) -> bool {
    !number.is_f64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

/// The integer a float stands for, where no other number could have been meant.
pub(super) fn integer_of_float(number: &Number) -> Option<Number> {
    let float = number.as_f64().filter(|_| number.is_f64())?;
    if float.fract() != 0.0 || float.abs() > EXACT {
        return None;
    }
    narrow(whole(float)?)
}

/// The integer a decimal text stands for: `42`, ` 7 `, `42.0`, `1e3`. None when it is not whole
/// or does not fit 64 bits.
pub(super) fn integer_of_text(text: &str) -> Option<Number> {
    // Nearly always it is just digits.
    if let Ok(plain) = text.trim().parse::<i64>() {
        return Some(plain.into());
    }
    let decimal = Decimal::read(text.trim())?;
    let digits = format!("{}{}", decimal.whole, decimal.fraction);
    let digits = digits.trim_start_matches('0');
    let kept = digits.trim_end_matches('0');
    if kept.is_empty() {
        return Some(0.into());
    }
    let dropped = i64::try_from(digits.len() - kept.len()).ok()?;
    let places = i64::try_from(decimal.fraction.len()).ok()?;
    let shift = decimal.exponent?.checked_add(dropped)?.checked_sub(places)?;
    let shift = u32::try_from(shift).ok().filter(|shift| *shift <= 20)?;
    let size = kept.parse::<i128>().ok()?.checked_mul(10_i128.checked_pow(shift)?)?;
    narrow(if decimal.negative { -size } else { size })
}

/// The number a decimal text stands for: an exact integer, or else a finite float. A row of
/// digits that is too long for an integer is refused, because a float would round it.
pub(super) fn number_of_text(text: &str) -> Option<Number> {
    let text = text.trim();
    if let Some(integer) = integer_of_text(text) {
        return Some(integer);
    }
    let decimal = Decimal::read(text)?;
    if decimal.fraction.is_empty() && !text.contains(['e', 'E']) {
        return None;
    }
    let float = text.parse::<f64>().ok().filter(|float| float.is_finite() && *float != 0.0)?;
    Number::from_f64(float)
}

/// Compares two numbers by value, whatever they are stored as.
pub(super) fn compare(left: &Number, right: &Number) -> Option<Ordering> {
    match (integer(left), integer(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        (Some(left), None) => compare_float(right.as_f64()?, left).map(Ordering::reverse),
        (None, Some(right)) => compare_float(left.as_f64()?, right),
        (None, None) => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

/// Whether `number` is a whole multiple of `step`. Fractions are compared with the tolerance a
/// float needs: `0.3` is a multiple of `0.1`.
pub(super) fn is_multiple(number: &Number, step: &Number) -> bool {
    match (exact(number), exact(step)) {
        (_, Some(0)) => true,
        (Some(number), Some(step)) => number % step == 0,
        _ => {
            let (Some(number), Some(step)) = (number.as_f64(), step.as_f64()) else { return true };
            let times = number / step;
            (times - times.round()).abs() <= 1e-9 * times.abs().max(1.0)
        }
    }
}

/// The whole value of a number, also when it is stored as a float.
fn exact(number: &Number) -> Option<i128> {
    integer(number).or_else(|| number.as_f64().and_then(whole))
}

/// The value of a number that is stored as an integer.
fn integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

#[expect(clippy::cast_possible_truncation, reason = "the range was checked and the value is whole")]
fn whole(float: f64) -> Option<i128> {
    (float.fract() == 0.0 && float.abs() < HUGE).then_some(float as i128)
}

fn compare_float(left: f64, right: i128) -> Option<Ordering> {
    match whole(left.floor()) {
        Some(floor) if floor == right && left.fract() != 0.0 => Some(Ordering::Greater),
        Some(floor) => Some(floor.cmp(&right)),
        None => left.partial_cmp(&0.0),
    }
}

fn narrow(wide: i128) -> Option<Number> {
    i64::try_from(wide).map(Number::from).or_else(|_| u64::try_from(wide).map(Number::from)).ok()
}

/// The parts of a decimal text. No exponent means one that is beyond counting.
struct Decimal<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    exponent: Option<i64>,
}

impl<'a> Decimal<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (digits, exponent) = match text.split_once(['e', 'E']) {
            Some((digits, power)) => {
                let bare = power.strip_prefix(['-', '+']).unwrap_or(power);
                if !is_digits(bare) {
                    return None;
                }
                (digits, power.parse().ok())
            }
            None => (text, Some(0)),
        };
        let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(w, f)| (w, Some(f)));
        if !is_digits(whole) || !fraction.is_none_or(is_digits) {
            return None;
        }
        Some(Self { negative, whole, fraction: fraction.unwrap_or_default(), exponent })
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn n(value: Value) -> Number {
        let Value::Number(number) = value else { panic!("not a number: {value}") };
        number
    }

    #[test]
    fn text_becomes_an_integer_only_when_it_is_exactly_one() {
        for (text, wanted) in [
            ("42", json!(42)),
            (" 7 ", json!(7)),
            ("42.0", json!(42)),
            ("1e3", json!(1000)),
            ("1.5e1", json!(15)),
            ("1200e-2", json!(12)),
            ("-0", json!(0)),
            ("9007199254740993", json!(9_007_199_254_740_993_u64)),
            ("18446744073709551615", json!(u64::MAX)),
            ("-9223372036854775808", json!(i64::MIN)),
        ] {
            assert_eq!(integer_of_text(text), Some(n(wanted)), "{text}");
        }
        for text in [
            "",
            "4.5",
            "1e-1",
            "18446744073709551616",
            "1e99999999999999999999",
            "1.5e-9223372036854775808",
            "0x10",
            "1_000",
            ".",
        ] {
            assert_eq!(integer_of_text(text), None, "{text}");
        }
    }

    #[test]
    fn a_number_from_text_is_never_rounded_to_another_integer() {
        assert_eq!(number_of_text("4.5"), Some(n(json!(4.5))));
        assert_eq!(number_of_text("1e30"), Some(n(json!(1e30))));
        assert_eq!(number_of_text("123456789012345678901"), None);
        for text in ["inf", "nan", "1e999", "1e-999", "4,5"] {
            assert_eq!(number_of_text(text), None, "{text}");
        }
    }

    #[test]
    fn comparison_sees_the_difference_a_float_would_hide() {
        let big = n(json!(9_007_199_254_740_993_u64));
        assert_eq!(compare(&big, &n(json!(9_007_199_254_740_992.0))), Some(Ordering::Greater));
        assert_eq!(compare(&n(json!(5.0)), &n(json!(5))), Some(Ordering::Equal));
        assert_eq!(compare(&n(json!(-5.5)), &n(json!(-5))), Some(Ordering::Less));
        assert_eq!(compare(&n(json!(-1e300)), &n(json!(0))), Some(Ordering::Less));
    }

    #[test]
    fn multiples_work_for_integers_and_fractions() {
        assert!(is_multiple(&n(json!(0.3)), &n(json!(0.1))));
        assert!(!is_multiple(&n(json!(0.35)), &n(json!(0.1))));
        assert!(!is_multiple(&n(json!(9_007_199_254_740_993_u64)), &n(json!(2))));
    }

    proptest! {
        #[test]
        fn every_integer_survives_its_text(number: i64) {
            prop_assert_eq!(integer_of_text(&number.to_string()), Some(number.into()));
        }

        #[test]
        fn comparison_agrees_with_integers(left: i64, right: i64) {
            prop_assert_eq!(compare(&left.into(), &right.into()), Some(left.cmp(&right)));
        }

        #[test]
        fn arbitrary_text_is_no_trouble(text: String) {
            let _ = (integer_of_text(&text), number_of_text(&text));
        }
    }
}
