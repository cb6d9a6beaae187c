//! Halves of letters in JSON, made whole. Pure.

use std::borrow::Cow;

/// The message with halves of letters made whole: a text that was cut inside of a pair of surrogates is
/// no Unicode, but programs write it. Each half becomes the sign for what cannot be shown.
pub(crate) fn mended(text: &[u8]) -> Cow<'_, [u8]> {
    let (mut whole, mut done, mut at) = (Vec::new(), 0, 0);
    while let Some(found) = text.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'\\')) {
        at += found;
        let half = match escape(text, at) {
            Some(first @ 0xd800..=0xdbff) => match escape(text, at + 6) {
                Some(0xdc00..=0xdfff) => {
                    at += 12;
                    continue;
                }
                _ => Some(first),
            },
            other => other.filter(|code| (0xdc00..=0xdfff).contains(code)),
        };
        if half.is_some() {
            whole.extend_from_slice(text.get(done..at).unwrap_or_default());
            whole.extend_from_slice(b"\\ufffd");
            at += 6;
            done = at;
        } else {
            at += 2;
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    whole.extend_from_slice(text.get(done..).unwrap_or_default());
    Cow::Owned(whole)
}

/// The code of the `\uXXXX` that begins here, if one does.
fn escape(text: &[u8], at: usize) -> Option<u32> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |code, digit| Some(code * 16 + char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn half_a_letter_becomes_the_sign_for_one_that_cannot_be_shown() {
        let mend = |text: &str| String::from_utf8(mended(text.as_bytes()).into_owned()).unwrap();

        assert_eq!(mend(r#"["a\ud83d"]"#), r#"["a\ufffd"]"#);
        assert_eq!(mend(r#"["\ude00\ud83d\ud83d\ude00\uD83D"]"#), r#"["\ufffd\ufffd\ud83d\ude00\ufffd"]"#);
        assert_eq!(mend(r#"["\\ud83d \\\ud83d"]"#), r#"["\\ud83d \\\ufffd"]"#);
        assert_eq!(mend(r#"["\u00e9\n\u12"]"#), r#"["\u00e9\n\u12"]"#);
    }

    proptest! {
        #[test]
        fn what_is_json_already_stays_as_it_is(text in "\\PC{0,40}") {
            let written = serde_json::to_string(&text).unwrap();

            prop_assert!(matches!(mended(written.as_bytes()), Cow::Borrowed(_)));
        }

        #[test]
        fn a_mended_text_can_be_read(codes in prop::collection::vec(0_u32..0x1_0000, 0..12)) {
            let escapes: Vec<String> = codes.iter().map(|code| format!("\\u{code:04x}")).collect();

            let text = mended(format!("\"{}\"", escapes.concat()).as_bytes()).into_owned();

            prop_assert!(serde_json::from_slice::<String>(&text).is_ok());
        }
    }
}
