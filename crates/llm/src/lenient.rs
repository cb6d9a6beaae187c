//! JSON from models and servers that almost keep to the rules.

use std::borrow::Cow;

use serde_json::Value;

/// Reads JSON; halves of characters, which some servers send as escapes, become U+FFFD.
pub(crate) fn parse(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().or_else(|| match mend_surrogates(text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(mended) => serde_json::from_str(&mended).ok(),
    })
}

/// Replaces `\uD800`…`\uDFFF` escapes that have no other half.
pub(crate) fn mend_surrogates(text: &str) -> Cow<'_, str> {
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return Cow::Borrowed(text);
    }
    let mut mended = String::with_capacity(text.len());
    let mut changed = false;
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        mended.push_str(before);
        let used = match surrogate(from) {
            Some(high) if high < 0xdc00 => {
                let low = from.get(6..).and_then(surrogate).filter(|low| *low >= 0xdc00);
                if low.is_some() {
                    mended.push_str(from.get(..12).unwrap_or_default());
                    12
                } else {
                    mended.push_str("\\ufffd");
                    changed = true;
                    6
                }
            }
            Some(_) => {
                mended.push_str("\\ufffd");
                changed = true;
                6
            }
            None => {
                let escape: String = from.chars().take(2).collect();
                mended.push_str(&escape);
                escape.len()
            }
        };
        rest = from.get(used..).unwrap_or_default();
    }
    mended.push_str(rest);
    if changed { Cow::Owned(mended) } else { Cow::Borrowed(text) }
}

/// The surrogate that an escape at the beginning of `text` stands for.
fn surrogate(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let value = u16::from_str_radix(digits, 16).ok()?;
    (0xd800..0xe000).contains(&value).then_some(value)
}

/// Text that every server takes: no NUL, which some databases behind them refuse.
pub(crate) fn sendable(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) }
}

/// Whether `text` begins like JSON and stops before its end.
pub(crate) fn is_cut_off(text: &str) -> bool {
    let text = text.trim();
    let begins = text.starts_with('{') || text.starts_with('[');
    begins
        && match serde_json::from_str::<serde::de::IgnoredAny>(text) {
            Ok(_) => false,
            Err(error) => error.is_eof(),
        }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{is_cut_off, parse};

    #[test]
    fn half_a_character_does_not_spoil_the_rest() {
        assert_eq!(parse(r#"{"a":"x\ud83dy"}"#), Some(json!({"a": "x\u{fffd}y"})));
        assert_eq!(
            parse(r#"["\udc00","\ud83d\ude00","\\ud83d"]"#),
            Some(json!(["\u{fffd}", "😀", "\\ud83d"]))
        );
        assert_eq!(parse("{"), None);
    }

    #[test]
    fn cut_off_is_not_the_same_as_wrong() {
        assert!(is_cut_off(r#"{"a": "b"#));
        assert!(is_cut_off("["));
        assert!(!is_cut_off(r#"{"a": 1}"#));
        assert!(!is_cut_off("{a: 1}"));
        assert!(!is_cut_off(""));
    }
}
