//! The bearer token: who has it may come in. Pure, apart from making a new one.

use std::fmt;

use hermes_net::NoRandom;

/// Shorter tokens can be guessed.
pub const SHORTEST: usize = 16;

/// A secret that clients show with every request. It is never printed by accident.
#[derive(Clone)]
pub struct Token(String);

/// Why a text is no token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// It is too short.
    #[error("the token has {0} characters; {SHORTEST} are the least")]
    Short(usize),
    /// It has characters that cannot stand in a header.
    #[error("the token may only have visible ASCII characters without spaces")]
    Letters,
}

impl Token {
    /// A token that somebody chose; spaces and line ends around it do not count.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::Letters);
        }
        if text.len() < SHORTEST {
            return Err(TokenError::Short(text.len()));
        }
        Ok(Self(text.to_owned()))
    }

    /// A token that nobody can guess.
    pub fn random() -> Result<Self, NoRandom> {
        hermes_net::random_hex().map(Self)
    }

    /// The secret itself, for the one who is to have it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether the value of an `Authorization` header shows this token.
    pub(super) fn is_shown_in(&self, header: &[u8]) -> bool {
        let Some((scheme, shown)) = header.split_at_checked(7) else { return false };
        scheme.eq_ignore_ascii_case(b"bearer ") && same(shown.trim_ascii(), self.0.as_bytes())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Whether both are the same, in a time that depends on the length of what was shown alone.
fn same(shown: &[u8], secret: &[u8]) -> bool {
    let other_length = u8::from(shown.len() != secret.len());
    let secret = secret.iter().copied().chain(std::iter::repeat(0));
    let differences = shown.iter().zip(secret).fold(other_length, |sum, (a, b)| {
        // Without this the compiler might stop at the first difference.
        std::hint::black_box(sum | (a ^ b))
    });
    differences == 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_token_is_long_and_fits_into_a_header() {
        assert_eq!(Token::new("short").unwrap_err(), TokenError::Short(5));
        assert_eq!(Token::new("0123456789abcdef g").unwrap_err(), TokenError::Letters);
        assert_eq!(Token::new("0123456789abcdefé").unwrap_err(), TokenError::Letters);
        assert_eq!(Token::new("  0123456789abcdef\n").unwrap().reveal(), "0123456789abcdef");
    }

    #[test]
    fn it_is_not_written_anywhere_by_accident() {
        assert_eq!(format!("{:?}", Token::random().unwrap()), "Token(…)");
    }

    #[test]
    fn only_the_whole_token_opens_the_door() {
        let token = Token::new("0123456789abcdef").unwrap();

        assert!(token.is_shown_in(b"Bearer 0123456789abcdef"));
        assert!(token.is_shown_in(b"bearer 0123456789abcdef "));
        for wrong in [
            "",
            "Bearer",
            "Bearer ",
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdefg",
            "Bearer 0123456789abcdeF",
            "Basic 0123456789abcdef",
            "0123456789abcdef",
            "Bearer\u{a0}0123456789abcdef",
        ] {
            assert!(!token.is_shown_in(wrong.as_bytes()), "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_else_is_the_token(shown in proptest::collection::vec(any::<u8>(), 0..80)) {
            let token = Token::new("0123456789abcdef").unwrap();
            let header = [b"Bearer ".as_slice(), &shown].concat();

            prop_assert_eq!(token.is_shown_in(&header), shown.trim_ascii() == b"0123456789abcdef");
        }
    }
}
